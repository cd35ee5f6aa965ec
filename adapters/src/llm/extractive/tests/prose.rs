//! Tests of the summaries, events and titles that are written without prose.

use super::*;

fn overview(things: &str) -> Passage {
    Passage { topic: Some(OVERVIEW.into()), ..passage(0, Objects, things) }
}

#[test]
fn a_summary_names_clothes_and_movements() {
    let person = (People, "A person in a white top and blue below the waist, moving to the left.");
    let bare = (People, "A person in a red top and red below the waist.");
    for (things, texts, expected) in [
        (
            "a cup, a person",
            vec![(Objects, "A cup and a person are in view."), person],
            "A person in a white top and a cup are in view.",
        ),
        (
            "a person, a car",
            vec![(Objects, "A person is in view. A car drives to the right."), person],
            "A person in a white top is in view. A car drives to the right.",
        ),
        (
            "two people",
            vec![(Objects, "Two people are in view."), (People, "2 people in a red top.")],
            "Two people are in view.",
        ),
        ("a person", vec![(Objects, "A person is in view.")], "A person is in view."),
        ("a person", vec![(Objects, "A person is in view."), bare], "A person is in view."),
    ] {
        let passages = [vec![overview(things)], chunk(0, &texts)].concat();
        let Summary { summary, key_points, .. } = ask(Task::Summarize, &passages, None);
        assert_eq!(summary, expected);
        assert!(!key_points.contains(&summary), "{key_points:?}");
    }
}

#[test]
fn a_thing_is_an_event_when_it_first_comes_into_view() {
    let passages: Vec<Passage> = [
        "A dog is in view.",
        "A dog and two cars are in view.",
        "Two dogs are in view. A car drives to the left.",
        "A car is in view. A car drives to the left.",
        "A dog and an umbrella are in view.",
    ]
    .iter()
    .enumerate()
    .map(|(id, text)| passage(id, Objects, text))
    .collect();
    let Events { events } = ask(Task::Events, &passages, None);
    let found: Vec<(&str, &str, &str)> = events
        .iter()
        .map(|event| (event.passage.as_str(), event.event.as_str(), event.actor.as_str()))
        .collect();
    assert_eq!(
        found,
        [
            ("v:1", "Two cars appear.", ""),
            ("v:2", "A car drives to the left.", "car"),
            ("v:4", "An umbrella appears.", "umbrella"),
        ]
    );
}

#[test]
fn speech_is_an_event_if_it_says_something_new() {
    let passages: Vec<Passage> = [
        "The harbour opens in June.",
        "Ferries leave every hour.",
        "The harbour opens in June for ferries.",
    ]
    .iter()
    .enumerate()
    .map(|(id, text)| passage(id, Speech, text))
    .collect();
    let Events { events } = ask(Task::Events, &passages, None);
    let found: Vec<&str> = events.iter().map(|event| event.passage.as_str()).collect();
    assert_eq!(found, ["v:0", "v:1"]);
}

#[test]
fn titles_name_what_is_in_view_or_the_kind_of_speech() {
    let mut speech = chunk(0, &[(Speech, "Yes, and so it is."), (Speech, "Is it now?")]);
    assert_eq!(ask::<Title>(Task::Title, &speech, None).title, "Speech");
    speech[0].speaker = Some("S1".to_owned());
    speech[1].speaker = Some("S2".to_owned());
    assert_eq!(ask::<Title>(Task::Title, &speech, None).title, "Conversation");
    let page: Vec<String> = (0..20).map(|n| format!("Row {n}")).collect();
    let page = [passage(0, Screen, &page.join("; "))];
    assert_eq!(ask::<Title>(Task::Title, &page, None).title, "Page of Text");
    let things = [overview("two cups, a person, a dog")];
    assert_eq!(ask::<Title>(Task::Title, &things, None).title, "Person, Cups and Dog");
    for caption in ["16:30 MARINE LABORATORY", "Marine Laboratory 16:30:05"] {
        let notice = [passage(0, Screen, caption)];
        assert_eq!(ask::<Title>(Task::Title, &notice, None).title, "Marine Laboratory");
    }
}

#[test]
fn titles_differ_from_notices_and_labels() {
    use crate::llm::extractive::corpus::is_title;
    for title in ["DEMO REEL 2026", "Harbour Day", "FOR BIGGER ESCAPES", "Ada, Engineer"] {
        assert!(is_title(title), "{title}");
    }
    for other in [
        "© 2013 Ada",
        "www.example.org",
        "CAMERA 07 NORTH GATE",
        "12:04:33",
        "of the",
        "Terms apply.",
        "total = sum(rows)",
        "因 None V",
        "T price list",
        "rows4 left",
        "one two three four five six seven eight",
    ] {
        assert!(!is_title(other), "{other}");
    }
}
