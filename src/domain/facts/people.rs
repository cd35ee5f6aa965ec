//! The number of people in each part of a video.

use crate::aggregation::aggregators::stats::{PeopleCount, people_over_time};
use crate::analysis::analyzers::people;
use crate::analysis::video::AnalyzedVideo;

/// The largest number of people in any one frame of each chunk, in order. `None` if people were not
/// counted: a description may leave out people.
pub(crate) fn people_series(video: &AnalyzedVideo) -> Option<Vec<PeopleCount>> {
    video.outputs.contains_key(people::ID).then(|| people_over_time(video).series)
}
