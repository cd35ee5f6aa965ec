//! The section `[mcp]`.

use std::time::Duration;

use ports::units::seconds;
use serde::{Deserialize, Serialize};

/// What agents are served over the Model Context Protocol.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct McpSettings {
    /// Serve `/mcp`.
    pub enabled: bool,
    /// Most tokens of one answer, counted as three bytes of its JSON each; at least 5000.
    pub max_tokens: usize,
    /// Videos on a page of the list of resources.
    pub page_videos: u32,
    /// Most pictures of one answer.
    pub max_frames: usize,
    /// Widest picture, pixels; at least 16.
    pub max_frame_width: u32,
    /// Longest time that a call waits for its job to end, in the file seconds.
    #[serde(with = "seconds")]
    pub max_wait: Duration,
    /// Most messages of a batch, which clients of revision 2025-03-26 may send.
    pub max_batch: usize,
}

impl Default for McpSettings {
    fn default() -> Self {
        Self {
            enabled: true,
            max_tokens: 25_000,
            page_videos: 50,
            max_frames: 8,
            max_frame_width: 1024,
            max_wait: Duration::from_secs(600),
            max_batch: 100,
        }
    }
}
