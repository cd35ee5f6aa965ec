//! Tests of the extractive model with texts like those from real clips.

use ports::llm::PassageKind::{Objects, People, Prose, Scene, Screen, Speech};
use ports::llm::{
    Answer, Events, Narrative, OVERVIEW, Passage, PassageKind, Summary, Title, TokenSink, VideoSpan,
};
use serde::de::DeserializeOwned;

use super::*;

mod prose;

fn passage(id: usize, kind: PassageKind, text: &str) -> Passage {
    let start = id as f64 * 10.0;
    Passage {
        moment: Some(VideoSpan { video_id: None, start, end: start + 10.0 }),
        ..Passage::new(format!("v:{id}"), kind, text)
    }
}

/// Returns the passages of one chunk.
fn chunk(id: usize, texts: &[(PassageKind, &str)]) -> Vec<Passage> {
    texts
        .iter()
        .enumerate()
        .map(|(n, (kind, text))| Passage { id: format!("v:{id}.{n}"), ..passage(id, *kind, text) })
        .collect()
}

fn ask<T: DeserializeOwned>(task: Task, passages: &[Passage], question: Option<&str>) -> T {
    let request = Request {
        task,
        instructions: String::new(),
        passages: passages.to_vec(),
        question: question.map(str::to_owned),
        fields: Vec::new(),
        images: Vec::new(),
        max_tokens: 500,
        sink: TokenSink::default(),
    };
    serde_json::from_value(Extractive::default().answer(&request).unwrap()).unwrap()
}

fn answer(passages: &[Passage], question: &str) -> Vec<(String, Vec<String>)> {
    let answer: Answer = ask(Task::Answer, passages, Some(question));
    answer.sentences.into_iter().map(|sentence| (sentence.text, sentence.passages)).collect()
}

/// A talk about bridges, in chunks.
fn talk() -> Vec<Passage> {
    [
        "Welcome to this lecture on the great suspension bridges of New York.",
        "The Brooklyn Bridge was opened in 1883 after fourteen years of construction. \
         Its towers are built of limestone and granite.",
        "John Roebling designed the bridge, but he died before the work began. \
         His son Washington Roebling took over as chief engineer.",
        "Emily Roebling carried messages to the workers when her husband fell ill.",
        "The main span of the Brooklyn Bridge is 486 metres long. The steel cables hold the road.",
        "Today more than one hundred thousand vehicles cross the bridge every day.",
    ]
    .iter()
    .enumerate()
    .map(|(id, text)| passage(id, Speech, text))
    .collect()
}

/// The passages of a clip that was analyzed without a vision model.
fn measured() -> Vec<Passage> {
    let bright = (Scene, "A bright scene with strong motion.");
    let dark = (Scene, "A dark scene with little motion.");
    let said = (Speech, "Every day we build maps. The maps cover Paris.");
    [
        chunk(0, &[bright, (Screen, "GOOGLE PARIS")]),
        chunk(1, &[bright, (Screen, "GOOGLE PARIS")]),
        chunk(2, &[dark, said]),
        chunk(3, &[dark]),
    ]
    .concat()
}

/// Passages like those that a vision model writes.
fn seen() -> Vec<Passage> {
    vec![
        passage(0, Prose, "A woman in a red coat walks along a snowy street."),
        passage(1, Prose, "The woman in a red coat opens the door of a small bakery."),
        passage(2, Prose, "A baker hands her a loaf of bread. Two children sit at a table."),
        passage(3, Prose, "A baker hands her a loaf of bread. Two children sit at a table."),
        passage(4, Prose, "A yellow taxi drives past the window."),
    ]
}

#[test]
fn summary_sentences_are_in_the_passages_in_order() {
    let passages = talk();
    let summary: Summary = ask(Task::Summarize, &passages, None);
    let whole: String =
        passages.iter().map(|passage| passage.text.as_str()).collect::<Vec<_>>().join(" ");
    let mut from = 0;
    // Nobody sees who speaks, so the summary says that it quotes speech.
    let (lead, quoted) = summary.summary.split_once(" The speaker says: “").unwrap();
    assert!(lead.starts_with("The speaker talks about the Brooklyn Bridge"), "{lead}");
    let quoted = quoted.strip_suffix('”').unwrap();
    let sentences = text::sentences(quoted, text::Quotations::Split);
    assert!((2..=5).contains(&sentences.len()), "{}", summary.summary);
    for sentence in sentences {
        let at = whole[from..]
            .find(sentence)
            .unwrap_or_else(|| panic!("{sentence:?} is not there in order"));
        from += at + sentence.len();
    }
    assert!(summary.summary.contains("Brooklyn Bridge"), "{}", summary.summary);
    assert!((3..=5).contains(&summary.key_points.len()), "{:?}", summary.key_points);
    assert!(
        summary.topics.iter().any(|topic| topic.contains("Brooklyn Bridge")),
        "{:?}",
        summary.topics
    );
}

#[test]
fn a_summary_does_not_repeat_itself() {
    let summary: Summary = ask(Task::Summarize, &seen()[2..4], None);
    assert_eq!(summary.summary, "A baker hands her a loaf of bread. Two children sit at a table.");
}

#[test]
fn measured_descriptions_read_well() {
    let summary: Summary = ask(Task::Summarize, &measured(), None);
    assert!(
        summary.summary.contains("The text “GOOGLE PARIS” appears on screen."),
        "{}",
        summary.summary
    );
    assert!(!summary.summary.contains("Speech:"), "{}", summary.summary);
    assert!(summary.summary.contains("maps"), "{}", summary.summary);
}

#[test]
fn titles_name_the_topic() {
    let cases: &[(&[Passage], &[&str])] = &[
        (&talk(), &["Bridge"]),
        (&measured()[..4], &["Google Paris"]),
        (&measured()[6..], &["Dark Scene with Little Motion"]),
        (
            &[passage(
                0,
                Speech,
                "ask not what your country can do for you ask what you can do for your country",
            )],
            &["Country"],
        ),
        (&[passage(0, Speech, "So, yes. It is what it is.")], &[]),
    ];
    for (passages, expected) in cases {
        let Title { title } = ask(Task::Title, passages, None);
        assert!(
            expected.iter().all(|part| title.contains(part)),
            "{title:?} should name {expected:?}"
        );
        let all: Vec<&str> = title.split_whitespace().collect();
        assert!((1..=8).contains(&all.len()), "{title:?}");
        assert!(title.starts_with(char::is_uppercase), "{title:?}");
        assert!(!["and", "of", "the", "with", "to"].contains(&all[all.len() - 1]), "{title:?}");
    }
}

#[test]
fn questions_find_their_evidence() {
    for (question, part, id) in [
        ("Who designed the bridge?", "John Roebling designed", "v:2"),
        ("When was the Brooklyn Bridge opened?", "1883", "v:1"),
        ("How long is the main span?", "486 metres", "v:4"),
        ("What are the towers made of?", "limestone", "v:1"),
        ("Who carried messages to the workers?", "Emily", "v:3"),
        ("How many vehicles cross the bridge?", "hundred thousand", "v:5"),
    ] {
        let found = answer(&talk(), question);
        let (text, ids) = found.first().unwrap_or_else(|| panic!("nothing found for {question}"));
        assert!(text.contains(part), "{question}: {text}");
        assert_eq!(ids, &[id], "{question}");
    }
    let found = answer(&seen(), "Where do the children sit?");
    assert_eq!(found[0].0, "Two children sit at a table.");
    assert_eq!(found[0].1, ["v:2", "v:3"]);
}

#[test]
fn sentences_about_another_time_do_not_answer() {
    let seals = [
        "In 2019 the scientists counted 120 seals on the island.",
        "Last year they counted 214. That is the highest number ever seen here.",
    ];
    let seals: Vec<Passage> =
        seals.iter().enumerate().map(|(id, text)| passage(id, Speech, text)).collect();
    let first = |question: &str| answer(&seals, question)[0].0.clone();
    assert!(first("How many seals were counted last year?").contains("214"));
    assert!(first("How many seals were counted in 2019?").contains("120"));
    assert!(first("How many seals did the scientists count?").contains("120"));
}

#[test]
fn repeated_on_screen_text_is_returned_once() {
    let read = ["11:15 ROSA'S KITCHEN, Fish soup for 60", "11:15 ROSA'S KITCHEN"];
    let read: Vec<Passage> =
        read.iter().enumerate().map(|(id, text)| passage(id, Screen, text)).collect();
    let found = answer(&read, "What soup is there in Rosa's kitchen, and for how many people?");
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].0.contains("Fish soup"), "{found:?}");
}

#[test]
fn questions_without_evidence_find_nothing() {
    for question in [
        "Who is the president of France?",
        "How tall is the Eiffel Tower?",
        "What did Obama say about the bridge?",
        "How much did the bridge cost?",
        "Is there a dog?",
        "What happened in 1912?",
        "Who won the football match?",
        "Which recipe needs three eggs?",
        "",
        "???",
        "and of the",
    ] {
        assert_eq!(answer(&talk(), question), [], "{question:?}");
    }
    assert_eq!(answer(&[], "Who designed the bridge?"), []);
    assert_eq!(answer(&measured(), "What does the man buy?"), []);
    assert_eq!(answer(&seen(), "How many horses are there?"), []);
    // The passages mention a woman, but no instrument.
    assert_eq!(answer(&seen(), "Which instrument does the woman play?"), []);
}

#[test]
fn questions_about_the_whole_are_answered_from_the_whole() {
    let found = answer(&seen(), "What is this video about?");
    assert!((1..=3).contains(&found.len()), "{found:?}");
    let found = answer(&measured(), "What is being said?");
    assert!(found.iter().all(|(_, ids)| ids == &["v:2.1"]) && !found.is_empty(), "{found:?}");
    let found = answer(&measured(), "What text is shown on the screen?");
    assert_eq!(found, [("On screen: “GOOGLE PARIS”.".to_owned(), vec!["v:0.1".to_owned()])]);
    assert_eq!(answer(&seen(), "What do they talk about?"), []);
}

#[test]
fn events_are_changes() {
    let Events { events } = ask(Task::Events, &seen(), None);
    let found: Vec<(&str, &str, &str)> = events
        .iter()
        .map(|event| (event.passage.as_str(), event.actor.as_str(), event.category.as_str()))
        .collect();
    assert_eq!(
        found,
        [
            ("v:0", "woman in a red coat", "movement"),
            ("v:1", "woman in a red coat", "action"),
            ("v:2", "baker", "interaction"),
            ("v:4", "yellow taxi", "movement"),
        ]
    );

    let Events { events } = ask(Task::Events, &measured(), None);
    let found: Vec<(&str, &str)> =
        events.iter().map(|event| (event.event.as_str(), event.category.as_str())).collect();
    assert_eq!(
        found,
        [
            ("The text “GOOGLE PARIS” appears on screen.", "text"),
            ("The speaker says: “Every day we build maps.”", "speech"),
        ]
    );
}

#[test]
fn a_narrative_keeps_to_its_subject() {
    let Narrative { narrative } = ask(Task::Narrate, &seen(), Some("woman in a red coat"));
    assert_eq!(
        narrative,
        "A woman in a red coat walks along a snowy street. \
         The woman in a red coat opens the door of a small bakery."
    );
    let Narrative { narrative } = ask(Task::Narrate, &seen()[4..], Some("p1"));
    assert_eq!(narrative, "A yellow taxi drives past the window.");
}

#[test]
fn pictures_are_not_described() {
    let request = Request {
        task: Task::Describe,
        instructions: String::new(),
        passages: Vec::new(),
        question: None,
        fields: Vec::new(),
        images: vec![bytes::Bytes::from_static(b"jpeg")],
        max_tokens: 10,
        sink: TokenSink::default(),
    };
    assert_eq!(Extractive::default().answer(&request).unwrap_err().kind(), ErrorKind::Invalid);
}

/// The measured description of a clip with speech and titles.
fn composed() -> Vec<Passage> {
    [
        chunk(
            0,
            &[
                (Scene, "A bright picture in blue, with strong motion."),
                (Screen, "GOOGLE; PARIS"),
                (Scene, "There is loud sound."),
                (Speech, "Welcome to Google Paris. I work as an engineer on the maps team."),
            ],
        ),
        chunk(
            1,
            &[
                (Scene, "A bright picture in orange, with little motion. There is sound."),
                (
                    Speech,
                    "Every day we have lunch together in the canteen, and the food is really great.",
                ),
            ],
        ),
        chunk(
            2,
            &[
                (Scene, "A dark picture in blue, with steady motion. There is sound."),
                (
                    Speech,
                    "The office is in the ninth district near the opera. We have about seven \
                     hundred employees.",
                ),
            ],
        ),
    ]
    .concat()
}

#[test]
fn speech_matters_more_than_measured_light() {
    let summary: Summary = ask(Task::Summarize, &composed(), None);
    assert!(!summary.summary.contains("picture"), "{}", summary.summary);
    assert!(summary.topics.contains(&"Google Paris".to_owned()), "{:?}", summary.topics);
    assert_eq!(ask::<Title>(Task::Title, &composed(), None).title, "Google Paris");
    assert_eq!(
        answer(&composed(), "How many employees are there?"),
        [("“We have about seven hundred employees.”".to_owned(), vec!["v:2.1".to_owned()])]
    );
    let found = answer(&composed(), "What happens at the end?");
    assert!(!found.is_empty() && found.iter().all(|(_, ids)| ids == &["v:2.1"]), "{found:?}");
    assert_eq!(answer(&composed(), "Who is the CEO?"), []);
}

#[test]
fn names_stay_whole_in_titles() {
    let text =
        "This is a segment of the telescope at NASA's Goddard Space Flight Center in Maryland.";
    let Title { title } = ask(Task::Title, &[passage(0, Speech, text)], None);
    assert!(title.contains("NASA Goddard Space Flight Center"), "{title}");
}

#[test]
fn a_new_picture_is_an_event() {
    let passages =
        ["A bright picture in green, still.", "A dark picture in blue, still. There is no sound."];
    let passages: Vec<Passage> =
        passages.iter().enumerate().map(|(id, text)| passage(id, Scene, text)).collect();
    let Events { events } = ask(Task::Events, &passages, None);
    let found: Vec<&str> = events.iter().map(|event| event.event.as_str()).collect();
    // The picture at the start is a state, not a change.
    assert_eq!(found, ["The scene changes to a dark picture in blue, still."]);
}

#[test]
fn passages_answer_questions_about_their_topic() {
    let about = |id: usize, topic: &str, text: &str| Passage {
        topic: Some(topic.to_owned()),
        ..passage(id, Prose, text)
    };
    let passages = [
        passage(0, Prose, "Someone speaks. A dog runs."),
        about(
            1,
            "who speaks most, how many speakers there are",
            "5 speakers are heard; S1 speaks most. Speaker S1 talks for 18 seconds.",
        ),
        about(
            2,
            "the mood and tone of the conversation",
            "The language used is neutral on the whole.",
        ),
    ];
    for (question, expected) in [
        ("Who speaks most?", "5 speakers are heard; S1 speaks most."),
        ("How many speakers are there?", "5 speakers are heard; S1 speaks most."),
        ("What is the mood of the conversation?", "The language used is neutral on the whole."),
    ] {
        let found = answer(&passages, question);
        assert_eq!(found.first().map(|(text, _)| text.as_str()), Some(expected), "{question}");
    }
    for question in ["Is there a giraffe in the conversation?", "What colour is the dog?"] {
        assert_eq!(answer(&passages, question), [], "{question}");
    }
}

#[test]
fn detections_are_narrated_after_speech() {
    let mut passages = chunk(
        0,
        &[
            (Scene, "A bright picture in grey, still."),
            (Objects, "Two people and a dog are in view."),
            (Screen, "NORTH GATE; CAMERA 7"),
            (Scene, "Someone speaks."),
            (People, "A person in a red top, staying in place."),
            (Speech, "The gate opens at nine."),
            (Speech, "Then we go in."),
        ],
    );
    passages[5].speaker = Some("S1".to_owned());
    passages[6].speaker = Some("S2".to_owned());
    let Title { title } = ask(Task::Title, &passages, None);
    assert!(title.contains("North Gate"), "{title}");
    let Summary { summary, .. } = ask(Task::Summarize, &passages, None);
    assert!(!summary.contains("red top") && !summary.contains("bright"), "{summary}");
    let Events { events } = ask(Task::Events, &passages, None);
    let found: Vec<(&str, &str)> =
        events.iter().map(|event| (event.event.as_str(), event.category.as_str())).collect();
    assert_eq!(events[1].passage, "v:0.5");
    // What is in view at the start does not appear.
    assert_eq!(
        found,
        [
            ("The text “NORTH GATE” appears on screen.", "text"),
            ("Speaker 1 says: “The gate opens at nine.”", "speech"),
        ]
    );
}

#[test]
fn summary_lists_detections_titles_and_speech() {
    let mut passages = chunk(
        0,
        &[
            (Screen, "HARBOUR DAY; www.example.org"),
            (Speech, "The harbour opens in June."),
            (Objects, "Two cars and a bird are in view."),
        ],
    );
    passages[1].speaker = Some("S1".to_owned());
    passages.extend(chunk(1, &[(Speech, "The harbour was closed for Quilter and his men.")]));
    passages[3].speaker = Some("S2".to_owned());
    passages[3].doubtful = vec!["quilter".to_owned()];
    let shown = Passage { topic: Some(OVERVIEW.into()), ..passage(0, Objects, "two cars, a bird") };
    passages.insert(0, shown);
    let Summary { summary, key_points, topics } = ask(Task::Summarize, &passages, None);
    assert_eq!(
        summary,
        "Up to two cars and a bird are in view. The text “HARBOUR DAY” appears on screen. \
         The speakers talk about the harbour. Speaker 1 says: “The harbour opens in June.”"
    );
    assert_eq!(key_points, ["Speaker 1 says: “The harbour opens in June.”"]);
    assert!(!topics.iter().any(|topic| topic.contains("Quilter")), "misrecognised: {topics:?}");
    assert_eq!(ask::<Title>(Task::Title, &passages, None).title, "Harbour");
    let seen = [passages[0].clone(), passages[3].clone()];
    assert_eq!(ask::<Title>(Task::Title, &seen, None).title, "Cars and Bird");
}

#[test]
fn answers_include_the_next_sentence() {
    let mut passages =
        chunk(0, &[(Speech, "Which colour did you pick?"), (Speech, "The red one, please.")]);
    passages[1].speaker = Some("S2".to_owned());
    let found: Vec<String> =
        answer(&passages, "Which colour was picked?").into_iter().map(|(text, _)| text).collect();
    assert_eq!(found.len(), 2, "{found:?}");
    assert_eq!(found[1], "S2: “The red one, please.”");
    let mut passages = chunk(0, &[(Prose, "The harbour was closed for years.")]);
    passages.extend(chunk(
        0,
        &[(Speech, "The harbour was closed for years."), (Speech, "A storm had destroyed it.")],
    ));
    for passage in &mut passages[1..] {
        passage.speaker = Some("S1".to_owned());
    }
    let found: Vec<String> = answer(&passages, "Why was the harbour closed?")
        .into_iter()
        .map(|(text, _)| text)
        .collect();
    assert_eq!(
        found,
        ["S1: “The harbour was closed for years.”", "S1: “A storm had destroyed it.”"]
    );
}
