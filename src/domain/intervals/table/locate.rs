//! Finds the time at which a text is said or shown.

use text::{letters_and_digits, tokens};

use super::{IntervalTable, SpokenWords};
use crate::intervals::set::{Interval, Milliseconds};
use crate::kernel::time::Span;

/// Number of words that must follow one another to find the beginning of a sentence.
const WORDS: usize = 4;

impl IntervalTable {
    /// Returns the time, in seconds, at which a text begins to be said or shown in a part of the
    /// video; `None` if it is not found.
    pub(crate) fn time_of(&self, text: &str, span: Span) -> Option<f64> {
        let part = Interval::from(span);
        let words: Vec<String> =
            tokens(text).into_iter().take(WORDS).map(|token| token.lower).collect();
        let said = self.speech.iter().flatten();
        let said = said.filter_map(|channel| self.time_spoken(channel, &words, part)).min();
        let time = said.or_else(|| self.time_shown(text, part))?;
        Some(f64::from(time) / 1000.0)
    }

    /// When a channel says these words one after another.
    fn time_spoken(
        &self,
        channel: &SpokenWords,
        words: &[String],
        part: Interval,
    ) -> Option<Milliseconds> {
        if words.is_empty() {
            return None;
        }
        let inside = channel.words.iter().filter(|word| word.interval.overlaps(part));
        let said: Vec<(String, Milliseconds)> = inside
            .flat_map(|word| {
                let start = word.interval.start;
                tokens(self.strings.get(word.text)).into_iter().map(move |t| (t.lower, start))
            })
            .collect();
        let is_found = |window: &&[(String, Milliseconds)]| {
            window.iter().zip(words).all(|((said, _), word)| said == word)
        };
        said.windows(words.len()).find(is_found).map(|window| window[0].1)
    }

    /// When the first line that the text contains comes on screen.
    fn time_shown(&self, text: &str, part: Interval) -> Option<Milliseconds> {
        let letters = letters_and_digits(text);
        let lines = self.lines.lines.iter().filter(|line| line.interval.overlaps(part));
        let contained = lines.filter(|line| {
            let line = letters_and_digits(self.strings.get(line.text));
            !line.is_empty() && letters.contains(&line)
        });
        contained.map(|line| line.interval.start).min()
    }
}
