//! Recognises the speech of a video: stretches of speech are packed into as much sound as the
//! recogniser takes well, cut at pauses and without the silence between them. Packs that have been
//! recognised are kept, so that a crash pays for none twice.

use std::sync::Arc;

use async_trait::async_trait;
use futures::{FutureExt, StreamExt, TryStreamExt, stream};
use ports::decoder::SAMPLE_RATE;
use ports::transcriber::{Transcriber, Transcript, Word};

use crate::domain::kernel::error::{Error, Result};
use crate::domain::kernel::time::Span;
use crate::domain::media::speech::{Sound, Words};

/// Shorter pauses are heard as they are: recognisers do better with context.
const KEPT_PAUSE: f64 = 2.0;

/// Heard before and after speech: what tells speech from silence is late for soft beginnings and
/// early for soft ends. Seconds.
const MARGIN: f64 = 0.4;

/// The quietest moment this long is where speech without a pause is cut, seconds.
const BREATH: f64 = 0.1;

/// A language this probable is taken for that of the whole video.
const SURE: f32 = 0.5;

/// Keeps the words of packs that have been recognised.
#[async_trait]
pub(crate) trait TranscriptCache: Send + Sync {
    /// The words between two times by that recogniser, if they are kept.
    async fn get(&self, piece: Span, recogniser: &str) -> Result<Option<Transcript>>;

    /// Keeps the words between two times.
    async fn put(&self, piece: Span, recogniser: &str, transcript: &Transcript) -> Result<()>;
}

/// What recognising works with.
pub(crate) struct Recognition<'a> {
    pub(crate) transcriber: &'a dyn Transcriber,
    pub(crate) cache: &'a dyn TranscriptCache,
    pub(crate) sound: &'a Arc<Sound>,
    /// Packs recognised at once.
    pub(crate) concurrency: usize,
}

/// Stretches of sound that are heard as one, in order, not overlapping.
#[derive(Debug, Clone, PartialEq)]
struct Pack(Vec<Span>);

impl Recognition<'_> {
    /// The words where speech is. `step` is told how many of how many packs are done. The language is
    /// found once, by the first pack that tells it surely, and the others are heard in it.
    pub(crate) async fn run(&self, spans: &[Span], step: impl Fn(usize, usize)) -> Result<Words> {
        let packs = self.packs(spans.to_vec()).await?;
        step(0, packs.len());
        let mut heard: Vec<Transcript> = Vec::with_capacity(packs.len());
        let mut language = None;
        for pack in &packs {
            let transcript = self.pack(pack, None).await?;
            let sure = transcript.language_probability.is_none_or(|p| p >= SURE);
            language = transcript.language.clone().filter(|_| sure);
            heard.push(transcript);
            step(heard.len(), packs.len());
            if language.is_some() {
                break;
            }
        }
        let language = language.or_else(|| likeliest(&heard));
        if let Some(language) = language.as_deref() {
            for (transcript, pack) in heard.iter_mut().zip(&packs) {
                if transcript.language.as_deref().is_some_and(|other| other != language) {
                    *transcript = self.pack(pack, Some(language)).await?;
                }
            }
        }
        let rest = packs[heard.len()..].iter();
        let work: Vec<_> = rest.map(|pack| self.pack(pack, language.as_deref()).boxed()).collect();
        let mut work = stream::iter(work).buffered(self.concurrency.max(1));
        while let Some(transcript) = work.try_next().await? {
            heard.push(transcript);
            step(heard.len(), packs.len());
        }
        drop(work);
        let words = packs.iter().zip(heard).flat_map(|(pack, heard)| pack.placed(heard.words));
        let words = words.collect();
        Ok(Words { recogniser: self.transcriber.model().to_owned(), language, words })
    }

    /// What to recognise at once.
    async fn packs(&self, spans: Vec<Span>) -> Result<Vec<Pack>> {
        let max = self.transcriber.max_seconds();
        let sound = self.sound.clone();
        let packs = tokio::task::spawn_blocking(move || {
            packs(&spans, max, |from, to| {
                let offset = quietest(&sound.read_blocking(from, to)?);
                Ok(offset.map_or(to, |offset| from + offset))
            })
        });
        packs.await.map_err(|e| Error::corrupt(format!("cutting panicked: {e}")))?
    }

    /// The words of a pack, in seconds of its sound.
    async fn pack(&self, pack: &Pack, language: Option<&str>) -> Result<Transcript> {
        let language_key = language.unwrap_or("any language");
        let parts = pack.0.iter().map(|part| format!("{:.3}-{:.3}", part.start, part.end));
        let parts = parts.collect::<Vec<_>>().join(" ");
        let recogniser = format!("{} {language_key} {parts}", self.transcriber.model());
        let whole = pack.whole();
        if let Some(cached) = self.cache.get(whole, &recogniser).await? {
            return Ok(cached);
        }
        let mut samples = Vec::new();
        for part in &pack.0 {
            samples.extend(self.sound.read(part.start, part.end).await?);
        }
        let transcript = self.transcriber.transcribe(&samples, language).await?;
        self.cache.put(whole, &recogniser, &transcript).await?;
        Ok(transcript)
    }
}

impl Pack {
    /// From the first moment to the last.
    fn whole(&self) -> Span {
        let start = self.0.first().map_or(0.0, |part| part.start);
        Span { start, end: self.0.last().map_or(start, |part| part.end) }
    }

    fn seconds(&self) -> f64 {
        self.0.iter().map(Span::seconds).sum()
    }

    /// Words in seconds of the pack's sound, in seconds of the video: each within the part that
    /// holds its middle.
    fn placed(&self, words: Vec<Word>) -> Vec<Word> {
        let mut parts = Vec::with_capacity(self.0.len());
        let mut before = 0.0;
        for part in &self.0 {
            parts.push((before, part));
            before += part.seconds();
        }
        let place = |word: Word| {
            let middle = (word.start + word.end) / 2.0;
            let after = parts.partition_point(|(before, _)| *before <= middle).max(1);
            let (before, part) = parts.get(after - 1)?;
            let at = |time: f64| (part.start + time - before).clamp(part.start, part.end);
            let (start, end) = (milliseconds(at(word.start)), milliseconds(at(word.end)));
            Some(Word { start, end, ..word })
        };
        words.into_iter().filter_map(place).collect()
    }
}

/// The language with most probable words.
fn likeliest(heard: &[Transcript]) -> Option<String> {
    let mut languages: Vec<(&str, f32)> = Vec::new();
    for transcript in heard {
        let Some(language) = transcript.language.as_deref() else { continue };
        let weight = transcript.words.len() as f32 * transcript.language_probability.unwrap_or(1.0);
        match languages.iter_mut().find(|(known, _)| *known == language) {
            Some((_, sum)) => *sum += weight,
            None => languages.push((language, weight)),
        }
    }
    languages.into_iter().max_by(|a, b| a.1.total_cmp(&b.1)).map(|(language, _)| language.into())
}

fn milliseconds(seconds: f64) -> f64 {
    (seconds * 1000.0).round() / 1000.0
}

/// Speech in packs of at most `max` seconds: stretches with their margins, joined over short pauses;
/// what is longer than a pack is cut between its spans or, without a pause, where `cut` says between
/// two times.
fn packs(spans: &[Span], max: f64, cut: impl Fn(f64, f64) -> Result<f64>) -> Result<Vec<Pack>> {
    let max = max.max(1.0 + 2.0 * MARGIN);
    let mut stretches: Vec<Span> = Vec::new();
    for span in spans {
        let mut rest = *span;
        while rest.seconds() > max - 2.0 * MARGIN {
            let longest = max - 2.0 * MARGIN;
            let end = cut(rest.start + 0.6 * longest, rest.start + longest)?;
            stretches.push(Span { start: rest.start, end });
            rest.start = end;
        }
        stretches.push(rest);
    }
    // Half of a pause at most, so that nothing is heard twice.
    let before = [f64::NEG_INFINITY].into_iter().chain(stretches.iter().map(|s| s.end));
    let after = stretches.iter().skip(1).map(|s| s.start).chain([f64::INFINITY]);
    let mut packs: Vec<Pack> = Vec::new();
    for (stretch, (before, after)) in stretches.iter().zip(before.zip(after)) {
        let start = (stretch.start - MARGIN).max((before + stretch.start) / 2.0).max(0.0);
        let part = Span { start, end: (stretch.end + MARGIN).min((stretch.end + after) / 2.0) };
        if let Some(pack) = packs.last_mut() {
            let last = pack.whole().end;
            let joined =
                if part.start - last < KEPT_PAUSE { part.end - last } else { part.seconds() };
            if pack.seconds() + joined <= max {
                match pack.0.last_mut() {
                    Some(open) if part.start - last < KEPT_PAUSE => open.end = part.end,
                    _ => pack.0.push(part),
                }
                continue;
            }
        }
        packs.push(Pack(vec![part]));
    }
    Ok(packs)
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

    fn span(start: f64, end: f64) -> Span {
        Span { start, end }
    }

    fn rounded(packs: Vec<Pack>) -> Vec<Vec<(f64, f64)>> {
        let part = |part: &Span| (milliseconds(part.start), milliseconds(part.end));
        packs.iter().map(|pack| pack.0.iter().map(part).collect()).collect()
    }

    #[test]
    fn speech_is_packed_without_long_silence() {
        let spans = [span(0.2, 2.0), span(2.5, 4.0), span(20.0, 22.0), span(30.0, 34.0)];
        let never = |_, _| panic!("nothing is too long");
        assert_eq!(
            rounded(packs(&spans, 10.0, never).expect("packs")),
            [vec![(0.0, 4.4), (19.6, 22.4)], vec![(29.6, 34.4)]]
        );
        assert!(packs(&[], 10.0, never).expect("none").is_empty());
    }

    #[test]
    fn speech_that_is_too_long_is_cut_without_hearing_anything_twice() {
        let spans = [span(20.0, 45.0), span(45.1, 46.0)];
        let found = packs(&spans, 10.0, |from, _| Ok(from + 1.0)).expect("packs");
        assert!(found.iter().all(|pack| pack.seconds() <= 10.0), "{found:?}");
        let parts: Vec<Span> = found.iter().flat_map(|pack| pack.0.clone()).collect();
        assert_eq!((parts[0].start, parts[parts.len() - 1].end), (19.6, 46.4));
        assert!(parts.windows(2).all(|pair| pair[0].end <= pair[1].start), "{parts:?}");
        let gaps: f64 = parts.windows(2).map(|pair| pair[1].start - pair[0].end).sum();
        assert!(gaps < 0.01, "nothing is left out: {parts:?}");
    }

    #[test]
    fn words_are_placed_in_the_video() {
        let pack = Pack(vec![span(1.0, 3.0), span(10.0, 12.0)]);
        let word = |start, end| Word { text: "w".into(), start, end, confidence: 1.0 };
        let words = vec![word(0.0, 0.5), word(1.8, 2.1), word(1.9, 2.4), word(3.5, 9.0)];
        let placed: Vec<_> = pack.placed(words).iter().map(|w| (w.start, w.end)).collect();
        assert_eq!(placed, [(1.0, 1.5), (2.8, 3.0), (10.0, 10.4), (11.5, 12.0)]);
        assert!(Pack(Vec::new()).placed(vec![word(0.0, 1.0)]).is_empty());
    }

    #[test]
    fn the_language_of_most_probable_words_wins() {
        let heard = |language: &str, count: usize, probability| Transcript {
            language: Some(language.into()),
            language_probability: Some(probability),
            words: vec![Word { text: "w".into(), start: 0.0, end: 0.1, confidence: 1.0 }; count],
        };
        let all = [heard("en", 10, 0.3), heard("de", 8, 0.45), Transcript::default()];
        assert_eq!(likeliest(&all).as_deref(), Some("de"));
        assert_eq!(likeliest(&[]), None);
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
