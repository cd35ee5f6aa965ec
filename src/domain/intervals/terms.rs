//! Finds the times at which a term holds in a video, and what shows it.

use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::Mutex;
use text::plural::singulars;

use crate::analysis::analyzers::{
    default_video, diarization, object_detection, ocr, people, transcript,
};
use crate::facts::MAX_GAP;
use crate::facts::matching::{PhraseMatcher, is_named};
use crate::intervals::expression::{DEFAULT_PROBABILITY, IntervalTerm, TermPhrase};
use crate::intervals::set::{Interval, IntervalSet, Milliseconds, milliseconds};
use crate::intervals::table::{
    IntervalTable, LineEntry, Permille, SightingEntry, SpokenWords, StringId, WordEntry,
};
use crate::kernel::video::VideoId;

/// The hits of a search for a text, by video: the chunk and its `p_present` (0..1).
pub(crate) type TextHits = Arc<HashMap<VideoId, Vec<(Interval, f32)>>>;

/// What must be known about a video for a term to be true or false.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Requirement {
    Words,
    VoiceActivity,
    Speakers,
    Screen,
    Things,
    Tags,
    People,
}

impl Requirement {
    pub(super) fn for_term(term: &IntervalTerm) -> Option<Self> {
        match term {
            IntervalTerm::Says(_) => Some(Self::Words),
            IntervalTerm::Speech | IntervalTerm::Silence => Some(Self::VoiceActivity),
            IntervalTerm::Speaker(_) => Some(Self::Speakers),
            IntervalTerm::Reads(_) => Some(Self::Screen),
            IntervalTerm::Sees { .. } => Some(Self::Things),
            IntervalTerm::Tag { .. } => Some(Self::Tags),
            IntervalTerm::People { .. } => Some(Self::People),
            IntervalTerm::Text { .. } | IntervalTerm::Between { .. } => None,
        }
    }

    /// The analyzer that provides it. Where several do, this is the one to add.
    pub(crate) fn analyzer(self) -> &'static str {
        match self {
            Self::Words | Self::VoiceActivity => transcript::ID,
            Self::Speakers => diarization::ID,
            Self::Screen => ocr::ID,
            Self::Things => object_detection::ID,
            Self::Tags => default_video::ID,
            Self::People => people::ID,
        }
    }

    /// The part of a video for which it is known.
    pub(crate) fn known(self, table: &IntervalTable) -> IntervalSet {
        let whole_if = |is_known: bool| match is_known {
            true => table.whole(),
            false => IntervalSet::default(),
        };
        match self {
            Self::Words => whole_if(table.speech.is_some()),
            Self::VoiceActivity => whole_if(table.voices.is_some()),
            Self::Speakers => whole_if(table.turns.is_some()),
            Self::Screen => table.analyzed.screen.clone(),
            Self::Things => table.analyzed.things.clone(),
            Self::Tags => table.analyzed.tags.clone(),
            Self::People => table.analyzed.people.clone(),
        }
    }
}

/// What shows that a term holds.
#[derive(Debug, Clone, Copy)]
pub(super) enum MatchSource<'t> {
    /// The interval alone.
    Interval,
    Words(&'t [WordEntry]),
    Line(&'t LineEntry),
    Sighting(&'t SightingEntry),
    Speaker(StringId),
    /// The number of people or things.
    Count(u32),
    /// The `p_present` of a hit.
    Hit(f32),
}

/// Maximum number of lines on screen that may show a phrase together.
const MAX_LINES: usize = 3;

/// Receives the times at which a term holds.
type Visitor<'v, 't> = &'v mut dyn FnMut(Interval, MatchSource<'t>);

/// A term that is ready to be compared with tables.
#[derive(Debug)]
pub(super) struct TermMatcher {
    pub(super) term: IntervalTerm,
    pub(super) requirement: Option<Requirement>,
    matcher: Matcher,
}

#[derive(Debug)]
enum Matcher {
    Phrase(PhraseMatcher),
    Label(LabelMatcher),
    Hits(TextHits),
    Plain,
}

/// Compares the labels of visible things with a noun.
#[derive(Debug)]
struct LabelMatcher {
    /// The singular forms of the noun.
    names: Vec<String>,
    /// Whether each label that was compared names such a thing. Most videos share their labels.
    known: Mutex<HashMap<Box<str>, bool>>,
}

impl LabelMatcher {
    /// Maximum number of remembered labels.
    const MAX_KNOWN: usize = 10_000;

    fn new(noun: &str) -> Self {
        Self { names: singulars(noun), known: Mutex::default() }
    }

    fn matches(&self, label: &str) -> bool {
        let mut known = self.known.lock();
        if let Some(is_match) = known.get(label) {
            return *is_match;
        }
        if known.len() >= Self::MAX_KNOWN {
            known.clear();
        }
        let is_match = self.names.iter().any(|name| is_named(label, name));
        known.insert(label.into(), is_match);
        is_match
    }
}

impl TermMatcher {
    /// Prepares a term. `hits` are those of a term that searches for a text.
    pub(super) fn new(term: &IntervalTerm, hits: Option<TextHits>) -> Self {
        let phrase = |phrase: &TermPhrase| {
            Matcher::Phrase(PhraseMatcher::new(&phrase.words, phrase.is_exact))
        };
        let matcher = match term {
            IntervalTerm::Says(words) | IntervalTerm::Reads(words) => phrase(words),
            IntervalTerm::Sees { label, .. } => Matcher::Label(LabelMatcher::new(label)),
            IntervalTerm::Text { .. } => Matcher::Hits(hits.unwrap_or_default()),
            IntervalTerm::Speaker(_)
            | IntervalTerm::Speech
            | IntervalTerm::Silence
            | IntervalTerm::People { .. }
            | IntervalTerm::Tag { .. }
            | IntervalTerm::Between { .. } => Matcher::Plain,
        };
        Self { term: term.clone(), requirement: Requirement::for_term(term), matcher }
    }

    /// The times at which the term holds.
    pub(super) fn holds(&self, table: &IntervalTable) -> IntervalSet {
        let mut intervals: Vec<Interval> = Vec::new();
        self.visit(table, &mut |interval, _| intervals.push(interval));
        let set: IntervalSet = intervals.into_iter().collect();
        match self.term {
            // A thing that is seen in two frames is seen in between if no other frame was checked.
            IntervalTerm::Sees { count: 1, .. } => {
                set.bridged(milliseconds(MAX_GAP), &table.things.frames)
            }
            _ => set,
        }
    }

    /// The part of a video for which it is known whether the term holds.
    pub(super) fn known(&self, table: &IntervalTable) -> IntervalSet {
        self.requirement.map_or_else(|| table.whole(), |needed| needed.known(table))
    }

    /// Calls `visit` with each moment at which the term holds, and what shows it.
    pub(super) fn visit<'t>(&self, table: &'t IntervalTable, visit: Visitor<'_, 't>) {
        match (&self.term, &self.matcher) {
            (IntervalTerm::Says(_), Matcher::Phrase(phrase)) => {
                for channel in table.speech.iter().flatten() {
                    visit_spoken(phrase, channel, table, visit);
                }
            }
            (IntervalTerm::Reads(_), Matcher::Phrase(phrase)) => visit_lines(phrase, table, visit),
            (IntervalTerm::Sees { min_probability, count: 1, .. }, Matcher::Label(label)) => {
                let is_likely = |thing: &SightingEntry| match min_probability {
                    Some(minimum) => thing.probability >= Permille::new(*minimum),
                    None => {
                        thing.is_stated || thing.probability >= Permille::new(DEFAULT_PROBABILITY)
                    }
                };
                let is_label = |id| label.matches(table.strings.get(id));
                visit_sightings(&table.things.sightings, is_likely, is_label, visit);
            }
            (IntervalTerm::Sees { count, .. }, Matcher::Label(label)) => {
                visit_counts(label, *count, table, visit);
            }
            (IntervalTerm::Tag { label, min_probability }, _) => {
                let minimum = Permille::new(*min_probability);
                let is_likely = |tag: &SightingEntry| tag.probability >= minimum;
                visit_sightings(&table.tags, is_likely, |id| table.strings.get(id) == label, visit);
            }
            (IntervalTerm::Speaker(name), _) => {
                for turn in table.turns.iter().flatten() {
                    if is_same_name(table.strings.get(turn.speaker), name) {
                        visit(turn.interval, MatchSource::Speaker(turn.speaker));
                    }
                }
            }
            (IntervalTerm::Text { min_p_present, .. }, Matcher::Hits(hits)) => {
                for (interval, p_present) in
                    hits.get(&table.identity.video_id).into_iter().flatten()
                {
                    let interval = interval.clipped(table.end);
                    let interval = interval.filter(|_| f64::from(*p_present) >= *min_p_present);
                    interval.into_iter().for_each(|i| visit(i, MatchSource::Hit(*p_present)));
                }
            }
            (term, _) => visit_plain(term, table, visit),
        }
    }
}

/// Visits terms that need no preparation.
fn visit_plain<'t>(term: &IntervalTerm, table: &'t IntervalTable, visit: Visitor<'_, 't>) {
    match term {
        IntervalTerm::Speech => {
            let voices = table.voices.iter().flat_map(IntervalSet::intervals);
            voices.for_each(|voice| visit(*voice, MatchSource::Interval));
        }
        IntervalTerm::Silence => {
            let silence = table.voices.as_ref().map(|voices| table.whole().difference(voices));
            let silence = silence.unwrap_or_default();
            silence.intervals().iter().for_each(|pause| visit(*pause, MatchSource::Interval));
        }
        IntervalTerm::People { at_least, at_most } => {
            for counted in &table.people {
                let count = counted.count;
                if count >= *at_least && at_most.is_none_or(|maximum| count <= maximum) {
                    visit(counted.interval, MatchSource::Count(count));
                }
            }
        }
        IntervalTerm::Between { start, end } => {
            let end = end.unwrap_or(table.end).min(table.end);
            let range = IntervalSet::range(*start, end);
            range.intervals().iter().for_each(|part| visit(*part, MatchSource::Interval));
        }
        _ => {}
    }
}

fn visit_spoken<'t>(
    phrase: &PhraseMatcher,
    channel: &'t SpokenWords,
    table: &'t IntervalTable,
    visit: Visitor<'_, 't>,
) {
    let strings = &table.strings;
    if !phrase.stems().all(|stem| channel.tokens.has_stem(strings, stem)) {
        return;
    }
    let tokens = &channel.tokens.tokens;
    let words = channel.tokens.words(strings, tokens);
    for start in phrase.starts(&words) {
        let said = &tokens[start..start + phrase.len()];
        let (Some(first), Some(last)) = (said.first(), said.last()) else { continue };
        let said = &channel.words[first.owner as usize..=last.owner as usize];
        let end = said.iter().map(|word| word.interval.end).max();
        let interval = Interval::new(said[0].interval.start, end.unwrap_or_default());
        visit(interval, MatchSource::Words(said));
    }
}

fn visit_lines<'t>(phrase: &PhraseMatcher, table: &'t IntervalTable, visit: Visitor<'_, 't>) {
    let (strings, screen) = (&table.strings, &table.lines);
    if !phrase.may_show(screen.tokens.distinct(strings), &screen.letters) {
        return;
    }
    for (at, line) in screen.lines.iter().enumerate() {
        let words = screen.tokens.words(strings, screen.tokens.owned_by(at));
        if phrase.shows_words(&words, screen.letters_of(at)) {
            visit(line.interval, MatchSource::Line(line));
        } else {
            visit_next_lines(phrase, table, (line.interval, 0), &[at], visit);
        }
    }
}

/// Visits lines that show a phrase together, such as a sign of two lines, at the times at which all of
/// them are visible. `before` are the numbers of the lines so far. They show the phrase up to a word,
/// whose number comes with the time at which they are visible; the last one is still to be read.
fn visit_next_lines<'t>(
    phrase: &PhraseMatcher,
    table: &'t IntervalTable,
    (interval, read): (Interval, usize),
    before: &[usize],
    visit: Visitor<'_, 't>,
) {
    let (strings, screen) = (&table.strings, &table.lines);
    let Some(&last) = before.last() else { return };
    let words = screen.tokens.words(strings, screen.tokens.owned_by(last));
    let Some(read) = phrase.continued_by(read, &words, screen.letters_of(last)) else { return };
    if read == phrase.len() {
        for line in before {
            visit(interval, MatchSource::Line(&screen.lines[*line]));
        }
        return;
    }
    if before.len() == MAX_LINES {
        return;
    }
    for (at, line) in screen.lines.iter().enumerate() {
        if let Some(common) = interval.intersection(line.interval)
            && !before.contains(&at)
        {
            visit_next_lines(phrase, table, (common, read), &[before, &[at]].concat(), visit);
        }
    }
}

fn visit_sightings<'t>(
    sightings: &'t [SightingEntry],
    is_likely: impl Fn(&SightingEntry) -> bool,
    is_label: impl Fn(StringId) -> bool,
    visit: Visitor<'_, 't>,
) {
    let matching = sightings.iter().filter(|thing| is_likely(thing) && is_label(thing.label));
    matching.for_each(|thing| visit(thing.interval, MatchSource::Sighting(thing)));
}

/// Visits the longest runs of frames that each show at least `minimum` things of a kind, with the
/// largest number.
fn visit_counts<'t>(
    label: &LabelMatcher,
    minimum: u32,
    table: &'t IntervalTable,
    visit: Visitor<'_, 't>,
) {
    let things = &table.things;
    let mut open: Option<(Milliseconds, Milliseconds, u32)> = None;
    for frame in things.counts.chunk_by(|a, b| a.time == b.time) {
        let counted = frame.iter().filter(|c| label.matches(table.strings.get(c.label)));
        let count = counted.map(|counted| counted.count).sum::<u32>();
        if count < minimum {
            continue;
        }
        let time = frame[0].time;
        let is_next = |last: Milliseconds| {
            let at = things.frames.partition_point(|frame| *frame <= last);
            let is_checked = things.frames.get(at).is_some_and(|next| *next < time);
            time - last <= milliseconds(MAX_GAP) && !is_checked
        };
        open = match open {
            Some((first, last, most)) if is_next(last) => Some((first, time, most.max(count))),
            other => {
                let interval = other.map(|(first, last, most)| (Interval::new(first, last), most));
                interval.into_iter().for_each(|(i, most)| visit(i, MatchSource::Count(most)));
                Some((time, time, count))
            }
        };
    }
    if let Some((first, last, most)) = open {
        visit(Interval::new(first, last), MatchSource::Count(most));
    }
}

/// Whether two names of a speaker are the same, regardless of case.
fn is_same_name(label: &str, name: &str) -> bool {
    label.eq_ignore_ascii_case(name)
        || (!label.is_ascii() && label.to_lowercase() == name.to_lowercase())
}
