//! Reads the people in a video. The appearances of a person in several chunks are linked.

use std::collections::BTreeMap;

use crate::aggregation::aggregators::entities::{self, LinkedPeople};
use crate::aggregation::aggregators::entity_timelines::{self, Timelines};
use crate::aggregation::entity::{Entity, EntityTimeline};
use crate::aggregation::result::result_of;
use crate::kernel::error::{Error, Result};
use crate::kernel::video::VideoId;
use crate::library::Library;
use crate::records::record::VideoRecord;

/// The people in a video.
#[derive(Debug, Clone, PartialEq)]
pub struct EntityList {
    /// The id of the video.
    pub video_id: VideoId,
    /// Number of matching people.
    pub total: u32,
    /// The matching people, most frequent first.
    pub entities: Vec<Entity>,
}

impl Library {
    /// Reads the people who appear in at least `min_appearances` chunks.
    pub async fn entities(&self, video_id: VideoId, min_appearances: u32) -> Result<EntityList> {
        let read = |record| async move { self.read_entities(&record, min_appearances).await };
        self.records.read_published(video_id, read).await
    }

    async fn read_entities(
        &self,
        record: &VideoRecord,
        min_appearances: u32,
    ) -> Result<EntityList> {
        let video_id = record.video_id;
        let linked = self.records.aggregate_result(record, entities::ID).await?;
        let linked: &LinkedPeople = result_of(linked.as_ref()).ok_or_else(|| corrupt(video_id))?;
        let mut timelines = self.timelines(record).await?;
        let people = linked.entities.iter().map(|person| &person.entity);
        let entities: Vec<Entity> = people
            .filter(|entity| entity.appearances >= min_appearances)
            .map(|entity| Entity {
                timeline: timelines.remove(&entity.entity_id),
                ..entity.clone()
            })
            .collect();
        Ok(EntityList { video_id, total: entities.len() as u32, entities })
    }

    /// Reads the timelines of the people in a video, keyed by entity id. The result is empty if
    /// timelines were not computed.
    pub(crate) async fn timelines(
        &self,
        record: &VideoRecord,
    ) -> Result<BTreeMap<String, EntityTimeline>> {
        if !record.aggregates.contains_key(entity_timelines::ID) {
            return Ok(BTreeMap::new());
        }
        let stored = self.records.aggregate_result(record, entity_timelines::ID).await?;
        let stored: &Timelines =
            result_of(stored.as_ref()).ok_or_else(|| corrupt(record.video_id))?;
        let timelines = stored.entities.iter().map(|t| (t.entity_id.clone(), t.timeline.clone()));
        Ok(timelines.collect())
    }
}

fn corrupt(video_id: VideoId) -> Error {
    Error::corrupt(format!("the entities of '{video_id}' are of another kind"))
}
