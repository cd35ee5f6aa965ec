//! PocketSphinx: recognition from before neural networks, out of system packages. The weakest of
//! the recognisers: English without punctuation or case, every third or fourth word wrong, more
//! with noise, accents and names.

mod library;

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use async_trait::async_trait;
use ports::{
    ErrorKind, PortError, Result,
    decoder::SAMPLE_RATE,
    transcriber::{Transcriber, Transcript, Word},
};
use tokio::sync::Semaphore;

use super::sound;
use crate::blocking;
use library::{Decoder, Library, Segment};

/// Longer stretches are decoded in parts of this length, which bounds the decoder's lattice.
const MAX_SECONDS: f64 = 20.0;

/// Of the language model against the sound. On the clips with known speech this makes 25 % word
/// errors, the library's own 6.5 makes 30 %.
const LANGUAGE_WEIGHT: &str = "5";

/// A decoder that nobody wanted for so long is closed: a video is recognised in one go, and its
/// analysis afterwards has better use for the memory.
const KEPT: Duration = Duration::from_secs(5);

/// Where the library and its models are.
#[derive(Debug, Clone, PartialEq)]
pub struct PocketSphinxOptions {
    /// A path, or a name that the system's loader knows.
    pub library: PathBuf,
    /// A folder as `en-us`, with the acoustic model `en-us/`, the language model `en-us.lm.bin`
    /// and the dictionary `cmudict-en-us.dict`: its own name recurs in theirs.
    pub model: PathBuf,
    /// Stretches recognised at once, at least 1. Each holds the models in memory, about 100 MB.
    pub decoders: usize,
}

impl Default for PocketSphinxOptions {
    /// Those of `[transcriber]` where nothing else is set.
    fn default() -> Self {
        (&super::Settings::default()).into()
    }
}

/// The recogniser. Cheap to clone.
#[derive(Clone)]
pub struct PocketSphinx {
    decoders: Arc<Decoders>,
    permits: Arc<Semaphore>,
    model: String,
    language: Option<String>,
}

impl PocketSphinx {
    /// Loads the library, and opens a decoder to see that its models fit. *Blocks*.
    pub fn open(options: &PocketSphinxOptions) -> Result<Self> {
        let library = Library::load(&options.library)?;
        let name = options.model.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let files = [name.clone(), format!("{name}.lm.bin"), format!("cmudict-{name}.dict")];
        let [acoustic, language_model, dictionary] = files.map(|f| options.model.join(f));
        for file in [&acoustic.join("mdef"), &language_model, &dictionary] {
            present(file)?;
        }
        let path = |path: &Path| path.to_string_lossy().into_owned();
        let files = [path(&acoustic), path(&language_model), path(&dictionary)];
        let decoders = Decoders { library, files, idle: Mutex::new(Vec::new()) };
        drop(decoders.open()?);
        let language = name.split('-').next().filter(|l| l.len() == 2).map(str::to_owned);
        Ok(Self {
            decoders: Arc::new(decoders),
            permits: Arc::new(Semaphore::new(options.decoders.clamp(1, 64))),
            model: format!("pocketsphinx-{name}"),
            language,
        })
    }
}

fn present(file: &Path) -> Result<()> {
    if file.is_file() {
        return Ok(());
    }
    Err(PortError::new(
        ErrorKind::NotFound,
        format!(
            "no PocketSphinx model file {}; Debian and Ubuntu have the English model in the \
             package pocketsphinx-en-us",
            file.display()
        ),
    ))
}

/// The decoders that wait for work; one is opened when none waits.
struct Decoders {
    library: Arc<Library>,
    /// Acoustic model, language model, dictionary.
    files: [String; 3],
    idle: Mutex<Vec<Idle>>,
}

struct Idle {
    decoder: Decoder,
    since: Instant,
}

impl Decoders {
    fn open(&self) -> Result<Decoder> {
        let [acoustic, language_model, dictionary] = &self.files;
        let options = [
            ("-hmm", acoustic.as_str()),
            ("-lm", language_model),
            ("-dict", dictionary),
            // The library cuts silence out before it counts frames, which would shift word times.
            ("-remove_silence", "no"),
            ("-lw", LANGUAGE_WEIGHT),
        ];
        Decoder::open(&self.library, &options)
    }

    fn take(&self) -> Result<Decoder> {
        let waiting = self.idle().pop();
        waiting.map_or_else(|| self.open(), |idle| Ok(idle.decoder))
    }

    fn put(&self, decoder: Decoder) {
        self.idle().push(Idle { decoder, since: Instant::now() });
    }

    /// Closes what waits for longer than [`KEPT`].
    fn close_unused(&self) {
        self.idle().retain(|idle| idle.since.elapsed() < KEPT);
    }

    fn idle(&self) -> MutexGuard<'_, Vec<Idle>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn words(&self, samples: &[f32]) -> Result<Vec<Word>> {
        if !sound::may_hold_speech(samples)? {
            return Ok(Vec::new());
        }
        let mut decoder = self.take()?;
        let mut words = Vec::new();
        let part = (MAX_SECONDS * f64::from(SAMPLE_RATE)) as usize;
        for (i, samples) in samples.chunks(part).enumerate() {
            let offset = i as f64 * MAX_SECONDS;
            let length = samples.len() as f64 / f64::from(SAMPLE_RATE);
            // A decoder that failed is not put back: its state is unknown.
            let segments = decoder.decode(&sound::to_pcm(samples))?;
            words.extend(segments.into_iter().filter_map(|s| word(s, offset, length)));
        }
        self.put(decoder);
        Ok(words)
    }
}

/// A segment as a word, unless it is silence or noise.
fn word(segment: Segment, offset: f64, length: f64) -> Option<Word> {
    if segment.word.starts_with(['<', '[', '+']) {
        return None;
    }
    // Pronunciations after the first are numbered: `the(2)`.
    let text = segment.word.split('(').next().filter(|text| !text.is_empty())?;
    let start = segment.start.clamp(0.0, length);
    Some(Word {
        text: text.to_owned(),
        start: offset + start,
        end: offset + segment.end.clamp(start, length),
        confidence: segment.probability.clamp(0.0, 1.0) as f32,
    })
}

#[async_trait]
impl Transcriber for PocketSphinx {
    fn model(&self) -> &str {
        &self.model
    }

    fn max_seconds(&self) -> f64 {
        MAX_SECONDS
    }

    async fn transcribe(&self, samples: &[f32]) -> Result<Transcript> {
        let permit = self.permits.clone().acquire_owned().await.map_err(|e| {
            PortError::caused_by(ErrorKind::Other, "the speech recogniser is closed", e)
        })?;
        let (decoders, samples) = (Arc::clone(&self.decoders), samples.to_vec());
        let words = blocking::run(move || {
            // Kept here, not in the future: a caller that gives up does not stop the decoder.
            let _permit = permit;
            decoders.words(&samples)
        })
        .await?;
        let decoders = Arc::downgrade(&self.decoders);
        tokio::spawn(async move {
            tokio::time::sleep(KEPT).await;
            if let Some(decoders) = decoders.upgrade() {
                decoders.close_unused();
            }
        });
        let language = self.language.clone().filter(|_| !words.is_empty());
        Ok(Transcript { language, words })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn segment(word: &str, start: f64, end: f64) -> Segment {
        Segment { word: word.to_owned(), start, end, probability: 1.2 }
    }

    #[test]
    fn segments_become_words_without_fillers_and_numbers() {
        for filler in ["<s>", "</s>", "<sil>", "[NOISE]", "[SPEECH]", "++SMACK++"] {
            assert_eq!(word(segment(filler, 0.0, 1.0), 0.0, 9.0), None, "{filler}");
        }
        let found = word(segment("the(2)", 1.0, 4.0), 20.0, 3.5);
        let expected = Word { text: "the".into(), start: 21.0, end: 23.5, confidence: 1.0 };
        assert_eq!(found, Some(expected));
    }

    #[test]
    fn what_is_missing_is_named_with_its_package() {
        let missing = PocketSphinxOptions {
            library: "libpocketsphinx-that-is-not-there.so".into(),
            ..PocketSphinxOptions::default()
        };
        let error = PocketSphinx::open(&missing).err().map(|e| e.to_string()).unwrap_or_default();
        assert!(error.contains("package libpocketsphinx3"), "{error}");
        let error = present(Path::new("nowhere/en-us.lm.bin")).unwrap_err().to_string();
        assert!(error.contains("package pocketsphinx-en-us"), "{error}");
    }
}
