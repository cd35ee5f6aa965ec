//! Exports of a video's log into the formats that players, editors and spreadsheets read: one file
//! each and the list.
//!
//! To add one, write its file and name it here as a module and in [`FORMATS`].

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
use ports::storage::ObjectStorage;
use serde_json::Value;

use crate::domain::aggregation::aggregators::chapters;
use crate::domain::aggregation::result::Aggregate;
use crate::domain::analysis::Analyzers;
use crate::domain::analysis::video::AnalyzedVideo;
use crate::domain::catalog::Catalog;
use crate::domain::catalog::record::VideoRecord;
use crate::domain::kernel::error::{Error, Result};
use crate::domain::kernel::names::listed;
use crate::domain::kernel::ports::Stores;
use crate::domain::kernel::time::Span;
use crate::domain::kernel::video::{ChunkId, VideoId};
use crate::domain::search::Search;
use part::Part;
pub use part::PartFields;
use timecode::Timecode;

/// A file that other programs read, made from what is stored of a video.
#[derive(Debug, Clone, Copy)]
pub struct Format {
    /// What it is asked for by.
    pub id: &'static str,
    /// MIME type of the file.
    pub content_type: &'static str,
    /// How the file's name ends, without the first dot.
    pub extension: &'static str,
    /// Writes the file; `Invalid` where the video lacks what it takes.
    write: fn(&Log) -> Result<Content>,
}

/// Every format.
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

/// What is in a file.
#[derive(Debug, Clone, PartialEq)]
pub enum Content {
    /// UTF-8.
    Text(String),
    /// JSON.
    Document(Value),
}

/// An exported file.
#[derive(Debug, Clone, PartialEq)]
pub struct Export {
    /// MIME type.
    pub content_type: &'static str,
    /// A name to save it under: letters, digits, `.`, `_` and `-`.
    pub filename: String,
    /// What is in it.
    pub content: Content,
}

/// What captions contain in addition to the words.
#[derive(Debug, Clone, Copy, Default)]
pub struct CaptionOptions {
    /// Whether they begin with the instant when they are said.
    pub wall_clock: bool,
    /// Whether SubRip captions name the speaker. WebVTT captions always do, as voices.
    pub speakers: bool,
}

/// What is stored of a video, as the formats read it.
struct Log {
    analyzers: Analyzers,
    record: VideoRecord,
    video: AnalyzedVideo,
    /// As they are stored.
    aggregates: BTreeMap<String, Value>,
    chapters: Option<Aggregate>,
    video_url: String,
    captions: CaptionOptions,
    /// What of the video is exported.
    part: Part,
}

/// Exports of a video's log.
#[derive(Clone)]
pub struct Exports {
    catalog: Arc<Catalog>,
    search: Arc<Search>,
    storage: Arc<dyn ObjectStorage>,
}

impl Exports {
    pub(crate) fn new(stores: &Stores, catalog: Arc<Catalog>, search: Arc<Search>) -> Self {
        Self { catalog, search, storage: stores.storage.clone() }
    }

    /// A video's log, or that of a part, as a file; `Invalid` lists the formats, or says what the video
    /// lacks, as the instant of its recording for `wall_clock`.
    pub async fn export(
        &self,
        video_id: VideoId,
        format: &str,
        captions: CaptionOptions,
        part: PartFields,
    ) -> Result<Export> {
        let Some(format) = FORMATS.iter().find(|f| f.id == format) else {
            let known: Vec<&str> = FORMATS.iter().map(|f| f.id).collect();
            let given: String = format.chars().take(60).filter(|c| !c.is_control()).collect();
            return Err(Error::Invalid(format!(
                "unknown export format '{given}'; available: {}",
                listed(&known)
            )));
        };
        let mut log = self.catalog.read_published(video_id, |record| self.log(record)).await?;
        if captions.wall_clock && log.record.about.recorded_at.is_none() {
            return Err(Error::Invalid(format!(
                "it is not known when video '{video_id}' was recorded; say so with \
                 PATCH /videos/{video_id} {{\"recorded_at\": \"2026-01-31T12:00:00Z\"}}"
            )));
        }
        log.captions = captions;
        log.part = Part::of(part, log.record.duration)?;
        let filename = format!("{}{}.{}", log.stem(), log.part.suffix(), format.extension);
        // A long video's log takes a while to write.
        let content = tokio::task::spawn_blocking(move || (format.write)(&log))
            .await
            .map_err(|e| Error::corrupt(format!("the export ended abnormally: {e}")))??;
        Ok(Export { content_type: format.content_type, filename, content })
    }

    async fn log(&self, record: VideoRecord) -> Result<Log> {
        let chapters = match record.aggregates.contains_key(chapters::ID) {
            true => Some(self.catalog.aggregate_result(&record, chapters::ID).await?),
            false => None,
        };
        Ok(Log {
            analyzers: self.catalog.analyzers.clone(),
            video: self.catalog.analyzed(&record).await?,
            video_url: self.storage.download_url(&record.storage_path).await?,
            aggregates: self.catalog.stored_aggregates(&record).await?,
            chapters,
            captions: CaptionOptions::default(),
            part: Part::default(),
            record,
        })
    }
}

impl Log {
    /// The video's name without its extension.
    fn stem(&self) -> &str {
        let name = &self.record.filename;
        name.rsplit_once('.').map_or(name.as_str(), |(stem, _)| stem)
    }

    /// Pictures per second; the usual rate where there is no picture.
    fn frame_rate(&self) -> f64 {
        const USUAL: f64 = 25.0;
        let rate = self.record.frame_rate.filter(|rate| (1.0..=1000.0).contains(rate));
        exact(rate.unwrap_or(USUAL))
    }

    /// How its frames are numbered.
    fn timecode(&self) -> Timecode {
        Timecode::from(self.record.timecode.as_deref(), self.frame_rate())
    }

    /// The chunks of the part that is exported, with what of their segments lies in it.
    fn chunks(&self) -> impl Iterator<Item = (ChunkId, Span)> {
        let chunks = self.video.chunks();
        chunks.filter_map(|(chunk, span)| Some((chunk, self.part.within(span)?)))
    }

    /// What the chunk shows or what is said in it, in one line.
    fn headline(&self, chunk: ChunkId) -> String {
        let findings = || self.video.outputs.keys().filter_map(|id| self.video.finding(id, chunk));
        let said = || {
            let mut statements = findings().flat_map(|finding| finding.statements());
            statements.find(|told| told.kind == PassageKind::Speech && told.speaker.is_none())
        };
        let described = findings().find_map(|finding| finding.description());
        let headline = described.or_else(|| said().map(|told| told.text));
        one_line(&headline.unwrap_or_default())
    }
}

/// Text without line breaks and repeated blanks.
fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// `HH:MM:SS`, a separator and milliseconds.
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

/// A rate that was measured or rounded as the rate of television that it stands for: 30000/1001 and the
/// like.
fn exact(rate: f64) -> f64 {
    const MEASURED: f64 = 0.005;
    let television = [24.0, 30.0, 48.0, 60.0, 120.0].map(|rate: f64| rate * 1000.0 / 1001.0);
    television.into_iter().find(|exact| (exact - rate).abs() < MEASURED).unwrap_or(rate)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_of_television_are_exact() {
        for (measured, expected) in [
            (29.97, 30_000.0 / 1001.0),
            (29.969_999, 30_000.0 / 1001.0),
            (59.94, 60_000.0 / 1001.0),
            (23.976, 24_000.0 / 1001.0),
            (25.0, 25.0),
            (30.0, 30.0),
            (14.9, 14.9),
        ] {
            assert_eq!(super::exact(measured), expected, "{measured}");
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
