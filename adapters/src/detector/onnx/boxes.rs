//! Boxes in the coordinates of the model's input, and non-maximum suppression.

/// A detected box with its class index.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct ScoredBox {
    /// Index of the label.
    pub(super) class: usize,
    /// Confidence, 0..1.
    pub(super) score: f32,
    /// Left, top, right and bottom edge, in pixels of the model's input.
    pub(super) corners: [f32; 4],
}

/// Maximum number of boxes to compare. The threshold has already removed most candidates.
const MAX_CANDIDATES: usize = 3_000;

/// Applies non-maximum suppression and returns the remaining boxes, most confident first. If two
/// boxes overlap by more than a limit, drops the less confident one. `overlaps` holds the limits
/// for boxes of the same class and for boxes of different classes.
pub(super) fn suppress(
    mut found: Vec<ScoredBox>,
    overlaps: [f32; 2],
    max_boxes: usize,
) -> Vec<ScoredBox> {
    found.sort_by(|a, b| b.score.total_cmp(&a.score));
    found.truncate(MAX_CANDIDATES);
    let mut kept: Vec<ScoredBox> = Vec::new();
    for candidate in found {
        if kept.len() >= max_boxes {
            break;
        }
        let repeats = |k: &ScoredBox| {
            let allowed = overlaps[usize::from(k.class != candidate.class)];
            overlap(&k.corners, &candidate.corners) > allowed
        };
        if !kept.iter().any(repeats) {
            kept.push(candidate);
        }
    }
    kept
}

fn overlap(a: &[f32; 4], b: &[f32; 4]) -> f32 {
    let width = (a[2].min(b[2]) - a[0].max(b[0])).max(0.0);
    let height = (a[3].min(b[3]) - a[1].max(b[1])).max(0.0);
    let area = |c: &[f32; 4]| (c[2] - c[0]).max(0.0) * (c[3] - c[1]).max(0.0);
    let all = area(a) + area(b) - width * height;
    if all > 0.0 { width * height / all } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_object_keeps_its_best_box() {
        let found = |class, score, left: f32| ScoredBox {
            class,
            score,
            corners: [left, 0.0, left + 10.0, 10.0],
        };
        let all = vec![
            found(0, 0.5, 0.0),
            found(0, 0.9, 1.0),
            found(1, 0.6, 0.5),
            found(0, 0.7, 8.0),
            found(0, 0.4, 30.0),
        ];
        let kept = suppress(all.clone(), [0.5, 0.96], 10);
        let scores: Vec<f32> = kept.iter().map(|f| f.score).collect();
        assert_eq!(scores, [0.9, 0.7, 0.6, 0.4]);
        assert_eq!(suppress(all.clone(), [0.5, 0.96], 2).len(), 2);
        assert_eq!(suppress(all, [0.5, 0.8], 10).len(), 3);
    }
}
