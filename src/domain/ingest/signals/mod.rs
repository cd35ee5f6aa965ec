//! Obtains a video's signals and speech before chunking. Takes them from the video's record if they
//! are current; otherwise scans the file and runs the speech models.

mod audio_track;
mod scan;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use ports::decoder::{ScanOptions, VideoDecoder};
use ports::embedder::Embedder;
use ports::speaker::{SpeakerEmbedder, SpeakerSegmentation};
use ports::transcriber::Transcriber;
use ports::vad::VoiceActivityDetector;
use serde_json::json;

use crate::analysis::speaker_models;
use crate::catalog::Catalog;
use crate::chunking::semantic::topic_shifts;
use crate::chunking::speaker::voice_changes;
use crate::chunking::speech_cost::spoken_words;
use crate::chunking::{Candidate, Signals};
use crate::ingest::request::IngestRequest;
use crate::ingest::settings::{IngestConfig, IngestSettings, ScanSettings};
use crate::ingest::sources::FetchedSource;
use crate::kernel::error::Result;
use crate::kernel::ports::Models;
use crate::kernel::profile::{Profile, Step};
use crate::kernel::progress::{Progress, Stage};
use crate::kernel::video::VideoId;
use crate::media::speech::{
    Diarizer, Recognition, Speech, VoiceTurn, Words, channel_turns, recognise, track_model,
};
use crate::records::Records;
use crate::records::model_cache::{ModelCache, SpeechCache};
use crate::records::record::VideoRecord;
use audio_track::AudioTrack;
use scan::{Scan, ScanResult};

/// Version of the diarization code; increment when its results change.
const VERSION: u32 = 2;

/// A video's signals and speech, with the keys of their documents.
pub(crate) struct MediaSignals {
    pub(crate) signals: Signals,
    pub(crate) signals_document: String,
    pub(crate) speech: Speech,
    pub(crate) speech_document: String,
    /// Index of the audio track that was used, if there are several.
    pub(crate) audio_track: Option<u32>,
    /// Warnings about parts of the file that were skipped or selected.
    pub(crate) warnings: Vec<String>,
    /// Whether video frames could be decoded.
    pub(crate) has_pictures: bool,
    /// Duration of the extraction, in seconds.
    pub(crate) seconds: f64,
}

/// Whether an ingest uses speech, and whether it requires speech.
#[derive(Clone, Copy)]
struct SpeechUse {
    /// Whether an analyzer requires speech.
    needed: bool,
    /// Whether an analyzer requires speech or chunking uses it.
    requested: bool,
}

impl SpeechUse {
    fn from_request(request: &IngestRequest) -> Self {
        let needed = request.analyzers.iter().any(|a| a.needs_speech());
        Self { needed, requested: needed || request.chunking.uses_speech() }
    }
}

/// The signals and the speech of an earlier ingest.
struct StoredSignals {
    signals: Signals,
    /// The speech and the key of its document, if any.
    speech: Option<(Speech, String)>,
}

impl StoredSignals {
    /// Whether the stored signals include the boundaries in speech. Also true if no speech is
    /// stored.
    fn are_complete(&self) -> bool {
        self.speech.as_ref().is_none_or(|(speech, _)| speech.words.is_some())
    }
}

/// Computes the signals and the speech of videos.
pub(super) struct SignalExtraction {
    records: Arc<Records>,
    model_cache: Arc<ModelCache>,
    decoder: Arc<dyn VideoDecoder>,
    embedder: Arc<dyn Embedder>,
    vad: Option<Arc<dyn VoiceActivityDetector>>,
    speaker_segmentation: Option<Arc<dyn SpeakerSegmentation>>,
    speaker_embedder: Option<Arc<dyn SpeakerEmbedder>>,
    /// The names of the two models above.
    speaker_models: Option<String>,
    transcriber: Option<Arc<dyn Transcriber>>,
    settings: IngestSettings,
    frame_size: ScanSettings,
    /// The folder that holds the audio while it is needed.
    work_dir: PathBuf,
}

impl SignalExtraction {
    pub(super) fn new(models: &Models, catalog: &Catalog, config: &IngestConfig) -> Self {
        Self {
            records: catalog.records.clone(),
            model_cache: catalog.model_cache.clone(),
            decoder: models.decoder.clone(),
            embedder: models.embedder.clone(),
            vad: models.vad.clone(),
            speaker_segmentation: models.speaker_segmentation.clone(),
            speaker_embedder: models.speaker_embedder.clone(),
            speaker_models: speaker_models(models),
            transcriber: models.transcriber.clone(),
            settings: config.ingest.clone(),
            frame_size: config.decoder.clone(),
            work_dir: config.work_dir.clone(),
        }
    }

    /// Returns the stored signals and speech of the previous record if they are good enough for the
    /// request. Otherwise, computes and stores them.
    pub(super) async fn extract(
        &self,
        fetched: &FetchedSource,
        request: &IngestRequest,
        AudioTrack { track: audio_track, mut warnings }: AudioTrack,
        previous: Option<&VideoRecord>,
        progress: &Progress,
    ) -> Result<MediaSignals> {
        let started = Instant::now();
        let speech_use = SpeechUse::from_request(request);
        let mut stored = None;
        if let Some(record) = previous {
            match self.stored_signals(record).await? {
                StoredSignals { signals, speech: Some((speech, speech_document)) }
                    if self.is_current(&speech, audio_track, speech_use) =>
                {
                    return Ok(MediaSignals {
                        audio_track,
                        warnings: record.warnings.clone(),
                        has_pictures: fetched.info.video.is_some() && !signals.visual.is_empty(),
                        signals,
                        signals_document: record.signals_document.clone(),
                        speech,
                        speech_document,
                        seconds: started.elapsed().as_secs_f64(),
                    });
                }
                outdated => stored = Some(outdated),
            }
        }
        if let Some(why) = &fetched.info.undecodable_video {
            warn_sound_only(&mut warnings, why);
        }
        let scanned = self.scan(fetched, audio_track, progress).run().await?;
        let has_pictures = fetched.info.video.is_some() && !scanned.signals.visual.is_empty();
        if fetched.info.video.is_some() && !has_pictures {
            warn_sound_only(&mut warnings, "none of its pictures could be decoded");
        }
        // Speech recognition may cost money, so check the limits first.
        self.check_length(scanned.signals.end, request)?;
        let video_id = fetched.file.video_id;
        let analyzing = self.analyze_speech(video_id, audio_track, &scanned, speech_use, progress);
        let speech = progress.cancellable(analyzing).await?;
        let signals = self.combine_signals(stored, scanned.signals, &speech).await?;
        Ok(MediaSignals {
            signals_document: self.records.store(video_id, "signals", &signals).await?,
            signals,
            speech_document: self.records.store(video_id, "speech", &speech).await?,
            speech,
            audio_track,
            warnings,
            has_pictures,
            seconds: started.elapsed().as_secs_f64(),
        })
    }

    async fn stored_signals(&self, record: &VideoRecord) -> Result<StoredSignals> {
        let signals = self.records.signals(record).await?;
        let speech = match &record.speech_document {
            Some(document) => Some((self.records.speech(document).await?, document.clone())),
            None => None,
        };
        Ok(StoredSignals { signals, speech })
    }

    fn scan(&self, fetched: &FetchedSource, audio_track: Option<u32>, progress: &Progress) -> Scan {
        Scan {
            decoder: self.decoder.clone(),
            file: fetched.file.path.to_path_buf(),
            options: ScanOptions {
                width: self.frame_size.scan_width,
                height: self.frame_size.scan_height,
                exact: false,
                audio_track,
            },
            vad: self.vad.clone(),
            folder: self.work_dir.clone(),
            quiet_peak: self.settings.quiet_peak as f32,
            progress: progress.clone(),
        }
    }

    /// Adds the boundaries found in speech to the stored signals, or to the scanned signals if none
    /// are stored. Returns stored signals unchanged if they are complete.
    async fn combine_signals(
        &self,
        stored: Option<StoredSignals>,
        scanned: Signals,
        speech: &Speech,
    ) -> Result<Signals> {
        let mut signals = match stored {
            Some(stored) if stored.are_complete() => return Ok(stored.signals),
            // Cuts and pauses do not depend on the speech model, so keep the stored ones.
            Some(stored) => stored.signals,
            None => scanned,
        };
        signals.candidates.speaker = voice_changes(&speech.turns);
        signals.candidates.semantic = self.topic_shifts(speech).await?;
        signals.spoken = speech.words.as_ref().map_or(Vec::new(), |w| spoken_words(w.by_channel()));
        Ok(signals)
    }

    /// Rejects a video that is too long, or that would have too many chunks regardless of where it
    /// is split.
    fn check_length(&self, end: f64, request: &IngestRequest) -> Result<()> {
        self.settings.check_duration(end)?;
        request.chunking.check_count(end, self.settings.max_chunks)
    }

    /// Whether stored speech is good enough for the request. If an analyzer requires speech, the
    /// stored speech must come from the current models.
    fn is_current(&self, speech: &Speech, audio_track: Option<u32>, speech_use: SpeechUse) -> bool {
        let recognised_by = speech.words.as_ref().map(|words| words.recogniser.as_str());
        let model = self.transcriber.as_ref().map(|t| track_model(t.model(), audio_track));
        if speech_use.needed {
            return speech.voices_by == self.voices_by(audio_track)
                && (recognised_by == model.as_deref() || model.is_none());
        }
        !speech_use.requested || recognised_by.is_some() || model.is_none()
    }

    /// Identifies the models used for voice activity detection and diarization.
    fn voices_by(&self, audio_track: Option<u32>) -> String {
        let activity = self.vad.as_ref().map_or("none", |v| v.model());
        let speaker = self.speaker_models.as_deref().unwrap_or("none");
        track_model(&format!("{activity}/{speaker}/v{VERSION}"), audio_track)
    }

    /// Diarizes speech and, if requested, recognises it at the same time. If recognition fails,
    /// returns the error if an analyzer requires speech, and speech without words otherwise.
    async fn analyze_speech(
        &self,
        video_id: VideoId,
        audio_track: Option<u32>,
        scanned: &ScanResult,
        speech_use: SpeechUse,
        progress: &Progress,
    ) -> Result<Speech> {
        let diarizing = self.diarize(scanned, &progress.profile);
        let recognising = async {
            if !speech_use.requested {
                return Ok(None);
            }
            match self.recognise(video_id, audio_track, scanned, progress).await {
                Err(error) if !speech_use.needed => {
                    tracing::warn!(
                        %video_id,
                        error = %error.labelled(),
                        "speech recognition failed; using topic shifts in the picture only"
                    );
                    Ok(None)
                }
                words => words,
            }
        };
        let (turns, words) = futures::try_join!(diarizing, recognising)?;
        let voices_by = self.voices_by(audio_track);
        Ok(Speech { voices_by, spans: scanned.speech.clone(), turns, words })
    }

    /// Finds the turns of each speaker. If each channel carries a different voice, each channel
    /// counts as a speaker. Otherwise, runs diarization; if one of its two models is missing, there
    /// are no turns.
    async fn diarize(&self, scanned: &ScanResult, profile: &Profile) -> Result<Vec<VoiceTurn>> {
        if !scanned.channels.is_empty() {
            return Ok(channel_turns(&scanned.channels));
        }
        let Self { speaker_segmentation, speaker_embedder, .. } = self;
        let (Some(segmentation), Some(embedder)) = (speaker_segmentation, speaker_embedder) else {
            return Ok(Vec::new());
        };
        let diarizer = Diarizer {
            segmentation: segmentation.as_ref(),
            embedder: embedder.as_ref(),
            sound: &scanned.sound,
            concurrency: self.settings.concurrency,
        };
        profile.measure(Step::Diarize, diarizer.turns(&scanned.speech)).await
    }

    /// Recognises speech; returns `None` if there is no recogniser.
    async fn recognise(
        &self,
        video_id: VideoId,
        audio_track: Option<u32>,
        scanned: &ScanResult,
        progress: &Progress,
    ) -> Result<Option<Words>> {
        let Some(transcriber) = self.transcriber.as_deref() else { return Ok(None) };
        let step = |done, total| {
            let detail = json!({"recogniser": transcriber.model(), "done": done, "total": total});
            progress.stage(Stage::Chunking, detail);
        };
        let cache =
            |channel| SpeechCache { cache: &self.model_cache, video_id, audio_track, channel };
        let mut sources = vec![(&scanned.sound, &scanned.speech, cache(None))];
        if !scanned.channels.is_empty() {
            let channels = scanned.channels.iter().enumerate();
            sources = channels.map(|(at, own)| (&own.sound, &own.spans, cache(Some(at)))).collect();
        }
        let recognition = |(sound, spans, cache)| Recognition {
            transcriber,
            cache,
            sound,
            spans,
            concurrency: self.settings.concurrency,
            min_confidence: self.settings.min_speech_confidence,
        };
        let sources: Vec<Recognition<'_>> = sources
            .iter()
            .map(|(sound, spans, cache)| recognition((*sound, *spans, cache)))
            .collect();
        let recognising = recognise(&sources, step);
        let mut words = progress.profile.measure(Step::RecogniseSpeech, recognising).await?;
        words.recogniser = track_model(&words.recogniser, audio_track);
        Ok(Some(words))
    }

    async fn topic_shifts(&self, speech: &Speech) -> Result<Vec<Candidate>> {
        let segments = speech.words.as_ref().map_or(Vec::new(), Words::segments);
        let texts: Vec<String> = segments.iter().map(|s| s.text.clone()).collect();
        if texts.is_empty() {
            return Ok(Vec::new());
        }
        let vectors = self.embedder.embed(&texts).await?;
        Ok(topic_shifts(&segments, &vectors))
    }
}

fn warn_sound_only(warnings: &mut Vec<String>, why: &str) {
    let warning = format!("only the sound was analyzed: {why}");
    if !warnings.contains(&warning) {
        warnings.push(warning);
    }
}
