//! Patterns of questions. A pattern is a sequence of elements that together match all words of a
//! question: `how many different? @people @speak`.
//!
//! | element | matches |
//! |---|---|
//! | `word` or `one|other` | one of these words |
//! | `@class` | one of the phrases of a class |
//! | `*` | one or more words, as few as possible; they are captured |
//! | any of these and `?` | the same or nothing |

use std::ops::Range;

use super::classes::CLASSES;

/// The words that the captures of a pattern match, by index.
pub(in crate::answering) type Captures = Vec<Range<usize>>;

/// Matches a pattern against all words, which are in lower case.
pub(in crate::answering) fn captures(pattern: &str, words: &[&str]) -> Option<Captures> {
    let elements: Vec<&str> = pattern.split_whitespace().collect();
    let mut found = Captures::new();
    matches(&elements, words, 0, &mut found).then_some(found)
}

/// Matches elements against the words from index `at` on, and adds captures to `found`.
fn matches(elements: &[&str], words: &[&str], at: usize, found: &mut Captures) -> bool {
    let Some((&element, rest)) = elements.split_first() else { return at == words.len() };
    let (element, is_optional) = match element.strip_suffix('?') {
        Some(element) => (element, true),
        None => (element, false),
    };
    if element == "*" {
        for end in at + 1..=words.len() {
            found.push(at..end);
            if matches(rest, words, end, found) {
                return true;
            }
            found.pop();
        }
    } else {
        let lengths = lengths(element, &words[at..]);
        if lengths.into_iter().any(|length| matches(rest, words, at + length, found)) {
            return true;
        }
    }
    is_optional && matches(rest, words, at, found)
}

/// The numbers of words that an element may match at the beginning of `words`.
fn lengths(element: &str, words: &[&str]) -> Vec<usize> {
    let Some(class) = element.strip_prefix('@') else {
        let is_next = element.split('|').any(|word| words.first() == Some(&word));
        return if is_next { vec![1] } else { Vec::new() };
    };
    let phrases = CLASSES.iter().filter(|(name, _)| *name == class);
    let phrases = phrases.flat_map(|(_, all)| all.split("; "));
    let length = |phrase: &str| {
        let mut count = 0;
        let begins = phrase.split_whitespace().all(|word| {
            count += 1;
            words.get(count - 1) == Some(&word)
        });
        begins.then_some(count)
    };
    phrases.filter_map(length).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_match_all_words_and_capture() {
        let captured = |pattern: &str, text: &str| {
            let words: Vec<&str> = text.split_whitespace().collect();
            let found = captures(pattern, &words)?;
            Some(found.into_iter().map(|range| words[range].join(" ")).collect::<Vec<_>>())
        };
        let of = |texts: &[&str]| Some(texts.iter().map(|&t| t.to_owned()).collect::<Vec<_>>());
        assert_eq!(captured("how many|few dogs", "how few dogs"), of(&[]));
        assert_eq!(captured("how many|few dogs", "how few dogs bark"), None);
        assert_eq!(captured("a? * barks loudly?", "a big dog barks"), of(&["big dog"]));
        assert_eq!(captured("is * or *", "is a or b or c"), of(&["a", "b or c"]));
        assert_eq!(captured("who @speak", "who takes turns"), None);
        assert_eq!(captured("they @speak", "they take turns"), of(&[]));
    }

    #[test]
    fn every_class_in_use_exists() {
        for (pattern, _) in super::super::grammar::RULES {
            let used = pattern.split_whitespace().filter_map(|word| word.strip_prefix('@'));
            for class in used.map(|class| class.trim_end_matches('?')) {
                assert!(CLASSES.iter().any(|(name, _)| *name == class), "{class} in {pattern}");
            }
        }
    }
}
