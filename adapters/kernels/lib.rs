//! Pixel loops that adapters run for every frame. They are in a separate crate so that development
//! builds can optimize them. No function is generic, because generic code is compiled in the
//! calling crate.

/// Maximum side of a block for [`block_means`]. Up to this size, column sums fit into 16 bits.
pub const MAX_BLOCK: u32 = 256;

/// Number of evenly spaced rows to read from a block. They are enough to estimate its mean.
const LINES: usize = 4;

/// One plane of an image, with one byte per sample and rows of `stride` bytes.
pub struct Plane<'a> {
    /// All rows.
    pub samples: &'a [u8],
    /// Number of bytes between the starts of two consecutive rows.
    pub stride: usize,
}

/// A writable [`Plane`].
pub struct PlaneMut<'a> {
    /// All rows.
    pub samples: &'a mut [u8],
    /// Number of bytes between the starts of two consecutive rows.
    pub stride: usize,
    /// Number of samples to write per row.
    pub width: usize,
    /// Number of rows to write.
    pub height: usize,
}

/// Writes the mean of each block of `across × down` samples to one sample. Both sides of a block
/// are at most [`MAX_BLOCK`]. `columns` is scratch space that can be reused between calls.
pub fn block_means(
    from: &Plane<'_>,
    to: PlaneMut<'_>,
    (across, down): (usize, usize),
    columns: &mut Vec<u16>,
) {
    // Multiplies by a reciprocal, because a division per block would take as long as the sums.
    let samples = across * down.div_ceil(down.div_ceil(LINES));
    let (share, half) = ((1u64 << 32) / samples as u64, samples as u64 / 2);
    let mut sources = from.samples.chunks(from.stride);
    columns.resize(to.width * across, 0);
    for line in to.samples.chunks_mut(to.stride).take(to.height) {
        columns.fill(0);
        for source in sources.by_ref().take(down).step_by(down.div_ceil(LINES)) {
            for (column, &sample) in columns.iter_mut().zip(source) {
                *column += u16::from(sample);
            }
        }
        for (mean, block) in line.iter_mut().zip(columns.chunks_exact(across)) {
            let sum: u32 = block.iter().map(|&column| u32::from(column)).sum();
            *mean = (((u64::from(sum) + half) * share) >> 32).min(255) as u8;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn means(samples: &[u8], stride: usize, to: (usize, usize), block: (usize, usize)) -> Vec<u8> {
        let mut small = vec![0; to.0 * to.1];
        let plane = PlaneMut { samples: &mut small, stride: to.0, width: to.0, height: to.1 };
        block_means(&Plane { samples, stride }, plane, block, &mut Vec::new());
        small
    }

    #[test]
    fn block_becomes_its_mean() {
        let picture = [0, 1, 2, 3, 99, 10, 11, 12, 13, 99];
        // The blocks are 0 1 10 11 and 2 3 12 13. Halves round up, and row padding is ignored.
        assert_eq!(means(&picture, 5, (2, 1), (2, 2)), [6, 8]);
    }

    #[test]
    fn largest_white_block_stays_white() {
        let side = MAX_BLOCK as usize;
        assert_eq!(means(&vec![255; side * side], side, (1, 1), (side, side)), [255]);
    }
}
