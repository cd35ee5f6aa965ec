//! Determines the direction in which something moves through the picture, based on its first and
//! last positions.

use ports::detector::BoundingBox;
use serde::{Deserialize, Serialize};

use crate::media::geometry::centre;

/// Minimum horizontal shift that counts as movement, as a share of the picture.
const MIN_SHIFT: f32 = 0.12;

/// An object moves towards or away from the camera if the height of its box grows or shrinks by at
/// least this factor.
const MIN_GROWTH: f32 = 1.35;

/// A movement through the picture.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Movement {
    /// Unknown, because the object was seen only once.
    #[default]
    Glimpsed,
    /// No movement.
    Still,
    /// Towards the right side of the picture.
    Right,
    /// Towards the left side of the picture.
    Left,
    /// Towards the camera.
    Closer,
    /// Away from the camera.
    Away,
}

impl Movement {
    /// Determines the movement of an object from its boxes in chronological order.
    pub(crate) fn from_boxes<'a>(mut boxes: impl Iterator<Item = &'a BoundingBox>) -> Self {
        let Some(first) = boxes.next() else { return Self::Glimpsed };
        let Some(last) = boxes.last() else { return Self::Glimpsed };
        let shift = centre(last).0 - centre(first).0;
        let growth = last[3] / first[3].max(f32::MIN_POSITIVE);
        match (shift, growth) {
            (s, _) if s > MIN_SHIFT => Self::Right,
            (s, _) if s < -MIN_SHIFT => Self::Left,
            (_, g) if g > MIN_GROWTH => Self::Closer,
            (_, g) if g < 1.0 / MIN_GROWTH => Self::Away,
            _ => Self::Still,
        }
    }

    /// Whether the object moves.
    pub(crate) fn is_moving(self) -> bool {
        !matches!(self, Self::Glimpsed | Self::Still)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn movement_is_from_the_first_to_the_last_box() {
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
            assert_eq!(Movement::from_boxes(boxes.iter()), expected, "{boxes:?}");
        }
    }
}
