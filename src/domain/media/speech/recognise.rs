//! Recognises the speech of a video piece by piece: as much at once as the recogniser takes well,
//! cut at pauses. Pieces that have been recognised are kept, so that a crash pays for none twice.

use std::sync::Arc;

use async_trait::async_trait;
use futures::{FutureExt, StreamExt, TryStreamExt, stream};
use ports::decoder::SAMPLE_RATE;
use ports::transcriber::{Transcriber, Transcript, Word};

use crate::domain::kernel::error::{Error, Result};
use crate::domain::kernel::time::Span;
use crate::domain::media::speech::{Sound, Words};

/// Speech closer than this is heard in one piece: recognisers do better with context.
const JOINED_PAUSE: f64 = 1.0;

/// Heard before and after a piece: the ends of words are soft. Seconds.
const MARGIN: f64 = 0.2;

/// The quietest moment this long is where speech without a pause is cut, seconds.
const BREATH: f64 = 0.1;

/// Keeps the words of pieces that have been recognised.
#[async_trait]
pub(crate) trait TranscriptCache: Send + Sync {
    /// The words of a piece by that recogniser, if they are kept.
    async fn get(&self, piece: Span, recogniser: &str) -> Result<Option<Transcript>>;

    /// Keeps the words of a piece.
    async fn put(&self, piece: Span, recogniser: &str, transcript: &Transcript) -> Result<()>;
}

/// What recognising works with.
pub(crate) struct Recognition<'a> {
    pub(crate) transcriber: &'a dyn Transcriber,
    pub(crate) cache: &'a dyn TranscriptCache,
    pub(crate) sound: &'a Arc<Sound>,
    /// Pieces recognised at once.
    pub(crate) concurrency: usize,
}

impl Recognition<'_> {
    /// The words where speech is. `step` is told how many of how many pieces are done.
    pub(crate) async fn run(&self, spans: &[Span], step: impl Fn(usize, usize)) -> Result<Words> {
        let pieces = self.pieces(spans.to_vec()).await?;
        step(0, pieces.len());
        let work: Vec<_> = pieces.iter().map(|piece| self.piece(*piece).boxed()).collect();
        let mut heard = stream::iter(work).buffered(self.concurrency.max(1));
        let mut words: Vec<Word> = Vec::new();
        let mut languages: Vec<(String, usize)> = Vec::new();
        let mut done = 0;
        while let Some((offset, transcript)) = heard.try_next().await? {
            if let Some(language) = transcript.language {
                match languages.iter_mut().find(|(l, _)| *l == language) {
                    Some((_, count)) => *count += transcript.words.len(),
                    None => languages.push((language, transcript.words.len())),
                }
            }
            words.extend(transcript.words.into_iter().map(|w| Word {
                start: milliseconds(w.start + offset),
                end: milliseconds(w.end + offset),
                ..w
            }));
            done += 1;
            step(done, pieces.len());
        }
        let language = languages.into_iter().max_by_key(|(_, count)| *count).map(|(l, _)| l);
        Ok(Words { recogniser: self.transcriber.model().to_owned(), language, words })
    }

    /// What to recognise at once, with a margin where there is room.
    async fn pieces(&self, spans: Vec<Span>) -> Result<Vec<Span>> {
        let max = self.transcriber.max_seconds() - 2.0 * MARGIN;
        let sound = self.sound.clone();
        let pieces = tokio::task::spawn_blocking(move || {
            pieces(&spans, max, |from, to| {
                let offset = quietest(&sound.read_blocking(from, to)?);
                Ok(offset.map_or(to, |offset| from + offset))
            })
        });
        let pieces =
            pieces.await.map_err(|e| Error::corrupt(format!("cutting panicked: {e}")))??;
        let before = [0.0].into_iter().chain(pieces.iter().map(|p| p.end));
        let after = pieces.iter().skip(1).map(|p| p.start).chain([f64::INFINITY]);
        Ok(pieces
            .iter()
            .zip(before.zip(after))
            .map(|(piece, (before, after))| Span {
                start: (piece.start - MARGIN).max(before),
                end: (piece.end + MARGIN).min(after),
            })
            .collect())
    }

    /// The words of a piece, with its start.
    async fn piece(&self, piece: Span) -> Result<(f64, Transcript)> {
        let recogniser = self.transcriber.model();
        if let Some(cached) = self.cache.get(piece, recogniser).await? {
            return Ok((piece.start, cached));
        }
        let samples = self.sound.read(piece.start, piece.end).await?;
        let transcript = self.transcriber.transcribe(&samples).await?;
        self.cache.put(piece, recogniser, &transcript).await?;
        Ok((piece.start, transcript))
    }
}

fn milliseconds(seconds: f64) -> f64 {
    (seconds * 1000.0).round() / 1000.0
}

/// Speech in pieces of at most `max` seconds: neighbours joined, longer speech cut where `cut` says
/// between two times.
fn pieces(spans: &[Span], max: f64, cut: impl Fn(f64, f64) -> Result<f64>) -> Result<Vec<Span>> {
    let max = max.max(1.0);
    let mut pieces: Vec<Span> = Vec::new();
    for span in spans {
        let mut rest = *span;
        while rest.seconds() > max {
            let end = cut(rest.start + 0.6 * max, rest.start + max)?;
            pieces.push(Span { start: rest.start, end });
            rest.start = end;
        }
        match pieces.last_mut() {
            Some(last) if rest.start - last.end < JOINED_PAUSE && rest.end - last.start <= max => {
                last.end = rest.end;
            }
            _ => pieces.push(rest),
        }
    }
    Ok(pieces)
}

/// The middle of the quietest moment, seconds from the first sample.
fn quietest(samples: &[f32]) -> Option<f64> {
    let length = (BREATH * f64::from(SAMPLE_RATE)) as usize;
    let energy = |moment: &[f32]| moment.iter().map(|s| s * s).sum::<f32>();
    let moments = samples.windows(length).step_by(length / 2).enumerate();
    let (place, _) = moments.min_by(|a, b| energy(a.1).total_cmp(&energy(b.1)))?;
    Some((place * (length / 2) + length / 2) as f64 / f64::from(SAMPLE_RATE))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn speech_is_joined_up_to_the_limit_and_cut_beyond_it() {
        let span = |start, end| Span { start, end };
        let spans = [span(0.0, 4.0), span(4.5, 9.0), span(9.4, 12.0), span(20.0, 45.0)];
        let cut = |from: f64, _| Ok(from + 1.0);
        let pieces = pieces(&spans, 10.0, cut).expect("pieces");
        assert_eq!(
            pieces,
            [
                span(0.0, 9.0),
                span(9.4, 12.0),
                span(20.0, 27.0),
                span(27.0, 34.0),
                span(34.0, 41.0),
                span(41.0, 45.0)
            ]
        );
    }

    #[test]
    fn the_quietest_moment_is_found() {
        let mut samples = vec![0.5; SAMPLE_RATE as usize];
        samples[8000..9600].fill(0.01);
        let found = quietest(&samples).expect("a moment");
        assert!((found - 0.55).abs() < 0.03, "{found}");
        assert_eq!(quietest(&[]), None);
    }
}
