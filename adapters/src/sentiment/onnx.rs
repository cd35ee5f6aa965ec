//! Sentiment analysis with a text classifier (RoBERTa, DistilBERT or similar) on ONNX Runtime, as
//! exported by optimum. The model may have two classes, three classes, or one to five stars.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use async_trait::async_trait;
use ports::sentiment::{Sentiment, SentimentClassifier};
use ports::{ErrorKind, PortError, Result};
use serde::Deserialize;

use crate::blocking;
use crate::onnx::{BertTokenizer, Inputs, Pool, Runtime, Threading, failed, unfit};

/// Options of [`OnnxSentiment::open`].
#[derive(Debug, Clone, PartialEq)]
pub struct OnnxSentimentOptions {
    /// Folder that contains `model.onnx`, `tokenizer.json` and `config.json`. In `config.json`,
    /// `id2label` names the classes. The network's inputs are `input_ids`, `attention_mask` and,
    /// optionally, `token_type_ids`, all of type int64 and shape [batch, sequence]. Its first
    /// output has type float32 and shape [batch, classes].
    pub folder: PathBuf,
    /// Maximum number of tokens per text, including special tokens. Longer texts are truncated.
    pub max_tokens: usize,
    /// Numbers of threads and sessions of the network.
    pub threading: Threading,
}

/// The classifier. Clones are cheap.
#[derive(Clone)]
pub struct OnnxSentiment {
    classifier: Arc<Classifier>,
    name: String,
}

struct Classifier {
    pool: Pool,
    tokenizer: BertTokenizer,
    classes: Vec<Class>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Class {
    Positive,
    Neutral,
    Negative,
}

/// The relevant part of `config.json`.
#[derive(Deserialize)]
struct Config {
    id2label: std::collections::BTreeMap<usize, String>,
}

const NEUTRAL: Sentiment = Sentiment { positive: 0.0, neutral: 1.0, negative: 0.0 };

impl OnnxSentiment {
    /// Opens the model and runs it on one word, so that an unsuitable model fails here. *Blocks*.
    pub fn open(runtime: &Runtime, options: &OnnxSentimentOptions) -> Result<Self> {
        let model = options.folder.join("model.onnx");
        let pool = Pool::open(runtime, &model, options.threading, Inputs::Varied)?;
        let tokenizer = options.folder.join("tokenizer.json");
        let classifier = Classifier {
            tokenizer: BertTokenizer::open(&tokenizer, options.max_tokens.max(8))?
                .for_pool(&pool)?,
            pool,
            classes: classes(&options.folder.join("config.json"))?,
        };
        classifier.judge("fine").map_err(|e| unfit(&model, e))?;
        let name = options.folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
        Ok(Self { classifier: Arc::new(classifier), name })
    }
}

/// Returns the class of each output of the network.
fn classes(config: &Path) -> Result<Vec<Class>> {
    let invalid = |why: String| {
        PortError::new(ErrorKind::Invalid, format!("cannot use {}: {why}", config.display()))
    };
    let bytes = std::fs::read(config).map_err(|e| invalid(e.to_string()))?;
    let Config { id2label } =
        serde_json::from_slice(&bytes).map_err(|e| invalid(format!("no id2label: {e}")))?;
    let labels: Vec<String> = id2label.into_values().map(|label| label.to_lowercase()).collect();
    let class = |label: &String| match label.as_str() {
        l if l.starts_with("pos") => Some(Class::Positive),
        l if l.starts_with("neu") => Some(Class::Neutral),
        l if l.starts_with("neg") => Some(Class::Negative),
        "1 star" | "2 stars" => Some(Class::Negative),
        "3 stars" => Some(Class::Neutral),
        "4 stars" | "5 stars" => Some(Class::Positive),
        // This is the usual order in models that do not name their classes.
        "label_0" => Some(Class::Negative),
        "label_1" if labels.len() == 3 => Some(Class::Neutral),
        "label_1" if labels.len() == 2 => Some(Class::Positive),
        "label_2" if labels.len() == 3 => Some(Class::Positive),
        _ => None,
    };
    let found: Option<Vec<Class>> = labels.iter().map(class).collect();
    let both =
        |found: &Vec<Class>| found.contains(&Class::Positive) && found.contains(&Class::Negative);
    found.filter(both).ok_or_else(|| {
        invalid(format!(
            "its labels are {}; positive, negative and neutral, or 1 star to 5 stars, would do",
            labels.join(", ")
        ))
    })
}

impl Classifier {
    fn judge(&self, text: &str) -> Result<Sentiment> {
        if !text.contains(char::is_alphabetic) {
            return Ok(NEUTRAL);
        }
        let tokens = self.tokenizer.text(text)?;
        let inputs = self.tokenizer.inputs(std::iter::once(&tokens))?;
        let logits = self.pool.with(|session| {
            let outputs = session.run(inputs).map_err(failed)?;
            let (shape, logits) = outputs[0].try_extract_tensor::<f32>().map_err(failed)?;
            if shape[..] != [1, self.classes.len() as i64] {
                let count = self.classes.len();
                let message = format!("it answers {shape:?} instead of 1 row of {count} classes");
                return Err(PortError::new(ErrorKind::Invalid, message));
            }
            Ok(logits.to_vec())
        })?;
        shares(&self.classes, &logits)
    }
}

/// Computes the softmax of the logits and sums its values by class. If there are only two classes,
/// the undecided share counts as neutral.
fn shares(classes: &[Class], logits: &[f32]) -> Result<Sentiment> {
    let max_logit = logits.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let weights: Vec<f32> = logits.iter().map(|logit| (logit - max_logit).exp()).collect();
    let sum: f32 = weights.iter().sum();
    if !sum.is_finite() || sum <= 0.0 {
        let message = "the sentiment model yields numbers that are not finite; its file is damaged";
        return Err(PortError::new(ErrorKind::Corrupt, message));
    }
    let share = |class: Class| {
        let of_class = classes.iter().zip(&weights).filter(|(of, _)| **of == class);
        of_class.map(|(_, weight)| weight / sum).sum::<f32>()
    };
    let (positive, negative) = (share(Class::Positive), share(Class::Negative));
    if classes.contains(&Class::Neutral) {
        return Ok(Sentiment { positive, neutral: share(Class::Neutral), negative });
    }
    let undecided = 2.0 * positive.min(negative);
    Ok(Sentiment {
        positive: (positive - negative).max(0.0),
        neutral: undecided,
        negative: (negative - positive).max(0.0),
    })
}

#[async_trait]
impl SentimentClassifier for OnnxSentiment {
    fn model(&self) -> &str {
        &self.name
    }

    async fn classify(&self, texts: &[String]) -> Result<Vec<Sentiment>> {
        let (classifier, texts) = (Arc::clone(&self.classifier), texts.to_vec());
        blocking::run(move || texts.iter().map(|text| classifier.judge(text)).collect()).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Deserialize)]
    struct Case {
        text: String,
        shares: [f32; 3],
    }

    fn fixture(name: &str) -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(name)
    }

    #[test]
    fn classes_are_recognised_by_name() {
        let folder = tempfile::tempdir().unwrap();
        let config = folder.path().join("config.json");
        let classes_of = |labels: &[&str]| {
            let labels: std::collections::BTreeMap<_, _> = labels.iter().enumerate().collect();
            let text = serde_json::json!({"id2label": labels}).to_string();
            std::fs::write(&config, text).unwrap();
            classes(&config)
        };
        use Class::{Negative, Neutral, Positive};
        for (labels, expected) in [
            (&["negative", "neutral", "positive"][..], vec![Negative, Neutral, Positive]),
            (&["POSITIVE", "NEGATIVE"], vec![Positive, Negative]),
            (&["LABEL_0", "LABEL_1", "LABEL_2"], vec![Negative, Neutral, Positive]),
            (&["LABEL_0", "LABEL_1"], vec![Negative, Positive]),
            (
                &["1 star", "2 stars", "3 stars", "4 stars", "5 stars"],
                vec![Negative, Negative, Neutral, Positive, Positive],
            ),
        ] {
            assert_eq!(classes_of(labels).unwrap(), expected, "{labels:?}");
        }
        let error = classes_of(&["joy", "anger"]).unwrap_err().to_string();
        assert!(error.contains("joy, anger") && error.contains("config.json"), "{error}");
    }

    #[test]
    fn two_classes_leave_a_neutral_share() {
        let classes = [Class::Negative, Class::Positive];
        let found = shares(&classes, &[0.0, 0.0]).unwrap();
        assert_eq!((found.positive, found.neutral, found.negative), (0.0, 1.0, 0.0));
        let found = shares(&classes, &[0.0, 20.0]).unwrap();
        assert!(found.positive > 0.999 && found.negative == 0.0);
        assert!(shares(&classes, &[f32::NAN, 0.0]).is_err());
    }

    #[tokio::test]
    async fn shares_equal_the_reference() {
        let Some(library) = std::env::var_os("SHOTLOG_ONNXRUNTIME") else {
            eprintln!("skipped: SHOTLOG_ONNXRUNTIME is not set");
            return;
        };
        let runtime = Runtime::load(Path::new(&library)).unwrap();
        let options = OnnxSentimentOptions {
            folder: fixture("sentiment"),
            max_tokens: 64,
            threading: Threading::default(),
        };
        let classifier = OnnxSentiment::open(&runtime, &options).unwrap();
        assert_eq!(classifier.model(), "sentiment");
        let cases: Vec<Case> =
            serde_json::from_slice(&std::fs::read(fixture("sentiment/reference.json")).unwrap())
                .unwrap();
        let texts: Vec<String> = cases.iter().map(|case| case.text.clone()).collect();
        let found = classifier.classify(&texts).await.unwrap();
        assert_eq!(found.len(), cases.len());
        for (found, case) in found.iter().zip(&cases) {
            let found = [found.positive, found.neutral, found.negative];
            for (found, expected) in found.iter().zip(&case.shares) {
                assert!((found - expected).abs() < 1e-4, "{}: {found} {expected}", case.text);
            }
        }
        ports::conformance::sentiment::suite(&classifier).await;
        let options = OnnxSentimentOptions { folder: fixture("gliner"), ..options };
        assert!(OnnxSentiment::open(&runtime, &options).is_err(), "a GLiNER network is refused");
    }
}
