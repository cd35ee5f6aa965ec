//! The section `[mcp]`.

use std::time::Duration;

use ports::units::seconds;
use serde::{Deserialize, Serialize};

/// The Model Context Protocol endpoint for agents.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct McpSettings {
    /// Whether to serve `/mcp`.
    pub enabled: bool,
    /// Maximum number of tokens in a response; at least 5000. A token is counted as three bytes of
    /// JSON.
    pub max_tokens: usize,
    /// Number of videos per page of the resource list.
    pub page_videos: u32,
    /// Maximum number of images in a response.
    pub max_frames: usize,
    /// Maximum width of an image, in pixels; at least 16.
    pub max_frame_width: u32,
    /// Maximum time that a call waits for its job, given in seconds in the configuration file.
    #[serde(with = "seconds")]
    pub max_wait: Duration,
    /// Maximum number of messages in a batch; only clients of revision 2025-03-26 may send batches.
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
