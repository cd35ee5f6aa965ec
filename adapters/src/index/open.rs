//! Defines the configuration section `[index]` and opens the adapter that it selects.

use std::path::{Path, PathBuf};
use std::sync::Arc;

#[cfg(feature = "cloud")]
use futures::FutureExt;
use ports::embedder::Embedder;
use ports::index::{Index, PictureSpace};
use ports::listing::VideoListing;
use ports::units::{byte_size, seconds};
use serde::{Deserialize, Serialize};

use super::embedded::{EmbeddedIndex, EmbeddedOptions, EmbeddedRebuild, is_replaceable};
use super::memory::MemoryIndex;
#[cfg(feature = "cloud")]
use super::qdrant::{QdrantIndex, QdrantOptions};
use crate::OpenError;
#[cfg(feature = "cloud")]
use crate::lazy::Lazy;
use crate::listing::embedded::EmbeddedListing;
use crate::listing::memory::MemoryListing;
#[cfg(feature = "cloud")]
use crate::listing::qdrant::{QdrantListing, QdrantListingOptions};

/// File name of the listing in the folder of an embedded index.
const LISTING: &str = "videos.redb";

/// Where vectors are stored.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// In the service's process, on disk under `data_dir`.
    #[default]
    Embedded,
    /// A Qdrant server.
    Qdrant,
    /// In memory, rebuilt from the records on each start.
    Memory,
}

/// Settings of the vector index.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Settings {
    /// The kind of index.
    pub kind: Kind,
    /// gRPC URL of the server, such as `http://127.0.0.1:6334`, or `https://…` for TLS (Qdrant
    /// only).
    pub url: String,
    /// The server's API key (Qdrant only).
    pub api_key: String,
    /// Name of the collection, which all instances share (Qdrant only).
    pub collection: String,
    /// Whether to compare every point instead of walking an HNSW graph, which misses some hits
    /// (Qdrant only).
    pub exact: bool,
    /// Number of shards of a new collection (Qdrant only).
    pub shards: u32,
    /// Replication factor of a new collection (Qdrant only).
    pub replicas: u32,
    /// Request timeout in seconds (Qdrant only).
    #[serde(with = "seconds")]
    pub timeout: u64,
    /// Maximum number of attempts per request if the server does not answer (Qdrant only).
    pub attempts: u32,
    /// Number of threads that score the vectors of a search, including the calling thread. 0 means
    /// one thread per core (embedded only).
    pub threads: usize,
    /// Number of bytes to buffer in memory before they are written to disk (embedded only).
    #[serde(with = "byte_size")]
    pub writer_memory: usize,
    /// Number of points at which the log and `shotlog check` start to recommend a Qdrant server; 0
    /// means never (embedded only).
    pub warn_above_points: u64,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            kind: Kind::default(),
            url: String::new(),
            api_key: String::new(),
            collection: "shotlog".into(),
            exact: true,
            shards: 1,
            replicas: 1,
            timeout: 10,
            attempts: 3,
            threads: 0,
            writer_memory: 64 << 20,
            warn_above_points: 2_000_000,
        }
    }
}

/// What an index stores, and where an embedded index is kept.
pub struct IndexSpec<'a> {
    /// The folder that contains an embedded index.
    pub data_dir: &'a Path,
    /// The embedding model, which determines the vectors of `fields` and their dimension.
    pub embedder: &'a dyn Embedder,
    /// The vector fields of a point, except the picture fields.
    pub fields: Vec<String>,
    /// The vector fields that hold vectors of pictures, if any.
    pub pictures: Option<PictureSpace>,
}

/// How to handle an embedded index whose files are damaged or have another format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DamagePolicy {
    /// Fail with an error.
    Refuse,
    /// Replace the index with an empty one, to be rebuilt from the records.
    Replace,
}

/// The stores selected by `index.kind`.
#[derive(Clone)]
pub struct IndexStores {
    /// The points of all videos.
    pub index: Arc<dyn Index>,
    /// The listing of all videos.
    pub listing: Arc<dyn VideoListing>,
}

/// Opens the index and the listing. If they are on a server, they connect on first use.
pub async fn open(
    section: &Settings,
    spec: IndexSpec<'_>,
    unreadable: DamagePolicy,
) -> Result<IndexStores, OpenError> {
    match section.kind {
        Kind::Memory => Ok(IndexStores {
            index: Arc::new(memory(spec)),
            listing: Arc::new(MemoryListing::new()),
        }),
        #[cfg(feature = "cloud")]
        Kind::Qdrant => {
            let (options, listing) = (qdrant(section, spec), qdrant_listing(section));
            Ok(IndexStores {
                index: Arc::new(Lazy::new(move || QdrantIndex::open(options.clone()).boxed())),
                listing: Arc::new(Lazy::new(move || QdrantListing::open(listing.clone()).boxed())),
            })
        }
        #[cfg(not(feature = "cloud"))]
        Kind::Qdrant => Err(OpenError::compiled_out("index.kind = \"qdrant\"", "cloud")),
        Kind::Embedded => {
            let at = OpenError::in_section("index");
            let options = embedded(section, spec);
            let index = match EmbeddedIndex::open(options.clone()).await {
                Err(error) if unreadable == DamagePolicy::Replace && is_replaceable(&error) => {
                    let EmbeddedRebuild { fresh, .. } =
                        EmbeddedIndex::begin_rebuild(options.clone()).await.map_err(&at)?;
                    fresh.publish().await.map(|()| fresh)
                }
                opened => opened,
            };
            let index = Arc::new(index.map_err(&at)?);
            Ok(IndexStores { index, listing: embedded_listing(&options).await.map_err(&at)? })
        }
    }
}

/// An index under construction next to the index in use. For an in-memory index, the two are
/// the same.
pub struct Rebuild {
    /// The index to fill.
    pub index: Arc<dyn Index>,
    /// The listing. The index to fill and the index in use share it.
    pub listing: Arc<dyn VideoListing>,
    /// The index in use, if it is a separate index and can be read.
    pub current: Option<Arc<dyn Index>>,
    fresh: Replacement,
}

/// The index that replaces the index in use.
enum Replacement {
    Memory,
    Embedded(Arc<EmbeddedIndex>),
    #[cfg(feature = "cloud")]
    Qdrant(Arc<QdrantIndex>),
}

impl Rebuild {
    /// Opens the index to fill. The index in use may be in any state.
    pub async fn open(section: &Settings, spec: IndexSpec<'_>) -> Result<Self, OpenError> {
        let at = OpenError::in_section("index");
        match section.kind {
            #[cfg(feature = "cloud")]
            Kind::Qdrant => {
                let listing = QdrantListing::open(qdrant_listing(section)).await.map_err(&at)?;
                let fresh = QdrantIndex::begin_rebuild(qdrant(section, spec)).await.map_err(&at)?;
                let previous = fresh.previous().await.map_err(&at)?;
                let fresh = Arc::new(fresh);
                Ok(Self {
                    index: fresh.clone(),
                    listing: Arc::new(listing),
                    current: previous.map(|index| Arc::new(index) as Arc<dyn Index>),
                    fresh: Replacement::Qdrant(fresh),
                })
            }
            Kind::Embedded => {
                let options = embedded(section, spec);
                let opened = EmbeddedIndex::begin_rebuild(options.clone()).await;
                let EmbeddedRebuild { fresh, current } = opened.map_err(&at)?;
                let fresh = Arc::new(fresh);
                Ok(Self {
                    index: fresh.clone(),
                    listing: embedded_listing(&options).await.map_err(&at)?,
                    current: current.map(|index| Arc::new(index) as Arc<dyn Index>),
                    fresh: Replacement::Embedded(fresh),
                })
            }
            _ => {
                let IndexStores { index, listing } =
                    open(section, spec, DamagePolicy::Refuse).await?;
                Ok(Self { index, listing, current: None, fresh: Replacement::Memory })
            }
        }
    }

    /// Puts the filled index into use. Returns `true` if searches used another index in the
    /// meantime, in which case the filled index lacks recent writes.
    pub async fn publish(self) -> Result<bool, OpenError> {
        // The old index must not be open when it is removed.
        drop(self.current);
        let (published, elsewhere) = match self.fresh {
            Replacement::Memory => (Ok(()), false),
            // The folder stayed locked, so no other process wrote to it in the meantime.
            Replacement::Embedded(fresh) => (fresh.publish().await, false),
            #[cfg(feature = "cloud")]
            Replacement::Qdrant(fresh) => (fresh.publish().await, true),
        };
        published.map(|()| elsewhere).map_err(OpenError::in_section("index"))
    }
}

fn memory(spec: IndexSpec<'_>) -> MemoryIndex {
    let index = MemoryIndex::new(spec.embedder.dimension());
    match spec.pictures {
        Some(pictures) => index.with_pictures(pictures),
        None => index,
    }
}

fn embedded(section: &Settings, spec: IndexSpec<'_>) -> EmbeddedOptions {
    EmbeddedOptions {
        folder: folder(spec.data_dir, spec.embedder),
        dimension: spec.embedder.dimension(),
        model: spec.embedder.model().to_owned(),
        pictures: spec.pictures,
        threads: section.threads,
        writer_memory: section.writer_memory,
        large: section.warn_above_points,
    }
}

/// Opens the listing that belongs to an embedded index.
async fn embedded_listing(index: &EmbeddedOptions) -> ports::Result<Arc<dyn VideoListing>> {
    let listing = EmbeddedListing::open(index.folder.join(LISTING)).await?;
    Ok(Arc::new(listing))
}

#[cfg(feature = "cloud")]
fn qdrant_listing(section: &Settings) -> QdrantListingOptions {
    QdrantListingOptions {
        url: section.url.clone(),
        api_key: crate::open::set(&section.api_key),
        collection: format!("{}-videos", section.collection),
        shards: section.shards.max(1),
        replicas: section.replicas.max(1),
        timeout: std::time::Duration::from_secs(section.timeout),
        attempts: section.attempts.max(1),
    }
}

#[cfg(feature = "cloud")]
fn qdrant(section: &Settings, spec: IndexSpec<'_>) -> QdrantOptions {
    QdrantOptions {
        url: section.url.clone(),
        api_key: crate::open::set(&section.api_key),
        collection: section.collection.clone(),
        dimension: spec.embedder.dimension(),
        model: spec.embedder.model().to_owned(),
        fields: spec.fields,
        pictures: spec.pictures,
        exact: section.exact,
        shards: section.shards.max(1),
        replicas: section.replicas.max(1),
        timeout: std::time::Duration::from_secs(section.timeout),
        attempts: section.attempts.max(1),
    }
}

/// Returns the folder for the embedding model. Each model has a separate folder, so that switching
/// back to a model reuses its vectors.
fn folder(data_dir: &Path, embedder: &dyn Embedder) -> PathBuf {
    let model: String = embedder
        .model()
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.') { c } else { '_' })
        .collect();
    data_dir.join("index").join(format!("{model}-{}", embedder.dimension()))
}
