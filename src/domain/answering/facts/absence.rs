//! Answers questions about what is absent: when nobody is in view, nobody speaks or no such thing is
//! visible, and for how long.

use text::join_list;
use text::kinds::is_known;
use text::plural::singulars;

use super::occurrences::MIN_PROBABILITY;
use super::question::{Intent, SubjectPhrase};
use super::speakers;
use super::wording::{clock, length};
use super::{Fact, Resolution};
use crate::facts::{VideoFacts, has_voice_activity};
use crate::intervals::set::{IntervalSet, milliseconds};
use crate::kernel::time::Span;

/// Minimum length of a stretch without a thing, a person or speech that is stated, in seconds.
const MIN_STRETCH: f64 = 2.0;

/// Maximum number of stretches whose times are listed.
const MAX_LISTED: usize = 6;

/// What a question says is absent.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Absent {
    /// People in view.
    People,
    /// Speech.
    Speech,
    /// Visible things of a kind.
    Thing(SubjectPhrase),
}

/// Where something is present, of the parts of the video in which it was looked for.
struct Presence {
    searched: IntervalSet,
    present: IntervalSet,
    /// How its absence is worded: `Nobody is detected`.
    absence: String,
    /// How its presence is worded, in lower case: `somebody is in view`.
    presence: String,
}

/// States when or for how long something is absent.
pub(super) fn absence(facts: &VideoFacts, absent: &Absent, intent: Intent) -> Resolution {
    match absent {
        Absent::People => people(facts).map_or(Resolution::Unknown, |found| state(&found, intent)),
        Absent::Thing(phrase) => {
            thing(facts, phrase).map_or(Resolution::Unknown, |found| state(&found, intent))
        }
        Absent::Speech => match voices(facts) {
            Some(found) if !found.present.is_empty() => state(&found, intent),
            _ => speakers::no_speech(facts),
        },
    }
}

fn people(facts: &VideoFacts) -> Option<Presence> {
    facts.things.as_ref()?;
    let seen = sighted(facts, "person");
    // People may have been counted in a chunk in which no detector has found one.
    let counted = facts.people.iter().flatten().filter(|part| part.people_count > 0);
    let counted = spans(counted.map(|part| Span { start: part.start, end: part.end }));
    let counted = counted.intervals().iter().copied().filter(|part| !seen.overlaps(*part));
    Some(Presence {
        searched: searched(facts),
        present: seen.union(&counted.collect()),
        absence: "Nobody is detected".into(),
        presence: "somebody is in view".into(),
    })
}

/// Where a thing of this kind is visible; `None` if no detector would find such a thing.
fn thing(facts: &VideoFacts, phrase: &SubjectPhrase) -> Option<Presence> {
    facts.things.as_ref()?;
    let noun = phrase.noun();
    let name = singulars(&noun).pop().unwrap_or(noun);
    let present = sighted(facts, &name);
    (is_known(&name) || !present.is_empty()).then(|| Presence {
        searched: searched(facts),
        present,
        absence: format!("No {name} is detected"),
        presence: format!("a {name} is in view"),
    })
}

fn voices(facts: &VideoFacts) -> Option<Presence> {
    let speech = &facts.speech.as_ref()?.speech;
    has_voice_activity(speech).then(|| Presence {
        searched: spans([facts.span]),
        present: spans(speech.spans.iter().copied()),
        absence: "Nobody speaks".into(),
        presence: "somebody speaks".into(),
    })
}

/// The part of the video in which things were looked for.
fn searched(facts: &VideoFacts) -> IntervalSet {
    spans(facts.coverage.things.iter().copied()).intersection(&spans([facts.span]))
}

/// Where things that a noun names are visible.
fn sighted(facts: &VideoFacts, noun: &str) -> IntervalSet {
    let found = facts.sightings(noun).into_iter();
    let likely = found.filter(|one| one.is_stated || one.probability >= MIN_PROBABILITY);
    spans(likely.flat_map(|one| one.visible.iter().copied()))
}

fn spans(spans: impl IntoIterator<Item = Span>) -> IntervalSet {
    spans.into_iter().map(Into::into).collect()
}

/// States the stretches in which something is absent.
fn state(found: &Presence, intent: Intent) -> Resolution {
    let Presence { searched, present, absence, presence } = found;
    if searched.is_empty() {
        return Resolution::Unknown;
    }
    let absent = searched.difference(present).lasting(milliseconds(MIN_STRETCH));
    let stretches: Vec<Span> = absent.intervals().iter().map(|interval| interval.span()).collect();
    if stretches.is_empty() {
        let spans = present.intervals().iter().map(|interval| interval.span());
        return Resolution::Denial(Fact {
            text: format!("{presence}, without a gap of {MIN_STRETCH} seconds"),
            spans: spans.take(MAX_LISTED).collect(),
            is_certain: false,
        });
    }
    let listed = &stretches[..stretches.len().min(MAX_LISTED)];
    let time = |span: &Span| format!("from {} to {}", clock(span.start), clock(span.end));
    let mut times: Vec<String> = listed.iter().map(time).collect();
    match stretches.len() - listed.len() {
        0 => {}
        1 => times.push("one more time".into()),
        more => times.push(format!("{more} more times")),
    }
    let times = join_list(&times, "and");
    let text = match intent {
        Intent::HowLong => {
            let seconds = stretches.iter().map(Span::seconds).sum();
            format!("{absence} for about {}: {times}.", length(seconds))
        }
        _ => format!("{absence} {times}."),
    };
    Resolution::answer(Fact { text, spans: listed.to_vec(), is_certain: true })
}
