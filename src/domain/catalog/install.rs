//! Stores belong together: records, and the index and the queue that others may share, carry the
//! id of one install. What another install owns is neither repaired nor worked on.

use ports::records::Expected;
use ports::{ErrorKind, PortError};
use serde_json::{Value, json};

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

    /// The id that the records carry; made where they have none.
    pub(crate) async fn install(&self) -> Result<String> {
        let records = &self.records;
        let id = |document: &Value| document["id"].as_str().map(str::to_owned);
        let found = records.get(KEY).await?;
        if let Some(id) = found.as_ref().and_then(id) {
            return Ok(id);
        }
        let made = json!({"id": uuid::Uuid::new_v4().simple().to_string()});
        // Another instance may make one at the same time: the first one counts.
        records.compare_and_swap(KEY, Expected::from(found.as_ref()), &made).await?;
        let stored = records.get(KEY).await?;
        stored.as_ref().and_then(id).ok_or_else(|| {
            let message = format!("the record {KEY} does not keep the id of the install");
            PortError::new(ErrorKind::Corrupt, message).into()
        })
    }
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
