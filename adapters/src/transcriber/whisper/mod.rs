//! Whisper and its like on ONNX Runtime: an encoder that listens to 30 s and a decoder that writes
//! down what was said, with timestamps. Exports of Hugging Face's optimum, of any size.

mod decode;
mod mel;
mod network;
mod tokens;

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use ports::{
    ErrorKind, PortError, Result,
    decoder::SAMPLE_RATE,
    transcriber::{Transcriber, Transcript, Word},
};
use serde::de::DeserializeOwned;

use super::sound;
use crate::blocking;
use crate::onnx::Runtime;
use decode::Answer;
use mel::{MelSpectrogram, WINDOW};
use network::Network;
use tokens::Vocabulary;

/// Less sound than this at the end holds no word, samples.
const SHORTEST: usize = SAMPLE_RATE as usize / 10;

/// Which model and how it listens.
#[derive(Debug, Clone, PartialEq)]
pub struct WhisperOptions {
    /// The folder of an export: `encoder_model.onnx`, `decoder_model_merged.onnx` (or
    /// `decoder_model.onnx` and `decoder_with_past_model.onnx`), `tokenizer.json`, `config.json`
    /// and, where there is one, `generation_config.json`.
    pub folder: PathBuf,
    /// The language that is spoken, as `en`; `None` to tell it from the sound.
    pub language: Option<String>,
    /// Threads inside one inference, at least 1.
    pub threads: usize,
}

/// The recogniser. Cheap to clone; one stretch of sound is recognised at a time, on as many threads
/// as it was given.
#[derive(Clone)]
pub struct Whisper {
    listener: Arc<Listener>,
    model: String,
}

struct Listener {
    network: Mutex<Network>,
    vocabulary: Vocabulary,
    mel: MelSpectrogram,
    /// The configured language and its token.
    language: Option<(String, u32)>,
}

impl Whisper {
    /// Opens the files and tries them on silence, so that a model of another kind fails here.
    /// *Blocks*.
    pub fn open(runtime: &Runtime, options: &WhisperOptions) -> Result<Self> {
        let network = Network::open(runtime, &options.folder, options.threads.max(1))?;
        let vocabulary = Vocabulary::open(&options.folder)?;
        let language = match options.language.as_deref() {
            None => None,
            // A model of English alone is not told.
            Some("en") if vocabulary.languages.is_empty() => None,
            Some(wanted) => Some(known(&vocabulary, wanted)?),
        };
        let mel = MelSpectrogram::new(network.shape().num_mel_bins);
        let name = options.folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let listener = Listener { network: Mutex::new(network), vocabulary, mel, language };
        listener.hear(&[0.0; SAMPLE_RATE as usize], None)?;
        Ok(Self { listener: Arc::new(listener), model: name })
    }
}

fn known(vocabulary: &Vocabulary, wanted: &str) -> Result<(String, u32)> {
    let code = if wanted == "jv" { "jw" } else { wanted };
    vocabulary.languages.iter().find(|(known, _)| known == code).cloned().ok_or_else(|| {
        let known: Vec<&str> = vocabulary.languages.iter().map(|(code, _)| code.as_str()).collect();
        let known = if known.is_empty() { "en".to_owned() } else { known.join(", ") };
        let message =
            format!("the speech model does not know the language {wanted:?}; it knows {known}");
        PortError::new(ErrorKind::Invalid, message)
    })
}

/// A JSON file as far as it is needed.
fn json<T: DeserializeOwned>(file: &Path) -> Result<T> {
    if !file.is_file() {
        return Err(PortError::new(ErrorKind::NotFound, format!("no {}", file.display())));
    }
    serde_json::from_slice(&std::fs::read(file)?).map_err(|e| {
        let message = format!("{} is not the one of a Whisper model: {e}", file.display());
        PortError::caused_by(ErrorKind::Invalid, message, e)
    })
}

/// The words of a stretch between two timestamps, seconds of the window.
struct Stretch<'a> {
    start: f64,
    end: f64,
    tokens: &'a [u32],
    probabilities: &'a [f32],
}

impl Listener {
    /// Window by window, each from where the last whole stretch of the one before ended.
    fn transcribe(&self, samples: &[f32]) -> Result<Transcript> {
        let mut transcript = Transcript::default();
        let mut language = self.language.clone();
        let mut from = 0;
        while samples.len() - from >= SHORTEST {
            let window = &samples[from..samples.len().min(from + WINDOW)];
            if !sound::may_hold_speech(window)? {
                from += window.len();
                continue;
            }
            let (answer, spoken) = self.hear(window, language.take())?;
            language = spoken;
            let seconds = window.len() as f64 / f64::from(SAMPLE_RATE);
            let (stretches, heard) = stretches(&answer, &self.vocabulary, seconds);
            let code = language.as_ref().map_or("en", |(code, _)| code.as_str());
            let offset = from as f64 / f64::from(SAMPLE_RATE);
            for stretch in stretches {
                transcript.words.extend(self.words(&stretch, code, offset, offset + seconds));
            }
            from += ((heard * f64::from(SAMPLE_RATE)) as usize).clamp(SHORTEST, window.len());
        }
        // Stretches of one window end where those of the next begin, up to rounding.
        let mut latest = 0.0_f64;
        for word in &mut transcript.words {
            word.start = word.start.max(latest);
            word.end = word.end.max(word.start);
            latest = word.start;
        }
        if !transcript.words.is_empty() {
            transcript.language = match language {
                Some((code, _)) if code == "jw" => Some("jv".to_owned()),
                // Some languages have no code of two letters.
                Some((code, _)) => Some(code).filter(|code| code.len() == 2),
                None => Some("en".to_owned()),
            };
        }
        Ok(transcript)
    }

    /// What is said in a window, and in which language.
    fn hear(
        &self,
        window: &[f32],
        language: Option<(String, u32)>,
    ) -> Result<(Answer, Option<(String, u32)>)> {
        let mel = self.mel.of(window);
        let mut network = self.network.lock().unwrap_or_else(PoisonError::into_inner);
        let states = network.encode(&mel)?;
        let vocabulary = &self.vocabulary;
        let language = match language {
            Some(language) => Some(language),
            None => decode::language(&mut network, &states, vocabulary)?,
        };
        let prompt = prompt(vocabulary, language.as_ref());
        let answer = decode::answer(&mut network, &states, vocabulary, &prompt)?;
        Ok((answer, language))
    }

    /// Words share the time of their stretch by their tokens.
    fn words(&self, stretch: &Stretch<'_>, language: &str, offset: f64, end: f64) -> Vec<Word> {
        let groups = self.vocabulary.words(stretch.tokens, language);
        let step = (stretch.end - stretch.start) / stretch.tokens.len().max(1) as f64;
        let mut before = 0;
        let mut words = Vec::with_capacity(groups.len());
        for group in groups {
            let (from, to) = (before, before + group.len());
            before = to;
            let text = self.vocabulary.text(group).trim().to_owned();
            if text.is_empty() {
                continue;
            }
            let sum: f32 = stretch.probabilities[from..to].iter().sum();
            let at = |token: usize| (offset + stretch.start + step * token as f64).min(end);
            words.push(Word {
                text,
                start: at(from),
                end: at(to),
                confidence: (sum / group.len() as f32).clamp(0.0, 1.0),
            });
        }
        words
    }
}

fn prompt(vocabulary: &Vocabulary, language: Option<&(String, u32)>) -> Vec<u32> {
    match language {
        Some((_, token)) => vec![vocabulary.start, *token, vocabulary.transcribe],
        None => vec![vocabulary.start],
    }
}

/// The stretches of an answer about `seconds` of sound, and how much of it they settle: what comes
/// after the last pair of timestamps is heard again with what follows.
fn stretches<'a>(
    answer: &'a Answer,
    vocabulary: &Vocabulary,
    seconds: f64,
) -> (Vec<Stretch<'a>>, f64) {
    let tokens = &answer.tokens;
    let stamp = |i: usize| tokens.get(i).and_then(|t| vocabulary.seconds(*t));
    let count = tokens.len();
    let mut cuts: Vec<usize> =
        (1..count).filter(|i| stamp(i - 1).is_some() && stamp(*i).is_some()).collect();
    let closed = count >= 2 && stamp(count - 1).is_some() && stamp(count - 2).is_none();
    let mut heard = seconds;
    if cuts.is_empty() || closed {
        cuts.push(count);
    } else if let Some(last) = cuts.last().and_then(|cut| stamp(cut - 1)) {
        heard = last;
    }
    let mut stretches = Vec::new();
    let mut from = 0;
    for to in cuts {
        let start = stamp(from).unwrap_or(0.0).min(seconds);
        let end = (from..to).rev().find_map(stamp).filter(|end| *end > start).unwrap_or(seconds);
        let first = from + usize::from(stamp(from).is_some());
        let last = to - usize::from(to > first && stamp(to - 1).is_some());
        if last > first {
            stretches.push(Stretch {
                start,
                end: end.min(seconds),
                tokens: &tokens[first..last],
                probabilities: &answer.probabilities[first..last],
            });
        }
        from = to;
    }
    (stretches, heard)
}

#[async_trait]
impl Transcriber for Whisper {
    fn model(&self) -> &str {
        &self.model
    }

    fn max_seconds(&self) -> f64 {
        (WINDOW / SAMPLE_RATE as usize) as f64
    }

    async fn transcribe(&self, samples: &[f32]) -> Result<Transcript> {
        let (listener, samples) = (Arc::clone(&self.listener), samples.to_vec());
        blocking::run(move || listener.transcribe(&samples)).await
    }
}

#[cfg(test)]
mod tests;
