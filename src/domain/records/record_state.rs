//! The state of a video's record in the store.

use ports::ErrorKind;
use ports::records::Precondition;
use serde::Deserialize;
use serde_json::Value;

use crate::kernel::error::{Error, Result};
use crate::kernel::video::VideoId;
use crate::records::Records;
use crate::records::documents::{read_document, record_key, referenced_keys};
use crate::records::locks::{VideoLock, VideoLocks};
use crate::records::outputs::OutputDocuments;
use crate::records::record::{self, Tombstone, VideoRecord};

/// The content of `video.json`.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum RecordState {
    /// There is no document.
    Absent,
    /// A tombstone and its JSON; there is no video.
    Tombstone(Box<Tombstone>, Value),
    /// A record and its JSON.
    Record(Box<VideoRecord>, Value),
    /// An invalid record: its content, if the content is JSON, and the error.
    Unreadable(Option<Value>, String),
}

impl RecordState {
    pub(crate) fn record(&self) -> Option<&VideoRecord> {
        match self {
            Self::Record(record, _) => Some(record),
            Self::Absent | Self::Tombstone(..) | Self::Unreadable(..) => None,
        }
    }

    /// Returns the record, if there is one, or `Corrupt` if it is unreadable.
    pub(crate) fn into_record(self) -> Result<Option<VideoRecord>> {
        match self {
            Self::Absent | Self::Tombstone(..) => Ok(None),
            Self::Record(record, _) => Ok(Some(*record)),
            Self::Unreadable(_, error) => Err(Error::corrupt(error)),
        }
    }

    pub(crate) fn from_record(record: VideoRecord) -> Result<Self> {
        let json = serde_json::to_value(&record)
            .map_err(|e| Error::corrupt(format!("cannot store the record: {e}")))?;
        Ok(Self::Record(Box::new(record), json))
    }

    pub(crate) fn from_tombstone(stone: Tombstone) -> Result<Self> {
        let json = serde_json::to_value(&stone)
            .map_err(|e| Error::corrupt(format!("cannot store the tombstone: {e}")))?;
        Ok(Self::Tombstone(Box::new(stone), json))
    }

    /// Returns the precondition for a compare-and-swap that replaces this state.
    pub(crate) fn expected(&self) -> Precondition<'_> {
        match self {
            Self::Absent => Precondition::Absent,
            Self::Tombstone(_, json) | Self::Record(_, json) | Self::Unreadable(Some(json), _) => {
                Precondition::Document(json)
            }
            Self::Unreadable(None, _) => Precondition::Unreadable,
        }
    }
}

impl RecordState {
    /// Whether two states are equal apart from user metadata, which may change at any time without
    /// a claim.
    pub(crate) fn same_except_metadata(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Record(a, _), Self::Record(b, _)) => {
                let b = VideoRecord { metadata: a.metadata.clone(), ..(**b).clone() };
                **a == b
            }
            _ => self.expected() == other.expected(),
        }
    }
}

impl Records {
    /// Reads the state of a video's record.
    pub(crate) async fn state(&self, video_id: VideoId) -> Result<RecordState> {
        let key = record_key(video_id);
        let unreadable = |json, error: String| {
            self.unreadable.report(video_id, &key, &error);
            Ok(RecordState::Unreadable(json, error))
        };
        let json = match self.store.get(&key).await {
            Ok(Some(json)) => json,
            Ok(None) => {
                self.unreadable.retain_keys(video_id, |_| false);
                return Ok(RecordState::Absent);
            }
            Err(e) if e.kind() == ErrorKind::Corrupt => return unreadable(None, e.to_string()),
            Err(e) => return Err(e.into()),
        };
        match self.parse_state(video_id, &json).await {
            Ok(state) => {
                if self.unreadable.has(video_id) {
                    let referenced = state.record().map(referenced_keys).unwrap_or_default();
                    self.unreadable.retain_keys(video_id, |k| k != key && referenced.contains(k));
                }
                Ok(state)
            }
            Err(error) => unreadable(Some(json), error),
        }
    }

    /// Whether there is no such video. An unreadable video exists.
    pub(crate) async fn is_gone(&self, video_id: VideoId) -> Result<bool> {
        let state = self.state(video_id).await?;
        Ok(matches!(state, RecordState::Absent | RecordState::Tombstone(..)))
    }

    /// Locks a video that is gone, so that it is not published in the meantime. Returns `None` if the
    /// video exists, or if someone else has the lock: a video that is being deleted may still have
    /// documents.
    pub(crate) async fn lock_if_gone(
        &self,
        locks: &VideoLocks,
        video_id: VideoId,
    ) -> Result<Option<VideoLock>> {
        if !self.is_gone(video_id).await? {
            return Ok(None);
        }
        let lock = locks.try_lock(video_id).await?;
        Ok(if self.is_gone(video_id).await? { lock } else { None })
    }

    /// Parses a video's record or tombstone. The error message says what is wrong with the JSON.
    async fn parse_state(&self, video_id: VideoId, json: &Value) -> Result<RecordState, String> {
        let parse_error = |e: serde_json::Error| {
            format!("the record {} does not read back: {e}", record_key(video_id))
        };
        let state = if json.get("tombstone").is_some() {
            let stone = Tombstone::deserialize(json).map_err(parse_error)?;
            RecordState::Tombstone(Box::new(stone), json.clone())
        } else {
            let mut record = VideoRecord::deserialize(json).map_err(parse_error)?;
            if record.version < record::VERSION {
                record = self.migrate(record).await.map_err(|error| error.to_string())?;
            }
            RecordState::Record(Box::new(record), json.clone())
        };
        let stored_id = match &state {
            RecordState::Tombstone(stone, _) => stone.video_id,
            RecordState::Record(record, _) => record.video_id,
            RecordState::Absent | RecordState::Unreadable(..) => return Ok(state),
        };
        if stored_id != video_id {
            return Err(format!(
                "the record {} is that of video '{stored_id}'",
                record_key(video_id)
            ));
        }
        Ok(state)
    }

    /// Migrates a record from an earlier version to the current format. The next change to the
    /// video stores the migrated record.
    async fn migrate(&self, mut record: VideoRecord) -> Result<VideoRecord> {
        if record.version == record::FIRST_VERSION {
            for entry in record.analyzers.values_mut() {
                entry.found = match entry.points {
                    0 => {
                        let key = entry.pages.key(0);
                        let outputs: Option<OutputDocuments> =
                            read_document(&*self.store, &key).await?;
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
