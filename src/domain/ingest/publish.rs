//! The last step of an ingest: the file in the bucket, then points, then the record in one atomic
//! step; and the way back where something failed before that.

use std::path::Path;

use futures::{StreamExt, TryStreamExt, stream};
use ports::index::{Filter, Predicate};
use ports::{ByteStream, ErrorKind, PortError};

use crate::domain::catalog::record::VideoRecord;
use crate::domain::catalog::{Discarded, Stored};
use crate::domain::chunking::Signals;
use crate::domain::ingest::draft::Draft;
use crate::domain::ingest::fetch::Fetched;
use crate::domain::ingest::{Aggregated, Ingest, IngestRequest, IngestResult, poster};
use crate::domain::kernel::error::{Error, Result};

impl Ingest {
    /// Puts the video into the bucket, unless it is there, and a poster beside it.
    pub(super) async fn store_objects(
        &self,
        fetched: &Fetched,
        signals: &Signals,
        record: &mut VideoRecord,
    ) -> Result<()> {
        let storage = &self.stores.storage;
        let stored = storage.stat(&record.storage_path).await?;
        if stored.is_none_or(|object| object.size != record.size_bytes) {
            let content = file_stream(&fetched.file.path).await?;
            storage.put(&record.storage_path, content, &record.content_type).await?;
        }
        // The bucket may have lost it.
        if let Some(poster) = &record.poster_path
            && storage.stat(poster).await?.is_none()
        {
            record.poster_path = None;
        }
        if record.poster_path.is_some() || fetched.info.video.is_none() {
            return Ok(());
        }
        let path = format!("{}/poster.jpg", record.video_id);
        let file = fetched.file.path.to_path_buf();
        let side = self.settings.ingest.frame_side;
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

    /// Makes the draft the video: vectors, then the record in one atomic step. A crash between the
    /// two is mended at start-up.
    pub(super) async fn publish(&self, draft: Draft, before: &Stored) -> Result<()> {
        let Draft { record, mut ran, points, .. } = draft;
        let of_video = Filter::video(&record.video_id);
        match before.record().filter(|p| p.chunks_document == record.chunks_document) {
            None => self.stores.index.replace(Some(&of_video), points).await?,
            Some(previous) => {
                let lost =
                    previous.analyzers.keys().filter(|id| !record.analyzers.contains_key(*id));
                ran.extend(lost.cloned());
                if !ran.is_empty() {
                    let scope = of_video.and("analyzer_id", Predicate::AnyKeyword(ran));
                    self.stores.index.replace(Some(&scope), points).await?;
                }
            }
        }
        self.catalog.publish(before, &record).await
    }

    /// What the job answers with.
    pub(super) async fn result(
        &self,
        record: &VideoRecord,
        request: &IngestRequest,
        aggregated: Aggregated,
    ) -> Result<IngestResult> {
        let storage = &self.stores.storage;
        let poster_url = match &record.poster_path {
            Some(path) => Some(storage.link(path).await?),
            None => None,
        };
        Ok(IngestResult {
            video_id: record.video_id.clone(),
            video_url: storage.link(&record.storage_path).await?,
            poster_url,
            storage_path: record.storage_path.clone(),
            filename: record.filename.clone(),
            duration: record.duration,
            size_bytes: record.size_bytes,
            chunk_config: record.chunking.config(),
            chunks: record.chunks,
            analyzers: record.analyzer_ids(),
            indexed: request
                .analyzers
                .iter()
                .filter_map(|a| {
                    let id = a.spec().id;
                    Some((id.to_owned(), record.analyzers.get(id)?.points))
                })
                .collect(),
            aggregated,
        })
    }

    /// Removes what a failed ingest wrote, and nothing where something is published that was not
    /// there before it; what was paid for stays in the cache.
    pub(super) async fn discard(&self, video_id: &str, before: &Stored) {
        let removed = match self.catalog.discard(video_id, before).await {
            Ok(Discarded::Everything) => self.discard_objects(video_id).await,
            Ok(Discarded::Unpublished) => self.search.mend_points(before, false).await.map(drop),
            Ok(Discarded::Nothing) => Ok(()),
            Err(error) => Err(error),
        };
        if let Err(error) = removed {
            tracing::warn!(video_id, error = %error.labelled(), "leftovers of a failed ingest remain");
        }
    }

    async fn discard_objects(&self, video_id: &str) -> Result<()> {
        self.stores.storage.delete_prefix(&format!("{video_id}/")).await?;
        let of_video = Filter::video(video_id);
        if self.stores.index.count(&of_video).await? > 0 {
            self.stores.index.replace(Some(&of_video), Vec::new()).await?;
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
