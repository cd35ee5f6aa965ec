//! One atomic step makes a record the published one; what that leaves behind, or what a failure before
//! it does, is removed.

use std::collections::BTreeSet;
use std::time::Duration;

use ports::records::Expected;
use ports::{ErrorKind, PortError};

use crate::domain::catalog::record::VideoRecord;
use crate::domain::catalog::{Catalog, Stored, missing, named, published};
use crate::domain::kernel::error::{Error, Result};

/// Pauses before each attempt to find out what became of a publication whose answer was an error.
const REREADS: [Duration; 3] =
    [Duration::ZERO, Duration::from_millis(500), Duration::from_millis(2000)];

impl Catalog {
    /// Makes `record` the published one in one step, if what is stored is still `before`, and then
    /// removes the documents that are not named any more. After an error what is stored tells
    /// whether it was published; where it was for certain, this is no error.
    pub(crate) async fn publish(&self, before: &Stored, record: &VideoRecord) -> Result<()> {
        let video_id = &record.video_id;
        let json = serde_json::to_value(record)
            .map_err(|e| Error::corrupt(format!("cannot store the record: {e}")))?;
        let key = published(video_id);
        let swapped = self.records.compare_and_swap(&key, before.expected(), &json).await;
        if !matches!(swapped, Ok(true)) {
            // The write may have been done and its answer lost; a store that repeats a request by
            // itself then finds what it has written.
            let now = self.settled(video_id).await;
            if !now.is_ok_and(|now| now.expected() == Expected::Document(&json)) {
                return Err(swapped.err().unwrap_or_else(|| superseded(video_id)).into());
            }
        }
        if let Err(error) = self.sweep(video_id).await {
            tracing::warn!(video_id, error = %error.labelled(), "superseded documents remain");
        }
        Ok(())
    }

    /// What is stored once a write has failed, as soon as that can be read.
    async fn settled(&self, video_id: &str) -> Result<Stored> {
        let mut read = Err(Error::corrupt("not read yet"));
        for pause in REREADS {
            tokio::time::sleep(pause).await;
            read = self.stored(video_id).await;
            if read.is_ok() {
                break;
            }
        }
        read
    }

    /// Removes every document that the stored record does not name; none where that does not read
    /// back.
    pub(crate) async fn sweep(&self, video_id: &str) -> Result<()> {
        let listed = self.records.list(&format!("videos/{video_id}/")).await?;
        // Read after they were listed: what has been published by now is named.
        let named = match self.stored(video_id).await? {
            Stored::Absent => BTreeSet::new(),
            Stored::Record(record, _) => named(&record),
            Stored::Unreadable(..) => return Ok(()),
        };
        for key in listed.iter().filter(|key| !named.contains(*key)) {
            self.records.delete(key).await?;
        }
        if let Some(key) = named.iter().find(|key| !listed.contains(key)) {
            self.unreadable.enter(video_id, key, &missing(key));
        }
        Ok(())
    }

    /// Removes what was stored after `before` was read, unless something has been published since
    /// or it cannot be told.
    pub(crate) async fn discard(&self, video_id: &str, before: &Stored) -> Result<Discarded> {
        let now = self.settled(video_id).await?;
        match (&now, now.expected() == before.expected()) {
            (Stored::Absent, true) => {
                self.sweep(video_id).await?;
                Ok(Discarded::Everything)
            }
            (Stored::Record(..), true) => {
                self.sweep(video_id).await?;
                Ok(Discarded::Unpublished)
            }
            (Stored::Unreadable(..), _) | (_, false) => Ok(Discarded::Nothing),
        }
    }

    /// The documents of a published video that are missing or do not read back.
    pub(crate) async fn faults(&self, record: &VideoRecord) -> Result<Vec<Fault>> {
        let mut faults = Vec::new();
        let mut read = |part: Part, read: Result<()>| match read {
            Ok(()) => Ok(()),
            Err(error) if error.is_corrupt() => {
                faults.push(Fault { part, error: error.to_string() });
                Ok(())
            }
            Err(error) => Err(error),
        };
        read(Part::Base, self.spans(record).await.map(drop))?;
        read(Part::Base, self.signals(record).await.map(drop))?;
        if let Some(document) = &record.speech_document {
            read(Part::Base, self.speech(document).await.map(drop))?;
        }
        for id in record.analyzers.keys() {
            read(Part::Analyzer(id.clone()), self.outputs(record, id).await.map(drop))?;
        }
        for id in record.aggregates.keys() {
            read(Part::Aggregate(id.clone()), self.stored_aggregate(record, id).await.map(drop))?;
        }
        Ok(faults)
    }

    /// Removes the published record first, so that a crash leaves no half of it, then the rest.
    pub(crate) async fn remove(&self, video_id: &str) -> Result<()> {
        self.records.delete(&published(video_id)).await?;
        self.unreadable.named(video_id, |_| false);
        self.records.delete(&format!("videos/{video_id}/")).await?;
        Ok(self.records.delete(&format!("cache/{video_id}/")).await?)
    }
}

/// A part of a published video whose document does not read back.
pub(crate) struct Fault {
    pub(crate) part: Part,
    pub(crate) error: String,
}

/// What a document holds.
pub(crate) enum Part {
    /// Chunks, signals or speech, without which nothing else of the video is of use.
    Base,
    /// The outputs of this analyzer.
    Analyzer(String),
    /// The result of this aggregator.
    Aggregate(String),
}

/// What became of the documents of a failed change.
pub(crate) enum Discarded {
    /// The video is as it was: the documents of its record stay.
    Unpublished,
    /// There is no such video.
    Everything,
    /// They stay: something else was published, or what is stored does not tell what it names.
    Nothing,
}

fn superseded(video_id: &str) -> PortError {
    let message = format!(
        "another instance has published video '{video_id}' meanwhile, so this result was not; \
         ingest it again"
    );
    PortError::new(ErrorKind::Other, message)
}
