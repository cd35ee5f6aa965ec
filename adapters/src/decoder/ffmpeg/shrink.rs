//! Shrinks pictures by integer factors, averaging each block of pixels. A scan needs many small
//! pictures. For these, a scaler's filters would cost more than everything else except decoding.

use ffmpeg::format::Pixel;
use ffmpeg::frame::Video;
use ffmpeg_next as ffmpeg;
use kernels::{MAX_BLOCK, Plane, PlaneMut, block_means};

/// Maximum fraction of a side that may be cut off.
const MAX_CUT_SHARE: f32 = 0.01;

/// Shrinks the pictures of one stream.
pub(super) struct Shrinker {
    small: Video,
    /// Sums of the columns in a row of blocks.
    columns: Vec<u16>,
}

impl Default for Shrinker {
    fn default() -> Self {
        Self { small: Video::empty(), columns: Vec::new() }
    }
}

impl Shrinker {
    /// Shrinks the picture to the smallest size that is at least `width × height`. Returns the
    /// original if its blocks cannot be averaged because it has more than eight bits or packed
    /// chroma, or is stored bottom-up. May cut off up to [`MAX_CUT_SHARE`] of each side, on the
    /// right and at the bottom.
    pub(super) fn shrink<'a>(
        &'a mut self,
        frame: &'a Video,
        (width, height): (u32, u32),
    ) -> &'a Video {
        let (across, down) = (block(frame.width(), width), block(frame.height(), height));
        let too_small = frame.width().min(frame.height()) < 2;
        // Bottom-up pictures have a negative stride.
        let forward = |plane| isize::try_from(frame.stride(plane)).is_ok_and(|bytes| bytes > 0);
        let readable = is_planar_8_bit(frame.format()) && (0..frame.planes()).all(forward);
        if across * down == 1 || too_small || !readable {
            return frame;
        }
        let (width, height) = (blocks(frame.width(), across), blocks(frame.height(), down));
        let is = &self.small;
        if (is.format(), is.width(), is.height()) != (frame.format(), width, height) {
            self.small = Video::new(frame.format(), width, height);
        }
        for plane in 0..frame.planes() {
            let width = self.small.plane_width(plane) as usize;
            let height = self.small.plane_height(plane) as usize;
            let stride = self.small.stride(plane);
            let from = Plane { samples: frame.data(plane), stride: frame.stride(plane) };
            let samples = self.small.data_mut(plane);
            let to = PlaneMut { samples, stride, width, height };
            block_means(&from, to, (across as usize, down as usize), &mut self.columns);
        }
        &self.small
    }
}

/// Returns the longest block side that leaves at least `min_blocks` blocks and little remainder.
fn block(size: u32, min_blocks: u32) -> u32 {
    let fits =
        |block: &u32| blocks(size, *block) * block >= size - (size as f32 * MAX_CUT_SHARE) as u32;
    (1..=(size / min_blocks.max(1)).min(MAX_BLOCK)).rev().find(fits).unwrap_or(1)
}

/// Returns the number of blocks along a side. The number is even because of chroma subsampling.
fn blocks(size: u32, block: u32) -> u32 {
    (size / block) & !1
}

fn is_planar_8_bit(format: Pixel) -> bool {
    matches!(
        format,
        Pixel::YUV420P
            | Pixel::YUVJ420P
            | Pixel::YUV422P
            | Pixel::YUVJ422P
            | Pixel::YUV444P
            | Pixel::YUVJ444P
            | Pixel::GRAY8
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn block_becomes_its_mean() {
        let mut frame = Video::new(Pixel::YUV420P, 16, 8);
        for plane in 0..3 {
            let stride = frame.stride(plane);
            for (y, line) in frame.data_mut(plane).chunks_mut(stride).enumerate() {
                for (x, sample) in line.iter_mut().enumerate() {
                    *sample = (plane * 50 + x + 10 * y) as u8;
                }
            }
        }
        let mut shrinker = Shrinker::default();
        let small = shrinker.shrink(&frame, (4, 3));
        assert_eq!((small.width(), small.height()), (4, 4));
        // Each block has four by two pixels. The first value is the mean of 0 1 2 3 and 10 11 12
        // 13.
        assert_eq!(small.data(0)[..4], [7, 11, 15, 19]);
        assert_eq!(small.data(0)[small.stride(0)..][..2], [27, 31]);
        assert_eq!(small.data(2)[..2], [107, 111]);
    }

    #[test]
    fn tall_block_samples_a_few_lines() {
        let mut frame = Video::new(Pixel::GRAY8, 8, 20);
        let stride = frame.stride(0);
        for (y, line) in frame.data_mut(0).chunks_mut(stride).enumerate() {
            line.fill(10 * y as u8);
        }
        let mut shrinker = Shrinker::default();
        let small = shrinker.shrink(&frame, (4, 2));
        // Rows 0, 3, 6 and 9 of each block of ten.
        assert_eq!((small.data(0)[0], small.data(0)[small.stride(0)]), (45, 145));
    }

    #[test]
    fn remainder_is_small() {
        for (size, min_blocks, across) in
            [(1280, 160, 8), (854, 160, 5), (1920, 90, 20), (15, 4, 1)]
        {
            assert_eq!(block(size, min_blocks), across, "{size} for {min_blocks}");
        }
    }

    #[test]
    fn small_or_unsupported_pictures_are_unchanged() {
        let mut shrinker = Shrinker::default();
        for (format, size) in [(Pixel::YUV420P, 16), (Pixel::RGB24, 64), (Pixel::YUV420P10LE, 64)] {
            let frame = Video::new(format, size, size);
            let same = shrinker.shrink(&frame, (9, 9));
            assert_eq!((same.width(), same.format()), (size, format));
        }
    }
}
