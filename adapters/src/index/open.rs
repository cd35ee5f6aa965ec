//! The section `[index]`, and the adapter that it asks for.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use ports::embedder::Embedder;
use ports::index::VectorIndex;
use serde::{Deserialize, Serialize};

use super::embedded::{EmbeddedIndex, EmbeddedOptions};
use super::memory::MemoryIndex;
#[cfg(feature = "cloud")]
use super::qdrant::{QdrantIndex, QdrantOptions};
use crate::OpenError;

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
    /// Threads that score vectors; 0 is one per core (embedded).
    pub threads: usize,
    /// Bytes that may wait in memory before they are written (embedded).
    pub writer_memory: usize,
}

impl Settings {
    /// Whether nothing is in the index when it is opened, so that it is filled from the records.
    pub fn is_filled_at_start(&self) -> bool {
        self.kind == Kind::Memory
    }
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

/// Opens the index that is searched.
pub async fn open(
    section: &Settings,
    contents: Contents<'_>,
) -> Result<Arc<dyn VectorIndex>, OpenError> {
    let embedder = contents.embedder;
    match section.kind {
        Kind::Memory => Ok(Arc::new(MemoryIndex::new(embedder.dimension()))),
        #[cfg(feature = "cloud")]
        Kind::Qdrant => {
            let index = QdrantIndex::open(qdrant(section, contents)).await;
            Ok(Arc::new(index.map_err(OpenError::at("index"))?))
        }
        #[cfg(not(feature = "cloud"))]
        Kind::Qdrant => Err(OpenError::compiled_out("index.kind = \"qdrant\"", "cloud")),
        Kind::Embedded => {
            let options = EmbeddedOptions {
                folder: folder(contents.data_dir, embedder),
                dimension: embedder.dimension(),
                model: embedder.model().to_owned(),
                threads: section.threads,
                writer_memory: section.writer_memory,
            };
            let index = EmbeddedIndex::open(options).await;
            Ok(Arc::new(index.map_err(OpenError::at("index"))?))
        }
    }
}

/// An index that is to be filled anew.
pub struct Rebuild {
    /// Where the points go.
    pub index: Arc<dyn VectorIndex>,
    /// The collection that takes the searched one's place once it is full.
    #[cfg(feature = "cloud")]
    beside: Option<QdrantIndex>,
}

impl Rebuild {
    /// Opens what is to be filled: on a server a collection beside the one that is searched, else
    /// the index itself.
    pub async fn open(section: &Settings, contents: Contents<'_>) -> Result<Self, OpenError> {
        #[cfg(feature = "cloud")]
        if section.kind == Kind::Qdrant {
            let fresh = QdrantIndex::beside(qdrant(section, contents)).await;
            let fresh = fresh.map_err(OpenError::at("index"))?;
            return Ok(Self { index: Arc::new(fresh.clone()), beside: Some(fresh) });
        }
        Ok(Self {
            index: open(section, contents).await?,
            #[cfg(feature = "cloud")]
            beside: None,
        })
    }

    /// What searches still go to, where that is another collection than the one to be filled.
    pub async fn replaced(&self) -> Result<Option<Arc<dyn VectorIndex>>, OpenError> {
        #[cfg(feature = "cloud")]
        if let Some(fresh) = &self.beside {
            let before = fresh.before().await.map_err(OpenError::at("index"))?;
            return Ok(before.map(|index| Arc::new(index) as Arc<dyn VectorIndex>));
        }
        Ok(None)
    }

    /// Has searches go to what was filled. True where they went elsewhere meanwhile, so that what
    /// was written since is not in it yet.
    pub async fn publish(self) -> Result<bool, OpenError> {
        #[cfg(feature = "cloud")]
        if let Some(fresh) = self.beside {
            fresh.publish().await.map_err(OpenError::at("index"))?;
            return Ok(true);
        }
        Ok(false)
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
