//! Stores interval tables in the record store, so that a search after a restart reads one document
//! per video instead of building every table again. If a stored table is lost, it is built again.

use std::collections::BTreeMap;
use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use ports::records::RecordStore;
use serde::{Deserialize, Serialize};

use crate::intervals::table::IntervalTable;
use crate::kernel::error::{Error, Result};
use crate::kernel::video::VideoId;
use crate::listing::EntrySummary;
use crate::records::documents::read_document;

/// Version of the stored form, and of the rules by which tables are built. Tables of another version
/// are built again.
const FORMAT: u32 = 1;

/// The published state of a video: the number of times that it has been published, and the revision
/// of each analyzer's output.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct PublishedState {
    pub(super) epoch: u64,
    pub(super) revisions: BTreeMap<String, String>,
}

impl From<&EntrySummary> for PublishedState {
    fn from(listed: &EntrySummary) -> Self {
        Self { epoch: listed.epoch, revisions: listed.revisions.clone() }
    }
}

/// The document of a stored table.
#[derive(Serialize, Deserialize)]
struct TableDocument {
    format: u32,
    state: PublishedState,
    /// The table in the Postcard format, in Base64.
    table: String,
}

/// The stored tables of videos.
pub(super) struct StoredTables {
    store: Arc<dyn RecordStore>,
}

impl StoredTables {
    pub(super) fn new(store: Arc<dyn RecordStore>) -> Self {
        Self { store }
    }

    /// Reads the table of a video in this state. Returns `None` if there is none, or if it is corrupt.
    pub(super) async fn load(
        &self,
        video_id: VideoId,
        state: &PublishedState,
    ) -> Result<Option<IntervalTable>> {
        let document = match read_document::<TableDocument>(&*self.store, &key(video_id)).await {
            Err(error) if error.is_corrupt() => return Ok(None),
            document => document?,
        };
        let current = document.filter(|stored| stored.format == FORMAT && stored.state == *state);
        let Some(stored) = current else { return Ok(None) };
        let bytes = STANDARD.decode(stored.table).unwrap_or_default();
        let table = postcard::from_bytes::<IntervalTable>(&bytes);
        Ok(table.ok().filter(|table| table.identity.video_id == video_id))
    }

    /// Stores the table of a video in this state.
    pub(super) async fn save(&self, table: &IntervalTable, state: PublishedState) -> Result<()> {
        let corrupt = |error: &dyn std::fmt::Display| {
            Error::corrupt(format!("cannot store a table of intervals: {error}"))
        };
        let bytes = postcard::to_allocvec(table).map_err(|error| corrupt(&error))?;
        let document = TableDocument { format: FORMAT, state, table: STANDARD.encode(bytes) };
        let document = serde_json::to_value(document).map_err(|error| corrupt(&error))?;
        Ok(self.store.put(&key(table.identity.video_id), &document).await?)
    }
}

fn key(video_id: VideoId) -> String {
    format!("cache/{video_id}/intervals.json")
}
