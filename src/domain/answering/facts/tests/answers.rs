//! What stored facts say about questions.

use std::collections::BTreeMap;

use ports::transcriber::Word;
use serde_json::json;

use super::super::question::FactQuestion;
use super::super::{Resolution, resolve};
use crate::aggregation::aggregators::speaker_stats::SpokenTurn;
use crate::aggregation::aggregators::stats::{Counts, PeopleCount};
use crate::analysis::correction::CorrectionSet;
use crate::facts::{Coverage, Sighting, TimedLine, VideoFacts};
use crate::kernel::time::Span;
use crate::media::speech::{Speech, VoiceTurn, Words};

/// A minute of video without facts, in which every analyzer has run.
fn nothing() -> VideoFacts {
    VideoFacts {
        video_id: "00ff00ff00ff00ff".parse().expect("an id"),
        filename: "talk.mp4".into(),
        video_duration: 60.0,
        chunks: Vec::new(),
        span: Span { start: 0.0, end: 60.0 },
        turns: Some(Vec::new()),
        counts: None,
        people_are_counted: true,
        people: None,
        speech: CorrectionSet::new(Vec::new(), Some(speech(&[]))).into_speech(),
        lines: Some(Vec::new()),
        things: Some(Vec::new()),
        tags: None,
        frames: Vec::new(),
        coverage: Coverage::default(),
    }
}

/// Speech from turns of a speaker, a start, and words of half a second each.
fn speech(turns: &[(&str, f64, &str)]) -> Speech {
    let end = |start: f64, text: &str| start + 0.5 * text.split(' ').count() as f64;
    let word = |at: usize, start: f64, text: &str| Word {
        text: text.into(),
        start: start + 0.5 * at as f64,
        end: start + 0.5 * (at + 1) as f64,
        confidence: 0.9,
    };
    let words = turns.iter().flat_map(|(_, start, text)| {
        text.split(' ').enumerate().map(move |(at, text)| word(at, *start, text))
    });
    let span = |start: f64, text: &str| Span { start, end: end(start, text) };
    let turn = |(speaker, start, text): &(&str, f64, &str)| VoiceTurn {
        speaker: (*speaker).to_owned(),
        span: span(*start, text),
        channel: None,
    };
    Speech {
        voices_by: "test".into(),
        spans: turns.iter().map(|(_, start, text)| span(*start, text)).collect(),
        turns: turns.iter().map(turn).collect(),
        words: Some(Words {
            recogniser: "test".into(),
            language: None,
            languages: Vec::new(),
            words: words.collect(),
            channels: Vec::new(),
        }),
    }
}

fn spoken(turns: &[(&str, f64, &str)]) -> VideoFacts {
    let speech = speech(turns);
    let turns = speech.turns.iter().map(|turn| SpokenTurn {
        start: turn.span.start,
        end: turn.span.end,
        speaker: turn.speaker.clone(),
    });
    VideoFacts {
        turns: Some(turns.collect()),
        speech: CorrectionSet::new(Vec::new(), Some(speech)).into_speech(),
        ..nothing()
    }
}

fn talk() -> VideoFacts {
    spoken(&[
        ("S1", 2.0, "Welcome to our show about the sea."),
        ("S2", 10.0, "The war began at sea and nobody had expected it."),
        ("S1", 20.0, "So the war was long."),
    ])
}

fn line(text: &str, start: f64, end: f64) -> TimedLine {
    let span = Span { start, end };
    TimedLine { text: text.into(), confidence: 0.95, span, possible: span }
}

fn slides() -> VideoFacts {
    let lines = vec![
        line("WELCOME", 0.0, 5.0),
        line("Proof of the theorem", 12.4, 30.0),
        line("EXIT 45", 40.0, 50.0),
    ];
    VideoFacts { lines: Some(lines), ..nothing() }
}

fn sighting(label: &str, probability: f64, is_stated: bool, at: &[(f64, u32)]) -> Sighting {
    let time = |at: Option<&(f64, u32)>| at.map_or(0.0, |(time, _)| *time);
    let milliseconds = |(time, count): &(f64, u32)| ((time * 1000.0) as u64, *count);
    let span = Span { start: time(at.first()), end: time(at.last()) };
    Sighting {
        label: label.into(),
        span,
        visible: vec![span],
        probability,
        is_stated,
        at_once: at.iter().map(milliseconds).collect::<BTreeMap<u64, u32>>(),
    }
}

fn zoo() -> VideoFacts {
    let things = vec![
        sighting("dog", 0.9, true, &[(3.0, 1), (4.0, 2), (5.0, 2)]),
        sighting("animal", 0.9, false, &[(3.0, 0), (5.0, 0)]),
        sighting("German shepherd", 0.7, false, &[(4.0, 0)]),
        sighting("sulphur-crested cockatoo", 0.55, false, &[(30.0, 0)]),
        sighting("teddy bear", 0.8, true, &[(31.0, 1)]),
    ];
    let counts: Counts = serde_json::from_value(json!({"people": {"series": [
        {"start": 0.0, "end": 30.0, "people_count": 2},
        {"start": 30.0, "end": 60.0, "people_count": 4},
    ]}}))
    .expect("counts");
    VideoFacts { things: Some(things), counts: Some(counts), ..nothing() }
}

/// The text of the answer; with `No: ` before a denial and `Absent: ` or `Maybe: `
/// before what is not found.
fn answer(facts: VideoFacts, question: &str) -> String {
    let Some(question) = FactQuestion::parse(question) else { return "not about facts".into() };
    match resolve(&question, facts) {
        Resolution::Answer(facts) => {
            assert!(facts.iter().all(|fact| !fact.spans.is_empty()), "{facts:?}");
            facts.into_iter().map(|fact| fact.text).collect::<Vec<_>>().join(" ")
        }
        Resolution::Denial(fact) => format!("No: {}", fact.text),
        Resolution::Absence(fact) => format!("Absent: {}", fact.text),
        Resolution::Doubt(fact) => format!("Maybe: {}", fact.text),
        Resolution::Unknown => "unknown".into(),
    }
}

#[test]
fn speakers_are_counted_ranked_and_timed() {
    for (question, expected) in [
        ("How many people take turns?", "Two speakers are heard: S1 and S2."),
        ("How many people are there?", "Two speakers are heard: S1 and S2."),
        ("Who talks most?", "S1 talks most: 6 seconds, 55 % of the speech."),
        ("Who speaks first?", "S1 speaks first, at 0:02."),
        ("How long does the second speaker talk?", "S2 speaks for 5 seconds in one turn."),
        ("How often does the speaker change?", "The speaker changes two times, first at 0:10."),
        ("When does the second speaker leave?", "S2 is last heard until 0:15."),
        ("When does the third speaker leave?", "No: two speakers are heard, S1 and S2"),
        ("How long does S7 talk?", "No: two speakers are heard, S1 and S2"),
        ("How long does Anna talk?", "unknown"),
        ("Does S1 talk more than S2?", "S1 talks more than S2: 6 seconds and 5 seconds."),
        ("Does S2 speak before S1?", "S1 comes first, at 0:02; S2 follows at 0:10."),
        ("Who speaks after 0:09?", "Two speakers are heard: S2 and S1."),
    ] {
        assert_eq!(answer(talk(), question), expected, "{question}");
    }
    let monologue = || spoken(&[("S1", 2.0, "Only one person is here."), ("S1", 9.0, "Bye.")]);
    for (question, expected) in [
        ("How many people take turns?", "One speaker is heard: S1."),
        ("Who talks most?", "S1 is the only speaker, from 0:02 to 0:09."),
        ("When does the second speaker leave?", "No: only one speaker is heard, S1"),
        ("How long does he talk?", "S1 speaks for 3 seconds in two turns."),
    ] {
        assert_eq!(answer(monologue(), question), expected, "{question}");
    }
    assert_eq!(answer(nothing(), "Does anyone speak?"), "No speech is heard.");
    let unknown = VideoFacts { turns: None, speech: None, ..nothing() };
    assert_eq!(answer(unknown, "How many speakers are there?"), "unknown");
}

#[test]
fn a_speaker_who_is_hardly_heard_is_doubted() {
    let facts = spoken(&[("S1", 0.0, "We talk for quite a while here."), ("S2", 20.0, "Yes.")]);
    let expected = "Two speakers are heard: S1 and S2; S2 for only 0.5 seconds, which may be a \
                    mistake.";
    assert_eq!(answer(facts, "How many speakers are there?"), expected);
}

#[test]
fn mentions_have_the_time_of_the_word() {
    let war = "At 0:10, S2 says: “The war began at sea and nobody had expected it.”";
    let again = format!("{war} It is mentioned again at 0:21.");
    for (question, expected) in [
        ("When does he mention the war?", again.as_str()),
        (
            "When is the sea mentioned?",
            "At 0:05, S1 says: “Welcome to our show about the sea.” \
                                         It is mentioned again at 0:12.",
        ),
        (
            "When does S2 mention the sea?",
            "At 0:12, S2 says: “The war began at sea and nobody \
                                           had expected it.”",
        ),
        ("How often is the war mentioned?", "“war” is mentioned twice, at 0:10 and 0:21."),
        ("How often is the word sea said?", "“sea” is mentioned twice, at 0:05 and 0:12."),
        ("When does she mention the long war?", "At 0:21, S1 says: “So the war was long.”"),
        ("Does anyone mention Mars?", "Absent: “Mars” is not among the words that are said"),
        ("Does anyone mention a planet?", "Maybe: “planet” is not among the words that are said"),
        ("How often is “war was” said?", "“war was” is mentioned once, at 0:21."),
        (
            "When does he mention the desert?",
            "Absent: “desert” is not among the words that \
                                              are said",
        ),
        ("Is the war mentioned?", &format!("Yes. {war}")),
        ("What is said between 0:19 and 0:30?", "At 0:20, S1 says: “So the war was long.”"),
        ("What is said at 0:40?", "Nothing is said at 0:40."),
        ("What is said at 1:40?", "No: the video ends at 1:00"),
    ] {
        assert_eq!(answer(talk(), question), expected, "{question}");
    }
}

#[test]
fn text_on_screen_has_its_first_and_last_time() {
    for (question, expected) in [
        (
            "When does the proof slide come up?",
            "“Proof of the theorem” first appears on screen at 0:12.",
        ),
        (
            "When does the traffic sign EXIT 45 appear?",
            "“EXIT 45” first appears on screen at 0:40.",
        ),
        ("When does the exit sign disappear?", "“EXIT 45” is last on screen at 0:50."),
        ("When does “EXIT 46” appear?", "Absent: no text on screen contains “EXIT 46”"),
        (
            "When does the results slide appear?",
            "Absent: no text on screen contains “results slide”",
        ),
        (
            "How long is the exit sign visible?",
            "“EXIT 45” is on screen for about 10 seconds, from 0:40 to 0:50.",
        ),
        (
            "What text is on screen between 0:10 and 0:20?",
            "Between 0:10 and 0:20, the screen reads: “Proof of the theorem”.",
        ),
        (
            "Does the proof slide appear before the welcome slide?",
            "“WELCOME” comes first, at 0:00; “Proof of the theorem” follows at 0:12.",
        ),
        ("Is there any text on screen at 0:35?", "No text is read on screen at 0:35."),
    ] {
        assert_eq!(answer(slides(), question), expected, "{question}");
    }
}

#[test]
fn sampled_text_has_a_range_of_times() {
    let sampled = TimedLine {
        possible: Span { start: 4.5, end: 14.5 },
        ..line("FOR SALE, Soffware", 7.5, 9.5)
    };
    let facts = || VideoFacts { lines: Some(vec![sampled.clone()]), ..nothing() };
    for (question, expected) in [
        (
            "When does “for sale” appear?",
            "“FOR SALE, Soffware” first appears on screen between 0:04 and 0:07.",
        ),
        (
            "When does the text sale software disappear?",
            "“FOR SALE, Soffware” is last on screen between 0:09 and 0:14.",
        ),
        ("When does the word software disappear?", "Absent: no text on screen contains “software”"),
        (
            "How long is the text FOR SALE visible?",
            "“FOR SALE, Soffware” is on screen for about 6 seconds, from 0:06 to 0:12.",
        ),
        ("What text is on screen at 0:06?", "At 0:06, the screen reads: “FOR SALE, Soffware”."),
        ("What text is on screen at 0:03?", "No text is read on screen at 0:03."),
    ] {
        assert_eq!(answer(facts(), question), expected, "{question}");
    }
    let faint = VideoFacts {
        lines: Some(vec![TimedLine { confidence: 0.72, ..line("EXIT", 3.0, 4.0) }]),
        ..nothing()
    };
    let expected = "“EXIT” first appears on screen at 0:03 (read with a confidence of 72 %).";
    assert_eq!(answer(faint, "When does the exit sign appear?"), expected);
}

#[test]
fn absence_has_its_times() {
    let person = |start: f64, end: f64| sighting("person", 0.9, true, &[(start, 1), (end, 1)]);
    let counts = |people: &[(f64, f64, u64)]| {
        let part = |&(start, end, people_count): &(f64, f64, u64)| PeopleCount {
            start,
            end,
            people_count,
        };
        Some(people.iter().map(part).collect::<Vec<_>>())
    };
    let whole = Coverage { things: vec![Span { start: 0.0, end: 60.0 }], ..Coverage::default() };
    let yard = || VideoFacts {
        things: Some(vec![person(5.0, 10.0), person(11.0, 20.0), person(58.5, 59.0)]),
        people: counts(&[(0.0, 20.0, 2), (20.0, 40.0, 0), (40.0, 50.0, 1)]),
        coverage: whole.clone(),
        ..nothing()
    };
    for (question, expected) in [
        (
            "When is nobody in view?",
            "Nobody is detected from 0:00 to 0:05, from 0:20 to 0:40 and from 0:50 to 0:58.",
        ),
        (
            "When is the room empty?",
            "Nobody is detected from 0:00 to 0:05, from 0:20 to 0:40 and \
                                     from 0:50 to 0:58.",
        ),
        (
            "When is nobody in view after 0:30?",
            "Nobody is detected from 0:30 to 0:40 and from \
                                                0:50 to 0:58.",
        ),
        (
            "How long is no one visible?",
            "Nobody is detected for about 34 seconds: from 0:00 to 0:05, from 0:20 to 0:40 and \
             from 0:50 to 0:58.",
        ),
        ("When is no car in view?", "No car is detected from 0:00 to 1:00."),
        ("When are there no dogs?", "No dog is detected from 0:00 to 1:00."),
        ("When is no frobnicator visible?", "unknown"),
        (
            "When is there no person between 0:12 and 0:15?",
            "No: somebody is in view, without a gap of 2 seconds",
        ),
    ] {
        assert_eq!(answer(yard(), question), expected, "{question}");
    }
    let without_detector = VideoFacts { things: None, ..yard() };
    assert_eq!(answer(without_detector, "When is nobody in view?"), "unknown");
}

#[test]
fn silence_has_its_times() {
    for (question, expected) in [
        (
            "When does nobody speak?",
            "Nobody speaks from 0:00 to 0:02, from 0:05 to 0:10, from 0:15 to 0:20 and from 0:22 to \
             1:00.",
        ),
        (
            "How long is nobody speaking before 0:20?",
            "Nobody speaks for about 12 seconds: from 0:00 to 0:02, from 0:05 to 0:10 and from 0:15 \
             to 0:20.",
        ),
    ] {
        assert_eq!(answer(talk(), question), expected, "{question}");
    }
    assert_eq!(answer(nothing(), "When is there silence?"), "No speech is heard.");
}

#[test]
fn things_are_counted_listed_and_found() {
    for (question, expected) in [
        ("How many dogs can be seen?", "At most two dogs are visible at once, first at 0:04."),
        ("How many giraffes can be seen?", "Maybe: no giraffe is recognised in the picture"),
        ("How many districts are there?", "unknown"),
        (
            "Which animals can be seen?",
            "A dog, probably a German shepherd (70 %), and probably a sulphur-crested cockatoo \
             (55 %) are seen.",
        ),
        ("When does the dog appear?", "A dog is first seen at 0:03."),
        (
            "When does the bird appear?",
            "A sulphur-crested cockatoo is first probably seen (55 %) at 0:30.",
        ),
        ("Is there an animal?", "Yes, a dog is seen at 0:03."),
        ("Is there a giraffe?", "Maybe: no giraffe is recognised in the picture"),
        (
            "How many people are visible?",
            "At most four people are visible at once, in the part from 0:30 to 1:00.",
        ),
        ("How many people are visible before 0:20?", "At most two people are visible at once."),
    ] {
        assert_eq!(answer(zoo(), question), expected, "{question}");
    }
    let empty: Counts = serde_json::from_value(json!({"people": {"series": [
        {"start": 0.0, "end": 60.0, "people_count": 0},
    ]}}))
    .expect("counts");
    let facts = || VideoFacts { counts: Some(empty.clone()), ..nothing() };
    let question = "How many people are visible?";
    assert_eq!(answer(facts(), question), "No person is recognised in the picture.");
    let uncounted = VideoFacts { people_are_counted: false, ..facts() };
    assert_eq!(answer(uncounted, question), "unknown");
}
