//! The intervals of one video in compact form: whole milliseconds, and each string once. A table is
//! built from the stored facts and is immutable.

mod build;
mod locate;

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use crate::facts::VideoFacts;
use crate::facts::matching::WordText;
use crate::intervals::set::{Interval, IntervalSet, Milliseconds};
use crate::kernel::video::VideoId;

/// Which state of which video a table holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct TableIdentity {
    pub(crate) video_id: VideoId,
    /// Time of the first ingest, in milliseconds since 1970.
    pub(crate) created_at: i64,
    /// Number of times that the video's state has been published.
    pub(crate) epoch: u64,
}

/// Index of a string in [`StringTable`].
pub(super) type StringId = u32;

/// Strings, each stored once.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct StringTable {
    text: Box<str>,
    /// Where each string ends in `text`.
    ends: Box<[u32]>,
}

/// A spoken word, as written.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(super) struct WordEntry {
    pub(super) interval: Interval,
    pub(super) text: StringId,
    pub(super) confidence: Permille,
}

/// A token of a word or line. A word may have several.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(super) struct TokenEntry {
    /// Index of the word or line.
    pub(super) owner: u32,
    /// Index in the vocabulary.
    pub(super) form: u32,
}

/// A distinct token: in lower case, and its stem.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
struct WordForm {
    stem: StringId,
    lower: StringId,
}

/// Words or lines with their tokens.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct TokenTable {
    /// The tokens, in the order of their owners.
    pub(super) tokens: Box<[TokenEntry]>,
    /// The distinct tokens, sorted by stem.
    vocabulary: Box<[WordForm]>,
}

/// The spoken words of one channel.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct SpokenWords {
    pub(super) words: Box<[WordEntry]>,
    pub(super) tokens: TokenTable,
}

/// A speaker turn.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(super) struct TurnEntry {
    pub(super) interval: Interval,
    pub(super) speaker: StringId,
}

/// A line on screen.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(super) struct LineEntry {
    pub(super) interval: Interval,
    pub(super) text: StringId,
    pub(super) confidence: Permille,
    /// Where the letters of the line end in [`ScreenLines::letters`].
    letters_end: u32,
}

/// The lines on screen.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct ScreenLines {
    pub(super) lines: Box<[LineEntry]>,
    pub(super) tokens: TokenTable,
    /// The letters and digits of all lines, each followed by a line break.
    pub(super) letters: Box<str>,
}

/// A thing or tag that is visible.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(super) struct SightingEntry {
    pub(super) interval: Interval,
    pub(super) label: StringId,
    pub(super) probability: Permille,
    /// Whether the models state it. If not, it is only probable.
    pub(super) is_stated: bool,
}

/// The number of things with a label in one frame.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(super) struct FrameCount {
    pub(super) time: Milliseconds,
    pub(super) label: StringId,
    pub(super) count: u32,
}

/// The number of people in a chunk.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(super) struct PeopleEntry {
    pub(super) interval: Interval,
    pub(super) count: u32,
}

/// A probability in thousandths.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(super) struct Permille(u16);

impl Permille {
    pub(super) fn new(probability: f64) -> Self {
        Self((probability.clamp(0.0, 1.0) * 1000.0).round() as u16)
    }

    /// Returns the probability, 0..1.
    pub(super) fn probability(self) -> f64 {
        f64::from(self.0) / 1000.0
    }
}

/// The visible things, with the frames in which they were looked for.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct VisibleThings {
    /// The spans in which each thing is visible, in order.
    pub(super) sightings: Box<[SightingEntry]>,
    /// The number of things in each frame that shows any, in order.
    pub(super) counts: Box<[FrameCount]>,
    /// The times of all frames, in order.
    pub(super) frames: Box<[Milliseconds]>,
}

/// The parts of a video that were analyzed.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct AnalyzedParts {
    pub(super) screen: IntervalSet,
    pub(super) things: IntervalSet,
    pub(super) tags: IntervalSet,
    pub(super) people: IntervalSet,
}

/// The intervals of one video. A field is `None` if it is unknown.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct IntervalTable {
    pub(crate) identity: TableIdentity,
    /// Where the video ends.
    pub(super) end: Milliseconds,
    /// The chunks, by id.
    pub(super) chunks: Box<[Interval]>,
    pub(super) strings: StringTable,
    /// The voice activity.
    pub(super) voices: Option<IntervalSet>,
    /// The words of each channel.
    pub(super) speech: Option<Box<[SpokenWords]>>,
    pub(super) turns: Option<Box<[TurnEntry]>>,
    pub(super) lines: ScreenLines,
    pub(super) things: VisibleThings,
    pub(super) tags: Box<[SightingEntry]>,
    pub(super) people: Box<[PeopleEntry]>,
    pub(super) analyzed: AnalyzedParts,
}

impl StringTable {
    pub(super) fn get(&self, id: StringId) -> &str {
        let end = |id: usize| self.ends.get(id).copied().unwrap_or_default() as usize;
        let start = (id as usize).checked_sub(1).map_or(0, end);
        self.text.get(start..end(id as usize)).unwrap_or_default()
    }
}

/// A token with its strings.
#[derive(Clone, Copy)]
pub(super) struct TableWord<'t> {
    strings: &'t StringTable,
    form: WordForm,
}

impl WordText for TableWord<'_> {
    fn lower(&self) -> &str {
        self.strings.get(self.form.lower)
    }

    fn stem(&self) -> &str {
        self.strings.get(self.form.stem)
    }
}

impl TokenTable {
    /// Whether any token has this stem.
    pub(super) fn has_stem(&self, strings: &StringTable, stem: &str) -> bool {
        self.vocabulary.binary_search_by(|form| strings.get(form.stem).cmp(stem)).is_ok()
    }

    /// Returns the distinct tokens.
    pub(super) fn distinct<'t>(
        &'t self,
        strings: &'t StringTable,
    ) -> impl Iterator<Item = TableWord<'t>> {
        self.vocabulary.iter().map(move |form| TableWord { strings, form: *form })
    }

    /// Returns these tokens as words.
    pub(super) fn words<'t>(
        &'t self,
        strings: &'t StringTable,
        tokens: &'t [TokenEntry],
    ) -> Vec<TableWord<'t>> {
        let form = |token: &TokenEntry| self.vocabulary.get(token.form as usize).copied();
        let word = |form| TableWord { strings, form };
        tokens.iter().filter_map(form).map(word).collect()
    }

    /// Returns the tokens of a word or line.
    pub(super) fn owned_by(&self, owner: usize) -> &[TokenEntry] {
        let start = self.tokens.partition_point(|token| (token.owner as usize) < owner);
        let end = self.tokens.partition_point(|token| token.owner as usize <= owner);
        &self.tokens[start..end]
    }

    fn bytes(&self) -> usize {
        size_of_val(&*self.tokens) + size_of_val(&*self.vocabulary)
    }
}

impl ScreenLines {
    /// Returns the letters and digits of a line.
    pub(super) fn letters_of(&self, line: usize) -> &str {
        let end = |line: usize| self.lines.get(line).map_or(0, |line| line.letters_end as usize);
        let start = line.checked_sub(1).map_or(0, |before| end(before) + 1);
        self.letters.get(start..end(line)).unwrap_or_default()
    }
}

impl IntervalTable {
    /// Builds the table of a video from all its facts that have a time.
    pub(crate) fn new(identity: TableIdentity, facts: &VideoFacts) -> Self {
        Builder::new(facts).build(identity, facts)
    }

    /// Returns the memory that the table takes, in bytes.
    pub(crate) fn bytes(&self) -> usize {
        let speech = self.speech.iter().flatten();
        let speech = speech.map(|channel| size_of_val(&*channel.words) + channel.tokens.bytes());
        let sets = [&self.analyzed.screen, &self.analyzed.things, &self.analyzed.tags];
        let sets = sets.into_iter().chain([&self.analyzed.people]).chain(&self.voices);
        size_of::<Self>()
            + size_of_val(&*self.chunks)
            + self.strings.text.len()
            + size_of_val(&*self.strings.ends)
            + speech.sum::<usize>()
            + sets.map(|set| size_of_val(set.intervals())).sum::<usize>()
            + self.turns.as_deref().map_or(0, size_of_val)
            + size_of_val(&*self.lines.lines)
            + self.lines.tokens.bytes()
            + self.lines.letters.len()
            + size_of_val(&*self.things.sightings)
            + size_of_val(&*self.things.counts)
            + size_of_val(&*self.things.frames)
            + size_of_val(&*self.tags)
            + size_of_val(&*self.people)
    }

    /// Returns what is said in each channel, each line on screen, and each label of what is seen or of a
    /// speaker.
    pub(crate) fn texts(&self) -> impl Iterator<Item = String> {
        let string = |id: StringId| self.strings.get(id).to_owned();
        let said = self.speech.iter().flatten().map(|channel| {
            let words = channel.words.iter().map(|word| self.strings.get(word.text));
            words.collect::<Vec<_>>().join(" ")
        });
        let lines = self.lines.lines.iter().map(move |line| string(line.text));
        let seen = self.things.sightings.iter().chain(&self.tags).map(move |s| string(s.label));
        let speakers = self.turns.iter().flatten().map(move |turn| string(turn.speaker));
        said.chain(lines).chain(seen).chain(speakers)
    }

    /// Returns the length of the video, in seconds.
    pub(crate) fn duration(&self) -> f64 {
        f64::from(self.end) / 1000.0
    }

    /// Returns the whole video.
    pub(crate) fn whole(&self) -> IntervalSet {
        IntervalSet::range(0, self.end)
    }
}

/// Collects the strings and entries of a table.
struct Builder {
    end: Milliseconds,
    text: String,
    ends: Vec<u32>,
    ids: HashMap<String, StringId>,
}
