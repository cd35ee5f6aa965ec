//! Stores an ingested file and its poster in the bucket.

use std::path::Path;

use futures::{StreamExt, TryStreamExt, stream};
use ports::{ByteStream, ErrorKind, PortError};

use crate::chunking::Signals;
use crate::ingest::source::POSTER;
use crate::ingest::sources::FetchedSource;
use crate::ingest::{Ingest, poster};
use crate::kernel::error::{Error, Result};
use crate::records::record::VideoRecord;

impl Ingest {
    /// Stores the video file and a poster in the bucket, unless they are already there.
    pub(super) async fn store_objects(
        &self,
        fetched: &FetchedSource,
        signals: &Signals,
        before: Option<&VideoRecord>,
        record: &mut VideoRecord,
    ) -> Result<()> {
        let storage = &self.storage;
        let stored = storage.stat(&record.storage_path).await?;
        if stored.is_none_or(|object| object.size != record.size_bytes) {
            let content = file_stream(&fetched.file.path).await?;
            storage.put(&record.storage_path, content, &record.content_type).await?;
        }
        // If the poster is missing from the bucket, create it again.
        if let Some(poster) = &record.poster_path
            && storage.stat(poster).await?.is_none()
        {
            record.poster_path = None;
        }
        let path = format!("{}/{POSTER}", record.video_id);
        let has_one = record.poster_path.is_some() || fetched.info.video.is_none();
        // Until the new record is published, the video may still be stored under this name.
        let is_video = before.is_some_and(|before| before.storage_path == path);
        if has_one || is_video || record.retired.contains(&path) {
            return Ok(());
        }
        let file = fetched.file.path.to_path_buf();
        let side = self.settings.frame_side;
        let poster = poster::poster(self.models.decoder.clone(), file, signals, side).await;
        let stored = match poster {
            Ok(jpeg) => {
                let content = stream::once(async { Ok(jpeg) }).boxed();
                storage.put(&path, content, "image/jpeg").await.map_err(Error::from)
            }
            Err(error) => Err(error),
        };
        match stored {
            Ok(()) => record.poster_path = Some(path),
            Err(error) => {
                tracing::warn!(video_id = %record.video_id, error = %error.labelled(), "no poster");
            }
        }
        Ok(())
    }
}

pub(crate) async fn file_stream(path: &Path) -> Result<ByteStream> {
    const BUFFER: usize = 256 * 1024;
    let file = tokio::fs::File::open(path).await?;
    let stream = tokio_util::io::ReaderStream::with_capacity(file, BUFFER);
    Ok(stream
        .map_err(|e| PortError::caused_by(ErrorKind::Other, "cannot read the spooled source", e))
        .boxed())
}
