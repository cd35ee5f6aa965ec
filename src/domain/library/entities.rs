//! Reads the people in a video. The appearances of a person in several chunks are linked.

use std::collections::BTreeMap;

use crate::aggregation::aggregators::entities::{self, LinkedPeople, PersonObservation};
use crate::aggregation::aggregators::entity_timelines::{self, Timelines};
use crate::aggregation::entity::{Entity, EntityTimeline};
use crate::aggregation::result::result_of;
use crate::analysis::analyzers::people::{self, ChunkPeople};
use crate::analysis::output::output_of;
use crate::kernel::error::{Error, Result};
use crate::kernel::video::VideoId;
use crate::library::Library;
use crate::media::tracking::Location;
use crate::records::Records;
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

/// Reads the locations at which a linked person is visible, in chronological order; there are none
/// if the outputs were stored without them. Returns `NotFound` if the video has no such person.
pub(crate) async fn entity_locations(
    records: &Records,
    record: &VideoRecord,
    entity_id: &str,
) -> Result<Vec<Location>> {
    let stored = records.aggregate_result(record, entities::ID).await?;
    let linked = result_of::<LinkedPeople>(&*stored).map_or(&[][..], |people| &people.entities);
    let Some(linked) = linked.iter().find(|linked| linked.entity.entity_id == entity_id) else {
        return Err(Error::NotFound(format!(
            "no person '{entity_id}' in this video; GET /videos/{}/entities lists them",
            record.video_id
        )));
    };
    let outputs = records.original_outputs(record, people::ID).await?;
    let locations = |observation: &PersonObservation| {
        let output = outputs.get(observation.chunk_id.index())?.as_deref()?;
        let crowd = output_of::<ChunkPeople>(output)?;
        let person = crowd.people.iter().find(|person| person.person == observation.person)?;
        Some(person.locations.clone())
    };
    let mut seen: Vec<Location> =
        linked.observations.iter().filter_map(locations).flatten().collect();
    seen.sort_by(|a, b| a.t.total_cmp(&b.t));
    Ok(seen)
}

fn corrupt(video_id: VideoId) -> Error {
    Error::corrupt(format!("the entities of '{video_id}' are of another kind"))
}
