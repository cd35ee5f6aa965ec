//! `/videos/{video_id}/entities`: people linked across chunks.

use poem_openapi::param::{Path, Query};
use poem_openapi::{Object, OpenApi};

use super::auth::{Service, Token};
use super::body::Json;
use super::errors::{ApiError, ByIdNamed};
use super::params::Integer;
use crate::domain::aggregation;
use crate::domain::catalog::entities;
use crate::domain::kernel::moment::MomentId;
use crate::domain::kernel::time::Span;
use crate::domain::kernel::video::{VideoId, video_named};

/// The routes of this section.
pub(super) struct EntitiesApi(pub(super) Service);

#[OpenApi]
impl EntitiesApi {
    /// People linked across chunks.
    ///
    /// Needs the people analyzer and the entities aggregate.
    #[oai(path = "/videos/:video_id/entities", method = "get", operation_id = "entities")]
    async fn entities(
        &self,
        token: Token,
        video_id: Path<String>,
        /// Only people seen in at least this many chunks.
        #[oai(default = "one")]
        min_appearances: Query<Integer>,
    ) -> Result<Json<EntityList>, ApiError<ByIdNamed>> {
        let min_appearances = min_appearances.0.0.clamp(0, u32::MAX.into()) as u32;
        let entities = self.0.of(&token).entities(video_named(&video_id)?, min_appearances).await?;
        Ok(Json(entities.into()))
    }
}

fn one() -> Integer {
    Integer(1)
}

#[derive(Object)]
struct EntityList {
    video_id: String,
    total: u32,
    entities: Vec<Entity>,
}

#[derive(Object)]
struct Entity {
    /// Stable within one video only.
    entity_id: String,
    /// Who it is; present where somebody has said so.
    #[oai(skip_serializing_if_is_none)]
    name: Option<String>,
    /// Number of chunks the person was seen in.
    appearances: u32,
    chunk_ids: Vec<u32>,
    /// When it is first seen, seconds of the video.
    first_seen: f64,
    /// When it was last seen, seconds of the video.
    last_seen: f64,
    description: String,
    narrative: String,
    /// Present when `entity_timelines` has run.
    #[oai(skip_serializing_if_is_none)]
    timeline: Option<Timeline>,
}

#[derive(Object)]
struct Timeline {
    observed_seconds: f64,
    /// `[start, end]` in seconds.
    spans: Vec<Vec<f64>>,
    /// The spans as moments, for `GET /moments/{moment_id}`.
    moments: Vec<String>,
}

impl From<entities::EntityList> for EntityList {
    fn from(list: entities::EntityList) -> Self {
        let video_id = list.video_id;
        let entities = list.entities.into_iter().map(|e| Entity::of(video_id, e)).collect();
        Self { total: list.total, entities, video_id: video_id.to_string() }
    }
}

impl Entity {
    fn of(video_id: VideoId, e: aggregation::entity::Entity) -> Self {
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
            timeline: e.timeline.map(|timeline| Timeline {
                observed_seconds: timeline.observed_seconds,
                moments: timeline.spans.iter().map(moment).collect(),
                spans: timeline.spans.into_iter().map(|span| span.to_vec()).collect(),
            }),
        }
    }
}
