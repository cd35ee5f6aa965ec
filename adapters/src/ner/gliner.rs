//! Named entity recognition with GLiNER (Zaratiana et al., NAACL 2024) on ONNX Runtime. The labels
//! are part of the prompt, and every span of a few words gets a score for every label.

use std::path::PathBuf;
use std::sync::Arc;

use async_trait::async_trait;
use ndarray::{Array2, Array3};
use ort::value::Tensor;
use ports::ner::{EntityRecognizer, EntitySpan};
use ports::{ErrorKind, PortError, Result};
use serde::Deserialize;
use tokenizers::{Encoding, InputSequence, Tokenizer};

use crate::blocking;
use crate::onnx::{Inputs, Pool, Runtime, Threading, failed, open_tokenizer, unfit};

/// Options of [`Gliner::open`].
#[derive(Debug, Clone, PartialEq)]
pub struct GlinerOptions {
    /// Folder that contains `model.onnx` (the span-level export), `tokenizer.json` and
    /// `gliner_config.json`.
    pub folder: PathBuf,
    /// The labels to find, such as `person` or `place`.
    pub labels: Vec<String>,
    /// Minimum confidence of a span, 0..1.
    pub threshold: f32,
    /// Numbers of threads and sessions of the network.
    pub threading: Threading,
}

/// The recogniser. Clones are cheap.
#[derive(Clone)]
pub struct Gliner {
    network: Arc<Network>,
    name: String,
}

struct Network {
    pool: Pool,
    tokenizer: Tokenizer,
    config: Config,
    labels: Vec<String>,
    threshold: f32,
}

/// The relevant part of `gliner_config.json`. The defaults are the published values.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(default)]
struct Config {
    /// Maximum number of words in a span.
    max_width: usize,
    /// Maximum number of words per window.
    max_len: usize,
    ent_token: String,
    sep_token: String,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            max_width: 12,
            max_len: 384,
            ent_token: "<<ENT>>".into(),
            sep_token: "<<SEP>>".into(),
        }
    }
}

/// A span of words, a label, and the probability that the span has this label.
#[derive(Debug, Clone, Copy, PartialEq)]
struct SpanScore {
    first: usize,
    last: usize,
    label: usize,
    probability: f32,
}

impl Gliner {
    /// Opens the model and runs it on one word, so that an unsuitable model fails here. *Blocks*.
    pub fn open(runtime: &Runtime, options: &GlinerOptions) -> Result<Self> {
        let invalid = |message: String| PortError::new(ErrorKind::Invalid, message);
        if options.labels.iter().all(|label| label.trim().is_empty()) {
            return Err(invalid("GLiNER needs labels to look for, as person and place".into()));
        }
        let file = options.folder.join("gliner_config.json");
        let unusable = |why: String| invalid(format!("cannot use {}: {why}", file.display()));
        let bytes = std::fs::read(&file).map_err(|e| unusable(e.to_string()))?;
        let config: Config = serde_json::from_slice(&bytes).map_err(|e| unusable(e.to_string()))?;
        if config.max_width == 0 || config.max_len == 0 {
            return Err(unusable("max_width and max_len are at least 1".into()));
        }
        let model = options.folder.join("model.onnx");
        let network = Network {
            pool: Pool::open(runtime, &model, options.threading, Inputs::Varied)?,
            tokenizer: open_tokenizer(&options.folder.join("tokenizer.json"), None)?,
            config,
            labels: options.labels.clone(),
            threshold: options.threshold,
        };
        network.spans("word").map_err(|e| unfit(&model, e))?;
        let name = options.folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
        Ok(Self { network: Arc::new(network), name })
    }
}

impl Network {
    fn spans(&self, text: &str) -> Result<Vec<EntitySpan>> {
        let mut found = Vec::new();
        for window in windows(text, &words(text), self.config.max_len) {
            let scored = best(self.scores(text, window)?);
            found.extend(scored.into_iter().map(|span| EntitySpan {
                range: window[span.first].0..window[span.last].1,
                label: self.labels[span.label].clone(),
                confidence: span.probability,
            }));
        }
        Ok(found)
    }

    /// Returns every span above the threshold.
    fn scores(&self, text: &str, words: &[(usize, usize)]) -> Result<Vec<SpanScore>> {
        let (count, width) = (words.len(), self.config.max_width);
        let encoding = self.encode(text, words)?;
        let starts = word_starts(encoding.get_word_ids(), 2 * self.labels.len() + 1);
        if starts.iter().filter(|start| **start > 0).count() != count {
            // The tokenizer drops some characters, such as control characters. A word that consists
            // only of such characters has no token.
            return self.without_unread(text, words, &starts);
        }
        let tokens = starts.len();
        let (spans, valid) = span_grid(count, width);
        let ids: Vec<i64> = encoding.get_ids().iter().map(|&id| i64::from(id)).collect();
        let row = |values: Vec<i64>| Tensor::from_array(([1, tokens], values)).map_err(failed);
        let inputs = ort::inputs![
            "input_ids" => row(ids)?,
            "attention_mask" => row(vec![1; tokens])?,
            "words_mask" => row(starts)?,
            "text_lengths" => Tensor::from_array(([1, 1], vec![count as i64])).map_err(failed)?,
            "span_idx" => Tensor::from_array(spans).map_err(failed)?,
            "span_mask" => Tensor::from_array(valid).map_err(failed)?,
        ];
        self.pool.with(|session| {
            let outputs = session.run(inputs).map_err(failed)?;
            let (shape, logits) = outputs[0].try_extract_tensor::<f32>().map_err(failed)?;
            let expected = [1, count as i64, width as i64, self.labels.len() as i64];
            if shape[..] != expected {
                let message = format!("it scores {shape:?} instead of {expected:?}");
                return Err(PortError::new(ErrorKind::Invalid, message));
            }
            Ok(self.probable_spans(logits, count))
        })
    }

    /// Tokenizes the prompt, which consists of every label after a marker, a separator, and the
    /// words.
    fn encode(&self, text: &str, words: &[(usize, usize)]) -> Result<Encoding> {
        let mut prompt: Vec<&str> = Vec::with_capacity(2 * self.labels.len() + 1 + words.len());
        for label in &self.labels {
            prompt.extend([self.config.ent_token.as_str(), label.as_str()]);
        }
        prompt.push(self.config.sep_token.as_str());
        prompt.extend(words.iter().map(|&(start, end)| &text[start..end]));
        self.tokenizer
            .encode(InputSequence::from(prompt.as_slice()), true)
            .map_err(|e| PortError::new(ErrorKind::Invalid, format!("cannot tokenize a text: {e}")))
    }

    /// Returns the spans above the threshold, given logits `[words, width, labels]`.
    fn probable_spans(&self, logits: &[f32], words: usize) -> Vec<SpanScore> {
        let (width, labels) = (self.config.max_width, self.labels.len());
        let mut scored = Vec::new();
        for (place, logit) in logits.iter().enumerate() {
            let (first, long, label) =
                (place / labels / width, place / labels % width, place % labels);
            let probability = 1.0 / (1.0 + (-logit).exp());
            if first + long < words && probability > self.threshold {
                scored.push(SpanScore { first, last: first + long, label, probability });
            }
        }
        scored
    }

    /// Scores only the words that have tokens. The returned spans are indices among all words.
    fn without_unread(
        &self,
        text: &str,
        words: &[(usize, usize)],
        starts: &[i64],
    ) -> Result<Vec<SpanScore>> {
        let read: Vec<usize> =
            (0..words.len()).filter(|at| starts.contains(&(*at as i64 + 1))).collect();
        if read.is_empty() {
            return Ok(Vec::new());
        }
        let kept: Vec<(usize, usize)> = read.iter().map(|&at| words[at]).collect();
        let scored = self.scores(text, &kept)?;
        let placed =
            |span: SpanScore| SpanScore { first: read[span.first], last: read[span.last], ..span };
        Ok(scored.into_iter().map(placed).collect())
    }
}

/// Returns, for each token, the number of the word that begins with the token, or 0 if no word
/// begins with it. Words are counted from 1, after the first `skipped` words.
fn word_starts(word_ids: &[Option<u32>], skipped: usize) -> Vec<i64> {
    let mut starts = Vec::with_capacity(word_ids.len());
    let mut previous = None;
    for word in word_ids {
        let new = *word != previous;
        let number = word.and_then(|word| (word as usize + 1).checked_sub(skipped));
        starts.push(if new { number.unwrap_or(0) as i64 } else { 0 });
        previous = *word;
    }
    starts
}

/// Returns the first and last word of every span of up to `width` words among `count` words, and a
/// mask of the rows that contain a span.
fn span_grid(count: usize, width: usize) -> (Array3<i64>, Array2<bool>) {
    let mut spans = Array3::<i64>::zeros((1, count * width, 2));
    let mut valid = Array2::from_elem((1, count * width), false);
    for first in 0..count {
        for (long, last) in (first..count).take(width).enumerate() {
            let row = first * width + long;
            (spans[[0, row, 0]], spans[[0, row, 1]]) = (first as i64, last as i64);
            valid[[0, row]] = true;
        }
    }
    (spans, valid)
}

/// Returns the most probable spans that do not overlap, in order.
fn best(mut scored: Vec<SpanScore>) -> Vec<SpanScore> {
    scored.sort_by(|a, b| b.probability.total_cmp(&a.probability));
    let mut chosen: Vec<SpanScore> = Vec::new();
    for span in scored {
        if chosen.iter().all(|other| span.last < other.first || other.last < span.first) {
            chosen.push(span);
        }
    }
    chosen.sort_by_key(|span| span.first);
    chosen
}

/// Finds the byte offsets of words, including inner hyphens and underscores, and of every other
/// non-space character. The result equals that of the pattern `\w+(?:[-_]\w+)*|\S`, which was used
/// in training.
fn words(text: &str) -> Vec<(usize, usize)> {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let mut found = Vec::new();
    let mut chars = text.char_indices().peekable();
    while let Some((start, c)) = chars.next() {
        let mut end = start + c.len_utf8();
        if is_word(c) {
            while let Some(&(at, c)) = chars.peek() {
                let next = text[at + c.len_utf8()..].chars().next();
                let continues = is_word(c) || (c == '-' && next.is_some_and(is_word));
                if !continues {
                    break;
                }
                end = at + c.len_utf8();
                chars.next();
            }
        } else if c.is_whitespace() {
            continue;
        }
        found.push((start, end));
    }
    found
}

/// Splits words into windows of at most `max_words` words. A window ends at the end of a sentence
/// if a sentence ends in the second half of the window.
fn windows<'a>(
    text: &str,
    mut words: &'a [(usize, usize)],
    max_words: usize,
) -> Vec<&'a [(usize, usize)]> {
    let mut found = Vec::new();
    while words.len() > max_words {
        let ends = |at: &usize| matches!(&text[words[*at].0..words[*at].1], "." | "!" | "?");
        let cut = (max_words / 2..max_words).rev().find(ends).map_or(max_words, |at| at + 1);
        let (window, rest) = words.split_at(cut);
        found.push(window);
        words = rest;
    }
    if !words.is_empty() {
        found.push(words);
    }
    found
}

#[async_trait]
impl EntityRecognizer for Gliner {
    fn model(&self) -> &str {
        &self.name
    }

    fn labels(&self) -> &[String] {
        &self.network.labels
    }

    async fn recognize(&self, texts: &[String]) -> Result<Vec<Vec<EntitySpan>>> {
        let (network, texts) = (Arc::clone(&self.network), texts.to_vec());
        blocking::run(move || texts.iter().map(|text| network.spans(text)).collect()).await
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    #[derive(Deserialize)]
    struct Case {
        text: String,
        /// The text, label and probability of each span.
        spans: Vec<(String, String, f32)>,
    }

    fn fixture(name: &str) -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(name)
    }

    #[test]
    fn words_match_the_training_pattern() {
        for (text, expected) in [
            ("Jean-Luc met NASA_2, twice.", vec!["Jean-Luc", "met", "NASA_2", ",", "twice", "."]),
            ("a - b -c d-", vec!["a", "-", "b", "-", "c", "d", "-"]),
            ("  Grüße!! 日本 ", vec!["Grüße", "!", "!", "日本"]),
            ("", vec![]),
        ] {
            let found: Vec<&str> = words(text).into_iter().map(|(a, b)| &text[a..b]).collect();
            assert_eq!(found, expected, "{text}");
        }
    }

    #[test]
    fn overlapping_spans_keep_the_most_probable() {
        let span = |first, last, probability| SpanScore { first, last, label: 0, probability };
        let chosen = best(vec![
            span(4, 4, 0.7),
            span(0, 1, 0.8),
            span(1, 2, 0.9),
            span(2, 2, 0.6),
            span(0, 0, 0.55),
        ]);
        assert_eq!(chosen, [span(0, 0, 0.55), span(1, 2, 0.9), span(4, 4, 0.7)]);
    }

    #[test]
    fn long_texts_split_at_sentence_ends() {
        let text = "one two three . four five six seven eight nine ten";
        let parts =
            windows(text, &words(text), 5).iter().map(|window| window.len()).collect::<Vec<_>>();
        assert_eq!(parts, [4, 5, 2]);
    }

    #[tokio::test]
    async fn spans_equal_the_reference() {
        let Some(library) = std::env::var_os("SHOTLOG_ONNXRUNTIME") else {
            eprintln!("skipped: SHOTLOG_ONNXRUNTIME is not set");
            return;
        };
        let runtime = Runtime::load(Path::new(&library)).unwrap();
        let options = GlinerOptions {
            folder: fixture("gliner"),
            labels: ["person", "place", "organisation"].map(str::to_owned).to_vec(),
            threshold: 0.5,
            threading: Threading::default(),
        };
        let recognizer = Gliner::open(&runtime, &options).unwrap();
        assert_eq!(recognizer.model(), "gliner");
        let cases: Vec<Case> =
            serde_json::from_slice(&std::fs::read(fixture("gliner/reference.json")).unwrap())
                .unwrap();
        assert!(cases.iter().map(|case| case.spans.len()).sum::<usize>() > 5);
        for case in &cases {
            let found = recognizer.recognize(std::slice::from_ref(&case.text)).await.unwrap();
            let found = &found[0];
            let entity = |i: usize| (&case.text[found[i].range.clone()], found[i].label.as_str());
            assert_eq!(
                (0..found.len()).map(entity).collect::<Vec<_>>(),
                case.spans.iter().map(|(t, l, _)| (t.as_str(), l.as_str())).collect::<Vec<_>>(),
                "{}",
                case.text
            );
            for (found, (.., expected)) in found.iter().zip(&case.spans) {
                assert!((found.confidence - expected).abs() < 1e-3, "{found:?} {expected}");
            }
        }
        ports::conformance::ner::suite(&recognizer, &cases[0].text).await;
        let none = GlinerOptions { labels: Vec::new(), ..options.clone() };
        assert!(Gliner::open(&runtime, &none).is_err());
        let other = GlinerOptions { folder: fixture("sentiment"), ..options };
        let error = Gliner::open(&runtime, &other).err().unwrap().to_string();
        assert!(error.contains("gliner_config.json"), "{error}");
    }
}
