//! Builds tables from facts.

use std::collections::HashMap;

use ports::transcriber::Word;
use text::{letters_and_digits, tokens};

use super::{
    AnalyzedParts, Builder, FrameCount, IntervalTable, LineEntry, PeopleEntry, Permille,
    ScreenLines, SightingEntry, SpokenWords, StringId, StringTable, TableIdentity, TokenEntry,
    TokenTable, TurnEntry, VisibleThings, WordEntry, WordForm,
};
use crate::aggregation::aggregators::speaker_stats::SpokenTurn;
use crate::facts::{Sighting, TimedLine, VideoFacts, has_voice_activity};
use crate::intervals::set::{Interval, IntervalSet, Milliseconds, milliseconds};
use crate::kernel::time::Span;

impl Builder {
    pub(super) fn new(facts: &VideoFacts) -> Self {
        let coverage = &facts.coverage;
        let analyzed = [&coverage.screen, &coverage.things, &coverage.tags].into_iter();
        let spans = analyzed.chain([&facts.chunks]).flatten();
        let ends = spans.map(|span| span.end).chain([facts.video_duration]);
        let end = milliseconds(ends.fold(0.0, f64::max)).max(1);
        Self { end, text: String::new(), ends: Vec::new(), ids: HashMap::new() }
    }

    pub(super) fn build(mut self, identity: TableIdentity, facts: &VideoFacts) -> IntervalTable {
        let speech = facts.speech.as_ref().map(|speech| &speech.speech);
        let voices = speech.filter(|speech| has_voice_activity(speech));
        let voices = voices.map(|speech| self.set(&speech.spans));
        let words = speech.and_then(|speech| speech.words.as_ref());
        let words = words.map(|words| {
            let channels = words.by_channel().iter().map(|channel| self.spoken(channel));
            channels.collect::<Box<[_]>>()
        });
        let turns = facts.turns.as_ref().map(|turns| {
            let entry = |turn: &SpokenTurn| {
                let interval = self.interval(Span { start: turn.start, end: turn.end })?;
                Some(TurnEntry { interval, speaker: self.intern(&turn.speaker) })
            };
            turns.iter().filter_map(entry).collect::<Box<[_]>>()
        });
        let people = facts.people.as_deref().unwrap_or_default().iter().filter_map(|counted| {
            let interval = self.interval(Span { start: counted.start, end: counted.end })?;
            let count = u32::try_from(counted.people_count).unwrap_or(u32::MAX);
            Some(PeopleEntry { interval, count })
        });
        let people: Box<[PeopleEntry]> = people.collect();
        let analyzed = AnalyzedParts {
            screen: self.set(&facts.coverage.screen),
            things: self.set(&facts.coverage.things),
            tags: self.set(&facts.coverage.tags),
            people: people.iter().map(|entry| entry.interval).collect(),
        };
        let lines = self.screen_lines(facts.lines.as_deref().unwrap_or_default());
        let things = self.visible_things(facts);
        let tags = self.sightings(facts.tags.as_deref().unwrap_or_default());
        IntervalTable {
            identity,
            end: self.end,
            chunks: facts.chunks.iter().copied().map(Interval::from).collect(),
            voices,
            speech: words,
            turns,
            lines,
            things,
            tags,
            people,
            analyzed,
            strings: StringTable { text: self.text.into(), ends: self.ends.into() },
        }
    }

    /// The part of a span that lies within the video.
    fn interval(&self, span: Span) -> Option<Interval> {
        Interval::from(span).clipped(self.end)
    }

    fn set(&self, spans: &[Span]) -> IntervalSet {
        spans.iter().filter_map(|span| self.interval(*span)).collect()
    }

    fn intern(&mut self, text: &str) -> StringId {
        if let Some(id) = self.ids.get(text) {
            return *id;
        }
        let id = self.ends.len() as StringId;
        self.text.push_str(text);
        self.ends.push(self.text.len() as u32);
        self.ids.insert(text.to_owned(), id);
        id
    }

    fn spoken(&mut self, words: &[Word]) -> SpokenWords {
        let mut entries = Vec::with_capacity(words.len());
        let mut texts = Vec::with_capacity(words.len());
        for word in words {
            let span = Span { start: word.start, end: word.end };
            let Some(interval) = self.interval(span) else { continue };
            let confidence = Permille::new(word.confidence.into());
            entries.push(WordEntry { interval, text: self.intern(&word.text), confidence });
            texts.push(word.text.as_str());
        }
        SpokenWords { words: entries.into(), tokens: self.token_table(&texts) }
    }

    /// The tokens of texts.
    fn token_table(&mut self, texts: &[&str]) -> TokenTable {
        let mut forms: Vec<WordForm> = Vec::new();
        let mut known: HashMap<StringId, u32> = HashMap::new();
        let mut entries = Vec::with_capacity(texts.len());
        for (owner, text) in (0..).zip(texts) {
            for token in tokens(text) {
                let lower = self.intern(&token.lower);
                let form = *known.entry(lower).or_insert_with(|| {
                    forms.push(WordForm { stem: self.intern(token.stem()), lower });
                    forms.len() as u32 - 1
                });
                entries.push(TokenEntry { owner, form });
            }
        }
        let mut order: Vec<u32> = (0..forms.len() as u32).collect();
        let stem = |at: &u32| self.string(forms[*at as usize].stem);
        order.sort_by(|a, b| stem(a).cmp(stem(b)));
        let mut places = vec![0; forms.len()];
        for (place, at) in (0..).zip(&order) {
            places[*at as usize] = place;
        }
        for entry in &mut entries {
            entry.form = places[entry.form as usize];
        }
        let vocabulary = order.into_iter().map(|at| forms[at as usize]).collect();
        TokenTable { tokens: entries.into(), vocabulary }
    }

    fn string(&self, id: StringId) -> &str {
        let start = (id as usize).checked_sub(1).map_or(0, |before| self.ends[before] as usize);
        &self.text[start..self.ends[id as usize] as usize]
    }

    fn screen_lines(&mut self, lines: &[TimedLine]) -> ScreenLines {
        let mut entries = Vec::with_capacity(lines.len());
        let mut texts = Vec::with_capacity(lines.len());
        let mut letters = String::new();
        for line in lines {
            let Some(interval) = self.interval(line.span) else { continue };
            letters.push_str(&letters_and_digits(&line.text));
            entries.push(LineEntry {
                interval,
                text: self.intern(&line.text),
                confidence: Permille::new(line.confidence),
                letters_end: letters.len() as u32,
            });
            letters.push('\n');
            texts.push(line.text.as_str());
        }
        let tokens = self.token_table(&texts);
        ScreenLines { lines: entries.into(), tokens, letters: letters.into() }
    }

    fn visible_things(&mut self, facts: &VideoFacts) -> VisibleThings {
        let things = facts.things.as_deref().unwrap_or_default();
        let mut counts = Vec::new();
        for thing in things {
            let label = self.intern(&thing.label.to_lowercase());
            let times = thing.at_once.iter().map(|(time, count)| FrameCount {
                time: Milliseconds::try_from(*time).unwrap_or(Milliseconds::MAX),
                label,
                count: *count,
            });
            counts.extend(times.filter(|counted| counted.time < self.end));
        }
        counts.sort_by_key(|counted| counted.time);
        VisibleThings {
            sightings: self.sightings(things),
            counts: counts.into(),
            frames: facts.frames.iter().map(|time| milliseconds(*time)).collect(),
        }
    }

    fn sightings(&mut self, things: &[Sighting]) -> Box<[SightingEntry]> {
        let mut entries = Vec::with_capacity(things.len());
        for thing in things {
            let label = self.intern(&thing.label.to_lowercase());
            let probability = Permille::new(thing.probability);
            let intervals = thing.visible.iter().filter_map(|span| self.interval(*span));
            entries.extend(intervals.map(|interval| SightingEntry {
                interval,
                label,
                probability,
                is_stated: thing.is_stated,
            }));
        }
        entries.sort_by_key(|entry| entry.interval);
        entries.into()
    }
}
