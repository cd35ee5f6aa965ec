//! Question analysis: the kind of answer, the subject, and the filler words.

use crate::calendar::{MONTHS, WEEKDAYS};
use crate::colours::is_colour;
use crate::numbers::is_amount;
use crate::{Token, is_function_word, tokens};

/// The kind of answer that a question asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AnswerKind {
    /// A person.
    Person,
    /// A moment or a date.
    Time,
    /// A place.
    Place,
    /// A number or an amount.
    Quantity,
    /// A colour.
    Colour,
    /// A year.
    Year,
    /// No particular kind.
    Anything,
}

impl AnswerKind {
    /// Classifies a question by its question words.
    pub fn from_question(question: &[Token<'_>]) -> Self {
        const MEASURES: &[&str] =
            &["many", "much", "old", "tall", "far", "high", "fast", "long", "deep", "heavy"];
        /// `year` is the kind of answer only if it is among the first words.
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

    /// Whether an answer must contain a word of this kind.
    pub fn is_definite(self) -> bool {
        matches!(self, Self::Quantity | Self::Colour | Self::Year)
    }

    /// Whether a sentence contains a word of this kind.
    pub fn occurs_in(self, sentence: &[Token<'_>]) -> bool {
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

/// Whether `text` is a question and not a keyword search, judging by its first word or its question
/// mark.
pub fn is_question(text: &str) -> bool {
    let begins = |word: &Token<'_>| OPENING.contains(&word.lower.as_str());
    text.trim_end().ends_with('?') || tokens(text).first().is_some_and(begins)
}

/// Words that begin a question.
const OPENING: &[&str] = &[
    "who", "whom", "whose", "what", "which", "when", "where", "why", "how", "is", "are", "was",
    "were", "do", "does", "did", "can", "could", "will", "would", "should", "has", "have", "had",
];

/// Whether a question begins with `how many` or `how much`. Such a question is answered only by a
/// number, unlike one that asks how long something lasts.
pub fn asks_for_number(question: &[Token<'_>]) -> bool {
    const EARLY: usize = 3;
    let lower = |at: usize| question.get(at).map_or("", |word| word.lower.as_str());
    (0..EARLY).any(|at| lower(at) == "how" && ["many", "much"].contains(&lower(at + 1)))
}

/// The topic of a question about what is said: `crocodiles` in `What does she say about
/// crocodiles?`, in `What does she think of crocodiles?` and in `Who mentions crocodiles?`. Anything said about the topic answers such a
/// question.
pub fn topic(question: &str) -> Option<&str> {
    const REPORTING_VERBS: &[&str] = &[
        "say", "says", "said", "tell", "tells", "told", "talk", "talks", "talked", "talking",
        "speak", "speaks", "spoke", "spoken", "speaking", "hear", "heard", "learn", "think",
        "thinks", "thought", "feel", "feels", "felt",
    ];
    const MENTION_VERBS: &[&str] =
        &["mention", "mentions", "mentioned", "discuss", "discusses", "discussed", "discussing"];
    const MANNER_WORDS: &[&str] =
        &["in", "at", "by", "on", "during", "as", "for", "to", "with", "when", "while", "here"];
    // What is said about something does not answer why or how somebody talks about it.
    const UNRELATED_OPENINGS: &[&str] = &["why", "how", "which"];
    /// Maximum distance from the verb to `about`, in words: `What does she tell the others about
    /// it?`
    const MAX_GAP: usize = 3;
    let all = tokens(question);
    let is = |at: usize, list: &[&str]| {
        all.get(at).is_some_and(|word| list.contains(&word.lower.as_str()))
    };
    if !is_question(question) || is(0, UNRELATED_OPENINGS) {
        return None;
    }
    let about = |verb: usize| {
        let of = is(verb + 1, &["of"]).then_some(verb + 1);
        of.or_else(|| (verb + 1..=verb + MAX_GAP).find(|&at| is(at, &["about"])))
    };
    let before = (0..all.len()).find_map(|at| match () {
        () if is(at, REPORTING_VERBS) => about(at),
        // Excludes questions about where or when something is mentioned.
        () if is(at, MENTION_VERBS) && !is(at + 1, MANNER_WORDS) => {
            Some(about(at).filter(|&about| about == at + 1).unwrap_or(at))
        }
        () => None,
    })?;
    let first = all.get(before + 1)?;
    let topic = question[first.start..].trim_end().trim_end_matches(['?', '.', '!']);
    let has_content = |word: &Token<'_>| !is_function_word(&word.lower) && !is_generic(&word.lower);
    tokens(topic).iter().any(has_content).then_some(topic)
}

fn is_year(word: &str) -> bool {
    word.len() == 4 && word.parse().is_ok_and(|year: u32| (1000..2100).contains(&year))
}

fn is_time(word: &str) -> bool {
    // `may` is rarely the month.
    let month = MONTHS.contains(&word) && word != "may";
    WEEKDAYS.contains(&word) || month || TIMES.contains(&word)
}

/// Finds relative times such as `last year` and `yesterday`, in lower case. An answer has to refer
/// to the same time.
pub fn relative_times(all: &[Token<'_>]) -> Vec<String> {
    let lower = |at: usize| all.get(at).map_or("", |word| word.lower.as_str());
    let relative_time = |at: usize| match lower(at) {
        day @ ("yesterday" | "today" | "tonight" | "tomorrow") => Some(day.to_owned()),
        which @ ("last" | "this" | "next") => {
            let next = lower(at + 1);
            let is_period =
                PERIODS.contains(&next) || WEEKDAYS.contains(&next) || MONTHS.contains(&next);
            is_period.then(|| format!("{which} {next}"))
        }
        _ => None,
    };
    (0..all.len()).filter_map(relative_time).collect()
}

/// Periods that follow `last`, `this` and `next`.
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

/// Whether a lower-case word in a search text says nothing about the subject, as in `find the
/// moment when someone says …`.
pub fn is_query_filler(lower: &str) -> bool {
    QUERY_FILLERS.contains(&lower) || SEARCH_FILLERS.contains(&lower)
}

/// Whether a lower-case word in a question says little about the subject because it fits any video:
/// `what is the name of the person in the first scene?`
pub fn is_generic(lower: &str) -> bool {
    QUERY_FILLERS.contains(&lower) || QUESTION_FILLERS.contains(&lower)
}

/// The subject of a question or search without the filler words around it: `train` in `When can one
/// see a train in this video?`. Returns `None` if there are no filler words around the subject, or
/// if there are only filler words.
pub fn subject(question: &str) -> Option<&str> {
    let all = tokens(question);
    let is_filler = |token: &Token<'_>| {
        let word = token.lower.as_str();
        is_function_word(word) || is_query_filler(word) || SURROUNDING.contains(&word)
    };
    let first = all.iter().position(|token| !is_filler(token))?;
    let last = all.iter().rposition(|token| !is_filler(token))?;
    let subject = &question[all[first].start..all[last].start + all[last].text.len()];
    (first > 0 || last + 1 < all.len()).then_some(subject)
}

/// Filler words around a question's subject, in addition to the query fillers.
const SURROUNDING: &[&str] = &[
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

/// Filler words in searches and questions.
const QUERY_FILLERS: &[&str] = &[
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

/// Filler words in searches that may be the subject of a question.
const SEARCH_FILLERS: &[&str] =
    &["find", "said", "say", "saying", "says", "sign", "somebody", "something"];

/// Filler words in questions that may be the subject of a search.
const QUESTION_FILLERS: &[&str] = &[
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

/// Words for times, other than the names of days and months.
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
    fn answer_kind_follows_question_words() {
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
            assert_eq!(AnswerKind::from_question(&words(question)), kind, "{question}");
        }
    }

    #[test]
    fn questions_differ_from_searches() {
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
    fn topic_is_found_in_questions_about_speech() {
        for (question, expected) in [
            ("What does the man say about crocodiles?", Some("crocodiles")),
            ("What do they tell us about the red van?", Some("the red van")),
            ("What does Ada think of the red van?", Some("the red van")),
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
    fn how_many_asks_for_a_number_at_the_beginning() {
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
    fn sentences_contain_the_answer_kind() {
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
            assert!(kind.occurs_in(&words(with)), "{with}");
            assert!(!kind.occurs_in(&words(without)), "{without}");
            assert!(AnswerKind::Anything.occurs_in(&words(without)));
        }
    }

    #[test]
    fn subject_omits_filler_words() {
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
    fn relative_times_need_a_period() {
        for (text, expected) in [
            ("How many were there last year?", &["last year"][..]),
            ("What comes next Monday, and what was yesterday?", &["next monday", "yesterday"]),
            ("What does he say last?", &[]),
            ("What is the last word of this talk?", &[]),
        ] {
            assert_eq!(relative_times(&tokens(text)), expected, "{text}");
        }
    }

    #[test]
    fn filler_words_differ_between_searches_and_questions() {
        for (word, filler, generic) in [
            ("video", true, true),
            ("find", true, false),
            ("colour", false, true),
            ("dog", false, false),
        ] {
            assert_eq!((is_query_filler(word), is_generic(word)), (filler, generic), "{word}");
        }
    }
}
