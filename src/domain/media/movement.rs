//! How something moves through the picture, by where it is first and last.

use ports::detector::BoundingBox;
use serde::{Deserialize, Serialize};

use crate::domain::media::geometry::centre;

/// Moving by less than this share of the picture is staying.
const MOVED: f32 = 0.12;

/// Growing or shrinking in height by this factor is coming or going.
const GROWN: f32 = 1.35;

/// How something moves through the picture.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Movement {
    /// It was seen once, which tells nothing of its movement.
    #[default]
    Glimpsed,
    /// It stays where it is.
    Still,
    /// To the right of the picture.
    Right,
    /// To the left of the picture.
    Left,
    /// Towards the camera.
    Closer,
    /// From the camera.
    Away,
}

impl Movement {
    /// Of what is seen in these boxes, in order of time.
    pub(crate) fn through<'a>(mut boxes: impl Iterator<Item = &'a BoundingBox>) -> Self {
        let Some(first) = boxes.next() else { return Self::Glimpsed };
        let Some(last) = boxes.last() else { return Self::Glimpsed };
        let shift = centre(last).0 - centre(first).0;
        let growth = last[3] / first[3].max(f32::MIN_POSITIVE);
        match (shift, growth) {
            (s, _) if s > MOVED => Self::Right,
            (s, _) if s < -MOVED => Self::Left,
            (_, g) if g > GROWN => Self::Closer,
            (_, g) if g < 1.0 / GROWN => Self::Away,
            _ => Self::Still,
        }
    }

    /// Whether it is seen to go anywhere.
    pub(crate) fn is_going(self) -> bool {
        !matches!(self, Self::Glimpsed | Self::Still)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_and_the_last_box_tell() {
        let at = |x: f32, h: f32| [x, 0.1, 0.1, h];
        for (boxes, expected) in [
            (vec![], Movement::Glimpsed),
            (vec![at(0.1, 0.8)], Movement::Glimpsed),
            (vec![at(0.1, 0.8), at(0.15, 0.8)], Movement::Still),
            (vec![at(0.1, 0.8), at(0.9, 0.8), at(0.6, 0.8)], Movement::Right),
            (vec![at(0.6, 0.2), at(0.1, 0.8)], Movement::Left),
            (vec![at(0.5, 0.1), at(0.5, 0.2)], Movement::Closer),
            (vec![at(0.5, 0.2), at(0.5, 0.1)], Movement::Away),
        ] {
            assert_eq!(Movement::through(boxes.iter()), expected, "{boxes:?}");
        }
    }
}
