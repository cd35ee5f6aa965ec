//! Whether records, objects and vectors agree: what `shotlog verify` prints.

use std::collections::BTreeSet;

use ports::ErrorKind;
use ports::index::{Filter, Predicate};

use crate::domain::catalog::record::{Absence, VideoRecord};
use crate::domain::catalog::{Catalog, Fault, Stored};
use crate::domain::kernel::error::Result;
use crate::domain::kernel::video::VideoId;

/// What was looked at and what does not agree.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Verified {
    /// Published videos that were looked at.
    pub videos: u64,
    /// Videos that are being changed right now, so that nothing can be said of them.
    pub busy: u64,
    /// What is wrong, one line each, the video first.
    pub problems: Vec<String>,
}

impl Catalog {
    /// Looks at the index's files and at every video: its documents and objects are there, its vectors are those that its
    /// record counts, and nothing is left of a video without a record. Changes nothing.
    pub async fn verify(&self) -> Result<Verified> {
        let mut found = Verified::default();
        match self.index.check().await {
            Err(error) if error.kind() == ErrorKind::Corrupt => {
                found.problems.push(error.to_string());
            }
            checked => checked?,
        }
        match self.stored_install().await {
            Err(error) if error.is_corrupt() => found.problems.push(error.to_string()),
            stored => drop(stored?),
        }
        let ids: BTreeSet<VideoId> = self.ids().await?.into_iter().collect();
        for &video_id in &ids {
            let (mut stored, mut problems) = self.problems(video_id).await?;
            if !problems.is_empty() {
                // It may just be published, or be deleted.
                let Some(_lock) = self.locks.try_lock(video_id).await? else {
                    found.busy += 1;
                    continue;
                };
                (stored, problems) = self.problems(video_id).await?;
            }
            found.videos += u64::from(stored.record().is_some());
            found.problems.extend(problems.into_iter().map(|what| format!("{video_id}: {what}")));
        }
        let ids: Vec<VideoId> = ids.into_iter().collect();
        for video_id in self.listed_beside(&ids).await? {
            if self.stored(video_id).await?.record().is_none() {
                found.problems.push(format!("{video_id}: listed without a record"));
            }
        }
        for video_id in self.index.values("video_id").await? {
            // What is no id has no record either.
            let recorded = match video_id.parse() {
                Ok(id) => ids.contains(&id) || self.stored(id).await? != Stored::Absent,
                Err(_) => false,
            };
            if !recorded {
                found.problems.push(format!("{video_id}: vectors without a record"));
            }
        }
        Ok(found)
    }

    /// What is stored in the place of a video's record, and what does not agree with it.
    async fn problems(&self, video_id: VideoId) -> Result<(Stored, Vec<String>)> {
        let stored = self.stored(video_id).await?;
        let mut problems = match &stored {
            Stored::Record(record, _) => self.disagreements(record).await?,
            Stored::Tombstone(stone, _) => match stone.tombstone {
                Absence::Vacant => Vec::new(),
                Absence::Unpublished | Absence::Discarded => {
                    vec!["an ingest was interrupted; a repair removes what it left".to_owned()]
                }
                Absence::Deleted => {
                    vec!["its delete was interrupted; a repair finishes it".to_owned()]
                }
            },
            Stored::Absent
                if self.records.list(&format!("videos/{video_id}/")).await?.is_empty() =>
            {
                Vec::new()
            }
            Stored::Absent => vec!["documents without a record".to_owned()],
            Stored::Unreadable(_, error) => {
                vec![format!("{error}; delete the video or ingest it again")]
            }
        };
        if !self.is_listed(video_id, &stored).await? {
            problems.push("its entry in the listing is not that of its record".to_owned());
        }
        Ok((stored, problems))
    }

    async fn disagreements(&self, record: &VideoRecord) -> Result<Vec<String>> {
        let mut problems = Vec::new();
        for Fault { error, .. } in self.faults(record).await? {
            problems.push(format!("{error}; delete the video or ingest it again"));
        }
        match self.storage.stat(&record.storage_path).await? {
            None => problems.push(format!("the object {} is missing", record.storage_path)),
            Some(object) if object.size != record.size_bytes => problems.push(format!(
                "the object {} has {} bytes, its record says {}",
                record.storage_path, object.size, record.size_bytes
            )),
            Some(_) => {}
        }
        if let Some(poster) = &record.poster_path
            && self.storage.stat(poster).await?.is_none()
        {
            problems.push(format!("the object {poster} is missing"));
        }
        let of_video = Filter::video(record.video_id);
        let mut counted = 0;
        for (id, entry) in &record.analyzers {
            let current = of_video
                .clone()
                .and("revision", Predicate::AnyKeyword(vec![entry.revision.clone()]));
            let stored = self.index.count(&current).await?;
            counted += stored;
            if stored != entry.points {
                problems
                    .push(format!("{id} has {stored} vectors, its record says {}", entry.points));
            }
        }
        let surplus = self.index.count(&of_video).await?.saturating_sub(counted);
        if surplus > 0 {
            problems.push(format!("{surplus} vectors belong to no stored result"));
        }
        Ok(problems)
    }
}
