//! `/videos/{video_id}/export` and `/export`: logs as files for players, editors and spreadsheets.

use futures::TryStreamExt;
use poem::Body;
use poem_openapi::param::{Path, Query};
use poem_openapi::payload::{Binary, PlainText};
use poem_openapi::{ApiResponse, Object, OpenApi, ResponseContent};

use crate::http::edge::auth::{CallerToken, Service};
use crate::http::wire::body::Json;
use crate::http::wire::disposition::attachment;
use crate::http::wire::errors::{ApiError, ByIdChecked, Search};
use crate::http::wire::params::{FiniteNumber, Flag};
use crate::http::wire::values::AnyObject;
use domain::export::library::LibraryFormat;
use domain::export::{CaptionOptions, Content, PartFields};
use domain::kernel::video::parse_video_id;

/// The routes of this section.
pub(super) struct ExportApi(pub(super) Service);

#[OpenApi]
impl ExportApi {
    /// Export a video's log.
    ///
    /// `srt` and `vtt` are captions from recognized speech; `chapters.vtt` and `ffmetadata` are
    /// chapters; `edl` (CMX 3600) and `otio` (OpenTimelineIO) are the chunks as a timeline; `csv`
    /// and `json` are the complete log.
    #[oai(path = "/videos/:video_id/export", method = "get", operation_id = "export")]
    #[expect(clippy::too_many_arguments, reason = "one per parameter of the route")]
    async fn export(
        &self,
        token: CallerToken,
        /// Id of the video.
        video_id: Path<String>,
        /// File format: `srt`, `vtt`, `chapters.vtt`, `ffmetadata`, `edl`, `otio`, `csv` or `json`.
        format: Query<String>,
        /// Whether to prefix captions (`srt`, `vtt`) with the wall-clock time; requires
        /// `recorded_at`. `edl` always includes the time if `recorded_at` is known. Default: false.
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
        /// Whether times in captions, chapters and the `edl` timeline are relative to `start`, as
        /// in a clip that starts there. Default: false.
        #[oai(default)]
        from_zero: Query<bool>,
    ) -> Result<Exported, ApiError<ByIdChecked>> {
        let video_id = parse_video_id(&video_id)?;
        let part = PartFields {
            start: start.0.map(|at| at.0),
            end: end.0.map(|at| at.0),
            from_zero: from_zero.0,
        };
        let captions = CaptionOptions { wall_clock: wall_clock.0, speakers: speakers.0.0 };
        let service = self.0.scoped(&token);
        let export = service.video(video_id).await?.export(&format, captions, part).await?;
        let disposition = attachment(&export.filename);
        let file = match export.content {
            Content::Document(value) => File::Json(Json(AnyObject::from_value(value))),
            Content::Text(text) => {
                let text = PlainText(text);
                match export.content_type {
                    "application/x-subrip" => File::Srt(text),
                    "text/vtt" => File::Vtt(text),
                    "text/csv" => File::Csv(text),
                    "application/vnd.pixar.opentimelineio+json" => File::Otio(text),
                    _ => File::Text(text),
                }
            }
        };
        Ok(Exported::File(file, disposition))
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
    #[oai(content_type = "text/plain")]
    Text(PlainText<String>),
}
