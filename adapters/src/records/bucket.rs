//! JSON records as objects in a bucket, which several instances can share. The bucket, or the
//! folder in it, must not be public.

use std::collections::BTreeSet;

use async_trait::async_trait;
use futures::{StreamExt, TryStreamExt, stream};
use opendal::{Metadata, Operator};
use ports::records::{Precondition, RecordStore, Version};
use ports::{ErrorKind, PortError, Result};
use serde_json::Value;

use crate::keys::{check_key, check_prefix};
use crate::storage::{OpendalStorage, failed};

/// Maximum number of objects to remove in parallel.
const REMOVALS: usize = 16;

/// Records in a bucket.
pub struct BucketRecords {
    operator: Operator,
    /// The same operator, but without retries.
    probing: Operator,
}

impl BucketRecords {
    /// Creates a store for records in a bucket. Returns `Invalid` if the bucket's server does not
    /// support conditional writes. Without them, instances could overwrite each other's changes.
    pub fn new(bucket: OpendalStorage) -> Result<Self> {
        let can = bucket.operator.info().capability();
        let conditional = can.write_with_if_not_exists
            && (can.write_with_if_match || can.write_with_if_version_match);
        if !conditional {
            return Err(PortError::new(
                ErrorKind::Invalid,
                "this storage has no conditional writes, which records that are shared need; S3 \
                 and GCS have them",
            ));
        }
        Ok(Self { operator: bucket.operator, probing: bucket.probing })
    }

    async fn stat_record(&self, key: &str) -> Result<Option<Metadata>> {
        match self.operator.stat(key).await {
            Ok(found) => Ok(Some(found)),
            Err(e) if e.kind() == opendal::ErrorKind::NotFound => Ok(None),
            Err(e) => Err(failed("look for the record", key, e)),
        }
    }

    async fn keys(&self, prefix: &str) -> Result<Vec<String>> {
        let listing = self.operator.lister_with(prefix).recursive(true).await;
        let mut listing = listing.map_err(|e| failed("list the records below", prefix, e))?;
        let mut keys = Vec::new();
        while let Some(entry) = listing.next().await {
            let entry = entry.map_err(|e| failed("list the records below", prefix, e))?;
            if entry.metadata().is_file() {
                keys.push(entry.path().to_owned());
            }
        }
        keys.sort();
        Ok(keys)
    }
}

fn json(key: &str, document: &Value) -> Result<Vec<u8>> {
    serde_json::to_vec(document).map_err(|e| {
        PortError::caused_by(ErrorKind::Invalid, format!("the record {key} is not JSON"), e)
    })
}

#[async_trait]
impl RecordStore for BucketRecords {
    async fn get(&self, key: &str) -> Result<Option<Value>> {
        check_key(key)?;
        let bytes = match self.operator.read(key).await {
            Ok(bytes) => bytes.to_bytes(),
            Err(e) if e.kind() == opendal::ErrorKind::NotFound => return Ok(None),
            Err(e) => return Err(failed("read the record", key, e)),
        };
        serde_json::from_slice(&bytes).map(Some).map_err(|e| {
            PortError::caused_by(ErrorKind::Corrupt, format!("the record {key} is not JSON"), e)
        })
    }

    // Fetching the metadata of an object takes as long as fetching a record.
    async fn version(&self, _: &str) -> Result<Option<Version>> {
        Ok(None)
    }

    async fn folder_version(&self, prefix: &str) -> Result<Option<Version>> {
        check_prefix(prefix)?;
        Ok(None)
    }

    async fn put(&self, key: &str, document: &Value) -> Result<()> {
        check_key(key)?;
        let written = self.operator.write(key, json(key, document)?).await;
        written.map(|_| ()).map_err(|e| failed("write the record", key, e))
    }

    async fn compare_and_swap(
        &self,
        key: &str,
        expected: Precondition<'_>,
        document: &Value,
    ) -> Result<bool> {
        check_key(key)?;
        let metadata = self.stat_record(key).await?;
        // The content may be newer than the metadata. If so, the condition on the write below is
        // not met.
        let found = if metadata.is_some() { self.get(key).await } else { Ok(None) };
        if !expected.matches(found)? {
            return Ok(false);
        }
        let write = self.operator.write_with(key, json(key, document)?);
        let write = match &metadata {
            None => write.if_not_exists(true),
            Some(metadata) => match (metadata.etag(), metadata.version()) {
                (Some(etag), _) if self.operator.info().capability().write_with_if_match => {
                    write.if_match(etag)
                }
                (_, Some(version)) => write.if_version_match(version),
                _ => {
                    let message = format!("the storage gives no entity tag for the record {key}");
                    return Err(PortError::new(ErrorKind::Other, message));
                }
            },
        };
        use opendal::ErrorKind::{AlreadyExists, ConditionNotMatch, NotFound};
        match write.await {
            Ok(_) => Ok(true),
            Err(e) if matches!(e.kind(), ConditionNotMatch | AlreadyExists | NotFound) => Ok(false),
            Err(e) => Err(failed("replace the record", key, e)),
        }
    }

    /// Always returns `false`, because not every server supports conditional deletes by entity tag.
    /// A server that ignores the condition would remove a document that another instance has just
    /// written.
    async fn remove(&self, key: &str, _: &Value) -> Result<bool> {
        check_key(key)?;
        Ok(false)
    }

    async fn list(&self, prefix: &str) -> Result<Vec<String>> {
        check_prefix(prefix)?;
        self.keys(prefix).await
    }

    async fn children(&self, prefix: &str) -> Result<Vec<String>> {
        check_prefix(prefix)?;
        let listing = self.operator.lister_with(prefix).await;
        let mut listing = listing.map_err(|e| failed("list the records below", prefix, e))?;
        let mut names = BTreeSet::new();
        while let Some(entry) = listing.next().await {
            let entry = entry.map_err(|e| failed("list the records below", prefix, e))?;
            let name = entry.path().strip_prefix(prefix).unwrap_or_default().trim_end_matches('/');
            if !name.is_empty() {
                names.insert(name.to_owned());
            }
        }
        Ok(names.into_iter().collect())
    }

    async fn delete(&self, prefix: &str) -> Result<()> {
        let keys = if prefix.is_empty() || prefix.ends_with('/') {
            check_prefix(prefix)?;
            self.keys(prefix).await?
        } else {
            check_key(prefix)?;
            vec![prefix.to_owned()]
        };
        stream::iter(keys)
            .map(|key| async move {
                let removed = self.operator.delete(&key).await;
                removed.map_err(|e| failed("remove the record", &key, e))
            })
            .buffer_unordered(REMOVALS)
            .try_collect()
            .await
    }

    async fn probe(&self) -> Result<()> {
        let key = ".probe";
        let probed = async {
            self.probing.write(key, "null").await?;
            self.probing.delete(key).await
        };
        probed.await.map_err(|e| failed("write", "a record to the bucket", e))
    }
}
