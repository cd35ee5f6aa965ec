//! Opens the `tokenizer.json` of a language network and builds the network's inputs.

use std::path::Path;

use ndarray::Array2;
use ort::session::SessionInputValue;
use ort::value::Tensor;
use ports::{ErrorKind, PortError, Result};
use tokenizers::{EncodeInput, PaddingParams, Tokenizer, TruncationParams};

use crate::onnx::{Pool, failed};

/// Opens the file. Disables padding and sets truncation to `max_tokens`, or disables truncation if
/// that is `None`. Published files set both to arbitrary lengths.
pub(crate) fn open_tokenizer(path: &Path, max_tokens: Option<usize>) -> Result<Tokenizer> {
    if !path.is_file() {
        return Err(PortError::new(
            ErrorKind::NotFound,
            format!("no tokenizer at {}", path.display()),
        ));
    }
    let unusable = |e: tokenizers::Error| {
        PortError::new(
            ErrorKind::Invalid,
            format!("cannot use the tokenizer {}: {e}", path.display()),
        )
    };
    let mut tokenizer = Tokenizer::from_file(path).map_err(unusable)?;
    let truncation =
        max_tokens.map(|max_length| TruncationParams { max_length, ..TruncationParams::default() });
    tokenizer.with_truncation(truncation).map_err(unusable)?;
    tokenizer.with_padding(None::<PaddingParams>);
    Ok(tokenizer)
}

/// Upper limit for the number of bytes in a token. Except in artificial text, tokens are far
/// shorter.
const BYTES_PER_TOKEN: usize = 256;

/// Returns the beginning of a text, enough to fill a window of `max_tokens`.
pub(crate) fn fitting(text: &str, max_tokens: usize) -> &str {
    &text[..text.floor_char_boundary(max_tokens.saturating_mul(BYTES_PER_TOKEN))]
}

/// The tokenizer of a BERT-like network. The network's inputs are `input_ids`, `attention_mask` and
/// optionally `token_type_ids`, all of type int64 and shape [batch, sequence].
pub(crate) struct BertTokenizer {
    tokenizer: Tokenizer,
    with_types: bool,
    /// The network's window, including special tokens.
    max_tokens: usize,
}

/// A tokenized text or pair of texts.
pub(crate) struct Tokens {
    ids: Vec<i64>,
    /// 0 for tokens of the first text, 1 for tokens of the second.
    types: Vec<i64>,
}

impl Tokens {
    pub(crate) fn len(&self) -> usize {
        self.ids.len()
    }
}

impl BertTokenizer {
    /// Opens the tokenizer of a network whose window is `max_tokens`, including special tokens.
    pub(crate) fn open(path: &Path, max_tokens: usize) -> Result<Self> {
        let tokenizer = open_tokenizer(path, Some(max_tokens))?;
        Ok(Self { tokenizer, with_types: false, max_tokens })
    }

    /// Returns a tokenizer that builds only the inputs that the pool's network has.
    pub(crate) fn for_pool(self, pool: &Pool) -> Result<Self> {
        let with_types = pool.with(|session| {
            Ok(session.inputs().iter().any(|input| input.name() == "token_type_ids"))
        })?;
        Ok(Self { with_types, ..self })
    }

    pub(crate) fn text(&self, text: &str) -> Result<Tokens> {
        self.encode(fitting(text, self.max_tokens).into())
    }

    pub(crate) fn pair(&self, first: &str, second: &str) -> Result<Tokens> {
        let [first, second] = [first, second].map(|text| fitting(text, self.max_tokens));
        self.encode((first, second).into())
    }

    fn encode(&self, input: EncodeInput<'_>) -> Result<Tokens> {
        let encoding = self.tokenizer.encode_fast(input, true).map_err(untokenizable)?;
        let whole = |numbers: &[u32]| numbers.iter().map(|&n| i64::from(n)).collect();
        Ok(Tokens { ids: whole(encoding.get_ids()), types: whole(encoding.get_type_ids()) })
    }

    /// Returns the number of tokens in the whole text, including tokens beyond the window but not
    /// special tokens.
    pub(crate) fn count(&self, text: &str) -> Result<usize> {
        let encoding = self.tokenizer.encode_fast(text, false).map_err(untokenizable)?;
        let cut_off = encoding.get_overflowing().iter().map(|part| part.get_ids().len());
        Ok(encoding.get_ids().len() + cut_off.sum::<usize>())
    }

    /// Returns the input tensors for a batch. Texts are padded to the length of the longest text.
    pub(crate) fn inputs<'a>(
        &self,
        batch: impl ExactSizeIterator<Item = &'a Tokens> + Clone,
    ) -> Result<Vec<(&'static str, SessionInputValue<'static>)>> {
        let length = batch.clone().map(Tokens::len).max().unwrap_or(0);
        let empty = || Array2::<i64>::zeros((batch.len(), length));
        let (mut ids, mut types, mut mask) = (empty(), empty(), empty());
        for (row, tokens) in batch.clone().enumerate() {
            for (column, (&id, &kind)) in tokens.ids.iter().zip(&tokens.types).enumerate() {
                (ids[[row, column]], types[[row, column]]) = (id, kind);
                mask[[row, column]] = 1;
            }
        }
        let mut inputs = vec![("input_ids", ids), ("attention_mask", mask)];
        if self.with_types {
            inputs.push(("token_type_ids", types));
        }
        let input = |(name, values)| {
            Ok((name, SessionInputValue::from(Tensor::from_array(values).map_err(failed)?)))
        };
        inputs.into_iter().map(input).collect()
    }
}

fn untokenizable(error: tokenizers::Error) -> PortError {
    PortError::new(ErrorKind::Invalid, format!("cannot tokenize a text: {error}"))
}
