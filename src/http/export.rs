//! `/videos/{video_id}/export` and `/export`: logs as files for players, editors and spreadsheets.

use futures::TryStreamExt;
use poem::Body;
use poem_openapi::param::{Path, Query};
use poem_openapi::payload::{Binary, PlainText};
use poem_openapi::{ApiResponse, Object, OpenApi, ResponseContent};

use super::auth::{Service, Token};
use super::body::Json;
use super::disposition::attachment;
use super::errors::{ApiError, ByIdNamed, Search};
use super::params::{Flag, Number};
use super::values::AnyObject;
use crate::domain::export::library::LibraryFormat;
use crate::domain::export::{CaptionOptions, Content, PartFields};
use crate::domain::kernel::video::video_named;

/// The routes of this section.
pub(super) struct ExportApi(pub(super) Service);

#[OpenApi]
impl ExportApi {
    /// The log of a video as a file.
    ///
    /// `srt` and `vtt` are captions from the recognised speech; `chapters.vtt` and `ffmetadata`
    /// are the chapters; `edl` (CMX 3600) and `otio` (OpenTimelineIO) are the chunks as a timeline;
    /// `csv` and `json` are the whole log.
    #[oai(path = "/videos/:video_id/export", method = "get", operation_id = "export")]
    #[expect(clippy::too_many_arguments, reason = "one per parameter of the route")]
    async fn export(
        &self,
        token: Token,
        video_id: Path<String>,
        /// `srt`, `vtt`, `chapters.vtt`, `ffmetadata`, `edl`, `otio`, `csv` or `json`.
        format: Query<String>,
        /// Whether captions (`srt`, `vtt`) begin with the instant when they are said. It has to be known
        /// when the video was recorded; where it is, `edl` has it for every chunk.
        #[oai(default)]
        wall_clock: Query<bool>,
        /// Whether captions in `srt` begin with the speaker, as `Anna: `, where diarization knows who
        /// speaks. Captions in `vtt` always have the speaker, as a voice (`<v Anna>`).
        #[oai(default = "off")]
        speakers: Query<Flag>,
        /// Only what lies after this second of the video: chunks that reach into it whole in `csv` and
        /// `json`, all else cut to it. Aggregates in `json` stay those of the whole video.
        start: Query<Option<Number>>,
        /// Only what lies before this second.
        end: Query<Option<Number>>,
        /// Whether times of captions, chapters and the timeline of `edl` count from `start`, as they do in a
        /// clip that begins there; else they are those of the video.
        #[oai(default)]
        from_zero: Query<bool>,
    ) -> Result<Exported, ApiError<ByIdNamed>> {
        let video_id = video_named(&video_id)?;
        let part = PartFields {
            start: start.0.map(|at| at.0),
            end: end.0.map(|at| at.0),
            from_zero: from_zero.0,
        };
        let captions = CaptionOptions { wall_clock: wall_clock.0, speakers: speakers.0.0 };
        let export = self.0.of(&token).export(video_id, &format, captions, part).await?;
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

    /// The chunks of many videos as one file.
    ///
    /// A line for each chunk that the filters let through, with its video and its `moment_id`: those of
    /// the newest video first. `csv` has the columns of every analyzer of the install, `jsonl` a JSON
    /// object on each line. It is written while it is sent; a connection that ends early means that
    /// something is missing.
    #[oai(path = "/export", method = "post", operation_id = "export_library")]
    async fn export_library(
        &self,
        token: Token,
        Json(request): Json<LibraryRequest>,
    ) -> Result<LibraryExported, ApiError<Search>> {
        let format = LibraryFormat::parse(&request.format)?;
        let (video_ids, filters) = (request.video_ids.as_deref(), &request.filters.0);
        let export = self.0.of(&token).export_library(video_ids, filters, format).await?;
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
struct LibraryRequest {
    /// `csv` or `jsonl`.
    #[oai(default = "csv")]
    format: String,
    /// Null exports every video.
    #[oai(nullable)]
    video_ids: Option<Vec<String>>,
    /// Hard conditions that must all hold, as of `/query`: a chunk is let through where they hold for what
    /// some analyzer has found in it.
    #[oai(default)]
    filters: AnyObject,
}

fn csv() -> String {
    "csv".into()
}

#[derive(ApiResponse)]
enum LibraryExported {
    /// The file.
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
    /// The file.
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
