//! `/videos/{video_id}/shares`, `/bins/{bin_id}/shares` and `/shares`: links to parts of videos, for
//! people who have no token.
//! `shared.rs` serves the pages behind the links.

use std::time::Duration;

use poem_openapi::param::{Path, Query};
use poem_openapi::{Object, OpenApi};

use crate::http::edge::auth::{CallerToken, Service};
use crate::http::settings::HttpOptions;
use crate::http::wire::body::{Created, Json};
use crate::http::wire::errors::{ApiError, ByIdChecked, Change, Rerun};
use crate::http::wire::params::Bounded;
use crate::http::wire::share_paths::SHARED_ROOT;
use domain::bins::BinId;
use domain::bins::select::SelectId;
use domain::export::bin::{BinSelection, MissingVideos};
use domain::kernel::time::{Span, iso};
use domain::kernel::video::parse_video_id;
use domain::scoped::VisibleShares;
use domain::shares::{self, ShareDraft, ShareQuery, ShareView, SharedPart, parse_share_id};

/// The routes of this section.
pub(super) struct SharesApi {
    service: Service,
    /// Public URL of the service.
    base_url: String,
}

impl SharesApi {
    pub(super) fn new(service: Service, options: &HttpOptions) -> Self {
        Self { service, base_url: options.base_url.trim_end_matches('/').to_owned() }
    }

    fn share(&self, view: ShareView) -> ShareBody {
        let parts = view.parts().map(SharePartBody::from).collect();
        let SharePartBody { video_id, start, end } = SharePartBody::from(&view.first);
        let share = view.share;
        ShareBody {
            url: format!("{}{SHARED_ROOT}{}", self.base_url, share.id),
            share_id: share.id.into(),
            video_id,
            start,
            end,
            parts,
            bin_id: share.bin_id.map(|id| id.to_string()),
            title: share.title,
            created_at: iso(share.created_at),
            expires_at: iso(share.expires_at),
            created_by: share.created_by,
        }
    }
}

#[OpenApi]
impl SharesApi {
    /// Share a part of a video.
    ///
    /// Creates a link (`url`) to a page that plays the part of the video, with captions if there is
    /// speech, and offers it as a file. Whoever has the link needs no token. The link gives access to
    /// that part only, until it expires or is withdrawn, or until the video is deleted. The page
    /// shows the title and the times of the part, but not the id of the video.
    ///
    /// Returns 400 if the part lies outside the video, if it is longer than a clip may be
    /// (`frames.max_clip_duration`), or if the video has too many shares (`shares.max_per_video`).
    #[oai(path = "/videos/:video_id/shares", method = "post", operation_id = "share")]
    async fn share_video(
        &self,
        token: CallerToken,
        /// Id of the video.
        video_id: Path<String>,
        Json(request): Json<ShareRequest>,
    ) -> Result<Created<ShareBody>, ApiError<Rerun>> {
        let (service, video_id) = (self.service.scoped(&token), parse_video_id(&video_id)?);
        let video = service.for_write()?.video(video_id).await?;
        let ShareRequest { start, end, title, expires_in } = request;
        let draft = share_draft(title, expires_in);
        Ok(Created(self.share(video.share(start, end, &draft).await?)))
    }

    /// Share selects of a bin.
    ///
    /// Creates a link (`url`) to a page that plays each select as a clip, in order. Like the link to a
    /// part of a video, it needs no token and gives access to nothing else. The share has the selects
    /// that the bin has now: a later change of the bin changes neither what is shared nor the link,
    /// and neither does its deletion. A clip disappears when its video is deleted, and the link with
    /// the last one. The page shows the title of each video, or its file name if it has none, and the times of the
    /// clips; notes, tags and ratings are not shared. Selects whose video is missing are left
    /// out.
    ///
    /// Returns 400 if there are no selects, if there are too many (`shares.max_parts`), if one is
    /// longer than a clip may be (`frames.max_clip_duration`), or if a video has too many shares
    /// (`shares.max_per_video`).
    #[oai(path = "/bins/:bin_id/shares", method = "post", operation_id = "share_bin")]
    async fn share_bin(
        &self,
        token: CallerToken,
        /// Id of the bin.
        bin_id: Path<String>,
        Json(request): Json<BinShareRequest>,
    ) -> Result<Created<ShareBody>, ApiError<Rerun>> {
        let (service, bin_id) = (self.service.scoped(&token), BinId::parse(&bin_id)?);
        let BinShareRequest { select_ids, title, expires_in } = request;
        let select_ids = select_ids.map(|ids| ids.iter().map(|id| SelectId::parse(id)).collect());
        let selection = BinSelection {
            select_ids: select_ids.transpose()?,
            min_rating: None,
            tag: None,
            missing: MissingVideos::Omit,
        };
        let draft = share_draft(title, expires_in);
        let share = service.for_write()?.share_bin(&bin_id, &selection, &draft).await?;
        Ok(Created(self.share(share)))
    }

    /// List shares.
    ///
    /// Lists the shares of the videos that the token gives access to, newest first; of a share of a
    /// bin, the parts of these videos. Expired shares stay in the list for at least a week. A page may have fewer shares than `limit` although more
    /// follow; `next` is absent only on the last page.
    #[oai(path = "/shares", method = "get", operation_id = "shares")]
    async fn shares(
        &self,
        token: CallerToken,
        /// Only shares with a part of this video.
        video_id: Query<Option<String>>,
        /// Only shares of selects of this bin.
        bin_id: Query<Option<String>>,
        /// Maximum number of shares per page, from 1 to 500. Default: 100.
        #[oai(default = "hundred")]
        limit: Query<Bounded<1, 500>>,
        /// `next` from the previous page.
        cursor: Query<Option<String>>,
    ) -> Result<Json<ShareListBody>, ApiError<ByIdChecked>> {
        let video_id = video_id.0.as_deref().map(parse_video_id).transpose()?;
        let bin_id = bin_id.0.as_deref().map(BinId::parse).transpose()?;
        let query = ShareQuery { video_id, bin_id, limit: limit.0.0 as usize, cursor: cursor.0 };
        let service = self.service.scoped(&token);
        let shares::ShareList { shares, next } = VisibleShares::from(&service).list(&query).await?;
        let shares = shares.into_iter().map(|share| self.share(share)).collect();
        Ok(Json(ShareListBody { shares, next }))
    }

    /// Withdraw a share.
    ///
    /// The link stops working at once.
    #[oai(path = "/shares/:share_id", method = "delete", operation_id = "withdraw_share")]
    async fn withdraw_share(
        &self,
        token: CallerToken,
        /// Id of the share.
        share_id: Path<String>,
    ) -> Result<Json<ShareWithdrawn>, ApiError<Change>> {
        let service = self.service.scoped(&token);
        service.for_write()?.withdraw_share(&parse_share_id(&share_id)?).await?;
        Ok(Json(ShareWithdrawn { share_id: share_id.0, withdrawn: true }))
    }
}

fn hundred() -> Bounded<1, 500> {
    Bounded(100)
}

/// Selects of a bin to share.
#[derive(Object)]
struct BinShareRequest {
    /// Ids of the selects to share. The order stays that of the bin. Null: all selects.
    #[oai(nullable)]
    select_ids: Option<Vec<String>>,
    /// The title that the page shows, at most 200 characters. Null: the name of the bin.
    #[oai(nullable)]
    title: Option<String>,
    /// Seconds until the link expires, at most `shares.max_expiry`. Null: `shares.default_expiry`.
    #[oai(nullable, validator(minimum(value = "1")))]
    expires_in: Option<u64>,
}

/// A part of a video to share.
#[derive(Object)]
struct ShareRequest {
    /// Start of the part, in seconds from the start of the video. Null: the start of the video.
    #[oai(nullable)]
    start: Option<f64>,
    /// End of the part, in seconds from the start of the video. Null: the end of the video.
    #[oai(nullable)]
    end: Option<f64>,
    /// The title that the page shows, at most 200 characters. Null: the title of the video
    /// (`metadata.title`), or its file name if it has none.
    #[oai(nullable)]
    title: Option<String>,
    /// Seconds until the link expires, at most `shares.max_expiry`. Null: `shares.default_expiry`.
    #[oai(nullable, validator(minimum(value = "1")))]
    expires_in: Option<u64>,
}

#[derive(Object)]
#[oai(rename = "ShareList")]
struct ShareListBody {
    /// The shares of this page, newest first.
    shares: Vec<ShareBody>,
    /// Cursor of the next page; absent on the last page.
    #[oai(skip_serializing_if_is_none)]
    next: Option<String>,
}

/// A link to a part of a video, for people who have no token.
#[derive(Object)]
#[oai(rename = "Share")]
struct ShareBody {
    /// Id of the share. Whoever knows it can open the link.
    share_id: String,
    /// Id of the video of the first part.
    video_id: String,
    /// Start of the first part, in seconds from the start of the video.
    start: f64,
    /// End of the first part, in seconds from the start of the video.
    end: f64,
    /// The parts, in order: one part of a video, or the selects of a bin.
    parts: Vec<SharePartBody>,
    /// Id of the bin whose selects are shared; absent for a part of a video.
    #[oai(skip_serializing_if_is_none)]
    bin_id: Option<String>,
    /// The title that the page shows.
    title: String,
    /// The link: the URL of the page that plays the part.
    url: String,
    /// Creation time (ISO 8601, UTC, to the second).
    created_at: String,
    /// When the link expires (ISO 8601, UTC, to the second).
    expires_at: String,
    /// Name of the token that the share was created with; absent if it has no name.
    #[oai(skip_serializing_if_is_none)]
    created_by: Option<String>,
}

/// A shared part of a video.
#[derive(Object)]
#[oai(rename = "SharePart")]
struct SharePartBody {
    /// Id of the video.
    video_id: String,
    /// Start of the part, in seconds from the start of the video.
    start: f64,
    /// End of the part, in seconds from the start of the video.
    end: f64,
}

#[derive(Object)]
struct ShareWithdrawn {
    /// Id of the withdrawn share.
    share_id: String,
    /// Always true.
    withdrawn: bool,
}

impl From<&SharedPart> for SharePartBody {
    fn from(SharedPart { video_id, span: Span { start, end } }: &SharedPart) -> Self {
        Self { video_id: video_id.to_string(), start: *start, end: *end }
    }
}

fn share_draft(title: Option<String>, expires_in: Option<u64>) -> ShareDraft {
    ShareDraft { title, expires_in: expires_in.map(Duration::from_secs) }
}
