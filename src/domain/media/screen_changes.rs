//! Detects when text on screen changes. Text on a slide, a caption or a score stands still between changes,
//! so only parts of the picture that stand still are compared; motion behind them does not count.

use ports::decoder::Image;

use crate::domain::kernel::time::Span;

/// Pixels of one side of a tile in which two pictures are compared.
const TILE: usize = 4;

/// Mean difference of a tile's brightness that coding noise does not reach, of 255.
const NOISE: f32 = 6.0;

/// Mean difference from which a tile shows something else.
const CHANGED: f32 = 16.0;

/// Range of brightness in a tile or next to it where letters may be.
const CONTRAST: f32 = 60.0;

/// Looks for which something written stands still at least: nobody can read what is gone sooner.
const LOOKS: usize = 3;

/// The brightness of one picture, tile by tile.
struct Tiles {
    /// Pixel values, row after row; `width` of them in a row.
    luma: Vec<u8>,
    width: usize,
    height: usize,
}

impl Tiles {
    fn of(image: &Image) -> Self {
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
        let (least, most) = self
            .rows(tile)
            .flatten()
            .fold((255, 0), |(least, most), &value| (value.min(least), value.max(most)));
        f32::from(u8::saturating_sub(most, least))
    }

    fn is_comparable(&self, other: &Self) -> bool {
        (self.width, self.height) == (other.width, other.height)
    }

    /// Whether nothing differs by more than noise.
    fn is_same(&self, other: &Self) -> bool {
        self.is_comparable(other)
            && (0..self.count()).all(|tile| self.difference(other, tile) < CHANGED)
    }
}

/// When a picture is read, and for how long it is known to stay, seconds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Reading {
    /// The picture to read is shown then.
    pub(crate) time: f64,
    /// It is shown from the beginning to the end of this, as far as was looked; `time` is in it.
    pub(crate) shown: Span,
}

/// Picks the frames to run OCR on from thumbnails with their times in order: the frames at `wanted` times,
/// and one for each stretch in which no text changes. At most `most`.
pub(crate) fn readings(looks: &[(f64, Image)], wanted: &[f64], most: usize) -> Vec<Reading> {
    let tiles: Vec<Tiles> = looks.iter().map(|(_, image)| Tiles::of(image)).collect();
    let mut times: Vec<f64> = wanted.to_vec();
    for stretch in stretches(&tiles) {
        let (from, to) = (looks[stretch.start].0, looks[stretch.end - 1].0);
        if !wanted.iter().any(|time| (from..=to).contains(time)) {
            // In the middle nothing fades in or out.
            times.push(looks[(stretch.start + stretch.end - 1) / 2].0);
        }
    }
    times.truncate(most.max(wanted.len()));
    times.sort_by(f64::total_cmp);
    times.into_iter().map(|time| Reading { time, shown: shown(looks, &tiles, time) }).collect()
}

/// Where the written parts of the picture stay as they are, as ranges of looks.
fn stretches(tiles: &[Tiles]) -> Vec<std::ops::Range<usize>> {
    let mut found = Vec::new();
    let mut start = 0;
    for now in 1..tiles.len() {
        if is_rewritten(tiles, start, now) {
            found.push(start..now);
            start = now;
        }
    }
    found.push(start..tiles.len());
    found.retain(|stretch| stretch.len() >= LOOKS);
    found
}

/// Whether a part that stands still now stood still otherwise at the beginning of the stretch.
fn is_rewritten(tiles: &[Tiles], start: usize, now: usize) -> bool {
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

/// How long the picture at a time is the same.
fn shown(looks: &[(f64, Image)], tiles: &[Tiles], time: f64) -> Span {
    let alone = Span { start: time, end: time };
    let after = looks.partition_point(|(at, _)| *at <= time);
    let Some(here) = after.checked_sub(1) else { return alone };
    let same = |i: &usize| tiles[*i].is_same(&tiles[here]);
    let first = (0..here).rev().take_while(same).last().unwrap_or(here);
    let last = (after..looks.len()).take_while(same).last().unwrap_or(here);
    // A picture between two looks that are the same is so too; else the look is another picture.
    if last == here {
        return if looks[here].0 == time {
            Span { start: looks[first].0, end: time }
        } else {
            alone
        };
    }
    Span { start: looks[first].0.min(time), end: looks[last].0.max(time) }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIDE: usize = 64;

    /// A picture with a word in its lower part, whose upper part is `noise` on.
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

    /// Looks twice a second.
    fn looks(pictures: impl Iterator<Item = (usize, usize)>) -> Vec<(f64, Image)> {
        pictures.enumerate().map(|(i, (w, n))| (i as f64 / 2.0, picture(w, n))).collect()
    }

    #[test]
    fn every_slide_is_read_once() {
        let slides = looks((0..20).map(|i| (i / 5, 0)));
        let found = readings(&slides, &[3.5], 99);
        let times: Vec<f64> = found.iter().map(|reading| reading.time).collect();
        assert_eq!(times, [1.0, 3.5, 6.0, 8.5]);
        let shown: Vec<(f64, f64)> = found.iter().map(|r| (r.shown.start, r.shown.end)).collect();
        assert_eq!(shown, [(0.0, 2.0), (2.5, 4.5), (5.0, 7.0), (7.5, 9.5)]);
        assert_eq!(readings(&slides, &[3.5], 2).len(), 2);
    }

    #[test]
    fn a_score_over_a_game_is_read_when_it_changes() {
        let game = looks((0..20).map(|i| (i / 10, i)));
        let found = readings(&game, &[1.0], 99);
        let times: Vec<f64> = found.iter().map(|reading| reading.time).collect();
        assert_eq!(times, [1.0, 7.0]);
        assert_eq!(found[0].shown, Span { start: 1.0, end: 1.0 }, "the game moves");
    }

    #[test]
    fn what_only_moves_is_not_read_more_often() {
        let moving = looks((0..20).map(|i| (0, i)));
        assert_eq!(readings(&moving, &[1.0, 5.0], 99).len(), 2);
        assert_eq!(readings(&[], &[1.0], 99).len(), 1);
        assert_eq!(readings(&looks([(0, 0)].into_iter()), &[], 99), []);
    }
}
