//! A reranker on ONNX Runtime. It is a cross-encoder, a BERT-like network that scores a question
//! and a text together.

use std::path::PathBuf;
use std::sync::Arc;

use async_trait::async_trait;
use ports::reranker::Reranker;
use ports::{ErrorKind, PortError, Result};

use crate::blocking;
use crate::onnx::{BertTokenizer, Inputs, Pool, Runtime, Threading, Tokens, failed, unfit};

/// The model files and limits.
#[derive(Debug, Clone, PartialEq)]
pub struct OnnxRerankerOptions {
    /// The ONNX file. The inputs are `input_ids`, `attention_mask` and, optionally,
    /// `token_type_ids`, all of type int64 and shape [batch, sequence]. The first output has type
    /// float32 and shape [batch] or [batch, 1]. It is the logit of the probability that the text
    /// answers the question.
    pub model: PathBuf,
    /// The model's `tokenizer.json`.
    pub tokenizer: PathBuf,
    /// Maximum number of tokens in a question and a text together, including special tokens. Longer
    /// texts are truncated.
    pub max_tokens: usize,
    /// Numbers of threads and sessions of the network.
    pub threading: Threading,
}

/// A cross-encoder reranker. Clones are cheap.
#[derive(Clone)]
pub struct OnnxReranker {
    network: Arc<Network>,
    name: String,
}

struct Network {
    pool: Pool,
    tokenizer: BertTokenizer,
}

/// The tokens of a question and a text, and the text's index in the request.
struct Pair {
    index: usize,
    tokens: Tokens,
}

/// Minimum value of `max_tokens`.
const MIN_TOKENS: usize = 16;

/// Maximum number of tokens in a batch, including padding. Larger batches are not faster on a CPU.
const MAX_BATCH_TOKENS: usize = 512;

impl OnnxReranker {
    /// Opens the model and runs it once, so that an unsuitable model fails here. *Blocks*.
    pub fn open(runtime: &Runtime, options: &OnnxRerankerOptions) -> Result<Self> {
        let OnnxRerankerOptions { model, tokenizer, max_tokens, threading } = options;
        let max_tokens = (*max_tokens).max(MIN_TOKENS);
        let pool = Pool::open(runtime, model, *threading, Inputs::Short)?;
        let tokenizer = BertTokenizer::open(tokenizer, max_tokens)?.for_pool(&pool)?;
        let network = Network { pool, tokenizer };
        network.score("Who?", &["Anna.".to_owned()]).map_err(|e| unfit(model, e))?;
        let name = model.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        Ok(Self { network: Arc::new(network), name })
    }
}

impl Network {
    fn score(&self, question: &str, texts: &[String]) -> Result<Vec<f32>> {
        let mut pairs = Vec::with_capacity(texts.len());
        for (index, text) in texts.iter().enumerate() {
            pairs.push(Pair { index, tokens: self.tokenizer.pair(question, text)? });
        }
        // Pairs of similar length share a batch, which keeps padding small.
        pairs.sort_by_key(|pair| pair.tokens.len());
        let mut batches: Vec<Vec<Pair>> = Vec::new();
        for pair in pairs {
            let fits =
                |batch: &&mut Vec<Pair>| (batch.len() + 1) * pair.tokens.len() <= MAX_BATCH_TOKENS;
            match batches.last_mut().filter(fits) {
                Some(batch) => batch.push(pair),
                None => batches.push(vec![pair]),
            }
        }
        let mut scores = vec![0.0; texts.len()];
        for batch in batches {
            for (pair, logit) in batch.iter().zip(self.logits(&batch)?) {
                scores[pair.index] = logistic(logit)?;
            }
        }
        Ok(scores)
    }

    fn logits(&self, batch: &[Pair]) -> Result<Vec<f32>> {
        let length = batch.iter().map(|pair| pair.tokens.len()).max().unwrap_or(0);
        let inputs = self.tokenizer.inputs(batch.iter().map(|pair| &pair.tokens))?;
        self.pool.with_sized(batch.len() * length, |session, options| {
            let outputs = session.run_with_options(inputs, options).map_err(failed)?;
            let (shape, logits) = outputs[0].try_extract_tensor::<f32>().map_err(failed)?;
            let rows = batch.len() as i64;
            if shape[..] != [rows] && shape[..] != [rows, 1] {
                let message =
                    format!("it answers {shape:?} instead of one number for each of {rows}");
                return Err(PortError::new(ErrorKind::Invalid, message));
            }
            Ok(logits.to_vec())
        })
    }
}

fn logistic(logit: f32) -> Result<f32> {
    match logit.is_finite() {
        true => Ok(1.0 / (1.0 + (-logit).exp())),
        false => Err(PortError::new(
            ErrorKind::Corrupt,
            "the reranker yields numbers that are not finite; its file is damaged",
        )),
    }
}

#[async_trait]
impl Reranker for OnnxReranker {
    fn model(&self) -> &str {
        &self.name
    }

    async fn score(&self, question: &str, texts: &[String]) -> Result<Vec<f32>> {
        let (network, question) = (Arc::clone(&self.network), question.to_owned());
        let texts = texts.to_vec();
        blocking::run(move || network.score(&question, &texts)).await
    }
}
