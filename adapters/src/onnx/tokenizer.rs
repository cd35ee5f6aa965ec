//! Opens the `tokenizer.json` that belongs to a network of language.

use std::path::Path;

use ports::{ErrorKind, PortError, Result};
use tokenizers::{PaddingParams, Tokenizer, TruncationParams};

/// Without padding, cutting texts off at `max_tokens` or nowhere, whatever the file says: published
/// files fix both at lengths of their own.
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
