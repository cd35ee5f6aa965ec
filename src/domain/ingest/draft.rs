//! The draft of an ingest: the future record, based on the published one.

use std::collections::BTreeMap;

use ports::FrameRate;
use ports::decoder::MediaInfo;
use ports::index::Point;

use crate::chunking::Chunking;
use crate::ingest::signals::MediaSignals;
use crate::ingest::source::other_than_poster;
use crate::ingest::sources::FetchedSource;
use crate::ingest::{Ingest, IngestRequest};
use crate::kernel::error::Result;
use crate::kernel::time::{Span, instant, iso, now};
use crate::kernel::urls::redact_secrets;
use crate::kernel::video::VideoId;
use crate::publishing::claim::VideoClaim;
use crate::records::faults::{DocumentContent, DocumentFault};
use crate::records::metadata::VideoMetadata;
use crate::records::record::{self, IngestDurations, VideoRecord};
use crate::records::record_state::RecordState;

/// Maximum difference between two durations that count as equal, in seconds. The durations may be
/// rounded differently.
const DURATION_TOLERANCE: f64 = 0.001;

/// A video before publication. Its documents are stored as they are created, but only the
/// unpublished record references them.
pub(super) struct VideoDraft {
    /// The record to publish.
    pub(super) record: VideoRecord,
    /// The spans of the chunks, with times in seconds from the start of the video.
    pub(super) spans: Vec<Span>,
    /// The points of the analyzers that ran.
    pub(super) points: Vec<Point>,
}

/// The published video that an ingest builds on, without its corrupt parts.
pub(super) struct Previous {
    record: VideoRecord,
    /// Whether chunks, signals and speech are readable and usable; otherwise everything is
    /// recomputed.
    intact: bool,
}

impl Previous {
    pub(super) fn intact(&self) -> Option<&VideoRecord> {
        self.intact.then_some(&self.record)
    }
}

impl Ingest {
    /// Reads the reusable parts of the published video. If the audio track changes, no results are
    /// reusable.
    pub(super) async fn salvage(
        &self,
        before: &RecordState,
        audio_track: Option<u32>,
    ) -> Result<Option<Previous>> {
        let Some(record) = before.record() else { return Ok(None) };
        let intact = record.audio_track == audio_track;
        let mut previous = Previous { record: record.clone(), intact };
        separate_from_poster(&mut previous.record, before.retired());
        for DocumentFault { part, error } in self.records.faults(record).await? {
            tracing::warn!(
                video_id = %record.video_id,
                error,
                "a corrupt part is recomputed if the request includes it"
            );
            match part {
                DocumentContent::Base => previous.intact = false,
                DocumentContent::Corrections => previous.record.corrections_document = None,
                DocumentContent::Analyzer(id) => drop(previous.record.analyzers.remove(&id)),
                DocumentContent::Aggregate(id) => drop(previous.record.aggregates.remove(&id)),
            }
        }
        Ok(Some(previous))
    }

    /// Chunks the video and creates its record, reusing parts of the previous record.
    pub(super) async fn draft(
        &self,
        fetched: &FetchedSource,
        request: &IngestRequest,
        claim: &VideoClaim,
        previous: Option<&Previous>,
        media: &MediaSignals,
    ) -> Result<VideoDraft> {
        let signals = &media.signals;
        let duration = duration(&fetched.info, signals.end);
        self.settings.check_duration(duration)?;
        // Audio is often padded to whole packets, beyond the duration that the container states.
        let end = signals.end.min(duration);
        let spans = request.chunking.split(end, signals, self.settings.max_chunks)?;
        let mut record = self.begin_record(fetched, request, claim, previous, &spans).await?;
        let info = &fetched.info;
        record.duration = duration;
        record.container_duration =
            info.duration.filter(|claimed| (claimed - duration).abs() > DURATION_TOLERANCE);
        set_source_properties(&mut record, info);
        record.audio_track = media.audio_track;
        record.warnings = media.warnings.clone();
        record.signals_document = media.signals_document.clone();
        record.speech_document = Some(media.speech_document.clone());
        // Reused signals say nothing about the duration of a scan.
        let intact = previous.and_then(Previous::intact);
        if intact.is_none_or(|p| p.signals_document != record.signals_document) {
            record.took.scan_seconds = media.seconds;
        }
        Ok(VideoDraft { record, spans, points: Vec::new() })
    }

    /// Creates the record with the metadata and the chunks. Starts from the previous record if it
    /// has the same chunks.
    async fn begin_record(
        &self,
        fetched: &FetchedSource,
        request: &IngestRequest,
        claim: &VideoClaim,
        previous: Option<&Previous>,
        spans: &[Span],
    ) -> Result<VideoRecord> {
        let metadata = self.metadata(fetched, request, previous)?;
        let source_url = previous
            .and_then(|previous| previous.record.source_url.as_deref().map(redact_secrets))
            .or_else(|| fetched.source_url.clone());
        if let Some(previous) = previous.and_then(Previous::intact)
            && previous.chunking == request.chunking
            && self.records.spans(previous).await? == spans
        {
            return Ok(VideoRecord {
                source_url,
                metadata,
                container_recorded_at: container_recorded_at(fetched),
                ..previous.clone()
            });
        }
        let previous = previous.map(|previous| &previous.record);
        let video_id = fetched.file.video_id;
        let chunks_document = self.records.store(video_id, "chunks", &spans).await?;
        Ok(VideoRecord {
            source_url,
            metadata,
            chunks: spans.len() as u32,
            chunks_document,
            ..new_record(fetched, request.chunking.clone(), claim.base.retired(), previous)
        })
    }

    /// Applies the metadata in the request to the previous metadata. For a new video, the recording
    /// time defaults to the one in the container.
    fn metadata(
        &self,
        fetched: &FetchedSource,
        request: &IngestRequest,
        previous: Option<&Previous>,
    ) -> Result<VideoMetadata> {
        let current = previous.map(|previous| previous.record.metadata.clone()).unwrap_or_default();
        let mut metadata = request.metadata.apply(&current, self.settings.max_metadata_bytes)?;
        if previous.is_none() && request.metadata.recorded_at.is_none() {
            metadata.recorded_at = metadata.recorded_at.or_else(|| container_recorded_at(fetched));
        }
        Ok(metadata)
    }
}

/// Stores what editing programs need to know about the file.
fn set_source_properties(record: &mut VideoRecord, info: &MediaInfo) {
    let rate = info.video.as_ref().and_then(|video| video.frame_rate);
    record.frame_rate = rate.map(FrameRate::per_second);
    record.exact_frame_rate = rate.map(FrameRate::to_standard);
    record.picture_size = info.video.as_ref().map(|video| (video.width, video.height));
    record.timecode = info.timecode.clone();
    record.container_reel = info.reel_name.clone();
    record.audio_tracks = Some(info.audio.map_or(0, |audio| audio.tracks));
}

fn container_recorded_at(fetched: &FetchedSource) -> Option<String> {
    fetched.info.recorded_at.as_deref().and_then(parse_recorded_at)
}

/// Renames a video that an earlier version stored under the poster's name, so that this ingest
/// stores the video and the poster as two objects.
fn separate_from_poster(record: &mut VideoRecord, retired: &[String]) {
    let renamed = other_than_poster(record.filename.clone());
    if renamed != record.filename {
        record.filename = available_filename(record.video_id, &renamed, retired);
        record.storage_path = format!("{}/{}", record.video_id, record.filename);
        record.poster_path = None;
    }
}

/// Creates a record without chunks, signals or results. Keeps the previous record's file name,
/// poster and corrections.
fn new_record(
    fetched: &FetchedSource,
    chunking: Chunking,
    retired: &[String],
    previous: Option<&VideoRecord>,
) -> VideoRecord {
    let video_id = fetched.file.video_id;
    let filename = match previous {
        Some(record) => record.filename.clone(),
        None => available_filename(video_id, &fetched.filename, retired),
    };
    VideoRecord {
        version: record::VERSION,
        epoch: 0,
        fence: String::new(),
        storage_path: format!("{video_id}/{filename}"),
        filename,
        poster_path: previous.and_then(|record| record.poster_path.clone()),
        source_url: None,
        size_bytes: fetched.file.size,
        duration: 0.0,
        content_type: fetched.info.content_type.clone(),
        container_duration: None,
        frame_rate: None,
        exact_frame_rate: None,
        picture_size: None,
        timecode: None,
        container_reel: None,
        audio_tracks: None,
        audio_track: None,
        warnings: Vec::new(),
        container_recorded_at: container_recorded_at(fetched),
        chunking,
        chunks: 0,
        chunks_document: String::new(),
        signals_document: String::new(),
        speech_document: None,
        corrections_document: previous.and_then(|record| record.corrections_document.clone()),
        analyzers: BTreeMap::new(),
        aggregates: BTreeMap::new(),
        aggregated_analyzers: Vec::new(),
        synopsis: None,
        took: previous.map_or_else(IngestDurations::default, |record| record.took),
        retired: retired.to_vec(),
        created_at: previous.map_or_else(now, |record| record.created_at.clone()),
        metadata: VideoMetadata::default(),
        video_id,
    }
}

/// Returns `filename`. If its object key is retired, inserts a number before the extension.
fn available_filename(video_id: VideoId, filename: &str, retired: &[String]) -> String {
    let (stem, extension) = match filename.rsplit_once('.') {
        Some((stem, extension)) => (stem, format!(".{extension}")),
        None => (filename, String::new()),
    };
    let numbered = (2..).map(|n| format!("{stem}-{n}{extension}"));
    let mut names = std::iter::once(filename.to_owned()).chain(numbered);
    let free = |name: &String| !retired.contains(&format!("{video_id}/{name}"));
    names.find(free).unwrap_or_else(|| filename.to_owned())
}

/// Converts a container's recording time to ISO 8601 in UTC. Returns `None` for implausible times,
/// since clocks that were never set start in 1904, 1970 or 2000.
fn parse_recorded_at(text: &str) -> Option<String> {
    const MIN_INSTANT: i64 = 978_307_200_000;
    const DAY: i64 = 86_400_000;
    // Apple devices write offsets without a colon.
    let (rest, minutes) = text.split_at_checked(text.len().checked_sub(2)?)?;
    let at = instant(text).or_else(|| instant(&format!("{rest}:{minutes}")))?;
    let today = jiff::Timestamp::now().as_millisecond();
    (MIN_INSTANT..today + DAY).contains(&at).then(|| iso(at))
}

/// Returns the duration that the container states if it matches the decoded duration apart from
/// rounding by the codec. Otherwise, returns the decoded duration.
fn duration(info: &MediaInfo, decoded: f64) -> f64 {
    const MAX_SHORTER: f64 = 0.5;
    const MAX_LONGER: f64 = 1.0;
    match info.duration {
        Some(claimed) if (decoded - MAX_SHORTER..=decoded + MAX_LONGER).contains(&claimed) => {
            claimed
        }
        _ => decoded,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn objects_avoid_retired_keys() {
        let id = VideoId::from_digest([0; 20]);
        let retired = ["a.mp4", "a-2.mp4", "b"].map(|name| format!("{id}/{name}"));
        for (name, expected) in [("a.mp4", "a-3.mp4"), ("a.mov", "a.mov"), ("b", "b-2"), ("c", "c")]
        {
            assert_eq!(available_filename(id, name, &retired), expected);
        }
    }

    #[test]
    fn recording_times_of_cameras_are_parsed() {
        for (text, expected) in [
            ("2024-05-01T10:11:12.000000Z", Some("2024-05-01T10:11:12Z")),
            ("2024-05-01T10:11:12+0200", Some("2024-05-01T08:11:12Z")),
            ("2024-05-01T10:11:12+02:00", Some("2024-05-01T08:11:12Z")),
            ("2024-05-01", Some("2024-05-01T00:00:00Z")),
            ("1904-01-01T00:00:00Z", None),
            ("1970-01-01T00:00:00Z", None),
            ("2999-01-01T00:00:00Z", None),
            ("é", None),
            ("", None),
        ] {
            assert_eq!(parse_recorded_at(text).as_deref(), expected, "{text}");
        }
    }

    #[test]
    fn implausible_container_durations_are_ignored() {
        let info = |duration| MediaInfo {
            container: "mov".into(),
            extension: "mp4".into(),
            content_type: "video/mp4".into(),
            duration,
            video: None,
            audio: None,
            undecodable_video: None,
            timecode: None,
            reel_name: None,
            recorded_at: None,
        };
        for (claimed, decoded, expected) in [
            (Some(13.57), 13.0, 13.57),
            (Some(16.57), 13.0, 13.0),
            (Some(10.0), 10.02, 10.0),
            (None, 8.0, 8.0),
            (Some(360_000.0), 8.0, 8.0),
            (Some(1.0), 8.0, 8.0),
        ] {
            assert_eq!(duration(&info(claimed), decoded), expected, "{claimed:?}");
        }
    }
}
