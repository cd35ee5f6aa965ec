//! The picture that a search for similar pictures is given.

use std::fmt;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::Cursor;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use image::{DynamicImage, ImageDecoder, ImageError, ImageReader, Limits};
use ports::decoder::Image;
use tokio::sync::Semaphore;

use crate::kernel::error::{Error, Result};
use crate::kernel::video::{ChunkId, VideoId};

/// Longest side, in pixels, of the picture after decoding. Larger pictures are scaled down.
pub(crate) const MAX_SIDE: u32 = 640;

/// A picture in a search request, still encoded as JPEG, PNG or WebP.
#[derive(Clone, PartialEq)]
pub struct ExamplePicture {
    encoded: Bytes,
    region: Option<Region>,
    /// The chunk that the picture is a frame of. It is never a hit.
    pub(super) chunk: Option<(VideoId, ChunkId)>,
}

/// A part of a picture, in shares of its width and height (0..1).
#[derive(Debug, Clone, Copy, PartialEq)]
struct Region {
    x: f64,
    y: f64,
    width: f64,
    height: f64,
}

impl Region {
    /// Checks that `[x, y, width, height]` lies within the picture and is not empty.
    fn parse(region: &[f64]) -> Result<Self> {
        /// The largest excess over 1 that rounding may cause.
        const ROUNDING: f64 = 1e-6;
        let expected = "region must be [x, y, width, height] in shares of the picture: each from 0 \
                        to 1, width and height above 0, x + width and y + height at most 1";
        let &[x, y, width, height] = region else { return Err(Error::Invalid(expected.into())) };
        let inside = |start: f64, length: f64| {
            start >= 0.0 && length > 0.0 && start + length <= 1.0 + ROUNDING
        };
        if !inside(x, width) || !inside(y, height) {
            return Err(Error::Invalid(expected.into()));
        }
        Ok(Self { x, y, width, height })
    }
}

impl ExamplePicture {
    /// Parses the picture of a request, if it has one. Returns `Invalid` for a region without a
    /// picture, and as [`Self::parse`].
    pub fn from_request(url: Option<&str>, region: Option<&[f64]>) -> Result<Option<Self>> {
        if region.is_some() && url.is_none() {
            let expected = "region is a part of a picture; give image as well, or omit region";
            return Err(Error::Invalid(expected.into()));
        }
        url.map(|url| Self::parse(url, region)).transpose()
    }

    /// Parses a data URL and an optional region. Returns `Invalid` if either is malformed. The
    /// picture itself is checked when it is decoded.
    pub fn parse(url: &str, region: Option<&[f64]>) -> Result<Self> {
        let expected = "image must be a data URL of a JPEG, PNG or WebP picture in base64: \
                        data:image/jpeg;base64,…";
        let data = url.strip_prefix("data:image/").and_then(|rest| rest.split_once(";base64,"));
        let (_, data) = data.ok_or_else(|| Error::Invalid(expected.into()))?;
        let encoded = STANDARD
            .decode(data.trim())
            .map_err(|e| Error::Invalid(format!("image is not valid base64 ({e}); {expected}")))?;
        let region = region.map(Region::parse).transpose()?;
        Ok(Self { encoded: encoded.into(), region, chunk: None })
    }

    /// The picture of a chunk's frame, encoded as JPEG.
    pub(crate) fn from_frame(jpeg: Bytes, chunk: (VideoId, ChunkId)) -> Self {
        Self { encoded: jpeg, region: None, chunk: Some(chunk) }
    }

    /// Decodes the picture, turns it upright and cuts out the region. Returns `Invalid` if it is no
    /// picture, and `Unprocessable` if it has more than `max_pixels`. Of an animation, only the
    /// first picture counts.
    pub(super) async fn decode(&self, max_pixels: u64) -> Result<Image> {
        /// Pictures are decoded one at a time, because a small file can have many pixels.
        static TURN: Semaphore = Semaphore::const_new(1);
        let _turn = TURN.acquire().await;
        let picture = self.clone();
        tokio::task::spawn_blocking(move || picture.decode_blocking(max_pixels))
            .await
            .map_err(|e| Error::corrupt(format!("decoding a picture panicked: {e}")))?
    }

    fn decode_blocking(&self, max_pixels: u64) -> Result<Image> {
        let invalid = |e: ImageError| {
            Error::Invalid(format!(
                "image is not a readable picture: {e}; accepted are JPEG, PNG and WebP"
            ))
        };
        let reader = ImageReader::new(Cursor::new(self.encoded.clone()));
        let mut reader = reader.with_guessed_format().map_err(|e| invalid(e.into()))?;
        reader.limits(Limits::no_limits());
        let mut decoder = reader.into_decoder().map_err(invalid)?;
        let (width, height) = decoder.dimensions();
        if u64::from(width) * u64::from(height) > max_pixels {
            return Err(Error::Unprocessable(format!(
                "image has {width} × {height} pixels; it must have at most {max_pixels} \
                 (search.max_image_pixels)"
            )));
        }
        let orientation = decoder.orientation().map_err(invalid)?;
        let mut picture = DynamicImage::from_decoder(decoder).map_err(invalid)?;
        picture.apply_orientation(orientation);
        if let Some(Region { x, y, width, height }) = self.region {
            let pixels = |share: f64, side: u32| (share * f64::from(side)).round() as u32;
            let (columns, rows) = (picture.width(), picture.height());
            let (left, top) = (pixels(x, columns), pixels(y, rows));
            picture = picture.crop_imm(
                left.min(columns - 1),
                top.min(rows - 1),
                pixels(width, columns).max(1),
                pixels(height, rows).max(1),
            );
        }
        if picture.width().max(picture.height()) > MAX_SIDE {
            picture = picture.thumbnail(MAX_SIDE, MAX_SIDE);
        }
        let rgb = picture.into_rgb8();
        Ok(Image { width: rgb.width(), height: rgb.height(), rgb: rgb.into_raw() })
    }
}

/// Shows the size and a digest, since cursors contain the request.
impl fmt::Debug for ExamplePicture {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut hasher = DefaultHasher::new();
        self.encoded.hash(&mut hasher);
        let (bytes, digest) = (self.encoded.len(), hasher.finish());
        write!(f, "picture of {bytes} bytes, {digest:016x}, {:?}", self.region)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A PNG with a red left half and a blue right half.
    fn data_url() -> String {
        let picture = image::RgbImage::from_fn(40, 20, |x, _| match x < 20 {
            true => image::Rgb([255, 0, 0]),
            false => image::Rgb([0, 0, 255]),
        });
        let mut bytes = Cursor::new(Vec::new());
        picture.write_to(&mut bytes, image::ImageFormat::Png).expect("a PNG");
        format!("data:image/png;base64,{}", STANDARD.encode(bytes.into_inner()))
    }

    #[tokio::test]
    async fn a_region_is_cut_out() {
        let whole = ExamplePicture::parse(&data_url(), None).expect("a picture");
        let whole = whole.decode(1000).await.expect("an image");
        assert_eq!((whole.width, whole.height), (40, 20));
        let right = ExamplePicture::parse(&data_url(), Some(&[0.5, 0.0, 0.5, 1.0]));
        let right = right.expect("a picture").decode(1000).await.expect("an image");
        assert_eq!((right.width, right.rgb[0], right.rgb[2]), (20, 0, 255));
    }

    #[tokio::test]
    async fn what_is_no_small_picture_is_rejected() {
        let large = ExamplePicture::parse(&data_url(), None).expect("a picture");
        let error = large.decode(799).await.expect_err("too large").to_string();
        assert!(error.contains("40 × 20") && error.contains("799"), "{error}");
        let text = format!("data:image/png;base64,{}", STANDARD.encode("no picture"));
        let text = ExamplePicture::parse(&text, None).expect("base64");
        let error = text.decode(1000).await.expect_err("no picture").to_string();
        assert!(error.contains("accepted are JPEG, PNG and WebP"), "{error}");
    }

    #[test]
    fn malformed_requests_say_what_is_expected() {
        for url in [
            "",
            "https://example.org/a.jpg",
            "data:text/plain;base64,YQ==",
            "data:image/png;base64,*",
        ] {
            let error = ExamplePicture::parse(url, None).expect_err(url).to_string();
            assert!(error.contains("data:image/jpeg;base64,…"), "{error}");
        }
        for region in [
            &[0.0, 0.0, 1.0][..],
            &[0.5, 0.0, 0.6, 1.0],
            &[0.0, 0.0, 0.0, 1.0],
            &[-0.1, 0.0, 0.5, 0.5],
        ] {
            let error = ExamplePicture::parse(&data_url(), Some(region)).expect_err("a region");
            assert!(error.to_string().contains("[x, y, width, height]"), "{error}");
        }
    }
}
