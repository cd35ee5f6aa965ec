//! JSON records in memory, for tests and trials. They are lost when the process ends.

use std::collections::{BTreeMap, BTreeSet};

use async_trait::async_trait;
use parking_lot::{RwLock, RwLockReadGuard, RwLockWriteGuard};
use ports::Result;
use ports::records::{Precondition, RecordStore, Version};
use serde_json::Value;

use crate::keys::{check_key, check_prefix};

/// Records in memory.
#[derive(Debug, Default)]
pub struct MemoryRecords {
    documents: RwLock<Documents>,
}

/// Documents by key. Each is stored with the value that the change counter had at its last write.
#[derive(Debug, Default)]
struct Documents {
    by_key: BTreeMap<String, (u64, Value)>,
    changes: u64,
}

impl Documents {
    fn get(&self, key: &str) -> Option<&Value> {
        self.by_key.get(key).map(|(_, document)| document)
    }

    fn put(&mut self, key: &str, document: &Value) {
        self.changes += 1;
        self.by_key.insert(key.to_owned(), (self.changes, document.clone()));
    }

    fn remove(&mut self, is_removed: impl Fn(&str) -> bool) {
        self.changes += 1;
        self.by_key.retain(|key, _| !is_removed(key));
    }
}

impl MemoryRecords {
    /// Creates an empty store.
    pub fn new() -> Self {
        Self::default()
    }

    fn read(&self) -> RwLockReadGuard<'_, Documents> {
        self.documents.read()
    }

    fn write(&self) -> RwLockWriteGuard<'_, Documents> {
        self.documents.write()
    }
}

#[async_trait]
impl RecordStore for MemoryRecords {
    async fn get(&self, key: &str) -> Result<Option<Value>> {
        check_key(key)?;
        Ok(self.read().get(key).cloned())
    }

    async fn version(&self, key: &str) -> Result<Option<Version>> {
        check_key(key)?;
        let documents = self.read();
        Ok(documents.by_key.get(key).map(|(change, _)| Version::new(change.to_string())))
    }

    async fn folder_version(&self, prefix: &str) -> Result<Option<Version>> {
        check_prefix(prefix)?;
        Ok(Some(Version::new(self.read().changes.to_string())))
    }

    async fn put(&self, key: &str, document: &Value) -> Result<()> {
        check_key(key)?;
        self.write().put(key, document);
        Ok(())
    }

    async fn compare_and_swap(
        &self,
        key: &str,
        expected: Precondition<'_>,
        document: &Value,
    ) -> Result<bool> {
        check_key(key)?;
        let mut documents = self.write();
        if !expected.matches(Ok(documents.get(key).cloned()))? {
            return Ok(false);
        }
        documents.put(key, document);
        Ok(true)
    }

    async fn remove(&self, key: &str, expected: &Value) -> Result<bool> {
        check_key(key)?;
        let mut documents = self.write();
        let same = documents.get(key) == Some(expected);
        if same {
            documents.remove(|stored| stored == key);
        }
        Ok(same)
    }

    async fn list(&self, prefix: &str) -> Result<Vec<String>> {
        check_prefix(prefix)?;
        Ok(self.read().by_key.keys().filter(|key| key.starts_with(prefix)).cloned().collect())
    }

    async fn children(&self, prefix: &str) -> Result<Vec<String>> {
        check_prefix(prefix)?;
        let documents = self.read();
        let segments: BTreeSet<&str> = documents
            .by_key
            .keys()
            .filter_map(|key| key.strip_prefix(prefix)?.split('/').next())
            .collect();
        Ok(segments.into_iter().map(str::to_owned).collect())
    }

    async fn delete(&self, prefix: &str) -> Result<()> {
        if prefix.is_empty() || prefix.ends_with('/') {
            check_prefix(prefix)?;
            self.write().remove(|key| key.starts_with(prefix));
        } else {
            check_key(prefix)?;
            self.write().remove(|key| key == prefix);
        }
        Ok(())
    }

    async fn probe(&self) -> Result<()> {
        Ok(())
    }
}
