//! What an ingest works on: the record to be, begun from what is published already.

use std::collections::BTreeMap;

use ports::decoder::MediaInfo;
use ports::index::Point;

use crate::domain::catalog::record::{self, Took, VideoRecord};
use crate::domain::catalog::{Claim, Fault, Part, Stored};
use crate::domain::ingest::fetch::Fetched;
use crate::domain::ingest::signals::MediaSignals;
use crate::domain::ingest::{Ingest, IngestRequest};
use crate::domain::kernel::error::Result;
use crate::domain::kernel::time::{Span, instant, iso, now};
use crate::domain::kernel::urls::without_secrets;
use crate::domain::kernel::video::VideoId;

/// Difference of two lengths that is rounding, seconds.
const SAME_DURATION: f64 = 0.001;

/// A video on its way to publication. Its documents are stored as they come, and named by nothing
/// but its record.
pub(super) struct Draft {
    /// What will be published.
    pub(super) record: VideoRecord,
    /// When its chunks are, seconds of the video.
    pub(super) spans: Vec<Span>,
    /// The points of the analyzers that ran.
    pub(super) points: Vec<Point>,
}

/// The published video that an ingest builds on: what of its record reads back.
pub(super) struct Previous {
    record: VideoRecord,
    /// Whether its chunks, signals and speech do; else everything is found anew.
    intact: bool,
}

impl Previous {
    pub(super) fn intact(&self) -> Option<&VideoRecord> {
        self.intact.then_some(&self.record)
    }
}

impl Ingest {
    /// What of the published video can be built on.
    /// Another sound track than before is another video to whoever listens.
    pub(super) async fn salvage(
        &self,
        before: &Stored,
        audio_track: Option<u32>,
    ) -> Result<Option<Previous>> {
        let Some(record) = before.record() else { return Ok(None) };
        let intact = record.audio_track == audio_track;
        let mut previous = Previous { record: record.clone(), intact };
        for Fault { part, error } in self.catalog.faults(record).await? {
            tracing::warn!(
                video_id = %record.video_id,
                error,
                "made again as far as it is asked for"
            );
            match part {
                Part::Base => previous.intact = false,
                Part::Corrections => previous.record.corrections_document = None,
                Part::Analyzer(id) => drop(previous.record.analyzers.remove(&id)),
                Part::Aggregate(id) => drop(previous.record.aggregates.remove(&id)),
            }
        }
        Ok(Some(previous))
    }

    /// Splits the video and begins its record with what is kept of the previous one.
    pub(super) async fn draft(
        &self,
        fetched: &Fetched,
        request: &IngestRequest,
        claim: &Claim,
        previous: Option<&Previous>,
        found: &MediaSignals,
    ) -> Result<Draft> {
        let signals = &found.signals;
        let duration = duration(&fetched.info, signals.end);
        if duration > self.settings.ingest.max_duration.as_secs_f64() {
            return Err(self.too_long(duration));
        }
        // Sound is often padded to whole packets, beyond what the container says.
        let end = signals.end.min(duration);
        let spans = request.chunking.split(end, signals, self.settings.ingest.max_chunks)?;
        let mut record = self.begin_record(fetched, request, claim, previous, &spans).await?;
        let info = &fetched.info;
        record.duration = duration;
        record.container_duration =
            info.duration.filter(|claimed| (claimed - duration).abs() > SAME_DURATION);
        record.frame_rate = info.video.as_ref().and_then(|video| video.frame_rate);
        record.timecode = info.timecode.clone();
        record.audio_track = found.audio_track;
        record.warnings = found.warnings.clone();
        record.signals_document = found.signals_document.clone();
        record.speech_document = Some(found.speech_document.clone());
        // What was taken from the record tells nothing of what it takes.
        let intact = previous.and_then(Previous::intact);
        if intact.is_none_or(|p| p.signals_document != record.signals_document) {
            record.took.scan_seconds = found.seconds;
        }
        Ok(Draft { record, spans, points: Vec::new() })
    }

    async fn begin_record(
        &self,
        fetched: &Fetched,
        request: &IngestRequest,
        claim: &Claim,
        previous: Option<&Previous>,
        spans: &[Span],
    ) -> Result<VideoRecord> {
        let source_url = previous
            .and_then(|previous| previous.record.source_url.as_deref().map(without_secrets))
            .or_else(|| fetched.source_url.clone());
        let said = previous.map(|previous| previous.record.about.clone()).unwrap_or_default();
        let mut about = request.about.apply(&said, self.settings.ingest.max_metadata_bytes)?;
        let proposed = fetched.info.recorded_at.as_deref().and_then(recorded);
        if previous.is_none() && request.about.recorded_at.is_none() {
            about.recorded_at = about.recorded_at.or_else(|| proposed.clone());
        }
        if let Some(previous) = previous.and_then(Previous::intact)
            && previous.chunking == request.chunking
            && self.catalog.spans(previous).await? == spans
        {
            return Ok(VideoRecord {
                source_url,
                about,
                container_recorded_at: proposed,
                ..previous.clone()
            });
        }
        let previous = previous.map(|previous| &previous.record);
        let video_id = fetched.file.video_id;
        let retired = claim.found.retired();
        let filename = match previous {
            Some(record) => record.filename.clone(),
            None => unretired(video_id, &fetched.filename, retired),
        };
        Ok(VideoRecord {
            version: record::VERSION,
            epoch: 0,
            fence: String::new(),
            storage_path: format!("{video_id}/{filename}"),
            filename,
            poster_path: previous.and_then(|record| record.poster_path.clone()),
            source_url,
            size_bytes: fetched.file.size,
            duration: 0.0,
            content_type: fetched.info.content_type.clone(),
            container_duration: None,
            frame_rate: None,
            timecode: None,
            audio_track: None,
            warnings: Vec::new(),
            container_recorded_at: proposed,
            chunking: request.chunking.clone(),
            chunks: spans.len() as u32,
            chunks_document: self.catalog.store(video_id, "chunks", &spans).await?,
            signals_document: String::new(),
            speech_document: None,
            corrections_document: previous.and_then(|record| record.corrections_document.clone()),
            analyzers: BTreeMap::new(),
            aggregates: BTreeMap::new(),
            aggregated_analyzers: Vec::new(),
            synopsis: None,
            took: previous.map_or_else(Took::default, |record| record.took),
            retired: retired.to_vec(),
            created_at: previous.map_or_else(now, |record| record.created_at.clone()),
            about,
            video_id,
        })
    }
}

/// The name, or with a number before its extension where the key of its object is retired.
fn unretired(video_id: VideoId, filename: &str, retired: &[String]) -> String {
    let (stem, extension) = match filename.rsplit_once('.') {
        Some((stem, extension)) => (stem, format!(".{extension}")),
        None => (filename, String::new()),
    };
    let numbered = (2..).map(|n| format!("{stem}-{n}{extension}"));
    let mut names = std::iter::once(filename.to_owned()).chain(numbered);
    let free = |name: &String| !retired.contains(&format!("{video_id}/{name}"));
    names.find(free).unwrap_or_else(|| filename.to_owned())
}

/// When a container says that it was recorded, ISO 8601 in UTC. What no camera can have meant is nothing:
/// clocks that were never set stand at 1904, 1970 or 2000.
fn recorded(said: &str) -> Option<String> {
    const FIRST: i64 = 978_307_200_000;
    const DAY: i64 = 86_400_000;
    // Apple writes offsets without a colon.
    let (rest, minutes) = said.split_at_checked(said.len().checked_sub(2)?)?;
    let at = instant(said).or_else(|| instant(&format!("{rest}:{minutes}")))?;
    let today = jiff::Timestamp::now().as_millisecond();
    (FIRST..today + DAY).contains(&at).then(|| iso(at))
}

/// The container's duration, where it is what was decoded but for the rounding of codecs: what it
/// claims beyond that is not there.
fn duration(info: &MediaInfo, decoded: f64) -> f64 {
    const SHORTER: f64 = 0.5;
    const LONGER: f64 = 1.0;
    match info.duration {
        Some(claimed) if (decoded - SHORTER..=decoded + LONGER).contains(&claimed) => claimed,
        _ => decoded,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_object_gets_no_retired_key() {
        let id = VideoId::from_digest([0; 20]);
        let retired = ["a.mp4", "a-2.mp4", "b"].map(|name| format!("{id}/{name}"));
        for (name, expected) in [("a.mp4", "a-3.mp4"), ("a.mov", "a.mov"), ("b", "b-2"), ("c", "c")]
        {
            assert_eq!(unretired(id, name, &retired), expected);
        }
    }

    #[test]
    fn a_cameras_clock_is_read() {
        for (said, expected) in [
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
            assert_eq!(recorded(said).as_deref(), expected, "{said}");
        }
    }

    #[test]
    fn a_lying_container_is_not_believed() {
        let info = |duration| MediaInfo {
            container: "mov".into(),
            extension: "mp4".into(),
            content_type: "video/mp4".into(),
            duration,
            video: None,
            audio: None,
            undecodable_video: None,
            timecode: None,
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
