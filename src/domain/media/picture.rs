//! Pictures as files.

use bytes::Bytes;
use ports::decoder::Image;

use crate::domain::kernel::error::{Error, Result};

/// A picture as JPEG.
pub(crate) async fn jpeg(image: Image) -> Result<Bytes> {
    const QUALITY: u8 = 85;
    tokio::task::spawn_blocking(move || {
        let mut bytes = Vec::new();
        image::codecs::jpeg::JpegEncoder::new_with_quality(&mut bytes, QUALITY)
            .encode(&image.rgb, image.width, image.height, image::ExtendedColorType::Rgb8)
            .map_err(|e| Error::corrupt(format!("cannot encode a picture: {e}")))?;
        Ok(bytes.into())
    })
    .await
    .map_err(|e| Error::corrupt(format!("encoding a picture panicked: {e}")))?
}
