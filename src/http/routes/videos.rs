//! `/videos` and `/videos/{video_id}`: ingest, listing, detail, update and deletion.

mod multipart;

use poem_openapi::param::{Header, Path, Query};
use poem_openapi::types::MaybeUndefined;
use poem_openapi::{Object, OpenApi};
use serde_json::Value;

use crate::http::edge::auth::{CallerToken, Service};
use crate::http::wire::body::{Accepted, Json};
use crate::http::wire::errors::{ApiError, ById, Change, FileIngest, Listing, Rerun, UrlIngest};
use crate::http::wire::failure::HttpFailure;
use crate::http::wire::ingest::IngestOptions;
use crate::http::wire::job_status::JobStatusBody;
use crate::http::wire::params::{Bounded, json_object};
use crate::http::wire::values::AnyObject;
use domain::ingest::IngestFields;
use domain::jobs;
use domain::kernel::video::parse_video_id;
use domain::library::videos;
use domain::publishing::removal::VideoDeletion;
use domain::records::metadata::MetadataPatch;
use multipart::{UploadContent, UploadForm};

/// The routes of this section.
pub(super) struct VideosApi(pub(super) Service);

#[OpenApi]
impl VideosApi {
    /// Ingest a file.
    ///
    /// Starts an ingest of the uploaded `file` or of a completed resumable upload. Resumable
    /// uploads use the tus 1.0 protocol below `/uploads`, with the extensions `creation`,
    /// `creation-with-upload`, `expiration`, `checksum` and `termination`. `upload_id` is the last
    /// segment of the URL of such an upload.
    #[oai(path = "/videos", method = "post", operation_id = "ingest_file")]
    async fn ingest_file(
        &self,
        token: CallerToken,
        /// Idempotency key, 1 to 255 characters: a repeated request with the same key returns the
        /// job of the first request.
        #[oai(name = "Idempotency-Key", validator(min_length = 1, max_length = 255))]
        key: Header<Option<String>>,
        upload: UploadForm,
    ) -> Result<Accepted<IngestAccepted>, ApiError<FileIngest>> {
        let fields = IngestFields { idempotency_key: key.0, ..upload.options.into() };
        let service = self.0.scoped(&token);
        let job = match upload.content {
            UploadContent::File(name, file) => {
                let name = name.as_deref().filter(|name| !name.is_empty());
                service.for_write()?.ingest_file(name, file, fields).await?
            }
            UploadContent::Upload(id) => service.for_write()?.ingest_upload(&id, fields).await?,
        };
        Ok(Accepted(IngestAccepted::new(&job)))
    }

    /// Ingest from a URL.
    ///
    /// The download starts after the response. The job's result contains the video's id.
    #[oai(path = "/videos/url", method = "post", operation_id = "ingest_url")]
    async fn ingest_url(
        &self,
        token: CallerToken,
        /// Idempotency key, 1 to 255 characters: a repeated request with the same key returns the
        /// job of the first request.
        #[oai(name = "Idempotency-Key", validator(min_length = 1, max_length = 255))]
        key: Header<Option<String>>,
        Json(request): Json<UrlIngestRequest>,
    ) -> Result<Accepted<IngestAccepted>, ApiError<UrlIngest>> {
        let (url, options) = request.into_parts();
        let fields = IngestFields { idempotency_key: key.0, ..options.into() };
        let job = self.0.scoped(&token).for_write()?.ingest_url(&url, fields).await?;
        Ok(Accepted(IngestAccepted::new(&job)))
    }

    /// List videos.
    ///
    /// Videos are listed newest first.
    #[expect(clippy::too_many_arguments, reason = "one argument per parameter of the request")]
    #[oai(path = "/videos", method = "get", operation_id = "videos")]
    async fn videos(
        &self,
        token: CallerToken,
        /// Maximum number of videos per page. Default: all.
        limit: Query<Option<Bounded<1, { u32::MAX }>>>,
        /// Number of videos to skip, after the cursor if there is one. Default: 0.
        #[oai(default = "none")]
        offset: Query<Bounded<0, { u32::MAX }>>,
        /// `next` from the previous page.
        cursor: Query<Option<String>>,
        /// Only videos whose file name contains this text, ignoring case.
        filename: Query<Option<String>>,
        /// Only videos that have output from this analyzer.
        analyzer: Query<Option<String>>,
        /// Only videos first ingested at or after this time (ISO 8601).
        created_after: Query<Option<String>>,
        /// Only videos first ingested at or before this time (ISO 8601).
        created_before: Query<Option<String>>,
        /// Only videos in this collection.
        collection: Query<Option<String>>,
        /// Only videos recorded at or after this time (ISO 8601).
        recorded_after: Query<Option<String>>,
        /// Only videos recorded at or before this time (ISO 8601).
        recorded_before: Query<Option<String>>,
        /// Only videos with matching metadata, given as a JSON object like the filter `metadata` in
        /// `/query`.
        metadata: Query<Option<String>>,
    ) -> Result<Json<VideoListBody>, ApiError<Listing>> {
        let page = videos::VideoQuery {
            limit: limit.0.map(|limit| limit.0),
            offset: offset.0.0,
            cursor: cursor.0,
            filename: filename.0,
            analyzer: analyzer.0,
            created_after: created_after.0,
            created_before: created_before.0,
            collection: collection.0,
            recorded_after: recorded_after.0,
            recorded_before: recorded_before.0,
            metadata: parse_metadata(metadata.0.as_deref())?,
        };
        Ok(Json(self.0.scoped(&token).videos(&page).await?.into()))
    }

    /// Get a video.
    #[oai(path = "/videos/:video_id", method = "get", operation_id = "video")]
    async fn video(
        &self,
        token: CallerToken,
        /// Id of the video.
        video_id: Path<String>,
    ) -> Result<Json<VideoDetailBody>, ApiError<ById>> {
        let service = self.0.scoped(&token);
        Ok(Json(service.video(parse_video_id(&video_id)?).await?.detail().await?.into()))
    }

    /// Update a video.
    ///
    /// Changes a video's metadata, collection or recording time. Nothing is analyzed or embedded
    /// again, and a running ingest of the video continues.
    #[oai(path = "/videos/:video_id", method = "patch", operation_id = "annotate_video")]
    async fn annotate_video(
        &self,
        token: CallerToken,
        /// Id of the video.
        video_id: Path<String>,
        Json(request): Json<AnnotateRequest>,
    ) -> Result<Json<VideoDetailBody>, ApiError<Rerun>> {
        let (service, video_id) = (self.0.scoped(&token), parse_video_id(&video_id)?);
        let video = service.for_write()?.video(video_id).await?;
        Ok(Json(video.update_metadata(&request.into()).await?.into()))
    }

    /// Delete a video.
    ///
    /// Deletes the video's vectors, record, stored objects and cached local copy.
    #[oai(path = "/videos/:video_id", method = "delete", operation_id = "delete_video")]
    async fn delete_video(
        &self,
        token: CallerToken,
        /// Id of the video.
        video_id: Path<String>,
    ) -> Result<Json<DeletedVideo>, ApiError<Change>> {
        let (service, video_id) = (self.0.scoped(&token), parse_video_id(&video_id)?);
        Ok(Json(service.for_write()?.video(video_id).await?.delete().await?.into()))
    }
}

fn none() -> Bounded<0, { u32::MAX }> {
    Bounded(0)
}

/// Changes to a video. Absent fields are not changed.
#[derive(Object)]
struct AnnotateRequest {
    /// User metadata by key; null removes a key.
    #[oai(default)]
    metadata: AnyObject,
    /// Collection of the video; null removes the video from its collection.
    #[oai(nullable)]
    collection: MaybeUndefined<String>,
    /// Recording time of the first frame (ISO 8601); null if unknown.
    #[oai(nullable)]
    recorded_at: MaybeUndefined<String>,
}

impl From<AnnotateRequest> for MetadataPatch {
    fn from(r: AnnotateRequest) -> Self {
        let change = |field: MaybeUndefined<String>| match field {
            MaybeUndefined::Undefined => None,
            MaybeUndefined::Null => Some(Value::Null),
            MaybeUndefined::Value(text) => Some(text.into()),
        };
        Self {
            values: r.metadata.0,
            collection: change(r.collection),
            recorded_at: change(r.recorded_at),
        }
    }
}

fn parse_metadata(given: Option<&str>) -> Result<Option<Value>, HttpFailure> {
    Ok(given.map(|given| json_object("metadata", given)).transpose()?.map(Value::Object))
}

#[derive(Object)]
pub(crate) struct UrlIngestRequest {
    /// http(s) URL of the video.
    url: String,
    #[oai(flatten)]
    options: IngestOptions,
}

impl UrlIngestRequest {
    /// Splits the request into the URL and the ingest options.
    pub(crate) fn into_parts(self) -> (String, IngestOptions) {
        (self.url, self.options)
    }
}

#[derive(Object)]
struct IngestAccepted {
    /// Id of the job, for `GET /jobs/{job_id}`.
    job_id: String,
    status: JobStatusBody,
    /// File name, or URL without credentials or query values.
    source: String,
}

impl IngestAccepted {
    fn new(job: &jobs::Job) -> Self {
        let jobs::Job { job_id, source, status, .. } = job;
        Self { job_id: job_id.clone(), status: (*status).into(), source: source.clone() }
    }
}

#[derive(Object)]
#[oai(rename = "Video")]
pub(crate) struct VideoBody {
    /// Id of the video: the first 16 hexadecimal digits of the file's SHA-1.
    video_id: String,
    /// File name of the video.
    filename: String,
    /// URL of the video in storage.
    video_url: String,
    /// URL of the poster image; null if there is none.
    #[oai(nullable)]
    poster_url: Option<String>,
    /// Duration of the video, in seconds.
    duration: f64,
    /// Number of chunks.
    chunks: u32,
    /// Id of the chunking configuration.
    chunk_config: String,
    /// Ids of the analyzers that have output for the video.
    analyzers: Vec<String>,
    /// Frames per second as a fraction, such as `30000/1001`; absent if the video has no picture or
    /// the frame rate is unknown.
    #[oai(skip_serializing_if_is_none)]
    exact_frame_rate: Option<String>,
    /// Whether the file has a sound track. A sound track may be silent. Absent for videos of earlier
    /// versions, of which that is unknown.
    #[oai(skip_serializing_if_is_none)]
    has_sound: Option<bool>,
    /// Timecode of the first frame, such as `01:00:00:00`; drop-frame timecodes have `;` before the
    /// frame number. Absent if the container has none.
    #[oai(skip_serializing_if_is_none)]
    timecode: Option<String>,
    /// Name of the reel in edit lists: the reel that the container states, otherwise the file name
    /// without its extension, in ASCII letters, digits, `_` and `-`. Absent if nothing is left of
    /// the name.
    #[oai(skip_serializing_if_is_none)]
    reel_name: Option<String>,
    /// First sentence of the summary; absent if there is no summary.
    #[oai(skip_serializing_if_is_none)]
    synopsis: Option<String>,
    /// User metadata; absent if there is none.
    #[oai(skip_serializing_if_is_none)]
    metadata: Option<AnyObject>,
    /// Collection of the video; absent if the video is in no collection.
    #[oai(skip_serializing_if_is_none)]
    collection: Option<String>,
    /// Recording time of the first frame (ISO 8601); absent if unknown.
    #[oai(skip_serializing_if_is_none)]
    recorded_at: Option<String>,
}

#[derive(Object)]
#[oai(rename = "VideoList")]
pub(crate) struct VideoListBody {
    /// The videos, newest first.
    videos: Vec<VideoBody>,
    /// Number of videos on all pages.
    total: u32,
    /// Cursor of the next page; absent on the last page.
    #[oai(skip_serializing_if_is_none)]
    next: Option<String>,
}

#[derive(Object)]
#[oai(rename = "VideoDetail")]
pub(crate) struct VideoDetailBody {
    #[oai(flatten)]
    video: VideoBody,
    /// Path of the video in the storage bucket.
    storage_path: String,
    /// Source URL; present if the video was ingested from a URL.
    #[oai(skip_serializing_if_is_none)]
    source_url: Option<String>,
    /// Size of the file, in bytes.
    size_bytes: u64,
    /// Frames per second; absent if the video has no picture or the frame rate is unknown.
    #[oai(skip_serializing_if_is_none)]
    frame_rate: Option<f64>,
    /// Duration according to the container, in seconds; absent if it equals `duration`.
    #[oai(skip_serializing_if_is_none)]
    container_duration: Option<f64>,
    /// Index of the audio track that was used, counted from 0; absent unless the file has several
    /// audio tracks.
    #[oai(skip_serializing_if_is_none)]
    audio_track: Option<u32>,
    /// Messages about what was skipped or selected in the file; absent if there is nothing to
    /// report.
    #[oai(skip_serializing_if_is_none)]
    warnings: Option<Vec<String>>,
    /// Source of `recorded_at`: `container` or `user`; absent if `recorded_at` is unknown.
    #[oai(skip_serializing_if_is_none)]
    recorded_at_source: Option<String>,
    /// Chunking preset of the last ingest.
    preset: String,
    /// Chunking parameters of the last ingest.
    params: AnyObject,
    /// Ids of the aggregators with a stored result.
    aggregates: Vec<String>,
}

#[derive(Object)]
#[oai(rename = "Deleted")]
struct DeletedVideo {
    /// Id of the video.
    video_id: String,
    /// Always true.
    deleted: bool,
    /// Paths of the deleted objects in the storage bucket.
    objects: Vec<String>,
    /// `TypeName: message` if deleting stored objects failed.
    #[oai(skip_serializing_if_is_none)]
    storage_error: Option<String>,
}

impl From<videos::Video> for VideoBody {
    fn from(v: videos::Video) -> Self {
        Self {
            video_id: v.video_id.to_string(),
            filename: v.filename,
            video_url: v.video_url,
            poster_url: v.poster_url,
            duration: v.duration,
            chunks: v.chunks,
            chunk_config: v.chunk_config,
            analyzers: v.analyzers,
            exact_frame_rate: v.exact_frame_rate.map(|rate| rate.to_string()),
            has_sound: v.has_sound,
            timecode: v.timecode,
            reel_name: v.reel_name,
            synopsis: v.synopsis,
            metadata: Some(v.metadata.metadata_json()).filter(|m| !m.is_empty()).map(AnyObject),
            collection: v.metadata.collection,
            recorded_at: v.metadata.recorded_at,
        }
    }
}

impl From<videos::VideoList> for VideoListBody {
    fn from(list: videos::VideoList) -> Self {
        let videos = list.videos.into_iter().map(Into::into).collect();
        Self { videos, total: list.total, next: list.next }
    }
}

impl From<videos::VideoDetail> for VideoDetailBody {
    fn from(v: videos::VideoDetail) -> Self {
        Self {
            video: v.video.into(),
            storage_path: v.storage_path,
            source_url: v.source_url,
            size_bytes: v.size_bytes,
            frame_rate: v.frame_rate,
            container_duration: v.container_duration,
            audio_track: v.audio_track,
            warnings: Some(v.warnings).filter(|warnings| !warnings.is_empty()),
            recorded_at_source: v.recorded_at_source.map(str::to_owned),
            preset: v.preset,
            params: AnyObject(v.params),
            aggregates: v.aggregates,
        }
    }
}

impl From<VideoDeletion> for DeletedVideo {
    fn from(d: VideoDeletion) -> Self {
        Self {
            video_id: d.video_id.to_string(),
            deleted: true,
            objects: d.objects,
            storage_error: d.storage_error,
        }
    }
}
