//! Pages of spans: what a search for intervals returns, and where the next page begins.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::str::FromStr;

use ports::listing::Position;
use serde_json::{Map, Value};

use crate::intervals::evaluate::{CompiledExpression, IntervalProof};
use crate::intervals::set::{IntervalSet, Milliseconds};
use crate::intervals::table::IntervalTable;
use crate::kernel::moment::MomentId;
use crate::kernel::time::Span;
use crate::kernel::video::VideoId;

/// Default number of spans per page.
pub const DEFAULT_SPANS: u32 = 50;

/// Maximum number of videos, and of parts of videos, that are listed as not analyzed.
const MAX_NOT_ANALYZED: usize = 100;

/// Minimum length of a part of a video that is listed as not analyzed, in milliseconds. The audio of
/// a video often ends a little later than its picture.
const MIN_PART: Milliseconds = 100;

/// A search for intervals.
#[derive(Debug, Clone, PartialEq)]
pub struct IntervalQuery {
    /// The expression, unparsed.
    pub expression: Value,
    /// The videos to search; `None` means all of them.
    pub video_ids: Option<Vec<String>>,
    /// Filters on videos, unparsed.
    pub filters: Map<String, Value>,
    /// Maximum number of spans.
    pub limit: u32,
    /// `next` of the previous page.
    pub cursor: Option<String>,
}

/// A page of the spans in which an expression holds.
#[derive(Debug, Clone, PartialEq)]
pub struct IntervalPage {
    /// The canonical form of the expression.
    pub expression: Value,
    /// The videos with spans, newest first.
    pub videos: Vec<VideoIntervals>,
    /// What is not known about the videos that were searched for this page.
    pub not_analyzed: Vec<NotAnalyzed>,
    /// Requested ids that match no video, at most 20.
    pub unknown_videos: Vec<String>,
    /// The texts whose search found as many moments as it may, so that there may be more.
    pub truncated_texts: Vec<String>,
    /// Cursor of the next page; `None` on the last page. A page may have fewer spans than requested,
    /// or none, and still be followed by another one.
    pub next: Option<String>,
}

/// The spans of one video in which an expression holds.
#[derive(Debug, Clone, PartialEq)]
pub struct VideoIntervals {
    /// The id of the video.
    pub video_id: VideoId,
    /// The cleaned file name.
    pub filename: String,
    /// Public storage URL of the video.
    pub video_url: String,
    /// Length of the video, in seconds.
    pub duration: f64,
    /// The spans, in order.
    pub spans: Vec<MatchedSpan>,
}

/// A span in which an expression holds, with the moments that prove it.
#[derive(Debug, Clone, PartialEq)]
pub struct MatchedSpan {
    /// The id of the span.
    pub moment_id: MomentId,
    /// Start and end, in seconds from the start of the video.
    pub span: Span,
    /// The proofs, one for each term that has any in the span.
    pub proofs: Vec<IntervalProof>,
}

/// What an analyzer that a term needs has not analyzed.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct NotAnalyzed {
    /// The id of the analyzer.
    pub analyzer: String,
    /// Number of videos without its results.
    pub videos: u64,
    /// The first of these videos.
    pub video_ids: Vec<VideoId>,
    /// Parts of other videos without its results.
    pub parts: Vec<(VideoId, Span)>,
}

/// Where a page begins: in a video, with the first span that begins after a time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct IntervalStart {
    pub(super) video: Position,
    /// The start of the last span on the previous page; `None` at the beginning of the video.
    pub(super) after: Option<Milliseconds>,
}

impl fmt::Display for IntervalStart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { video: Position { created_at, video_id }, after } = self;
        write!(f, "{created_at}.{video_id}")?;
        after.map_or(Ok(()), |after| write!(f, ".{after}"))
    }
}

impl FromStr for IntervalStart {
    type Err = fmt::Error;

    fn from_str(text: &str) -> Result<Self, fmt::Error> {
        let read = || {
            let mut parts = text.split('.');
            let created_at = parts.next()?.parse().ok()?;
            let video_id = parts.next()?.parse().ok()?;
            let after = parts.next().map(|after| after.parse().ok());
            let after = after.map_or(Some(None), |after| after.map(Some))?;
            let video = Position { created_at, video_id };
            parts.next().is_none().then_some(Self { video, after })
        };
        read().ok_or(fmt::Error)
    }
}

/// Collects the spans of a page.
#[derive(Debug)]
pub(super) struct PageBuilder {
    limit: usize,
    max_proofs: usize,
    from: Option<IntervalStart>,
    /// Number of spans so far.
    spans: usize,
    pub(super) videos: Vec<VideoIntervals>,
    not_analyzed: BTreeMap<&'static str, NotAnalyzed>,
    /// Where the next page begins, once this one is full.
    pub(super) next: Option<IntervalStart>,
}

impl PageBuilder {
    pub(super) fn new(limit: usize, max_proofs: usize, from: Option<IntervalStart>) -> Self {
        Self {
            limit,
            max_proofs,
            from,
            spans: 0,
            videos: Vec::new(),
            not_analyzed: BTreeMap::new(),
            next: None,
        }
    }

    /// Adds the spans of a video. The page is full if [`Self::next`] is set.
    pub(super) fn add(
        &mut self,
        expression: &CompiledExpression,
        video: &Position,
        table: &IntervalTable,
    ) {
        let resumed = self.from.as_ref().filter(|from| from.video == *video);
        let after = resumed.and_then(|from| from.after);
        if self.spans == self.limit {
            self.next = Some(IntervalStart { video: video.clone(), after });
            return;
        }
        if after.is_none() {
            self.add_not_analyzed(expression, table);
        }
        let holds = expression.spans(table);
        let spans = holds.intervals();
        let first = after.map_or(0, |after| spans.partition_point(|span| span.start <= after));
        let spans = &spans[first..];
        if spans.is_empty() {
            return;
        }
        let taken = &spans[..spans.len().min(self.limit - self.spans)];
        self.spans += taken.len();
        if let Some(last) = taken.last().filter(|_| taken.len() < spans.len()) {
            self.next = Some(IntervalStart { video: video.clone(), after: Some(last.start) });
        }
        let matched = taken.iter().map(|interval| MatchedSpan {
            moment_id: MomentId::new(video.video_id, interval.span()),
            span: interval.span(),
            proofs: expression.proofs(table, *interval, self.max_proofs),
        });
        self.videos.push(VideoIntervals {
            video_id: video.video_id,
            filename: String::new(),
            video_url: String::new(),
            duration: table.duration(),
            spans: matched.collect(),
        });
    }

    fn add_not_analyzed(&mut self, expression: &CompiledExpression, table: &IntervalTable) {
        let video_id = table.identity.video_id;
        // Two requirements may need the same analyzer.
        let mut missing: BTreeSet<&'static str> = BTreeSet::new();
        for requirement in expression.requirements() {
            let (analyzer, known) = (requirement.analyzer(), requirement.known(table));
            let unknown = table.whole().difference(&known).lasting(MIN_PART);
            if known.is_empty() {
                missing.insert(analyzer);
            } else if !unknown.is_empty() {
                let entry = self.not_analyzed.entry(analyzer).or_default();
                entry.add_parts(video_id, &unknown);
            }
        }
        for analyzer in missing {
            let entry = self.not_analyzed.entry(analyzer).or_default();
            entry.videos += 1;
            if entry.video_ids.len() < MAX_NOT_ANALYZED {
                entry.video_ids.push(video_id);
            }
        }
    }

    /// Returns what is not known, by analyzer.
    pub(super) fn take_not_analyzed(&mut self) -> Vec<NotAnalyzed> {
        let entries = std::mem::take(&mut self.not_analyzed).into_iter();
        let named = |(analyzer, entry): (&str, NotAnalyzed)| NotAnalyzed {
            analyzer: analyzer.to_owned(),
            ..entry
        };
        entries.map(named).collect()
    }
}

impl NotAnalyzed {
    fn add_parts(&mut self, video_id: VideoId, unknown: &IntervalSet) {
        let room = MAX_NOT_ANALYZED.saturating_sub(self.parts.len());
        let parts = unknown.intervals().iter().map(|part| (video_id, part.span()));
        let new = parts.filter(|part| !self.parts.contains(part)).take(room).collect::<Vec<_>>();
        self.parts.extend(new);
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::aggregation::testing::video;
    use crate::analysis::analyzers::{default_video, object_detection, ocr, people};
    use crate::facts::{Coverage, VideoFacts};
    use crate::intervals::tests::{compile, facts, speech, table};

    #[test]
    fn a_page_lists_what_was_not_analyzed() {
        let known = facts(&video(10.0, 3), Some(speech(&[(0.0, 30.0)], &[])));
        let read = [Span { start: 0.0, end: 10.0 }, Span { start: 20.0, end: 30.0 }];
        let coverage = Coverage { screen: read.to_vec(), ..Coverage::default() };
        let table = table(&VideoFacts { coverage, people: None, lines: Some(Vec::new()), ..known });
        let terms = json!([
            {"reads": "news"}, {"tag": "dim"}, {"says": "x"}, {"sees": "car"}, {"people": true},
        ]);
        let position = Position { created_at: 0, video_id: table.identity.video_id };
        let mut page = PageBuilder::new(10, 10, None);
        page.add(&compile(&json!({"any": terms})), &position, &table);
        let found = page.take_not_analyzed().into_iter();
        let found: Vec<(String, u64, usize)> =
            found.map(|entry| (entry.analyzer, entry.videos, entry.parts.len())).collect();
        let expected = [
            (default_video::ID, 1, 0),
            (object_detection::ID, 1, 0),
            (ocr::ID, 0, 1),
            (people::ID, 1, 0),
        ];
        let expected = expected.map(|(id, videos, parts)| (id.to_owned(), videos, parts));
        assert_eq!(found, expected, "what is said is known");
    }

    #[test]
    fn page_starts_round_trip() {
        let video = Position { created_at: -5, video_id: VideoId::from_digest([7; 20]) };
        for after in [None, Some(0), Some(12_500)] {
            let start = IntervalStart { video: video.clone(), after };
            assert_eq!(start.to_string().parse(), Ok(start));
        }
        for text in ["", "x", "1.2", "1.0707070707070707.x", "1.0707070707070707.3.4"] {
            assert!(text.parse::<IntervalStart>().is_err(), "{text}");
        }
    }
}
