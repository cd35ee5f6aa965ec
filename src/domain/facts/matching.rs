//! Compares words and labels with what a video says, reads and shows.

use text::kinds::is_a;
use text::things::stands_for;
use text::{Token, letters_and_digits, stem, tokens};

/// Minimum number of letters of a text that counts if it occurs inside a line without spaces.
const MIN_LETTERS: usize = 5;

/// Whether a label names a thing of the kind `name`, which is in lower case.
pub(crate) fn is_named(label: &str, name: &str) -> bool {
    let (one, other) = (stem(&label.to_lowercase()), stem(name));
    is_a(label, name) || one == other || stands_for(&other, &one)
}

/// A word of a text, ready to be compared.
pub(crate) trait WordText {
    /// The word in lower case.
    fn lower(&self) -> &str;
    /// The stem of the word, as of [`text::stem`].
    fn stem(&self) -> &str;
}

impl WordText for Token<'_> {
    fn lower(&self) -> &str {
        &self.lower
    }

    fn stem(&self) -> &str {
        Token::stem(self)
    }
}

/// A word to find.
#[derive(Debug, Clone, PartialEq, Eq)]
struct SearchWord {
    lower: String,
    stem: String,
}

impl SearchWord {
    /// Whether a word is this word or another form of it.
    fn is_form(&self, word: &impl WordText) -> bool {
        word.lower() == self.lower || word.stem() == self.stem
    }

    /// Whether a word is a form of this word or, if this word is long, contains it. Texts on screen
    /// are often read without spaces.
    fn occurs_in(&self, word: &impl WordText) -> bool {
        let is_long = self.lower.chars().count() >= MIN_LETTERS;
        let is_inside = || is_long && word.lower().contains(self.lower.as_str());
        self.is_form(word) || is_inside()
    }
}

/// The words of a phrase to find in speech or on screen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PhraseMatcher {
    words: Vec<SearchWord>,
    /// Whether the words must occur as they are, one after another.
    is_exact: bool,
    /// The letters and digits of all words.
    letters: String,
}

impl PhraseMatcher {
    /// Creates a matcher for words in lower case. If `is_exact` is not set, other forms of the words
    /// match as well.
    pub(crate) fn new(words: &[String], is_exact: bool) -> Self {
        let word = |lower: &String| SearchWord { stem: stem(lower), lower: lower.clone() };
        let letters = letters_and_digits(&words.concat());
        Self { words: words.iter().map(word).collect(), is_exact, letters }
    }

    /// Whether a text contains the phrase: exact words one after another, other words in any order.
    pub(crate) fn occurs_in(&self, text: &str) -> bool {
        self.occurs_among(&tokens(text))
    }

    fn occurs_among(&self, there: &[impl WordText]) -> bool {
        if self.is_exact {
            return self.starts(there).next().is_some();
        }
        let occurs = |word: &SearchWord| there.iter().any(|other| word.occurs_in(other));
        !self.words.is_empty() && self.words.iter().all(occurs)
    }

    /// Finds where the words follow one another in a text; returns the index of the first word of
    /// each place. The words or, unless they are exact, other forms of them must occur.
    pub(crate) fn starts<W: WordText>(&self, there: &[W]) -> impl Iterator<Item = usize> {
        let length = self.words.len();
        let is_same = |(word, other): (&SearchWord, &W)| self.is_same(word, other);
        let is_match = move |part: &[W]| self.words.iter().zip(part).all(is_same);
        let ends = (there.len() + 1).saturating_sub(length.max(1));
        let ends = if length == 0 { 0 } else { ends };
        (0..ends).filter(move |at| is_match(&there[*at..at + length]))
    }

    /// The number of words.
    pub(crate) fn len(&self) -> usize {
        self.words.len()
    }

    /// The stems of the words. The words of a place that [`Self::starts`] finds have the same stems.
    pub(crate) fn stems(&self) -> impl Iterator<Item = &str> {
        self.words.iter().map(|word| word.stem.as_str())
    }

    /// Whether any of several lines may contain the phrase, given their distinct words and all their
    /// letters and digits. If not, none does.
    pub(crate) fn may_show(
        &self,
        mut distinct: impl Iterator<Item = impl WordText>,
        letters: &str,
    ) -> bool {
        let is_long = self.letters.chars().count() >= MIN_LETTERS;
        (is_long && letters.contains(&self.letters))
            || distinct.any(|other| self.words.iter().any(|word| word.occurs_in(&other)))
    }

    /// Whether a line on screen contains the phrase. Lines are often read without spaces, and one
    /// letter of a long word may be wrong if another word is right.
    pub(crate) fn shows(&self, line: &str) -> bool {
        self.shows_words(&tokens(line), &letters_and_digits(line))
    }

    /// Returns how many words of the phrase have been read when a line follows lines that show the
    /// first `read` words; `None` if the line does not continue the phrase. The first line ends with
    /// its part of the phrase, those in between consist of theirs, and the last one begins with it.
    pub(crate) fn continued_by(
        &self,
        read: usize,
        there: &[impl WordText],
        line_letters: &str,
    ) -> Option<usize> {
        let is_same = |(word, other): (&SearchWord, _)| self.is_same(word, other);
        let rest = self.words.get(read..).filter(|rest| !rest.is_empty())?;
        if read == 0 {
            let most = there.len().min(rest.len().saturating_sub(1));
            let ends_with =
                |count: &usize| rest.iter().zip(&there[there.len() - count..]).all(is_same);
            return (1..=most).rev().find(ends_with);
        }
        let is_start = rest.iter().zip(there).all(is_same);
        let letters: String = rest.iter().map(|word| word.lower.as_str()).collect();
        let is_run_together =
            letters.chars().count() >= MIN_LETTERS && line_letters.starts_with(&letters);
        let count = there.len().min(rest.len());
        match is_start && count > 0 {
            true => Some(read + count),
            false => is_run_together.then_some(self.words.len()),
        }
    }

    fn is_same(&self, word: &SearchWord, other: &impl WordText) -> bool {
        match self.is_exact {
            true => other.lower() == word.lower,
            false => word.is_form(other),
        }
    }

    /// Does the same as [`Self::shows`], given the words and the [`letters_and_digits`] of a line.
    pub(crate) fn shows_words(&self, there: &[impl WordText], line_letters: &str) -> bool {
        let is_long = self.letters.chars().count() >= MIN_LETTERS;
        if self.occurs_among(there) || (is_long && line_letters.contains(&self.letters)) {
            return true;
        }
        let is_right = |word: &&SearchWord| there.iter().any(|other| word.occurs_in(other));
        let is_misread = |word: &SearchWord| {
            let is_long = word.lower.chars().count() > MIN_LETTERS;
            is_long
                && word.lower.chars().all(char::is_alphabetic)
                && there.iter().any(|other| strsim::levenshtein(&word.lower, other.lower()) <= 1)
        };
        let (right, wrong): (Vec<&SearchWord>, Vec<&SearchWord>) =
            self.words.iter().partition(is_right);
        !right.is_empty() && wrong.into_iter().all(is_misread)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matcher(phrase: &str, is_exact: bool) -> PhraseMatcher {
        let words: Vec<String> = tokens(phrase).into_iter().map(|token| token.lower).collect();
        PhraseMatcher::new(&words, is_exact)
    }

    #[test]
    fn words_occur_in_the_forms_of_the_text_crate() {
        let texts = ["cars", "went", "cart", "SPEEDLIMIT45", "landing", "planet", "Žluťoučký"];
        for word in ["car", "go", "art", "limit", "speed", "land", "lands", "plane", "žluťoučký"]
        {
            for text in texts {
                let expected = text::occurs(word, &tokens(text));
                assert_eq!(matcher(word, false).occurs_in(text), expected, "{word} in {text}");
            }
        }
    }

    #[test]
    fn phrases_are_found_where_their_words_follow_one_another() {
        let starts = |phrase: &str, is_exact: bool, text: &str| -> Vec<usize> {
            matcher(phrase, is_exact).starts(&tokens(text)).collect()
        };
        let text = "the dog saw two dogs, and the dogs saw the dog";
        assert_eq!(starts("the dog", true, text), [0, 9]);
        assert_eq!(starts("the dog", false, text), [0, 6, 9]);
        assert_eq!(starts("cat", false, text), [0_usize; 0]);
        assert_eq!(starts("", false, text), [0_usize; 0]);
        assert_eq!(starts("dog and a cat", true, "dog"), [0_usize; 0]);
    }

    #[test]
    fn a_phrase_continues_from_line_to_line() {
        for (phrase, lines, expected) in [
            ("rue de londres", &["RUE", "DE LONDRES"][..], Some(3)),
            ("rue de londres", &["RUE", "DELONDRES 7"], Some(3)),
            ("rue de londres", &["RUE", "DE", "LONDRES"], Some(3)),
            ("the rue de londres", &["In the rue", "de Londres 7"], Some(4)),
            ("rue de londres", &["DE LONDRES", "RUE"], None),
            ("red car", &["RED BULL", "CAR PARK"], None),
            ("in it", &["BERLIN", "ITALY"], None),
        ] {
            let mut read = Some(0);
            for line in lines {
                let letters = letters_and_digits(line);
                read = read.and_then(|read| {
                    matcher(phrase, false).continued_by(read, &tokens(line), &letters)
                });
            }
            assert_eq!(read, expected, "{phrase}: {lines:?}");
        }
    }

    #[test]
    fn lines_on_screen_may_lack_spaces_or_have_a_wrong_letter() {
        for (phrase, is_exact, line, expected) in [
            ("speed limit", false, "SPEEDLIMIT45", true),
            ("sale software", false, "FOR SALE, Soffware", true),
            ("software", false, "FOR SALE, Soffware", false),
            ("exit 46", true, "EXIT 45", false),
            ("proof", false, "Proofs of the theorem", true),
            ("sign", false, "de", false),
        ] {
            assert_eq!(matcher(phrase, is_exact).shows(line), expected, "{phrase}: {line}");
        }
    }
}
