//! Reads stored aggregates.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::aggregation::aggregators::entities;
use crate::kernel::error::{Error, Result};
use crate::kernel::moment::MomentId;
use crate::kernel::time::Span;
use crate::kernel::video::VideoId;
use crate::library::Library;
use crate::records::record::VideoRecord;

/// A video's stored aggregates.
#[derive(Debug, Clone, PartialEq)]
pub struct Aggregates {
    /// The id of the video.
    pub video_id: VideoId,
    /// Ids of the stored aggregates, in display order.
    pub available: Vec<String>,
    /// Results by aggregator id.
    pub aggregates: BTreeMap<String, Value>,
}

impl Library {
    /// Reads every stored aggregate of a video.
    pub async fn aggregates(&self, video_id: VideoId) -> Result<Aggregates> {
        self.records
            .read_published(video_id, |record| async move {
                Ok(Aggregates {
                    video_id,
                    available: self.aggregators.in_order(record.aggregates.keys()),
                    aggregates: self
                        .enriched_aggregates(&record)
                        .await?
                        .into_iter()
                        .map(|(id, result)| (id, with_moments(video_id, result)))
                        .collect(),
                })
            })
            .await
    }

    /// Reads one aggregate. If it is not stored, returns `Invalid` with a list of the aggregates
    /// that are.
    pub async fn aggregate(&self, video_id: VideoId, aggregator: &str) -> Result<Value> {
        let read = |record| async move { self.enriched_aggregate(&record, aggregator).await };
        Ok(with_moments(video_id, self.records.read_published(video_id, read).await?))
    }

    async fn enriched_aggregates(&self, record: &VideoRecord) -> Result<BTreeMap<String, Value>> {
        let mut aggregates = BTreeMap::new();
        for id in record.aggregates.keys() {
            aggregates.insert(id.clone(), self.enriched_aggregate(record, id).await?);
        }
        Ok(aggregates)
    }

    /// Reads a stored aggregate. If it lists entities, adds their timelines, which are stored in
    /// another aggregate.
    async fn enriched_aggregate(&self, record: &VideoRecord, aggregator: &str) -> Result<Value> {
        let mut result = self.records.stored_aggregate(record, aggregator).await?;
        if aggregator != entities::ID {
            return Ok(result);
        }
        let mut timelines = self.timelines(record).await?;
        let people = result.pointer_mut("/entities").and_then(Value::as_array_mut);
        for entity in people.into_iter().flatten() {
            let timeline = entity["entity_id"].as_str().and_then(|id| timelines.remove(id));
            if let Some(timeline) = timeline {
                entity["timeline"] = serde_json::to_value(timeline).map_err(Error::corrupt)?;
            }
        }
        Ok(result)
    }
}

/// Adds a `moment_id` to every object that has `start` and `end`, such as events, chapters and
/// sections.
fn with_moments(video_id: VideoId, mut result: Value) -> Value {
    match &mut result {
        Value::Object(fields) => {
            for field in fields.values_mut() {
                *field = with_moments(video_id, field.take());
            }
            let seconds = |name: &str| fields.get(name).and_then(Value::as_f64);
            if let (Some(start), Some(end)) = (seconds("start"), seconds("end")) {
                let moment = MomentId::new(video_id, Span { start, end });
                fields.insert("moment_id".into(), moment.to_string().into());
            }
        }
        Value::Array(items) => {
            for item in items {
                *item = with_moments(video_id, item.take());
            }
        }
        _ => {}
    }
    result
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn objects_with_start_and_end_get_a_moment_id() {
        let stored = json!({"events": [{"event": "x", "start": 1.5, "end": 2}], "end": 3});
        let id = "0123456789abcdef".parse().expect("an id");
        let result = with_moments(id, stored);
        let moment = "m_0123456789abcdef_1500_2000";
        let event = json!({"event": "x", "start": 1.5, "end": 2, "moment_id": moment});
        assert_eq!(result, json!({"events": [event], "end": 3}));
    }
}
