//! Speech that a recogniser passed over. Heard with much else, a network may write repeated words
//! once; each stretch of speech between pauses that got no words is heard again by itself.

use ports::transcriber::Word;
use text::letters_and_digits;

use super::distance;
use super::recognise::{Piece, Recognition};
use crate::domain::kernel::error::Result;
use crate::domain::kernel::time::Span;

/// Shorter speech without words is a cough or a laugh, seconds.
const SHORTEST: f64 = 0.4;

impl Recognition<'_> {
    /// Has regions of a piece that lack words heard by themselves.
    pub(super) async fn complete(&self, piece: &mut Piece) -> Result<()> {
        let regions = piece.pack.regions(self.spans);
        if piece.words.is_empty() || regions.len() < 2 {
            return Ok(());
        }
        let mut said = by_region(&regions, std::mem::take(&mut piece.words));
        for at in 0..regions.len() {
            if !said[at].is_empty() || regions[at].seconds() < SHORTEST {
                continue;
            }
            let alone = self.hear_region(piece, regions[at]).await?;
            if alone.words.is_empty() || alone.confidence() < self.min_confidence {
                continue;
            }
            // The words may have been placed in a region nearby.
            for near in [at.checked_sub(1), Some(at + 1)].into_iter().flatten() {
                if said.get(near).is_some_and(|words| holds_more(words, &alone.words)) {
                    let again = self.hear_region(piece, regions[near]).await?;
                    if !again.words.is_empty() {
                        said[near] = again.words;
                    }
                }
            }
            said[at] = alone.words;
        }
        piece.words = said.concat();
        piece.words.sort_by(|a, b| a.start.total_cmp(&b.start));
        Ok(())
    }

    async fn hear_region(&self, piece: &Piece, region: Span) -> Result<Piece> {
        self.hear(piece.pack.around(region), piece.language.as_deref()).await
    }
}

/// The words of each region: those that are nearest to it.
fn by_region(regions: &[Span], words: Vec<Word>) -> Vec<Vec<Word>> {
    let mut said = vec![Vec::new(); regions.len()];
    for word in words {
        let away = |region: &Span| distance(*region, &word);
        let nearest =
            (0..regions.len()).min_by(|a, b| away(&regions[*a]).total_cmp(&away(&regions[*b])));
        if let Some(nearest) = nearest {
            said[nearest].push(word);
        }
    }
    said
}

/// Whether words begin or end with others and are more than these.
fn holds_more(words: &[Word], others: &[Word]) -> bool {
    let letters = |words: &[Word]| -> Vec<String> {
        words.iter().map(|word| letters_and_digits(&word.text)).collect()
    };
    let (words, others) = (letters(words), letters(others));
    words.len() > others.len() && (words.starts_with(&others) || words.ends_with(&others))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str, start: f64) -> Vec<Word> {
        let word = |(at, text): (usize, &str)| {
            let start = start + 0.3 * at as f64;
            Word { text: text.into(), start, end: start + 0.3, confidence: 0.9 }
        };
        text.split(' ').enumerate().map(word).collect()
    }

    #[test]
    fn words_belong_to_the_nearest_region() {
        let regions = [(1.0, 2.0), (4.0, 5.0), (7.0, 8.0)].map(|(start, end)| Span { start, end });
        let said = by_region(&regions, [words("Breathe in.", 1.2), words("Breathe", 6.6)].concat());
        assert_eq!(said.iter().map(Vec::len).collect::<Vec<_>>(), [2, 0, 1]);
    }

    #[test]
    fn words_that_may_be_those_of_a_region_nearby_are_found() {
        for (near, alone, expected) in [
            ("Okay, let's go.", "Okay.", true),
            ("I said okay", "Okay.", true),
            ("What's the weather like?", "What's the weather like?", false),
            ("Let's go.", "Okay.", false),
            ("Okay.", "Okay, let's go.", false),
        ] {
            assert_eq!(holds_more(&words(near, 0.0), &words(alone, 9.0)), expected, "{near}");
        }
    }
}
