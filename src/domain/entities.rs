//! Reading the people linked across a video's chunks.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::Shotlog;
use super::error::{Error, Result};

/// One person, linked across chunks. Ids mean something within one video only.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Entity {
    /// `{video_id_prefix}-p{n}`.
    pub entity_id: String,
    /// Number of chunks the person was seen in.
    pub appearances: u32,
    /// Those chunks.
    pub chunk_ids: Vec<u32>,
    /// Seconds.
    pub first_seen: f64,
    /// Seconds.
    pub last_seen: f64,
    /// Appearance as described by the people analyzer.
    pub description: String,
    /// What they did across the video.
    pub narrative: String,
    /// Set when `entity_timelines` has run.
    #[serde(default)]
    pub timeline: Option<EntityTimeline>,
}

/// When a person was seen.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct EntityTimeline {
    /// Total, seconds.
    pub observed_seconds: f64,
    /// `[start, end]` in seconds.
    pub spans: Vec<[f64; 2]>,
}

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

impl Shotlog {
    /// People seen in at least `min_appearances` chunks.
    pub async fn entities(&self, video_id: &str, min_appearances: u32) -> Result<EntityList> {
        let record = self.library.video(video_id).await?;
        let linked = self.library.aggregate(&record, "entities").await?;
        let timelines = if record.aggregates.contains_key("entity_timelines") {
            self.library.aggregate(&record, "entity_timelines").await?
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
