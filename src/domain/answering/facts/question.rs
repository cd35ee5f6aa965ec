//! Reads a question about facts: what is asked for, of what, and in which part of the video. The
//! rules are in [`grammar`](super::grammar). A question that no rule matches is not about facts.

use text::questions::is_generic;
use text::{Token, is_article, is_framing, is_function_word, is_negation, tokens};

use super::absence::Absent;
use super::classes::SCOPES;
use super::grammar::RULES;
use super::pattern::captures;
use super::window::{TimeWindow, take_window};

/// Maximum number of words of a question about facts.
const MAX_WORDS: usize = 40;

/// What a question asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Intent {
    /// How many or how often.
    Count,
    /// At what time.
    When(Edge),
    /// For how long.
    HowLong,
    /// Which speaker.
    Who(SpeakerRank),
    /// Which things, texts or speakers.
    List,
    /// Whether there is something.
    Exists,
    /// Which of two subjects comes first.
    Order,
    /// Which of two speakers speaks longer.
    Compare,
    /// What is said.
    Quote,
    /// What is said and shown.
    Describe,
}

/// Which occurrence a question about a time is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Edge {
    First,
    Last,
    /// All occurrences; the first one leads.
    Every,
}

/// Which speaker a question is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SpeakerRank {
    Most,
    Least,
    First,
    Last,
    /// The speaker who says the subject.
    Any,
}

/// What a question is about.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Subject {
    /// The video as a whole.
    Video,
    /// Everything that is said.
    Speech,
    /// The words that are said.
    Words,
    /// All speakers.
    Speakers,
    /// One speaker.
    Speaker(SpeakerRef),
    /// Turns of one speaker or, without one, of all.
    Turns(Option<SpeakerRef>),
    /// Changes of the speaker.
    Handovers,
    /// Visible people.
    People,
    /// People who are visible or heard.
    Anyone,
    /// Visible things of a kind.
    Things(SubjectPhrase),
    /// Visible things of every kind.
    AllThings,
    /// All text on screen.
    ScreenText,
    /// Everything on screen.
    Screen,
    /// Something on screen: text or a thing.
    Shown(SubjectPhrase),
    /// Something that is spoken about, by one speaker or by any.
    Mention(SubjectPhrase, Option<SpeakerRef>),
    /// The absence of something.
    Absent(Absent),
}

/// A speaker as a question names them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum SpeakerRef {
    /// The label or name of a speaker.
    Name(String),
    /// The speaker with this number, from 1, in the order in which they first speak.
    Nth(usize),
    /// The last one to begin speaking.
    Last,
    /// The other one of two speakers.
    Other,
    /// Somebody who is not named, such as `he`.
    Someone,
}

/// The words of a subject.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct SubjectPhrase {
    /// The words as written.
    pub(crate) text: String,
    /// Whether they are quoted, so that they must occur as they are.
    pub(crate) is_quoted: bool,
}

/// A question about facts.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct FactQuestion {
    pub(crate) intent: Intent,
    pub(crate) subject: Subject,
    /// The subject that the first one is compared with.
    pub(crate) other: Option<Subject>,
    /// The part of the video that the question is about.
    pub(crate) window: Option<TimeWindow>,
    /// What the question says about the video itself, such as `in the coffee shop`.
    pub(crate) setting: Option<SubjectPhrase>,
}

/// A word of a question.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct QuestionWord {
    pub(super) lower: String,
    /// Where the word begins and ends in the question; empty for a word that is contracted, such as
    /// the `is` of `what's`.
    pub(super) start: usize,
    pub(super) end: usize,
}

impl FactQuestion {
    /// Reads a question. Returns `None` if it is not about facts that are stored.
    pub(crate) fn parse(question: &str) -> Option<Self> {
        let mut words = split(question);
        if words.len() > MAX_WORDS {
            return None;
        }
        let window = take_window(&mut words);
        remove_scopes(&mut words);
        let whole = Self::read(question, &words, window);
        whole.or_else(|| Self::read_with_setting(question, &words, window))
    }

    /// Applies the rules to all words.
    fn read(question: &str, words: &[QuestionWord], window: Option<TimeWindow>) -> Option<Self> {
        let lower: Vec<&str> = words.iter().map(|word| word.lower.as_str()).collect();
        RULES.iter().find_map(|(pattern, rule)| {
            let captured = captures(pattern, &lower)?;
            let phrases: Vec<SubjectPhrase> = captured
                .into_iter()
                .map(|range| SubjectPhrase::new(question, &words[range]))
                .collect();
            let (intent, subject, other) = rule(&phrases)?;
            let found = Self { intent, subject, other, window, setting: None };
            found.is_complete().then_some(found)
        })
    }

    /// Applies the rules to the words before a phrase that says which video is meant, such as `in the
    /// coffee shop`. Only facts about a whole video do not depend on such a phrase.
    fn read_with_setting(
        question: &str,
        words: &[QuestionWord],
        window: Option<TimeWindow>,
    ) -> Option<Self> {
        const MAX_WORDS: usize = 8;
        let first = words.len().saturating_sub(MAX_WORDS).max(2);
        (first..words.len()).rev().find_map(|at| {
            let after: Vec<&str> = words[at..].iter().map(|word| word.lower.as_str()).collect();
            let found = Self::read(question, &words[..at], window)?;
            let leads = match found.subject {
                Subject::Video => "in|of|about|with",
                _ => "in|at|on",
            };
            let is_setting = captures(&format!("{leads} the|this|that|a|an *"), &after).is_some()
                && captures("@at_once", &after).is_none();
            let setting = SubjectPhrase::new(question, &words[at..]);
            let is_known = is_setting && found.is_about_whole_video();
            (is_known && !setting.content().is_empty())
                .then_some(Self { setting: Some(setting), ..found })
        })
    }

    /// Whether the question is about all speakers or the length of the video.
    fn is_about_whole_video(&self) -> bool {
        match self.intent {
            Intent::HowLong => matches!(self.subject, Subject::Video | Subject::Speech),
            Intent::Count | Intent::List | Intent::Who(_) => matches!(
                self.subject,
                Subject::Speakers | Subject::Turns(None) | Subject::Handovers | Subject::Words
            ),
            _ => false,
        }
    }

    /// Whether a question that makes sense only about a part of the video names one.
    fn is_complete(&self) -> bool {
        let needs_window = matches!(self.intent, Intent::Quote | Intent::Describe)
            || (self.intent == Intent::List && self.subject == Subject::Screen);
        self.window.is_some() || !needs_window
    }
}

impl SubjectPhrase {
    /// Returns the part of the question that the words cover.
    fn new(question: &str, words: &[QuestionWord]) -> Self {
        const QUOTES: &[char] = &['"', '“', '”', '‘', '’', '\'', '«', '»'];
        let start = words.iter().map(|word| word.start).min().unwrap_or_default();
        let end = words.iter().map(|word| word.end).max().unwrap_or_default();
        let before = question[..start].chars().next_back();
        let after = question[end..].chars().next();
        let is_quote = |c: Option<char>| c.is_some_and(|c| QUOTES.contains(&c));
        let text = question[start..end].to_owned();
        // `the word “war”` quotes what follows the article.
        let inner = text.find(QUOTES).filter(|at| *at > 0 && is_quote(after));
        match inner {
            Some(at) if is_lead(&text[..at]) => {
                Self { text: text[at..].trim_matches(QUOTES).to_owned(), is_quoted: true }
            }
            _ => Self { is_quoted: is_quote(before) && is_quote(after), text },
        }
    }

    /// The words that carry meaning, in lower case.
    pub(crate) fn content(&self) -> Vec<String> {
        let all = tokens(&self.text);
        if self.is_quoted {
            return all.into_iter().map(|token| token.lower).collect();
        }
        let is_plain = |token: &Token<'_>| {
            !is_function_word(&token.lower) && !MEDIA.contains(&token.lower.as_str())
        };
        let has_name = |token: &Token<'_>| !is_framing(&token.lower) && !is_generic(&token.lower);
        let content: Vec<&Token<'_>> = all.iter().filter(|token| is_plain(token)).collect();
        let named = content.iter().any(|token| has_name(token));
        let kept = content.into_iter().filter(|token| !named || has_name(token));
        kept.map(|token| token.lower.clone()).collect()
    }

    /// The words that text on screen contains: the capitalised words and numbers of
    /// `the street sign Rue de Londres`, or all words that carry meaning.
    pub(crate) fn written(&self) -> Vec<String> {
        let all = tokens(&self.text);
        let is_name =
            |t: &&Token<'_>| t.is_capitalised() || t.text.chars().any(|c| c.is_ascii_digit());
        let names: Vec<String> = all.iter().filter(is_name).map(|t| t.lower.clone()).collect();
        let has_names = !self.is_quoted && self.is_text() && !names.is_empty();
        if has_names { names } else { self.content() }
    }

    /// The phrase as written, without leading words such as `the word` and `the text about`.
    pub(crate) fn name(&self) -> &str {
        let is_lead =
            |t: &Token<'_>| is_function_word(&t.lower) || MEDIA.contains(&t.lower.as_str());
        let first = tokens(&self.text).into_iter().find(|token| !is_lead(token));
        first.map_or(&self.text, |first| &self.text[first.start..])
    }

    /// Whether the phrase has names or numbers.
    pub(crate) fn has_names(&self) -> bool {
        let is_name = |t: &Token<'_>| {
            (t.is_capitalised() && !is_function_word(&t.lower))
                || t.text.chars().any(|c| c.is_ascii_digit())
        };
        tokens(&self.text).iter().any(is_name)
    }

    /// Whether the phrase names something on screen that holds text, such as a slide.
    pub(crate) fn is_text(&self) -> bool {
        self.is_quoted || tokens(&self.text).iter().any(|t| MEDIA.contains(&t.lower.as_str()))
    }

    /// Whether the phrase is negated.
    pub(crate) fn is_negated(&self) -> bool {
        tokens(&self.text).iter().any(|token| is_negation(&token.lower))
    }

    /// The phrase without a leading article.
    pub(crate) fn noun(&self) -> String {
        let mut words: Vec<String> = tokens(&self.text).into_iter().map(|t| t.lower).collect();
        let is_lead = |word: &String| is_article(word) || ["any", "some"].contains(&word.as_str());
        while words.first().is_some_and(is_lead) {
            words.remove(0);
        }
        words.join(" ")
    }
}

/// Words for what holds text on screen, or for words themselves. They do not occur in the text.
const MEDIA: &[&str] = &[
    "slide", "slides", "caption", "captions", "title", "subtitle", "text", "sign", "logo", "label",
    "banner", "heading", "headline", "word", "words", "phrase", "name", "line", "screen", "term",
    "topic", "subject",
];

/// Whether the text before a quotation only introduces it.
fn is_lead(text: &str) -> bool {
    let is_lead = |t: &Token<'_>| is_article(&t.lower) || MEDIA.contains(&t.lower.as_str());
    tokens(text).iter().all(is_lead)
}

impl SpeakerRef {
    /// Reads how a question names a speaker. Returns `None` for anything that is not a name.
    pub(crate) fn parse(phrase: &SubjectPhrase) -> Option<Self> {
        const SOMEONE: &[&str] = &[
            "he",
            "she",
            "they",
            "we",
            "it",
            "someone",
            "somebody",
            "anyone",
            "anybody",
            "speaker",
            "narrator",
            "voice",
            "person",
            "people",
            "everyone",
            "everybody",
            "speakers",
            "man",
            "woman",
            "presenter",
            "host",
            "i",
            "you",
        ];
        const VOICES: &[&str] = &["speaker", "voice", "person", "participant", "talker"];
        let noun = phrase.noun();
        let words: Vec<&str> = noun.split(' ').collect();
        let number = |word: &str| word.parse().ok().filter(|n| (1..100).contains(n));
        match words[..] {
            [one] if SOMEONE.contains(&one) => Some(Self::Someone),
            ["each" | "every" | "all", voice] if SOMEONE.contains(&voice) => Some(Self::Someone),
            ["all", "the", "speakers"] => Some(Self::Someone),
            ["last" | "final", voice] if VOICES.contains(&voice) => Some(Self::Last),
            ["other", voice] if VOICES.contains(&voice) => Some(Self::Other),
            [nth, voice] if VOICES.contains(&voice) => ordinal(nth).map(Self::Nth),
            [voice, n] if VOICES.contains(&voice) => number(n).map(Self::Nth),
            [voice, "number", n] if VOICES.contains(&voice) => number(n).map(Self::Nth),
            _ => {
                let all = tokens(&phrase.text);
                let is_name = |t: &Token<'_>| t.is_capitalised() && !is_function_word(&t.lower);
                let is_name = !all.is_empty() && all.iter().all(is_name);
                is_name.then(|| Self::Name(phrase.text.clone()))
            }
        }
    }
}

/// Whether a question asks for a time in the footage: `When does the speaker turn to prices?`. A
/// question in the past tense usually asks for a date instead.
pub(crate) fn asks_for_footage_time(question: &str) -> bool {
    let mut words = split(question);
    remove_scopes(&mut words);
    let lower: Vec<&str> = words.iter().map(|word| word.lower.as_str()).collect();
    captures("@time is|are|does|do|can *", &lower).is_some()
}

/// The number of an ordinal, such as `second` or `2nd`.
fn ordinal(word: &str) -> Option<usize> {
    const WORDS: &[&str] =
        &["first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth"];
    let digits = || word.strip_suffix("st").or(word.strip_suffix("nd"));
    let digits = || digits().or(word.strip_suffix("rd")).or(word.strip_suffix("th"));
    let place = WORDS.iter().position(|name| *name == word).map(|at| at + 1);
    place.or_else(|| digits()?.parse().ok()).filter(|n| *n > 0)
}

/// Splits a question into words. Contractions of `is` become two words.
fn split(question: &str) -> Vec<QuestionWord> {
    const CONTRACTED: &[&str] =
        &["what", "who", "when", "where", "that", "there", "it", "he", "she", "how"];
    let mut words = Vec::new();
    for token in tokens(question) {
        let end = token.start + token.text.len();
        let is_contracted =
            token.text.len() > token.lower.len() && CONTRACTED.contains(&token.lower.as_str());
        words.push(QuestionWord { lower: token.lower, start: token.start, end });
        if is_contracted {
            words.push(QuestionWord { lower: "is".into(), start: end, end });
        }
    }
    words
}

/// Removes phrases that only say that the question is about the video.
fn remove_scopes(words: &mut Vec<QuestionWord>) {
    const LEADS: &[&[&str]] = &[
        &["please"],
        &["can", "you", "tell", "me"],
        &["could", "you", "tell", "me"],
        &["tell", "me"],
        &["do", "you", "know"],
        &["and"],
        &["so"],
        &["for", "how", "long"],
    ];
    let begins = |words: &[QuestionWord], phrase: &[&str]| {
        words.len() >= phrase.len() && phrase.iter().zip(words).all(|(a, b)| *a == b.lower)
    };
    while let Some(lead) = LEADS.iter().find(|lead| begins(words, lead)) {
        // `for how long` keeps its last two words.
        let length = if lead[0] == "for" { 1 } else { lead.len() };
        words.drain(..length);
    }
    let mut at = 0;
    while at < words.len() {
        let lower: Vec<&str> = words[at..].iter().map(|word| word.lower.as_str()).collect();
        let scope = (1..=lower.len())
            .rev()
            .find(|&length| SCOPES.iter().any(|scope| captures(scope, &lower[..length]).is_some()));
        match scope {
            Some(length) if length < words.len() => drop(words.drain(at..at + length)),
            _ => at += 1,
        }
    }
}
