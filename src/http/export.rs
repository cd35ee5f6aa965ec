//! `/videos/{video_id}/export`: a video's log as a file for players, editors and spreadsheets.

use poem_openapi::param::{Path, Query};
use poem_openapi::payload::PlainText;
use poem_openapi::{ApiResponse, OpenApi, ResponseContent};

use super::auth::{Service, Token};
use super::body::Json;
use super::errors::{ApiError, ByIdNamed};
use super::values::AnyObject;
use crate::domain::export::Content;
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
    ) -> Result<Exported, ApiError<ByIdNamed>> {
        let video_id = video_named(&video_id)?;
        let export = self.0.of(&token).export(video_id, &format, wall_clock.0).await?;
        let disposition = format!("attachment; filename=\"{}\"", export.filename);
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
