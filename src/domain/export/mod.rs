//! Exports a video's log in formats for players, editing programs and spreadsheets. Each format is
//! implemented in a separate file.
//!
//! To add a format, write its file, and add its module and its entry in [`FORMATS`] here.

mod chapter_marks;
mod chapters_vtt;
mod csv;
mod cues;
mod edl;
mod ffmetadata;
mod json;
pub mod library;
mod otio;
mod part;
mod srt;
mod timecode;
mod vtt;

use std::collections::BTreeMap;
use std::sync::Arc;

use ports::llm::PassageKind;
use ports::storage::ObjectUrls;
use serde_json::Value;

use crate::aggregation::aggregators::chapters;
use crate::aggregation::result::Aggregate;
use crate::analysis::Analyzers;
use crate::analysis::video::AnalyzedVideo;
use crate::catalog::Catalog;
use crate::intervals::IntervalFilter;
use crate::kernel::error::{Error, Result};
use crate::kernel::names::comma_separated;
use crate::kernel::ports::Stores;
use crate::kernel::time::Span;
use crate::kernel::video::{ChunkId, VideoId};
use crate::listing::Listing;
use crate::records::Records;
use crate::records::record::VideoRecord;
use crate::search::scope::ScopeResolver;
use part::ExportPart;
pub use part::PartFields;
use timecode::Timecode;

/// An export format.
#[derive(Debug, Clone, Copy)]
pub struct Format {
    /// The id in requests.
    pub id: &'static str,
    /// MIME type of the file.
    pub content_type: &'static str,
    /// Extension of the file name, without the leading dot.
    pub extension: &'static str,
    /// Writes the file; returns `Invalid` if the video lacks the data that the format needs.
    write: fn(&VideoLog) -> Result<Content>,
}

/// All export formats.
pub const FORMATS: &[Format] = &[
    Format { id: "srt", content_type: "application/x-subrip", extension: "srt", write: srt::write },
    Format { id: "vtt", content_type: "text/vtt", extension: "vtt", write: vtt::write },
    Format {
        id: "chapters.vtt",
        content_type: "text/vtt",
        extension: "chapters.vtt",
        write: chapters_vtt::write,
    },
    Format {
        id: "ffmetadata",
        content_type: "text/plain",
        extension: "ffmetadata.txt",
        write: ffmetadata::write,
    },
    Format { id: "edl", content_type: "text/plain", extension: "edl", write: edl::write },
    Format {
        id: "otio",
        content_type: "application/vnd.pixar.opentimelineio+json",
        extension: "otio",
        write: otio::write,
    },
    Format { id: "csv", content_type: "text/csv", extension: "csv", write: csv::write },
    Format { id: "json", content_type: "application/json", extension: "json", write: json::write },
];

/// The content of a file.
#[derive(Debug, Clone, PartialEq)]
pub enum Content {
    /// UTF-8 text.
    Text(String),
    /// A JSON document.
    Document(Value),
}

/// An exported file.
#[derive(Debug, Clone, PartialEq)]
pub struct Export {
    /// MIME type.
    pub content_type: &'static str,
    /// Suggested file name: letters, digits, `.`, `_` and `-`.
    pub filename: String,
    /// Content of the file.
    pub content: Content,
}

/// Optional parts of captions.
#[derive(Debug, Clone, Copy, Default)]
pub struct CaptionOptions {
    /// Whether each caption begins with the wall-clock time of its start.
    pub wall_clock: bool,
    /// Whether SubRip captions name the speaker. WebVTT captions always name the speaker in a voice
    /// span.
    pub speakers: bool,
}

/// A video's stored data, from which the formats are written.
struct VideoLog {
    analyzers: Analyzers,
    record: VideoRecord,
    video: AnalyzedVideo,
    /// The stored aggregates, by id.
    aggregates: BTreeMap<String, Value>,
    chapters: Option<Aggregate>,
    video_url: String,
    captions: CaptionOptions,
    /// The exported part of the video.
    part: ExportPart,
}

/// The export service.
#[derive(Clone)]
pub struct Exports {
    records: Arc<Records>,
    listing: Arc<Listing>,
    analyzers: Analyzers,
    scopes: Arc<ScopeResolver>,
    intervals: Arc<IntervalFilter>,
    storage: Arc<dyn ObjectUrls>,
}

impl Exports {
    pub(crate) fn new(stores: &Stores, catalog: &Catalog, scopes: Arc<ScopeResolver>) -> Self {
        let (records, listing) = (catalog.records.clone(), catalog.listing.clone());
        let (analyzers, storage) = (catalog.analyzers.clone(), stores.storage.clone());
        let intervals = catalog.intervals.clone();
        Self { records, listing, analyzers, scopes, intervals, storage }
    }

    /// Exports the log of a video, or of a part of it. Returns `Invalid` if the format is unknown
    /// or the video lacks data that the export needs, such as the recording time for `wall_clock`.
    pub async fn export(
        &self,
        video_id: VideoId,
        format: &str,
        captions: CaptionOptions,
        part: PartFields,
    ) -> Result<Export> {
        let Some(format) = FORMATS.iter().find(|f| f.id == format) else {
            let known: Vec<&str> = FORMATS.iter().map(|f| f.id).collect();
            let requested: String = format.chars().take(60).filter(|c| !c.is_control()).collect();
            return Err(Error::Invalid(format!(
                "unknown export format '{requested}'; available: {}",
                comma_separated(&known)
            )));
        };
        let mut log = self.records.read_published(video_id, |record| self.log(record)).await?;
        if captions.wall_clock && log.record.metadata.recorded_at.is_none() {
            return Err(Error::Invalid(format!(
                "it is not known when video '{video_id}' was recorded; say so with \
                 PATCH /videos/{video_id} {{\"recorded_at\": \"2026-01-31T12:00:00Z\"}}"
            )));
        }
        log.captions = captions;
        log.part = ExportPart::new(part, log.record.duration)?;
        let filename = format!("{}{}.{}", log.stem(), log.part.suffix(), format.extension);
        // Writing the log of a long video would block the executor.
        let content = tokio::task::spawn_blocking(move || (format.write)(&log))
            .await
            .map_err(|e| Error::corrupt(format!("the export ended abnormally: {e}")))??;
        Ok(Export { content_type: format.content_type, filename, content })
    }

    async fn log(&self, record: VideoRecord) -> Result<VideoLog> {
        let chapters = match record.aggregates.contains_key(chapters::ID) {
            true => Some(self.records.aggregate_result(&record, chapters::ID).await?),
            false => None,
        };
        Ok(VideoLog {
            analyzers: self.analyzers.clone(),
            video: self.records.analyzed_video(&record).await?,
            video_url: self.storage.download_url(&record.storage_path).await?,
            aggregates: self.records.stored_aggregates(&record).await?,
            chapters,
            captions: CaptionOptions::default(),
            part: ExportPart::default(),
            record,
        })
    }
}

impl VideoLog {
    /// Returns the file name of the video without its extension.
    fn stem(&self) -> &str {
        let name = &self.record.filename;
        name.rsplit_once('.').map_or(name.as_str(), |(stem, _)| stem)
    }

    /// Returns the frames per second, or 25 for a file without video.
    fn frame_rate(&self) -> f64 {
        const DEFAULT: f64 = 25.0;
        let rate = self.record.frame_rate.filter(|rate| (1.0..=1000.0).contains(rate));
        exact_rate(rate.unwrap_or(DEFAULT))
    }

    /// Returns the timecode of the video's frames.
    fn timecode(&self) -> Timecode {
        Timecode::from_container(self.record.timecode.as_deref(), self.frame_rate())
    }

    /// Returns the chunks in the exported part, each with its span clipped to the part.
    fn chunks(&self) -> impl Iterator<Item = (ChunkId, Span)> {
        let chunks = self.video.chunks();
        chunks.filter_map(|(chunk, span)| Some((chunk, self.part.within(span)?)))
    }

    /// Returns the chunk's description on one line, or its speech if it has no description.
    fn headline(&self, chunk: ChunkId) -> String {
        let findings = || self.video.outputs.keys().filter_map(|id| self.video.output(id, chunk));
        let said = || {
            let mut statements = findings().flat_map(|finding| finding.statements());
            statements.find(|s| s.kind == PassageKind::Speech && s.speaker.is_none())
        };
        let described = findings().find_map(|finding| finding.description());
        let headline = described.or_else(|| said().map(|statement| statement.text));
        one_line(&headline.unwrap_or_default())
    }
}

/// Replaces line breaks and runs of white space with single spaces.
fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Formats seconds as `HH:MM:SS`, followed by `separator` and milliseconds.
fn clock(seconds: f64, separator: char) -> String {
    let ms = (seconds.max(0.0) * 1000.0).round() as u64;
    format!(
        "{:02}:{:02}:{:02}{separator}{:03}",
        ms / 3_600_000,
        ms / 60_000 % 60,
        ms / 1000 % 60,
        ms % 1000
    )
}

/// Replaces a measured frame rate with the exact broadcast rate near it, such as 30000/1001, if
/// there is one.
fn exact_rate(rate: f64) -> f64 {
    const TOLERANCE: f64 = 0.005;
    let broadcast = [24.0, 30.0, 48.0, 60.0, 120.0].map(|rate: f64| rate * 1000.0 / 1001.0);
    broadcast.into_iter().find(|exact| (exact - rate).abs() < TOLERANCE).unwrap_or(rate)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn broadcast_rates_become_exact() {
        for (measured, expected) in [
            (29.97, 30_000.0 / 1001.0),
            (29.969_999, 30_000.0 / 1001.0),
            (59.94, 60_000.0 / 1001.0),
            (23.976, 24_000.0 / 1001.0),
            (25.0, 25.0),
            (30.0, 30.0),
            (14.9, 14.9),
        ] {
            assert_eq!(super::exact_rate(measured), expected, "{measured}");
        }
    }

    #[test]
    fn clocks_carry() {
        for (seconds, expected) in
            [(0.0, "00:00:00,000"), (59.9996, "00:01:00,000"), (3725.25, "01:02:05,250")]
        {
            assert_eq!(clock(seconds, ','), expected);
        }
    }
}
