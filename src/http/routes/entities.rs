//! `/videos/{video_id}/entities`: people linked across chunks, and their images.

use poem_openapi::param::{Path, Query};
use poem_openapi::payload::Binary;
use poem_openapi::{Object, OpenApi};

use super::frames::Jpeg;
use crate::http::edge::auth::{CallerToken, Service};
use crate::http::wire::body::Json;
use crate::http::wire::errors::{ApiError, ByIdChecked, Portrait};
use crate::http::wire::params::{Bounded, Integer};
use domain::aggregation;
use domain::kernel::moment::MomentId;
use domain::kernel::time::Span;
use domain::kernel::video::{VideoId, parse_video_id};
use domain::library::entities;

/// The routes of this section.
pub(super) struct EntitiesApi(pub(super) Service);

#[OpenApi]
impl EntitiesApi {
    /// List people linked across chunks.
    ///
    /// Requires the `people` analyzer and the `entities` aggregator.
    #[oai(path = "/videos/:video_id/entities", method = "get", operation_id = "entities")]
    async fn entities(
        &self,
        token: CallerToken,
        /// Id of the video.
        video_id: Path<String>,
        /// Only people seen in at least this many chunks. Default: 1.
        #[oai(default = "one")]
        min_appearances: Query<Integer>,
    ) -> Result<Json<EntityListBody>, ApiError<ByIdChecked>> {
        let min_appearances = min_appearances.0.0.clamp(0, u32::MAX.into()) as u32;
        let service = self.0.scoped(&token);
        let video = service.video(parse_video_id(&video_id)?).await?;
        Ok(Json(video.entities(min_appearances).await?.into()))
    }

    /// Get the image of a person.
    ///
    /// Returns, as a JPEG, the person with a margin of 10 % on each side, cropped from the frame in
    /// which the person was detected with the highest confidence. Requires the `people` analyzer and
    /// the `entities` aggregator.
    #[oai(
        path = "/videos/:video_id/entities/:entity_id/image",
        method = "get",
        operation_id = "entity_image"
    )]
    async fn image(
        &self,
        token: CallerToken,
        /// Id of the video.
        video_id: Path<String>,
        /// Id of the person, from `GET /videos/{video_id}/entities`.
        entity_id: Path<String>,
        /// Maximum height in pixels. The image is never higher than the person in the video. The
        /// maximum is configurable. Default: 360.
        #[oai(default = "height")]
        height: Query<Bounded<16, 7680>>,
    ) -> Result<Jpeg, ApiError<Portrait>> {
        let service = self.0.scoped(&token);
        let video = service.video(parse_video_id(&video_id)?).await?;
        let bytes = video.portrait(&entity_id, height.0.0).await?;
        Ok(Jpeg::Image(Binary(bytes.to_vec()), BRIEFLY.into()))
    }
}

/// Value of `Cache-Control` for images of people, whose ids change if the people are linked again.
const BRIEFLY: &str = "private, max-age=60";

fn height() -> Bounded<16, 7680> {
    Bounded(360)
}

fn one() -> Integer {
    Integer(1)
}

#[derive(Object)]
#[oai(rename = "EntityList")]
struct EntityListBody {
    /// Id of the video.
    video_id: String,
    /// Number of entities.
    total: u32,
    /// The linked people.
    entities: Vec<EntityBody>,
}

#[derive(Object)]
#[oai(rename = "Entity")]
struct EntityBody {
    /// Id of the entity, unique only within the video.
    entity_id: String,
    /// Name given by a correction; absent if there is none.
    #[oai(skip_serializing_if_is_none)]
    name: Option<String>,
    /// Number of chunks in which the person is seen.
    appearances: u32,
    /// Ids of the chunks in which the person is seen.
    chunk_ids: Vec<u32>,
    /// Time at which the person is first seen, in seconds from the start of the video.
    first_seen: f64,
    /// Time at which the person is last seen, in seconds from the start of the video.
    last_seen: f64,
    /// What the person looks like.
    description: String,
    /// What the person does in the course of the video.
    narrative: String,
    /// When the person is visible; present if the aggregator `entity_timelines` has run.
    #[oai(skip_serializing_if_is_none)]
    timeline: Option<TimelineBody>,
}

#[derive(Object)]
#[oai(rename = "Timeline")]
struct TimelineBody {
    /// Total time during which the person is visible, in seconds.
    observed_seconds: f64,
    /// Intervals in which the person is visible, each as `[start, end]` in seconds from the start
    /// of the video.
    spans: Vec<Vec<f64>>,
    /// Moment id of each interval in `spans`, for `GET /moments/{moment_id}`.
    moments: Vec<String>,
}

impl From<entities::EntityList> for EntityListBody {
    fn from(list: entities::EntityList) -> Self {
        let video_id = list.video_id;
        let entities = list.entities.into_iter().map(|e| EntityBody::new(video_id, e)).collect();
        Self { total: list.total, entities, video_id: video_id.to_string() }
    }
}

impl EntityBody {
    fn new(video_id: VideoId, e: aggregation::entity::Entity) -> Self {
        let moment =
            |&[start, end]: &[f64; 2]| MomentId::new(video_id, Span { start, end }).to_string();
        Self {
            entity_id: e.entity_id,
            name: e.name,
            appearances: e.appearances,
            chunk_ids: e.chunk_ids.into_iter().map(|id| id.0).collect(),
            first_seen: e.first_seen,
            last_seen: e.last_seen,
            description: e.description,
            narrative: e.narrative,
            timeline: e.timeline.map(|timeline| TimelineBody {
                observed_seconds: timeline.observed_seconds,
                moments: timeline.spans.iter().map(moment).collect(),
                spans: timeline.spans.into_iter().map(|span| span.to_vec()).collect(),
            }),
        }
    }
}
