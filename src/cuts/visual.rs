//! Visual measurements for each second, taken during the scan: luma, colour, motion, sharpness and
//! a perceptual hash. The measurements are stored with the record, so that no later step has to
//! decode the video again.

use ports::decoder::ScanFrame;
use serde::{Deserialize, Serialize};

/// Number of frames per second that are measured. Motion is measured in every frame.
const SAMPLES: f64 = 4.0;

/// Side of the luma picture for the perceptual hash, in pixels.
const HASH_SIDE: usize = 32;

/// Visual measurements for one second.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct VisualSecond {
    /// The second, which spans `second..second + 1`.
    pub second: u32,
    /// Mean luma, 0 (black) to 255.
    pub luma: f32,
    /// Colourfulness as defined by Hasler and Süsstrunk (2003): 0 for greys, above about 60 for
    /// vivid colours.
    pub colourfulness: f32,
    /// Mean absolute change from frame to frame, summed over luma and both colour differences.
    pub motion: f32,
    /// Mean absolute luma difference between neighbouring pixels of the small frames.
    pub sharpness: f32,
    /// Share of pixels in each of 4 × 4 × 4 bins of red, green and blue. The index of a bin is `16
    /// r + 4 g + b`.
    pub histogram: Vec<f32>,
    /// 64-bit perceptual hash of the frame nearest to the midpoint of the second. The hashes of
    /// similar pictures differ in few bits.
    pub hash: u64,
}

/// Accumulates [`VisualSecond`]s over a stream of frames.
pub(crate) struct VisualSeconds {
    width: usize,
    height: usize,
    seconds: Vec<VisualSecond>,
    current: Option<Sums>,
}

#[derive(Default)]
struct Sums {
    second: u32,
    motion: f32,
    frames: u32,
    luma: f32,
    colourfulness: f32,
    sharpness: f32,
    histogram: Vec<u64>,
    pixels: u64,
    samples: u32,
    next_sample: f64,
    hash: u64,
    hash_distance: f64,
}

impl VisualSeconds {
    pub(crate) fn new(width: usize, height: usize) -> Self {
        Self { width, height, seconds: Vec::new(), current: None }
    }

    /// Adds a frame. `change` is the mean change per frame since the frame added before it.
    pub(crate) fn push(&mut self, frame: ScanFrame<'_>, change: f32) {
        let ScanFrame { time, rgb, skipped } = frame;
        let second = time.max(0.0).min(f64::from(u32::MAX)) as u32;
        if self.current.as_ref().is_none_or(|c| c.second != second) {
            self.close();
            let histogram = vec![0; 64];
            self.current =
                Some(Sums { second, histogram, hash_distance: f64::INFINITY, ..Sums::default() });
        }
        let Some(sums) = &mut self.current else { return };
        sums.motion += change * (1 + skipped) as f32;
        sums.frames += 1 + skipped;
        if time >= sums.next_sample {
            sums.next_sample = time + 0.9 / SAMPLES;
            sums.measure(rgb, self.width);
            let distance = (time - f64::from(second) - 0.5).abs();
            if distance < sums.hash_distance {
                sums.hash_distance = distance;
                sums.hash = perceptual_hash(rgb, self.width, self.height);
            }
        }
    }

    pub(crate) fn finish(mut self) -> Vec<VisualSecond> {
        self.close();
        self.seconds
    }

    fn close(&mut self) {
        let Some(sums) = self.current.take() else { return };
        let samples = sums.samples.max(1) as f32;
        self.seconds.push(VisualSecond {
            second: sums.second,
            luma: sums.luma / samples,
            colourfulness: sums.colourfulness / samples,
            motion: sums.motion / sums.frames.max(1) as f32,
            sharpness: sums.sharpness / samples,
            histogram: sums
                .histogram
                .iter()
                .map(|&n| n as f32 / sums.pixels.max(1) as f32)
                .collect(),
            hash: sums.hash,
        });
    }
}

impl Sums {
    fn measure(&mut self, rgb: &[u8], width: usize) {
        let pixels = rgb.len() / 3;
        let (mut rg, mut yb) = (Moments::default(), Moments::default());
        let (mut luma, mut steps) = (0i64, 0i64);
        let mut left = 0;
        for (i, pixel) in rgb.chunks_exact(3).enumerate() {
            let [r, g, b] = [pixel[0], pixel[1], pixel[2]].map(i32::from);
            self.histogram[((r >> 6) * 16 + (g >> 6) * 4 + (b >> 6)) as usize] += 1;
            rg.add(r - g);
            // The value on the yellow-blue axis is doubled, so that integers suffice.
            yb.add(r + g - 2 * b);
            let y = luma_from_rgb(r, g, b);
            luma += i64::from(y);
            if i % width != 0 {
                steps += i64::from((y - left).abs());
            }
            left = y;
        }
        let n = pixels.max(1) as f64;
        let (rg_mean, rg_variance) = rg.finish(n);
        let (yb_mean, yb_variance) = yb.finish(n);
        let spread = (rg_variance + yb_variance / 4.0).sqrt();
        let offset = (rg_mean * rg_mean + yb_mean * yb_mean / 4.0).sqrt();
        self.colourfulness += (spread + 0.3 * offset) as f32;
        self.luma += (luma as f64 / n) as f32;
        self.sharpness += (steps as f64 / n) as f32;
        self.pixels += pixels as u64;
        self.samples += 1;
    }
}

#[derive(Default)]
struct Moments {
    sum: i64,
    squares: i64,
}

impl Moments {
    fn add(&mut self, value: i32) {
        self.sum += i64::from(value);
        self.squares += i64::from(value) * i64::from(value);
    }

    fn finish(self, n: f64) -> (f64, f64) {
        let mean = self.sum as f64 / n;
        (mean, (self.squares as f64 / n - mean * mean).max(0.0))
    }
}

fn luma_from_rgb(r: i32, g: i32, b: i32) -> i32 {
    (77 * r + 150 * g + 29 * b) >> 8
}

/// Computes the common DCT hash. For each of the 64 lowest frequencies of the luma picture, one bit
/// is set if the coefficient exceeds the median. The median excludes the constant term.
fn perceptual_hash(rgb: &[u8], width: usize, height: usize) -> u64 {
    let mut luma = [[0.0f32; HASH_SIDE]; HASH_SIDE];
    for (y, row) in luma.iter_mut().enumerate() {
        let (top, bottom) = span(y, height);
        for (x, cell) in row.iter_mut().enumerate() {
            let (left, right) = span(x, width);
            let mut sum = 0;
            for line in top..bottom {
                for pixel in
                    rgb[(line * width + left) * 3..(line * width + right) * 3].chunks_exact(3)
                {
                    sum += luma_from_rgb(pixel[0].into(), pixel[1].into(), pixel[2].into());
                }
            }
            *cell = sum as f32 / ((bottom - top) * (right - left)) as f32;
        }
    }
    let wave = |k: usize, i: usize| {
        (std::f32::consts::PI * k as f32 * (2 * i + 1) as f32 / (2 * HASH_SIDE) as f32).cos()
    };
    let mut waves = [[0.0; HASH_SIDE]; 8];
    for (k, row) in waves.iter_mut().enumerate() {
        for (i, value) in row.iter_mut().enumerate() {
            *value = wave(k, i);
        }
    }
    let mut low = [0.0f32; 64];
    for (u, vertical) in waves.iter().enumerate() {
        for (v, horizontal) in waves.iter().enumerate() {
            low[u * 8 + v] = luma
                .iter()
                .zip(vertical)
                .map(|(row, wy)| wy * row.iter().zip(horizontal).map(|(p, wx)| p * wx).sum::<f32>())
                .sum();
        }
    }
    let mut sorted: Vec<f32> = low[1..].to_vec();
    sorted.sort_by(f32::total_cmp);
    let median = sorted[sorted.len() / 2];
    low.iter().enumerate().filter(|&(_, &v)| v > median).fold(0, |hash, (i, _)| hash | 1 << i)
}

fn span(i: usize, size: usize) -> (usize, usize) {
    let start = i * size / HASH_SIDE;
    (start, ((i + 1) * size / HASH_SIDE).max(start + 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn measure(frames: &[(f64, [u8; 3])]) -> Vec<VisualSecond> {
        let mut seconds = VisualSeconds::new(40, 30);
        for (time, colour) in frames {
            let rgb: Vec<u8> = (0..40 * 30).flat_map(|_| *colour).collect();
            seconds.push(ScanFrame::new(*time, &rgb), 2.0);
        }
        seconds.finish()
    }

    #[test]
    fn seconds_with_frames_are_measured() {
        let seconds = measure(&[(0.1, [10; 3]), (0.6, [30; 3]), (2.5, [255, 0, 0])]);
        assert_eq!(seconds.iter().map(|s| s.second).collect::<Vec<_>>(), [0, 2]);
        assert!((seconds[0].luma - 20.0).abs() < 1.0, "{}", seconds[0].luma);
        assert!(seconds[0].colourfulness < 1.0 && seconds[1].colourfulness > 60.0);
        assert_eq!(seconds[0].motion, 2.0);
        assert_eq!(seconds[0].histogram[0], 1.0);
        assert_eq!(seconds[1].histogram[3 * 16], 1.0);
    }

    #[test]
    fn similar_pictures_have_similar_hashes() {
        let picture = |shift: usize, light: usize, noise: usize| -> Vec<u8> {
            (0..90usize)
                .flat_map(|y| (0..160usize).map(move |x| (x, y)))
                .flat_map(|(x, y)| {
                    let v = ((x + shift) * (y + 20) / 60 % 200
                        + light
                        + (x * 7 + y * 13) % (noise + 1)) as u8;
                    [v, v, v]
                })
                .collect()
        };
        let a = perceptual_hash(&picture(0, 10, 0), 160, 90);
        let like = perceptual_hash(&picture(0, 30, 6), 160, 90);
        let other = perceptual_hash(&picture(77, 10, 0), 160, 90);
        assert!((a ^ like).count_ones() <= 6, "{}", (a ^ like).count_ones());
        assert!((a ^ other).count_ones() >= 16, "{}", (a ^ other).count_ones());
    }
}
