//! Reading the people linked across a video's chunks.

use serde_json::Value;

use crate::domain::aggregation::entity::Entity;
use crate::domain::catalog::Catalog;
use crate::domain::kernel::error::{Error, Result};

/// The people of a video.
#[derive(Debug, Clone, PartialEq)]
pub struct EntityList {
    /// Their video.
    pub video_id: String,
    /// How many match.
    pub total: u32,
    /// Those.
    pub entities: Vec<Entity>,
}

impl Catalog {
    /// People seen in at least `min_appearances` chunks.
    pub async fn entities(&self, video_id: &str, min_appearances: u32) -> Result<EntityList> {
        let record = self.record(video_id).await?;
        let linked = self.stored_aggregate(&record, "entities").await?;
        let timelines = if record.aggregates.contains_key("entity_timelines") {
            self.stored_aggregate(&record, "entity_timelines").await?
        } else {
            Value::Null
        };
        let unreadable = |e| Error::corrupt(format!("the entities of '{video_id}': {e}"));
        let mut entities: Vec<Entity> =
            serde_json::from_value(linked["entities"].clone()).map_err(unreadable)?;
        entities.retain(|entity| entity.appearances >= min_appearances);
        for entity in &mut entities {
            let timeline = timelines["entities"]
                .as_array()
                .and_then(|all| all.iter().find(|t| t["entity_id"] == *entity.entity_id));
            if let Some(timeline) = timeline {
                entity.timeline =
                    Some(serde_json::from_value(timeline.clone()).map_err(unreadable)?);
            }
        }
        Ok(EntityList { video_id: video_id.to_owned(), total: entities.len() as u32, entities })
    }
}
