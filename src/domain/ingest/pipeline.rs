//! The ingest pipeline, top-down: fetch, scan, chunk, analyze, aggregate, publish.
//!
//! All steps before publication write unreferenced documents, so a failure or a crash leaves the
//! previous state in place.

use std::sync::Arc;

use serde_json::{Value, json};

use crate::aggregation::result::ModelUsage;
use crate::analysis::evidence::{ChunkEvidence, OcrSamplingOptions, VideoEvidence};
use crate::analysis::frame_batches::FrameBatches;
use crate::ingest::draft::Previous;
use crate::ingest::signals::MediaSignals;
use crate::ingest::sources::FetchedSource;
use crate::ingest::{Ingest, IngestFields, IngestRequest, IngestResult, IngestSource};
use crate::kernel::access::Access;
use crate::kernel::error::{Error, Result};
use crate::kernel::profile::{Profile, Step};
use crate::kernel::progress::{Progress, Stage};
use crate::kernel::time::Span;
use crate::kernel::video::{ChunkId, VideoId};
use crate::llm::budget::CallBudget;
use crate::publishing::claim::VideoClaim;
use crate::publishing::publication::Cause;
use crate::records::locks::VideoLock;

impl Ingest {
    pub(crate) async fn ingest(
        &self,
        source: IngestSource,
        fields: &IngestFields,
        progress: Progress,
    ) -> Result<IngestResult> {
        let request = self.request(fields).await?;
        progress.stage(Stage::Fetching, Value::Null);
        let fetched = progress.cancellable(self.sources.fetch(source, &fields.access)).await?;
        let video_id = fetched.file.video_id;
        progress.video(video_id);
        let lock = progress.cancellable(self.locks.lock(video_id)).await?;
        self.check_access(&fields.access, video_id).await?;
        let claim = self.publisher.claim(video_id, &lock).await?;
        let outcome = self.run_pipeline(&fetched, &request, &claim, &progress, &lock).await;
        if outcome.is_err() {
            self.publisher.discard(&claim).await;
        }
        outcome
    }

    /// Returns `Forbidden` if the file is an existing video that the caller may not see, because
    /// the ingest would change the video for the callers who may see it.
    async fn check_access(&self, access: &Access, video_id: VideoId) -> Result<()> {
        if access.collections().is_none() {
            return Ok(());
        }
        let state = self.records.state(video_id).await?;
        let collection = state.record().map(|record| record.metadata.collection.as_deref());
        if collection.is_none_or(|collection| access.sees(collection)) {
            return Ok(());
        }
        Err(Error::Forbidden(format!(
            "this file is there already, outside the collections that the token is bound to \
             ({access})"
        )))
    }

    /// Runs the pipeline from the boundary detectors to publication.
    async fn run_pipeline(
        &self,
        fetched: &FetchedSource,
        request: &IngestRequest,
        claim: &VideoClaim,
        progress: &Progress,
        lock: &VideoLock,
    ) -> Result<IngestResult> {
        progress.stage(Stage::Chunking, Value::Null);
        let budget = CallBudget::new(&self.models, request.max_model_calls);
        let before = claim.base.record();
        let track = self.signals.choose_audio_track(fetched, request, before, progress).await?;
        let previous = self.salvage(&claim.base, track.track).await?;
        let intact = previous.as_ref().and_then(Previous::intact);
        let media = self.signals.extract(fetched, request, track, intact, progress).await?;
        let mut draft = self.draft(fetched, request, claim, previous.as_ref(), &media).await?;
        self.store_objects(fetched, &media.signals, before, &mut draft.record).await?;
        progress.stage(Stage::Chunked, json!({"chunks": draft.spans.len()}));

        let chunks = self.evidence(fetched, media, &draft.spans, &progress.profile);
        self.analysis.run(&mut draft, &chunks, &request.analyzers, &budget, progress).await?;
        drop(chunks);
        self.corrections.reapply(&mut draft.record, &mut draft.points).await?;
        let aggregating = self.aggregation.run_all(&mut draft.record, &budget, progress);
        let aggregated = progress.profile.measure(Step::Aggregate, aggregating).await?;
        budget.check()?;
        let (storage, usage) = (self.storage.as_ref(), model_usage(&budget));
        let (record, profile) = (&draft.record, &progress.profile);
        let result =
            IngestResult::new(storage, record, before, request, aggregated, usage, profile).await?;
        progress.check()?;
        lock.check()?;
        self.publisher
            .publish_with_points(claim, draft.record, draft.points, Cause::Ingest)
            .await?;
        self.intervals.tables.prepare(claim.video_id).await;
        Ok(result)
    }

    /// Creates the analyzers' input for each chunk.
    fn evidence(
        &self,
        fetched: &FetchedSource,
        media: MediaSignals,
        spans: &[Span],
        profile: &Profile,
    ) -> Vec<ChunkEvidence> {
        let picture = fetched.info.video.as_ref().map_or((0, 0), |v| (v.width, v.height));
        let video = Arc::new(VideoEvidence {
            video_id: fetched.file.video_id,
            spans: spans.to_vec(),
            signals: Arc::new(media.signals),
            utterances: media.speech.utterances(),
            speech: Arc::new(media.speech),
            has_video: media.has_pictures,
            has_audio: fetched.info.audio.is_some(),
            frames: FrameBatches::new(
                self.models.decoder.clone(),
                fetched.file.path.to_path_buf(),
                profile.clone(),
                picture,
                self.settings.frame_batch_bytes,
            ),
            frames_per_chunk: self.settings.frames_per_chunk,
            frame_side: self.settings.frame_side,
            tracking: self.tracking.clone(),
            ocr_sampling: OcrSamplingOptions {
                thumbnails_per_second: self.settings.ocr_samples_per_second,
                max_thumbnails: self.settings.max_ocr_samples,
                max_frames: self.settings.max_ocr_frames,
            },
            profile: profile.clone(),
        });
        (0..)
            .map(ChunkId)
            .zip(spans)
            .map(|(id, span)| ChunkEvidence::new(video.clone(), id, *span))
            .collect()
    }
}

/// Returns the usage of the language model, if it is billed and was called.
fn model_usage(budget: &CallBudget) -> Option<ModelUsage> {
    let usage = budget.usage();
    (usage.calls > 0).then(|| ModelUsage {
        model: budget.models.llm.model().to_owned(),
        calls: usage.calls,
        input_tokens: usage.input_tokens,
        output_tokens: usage.output_tokens,
    })
}
