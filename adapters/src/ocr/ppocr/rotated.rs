//! Rotated boxes. This module finds the minimum-area box around points, averages a map within the
//! box, and crops its pixels.

use image::{Rgb, RgbImage};

type PixelPoint = (f32, f32);

/// A box in pixels. `along` is a unit vector in the reading direction.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct RotatedBox {
    centre: PixelPoint,
    along: PixelPoint,
    /// Half the length of the sides, along the reading direction and across it.
    half: (f32, f32),
}

impl RotatedBox {
    /// Returns the minimum-area box around the points. Returns `None` if there are no points.
    pub(super) fn around(points: &[(i32, i32)]) -> Option<Self> {
        let hull = hull(points);
        let edges = (0..hull.len()).map(|i| {
            let (a, b) = (hull[i], hull[(i + 1) % hull.len()]);
            let (x, y) = ((b.0 - a.0) as f32, (b.1 - a.1) as f32);
            let length = x.hypot(y);
            if length > 0.0 { (x / length, y / length) } else { (1.0, 0.0) }
        });
        let boxes = edges.map(|along| Self::along(&hull, along));
        let least = boxes.min_by(|a, b| (a.half.0 * a.half.1).total_cmp(&(b.half.0 * b.half.1)))?;
        Some(least.with_rightward_axis())
    }

    fn along(hull: &[(i32, i32)], along: PixelPoint) -> Self {
        let mut range = [f32::MAX, f32::MIN, f32::MAX, f32::MIN];
        for (x, y) in hull {
            let (x, y) = (*x as f32, *y as f32);
            let (u, v) = (x * along.0 + y * along.1, y * along.0 - x * along.1);
            range = [range[0].min(u), range[1].max(u), range[2].min(v), range[3].max(v)];
        }
        let (u, v) = ((range[0] + range[1]) / 2.0, (range[2] + range[3]) / 2.0);
        Self {
            centre: (u * along.0 - v * along.1, u * along.1 + v * along.0),
            along,
            half: ((range[1] - range[0]) / 2.0, (range[3] - range[2]) / 2.0),
        }
    }

    /// Returns the same box with `along` within 45° of pointing right.
    fn with_rightward_axis(mut self) -> Self {
        if self.along.0.abs() < self.along.1.abs() {
            self.along = (-self.along.1, self.along.0);
            self.half = (self.half.1, self.half.0);
        }
        if self.along.0 < 0.0 {
            self.along = (-self.along.0, -self.along.1);
        }
        self
    }

    /// Returns the length of the shorter side.
    pub(super) fn shorter(&self) -> f32 {
        self.half.0.min(self.half.1) * 2.0
    }

    /// Expands the box on every side by `ratio` times the area divided by the perimeter.
    pub(super) fn expanded(mut self, ratio: f32) -> Self {
        let (w, h) = self.half;
        let distance = if w + h > 0.0 { w * h / (w + h) * ratio } else { 0.0 };
        self.half = (w + distance, h + distance);
        self
    }

    /// Subtracts `shift` from the box's position, then scales the box by `sx` and `sy`.
    pub(super) fn scaled(self, (sx, sy): PixelPoint, shift: PixelPoint) -> Self {
        let centre = ((self.centre.0 - shift.0) * sx, (self.centre.1 - shift.1) * sy);
        let (x, y) = (self.along.0 * sx, self.along.1 * sy);
        let stretch = x.hypot(y);
        // The two factors differ only by rounding, so the box stays nearly rectangular.
        let across = (self.along.1 * sx).hypot(self.along.0 * sy);
        Self {
            centre,
            along: (x / stretch, y / stretch),
            half: (self.half.0 * stretch, self.half.1 * across),
        }
    }

    /// Returns the left, top, right and bottom of the axis-aligned box around this box.
    pub(super) fn upright(&self) -> [f32; 4] {
        let (w, h) = self.half;
        let x = (w * self.along.0).abs() + (h * self.along.1).abs();
        let y = (w * self.along.1).abs() + (h * self.along.0).abs();
        [self.centre.0 - x, self.centre.1 - y, self.centre.0 + x, self.centre.1 + y]
    }

    /// Returns the mean of `map`, which has `width` columns, over the pixels inside this box.
    pub(super) fn mean(&self, map: &[f32], width: usize) -> f32 {
        let height = map.len() / width;
        let [left, top, right, bottom] = self.upright();
        let clip = |at: f32, most: usize| (at.max(0.0) as usize).min(most.saturating_sub(1));
        let (mut sum, mut count) = (0.0, 0.0);
        for y in clip(top, height)..=clip(bottom.ceil(), height) {
            for x in clip(left, width)..=clip(right.ceil(), width) {
                let (dx, dy) = (x as f32 - self.centre.0, y as f32 - self.centre.1);
                let u = dx * self.along.0 + dy * self.along.1;
                let v = dy * self.along.0 - dx * self.along.1;
                if u.abs() <= self.half.0 + 0.5 && v.abs() <= self.half.1 + 0.5 {
                    sum += map[y * width + x];
                    count += 1.0;
                }
            }
        }
        if count > 0.0 { sum / count } else { 0.0 }
    }

    /// Returns the pixels of the box, rotated upright. Outside the image, the pixels at its edge
    /// are repeated.
    pub(super) fn crop(&self, picture: &RgbImage) -> RgbImage {
        let side = |half: f32, most: u32| ((half * 2.0).round() as u32).clamp(1, most.max(1) * 2);
        let longest = picture.width().max(picture.height());
        let (width, height) = (side(self.half.0, longest), side(self.half.1, longest));
        RgbImage::from_fn(width, height, |x, y| {
            let u = (x as f32 + 0.5) / width as f32 * 2.0 * self.half.0 - self.half.0;
            let v = (y as f32 + 0.5) / height as f32 * 2.0 * self.half.1 - self.half.1;
            sample(
                picture,
                self.centre.0 + u * self.along.0 - v * self.along.1,
                self.centre.1 + u * self.along.1 + v * self.along.0,
            )
        })
    }
}

/// Samples the image bilinearly. Pixel centres are at half-integer coordinates.
fn sample(picture: &RgbImage, x: f32, y: f32) -> Rgb<u8> {
    let (x, y) = (x - 0.5, y - 0.5);
    let (left, top) = (x.floor(), y.floor());
    let (fx, fy) = (x - left, y - top);
    let at = |x: f32, y: f32| {
        let column = (x.max(0.0) as u32).min(picture.width() - 1);
        picture.get_pixel(column, (y.max(0.0) as u32).min(picture.height() - 1)).0
    };
    let corners =
        [at(left, top), at(left + 1.0, top), at(left, top + 1.0), at(left + 1.0, top + 1.0)];
    let weights = [(1.0 - fx) * (1.0 - fy), fx * (1.0 - fy), (1.0 - fx) * fy, fx * fy];
    let mix = |c: usize| {
        let sum: f32 = corners.iter().zip(weights).map(|(p, w)| f32::from(p[c]) * w).sum();
        sum.round() as u8
    };
    Rgb([mix(0), mix(1), mix(2)])
}

/// Computes the convex hull with Andrew's monotone chain algorithm.
fn hull(points: &[(i32, i32)]) -> Vec<(i32, i32)> {
    let mut sorted = points.to_vec();
    sorted.sort_unstable();
    sorted.dedup();
    if sorted.len() < 3 {
        return sorted;
    }
    let turns_right = |a: (i32, i32), b: (i32, i32), c: (i32, i32)| {
        let cross = i64::from(b.0 - a.0) * i64::from(c.1 - a.1)
            - i64::from(b.1 - a.1) * i64::from(c.0 - a.0);
        cross <= 0
    };
    let chain = |points: &mut dyn Iterator<Item = (i32, i32)>| {
        let mut chain: Vec<(i32, i32)> = Vec::new();
        for point in points {
            while let [.., a, b] = chain[..]
                && turns_right(a, b, point)
            {
                chain.pop();
            }
            chain.push(point);
        }
        chain.pop();
        chain
    };
    let mut hull = chain(&mut sorted.iter().copied());
    hull.extend(chain(&mut sorted.iter().rev().copied()));
    hull
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn smallest_box_rotates_with_its_points() {
        let upright = RotatedBox::around(&[(0, 0), (10, 0), (10, 4), (0, 4), (5, 2)]).unwrap();
        assert_eq!(upright.upright(), [0.0, 0.0, 10.0, 4.0]);
        // A square with side 10√2, rotated by 45°.
        let tipped = RotatedBox::around(&[(10, 0), (20, 10), (10, 20), (0, 10)]).unwrap();
        assert!((tipped.shorter() - 200.0_f32.sqrt()).abs() < 1e-3);
        let [left, top, right, bottom] = tipped.upright();
        assert!(left.abs() < 1e-3 && top.abs() < 1e-3);
        assert!((right - 20.0).abs() < 1e-3 && (bottom - 20.0).abs() < 1e-3);
        assert_eq!(RotatedBox::around(&[]), None);
        assert_eq!(RotatedBox::around(&[(3, 3), (3, 3)]).unwrap().shorter(), 0.0);
    }

    #[test]
    fn growing_expands_every_side_equally() {
        let expanded =
            RotatedBox::around(&[(0, 0), (20, 0), (20, 10), (0, 10)]).unwrap().expanded(1.5);
        // The sides move by 1.5 times the area (200) divided by the perimeter (60).
        assert_eq!(expanded.upright(), [-5.0, -5.0, 25.0, 15.0]);
    }

    #[test]
    fn mean_covers_the_interior() {
        let mut map = vec![0.0; 8 * 8];
        for y in 2..=4 {
            for x in 1..=6 {
                map[y * 8 + x] = 0.5;
            }
        }
        let inside = RotatedBox::around(&[(1, 2), (6, 2), (6, 4), (1, 4)]).unwrap();
        assert_eq!(inside.mean(&map, 8), 0.5);
        assert!(inside.expanded(4.0).mean(&map, 8) < 0.4);
    }

    #[test]
    fn crop_is_upright() {
        let picture =
            RgbImage::from_fn(40, 40, |x, _| if x < 20 { Rgb([255; 3]) } else { Rgb([0; 3]) });
        let crop =
            RotatedBox::around(&[(10, 10), (30, 10), (30, 16), (10, 16)]).unwrap().crop(&picture);
        assert_eq!(crop.dimensions(), (20, 6));
        assert_eq!(crop.get_pixel(2, 3)[0], 255);
        assert_eq!(crop.get_pixel(17, 3)[0], 0);
    }
}
