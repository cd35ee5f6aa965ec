//! A bin in responses.

use poem_openapi::{Enum, Object};

use crate::http::wire::body::Versioned;
use domain::bins;

#[derive(Object)]
#[oai(rename = "Bin")]
pub(crate) struct BinBody {
    /// Id of the bin.
    bin_id: String,
    /// Name of the bin.
    name: String,
    /// Description of the bin; empty if there is none.
    description: String,
    /// Collection of the bin; absent if there is none.
    #[oai(skip_serializing_if_is_none)]
    collection: Option<String>,
    /// Version of the bin, which increases with every change. In quotes, it is the `ETag`.
    version: u64,
    /// Number of selects.
    selects: u32,
    /// Total duration of the selects as trimmed, in seconds, without those whose video is missing.
    duration: f64,
    /// Creation time (ISO 8601, UTC, to the second).
    created_at: String,
    /// Time of the last change (ISO 8601, UTC, to the second).
    updated_at: String,
    /// Number of changes that can be undone.
    undo_steps: u32,
    /// The change that `POST /bins/{bin_id}/undo` would undo; null if there is none.
    #[oai(nullable)]
    last_change: Option<BinChangeKind>,
}

/// A kind of change to a bin: its name or description; selects that were added, edited, moved, split
/// or removed; or a tag that was renamed.
#[derive(Enum)]
#[oai(rename_all = "snake_case")]
pub(super) enum BinChangeKind {
    Describe,
    Add,
    Edit,
    Move,
    Split,
    Remove,
    Tag,
}

/// Returns a bin with its version as `ETag`.
pub(super) fn versioned(bin: bins::Bin) -> Versioned<BinBody> {
    Versioned { version: bin.version, body: bin.into() }
}

impl From<bins::Bin> for BinBody {
    fn from(bin: bins::Bin) -> Self {
        Self {
            bin_id: bin.bin_id.to_string(),
            name: bin.name,
            description: bin.description,
            collection: bin.collection,
            version: bin.version,
            selects: bin.selects as u32,
            duration: bin.duration,
            created_at: bin.created_at,
            updated_at: bin.updated_at,
            undo_steps: bin.undo_steps as u32,
            last_change: bin.last_change.map(Into::into),
        }
    }
}

impl From<bins::ChangeKind> for BinChangeKind {
    fn from(kind: bins::ChangeKind) -> Self {
        match kind {
            bins::ChangeKind::Describe => Self::Describe,
            bins::ChangeKind::Add => Self::Add,
            bins::ChangeKind::Edit => Self::Edit,
            bins::ChangeKind::Move => Self::Move,
            bins::ChangeKind::Split => Self::Split,
            bins::ChangeKind::Remove => Self::Remove,
            bins::ChangeKind::Tag => Self::Tag,
        }
    }
}
