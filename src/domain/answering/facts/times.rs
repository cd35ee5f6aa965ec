//! Answers questions about times: when something is said, shown or seen, for how long, and which of
//! two subjects comes first.

use super::occurrences::{Occurrence, Witness};
use super::question::{Edge, SpeakerRef, Subject};
use super::speakers::{self, Voice};
use super::wording::{clock, ended, length, percent, quote};
use super::{Fact, Resolution};
use crate::analysis::prose::{capitalised, with_article};
use crate::facts::VideoFacts;
use crate::kernel::time::Span;
use text::join_list;

/// Maximum number of further occurrences whose times are listed.
const MAX_MORE: usize = 3;

/// Recognised speech below this mean word probability is uncertain.
const SURE_SPEECH: f32 = 0.6;

/// A line on screen below this confidence is uncertain.
const SURE_LINE: f64 = 0.85;

/// A thing below this probability is uncertain.
const SURE_THING: f64 = 0.6;

/// Maximum uncertainty of a time that is stated to the second, in seconds.
const MAX_UNCERTAINTY: f64 = 1.0;

/// Maximum gap between two sightings of a thing that count as one, in seconds.
const MAX_GAP: f64 = 2.0;

/// States when a subject first or last occurs.
pub(super) fn when(facts: &VideoFacts, subject: &Subject, edge: Edge) -> Resolution {
    match subject {
        Subject::Speech => when_speech(facts, edge),
        Subject::Speaker(speaker) => match speakers::find(facts, speaker) {
            Ok(voice) => when_voice(&voice, edge),
            Err(reason) => reason,
        },
        Subject::Handovers => speakers::count_handovers(facts),
        Subject::People => from_occurrences(&facts.visible("person"), edge),
        Subject::Shown(phrase) => from_occurrences(&facts.shown(phrase), edge),
        Subject::Mention(phrase, by) => match speaker_label(facts, by.as_ref()) {
            Ok(by) => from_occurrences(&facts.mentions(phrase, by.as_deref()), edge),
            Err(reason) => reason,
        },
        _ => Resolution::Unknown,
    }
}

/// The label of the speaker that a question names, or the reason why there is none.
pub(super) fn speaker_label(
    facts: &VideoFacts,
    speaker: Option<&SpeakerRef>,
) -> Result<Option<String>, Resolution> {
    match speaker {
        None | Some(SpeakerRef::Someone) => Ok(None),
        Some(speaker) => speakers::find(facts, speaker).map(|voice| Some(voice.label.to_owned())),
    }
}

fn when_speech(facts: &VideoFacts, edge: Edge) -> Resolution {
    let spans = facts.speech.as_ref().map_or(&[][..], |speech| &speech.speech.spans);
    let (Some(first), Some(last)) = (spans.first(), spans.last()) else {
        return speakers::no_speech(facts);
    };
    let (text, span) = match edge {
        Edge::Last => (format!("The speech ends at {}.", clock(last.end)), *last),
        _ => (format!("The speech begins at {}.", clock(first.start)), *first),
    };
    Resolution::answer(Fact { text, spans: vec![span], is_certain: true })
}

fn when_voice(voice: &Voice<'_>, edge: Edge) -> Resolution {
    let (Some(first), Some(last)) = (voice.turns.first(), voice.turns.last()) else {
        return Resolution::Unknown;
    };
    let label = voice.label;
    let (text, spans) = match edge {
        Edge::First => (format!("{label} first speaks at {}.", clock(first.start)), vec![*first]),
        Edge::Last => (format!("{label} is last heard until {}.", clock(last.end)), vec![*last]),
        Edge::Every => {
            let turns: Vec<Span> = voice.turns.iter().copied().take(MAX_MORE + 1).collect();
            let time = |turn: &Span| format!("from {} to {}", clock(turn.start), clock(turn.end));
            let mut times: Vec<String> = turns.iter().map(time).collect();
            if voice.turns.len() > turns.len() {
                times.push(format!("{} more times", voice.turns.len() - turns.len()));
            }
            (format!("{label} speaks {}.", join_list(&times, "and")), turns)
        }
    };
    Resolution::answer(Fact { text, spans, is_certain: true })
}

/// States the time of the first or last occurrence and, with the first, those of a few more.
fn from_occurrences(found: &[Occurrence], edge: Edge) -> Resolution {
    let occurrence = match edge {
        Edge::Last => found.last(),
        Edge::First | Edge::Every => found.first(),
    };
    let Some(occurrence) = occurrence else { return Resolution::Unknown };
    let mut facts = vec![Fact {
        text: sentence(occurrence, edge),
        spans: vec![occurrence.span],
        is_certain: is_certain(occurrence),
    }];
    if edge == Edge::First {
        facts.extend(repeated(found));
    }
    Resolution::Answer(facts)
}

/// States when a subject occurs again after its first occurrence.
fn repeated(found: &[Occurrence]) -> Option<Fact> {
    let (first, others) = found.split_first()?;
    let (again, more): (String, Vec<(f64, Span)>) = match &first.witness {
        Witness::Speech { .. } => {
            ("It is mentioned".into(), others.iter().map(|o| (o.time, o.span)).collect())
        }
        witness => {
            let later = stretches(found).into_iter().skip(1).map(|span| (span.start, span));
            let again = match witness {
                Witness::Thing { label, .. } => {
                    format!("{} is seen", capitalised(&with_article(label)))
                }
                _ => "It is on screen".into(),
            };
            (again, later.collect())
        }
    };
    let listed = &more[..more.len().min(MAX_MORE)];
    let times: Vec<String> = listed.iter().map(|(time, _)| clock(*time)).collect();
    let times = match more.len() - listed.len() {
        0 => join_list(&times, "and"),
        1 => format!("{} and once more", times.join(", ")),
        rest => format!("{} and {rest} more times", times.join(", ")),
    };
    (!listed.is_empty()).then(|| Fact {
        text: format!("{again} again at {times}."),
        spans: listed.iter().map(|(_, span)| *span).collect(),
        is_certain: found.iter().all(is_certain),
    })
}

/// The stretches in which something is on screen, in order. Stretches with a short gap in between
/// count as one.
fn stretches(found: &[Occurrence]) -> Vec<Span> {
    let mut spans: Vec<Span> = Vec::new();
    for occurrence in found {
        let span = match occurrence.witness {
            Witness::Screen { likely, .. } => likely,
            _ => occurrence.span,
        };
        match spans.last_mut().filter(|last| span.start - last.end <= MAX_GAP) {
            Some(last) => last.end = last.end.max(span.end),
            None => spans.push(span),
        }
    }
    spans
}

pub(super) fn is_certain(occurrence: &Occurrence) -> bool {
    match &occurrence.witness {
        Witness::Speech { confidence, .. } => *confidence >= SURE_SPEECH,
        Witness::Screen { confidence, possible, .. } => {
            *confidence >= SURE_LINE && occurrence.time - possible.start <= MAX_UNCERTAINTY
        }
        Witness::Thing { probability, is_stated, .. } => *is_stated && *probability >= SURE_THING,
    }
}

/// States one occurrence, and how uncertain it is.
fn sentence(occurrence: &Occurrence, edge: Edge) -> String {
    let Occurrence { time, span, witness } = occurrence;
    match witness {
        Witness::Speech { .. } => says(occurrence),
        Witness::Screen { text, confidence, possible, .. } => {
            let doubt = doubtful_reading(*confidence);
            let text = quote(text);
            match edge {
                Edge::Last => {
                    let when = at_or_between(span.end, possible.end);
                    format!("{text} is last on screen {when}{doubt}.")
                }
                _ => {
                    let when = at_or_between(possible.start, *time);
                    format!("{text} first appears on screen {when}{doubt}.")
                }
            }
        }
        Witness::Thing { label, .. } => {
            let thing = capitalised(&with_article(label));
            let seen = probably(occurrence, "seen");
            match edge {
                Edge::Last => format!("{thing} is last {seen} at {}.", clock(span.end)),
                _ => format!("{thing} is first {seen} at {}.", clock(*time)),
            }
        }
    }
}

/// States who says something, when, and in which words.
pub(super) fn says(occurrence: &Occurrence) -> String {
    let Witness::Speech { speaker, text, confidence } = &occurrence.witness else {
        return String::new();
    };
    let doubt = match *confidence >= SURE_SPEECH {
        true => String::new(),
        false => format!(" (recognised with a confidence of {})", percent((*confidence).into())),
    };
    let speaker = speaker.as_deref().unwrap_or("the speaker");
    ended(format!("At {}, {speaker} says: {}{doubt}", clock(occurrence.time), quote(text)))
}

/// States a time that is known to lie between two times.
fn at_or_between(first: f64, last: f64) -> String {
    match last - first <= MAX_UNCERTAINTY {
        true => format!("at {}", clock(first)),
        false => format!("between {} and {}", clock(first), clock(last)),
    }
}

fn doubtful_reading(confidence: f64) -> String {
    match confidence >= SURE_LINE {
        true => String::new(),
        false => format!(" (read with a confidence of {})", percent(confidence)),
    }
}

/// Adds `probably` and the probability to a participle if a thing is uncertain.
pub(super) fn probably(occurrence: &Occurrence, seen: &str) -> String {
    match &occurrence.witness {
        Witness::Thing { probability, .. } if !is_certain(occurrence) => {
            format!("probably {seen} ({})", percent(*probability))
        }
        _ => seen.to_owned(),
    }
}

/// States how long the video lasts.
pub(super) fn video_length(facts: &VideoFacts) -> Resolution {
    let text = format!("The video lasts {}.", length(facts.video_duration));
    let whole = Span { start: 0.0, end: facts.video_duration };
    Resolution::answer(Fact { text, spans: vec![whole], is_certain: true })
}

/// States how long something is on screen.
pub(super) fn shown_length(facts: &VideoFacts, subject: &Subject) -> Resolution {
    let found = match subject {
        Subject::People => facts.visible("person"),
        Subject::Shown(phrase) => facts.shown(phrase),
        _ => return Resolution::Unknown,
    };
    let mut spans = stretches(&found);
    let (Some(first), Some(span)) = (found.first(), spans.first()) else {
        return Resolution::Unknown;
    };
    let seconds: f64 = spans.iter().map(Span::seconds).sum();
    let thing = match &first.witness {
        Witness::Thing { label, .. } => capitalised(&with_article(label)),
        Witness::Screen { text, .. } | Witness::Speech { text, .. } => quote(text),
    };
    let shown = probably(first, "on screen");
    let times = match spans.len() {
        1 => format!("from {} to {}", clock(span.start), clock(span.end)),
        several => format!("{several} times, first at {}", clock(span.start)),
    };
    let text = format!("{thing} is {shown} for about {}, {times}.", length(seconds));
    spans.truncate(MAX_MORE);
    Resolution::answer(Fact { text, spans, is_certain: found.iter().all(is_certain) })
}

/// States which of two subjects comes first.
pub(super) fn order(facts: &VideoFacts, one: &Subject, other: Option<&Subject>) -> Resolution {
    let first = |subject: &Subject| match subject {
        Subject::Shown(phrase) => {
            let shown = facts.shown(phrase).into_iter().next();
            let found = shown.or_else(|| facts.mentions(phrase, None).into_iter().next())?;
            let name = match &found.witness {
                Witness::Thing { label, .. } => with_article(label),
                Witness::Screen { text, .. } => quote(text),
                Witness::Speech { .. } => quote(phrase.name()),
            };
            Some((name, found.time, found.span, is_certain(&found)))
        }
        Subject::Speaker(speaker) => {
            let voice = speakers::find(facts, speaker).ok()?;
            let turn = *voice.turns.first()?;
            Some((voice.label.to_owned(), turn.start, turn, true))
        }
        _ => None,
    };
    let (Some(one), Some(other)) = (first(one), other.and_then(first)) else {
        return Resolution::Unknown;
    };
    let (early, late) = if one.1 <= other.1 { (one, other) } else { (other, one) };
    let text = format!(
        "{} comes first, at {}; {} follows at {}.",
        capitalised(&early.0),
        clock(early.1),
        late.0,
        clock(late.1)
    );
    let is_certain = early.3 && late.3;
    Resolution::answer(Fact { text, spans: vec![early.2, late.2], is_certain })
}
