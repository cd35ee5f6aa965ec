//! The aggregators, one per file; they are listed in [`AGGREGATORS`](super::AGGREGATORS).

pub(crate) mod chapters;
pub(crate) mod cooccurrence;
pub(crate) mod entities;
pub(crate) mod entity_timelines;
pub(crate) mod events;
pub(crate) mod ner;
pub(crate) mod novelty;
pub(crate) mod object_entities;
pub(crate) mod sentiment;
pub(crate) mod speaker_stats;
pub(crate) mod stats;
pub(crate) mod summary;
