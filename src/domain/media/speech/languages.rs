//! In which language each stretch of speech is. A pack is heard in the language that it sounds like;
//! where that is unsure, the language of the rest of the video may make more of it.

use ports::transcriber::Word;
use serde::{Deserialize, Serialize};

use super::middle;
use super::recognise::{Piece, Recognition, confidence};
use crate::domain::kernel::error::Result;
use crate::domain::kernel::time::{Span, rounded};

/// A language this probable is taken for the one that is spoken.
const SURE: f32 = 0.5;

/// In less speech languages sound too much alike, seconds.
const SURE_SECONDS: f64 = 3.0;

/// Speech in one language, where a video has several.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LanguageSpan {
    /// When it begins and ends, seconds of the video.
    #[serde(flatten)]
    pub span: Span,
    /// ISO 639-1 code; `None` for speech that the recogniser does not understand, which has no words.
    pub language: Option<String>,
}

/// The language with most probable words.
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

/// Where each language is spoken, of pieces in order of start; nothing where there is one alone, and all of it
/// is understood.
pub(super) fn language_spans(pieces: &[&Piece]) -> Vec<LanguageSpan> {
    let mut spans: Vec<LanguageSpan> = Vec::new();
    for piece in pieces.iter().filter(|piece| piece.unclear || !piece.words.is_empty()) {
        let language = piece.understood();
        let Span { start, end } = piece.pack.whole();
        let span = Span { start: rounded(start), end: rounded(end) };
        match spans.last_mut() {
            Some(last) if last.language == language => last.span.end = span.end.max(last.span.end),
            _ => spans.push(LanguageSpan { span, language }),
        }
    }
    let several = spans.len() > 1 || pieces.iter().any(|piece| piece.unclear);
    if several { spans } else { Vec::new() }
}

impl Piece {
    /// Whether its language need not be doubted.
    fn is_sure(&self) -> bool {
        let probable = self.probability.is_none_or(|probability| probability >= SURE);
        probable && self.pack.seconds() >= SURE_SECONDS
    }

    /// Drops what nobody understands: words that are improbable in a language that is improbable.
    fn doubt(&mut self, min_confidence: f32) {
        let improbable = self.probability.is_some_and(|probability| probability < SURE);
        if improbable && !self.words.is_empty() && self.confidence() < min_confidence {
            self.unclear = true;
            self.words.clear();
        }
    }

    /// Its language, where there are words of it.
    fn understood(&self) -> Option<String> {
        self.language.clone().filter(|_| !self.unclear)
    }

    /// Mean confidence of the words within a span, 0..1; 0 of none.
    fn confidence_in(&self, span: Span) -> f32 {
        let within = |word: &&Word| (span.start..span.end).contains(&middle(word));
        let words: Vec<Word> = self.words.iter().filter(within).cloned().collect();
        confidence(&words)
    }

    /// Gives the sound and the words of another piece away.
    fn give(&mut self, other: &Self) {
        let taken = other.pack.whole();
        self.pack = self.pack.without(taken);
        self.words.retain(|word| !(taken.start..taken.end).contains(&middle(word)));
    }
}

impl Recognition<'_> {
    /// Has pieces of an unsure language heard in that of the video as well, and leaves the words that
    /// are more probable; marks those that are improbable in either.
    pub(super) async fn settle_languages(&self, pieces: &mut [Piece], main: &str) -> Result<()> {
        for piece in pieces {
            let other = piece.language.as_deref().is_some_and(|language| language != main);
            if other && !piece.is_sure() {
                let again = self.hear(piece.pack.clone(), Some(main)).await?;
                if again.confidence() >= piece.confidence() {
                    *piece = Piece { probability: piece.probability, ..again };
                }
            }
            piece.doubt(self.min_confidence);
        }
        Ok(())
    }

    /// Looks for the pause at which the language changes where two pieces differ: a pack may end with
    /// the beginning of the other language.
    pub(super) async fn find_changes(&self, pieces: Vec<Piece>) -> Result<Vec<Piece>> {
        let mut found: Vec<Piece> = Vec::with_capacity(pieces.len());
        for mut piece in pieces {
            let Some(before) = found.last_mut() else {
                found.push(piece);
                continue;
            };
            let (Some(earlier), Some(later)) = (before.understood(), piece.understood()) else {
                found.push(piece);
                continue;
            };
            if earlier != later {
                let mut tail = self.take(before, &later, Edge::End).await?;
                tail.reverse();
                let head = self.take(&mut piece, &earlier, Edge::Start).await?;
                found.extend(tail.into_iter().chain(head));
            }
            found.push(piece);
        }
        Ok(found)
    }

    /// Takes regions in a language from one edge of a piece, from there inwards; one is left.
    async fn take(&self, piece: &mut Piece, language: &str, edge: Edge) -> Result<Vec<Piece>> {
        let mut regions = piece.pack.regions(self.spans);
        let mut taken = Vec::new();
        while regions.len() > 1 {
            let region = match edge {
                Edge::Start => regions.remove(0),
                Edge::End => regions.remove(regions.len() - 1),
            };
            let alone = self.hear(piece.pack.around(region), None).await?;
            let likelier = alone.confidence() >= piece.confidence_in(alone.pack.whole());
            let other = alone.words.is_empty() || alone.language.as_deref() != Some(language);
            if other || !likelier {
                break;
            }
            piece.give(&alone);
            taken.push(alone);
        }
        Ok(taken)
    }
}

/// Of a piece, in time.
#[derive(Debug, Clone, Copy)]
enum Edge {
    Start,
    End,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::media::speech::packs::Pack;

    fn piece(start: f64, language: &str, count: usize, probability: f32) -> Piece {
        let word = |at| Word { text: "w".into(), start: at, end: at + 0.5, confidence: 0.4 };
        Piece {
            pack: Pack(vec![Span { start, end: start + 10.0 }]),
            language: Some(language.into()),
            probability: Some(probability),
            words: (0..count).map(|at| word(start + at as f64)).collect(),
            unclear: false,
        }
    }

    #[test]
    fn the_language_of_most_probable_words_wins() {
        let pieces = [piece(0.0, "en", 10, 0.3), piece(10.0, "de", 8, 0.45)];
        assert_eq!(main_language(pieces.iter()).as_deref(), Some("de"));
        assert_eq!(main_language([piece(0.0, "cy", 0, 0.9)].iter()), None, "nothing is said");
    }

    #[test]
    fn languages_are_listed_where_there_are_several() {
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
        pieces.iter_mut().for_each(|piece| piece.doubt(0.5));
        let (english, german) = (Some("en".to_owned()), Some("de".to_owned()));
        let expected = [(0.0, 20.0, english), (20.0, 30.0, german), (30.0, 40.0, None)];
        assert_eq!(spans(&pieces), expected, "French is neither probable nor understood");
        assert_eq!(spans(&pieces[3..]).len(), 1);
    }
}
