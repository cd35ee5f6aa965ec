//! Changing what is said of a video.

use ports::records::Precondition;
use serde::Deserialize;
use serde_json::Value;

use crate::domain::catalog::about::{self, About, AboutPatch, MetadataKeys};
use crate::domain::catalog::record::VideoRecord;
use crate::domain::catalog::videos::VideoDetail;
use crate::domain::catalog::{Catalog, Stored};
use crate::domain::kernel::access::Access;
use crate::domain::kernel::error::{Error, Result};
use crate::domain::kernel::video::{VideoId, unknown};

/// The document with the type of every metadata key.
const KEYS: &str = "metadata/keys.json";

/// Most keys of all videos together.
const MOST_KEYS: usize = 1000;

/// Times that a change is tried which others get in the way of.
const TRIES: usize = 20;

impl Catalog {
    /// Changes what is said of a video. `NotFound` where there is none.
    pub async fn annotate(
        &self,
        video_id: VideoId,
        patch: &AboutPatch,
        max_bytes: usize,
    ) -> Result<VideoDetail> {
        self.change_about(video_id, |about| patch.apply(about, max_bytes)).await?;
        self.video(video_id).await
    }

    /// Changes what is said of a video, and lists it so. `NotFound` where there is none.
    pub(super) async fn change_about(
        &self,
        video_id: VideoId,
        change: impl Fn(&About) -> Result<About>,
    ) -> Result<()> {
        for _ in 0..TRIES {
            let found = self.stored(video_id).await?;
            let Some(record) = found.record() else {
                found.into_record()?;
                return Err(unknown(video_id));
            };
            let about = change(&record.about)?;
            if about == record.about {
                return self.relist(video_id).await;
            }
            self.enter_keys(&about).await?;
            let changed = Stored::of_record(VideoRecord { about, ..record.clone() })?;
            match self.swap(video_id, &found, changed).await {
                Ok(_) => return self.relist(video_id).await,
                // An ingest has begun or ended meanwhile: what it has made is what is changed.
                Err(error) if self.stored(video_id).await?.is_still(&found) => return Err(error),
                Err(_) => {}
            }
        }
        Err(Error::Busy {
            message: format!("video '{video_id}' is being changed by others; try again"),
            retry_after: 1,
        })
    }

    /// The types of the metadata keys of the videos that a caller sees; of one who sees all, of every
    /// key that was ever used.
    pub async fn metadata_keys_seen(&self, access: &Access) -> Result<MetadataKeys> {
        let mut keys = self.metadata_keys().await?;
        if let Some(seen) = about::seen_by(access)
            && !keys.is_empty()
        {
            let used =
                self.listing.keyword_counts(about::METADATA_KEYS, &[seen], None, MOST_KEYS).await?;
            keys.retain(|key, _| used.iter().any(|(word, _)| word == key));
        }
        Ok(keys)
    }

    /// The type of every metadata key that was ever used.
    pub async fn metadata_keys(&self) -> Result<MetadataKeys> {
        Ok(self.read(KEYS).await?.unwrap_or_default())
    }

    /// Enters the keys of what is said, each with its type; `Invalid` where one has another already.
    pub(crate) async fn enter_keys(&self, about: &About) -> Result<()> {
        if about.metadata.is_empty() {
            return Ok(());
        }
        loop {
            let stored: Option<Value> = self.records.get(KEYS).await?;
            let mut keys = match &stored {
                Some(json) => MetadataKeys::deserialize(json)
                    .map_err(|e| Error::corrupt(format!("the record {KEYS}: {e}")))?,
                None => MetadataKeys::new(),
            };
            let known = keys.len();
            for (key, value) in &about.metadata {
                let kind = *keys.entry(key.clone()).or_insert(value.kind());
                if kind != value.kind() {
                    return Err(Error::Invalid(format!(
                        "metadata '{key}' is a {} in other videos, and here a {}; give it another \
                         name or a value of that type",
                        kind.name(),
                        value.kind().name()
                    )));
                }
            }
            if keys.len() == known {
                return Ok(());
            }
            if keys.len() > MOST_KEYS {
                return Err(Error::Invalid(format!(
                    "the videos have {known} metadata keys, of {MOST_KEYS} at most; use one of those \
                     that /schema lists"
                )));
            }
            let json = serde_json::to_value(&keys)
                .map_err(|e| Error::corrupt(format!("cannot store {KEYS}: {e}")))?;
            let expected = Precondition::from(stored.as_ref());
            if self.records.compare_and_swap(KEYS, expected, &json).await? {
                return Ok(());
            }
        }
    }
}
