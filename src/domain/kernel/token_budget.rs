//! Truncates responses to a token budget. A truncated response contains whole units, in order, and
//! a cursor to resume after them.

use std::fmt::Display;
use std::str::FromStr;
use std::sync::Arc;

use ports::embedder::Embedder;
use sha1::{Digest, Sha1};

use crate::kernel::error::{Error, Result};

/// Counts tokens with the embedder's tokenizer.
pub struct TokenCounter {
    embedder: Arc<dyn Embedder>,
}

/// The units that fit into a token budget.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct BudgetFit {
    /// Number of leading units that fit.
    pub units: usize,
    /// Total number of tokens in these units.
    pub tokens: usize,
}

impl TokenCounter {
    pub(crate) fn new(embedder: Arc<dyn Embedder>) -> Self {
        Self { embedder }
    }

    /// Returns the model whose tokenizer is used.
    pub fn tokenizer(&self) -> &str {
        self.embedder.model()
    }

    /// Finds the longest prefix of `units` that has at most `max_tokens` tokens in total. If there
    /// is no limit, all units fit. Returns `Invalid` if the first unit alone exceeds the limit; the
    /// message says how many tokens that unit needs.
    pub async fn fit(&self, units: &[String], max_tokens: Option<u32>) -> Result<BudgetFit> {
        let counts = self.embedder.count_tokens(units).await?;
        let max_tokens = max_tokens.map_or(usize::MAX, |max_tokens| max_tokens as usize);
        let mut fit = BudgetFit::default();
        for count in &counts {
            if fit.tokens.saturating_add(*count) > max_tokens {
                break;
            }
            fit = BudgetFit { units: fit.units + 1, tokens: fit.tokens + count };
        }
        if let (0, Some(needed)) = (fit.units, counts.first()) {
            return Err(Error::Invalid(format!(
                "max_tokens is {max_tokens}, and the first item alone takes {needed} tokens; raise it to \
                 at least that, or ask for less of each item"
            )));
        }
        Ok(fit)
    }
}

/// Where to resume a truncated response. A cursor is valid for one request only.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cursor<T>(pub T);

impl<T: Display + FromStr> Cursor<T> {
    /// Formats the cursor for clients as `<position>-<request digest>`. `request` identifies the
    /// request that the cursor belongs to.
    pub fn text(&self, request: &str) -> String {
        format!("{}-{}", self.0, digest(request))
    }

    /// Parses a cursor. Returns `Invalid` if the cursor is malformed or belongs to another request.
    pub fn read(text: &str, request: &str) -> Result<Self> {
        let position = text.rsplit_once('-').and_then(|(position, request_digest)| {
            let position = position.parse().ok()?;
            Some((position, request_digest == digest(request)))
        });
        match position {
            Some((position, true)) => Ok(Self(position)),
            Some((_, false)) => Err(Error::Invalid(format!(
                "cursor '{text}' is of another request; send it with the one whose `next` it was, \
                 in which only max_tokens may differ"
            ))),
            None => Err(Error::Invalid(format!(
                "unknown cursor '{text}'; expected the `next` of the answer before"
            ))),
        }
    }
}

fn digest(request: &str) -> String {
    Sha1::digest(request).iter().take(6).map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cursors_are_valid_for_their_own_request_only() {
        let text = Cursor(12_usize).text("a red car");
        assert_eq!(Cursor::read(&text, "a red car").expect("its own"), Cursor(12));
        let other = Cursor::<usize>::read(&text, "a blue car").expect_err("another").to_string();
        assert!(other.contains("of another request"), "{other}");
        for text in ["", "12", "x-1", "-1-00"] {
            let read = Cursor::<usize>::read(text, "a red car");
            assert!(matches!(read, Err(Error::Invalid(_))), "{text}");
        }
    }
}
