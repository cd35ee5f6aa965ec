//! Pictures as the `image` crate sees them. Adapters that look at pictures call it first; it copies
//! no pixels.

use image::{ImageBuffer, Rgb};
use ports::{ErrorKind, PortError, Result, decoder::Image};

/// A borrowed RGB picture.
pub(crate) type View<'a> = ImageBuffer<Rgb<u8>, &'a [u8]>;

/// Checks that a picture has pixels and as many as its size says.
pub(crate) fn view(image: &Image) -> Result<View<'_>> {
    let expected = u128::from(image.width) * u128::from(image.height) * 3;
    if expected == 0 || image.rgb.len() as u128 != expected {
        return Err(PortError::new(
            ErrorKind::Invalid,
            format!(
                "a picture of {}×{} pixels cannot have {} bytes; it needs width × height × 3",
                image.width,
                image.height,
                image.rgb.len()
            ),
        ));
    }
    ImageBuffer::from_raw(image.width, image.height, image.rgb.as_slice()).ok_or_else(|| {
        PortError::new(ErrorKind::Invalid, "a picture is larger than memory can address")
    })
}
