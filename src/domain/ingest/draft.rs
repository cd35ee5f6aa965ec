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
use crate::domain::kernel::time::{Span, now};
use crate::domain::kernel::urls::without_secrets;
use crate::domain::kernel::video::VideoId;

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
    pub(super) async fn salvage(&self, before: &Stored) -> Result<Option<Previous>> {
        let Some(record) = before.record() else { return Ok(None) };
        let mut previous = Previous { record: record.clone(), intact: true };
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
        let spans =
            request.chunking.split(signals.end, signals, self.settings.ingest.max_chunks)?;
        let mut record = self.begin_record(fetched, request, claim, previous, &spans).await?;
        record.duration = duration;
        record.frame_rate = fetched.info.video.as_ref().and_then(|video| video.frame_rate);
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
        let about = request.about.apply(&said, self.settings.ingest.max_metadata_bytes)?;
        if let Some(previous) = previous.and_then(Previous::intact)
            && previous.chunking == request.chunking
            && self.catalog.spans(previous).await? == spans
        {
            return Ok(VideoRecord { source_url, about, ..previous.clone() });
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
            frame_rate: None,
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
        let id = VideoId::of_digest([0; 20]);
        let retired = ["a.mp4", "a-2.mp4", "b"].map(|name| format!("{id}/{name}"));
        for (name, expected) in [("a.mp4", "a-3.mp4"), ("a.mov", "a.mov"), ("b", "b-2"), ("c", "c")]
        {
            assert_eq!(unretired(id, name, &retired), expected);
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
            audio: true,
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
