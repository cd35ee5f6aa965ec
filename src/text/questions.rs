//! Questions about videos: the kind of thing they ask for, and which of their words belong to asking.

use crate::calendar::{MONTHS, WEEKDAYS};
use crate::colours::is_colour;
use crate::numbers::is_amount;
use crate::{Token, is_function_word, tokens};

/// The kind of thing that a question asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AnswerKind {
    /// Somebody.
    Person,
    /// A moment or a date.
    Time,
    /// Where something is.
    Place,
    /// How many or how much.
    Quantity,
    /// What colour something has.
    Colour,
    /// The year of something.
    Year,
    /// No kind in particular.
    Anything,
}

impl AnswerKind {
    /// What a question asks for, by its question words.
    pub fn asked_for(question: &[Token<'_>]) -> Self {
        const MEASURES: &[&str] =
            &["many", "much", "old", "tall", "far", "high", "fast", "long", "deep", "heavy"];
        /// Words from the beginning within which `year` is what is asked for.
        const EARLY: usize = 3;
        for (at, word) in question.iter().enumerate() {
            match word.lower.as_str() {
                "colour" | "color" | "colours" | "colors" => return Self::Colour,
                "who" | "whom" | "whose" => return Self::Person,
                "when" => return Self::Time,
                "year" | "years" if at < EARLY => return Self::Year,
                "where" => return Self::Place,
                "how" => {
                    let next = question.get(at + 1);
                    if next.is_some_and(|next| MEASURES.contains(&next.lower.as_str())) {
                        return Self::Quantity;
                    }
                }
                _ => {}
            }
        }
        Self::Anything
    }

    /// Whether nothing without a word of this kind can be an answer.
    pub fn is_definite(self) -> bool {
        matches!(self, Self::Quantity | Self::Colour | Self::Year)
    }

    /// Whether a sentence has a word of this kind.
    pub fn is_in(self, sentence: &[Token<'_>]) -> bool {
        let any = |fits: &dyn Fn(&str) -> bool| sentence.iter().any(|word| fits(&word.lower));
        match self {
            Self::Anything => true,
            Self::Quantity => any(&is_amount),
            Self::Colour => any(&is_colour),
            Self::Year => any(&is_year),
            Self::Person => {
                let name = |word: &Token<'_>| word.is_capitalised() && word.lower != "i";
                sentence.iter().skip(1).any(name) || any(&|word| PERSONS.contains(&word))
            }
            Self::Time => any(&|word| is_amount(word) || is_time(word)),
            Self::Place => any(&|word| PLACES.contains(&word)),
        }
    }
}

/// Whether a text asks, by how it begins or ends; a search by a few words does not.
pub fn is_question(text: &str) -> bool {
    let begins = |word: &Token<'_>| OPENING.contains(&word.lower.as_str());
    text.trim_end().ends_with('?') || tokens(text).first().is_some_and(begins)
}

/// What questions begin with.
const OPENING: &[&str] = &[
    "who", "whom", "whose", "what", "which", "when", "where", "why", "how", "is", "are", "was",
    "were", "do", "does", "did", "can", "could", "will", "would", "should", "has", "have", "had",
];

/// Whether a question begins by asking how many or how much there is: without a number nothing answers it,
/// as it may the question how long something lasts.
pub fn asks_for_number(question: &[Token<'_>]) -> bool {
    const EARLY: usize = 3;
    let lower = |at: usize| question.get(at).map_or("", |word| word.lower.as_str());
    (0..EARLY).any(|at| lower(at) == "how" && ["many", "much"].contains(&lower(at + 1)))
}

/// What a question wants to hear something about: `crocodiles` of `What does she say about crocodiles?` and
/// of `Who mentions crocodiles?`. Whatever is said about it is an answer.
pub fn topic(question: &str) -> Option<&str> {
    const TELLING: &[&str] = &[
        "say", "says", "said", "tell", "tells", "told", "talk", "talks", "talked", "talking",
        "speak", "speaks", "spoke", "spoken", "speaking", "hear", "heard", "learn",
    ];
    const NAMING: &[&str] =
        &["mention", "mentions", "mentioned", "discuss", "discusses", "discussed", "discussing"];
    const AROUND_IT: &[&str] =
        &["in", "at", "by", "on", "during", "as", "for", "to", "with", "when", "while", "here"];
    // Why and how much somebody talks about a thing is no more of it.
    const MORE: &[&str] = &["why", "how", "which"];
    /// Words between telling and `about`: `What does she tell the others about it?`
    const NEAR: usize = 3;
    let all = tokens(question);
    let is = |at: usize, list: &[&str]| {
        all.get(at).is_some_and(|word| list.contains(&word.lower.as_str()))
    };
    if !is_question(question) || is(0, MORE) {
        return None;
    }
    let about = |told: usize| (told + 1..=told + NEAR).find(|&at| is(at, &["about"]));
    let before = (0..all.len()).find_map(|at| match () {
        () if is(at, TELLING) => about(at),
        // Not where or when it is mentioned.
        () if is(at, NAMING) && !is(at + 1, AROUND_IT) => {
            Some(about(at).filter(|&about| about == at + 1).unwrap_or(at))
        }
        () => None,
    })?;
    let first = all.get(before + 1)?;
    let topic = question[first.start..].trim_end().trim_end_matches(['?', '.', '!']);
    let told = |word: &Token<'_>| !is_function_word(&word.lower) && !is_generic(&word.lower);
    tokens(topic).iter().any(told).then_some(topic)
}

fn is_year(word: &str) -> bool {
    word.len() == 4 && word.parse().is_ok_and(|year: u32| (1000..2100).contains(&year))
}

fn is_time(word: &str) -> bool {
    // `may` is seldom the month.
    let month = MONTHS.contains(&word) && word != "may";
    WEEKDAYS.contains(&word) || month || TIMES.contains(&word)
}

/// Words that say when beside now, such as `last year` and `yesterday`: what is told of another time does
/// not fit them.
pub fn times_told(all: &[Token<'_>]) -> Vec<String> {
    let lower = |at: usize| all.get(at).map_or("", |word| word.lower.as_str());
    let told = |at: usize| match lower(at) {
        day @ ("yesterday" | "today" | "tonight" | "tomorrow") => Some(day.to_owned()),
        which @ ("last" | "this" | "next") => {
            let of = lower(at + 1);
            let period = PERIODS.contains(&of) || WEEKDAYS.contains(&of) || MONTHS.contains(&of);
            period.then(|| format!("{which} {of}"))
        }
        _ => None,
    };
    (0..all.len()).filter_map(told).collect()
}

/// What `last` and `next` count.
const PERIODS: &[&str] = &[
    "year",
    "month",
    "week",
    "weekend",
    "night",
    "morning",
    "afternoon",
    "evening",
    "spring",
    "summer",
    "autumn",
    "fall",
    "winter",
    "season",
    "century",
    "decade",
];

/// Whether a lower-case word of a search says nothing about what is searched for, as in `find the
/// moment when someone says …`.
pub fn is_asking(lower: &str) -> bool {
    ASKING.contains(&lower) || SEARCHING.contains(&lower)
}

/// Whether a lower-case word of a question says little about what is looked for, because it could be
/// asked of any video: `what is the name of the person in the first scene?`
pub fn is_generic(lower: &str) -> bool {
    ASKING.contains(&lower) || GENERIC.contains(&lower)
}

/// What a question or a search is about, without the words of asking around it: `train` of `When can
/// one see a train in this video?`. `None` where that is all of it, or nothing.
pub fn subject(question: &str) -> Option<&str> {
    let all = tokens(question);
    let asks = |token: &Token<'_>| {
        let word = token.lower.as_str();
        is_function_word(word) || is_asking(word) || AROUND.contains(&word)
    };
    let first = all.iter().position(|token| !asks(token))?;
    let last = all.iter().rposition(|token| !asks(token))?;
    let subject = &question[all[first].start..all[last].start + all[last].text.len()];
    (first > 0 || last + 1 < all.len()).then_some(subject)
}

/// Words that stand around what a question is about, beside those of asking.
const AROUND: &[&str] = &[
    "one",
    "anyone",
    "anybody",
    "clip",
    "footage",
    "film",
    "movie",
    "recording",
    "appear",
    "appears",
    "visible",
    "happen",
    "happens",
    "tell",
    "tells",
    "give",
    "look",
    "please",
];

/// Words of asking, in searches and in questions.
const ASKING: &[&str] = &[
    "moment",
    "mention",
    "mentioned",
    "people",
    "person",
    "scene",
    "screen",
    "see",
    "seen",
    "show",
    "shown",
    "shows",
    "someone",
    "spoken",
    "talk",
    "talking",
    "talks",
    "text",
    "video",
    "word",
    "words",
    "written",
];

/// Words of asking that in a question may be what it is about.
const SEARCHING: &[&str] =
    &["find", "said", "say", "saying", "says", "sign", "somebody", "something"];

/// Words of questions that in a search may be what it is for.
const GENERIC: &[&str] = &[
    "videos",
    "clip",
    "clips",
    "footage",
    "film",
    "movie",
    "recording",
    "scenes",
    "showing",
    "visible",
    "talked",
    "speak",
    "speaks",
    "speaking",
    "mentions",
    "tell",
    "tells",
    "told",
    "happen",
    "happens",
    "happening",
    "happened",
    "discuss",
    "discussed",
    "discusses",
    "describe",
    "described",
    "describes",
    "appear",
    "appears",
    "picture",
    "pictures",
    "image",
    "part",
    "color",
    "colour",
    "colors",
    "colours",
    "name",
    "named",
    "names",
    "called",
    "type",
    "kind",
    "sort",
    "number",
    "reason",
    "time",
    "place",
    "year",
    "anyone",
    "summary",
    "summarize",
    "summarise",
    "overview",
    "topic",
    "topics",
    "main",
    "write",
    "hear",
    "heard",
    "speech",
    "watch",
    "explain",
    "explains",
    "contain",
    "contains",
    "start",
    "starts",
    "begin",
    "begins",
    "end",
    "ends",
    "content",
    "subject",
    "point",
    "points",
    "during",
    "made",
    "beginning",
    "opening",
    "ending",
    "first",
    "last",
    "finally",
];

const PERSONS: &[&str] = &[
    "man",
    "men",
    "woman",
    "women",
    "boy",
    "girl",
    "child",
    "children",
    "people",
    "person",
    "he",
    "she",
    "they",
    "speaker",
    "player",
    "worker",
    "driver",
    "president",
    "doctor",
    "teacher",
    "host",
    "crowd",
    "team",
    "i",
    "we",
];

/// Words of time beside the names of days and months.
const TIMES: &[&str] = &[
    "today",
    "tomorrow",
    "yesterday",
    "morning",
    "afternoon",
    "evening",
    "night",
    "noon",
    "year",
    "years",
    "month",
    "week",
    "hour",
    "minute",
    "second",
    "century",
    "spring",
    "summer",
    "autumn",
    "winter",
    "after",
    "before",
    "when",
    "while",
    "until",
    "then",
];

const PLACES: &[&str] = &[
    "in", "at", "on", "inside", "outside", "near", "under", "over", "behind", "between", "beside",
    "from", "into", "onto", "through", "across", "along", "around", "above", "below", "here",
    "there",
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::words;

    #[test]
    fn question_words_tell_what_is_asked_for() {
        for (question, kind) in [
            ("What colour is the car?", AnswerKind::Colour),
            ("Who opens the door?", AnswerKind::Person),
            ("When does it rain?", AnswerKind::Time),
            ("In which year was it built?", AnswerKind::Year),
            ("Does it take him many years?", AnswerKind::Anything),
            ("Where is the dog?", AnswerKind::Place),
            ("How many people are there?", AnswerKind::Quantity),
            ("How does it end?", AnswerKind::Anything),
        ] {
            assert_eq!(AnswerKind::asked_for(&words(question)), kind, "{question}");
        }
    }

    #[test]
    fn questions_are_told_from_searches() {
        for (text, expected) in [
            ("Who opens the door", true),
            ("the door opens?", true),
            ("a man who opens a door", false),
            ("", false),
        ] {
            assert_eq!(is_question(text), expected, "{text}");
        }
    }

    #[test]
    fn what_is_told_of_a_thing_is_asked_for() {
        for (question, expected) in [
            ("What does the man say about crocodiles?", Some("crocodiles")),
            ("What do they tell us about the red van?", Some("the red van")),
            ("Who mentions Mars?", Some("Mars")),
            ("Is a boat discussed in the meeting?", None),
            ("What is said about it?", None),
            ("Why does she talk about Mars?", None),
            ("What is the talk about?", None),
            ("a man talks about boats", None),
        ] {
            assert_eq!(topic(question), expected, "{question}");
        }
    }

    #[test]
    fn numbers_are_asked_for_at_the_beginning() {
        for (question, expected) in [
            ("How many cars are there?", true),
            ("In how many countries is it spoken?", true),
            ("How long does it last?", false),
            ("Can they change how much they pay?", false),
        ] {
            assert_eq!(asks_for_number(&words(question)), expected, "{question}");
        }
    }

    #[test]
    fn sentences_have_what_is_asked_for() {
        for (kind, with, without) in [
            (AnswerKind::Person, "There is Anna.", "There is rain."),
            (AnswerKind::Person, "A worker waits.", "A bus waits."),
            (AnswerKind::Time, "It ends on Friday.", "It ends well."),
            (AnswerKind::Time, "It ends at 5.", "It may end."),
            (AnswerKind::Place, "It stands behind the house.", "It stands."),
            (AnswerKind::Quantity, "There are thirteen cars.", "There are cars."),
            (AnswerKind::Colour, "A gray cat.", "A cat and cream."),
            (AnswerKind::Year, "Built in 1883.", "Built in 2500 days."),
        ] {
            assert!(kind.is_in(&words(with)), "{with}");
            assert!(!kind.is_in(&words(without)), "{without}");
            assert!(AnswerKind::Anything.is_in(&words(without)));
        }
    }

    #[test]
    fn what_a_question_is_about_is_told_from_asking() {
        for (question, expected) in [
            ("When can one see a train in this video?", Some("train")),
            ("What does a crocodile sound like?", Some("crocodile sound")),
            ("Show me the moment with a red car and a dog", Some("red car and a dog")),
            ("Who says “ask not what your country can do”?", Some("ask not what your country")),
            ("red car", None),
            ("What is it?", None),
        ] {
            assert_eq!(subject(question), expected, "{question}");
        }
    }

    #[test]
    fn times_are_told_from_what_is_last_or_next() {
        for (text, expected) in [
            ("How many were there last year?", &["last year"][..]),
            ("What comes next Monday, and what was yesterday?", &["next monday", "yesterday"]),
            ("What does he say last?", &[]),
            ("What is the last word of this talk?", &[]),
        ] {
            assert_eq!(times_told(&tokens(text)), expected, "{text}");
        }
    }

    #[test]
    fn words_of_asking_are_told_from_what_is_asked_about() {
        for (word, asking, generic) in [
            ("video", true, true),
            ("find", true, false),
            ("colour", false, true),
            ("dog", false, false),
        ] {
            assert_eq!((is_asking(word), is_generic(word)), (asking, generic), "{word}");
        }
    }
}
