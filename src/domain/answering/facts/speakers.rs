//! Answers questions about speakers: how many there are, who speaks most or first, for how long.

use super::question::{SpeakerRank, SpeakerRef, Subject};
use super::wording::{clock, count, length, percent};
use super::{Fact, Resolution};
use crate::analysis::prose::capitalised;
use crate::facts::VideoFacts;
use crate::kernel::time::Span;
use crate::media::speech::is_speaker_label;
use text::join_list;

/// A speaker who is heard for a shorter time may be a mistake of the diarization, in seconds.
const SHORT: f64 = 1.5;

/// Maximum number of speakers who are listed by name.
const MAX_LISTED: usize = 8;

/// Maximum number of turns that are cited for one speaker.
const MAX_TURNS: usize = 3;

/// A speaker with their turns.
pub(super) struct Voice<'a> {
    pub(super) label: &'a str,
    pub(super) turns: Vec<Span>,
    /// Total time, in seconds.
    pub(super) seconds: f64,
}

/// The speakers in the order in which they first speak.
pub(super) fn voices(facts: &VideoFacts) -> Vec<Voice<'_>> {
    let voice = |label| {
        let turns = facts.turns_of(label);
        let seconds = turns.iter().map(Span::seconds).sum();
        Voice { label, turns, seconds }
    };
    facts.speakers().into_iter().map(voice).collect()
}

/// States how many speakers are heard, and who they are.
pub(super) fn count_speakers(facts: &VideoFacts) -> Resolution {
    if facts.turns.is_none() {
        return Resolution::Unknown;
    }
    let voices = voices(facts);
    if voices.is_empty() {
        return no_speech(facts);
    }
    let names: Vec<&str> = voices.iter().map(|voice| voice.label).take(MAX_LISTED).collect();
    let listed = match voices.len() - names.len() {
        0 => join_list(&names, "and"),
        more => format!("{} and {more} more", names.join(", ")),
    };
    let number = capitalised(&count(voices.len() as u64, "speaker"));
    let verb = if voices.len() == 1 { "is" } else { "are" };
    let short: Vec<String> = voices
        .iter()
        .filter(|voice| voices.len() > 1 && voice.seconds < SHORT)
        .map(|voice| format!("{} for only {}", voice.label, length(voice.seconds)))
        .collect();
    let doubt = match short.is_empty() {
        true => String::new(),
        false => format!("; {}, which may be a mistake", join_list(&short, "and")),
    };
    Resolution::answer(Fact {
        text: format!("{number} {verb} heard: {listed}{doubt}."),
        spans: voices.iter().filter_map(|v| v.turns.first().copied()).take(MAX_LISTED).collect(),
        is_certain: short.is_empty(),
    })
}

/// States that nobody speaks, if that is known.
pub(super) fn no_speech(facts: &VideoFacts) -> Resolution {
    let is_silent = match &facts.turns {
        Some(turns) => turns.is_empty(),
        None => facts.speech.is_some(),
    };
    let has_voice = facts.speech.as_ref().is_some_and(|speech| {
        let spans = &speech.speech.spans;
        spans.iter().any(|span| span.overlap(&facts.span) > 0.0)
    });
    if !is_silent || has_voice || !facts.is_whole() {
        return Resolution::Unknown;
    }
    let text = "No speech is heard.".to_owned();
    Resolution::answer(Fact { text, spans: vec![facts.span], is_certain: true })
}

/// Finds the speaker that a question names. The error is why there is none.
pub(super) fn find<'a>(
    facts: &'a VideoFacts,
    speaker: &SpeakerRef,
) -> Result<Voice<'a>, Resolution> {
    let mut voices = voices(facts);
    if voices.is_empty() {
        return Err(Resolution::Unknown);
    }
    let by_label =
        |label: &str| voices.iter().position(|voice| voice.label.eq_ignore_ascii_case(label));
    let at = match speaker {
        SpeakerRef::Name(name) => by_label(name),
        // The labels S1, S2 … number the speakers.
        SpeakerRef::Nth(n) => by_label(&format!("S{n}")).or(Some(n - 1)),
        SpeakerRef::Last => Some(voices.len() - 1),
        SpeakerRef::Other => (voices.len() <= 2).then_some(1),
        SpeakerRef::Someone => (voices.len() == 1).then_some(0),
    };
    let is_counted = matches!(speaker, SpeakerRef::Nth(_) | SpeakerRef::Other | SpeakerRef::Last)
        || matches!(speaker, SpeakerRef::Name(name) if is_speaker_label(name));
    match at.filter(|at| *at < voices.len()) {
        Some(at) => Ok(voices.swap_remove(at)),
        // Only the labels of speakers are known, so a name that is not among them says nothing.
        None if is_counted && facts.is_whole() => Err(deny(&voices)),
        None => Err(Resolution::Unknown),
    }
}

/// States how many speakers there are, as the reason why a question about one more has no answer.
fn deny(voices: &[Voice<'_>]) -> Resolution {
    let names: Vec<&str> = voices.iter().map(|voice| voice.label).take(MAX_LISTED).collect();
    let (verb, only) = if voices.len() == 1 { ("is", "only ") } else { ("are", "") };
    Resolution::Denial(Fact {
        text: format!(
            "{only}{} {verb} heard, {}",
            count(voices.len() as u64, "speaker"),
            join_list(&names, "and")
        ),
        spans: voices.iter().filter_map(|v| v.turns.first().copied()).take(MAX_LISTED).collect(),
        is_certain: true,
    })
}

/// States which speaker speaks most, least, first or last.
pub(super) fn rank(facts: &VideoFacts, rank: SpeakerRank) -> Resolution {
    let voices = voices(facts);
    let total: f64 = voices.iter().map(|voice| voice.seconds).sum();
    if voices.is_empty() {
        return no_speech(facts);
    }
    if let [only] = &voices[..] {
        let text = format!(
            "{} is the only speaker, from {} to {}.",
            only.label,
            clock(only.turns[0].start),
            clock(only.turns[only.turns.len() - 1].end)
        );
        return Resolution::answer(Fact { text, spans: first_turns(only), is_certain: true });
    }
    let by_time = |a: &&Voice<'_>, b: &&Voice<'_>| a.seconds.total_cmp(&b.seconds);
    let end = |voice: &Voice<'_>| voice.turns.iter().map(|turn| turn.end).fold(0.0, f64::max);
    let found = match rank {
        SpeakerRank::Most | SpeakerRank::Any => voices.iter().max_by(by_time),
        SpeakerRank::Least => voices.iter().min_by(by_time),
        SpeakerRank::First => voices.first(),
        SpeakerRank::Last => voices.iter().max_by(|a, b| end(a).total_cmp(&end(b))),
    };
    let Some(voice) = found else { return Resolution::Unknown };
    let share = percent(voice.seconds / total);
    let talks = format!("{}, {share} of the speech", length(voice.seconds));
    let last = voice.turns.last().copied();
    let (text, spans) = match rank {
        SpeakerRank::Most | SpeakerRank::Any => {
            (format!("{} talks most: {talks}.", voice.label), longest(voice))
        }
        SpeakerRank::Least => (format!("{} talks least: {talks}.", voice.label), longest(voice)),
        SpeakerRank::First => (
            format!("{} speaks first, at {}.", voice.label, clock(voice.turns[0].start)),
            vec![voice.turns[0]],
        ),
        SpeakerRank::Last => (
            format!("{} speaks last, until {}.", voice.label, clock(end(voice))),
            last.into_iter().collect(),
        ),
    };
    Resolution::answer(Fact { text, spans, is_certain: true })
}

/// The first turns of a speaker.
fn first_turns(voice: &Voice<'_>) -> Vec<Span> {
    voice.turns.iter().copied().take(MAX_TURNS).collect()
}

/// The longest turns of a speaker, in order.
fn longest(voice: &Voice<'_>) -> Vec<Span> {
    let mut turns = voice.turns.clone();
    turns.sort_by(|a, b| b.seconds().total_cmp(&a.seconds()));
    turns.truncate(MAX_TURNS);
    turns.sort_by(|a, b| a.start.total_cmp(&b.start));
    turns
}

/// States how long each speaker speaks, longest first.
pub(super) fn speaking_times(facts: &VideoFacts) -> Resolution {
    let mut voices = voices(facts);
    match &voices[..] {
        [] => return no_speech(facts),
        [only] => return speaking_time(only),
        _ => voices.sort_by(|a, b| b.seconds.total_cmp(&a.seconds)),
    }
    let total: f64 = voices.iter().map(|voice| voice.seconds).sum();
    let time = |voice: &Voice<'_>| format!("{} for {}", voice.label, length(voice.seconds));
    let times: Vec<String> = voices.iter().take(MAX_LISTED).map(time).collect();
    Resolution::answer(Fact {
        text: format!("{} is spoken: {}.", capitalised(&length(total)), join_list(&times, "and")),
        spans: voices.iter().filter_map(|v| longest(v).first().copied()).take(MAX_LISTED).collect(),
        is_certain: true,
    })
}

/// States how long one speaker speaks.
pub(super) fn speaking_time(voice: &Voice<'_>) -> Resolution {
    let turns = count(voice.turns.len() as u64, "turn");
    let text = format!("{} speaks for {} in {turns}.", voice.label, length(voice.seconds));
    Resolution::answer(Fact { text, spans: longest(voice), is_certain: true })
}

/// States how long there is speech, and its share of the video.
pub(super) fn speech_length(facts: &VideoFacts) -> Resolution {
    let Some(speech) = facts.speech.as_ref().map(|speech| &speech.speech.spans) else {
        return Resolution::Unknown;
    };
    let seconds: f64 = speech.iter().map(Span::seconds).sum();
    if seconds == 0.0 {
        return no_speech(facts);
    }
    let share = percent(seconds / facts.span.seconds().max(seconds));
    let text = format!("There is speech for {}, {share} of the time.", length(seconds));
    let spans = speech.iter().copied().take(MAX_TURNS).collect();
    Resolution::answer(Fact { text, spans, is_certain: true })
}

/// States how many turns there are, or how many one speaker has.
pub(super) fn count_turns(facts: &VideoFacts, speaker: Option<&SpeakerRef>) -> Resolution {
    if let Some(speaker) = speaker {
        let voice = match find(facts, speaker) {
            Ok(voice) => voice,
            Err(reason) => return reason,
        };
        let turns = count(voice.turns.len() as u64, "time");
        let text = format!("{} speaks {turns}.", voice.label);
        return Resolution::answer(Fact { text, spans: first_turns(&voice), is_certain: true });
    }
    let turns: Vec<Span> = voices(facts).into_iter().flat_map(|voice| voice.turns).collect();
    if turns.is_empty() {
        return no_speech(facts);
    }
    let verb = if turns.len() == 1 { "is" } else { "are" };
    let text = format!("{} {verb} taken.", capitalised(&count(turns.len() as u64, "turn")));
    let spans = turns.into_iter().take(MAX_TURNS).collect();
    Resolution::answer(Fact { text, spans, is_certain: true })
}

/// The times at which the speaker changes.
pub(super) fn handovers(facts: &VideoFacts) -> Vec<Span> {
    let turns = facts.turns.as_deref().unwrap_or_default();
    let changes = turns.windows(2).filter(|pair| pair[0].speaker != pair[1].speaker);
    changes.map(|pair| Span { start: pair[1].start, end: pair[1].end }).collect()
}

/// States how often the speaker changes, or when.
pub(super) fn count_handovers(facts: &VideoFacts) -> Resolution {
    let changes = handovers(facts);
    if facts.speakers().is_empty() {
        return no_speech(facts);
    }
    let number = count(changes.len() as u64, "time");
    let text = match changes.len() {
        0 => "The speaker does not change.".to_owned(),
        1 => format!("The speaker changes once, at {}.", clock(changes[0].start)),
        _ => format!("The speaker changes {number}, first at {}.", clock(changes[0].start)),
    };
    let spans = if changes.is_empty() { vec![facts.span] } else { changes };
    let spans = spans.into_iter().take(MAX_LISTED).collect();
    Resolution::answer(Fact { text, spans, is_certain: true })
}

/// States which of two speakers speaks longer.
pub(super) fn compare(facts: &VideoFacts, one: &Subject, other: Option<&Subject>) -> Resolution {
    let (Subject::Speaker(one), Some(Subject::Speaker(other))) = (one, other) else {
        return Resolution::Unknown;
    };
    let (one, other) = match (find(facts, one), find(facts, other)) {
        (Ok(one), Ok(other)) => (one, other),
        (Err(reason), _) | (_, Err(reason)) => return reason,
    };
    let (more, less) = if one.seconds >= other.seconds { (one, other) } else { (other, one) };
    let text = format!(
        "{} talks more than {}: {} and {}.",
        more.label,
        less.label,
        length(more.seconds),
        length(less.seconds)
    );
    let spans = longest(&more).into_iter().take(1).chain(longest(&less).into_iter().take(1));
    Resolution::answer(Fact { text, spans: spans.collect(), is_certain: true })
}
