//! Stores belong together: records, and the index and the queue that others may share, carry the
//! id of one install. What another install owns is neither repaired nor worked on.

use ports::records::Expected;
use ports::{ErrorKind, PortError};
use serde_json::{Value, json};

use super::Shotlog;
use super::error::{Error, Result};

/// The record that holds the id.
const KEY: &str = "install.json";

impl Shotlog {
    /// Enters this install as the owner of the index and the queue, where they have none yet.
    /// `Invalid` when another owns one of them.
    pub async fn own_stores(&self) -> Result<()> {
        let install = self.install().await?;
        let other = |what: &str, key: &str| {
            Err(Error::Invalid(format!(
                "{what} of other records than these; share those records (records.kind = \
                 \"bucket\", records.bucket, records.prefix), or name another one ({key})"
            )))
        };
        if self.ports.index.adopt(&install).await? != install {
            return other("the index holds the vectors", "index.collection");
        }
        if self.ports.jobs.adopt(&install).await? != install {
            return other("the queue holds the jobs", "jobs.name");
        }
        Ok(())
    }

    /// The id that the records carry; made where they have none.
    async fn install(&self) -> Result<String> {
        let records = &self.ports.records;
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
