//! `/videos` and `/videos/{video_id}`: ingest, listing, detail, delete.

use poem_openapi::param::{Header, Path, Query};
use poem_openapi::types::MaybeUndefined;
use poem_openapi::{Object, OpenApi};
use serde_json::Value;

use super::auth::{Service, Token};
use super::body::{Accepted, Json};
use super::errors::{ApiError, Change, Failure, Ingest, IngestUpload, Listing, OfOne, Rerun};
use super::multipart::{Content, Upload};
use super::params::{Bounded, json_object};
use super::values::AnyObject;
use crate::domain::catalog::about::AboutPatch;
use crate::domain::catalog::videos;
use crate::domain::chunking::{ChunkingFields, Weights};
use crate::domain::ingest::IngestFields;
use crate::domain::jobs;
use crate::domain::kernel::access::Access;
use crate::domain::kernel::video::video_named;

/// The routes of this section.
pub(super) struct VideosApi(pub(super) Service);

#[OpenApi]
impl VideosApi {
    /// Upload a file and start its ingestion, or that of an upload in pieces.
    ///
    /// The form has `file`, or `upload_id`: the last segment of the address of a whole upload that was
    /// sent to `/uploads` by the protocol tus 1.0 (`creation`, `expiration`, `checksum`,
    /// `termination`), which goes on where it was cut off.
    #[oai(path = "/videos", method = "post", operation_id = "ingest_file")]
    async fn ingest_file(
        &self,
        token: Token,
        /// A request that is sent again with its key is answered with the job it started.
        #[oai(name = "Idempotency-Key", validator(min_length = 1, max_length = 255))]
        key: Header<Option<String>>,
        upload: Upload,
    ) -> Result<Accepted<IngestAccepted>, ApiError<IngestUpload>> {
        let fields = IngestFields { idempotency_key: key.0, ..upload.options.into() };
        let service = self.0.of(&token);
        let job = match upload.content {
            Content::File(name, file) => {
                let name = name.as_deref().filter(|name| !name.is_empty());
                service.ingest_file(name, file, fields).await?
            }
            Content::Upload(id) => service.ingest_upload(&id, fields).await?,
        };
        Ok(Accepted(IngestAccepted::new(&job)))
    }

    /// Ingest from an http(s) URL.
    ///
    /// The download starts after the answer; the video's id arrives in the job's result.
    #[oai(path = "/videos/url", method = "post", operation_id = "ingest_url")]
    async fn ingest_url(
        &self,
        token: Token,
        /// A request that is sent again with its key is answered with the job it started.
        #[oai(name = "Idempotency-Key", validator(min_length = 1, max_length = 255))]
        key: Header<Option<String>>,
        Json(request): Json<UrlIngestRequest>,
    ) -> Result<Accepted<IngestAccepted>, ApiError<Ingest>> {
        let (url, options) = request.split();
        let fields = IngestFields { idempotency_key: key.0, ..options.into() };
        let job = self.0.of(&token).ingest_url(&url, fields).await?;
        Ok(Accepted(IngestAccepted::new(&job)))
    }

    /// Ingested videos, newest first.
    #[expect(clippy::too_many_arguments, reason = "one argument per parameter of the request")]
    #[oai(path = "/videos", method = "get", operation_id = "videos")]
    async fn videos(
        &self,
        token: Token,
        /// Videos on the page; all of them when left out.
        limit: Query<Option<Bounded<1, { u32::MAX }>>>,
        /// Videos to skip, from the cursor on where there is one.
        #[oai(default = "none")]
        offset: Query<Bounded<0, { u32::MAX }>>,
        /// `next` of the page before.
        cursor: Query<Option<String>>,
        /// Only videos whose filename contains this, in any case.
        filename: Query<Option<String>>,
        /// Only videos that this analyzer has found something in.
        analyzer: Query<Option<String>>,
        /// Only videos first ingested then or later, ISO 8601.
        created_after: Query<Option<String>>,
        /// Only videos first ingested then or earlier, ISO 8601.
        created_before: Query<Option<String>>,
        /// Only videos of this collection.
        collection: Query<Option<String>>,
        /// Only videos recorded then or later, ISO 8601.
        recorded_after: Query<Option<String>>,
        /// Only videos recorded then or earlier, ISO 8601.
        recorded_before: Query<Option<String>>,
        /// Only videos of this metadata: a JSON object as the filter `metadata` of `/query`.
        metadata: Query<Option<String>>,
    ) -> Result<Json<VideoList>, ApiError<Listing>> {
        let page = videos::VideoPage {
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
            metadata: metadata_of(metadata.0.as_deref())?,
        };
        Ok(Json(self.0.of(&token).videos(&page).await?.into()))
    }

    /// One video's metadata.
    #[oai(path = "/videos/:video_id", method = "get", operation_id = "video")]
    async fn video(
        &self,
        token: Token,
        video_id: Path<String>,
    ) -> Result<Json<VideoDetail>, ApiError<OfOne>> {
        Ok(Json(self.0.of(&token).video(video_named(&video_id)?).await?.into()))
    }

    /// Change what is said of a video.
    ///
    /// Nothing is analyzed or embedded again, and an ingest of the video that is under way goes on.
    #[oai(path = "/videos/:video_id", method = "patch", operation_id = "annotate_video")]
    async fn annotate_video(
        &self,
        token: Token,
        video_id: Path<String>,
        Json(request): Json<AnnotateRequest>,
    ) -> Result<Json<VideoDetail>, ApiError<Rerun>> {
        Ok(Json(self.0.of(&token).annotate(video_named(&video_id)?, &request.into()).await?.into()))
    }

    /// Remove a video completely.
    ///
    /// Vectors, record, stored objects and the cached local copy go in one call.
    #[oai(path = "/videos/:video_id", method = "delete", operation_id = "delete_video")]
    async fn delete_video(
        &self,
        token: Token,
        video_id: Path<String>,
    ) -> Result<Json<Deleted>, ApiError<Change>> {
        Ok(Json(self.0.of(&token).delete_video(video_named(&video_id)?).await?.into()))
    }
}

fn none() -> Bounded<0, { u32::MAX }> {
    Bounded(0)
}

/// The fields that both ingest routes take. Their names, types and defaults are stated here once.
#[derive(Object)]
pub(crate) struct IngestOptions {
    /// Comma-separated analyzer ids.
    #[oai(default = "analyzers")]
    pub(super) analyzers: String,
    /// `preset`, `weights` or `interval`.
    #[oai(default = "mode")]
    pub(super) mode: String,
    /// `audio`, `video` or `audio_video`; used only when mode=preset.
    #[oai(default = "preset")]
    pub(super) preset: String,
    /// Weight of voice changes; mode=weights only, where at least one weight is required.
    #[oai(nullable)]
    pub(super) speaker: Option<f64>,
    /// Weight of pauses; mode=weights only.
    #[oai(nullable)]
    pub(super) silence: Option<f64>,
    /// Weight of shot changes; mode=weights only.
    #[oai(nullable)]
    pub(super) cut: Option<f64>,
    /// Weight of topic shifts; mode=weights only.
    #[oai(nullable)]
    pub(super) semantic: Option<f64>,
    /// Seconds per chunk; mode=interval only.
    #[oai(nullable)]
    pub(super) interval: Option<f64>,
    /// Seconds; ignored when mode=interval.
    #[oai(default = "min_duration")]
    pub(super) min_duration: f64,
    /// Seconds; ignored when mode=interval.
    #[oai(default = "max_duration")]
    pub(super) max_duration: f64,
    /// Where to send the job, signed, when it has ended: an http(s) URL that is not private.
    #[oai(nullable)]
    pub(super) callback_url: Option<String>,
    /// Calls of the language model that the ingest may make; one more ends it, and what was paid
    /// for is kept for the next.
    #[oai(nullable, validator(minimum(value = "0"), maximum(value = "1000000")))]
    pub(super) max_model_calls: Option<u32>,
    /// Which sound track of a file with several is used, counted from 0; left out, the one in which most
    /// is said.
    #[oai(nullable, validator(minimum(value = "0"), maximum(value = "1000")))]
    pub(super) audio_track: Option<u32>,
    /// Keys of your own: strings, numbers, booleans, times in ISO 8601, lists of strings. Of a video that
    /// is there already they are added, and null removes one.
    #[oai(default)]
    pub(super) metadata: AnyObject,
    /// The collection that it is in.
    #[oai(nullable)]
    pub(super) collection: Option<String>,
    /// The instant of its first frame, ISO 8601.
    #[oai(nullable)]
    pub(super) recorded_at: Option<String>,
}

/// What is left out stays as it is.
#[derive(Object)]
struct AnnotateRequest {
    /// By key; null removes one.
    #[oai(default)]
    metadata: AnyObject,
    /// The collection that it is in; null removes it from any.
    #[oai(nullable)]
    collection: MaybeUndefined<String>,
    /// The instant of its first frame, ISO 8601; null where it is not known.
    #[oai(nullable)]
    recorded_at: MaybeUndefined<String>,
}

impl From<AnnotateRequest> for AboutPatch {
    fn from(r: AnnotateRequest) -> Self {
        let change = |field: MaybeUndefined<String>| match field {
            MaybeUndefined::Undefined => None,
            MaybeUndefined::Null => Some(Value::Null),
            MaybeUndefined::Value(text) => Some(text.into()),
        };
        Self {
            metadata: r.metadata.0,
            collection: change(r.collection),
            recorded_at: change(r.recorded_at),
        }
    }
}

fn metadata_of(given: Option<&str>) -> Result<Option<Value>, Failure> {
    Ok(given.map(|given| json_object("metadata", given)).transpose()?.map(Value::Object))
}

fn analyzers() -> String {
    "default_video".into()
}

pub(super) fn mode() -> String {
    ChunkingFields::default().mode
}

pub(super) fn preset() -> String {
    ChunkingFields::default().preset
}

pub(super) fn min_duration() -> f64 {
    ChunkingFields::default().min_duration
}

pub(super) fn max_duration() -> f64 {
    ChunkingFields::default().max_duration
}

#[derive(Object)]
pub(crate) struct UrlIngestRequest {
    /// Scheme http or https.
    url: String,
    #[oai(flatten)]
    options: IngestOptions,
}

impl UrlIngestRequest {
    /// The address, and how to ingest what is there.
    pub(crate) fn split(self) -> (String, IngestOptions) {
        (self.url, self.options)
    }
}

impl From<IngestOptions> for IngestFields {
    fn from(o: IngestOptions) -> Self {
        Self {
            analyzers: o.analyzers,
            chunking: ChunkingFields {
                mode: o.mode,
                preset: o.preset,
                weights: Weights {
                    speaker: o.speaker,
                    silence: o.silence,
                    cut: o.cut,
                    semantic: o.semantic,
                },
                interval: o.interval,
                min_duration: o.min_duration,
                max_duration: o.max_duration,
            },
            idempotency_key: None,
            callback_url: o.callback_url,
            max_model_calls: o.max_model_calls,
            audio_track: o.audio_track,
            about: AboutPatch {
                metadata: o.metadata.0,
                collection: o.collection.map(Into::into),
                recorded_at: o.recorded_at.map(Into::into),
            },
            access: Access::default(),
        }
    }
}

#[derive(Object)]
struct IngestAccepted {
    job_id: String,
    status: super::jobs::JobStatus,
    /// The file's name or the URL, without passwords and signatures.
    source: String,
}

impl IngestAccepted {
    fn new(job: &jobs::Job) -> Self {
        let jobs::Job { job_id, source, status, .. } = job;
        Self { job_id: job_id.clone(), status: (*status).into(), source: source.clone() }
    }
}

#[derive(Object)]
pub(crate) struct Video {
    video_id: String,
    filename: String,
    video_url: String,
    #[oai(nullable)]
    poster_url: Option<String>,
    /// Length of the video, seconds.
    duration: f64,
    /// Number of chunks.
    chunks: u32,
    chunk_config: String,
    analyzers: Vec<String>,
    /// What it is about, in the first sentence of its summary; absent where there is none.
    #[oai(skip_serializing_if_is_none)]
    synopsis: Option<String>,
    /// Keys of its owner's own; absent without any.
    #[oai(skip_serializing_if_is_none)]
    metadata: Option<AnyObject>,
    /// The collection that it is in; absent where it is in none.
    #[oai(skip_serializing_if_is_none)]
    collection: Option<String>,
    /// The instant of its first frame, ISO 8601; absent where it is not known.
    #[oai(skip_serializing_if_is_none)]
    recorded_at: Option<String>,
}

#[derive(Object)]
pub(crate) struct VideoList {
    videos: Vec<Video>,
    /// Videos on all pages.
    total: u32,
    /// The `cursor` of the next page, where there is one.
    #[oai(skip_serializing_if_is_none)]
    next: Option<String>,
}

#[derive(Object)]
pub(crate) struct VideoDetail {
    #[oai(flatten)]
    video: Video,
    storage_path: String,
    /// Present when ingested from a URL.
    #[oai(skip_serializing_if_is_none)]
    source_url: Option<String>,
    size_bytes: u64,
    /// Pictures per second; absent where there are none or it is not known.
    #[oai(skip_serializing_if_is_none)]
    frame_rate: Option<f64>,
    /// What the container says of its length, seconds; absent where it says the same as `duration`.
    #[oai(skip_serializing_if_is_none)]
    container_duration: Option<f64>,
    /// Timecode of its first picture, as `01:00:00:00`, or with `;` before the frames where it is
    /// drop-frame; absent where the container has none.
    #[oai(skip_serializing_if_is_none)]
    timecode: Option<String>,
    /// Which of its sound tracks was used, counted from 0; absent where it has no choice.
    #[oai(skip_serializing_if_is_none)]
    audio_track: Option<u32>,
    /// What of the file was left out or chosen, in sentences; absent without any.
    #[oai(skip_serializing_if_is_none)]
    warnings: Option<Vec<String>>,
    /// Who says when it was recorded: `container` or `user`; absent where it is not known.
    #[oai(skip_serializing_if_is_none)]
    recorded_at_source: Option<String>,
    preset: String,
    params: AnyObject,
    /// Video-level results stored.
    aggregates: Vec<String>,
}

#[derive(Object)]
struct Deleted {
    video_id: String,
    deleted: bool,
    /// Removed bucket paths.
    objects: Vec<String>,
    /// `TypeName: message` when the storage removal failed.
    #[oai(skip_serializing_if_is_none)]
    storage_error: Option<String>,
}

impl From<videos::Video> for Video {
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
            synopsis: v.synopsis,
            metadata: Some(v.about.metadata_json()).filter(|m| !m.is_empty()).map(AnyObject),
            collection: v.about.collection,
            recorded_at: v.about.recorded_at,
        }
    }
}

impl From<videos::VideoList> for VideoList {
    fn from(list: videos::VideoList) -> Self {
        let videos = list.videos.into_iter().map(Into::into).collect();
        Self { videos, total: list.total, next: list.next }
    }
}

impl From<videos::VideoDetail> for VideoDetail {
    fn from(v: videos::VideoDetail) -> Self {
        Self {
            video: v.video.into(),
            storage_path: v.storage_path,
            source_url: v.source_url,
            size_bytes: v.size_bytes,
            frame_rate: v.frame_rate,
            container_duration: v.container_duration,
            timecode: v.timecode,
            audio_track: v.audio_track,
            warnings: Some(v.warnings).filter(|warnings| !warnings.is_empty()),
            recorded_at_source: v.recorded_at_source.map(str::to_owned),
            preset: v.preset,
            params: AnyObject(v.params),
            aggregates: v.aggregates,
        }
    }
}

impl From<videos::Deleted> for Deleted {
    fn from(d: videos::Deleted) -> Self {
        Self {
            video_id: d.video_id.to_string(),
            deleted: true,
            objects: d.objects,
            storage_error: d.storage_error,
        }
    }
}
