//! Motion estimation: how much of a frame can be predicted from an earlier one. Video encoders use
//! the same measure to decide whether a picture begins a new scene.

/// Width of the compared luma pictures, in pixels.
const WIDTH: usize = 80;
/// Height of the compared luma pictures, in pixels.
const HEIGHT: usize = 45;
/// Width of a block, in pixels.
const BLOCK_WIDTH: usize = 8;
/// Height of a block, in pixels.
const BLOCK_HEIGHT: usize = 9;
const ACROSS: usize = WIDTH / BLOCK_WIDTH;
const DOWN: usize = HEIGHT / BLOCK_HEIGHT;

/// Maximum movement of a block, in pixels. It is 7.5 % of the width.
const REACH: usize = 6;

/// Minimum texture per pixel, so that noise in flat pictures does not count as novelty.
const MIN_TEXTURE: f32 = 0.5;

/// A small luma picture.
#[derive(Clone)]
pub(crate) struct Sketch {
    luma: Box<[u8; WIDTH * HEIGHT]>,
}

impl Sketch {
    /// Creates the sketch of a frame of `width × height` RGB pixels.
    pub(crate) fn new(rgb: &[u8], width: usize, height: usize) -> Self {
        let columns: [_; WIDTH] = std::array::from_fn(|x| span(x, WIDTH, width));
        let mut luma = Box::new([0; WIDTH * HEIGHT]);
        for (y, line) in luma.chunks_exact_mut(WIDTH).enumerate() {
            let (top, bottom) = span(y, HEIGHT, height);
            let mut sums = [0; WIDTH];
            for row in rgb[top * width * 3..bottom * width * 3].chunks_exact(width * 3) {
                for (sum, &(left, right)) in sums.iter_mut().zip(&columns) {
                    for p in row[left * 3..right * 3].chunks_exact(3) {
                        *sum += 77 * u32::from(p[0]) + 150 * u32::from(p[1]) + 29 * u32::from(p[2]);
                    }
                }
            }
            for ((value, sum), (left, right)) in line.iter_mut().zip(sums).zip(columns) {
                let pixels = ((bottom - top) * (right - left)) as u32;
                *value = ((sum / pixels) >> 8) as u8;
            }
        }
        Self { luma }
    }

    /// Computes how poorly `earlier` predicts this picture. The result is the residual if every
    /// block is predicted by its best match in `earlier`, divided by the residual if every block is
    /// predicted by its mean. It is less than about 0.5 for moved content, and about 1 or more for
    /// a different picture.
    pub(crate) fn novelty(&self, earlier: &Self) -> f32 {
        let (mut moved, mut texture) = (0, 0.0);
        for down in 0..DOWN {
            for across in 0..ACROSS {
                let (x, y) = (across * BLOCK_WIDTH, down * BLOCK_HEIGHT);
                let block = Block::at(self, x, y);
                moved += block.best_match(earlier, x, y);
                texture += block.texture();
            }
        }
        moved as f32 / texture.max(MIN_TEXTURE * (WIDTH * HEIGHT) as f32)
    }

    fn row(&self, x: usize, y: usize) -> [u8; BLOCK_WIDTH] {
        let mut row = [0; BLOCK_WIDTH];
        row.copy_from_slice(&self.luma[y * WIDTH + x..y * WIDTH + x + BLOCK_WIDTH]);
        row
    }
}

struct Block([[u8; BLOCK_WIDTH]; BLOCK_HEIGHT]);

impl Block {
    fn at(sketch: &Sketch, x: usize, y: usize) -> Self {
        let mut rows = [[0; BLOCK_WIDTH]; BLOCK_HEIGHT];
        for (i, row) in rows.iter_mut().enumerate() {
            *row = sketch.row(x, y + i);
        }
        Self(rows)
    }

    /// Sum of the absolute differences from the block's mean.
    fn texture(&self) -> f32 {
        let pixels = || self.0.iter().flatten().map(|&p| f32::from(p));
        let mean = pixels().sum::<f32>() / (BLOCK_WIDTH * BLOCK_HEIGHT) as f32;
        pixels().map(|p| (p - mean).abs()).sum()
    }

    /// Minimum sum of absolute differences from a block of `earlier` within `REACH` of the same
    /// position.
    fn best_match(&self, earlier: &Sketch, x: usize, y: usize) -> u32 {
        let (left, right) = (x.saturating_sub(REACH), (x + REACH).min(WIDTH - BLOCK_WIDTH));
        let (top, bottom) = (y.saturating_sub(REACH), (y + REACH).min(HEIGHT - BLOCK_HEIGHT));
        let mut best = self.difference(earlier, x, y, u32::MAX);
        for y in top..=bottom {
            for x in left..=right {
                best = best.min(self.difference(earlier, x, y, best));
            }
        }
        best
    }

    /// Sum of the absolute differences from the block of `earlier` at a position. The sum stops
    /// early once it reaches `limit`.
    fn difference(&self, earlier: &Sketch, x: usize, y: usize, limit: u32) -> u32 {
        let mut sum = 0;
        for (i, row) in self.0.iter().enumerate() {
            let there = earlier.row(x, y + i);
            sum += row.iter().zip(there).map(|(&a, b)| u32::from(a.abs_diff(b))).sum::<u32>();
            if sum >= limit {
                break;
            }
        }
        sum
    }
}

/// The range of pixels that part `i` covers if `size` pixels are divided into `parts`. It has at
/// least one pixel.
fn span(i: usize, parts: usize, size: usize) -> (usize, usize) {
    let start = i * size / parts;
    (start, ((i + 1) * size / parts).max(start + 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sketch(light: impl Fn(i32, i32) -> u8) -> Sketch {
        let rgb: Vec<u8> = (0..90)
            .flat_map(|y| (0..160).map(move |x| (x, y)))
            .flat_map(|(x, y)| [light(x, y); 3])
            .collect();
        Sketch::new(&rgb, 160, 90)
    }

    fn texture(x: i32, y: i32) -> u8 {
        let wave = (f64::from(x) / 5.0).sin() + (f64::from(y + x / 3) / 7.0).cos();
        (128.0 + 50.0 * wave) as u8
    }

    #[test]
    fn moved_content_is_not_novel() {
        let before = sketch(texture);
        let moved = sketch(|x, y| texture(x + 9, y - 6));
        let other = sketch(|x, y| texture(3 * y + 40, 2 * x));
        assert_eq!(before.novelty(&before), 0.0);
        assert!(moved.novelty(&before) < 0.4, "{}", moved.novelty(&before));
        assert!(other.novelty(&before) > 0.9, "{}", other.novelty(&before));
    }

    #[test]
    fn noise_on_flat_pictures_is_not_novel() {
        let flat = sketch(|_, _| 90);
        let noisy = sketch(|x, y| 90 + ((x * 7 + y * 13) % 2) as u8);
        assert!(noisy.novelty(&flat) <= 1.0, "{}", noisy.novelty(&flat));
        assert!(sketch(|_, _| 140).novelty(&flat) > 10.0);
    }

    #[test]
    fn frames_smaller_than_the_sketch_are_accepted() {
        let tiny = Sketch::new(&[100; 24], 4, 2);
        assert_eq!(tiny.novelty(&tiny), 0.0);
    }
}
