//! Reads and writes the documents of bins.

use std::ops::Range;
use std::sync::Arc;

use futures::{StreamExt, TryStreamExt, stream};
use ports::records::Precondition;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::head::BinHead;
use super::layout::{Order, SelectLayout};
use super::pages::{Page, PageRef};
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
        let stored = match read_order(self, head).await? {
            Some(order) => order.stored(positions),
            None => vec![positions.clone()],
        };
        let mut needed = Vec::new();
        let mut start = 0;
        for page in &head.pages {
            let end = start + page.selects;
            if stored.iter().any(|range| range.start < end && start < range.end) {
                needed.push((start..end, page.clone()));
            }
            start = end;
        }
        let reads = stream::iter(needed).map(|(range, page)| async move {
            let key = head.bin_id.document_key(&page.name);
            let selects = match self.page_cache.get(&key) {
                Some(selects) => selects,
                None => self.page_cache.insert(&key, &self.read_page(&head.bin_id, &page).await?),
            };
            Ok::<_, Error>((range, selects))
        });
        let pages: Vec<_> = reads.buffered(MAX_CONCURRENT_READS).try_collect().await?;
        Ok(selects_at(&stored, &pages))
    }

    /// Reads a page from the store.
    pub(super) async fn read_page(&self, bin_id: &BinId, page: &PageRef) -> Result<Vec<Select>> {
        let key = bin_id.document_key(&page.name);
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

    /// Writes the documents that a bin with the selects `new` needs and `base`, which has the selects
    /// `old`, does not have. Adds them to `head`. Returns their keys.
    pub(super) async fn write_selects(
        &self,
        head: &mut BinHead,
        base: &BinHead,
        old: &[Select],
        new: &[Select],
    ) -> Result<Vec<String>> {
        let layout = match read_order(self, base).await? {
            Some(order) => SelectLayout::new(&base.pages, &order.in_pages(old), new),
            None => SelectLayout::new(&base.pages, old, new),
        };
        let name = || format!("{}-{}", head.version, random_digits());
        let (mut pages, mut documents, mut written) = (Vec::new(), Vec::new(), Vec::new());
        for page in layout.pages {
            pages.push(match page {
                Page::Stored(page) => page,
                Page::New(positions) => {
                    let page = PageRef { name: name(), selects: positions.len() };
                    let selects = &layout.selects[positions];
                    let key = head.bin_id.document_key(&page.name);
                    documents.push((key.clone(), to_json(selects)?));
                    written.push((key, selects));
                    page
                }
            });
        }
        let order = layout.order.map(|order| (name(), order));
        if let Some((name, order)) = &order {
            documents.push((head.bin_id.document_key(name), to_json(order)?));
        }
        head.pages = pages;
        head.order = order.map(|(name, _)| name);
        head.selects = new.len();
        head.milliseconds = new.iter().map(Select::milliseconds).sum();
        head.videos = stored_shares(new);
        let keys = documents.iter().map(|(key, _)| key.clone()).collect();
        stream::iter(documents)
            .map(|(key, document)| async move { self.store.put(&key, &document).await })
            .buffer_unordered(MAX_CONCURRENT_READS)
            .try_collect::<()>()
            .await?;
        for (key, selects) in written {
            self.page_cache.insert(&key, selects);
        }
        Ok(keys)
    }

    /// Replaces the state of a bin by `head`, for which the documents `written` were stored. Returns
    /// whether it did; if not, another process has changed the bin. Removes the documents that are
    /// no longer needed.
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
                // While the state is still the old one, a delayed swap may yet need the documents.
                if current.as_ref() != Some(&stored.document) {
                    self.remove(written.to_vec()).await;
                }
                return Ok(false);
            }
        }
        let needed = head.documents();
        let unneeded = stored.head.documents().into_iter().filter(|name| !needed.contains(name));
        self.remove(unneeded.map(|name| head.bin_id.document_key(name)).collect()).await;
        Ok(true)
    }

    /// Removes documents that no state needs. If that fails, a later sweep removes them.
    async fn remove(&self, keys: Vec<String>) {
        let removals = stream::iter(keys).map(|key| async move {
            if let Err(error) = self.store.delete(&key).await {
                tracing::debug!(key, %error, "a document of a bin was not removed");
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

/// Reads the order of the selects; `None` if it is the order of the pages.
pub(super) async fn read_order(bins: &Bins, head: &BinHead) -> Result<Option<Order>> {
    let Some(name) = &head.order else { return Ok(None) };
    let key = head.bin_id.document_key(name);
    let order: Option<Order> = read_document(&*bins.store, &key).await?;
    let order = order.ok_or_else(|| Error::corrupt(missing_record(&key)))?;
    match order.is_complete(head.selects) {
        true => Ok(Some(order)),
        false => Err(Error::corrupt(format!("the record {key} does not order every select"))),
    }
}

/// Returns the selects of `pages` in the order of `ranges`. Each page has its range of positions.
fn selects_at(ranges: &[Range<usize>], pages: &[(Range<usize>, Arc<[Select]>)]) -> Vec<Select> {
    let mut selects = Vec::new();
    for wanted in ranges {
        let first = pages.partition_point(|(range, _)| range.end <= wanted.start);
        for (range, page) in pages[first..].iter().take_while(|(range, _)| range.start < wanted.end)
        {
            let start = wanted.start.max(range.start) - range.start;
            selects.extend_from_slice(&page[start..wanted.end.min(range.end) - range.start]);
        }
    }
    selects
}

fn to_json<T: Serialize + ?Sized>(document: &T) -> Result<Value> {
    serde_json::to_value(document).map_err(|e| Error::corrupt(format!("cannot store a bin: {e}")))
}
