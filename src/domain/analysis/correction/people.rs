//! Who is seen.

use crate::domain::kernel::time::Span;
use crate::domain::media::geometry;
use crate::domain::media::tracking::Location;

/// Sights no further apart are of one time, seconds: frames are chosen anew by every run.
const SAME_TIME: f64 = 0.6;

/// Boxes that have this much in common (intersection over union) are of one person.
const SAME_PLACE: f32 = 0.5;

/// Whether more of the sights that two have at the same time are in the same place than not.
pub(super) fn is_same(known: &[Location], seen: &[Location]) -> bool {
    let (mut common, mut same) = (0, 0);
    for sight in seen {
        let first = known.partition_point(|k| k.t < sight.t - SAME_TIME);
        let near = known[first..].iter().take_while(|k| k.t <= sight.t + SAME_TIME);
        let near = near.min_by(|a, b| (a.t - sight.t).abs().total_cmp(&(b.t - sight.t).abs()));
        let Some(near) = near else { continue };
        common += 1;
        let place = geometry::overlap(&near.bounding_box(), &sight.bounding_box());
        same += usize::from(place >= SAME_PLACE);
    }
    2 * same > common
}

/// From the first sight to the last.
pub(super) fn while_seen(seen: &[Location]) -> Option<Span> {
    Some(Span { start: seen.first()?.t, end: seen.last()?.t })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn somebody_is_known_again_by_time_and_place() {
        let at = |t: f64, x: f64| Location { t, bounds: [x, 0.2, 0.2, 0.6], confidence: 0.9 };
        let known = [at(1.0, 0.1), at(1.5, 0.12), at(2.0, 0.14)];
        assert!(is_same(&known, &[at(1.2, 0.11), at(1.7, 0.13)]), "other frames");
        assert!(!is_same(&known, &[at(1.2, 0.6), at(1.7, 0.6)]), "beside them");
        assert!(!is_same(&known, &[at(9.0, 0.1)]), "later");
        assert!(is_same(&known, &[at(1.2, 0.11), at(9.0, 0.9)]), "and they walk on");
    }
}
