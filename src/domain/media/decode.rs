//! The decoder as async code calls it: every method of its port blocks.

use std::path::PathBuf;
use std::sync::Arc;

use ports::decoder::{CancellationToken, Frame, MediaInfo, Still, VideoDecoder};

use crate::domain::kernel::error::{Error, Result};

/// Runs work of the decoder on a blocking thread; what it holds is held until it has ended, even
/// when nobody waits for it any more.
pub(crate) async fn decode<T: Send + 'static>(
    decoder: &Arc<dyn VideoDecoder>,
    work: impl FnOnce(&dyn VideoDecoder) -> Result<T> + Send + 'static,
) -> Result<T> {
    let decoder = decoder.clone();
    tokio::task::spawn_blocking(move || work(decoder.as_ref()))
        .await
        .map_err(|e| Error::corrupt(format!("decoding panicked: {e}")))?
}

/// As [`decode`], for work that ends soon after nobody waits for it any more.
pub(crate) async fn decode_while_wanted<T: Send + 'static>(
    decoder: &Arc<dyn VideoDecoder>,
    work: impl FnOnce(&dyn VideoDecoder, &CancellationToken) -> Result<T> + Send + 'static,
) -> Result<T> {
    struct Caller(CancellationToken);
    impl Drop for Caller {
        fn drop(&mut self) {
            self.0.cancel();
        }
    }
    let caller = Caller(CancellationToken::default());
    let cancel = caller.0.clone();
    decode(decoder, move |decoder| work(decoder, &cancel)).await
}

/// What the file's container claims.
pub(crate) async fn probe(decoder: &Arc<dyn VideoDecoder>, file: PathBuf) -> Result<MediaInfo> {
    decode(decoder, move |decoder| Ok(decoder.probe(&file)?)).await
}

/// The frames that are asked for; `None` where one cannot be decoded.
pub(crate) async fn frames(
    decoder: &Arc<dyn VideoDecoder>,
    file: PathBuf,
    stills: Vec<Still>,
) -> Result<Vec<Option<Frame>>> {
    decode(decoder, move |decoder| Ok(decoder.stills(&file, &stills)?)).await
}
