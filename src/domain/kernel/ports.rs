//! Bundles of the ports that use-cases depend on.

use std::sync::Arc;

use ports::classifier::ImageClassifier;
use ports::decoder::VideoDecoder;
use ports::detector::ObjectDetector;
use ports::embedder::Embedder;
use ports::fetcher::SourceFetcher;
use ports::image_embedder::ImageEmbedder;
use ports::index::Index;
use ports::jobs::JobQueue;
use ports::listing::VideoListing;
use ports::llm::LanguageModel;
use ports::ner::EntityRecognizer;
use ports::ocr::TextRecognizer;
use ports::records::RecordStore;
use ports::reranker::Reranker;
use ports::sentiment::SentimentClassifier;
use ports::speaker::{SpeakerEmbedder, SpeakerSegmentation};
use ports::storage::ObjectStorage;
use ports::transcriber::Transcriber;
use ports::vad::VoiceActivityDetector;
use ports::webhook::WebhookSender;

/// The ports for storage and for communication with external systems.
#[derive(Clone)]
#[expect(missing_docs, reason = "each field is the port of its name")]
pub struct Stores {
    pub storage: Arc<dyn ObjectStorage>,
    pub records: Arc<dyn RecordStore>,
    pub index: Arc<dyn Index>,
    pub listing: Arc<dyn VideoListing>,
    pub jobs: Arc<dyn JobQueue>,
    pub fetcher: Arc<dyn SourceFetcher>,
    pub webhooks: Arc<dyn WebhookSender>,
}

/// The models and the decoder. Optional models enable the analyzers that need them.
#[derive(Clone)]
#[expect(missing_docs, reason = "each field is the port of its name")]
pub struct Models {
    pub decoder: Arc<dyn VideoDecoder>,
    pub embedder: Arc<dyn Embedder>,
    pub reranker: Option<Arc<dyn Reranker>>,
    pub llm: Arc<dyn LanguageModel>,
    pub transcriber: Option<Arc<dyn Transcriber>>,
    pub vad: Option<Arc<dyn VoiceActivityDetector>>,
    pub speaker_segmentation: Option<Arc<dyn SpeakerSegmentation>>,
    pub speaker_embedder: Option<Arc<dyn SpeakerEmbedder>>,
    pub detector: Option<Arc<dyn ObjectDetector>>,
    pub classifier: Option<Arc<dyn ImageClassifier>>,
    pub image_embedder: Option<Arc<dyn ImageEmbedder>>,
    pub ocr: Option<Arc<dyn TextRecognizer>>,
    pub sentiment: Option<Arc<dyn SentimentClassifier>>,
    pub ner: Option<Arc<dyn EntityRecognizer>>,
}
