//! Reading stored aggregates.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::domain::catalog::Catalog;
use crate::domain::catalog::record::VideoRecord;
use crate::domain::kernel::error::Result;

/// Stored aggregates of a video.
#[derive(Debug, Clone, PartialEq)]
pub struct Aggregates {
    /// The id of its video.
    pub video_id: String,
    /// Ids of what is stored, which are the keys of `aggregates`.
    pub available: Vec<String>,
    /// Results by id.
    pub aggregates: BTreeMap<String, Value>,
}

impl Catalog {
    /// Every stored aggregate of a video.
    pub async fn aggregates(&self, video_id: &str) -> Result<Aggregates> {
        self.read_published(video_id, |record| async move {
            Ok(Aggregates {
                video_id: video_id.to_owned(),
                available: self.aggregators.in_order(record.aggregates.keys()),
                aggregates: self.stored_aggregates(&record).await?,
            })
        })
        .await
    }

    /// One stored aggregate; `Invalid` lists what is stored.
    pub async fn aggregate(&self, video_id: &str, aggregator: &str) -> Result<Value> {
        let read = |record| async move { self.stored_aggregate(&record, aggregator).await };
        self.read_published(video_id, read).await
    }

    pub(crate) async fn stored_aggregates(
        &self,
        record: &VideoRecord,
    ) -> Result<BTreeMap<String, Value>> {
        let mut aggregates = BTreeMap::new();
        for id in record.aggregates.keys() {
            aggregates.insert(id.clone(), self.stored_aggregate(record, id).await?);
        }
        Ok(aggregates)
    }
}
