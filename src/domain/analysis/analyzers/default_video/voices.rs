//! Summarizes the speech in a chunk: the number of voices, and the most informative sentence.

use ports::transcriber::Word;
use text::{is_stop_word, words};

use crate::analysis::evidence::ChunkEvidence;
use crate::media::speech::Utterance;

/// Minimum duration of speech, in seconds; anything shorter is a shout or a detection error.
const MIN_SPEECH: f64 = 0.8;

/// Minimum number of words in a quotation; a shorter sentence is an exclamation or a brief answer.
const MIN_WORDS: usize = 4;

/// Maximum number of words in a quotation.
const MAX_WORDS: usize = 40;

/// A word with at least this confidence is more likely to be right than wrong.
const MIN_CONFIDENCE: f32 = 0.6;

/// Maximum share of a quotation's content words whose confidence may be below [`MIN_CONFIDENCE`].
const MAX_DOUBTFUL_SHARE: f64 = 0.1;

/// Sentence and tag for one voice, two voices, and three or more.
pub(super) const VOICES: &[(&str, &str)] = &[
    ("Someone speaks.", "speech"),
    ("Two people speak.", "conversation"),
    ("Several people speak.", "conversation"),
];

/// The voices of a chunk.
pub(super) struct VoiceSummary {
    /// Number of voices, capped at 3.
    pub(super) count: usize,
    /// The most informative sentence, if one is worth quoting.
    pub(super) sentence: Option<String>,
}

/// Whether voice activity was detected in a chunk.
pub(super) fn has_voice_activity(chunk: &ChunkEvidence) -> bool {
    chunk.video.speech.spans.iter().map(|s| s.overlap(&chunk.span)).sum::<f64>() >= MIN_SPEECH
}

/// Summarizes the voices of a chunk. Returns `None` without voice activity, and where no word of it
/// was recognised: it is noise, or a voice that nobody understands.
pub(super) fn summarize(chunk: &ChunkEvidence) -> Option<VoiceSummary> {
    let (speech, span) = (&chunk.video.speech, chunk.span);
    let is_wordless = speech.words.is_some() && speech.words_in(span).is_empty();
    if is_wordless || !has_voice_activity(chunk) {
        return None;
    }
    let mut speakers: Vec<&str> = speech
        .turns
        .iter()
        .filter(|turn| turn.span.overlap(&span) >= MIN_SPEECH)
        .map(|turn| turn.speaker.as_str())
        .collect();
    speakers.sort_unstable();
    speakers.dedup();
    let count = speakers.len().clamp(1, VOICES.len());
    Some(VoiceSummary { count, sentence: quotation(chunk) })
}

/// Chooses the most informative sentence whose midpoint lies within the chunk and whose words are
/// likely to be right.
fn quotation(chunk: &ChunkEvidence) -> Option<String> {
    let speech = &chunk.video.speech;
    let inside = |utterance: &&Utterance| {
        let middle = (utterance.start + utterance.end) / 2.0;
        chunk.span.start <= middle && middle < chunk.span.end
    };
    let weighted = chunk
        .utterances()
        .filter(inside)
        .filter_map(|utterance| Some((weight(&speech.words_in(utterance.span()))?, utterance)));
    // Of equally informative sentences, the first wins.
    let best = weighted.reduce(|best, next| if best.0 >= next.0 { best } else { next });
    best.map(|(_, utterance)| utterance.text.clone())
}

/// Computes how informative a sentence is by adding up the confidence of its content words. Returns
/// `None` if the sentence is too short, too long or doubtful.
fn weight(sentence: &[&Word]) -> Option<f32> {
    if !(MIN_WORDS..=MAX_WORDS).contains(&sentence.len()) {
        return None;
    }
    let content: Vec<f32> = sentence
        .iter()
        .filter(|word| words(&word.text).iter().any(|part| !is_stop_word(&part.lower)))
        .map(|word| word.confidence)
        .collect();
    let doubtful = content.iter().filter(|confidence| **confidence < MIN_CONFIDENCE).count();
    let likely = doubtful as f64 <= MAX_DOUBTFUL_SHARE * content.len() as f64;
    (likely && !content.is_empty()).then(|| content.iter().sum())
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
    fn weight_counts_confident_content_words() {
        const TEXT: &str = "Mr. Quilter opened the harbour in June.";
        let confident = weight_of(TEXT, |_| 0.9).expect("a sentence");
        assert!(confident > weight_of("We went to the harbour.", |_| 0.9).expect("another"));
        assert_eq!(weight_of("It is what it is.", |_| 0.9), None, "no content words");
        assert_eq!(weight_of("The harbour.", |_| 0.9), None, "too short");
        let misheard = |word: &str| if word == "Quilter" { 0.2 } else { 0.9 };
        assert_eq!(weight_of(TEXT, misheard), None);
        assert_eq!(weight_of(TEXT, |_| 0.4), None, "noise");
        assert_eq!(weight_of(&"harbour ".repeat(60), |_| 0.9), None, "too long");
    }
}
