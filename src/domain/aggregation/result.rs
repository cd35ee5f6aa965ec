//! What aggregators conclude, as types: each aggregator's result is a struct in its own file. Here is
//! what all of them can be asked, and how they are stored.

use std::any::Any;
use std::collections::BTreeMap;
use std::fmt::Debug;
use std::sync::Arc;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::domain::kernel::error::{Error, Result};
use crate::domain::kernel::time::Span;

/// What an aggregator concluded of one video.
pub trait Conclusion: Debug + Send + Sync {
    /// In sentences with the moments they speak of, for questions routed to it. `whole` is the whole
    /// video.
    fn evidence(&self, whole: Span) -> Vec<(Span, String)>;

    /// What the video is about, in a sentence, where it says so.
    fn synopsis(&self) -> Option<String> {
        None
    }
}

/// What the language model took for a result.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ModelUsage {
    /// What the server calls the model.
    pub model: String,
    /// Requests that reached it, retries included.
    pub calls: u32,
    /// Tokens read.
    pub input_tokens: u64,
    /// Tokens written.
    pub output_tokens: u64,
}

/// A result as it is stored: flat, the aggregator's own fields first.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Stored<T> {
    /// What the aggregator concluded.
    #[serde(flatten)]
    pub result: T,
    /// What the language model took for it, if it is billed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage: Option<ModelUsage>,
}

impl<T> Stored<T> {
    /// Concluded just now; what it took is added where that is counted.
    pub fn new(result: T) -> Self {
        Self { result, usage: None }
    }
}

/// A stored result whose type only its aggregator knows.
pub trait AggregateResult: Any + Debug + Send + Sync {
    /// As it is stored.
    fn to_json(&self) -> Value;

    /// [`Conclusion::evidence`] of it.
    fn evidence(&self, whole: Span) -> Vec<(Span, String)>;

    /// [`Conclusion::synopsis`] of it.
    fn synopsis(&self) -> Option<String>;

    /// What the language model took for it, if that was billed.
    fn usage(&self) -> Option<&ModelUsage>;

    /// The same with what the language model took for it.
    fn billed(self: Arc<Self>, usage: ModelUsage) -> Aggregate;

    /// For [`result_of`].
    fn as_any(&self) -> &dyn Any;
}

/// One aggregator's result.
pub type Aggregate = Arc<dyn AggregateResult>;

/// Results by aggregator id.
pub type Results = BTreeMap<String, Aggregate>;

impl<T> AggregateResult for Stored<T>
where
    T: Conclusion + Serialize + Clone + 'static,
{
    fn to_json(&self) -> Value {
        // Results are structs of strings, numbers and lists, which always become JSON.
        serde_json::to_value(self).unwrap_or_default()
    }

    fn evidence(&self, whole: Span) -> Vec<(Span, String)> {
        self.result.evidence(whole)
    }

    fn synopsis(&self) -> Option<String> {
        self.result.synopsis()
    }

    fn usage(&self) -> Option<&ModelUsage> {
        self.usage.as_ref()
    }

    fn billed(self: Arc<Self>, usage: ModelUsage) -> Aggregate {
        Arc::new(Self { usage: Some(usage), ..Arc::unwrap_or_clone(self) })
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

/// The result, if it is of that type.
pub fn result_of<T: 'static>(stored: &dyn AggregateResult) -> Option<&T> {
    stored.as_any().downcast_ref::<Stored<T>>().map(|stored| &stored.result)
}

/// Reads what [`AggregateResult::to_json`] wrote.
pub fn read<T>(stored: Value) -> Result<Aggregate>
where
    T: Conclusion + Serialize + DeserializeOwned + Clone + 'static,
{
    let stored: Stored<T> = serde_json::from_value(stored)
        .map_err(|e| Error::corrupt(format!("a stored aggregate does not read back: {e}")))?;
    Ok(Arc::new(stored))
}

/// A result of an aggregator that this install does not have: shown as it is stored, and nothing else.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Unknown(pub Map<String, Value>);

impl Conclusion for Unknown {
    fn evidence(&self, _whole: Span) -> Vec<(Span, String)> {
        Vec::new()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::domain::aggregation::{AGGREGATORS, Aggregators};

    #[test]
    fn what_it_cost_is_stored_beside_the_result() {
        let usage = json!({"model": "m", "calls": 2, "input_tokens": 30, "output_tokens": 4});
        let stored = json!({"b": 1, "a": [2], "usage": usage});
        for (what, read) in [
            ("stored", read::<Unknown>(stored.clone())),
            (
                "billed",
                read::<Unknown>(json!({"b": 1, "a": [2]})).map(|result| {
                    result.billed(ModelUsage {
                        model: "m".into(),
                        calls: 2,
                        input_tokens: 30,
                        output_tokens: 4,
                    })
                }),
            ),
        ] {
            let read = read.expect("a result");
            assert_eq!(read.usage().map(|usage| usage.output_tokens), Some(4), "{what}");
            assert_eq!(read.to_json().to_string(), stored.to_string(), "{what}");
        }
    }

    #[test]
    fn every_result_reads_back_whatever_is_left_out_of_it() {
        for aggregator in AGGREGATORS {
            let id = aggregator.spec().id;
            let empty = aggregator.read(json!({})).expect("a result");
            assert_eq!(empty.usage(), None, "{id}");
            let again = Aggregators::default().read(id, empty.to_json()).expect("a result");
            assert_eq!(again.to_json().to_string(), empty.to_json().to_string(), "{id}");
        }
    }
}
