//! Answers questions about what is seen, read and said: counts, lists, and whether there is
//! something.

use text::join_list;
use text::kinds::{is_a, is_known};
use text::plural::singulars;

use super::occurrences::{MIN_PROBABILITY, Occurrence, Witness};
use super::question::{SpeakerRef, Subject, SubjectPhrase};
use super::speakers;
use super::times::{is_certain, probably, says, speaker_label};
use super::wording::{clock, count, ended, length, percent, quote};
use super::{Fact, Resolution};
use crate::analysis::prose::{capitalised, with_article};
use crate::facts::matching::is_named;
use crate::facts::{Sighting, VideoFacts};
use crate::kernel::time::Span;

/// Maximum number of moments that are cited for one fact.
const MAX_CITED: usize = 6;

/// Maximum number of things or lines that are listed.
const MAX_LISTED: usize = 10;

/// Maximum number of utterances that are quoted.
const MAX_QUOTED: usize = 3;

/// States the largest number of people who are visible at once.
pub(super) fn count_people(facts: &VideoFacts) -> Resolution {
    let Some(counts) = &facts.counts else { return Resolution::Unknown };
    let busiest = counts.people.series.iter().rev().max_by_key(|moment| moment.people_count);
    let Some(busiest) = busiest else { return Resolution::Unknown };
    let span = Span { start: busiest.start, end: busiest.end };
    let fact = |text, span| Fact { text, spans: vec![span], is_certain: true };
    match busiest.people_count {
        0 if facts.people_are_counted => {
            Resolution::answer(fact("No person is recognised in the picture.".into(), facts.span))
        }
        0 => Resolution::Unknown,
        number => {
            let is_more_than_one = number > 1;
            let people = count(number, "person");
            let verb = if is_more_than_one { "are" } else { "is" };
            let at = clock(span.start);
            let text = match counts.people.series.len() {
                1 => format!("At most {people} {verb} visible at once."),
                _ => format!(
                    "At most {people} {verb} visible at once, in the part from {at} to {}.",
                    clock(span.end)
                ),
            };
            Resolution::answer(fact(text, span))
        }
    }
}

/// States how many people are visible, and how many speakers are heard.
pub(super) fn count_anyone(facts: &VideoFacts) -> Resolution {
    let seen = count_people(facts);
    let heard = speakers::count_speakers(facts);
    let has_speakers = !facts.speakers().is_empty();
    match (seen, heard) {
        (Resolution::Answer(mut seen), Resolution::Answer(heard)) if has_speakers => {
            seen.extend(heard);
            Resolution::Answer(seen)
        }
        (Resolution::Answer(seen), _) => Resolution::Answer(seen),
        (_, heard) => heard,
    }
}

/// States the largest number of things of a kind that are visible at once.
pub(super) fn count_things(facts: &VideoFacts, phrase: &SubjectPhrase) -> Resolution {
    let noun = phrase.noun();
    let sightings = facts.sightings(&noun);
    let stated: Vec<&Sighting> =
        sightings.iter().copied().filter(|s| s.is_stated && !s.at_once.is_empty()).collect();
    let Some(most) = most_at_once(&stated) else {
        return no_thing(facts, &noun);
    };
    let (time, number, span) = most;
    let probability = stated.iter().map(|s| s.probability).fold(0.0, f64::max);
    let occurrence = Occurrence {
        time,
        span,
        witness: Witness::Thing { label: noun.clone(), probability, is_stated: true },
    };
    let singular = singulars(&noun).pop().unwrap_or(noun);
    let verb = if number == 1 { "is" } else { "are" };
    let visible = probably(&occurrence, "visible");
    let text = format!(
        "At most {} {verb} {visible} at once, first at {}.",
        count(number, &singular),
        clock(time)
    );
    let is_certain = is_certain(&occurrence);
    Resolution::answer(Fact { text, spans: vec![span], is_certain })
}

/// The first time at which the most things are visible at once, in seconds, with their number and
/// the moment that shows them.
fn most_at_once(sightings: &[&Sighting]) -> Option<(f64, u64, Span)> {
    let mut totals = std::collections::BTreeMap::<u64, u64>::new();
    for sighting in sightings {
        for (time, number) in &sighting.at_once {
            *totals.entry(*time).or_default() += u64::from(*number);
        }
    }
    let (time, number) = totals.into_iter().rev().max_by_key(|(_, number)| *number)?;
    let time = time as f64 / 1000.0;
    let shows = |sighting: &&&Sighting| sighting.span.start <= time && time <= sighting.span.end;
    let span = sightings.iter().find(shows).map_or(Span { start: time, end: time }, |s| s.span);
    Some((time, number, span))
}

/// States that no thing of a kind is recognised, if such things are.
fn no_thing(facts: &VideoFacts, noun: &str) -> Resolution {
    let known = singulars(noun).into_iter().rev().find(|noun| is_known(noun));
    match (known, &facts.things) {
        (Some(noun), Some(_)) => Resolution::Doubt(Fact {
            text: format!("no {noun} is recognised in the picture"),
            spans: Vec::new(),
            is_certain: false,
        }),
        _ => Resolution::Unknown,
    }
}

/// States how often something is mentioned.
pub(super) fn count_mentions(
    facts: &VideoFacts,
    phrase: &SubjectPhrase,
    by: Option<&SpeakerRef>,
) -> Resolution {
    let by = match speaker_label(facts, by) {
        Ok(by) => by,
        Err(reason) => return reason,
    };
    let found = facts.mentions(phrase, by.as_deref());
    if found.is_empty() {
        return no_mention(facts, phrase, true);
    }
    let listed: Vec<String> = found.iter().take(MAX_CITED).map(|o| clock(o.time)).collect();
    let times = match found.len() - listed.len() {
        0 => join_list(&listed, "and"),
        more => format!("{} and {more} more times", listed.join(", ")),
    };
    let number = match found.len() {
        1 => "once".to_owned(),
        2 => "twice".to_owned(),
        several => count(several as u64, "time"),
    };
    let by = by.map_or_else(String::new, |by| format!(" by {by}"));
    let text = format!("{} is mentioned {number}{by}, at {times}.", quote(phrase.name()));
    let spans = found.iter().take(MAX_CITED).map(|occurrence| occurrence.span).collect();
    Resolution::answer(Fact { text, spans, is_certain: found.iter().all(is_certain) })
}

/// States that a phrase is not among the recognised words. `is_literal` is whether other words for
/// the same thing do not count.
pub(super) fn no_mention(
    facts: &VideoFacts,
    phrase: &SubjectPhrase,
    is_literal: bool,
) -> Resolution {
    if facts.speech.is_none() {
        return Resolution::Unknown;
    }
    let fact = Fact {
        text: format!("{} is not among the words that are said", quote(phrase.name())),
        spans: Vec::new(),
        is_certain: false,
    };
    match is_literal || phrase.has_names() || phrase.is_quoted {
        true => Resolution::Absence(fact),
        false => Resolution::Doubt(fact),
    }
}

/// States that no text on screen contains a phrase, or that no such thing is recognised.
pub(super) fn not_shown(facts: &VideoFacts, phrase: &SubjectPhrase) -> Resolution {
    let noun = phrase.noun();
    if !phrase.is_text() && is_known(singulars(&noun).last().unwrap_or(&noun)) {
        return no_thing(facts, &noun);
    }
    if facts.lines.is_none() || !phrase.is_text() {
        return Resolution::Unknown;
    }
    Resolution::Absence(Fact {
        text: format!("no text on screen contains {}", quote(phrase.name())),
        spans: Vec::new(),
        is_certain: false,
    })
}

/// States which speaker says something, with the words.
pub(super) fn who_says(facts: &VideoFacts, phrase: &SubjectPhrase) -> Resolution {
    let found = facts.mentions(phrase, None);
    let by_speaker =
        |o: &&Occurrence| matches!(&o.witness, Witness::Speech { speaker: Some(_), .. });
    let mut known: Vec<&Occurrence> = found.iter().filter(by_speaker).collect();
    let speaker = |o: &Occurrence| match &o.witness {
        Witness::Speech { speaker, .. } => speaker.clone(),
        _ => None,
    };
    let mut heard = Vec::new();
    known.retain(|occurrence| {
        let is_new = !heard.contains(&speaker(occurrence));
        heard.push(speaker(occurrence));
        is_new
    });
    if known.is_empty() {
        return match found.is_empty() {
            true => no_mention(facts, phrase, false),
            false => Resolution::Unknown,
        };
    }
    Resolution::Answer(known.into_iter().take(MAX_QUOTED).map(said).collect())
}

fn said(occurrence: &Occurrence) -> Fact {
    let is_certain = is_certain(occurrence);
    Fact { text: says(occurrence), spans: vec![occurrence.span], is_certain }
}

/// States what is said.
pub(super) fn quotes(facts: &VideoFacts, by: Option<&SpeakerRef>) -> Resolution {
    let by = match speaker_label(facts, by) {
        Ok(by) => by,
        Err(reason) => return reason,
    };
    let Some(speech) = &facts.speech else { return Resolution::Unknown };
    let is_by = |speaker: &Option<String>| by.is_none() || *speaker == by;
    let all = speech.utterances.iter().filter(|said| is_by(&said.speaker));
    let all: Vec<Occurrence> = all
        .map(|utterance| Occurrence {
            time: utterance.start,
            span: utterance.span(),
            witness: Witness::Speech {
                speaker: utterance.speaker.clone(),
                text: utterance.text.clone(),
                confidence: utterance.confidence,
            },
        })
        .collect();
    if all.is_empty() {
        let text = format!("Nothing is said {}.", part(facts));
        return Resolution::answer(Fact { text, spans: vec![facts.span], is_certain: true });
    }
    let rest = all.len().saturating_sub(MAX_QUOTED);
    let mut facts: Vec<Fact> = all.iter().take(MAX_QUOTED).map(said).collect();
    if let (true, Some(last)) = (rest > 0, all.last()) {
        let text = format!("Speech continues until {}.", clock(last.span.end));
        facts.push(Fact { text, spans: vec![last.span], is_certain: true });
    }
    Resolution::Answer(facts)
}

/// The part of the video that the facts are about, in words.
fn part(facts: &VideoFacts) -> String {
    let Span { start, end } = facts.span;
    match facts.is_whole() {
        true => "in the video".into(),
        false if end - start <= 1.0 => format!("at {}", clock(start)),
        false => format!("between {} and {}", clock(start), clock(end)),
    }
}

/// States what text is on screen.
pub(super) fn list_text(facts: &VideoFacts) -> Resolution {
    let Some(lines) = &facts.lines else { return Resolution::Unknown };
    if lines.is_empty() {
        return match facts.is_whole() {
            true => Resolution::Unknown,
            false => Resolution::answer(Fact {
                text: format!("No text is read on screen {}.", part(facts)),
                spans: vec![facts.span],
                is_certain: true,
            }),
        };
    }
    let mut texts: Vec<String> = Vec::new();
    let mut spans = Vec::new();
    for line in lines {
        let text = quote(&line.text);
        if !texts.contains(&text) {
            texts.push(text);
            spans.push(line.span);
        }
    }
    let more = texts.len().saturating_sub(MAX_LISTED);
    texts.truncate(MAX_LISTED);
    spans.truncate(MAX_CITED);
    let listed = match more {
        0 => join_list(&texts, "and"),
        more => format!("{} and {more} more lines", texts.join(", ")),
    };
    let text = ended(format!("{}, the screen reads: {listed}", capitalised(&part(facts))));
    Resolution::answer(Fact { text, spans, is_certain: true })
}

/// States which things of a kind are visible, or all of them.
pub(super) fn list_things(facts: &VideoFacts, kind: Option<&str>) -> Resolution {
    let names = kind.map(singulars);
    let is_kind = |label: &str| match &names {
        Some(names) => names.iter().any(|name| is_named(label, name)),
        None => true,
    };
    let Some(things) = &facts.things else { return Resolution::Unknown };
    let counted: Vec<&Sighting> = things
        .iter()
        .filter(|s| is_kind(&s.label) && (s.is_stated || s.probability >= MIN_PROBABILITY))
        .collect();
    let mut labels: Vec<&Sighting> = Vec::new();
    for sighting in counted {
        match labels.iter_mut().find(|known| known.label == sighting.label) {
            Some(known) if is_surer(sighting, known) => *known = sighting,
            Some(_) => {}
            None => labels.push(sighting),
        }
    }
    let listed = most_general(&labels, names.as_deref().unwrap_or_default());
    if listed.is_empty() {
        return kind.map_or(Resolution::Unknown, |kind| no_thing(facts, kind));
    }
    let mut listed: Vec<(String, &Sighting)> =
        listed.into_iter().map(|s| (thing_in_list(s, &labels), s)).collect();
    listed.sort_by_key(|(_, s)| !s.is_stated);
    listed.truncate(MAX_LISTED);
    let texts: Vec<&String> = listed.iter().map(|(text, _)| text).collect();
    let verb = if texts.len() == 1 && !listed[0].1.label.ends_with('s') { "is" } else { "are" };
    let text = format!("{} {verb} seen.", capitalised(&join_list(&texts, "and")));
    let text = match facts.is_whole() {
        true => text,
        false => format!("{}, {}", capitalised(&part(facts)), text_after(&text)),
    };
    let is_certain = listed.iter().all(|(_, s)| is_certain(&Occurrence::from(*s)));
    let spans = listed.iter().map(|(_, s)| s.span).take(MAX_CITED).collect();
    Resolution::answer(Fact { text, spans, is_certain })
}

/// The text in the middle of a sentence.
fn text_after(text: &str) -> String {
    let mut chars = text.chars();
    let first = chars.next().map(|first| first.to_lowercase().to_string()).unwrap_or_default();
    first + chars.as_str()
}

fn is_surer(new: &Sighting, known: &Sighting) -> bool {
    (new.is_stated, new.probability) > (known.is_stated, known.probability)
}

/// The labels that are not a kind of another label, except the kind that is asked for itself.
fn most_general<'a>(labels: &[&'a Sighting], kinds: &[String]) -> Vec<&'a Sighting> {
    let is_asked = |label: &str| kinds.iter().any(|kind| kind == label);
    let specific = |s: &&&Sighting| !is_asked(&s.label);
    let any_specific = labels.iter().any(|s| specific(&s));
    let candidates: Vec<&Sighting> =
        labels.iter().filter(|s| specific(s) || !any_specific).copied().collect();
    let is_covered = |one: &Sighting| {
        let covers = |other: &&Sighting| other.label != one.label && is_a(&one.label, &other.label);
        candidates.iter().any(covers)
    };
    candidates.iter().copied().filter(|s| !is_covered(s)).collect()
}

/// A thing as a list names it, with how uncertain it is and what it probably is exactly.
fn thing_in_list(sighting: &Sighting, all: &[&Sighting]) -> String {
    let occurrence = Occurrence::from(sighting);
    let thing = with_article(&sighting.label);
    let exact = all
        .iter()
        .filter(|other| other.label != sighting.label && is_a(&other.label, &sighting.label))
        .max_by(|a, b| a.probability.total_cmp(&b.probability));
    let exact =
        exact.map(|s| format!("probably {} ({})", with_article(&s.label), percent(s.probability)));
    match (is_certain(&occurrence), exact) {
        (true, Some(exact)) => format!("{thing}, {exact},"),
        (true, None) => thing,
        (false, _) => format!("probably {thing} ({})", percent(sighting.probability)),
    }
}

/// States what is on screen: text, things and people.
pub(super) fn list_screen(facts: &VideoFacts) -> Resolution {
    let mut found = Vec::new();
    if facts.lines.as_ref().is_some_and(|lines| !lines.is_empty()) {
        found.extend(answers(list_text(facts)));
    }
    found.extend(answers(list_things(facts, None)));
    if facts.people_are_counted {
        found.extend(answers(count_people(facts)));
    }
    if found.is_empty() { Resolution::Unknown } else { Resolution::Answer(found) }
}

/// States what is said and shown.
pub(super) fn describe(facts: &VideoFacts) -> Resolution {
    let mut found = answers(quotes(facts, None));
    found.extend(answers(list_screen(facts)));
    if found.is_empty() { Resolution::Unknown } else { Resolution::Answer(found) }
}

fn answers(resolution: Resolution) -> Vec<Fact> {
    match resolution {
        Resolution::Answer(facts) => facts,
        _ => Vec::new(),
    }
}

/// States that there is something, with the first moment that shows it.
pub(super) fn exists(facts: &VideoFacts, subject: &Subject) -> Resolution {
    match subject {
        Subject::Speech => {
            let Some(speech) = &facts.speech else { return Resolution::Unknown };
            let Some(first) = speech.speech.spans.first() else {
                return speakers::no_speech(facts);
            };
            let seconds: f64 = speech.speech.spans.iter().map(Span::seconds).sum();
            let time = clock(first.start);
            let text = format!("Yes, there is speech for {}, first at {time}.", length(seconds));
            Resolution::answer(Fact { text, spans: vec![*first], is_certain: true })
        }
        Subject::ScreenText => yes(list_text(facts)),
        Subject::People => yes(count_people(facts)),
        Subject::Things(phrase) => {
            let visible = facts.visible(&phrase.noun());
            let Some(first) = visible.first() else { return no_thing(facts, &phrase.noun()) };
            let Witness::Thing { label, .. } = &first.witness else {
                return Resolution::Unknown;
            };
            let seen = probably(first, "seen");
            let text = format!("Yes, {} is {seen} at {}.", with_article(label), clock(first.time));
            let is_certain = is_certain(first);
            Resolution::answer(Fact { text, spans: vec![first.span], is_certain })
        }
        Subject::Mention(phrase, by) => {
            let by = match speaker_label(facts, by.as_ref()) {
                Ok(by) => by,
                Err(reason) => return reason,
            };
            match facts.mentions(phrase, by.as_deref()).first() {
                Some(first) => {
                    let fact = said(first);
                    let text = format!("Yes. {}", fact.text);
                    Resolution::answer(Fact { text, ..fact })
                }
                None => no_mention(facts, phrase, false),
            }
        }
        _ => Resolution::Unknown,
    }
}

/// Puts `Yes` before the first fact, unless it is negative.
fn yes(resolution: Resolution) -> Resolution {
    match resolution {
        Resolution::Answer(mut facts) if !facts.is_empty() => {
            if !facts[0].text.starts_with("No ") {
                facts[0].text = format!("Yes. {}", facts[0].text);
            }
            Resolution::Answer(facts)
        }
        other => other,
    }
}

/// States how many words are said.
pub(super) fn count_words(facts: &VideoFacts) -> Resolution {
    match facts.counts.as_ref().map(|counts| counts.speech.words) {
        Some(words) if words > 0 && facts.is_whole() => {
            let text = format!("{} are said.", capitalised(&count(words as u64, "word")));
            Resolution::answer(Fact { text, spans: vec![facts.span], is_certain: true })
        }
        _ => Resolution::Unknown,
    }
}
