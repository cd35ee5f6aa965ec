//! Lists the people who have a name, and the appearances of one of them.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use super::appearances::{AppearanceKind, PersonInVideo, name_key};
use super::{People, VideoWithPeople};
use crate::intervals::set::{Interval, IntervalSet};
use crate::kernel::access::Access;
use crate::kernel::error::{Error, Result};
use crate::kernel::moment::MomentId;
use crate::kernel::names::suggest;
use crate::kernel::time::{Span, rounded};
use crate::kernel::token_budget::Cursor;
use crate::kernel::video::VideoId;

/// A page of the people who have a name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PeopleQuery {
    /// Only appearances in videos of this collection.
    pub collection: Option<String>,
    /// Only people whose name contains this text, ignoring case.
    pub text: Option<String>,
    /// Maximum number of people.
    pub limit: usize,
    /// Cursor from the previous page.
    pub cursor: Option<String>,
}

/// The people who have a name.
#[derive(Debug, Clone, PartialEq)]
pub struct PeopleList {
    /// The people of this page, sorted by name.
    pub people: Vec<PersonSummary>,
    /// Number of people on all pages.
    pub total: usize,
    /// Cursor of the next page; `None` on the last page.
    pub next: Option<String>,
    /// Number of older videos with corrections that were not read.
    pub omitted_videos: u64,
}

/// A person who has a name.
#[derive(Debug, Clone, PartialEq)]
pub struct PersonSummary {
    /// The name, in the most frequent spelling.
    pub name: String,
    /// Number of videos in which the person appears.
    pub videos: usize,
    /// Number of appearances in them.
    pub appearances: usize,
    /// How long the person is visible, in seconds.
    pub seconds_visible: f64,
    /// How long the person speaks, in seconds.
    pub seconds_speaking: f64,
    /// A picture of the person; `None` if no video has a picture.
    pub picture: Option<PersonPicture>,
}

/// What shows a person.
#[derive(Debug, Clone, PartialEq)]
pub enum PersonPicture {
    /// The image of a linked person.
    Entity(VideoId, String),
    /// The frame at this time, in seconds.
    Frame(VideoId, f64),
}

/// A page of the appearances of a person.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PersonQuery {
    /// The name, in any spelling.
    pub name: String,
    /// Maximum number of appearances.
    pub limit: usize,
    /// Cursor from the previous page.
    pub cursor: Option<String>,
}

/// A person and where they appear.
#[derive(Debug, Clone, PartialEq)]
pub struct PersonPage {
    /// The person.
    pub person: PersonSummary,
    /// The appearances of this page: those in the newest video first, in chronological order.
    pub appearances: Vec<PersonAppearance>,
    /// Cursor of the next page; `None` on the last page.
    pub next: Option<String>,
    /// Number of older videos with corrections that were not read.
    pub omitted_videos: u64,
}

/// A span in which a person is visible or speaks.
#[derive(Debug, Clone, PartialEq)]
pub struct PersonAppearance {
    /// The moment.
    pub moment_id: MomentId,
    /// How the appearance is known.
    pub kind: AppearanceKind,
    /// The video's file name.
    pub filename: String,
    /// The title that a user gave to the video.
    pub title: Option<String>,
    /// Wall-clock time at the start in ISO 8601 (UTC), if the recording time is known.
    pub recorded_at: Option<String>,
}

/// The last appearance of a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct LastAppearance {
    created_at: i64,
    video_id: VideoId,
    interval: Interval,
    kind: AppearanceKind,
}

/// The appearances of one person in the videos, newest first.
type NamedIn<'v> = Vec<(&'v VideoWithPeople, &'v PersonInVideo)>;

impl People {
    /// Lists the people who have a name in videos that the caller may see, sorted by name.
    pub async fn list(&self, access: &Access, query: &PeopleQuery) -> Result<PeopleList> {
        let (videos, omitted_videos) = self.read(access, query.collection.as_deref()).await?;
        let text = query.text.as_deref().map(name_key).unwrap_or_default();
        let mut named: BTreeMap<&str, NamedIn<'_>> = BTreeMap::new();
        for video in &videos {
            let matching = video.people.people.iter().filter(|(key, _)| key.contains(&text));
            for (key, person) in matching {
                named.entry(key).or_default().push((video, person));
            }
        }
        let total = named.len();
        let after = query.cursor.as_deref();
        let mut page: Vec<_> =
            named.into_iter().filter(|(key, _)| after.is_none_or(|after| *key > after)).collect();
        let more = page.len() > query.limit;
        page.truncate(query.limit);
        let next = page.last().filter(|_| more).map(|(key, _)| (*key).to_owned());
        let people = page.iter().map(|(_, named)| summary(named)).collect();
        Ok(PeopleList { people, total, next, omitted_videos })
    }

    /// Lists the appearances of a person in the videos that the caller may see. Returns `NotFound` if
    /// nobody has the name, and `Invalid` if the cursor is malformed or of another name.
    pub async fn get(&self, access: &Access, query: &PersonQuery) -> Result<PersonPage> {
        let key = name_key(&query.name);
        let cursor = query.cursor.as_deref().map(|text| Cursor::<LastAppearance>::read(text, &key));
        let after = cursor.transpose()?.map(|Cursor(last)| last.order());
        let (videos, omitted_videos) = self.read(access, None).await?;
        let person = |video| Some((video, VideoWithPeople::person(video, &key)?));
        let named: NamedIn<'_> = videos.iter().filter_map(person).collect();
        if named.is_empty() {
            return Err(unknown_person(&query.name, &videos));
        }
        let mut page = Vec::new();
        for (video, person) in &named {
            for (interval, kind) in person.appearances() {
                let last = LastAppearance::new(video, interval, kind);
                if after.is_none_or(|after| last.order() > after) {
                    page.push((*video, last));
                }
            }
            if page.len() > query.limit {
                break;
            }
        }
        let more = page.len() > query.limit;
        page.truncate(query.limit);
        let next = page.last().filter(|_| more).map(|(_, last)| Cursor(*last).text(&key));
        let appearances = page.iter().map(|(video, last)| appearance(video, last)).collect();
        Ok(PersonPage { person: summary(&named), appearances, next, omitted_videos })
    }
}

impl VideoWithPeople {
    fn person(&self, key: &str) -> Option<&PersonInVideo> {
        self.people.people.get(key)
    }

    /// The best picture of a person in this video; those with a lower number are better.
    fn picture(&self, person: &PersonInVideo) -> Option<(u8, PersonPicture)> {
        let video_id = self.video.video_id();
        if !self.people.has_picture {
            return None;
        }
        if let Some(entity_id) = &person.entity_id {
            return Some((0, PersonPicture::Entity(video_id, entity_id.clone())));
        }
        let first = |set: &IntervalSet| set.intervals().first().map(|first| first.span());
        let visible = first(&person.visible).map(|span| (1, span));
        let (rank, Span { start, end }) =
            visible.or_else(|| first(&person.speaking).map(|span| (2, span)))?;
        Some((rank, PersonPicture::Frame(video_id, (start + end) / 2.0)))
    }
}

/// Summarizes a person over the videos.
fn summary(named: &NamedIn<'_>) -> PersonSummary {
    let mut spellings: BTreeMap<&str, usize> = BTreeMap::new();
    for (_, person) in named {
        for (spelling, count) in &person.spellings {
            *spellings.entry(spelling).or_default() += count;
        }
    }
    // Of several that are equally frequent, the first in alphabetical order.
    let spelling =
        spellings.into_iter().max_by_key(|(spelling, count)| (*count, Reverse(*spelling)));
    let seconds = |set: fn(&PersonInVideo) -> &IntervalSet| -> f64 {
        let intervals = named.iter().flat_map(|(_, person)| set(person).intervals());
        intervals.map(|own| f64::from(own.length()) / 1000.0).sum()
    };
    let counts = named
        .iter()
        .map(|(_, person)| person.visible.intervals().len() + person.speaking.intervals().len());
    let pictures = named.iter().filter_map(|(video, person)| video.picture(person));
    PersonSummary {
        name: spelling.map(|(spelling, _)| spelling.to_owned()).unwrap_or_default(),
        videos: named.len(),
        appearances: counts.sum(),
        seconds_visible: rounded(seconds(|person| &person.visible)),
        seconds_speaking: rounded(seconds(|person| &person.speaking)),
        picture: pictures.min_by_key(|(rank, _)| *rank).map(|(_, picture)| picture),
    }
}

fn appearance(video: &VideoWithPeople, last: &LastAppearance) -> PersonAppearance {
    let (span, video) = (last.interval.span(), &video.video);
    PersonAppearance {
        moment_id: MomentId::new(last.video_id, span),
        kind: last.kind,
        filename: video.filename.clone(),
        title: video.title(),
        recorded_at: video.metadata.wall_clock(span.start),
    }
}

fn unknown_person(name: &str, videos: &[VideoWithPeople]) -> Error {
    let keys = videos.iter().flat_map(|video| video.people.people.keys());
    let keys: Vec<&str> = keys.map(String::as_str).collect();
    let hint = suggest(&name_key(name), &keys).map(|key| {
        let person = |video| Some((video, VideoWithPeople::person(video, key)?));
        let named: NamedIn<'_> = videos.iter().filter_map(person).collect();
        format!("did you mean '{}'? ", summary(&named).name)
    });
    Error::NotFound(format!(
        "no correction names a person '{name}'; {}GET /people lists the names",
        hint.unwrap_or_default()
    ))
}

impl LastAppearance {
    fn new(video: &VideoWithPeople, interval: Interval, kind: AppearanceKind) -> Self {
        let position = &video.video.position;
        let (created_at, video_id) = (position.created_at, position.video_id);
        Self { created_at, video_id, interval, kind }
    }

    /// The order of a page: newest video first, then by time.
    fn order(&self) -> (Reverse<i64>, VideoId, Interval, AppearanceKind) {
        (Reverse(self.created_at), self.video_id, self.interval, self.kind)
    }
}

impl fmt::Display for LastAppearance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { created_at, video_id, interval: Interval { start, end }, kind } = self;
        let kind = u8::from(*kind == AppearanceKind::Speaking);
        write!(f, "{created_at}_{video_id}_{start}_{end}_{kind}")
    }
}

impl FromStr for LastAppearance {
    type Err = ();

    fn from_str(text: &str) -> std::result::Result<Self, ()> {
        let parts: Vec<&str> = text.split('_').collect();
        let [created_at, video_id, start, end, kind] = parts[..] else { return Err(()) };
        let parsed = || {
            let (start, end) = (start.parse().ok()?, end.parse().ok()?);
            let kind = match kind {
                "0" => AppearanceKind::Visible,
                "1" => AppearanceKind::Speaking,
                _ => return None,
            };
            let (created_at, video_id) = (created_at.parse().ok()?, video_id.parse().ok()?);
            let is_ordered = start < end;
            is_ordered.then_some(Self {
                created_at,
                video_id,
                interval: Interval { start, end },
                kind,
            })
        };
        parsed().ok_or(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cursors_round_trip() {
        let video_id: VideoId = "0123456789abcdef".parse().expect("an id");
        let interval = Interval { start: 1500, end: 2500 };
        for kind in [AppearanceKind::Visible, AppearanceKind::Speaking] {
            let last = LastAppearance { created_at: -5, video_id, interval, kind };
            let text = Cursor(last).text("ada");
            assert_eq!(Cursor::read(&text, "ada").expect("a cursor"), Cursor(last));
            let other = Cursor::<LastAppearance>::read(&text, "bob");
            assert!(matches!(other, Err(Error::Invalid(_))), "of another name");
        }
    }
}
