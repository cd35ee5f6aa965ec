//! Reads and writes the documents of bins.

use std::ops::Range;

use futures::{StreamExt, TryStreamExt, stream};
use ports::records::Precondition;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::head::BinHead;
use super::pages::{Page, PageRef, paginate};
use super::select::{Select, SelectId, unknown_select};
use super::usage::stored_shares;
use super::{BinId, Bins, FOLDER, random_digits, unknown_bin};
use crate::kernel::access::Access;
use crate::kernel::error::{Error, Result};
use crate::records::MAX_CONCURRENT_READS;
use crate::records::documents::{missing_record, read_document};

/// Maximum number of attempts to read a bin that is changed again during the read.
const READ_ATTEMPTS: usize = 3;

/// A bin as it is stored.
pub(super) struct StoredBin {
    document: Value,
    pub(super) head: BinHead,
}

/// The document of a deleted bin until its folder has been removed.
#[derive(Deserialize)]
struct Tombstone {
    deleted: bool,
}

impl Bins {
    /// Lists the ids of all bins, including those whose removal was interrupted.
    pub(super) async fn ids(&self) -> Result<Vec<BinId>> {
        let names = self.store.children(FOLDER).await?;
        Ok(names.iter().filter_map(|name| BinId::read(name)).collect())
    }

    /// Reads a bin without its selects; `None` if there is no such bin.
    pub(super) async fn stored(&self, bin_id: &BinId) -> Result<Option<StoredBin>> {
        let Some(document) = self.store.get(&bin_id.head_key()).await? else { return Ok(None) };
        if Tombstone::deserialize(&document).is_ok_and(|tombstone| tombstone.deleted) {
            return Ok(None);
        }
        let head = BinHead::deserialize(&document)
            .map_err(|e| Error::corrupt(format!("bin '{bin_id}' does not read back: {e}")))?;
        Ok(Some(StoredBin { document, head }))
    }

    /// Reads a bin without its selects. Returns `NotFound` if there is no such bin or the caller
    /// may not see it.
    pub(super) async fn find(&self, access: &Access, bin_id: &BinId) -> Result<StoredBin> {
        let stored = self.stored(bin_id).await?;
        let visible = stored.filter(|stored| access.sees(stored.head.collection.as_deref()));
        visible.ok_or_else(|| unknown_bin(bin_id))
    }

    /// Reads a bin with all its selects.
    pub(super) async fn open(
        &self,
        access: &Access,
        bin_id: &BinId,
    ) -> Result<(StoredBin, Vec<Select>)> {
        self.open_range(access, bin_id, 0..usize::MAX).await
    }

    /// Reads a bin with the selects at these positions. Reads only the pages that have them.
    pub(super) async fn open_range(
        &self,
        access: &Access,
        bin_id: &BinId,
        positions: Range<usize>,
    ) -> Result<(StoredBin, Vec<Select>)> {
        let mut stored = self.find(access, bin_id).await?;
        for _ in 1..READ_ATTEMPTS {
            match self.read_range(&stored.head, &positions).await {
                Err(error) if error.is_corrupt() => {
                    let version = stored.head.version;
                    stored = self.find(access, bin_id).await?;
                    // Pages are removed when the bin no longer needs them.
                    if stored.head.version == version {
                        return Err(error);
                    }
                }
                selects => return Ok((stored, selects?)),
            }
        }
        let selects = self.read_range(&stored.head, &positions).await?;
        Ok((stored, selects))
    }

    /// Reads one select.
    pub(super) async fn open_select(
        &self,
        access: &Access,
        bin_id: &BinId,
        select_id: SelectId,
    ) -> Result<(StoredBin, Select)> {
        let (stored, selects) = self.open(access, bin_id).await?;
        let found = selects.into_iter().find(|select| select.id == select_id);
        Ok((stored, found.ok_or_else(|| unknown_select(select_id))?))
    }

    /// Reads the selects at these positions.
    pub(super) async fn read_range(
        &self,
        head: &BinHead,
        positions: &Range<usize>,
    ) -> Result<Vec<Select>> {
        let mut needed = Vec::new();
        let mut page_start = 0;
        for page in &head.pages {
            let page_end = page_start + page.selects;
            if page_end > positions.start && page_start < positions.end {
                let first = positions.start.saturating_sub(page_start);
                needed.push((page.clone(), first..positions.end.min(page_end) - page_start));
            }
            page_start = page_end;
        }
        let reads = stream::iter(needed).map(|(page, within)| async move {
            let key = head.bin_id.page_key(&page.name);
            let selects = match self.page_cache.get(&key) {
                Some(selects) => selects,
                None => self.page_cache.insert(&key, &self.read_page(&head.bin_id, &page).await?),
            };
            Ok::<_, Error>(selects[within].to_vec())
        });
        let pages: Vec<Vec<Select>> = reads.buffered(MAX_CONCURRENT_READS).try_collect().await?;
        Ok(pages.into_iter().flatten().collect())
    }

    /// Reads a page from the store.
    pub(super) async fn read_page(&self, bin_id: &BinId, page: &PageRef) -> Result<Vec<Select>> {
        let key = bin_id.page_key(&page.name);
        let selects: Option<Vec<Select>> = read_document(&*self.store, &key).await?;
        let selects = selects.ok_or_else(|| Error::corrupt(missing_record(&key)))?;
        match selects.len() == page.selects {
            true => Ok(selects),
            false => Err(Error::corrupt(format!(
                "the record {key} has {} selects instead of {}",
                selects.len(),
                page.selects
            ))),
        }
    }

    /// Stores the first state of a bin.
    pub(super) async fn store_new(&self, head: &BinHead) -> Result<()> {
        let key = head.bin_id.head_key();
        match self.store.compare_and_swap(&key, Precondition::Absent, &to_json(head)?).await? {
            true => Ok(()),
            // The swap may have happened although the store reports that it did not.
            false => match self.stored(&head.bin_id).await? {
                Some(stored) if stored.head == *head => Ok(()),
                _ => Err(Error::Busy {
                    message: "the bin could not be created; try again".into(),
                    retry_after: 1,
                }),
            },
        }
    }

    /// Divides `new` into pages, writes those that `base` does not have, and adds all of them to
    /// `head`. Returns the keys of the written pages.
    pub(super) async fn write_pages(
        &self,
        head: &mut BinHead,
        base: &BinHead,
        old: &[Select],
        new: &[Select],
    ) -> Result<Vec<String>> {
        let (mut pages, mut documents, mut written) = (Vec::new(), Vec::new(), Vec::new());
        for page in paginate(&base.pages, old, new) {
            pages.push(match page {
                Page::Stored(page) => page,
                Page::New(positions) => {
                    let name = format!("{}-{}", head.version, random_digits());
                    let document = to_json(&new[positions.clone()])?;
                    let key = head.bin_id.page_key(&name);
                    documents.push((key.clone(), document));
                    written.push((key, positions.clone()));
                    PageRef { name, selects: positions.len() }
                }
            });
        }
        head.pages = pages;
        head.selects = new.len();
        head.milliseconds = new.iter().map(Select::milliseconds).sum();
        head.videos = stored_shares(new);
        stream::iter(documents)
            .map(|(key, document)| async move { self.store.put(&key, &document).await })
            .buffer_unordered(MAX_CONCURRENT_READS)
            .try_collect::<()>()
            .await?;
        for (key, positions) in &written {
            self.page_cache.insert(key, &new[positions.clone()]);
        }
        Ok(written.into_iter().map(|(key, _)| key).collect())
    }

    /// Replaces the state of a bin by `head`, for which the pages `written` were stored. Returns
    /// whether it did; if not, another process has changed the bin. Removes the pages that are no
    /// longer needed.
    pub(super) async fn swap(
        &self,
        stored: &StoredBin,
        head: BinHead,
        written: &[String],
    ) -> Result<bool> {
        let key = head.bin_id.head_key();
        let document = to_json(&head)?;
        let expected = Precondition::Document(&stored.document);
        if !self.store.compare_and_swap(&key, expected, &document).await? {
            // The swap may have happened although the store reports that it did not.
            let current = self.store.get(&key).await?;
            if current.as_ref() != Some(&document) {
                // While the state is still the old one, a delayed swap may yet need the pages.
                if current.as_ref() != Some(&stored.document) {
                    self.remove_pages(written.to_vec()).await;
                }
                return Ok(false);
            }
        }
        let needed = head.referenced_pages();
        let unneeded = stored.head.referenced_pages().into_iter();
        let unneeded = unneeded.filter(|page| !needed.contains(page));
        self.remove_pages(unneeded.map(|page| head.bin_id.page_key(page)).collect()).await;
        Ok(true)
    }

    /// Removes pages that no state needs. If that fails, a later sweep removes them.
    async fn remove_pages(&self, keys: Vec<String>) {
        let removals = stream::iter(keys).map(|key| async move {
            if let Err(error) = self.store.delete(&key).await {
                tracing::debug!(key, %error, "a page of a bin was not removed");
            }
        });
        removals.buffer_unordered(MAX_CONCURRENT_READS).collect::<()>().await;
    }

    /// Deletes a bin unless another process has changed it. Returns whether it did. The bin is
    /// gone as soon as its document is replaced, even if its folder cannot be removed.
    pub(super) async fn bury(&self, stored: &StoredBin) -> Result<bool> {
        let bin_id = &stored.head.bin_id;
        let (key, tombstone) = (bin_id.head_key(), json!({ "deleted": true }));
        let expected = Precondition::Document(&stored.document);
        let swapped = self.store.compare_and_swap(&key, expected, &tombstone).await?;
        if !swapped && self.store.get(&key).await?.as_ref() != Some(&tombstone) {
            return Ok(false);
        }
        if let Err(error) = self.store.delete(&bin_id.folder()).await {
            tracing::debug!(%bin_id, %error, "the folder of a deleted bin was not removed");
        }
        Ok(true)
    }
}

fn to_json<T: Serialize + ?Sized>(document: &T) -> Result<Value> {
    serde_json::to_value(document).map_err(|e| Error::corrupt(format!("cannot store a bin: {e}")))
}
