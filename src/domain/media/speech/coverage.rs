//! Recovers speech that a recogniser skipped. In long audio, a neural network may transcribe
//! repeated words only once. Each region of speech that is left without words is therefore
//! recognised again, separately.

use ports::transcriber::Word;
use text::letters_and_digits;

use super::distance;
use super::piece::{Piece, Recognition};
use crate::kernel::error::Result;
use crate::kernel::time::Span;

/// Minimum length of a region that is recognised again, in seconds. Shorter regions without words
/// are coughs or laughs.
const MIN_REGION: f64 = 0.4;

impl Recognition<'_> {
    /// Recognises each region of a piece again, separately, if the region has no words.
    pub(super) async fn complete(&self, piece: &mut Piece) -> Result<()> {
        let regions = piece.pack.regions(self.spans);
        if piece.words.is_empty() || regions.len() < 2 {
            return Ok(());
        }
        let mut words_by_region = by_region(&regions, std::mem::take(&mut piece.words));
        for at in 0..regions.len() {
            if !words_by_region[at].is_empty() || regions[at].seconds() < MIN_REGION {
                continue;
            }
            let alone = self.recognise_region(piece, regions[at]).await?;
            if alone.words.is_empty() || alone.confidence() < self.min_confidence {
                continue;
            }
            // The words may already have been assigned to a neighbouring region.
            for near in [at.checked_sub(1), Some(at + 1)].into_iter().flatten() {
                if words_by_region.get(near).is_some_and(|words| extends(words, &alone.words)) {
                    let repeated = self.recognise_region(piece, regions[near]).await?;
                    if !repeated.words.is_empty() {
                        words_by_region[near] = repeated.words;
                    }
                }
            }
            words_by_region[at] = alone.words;
        }
        piece.words = words_by_region.concat();
        piece.words.sort_by(|a, b| a.start.total_cmp(&b.start));
        Ok(())
    }

    async fn recognise_region(&self, piece: &Piece, region: Span) -> Result<Piece> {
        self.recognise(piece.pack.around(region), piece.language.as_deref()).await
    }
}

/// Assigns words to the nearest region.
fn by_region(regions: &[Span], words: Vec<Word>) -> Vec<Vec<Word>> {
    let mut words_by_region = vec![Vec::new(); regions.len()];
    for word in words {
        let away = |region: &Span| distance(*region, &word);
        let nearest =
            (0..regions.len()).min_by(|a, b| away(&regions[*a]).total_cmp(&away(&regions[*b])));
        if let Some(nearest) = nearest {
            words_by_region[nearest].push(word);
        }
    }
    words_by_region
}

/// Whether `words` begins or ends with `others` and contains more words.
fn extends(words: &[Word], others: &[Word]) -> bool {
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
        let words_by_region =
            by_region(&regions, [words("Breathe in.", 1.2), words("Breathe", 6.6)].concat());
        assert_eq!(words_by_region.iter().map(Vec::len).collect::<Vec<_>>(), [2, 0, 1]);
    }

    #[test]
    fn words_of_a_neighbouring_region_are_detected() {
        for (near, alone, expected) in [
            ("Okay, let's go.", "Okay.", true),
            ("I said okay", "Okay.", true),
            ("What's the weather like?", "What's the weather like?", false),
            ("Let's go.", "Okay.", false),
            ("Okay.", "Okay, let's go.", false),
        ] {
            assert_eq!(extends(&words(near, 0.0), &words(alone, 9.0)), expected, "{near}");
        }
    }
}
