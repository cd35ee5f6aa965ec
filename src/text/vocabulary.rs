//! Word classes: function words, stop words, negations and framing words, all in lower case.

use std::collections::HashSet;
use std::sync::LazyLock;

use crate::stem;

/// Whether a word is a function word, which carries no meaning on its own.
pub fn is_function_word(lower: &str) -> bool {
    // Stored vectors give `beside` a weight, so it must not become a stop word.
    FUNCTION_WORDS.contains(lower) || lower == "beside"
}

/// Whether a word is a stop word: a function word, or another word that says nothing about the
/// topic (`anyone`, `actually`, `said`, `not`). Stored vectors depend on this list, so it must not
/// change.
pub fn is_stop_word(lower: &str) -> bool {
    static MORE: LazyLock<HashSet<&str>> =
        LazyLock::new(|| include_str!("vocabulary/stop_words.txt").split_whitespace().collect());
    FUNCTION_WORDS.contains(lower) || MORE.contains(lower)
}

static FUNCTION_WORDS: LazyLock<HashSet<&str>> =
    LazyLock::new(|| include_str!("vocabulary/function_words.txt").split_whitespace().collect());

/// Whether a word is an article.
pub fn is_article(lower: &str) -> bool {
    matches!(lower, "a" | "an" | "the")
}

/// Whether a word is a negation.
pub fn is_negation(lower: &str) -> bool {
    const NEGATIONS: &[&str] = &[
        "no", "not", "never", "none", "nobody", "nothing", "nowhere", "neither", "nor", "without",
        "cannot",
    ];
    NEGATIONS.contains(&lower) || lower.ends_with("n't")
}

/// Whether a word, in any form, refers to the footage itself or to reporting rather than to the
/// content.
pub fn is_framing(lower: &str) -> bool {
    static FRAMING: LazyLock<HashSet<String>> = LazyLock::new(|| {
        let words = [
            "video", "footage", "clip", "scene", "shot", "screen", "text", "caption", "title",
            "speech", "voice", "speaker", "narrator", "moment", "segment", "say", "speak", "show",
            "hear", "mention", "see", "appear", "read", "state", "describe", "visible", "second",
            "sec", "minute", "yes",
        ];
        words.into_iter().map(stem).collect()
    });
    FRAMING.contains(&stem(lower))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn word_classes_are_recognised() {
        // Function word, stop word, negation, framing.
        for (word, expected) in [
            ("the", [true, true, false, false]),
            ("beside", [true, false, false, false]),
            ("anyone", [false, true, false, false]),
            ("not", [false, true, true, false]),
            ("doesn't", [false, true, true, false]),
            ("says", [false, true, false, true]),
            ("seen", [false, true, false, true]),
            ("clips", [false, false, false, true]),
            ("door", [false, false, false, false]),
        ] {
            let found =
                [is_function_word(word), is_stop_word(word), is_negation(word), is_framing(word)];
            assert_eq!(found, expected, "{word}");
        }
    }

    #[test]
    fn stop_words_stay_the_same() {
        let lists = [
            include_str!("vocabulary/function_words.txt"),
            include_str!("vocabulary/stop_words.txt"),
        ];
        let mut all: Vec<&str> = lists.iter().flat_map(|list| list.split_whitespace()).collect();
        all.sort_unstable();
        let letters: usize = all.iter().map(|word| word.len()).sum();
        assert_eq!((all.len(), letters), (330, 1542));
        all.dedup();
        assert_eq!(all.len(), 330, "none is in both lists");
    }
}
