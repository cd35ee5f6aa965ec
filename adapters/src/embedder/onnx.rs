//! An embedder of the MiniLM class (a BERT-like encoder with mean pooling) on ONNX Runtime.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use async_trait::async_trait;
use futures::{StreamExt, TryStreamExt};
use ports::embedder::Embedder;
use ports::{ErrorKind, PortError, Result};
use tokio::sync::Semaphore;

use crate::OnnxRuntime;
use crate::onnx::{BertTokenizer, Inputs, Pool, Threading, Tokens};

/// Options of [`OnnxEmbedder::open`].
#[derive(Debug, Clone)]
pub struct OnnxEmbedderOptions {
    /// The ONNX file. The inputs are `input_ids`, `attention_mask` and, optionally,
    /// `token_type_ids`, all of type int64 and shape [batch, sequence]. The first output has type
    /// float32 and shape [batch, sequence, dimension].
    pub model: PathBuf,
    /// The matching `tokenizer.json`.
    pub tokenizer: PathBuf,
    /// Maximum number of tokens per text, including special tokens. Longer texts are truncated.
    pub max_tokens: usize,
    /// Maximum number of texts per run. A dynamically quantised model always processes one text at
    /// a time, because its scales depend on the whole batch.
    pub batch: usize,
    /// Number of sessions that run in parallel. Each session holds a copy of the weights.
    pub sessions: usize,
    /// Number of threads per session.
    pub threads: usize,
}

impl OnnxEmbedderOptions {
    /// Returns the defaults of `[embedder]` and `[models]`, with one session.
    pub fn new(model: impl Into<PathBuf>, tokenizer: impl Into<PathBuf>) -> Self {
        Self {
            model: model.into(),
            tokenizer: tokenizer.into(),
            max_tokens: super::Settings::default().max_tokens,
            batch: 16,
            sessions: 1,
            threads: crate::models::Settings::default().threads,
        }
    }
}

/// A loaded model.
pub struct OnnxEmbedder {
    model: String,
    dimension: usize,
    encoder: Arc<Encoder>,
    permits: Arc<Semaphore>,
    sessions: usize,
}

struct Encoder {
    tokenizer: BertTokenizer,
    pool: Pool,
    output: String,
    batch: usize,
}

/// A text's tokens and its index in the request.
struct Text {
    place: usize,
    tokens: Tokens,
}

/// Maximum number of tokens per run, including padding. A single text may have more tokens.
/// Attention memory grows with the square of the text length, and a CPU is no faster with many long
/// texts at once than with a few.
const RUN_TOKENS: usize = 1024;

impl OnnxEmbedder {
    /// Loads the model and the tokenizer, and runs the model once to determine the dimension.
    /// *Blocks.*
    pub fn open(runtime: &OnnxRuntime, options: &OnnxEmbedderOptions) -> Result<Self> {
        if options.max_tokens < 8
            || options.batch == 0
            || options.sessions == 0
            || options.threads == 0
        {
            return Err(PortError::new(
                ErrorKind::Invalid,
                "an ONNX embedder needs at least 8 tokens, 1 text per batch, 1 session and 1 thread",
            ));
        }
        let tokenizer = BertTokenizer::open(&options.tokenizer, options.max_tokens)?;
        let threading = Threading { threads: options.threads, sessions: options.sessions };
        let pool = Pool::open(runtime, &options.model, threading, Inputs::Short)?;
        let names = |list: &[ort::value::Outlet]| -> Vec<String> {
            list.iter().map(|outlet| outlet.name().to_owned()).collect()
        };
        let (inputs, outputs) =
            pool.with(|session| Ok((names(session.inputs()), names(session.outputs()))))?;
        let unsuitable = |what: String| {
            PortError::new(ErrorKind::Invalid, format!("{} {what}", options.model.display()))
        };
        for name in ["input_ids", "attention_mask"] {
            if !inputs.iter().any(|input| input == name) {
                return Err(unsuitable(format!("has no input {name}, only {}", inputs.join(", "))));
            }
        }
        let output = outputs
            .iter()
            .find(|name| *name == "last_hidden_state")
            .or(outputs.first())
            .ok_or_else(|| unsuitable("has no output".to_owned()))?
            .clone();
        let encoder = Encoder {
            tokenizer: tokenizer.for_pool(&pool)?,
            pool,
            output,
            batch: if is_dynamically_quantised(&options.model)? { 1 } else { options.batch },
        };
        let probe = encoder.text(0, "probe")?;
        let dimension = encoder.run(&[probe])?.first().map_or(0, |(_, vector)| vector.len());
        Ok(Self {
            model: stem(&options.model),
            dimension,
            encoder: Arc::new(encoder),
            permits: Arc::new(Semaphore::new(options.sessions)),
            sessions: options.sessions,
        })
    }

    /// Runs the model on a blocking thread once a session is free.
    async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Encoder) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let permit = self
            .permits
            .clone()
            .acquire_owned()
            .await
            .map_err(|e| PortError::caused_by(ErrorKind::Other, "the embedder is closed", e))?;
        let encoder = self.encoder.clone();
        blocking(move || {
            // The run holds the permit, not the future, because the run does not stop when the
            // caller gives up.
            let _permit = permit;
            work(&encoder)
        })
        .await
    }
}

/// Returns whether the graph is dynamically quantised. Such a graph computes one scale per
/// activation tensor, so the texts in a batch affect each other's vectors.
fn is_dynamically_quantised(model: &Path) -> Result<bool> {
    // Operator names are stored as plain text.
    const OPERATORS: [&[u8]; 2] = [b"DynamicQuantizeLinear", b"DynamicQuantizeMatMul"];
    let graph = std::fs::read(model)?;
    Ok(OPERATORS.iter().any(|name| {
        let mut rest = graph.as_slice();
        while let Some(at) = rest.iter().position(|byte| *byte == name[0]) {
            if rest[at..].starts_with(name) {
                return true;
            }
            rest = &rest[at + 1..];
        }
        false
    }))
}

fn stem(model: &Path) -> String {
    model.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default()
}

impl Encoder {
    fn text(&self, place: usize, text: &str) -> Result<Text> {
        Ok(Text { place, tokens: self.tokenizer.text(text)? })
    }

    /// Groups texts of similar length into batches, which limits padding. Long texts form small
    /// batches.
    fn batches(&self, texts: &[String]) -> Result<Vec<Vec<Text>>> {
        let mut texts = texts
            .iter()
            .enumerate()
            .map(|(place, text)| self.text(place, text))
            .collect::<Result<Vec<_>>>()?;
        texts.sort_by_key(|text| text.tokens.len());
        let mut batches: Vec<Vec<Text>> = Vec::new();
        for text in texts {
            let fits = |batch: &Vec<Text>| {
                batch.len() < self.batch && (batch.len() + 1) * text.tokens.len() <= RUN_TOKENS
            };
            match batches.last_mut().filter(|batch| fits(batch)) {
                Some(batch) => batch.push(text),
                None => batches.push(vec![text]),
            }
        }
        Ok(batches)
    }

    /// Computes the unit vector of every text in a batch and returns it with the index of the text.
    fn run(&self, batch: &[Text]) -> Result<Vec<(usize, Vec<f32>)>> {
        let failed = |e: ort::Error| {
            PortError::new(ErrorKind::Other, format!("the embedding model failed: {e}"))
        };
        let length = batch.iter().map(|text| text.tokens.len()).max().unwrap_or(0);
        let inputs = self.tokenizer.inputs(batch.iter().map(|text| &text.tokens))?;
        self.pool.with_sized(batch.len() * length, |session, options| {
            let outputs = session.run_with_options(inputs, options).map_err(failed)?;
            let (shape, states) =
                outputs[self.output.as_str()].try_extract_tensor::<f32>().map_err(failed)?;
            self.means(batch, length, shape, states)
        })
    }

    /// Returns the mean vector of each text, given the hidden states of a batch with `length`
    /// tokens per text.
    fn means(
        &self,
        batch: &[Text],
        length: usize,
        shape: &[i64],
        states: &[f32],
    ) -> Result<Vec<(usize, Vec<f32>)>> {
        let unsuitable = |what: String| {
            let message = format!("the embedding model's output {} {what}", self.output);
            PortError::new(ErrorKind::Invalid, message)
        };
        let &[rows, columns, dimension] = shape else {
            let rank = shape.len();
            return Err(unsuitable(format!(
                "has {rank} dimensions instead of batch, sequence, vector"
            )));
        };
        let dimension = dimension as usize;
        if rows as usize != batch.len() || columns as usize != length || dimension == 0 {
            return Err(unsuitable(format!("has the shape {shape:?}")));
        }
        batch
            .iter()
            .zip(states.chunks_exact(length * dimension))
            .map(|(text, states)| {
                let words = states.chunks_exact(dimension).take(text.tokens.len());
                Ok((text.place, mean_unit(words, dimension)?))
            })
            .collect()
    }
}

/// Returns the mean of the vectors, normalized to length 1.
fn mean_unit<'a>(vectors: impl Iterator<Item = &'a [f32]>, dimension: usize) -> Result<Vec<f32>> {
    let mut sum = vec![0.0_f64; dimension];
    for vector in vectors {
        sum.iter_mut().zip(vector).for_each(|(sum, &x)| *sum += f64::from(x));
    }
    let norm = sum.iter().map(|x| x * x).sum::<f64>().sqrt();
    if !norm.is_finite() || norm <= 0.0 {
        return Err(PortError::new(
            ErrorKind::Corrupt,
            "the embedding model yields numbers that are not finite; its file is damaged",
        ));
    }
    Ok(sum.into_iter().map(|x| (x / norm) as f32).collect())
}

async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T> + Send + 'static,
) -> Result<T> {
    tokio::task::spawn_blocking(work)
        .await
        .map_err(|e| PortError::caused_by(ErrorKind::Other, "embedding was interrupted", e))?
}

#[async_trait]
impl Embedder for OnnxEmbedder {
    fn model(&self) -> &str {
        &self.model
    }

    fn dimension(&self) -> usize {
        self.dimension
    }

    async fn embed(&self, texts: &[String]) -> Result<Vec<Vec<f32>>> {
        if let [text] = texts {
            // A single text skips the thread switches of the batch path, because a caller is
            // usually waiting for it.
            let text = text.clone();
            let run = move |encoder: &Encoder| encoder.run(&[encoder.text(0, &text)?]);
            return Ok(self.run(run).await?.into_iter().map(|(_, vector)| vector).collect());
        }
        let mut vectors = vec![Vec::new(); texts.len()];
        // Limits the number of texts whose tokens are in memory.
        for (group, texts) in texts.chunks(GROUP).enumerate() {
            let (encoder, texts) = (self.encoder.clone(), texts.to_vec());
            let batches = blocking(move || encoder.batches(&texts)).await?;
            let done: Vec<Vec<(usize, Vec<f32>)>> = futures::stream::iter(batches)
                .map(|batch| self.run(move |encoder| encoder.run(&batch)))
                .buffer_unordered(self.sessions)
                .try_collect()
                .await?;
            for (place, vector) in done.into_iter().flatten() {
                vectors[group * GROUP + place] = vector;
            }
        }
        Ok(vectors)
    }

    async fn count_tokens(&self, texts: &[String]) -> Result<Vec<usize>> {
        let (encoder, texts) = (self.encoder.clone(), texts.to_vec());
        blocking(move || texts.iter().map(|text| encoder.tokenizer.count(text)).collect()).await
    }

    async fn probe(&self) -> Result<()> {
        Ok(())
    }
}

/// Number of texts that are tokenized and sorted by length together.
const GROUP: usize = 1024;
