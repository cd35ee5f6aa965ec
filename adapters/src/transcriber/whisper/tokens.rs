//! Whisper's vocabulary. It consists of byte-level word pieces, the special tokens, and a timestamp
//! for every 20 ms of a window, in this order.

use std::collections::HashMap;
use std::ops::Range;
use std::path::Path;

use ports::{ErrorKind, PortError, Result};
use serde::Deserialize;
use tokenizers::Tokenizer;

/// Seconds between adjacent timestamp tokens.
pub(super) const PRECISION: f64 = 0.02;

/// Minimum vocabulary size of multilingual models.
const FIRST_MULTILINGUAL: usize = 51_865;

/// Languages that are written without spaces between words.
const UNSPACED: [&str; 6] = ["zh", "ja", "th", "lo", "my", "yue"];

/// The relevant part of `generation_config.json`. The file may be missing.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Generation {
    suppress_tokens: Vec<i64>,
    begin_suppress_tokens: Vec<i64>,
    is_multilingual: Option<bool>,
}

/// The special tokens and the text of all other tokens.
pub(super) struct Vocabulary {
    /// The bytes of every text token; empty for special tokens.
    texts: Vec<Vec<u8>>,
    /// Language codes and their tokens; empty for an English-only model.
    pub(super) languages: Vec<(String, u32)>,
    pub(super) end: u32,
    pub(super) start: u32,
    pub(super) transcribe: u32,
    pub(super) no_speech: Option<u32>,
    /// The timestamp token for 0 s.
    pub(super) timestamps: u32,
    /// Tokens that are never generated.
    pub(super) suppressed: Vec<u32>,
    /// Tokens that are never generated as the first token.
    pub(super) suppressed_first: Vec<u32>,
}

impl Vocabulary {
    /// Reads `tokenizer.json` and, if present, `generation_config.json` from `folder`. If there is
    /// no `generation_config.json`, the vocabulary `size` shows whether the model is English-only.
    pub(super) fn open(folder: &Path, size: usize) -> Result<Self> {
        let file = folder.join("tokenizer.json");
        if !file.is_file() {
            let message = format!("no tokenizer at {}", file.display());
            return Err(PortError::new(ErrorKind::NotFound, message));
        }
        let unusable = |why: String| {
            let message = format!("cannot use the tokenizer {}: {why}", file.display());
            PortError::new(ErrorKind::Invalid, message)
        };
        let tokenizer = Tokenizer::from_file(&file).map_err(|e| unusable(e.to_string()))?;
        let config = folder.join("generation_config.json");
        let generation: Generation =
            if config.is_file() { super::json(&config)? } else { Generation::default() };

        let optional = |text: &str| tokenizer.token_to_id(text);
        let token = |text: &str| {
            optional(text).ok_or_else(|| unusable(format!("it has no {text}: not a Whisper one")))
        };
        let (end, start) = (token("<|endoftext|>")?, token("<|startoftranscript|>")?);
        let no_timestamps = token("<|notimestamps|>")?;
        let transcribe = token("<|transcribe|>")?;
        let no_speech = optional("<|nospeech|>").or_else(|| optional("<|nocaptions|>"));
        let steering = ["<|translate|>", "<|startoflm|>", "<|startofprev|>"];
        let mut suppressed: Vec<u32> = steering.iter().filter_map(|t| optional(t)).collect();
        suppressed.extend([start, transcribe, no_timestamps]);
        suppressed.extend(no_speech);
        let ids = |ids: &[i64]| ids.iter().filter_map(|id| u32::try_from(*id).ok()).collect();
        let listed: Vec<u32> = ids(&generation.suppress_tokens);
        suppressed.extend(listed);
        let mut suppressed_first: Vec<u32> = ids(&generation.begin_suppress_tokens);
        suppressed_first.push(end);
        suppressed_first.extend(optional("Ġ"));

        let mut languages = Vec::new();
        if generation.is_multilingual.unwrap_or(size >= FIRST_MULTILINGUAL) {
            // The language tokens are between the start token and the task tokens.
            let first_task = optional("<|translate|>").unwrap_or(transcribe).min(transcribe);
            languages = language_codes(&tokenizer, start + 1..first_task);
        }
        Ok(Self {
            texts: token_texts(&tokenizer, end.min(start)),
            languages,
            end,
            start,
            transcribe,
            no_speech,
            timestamps: no_timestamps + 1,
            suppressed,
            suppressed_first,
        })
    }

    /// Decodes tokens to text.
    pub(super) fn text(&self, tokens: &[u32]) -> String {
        let bytes: Vec<u8> =
            tokens.iter().filter_map(|t| self.texts.get(*t as usize)).flatten().copied().collect();
        String::from_utf8_lossy(&bytes).into_owned()
    }

    /// Groups text tokens into words. Splits before every space or, for languages without spaces,
    /// after every complete character.
    pub(super) fn words<'t>(&self, tokens: &'t [u32], language: &str) -> Vec<&'t [u32]> {
        let spaced = !UNSPACED.contains(&language);
        let mut words = Vec::new();
        let mut from = 0;
        for to in 1..=tokens.len() {
            let ends = match tokens.get(to) {
                None => true,
                Some(next) if spaced => {
                    self.texts.get(*next as usize).is_some_and(|text| text.starts_with(b" "))
                }
                Some(_) => !self.text(&tokens[from..to]).contains(char::REPLACEMENT_CHARACTER),
            };
            if ends {
                words.push(&tokens[from..to]);
                from = to;
            }
        }
        words
    }

    /// Returns the token that disables timestamps.
    pub(super) fn no_timestamps(&self) -> u32 {
        self.timestamps - 1
    }

    /// Returns the time of a timestamp token, in seconds. Returns `None` for other tokens.
    pub(super) fn seconds(&self, token: u32) -> Option<f64> {
        token.checked_sub(self.timestamps).map(|steps| f64::from(steps) * PRECISION)
    }
}

/// Returns the bytes of the first `count` tokens.
fn token_texts(tokenizer: &Tokenizer, count: u32) -> Vec<Vec<u8>> {
    let bytes = bytes_of_letters();
    let text = |id: u32| {
        let letters = tokenizer.id_to_token(id).unwrap_or_default();
        letters.chars().filter_map(|letter| bytes.get(&letter).copied()).collect()
    };
    (0..count).map(text).collect()
}

/// Returns the language codes among special tokens such as `<|en|>`.
fn language_codes(tokenizer: &Tokenizer, ids: Range<u32>) -> Vec<(String, u32)> {
    let language = |id: u32| {
        let text = tokenizer.id_to_token(id)?;
        let code = text.strip_prefix("<|")?.strip_suffix("|>")?;
        Some((code.to_owned(), id))
    };
    ids.filter_map(language).collect()
}

/// Returns the byte for each letter. Byte-level tokenizers represent every byte as a printable
/// letter. This is the character with the code of the byte if that is printable, otherwise a
/// character from U+0100 onwards.
fn bytes_of_letters() -> HashMap<char, u8> {
    let printable =
        |byte: u8| matches!(byte, b'!'..=b'~' | 0xA1..=0xAC) || (0xAE..=0xFF).contains(&byte);
    let mut shifted = 0;
    (0..=255_u8)
        .filter_map(|byte| {
            let letter = if printable(byte) {
                char::from(byte)
            } else {
                shifted += 1;
                char::from_u32(255 + shifted)?
            };
            Some((letter, byte))
        })
        .collect()
}
