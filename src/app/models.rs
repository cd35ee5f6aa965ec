//! Opens the models in parallel, since loading and testing each network takes up to a second.

use std::panic::resume_unwind;
use std::sync::Arc;
use std::thread::{ScopedJoinHandle, scope};

use adapters::{
    OpenError, classifier, decoder, detector, embedder, image_embedder, llm, ner, ocr, reranker,
    sentiment, speaker, transcriber, vad,
};
use ports::classifier::ImageClassifier;
use ports::embedder::Embedder;
use ports::image_embedder::ImageEmbedder;

use crate::config::Config;
use domain::Models;

type Result<T> = std::result::Result<T, OpenError>;

/// The models that compute vectors. The index is opened for their dimensions.
pub(super) struct Embedders {
    /// Embeds texts.
    pub(super) texts: Arc<dyn Embedder>,
    /// Embeds images, if an image embedder is configured.
    pub(super) images: Option<Arc<dyn ImageEmbedder>>,
    classifier: Option<Arc<dyn ImageClassifier>>,
}

impl Embedders {
    /// Opens the models that the configuration selects. *Blocks*.
    pub(super) fn open(config: &Config) -> Result<Self> {
        let texts = embedder::open(&config.embedder, &config.models, &config.llm)?;
        let classifier = classifier::open(&config.classifier, &config.models)?;
        let images = image_embedder::open(
            &config.image_embedder,
            &config.models,
            classifier.as_ref(),
            &texts,
        )?;
        Ok(Self { texts, images, classifier })
    }
}

/// Opens every other model that the configuration selects. *Blocks*.
pub(super) fn open(config: &Config, embedders: Embedders) -> Result<Models> {
    let files = &config.models;
    scope(|all| {
        let transcriber = all.spawn(|| transcriber::open(&config.transcriber, files, &config.llm));
        let ocr = all.spawn(|| ocr::open(&config.ocr, files));
        let speakers = all.spawn(|| speaker::open(&config.speaker, files));
        let reranker = all.spawn(|| reranker::open(&config.reranker, files));
        let detector = all.spawn(|| detector::open(&config.detector, files));
        let vad = all.spawn(|| vad::open(&config.vad, files));
        let sentiment = all.spawn(|| sentiment::open(&config.sentiment, files));
        let ner = all.spawn(|| ner::open(&config.ner, files));
        let llm = llm::open(&config.llm)?;
        let decoder = decoder::open(&config.decoder, config.domain.ingest.max_duration)?;
        let speakers = join(speakers)?;
        Ok(Models {
            decoder,
            embedder: embedders.texts,
            reranker: join(reranker)?,
            llm,
            transcriber: join(transcriber)?,
            vad: join(vad)?,
            speaker_segmentation: speakers.as_ref().map(|networks| networks.segmentation.clone()),
            speaker_embedder: speakers.map(|networks| networks.embedder),
            detector: join(detector)?,
            classifier: embedders.classifier,
            image_embedder: embedders.images,
            ocr: join(ocr)?,
            sentiment: Some(join(sentiment)?),
            ner: Some(join(ner)?),
        })
    })
}

/// Returns the model that a thread opened; if the thread panicked, resumes its panic.
fn join<T>(thread: ScopedJoinHandle<'_, Result<T>>) -> Result<T> {
    thread.join().unwrap_or_else(|panic| resume_unwind(panic))
}
