//! Token budgets for responses. A response contains as many whole items as fit and a cursor for the
//! remaining ones. Tokens are counted in the JSON as sent.

use poem_openapi::types::ToJSON;
use serde_json::{Map, Value};

use super::units::{Unit, UnitSplitter};
use domain::Result;
use domain::kernel::token_budget::{Cursor, TokenCounter};
use domain::search::PageStart;

/// Parts of up to 400 bytes of JSON, which is about a hundred tokens, are not split.
const SPLIT: UnitSplitter = UnitSplitter { max_cost: 400, cost: |value| value.to_string().len() };

/// The token budget and the cursor of a request.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct ResponseBudget {
    /// Maximum number of tokens in all items together; `None` for no limit.
    pub(crate) max_tokens: Option<u32>,
    /// `next` from the previous response.
    pub(crate) cursor: Option<String>,
}

/// What a response reports about its budget. Without a budget, `tokens` and `tokenizer` are `None`.
#[derive(Debug, Default)]
pub(crate) struct BudgetUsage {
    /// Number of tokens in the items.
    pub(crate) tokens: Option<u32>,
    /// Name of the embedder whose tokenizer counted the tokens.
    pub(crate) tokenizer: Option<String>,
    /// Cursor for the remaining items; `None` if nothing is left.
    pub(crate) next: Option<String>,
}

impl ResponseBudget {
    /// Whether the response may be partial. Only then is a request key needed to validate cursors.
    pub(crate) fn is_partial(&self) -> bool {
        self.max_tokens.is_some() || self.cursor.is_some()
    }

    /// Returns the number of items that earlier responses to this request contained.
    pub(crate) fn skipped(&self, request_key: &str) -> Result<usize> {
        let cursor =
            self.cursor.as_deref().map(|text| Cursor::read(text, request_key)).transpose()?;
        Ok(cursor.map_or(0, |Cursor(units)| units))
    }

    /// Returns how many of `items` fit the budget, and the usage to report. `skipped` is the number
    /// of items in earlier responses; `left` is the number that remain, including `items`.
    pub(crate) async fn fit(
        &self,
        tokens: &TokenCounter,
        items: &[String],
        request_key: &str,
        skipped: usize,
        left: usize,
    ) -> Result<(usize, BudgetUsage)> {
        if self.max_tokens.is_none() {
            let next =
                (items.len() < left).then(|| Cursor(skipped + items.len()).text(request_key));
            return Ok((items.len(), BudgetUsage { next, ..BudgetUsage::default() }));
        }
        let fit = tokens.fit(items, self.max_tokens).await?;
        let usage = BudgetUsage {
            tokens: Some(fit.tokens as u32),
            tokenizer: Some(tokens.tokenizer().to_owned()),
            next: (fit.units < left).then(|| Cursor(skipped + fit.units).text(request_key)),
        };
        Ok((fit.units, usage))
    }

    /// Returns the items that follow the cursor and fit the budget, and the usage to report.
    pub(crate) async fn fit_items<T: ToJSON>(
        &self,
        tokens: &TokenCounter,
        mut items: Vec<T>,
        request_key: &str,
    ) -> Result<(Vec<T>, BudgetUsage)> {
        let skipped = self.skipped(request_key)?;
        items.drain(..skipped.min(items.len()));
        let texts: Vec<String> = match self.max_tokens {
            Some(_) => items.iter().map(ToJSON::to_json_string).collect(),
            None => vec![String::new(); items.len()],
        };
        let left = items.len();
        let (fit, usage) = self.fit(tokens, &texts, request_key, skipped, left).await?;
        items.truncate(fit);
        Ok((items, usage))
    }

    /// Returns where the requested page of a listing or ranking starts.
    pub(crate) fn position(&self, request_key: &str) -> Result<PageStart> {
        let cursor =
            self.cursor.as_deref().map(|text| Cursor::read(text, request_key)).transpose()?;
        Ok(cursor.map_or_else(PageStart::default, |Cursor(place)| place))
    }

    /// Returns the items of a page that fit the budget, and the usage to report. For each item,
    /// `places` states where the next page starts if that item is the last one sent. `more` states
    /// whether any items follow `items`.
    pub(crate) async fn fit_page<T: ToJSON>(
        &self,
        tokens: &TokenCounter,
        mut items: Vec<T>,
        (places, more): (Vec<PageStart>, bool),
        request_key: &str,
    ) -> Result<(Vec<T>, BudgetUsage)> {
        let mut usage = BudgetUsage::default();
        let mut count = items.len();
        if self.max_tokens.is_some() {
            let texts: Vec<String> = items.iter().map(ToJSON::to_json_string).collect();
            let fit = tokens.fit(&texts, self.max_tokens).await?;
            count = fit.units;
            usage.tokens = Some(fit.tokens as u32);
            usage.tokenizer = Some(tokens.tokenizer().to_owned());
        }
        let last = count.checked_sub(1).and_then(|last| places.into_iter().nth(last));
        usage.next =
            last.filter(|_| more || count < items.len()).map(|p| Cursor(p).text(request_key));
        items.truncate(count);
        Ok((items, usage))
    }

    /// Returns the part of `document` that follows the cursor and fits the budget, and the usage to
    /// report.
    pub(crate) async fn fit_document(
        &self,
        tokens: &TokenCounter,
        document: Map<String, Value>,
        request_key: &str,
    ) -> Result<(Map<String, Value>, BudgetUsage)> {
        let skipped = self.skipped(request_key)?;
        if self.max_tokens.is_none() && skipped == 0 {
            return Ok((document, BudgetUsage::default()));
        }
        let document = Value::Object(document);
        let units = SPLIT.units(&document);
        let texts: Vec<String> = units.iter().skip(skipped).map(Unit::to_text).collect();
        let (fit, usage) = self.fit(tokens, &texts, request_key, skipped, texts.len()).await?;
        let part = SPLIT.keep(&document, |unit| (skipped..skipped + fit).contains(&unit));
        Ok((part, usage))
    }
}
