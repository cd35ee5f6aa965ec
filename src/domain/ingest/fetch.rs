//! The first step of an ingest: brings the source to disk, hashes it and checks that it is a video.

use ports::ByteStream;
use ports::decoder::MediaInfo;
use tempfile::TempPath;

use crate::ingest::{Ingest, IngestSource, Limit, Spool, SpooledFile, source};
use crate::kernel::access::Access;
use crate::kernel::error::{Error, Result};
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

impl Ingest {
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
                let limit = self.upload_limit();
                let body = self.stores.storage.get(&key, None).await?;
                (self.spool(body, limit).await?, name, None)
            }
            IngestSource::Upload { id, name } => {
                let (body, upload) = self.uploads.content(access, &id).await?;
                let file = self.spool(body, self.upload_limit()).await?;
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
        let info = probe(&self.models.decoder, file.path.to_path_buf()).await?;
        let filename = source::clean_name(name.as_deref(), &info);
        Ok(FetchedSource { file, info, filename, source_url })
    }

    pub(super) fn too_long(&self, duration: f64) -> Error {
        Error::Unprocessable(format!(
            "the video lasts {duration:.0} s, longer than the {:.0} s that are allowed \
             (ingest.max_duration)",
            self.settings.ingest.max_duration.as_secs_f64()
        ))
    }

    async fn download(&self, url: &str) -> Result<(SpooledFile, Option<String>)> {
        let limit = Limit { bytes: self.settings.fetch.max_bytes, key: "SERVICE_MAX_BYTES" };
        let (body, name): (ByteStream, _) = match self.stores.storage.key_from_url(url) {
            // Read the object directly, since the bucket of this service may have an address that
            // the fetcher must refuse.
            Some(key) => {
                let name = key.rsplit('/').next().map(str::to_owned);
                (self.stores.storage.get(&key, None).await?, name)
            }
            None => {
                let fetched = self.stores.fetcher.fetch(url).await?;
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

    async fn spool(&self, body: ByteStream, limit: Limit) -> Result<SpooledFile> {
        let mut spool = Spool::create(self.settings.work_dir.clone(), limit).await?;
        spool.write_stream(body).await?;
        spool.finish().await
    }
}

/// Whether a content type denotes a web page. Servers send videos with many wrong content types,
/// but not with that of a web page.
fn is_page(content_type: &str) -> bool {
    content_type.starts_with("text/html") || content_type == "application/xhtml+xml"
}
