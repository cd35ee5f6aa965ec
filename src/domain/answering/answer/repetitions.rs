//! Finds sentences of an answer that say the same, such as speech and a description that quotes it.

use text::{Token, tokens};

use crate::answering::audit::AuditedSentence;
use crate::kernel::verdict::Verdict;

/// Maximum number of sentences in an answer.
const MAX_SENTENCES: usize = 3;

/// Minimum number of words of a sentence that another one repeats. Shorter ones, such as `Yes.`, occur
/// in many sentences.
const MIN_WORDS: usize = 3;

/// Drops the supported sentences that repeat a better one, and those after the first few. Sentences
/// are sorted, best first. If a description quotes speech, the speech is kept, since it names the
/// speaker.
pub(super) fn without_repetitions(audit: Vec<AuditedSentence>) -> Vec<AuditedSentence> {
    let mut kept: Vec<AuditedSentence> = Vec::with_capacity(audit.len());
    let mut supported = 0;
    for sentence in audit {
        if sentence.verdict == Verdict::Unsupported {
            kept.push(sentence);
            continue;
        }
        let is_known = |one: &&mut AuditedSentence| {
            one.verdict != Verdict::Unsupported && is_repetition(&one.sentence, &sentence.sentence)
        };
        match kept.iter_mut().find(is_known) {
            Some(known)
                if is_description(&known.sentence) && !is_description(&sentence.sentence) =>
            {
                *known = sentence;
            }
            Some(_) => {}
            None if supported == MAX_SENTENCES => {}
            None => {
                supported += 1;
                kept.push(sentence);
            }
        }
    }
    kept
}

/// Whether one of two sentences contains what the other one quotes.
fn is_repetition(one: &str, other: &str) -> bool {
    let repeats = |all: &str, part: &str| {
        let part = quotation(part);
        tokens(part).len() >= MIN_WORDS && quotes(all, part)
    };
    repeats(one, other) || repeats(other, one)
}

/// What a sentence quotes, or the sentence if it quotes nothing.
pub(super) fn quotation(sentence: &str) -> &str {
    let inside = sentence.split_once('“').and_then(|(_, rest)| rest.rsplit_once('”'));
    inside.map_or(sentence, |(inside, _)| inside)
}

/// Whether a sentence describes what somebody says or what is on screen, instead of quoting only.
fn is_description(sentence: &str) -> bool {
    let before = sentence.split('“').next().unwrap_or_default();
    before.trim_end().ends_with("says:") || before.trim_end().ends_with("On screen:")
}

/// Whether a sentence contains the words of `text` in sequence. Ignores punctuation, since
/// on-screen lines are joined by commas in descriptions and by semicolons elsewhere.
pub(super) fn quotes(sentence: &str, text: &str) -> bool {
    let (own, said) = (tokens(sentence), tokens(text));
    let is_same = |(a, b): (&Token<'_>, &Token<'_>)| a.lower == b.lower;
    let found = own.windows(said.len().max(1)).any(|window| window.iter().zip(&said).all(is_same));
    if said.is_empty() { sentence.contains(text) } else { found }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sentence_is_kept_once() {
        let sentence = |sentence: &str, verdict| AuditedSentence {
            sentence: sentence.to_owned(),
            citations: Vec::new(),
            moments: Vec::new(),
            verdict,
        };
        let all = [
            ("A voice says: “A cold dip restores health.”", Verdict::Supported),
            ("A cold dip restores health.", Verdict::Unsupported),
            ("S1: “A cold dip restores health.”", Verdict::Supported),
            ("S2: “Does it?”", Verdict::Supported),
            ("S1: “Yes.”", Verdict::Supported),
            ("S1: “Tea helps, too.”", Verdict::Supported),
        ];
        let all = all.map(|(text, verdict)| sentence(text, verdict)).to_vec();
        let kept: Vec<String> =
            without_repetitions(all).into_iter().map(|kept| kept.sentence).collect();
        assert_eq!(
            kept,
            [
                "S1: “A cold dip restores health.”",
                "A cold dip restores health.",
                "S2: “Does it?”",
                "S1: “Yes.”",
            ]
        );
    }

    #[test]
    fn quotes_compares_words_without_punctuation() {
        let sentence = "On screen: “11:15 ROSA'S KITCHEN, Fish soup for 60”.";
        assert!(quotes(sentence, "11:15 ROSA'S KITCHEN; Fish soup for 60"));
        assert!(quotes(sentence, "Fish soup"));
        assert!(!quotes(sentence, "Fish soup for 6"));
        assert!(!quotes(sentence, "soup for the kitchen"));
        assert!(!quotes("Soup.", "On screen: soup"));
    }
}
