//! An embedder that calls an OpenAI-compatible `/embeddings` endpoint.

use async_trait::async_trait;
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use futures::{StreamExt, TryStreamExt, stream};
use ports::embedder::{Embedder, estimate_tokens};
use ports::{ErrorKind, PortError, Result};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::openai::{Client, Connection};

/// Maximum number of batches that are requested in parallel.
const PARALLEL: usize = 4;

/// Options of [`OpenAiEmbedder::new`].
#[derive(Debug, Clone)]
pub struct OpenAiEmbedderOptions {
    /// The server's address, timeouts and retries.
    pub connection: Connection,
    /// The server's name for the model.
    pub model: String,
    /// Expected dimension of the vectors. A response with a different dimension is an error.
    pub dimension: usize,
    /// Whether to request `dimension` from the server. Only some models can shorten their vectors.
    pub request_dimension: bool,
    /// Maximum number of texts per request.
    pub batch: usize,
    /// Maximum number of characters per text. Longer texts are truncated.
    pub max_chars: usize,
}

impl Default for OpenAiEmbedderOptions {
    /// Returns the defaults of `[embedder]` and `[llm]`.
    fn default() -> Self {
        Self::from_settings(&super::Settings::default(), &crate::llm::Settings::default())
    }
}

/// An embedder that requests vectors from a server.
pub struct OpenAiEmbedder {
    client: Client,
    options: OpenAiEmbedderOptions,
    id: String,
}

impl OpenAiEmbedder {
    /// Creates an embedder. Checks the options without sending a request.
    pub fn new(options: OpenAiEmbedderOptions) -> Result<Self> {
        if options.dimension == 0 || options.batch == 0 || options.max_chars == 0 {
            return Err(PortError::new(
                ErrorKind::Invalid,
                "the embedding dimension, batch and text length must be at least 1",
            ));
        }
        let client = Client::new(&options.connection)?;
        let id = match options.request_dimension {
            true => format!("{}@{}", options.model, options.dimension),
            false => options.model.clone(),
        };
        Ok(Self { client, options, id })
    }

    async fn embed_batch(&self, texts: &[String]) -> Result<Vec<Vec<f32>>> {
        // Servers reject empty input, so an empty text is replaced by a space.
        let input: Vec<&str> = texts
            .iter()
            .map(|text| cut(text, self.options.max_chars))
            .map(|text| if text.trim().is_empty() { " " } else { text })
            .collect();
        let mut body = json!({
            "model": self.options.model,
            "input": input,
            "encoding_format": "base64",
        });
        if self.options.request_dimension {
            body["dimensions"] = json!(self.options.dimension);
        }
        let mut exchange = self.client.post("embeddings", &body).await?;
        if exchange
            .outcome
            .as_ref()
            .is_err_and(|refusal| refusal.mentions(&["encoding_format", "base64"]))
        {
            body["encoding_format"] = json!("float");
            exchange = self.client.post("embeddings", &body).await?;
        }
        let answer = exchange.outcome.map_err(|refusal| refusal.into_error())?;
        self.vectors(answer, texts.len())
    }

    fn vectors(&self, answer: Value, count: usize) -> Result<Vec<Vec<f32>>> {
        let corrupt = |message: String| PortError::new(ErrorKind::Corrupt, message);
        let answer: EmbeddingsAnswer = serde_json::from_value(answer).map_err(|e| {
            corrupt(format!("the embeddings response is not of the expected form: {e}"))
        })?;
        let mut vectors = vec![Vec::new(); count];
        for (position, item) in answer.data.into_iter().enumerate() {
            let slot = vectors.get_mut(item.index.unwrap_or(position)).ok_or_else(|| {
                corrupt(format!("the embeddings response has more than {count} vectors"))
            })?;
            *slot = self.unit(item.embedding)?;
        }
        match vectors.iter().position(Vec::is_empty) {
            Some(missing) => {
                Err(corrupt(format!("the embeddings response lacks vector {missing} of {count}")))
            }
            None => Ok(vectors),
        }
    }

    fn unit(&self, embedding: Embedding) -> Result<Vec<f32>> {
        let corrupt = |message: String| PortError::new(ErrorKind::Corrupt, message);
        let mut vector = match embedding {
            Embedding::Numbers(numbers) => numbers,
            Embedding::Base64(text) => BASE64_STANDARD
                .decode(text)
                .map_err(|e| corrupt(format!("an embedding is not base64: {e}")))?
                .chunks_exact(4)
                .map(|bytes| f32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]))
                .collect(),
        };
        if vector.len() != self.options.dimension {
            return Err(PortError::new(
                ErrorKind::Invalid,
                format!(
                    "{} yields vectors of {} numbers, but {} is configured as its dimension",
                    self.options.model,
                    vector.len(),
                    self.options.dimension
                ),
            ));
        }
        let norm = vector.iter().map(|&x| f64::from(x) * f64::from(x)).sum::<f64>().sqrt();
        if !norm.is_finite() || norm <= 0.0 {
            return Err(corrupt(format!(
                "an embedding has the length {norm}, which cannot be normalised"
            )));
        }
        vector.iter_mut().for_each(|x| *x = (f64::from(*x) / norm) as f32);
        Ok(vector)
    }
}

fn cut(text: &str, max_chars: usize) -> &str {
    text.char_indices().nth(max_chars).map_or(text, |(end, _)| &text[..end])
}

#[derive(Deserialize)]
struct EmbeddingsAnswer {
    data: Vec<EmbeddingItem>,
}

#[derive(Deserialize)]
struct EmbeddingItem {
    index: Option<usize>,
    embedding: Embedding,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Embedding {
    Numbers(Vec<f32>),
    Base64(String),
}

#[async_trait]
impl Embedder for OpenAiEmbedder {
    fn model(&self) -> &str {
        &self.id
    }

    fn dimension(&self) -> usize {
        self.options.dimension
    }

    async fn embed(&self, texts: &[String]) -> Result<Vec<Vec<f32>>> {
        let batches: Vec<_> =
            texts.chunks(self.options.batch).map(|batch| self.embed_batch(batch)).collect();
        let vectors: Vec<_> = stream::iter(batches).buffered(PARALLEL).try_collect().await?;
        Ok(vectors.concat())
    }

    async fn count_tokens(&self, texts: &[String]) -> Result<Vec<usize>> {
        Ok(estimate_tokens(texts))
    }

    async fn probe(&self) -> Result<()> {
        self.client.reach().await
    }
}
