//! Stores belong together: records, and the index and the queue that others may share, carry the
//! id of one install. What another install owns is neither repaired nor worked on.

use ports::index::VectorIndex;
use ports::records::Precondition;
use ports::{ErrorKind, PortError};
use serde_json::json;

use crate::domain::catalog::Catalog;
use crate::domain::kernel::error::{Error, Result};

/// The record that holds the id.
const KEY: &str = "install.json";

impl Catalog {
    /// Fails unless the records answer, and where the bucket of objects is none. Objects that are out
    /// of reach keep nothing from being read.
    pub(crate) async fn probe(&self) -> Result<()> {
        self.records.probe().await.map_err(|e| no_bucket(e, "records", "records.bucket"))?;
        match self.storage.probe().await {
            Err(e) if is_none(e.kind()) => Err(no_bucket(e, "objects", "storage.bucket").into()),
            _ => Ok(()),
        }
    }

    /// Enters the install of these records as the owner of the index, where it has none yet.
    /// `Invalid` when another owns it.
    pub(crate) async fn own_index(&self) -> Result<()> {
        let install = self.install().await?;
        if self.index.adopt(&install).await? != install {
            return Err(owned("the index holds the vectors", "index.collection, data_dir"));
        }
        Ok(())
    }

    /// The id that the records carry; made where they have none. `Corrupt` where its record is damaged.
    pub(crate) async fn install(&self) -> Result<String> {
        if let Some(id) = self.stored_install().await? {
            return Ok(id);
        }
        let made = json!({"id": new_id()});
        // Another instance may make one at the same time: the first one counts.
        self.records.compare_and_swap(KEY, Precondition::Absent, &made).await?;
        self.stored_install().await?.ok_or_else(|| damaged("it is not kept"))
    }

    /// The id that the records carry, if any.
    pub(super) async fn stored_install(&self) -> Result<Option<String>> {
        match self.records.get(KEY).await {
            Ok(None) => Ok(None),
            Ok(Some(document)) => match document["id"].as_str() {
                Some(id) => Ok(Some(id.to_owned())),
                None => Err(damaged("it has no id")),
            },
            Err(error) if error.kind() == ErrorKind::Corrupt => Err(damaged(&error.to_string())),
            Err(error) => Err(error.into()),
        }
    }

    /// Writes the id again where its record is damaged: that of the install which owns `index`, or a new
    /// one.
    pub(crate) async fn restore_install(&self, index: &dyn VectorIndex) -> Result<()> {
        match self.stored_install().await {
            Err(error) if error.is_corrupt() => {}
            stored => return stored.map(drop),
        }
        let id = index.adopt(&new_id()).await?;
        tracing::warn!(%id, "the record {KEY} was damaged and is written again");
        Ok(self.records.put(KEY, &json!({"id": id})).await?)
    }
}

fn new_id() -> String {
    uuid::Uuid::new_v4().simple().to_string()
}

fn damaged(why: &str) -> Error {
    let message = format!(
        "the record {KEY}, which holds the id of this install, is damaged ({why}); run `shotlog reindex` \
         to write it again"
    );
    PortError::new(ErrorKind::Corrupt, message).into()
}

/// What a store answers that has no such bucket.
fn is_none(kind: ErrorKind) -> bool {
    matches!(kind, ErrorKind::NotFound | ErrorKind::Invalid)
}

fn no_bucket(error: PortError, of: &str, key: &str) -> PortError {
    if !is_none(error.kind()) {
        return error;
    }
    let message = format!(
        "the bucket of {of} cannot be used; make it where it does not exist, or name another one \
         ({key}): {error}"
    );
    PortError::caused_by(error.kind(), message, error)
}

/// A store that is another install's.
pub(crate) fn owned(what: &str, key: &str) -> Error {
    Error::Invalid(format!(
        "{what} of other records than these; share those records (records.kind = \"bucket\", \
         records.bucket, records.prefix), or name another one ({key})"
    ))
}
