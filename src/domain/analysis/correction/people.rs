//! Matches the person that a correction names with people in later outputs.

use ports::detector;

use crate::kernel::time::Span;
use crate::media::tracking::Location;

/// Two detections are compared only if they are at most this many seconds apart. Their times may
/// differ because each run may select different frames.
const MAX_TIME_DIFFERENCE: f64 = 0.6;

/// Boxes with at least this intersection over union belong to the same person.
const MIN_OVERLAP: f32 = 0.5;

/// Whether `a` and `b` show the same person. They do if the boxes overlap in more than half of the
/// detections made at about the same time.
pub(super) fn is_same(a: &[Location], b: &[Location]) -> bool {
    let (mut compared, mut matching) = (0, 0);
    for location in b {
        let distance = |other: &Location| (other.t - location.t).abs();
        let first = a.partition_point(|l| l.t < location.t - MAX_TIME_DIFFERENCE);
        let near = a[first..].iter().take_while(|l| l.t <= location.t + MAX_TIME_DIFFERENCE);
        let nearest = near.min_by(|x, y| distance(x).total_cmp(&distance(y)));
        let Some(nearest) = nearest else { continue };
        compared += 1;
        let overlap = detector::overlap(&nearest.bounding_box(), &location.bounding_box());
        matching += usize::from(overlap >= MIN_OVERLAP);
    }
    2 * matching > compared
}

/// The span from the first location to the last.
pub(super) fn seen_span(locations: &[Location]) -> Option<Span> {
    Some(Span { start: locations.first()?.t, end: locations.last()?.t })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn is_same_compares_time_and_place() {
        let at = |t: f64, x: f64| Location { t, bounds: [x, 0.2, 0.2, 0.6], confidence: 0.9 };
        let person = [at(1.0, 0.1), at(1.5, 0.12), at(2.0, 0.14)];
        assert!(is_same(&person, &[at(1.2, 0.11), at(1.7, 0.13)]), "other frames");
        assert!(!is_same(&person, &[at(1.2, 0.6), at(1.7, 0.6)]), "next to them");
        assert!(!is_same(&person, &[at(9.0, 0.1)]), "later");
        assert!(is_same(&person, &[at(1.2, 0.11), at(9.0, 0.9)]), "and elsewhere later");
    }
}
