//! A person linked across the chunks of a video, as served to clients.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::kernel::video::ChunkId;

/// One person, linked across chunks. Ids are valid within one video only.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Entity {
    /// `{video_id_prefix}-p{n}`.
    pub entity_id: String,
    /// The name, if a correction gives one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Number of chunks the person was seen in.
    pub appearances: u32,
    /// Those chunks.
    pub chunk_ids: Vec<ChunkId>,
    /// When it is first seen, seconds of the video.
    pub first_seen: f64,
    /// When it was last seen, seconds of the video.
    pub last_seen: f64,
    /// Appearance as described by the people analyzer.
    pub description: String,
    /// What the person does in the video.
    pub narrative: String,
    /// Set when `entity_timelines` has run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeline: Option<EntityTimeline>,
}

/// When a person was seen.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct EntityTimeline {
    /// Total, seconds.
    pub observed_seconds: f64,
    /// `[start, end]` in seconds.
    pub spans: Vec<[f64; 2]>,
}
