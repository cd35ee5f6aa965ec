//! Whisper models on ONNX Runtime. An encoder processes windows of 30 s, and a decoder generates
//! text with timestamps. Models of any size that Hugging Face's optimum exports are supported.

mod align;
mod decode;
mod identity;
mod mel;
mod network;
mod tokens;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use async_trait::async_trait;
use parking_lot::Mutex;
use ports::{
    ErrorKind, PortError, Result,
    decoder::SAMPLE_RATE,
    transcriber::{Transcriber, Transcript, Word},
    vad::SpeechSpan,
};
use serde::de::DeserializeOwned;

use super::sound;
use crate::blocking;
use crate::onnx::Runtime;
use decode::{DecodedWindow, LanguageScore};
use mel::{MelSpectrogram, WINDOW};
use network::{EncodedWindow, Network};
use tokens::Vocabulary;

/// Minimum number of samples that the rest of the audio must have to contain a word.
const SHORTEST: usize = SAMPLE_RATE as usize / 10;

/// Options of [`Whisper::open`].
#[derive(Debug, Clone, PartialEq)]
pub struct WhisperOptions {
    /// The output folder of `scripts/models/convert_whisper.py` or of another exporter. It contains
    /// `encoder_model.onnx`, `decoder_model_merged.onnx` (or `decoder_model.onnx` and
    /// `decoder_with_past_model.onnx`), `tokenizer.json`, `config.json` and optionally
    /// `generation_config.json`.
    pub folder: PathBuf,
    /// The spoken language, such as `en`. `None` means that it is detected.
    pub language: Option<String>,
    /// Number of threads for the encoder, at least 1. The decoder uses one thread.
    pub threads: usize,
}

/// The recogniser. It processes one segment at a time, on the configured threads. Clones are cheap.
#[derive(Clone)]
pub struct Whisper {
    model_state: Arc<Model>,
    model: String,
}

struct Model {
    network: Mutex<Network>,
    vocabulary: Vocabulary,
    mel: MelSpectrogram,
    /// The configured language.
    language: Option<LanguageScore>,
}

impl Whisper {
    /// Opens the files and runs them on silence, so that an unsuitable model fails here.
    /// *Blocks*.
    pub fn open(runtime: &Runtime, options: &WhisperOptions) -> Result<Self> {
        let network = Network::open(runtime, &options.folder, options.threads.max(1))?;
        let vocabulary = Vocabulary::open(&options.folder, network.shape().vocab_size)?;
        let language = match options.language.as_deref() {
            None => None,
            // An English-only model has no language token.
            Some("en") if vocabulary.languages.is_empty() => None,
            Some(code) => Some(find(&vocabulary, code).ok_or_else(|| unknown(&vocabulary, code))?),
        };
        let mel = MelSpectrogram::new(network.shape().num_mel_bins);
        let model = identity::model_identity(&options.folder, options.language.as_deref())?;
        let listener = Model { network: Mutex::new(network), vocabulary, mel, language };
        listener.warm_up()?;
        Ok(Self { model_state: Arc::new(listener), model })
    }
}

/// Finds one of the model's languages by its code.
fn find(vocabulary: &Vocabulary, code: &str) -> Option<LanguageScore> {
    let code = if code == "jv" { "jw" } else { code };
    let (code, token) = vocabulary.languages.iter().find(|(known, _)| known == code)?;
    Some(LanguageScore { code: code.clone(), token: *token, probability: 1.0 })
}

fn unknown(vocabulary: &Vocabulary, code: &str) -> PortError {
    let known: Vec<&str> = vocabulary.languages.iter().map(|(code, _)| code.as_str()).collect();
    let known = if known.is_empty() { "en".to_owned() } else { known.join(", ") };
    let message = format!("the speech model does not know the language {code:?}; it knows {known}");
    PortError::new(ErrorKind::Invalid, message)
}

/// Deserializes a JSON file, ignoring unknown fields.
fn json<T: DeserializeOwned>(file: &Path) -> Result<T> {
    if !file.is_file() {
        return Err(PortError::new(ErrorKind::NotFound, format!("no {}", file.display())));
    }
    serde_json::from_slice(&std::fs::read(file)?).map_err(|e| {
        let message = format!("{} is not the one of a Whisper model: {e}", file.display());
        PortError::caused_by(ErrorKind::Invalid, message, e)
    })
}

/// The tokens between two timestamps. Times are in seconds from the start of the window.
struct WindowSegment<'a> {
    start: f64,
    end: f64,
    tokens: &'a [u32],
    probabilities: &'a [f32],
}

impl Model {
    /// Processes one window after another. Each window begins at the end of the last complete
    /// segment.
    fn transcribe(&self, samples: &[f32], language: Option<&str>) -> Result<Transcript> {
        let mut transcript = Transcript::default();
        let requested = language.and_then(|code| find(&self.vocabulary, code));
        let mut language = self.language.clone().or(requested);
        let mut from = 0;
        while samples.len() - from >= SHORTEST {
            let window = &samples[from..samples.len().min(from + WINDOW)];
            let speech = sound::possible_speech(window)?;
            if speech.is_empty() {
                from += window.len();
                continue;
            }
            let (answer, spoken, heard) =
                self.recognise_window(window, &speech, language.take())?;
            language = spoken;
            let seconds = window.len() as f64 / f64::from(SAMPLE_RATE);
            let (segments, settled) = segments(&answer, &self.vocabulary, seconds);
            let times = self.times(&segments, &heard, language.as_ref(), seconds)?;
            let code = language.as_ref().map_or("en", |spoken| spoken.code.as_str());
            let mut words = self.words(&segments, &times, code);
            align::shorten(&mut words);
            align::trim(&mut words, window);
            if from + window.len() == samples.len() {
                align::drop_unspoken(&mut words, seconds);
            }
            let offset = from as f64 / f64::from(SAMPLE_RATE);
            transcript.words.extend(words.into_iter().map(|(word, _)| Word {
                start: offset + word.start.min(seconds),
                end: offset + word.end.min(seconds),
                ..word
            }));
            from += ((settled * f64::from(SAMPLE_RATE)) as usize).clamp(SHORTEST, window.len());
        }
        // The segments of one window end where the segments of the next window begin, except for
        // rounding.
        let mut latest = 0.0_f64;
        for word in &mut transcript.words {
            word.start = word.start.max(latest);
            word.end = word.end.max(word.start);
            latest = word.start;
        }
        if !transcript.words.is_empty() {
            let spoken = language.unwrap_or_else(|| LanguageScore {
                code: "en".to_owned(),
                token: self.vocabulary.start,
                probability: 1.0,
            });
            transcript.language_probability = Some(spoken.probability);
            transcript.language = match spoken.code.as_str() {
                "jw" => Some("jv".to_owned()),
                // Some languages have no two-letter code.
                code => Some(code.to_owned()).filter(|code| code.len() == 2),
            };
        }
        Ok(transcript)
    }

    /// Generates a few tokens from an empty encoding, so that files that do not belong together
    /// fail here. Does not run the encoder, because running it takes a second and uses memory that
    /// many services never need.
    fn warm_up(&self) -> Result<()> {
        let mut network = self.network.lock();
        let empty = network.empty_encoding()?;
        let languages = decode::languages(&mut network, &empty, &self.vocabulary)?;
        let prompt = prompt(&self.vocabulary, languages.first());
        let mut session = network.start_decoding(&empty);
        session.step(&prompt)?;
        session.step(&prompt[..1])?;
        network.alignment(&empty, &prompt).map(|_| ())
    }

    /// Recognises the speech in a window. `speech` lists the spans of possible speech. Returns the
    /// tokens, the language and the encoder's output.
    fn recognise_window(
        &self,
        window: &[f32],
        speech: &[SpeechSpan],
        language: Option<LanguageScore>,
    ) -> Result<(DecodedWindow, Option<LanguageScore>, EncodedWindow)> {
        let mel = self.mel.compute(window);
        let mut network = self.network.lock();
        let heard = network.encode(&mel)?;
        let vocabulary = &self.vocabulary;
        let language = match language {
            Some(language) => Some(language),
            None => {
                let prompted = |spoken: LanguageScore| {
                    let prompt = prompt(vocabulary, Some(&spoken));
                    (spoken, prompt)
                };
                let languages = decode::languages(&mut network, &heard, vocabulary)?;
                let languages = languages.into_iter().map(prompted).collect();
                decode::likeliest_language(&mut network, &heard, vocabulary, languages, speech)?
            }
        };
        let prompt = prompt(vocabulary, language.as_ref());
        let answer = decode::answer(&mut network, &heard, vocabulary, &prompt, speech)?;
        Ok((answer, language, heard))
    }

    /// Computes, for each segment, the start of each token and the end of the last token. If the
    /// network has no alignment output, the tokens of a segment share its time equally.
    fn times(
        &self,
        segments: &[WindowSegment<'_>],
        heard: &EncodedWindow,
        language: Option<&LanguageScore>,
        seconds: f64,
    ) -> Result<Vec<Vec<f64>>> {
        let mut sequence = prompt(&self.vocabulary, language);
        let before = sequence.len();
        sequence.push(self.vocabulary.no_timestamps());
        sequence.extend(segments.iter().flat_map(|segment| segment.tokens));
        sequence.push(self.vocabulary.end);
        let mut network = self.network.lock();
        let longest = network.shape().max_target_positions;
        let attention = match segments.is_empty() || sequence.len() > longest {
            true => None,
            false => network.alignment(heard, &sequence)?,
        };
        drop(network);
        let Some(attention) = attention else {
            return Ok(segments.iter().map(WindowSegment::spread).collect());
        };
        let times = align::times(&attention, before, seconds);
        let mut from = 0;
        let of_stretch = |segment: &WindowSegment<'_>| {
            let first = from;
            from += segment.tokens.len();
            times[first..=from].to_vec()
        };
        Ok(segments.iter().map(of_stretch).collect())
    }

    /// Returns the words, each with the start and end of its segment. Times are in seconds from the
    /// start of the window.
    fn words(
        &self,
        segments: &[WindowSegment<'_>],
        times: &[Vec<f64>],
        language: &str,
    ) -> Vec<(Word, (f64, f64))> {
        let mut words = Vec::new();
        for (segment, times) in segments.iter().zip(times) {
            let mut to = 0;
            for group in self.vocabulary.words(segment.tokens, language) {
                let from = to;
                to += group.len();
                let text = self.vocabulary.text(group).trim().to_owned();
                if text.is_empty() {
                    continue;
                }
                let sum: f32 = segment.probabilities[from..to].iter().sum();
                let confidence = (sum / group.len() as f32).clamp(0.0, 1.0);
                let word = Word { text, start: times[from], end: times[to], confidence };
                words.push((word, (segment.start, segment.end)));
            }
        }
        words
    }
}

impl WindowSegment<'_> {
    /// Returns times that give every token an equal share of the segment.
    fn spread(&self) -> Vec<f64> {
        let step = (self.end - self.start) / self.tokens.len().max(1) as f64;
        (0..=self.tokens.len()).map(|i| self.start + step * i as f64).collect()
    }
}

fn prompt(vocabulary: &Vocabulary, language: Option<&LanguageScore>) -> Vec<u32> {
    match language {
        Some(spoken) => vec![vocabulary.start, spoken.token, vocabulary.transcribe],
        None => vec![vocabulary.start],
    }
}

/// Splits an answer for `seconds` of audio into segments, and returns how much audio they cover.
/// The part after the last pair of timestamps is processed again in the next window.
fn segments<'a>(
    answer: &'a DecodedWindow,
    vocabulary: &Vocabulary,
    seconds: f64,
) -> (Vec<WindowSegment<'a>>, f64) {
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
    let mut segments = Vec::new();
    let mut from = 0;
    for to in cuts {
        let start = stamp(from).unwrap_or(0.0).min(seconds);
        let end = (from..to).rev().find_map(stamp).filter(|end| *end > start).unwrap_or(seconds);
        let first = from + usize::from(stamp(from).is_some());
        let last = to - usize::from(to > first && stamp(to - 1).is_some());
        if last > first {
            segments.push(WindowSegment {
                start,
                end: end.min(seconds),
                tokens: &tokens[first..last],
                probabilities: &answer.probabilities[first..last],
            });
        }
        from = to;
    }
    (segments, heard)
}

#[async_trait]
impl Transcriber for Whisper {
    fn model(&self) -> &str {
        &self.model
    }

    fn max_seconds(&self) -> f64 {
        (WINDOW / SAMPLE_RATE as usize) as f64
    }

    async fn transcribe(&self, samples: &[f32], language: Option<&str>) -> Result<Transcript> {
        let (listener, samples) = (Arc::clone(&self.model_state), samples.to_vec());
        let language = language.map(str::to_owned);
        blocking::run(move || listener.transcribe(&samples, language.as_deref())).await
    }
}

#[cfg(test)]
mod tests;
