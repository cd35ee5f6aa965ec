//! The trait that all aggregator results implement, and the record in which they are stored. Each
//! aggregator's result is a struct in its own file.

use std::any::Any;
use std::collections::BTreeMap;
use std::fmt::Debug;
use std::sync::Arc;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::kernel::error::{Error, Result};
use crate::kernel::time::Span;

/// The result of an aggregator for one video.
pub trait AggregatorOutput: Debug + Send + Sync {
    /// Returns the result as sentences with their spans, as evidence for questions that are routed
    /// to this result. `whole` is the span of the video.
    fn evidence(&self, whole: Span) -> Vec<(Span, String)>;

    /// Returns one sentence about what the video is about, if the result has one.
    fn synopsis(&self) -> Option<String> {
        None
    }
}

/// The usage of the language model for one result.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ModelUsage {
    /// The name of the model on its server.
    pub model: String,
    /// Number of requests sent, including retries.
    pub calls: u32,
    /// Number of input tokens.
    pub input_tokens: u64,
    /// Number of output tokens.
    pub output_tokens: u64,
}

/// A stored result: a flat object that begins with the aggregator's own fields.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AggregateRecord<T> {
    /// The result itself.
    #[serde(flatten)]
    pub result: T,
    /// The billed usage of the language model, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage: Option<ModelUsage>,
}

impl<T> AggregateRecord<T> {
    /// Creates a record without usage.
    pub fn new(result: T) -> Self {
        Self { result, usage: None }
    }
}

/// An [`AggregateRecord`] with any type of result.
pub trait StoredAggregate: Any + Debug + Send + Sync {
    /// Returns the form in which the result is stored.
    fn to_json(&self) -> Value;

    /// See [`AggregatorOutput::evidence`].
    fn evidence(&self, whole: Span) -> Vec<(Span, String)>;

    /// See [`AggregatorOutput::synopsis`].
    fn synopsis(&self) -> Option<String>;

    /// The billed usage of the language model, if any.
    fn usage(&self) -> Option<&ModelUsage>;

    /// Returns the result with its billed usage of the language model.
    fn with_usage(self: Arc<Self>, usage: ModelUsage) -> Aggregate;

    /// Returns the record for the downcast in [`result_of`].
    fn as_any(&self) -> &dyn Any;
}

/// One aggregator's result.
pub type Aggregate = Arc<dyn StoredAggregate>;

/// Results by aggregator id.
pub type Results = BTreeMap<String, Aggregate>;

impl<T> StoredAggregate for AggregateRecord<T>
where
    T: AggregatorOutput + Serialize + Clone + 'static,
{
    fn to_json(&self) -> Value {
        // Results are structs of strings, numbers and lists, which always serialize.
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

    fn with_usage(self: Arc<Self>, usage: ModelUsage) -> Aggregate {
        Arc::new(Self { usage: Some(usage), ..Arc::unwrap_or_clone(self) })
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

/// Returns the result if it has type `T`.
pub fn result_of<T: 'static>(stored: &dyn StoredAggregate) -> Option<&T> {
    stored.as_any().downcast_ref::<AggregateRecord<T>>().map(|stored| &stored.result)
}

/// Deserializes the output of [`StoredAggregate::to_json`].
pub fn read<T>(stored: Value) -> Result<Aggregate>
where
    T: AggregatorOutput + Serialize + DeserializeOwned + Clone + 'static,
{
    let stored: AggregateRecord<T> = serde_json::from_value(stored)
        .map_err(|e| Error::corrupt(format!("a stored aggregate does not read back: {e}")))?;
    Ok(Arc::new(stored))
}

/// The result of an unknown aggregator. It is served as it was stored and yields no evidence.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct UnknownAggregate(pub Map<String, Value>);

impl AggregatorOutput for UnknownAggregate {
    fn evidence(&self, _whole: Span) -> Vec<(Span, String)> {
        Vec::new()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::aggregation::{AGGREGATORS, Aggregators};

    #[test]
    fn usage_is_stored_with_the_result() {
        let usage = json!({"model": "m", "calls": 2, "input_tokens": 30, "output_tokens": 4});
        let stored = json!({"b": 1, "a": [2], "usage": usage});
        for (what, read) in [
            ("stored", read::<UnknownAggregate>(stored.clone())),
            (
                "billed",
                read::<UnknownAggregate>(json!({"b": 1, "a": [2]})).map(|result| {
                    result.with_usage(ModelUsage {
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
    fn every_result_deserializes_with_missing_fields() {
        for aggregator in AGGREGATORS {
            let id = aggregator.spec().id;
            let empty = aggregator.read(json!({})).expect("a result");
            assert_eq!(empty.usage(), None, "{id}");
            let again = Aggregators::default().read(id, empty.to_json()).expect("a result");
            assert_eq!(again.to_json().to_string(), empty.to_json().to_string(), "{id}");
        }
    }
}
