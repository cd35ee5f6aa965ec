//! Finds events. An event is something that is shown, displayed or said in a moment but not in the
//! previous moment. A moment yields at most one event of each kind.

use std::collections::BTreeSet;

use ports::llm::{Event, Events, PassageKind};
use text::{is_article, is_stop_word, stem, words};

use super::corpus::{Corpus, Sentence, finish_sentence, is_notice, is_title, strip_final_marks};

/// Minimum share of new content words in the sentence of an event. A word is new if it does not
/// occur in the previous moment.
const MIN_NEW_SHARE: f64 = 0.4;
/// Maximum number of words in an event. Longer text is cut at a comma or ends with an ellipsis.
const MAX_WORDS: usize = 24;
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
    let mut before: Vec<&Sentence> = Vec::new();
    for here in corpus.sentences.chunk_by(|a, b| a.place == b.place) {
        let here: Vec<&Sentence> = here.iter().collect();
        for event in changes(&before, &here, corpus) {
            if !events.iter().any(|other| other.event == event.event) {
                events.push(event);
            }
        }
        before = here;
    }
    Events { events }
}

/// Returns a moment's most informative new sentences as events: an action, on-screen text and
/// speech. The appearance of the scene becomes an event only if there is no other event.
fn changes(before: &[&Sentence], here: &[&Sentence], corpus: &Corpus) -> Vec<Event> {
    let known: BTreeSet<&str> =
        before.iter().flat_map(|sentence| &sentence.stems).map(String::as_str).collect();
    let newest = |kind: PassageKind, accepts: fn(&str) -> bool| {
        here.iter()
            .filter(|s| s.kind == kind && is_event(s) && accepts(&s.text))
            .map(|&sentence| (sentence, newness(sentence, &known)))
            .filter(|&(_, new)| new >= MIN_NEW_SHARE)
            // On a tie, this keeps the first sentence. `max_by` would keep the last.
            .fold(None::<(&Sentence, f64)>, |best, next| match best {
                Some(best) if weight(best) >= weight(next) => Some(best),
                _ => Some(next),
            })
            .map(|(sentence, _)| sentence)
    };
    let event = |of: &Sentence, event: String, actor: String, category: &str| Event {
        event,
        actor,
        category: category.to_owned(),
        passage: corpus.passages[of.passage].id.clone(),
    };
    let mut found = Vec::new();
    if let Some(sentence) = newest(PassageKind::Prose, |_| true) {
        let text = &sentence.text;
        found.push(event(sentence, shorten(text), actor(text), category(text)));
    } else if let Some(sentence) = newest(PassageKind::Objects, |_| true) {
        let text = &sentence.text;
        let actor = if text.contains(" and ") { String::new() } else { actor(text) };
        let category = match category(text) {
            "movement" => "movement",
            _ => "appearance",
        };
        found.push(event(sentence, as_appearance(&shorten(text)), actor, category));
    }
    if let Some(sentence) =
        newest(PassageKind::Screen, is_title).or_else(|| newest(PassageKind::Screen, |_| true))
    {
        let text = limit_words(strip_final_marks(&sentence.text));
        let text = format!("The text “{text}” appears on screen.");
        found.push(event(sentence, text, String::new(), "text"));
    }
    if let Some(sentence) = newest(PassageKind::Speech, |_| true) {
        let said = shorten(&sentence.text);
        let speaker = sentence.speaker.clone().unwrap_or_default();
        let who = if speaker.is_empty() { "A voice" } else { &speaker };
        let text = format!("{who} says: “{said}”");
        found.push(event(sentence, text, speaker.clone(), "speech"));
    }
    // The appearance of the scene is an event only if nothing else is known about the video.
    let bare = corpus.sentences.iter().all(Sentence::is_scenery);
    let picture = here.iter().find(|s| bare && newness(s, &known) >= MIN_NEW_SHARE);
    if let (true, Some(sentence)) = (found.is_empty(), picture) {
        // The first scene is the start of the video, not a change.
        let opens = before.is_empty() && corpus.places > 1;
        let text = shorten(&sentence.text);
        let text = if opens { text } else { as_scene_change(&text) };
        found.push(event(sentence, text, String::new(), "scene"));
    }
    found
}

/// Returns whether a sentence can be an event. Speech must be long enough and probably recognised
/// correctly. On-screen text must be new and must not be a notice.
fn is_event(sentence: &Sentence) -> bool {
    match sentence.kind {
        PassageKind::Speech => {
            sentence.length > 3 && !sentence.stems.is_empty() && sentence.doubt <= MAX_DOUBT
        }
        PassageKind::Screen => sentence.repeats.is_none() && !is_notice(&sentence.text),
        _ => true,
    }
}

/// Turns "A car is in view" into "A car appears".
fn as_appearance(text: &str) -> String {
    let seen = [(" is in view.", " appears."), (" are in view.", " appear.")];
    let change =
        seen.iter().find_map(|(seen, new)| Some(format!("{}{new}", text.strip_suffix(seen)?)));
    change.unwrap_or_else(|| text.to_owned())
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
