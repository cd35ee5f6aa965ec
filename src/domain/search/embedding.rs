//! Embeds search texts and questions.

use std::sync::Arc;

use ports::decoder::Image;
use ports::embedder::Embedder;
use ports::image_embedder::ImageEmbedder;
use text::questions::subject;

use crate::kernel::cache::ByteCache;
use crate::kernel::error::{Error, Result};
use crate::kernel::ports::Models;
use crate::kernel::vector::{normalized, sum};
use crate::search::request::{SearchRequest, SearchedAnalyzers, VectorField};
use crate::search::settings::SearchSettings;

/// Embeds search texts and caches their vectors.
pub(crate) struct QueryEmbedder {
    embedder: Arc<dyn Embedder>,
    /// Embeds what a search of the visual field looks for.
    images: Option<Arc<dyn ImageEmbedder>>,
    /// Vectors by space and text.
    cache: ByteCache<Vec<f32>>,
    max_text_bytes: usize,
}

impl QueryEmbedder {
    pub(super) fn new(models: &Models, settings: &SearchSettings) -> Self {
        Self {
            embedder: models.embedder.clone(),
            images: models.image_embedder.clone(),
            cache: ByteCache::new(settings.cache_bytes),
            max_text_bytes: settings.max_text_bytes,
        }
    }

    /// Whether the visual field can be searched.
    pub(super) fn embeds_images(&self) -> bool {
        self.images.is_some()
    }

    /// Computes the vector of a search text for the field that a request searches. Returns `Invalid`
    /// for the visual field if there is no image embedder.
    pub(crate) async fn request_vector(
        &self,
        request: &SearchRequest,
        text: &str,
    ) -> Result<Vec<f32>> {
        match request.field {
            VectorField::VISUAL => self.visual_vector(text).await,
            _ => self.text_vector(&request.analyzers, text).await,
        }
    }

    /// Computes the vector of a search text for the visual field. Returns `Invalid` if there is no
    /// image embedder.
    pub(super) async fn visual_vector(&self, text: &str) -> Result<Vec<f32>> {
        let key = format!("image {text}");
        if let Some(vector) = self.cache.get(&key) {
            return Ok(vector);
        }
        let subject = subject(text).unwrap_or(text).to_owned();
        let vector = only(self.images()?.embed_texts(&[subject]).await?)?;
        self.cache.insert(&key, vector.clone(), size_of_val(vector.as_slice()));
        Ok(vector)
    }

    /// Computes the vector of a picture. Returns `Invalid` if there is no image embedder.
    pub(super) async fn image_vector(&self, image: Image) -> Result<Vec<f32>> {
        only(self.images()?.embed_images(&[image]).await?)
    }

    /// Returns `Invalid` if there is no image embedder.
    pub(super) fn images(&self) -> Result<&Arc<dyn ImageEmbedder>> {
        let reason = "pictures cannot be searched, because there is no image embedder; install an \
                      image classifier (`shotlog models` says how) or omit field";
        self.images.as_ref().ok_or_else(|| Error::Invalid(reason.into()))
    }

    /// Computes the vector for a search text. If the search covers all analyzers, the text is
    /// embedded as a question: see [`Self::embed_question`].
    pub(crate) async fn text_vector(
        &self,
        analyzers: &SearchedAnalyzers,
        text: &str,
    ) -> Result<Vec<f32>> {
        match analyzers {
            SearchedAnalyzers::All => self.embed_question(text).await,
            SearchedAnalyzers::One(_) => self.embed(text).await,
        }
    }

    /// Returns `Unprocessable` if `text` is too long; `field` is its name in the request.
    pub(crate) fn check_length(&self, field: &str, text: &str) -> Result<()> {
        let max = self.max_text_bytes;
        if text.len() <= max {
            return Ok(());
        }
        Err(Error::Unprocessable(format!(
            "{field} has {} bytes; it must have at most {max} (search.max_text_bytes)",
            text.len()
        )))
    }

    /// Embeds one text.
    pub(crate) async fn embed(&self, text: &str) -> Result<Vec<f32>> {
        only(self.embed_all(&[text]).await?)
    }

    /// Embeds texts. Takes vectors from the cache and computes the missing vectors with one call to
    /// the embedder.
    async fn embed_all(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>> {
        let mut vectors: Vec<_> =
            texts.iter().map(|text| self.cache.get(&text_key(text))).collect();
        let uncached = texts.iter().zip(&vectors).filter(|(_, vector)| vector.is_none());
        let uncached: Vec<String> = uncached.map(|(text, _)| (*text).to_owned()).collect();
        if !uncached.is_empty() {
            let embedded = self.embedder.embed(&uncached).await?;
            let missing = vectors.iter_mut().filter(|vector| vector.is_none());
            for ((missing, text), vector) in missing.zip(&uncached).zip(embedded) {
                self.cache.insert(&text_key(text), vector.clone(), size_of_val(vector.as_slice()));
                *missing = Some(vector);
            }
        }
        Ok(vectors.into_iter().flatten().collect())
    }

    /// Embeds a question as the normalized sum of its vector and the vector of its subject, so that
    /// the wording of the question does not obscure its content.
    pub(crate) async fn embed_question(&self, question: &str) -> Result<Vec<f32>> {
        let Some(subject) = subject(question) else { return self.embed(question).await };
        Ok(normalized(sum(&self.embed_all(&[question, subject]).await?)))
    }
}

/// The cache key of a text's vector; those of the visual field begin with another word.
fn text_key(text: &str) -> String {
    format!("text {text}")
}

/// Returns the vector of the only input.
fn only(vectors: Vec<Vec<f32>>) -> Result<Vec<f32>> {
    vectors.into_iter().next().ok_or_else(|| Error::corrupt("the embedder returned no vector"))
}
