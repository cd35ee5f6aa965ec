//! `/collections`: those that there are, and what becomes of their videos.

use poem_openapi::param::{Path, Query};
use poem_openapi::{Enum, Object, OpenApi};

use super::auth::{Service, Token};
use super::body::{Accepted, Json};
use super::errors::{ApiError, Change, Plain, Rerun};
use super::jobs::JobStatus;
use super::params::Bounded;
use crate::domain::catalog::collections;
use crate::domain::catalog::collections::CollectionChange;
use crate::domain::jobs::Job;

/// The routes of this section.
pub(super) struct CollectionsApi(pub(super) Service);

#[OpenApi]
impl CollectionsApi {
    /// The collections that videos are in, by name.
    #[oai(path = "/collections", method = "get", operation_id = "collections")]
    async fn collections(
        &self,
        token: Token,
        /// Collections on the page.
        #[oai(default = "hundred")]
        limit: Query<Bounded<1, 500>>,
        /// `next` of the page before.
        cursor: Query<Option<String>>,
    ) -> Result<Json<CollectionList>, ApiError<Plain>> {
        let limit = limit.0.0 as usize;
        Ok(Json(self.0.of(&token).collections(cursor.0.as_deref(), limit).await?.into()))
    }

    /// Rename a collection, as a job.
    ///
    /// Where there is one of the new name already, it takes the videos in. An ingest that is to put its
    /// video under the old name still does, and a token that is bound to the old name stays so.
    #[oai(path = "/collections/:name", method = "patch", operation_id = "rename_collection")]
    async fn rename_collection(
        &self,
        token: Token,
        name: Path<String>,
        Json(request): Json<RenameRequest>,
    ) -> Result<Accepted<ChangeAccepted>, ApiError<Rerun>> {
        let change = CollectionChange::Rename(request.name);
        Ok(Accepted(self.0.of(&token).change_collection(&name, change).await?.into()))
    }

    /// Remove a collection, as a job: with its videos, or only from them.
    #[oai(path = "/collections/:name", method = "delete", operation_id = "delete_collection")]
    async fn delete_collection(
        &self,
        token: Token,
        name: Path<String>,
        /// What becomes of its videos: `delete` removes each completely, `keep` leaves them in no
        /// collection.
        videos: Query<CollectionVideos>,
    ) -> Result<Accepted<ChangeAccepted>, ApiError<Change>> {
        let change = match videos.0 {
            CollectionVideos::Delete => CollectionChange::Delete,
            CollectionVideos::Keep => CollectionChange::Dissolve,
        };
        Ok(Accepted(self.0.of(&token).change_collection(&name, change).await?.into()))
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
    /// What it is to be called, at most 128 characters.
    #[oai(validator(min_length = 1))]
    name: String,
}

#[derive(Object)]
struct CollectionList {
    collections: Vec<Collection>,
    /// The `cursor` of the next page, where there is one.
    #[oai(skip_serializing_if_is_none)]
    next: Option<String>,
}

#[derive(Object)]
struct Collection {
    name: String,
    /// Videos in it.
    videos: u64,
    /// When the oldest of them was first ingested: ISO 8601, second precision, UTC.
    first_added: String,
    /// When the newest of them was first ingested: ISO 8601, second precision, UTC.
    last_added: String,
}

#[derive(Object)]
struct ChangeAccepted {
    /// `GET /jobs/{job_id}` tells how many videos are done.
    job_id: String,
    status: JobStatus,
    /// The collection's name until now.
    collection: String,
}

impl From<collections::CollectionList> for CollectionList {
    fn from(list: collections::CollectionList) -> Self {
        let collections = list.collections.into_iter().map(Into::into).collect();
        Self { collections, next: list.next }
    }
}

impl From<collections::Collection> for Collection {
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
