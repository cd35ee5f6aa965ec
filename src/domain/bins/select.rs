//! A select: a span of a video in a bin, with what a user noted about it. Its checks do not read
//! the video.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::BinSettings;
use crate::kernel::error::{Error, Result};
use crate::kernel::moment::MomentId;
use crate::kernel::time::Span;
use crate::kernel::video::VideoId;

/// The highest rating.
pub const MAX_RATING: u8 = 5;

/// The id of a select within its bin, such as `s12`. A bin does not use an id again.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default, Serialize, Deserialize,
)]
pub struct SelectId(pub(super) u64);

impl SelectId {
    /// Parses the select id in a request. Returns `NotFound` for a malformed id, since no select
    /// can have it.
    pub fn parse(text: &str) -> Result<Self> {
        let number = text.strip_prefix('s').and_then(|digits| digits.parse().ok());
        let id = number.map(Self).filter(|id| id.to_string() == text);
        id.ok_or_else(|| unknown_select(text))
    }
}

impl fmt::Display for SelectId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "s{}", self.0)
    }
}

pub(crate) fn unknown_select(id: impl fmt::Display) -> Error {
    Error::NotFound(format!("the bin has no select '{id}'"))
}

/// A select as it is stored. Times are in milliseconds from the start of the video.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Select {
    /// The select's id within its bin.
    pub id: SelectId,
    /// The video. It may have been deleted since.
    pub video_id: VideoId,
    /// The video's file name when the select was added.
    pub(super) filename: String,
    /// Where the moment begins.
    pub(super) start: u64,
    /// Where the moment ends, after `start`.
    pub(super) end: u64,
    /// Where the select begins, if it is trimmed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) trim_in: Option<u64>,
    /// Where the select ends, if it is trimmed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) trim_out: Option<u64>,
    /// The note; empty if there is none.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub note: String,
    /// The tags, without duplicates.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    /// The rating, 0..=5; 0 if there is none.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub rating: u8,
    /// The version of the bin that added or last changed the select.
    pub(super) version: u64,
}

fn is_zero(rating: &u8) -> bool {
    *rating == 0
}

/// A select to add to a bin.
#[derive(Debug, Clone, PartialEq)]
pub struct SelectDraft {
    /// The moment.
    pub moment: MomentId,
    /// Where the select begins, in seconds of the video; `None` for the start of the moment.
    pub trim_in: Option<f64>,
    /// Where the select ends, in seconds of the video; `None` for the end of the moment.
    pub trim_out: Option<f64>,
    /// The note; may be empty.
    pub note: String,
    /// The tags.
    pub tags: Vec<String>,
    /// The rating, 0..=5.
    pub rating: u8,
}

/// A change to a select. `None` leaves a value unchanged.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SelectPatch {
    /// The new note; empty to remove it.
    pub note: Option<String>,
    /// The new tags, which replace the current ones.
    pub tags: Option<Vec<String>>,
    /// The new rating, 0..=5.
    pub rating: Option<u8>,
    /// Where the select begins, in seconds of the video, or `Some(None)` for the start of the
    /// moment.
    pub trim_in: Option<Option<f64>>,
    /// Where the select ends, in seconds of the video, or `Some(None)` for the end of the moment.
    pub trim_out: Option<Option<f64>>,
}

impl Select {
    /// Returns the id of the select's moment.
    pub fn moment_id(&self) -> MomentId {
        MomentId::new(self.video_id, self.span())
    }

    /// Returns the span of the moment, with times in seconds from the start of the video.
    pub fn span(&self) -> Span {
        Span { start: seconds(self.start), end: seconds(self.end) }
    }

    /// Returns the trim, in seconds from the start of the video: where the select begins and ends
    /// if that differs from the moment.
    pub fn trim(&self) -> (Option<f64>, Option<f64>) {
        (self.trim_in.map(seconds), self.trim_out.map(seconds))
    }

    /// Returns the span of the select as trimmed, with times in seconds from the start of the
    /// video.
    pub fn trimmed_span(&self) -> Span {
        let (start, end) = self.trimmed();
        Span { start: seconds(start), end: seconds(end) }
    }

    /// Returns the memory that the select takes, in bytes.
    pub(super) fn memory(&self) -> usize {
        let tags = self.tags.iter().map(|tag| size_of::<String>() + tag.len());
        size_of::<Self>() + self.filename.len() + self.note.len() + tags.sum::<usize>()
    }

    /// Returns where the select as trimmed begins and ends, in milliseconds.
    pub(super) fn trimmed(&self) -> (u64, u64) {
        (self.trim_in.unwrap_or(self.start), self.trim_out.unwrap_or(self.end))
    }

    /// Returns the length of the select as trimmed, in milliseconds.
    pub(super) fn milliseconds(&self) -> u64 {
        let (start, end) = self.trimmed();
        end.saturating_sub(start)
    }

    /// Creates a select without an id. Does not check that it lies within the video.
    pub(super) fn new(draft: &SelectDraft, settings: &BinSettings) -> Result<Self> {
        let (start, end) = draft.moment.milliseconds();
        let mut select = Self {
            id: SelectId::default(),
            video_id: draft.moment.video_id(),
            filename: String::new(),
            start,
            end,
            trim_in: None,
            trim_out: None,
            note: settings.check_note("note", &draft.note)?,
            tags: settings.check_tags(&draft.tags)?,
            rating: check_rating(draft.rating)?,
            version: 0,
        };
        select.set_trim(Some(draft.trim_in), Some(draft.trim_out))?;
        Ok(select)
    }

    /// Applies a patch. Does not check that the trim lies within the video.
    pub(super) fn apply(&mut self, patch: &SelectPatch, settings: &BinSettings) -> Result<()> {
        if let Some(note) = &patch.note {
            self.note = settings.check_note("note", note)?;
        }
        if let Some(tags) = &patch.tags {
            self.tags = settings.check_tags(tags)?;
        }
        if let Some(rating) = patch.rating {
            self.rating = check_rating(rating)?;
        }
        self.set_trim(patch.trim_in, patch.trim_out)
    }

    fn set_trim(
        &mut self,
        trim_in: Option<Option<f64>>,
        trim_out: Option<Option<f64>>,
    ) -> Result<()> {
        if let Some(time) = trim_in {
            self.trim_in = time.map(|time| milliseconds("in", time)).transpose()?;
        }
        if let Some(time) = trim_out {
            self.trim_out = time.map(|time| milliseconds("out", time)).transpose()?;
        }
        let (start, end) = self.trimmed();
        if start >= end {
            return Err(Error::Unprocessable(format!(
                "the select would begin at {} s and end at {} s; it must end after it begins",
                seconds(start),
                seconds(end)
            )));
        }
        Ok(())
    }

    /// Splits the select at a time, given in seconds of the video. Each part becomes a moment
    /// without a trim. Returns the first part, which keeps the id, and the second part, which has
    /// the id `second`. Returns `Invalid` if the time is not within the select.
    pub(super) fn split(&self, time: f64, second: SelectId) -> Result<(Self, Self)> {
        let (start, end) = self.trimmed();
        let at = milliseconds("at", time)?;
        if !(start < at && at < end) {
            return Err(Error::Invalid(format!(
                "'at' is {time} s; select '{}' can be split between {} s and {} s",
                self.id,
                seconds(start),
                seconds(end)
            )));
        }
        let part =
            |id, start, end| Self { id, start, end, trim_in: None, trim_out: None, ..self.clone() };
        Ok((part(self.id, start, at), part(second, at, end)))
    }
}

impl BinSettings {
    /// Trims tags, drops duplicates and checks the limits.
    pub(super) fn check_tags(&self, tags: &[String]) -> Result<Vec<String>> {
        let mut checked: Vec<String> = Vec::new();
        for tag in tags.iter().map(|tag| tag.trim()) {
            let max = self.max_tag_chars;
            if tag.is_empty() || tag.chars().count() > max {
                return Err(Error::Unprocessable(format!(
                    "a tag must have 1 to {max} characters (bins.max_tag_chars)"
                )));
            }
            if !checked.iter().any(|known| known == tag) {
                checked.push(tag.to_owned());
            }
            // Checked here, because the comparison above takes quadratic time.
            if checked.len() > self.max_tags {
                return Err(Error::Unprocessable(format!(
                    "a select has at most {} tags (bins.max_tags)",
                    self.max_tags
                )));
            }
        }
        Ok(checked)
    }
}

fn check_rating(rating: u8) -> Result<u8> {
    if rating > MAX_RATING {
        return Err(Error::Unprocessable(format!("rating must be from 0 to {MAX_RATING}")));
    }
    Ok(rating)
}

/// Converts a time in a request to milliseconds.
fn milliseconds(field: &str, seconds: f64) -> Result<u64> {
    if !(seconds.is_finite() && seconds >= 0.0) {
        return Err(Error::Unprocessable(format!(
            "'{field}' is {seconds}; it must be a time in seconds from the start of the video"
        )));
    }
    Ok((seconds * 1000.0).round() as u64)
}

fn seconds(milliseconds: u64) -> f64 {
    milliseconds as f64 / 1000.0
}

#[cfg(test)]
pub(super) mod testing {
    use super::*;

    /// A select of ten seconds of a video.
    pub(in super::super) fn select(id: u64) -> Select {
        Select {
            id: SelectId(id),
            video_id: "0123456789abcdef".parse().expect("an id"),
            filename: "clip.mp4".into(),
            start: 10_000,
            end: 20_000,
            trim_in: None,
            trim_out: None,
            note: String::new(),
            tags: Vec::new(),
            rating: 0,
            version: 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::testing::select;
    use super::*;

    #[test]
    fn select_ids_have_one_form() {
        assert_eq!(SelectId::parse("s12").expect("an id"), SelectId(12));
        for bad in ["", "s", "12", "S12", "s012", "s+1", "s-1", "s1 ", "s99999999999999999999"] {
            assert!(matches!(SelectId::parse(bad), Err(Error::NotFound(_))), "{bad}");
        }
    }

    #[test]
    fn stored_selects_are_compact() {
        let json = serde_json::to_string(&select(12)).expect("JSON");
        assert!(json.len() < 120, "{json}");
        assert_eq!(serde_json::from_str::<Select>(&json).expect("a select"), select(12));
    }

    #[test]
    fn trims_are_times_in_the_video() {
        let settings = BinSettings::default();
        let mut trimmed = select(1);
        let patch = |trim_in, trim_out| SelectPatch { trim_in, trim_out, ..SelectPatch::default() };
        trimmed.apply(&patch(Some(Some(12.0004)), None), &settings).expect("a trim");
        assert_eq!((trimmed.trim(), trimmed.milliseconds()), ((Some(12.0), None), 8_000));
        // The trim may extend the moment.
        trimmed.apply(&patch(Some(Some(5.0)), Some(Some(25.5))), &settings).expect("a trim");
        assert_eq!(trimmed.trimmed_span(), Span { start: 5.0, end: 25.5 });
        trimmed.apply(&patch(Some(None), None), &settings).expect("a trim");
        assert_eq!(trimmed.trimmed_span(), Span { start: 10.0, end: 25.5 });
        assert_eq!(trimmed.span(), Span { start: 10.0, end: 20.0 });
        for bad in [
            patch(Some(Some(-1.0)), None),
            patch(Some(Some(f64::NAN)), None),
            patch(None, Some(Some(f64::INFINITY))),
            patch(Some(Some(25.5)), None),
            patch(Some(Some(8.0)), Some(Some(7.0))),
            patch(None, Some(Some(10.0004))),
        ] {
            let refused = trimmed.clone().apply(&bad, &settings);
            assert!(matches!(refused, Err(Error::Unprocessable(_))), "{bad:?}");
        }
    }

    #[test]
    fn parts_of_a_split_play_what_the_select_played() {
        let mut whole = select(1);
        (whole.note, whole.rating) = ("both parts have the note".into(), 4);
        (whole.trim_in, whole.trim_out) = (Some(8_000), Some(18_000));
        let (first, second) = whole.split(9.0, SelectId(7)).expect("two parts");
        assert_eq!((first.id, second.id), (SelectId(1), SelectId(7)));
        assert_eq!((first.trimmed(), second.trimmed()), ((8_000, 9_000), (9_000, 18_000)));
        assert_eq!(first.moment_id().to_string(), "m_0123456789abcdef_8000_9000");
        assert_eq!((&second.note, second.rating, second.trim()), (&whole.note, 4, (None, None)));
        for outside in [0.0, 8.0, 18.0, 20.0, 8.0004, 1e300] {
            assert!(matches!(whole.split(outside, SelectId(7)), Err(Error::Invalid(_))));
        }
        for bad in [-1.0, f64::NAN] {
            assert!(matches!(whole.split(bad, SelectId(7)), Err(Error::Unprocessable(_))));
        }
    }

    #[test]
    fn tags_are_trimmed_and_distinct() {
        let settings = BinSettings { max_tags: 2, max_tag_chars: 3, ..BinSettings::default() };
        let tags = |tags: &[&str]| {
            settings.check_tags(&tags.iter().map(|tag| (*tag).to_owned()).collect::<Vec<_>>())
        };
        assert_eq!(tags(&[" a", "b", "a "]).expect("tags"), ["a", "b"]);
        for (bad, expected) in
            [(&["a", "b", "c"][..], "max_tags"), (&["abcd"], "max_tag_chars"), (&[" "], "1 to 3")]
        {
            let error = tags(bad).expect_err("refused").to_string();
            assert!(error.contains(expected), "{bad:?}: {error}");
        }
    }
}
