//! Determines the language of each piece of speech. A pack is recognised in its detected language.
//! If that language is uncertain, recognition in the main language of the video may give better
//! results.

use ports::transcriber::Word;
use serde::{Deserialize, Serialize};

use super::middle;
use super::piece::{Piece, Recognition, confidence};
use crate::kernel::error::Result;
use crate::kernel::time::{Span, rounded};

/// A detected language counts as certain if its probability is at least this value.
const MIN_PROBABILITY: f32 = 0.5;

/// Minimum length of speech, in seconds, for its detected language to count as certain.
const MIN_SECONDS: f64 = 3.0;

/// A span of speech in one language, if a video has several.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LanguageSpan {
    /// The span, with times in seconds from the start of the video.
    #[serde(flatten)]
    pub span: Span,
    /// ISO 639-1 code of the language; `None` for unintelligible speech, which has no words.
    pub language: Option<String>,
}

/// Returns the language with the highest total word probability.
pub(super) fn main_language<'a>(pieces: impl Iterator<Item = &'a Piece>) -> Option<String> {
    let mut languages: Vec<(&str, f32)> = Vec::new();
    for piece in pieces.filter(|piece| !piece.words.is_empty()) {
        let Some(language) = piece.language.as_deref() else { continue };
        let likely: f32 = piece.words.iter().map(|word| word.confidence).sum();
        let weight = likely * piece.probability.unwrap_or(1.0);
        match languages.iter_mut().find(|(known, _)| *known == language) {
            Some((_, sum)) => *sum += weight,
            None => languages.push((language, weight)),
        }
    }
    languages.into_iter().max_by(|a, b| a.1.total_cmp(&b.1)).map(|(language, _)| language.into())
}

/// Finds the spans in each language. `pieces` is in order of start. Returns no spans if there is
/// only one language and all speech is intelligible.
pub(super) fn language_spans(pieces: &[&Piece]) -> Vec<LanguageSpan> {
    let mut spans: Vec<LanguageSpan> = Vec::new();
    for piece in pieces.iter().filter(|piece| piece.unintelligible || !piece.words.is_empty()) {
        let language = piece.intelligible_language();
        let Span { start, end } = piece.pack.whole();
        let span = Span { start: rounded(start), end: rounded(end) };
        match spans.last_mut() {
            Some(last) if last.language == language => last.span.end = span.end.max(last.span.end),
            _ => spans.push(LanguageSpan { span, language }),
        }
    }
    let several = spans.len() > 1 || pieces.iter().any(|piece| piece.unintelligible);
    if several { spans } else { Vec::new() }
}

impl Piece {
    /// Whether the language of the piece is certain.
    fn is_language_certain(&self) -> bool {
        let probable = self.probability.is_none_or(|probability| probability >= MIN_PROBABILITY);
        probable && self.pack.seconds() >= MIN_SECONDS
    }

    /// Drops the words if they are improbable in a language that is also improbable, and marks the
    /// speech as unintelligible.
    fn drop_unintelligible(&mut self, min_confidence: f32) {
        let improbable = self.probability.is_some_and(|probability| probability < MIN_PROBABILITY);
        if improbable && !self.words.is_empty() && self.confidence() < min_confidence {
            self.unintelligible = true;
            self.words.clear();
        }
    }

    /// Returns the language if the speech is intelligible.
    fn intelligible_language(&self) -> Option<String> {
        self.language.clone().filter(|_| !self.unintelligible)
    }

    /// Returns the mean confidence of the words within a span, 0..1, or 0 if there are none.
    fn confidence_in(&self, span: Span) -> f32 {
        let within = |word: &&Word| (span.start..span.end).contains(&middle(word));
        let words: Vec<Word> = self.words.iter().filter(within).cloned().collect();
        confidence(&words)
    }

    /// Removes the audio and the words that `other` contains.
    fn remove(&mut self, other: &Self) {
        let removed = other.pack.whole();
        self.pack = self.pack.without(removed);
        self.words.retain(|word| !(removed.start..removed.end).contains(&middle(word)));
    }
}

impl Recognition<'_> {
    /// Recognises pieces whose language is uncertain again in the main language, and keeps the more
    /// probable words. Pieces that are improbable in both languages are marked as unintelligible.
    pub(super) async fn resolve_languages(&self, pieces: &mut [Piece], main: &str) -> Result<()> {
        for piece in pieces {
            let other = piece.language.as_deref().is_some_and(|language| language != main);
            if other && !piece.is_language_certain() {
                let again = self.recognise(piece.pack.clone(), Some(main)).await?;
                if again.confidence() >= piece.confidence() {
                    *piece = Piece { probability: piece.probability, ..again };
                }
            }
            piece.drop_unintelligible(self.min_confidence);
        }
        Ok(())
    }

    /// Moves the boundary between two pieces in different languages to the pause at which the
    /// language changes. This is necessary because a pack may end with the beginning of the next
    /// language or begin with the end of the previous one.
    pub(super) async fn split_at_changes(&self, pieces: Vec<Piece>) -> Result<Vec<Piece>> {
        let mut found: Vec<Piece> = Vec::with_capacity(pieces.len());
        for mut piece in pieces {
            let Some(before) = found.last_mut() else {
                found.push(piece);
                continue;
            };
            let (Some(earlier), Some(later)) =
                (before.intelligible_language(), piece.intelligible_language())
            else {
                found.push(piece);
                continue;
            };
            if earlier != later {
                let mut tail = self.split_off(before, &later, Edge::End).await?;
                tail.reverse();
                let head = self.split_off(&mut piece, &earlier, Edge::Start).await?;
                found.extend(tail.into_iter().chain(head));
            }
            found.push(piece);
        }
        Ok(found)
    }

    /// Splits off regions in `language` from a piece, starting at one edge. Leaves at least one
    /// region.
    async fn split_off(&self, piece: &mut Piece, language: &str, edge: Edge) -> Result<Vec<Piece>> {
        let mut regions = piece.pack.regions(self.spans);
        let mut removed = Vec::new();
        while regions.len() > 1 {
            let region = match edge {
                Edge::Start => regions.remove(0),
                Edge::End => regions.remove(regions.len() - 1),
            };
            let alone = self.recognise(piece.pack.around(region), None).await?;
            let is_more_probable = alone.confidence() >= piece.confidence_in(alone.pack.whole());
            let other = alone.words.is_empty() || alone.language.as_deref() != Some(language);
            if other || !is_more_probable {
                break;
            }
            piece.remove(&alone);
            removed.push(alone);
        }
        Ok(removed)
    }
}

/// The start or end of a piece.
#[derive(Debug, Clone, Copy)]
enum Edge {
    Start,
    End,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::media::speech::packs::Pack;

    fn piece(start: f64, language: &str, count: usize, probability: f32) -> Piece {
        let word = |at| Word { text: "w".into(), start: at, end: at + 0.5, confidence: 0.4 };
        Piece {
            pack: Pack(vec![Span { start, end: start + 10.0 }]),
            language: Some(language.into()),
            probability: Some(probability),
            words: (0..count).map(|at| word(start + at as f64)).collect(),
            unintelligible: false,
        }
    }

    #[test]
    fn main_language_has_the_most_probable_words() {
        let pieces = [piece(0.0, "en", 10, 0.3), piece(10.0, "de", 8, 0.45)];
        assert_eq!(main_language(pieces.iter()).as_deref(), Some("de"));
        assert_eq!(main_language([piece(0.0, "cy", 0, 0.9)].iter()), None, "nothing is said");
    }

    #[test]
    fn language_spans_exist_for_several_languages() {
        let mut pieces = [
            piece(0.0, "en", 3, 0.9),
            piece(10.0, "en", 3, 0.9),
            piece(20.0, "de", 3, 0.9),
            piece(30.0, "fr", 3, 0.2),
        ];
        let spans = |pieces: &[Piece]| -> Vec<(f64, f64, Option<String>)> {
            let spans = language_spans(&pieces.iter().collect::<Vec<_>>()).into_iter();
            spans.map(|found| (found.span.start, found.span.end, found.language)).collect()
        };
        assert_eq!(spans(&pieces[..2]), []);
        pieces.iter_mut().for_each(|piece| piece.drop_unintelligible(0.5));
        let (english, german) = (Some("en".to_owned()), Some("de".to_owned()));
        let expected = [(0.0, 20.0, english), (20.0, 30.0, german), (30.0, 40.0, None)];
        assert_eq!(spans(&pieces), expected, "French is neither probable nor understood");
        assert_eq!(spans(&pieces[3..]).len(), 1);
    }
}
