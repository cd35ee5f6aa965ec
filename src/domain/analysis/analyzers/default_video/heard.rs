//! What is heard, told as a person tells it: who speaks, and the sentence that says most.

use ports::transcriber::Word;
use text::{is_stop_word, words};

use crate::domain::analysis::evidence::ChunkEvidence;
use crate::domain::kernel::time::Span;
use crate::domain::media::speech::Utterance;

/// Less is a shout or a mistake, seconds.
const TELLING: f64 = 0.8;

/// Words that a quotation has, at least: fewer are a call or an answer …
const LEAST_WORDS: usize = 4;

/// … and at most: more is no short word on what is said.
const MOST_WORDS: usize = 40;

/// A word is rather right than wrong.
const LIKELY: f32 = 0.5;

/// Of what is quoted no more than one word of meaning in ten is less likely than that.
const DOUBTED: f64 = 0.1;

/// Sentence, tag and the quoted one of one, two and more voices.
pub(super) const VOICES: &[(&str, &str)] = &[
    ("Someone speaks.", "speech"),
    ("Two voices speak in turn.", "conversation"),
    ("Several voices speak in turn.", "conversation"),
];

/// What is heard of voices in a chunk.
pub(super) struct Voices {
    /// How many, one to three and more.
    pub(super) count: usize,
    /// What one of them says.
    pub(super) sentence: Option<String>,
}

/// Who speaks in a chunk, if anybody does.
pub(super) fn voices(chunk: &ChunkEvidence) -> Option<Voices> {
    let (heard, span) = (&chunk.video.speech, chunk.span);
    let within = |s: &Span| (s.end.min(span.end) - s.start.max(span.start)).max(0.0);
    if heard.spans.iter().map(within).sum::<f64>() < TELLING {
        return None;
    }
    let mut speakers: Vec<&str> = heard
        .turns
        .iter()
        .filter(|turn| within(&turn.span) >= TELLING)
        .map(|turn| turn.speaker.as_str())
        .collect();
    speakers.sort_unstable();
    speakers.dedup();
    let count = speakers.len().clamp(1, VOICES.len());
    Some(Voices { count, sentence: quotation(chunk) })
}

/// The sentence that says most of those whose middle lies within the chunk, if its words are likely
/// right.
fn quotation(chunk: &ChunkEvidence) -> Option<String> {
    let speech = &chunk.video.speech;
    let inside = |said: &&Utterance| {
        let middle = (said.start + said.end) / 2.0;
        chunk.span.start <= middle && middle < chunk.span.end
    };
    let weighed = chunk
        .utterances()
        .filter(inside)
        .filter_map(|said| Some((weight(&speech.words_in(said.span()))?, said)));
    // Of equals the first.
    let best = weighed.reduce(|best, next| if best.0 >= next.0 { best } else { next });
    best.map(|(_, said)| said.text.clone())
}

/// How much a sentence says: its words of meaning, as far as they are likely; nothing of one that is
/// too short, too long or doubtful.
fn weight(sentence: &[&Word]) -> Option<f32> {
    if !(LEAST_WORDS..=MOST_WORDS).contains(&sentence.len()) {
        return None;
    }
    let meant: Vec<f32> = sentence
        .iter()
        .filter(|word| words(&word.text).iter().any(|part| !is_stop_word(&part.lower)))
        .map(|word| word.confidence)
        .collect();
    let doubted = meant.iter().filter(|confidence| **confidence < LIKELY).count();
    let likely = doubted as f64 <= DOUBTED * meant.len() as f64;
    (likely && !meant.is_empty()).then(|| meant.iter().sum())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn weight_of(text: &str, confidence: impl Fn(&str) -> f32) -> Option<f32> {
        let word = |text: &str| {
            let confidence = confidence(text);
            Word { text: text.into(), start: 0.0, end: 0.1, confidence }
        };
        let words: Vec<Word> = text.split(' ').map(word).collect();
        weight(&words.iter().collect::<Vec<_>>())
    }

    #[test]
    fn a_sentence_weighs_by_its_likely_words_of_meaning() {
        const TEXT: &str = "Mr. Quilter opened the harbour in June.";
        let sure = weight_of(TEXT, |_| 0.9).expect("a sentence");
        assert!(sure > weight_of("We went to the harbour.", |_| 0.9).expect("another"));
        assert_eq!(weight_of("It is what it is.", |_| 0.9), None, "nothing of meaning");
        assert_eq!(weight_of("The harbour.", |_| 0.9), None, "hardly a sentence");
        let misheard = |word: &str| if word == "Quilter" { 0.2 } else { 0.9 };
        assert_eq!(weight_of(TEXT, misheard), None);
        assert_eq!(weight_of(TEXT, |_| 0.4), None, "noise");
        assert_eq!(weight_of(&"harbour ".repeat(60), |_| 0.9), None, "no short word on it");
    }
}
