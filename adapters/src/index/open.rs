//! The section `[index]`, and the adapter that it asks for.

use std::path::{Path, PathBuf};
use std::sync::Arc;

#[cfg(feature = "cloud")]
use futures::FutureExt;
use ports::embedder::Embedder;
use ports::index::VectorIndex;
use ports::listing::VideoListing;
use serde::{Deserialize, Serialize};

use super::embedded::{Beside, EmbeddedIndex, EmbeddedOptions, is_replaceable};
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

/// The listing's file in the folder of an embedded index.
const LISTING: &str = "videos.redb";

/// Where vectors are.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// In the process, on disk below `data_dir`.
    #[default]
    Embedded,
    /// A Qdrant server.
    Qdrant,
    /// In memory, rebuilt from the records at each start.
    Memory,
}

/// Where vectors are.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Settings {
    /// What keeps the vectors.
    pub kind: Kind,
    /// The server's gRPC address, such as `http://127.0.0.1:6334`; `https` for TLS (qdrant).
    pub url: String,
    /// The server's API key (qdrant).
    pub api_key: String,
    /// Name of the collection, shared by every instance (qdrant).
    pub collection: String,
    /// Compare every point, rather than walk a graph that misses some hits (qdrant).
    pub exact: bool,
    /// Parts that a new collection is split into, over the nodes of a cluster (qdrant).
    pub shards: u32,
    /// Copies of each part of a new collection (qdrant).
    pub replicas: u32,
    /// Seconds for one request (qdrant).
    pub timeout: u64,
    /// Times a request is sent while the server does not answer (qdrant).
    pub attempts: u32,
    /// Threads that score the vectors of a search, its own among them; 0 is one per core (embedded).
    pub threads: usize,
    /// Bytes that may wait in memory before they are written (embedded).
    pub writer_memory: usize,
    /// Points from which on the log and `shotlog check` say that a Qdrant server is the better
    /// place; 0 never (embedded).
    pub large: u64,
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
            large: 2_000_000,
        }
    }
}

/// What the vectors of an index are made of, and where a folder of them may lie.
pub struct Contents<'a> {
    /// The folder below which an embedded index lies.
    pub data_dir: &'a Path,
    /// What makes the vectors: its model and their length.
    pub embedder: &'a dyn Embedder,
    /// The vector fields of a point.
    pub fields: Vec<String>,
}

/// What becomes of an embedded index whose files are damaged or of another format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unreadable {
    /// It is an error.
    Refuse,
    /// An empty one takes its place, for the points to be made again from the records.
    Replace,
}

/// What `index.kind` says where it is kept.
#[derive(Clone)]
pub struct Opened {
    /// The points of videos.
    pub index: Arc<dyn VectorIndex>,
    /// What is listed of them.
    pub listing: Arc<dyn VideoListing>,
}

/// Opens the index that is searched and the listing beside it; a server is connected to when it is first used.
pub async fn open(
    section: &Settings,
    contents: Contents<'_>,
    unreadable: Unreadable,
) -> Result<Opened, OpenError> {
    match section.kind {
        Kind::Memory => Ok(Opened {
            index: Arc::new(MemoryIndex::new(contents.embedder.dimension())),
            listing: Arc::new(MemoryListing::new()),
        }),
        #[cfg(feature = "cloud")]
        Kind::Qdrant => {
            let (options, listing) = (qdrant(section, contents), qdrant_listing(section));
            Ok(Opened {
                index: Arc::new(Lazy::new(move || QdrantIndex::open(options.clone()).boxed())),
                listing: Arc::new(Lazy::new(move || QdrantListing::open(listing.clone()).boxed())),
            })
        }
        #[cfg(not(feature = "cloud"))]
        Kind::Qdrant => Err(OpenError::compiled_out("index.kind = \"qdrant\"", "cloud")),
        Kind::Embedded => {
            let at = OpenError::at("index");
            let options = embedded(section, contents);
            let index = match EmbeddedIndex::open(options.clone()).await {
                Err(error) if unreadable == Unreadable::Replace && is_replaceable(&error) => {
                    let Beside { fresh, .. } =
                        EmbeddedIndex::beside(options.clone()).await.map_err(&at)?;
                    fresh.publish().await.map(|()| fresh)
                }
                opened => opened,
            };
            let index = Arc::new(index.map_err(&at)?);
            Ok(Opened { index, listing: embedded_listing(&options).await.map_err(&at)? })
        }
    }
}

/// An index that is filled anew beside the one that is searched; in memory it is the index itself.
pub struct Rebuild {
    /// Where the points go.
    pub index: Arc<dyn VectorIndex>,
    /// The listing in use: there is one of it.
    pub listing: Arc<dyn VideoListing>,
    /// What searches still go to, where that is another one and can be read.
    pub searched: Option<Arc<dyn VectorIndex>>,
    fresh: Fresh,
}

/// What takes the place of the index that is searched.
enum Fresh {
    Memory,
    Embedded(Arc<EmbeddedIndex>),
    #[cfg(feature = "cloud")]
    Qdrant(Arc<QdrantIndex>),
}

impl Rebuild {
    /// Opens what is to be filled, whatever became of the index that is searched.
    pub async fn open(section: &Settings, contents: Contents<'_>) -> Result<Self, OpenError> {
        let at = OpenError::at("index");
        match section.kind {
            #[cfg(feature = "cloud")]
            Kind::Qdrant => {
                let listing = QdrantListing::open(qdrant_listing(section)).await.map_err(&at)?;
                let fresh = QdrantIndex::beside(qdrant(section, contents)).await.map_err(&at)?;
                let before = fresh.before().await.map_err(&at)?;
                let fresh = Arc::new(fresh);
                Ok(Self {
                    index: fresh.clone(),
                    listing: Arc::new(listing),
                    searched: before.map(|index| Arc::new(index) as Arc<dyn VectorIndex>),
                    fresh: Fresh::Qdrant(fresh),
                })
            }
            Kind::Embedded => {
                let options = embedded(section, contents);
                let opened = EmbeddedIndex::beside(options.clone()).await;
                let Beside { fresh, searched } = opened.map_err(&at)?;
                let fresh = Arc::new(fresh);
                Ok(Self {
                    index: fresh.clone(),
                    listing: embedded_listing(&options).await.map_err(&at)?,
                    searched: searched.map(|index| Arc::new(index) as Arc<dyn VectorIndex>),
                    fresh: Fresh::Embedded(fresh),
                })
            }
            _ => {
                let Opened { index, listing } = open(section, contents, Unreadable::Refuse).await?;
                Ok(Self { index, listing, searched: None, fresh: Fresh::Memory })
            }
        }
    }

    /// Has searches go to what was filled. True where they went elsewhere meanwhile, so that what
    /// was written since is not in it yet.
    pub async fn publish(self) -> Result<bool, OpenError> {
        // Nobody reads what goes.
        drop(self.searched);
        let (published, elsewhere) = match self.fresh {
            Fresh::Memory => (Ok(()), false),
            // Its folder was locked all the time.
            Fresh::Embedded(fresh) => (fresh.publish().await, false),
            #[cfg(feature = "cloud")]
            Fresh::Qdrant(fresh) => (fresh.publish().await, true),
        };
        published.map(|()| elsewhere).map_err(OpenError::at("index"))
    }
}

fn embedded(section: &Settings, contents: Contents<'_>) -> EmbeddedOptions {
    EmbeddedOptions {
        folder: folder(contents.data_dir, contents.embedder),
        dimension: contents.embedder.dimension(),
        model: contents.embedder.model().to_owned(),
        threads: section.threads,
        writer_memory: section.writer_memory,
        large: section.large,
    }
}

/// The listing of an index, which is open.
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
fn qdrant(section: &Settings, contents: Contents<'_>) -> QdrantOptions {
    QdrantOptions {
        url: section.url.clone(),
        api_key: crate::open::set(&section.api_key),
        collection: section.collection.clone(),
        dimension: contents.embedder.dimension(),
        model: contents.embedder.model().to_owned(),
        fields: contents.fields,
        exact: section.exact,
        shards: section.shards.max(1),
        replicas: section.replicas.max(1),
        timeout: std::time::Duration::from_secs(section.timeout),
        attempts: section.attempts.max(1),
    }
}

/// One folder per embedding model: going back to a model finds its vectors again.
fn folder(data_dir: &Path, embedder: &dyn Embedder) -> PathBuf {
    let model: String = embedder
        .model()
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.') { c } else { '_' })
        .collect();
    data_dir.join("index").join(format!("{model}-{}", embedder.dimension()))
}
