//! Which questions are about facts, and what they ask for.

use super::super::question::{
    Edge, FactQuestion, Intent, SpeakerRank, SpeakerRef, Subject, SubjectPhrase,
    asks_for_footage_time,
};
use super::super::window::TimeWindow;

fn phrase(text: &str) -> SubjectPhrase {
    SubjectPhrase { text: text.into(), is_quoted: false }
}

fn quoted(text: &str) -> SubjectPhrase {
    SubjectPhrase { text: text.into(), is_quoted: true }
}

fn mention(text: &str) -> Subject {
    Subject::Mention(phrase(text), None)
}

fn read(question: &str) -> Option<(Intent, Subject)> {
    FactQuestion::parse(question).map(|found| (found.intent, found.subject))
}

#[test]
fn counts_are_read() {
    for (question, subject) in [
        ("How many people take turns?", Subject::Speakers),
        ("How many people talk in this recording?", Subject::Speakers),
        ("How many different voices can be heard?", Subject::Speakers),
        ("how many speakers are there in total", Subject::Speakers),
        ("Please tell me how many participants are in the conversation", Subject::Speakers),
        ("How many people are visible at once?", Subject::People),
        ("How many people can be seen at the same time in the video?", Subject::People),
        ("How many people are there?", Subject::Anyone),
        ("How many turns are there?", Subject::Turns(None)),
        ("How often does the speaker change?", Subject::Handovers),
        ("How many words are said?", Subject::Words),
        ("How many dogs can be seen?", Subject::Things(phrase("dogs"))),
        ("How often is Mars mentioned?", mention("Mars")),
        (
            "How many times does he say the word “country”?",
            Subject::Mention(quoted("country"), None),
        ),
        ("How many turns does S2 take?", Subject::Turns(Some(SpeakerRef::Name("S2".into())))),
    ] {
        assert_eq!(read(question), Some((Intent::Count, subject)), "{question}");
    }
}

#[test]
fn times_are_read() {
    let shown = |text: &str| Subject::Shown(phrase(text));
    let nth = |n| Subject::Speaker(SpeakerRef::Nth(n));
    for (question, edge, subject) in [
        ("When does the proof slide come up?", Edge::First, shown("the proof slide")),
        ("At what time does the Google logo first appear?", Edge::First, shown("the Google logo")),
        ("When is the word EXIT shown in the video?", Edge::First, shown("the word EXIT")),
        ("When can a bus be seen for the first time?", Edge::First, shown("a bus")),
        ("When does the bird disappear?", Edge::Last, shown("the bird")),
        ("When does the dog last appear?", Edge::Last, shown("the dog")),
        ("When does he mention the war?", Edge::First, mention("the war")),
        ("When did she first talk about the merger?", Edge::First, mention("the merger")),
        ("When is Mars last mentioned?", Edge::Last, mention("Mars")),
        ("When is the bus last visible?", Edge::Last, shown("the bus")),
        ("When is Maryland mentioned?", Edge::First, mention("Maryland")),
        ("When does the second speaker start talking?", Edge::First, nth(2)),
        ("When does the second speaker leave?", Edge::Last, nth(2)),
        ("When does speaker 3 stop talking?", Edge::Last, nth(3)),
        ("When does someone start speaking?", Edge::First, Subject::Speech),
        ("When does the conversation end?", Edge::Last, Subject::Speech),
        ("When does the person appear?", Edge::First, Subject::People),
    ] {
        assert_eq!(read(question), Some((Intent::When(edge), subject)), "{question}");
    }
}

#[test]
fn lengths_speakers_and_lists_are_read() {
    let things = |text: &str| Subject::Things(phrase(text));
    for (question, intent, subject) in [
        ("How long is the video?", Intent::HowLong, Subject::Video),
        ("What's the duration of this clip?", Intent::HowLong, Subject::Video),
        ("When does the video end?", Intent::HowLong, Subject::Video),
        ("How long does he speak?", Intent::HowLong, Subject::Speakers),
        (
            "For how long does the first speaker talk?",
            Intent::HowLong,
            Subject::Speaker(SpeakerRef::Nth(1)),
        ),
        ("How long is Omar on screen?", Intent::HowLong, Subject::Shown(phrase("Omar"))),
        ("Who talks most?", Intent::Who(SpeakerRank::Most), Subject::Speakers),
        ("Which speaker speaks the longest?", Intent::Who(SpeakerRank::Most), Subject::Speakers),
        ("Who has the last word?", Intent::Who(SpeakerRank::Last), Subject::Speakers),
        ("Who starts the conversation?", Intent::Who(SpeakerRank::First), Subject::Speakers),
        ("Who mentions Mars?", Intent::Who(SpeakerRank::Any), mention("Mars")),
        ("Which animals can be seen?", Intent::List, things("animals")),
        ("What kinds of vehicles are visible?", Intent::List, things("vehicles")),
        ("Which objects can you see?", Intent::List, Subject::AllThings),
        ("What is on screen between 0:10 and 0:20?", Intent::List, Subject::Screen),
        ("What text is shown?", Intent::List, Subject::ScreenText),
        ("What is said at 1:05?", Intent::Quote, Subject::Speech),
        ("What happens at 0:30?", Intent::Describe, Subject::Video),
        ("Is there a dog?", Intent::Exists, things("a dog")),
        ("Does anyone speak?", Intent::Exists, Subject::Speech),
    ] {
        assert_eq!(read(question), Some((intent, subject)), "{question}");
    }
    let two = FactQuestion::parse("Which appears first, the dog or the car?").expect("an order");
    assert_eq!((two.intent, two.other), (Intent::Order, Some(Subject::Shown(phrase("the car")))));
    let two = FactQuestion::parse("Does S1 talk more than S2?").expect("a comparison");
    assert_eq!(two.intent, Intent::Compare);
}

#[test]
fn questions_that_only_resemble_them_are_not_about_facts() {
    for question in [
        "How many people does he say died?",
        "How many people died in the flood?",
        "How many people work in the office?",
        "How many people speak French?",
        "How many people speak in French?",
        "How many people speak at the same time?",
        "How many people talk about the war?",
        "How many people are in the red car?",
        "How many turns does the road have?",
        "How many times was he elected?",
        "How many speakers does the shop sell?",
        "When did the war end?",
        "When did the company start selling phones?",
        "When was the bridge built?",
        "When does the shop open?",
        "When did humans first appear on Earth?",
        "How long is the bridge?",
        "How long does the flight take?",
        "How long did he talk to the president?",
        "Who built the bridge?",
        "Who talks to the president?",
        "Who was first on the moon?",
        "Which animals live in the sea?",
        "What does she say about Mars?",
        "When does the logo appear?",
        "What is on the menu?",
        "What is said?",
        "What happens?",
        "Why does he speak first?",
        "Does he not mention the war?",
        "Is there a reason why nobody speaks?",
        "people visible",
        "",
    ] {
        let found = FactQuestion::parse(question);
        // A thing that no picture model knows is looked up, but never found.
        let is_unknown = |found: &FactQuestion| match &found.subject {
            Subject::Things(phrase) => !text::kinds::is_known(&phrase.noun()),
            _ => false,
        };
        assert!(found.as_ref().is_none_or(is_unknown), "{question}: {found:?}");
    }
    let long = "How many people speak ".repeat(20);
    assert_eq!(FactQuestion::parse(&long), None);
}

#[test]
fn what_a_question_says_about_the_video_is_its_setting() {
    for (question, intent, subject, setting) in [
        (
            "How many people speak in the coffee shop?",
            Intent::Count,
            Subject::Speakers,
            "in the coffee shop",
        ),
        (
            "Who talks most at the meeting about maps?",
            Intent::Who(SpeakerRank::Most),
            Subject::Speakers,
            "at the meeting about maps",
        ),
        (
            "How long is the video of the turning globe?",
            Intent::HowLong,
            Subject::Video,
            "of the turning globe",
        ),
    ] {
        let found = FactQuestion::parse(question).expect(question);
        assert_eq!((found.intent, found.subject), (intent, subject), "{question}");
        assert_eq!(found.setting, Some(phrase(setting)), "{question}");
    }
    let none = FactQuestion::parse("How many people speak in this video?").expect("a question");
    assert_eq!(none.setting, None);
}

#[test]
fn questions_in_the_present_tense_ask_for_a_time_in_the_footage() {
    for (question, expected) in [
        ("When does the speaker turn to prices?", true),
        ("Tell me at what point the chart is drawn", false),
        ("At what point is the chart drawn?", true),
        ("When was the bridge built?", false),
        ("When did he leave?", false),
        ("What does he say when he leaves?", false),
    ] {
        assert_eq!(asks_for_footage_time(question), expected, "{question}");
    }
}

#[test]
fn windows_are_read() {
    for (question, window) in [
        ("What is on screen between 0:10 and 0:20?", TimeWindow::Between(10.0, 20.0)),
        ("What is said from 10 to 20 seconds?", TimeWindow::Between(10.0, 20.0)),
        ("What is shown at 1:02:03?", TimeWindow::At(3723.0)),
        ("What is shown at second 12?", TimeWindow::At(12.0)),
        ("What is said at 1 minute 20 seconds?", TimeWindow::At(80.0)),
        ("Who speaks after 0:30?", TimeWindow::After(30.0)),
        ("Who speaks before 12s?", TimeWindow::Between(0.0, 12.0)),
        ("What is shown in the first ten seconds?", TimeWindow::Between(0.0, 10.0)),
        ("What is said in the last minute?", TimeWindow::Final(60.0)),
        ("What is said between 1 and 2 minutes?", TimeWindow::Between(60.0, 120.0)),
    ] {
        let found = FactQuestion::parse(question).and_then(|found| found.window);
        assert_eq!(found, Some(window), "{question}");
    }
    let none = FactQuestion::parse("What is on screen between ten and twenty people?");
    assert_eq!(none, None);
    let span = |window: TimeWindow| window.span(30.0).map(|span| (span.start, span.end));
    assert_eq!(span(TimeWindow::Between(10.0, 40.0)), Some((10.0, 30.0)));
    assert_eq!(span(TimeWindow::Final(60.0)), Some((0.0, 30.0)));
    assert_eq!(span(TimeWindow::At(80.0)), None);
}
