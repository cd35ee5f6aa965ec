//! `/collections`: lists, renames and deletes collections of videos.

use poem_openapi::param::{Path, Query};
use poem_openapi::{Enum, Object, OpenApi};

use crate::http::edge::auth::{CallerToken, Service};
use crate::http::wire::body::{Accepted, Json};
use crate::http::wire::errors::{ApiError, Change, Plain, Rerun};
use crate::http::wire::job_status::JobStatusBody;
use crate::http::wire::params::Bounded;
use domain::jobs::Job;
use domain::library::collections;
use domain::library::collections::CollectionChange;

/// The routes of this section.
pub(super) struct CollectionsApi(pub(super) Service);

#[OpenApi]
impl CollectionsApi {
    /// List collections.
    ///
    /// Collections are sorted by name. A collection exists as long as it contains a video.
    #[oai(path = "/collections", method = "get", operation_id = "collections")]
    async fn collections(
        &self,
        token: CallerToken,
        /// Maximum number of collections per page, from 1 to 500. Default: 100.
        #[oai(default = "hundred")]
        limit: Query<Bounded<1, 500>>,
        /// `next` from the previous page.
        cursor: Query<Option<String>>,
    ) -> Result<Json<CollectionListBody>, ApiError<Plain>> {
        let limit = limit.0.0 as usize;
        Ok(Json(self.0.scoped(&token).collections(cursor.0.as_deref(), limit).await?.into()))
    }

    /// Rename a collection.
    ///
    /// Starts a job that moves the videos and the bins. If a collection with the new name exists, the two are
    /// merged. Running ingests still use the old name, and tokens that are limited to the old name
    /// are not changed.
    #[oai(path = "/collections/:name", method = "patch", operation_id = "rename_collection")]
    async fn rename_collection(
        &self,
        token: CallerToken,
        /// Name of the collection.
        name: Path<String>,
        Json(request): Json<RenameRequest>,
    ) -> Result<Accepted<ChangeAccepted>, ApiError<Rerun>> {
        let change = CollectionChange::Rename(request.name);
        Ok(Accepted(
            self.0.scoped(&token).for_write()?.change_collection(&name, change).await?.into(),
        ))
    }

    /// Delete a collection.
    ///
    /// Starts a job that deletes the collection's videos or keeps them without a collection. In the
    /// first case, the collection's bins stay in it; otherwise, they are kept without a collection.
    #[oai(path = "/collections/:name", method = "delete", operation_id = "delete_collection")]
    async fn delete_collection(
        &self,
        token: CallerToken,
        /// Name of the collection.
        name: Path<String>,
        /// What to do with the collection's videos: `delete` deletes them, `keep` keeps them
        /// without a collection.
        videos: Query<CollectionVideos>,
    ) -> Result<Accepted<ChangeAccepted>, ApiError<Change>> {
        let change = match videos.0 {
            CollectionVideos::Delete => CollectionChange::Delete,
            CollectionVideos::Keep => CollectionChange::Dissolve,
        };
        Ok(Accepted(
            self.0.scoped(&token).for_write()?.change_collection(&name, change).await?.into(),
        ))
    }
}

fn hundred() -> Bounded<1, 500> {
    Bounded(100)
}

#[derive(Enum)]
#[oai(rename_all = "lowercase")]
enum CollectionVideos {
    Delete,
    Keep,
}

#[derive(Object)]
struct RenameRequest {
    /// New name of the collection, 1 to 128 characters.
    #[oai(validator(min_length = 1))]
    name: String,
}

#[derive(Object)]
#[oai(rename = "CollectionList")]
struct CollectionListBody {
    /// The collections, sorted by name.
    collections: Vec<CollectionBody>,
    /// Cursor of the next page; absent on the last page.
    #[oai(skip_serializing_if_is_none)]
    next: Option<String>,
}

#[derive(Object)]
#[oai(rename = "Collection")]
struct CollectionBody {
    /// Name of the collection.
    name: String,
    /// Number of videos in the collection.
    videos: u64,
    /// When the collection's oldest video was first ingested (ISO 8601, UTC, to the second).
    first_added: String,
    /// When the collection's newest video was first ingested (ISO 8601, UTC, to the second).
    last_added: String,
}

#[derive(Object)]
struct ChangeAccepted {
    /// Id of the job; `GET /jobs/{job_id}` reports how many videos have been processed.
    job_id: String,
    status: JobStatusBody,
    /// Name of the collection before the change.
    collection: String,
}

impl From<collections::CollectionList> for CollectionListBody {
    fn from(list: collections::CollectionList) -> Self {
        let collections = list.collections.into_iter().map(Into::into).collect();
        Self { collections, next: list.next }
    }
}

impl From<collections::Collection> for CollectionBody {
    fn from(collection: collections::Collection) -> Self {
        let collections::Collection { name, videos, first_added, last_added } = collection;
        Self { name, videos, first_added, last_added }
    }
}

impl From<Job> for ChangeAccepted {
    fn from(job: Job) -> Self {
        Self { job_id: job.job_id, status: job.status.into(), collection: job.source }
    }
}
