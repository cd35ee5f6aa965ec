//! `/bins`: named, ordered lists of selects, which are spans of videos.

mod body;
mod selects;
mod tags;

use poem_openapi::param::{Header, Path, Query};
use poem_openapi::{Enum, Object, OpenApi};

use crate::http::edge::auth::{CallerToken, Service};
use crate::http::wire::body::{Json, Versioned};
use crate::http::wire::errors::{ApiError, ById, Edit, Listing, Removal, Rerun, Search, Undo};
use crate::http::wire::params::{Bounded, IfMatch};
pub(crate) use body::BinBody;
use body::versioned;
use domain::bins::change::{BinChange, BinChanged};
use domain::bins::select::SelectId;
use domain::bins::{self, BinId};
use domain::kernel::error::Error;
pub(crate) use selects::SelectRequest;
use selects::{
    AddSelectsRequest, MoveSelectsRequest, RemoveSelectsRequest, SelectBody, SelectListBody,
    SelectUpdateRequest, SplitRequest, requested_video,
};
pub(super) use tags::BinTagsApi;

/// The routes of this section.
pub(super) struct BinsApi(pub(super) Service);

#[OpenApi]
impl BinsApi {
    /// List bins.
    ///
    /// A bin is a named, ordered list of selects, which are spans of videos. Each bin is listed with
    /// the number and the total duration of its selects. With `video_id`, the list has the bins that
    /// use a video, and the number of its selects in them.
    #[oai(path = "/bins", method = "get", operation_id = "bins")]
    async fn bins(
        &self,
        token: CallerToken,
        /// Order of the bins: `name`, ignoring case, or `changed`, with the last changed bin first.
        /// Default: `name`.
        #[oai(default = "by_name")]
        order: Query<BinOrderBody>,
        /// Only bins in this collection.
        collection: Query<Option<String>>,
        /// Only bins with selects of the video with this id, which may be deleted.
        video_id: Query<Option<String>>,
        /// Maximum number of bins per page, from 1 to 500. Default: 100.
        #[oai(default = "hundred")]
        limit: Query<Bounded<1, 500>>,
        /// `next` from the previous page.
        cursor: Query<Option<String>>,
    ) -> Result<Json<BinListBody>, ApiError<Listing>> {
        let query = bins::BinQuery {
            order: order.0.into(),
            collection: collection.0,
            video_id: video_id.0.as_deref().map(requested_video).transpose()?,
            limit: limit.0.0 as usize,
            cursor: cursor.0,
        };
        Ok(Json(self.0.scoped(&token).bins(&query).await?.into()))
    }

    /// Create a bin.
    ///
    /// The bin is empty. Names need not be unique.
    #[oai(path = "/bins", method = "post", operation_id = "create_bin")]
    async fn create_bin(
        &self,
        token: CallerToken,
        Json(request): Json<BinRequest>,
    ) -> Result<Versioned<BinBody>, ApiError<Search>> {
        let BinRequest { name, description, collection } = request;
        let draft = bins::BinDraft { name, description, collection };
        Ok(versioned(self.0.scoped(&token).for_write()?.create_bin(draft).await?))
    }

    /// Get a bin.
    ///
    /// `GET /bins/{bin_id}/selects` lists its selects.
    #[oai(path = "/bins/:bin_id", method = "get", operation_id = "get_bin")]
    async fn bin(
        &self,
        token: CallerToken,
        /// Id of the bin.
        bin_id: Path<String>,
    ) -> Result<Versioned<BinBody>, ApiError<ById>> {
        Ok(versioned(self.0.scoped(&token).bin(&BinId::parse(&bin_id)?).await?))
    }

    /// Rename or describe a bin.
    #[oai(path = "/bins/:bin_id", method = "patch", operation_id = "update_bin")]
    async fn update_bin(
        &self,
        token: CallerToken,
        /// Id of the bin.
        bin_id: Path<String>,
        /// `ETag` of the bin that the change is based on. If the name or the description has
        /// changed since, the response is 412. Default: no condition.
        #[oai(name = "If-Match")]
        if_match: Header<Option<IfMatch>>,
        Json(request): Json<BinUpdateRequest>,
    ) -> Result<Versioned<BinBody>, ApiError<Edit>> {
        let BinUpdateRequest { name, description } = request;
        let change = BinChange::Describe { name, description };
        Ok(versioned(self.change(&token, &bin_id, if_match.0, change).await?.bin))
    }

    /// Delete a bin.
    ///
    /// This cannot be undone. The videos are not changed.
    #[oai(path = "/bins/:bin_id", method = "delete", operation_id = "delete_bin")]
    async fn delete_bin(
        &self,
        token: CallerToken,
        /// Id of the bin.
        bin_id: Path<String>,
        /// `ETag` of the bin. If anything in the bin has changed since, the response is 412.
        /// Default: no condition.
        #[oai(name = "If-Match")]
        if_match: Header<Option<IfMatch>>,
    ) -> Result<Json<BinDeleted>, ApiError<Removal>> {
        let (service, id) = (self.0.scoped(&token), BinId::parse(&bin_id)?);
        let expected = if_match.0.and_then(|condition| condition.0);
        service.for_write()?.delete_bin(&id, expected).await?;
        Ok(Json(BinDeleted { bin_id: bin_id.0, deleted: true }))
    }

    /// List the selects of a bin.
    ///
    /// Selects are listed in the order of the bin. If another client changes the bin between two
    /// pages, `version` differs between them.
    #[oai(path = "/bins/:bin_id/selects", method = "get", operation_id = "selects")]
    async fn selects(
        &self,
        token: CallerToken,
        /// Id of the bin.
        bin_id: Path<String>,
        /// Maximum number of selects per page, from 1 to 500. Default: 100.
        #[oai(default = "hundred")]
        limit: Query<Bounded<1, 500>>,
        /// Number of selects to skip. Default: 0.
        #[oai(default = "none")]
        offset: Query<Bounded<0, { u32::MAX }>>,
    ) -> Result<Versioned<SelectListBody>, ApiError<ById>> {
        let (offset, limit) = (offset.0.0 as usize, limit.0.0);
        let service = self.0.scoped(&token);
        let list = service.selects(&BinId::parse(&bin_id)?, offset, limit as usize).await?;
        Ok(Versioned { version: list.bin.version, body: SelectListBody::new(list, limit) })
    }

    /// Add selects.
    ///
    /// Adds all selects or none. Never conflicts with other changes to the bin. Returns 400 if a
    /// video or moment does not exist, or if the bin belongs to a collection and a video does not.
    #[oai(path = "/bins/:bin_id/selects", method = "post", operation_id = "add_selects")]
    async fn add_selects(
        &self,
        token: CallerToken,
        /// Id of the bin.
        bin_id: Path<String>,
        Json(request): Json<AddSelectsRequest>,
    ) -> Result<Versioned<BinChangedBody>, ApiError<Rerun>> {
        let change: BinChange = request.try_into()?;
        Ok(changed(self.change(&token, &bin_id, None, change).await?))
    }

    /// Get a select.
    #[oai(path = "/bins/:bin_id/selects/:select_id", method = "get", operation_id = "select")]
    async fn select(
        &self,
        token: CallerToken,
        /// Id of the bin.
        bin_id: Path<String>,
        /// Id of the select.
        select_id: Path<String>,
    ) -> Result<Versioned<SelectBody>, ApiError<ById>> {
        let (bin_id, select_id) = (BinId::parse(&bin_id)?, SelectId::parse(&select_id)?);
        let (bin, select) = self.0.scoped(&token).select(&bin_id, select_id).await?;
        Ok(Versioned { version: bin.version, body: select.into() })
    }

    /// Change the note, tags, rating or trim of a select.
    #[oai(
        path = "/bins/:bin_id/selects/:select_id",
        method = "patch",
        operation_id = "update_select"
    )]
    async fn update_select(
        &self,
        token: CallerToken,
        /// Id of the bin.
        bin_id: Path<String>,
        /// Id of the select.
        select_id: Path<String>,
        /// `ETag` of the bin that the change is based on. If the select has changed since, the
        /// response is 412; changes to other selects do not matter. Default: no condition.
        #[oai(name = "If-Match")]
        if_match: Header<Option<IfMatch>>,
        Json(request): Json<SelectUpdateRequest>,
    ) -> Result<Versioned<BinChangedBody>, ApiError<Edit>> {
        let change = BinChange::Edit(SelectId::parse(&select_id)?, request.into());
        Ok(changed(self.change(&token, &bin_id, if_match.0, change).await?))
    }

    /// Remove a select.
    #[oai(
        path = "/bins/:bin_id/selects/:select_id",
        method = "delete",
        operation_id = "remove_select"
    )]
    async fn remove_select(
        &self,
        token: CallerToken,
        /// Id of the bin.
        bin_id: Path<String>,
        /// Id of the select.
        select_id: Path<String>,
        /// `ETag` of the bin that the change is based on. If the select has changed since, the
        /// response is 412. Default: no condition.
        #[oai(name = "If-Match")]
        if_match: Header<Option<IfMatch>>,
    ) -> Result<Versioned<BinBody>, ApiError<Removal>> {
        let change = BinChange::Remove(vec![SelectId::parse(&select_id)?]);
        Ok(versioned(self.change(&token, &bin_id, if_match.0, change).await?.bin))
    }

    /// Split a select.
    ///
    /// The select ends at the given time, and a new select after it plays the rest. Both have the
    /// note, tags and rating of the original, and neither is trimmed. Returns both selects.
    #[oai(
        path = "/bins/:bin_id/selects/:select_id/split",
        method = "post",
        operation_id = "split_select"
    )]
    async fn split_select(
        &self,
        token: CallerToken,
        /// Id of the bin.
        bin_id: Path<String>,
        /// Id of the select.
        select_id: Path<String>,
        /// `ETag` of the bin that the change is based on. If the select has changed since, the
        /// response is 412. Default: no condition.
        #[oai(name = "If-Match")]
        if_match: Header<Option<IfMatch>>,
        Json(request): Json<SplitRequest>,
    ) -> Result<Versioned<BinChangedBody>, ApiError<Edit>> {
        let change = BinChange::Split(SelectId::parse(&select_id)?, request.at);
        Ok(changed(self.change(&token, &bin_id, if_match.0, change).await?))
    }

    /// Move selects.
    ///
    /// Moves the selects to one place, in the order of the request.
    #[oai(path = "/bins/:bin_id/selects/move", method = "post", operation_id = "move_selects")]
    async fn move_selects(
        &self,
        token: CallerToken,
        /// Id of the bin.
        bin_id: Path<String>,
        /// `ETag` of the bin that the change is based on. If the order has changed since, or
        /// selects were added, split or removed, the response is 412. Default: no condition.
        #[oai(name = "If-Match")]
        if_match: Header<Option<IfMatch>>,
        Json(request): Json<MoveSelectsRequest>,
    ) -> Result<Versioned<BinBody>, ApiError<Edit>> {
        let change: BinChange = request.try_into()?;
        Ok(versioned(self.change(&token, &bin_id, if_match.0, change).await?.bin))
    }

    /// Remove several selects.
    ///
    /// Removes all of them or none.
    #[oai(path = "/bins/:bin_id/selects/remove", method = "post", operation_id = "remove_selects")]
    async fn remove_selects(
        &self,
        token: CallerToken,
        /// Id of the bin.
        bin_id: Path<String>,
        /// `ETag` of the bin that the change is based on. If one of the selects has changed since,
        /// the response is 412. Default: no condition.
        #[oai(name = "If-Match")]
        if_match: Header<Option<IfMatch>>,
        Json(request): Json<RemoveSelectsRequest>,
    ) -> Result<Versioned<BinBody>, ApiError<Edit>> {
        let change: BinChange = request.try_into()?;
        Ok(versioned(self.change(&token, &bin_id, if_match.0, change).await?.bin))
    }

    /// Undo the last change of a bin.
    ///
    /// Undoes the last change by any client, whether it changed the bin or its selects. Each further
    /// call undoes the change before it; the number of changes that can be undone is limited
    /// (`undo_steps`). Returns 409 if there is none.
    #[oai(path = "/bins/:bin_id/undo", method = "post", operation_id = "undo_bin_change")]
    async fn undo_bin_change(
        &self,
        token: CallerToken,
        /// Id of the bin.
        bin_id: Path<String>,
        /// `ETag` of the bin. If anything in the bin has changed since, the response is 412, so that
        /// no other client's change is undone. Default: no condition.
        #[oai(name = "If-Match")]
        if_match: Header<Option<IfMatch>>,
    ) -> Result<Versioned<BinBody>, ApiError<Undo>> {
        Ok(versioned(self.change(&token, &bin_id, if_match.0, BinChange::Undo).await?.bin))
    }
}

impl BinsApi {
    async fn change(
        &self,
        token: &CallerToken,
        bin_id: &str,
        if_match: Option<IfMatch>,
        change: BinChange,
    ) -> Result<BinChanged, Error> {
        let (service, bin_id) = (self.0.scoped(token), BinId::parse(bin_id)?);
        let expected = if_match.and_then(|condition| condition.0);
        service.for_write()?.change_bin(&bin_id, expected, change).await
    }
}

fn changed(changed: BinChanged) -> Versioned<BinChangedBody> {
    let selects = changed.selects.into_iter().map(Into::into).collect();
    let Versioned { version, body } = versioned(changed.bin);
    Versioned { version, body: BinChangedBody { bin: body, selects } }
}

fn by_name() -> BinOrderBody {
    BinOrderBody::Name
}

fn hundred() -> Bounded<1, 500> {
    Bounded(100)
}

fn none() -> Bounded<0, { u32::MAX }> {
    Bounded(0)
}

/// An order of bins.
#[derive(Enum)]
#[oai(rename = "BinOrder", rename_all = "lowercase")]
enum BinOrderBody {
    Name,
    Changed,
}

#[derive(Object)]
struct BinRequest {
    /// Name of the bin.
    #[oai(validator(min_length = 1))]
    name: String,
    /// Description of the bin.
    #[oai(default)]
    description: String,
    /// Collection of the bin. A bin in a collection can contain only selects of the collection's
    /// videos, and tokens that are limited to the collection can use it. Null: the collection of the
    /// token if it is limited to one, otherwise none.
    #[oai(nullable)]
    collection: Option<String>,
}

/// Changes to a bin. Absent fields are not changed.
#[derive(Object)]
struct BinUpdateRequest {
    /// New name of the bin.
    name: Option<String>,
    /// New description of the bin; empty to remove it.
    description: Option<String>,
}

#[derive(Object)]
#[oai(rename = "BinList")]
struct BinListBody {
    /// The bins of this page.
    bins: Vec<BinBody>,
    /// Number of bins on all pages.
    total: u32,
    /// Number of selects of the video in the bins on all pages; absent without `video_id`.
    #[oai(skip_serializing_if_is_none)]
    video_selects: Option<u32>,
    /// Cursor of the next page; absent on the last page.
    #[oai(skip_serializing_if_is_none)]
    next: Option<String>,
}

#[derive(Object)]
#[oai(rename = "BinChanged")]
struct BinChangedBody {
    /// The bin after the change.
    bin: BinBody,
    /// The selects that were added or changed, in order.
    selects: Vec<SelectBody>,
}

#[derive(Object)]
struct BinDeleted {
    /// Id of the bin.
    bin_id: String,
    /// Always true.
    deleted: bool,
}

impl From<BinOrderBody> for bins::BinOrder {
    fn from(order: BinOrderBody) -> Self {
        match order {
            BinOrderBody::Name => Self::Name,
            BinOrderBody::Changed => Self::Changed,
        }
    }
}

impl From<bins::BinList> for BinListBody {
    fn from(list: bins::BinList) -> Self {
        let bins = list.bins.into_iter().map(Into::into).collect();
        let video_selects = list.video_selects.map(|count| count as u32);
        Self { bins, total: list.total as u32, video_selects, next: list.next }
    }
}
