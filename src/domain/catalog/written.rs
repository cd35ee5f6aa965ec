//! Answers about a video as they are sent, kept for as long as nothing changes of it.

use bytes::Bytes;
use ports::records::Version;

use crate::domain::catalog::{Catalog, published};
use crate::domain::kernel::error::{Error, Result};
use crate::domain::kernel::video::VideoId;

/// An answer, and the version of the record that it was written of or an earlier one.
pub(super) type Written = (Version, Bytes);

impl Catalog {
    /// What `write` makes of a published video and of what its record names. The last answer of that
    /// name is given again where the record is still the version that it was written of: a publication,
    /// a correction and a delete each make another.
    pub(crate) async fn written<E: From<Error>>(
        &self,
        video_id: VideoId,
        name: &str,
        write: impl Future<Output = std::result::Result<Bytes, E>>,
    ) -> std::result::Result<Bytes, E> {
        // Asked before anything is read: what is read then is of this version or of a later one, which
        // is found out at the next request.
        let version = self.version(video_id).await?;
        let Some(version) = version else { return write.await };
        let name = [video_id.as_str(), " ", name].concat();
        let kept = self.written.get(&name).filter(|(of, _)| *of == version);
        if let Some((_, answer)) = kept {
            return Ok(answer);
        }
        let answer = write.await?;
        self.written.keep(&name, (version, answer.clone()), answer.len());
        Ok(answer)
    }

    async fn version(&self, video_id: VideoId) -> Result<Option<Version>> {
        Ok(self.records.version(&published(video_id)).await?)
    }
}
