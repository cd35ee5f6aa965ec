//! The sources of ingests. The first step of an ingest brings its source to disk, hashes it and
//! checks that it is a video.

use std::path::PathBuf;
use std::sync::Arc;

use ports::ByteStream;
use ports::decoder::{MediaInfo, VideoDecoder};
use ports::fetcher::SourceFetcher;
use ports::storage::ObjectStorage;
use tempfile::TempPath;

use crate::ingest::settings::IngestConfig;
use crate::ingest::source::{self, IngestSource};
use crate::ingest::spool::{Limit, Spool, SpooledFile};
use crate::ingest::uploads::Uploads;
use crate::kernel::access::Access;
use crate::kernel::error::{Error, Result};
use crate::kernel::ports::{Models, Stores};
use crate::kernel::urls::redact_secrets;
use crate::media::decode::probe;

/// A source on disk, known to be a video.
pub(crate) struct FetchedSource {
    /// The file, which is removed on drop.
    pub(crate) file: SpooledFile,
    /// The properties that the file's container states.
    pub(super) info: MediaInfo,
    /// The cleaned file name, used if the video is new.
    pub(super) filename: String,
    /// The URL that the file came from, if any, with secrets redacted.
    pub(super) source_url: Option<String>,
}

/// Brings the sources of ingests to disk, and removes them when they are no longer needed.
pub struct Sources {
    storage: Arc<dyn ObjectStorage>,
    fetcher: Arc<dyn SourceFetcher>,
    decoder: Arc<dyn VideoDecoder>,
    /// Resumable uploads.
    pub uploads: Uploads,
    work_dir: PathBuf,
    upload_limit: Limit,
    /// Maximum disk usage of all uploads together, in bytes.
    max_waiting_bytes: u64,
    download_limit: Limit,
}

impl Sources {
    pub(crate) fn new(stores: &Stores, models: &Models, config: &IngestConfig) -> Self {
        let (uploads, downloads) = (&config.ingest, &config.fetch);
        let upload_limit =
            Limit { bytes: uploads.max_upload_bytes, key: "ingest.max_upload_bytes" };
        Self {
            storage: stores.storage.clone(),
            fetcher: stores.fetcher.clone(),
            decoder: models.decoder.clone(),
            uploads: Uploads::new(stores, uploads.clone()),
            work_dir: config.work_dir.clone(),
            upload_limit,
            max_waiting_bytes: uploads.max_waiting_bytes,
            download_limit: Limit { bytes: downloads.max_bytes, key: "SERVICE_MAX_BYTES" },
        }
    }

    /// Creates a file to which an upload can be streamed. Dropping the spool removes the file.
    /// Writing fails with `TooLarge` beyond the upload limit, and with `Busy` if pending uploads
    /// already take up too much space.
    pub async fn spool_upload(&self) -> Result<Spool> {
        Spool::upload(self.work_dir.clone(), self.upload_limit.clone(), self.max_waiting_bytes)
            .await
    }

    /// Removes the sources that a killed process left behind. Call this only at startup, because
    /// the sources of running jobs are in the same folder.
    pub async fn clear(&self) -> Result<()> {
        Spool::clear(self.work_dir.clone()).await
    }

    /// Brings the source to disk, hashes it and checks that it is a video.
    pub(super) async fn fetch(
        &self,
        source: IngestSource,
        access: &Access,
    ) -> Result<FetchedSource> {
        let (file, name, source_url) = match source {
            IngestSource::File { path, video_id, size, name } => {
                let path = TempPath::try_from_path(path)?;
                (SpooledFile { path, video_id, size }, name, None)
            }
            IngestSource::Stored { key, name } => {
                let body = self.storage.get(&key, None).await?;
                (self.spool(body, &self.upload_limit).await?, name, None)
            }
            IngestSource::Upload { id, name } => {
                let (body, upload) = self.uploads.content(access, &id).await?;
                let file = self.spool(body, &self.upload_limit).await?;
                if file.video_id != upload.video_id {
                    return Err(Error::corrupt(
                        "the stored upload differs from the received data; send it again",
                    ));
                }
                (file, name, None)
            }
            IngestSource::Url { url } => {
                let (file, name) = self.download(&url).await?;
                (file, name, Some(redact_secrets(&url)))
            }
        };
        if file.size == 0 {
            return Err(Error::Unprocessable("the source is empty; a video file is needed".into()));
        }
        let info = probe(&self.decoder, file.path.to_path_buf()).await?;
        let filename = source::clean_name(name.as_deref(), &info);
        Ok(FetchedSource { file, info, filename, source_url })
    }

    async fn download(&self, url: &str) -> Result<(SpooledFile, Option<String>)> {
        let limit = &self.download_limit;
        let (body, name): (ByteStream, _) = match self.storage.key_from_url(url) {
            // Read the object directly, since the bucket of this service may have an address that
            // the fetcher must refuse.
            Some(key) => {
                let name = key.rsplit('/').next().map(str::to_owned);
                (self.storage.get(&key, None).await?, name)
            }
            None => {
                let fetched = self.fetcher.fetch(url).await?;
                if let Some(length) = fetched.length.filter(|length| *length > limit.bytes) {
                    return Err(Error::TooLarge(format!(
                        "the source is {length} bytes, more than the {} that are allowed ({})",
                        limit.bytes, limit.key
                    )));
                }
                if let Some(kind) = fetched.content_type.filter(|kind| is_page(kind)) {
                    return Err(Error::Invalid(format!(
                        "the URL serves {kind}, not a video; it must point to the video file itself"
                    )));
                }
                (fetched.body, fetched.filename.or_else(|| source::name_in_urls(url, &fetched.url)))
            }
        };
        Ok((self.spool(body, limit).await?, name))
    }

    async fn spool(&self, body: ByteStream, limit: &Limit) -> Result<SpooledFile> {
        let mut spool = Spool::create(self.work_dir.clone(), limit.clone()).await?;
        spool.write_stream(body).await?;
        spool.finish().await
    }

    /// Removes a job's source. If the job is not `done`, a resumable upload is kept for another
    /// attempt until it expires.
    pub(crate) async fn discard(&self, source: &IngestSource, done: bool) {
        let removed = match source {
            IngestSource::File { path, .. } => match tokio::fs::remove_file(path).await {
                Err(e) if e.kind() != std::io::ErrorKind::NotFound => Err(e.into()),
                _ => Ok(()),
            },
            IngestSource::Stored { key, .. } => {
                let (folder, _) = key.rsplit_once('/').unwrap_or_default();
                self.storage
                    .delete_prefix(&format!("{folder}/"))
                    .await
                    .map(|_| ())
                    .map_err(Error::from)
            }
            IngestSource::Upload { id, .. } if done => self.uploads.delete_ingested(id).await,
            IngestSource::Upload { .. } | IngestSource::Url { .. } => Ok(()),
        };
        if let Err(error) = removed {
            tracing::warn!(%error, ?source, "could not remove an upload that is no longer needed");
        }
    }
}

/// Whether a content type denotes a web page. Servers send videos with many wrong content types,
/// but not with that of a web page.
fn is_page(content_type: &str) -> bool {
    content_type.starts_with("text/html") || content_type == "application/xhtml+xml"
}
