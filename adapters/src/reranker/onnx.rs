//! A cross-encoder (a BERT-like network that reads a question and a text together) on ONNX Runtime.

use std::path::PathBuf;
use std::sync::Arc;

use async_trait::async_trait;
use ports::reranker::Reranker;
use ports::{ErrorKind, PortError, Result};

use crate::blocking;
use crate::onnx::{BertTokenizer, Inputs, Pool, Runtime, Threading, Tokens, failed, unfit};

/// What to open.
#[derive(Debug, Clone, PartialEq)]
pub struct OnnxRerankerOptions {
    /// The ONNX file. Its inputs are `input_ids`, `attention_mask` and, if it has it, `token_type_ids`,
    /// int64 [batch, sequence]; its first output is float32 [batch] or [batch, 1], whose logistic is the
    /// probability that the text answers the question.
    pub model: PathBuf,
    /// The `tokenizer.json` that belongs to it.
    pub tokenizer: PathBuf,
    /// Tokens of a question and a text together that are read, special ones included.
    pub max_tokens: usize,
    /// How the processor is used.
    pub threading: Threading,
}

/// The reranker. Cheap to clone.
#[derive(Clone)]
pub struct OnnxReranker {
    network: Arc<Network>,
    name: String,
}

struct Network {
    pool: Pool,
    tokenizer: BertTokenizer,
}

/// A pair's place in the request and its tokens.
struct Pair {
    place: usize,
    tokens: Tokens,
}

/// Fewest tokens that a question and a text are worth reading with.
const LEAST_TOKENS: usize = 16;

/// Most tokens of a run, padding included: a processor computes more at once no faster.
const RUN_TOKENS: usize = 512;

impl OnnxReranker {
    /// Opens the model and tries it, so that a model of another kind fails here. *Blocks*.
    pub fn open(runtime: &Runtime, options: &OnnxRerankerOptions) -> Result<Self> {
        let OnnxRerankerOptions { model, tokenizer, max_tokens, threading } = options;
        let max_tokens = (*max_tokens).max(LEAST_TOKENS);
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
        for (place, text) in texts.iter().enumerate() {
            pairs.push(Pair { place, tokens: self.tokenizer.pair(question, text)? });
        }
        // Pairs of like length in one run, so that little of it is padding.
        pairs.sort_by_key(|pair| pair.tokens.len());
        let mut runs: Vec<Vec<Pair>> = Vec::new();
        for pair in pairs {
            let fits = |run: &&mut Vec<Pair>| (run.len() + 1) * pair.tokens.len() <= RUN_TOKENS;
            match runs.last_mut().filter(fits) {
                Some(run) => run.push(pair),
                None => runs.push(vec![pair]),
            }
        }
        let mut scores = vec![0.0; texts.len()];
        for run in runs {
            for (pair, logit) in run.iter().zip(self.logits(&run)?) {
                scores[pair.place] = logistic(logit)?;
            }
        }
        Ok(scores)
    }

    fn logits(&self, run: &[Pair]) -> Result<Vec<f32>> {
        let length = run.iter().map(|pair| pair.tokens.len()).max().unwrap_or(0);
        let inputs = self.tokenizer.inputs(run.iter().map(|pair| &pair.tokens))?;
        self.pool.with_sized(run.len() * length, |session, options| {
            let outputs = session.run_with_options(inputs, options).map_err(failed)?;
            let (shape, logits) = outputs[0].try_extract_tensor::<f32>().map_err(failed)?;
            let rows = run.len() as i64;
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
