//! A frame reduced to a coarse colour layout, and the difference between two layouts. Both are
//! computed for every frame, so they must be cheap.

/// Number of columns of cells.
pub(crate) const COLUMNS: usize = 32;
/// Number of rows of cells.
pub(crate) const ROWS: usize = 18;
/// Number of cells.
const CELLS: usize = COLUMNS * ROWS;

/// Number of parallel sums; a divisor of [`CELLS`].
const LANES: usize = 8;

/// Width of a region, in cells. Differences are measured by region, to distinguish a caption or
/// person that covers part of the picture from a change to the whole picture.
const REGION_COLUMNS: usize = 4;
/// Height of a region, in cells.
const REGION_ROWS: usize = 3;
const REGIONS: usize = CELLS / (REGION_COLUMNS * REGION_ROWS);

/// A change is measured over this share of the regions, which are those that change least. An
/// appearing caption or a passing person leaves most regions unchanged, whereas a cut leaves hardly
/// any unchanged.
const MEASURED_SHARE: f32 = 0.75;

/// Maximum luma (0..255) of regions that count as bars around the picture.
const BAR_LUMA: f32 = 10.0;

/// Mean luma below which differences are amplified, since dark shots differ little.
const DARK_LUMA: f32 = 48.0;
const MAX_GAIN: f32 = 3.0;

/// Mean luma, Cb and Cr (BT.601, chroma centred on 128) of each cell.
#[derive(Clone)]
pub(crate) struct Signature {
    planes: [[u8; CELLS]; 3],
}

/// The difference between two frames.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Difference {
    /// Mean of |ΔY| + |ΔCb| + |ΔCr| over the regions with the least change, amplified in dark
    /// pictures.
    pub(crate) overall: f32,
    /// Mean over all cells, not amplified.
    pub(crate) mean: f32,
}

/// Maps the pixels of frames of a fixed size to cells.
pub(crate) struct Grid {
    width: usize,
    columns: Vec<(usize, usize)>,
    rows: Vec<(usize, usize)>,
}

impl Grid {
    pub(crate) fn new(width: usize, height: usize) -> Self {
        // A cell is at least one pixel wide, so tiny frames repeat pixels.
        let spans = |size: usize, parts: usize| {
            (0..parts)
                .map(|i| (i * size / parts, ((i + 1) * size / parts).max(i * size / parts + 1)))
                .collect()
        };
        Self { width, columns: spans(width, COLUMNS), rows: spans(height, ROWS) }
    }

    pub(crate) fn signature(&self, rgb: &[u8]) -> Signature {
        let mut planes = [[0; CELLS]; 3];
        for (row, &(top, bottom)) in self.rows.iter().enumerate() {
            let mut sums = [[0u32; 3]; COLUMNS];
            for line in rgb[top * self.width * 3..bottom * self.width * 3].chunks(self.width * 3) {
                for (sum, &(left, right)) in sums.iter_mut().zip(&self.columns) {
                    for pixel in line[left * 3..right * 3].chunks_exact(3) {
                        sum[0] += u32::from(pixel[0]);
                        sum[1] += u32::from(pixel[1]);
                        sum[2] += u32::from(pixel[2]);
                    }
                }
            }
            for (column, (sum, &(left, right))) in sums.iter().zip(&self.columns).enumerate() {
                let pixels = ((right - left) * (bottom - top)) as f32;
                let [r, g, b] = sum.map(|s| s as f32 / pixels);
                let y = 0.299 * r + 0.587 * g + 0.114 * b;
                let cell = row * COLUMNS + column;
                planes[0][cell] = y.round() as u8;
                planes[1][cell] = (128.0 + 0.564 * (b - y)).round() as u8;
                planes[2][cell] = (128.0 + 0.713 * (r - y)).round() as u8;
            }
        }
        Signature { planes }
    }
}

impl Signature {
    /// Luma of each cell, row by row.
    pub(crate) fn luma(&self) -> &[u8] {
        &self.planes[0]
    }

    pub(crate) fn mean_luma(&self) -> f32 {
        let sum: u32 = self.luma().iter().map(|&y| u32::from(y)).sum();
        sum as f32 / CELLS as f32
    }

    pub(crate) fn difference(&self, other: &Self) -> Difference {
        // Plane by plane and region by region, so that the sums vectorize.
        let mut changes = [0u16; CELLS];
        let mut light = [0u16; CELLS];
        for (a, b) in self.planes.iter().zip(&other.planes) {
            for ((change, &a), &b) in changes.iter_mut().zip(a).zip(b) {
                *change += u16::from(a.abs_diff(b));
            }
        }
        for ((light, &a), &b) in light.iter_mut().zip(&self.planes[0]).zip(&other.planes[0]) {
            *light = u16::from(a.max(b));
        }
        let mut regions = [0u32; REGIONS];
        let mut luma = [0u32; REGIONS];
        for (i, (change, light)) in
            changes.chunks_exact(REGION_COLUMNS).zip(light.chunks_exact(REGION_COLUMNS)).enumerate()
        {
            let across = COLUMNS / REGION_COLUMNS;
            let region = i / across / REGION_ROWS * across + i % across;
            regions[region] += change.iter().map(|&c| u32::from(c)).sum::<u32>();
            luma[region] += light.iter().map(|&c| u32::from(c)).sum::<u32>();
        }
        let cells = (REGION_COLUMNS * REGION_ROWS) as f32;
        let mean = regions.iter().sum::<u32>() as f32 / CELLS as f32;
        let is_bar = |&(_, y): &(u32, u32)| y as f32 / cells < BAR_LUMA;
        let all: Vec<(u32, u32)> = regions.into_iter().zip(luma).collect();
        let mut visible: Vec<(u32, u32)> = all.iter().copied().filter(|r| !is_bar(r)).collect();
        if visible.len() * 2 < REGIONS {
            visible = all;
        }
        let level =
            visible.iter().map(|r| r.1).sum::<u32>() as f32 / (visible.len() as f32 * cells);
        let gain = (DARK_LUMA / level.max(1.0)).clamp(1.0, MAX_GAIN);
        visible.sort_unstable();
        let measured = ((visible.len() as f32 * MEASURED_SHARE) as usize).max(1);
        let sum: u32 = visible[..measured].iter().map(|r| r.0).sum();
        Difference { overall: gain * sum as f32 / (measured as f32 * cells), mean }
    }

    /// Mean of |ΔCb| + |ΔCr| over all cells.
    pub(crate) fn colour_difference(&self, other: &Self) -> f32 {
        let planes = self.planes[1..].iter().flatten().zip(other.planes[1..].iter().flatten());
        planes.map(|(&a, &b)| u32::from(a.abs_diff(b))).sum::<u32>() as f32 / CELLS as f32
    }

    /// [`Difference::overall`] without any change that the whole picture shares, such as a change
    /// in exposure or white balance.
    pub(crate) fn layout_difference(&self, other: &Self) -> f32 {
        let mut shifted = other.clone();
        for (a, b) in self.planes.iter().zip(&mut shifted.planes) {
            let mut shifts: Vec<i16> =
                a.iter().zip(b.iter()).map(|(&a, &b)| i16::from(a) - i16::from(b)).collect();
            let (_, &mut shift, _) = shifts.select_nth_unstable(CELLS / 2);
            for cell in b {
                *cell = (i16::from(*cell) + shift).clamp(0, 255) as u8;
            }
        }
        self.difference(&shifted).overall
    }

    /// Correlation of the luma layouts, −1..1; 1 if both are flat. It does not depend on brightness
    /// and contrast.
    pub(crate) fn correlation(&self, other: &Self) -> f32 {
        let (ma, mb) = (self.mean_luma(), other.mean_luma());
        let (mut ab, mut aa, mut bb) = (0.0, 0.0, 0.0);
        for (&a, &b) in self.luma().iter().zip(other.luma()) {
            let (a, b) = (f32::from(a) - ma, f32::from(b) - mb);
            ab += a * b;
            aa += a * a;
            bb += b * b;
        }
        // If the standard deviation is below 2, there is no layout to compare.
        let floor = CELLS as f32 * 4.0;
        if aa < floor && bb < floor { 1.0 } else { ab / (aa.max(floor) * bb.max(floor)).sqrt() }
    }

    /// Whether the frame is black, except for a faint logo at most.
    pub(crate) fn is_black(&self) -> bool {
        self.mean_luma() < 8.0 && self.luma().iter().all(|&y| y < 44)
    }

    /// Whether the frame is one flat tone, as in the middle of a fade through white.
    pub(crate) fn is_blank(&self) -> bool {
        let mean = self.mean_luma();
        let spread: f32 = self.luma().iter().map(|&y| (f32::from(y) - mean).abs()).sum();
        spread / (CELLS as f32) < 4.0
    }

    /// Fits `self` as a mixture of `from` and `to`. Returns the share of `to`, which may lie
    /// outside 0..1. Also returns the mean absolute residual, as a share of the difference between
    /// `from` and `to`.
    pub(crate) fn mixture(&self, from: &Self, to: &Self) -> (f32, f32) {
        // Integers and parallel sums, since this runs for many frames.
        let (mut along, mut length, mut span) = (0, 0, 0);
        for ((mixed, from), to) in self.planes.iter().zip(&from.planes).zip(&to.planes) {
            for ((&mixed, &from), &to) in mixed.iter().zip(from).zip(to) {
                let (m, d) = (i32::from(mixed) - i32::from(from), i32::from(to) - i32::from(from));
                along += m * d;
                length += d * d;
                span += d.abs();
            }
        }
        let share = along as f32 / (length as f32 + 1e-3);
        let mut residuals = [0.0f32; LANES];
        for ((mixed, from), to) in self.planes.iter().zip(&from.planes).zip(&to.planes) {
            let [mixed, from, to] = [mixed, from, to].map(|plane| plane.as_chunks::<LANES>().0);
            for ((mixed, from), to) in mixed.iter().zip(from).zip(to) {
                for (((residual, &m), &a), &b) in residuals.iter_mut().zip(mixed).zip(from).zip(to)
                {
                    let [m, a, b] = [m, a, b].map(f32::from);
                    *residual += (m - a - share * (b - a)).abs();
                }
            }
        }
        let residual = residuals.iter().sum::<f32>();
        (share, residual / (span as f32 + 1e-3))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn picture(colour: impl Fn(usize, usize) -> [u8; 3]) -> Signature {
        let rgb: Vec<u8> = (0..90)
            .flat_map(|y| (0..160).map(move |x| (x, y)))
            .flat_map(|(x, y)| colour(x, y))
            .collect();
        Grid::new(160, 90).signature(&rgb)
    }

    #[test]
    fn captions_differ_little_and_other_pictures_much() {
        let plain = picture(|x, _| [x as u8, 80, 80]);
        let caption = picture(|x, y| if y > 70 && x < 80 { [250; 3] } else { [x as u8, 80, 80] });
        let other = picture(|x, y| [200 - x as u8, 2 * y as u8, 20]);
        assert!(plain.difference(&caption).overall < 1.0);
        assert!(plain.difference(&caption).mean > 5.0);
        assert!(plain.difference(&other).overall > 40.0);
    }

    #[test]
    fn bars_do_not_hide_a_change() {
        let barred = |level: u8| {
            picture(move |_, y| if (15..75).contains(&y) { [level; 3] } else { [0; 3] })
        };
        assert!(barred(60).difference(&barred(160)).overall > 80.0);
        assert_eq!(barred(60).difference(&barred(60)).overall, 0.0);
    }

    #[test]
    fn mixtures_are_recognised_with_their_share() {
        let a = picture(|x, _| [x as u8, 80, 80]);
        let b = picture(|_, y| [40, 2 * y as u8, 200]);
        let mixed = picture(|x, y| {
            let mix = |a: f32, b: f32| (0.75 * a + 0.25 * b) as u8;
            [mix(x as f32, 40.0), mix(80.0, 2.0 * y as f32), mix(80.0, 200.0)]
        });
        let (share, residual) = mixed.mixture(&a, &b);
        assert!((share - 0.25).abs() < 0.03 && residual < 0.05, "{share} {residual}");
        let (_, residual) = picture(|x, y| [(x * y) as u8, 9, 9]).mixture(&a, &b);
        assert!(residual > 0.5, "{residual}");
    }

    #[test]
    fn frames_smaller_than_the_grid_are_accepted() {
        let tiny = Grid::new(4, 2).signature(&[100; 24]);
        assert_eq!(tiny.mean_luma(), 100.0);
    }
}
