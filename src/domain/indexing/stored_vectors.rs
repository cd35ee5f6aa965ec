//! Reuses the vectors in the index for texts that have not changed, so that no text is embedded
//! twice.

use std::collections::HashMap;

use async_trait::async_trait;
use ports::embedder::Embedder;
use ports::index::VectorIndex;

use crate::analysis::VECTOR_FIELDS;
use crate::analysis::video::Outputs;
use crate::indexing::point::revision_filter;
use crate::kernel::error::Result;
use crate::kernel::video::{ChunkId, VideoId};

/// The texts that an analyzer's outputs embed, by chunk and vector field.
pub(crate) type EmbeddedTexts = HashMap<(ChunkId, String), String>;

/// Returns the texts that these outputs embed.
pub(crate) fn embedded_texts(outputs: &Outputs) -> EmbeddedTexts {
    let mut texts = EmbeddedTexts::new();
    for (chunk_id, output) in (0..).map(ChunkId).zip(outputs) {
        let Some(output) = output else { continue };
        let fields = output.content().index_entry().fields.into_iter();
        texts.extend(fields.map(|(field, text)| ((chunk_id, field.to_owned()), text)));
    }
    texts
}

/// Reads the vectors for `texts` from the points of one revision. Returns them by text.
pub(crate) async fn stored_vectors(
    index: &dyn VectorIndex,
    video_id: VideoId,
    revision: &str,
    mut texts: EmbeddedTexts,
) -> Result<HashMap<String, Vec<f32>>> {
    let filter = revision_filter(video_id, vec![revision.to_owned()]);
    let mut vectors = HashMap::new();
    for (field, _) in VECTOR_FIELDS {
        if texts.keys().all(|(_, name)| name != field) {
            continue;
        }
        for (point, vector) in index.vectors(&filter, field).await? {
            if let Some(text) = texts.remove(&(point.chunk_id, (*field).to_owned())) {
                vectors.insert(text, vector);
            }
        }
    }
    Ok(vectors)
}

/// An embedder that already knows the vectors for some texts.
pub(crate) struct CachingEmbedder<'a> {
    pub(crate) vectors: HashMap<String, Vec<f32>>,
    pub(crate) embedder: &'a dyn Embedder,
}

#[async_trait]
impl Embedder for CachingEmbedder<'_> {
    fn model(&self) -> &str {
        self.embedder.model()
    }

    fn dimension(&self) -> usize {
        self.embedder.dimension()
    }

    async fn embed(&self, texts: &[String]) -> ports::Result<Vec<Vec<f32>>> {
        let is_new = |text: &&String| !self.vectors.contains_key(*text);
        let new: Vec<String> = texts.iter().filter(is_new).cloned().collect();
        let mut embedded = match new.is_empty() {
            true => Vec::new(),
            false => self.embedder.embed(&new).await?,
        }
        .into_iter();
        let vector = |text: &String| match self.vectors.get(text) {
            Some(known) => Some(known.clone()),
            None => embedded.next(),
        };
        Ok(texts.iter().filter_map(vector).collect())
    }

    async fn count_tokens(&self, texts: &[String]) -> ports::Result<Vec<usize>> {
        self.embedder.count_tokens(texts).await
    }

    async fn probe(&self) -> ports::Result<()> {
        self.embedder.probe().await
    }
}
