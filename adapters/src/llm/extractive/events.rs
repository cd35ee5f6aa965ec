//! Finds events: changes from one moment to the next, such as a thing that comes into view, a
//! movement, a title on screen, or something that is said for the first time. A moment yields at most
//! one event of each kind.

use std::collections::BTreeSet;

use ports::llm::{Event, Events, PassageKind};
use text::{is_article, is_stop_word, join_list, stem, words};

use super::account::is_list_of_things;
use super::corpus::{Corpus, Sentence, finish_sentence, is_notice, is_title, strip_final_marks};
use super::speakers::Speakers;

/// Minimum share of new content words in the sentence of an event. A word is new if it does not
/// occur before.
const MIN_NEW_SHARE: f64 = 0.4;
/// Maximum number of words in an event. Longer text is cut at a comma or ends with an ellipsis.
const MAX_WORDS: usize = 32;
/// Maximum share of an event's content words that may be doubtful.
const MAX_DOUBT: f64 = 0.2;
/// Maximum number of words that name an actor.
const MAX_ACTOR_WORDS: usize = 8;

/// Categories, each with the verbs and nouns that indicate it.
const CATEGORIES: &[(&str, &[&str])] = &[
    (
        "speech",
        &[
            "say",
            "speak",
            "talk",
            "tell",
            "ask",
            "answer",
            "announce",
            "explain",
            "shout",
            "whisper",
            "interview",
            "discuss",
            "reply",
            "greet",
            "conversation",
            "argue",
            "present",
        ],
    ),
    (
        "interaction",
        &[
            "give", "hand", "hug", "shake", "kiss", "meet", "fight", "hit", "push", "pull", "help",
            "join", "touch", "embrace", "wave", "attack",
        ],
    ),
    (
        "movement",
        &[
            "walk", "run", "enter", "leave", "drive", "move", "jump", "turn", "ride", "fly",
            "climb", "fall", "approach", "arrive", "cross", "dance", "swim", "chase", "rush",
            "step", "sit", "stand", "rise", "roll", "slide", "spin", "pass", "return", "travel",
            "cycle", "kick", "throw", "catch", "land", "crash",
        ],
    ),
    (
        "action",
        &[
            "open", "close", "take", "hold", "pick", "put", "place", "cut", "cook", "eat", "drink",
            "write", "read", "play", "build", "work", "point", "show", "look", "watch", "wear",
            "use", "type", "carry", "lift", "smile", "laugh", "cry", "sing", "clap", "pour",
            "wash", "clean", "draw", "paint", "press",
        ],
    ),
    ("appearance", &["appear", "disappear", "emerge", "reveal", "visible", "vanish", "view"]),
    ("text", &["text", "title", "caption", "sign", "logo", "credit", "subtitle"]),
    ("sound", &["music", "noise", "applause", "sound", "silence", "alarm", "song", "bang"]),
    (
        "scene",
        &[
            "scene",
            "fade",
            "dark",
            "bright",
            "indoors",
            "outdoors",
            "night",
            "sunset",
            "landscape",
            "camera",
            "street",
            "room",
        ],
    ),
];

/// Auxiliary and similar verbs. The words before them name the actor.
const AUXILIARIES: &[&str] = &[
    "is",
    "are",
    "was",
    "were",
    "has",
    "have",
    "had",
    "can",
    "will",
    "does",
    "do",
    "did",
    "begins",
    "starts",
    "stops",
    "continues",
    "keeps",
    "gets",
    "goes",
    "comes",
    "puts",
    "makes",
    "looks",
    "seems",
    "tries",
];
const PRONOUNS: &[&str] = &[
    "he",
    "she",
    "it",
    "they",
    "we",
    "i",
    "you",
    "there",
    "this",
    "that",
    "these",
    "those",
    "someone",
    "somebody",
    "something",
    "what",
    "who",
    "which",
    "here",
    "everyone",
    "everybody",
    "one",
];

/// Returns the events in chronological order.
pub(super) fn find(corpus: &Corpus) -> Events {
    let mut events: Vec<Event> = Vec::new();
    let mut history = History::new(corpus);
    for here in corpus.sentences.chunk_by(|a, b| a.place == b.place) {
        let here: Vec<&Sentence> = here.iter().collect();
        for event in history.changes(&here) {
            if !events.iter().any(|other| other.event == event.event) {
                events.push(event);
            }
        }
        history.add(here);
    }
    Events { events }
}

/// The moments before the current one.
struct History<'a> {
    corpus: &'a Corpus<'a>,
    speakers: Speakers<'a>,
    /// The sentences of the previous moment.
    before: Vec<&'a Sentence>,
    /// The stems of all things that were in view before.
    things: BTreeSet<&'a str>,
    /// The stems of all words that were spoken before.
    spoken: BTreeSet<&'a str>,
}

impl<'a> History<'a> {
    fn new(corpus: &'a Corpus<'a>) -> Self {
        Self {
            corpus,
            speakers: Speakers::new(corpus),
            before: Vec::new(),
            things: BTreeSet::new(),
            spoken: BTreeSet::new(),
        }
    }

    fn add(&mut self, here: Vec<&'a Sentence>) {
        let stems = |kind: PassageKind| {
            let of_kind = here.iter().filter(move |sentence| sentence.kind == kind);
            of_kind.flat_map(|sentence| &sentence.stems).map(String::as_str)
        };
        self.things.extend(stems(PassageKind::Objects));
        self.spoken.extend(stems(PassageKind::Speech));
        self.before = here;
    }

    /// Returns a moment's most informative changes as events: an action, a thing that comes into
    /// view, on-screen text and speech. A change of the scene's appearance is an event only if
    /// nothing else is known.
    fn changes(&self, here: &[&'a Sentence]) -> Vec<Event> {
        let mut events = Vec::new();
        match self.newest(here, PassageKind::Prose, |_| true) {
            Some(sentence) => {
                let text = &sentence.text;
                events.push(self.event(sentence, shorten(text), actor(text), category(text)));
            }
            None => events.extend(self.movement(here).into_iter().chain(self.appearance(here))),
        }
        if let Some(sentence) = self.newest(here, PassageKind::Screen, is_title)
            && self.corpus.is_legible(sentence)
        {
            let text = limit_words(strip_final_marks(&sentence.text));
            let text = format!("The text “{text}” appears on screen.");
            events.push(self.event(sentence, text, String::new(), "text"));
        }
        if let Some(sentence) = self.newest(here, PassageKind::Speech, |_| true) {
            let said = shorten(&sentence.text);
            let text = format!("{} says: “{said}”", self.speakers.name(sentence));
            let actor = sentence.speaker.clone().unwrap_or_default();
            events.push(self.event(sentence, text, actor, "speech"));
        }
        if events.is_empty() {
            events.extend(self.scene_change(here));
        }
        events
    }

    fn event(&self, source: &Sentence, event: String, actor: String, category: &str) -> Event {
        Event {
            event,
            actor,
            category: category.to_owned(),
            passage: self.corpus.passages[source.passage].id.clone(),
        }
    }

    /// Returns the sentence of this kind with the most new words. A spoken word is new if nobody
    /// has said it before, another word if it does not occur in the previous moment.
    fn newest(
        &self,
        here: &[&'a Sentence],
        kind: PassageKind,
        accepts: fn(&str) -> bool,
    ) -> Option<&'a Sentence> {
        let mut known: BTreeSet<&str> =
            self.before.iter().flat_map(|sentence| &sentence.stems).map(String::as_str).collect();
        if kind == PassageKind::Speech {
            known.extend(&self.spoken);
        }
        let is_candidate = |s: &&&Sentence| s.kind == kind && is_event(s) && accepts(&s.text);
        // A sentence with a word that may be misrecognised is only used if there is no other.
        let is_sure = here.iter().filter(is_candidate).any(|s| s.doubt == 0.0);
        here.iter()
            .filter(is_candidate)
            .filter(|s| !is_sure || s.doubt == 0.0)
            .map(|&sentence| (sentence, newness(sentence, &known)))
            .filter(|&(_, new)| new >= MIN_NEW_SHARE)
            // On a tie, this keeps the first sentence. `max_by` would keep the last.
            .fold(None::<(&Sentence, f64)>, |best, next| match best {
                Some(best) if weight(best) >= weight(next) => Some(best),
                _ => Some(next),
            })
            .map(|(sentence, _)| sentence)
    }

    /// Returns the first movement that the previous moment does not have.
    fn movement(&self, here: &[&'a Sentence]) -> Option<Event> {
        let is_new = |text: &str| self.before.iter().all(|sentence| sentence.text != text);
        let sentence = here.iter().find(|sentence| {
            sentence.kind == PassageKind::Objects
                && !is_list_of_things(&sentence.text)
                && is_new(&sentence.text)
        })?;
        let text = &sentence.text;
        let actor = if text.contains(" and ") { String::new() } else { actor(text) };
        Some(self.event(sentence, shorten(text), actor, "movement"))
    }

    /// Returns the things that come into view for the first time. What the first moment shows was
    /// there from the start.
    fn appearance(&self, here: &[&'a Sentence]) -> Option<Event> {
        if self.before.is_empty() {
            return None;
        }
        let list = here.iter().find(|sentence| {
            sentence.kind == PassageKind::Objects && is_list_of_things(&sentence.text)
        })?;
        let is_new = |name: &&str| {
            let last = words(name).last().map(|word| stem(&word.lower));
            last.is_some_and(|noun| !self.things.contains(noun.as_str()))
        };
        let new: Vec<String> = things(&list.text).filter(is_new).map(str::to_owned).collect();
        let is_one =
            matches!(&new[..], [one] if words(one).first().is_some_and(|w| is_article(&w.lower)));
        let verb = if is_one { "appears" } else { "appear" };
        let actor = if is_one { without_article(&new[0]).to_owned() } else { String::new() };
        let text = finish_sentence(&format!("{} {verb}", join_list(&new, "and")));
        (!new.is_empty()).then(|| self.event(list, text, actor, "appearance"))
    }

    /// Returns a change of the scene's appearance, if nothing else is known about the video.
    fn scene_change(&self, here: &[&'a Sentence]) -> Option<Event> {
        let bare = self.corpus.sentences.iter().all(Sentence::is_scenery);
        let known: BTreeSet<&str> =
            self.before.iter().flat_map(|sentence| &sentence.stems).map(String::as_str).collect();
        let picture = here.iter().find(|s| newness(s, &known) >= MIN_NEW_SHARE);
        let picture = picture.filter(|_| bare && !self.before.is_empty())?;
        let text = as_scene_change(&shorten(&picture.text));
        Some(self.event(picture, text, String::new(), "scene"))
    }
}

/// Returns whether a sentence can be an event. Speech must be long enough and probably recognised
/// correctly. On-screen text must be new and must not be a notice.
fn is_event(sentence: &Sentence) -> bool {
    match sentence.kind {
        PassageKind::Speech => {
            sentence.length > 3
                && !sentence.stems.is_empty()
                && sentence.doubt <= MAX_DOUBT
                && !is_notice(&sentence.text)
        }
        PassageKind::Screen => sentence.repeats.is_none(),
        _ => true,
    }
}

/// Returns the things in a list such as `Two cars, a bus and a dog are in view.`
fn things(list: &str) -> impl Iterator<Item = &str> {
    let list = list.trim_end_matches('.').trim_end_matches(" in view");
    let list = list.strip_suffix(" are").or_else(|| list.strip_suffix(" is")).unwrap_or(list);
    list.split(", ").flat_map(|part| part.split(" and ")).filter(|name| !name.is_empty())
}

fn without_article(name: &str) -> &str {
    match name.split_once(' ') {
        Some((first, rest)) if is_article(&first.to_lowercase()) => rest,
        _ => name,
    }
}

/// Returns a sentence's weight, based on its share of new words, its category and its length.
/// Longer sentences are more informative, up to a limit.
fn weight((sentence, new): (&Sentence, f64)) -> f64 {
    let acts = if category(&sentence.text) == OTHER { 0.8 } else { 1.0 };
    let length = match sentence.length {
        0..=2 => 0.3,
        3..=5 => 0.8,
        6..=45 => 1.0,
        _ => 0.8,
    };
    new * acts * length
}

fn newness(sentence: &Sentence, known: &BTreeSet<&str>) -> f64 {
    if sentence.stems.is_empty() {
        return 0.0;
    }
    let new = sentence.stems.iter().filter(|stem| !known.contains(stem.as_str())).count();
    new as f64 / sentence.stems.len() as f64
}

const OTHER: &str = "other";

/// Returns the category whose words occur earliest in the sentence.
fn category(sentence: &str) -> &'static str {
    let stems: Vec<String> = words(sentence).iter().map(|word| stem(&word.lower)).collect();
    CATEGORIES
        .iter()
        .filter_map(|(name, marks)| {
            let first =
                stems.iter().position(|found| marks.iter().any(|mark| stem(mark) == *found))?;
            Some((first, *name))
        })
        // All other categories take precedence over `scene`, `sound` and `text`.
        .min_by_key(|&(first, name)| (matches!(name, "scene" | "sound" | "text"), first))
        .map_or(OTHER, |(_, name)| name)
}

/// Finds the actor, named by the words before the first verb, without the article. Returns an empty
/// string if these words do not name an actor.
fn actor(sentence: &str) -> String {
    let all = words(sentence);
    let verb = all.iter().position(|word| {
        AUXILIARIES.contains(&word.lower.as_str())
            || (word.lower.ends_with('s')
                || word.lower.ends_with("ing")
                || word.lower.ends_with("ed"))
                && !word.is_capitalised()
                && CATEGORIES[..5]
                    .iter()
                    .any(|(_, marks)| marks.iter().any(|mark| stem(mark) == stem(&word.lower)))
    });
    let Some(verb) = verb.filter(|verb| (1..=MAX_ACTOR_WORDS + 1).contains(verb)) else {
        return String::new();
    };
    let subject = &all[..verb];
    if PRONOUNS.contains(&subject[0].lower.as_str()) {
        return String::new();
    }
    let skipped = usize::from(is_article(&subject[0].lower));
    // "In the park a man walks" begins with a place.
    let leads = subject.get(skipped).is_none_or(|word| {
        skipped == 0 && is_stop_word(&word.lower) && word.lower.parse::<f64>().is_err()
    });
    let clause = subject.last().map_or(0, |word| word.start + word.text.len());
    let Some(first) = subject.get(skipped).filter(|_| !leads) else { return String::new() };
    let text = &sentence[first.start..clause];
    if text.contains([',', ';', ':']) {
        return String::new();
    }
    text.to_owned()
}

/// Shortens text to [`MAX_WORDS`] words, as a complete sentence.
fn shorten(text: &str) -> String {
    finish_sentence(&limit_words(text))
}

fn limit_words(text: &str) -> String {
    let all = words(text);
    let Some(word) = all.get(MAX_WORDS) else { return text.trim().to_owned() };
    let most = &text[..word.start];
    match most.rfind([',', ';', ':', '–', '—']) {
        Some(comma) if words(&most[..comma]).len() >= 6 => most[..comma].trim_end().to_owned(),
        _ => format!("{} …", most.trim_end()),
    }
}

/// Turns "A dark scene" into "The scene changes to a dark scene".
fn as_scene_change(text: &str) -> String {
    match text.split_once(' ') {
        Some((article @ ("A" | "An"), rest)) => {
            format!("The scene changes to {} {rest}", article.to_lowercase())
        }
        _ => text.to_owned(),
    }
}
