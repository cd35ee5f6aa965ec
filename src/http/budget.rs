//! Answers within so many tokens: whole items, counted as they are sent, and where to go on.

use poem_openapi::types::ToJSON;
use serde_json::{Map, Value};

use crate::domain::Result;
use crate::domain::kernel::tokens::{Cursor, Tokens};
use crate::domain::kernel::units::{Split, Unit};
use crate::domain::search::Place;

/// Parts of a document of at most so many bytes of JSON stay whole: about a hundred tokens.
const SPLIT: Split = Split { largest: 400, cost: |value| value.to_string().len() };

/// What a client wants of a long answer.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Wanted {
    /// Most tokens of the items together; all of them when left out.
    pub(super) max_tokens: Option<u32>,
    /// `next` of the answer before.
    pub(super) cursor: Option<String>,
}

/// What an answer says of its budget; nothing where none was asked for.
#[derive(Debug, Default)]
pub(super) struct Spent {
    /// Tokens of the items.
    pub(super) tokens: Option<u32>,
    /// Whose tokenizer has counted.
    pub(super) tokenizer: Option<String>,
    /// Where the rest begins; `None` where nothing is left.
    pub(super) next: Option<String>,
}

impl Wanted {
    /// Whether there may be a `next`, or a cursor to compare: only then the request has to be named.
    pub(super) fn is_part(&self) -> bool {
        self.max_tokens.is_some() || self.cursor.is_some()
    }

    /// Items that earlier answers to this request had.
    pub(super) fn skipped(&self, request: &str) -> Result<usize> {
        let cursor = self.cursor.as_deref().map(|text| Cursor::read(text, request)).transpose()?;
        Ok(cursor.map_or(0, |Cursor(units)| units))
    }

    /// The first of the items that fit. `skipped` went before, and `left` of them in all are left.
    pub(super) async fn fit(
        &self,
        tokens: &Tokens,
        items: &[String],
        request: &str,
        skipped: usize,
        left: usize,
    ) -> Result<(usize, Spent)> {
        if self.max_tokens.is_none() {
            let next = (items.len() < left).then(|| Cursor(skipped + items.len()).text(request));
            return Ok((items.len(), Spent { next, ..Spent::default() }));
        }
        let fit = tokens.fit(items, self.max_tokens).await?;
        let spent = Spent {
            tokens: Some(fit.tokens as u32),
            tokenizer: Some(tokens.tokenizer().to_owned()),
            next: (fit.units < left).then(|| Cursor(skipped + fit.units).text(request)),
        };
        Ok((fit.units, spent))
    }

    /// Those of all items that follow the cursor and fit.
    pub(super) async fn of<T: ToJSON>(
        &self,
        tokens: &Tokens,
        mut items: Vec<T>,
        request: &str,
    ) -> Result<(Vec<T>, Spent)> {
        let skipped = self.skipped(request)?;
        items.drain(..skipped.min(items.len()));
        let texts: Vec<String> = match self.max_tokens {
            Some(_) => items.iter().map(ToJSON::to_json_string).collect(),
            None => vec![String::new(); items.len()],
        };
        let left = items.len();
        let (fit, spent) = self.fit(tokens, &texts, request, skipped, left).await?;
        items.truncate(fit);
        Ok((items, spent))
    }

    /// Where the page of a listing or ranking begins.
    pub(super) fn place(&self, request: &str) -> Result<Place> {
        let cursor = self.cursor.as_deref().map(|text| Cursor::read(text, request)).transpose()?;
        Ok(cursor.map_or_else(Place::default, |Cursor(place)| place))
    }

    /// Those of a page that fit. `places` is where the next page begins after each of them, and `more`
    /// whether there is one after the last.
    pub(super) async fn of_page<T: ToJSON>(
        &self,
        tokens: &Tokens,
        mut items: Vec<T>,
        (places, more): (Vec<Place>, bool),
        request: &str,
    ) -> Result<(Vec<T>, Spent)> {
        let mut spent = Spent::default();
        let mut kept = items.len();
        if self.max_tokens.is_some() {
            let texts: Vec<String> = items.iter().map(ToJSON::to_json_string).collect();
            let fit = tokens.fit(&texts, self.max_tokens).await?;
            kept = fit.units;
            spent.tokens = Some(fit.tokens as u32);
            spent.tokenizer = Some(tokens.tokenizer().to_owned());
        }
        let last = kept.checked_sub(1).and_then(|last| places.into_iter().nth(last));
        spent.next = last.filter(|_| more || kept < items.len()).map(|p| Cursor(p).text(request));
        items.truncate(kept);
        Ok((items, spent))
    }

    /// The part of a document that follows the cursor and fits.
    pub(super) async fn of_document(
        &self,
        tokens: &Tokens,
        document: Map<String, Value>,
        request: &str,
    ) -> Result<(Map<String, Value>, Spent)> {
        let skipped = self.skipped(request)?;
        if self.max_tokens.is_none() && skipped == 0 {
            return Ok((document, Spent::default()));
        }
        let document = Value::Object(document);
        let units = SPLIT.units(&document);
        let texts: Vec<String> = units.iter().skip(skipped).map(Unit::written).collect();
        let (fit, spent) = self.fit(tokens, &texts, request, skipped, texts.len()).await?;
        let part = SPLIT.keep(&document, |unit| (skipped..skipped + fit).contains(&unit));
        Ok((part, spent))
    }
}
