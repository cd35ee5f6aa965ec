//! Answers that fit into so many tokens: whole units, in their order, and where to go on.

use std::fmt::Display;
use std::str::FromStr;
use std::sync::Arc;

use ports::embedder::Embedder;
use sha1::{Digest, Sha1};

use crate::domain::kernel::error::{Error, Result};

/// Counts the tokens of what is sent, by the tokenizer of the embedder.
pub struct Tokens {
    embedder: Arc<dyn Embedder>,
}

/// What of several units goes into a budget.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Fit {
    /// How many units, from the first on.
    pub units: usize,
    /// Their tokens.
    pub tokens: usize,
}

impl Tokens {
    pub(crate) fn new(embedder: Arc<dyn Embedder>) -> Self {
        Self { embedder }
    }

    /// Whose tokenizer counts.
    pub fn tokenizer(&self) -> &str {
        self.embedder.model()
    }

    /// The first units that take at most so many tokens together; all of them without a bound.
    /// `Invalid` where not even the first does, which says how many that needs.
    pub async fn fit(&self, units: &[String], most: Option<u32>) -> Result<Fit> {
        let counts = self.embedder.count_tokens(units).await?;
        let most = most.map_or(usize::MAX, |most| most as usize);
        let mut fit = Fit::default();
        for count in &counts {
            if fit.tokens.saturating_add(*count) > most {
                break;
            }
            fit = Fit { units: fit.units + 1, tokens: fit.tokens + count };
        }
        if let (0, Some(needed)) = (fit.units, counts.first()) {
            return Err(Error::Invalid(format!(
                "max_tokens is {most}, and the first item alone takes {needed} tokens; raise it to \
                 at least that, or ask for less of each item"
            )));
        }
        Ok(fit)
    }
}

/// Where an answer that was cut goes on, `<place>-<request>`: it belongs to one request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cursor<T>(pub T);

impl<T: Display + FromStr> Cursor<T> {
    /// As a client gets it, for a request that is told from others by `request`.
    pub fn text(&self, request: &str) -> String {
        format!("{}-{}", self.0, mark(request))
    }

    /// `Invalid` where the text is none, or of another request.
    pub fn read(text: &str, request: &str) -> Result<Self> {
        let place = text.rsplit_once('-').and_then(|(place, of)| {
            let place = place.parse().ok()?;
            Some((place, of == mark(request)))
        });
        match place {
            Some((place, true)) => Ok(Self(place)),
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

fn mark(request: &str) -> String {
    Sha1::digest(request).iter().take(6).map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_goes_on_with_its_own_request_alone() {
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
