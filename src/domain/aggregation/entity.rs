//! A person linked across the chunks of a video, as served to clients.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::kernel::video::ChunkId;

/// A person linked across chunks. Ids are valid within one video only.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Entity {
    /// Id of the person: `{video_id_prefix}-p{n}`.
    pub entity_id: String,
    /// The person's name, if a correction gives one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Number of chunks in which the person is seen.
    pub appearances: u32,
    /// Ids of the chunks in which the person is seen.
    pub chunk_ids: Vec<ChunkId>,
    /// Time at which the person is first seen, in seconds from the start of the video.
    pub first_seen: f64,
    /// Time at which the person is last seen, in seconds from the start of the video.
    pub last_seen: f64,
    /// The person's appearance, as described by the people analyzer.
    pub description: String,
    /// What the person does in the video.
    pub narrative: String,
    /// When the person is seen; set once `entity_timelines` has run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeline: Option<EntityTimeline>,
}

/// When a person is seen.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct EntityTimeline {
    /// Total time for which the person is seen, in seconds.
    pub observed_seconds: f64,
    /// The spans in which the person is seen, as `[start, end]` with times in seconds.
    pub spans: Vec<[f64; 2]>,
}
