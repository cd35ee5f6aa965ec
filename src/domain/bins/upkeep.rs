//! Keeps the stored bins consistent: removes what interrupted changes have left behind, verifies
//! bins, and moves them with their collection.

use std::collections::BTreeMap;

use super::head::BinHead;
use super::store::{StoredBin, read_order};
use super::{BinId, Bins, FOLDER, HEAD};
use crate::kernel::error::{Error, Result};

impl Bins {
    /// Removes the documents that no bin needs: those that an interrupted change has
    /// written, and the folders of deleted bins. Returns the number of removed documents and folders.
    ///
    /// This needs no lock. A document is named after the version that it was written for, so one
    /// that the current or a later version does not need belongs to a change that cannot succeed
    /// anymore.
    pub async fn sweep(&self) -> Result<u64> {
        let mut documents: BTreeMap<BinId, Vec<String>> = BTreeMap::new();
        for key in self.store.list(FOLDER).await? {
            let Some((bin_id, name)) = parse_key(&key) else { continue };
            let documents = documents.entry(bin_id).or_default();
            if name != HEAD {
                documents.push(name.trim_end_matches(".json").to_owned());
            }
        }
        let mut removed = 0;
        for (bin_id, documents) in documents {
            removed += match self.stored(&bin_id).await {
                Ok(Some(stored)) => self.sweep_documents(&stored.head, &documents).await?,
                // The first document of a bin is its head, so without one there is no bin.
                Ok(None) => {
                    self.store.delete(&bin_id.folder()).await?;
                    1
                }
                Err(error) if error.is_corrupt() => 0,
                Err(error) => return Err(error),
            };
        }
        Ok(removed)
    }

    async fn sweep_documents(&self, head: &BinHead, documents: &[String]) -> Result<u64> {
        let needed = head.documents();
        let is_garbage = |name: &&String| {
            !needed.contains(name.as_str())
                && written_for(name).is_some_and(|version| version <= head.version)
        };
        let mut removed = 0;
        for name in documents.iter().filter(is_garbage) {
            self.store.delete(&head.bin_id.document_key(name)).await?;
            removed += 1;
        }
        Ok(removed)
    }

    /// Verifies all bins. Returns one line for each bin that is unreadable or lacks a document.
    pub(crate) async fn problems(&self) -> Result<Vec<String>> {
        let mut problems = Vec::new();
        for bin_id in self.ids().await? {
            let checked = match self.stored(&bin_id).await {
                Ok(Some(stored)) => self.check_documents(&stored).await,
                Ok(None) => Ok(()),
                Err(error) => Err(error),
            };
            match checked {
                Err(error) if error.is_corrupt() => {
                    problems.push(format!("bin {bin_id}: {error}; delete the bin"));
                }
                checked => checked?,
            }
        }
        Ok(problems)
    }

    /// Reads the selects of a bin and looks for the documents that an undo would restore.
    async fn check_documents(&self, stored: &StoredBin) -> Result<()> {
        let StoredBin { head, .. } = stored;
        let checked = async {
            for page in &head.pages {
                self.read_page(&head.bin_id, page).await?;
            }
            read_order(self, head).await?;
            for name in head.documents() {
                let key = head.bin_id.document_key(name);
                if self.store.get(&key).await?.is_none() {
                    return Err(Error::corrupt(format!("the record {key} is missing")));
                }
            }
            Ok(())
        };
        match checked.await {
            // A change may have removed the document in the meantime.
            Err(error) if error.is_corrupt() => match self.stored(&head.bin_id).await? {
                Some(now) if now.head.version == head.version => Err(error),
                _ => Ok(()),
            },
            checked => checked,
        }
    }

    /// Moves the bins of the collection `from` to the collection `to`, or out of any collection if
    /// `to` is `None`.
    pub(crate) async fn move_to_collection(&self, from: &str, to: Option<&str>) -> Result<()> {
        for bin_id in self.ids().await? {
            let _lock = self.lock(&bin_id).lock().await;
            loop {
                let stored = match self.stored(&bin_id).await {
                    Err(error) if error.is_corrupt() => None,
                    stored => stored?,
                };
                let inside = |stored: &StoredBin| stored.head.collection.as_deref() == Some(from);
                let Some(stored) = stored.filter(inside) else { break };
                let mut head = stored.head.next();
                head.collection = to.map(str::to_owned);
                head.details_version = head.version;
                if self.swap(&stored, head, &[]).await? {
                    break;
                }
            }
        }
        Ok(())
    }
}

/// Splits the key of a bin's document into the id of the bin and the file name.
fn parse_key(key: &str) -> Option<(BinId, &str)> {
    let (bin_id, name) = key.strip_prefix(FOLDER)?.split_once('/')?;
    Some((BinId::read(bin_id)?, name))
}

/// Returns the version that a document was written for.
fn written_for(name: &str) -> Option<u64> {
    name.split_once('-')?.0.parse().ok()
}
