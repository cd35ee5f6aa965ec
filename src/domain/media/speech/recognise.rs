//! Recognises a video's speech pack by pack, with a separate language for each pack. If each
//! channel has its own voice, recognises the channels separately.

use futures::{FutureExt, StreamExt, TryStreamExt, stream};
use ports::transcriber::Word;

use super::piece::{Piece, Recognition};
use super::{Words, languages};
use crate::kernel::error::{Error, Result};

/// Recognises all speech in the mix or on each channel. Calls `step` with the number of completed
/// packs and the total number of packs.
pub(crate) async fn recognise(
    sources: &[Recognition<'_>],
    step: impl Fn(usize, usize),
) -> Result<Words> {
    let mut recognised = first_pass(sources, step).await?;
    // If there is little speech on one channel, it is most likely in the other channel's language.
    if let Some(language) = languages::main_language(recognised.iter().flatten()) {
        for (source, pieces) in sources.iter().zip(&mut recognised) {
            source.resolve_languages(pieces, &language).await?;
        }
    }
    for (source, pieces) in sources.iter().zip(&mut recognised) {
        *pieces = source.split_at_changes(std::mem::take(pieces)).await?;
        source.complete_all(pieces).await?;
    }
    // Unintelligible words have been dropped, so their language no longer counts.
    let language = languages::main_language(recognised.iter().flatten());
    let mut all: Vec<&Piece> = recognised.iter().flatten().collect();
    if recognised.len() > 1 {
        all.sort_by(|a, b| a.pack.whole().start.total_cmp(&b.pack.whole().start));
    }
    let languages = languages::language_spans(&all);
    let words = |pieces: Vec<Piece>| pieces.into_iter().flat_map(|piece| piece.words).collect();
    let mut channels: Vec<Vec<Word>> = recognised.into_iter().map(words).collect();
    let words = if channels.len() == 1 { channels.remove(0) } else { Vec::new() };
    let recogniser = sources.first().map_or("", |source| source.transcriber.model()).to_owned();
    Ok(Words { recogniser, language, languages, words, channels })
}

/// Transcribes every pack of every source in the language detected in that pack. Returns the pieces
/// for each source.
async fn first_pass(
    sources: &[Recognition<'_>],
    step: impl Fn(usize, usize),
) -> Result<Vec<Vec<Piece>>> {
    let mut work = Vec::new();
    for (number, source) in sources.iter().enumerate() {
        for pack in source.packs(source.spans.to_vec()).await? {
            let recognised =
                async move { Ok::<_, Error>((number, source.recognise(pack, None).await?)) };
            work.push(recognised.boxed());
        }
    }
    let count = work.len();
    step(0, count);
    let concurrency = sources.first().map_or(1, |source| source.concurrency.max(1));
    let mut work = stream::iter(work).buffered(concurrency);
    let mut recognised: Vec<Vec<Piece>> = sources.iter().map(|_| Vec::new()).collect();
    let mut done = 0;
    while let Some((number, piece)) = work.try_next().await? {
        recognised[number].push(piece);
        done += 1;
        step(done, count);
    }
    Ok(recognised)
}

impl Recognition<'_> {
    async fn complete_all(&self, pieces: &mut [Piece]) -> Result<()> {
        let completing = pieces.iter_mut().map(|piece| self.complete(piece).boxed());
        let completing: Vec<_> = completing.collect();
        let completing = stream::iter(completing).buffer_unordered(self.concurrency.max(1));
        completing.try_collect::<()>().await
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use async_trait::async_trait;
    use ports::decoder::SAMPLE_RATE;
    use ports::transcriber::{Transcriber, Transcript};

    use super::*;
    use crate::kernel::time::Span;
    use crate::media::speech::SoundWriter;
    use crate::media::speech::piece::TranscriptCache;

    /// A fake that recognises "one two." in every stretch of audio, in a language determined by its
    /// loudness. If there are more than two stretches, it skips those after the second. Words are
    /// improbable in Welsh and in any language other than that of the stretch.
    struct FakeTranscriber {
        /// The probability that it reports for each language.
        probability: f32,
    }

    const LOUDNESS: [(&str, f32); 2] = [("en", 0.25), ("de", 0.5)];

    fn language_by_loudness(loudness: f32) -> &'static str {
        LOUDNESS
            .iter()
            .find(|(_, level)| (level - loudness).abs() < 0.1)
            .map_or("cy", |known| known.0)
    }

    #[async_trait]
    impl Transcriber for FakeTranscriber {
        fn model(&self) -> &str {
            "forgetful"
        }

        fn max_seconds(&self) -> f64 {
            30.0
        }

        async fn transcribe(
            &self,
            samples: &[f32],
            language: Option<&str>,
        ) -> ports::Result<Transcript> {
            let seconds = |sample: usize| sample as f64 / f64::from(SAMPLE_RATE);
            let mut stretches: Vec<(f64, f64, &str)> = Vec::new();
            let mut at = 0;
            for run in samples.chunk_by(|a, b| (*a == 0.0) == (*b == 0.0)) {
                if run[0] != 0.0 {
                    let end = seconds(at + run.len());
                    stretches.push((seconds(at), end, language_by_loudness(run[0])));
                }
                at += run.len();
            }
            let longest =
                |a: &&(f64, f64, &str), b: &&(f64, f64, &str)| (a.1 - a.0).total_cmp(&(b.1 - b.0));
            let sounds_like = stretches.iter().max_by(longest).map_or("en", |found| found.2);
            let spoken = language.unwrap_or(sounds_like);
            let words = stretches.iter().take(2).flat_map(|(start, end, own)| {
                let middle = f64::midpoint(*start, *end);
                let confidence = if *own == spoken && spoken != "cy" { 0.9 } else { 0.3 };
                let word =
                    |text: &str, start, end| Word { text: text.into(), start, end, confidence };
                [word("one", *start, middle), word("two.", middle, *end)]
            });
            Ok(Transcript {
                language: Some(spoken.to_owned()),
                language_probability: Some(self.probability),
                words: words.collect(),
            })
        }
    }

    struct NoCache;

    #[async_trait]
    impl TranscriptCache for NoCache {
        async fn get(&self, _: Span, _: &str) -> Result<Option<Transcript>> {
            Ok(None)
        }

        async fn put(&self, _: Span, _: &str, _: &Transcript) -> Result<()> {
            Ok(())
        }
    }

    /// Returns the words recognised in stretches of speech with these lengths and loudnesses, 2 s
    /// apart.
    async fn words(speech: &[(f64, f32)], probability: f32) -> Words {
        let folder = tempfile::tempdir().expect("a folder");
        let mut writer = SoundWriter::create(folder.path()).expect("a writer");
        let (mut spans, mut at) = (Vec::new(), 0.0);
        let samples = |seconds: f64| (seconds * f64::from(SAMPLE_RATE)) as usize;
        for (seconds, loudness) in speech {
            writer.push(&vec![*loudness; samples(*seconds)]).expect("room");
            writer.push(&vec![0.0; samples(2.0)]).expect("room");
            spans.push(Span { start: at, end: at + seconds });
            at += seconds + 2.0;
        }
        let recognition = Recognition {
            transcriber: &FakeTranscriber { probability },
            cache: &NoCache,
            sound: &Arc::new(writer.finish().expect("a sound")),
            spans: &spans,
            concurrency: 1,
            min_confidence: 0.5,
        };
        recognise(&[recognition], |_, _| ()).await.expect("words")
    }

    fn starts(words: &Words) -> Vec<f64> {
        words.words.iter().step_by(2).map(|word| word.start).collect()
    }

    #[tokio::test]
    async fn skipped_speech_is_recovered() {
        let words = words(&[(1.0, 0.25); 7], 0.9).await;
        assert_eq!(starts(&words), [0.0, 3.0, 6.0, 9.0, 12.0, 15.0, 18.0]);
        assert_eq!(words.words.len(), 14, "no word is doubled");
        assert_eq!(words.language.as_deref(), Some("en"));
        assert_eq!(words.languages, []);
    }

    #[tokio::test]
    async fn packs_are_recognised_in_their_own_language() {
        // The first pack ends with one second in the language of the next pack.
        let words = words(&[(22.0, 0.25), (1.0, 0.5), (20.0, 0.5)], 0.9).await;
        assert_eq!(starts(&words), [0.0, 24.0, 27.0]);
        assert!(words.words.iter().all(|word| word.confidence == 0.9), "{words:?}");
        let codes: Vec<_> = words.languages.iter().map(|l| l.language.as_deref()).collect();
        assert_eq!(codes, [Some("en"), Some("de")]);
        let change = &words.languages[1].span;
        assert!((change.start - 23.6).abs() < 1e-6, "{change:?}");
    }

    #[tokio::test]
    async fn unintelligible_speech_is_marked() {
        let mixed = [(20.0, 0.25), (20.0, 0.9)];
        let words = words(&mixed, 0.3).await;
        assert_eq!(starts(&words), [0.0], "{words:?}");
        let codes: Vec<_> = words.languages.iter().map(|l| l.language.as_deref()).collect();
        assert_eq!(codes, [Some("en"), None]);
    }
}
