//! The install id identifies the stores that belong together. It is stored in the records and also
//! in the index and the queue, which other installs may be able to reach. An instance neither
//! repairs nor uses stores that another install owns.

use std::sync::Arc;

use ports::ownership::StoreOwnership;
use ports::records::{Precondition, RecordStore};
use ports::storage::ObjectStorage;
use ports::{ErrorKind, PortError};
use serde_json::json;

use crate::kernel::error::{Error, Result};
use crate::kernel::ports::Stores;

/// Key of the record that holds the install id.
const KEY: &str = "install.json";

/// The identity of this install, and the stores that must belong to it.
pub struct Installation {
    store: Arc<dyn RecordStore>,
    storage: Arc<dyn ObjectStorage>,
    index: Arc<dyn StoreOwnership>,
}

impl Installation {
    pub(crate) fn new(stores: &Stores) -> Self {
        Self {
            store: stores.records.clone(),
            storage: stores.storage.clone(),
            index: stores.index.clone(),
        }
    }

    /// Checks that the record store answers and the object bucket exists. Unreachable object
    /// storage is not an error, because it does not prevent reads.
    pub(crate) async fn probe(&self) -> Result<()> {
        self.store.probe().await.map_err(|e| bucket_error(e, "records", "records.bucket"))?;
        match self.storage.probe().await {
            Err(e) if is_missing_bucket(e.kind()) => {
                Err(bucket_error(e, "objects", "storage.bucket").into())
            }
            _ => Ok(()),
        }
    }

    /// Registers this install as the owner of the index if the index has none. Returns `Invalid` if
    /// another install owns it.
    pub(crate) async fn adopt_index(&self) -> Result<()> {
        let install = self.id().await?;
        if self.index.adopt(&install).await? != install {
            return Err(owned_by_other_install(
                "the index holds the vectors",
                "index.collection, data_dir",
            ));
        }
        Ok(())
    }

    /// Reads the install id from the records, or creates one if there is none. Returns `Corrupt` if
    /// the record with the id is damaged.
    pub(crate) async fn id(&self) -> Result<String> {
        if let Some(id) = self.stored_id().await? {
            return Ok(id);
        }
        let created = json!({"id": new_id()});
        // Another instance may create an id at the same time. The first id wins.
        self.store.compare_and_swap(KEY, Precondition::Absent, &created).await?;
        self.stored_id().await?.ok_or_else(|| damaged("it is not kept"))
    }

    /// Reads the install id from the records, if there is one.
    pub(crate) async fn stored_id(&self) -> Result<Option<String>> {
        match self.store.get(KEY).await {
            Ok(None) => Ok(None),
            Ok(Some(document)) => match document["id"].as_str() {
                Some(id) => Ok(Some(id.to_owned())),
                None => Err(damaged("it has no id")),
            },
            Err(error) if error.kind() == ErrorKind::Corrupt => Err(damaged(&error.to_string())),
            Err(error) => Err(error.into()),
        }
    }

    /// Replaces a damaged record of the install id. Uses the id of the install that owns `index`,
    /// or a new id if `index` has no owner.
    pub async fn restore(&self, index: &dyn StoreOwnership) -> Result<()> {
        match self.stored_id().await {
            Err(error) if error.is_corrupt() => {}
            stored => return stored.map(drop),
        }
        let id = index.adopt(&new_id()).await?;
        tracing::warn!(%id, "the record {KEY} was damaged and is written again");
        Ok(self.store.put(KEY, &json!({"id": id})).await?)
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

/// Whether an error from a store means that the bucket does not exist.
fn is_missing_bucket(kind: ErrorKind) -> bool {
    matches!(kind, ErrorKind::NotFound | ErrorKind::Invalid)
}

fn bucket_error(error: PortError, content: &str, key: &str) -> PortError {
    if !is_missing_bucket(error.kind()) {
        return error;
    }
    let message = format!(
        "the bucket of {content} cannot be used; make it where it does not exist, or name another one \
         ({key}): {error}"
    );
    PortError::caused_by(error.kind(), message, error)
}

/// Creates the error for a store that belongs to another install.
pub(crate) fn owned_by_other_install(what: &str, key: &str) -> Error {
    Error::Invalid(format!(
        "{what} of other records than these; share those records (records.kind = \"bucket\", \
         records.bucket, records.prefix), or name another one ({key})"
    ))
}
