//! Converts decoded pictures to 8-bit RGB, including scaling, colour conversion and orientation.

use ffmpeg::format::Pixel;
use ffmpeg::frame::Video;
use ffmpeg::software::scaling::{Context as Scaler, Flags};
use ffmpeg::{color, ffi};
use ffmpeg_next as ffmpeg;
use ports::decoder::Image;

use super::Error;
use super::hdr::{ToneMap, Transfer};
use super::shrink::Shrinker;

/// One of the eight orientations that result from quarter turns and mirroring.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Orientation {
    /// Whether to swap rows and columns. The swap is applied before mirroring.
    swap: bool,
    mirror_x: bool,
    mirror_y: bool,
}

impl Orientation {
    /// Creates an orientation from a container's display matrix, which maps a source pixel (p, q)
    /// to (a·p + c·q, b·p + d·q). Rounds angles to quarter turns.
    pub(super) fn from_matrix(m: &[i32; 9]) -> Self {
        let [a, b, c, d] = [m[0], m[1], m[3], m[4]].map(i64::from);
        if a == 0 && b == 0 && c == 0 && d == 0 {
            return Self::default();
        }
        let swap = b.abs() + c.abs() > a.abs() + d.abs();
        let (x, y) = if swap { (c, b) } else { (a, d) };
        Self { swap, mirror_x: x < 0, mirror_y: y < 0 }
    }

    /// Converts between the stored size and the displayed size.
    pub(super) fn size(self, (width, height): (u32, u32)) -> (u32, u32) {
        if self.swap { (height, width) } else { (width, height) }
    }

    /// Copies a `width × height` image with rows of `stride` bytes to `out`, in display
    /// orientation.
    fn apply(self, source: &[u8], stride: usize, width: usize, height: usize, out: &mut Vec<u8>) {
        out.clear();
        out.reserve(width * height * 3);
        for y in 0..height {
            let sy = if self.mirror_y { height - 1 - y } else { y };
            if !self.swap && !self.mirror_x {
                out.extend_from_slice(&source[sy * stride..][..width * 3]);
                continue;
            }
            for x in 0..width {
                let sx = if self.mirror_x { width - 1 - x } else { x };
                let at = if self.swap { sx * stride + sy * 3 } else { sy * stride + sx * 3 };
                out.extend_from_slice(&source[at..at + 3]);
            }
        }
    }
}

/// Scales and converts the pictures of one stream, whose format may change at any time.
pub(super) struct Converter {
    orientation: Orientation,
    flags: Flags,
    /// Shrinks large pictures before scaling if exactness is not required.
    shrinker: Option<Shrinker>,
    scaler: Option<(Key, Scaler)>,
    scaled: Video,
    /// Used for high dynamic range, which the scaler does not support.
    tone_map: Option<ToneMap>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
struct Key {
    from: (Pixel, u32, u32),
    to: (Pixel, u32, u32),
    colours: (color::Space, color::Range),
    /// Whether the picture is larger than standard definition.
    fine: bool,
}

impl Converter {
    /// Creates a converter for many small pictures. Every source pixel contributes, which averages
    /// out noise. The cost is about half that of the bicubic filter, or a tenth if exactness is not
    /// required.
    pub(super) fn small(orientation: Orientation, exact: bool) -> Self {
        let shrinker = (!exact).then(Shrinker::default);
        Self { shrinker, ..Self::new(orientation, Flags::AREA) }
    }

    /// Creates a converter for pictures that people and models view.
    pub(super) fn fine(orientation: Orientation) -> Self {
        Self::new(orientation, Flags::BICUBIC | Flags::ACCURATE_RND | Flags::FULL_CHR_H_INT)
    }

    fn new(orientation: Orientation, flags: Flags) -> Self {
        let scaled = Video::empty();
        Self { orientation, flags, shrinker: None, scaler: None, scaled, tone_map: None }
    }

    /// Returns the display orientation.
    pub(super) fn orientation(&self) -> Orientation {
        self.orientation
    }

    /// Writes the picture, in display orientation and at exactly `width × height`, to `rgb`.
    pub(super) fn convert(
        &mut self,
        frame: &Video,
        (width, height): (u32, u32),
        rgb: &mut Vec<u8>,
    ) -> Result<(), Error> {
        let alpha = has_alpha(frame.format());
        let (stored_width, stored_height) = self.orientation.size((width, height));
        let transfer = Transfer::for_frame(frame);
        let to = match transfer {
            Some(_) => Pixel::RGB48LE,
            None if alpha => Pixel::RGBA,
            None => Pixel::RGB24,
        };
        let colours = (frame.color_space(), frame.color_range());
        let fine = frame.width() >= 1280 || frame.height() > 576;
        let tone_map = transfer.map(|t| ToneMap::for_picture(&mut self.tone_map, t, frame));
        let frame = match &mut self.shrinker {
            Some(shrinker) => shrinker.shrink(frame, (stored_width, stored_height)),
            None => frame,
        };
        let key = Key {
            from: (frame.format(), frame.width(), frame.height()),
            to: (to, stored_width, stored_height),
            colours,
            fine,
        };
        let scaler = match &mut self.scaler {
            Some((k, scaler)) if *k == key => scaler,
            slot => {
                self.scaled = Video::empty();
                &mut slot.insert((key, open_scaler(&key, self.flags)?)).1
            }
        };
        scaler.run(frame, &mut self.scaled)?;
        if let Some(tone_map) = tone_map {
            tone_map.apply(&mut self.scaled);
        } else if alpha {
            blend_with_black(&mut self.scaled);
        }
        // The scaler pads its rows.
        let stride = self.scaled.stride(0);
        self.orientation.apply(self.scaled.data(0), stride, width as usize, height as usize, rgb);
        Ok(())
    }

    /// Returns the picture for an encoder: in stored orientation, at exactly `width × height`, and
    /// with the colours and range of BT.709.
    pub(super) fn standard(
        &mut self,
        frame: &Video,
        (width, height): (u32, u32),
    ) -> Result<Video, Error> {
        let mut rgb = Vec::new();
        self.convert(frame, (width, height), &mut rgb)?;
        let mut picture = Video::new(Pixel::RGB24, width, height);
        let stride = picture.stride(0);
        let rows = picture.data_mut(0).chunks_mut(stride);
        for (row, from) in rows.zip(rgb.chunks(width as usize * 3)) {
            row[..from.len()].copy_from_slice(from);
        }
        let (from, to) = (Pixel::RGB24, Pixel::YUV420P);
        let mut scaler = Scaler::get(from, width, height, to, width, height, Flags::BICUBIC)?;
        set_colours(&mut scaler, (ffi::SWS_CS_ITU709, true), (ffi::SWS_CS_ITU709, false));
        let mut standard = Video::empty();
        scaler.run(&picture, &mut standard)?;
        Ok(standard)
    }

    /// Returns the picture in display orientation, scaled down if a side exceeds `max_side`.
    pub(super) fn image(
        &mut self,
        frame: &Video,
        pixel_aspect: f64,
        max_side: u32,
    ) -> Result<Image, Error> {
        let size = display_size(frame.width(), frame.height(), pixel_aspect);
        let (width, height) = fit(self.orientation.size(size), max_side);
        let mut rgb = Vec::new();
        self.convert(frame, (width, height), &mut rgb)?;
        Ok(Image { width, height, rgb })
    }
}

fn fit((width, height): (u32, u32), max_side: u32) -> (u32, u32) {
    let longer = width.max(height);
    if longer <= max_side.max(1) {
        return (width, height);
    }
    let scale = f64::from(max_side.max(1)) / f64::from(longer);
    let side = |n: u32| ((f64::from(n) * scale).round() as u32).max(1);
    (side(width), side(height))
}

fn open_scaler(key: &Key, flags: Flags) -> Result<Scaler, Error> {
    let (from, width, height) = key.from;
    let (to, to_width, to_height) = key.to;
    let mut scaler = Scaler::get(from, width, height, to, to_width, to_height, flags)?;
    let (space, range) = key.colours;
    let matrix = match space {
        color::Space::BT709 => ffi::SWS_CS_ITU709,
        color::Space::BT2020NCL | color::Space::BT2020CL => ffi::SWS_CS_BT2020,
        color::Space::SMPTE240M => ffi::SWS_CS_SMPTE240M,
        color::Space::FCC => ffi::SWS_CS_FCC,
        // If the colours of a high-definition picture are unspecified, players assume BT.709.
        color::Space::Unspecified if key.fine => ffi::SWS_CS_ITU709,
        _ => ffi::SWS_CS_ITU601,
    };
    let full = range == color::Range::JPEG || is_full_range(from);
    set_colours(&mut scaler, (matrix, full), (ffi::SWS_CS_ITU709, true));
    Ok(scaler)
}

/// Sets the colour matrix and range of the input and the output.
pub(super) fn set_colours(scaler: &mut Scaler, from: (i32, bool), to: (i32, bool)) {
    #[expect(unsafe_code, reason = "FFI")]
    // SAFETY: the scaler is open, and the coefficient tables are static. If the format has no
    // colour matrix, the call fails and changes nothing.
    unsafe {
        ffi::sws_setColorspaceDetails(
            scaler.as_mut_ptr(),
            ffi::sws_getCoefficients(from.0),
            i32::from(from.1),
            ffi::sws_getCoefficients(to.0),
            i32::from(to.1),
            0,
            1 << 16,
            1 << 16,
        );
    }
}

fn is_full_range(format: Pixel) -> bool {
    matches!(format, Pixel::YUVJ420P | Pixel::YUVJ422P | Pixel::YUVJ444P | Pixel::YUVJ440P)
}

fn has_alpha(format: Pixel) -> bool {
    #[expect(unsafe_code, reason = "FFI")]
    // SAFETY: descriptors are static. The pointer is null if the format is unknown.
    let flags = unsafe { ffi::av_pix_fmt_desc_get(format.into()).as_ref().map_or(0, |d| d.flags) };
    flags & ffi::AV_PIX_FMT_FLAG_ALPHA as u64 != 0
}

/// Blends RGBA rows with black and packs them as RGB at the start of each row.
fn blend_with_black(picture: &mut Video) {
    let (width, stride) = (picture.width() as usize, picture.stride(0));
    for row in picture.data_mut(0).chunks_mut(stride) {
        for x in 0..width {
            let alpha = u16::from(row[x * 4 + 3]);
            for c in 0..3 {
                row[x * 3 + c] = (u16::from(row[x * 4 + c]) * alpha / 255) as u8;
            }
        }
    }
}

/// Returns the displayed size of a picture with non-square pixels. Enlarges the side along which
/// pixels are longer.
pub(super) fn display_size(width: u32, height: u32, pixel_aspect: f64) -> (u32, u32) {
    let stretch = |n: u32, by: f64| ((f64::from(n) * by).round() as u32).max(1);
    if pixel_aspect >= 1.0 {
        (stretch(width, pixel_aspect), height)
    } else {
        (width, stretch(height, 1.0 / pixel_aspect))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns 2 × 3 stored pixels that are numbered row by row. Rows are padded to 8 bytes.
    fn numbered() -> Vec<u8> {
        let mut rows = Vec::new();
        for y in 0..3u8 {
            for x in 0..2u8 {
                rows.extend([y * 2 + x; 3]);
            }
            rows.extend([99, 99]);
        }
        rows
    }

    fn shown(matrix: [i32; 9]) -> Vec<Vec<u8>> {
        let orientation = Orientation::from_matrix(&matrix);
        let (width, height) = orientation.size((2, 3));
        let mut out = Vec::new();
        orientation.apply(&numbered(), 8, width as usize, height as usize, &mut out);
        out.chunks(width as usize * 3).map(|r| r.iter().copied().step_by(3).collect()).collect()
    }

    #[test]
    fn display_matrices_rotate_and_mirror() {
        let one = 65536;
        let matrix = |a, b, c, d| [a, b, 0, c, d, 0, 0, 0, 1 << 30];
        assert_eq!(shown(matrix(one, 0, 0, one)), [[0, 1], [2, 3], [4, 5]]);
        assert_eq!(shown(matrix(-one, 0, 0, -one)), [[5, 4], [3, 2], [1, 0]]);
        assert_eq!(shown(matrix(-one, 0, 0, one)), [[1, 0], [3, 2], [5, 4]]);
        // A quarter turn clockwise: the first row becomes the last column.
        assert_eq!(shown(matrix(0, one, -one, 0)), [[4, 2, 0], [5, 3, 1]]);
        assert_eq!(shown(matrix(0, -one, one, 0)), [[1, 3, 5], [0, 2, 4]]);
        assert_eq!(shown([0; 9]), [[0, 1], [2, 3], [4, 5]]);
    }

    #[test]
    fn images_fit_the_longer_side() {
        assert_eq!(fit((1280, 720), 640), (640, 360));
        assert_eq!(fit((320, 568), 640), (320, 568));
        assert_eq!(fit((4000, 2), 100), (100, 1));
    }

    #[test]
    fn non_square_pixels_stretch_the_longer_side() {
        assert_eq!(display_size(720, 576, 16.0 / 15.0), (768, 576));
        assert_eq!(display_size(720, 480, 8.0 / 9.0), (720, 540));
        assert_eq!(display_size(640, 360, 1.0), (640, 360));
    }
}
