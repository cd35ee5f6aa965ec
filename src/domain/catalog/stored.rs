//! What is stored in the place of a video's record.

use ports::ErrorKind;
use ports::records::Precondition;
use serde::Deserialize;
use serde_json::Value;

use crate::domain::catalog::outputs::OutputDocuments;
use crate::domain::catalog::record::{self, Tombstone, VideoRecord};
use crate::domain::catalog::{Catalog, named, published};
use crate::domain::kernel::error::{Error, Result};
use crate::domain::kernel::video::VideoId;

/// What is stored as the published record of a video.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Stored {
    /// Nothing.
    Absent,
    /// That there is no video, and the JSON that says so.
    Tombstone(Box<Tombstone>, Value),
    /// A record, and the JSON it was read from.
    Record(Box<VideoRecord>, Value),
    /// Something that is no record of this video: its JSON, if it is that, and what is wrong.
    Unreadable(Option<Value>, String),
}

impl Stored {
    pub(crate) fn record(&self) -> Option<&VideoRecord> {
        match self {
            Self::Record(record, _) => Some(record),
            Self::Absent | Self::Tombstone(..) | Self::Unreadable(..) => None,
        }
    }

    /// The record; what does not read back in its place is `Corrupt`.
    pub(crate) fn into_record(self) -> Result<Option<VideoRecord>> {
        match self {
            Self::Absent | Self::Tombstone(..) => Ok(None),
            Self::Record(record, _) => Ok(Some(*record)),
            Self::Unreadable(_, error) => Err(Error::corrupt(error)),
        }
    }

    pub(super) fn of_record(record: VideoRecord) -> Result<Self> {
        let json = serde_json::to_value(&record)
            .map_err(|e| Error::corrupt(format!("cannot store the record: {e}")))?;
        Ok(Self::Record(Box::new(record), json))
    }

    pub(super) fn of_tombstone(stone: Tombstone) -> Result<Self> {
        let json = serde_json::to_value(&stone)
            .map_err(|e| Error::corrupt(format!("cannot store the tombstone: {e}")))?;
        Ok(Self::Tombstone(Box::new(stone), json))
    }

    /// What a swap that replaces it expects.
    pub(super) fn expected(&self) -> Precondition<'_> {
        match self {
            Self::Absent => Precondition::Absent,
            Self::Tombstone(_, json) | Self::Record(_, json) | Self::Unreadable(Some(json), _) => {
                Precondition::Document(json)
            }
            Self::Unreadable(None, _) => Precondition::Unreadable,
        }
    }
}

impl Stored {
    /// Whether it is what `other` was, but for what its owner says of the video: anybody may change
    /// that at any time.
    pub(super) fn is_still(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Record(a, _), Self::Record(b, _)) => {
                let others = VideoRecord { about: a.about.clone(), ..(**b).clone() };
                **a == others
            }
            _ => self.expected() == other.expected(),
        }
    }
}

impl Catalog {
    /// What is stored as the published record.
    pub(crate) async fn stored(&self, video_id: VideoId) -> Result<Stored> {
        let key = published(video_id);
        let unreadable = |json, error: String| {
            self.unreadable.enter(video_id, &key, &error);
            Ok(Stored::Unreadable(json, error))
        };
        let json = match self.records.get(&key).await {
            Ok(Some(json)) => json,
            Ok(None) => {
                self.unreadable.named(video_id, |_| false);
                return Ok(Stored::Absent);
            }
            Err(e) if e.kind() == ErrorKind::Corrupt => return unreadable(None, e.to_string()),
            Err(e) => return Err(e.into()),
        };
        match self.read_stored(video_id, &json).await {
            Ok(stored) => {
                if self.unreadable.has(video_id) {
                    let named = stored.record().map(named).unwrap_or_default();
                    self.unreadable.named(video_id, |of| of != key && named.contains(of));
                }
                Ok(stored)
            }
            Err(error) => unreadable(Some(json), error),
        }
    }

    /// A record or a tombstone of this video, or what is wrong with it.
    async fn read_stored(&self, video_id: VideoId, json: &Value) -> Result<Stored, String> {
        let wrong = |e: serde_json::Error| {
            format!("the record {} does not read back: {e}", published(video_id))
        };
        let stored = if json.get("tombstone").is_some() {
            let stone = Tombstone::deserialize(json).map_err(wrong)?;
            Stored::Tombstone(Box::new(stone), json.clone())
        } else {
            let mut record = VideoRecord::deserialize(json).map_err(wrong)?;
            if record.version < record::VERSION {
                record = self.migrated(record).await.map_err(|error| error.to_string())?;
            }
            Stored::Record(Box::new(record), json.clone())
        };
        let of = match &stored {
            Stored::Tombstone(stone, _) => stone.video_id,
            Stored::Record(record, _) => record.video_id,
            Stored::Absent | Stored::Unreadable(..) => return Ok(stored),
        };
        if of != video_id {
            return Err(format!("the record {} is that of video '{of}'", published(video_id)));
        }
        Ok(stored)
    }

    /// A record of an earlier version in the form of this one. It is stored so when it is next
    /// changed.
    async fn migrated(&self, mut record: VideoRecord) -> Result<VideoRecord> {
        if record.version == record::FIRST_VERSION {
            for entry in record.analyzers.values_mut() {
                entry.found = match entry.points {
                    0 => {
                        let key = entry.pages.key(0);
                        let outputs: Option<OutputDocuments> = self.read(&key).await?;
                        outputs.iter().flatten().flatten().count() as u32
                    }
                    points => points as u32,
                };
            }
        }
        record.version = record::VERSION;
        Ok(record)
    }
}
