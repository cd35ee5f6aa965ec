//! `/videos/{video_id}/shares` and `/shares`: links to parts of videos, for people who have no token.
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
use domain::kernel::time::{Span, iso};
use domain::kernel::video::parse_video_id;
use domain::scoped::VisibleShares;
use domain::shares::{self, ShareDraft, ShareQuery, SharedPart, parse_share_id};

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

    fn share(&self, SharedPart { video_id, share }: SharedPart) -> ShareBody {
        let Span { start, end } = share.span;
        ShareBody {
            url: format!("{}{SHARED_ROOT}{}", self.base_url, share.id),
            share_id: share.id.into(),
            video_id: video_id.to_string(),
            start,
            end,
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
    /// shows the title, but not the id of the video.
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
        Ok(Created(self.share(video.share(&request.into()).await?)))
    }

    /// List shares.
    ///
    /// Lists the shares of the videos that the token gives access to, newest first. Expired shares
    /// stay in the list for at least a week. A page may have fewer shares than `limit` although more
    /// follow; `next` is absent only on the last page.
    #[oai(path = "/shares", method = "get", operation_id = "shares")]
    async fn shares(
        &self,
        token: CallerToken,
        /// Only shares of this video.
        video_id: Query<Option<String>>,
        /// Maximum number of shares per page, from 1 to 500. Default: 100.
        #[oai(default = "hundred")]
        limit: Query<Bounded<1, 500>>,
        /// `next` from the previous page.
        cursor: Query<Option<String>>,
    ) -> Result<Json<ShareListBody>, ApiError<ByIdChecked>> {
        let video_id = video_id.0.as_deref().map(parse_video_id).transpose()?;
        let query = ShareQuery { video_id, limit: limit.0.0 as usize, cursor: cursor.0 };
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
    /// Id of the video.
    video_id: String,
    /// Start of the part, in seconds from the start of the video.
    start: f64,
    /// End of the part, in seconds from the start of the video.
    end: f64,
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

#[derive(Object)]
struct ShareWithdrawn {
    /// Id of the withdrawn share.
    share_id: String,
    /// Always true.
    withdrawn: bool,
}

impl From<ShareRequest> for ShareDraft {
    fn from(request: ShareRequest) -> Self {
        let ShareRequest { start, end, title, expires_in } = request;
        Self { start, end, title, expires_in: expires_in.map(Duration::from_secs) }
    }
}
