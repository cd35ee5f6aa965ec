//! Async access to the decoder, whose methods are blocking.

use std::path::PathBuf;
use std::sync::Arc;

use ports::decoder::{CancellationToken, Frame, MediaInfo, Still, VideoDecoder};

use crate::kernel::error::{Error, Result};

/// Runs decoder work on a blocking thread. The work runs to completion and keeps its captured
/// values until then, even if the caller is dropped.
pub(crate) async fn decode<T: Send + 'static>(
    decoder: &Arc<dyn VideoDecoder>,
    work: impl FnOnce(&dyn VideoDecoder) -> Result<T> + Send + 'static,
) -> Result<T> {
    let decoder = decoder.clone();
    tokio::task::spawn_blocking(move || work(decoder.as_ref()))
        .await
        .map_err(|e| Error::corrupt(format!("decoding panicked: {e}")))?
}

/// Runs decoder work like [`decode`], but cancels the work when the caller is dropped.
pub(crate) async fn decode_cancellable<T: Send + 'static>(
    decoder: &Arc<dyn VideoDecoder>,
    work: impl FnOnce(&dyn VideoDecoder, &CancellationToken) -> Result<T> + Send + 'static,
) -> Result<T> {
    struct CancelOnDrop(CancellationToken);
    impl Drop for CancelOnDrop {
        fn drop(&mut self) {
            self.0.cancel();
        }
    }
    let guard = CancelOnDrop(CancellationToken::default());
    let cancel = guard.0.clone();
    decode(decoder, move |decoder| work(decoder, &cancel)).await
}

/// Reads the properties of a file from its container.
pub(crate) async fn probe(decoder: &Arc<dyn VideoDecoder>, file: PathBuf) -> Result<MediaInfo> {
    decode(decoder, move |decoder| Ok(decoder.probe(&file)?)).await
}

/// Decodes the requested frames. The result contains `None` for each frame that cannot be decoded.
pub(crate) async fn frames(
    decoder: &Arc<dyn VideoDecoder>,
    file: PathBuf,
    stills: Vec<Still>,
) -> Result<Vec<Option<Frame>>> {
    decode(decoder, move |decoder| Ok(decoder.stills(&file, &stills)?)).await
}
