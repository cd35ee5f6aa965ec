//! The adapters that see and hear, by configuration. Part of the composition root.

use std::sync::Arc;

use adapters::entities::RuleEntities;
use adapters::sentiment::Vader;
use adapters::transcriber::{
    OpenAiTranscriber, OpenAiTranscriberOptions, PocketSphinx, PocketSphinxOptions,
};
use adapters::voice::{SpectralVoiceActivity, SpeechOptions, TimbreEmbedder};
use ports::detector::ObjectDetector;
use ports::entities::EntityRecognizer;
use ports::reader::TextReader;
use ports::sentiment::SentimentClassifier;
use ports::transcriber::Transcriber;
use ports::voice::{SpeakerEmbedder, VoiceActivity};

use super::{Result, at, connection};
use crate::config::{
    Config, DetectorKind, EntitiesKind, ReaderKind, SentimentKind, SpeakerKind, TranscriberKind,
    VoiceKind,
};

/// Takes a missing model of the kind `auto` for "none" and says so.
fn optional<T>(auto: bool, without: &str, opened: Result<T>) -> Result<Option<T>> {
    match opened {
        Ok(adapter) => Ok(Some(adapter)),
        Err(error) if auto => {
            tracing::warn!("{without}: {error}; `shotlog models --fetch` gets it or says how");
            Ok(None)
        }
        Err(error) => Err(error),
    }
}

pub(super) fn reader(config: &Config) -> Result<Option<Arc<dyn TextReader>>> {
    match config.reader.kind {
        ReaderKind::None => Ok(None),
        kind => {
            optional(kind == ReaderKind::Auto, "no text is read in pictures", onnx::reader(config))
        }
    }
}

pub(super) fn detector(config: &Config) -> Result<Option<Arc<dyn ObjectDetector>>> {
    match config.detector.kind {
        DetectorKind::None => Ok(None),
        kind => {
            let auto = kind == DetectorKind::Auto;
            optional(auto, "no objects are found in pictures", onnx::detector(config))
        }
    }
}

pub(super) fn voice_activity(config: &Config) -> Result<Option<Arc<dyn VoiceActivity>>> {
    let spectral = || Arc::new(SpectralVoiceActivity::new(speech(config)));
    Ok(match config.voice.kind {
        VoiceKind::None => None,
        VoiceKind::Spectral => Some(spectral()),
        VoiceKind::Silero => Some(onnx::voice_activity(config)?),
        VoiceKind::Auto => {
            let without = "speech is found by the shape of the spectrum";
            let silero = optional(true, without, onnx::voice_activity(config))?;
            Some(silero.unwrap_or_else(|| spectral()))
        }
    })
}

fn speech(config: &Config) -> SpeechOptions {
    let given = &config.voice;
    let usual = SpeechOptions::default();
    SpeechOptions {
        threshold: given.threshold,
        release_threshold: (given.threshold - 0.15).max(given.threshold / 2.0),
        min_speech: given.min_speech,
        min_silence: given.min_silence,
        ..usual
    }
}

pub(super) fn speaker_embedder(config: &Config) -> Result<Option<Arc<dyn SpeakerEmbedder>>> {
    match config.speaker.kind {
        SpeakerKind::None => Ok(None),
        SpeakerKind::Spectral => Ok(Some(Arc::new(TimbreEmbedder::new()))),
        SpeakerKind::Onnx => onnx::speaker_embedder(config).map(Some),
    }
}

pub(super) fn transcriber(config: &Config) -> Result<Option<Arc<dyn Transcriber>>> {
    let whisper = match config.transcriber.kind {
        TranscriberKind::None => return Ok(None),
        TranscriberKind::Onnx => return onnx::transcriber(config).map(Some),
        TranscriberKind::Pocketsphinx => return pocketsphinx(config).map(Some),
        TranscriberKind::Openai => return remote_transcriber(config).map(Some),
        TranscriberKind::Auto => onnx::transcriber(config),
    };
    let missing = match whisper {
        Ok(transcriber) => return Ok(Some(transcriber)),
        Err(error) => error,
    };
    match pocketsphinx(config) {
        Ok(transcriber) => {
            tracing::warn!(
                "speech is recognised by PocketSphinx, the weakest recogniser: {missing}; `shotlog \
                 models` says how to get a better one"
            );
            Ok(Some(transcriber))
        }
        Err(error) => {
            tracing::warn!("no speech is recognised: {missing}; {error}");
            Ok(None)
        }
    }
}

fn remote_transcriber(config: &Config) -> Result<Arc<dyn Transcriber>> {
    let given = &config.transcriber;
    let options = OpenAiTranscriberOptions {
        connection: connection(&given.url, &given.api_key, config),
        model: given.model.clone(),
        language: language(config),
        ..OpenAiTranscriberOptions::default()
    };
    Ok(Arc::new(OpenAiTranscriber::new(options).map_err(at("transcriber"))?))
}

fn language(config: &Config) -> Option<String> {
    Some(config.transcriber.language.clone()).filter(|language| !language.is_empty())
}

fn pocketsphinx(config: &Config) -> Result<Arc<dyn Transcriber>> {
    let given = &config.transcriber;
    let options = PocketSphinxOptions {
        library: given.library.clone(),
        model: given.pocketsphinx.clone(),
        decoders: given.concurrency,
    };
    Ok(Arc::new(PocketSphinx::open(&options).map_err(at("transcriber"))?))
}

pub(super) fn sentiment(config: &Config) -> Result<Arc<dyn SentimentClassifier>> {
    match config.sentiment.kind {
        SentimentKind::Vader => Ok(Arc::new(Vader::new())),
        SentimentKind::Onnx => onnx::sentiment(config),
    }
}

pub(super) fn recognizer(config: &Config) -> Result<Arc<dyn EntityRecognizer>> {
    match config.entities.kind {
        EntitiesKind::Rules => Ok(Arc::new(RuleEntities::new())),
        EntitiesKind::Gliner => onnx::recognizer(config),
    }
}

/// The adapters that need ONNX Runtime.
#[cfg(feature = "onnx")]
mod onnx {
    use adapters::detector::{Layout, OnnxDetector, OnnxDetectorOptions};
    use adapters::entities::{Gliner, GlinerOptions};
    use adapters::reader::{PpOcr, PpOcrOptions};
    use adapters::sentiment::{OnnxSentiment, OnnxSentimentOptions};
    use adapters::transcriber::{Whisper, WhisperOptions};
    use adapters::voice::{Silero, SileroOptions, XVectorEmbedder, XVectorOptions};
    use adapters::{OnnxRuntime, OnnxThreading};

    use super::*;
    use crate::config::DetectorLayout;

    fn runtime(config: &Config) -> Result<OnnxRuntime> {
        OnnxRuntime::load(&config.models.onnxruntime).map_err(at("models"))
    }

    fn threading(config: &Config) -> OnnxThreading {
        OnnxThreading { threads: config.models.threads, ..OnnxThreading::default() }
    }

    pub(super) fn reader(config: &Config) -> Result<Arc<dyn TextReader>> {
        let given = &config.reader;
        let orientation = Some(config.model(&given.orientation)).filter(|file| file.is_file());
        let options = PpOcrOptions {
            max_side: given.max_side,
            threading: threading(config),
            ..PpOcrOptions::new(
                config.model(&given.detection),
                config.model(&given.recognition),
                orientation,
            )
        };
        Ok(Arc::new(PpOcr::open(&runtime(config)?, options).map_err(at("reader"))?))
    }

    pub(super) fn detector(config: &Config) -> Result<Arc<dyn ObjectDetector>> {
        let given = &config.detector;
        let layout = match given.layout {
            DetectorLayout::Yolox => Layout::Yolox,
            DetectorLayout::Picodet => Layout::PicoDet,
            DetectorLayout::Yolov8 => Layout::Yolov8,
            DetectorLayout::Detr => Layout::Detr,
        };
        let named = !given.labels.as_os_str().is_empty();
        let options = OnnxDetectorOptions {
            labels: named.then(|| config.model(&given.labels)),
            threshold: given.threshold,
            max_overlap: given.max_overlap,
            max_objects: given.max_objects,
            threading: threading(config),
            ..OnnxDetectorOptions::new(config.model(&given.file), layout)
        };
        Ok(Arc::new(OnnxDetector::open(&runtime(config)?, options).map_err(at("detector"))?))
    }

    pub(super) fn transcriber(config: &Config) -> Result<Arc<dyn Transcriber>> {
        let options = WhisperOptions {
            folder: config.model(&config.transcriber.folder),
            language: language(config),
            threads: config.models.threads,
        };
        Ok(Arc::new(Whisper::open(&runtime(config)?, &options).map_err(at("transcriber"))?))
    }

    pub(super) fn speaker_embedder(config: &Config) -> Result<Arc<dyn SpeakerEmbedder>> {
        let options = XVectorOptions {
            model: config.model(&config.speaker.file),
            same_voice: config.speaker.same_voice,
            threading: threading(config),
        };
        Ok(Arc::new(XVectorEmbedder::open(&runtime(config)?, &options).map_err(at("speaker"))?))
    }

    pub(super) fn sentiment(config: &Config) -> Result<Arc<dyn SentimentClassifier>> {
        let options = OnnxSentimentOptions {
            folder: config.model(&config.sentiment.folder),
            max_tokens: config.sentiment.max_tokens,
            threading: threading(config),
        };
        Ok(Arc::new(OnnxSentiment::open(&runtime(config)?, &options).map_err(at("sentiment"))?))
    }

    pub(super) fn recognizer(config: &Config) -> Result<Arc<dyn EntityRecognizer>> {
        let options = GlinerOptions {
            folder: config.model(&config.entities.folder),
            labels: config.entities.labels.clone(),
            threshold: config.entities.threshold,
            threading: threading(config),
        };
        Ok(Arc::new(Gliner::open(&runtime(config)?, &options).map_err(at("entities"))?))
    }

    pub(super) fn voice_activity(config: &Config) -> Result<Arc<dyn VoiceActivity>> {
        let options = SileroOptions {
            model: config.model(&config.voice.file),
            speech: speech(config),
            threading: OnnxThreading { threads: 1, ..OnnxThreading::default() },
        };
        Ok(Arc::new(Silero::open(&runtime(config)?, &options).map_err(at("voice"))?))
    }
}

#[cfg(not(feature = "onnx"))]
mod onnx {
    use super::super::compiled_out;
    use super::*;

    pub(super) fn reader(_config: &Config) -> Result<Arc<dyn TextReader>> {
        Err(compiled_out("reader.kind = \"onnx\"", "onnx"))
    }

    pub(super) fn detector(_config: &Config) -> Result<Arc<dyn ObjectDetector>> {
        Err(compiled_out("detector.kind = \"onnx\"", "onnx"))
    }

    pub(super) fn transcriber(_config: &Config) -> Result<Arc<dyn Transcriber>> {
        Err(compiled_out("transcriber.kind = \"onnx\"", "onnx"))
    }

    pub(super) fn speaker_embedder(_config: &Config) -> Result<Arc<dyn SpeakerEmbedder>> {
        Err(compiled_out("speaker.kind = \"onnx\"", "onnx"))
    }

    pub(super) fn sentiment(_config: &Config) -> Result<Arc<dyn SentimentClassifier>> {
        Err(compiled_out("sentiment.kind = \"onnx\"", "onnx"))
    }

    pub(super) fn recognizer(_config: &Config) -> Result<Arc<dyn EntityRecognizer>> {
        Err(compiled_out("entities.kind = \"gliner\"", "onnx"))
    }

    pub(super) fn voice_activity(_config: &Config) -> Result<Arc<dyn VoiceActivity>> {
        Err(compiled_out("voice.kind = \"silero\"", "onnx"))
    }
}
