//! Borrows images for the `image` crate without copying pixels. All adapters that process images
//! use this module.

use image::{ImageBuffer, Rgb};
use ports::{ErrorKind, PortError, Result, decoder::Image};

/// A borrowed RGB image.
pub(crate) type View<'a> = ImageBuffer<Rgb<u8>, &'a [u8]>;

/// Checks that the image has pixels and that their number matches its size.
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
    ImageBuffer::from_raw(image.width, image.height, image.rgb.as_slice())
        .ok_or_else(|| PortError::new(ErrorKind::Invalid, "an image exceeds the address space"))
}
