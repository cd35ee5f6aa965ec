//! Exports a video's log in formats for players, editing programs and spreadsheets. Each format is
//! implemented in a separate file.
//!
//! To add a format, write its file, and add its module and its entry in [`FORMATS`] here. A format
//! for editing programs is written from a [`sequence::Sequence`], any other one from the log.

pub mod bin;
mod captioned;
mod chapter_marks;
mod chapters_vtt;
mod csv;
mod cues;
mod document;
mod ffmetadata;
mod json;
pub mod library;
mod markdown;
mod part;
pub mod sequence;
mod srt;
mod transcript;
mod vtt;
mod xml;

use std::collections::BTreeMap;
use std::sync::Arc;

use ports::llm::PassageKind;
use ports::storage::ObjectUrls;
use serde_json::Value;
use tokio::task::JoinError;

use crate::aggregation::aggregators::chapters;
use crate::aggregation::result::Aggregate;
use crate::analysis::Analyzers;
use crate::analysis::correction::TranscribedSpeech;
use crate::analysis::utterances::utterances;
use crate::analysis::video::AnalyzedVideo;
use crate::bins::Bins;
use crate::catalog::Catalog;
use crate::facts::read_speech;
use crate::intervals::IntervalFilter;
use crate::kernel::error::{Error, Result};
use crate::kernel::names::comma_separated;
use crate::kernel::ports::Stores;
use crate::kernel::time::Span;
use crate::kernel::video::{ChunkId, VideoId};
use crate::listing::Listing;
use crate::media::speech::Utterance;
use crate::records::Records;
use crate::records::record::VideoRecord;
use crate::search::scope::ScopeResolver;
use Writer::{Clips, Log, LogOrClips};
use part::ExportPart;
pub use part::PartFields;
use sequence::{ClipSelection, Sequence, qda};

/// An export format.
#[derive(Debug, Clone, Copy)]
pub struct Format {
    /// The id in requests.
    pub id: &'static str,
    /// MIME type of the file.
    pub content_type: &'static str,
    /// Extension of the file name, without the leading dot.
    pub extension: &'static str,
    writer: Writer,
}

/// Writes the log of a video. Returns `Invalid` if the data that the format needs is missing.
type LogWriter = fn(&VideoLog) -> Result<Content>;

/// Writes clips of one or more videos. Returns `Invalid` if the data that the format needs is
/// missing.
type ClipWriter = fn(&Sequence) -> Result<Content>;

/// What a format is written from.
#[derive(Debug, Clone, Copy)]
enum Writer {
    /// The log of a video.
    Log(LogWriter),
    /// Clips of one or more videos.
    Clips(ClipWriter),
    /// The log of a video, or clips if the request chooses clips.
    LogOrClips(LogWriter, ClipWriter),
}

const WORD: &str = "application/vnd.openxmlformats-officedocument.wordprocessingml.document";

/// There is no registered type for REFI-QDA projects.
const QDA: &str = "application/zip";

/// All export formats.
pub const FORMATS: &[Format] = &[
    Format::new("srt", "application/x-subrip", "srt", LogOrClips(srt::write, srt::write_clips)),
    Format::new("vtt", "text/vtt", "vtt", LogOrClips(vtt::write, vtt::write_clips)),
    Format::new("chapters.vtt", "text/vtt", "chapters.vtt", Log(chapters_vtt::write)),
    Format::new("ffmetadata", "text/plain", "ffmetadata.txt", Log(ffmetadata::write)),
    Format::new("edl", "text/plain", "edl", Clips(sequence::edl::write)),
    Format::new("markers.edl", "text/plain", "markers.edl", Clips(sequence::marker_edl::write)),
    Format::new("fcpxml", "application/xml", "fcpxml", Clips(sequence::fcpxml::write)),
    Format::new("xmeml", "application/xml", "xml", Clips(sequence::xmeml::write)),
    Format::new(
        "otio",
        "application/vnd.pixar.opentimelineio+json",
        "otio",
        Clips(sequence::otio::write),
    ),
    Format::new("clips.csv", "text/csv", "clips.csv", Clips(sequence::clip_list::write)),
    Format::new("clips.md", "text/markdown", "clips.md", Clips(sequence::markdown::write)),
    Format::new("quotes.md", "text/markdown", "quotes.md", Clips(sequence::quotes::markdown)),
    Format::new("quotes.docx", WORD, "quotes.docx", Clips(sequence::quotes::word)),
    Format::new("transcript.txt", "text/plain", "transcript.txt", Log(transcript::text)),
    Format::new("transcript.md", "text/markdown", "transcript.md", Log(transcript::markdown)),
    Format::new("transcript.docx", WORD, "transcript.docx", Log(transcript::word)),
    Format::new("qdpx", QDA, "qdpx", LogOrClips(qda::write_video, qda::write)),
    Format::new("csv", "text/csv", "csv", Log(csv::write)),
    Format::new("json", "application/json", "json", Log(json::write)),
];

impl Format {
    const fn new(
        id: &'static str,
        content_type: &'static str,
        extension: &'static str,
        writer: Writer,
    ) -> Self {
        Self { id, content_type, extension, writer }
    }

    /// Returns the function that writes clips, if the format can contain them.
    fn clip_writer(&self) -> Option<ClipWriter> {
        match self.writer {
            Log(_) => None,
            Clips(write) | LogOrClips(_, write) => Some(write),
        }
    }
}

/// The content of a file.
#[derive(Debug, Clone, PartialEq)]
pub enum Content {
    /// UTF-8 text.
    Text(String),
    /// A JSON document.
    Document(Value),
    /// A binary file.
    Bytes(Vec<u8>),
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

/// What to export of a video, and how.
#[derive(Debug, Clone, Default)]
pub struct ExportOptions {
    /// Optional parts of captions.
    pub captions: CaptionOptions,
    /// The part of the video.
    pub part: PartFields,
    /// The clips of formats that can contain clips. Formats for editing programs contain the
    /// chunks by default, captions the complete speech.
    pub clips: Option<ClipSelection>,
}

/// A video's stored data, from which the formats are written.
struct VideoLog {
    analyzers: Analyzers,
    record: VideoRecord,
    video: AnalyzedVideo,
    /// The speech with the times of its words, if clips are written.
    speech: Option<TranscribedSpeech>,
    /// The stored aggregates, by id; empty if clips are written.
    aggregates: BTreeMap<String, Value>,
    chapters: Option<Aggregate>,
    video_url: String,
    options: ExportOptions,
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
    bins: Arc<Bins>,
}

impl Exports {
    pub(crate) fn new(stores: &Stores, catalog: &Catalog, scopes: Arc<ScopeResolver>) -> Self {
        let (records, listing) = (catalog.records.clone(), catalog.listing.clone());
        let (analyzers, storage) = (catalog.analyzers.clone(), stores.storage.clone());
        let (intervals, bins) = (catalog.intervals.clone(), catalog.bins.clone());
        Self { records, listing, analyzers, scopes, intervals, storage, bins }
    }

    /// Exports the log of a video, or of a part of it. Returns `Invalid` if the format is unknown
    /// or the video lacks data that the export needs, such as the recording time for `wall_clock`.
    pub async fn export(
        &self,
        video_id: VideoId,
        format: &str,
        options: ExportOptions,
    ) -> Result<Export> {
        let format = find_format(format)?;
        if options.clips.is_some() && format.clip_writer().is_none() {
            return Err(without_clips(format));
        }
        let as_clips = options.clips.is_some() || matches!(format.writer, Clips(_));
        let read = |record| self.log(record, as_clips);
        let mut log = self.records.read_published(video_id, read).await?;
        if options.captions.wall_clock && log.record.metadata.recorded_at.is_none() {
            return Err(Error::Invalid(format!(
                "it is not known when video '{video_id}' was recorded; say so with \
                 PATCH /videos/{video_id} {{\"recorded_at\": \"2026-01-31T12:00:00Z\"}}"
            )));
        }
        log.part = ExportPart::new(options.part, log.record.duration)?;
        log.options = options;
        let filename = format!("{}{}.{}", log.stem(), log.part.suffix(), format.extension);
        // Writing the log of a long video would block the executor.
        let content = tokio::task::spawn_blocking(move || log.write(format.writer))
            .await
            .map_err(ended)??;
        Ok(Export { content_type: format.content_type, filename, content })
    }

    /// Reads a video's stored data. For clips, that includes the times of words, but no aggregates
    /// other than the chapters.
    async fn log(&self, record: VideoRecord, as_clips: bool) -> Result<VideoLog> {
        let chapters = match record.aggregates.contains_key(chapters::ID) {
            true => Some(self.records.aggregate_result(&record, chapters::ID).await?),
            false => None,
        };
        Ok(VideoLog {
            analyzers: self.analyzers.clone(),
            video: self.records.analyzed_video(&record).await?,
            speech: match as_clips {
                true => read_speech(&self.records, &record).await?,
                false => None,
            },
            video_url: self.storage.download_url(&record.storage_path).await?,
            aggregates: match as_clips {
                true => BTreeMap::new(),
                false => self.records.stored_aggregates(&record).await?,
            },
            chapters,
            options: ExportOptions::default(),
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

    fn write(&self, writer: Writer) -> Result<Content> {
        match writer {
            Log(write) => write(self),
            LogOrClips(write, _) if self.options.clips.is_none() => write(self),
            Clips(write) | LogOrClips(_, write) => {
                let selection = self.options.clips.clone().unwrap_or_default();
                write(&sequence::selection::sequence(self, &selection)?)
            }
        }
    }

    /// Returns the chunks in the exported part, each with its span clipped to the part.
    fn chunks(&self) -> impl Iterator<Item = (ChunkId, Span)> {
        let chunks = self.video.chunks();
        chunks.filter_map(|(chunk, span)| Some((chunk, self.part.within(span)?)))
    }

    /// Returns what is said within a span, cut to the words that lie in it.
    fn speech_in(&self, span: Span) -> Vec<Utterance> {
        match &self.speech {
            Some(found) => found.speech.excerpts(&found.utterances, span),
            // Records of earlier versions have no times of words.
            None => {
                let is_within = |spoken: &Utterance| spoken.span().overlap(&span) > 0.0;
                utterances(&self.video).into_iter().filter(is_within).collect()
            }
        }
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

/// Creates the error for a writer that panicked.
fn ended(error: JoinError) -> Error {
    Error::corrupt(format!("the export ended abnormally: {error}"))
}

/// Finds a format by its id. Returns `Invalid`, with all ids, if it is unknown.
fn find_format(id: &str) -> Result<&'static Format> {
    FORMATS.iter().find(|format| format.id == id).ok_or_else(|| {
        let known: Vec<&str> = FORMATS.iter().map(|format| format.id).collect();
        let requested: String = id.chars().take(60).filter(|c| !c.is_control()).collect();
        Error::Invalid(format!(
            "unknown export format '{requested}'; available: {}",
            comma_separated(&known)
        ))
    })
}

/// Creates the error for a format that cannot contain clips.
fn without_clips(format: &Format) -> Error {
    let formats = FORMATS.iter().filter(|format| format.clip_writer().is_some());
    let ids: Vec<&str> = formats.map(|format| format.id).collect();
    Error::Invalid(format!(
        "the export format '{}' cannot contain clips; available: {}",
        format.id,
        comma_separated(&ids)
    ))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clocks_carry() {
        for (seconds, expected) in
            [(0.0, "00:00:00,000"), (59.9996, "00:01:00,000"), (3725.25, "01:02:05,250")]
        {
            assert_eq!(clock(seconds, ','), expected);
        }
    }
}
