//! The files of a CLIP model, in the layouts of transformers.js and Immich.

use std::path::{Path, PathBuf};

use ports::{ErrorKind, PortError, Result};
use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::preprocessing::{CenterCrop, ClipPreprocessing, OpenClipPreprocessing};

/// The files of a model.
pub(super) struct ModelFolder {
    pub(super) vision: PathBuf,
    pub(super) text: PathBuf,
    pub(super) tokenizer: PathBuf,
    pub(super) preprocessing: ClipPreprocessing,
    /// The files of the configuration.
    configs: Vec<PathBuf>,
    /// The maximum number of tokens of a text, if the tokenizer's configuration states it.
    pub(super) context: Option<usize>,
    /// The token that fills up a text.
    pub(super) pad_token: Option<String>,
}

/// `tokenizer_config.json`.
#[derive(Default, Deserialize)]
#[serde(default)]
struct TokenizerConfig {
    model_max_length: Option<f64>,
    pad_token: Option<Token>,
}

/// A token, either as text or as an object with its properties.
#[derive(Deserialize)]
#[serde(untagged)]
enum Token {
    Text(String),
    Properties { content: String },
}

/// The endings of the names of `vision_model` and `text_model`, in order of preference.
const VARIANTS: &[&str] = &["", "_quantized", "_int8", "_uint8"];

/// The longest texts that are plausible, in tokens. Some configurations state astronomical numbers
/// for "no limit".
const MAX_CONTEXT: f64 = 4096.0;

impl ModelFolder {
    /// Finds the files. The error of a folder without them says which are expected.
    pub(super) fn open(folder: &Path) -> Result<Self> {
        if folder.join("visual").is_dir() || folder.join("textual").is_dir() {
            let preprocessing =
                read::<OpenClipPreprocessing>(folder, "visual/preprocess_cfg.json")?;
            return Self::with_files(
                folder,
                file(folder, "visual/model.onnx")?,
                file(folder, "textual/model.onnx")?,
                "textual/",
                "visual/preprocess_cfg.json",
                preprocessing.try_into().map_err(|why| unusable(folder, why))?,
            );
        }
        if folder.join("onnx").is_dir() || folder.join("preprocessor_config.json").is_file() {
            let preprocessing = read::<CenterCrop>(folder, "preprocessor_config.json")?;
            return Self::with_files(
                folder,
                variant(folder, "onnx/vision_model")?,
                variant(folder, "onnx/text_model")?,
                "",
                "preprocessor_config.json",
                preprocessing.try_into().map_err(|why| unusable(folder, why))?,
            );
        }
        Err(PortError::new(
            ErrorKind::NotFound,
            format!(
                "no CLIP model in {}: it needs onnx/vision_model.onnx, onnx/text_model.onnx, \
                 preprocessor_config.json and tokenizer.json (transformers.js), or \
                 visual/model.onnx, visual/preprocess_cfg.json, textual/model.onnx and \
                 textual/tokenizer.json (Immich)",
                folder.display()
            ),
        ))
    }

    fn with_files(
        folder: &Path,
        vision: PathBuf,
        text: PathBuf,
        tokenizer: &str,
        image_config: &str,
        preprocessing: ClipPreprocessing,
    ) -> Result<Self> {
        let text_config = format!("{tokenizer}tokenizer_config.json");
        let mut configs = vec![folder.join(image_config)];
        let mut config = TokenizerConfig::default();
        if folder.join(&text_config).is_file() {
            config = read(folder, &text_config)?;
            configs.push(folder.join(&text_config));
        }
        let plausible = |tokens: &f64| (2.0..=MAX_CONTEXT).contains(tokens);
        Ok(Self {
            vision,
            text,
            tokenizer: file(folder, &format!("{tokenizer}tokenizer.json"))?,
            preprocessing,
            configs,
            context: config.model_max_length.filter(plausible).map(|tokens| tokens as usize),
            pad_token: config.pad_token.map(|token| match token {
                Token::Text(text) | Token::Properties { content: text } => text,
            }),
        })
    }

    /// All files that affect the vectors.
    pub(super) fn files(&self) -> impl Iterator<Item = &PathBuf> {
        [&self.vision, &self.text, &self.tokenizer].into_iter().chain(&self.configs)
    }
}

/// Returns the path of a file that must exist.
fn file(folder: &Path, name: &str) -> Result<PathBuf> {
    let path = folder.join(name);
    if path.is_file() {
        return Ok(path);
    }
    Err(PortError::new(ErrorKind::NotFound, format!("no {name} in {}", folder.display())))
}

/// Returns the first variant of a network that exists.
fn variant(folder: &Path, name: &str) -> Result<PathBuf> {
    let names = VARIANTS.iter().map(|ending| format!("{name}{ending}.onnx"));
    let found = names.clone().find(|name| folder.join(name).is_file());
    file(folder, &found.unwrap_or_else(|| format!("{name}.onnx")))
}

/// Reads a JSON file.
fn read<T: DeserializeOwned>(folder: &Path, name: &str) -> Result<T> {
    let text = std::fs::read(file(folder, name)?)?;
    serde_json::from_slice(&text).map_err(|e| unusable(folder, format!("{name}: {e}")))
}

fn unusable(folder: &Path, why: String) -> PortError {
    PortError::new(
        ErrorKind::Invalid,
        format!("cannot use the model in {}: {why}", folder.display()),
    )
}
