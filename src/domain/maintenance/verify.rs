//! Verifies that records, objects and vectors are consistent, for `shotlog verify`.

use std::collections::BTreeSet;
use std::sync::Arc;

use ports::ErrorKind;
use ports::index::{Filter, IndexStatistics, IndexUpkeep, Predicate};
use ports::records::RecordStore;
use ports::storage::ObjectStorage;

use crate::alerts::Alerts;
use crate::bins::Bins;
use crate::catalog::Catalog;
use crate::comments::Comments;
use crate::kernel::error::Result;
use crate::kernel::ports::Stores;
use crate::kernel::video::VideoId;
use crate::listing::Listing;
use crate::records::Records;
use crate::records::faults::DocumentFault;
use crate::records::install::Installation;
use crate::records::locks::VideoLocks;
use crate::records::record::{Absence, VideoRecord};
use crate::records::record_state::RecordState;
use crate::shares::Shares;

/// The result of a verification.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct VerifyReport {
    /// Number of published videos that were verified.
    pub videos: u64,
    /// Number of videos skipped because they were being changed.
    pub busy: u64,
    /// The inconsistencies found. Each is one line that begins with the id of the video or the bin,
    /// or with the name of the alert.
    pub problems: Vec<String>,
}

/// Checks the stores of an install.
pub struct Verification {
    store: Arc<dyn RecordStore>,
    storage: Arc<dyn ObjectStorage>,
    index: Arc<dyn IndexUpkeep>,
    statistics: Arc<dyn IndexStatistics>,
    records: Arc<Records>,
    listing: Arc<Listing>,
    installation: Arc<Installation>,
    locks: Arc<VideoLocks>,
    bins: Arc<Bins>,
    comments: Arc<Comments>,
    shares: Arc<Shares>,
    alerts: Arc<Alerts>,
}

impl Verification {
    pub(crate) fn new(stores: &Stores, catalog: &Catalog, alerts: Arc<Alerts>) -> Self {
        Self {
            store: stores.records.clone(),
            storage: stores.storage.clone(),
            index: stores.index.clone(),
            statistics: stores.index.clone(),
            records: catalog.records.clone(),
            listing: catalog.listing.clone(),
            installation: catalog.installation.clone(),
            locks: catalog.locks.clone(),
            bins: catalog.bins.clone(),
            comments: catalog.comments.clone(),
            shares: catalog.shares.clone(),
            alerts,
        }
    }

    /// Verifies the index files and every video. Checks that each video's documents and objects
    /// exist, that the number of its vectors matches its record, that nothing remains of videos
    /// without a record, and that all bins, all comments, all shares, all alerts and their matches
    /// can be read. Changes nothing.
    pub async fn run(&self) -> Result<VerifyReport> {
        let mut report = VerifyReport::default();
        match self.index.check().await {
            Err(error) if error.kind() == ErrorKind::Corrupt => {
                report.problems.push(error.to_string());
            }
            checked => checked?,
        }
        match self.installation.stored_id().await {
            Err(error) if error.is_corrupt() => report.problems.push(error.to_string()),
            stored => drop(stored?),
        }
        let ids: BTreeSet<VideoId> = self.records.ids().await?.into_iter().collect();
        for &video_id in &ids {
            let (mut state, mut problems) = self.problems(video_id).await?;
            if !problems.is_empty() {
                // The video may be in the middle of a publication or deletion.
                let Some(_lock) = self.locks.try_lock(video_id).await? else {
                    report.busy += 1;
                    continue;
                };
                (state, problems) = self.problems(video_id).await?;
            }
            report.videos += u64::from(state.record().is_some());
            report.problems.extend(problems.into_iter().map(|what| format!("{video_id}: {what}")));
        }
        let ids: Vec<VideoId> = ids.into_iter().collect();
        for video_id in self.listing.listed_except(&ids).await? {
            if self.records.state(video_id).await?.record().is_none() {
                report.problems.push(format!("{video_id}: listed without a record"));
            }
        }
        for video_id in self.statistics.values("video_id").await? {
            // A malformed id has no record.
            let has_record = match video_id.parse() {
                Ok(id) => ids.contains(&id) || self.records.state(id).await? != RecordState::Absent,
                Err(_) => false,
            };
            if !has_record {
                report.problems.push(format!("{video_id}: vectors without a record"));
            }
        }
        report.problems.extend(self.bins.problems().await?);
        report.problems.extend(self.comments.problems().await?);
        report.problems.extend(self.shares.problems().await?);
        report.problems.extend(self.alerts.problems().await?);
        Ok(report)
    }

    /// Returns the state of a video's record and the inconsistencies in its data.
    async fn problems(&self, video_id: VideoId) -> Result<(RecordState, Vec<String>)> {
        let state = self.records.state(video_id).await?;
        let mut problems = match &state {
            RecordState::Record(record, _) => self.inconsistencies(record).await?,
            RecordState::Tombstone(stone, _) => match stone.tombstone {
                Absence::Vacant => Vec::new(),
                Absence::Unpublished | Absence::Discarded => {
                    vec!["an ingest was interrupted; a repair removes what it left".to_owned()]
                }
                Absence::Deleted => {
                    vec!["its delete was interrupted; a repair finishes it".to_owned()]
                }
            },
            RecordState::Absent
                if self.store.list(&format!("videos/{video_id}/")).await?.is_empty() =>
            {
                Vec::new()
            }
            RecordState::Absent => vec!["documents without a record".to_owned()],
            RecordState::Unreadable(_, error) => {
                vec![format!("{error}; delete the video or ingest it again")]
            }
        };
        if !self.listing.is_current(video_id, &state).await? {
            problems.push("its entry in the listing is not that of its record".to_owned());
        }
        Ok((state, problems))
    }

    async fn inconsistencies(&self, record: &VideoRecord) -> Result<Vec<String>> {
        let mut problems = Vec::new();
        for DocumentFault { error, .. } in self.records.faults(record).await? {
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
        let all = Filter::video(record.video_id);
        let mut current_total = 0;
        for (id, entry) in &record.analyzers {
            let current =
                all.clone().and("revision", Predicate::AnyKeyword(vec![entry.revision.clone()]));
            let stored = self.statistics.count(&current).await?;
            current_total += stored;
            if stored != entry.points {
                problems
                    .push(format!("{id} has {stored} vectors, its record says {}", entry.points));
            }
        }
        let surplus = self.statistics.count(&all).await?.saturating_sub(current_total);
        if surplus > 0 {
            problems.push(format!("{surplus} vectors belong to no stored result"));
        }
        Ok(problems)
    }
}
