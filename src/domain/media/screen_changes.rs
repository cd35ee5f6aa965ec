//! Detects when text on screen changes. Text on a slide, in a caption or in a score does not move
//! between changes. Only static parts of the picture are therefore compared, and motion around them
//! is ignored.

use ports::decoder::Image;

use crate::kernel::time::Span;

/// Side length of a tile, in pixels. Pictures are compared tile by tile.
const TILE: usize = 4;

/// Mean luma difference of a tile, 0..255, from which the difference is more than coding noise.
const NOISE: f32 = 6.0;

/// Mean luma difference of a tile, 0..255, from which the content of the tile has changed.
const CHANGED: f32 = 16.0;

/// Luma range of a tile, 0..255, from which the tile may contain letters.
const CONTRAST: f32 = 60.0;

/// Minimum number of thumbnails in which text must be static. Text that is shown for a shorter time
/// is too brief to read.
const MIN_STATIC: usize = 3;

/// The luma of one picture, which can be compared tile by tile.
struct Tiles {
    /// The luma of each pixel, row by row, with `width` pixels per row.
    luma: Vec<u8>,
    width: usize,
    height: usize,
}

impl Tiles {
    fn from_image(image: &Image) -> Self {
        let luma = image.rgb.chunks_exact(3).map(|rgb| {
            let [r, g, b] = [rgb[0], rgb[1], rgb[2]].map(u32::from);
            ((r * 2 + g * 5 + b) / 8) as u8
        });
        Self { luma: luma.collect(), width: image.width as usize, height: image.height as usize }
    }

    fn count(&self) -> usize {
        (self.width / TILE) * (self.height / TILE)
    }

    fn rows(&self, tile: usize) -> impl Iterator<Item = &[u8]> {
        let across = self.width / TILE;
        let (x, y) = (tile % across * TILE, tile / across * TILE);
        (y..y + TILE).map(move |row| &self.luma[row * self.width + x..][..TILE])
    }

    fn difference(&self, other: &Self, tile: usize) -> f32 {
        let rows = self.rows(tile).zip(other.rows(tile));
        let pixels = rows.flat_map(|(a, b)| a.iter().zip(b));
        let sum: u32 = pixels.map(|(a, b)| u32::from(a.abs_diff(*b))).sum();
        sum as f32 / (TILE * TILE) as f32
    }

    fn contrast(&self, tile: usize) -> f32 {
        let (min, max) = self
            .rows(tile)
            .flatten()
            .fold((255, 0), |(min, max), &value| (value.min(min), value.max(max)));
        f32::from(u8::saturating_sub(max, min))
    }

    fn is_comparable(&self, other: &Self) -> bool {
        (self.width, self.height) == (other.width, other.height)
    }

    /// Whether every tile has the same content in both pictures.
    fn is_same(&self, other: &Self) -> bool {
        self.is_comparable(other)
            && (0..self.count()).all(|tile| self.difference(other, tile) < CHANGED)
    }
}

/// A frame to run OCR on.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Reading {
    /// The time of the frame, in seconds from the start of the video.
    pub(crate) time: f64,
    /// The span around `time` in which the sampled picture does not change.
    pub(crate) shown: Span,
}

/// Selects at most `max` frames to run OCR on. These are the frames at the `required` times, which
/// are never dropped, and one frame for each stretch in which the text does not change.
/// `thumbnails` are in chronological order.
pub(crate) fn readings(thumbnails: &[(f64, Image)], required: &[f64], max: usize) -> Vec<Reading> {
    let tiles: Vec<Tiles> = thumbnails.iter().map(|(_, image)| Tiles::from_image(image)).collect();
    let mut times: Vec<f64> = required.to_vec();
    for stretch in static_stretches(&tiles) {
        let (from, to) = (thumbnails[stretch.start].0, thumbnails[stretch.end - 1].0);
        if !required.iter().any(|time| (from..=to).contains(time)) {
            // Nothing fades in or out in the middle of a stretch.
            times.push(thumbnails[(stretch.start + stretch.end - 1) / 2].0);
        }
    }
    times.truncate(max.max(required.len()));
    times.sort_by(f64::total_cmp);
    times
        .into_iter()
        .map(|time| Reading { time, shown: unchanged_span(thumbnails, &tiles, time) })
        .collect()
}

/// Finds the stretches in which the text does not change, as ranges of thumbnails.
fn static_stretches(tiles: &[Tiles]) -> Vec<std::ops::Range<usize>> {
    let mut found = Vec::new();
    let mut start = 0;
    for now in 1..tiles.len() {
        if text_changed(tiles, start, now) {
            found.push(start..now);
            start = now;
        }
    }
    found.push(start..tiles.len());
    found.retain(|stretch| stretch.len() >= MIN_STATIC);
    found
}

/// Whether a static part of the picture has changed since the `start` of the stretch.
fn text_changed(tiles: &[Tiles], start: usize, now: usize) -> bool {
    let Some(after) = tiles.get(now + 1) else { return false };
    let (first, second, picture) = (&tiles[start], &tiles[start + 1], &tiles[now]);
    if !first.is_comparable(second)
        || !first.is_comparable(picture)
        || !picture.is_comparable(after)
    {
        return false;
    }
    (0..picture.count()).any(|tile| {
        picture.difference(first, tile) >= CHANGED
            && picture.contrast(tile).max(first.contrast(tile)) >= CONTRAST
            && picture.difference(after, tile) < NOISE
            && first.difference(second, tile) < NOISE
    })
}

/// Finds the span around `time` in which the picture does not change.
fn unchanged_span(thumbnails: &[(f64, Image)], tiles: &[Tiles], time: f64) -> Span {
    let alone = Span { start: time, end: time };
    let after = thumbnails.partition_point(|(at, _)| *at <= time);
    let Some(here) = after.checked_sub(1) else { return alone };
    let same = |i: &usize| tiles[*i].is_same(&tiles[here]);
    let first = (0..here).rev().take_while(same).last().unwrap_or(here);
    let last = (after..thumbnails.len()).take_while(same).last().unwrap_or(here);
    // A frame between two equal thumbnails is also equal. Any other frame may differ.
    if last == here {
        return if thumbnails[here].0 == time {
            Span { start: thumbnails[first].0, end: time }
        } else {
            alone
        };
    }
    Span { start: thumbnails[first].0.min(time), end: thumbnails[last].0.max(time) }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIDE: usize = 64;

    /// Draws a picture with a word in its lower half and a texture shifted by `noise` in its upper
    /// half.
    fn picture(word: usize, noise: usize) -> Image {
        let mut rgb = vec![90; SIDE * SIDE * 3];
        for y in 0..SIDE / 2 {
            for x in 0..SIDE {
                rgb[(y * SIDE + x) * 3..][..3].fill(((x * 31 + y * 17 + noise * 97) % 251) as u8);
            }
        }
        for y in 48..56 {
            for x in 8 + word * 8..14 + word * 8 {
                rgb[(y * SIDE + x) * 3..][..3].fill(250);
            }
        }
        Image { width: SIDE as u32, height: SIDE as u32, rgb }
    }

    /// Returns thumbnails at 2 Hz.
    fn thumbnails(pictures: impl Iterator<Item = (usize, usize)>) -> Vec<(f64, Image)> {
        pictures.enumerate().map(|(i, (w, n))| (i as f64 / 2.0, picture(w, n))).collect()
    }

    #[test]
    fn each_slide_is_read_once() {
        let slides = thumbnails((0..20).map(|i| (i / 5, 0)));
        let found = readings(&slides, &[3.5], 99);
        let times: Vec<f64> = found.iter().map(|reading| reading.time).collect();
        assert_eq!(times, [1.0, 3.5, 6.0, 8.5]);
        let shown: Vec<(f64, f64)> = found.iter().map(|r| (r.shown.start, r.shown.end)).collect();
        assert_eq!(shown, [(0.0, 2.0), (2.5, 4.5), (5.0, 7.0), (7.5, 9.5)]);
        assert_eq!(readings(&slides, &[3.5], 2).len(), 2);
    }

    #[test]
    fn scores_are_read_when_they_change() {
        let game = thumbnails((0..20).map(|i| (i / 10, i)));
        let found = readings(&game, &[1.0], 99);
        let times: Vec<f64> = found.iter().map(|reading| reading.time).collect();
        assert_eq!(times, [1.0, 7.0]);
        assert_eq!(found[0].shown, Span { start: 1.0, end: 1.0 }, "the game moves");
    }

    #[test]
    fn motion_alone_causes_no_readings() {
        let moving = thumbnails((0..20).map(|i| (0, i)));
        assert_eq!(readings(&moving, &[1.0, 5.0], 99).len(), 2);
        assert_eq!(readings(&[], &[1.0], 99).len(), 1);
        assert_eq!(readings(&thumbnails([(0, 0)].into_iter()), &[], 99), []);
    }
}
