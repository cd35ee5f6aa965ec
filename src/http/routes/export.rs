//! `/videos/{video_id}/export` and `/export`: logs as files for players, editors and spreadsheets.

mod selection;

use futures::TryStreamExt;
use poem::Body;
use poem_openapi::param::{Path, Query};
use poem_openapi::payload::{Binary, PlainText};
use poem_openapi::{ApiResponse, Object, OpenApi, ResponseContent};

use crate::http::edge::auth::{CallerToken, Service};
use crate::http::wire::body::Json;
use crate::http::wire::disposition::attachment;
use crate::http::wire::errors::{ApiError, ByIdChecked, Search};
use crate::http::wire::params::{Bounded, FiniteNumber, Flag};
use crate::http::wire::values::AnyObject;
use domain::bins::BinId;
use domain::export::library::LibraryFormat;
use domain::export::sequence::ClipSelection;
use domain::export::{CaptionOptions, Content, Export, ExportOptions, PartFields};
use domain::kernel::video::parse_video_id;
pub(super) use selection::{MissingVideosBody, bin_selection, parse_rate, refuse};

/// The routes of this section.
pub(super) struct ExportApi(pub(super) Service);

#[OpenApi]
impl ExportApi {
    /// Export a video's log.
    ///
    /// `srt` and `vtt` are captions from recognized speech; `chapters.vtt` and `ffmetadata` are
    /// chapters. `edl` (CMX 3600), `fcpxml` (Final Cut Pro, FCPXML 1.10), `xmeml` (Premiere Pro) and
    /// `otio` (OpenTimelineIO) are clips of the video as a timeline, by default its chunks;
    /// `markers.edl` has a marker for each clip (DaVinci Resolve), `clips.csv` and `clips.md` are
    /// tables of the clips, and `quotes.md` and `quotes.docx` quote what is said in them. They
    /// contain the file's timecode and reel, and every time is a whole number of frames.
    /// `transcript.txt`, `transcript.md` and `transcript.docx` are the speech with speakers and
    /// times, and `qdpx` is a REFI-QDA project with the transcript for MAXQDA, NVivo and ATLAS.ti.
    /// `csv` and `json` are the complete log.
    #[oai(path = "/videos/:video_id/export", method = "get", operation_id = "export")]
    #[expect(clippy::too_many_arguments, reason = "one per parameter of the route")]
    async fn export(
        &self,
        token: CallerToken,
        /// Id of the video.
        video_id: Path<String>,
        /// File format: `srt`, `vtt`, `chapters.vtt`, `ffmetadata`, `edl`, `markers.edl`, `fcpxml`,
        /// `xmeml`, `otio`, `clips.csv`, `clips.md`, `quotes.md`, `quotes.docx`, `transcript.txt`,
        /// `transcript.md`, `transcript.docx`, `qdpx`, `csv` or `json`.
        format: Query<String>,
        /// Whether to add the wall-clock time to captions (`srt`, `vtt`) and paragraphs of the
        /// transcript; requires `recorded_at`. `edl` always includes the time if `recorded_at` is
        /// known. Default: false.
        #[oai(default)]
        wall_clock: Query<bool>,
        /// Whether to prefix captions in `srt` with the speaker (such as `Anna: `) if diarization
        /// identified one. Captions in `vtt` always name the speaker in a voice tag (`<v Anna>`).
        /// Default: false.
        #[oai(default = "off")]
        speakers: Query<Flag>,
        /// Start of the exported range, in seconds from the start of the video. `csv` and `json`
        /// contain every overlapping chunk in full; other formats are cut to the range. Aggregates
        /// in `json` still cover the whole video. Default: the beginning.
        start: Query<Option<FiniteNumber>>,
        /// End of the exported range, in seconds from the start of the video. Default: the end.
        end: Query<Option<FiniteNumber>>,
        /// Whether times in captions, chapters, transcripts and timelines are relative to `start`,
        /// as in a clip that starts there. Source times of clips still follow the file's timecode.
        /// Default: false.
        #[oai(default)]
        from_zero: Query<bool>,
        /// Which parts of the video become clips: `chunks` or `chapters`. Only for formats with
        /// clips, which are those above and captions (`srt`, `vtt`); captions of clips follow the
        /// clips as a sequence. Default: `chunks`, and all speech for captions.
        clips: Query<Option<String>>,
        /// Ids of moments of the video, separated by commas, which become the clips, in this order.
        /// Excludes `clips`. A moment outside `start` and `end` is omitted.
        moment_ids: Query<Option<String>>,
    ) -> Result<Exported, ApiError<ByIdChecked>> {
        let video_id = parse_video_id(&video_id)?;
        let part = PartFields {
            start: start.0.map(|at| at.0),
            end: end.0.map(|at| at.0),
            from_zero: from_zero.0,
        };
        let captions = CaptionOptions { wall_clock: wall_clock.0, speakers: speakers.0.0 };
        let clips = ClipSelection::parse(clips.0.as_deref(), moment_ids.0.as_deref())?;
        let options = ExportOptions { captions, part, clips };
        let service = self.0.scoped(&token);
        let export = service.video(video_id).await?.export(&format, options).await?;
        let disposition = attachment(&export.filename);
        Ok(Exported::File(export.into(), disposition))
    }

    /// Export a bin.
    ///
    /// The selects become clips in the order of the bin, with their trims, notes, tags and ratings:
    /// as a timeline (`edl`, `fcpxml`, `xmeml`, `otio`), as markers (`markers.edl`), as tables
    /// (`clips.csv`, `clips.md`), as quotations with speaker, timecode and link (`quotes.docx`,
    /// `quotes.md`), as captions of the sequence (`srt`, `vtt`), or as selections that are coded with
    /// their tags, for qualitative data analysis (`qdpx`, REFI-QDA). Every time is a whole number of
    /// frames, or of milliseconds in captions and `qdpx`. Returns 400 if there are no selects.
    #[oai(path = "/bins/:bin_id/export", method = "get", operation_id = "export_bin")]
    #[expect(clippy::too_many_arguments, reason = "one per parameter of the route")]
    async fn export_bin(
        &self,
        token: CallerToken,
        /// Id of the bin.
        bin_id: Path<String>,
        /// File format: `edl`, `markers.edl`, `fcpxml`, `xmeml`, `otio`, `clips.csv`, `clips.md`,
        /// `quotes.md`, `quotes.docx`, `srt`, `vtt` or `qdpx`.
        format: Query<String>,
        /// Frames per second of the sequence, as a fraction such as `30000/1001` or a whole number,
        /// from 1 to 120. Clips keep their source timecode and their speed. Default: the most
        /// frequent frame rate of the selects.
        frame_rate: Query<Option<String>>,
        /// Ids of the selects to export, separated by commas. The order stays that of the bin.
        /// Default: all selects.
        select_ids: Query<Option<String>>,
        /// Only selects with at least this rating, from 1 to 5. Selects without a rating are left
        /// out. Default: all ratings.
        min_rating: Query<Option<Bounded<1, 5>>>,
        /// Only selects with this tag. Default: all tags.
        tag: Query<Option<String>>,
        /// What to do with selects whose video is missing: `refuse`, so that the response is 400 and
        /// names them, or `omit`. Default: `refuse`.
        #[oai(default = "refuse")]
        missing: Query<MissingVideosBody>,
    ) -> Result<Exported, ApiError<ByIdChecked>> {
        let (service, bin_id) = (self.0.scoped(&token), BinId::parse(&bin_id)?);
        let selection =
            bin_selection(select_ids.0.as_deref(), min_rating.0, tag.0.as_deref(), missing.0)?;
        let rate = frame_rate.0.as_deref().map(parse_rate).transpose()?;
        let export = service.export_bin(&bin_id, &format, rate, &selection).await?;
        let disposition = attachment(&export.filename);
        Ok(Exported::File(export.into(), disposition))
    }

    /// Get the clips of a bin.
    ///
    /// Returns a ZIP archive with a file for each select, cut exactly at its frames and named by its
    /// number, and a table of them (`clips.csv`). Each clip is cut while the archive is sent, so the
    /// file is incomplete if the connection ends early. Returns 400 if there are too many clips
    /// (`bins.max_clips`) or if one is too long.
    #[oai(path = "/bins/:bin_id/clips", method = "get", operation_id = "bin_clips")]
    async fn bin_clips(
        &self,
        token: CallerToken,
        /// Id of the bin.
        bin_id: Path<String>,
        /// Ids of the selects to export, separated by commas. The order stays that of the bin.
        /// Default: all selects.
        select_ids: Query<Option<String>>,
        /// Only selects with at least this rating, from 1 to 5. Selects without a rating are left
        /// out. Default: all ratings.
        min_rating: Query<Option<Bounded<1, 5>>>,
        /// Only selects with this tag. Default: all tags.
        tag: Query<Option<String>>,
        /// What to do with selects whose video is missing: `refuse`, so that the response is 400 and
        /// names them, or `omit`. Default: `refuse`.
        #[oai(default = "refuse")]
        missing: Query<MissingVideosBody>,
    ) -> Result<ClipsExported, ApiError<ByIdChecked>> {
        let (service, bin_id) = (self.0.scoped(&token), BinId::parse(&bin_id)?);
        let selection =
            bin_selection(select_ids.0.as_deref(), min_rating.0, tag.0.as_deref(), missing.0)?;
        let archive = service.bin_clips(&bin_id, &selection).await?;
        let body = Body::from_bytes_stream(archive.content);
        Ok(ClipsExported::File(ClipsFile::Zip(Binary(body)), attachment(&archive.filename)))
    }

    /// Export chunks of many videos.
    ///
    /// Returns one line for each chunk that matches the filters, newest video first. A line
    /// includes the video and the `moment_id`. `csv` has the columns of every installed analyzer;
    /// `jsonl` has one JSON object per line. The file is streamed, so it is incomplete if the
    /// connection ends early.
    #[oai(path = "/export", method = "post", operation_id = "export_library")]
    async fn export_library(
        &self,
        token: CallerToken,
        Json(request): Json<LibraryRequestBody>,
    ) -> Result<LibraryExported, ApiError<Search>> {
        let format = LibraryFormat::parse(&request.format)?;
        let (video_ids, filters) = (request.video_ids.as_deref(), &request.filters.0);
        let export = self.0.scoped(&token).export_library(video_ids, filters, format).await?;
        let disposition = attachment(export.filename);
        let body = Body::from_bytes_stream(export.content.map_err(std::io::Error::other));
        let file = match format {
            LibraryFormat::Csv => LibraryFile::Csv(Binary(body)),
            LibraryFormat::Jsonl => LibraryFile::Jsonl(Binary(body)),
        };
        Ok(LibraryExported::File(file, disposition))
    }
}

fn off() -> Flag {
    Flag(false)
}

impl From<Export> for File {
    fn from(export: Export) -> Self {
        let text = match export.content {
            Content::Document(value) => return Self::Json(Json(AnyObject::from_value(value))),
            Content::Bytes(bytes) if export.content_type == "application/zip" => {
                return Self::Qdpx(Binary(bytes));
            }
            Content::Bytes(bytes) => return Self::Docx(Binary(bytes)),
            Content::Text(text) => PlainText(text),
        };
        match export.content_type {
            "application/x-subrip" => Self::Srt(text),
            "text/vtt" => Self::Vtt(text),
            "text/csv" => Self::Csv(text),
            "text/markdown" => Self::Markdown(text),
            "application/xml" => Self::Xml(text),
            "application/vnd.pixar.opentimelineio+json" => Self::Otio(text),
            _ => Self::Text(text),
        }
    }
}

#[derive(Object)]
#[oai(rename = "LibraryRequest")]
struct LibraryRequestBody {
    /// File format: `csv` or `jsonl`. Default: `csv`.
    #[oai(default = "csv")]
    format: String,
    /// Ids of the videos to export. Null: all videos.
    #[oai(nullable)]
    video_ids: Option<Vec<String>>,
    /// Hard filters that must all match, as in `/query`. A chunk is exported if any analyzer's
    /// output matches.
    #[oai(default)]
    filters: AnyObject,
}

fn csv() -> String {
    "csv".into()
}

#[derive(ApiResponse)]
enum ClipsExported {
    /// The archive.
    #[oai(status = 200)]
    File(ClipsFile, #[oai(header = "Content-Disposition")] String),
}

#[derive(ResponseContent)]
enum ClipsFile {
    #[oai(content_type = "application/zip")]
    Zip(Binary<Body>),
}

#[derive(ApiResponse)]
enum LibraryExported {
    /// The exported file.
    #[oai(status = 200)]
    File(LibraryFile, #[oai(header = "Content-Disposition")] String),
}

#[derive(ResponseContent)]
enum LibraryFile {
    #[oai(content_type = "text/csv")]
    Csv(Binary<Body>),
    #[oai(content_type = "application/jsonl")]
    Jsonl(Binary<Body>),
}

#[derive(ApiResponse)]
enum Exported {
    /// The exported file.
    #[oai(status = 200)]
    File(File, #[oai(header = "Content-Disposition")] String),
}

#[derive(ResponseContent)]
enum File {
    #[oai(content_type = "application/x-subrip")]
    Srt(PlainText<String>),
    #[oai(content_type = "text/vtt")]
    Vtt(PlainText<String>),
    #[oai(content_type = "text/csv")]
    Csv(PlainText<String>),
    #[oai(content_type = "application/json")]
    Json(Json<AnyObject>),
    #[oai(content_type = "application/vnd.pixar.opentimelineio+json")]
    Otio(PlainText<String>),
    #[oai(content_type = "application/xml")]
    Xml(PlainText<String>),
    #[oai(content_type = "text/markdown")]
    Markdown(PlainText<String>),
    #[oai(content_type = "application/vnd.openxmlformats-officedocument.wordprocessingml.document")]
    Docx(Binary<Vec<u8>>),
    #[oai(content_type = "application/zip")]
    Qdpx(Binary<Vec<u8>>),
    #[oai(content_type = "text/plain")]
    Text(PlainText<String>),
}
