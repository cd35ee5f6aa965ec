//! Bins: named, ordered lists of selects. A select is a span of a video with a note, tags, a rating
//! and a trim. It does not depend on the video's chunks, and stays in its bin if the video is
//! deleted.
//!
//! `bins/<bin_id>/bin.json` holds a bin's details, the sums over its selects by video, the list of its pages
//! and the changes that can be undone. It is changed only by compare-and-swap. The selects are in
//! pages, which are immutable documents in the same folder. If their order is not that of the
//! pages, it is another such document. A change writes the documents that differ and then replaces
//! `bin.json`, so readers see either the state before the change or the state after it.

pub mod change;
mod draft;
mod head;
mod layout;
mod list;
mod page_cache;
mod pages;
pub mod select;
mod store;
mod upkeep;
mod usage;
mod videos;

use std::fmt;
use std::sync::Arc;

use ports::records::RecordStore;
use ports::units::{byte_size, seconds};
use serde::{Deserialize, Serialize};
use tokio::sync::Mutex as AsyncMutex;

use crate::bins::head::BinHead;
use crate::bins::page_cache::{HeadCache, PageCache};
use crate::bins::usage::visible_bin;
use crate::kernel::access::Access;
use crate::kernel::error::{Error, Result};
use crate::library::Library;
use crate::records::metadata::collection_name;
use crate::records::readiness::StoreReadiness;
pub use head::ChangeKind;
pub use list::{BinList, BinOrder, BinQuery};
pub use videos::{SelectList, SelectView};

/// Number of hexadecimal digits of a bin's id.
const ID_DIGITS: usize = 12;

/// Number of locks that serialize the changes of this process. The id of a bin selects its lock.
const LOCKS: usize = 64;

/// Limits on bins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct BinSettings {
    /// Maximum number of bins.
    pub max: usize,
    /// Maximum number of selects per bin.
    pub max_selects: usize,
    /// Maximum number of changes per bin that can be undone.
    pub max_undo: usize,
    /// Maximum length of a bin's name, in characters.
    pub max_name_chars: usize,
    /// Maximum length of a select's note and of a bin's description, in characters.
    pub max_note_chars: usize,
    /// Maximum number of tags per select.
    pub max_tags: usize,
    /// Maximum length of a tag, in characters.
    pub max_tag_chars: usize,
    /// Maximum number of clips in an archive, or in a video, of a bin's clips.
    pub max_clips: usize,
    /// Maximum length of a video of a bin's clips, in seconds.
    #[serde(with = "seconds")]
    pub max_string_out: u64,
    /// Maximum of the longer side of such a video, in pixels.
    pub max_string_out_side: u32,
    /// Maximum size of such a video, in bytes.
    #[serde(with = "byte_size")]
    pub max_string_out_bytes: u64,
    /// Memory of the cache of selects, in bytes. Without it, each change of a bin reads all its
    /// selects from the store. A second cache of this size holds what lists of bins show.
    #[serde(with = "byte_size")]
    pub cache_bytes: usize,
}

impl Default for BinSettings {
    fn default() -> Self {
        Self {
            max: 1000,
            max_selects: 10_000,
            max_undo: 20,
            max_name_chars: 128,
            max_note_chars: 2000,
            max_tags: 20,
            max_tag_chars: 64,
            max_clips: 200,
            max_string_out: 1800,
            max_string_out_side: 1920,
            max_string_out_bytes: 2 << 30,
            cache_bytes: 16 << 20,
        }
    }
}

/// The id of a bin: 12 hexadecimal digits in lower case.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct BinId(String);

impl BinId {
    fn random() -> Self {
        Self(random_digits())
    }

    /// Parses the bin id in a request. Returns `NotFound` for a malformed id, since no bin can have
    /// it.
    pub fn parse(id: &str) -> Result<Self> {
        Self::read(id).ok_or_else(|| unknown_bin(id))
    }

    fn read(id: &str) -> Option<Self> {
        let is_digit = |b: u8| b.is_ascii_digit() || (b'a'..=b'f').contains(&b);
        (id.len() == ID_DIGITS && id.bytes().all(is_digit)).then(|| Self(id.to_owned()))
    }

    /// Returns the key prefix of the bin's documents.
    fn folder(&self) -> String {
        format!("{FOLDER}{self}/")
    }

    fn head_key(&self) -> String {
        format!("{FOLDER}{self}/{HEAD}")
    }

    fn document_key(&self, name: &str) -> String {
        format!("{FOLDER}{self}/{name}.json")
    }
}

impl fmt::Display for BinId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Key prefix of all bins.
const FOLDER: &str = "bins/";

/// File name of the document that holds a bin's details and the list of its pages.
const HEAD: &str = "bin.json";

/// A bin, without its selects.
#[derive(Debug, Clone, PartialEq)]
pub struct Bin {
    /// The bin's id.
    pub bin_id: BinId,
    /// The name, which need not be unique.
    pub name: String,
    /// The description; empty if there is none.
    pub description: String,
    /// The collection that the bin belongs to.
    pub collection: Option<String>,
    /// The number of the bin's state. It increases with every change.
    pub version: u64,
    /// Number of selects.
    pub selects: usize,
    /// Total length of the selects as trimmed, in seconds, without those whose video is missing.
    pub duration: f64,
    /// Creation time: ISO 8601 with second precision, in UTC.
    pub created_at: String,
    /// Time of the last change: ISO 8601 with second precision, in UTC.
    pub updated_at: String,
    /// Number of changes that can be undone.
    pub undo_steps: usize,
    /// The change that an undo would revert.
    pub last_change: Option<ChangeKind>,
}

/// The details of a new bin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BinDraft {
    /// The name.
    pub name: String,
    /// The description; may be empty.
    pub description: String,
    /// The collection that the bin belongs to. If `None`, the caller's default collection.
    pub collection: Option<String>,
}

/// The bin service.
pub struct Bins {
    store: Arc<dyn RecordStore>,
    library: Arc<Library>,
    readiness: Arc<StoreReadiness>,
    settings: BinSettings,
    page_cache: PageCache,
    head_cache: HeadCache,
    /// Serialize the changes of this process to a bin. Changes of other processes only cause
    /// retries.
    locks: Vec<AsyncMutex<()>>,
}

impl Bins {
    pub(crate) fn new(
        store: Arc<dyn RecordStore>,
        library: Arc<Library>,
        readiness: Arc<StoreReadiness>,
        settings: BinSettings,
    ) -> Self {
        let locks = (0..LOCKS).map(|_| AsyncMutex::default()).collect();
        let page_cache = PageCache::new(settings.cache_bytes);
        let head_cache = HeadCache::default();
        Self { store, library, readiness, settings, page_cache, head_cache, locks }
    }

    /// Creates an empty bin. Returns `Unprocessable` if the name or the description is too long,
    /// `Forbidden` if the caller may not see the collection, and `Invalid` if there are too many
    /// bins.
    pub async fn create(&self, access: &Access, draft: BinDraft) -> Result<Bin> {
        self.readiness.check()?;
        let name = self.settings.check_name(&draft.name)?;
        let description = self.settings.check_description(&draft.description)?;
        let collection = match draft.collection.as_deref().map(collection_name).transpose()? {
            Some(name) => Some(name),
            None => access.default_collection()?.map(str::to_owned),
        };
        access.check_collection(collection.as_deref())?;
        let max = self.settings.max;
        if self.ids().await?.len() >= max {
            return Err(Error::Invalid(format!(
                "there are {max} bins already (bins.max); delete one first"
            )));
        }
        let head = BinHead::new(name, description, collection);
        self.store_new(&head).await?;
        Ok(head.view())
    }

    /// Reads a bin. Returns `NotFound` if there is no such bin or the caller may not see it.
    pub async fn get(&self, access: &Access, bin_id: &BinId) -> Result<Bin> {
        let stored = self.find(access, bin_id).await?;
        visible_bin(self, access, &stored.head).await
    }

    /// Deletes a bin. Returns `NotFound` if there is no such bin or the caller may not see it, and
    /// `Outdated` if the bin has changed since the version `expected`. A caller with access to all
    /// collections may delete an unreadable bin.
    pub async fn delete(
        &self,
        access: &Access,
        bin_id: &BinId,
        expected: Option<u64>,
    ) -> Result<()> {
        self.readiness.check()?;
        let _lock = self.lock(bin_id).lock().await;
        loop {
            let found = match self.find(access, bin_id).await {
                Err(error) if error.is_corrupt() && access.collections().is_none() => {
                    return Ok(self.store.delete(&bin_id.folder()).await?);
                }
                found => found?,
            };
            found.head.check_unchanged(expected, found.head.version)?;
            if self.bury(&found).await? {
                return Ok(());
            }
        }
    }

    /// Returns the limits on bins.
    pub(crate) fn settings(&self) -> &BinSettings {
        &self.settings
    }

    /// Returns the lock of a bin.
    fn lock(&self, bin_id: &BinId) -> &AsyncMutex<()> {
        let sum: usize = bin_id.0.bytes().map(usize::from).sum();
        &self.locks[sum % LOCKS]
    }
}

impl BinSettings {
    /// Trims a bin's name and checks its length.
    fn check_name(&self, name: &str) -> Result<String> {
        let (name, max) = (name.trim(), self.max_name_chars);
        if name.is_empty() || name.chars().count() > max {
            return Err(Error::Unprocessable(format!(
                "name must have 1 to {max} characters (bins.max_name_chars)"
            )));
        }
        Ok(name.to_owned())
    }

    fn check_description(&self, description: &str) -> Result<String> {
        self.check_note("description", description)
    }

    /// Trims a note or a description and checks its length.
    fn check_note(&self, field: &str, text: &str) -> Result<String> {
        let (text, max) = (text.trim(), self.max_note_chars);
        if text.chars().count() > max {
            return Err(Error::Unprocessable(format!(
                "{field} has more than {max} characters (bins.max_note_chars)"
            )));
        }
        Ok(text.to_owned())
    }
}

fn random_digits() -> String {
    uuid::Uuid::new_v4().simple().to_string().chars().take(ID_DIGITS).collect()
}

fn unknown_bin(id: impl fmt::Display) -> Error {
    Error::NotFound(format!("unknown bin_id '{id}'; GET /bins lists the bins"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bin_ids_are_safe_in_keys() {
        let id = BinId::random();
        assert_eq!(BinId::parse(&id.to_string()).expect("an id"), id);
        for bad in
            ["", "0123456789a", "0123456789abc", "0123456789AB", "../../../etc", "01234/6789ab"]
        {
            assert!(matches!(BinId::parse(bad), Err(Error::NotFound(_))), "{bad}");
        }
    }
}
