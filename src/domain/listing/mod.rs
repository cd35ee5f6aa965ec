//! The listing: summaries of all videos. They are stored in the index, so that library pages and
//! search hits need not read records.
//!
//! A video's entry is derived from its record. It is written after the record is published and
//! before the replaced data is removed. After writing an entry, the writer reads the record again,
//! and rewrites the entry until it agrees with the record. So the last writer corrects an entry
//! left by a stalled writer, and the next repair corrects entries left by a crash.

pub(crate) mod changes;
pub(crate) mod scrub_cursor;
pub(crate) mod ttl_cache;

use std::cmp::Ordering;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use ports::index::{Condition, FieldValue};
use ports::listing::{ListQuery, Position, VideoEntry, VideoListing};
use ports::{Document, FrameRate};
use serde::{Deserialize, Serialize};

use crate::kernel::access::Access;
use crate::kernel::error::{Error, Result};
use crate::kernel::time::instant;
use crate::kernel::urls::redact_secrets;
use crate::kernel::video::VideoId;
use crate::listing::changes::EntryChanges;
use crate::listing::scrub_cursor::ListingState;
use crate::listing::ttl_cache::TtlCache;
use crate::records::Records;
use crate::records::metadata::{self, VideoMetadata};
use crate::records::record::VideoRecord;
use crate::records::record_state::RecordState;

/// Format version of a complete listing. Increment it when the format of entries changes.
const FORMAT: &str = "6";

/// Listing field of videos with corrections, which is `true`.
pub(crate) const CORRECTED: &str = "corrected";

/// Number of entries read or written per request.
pub(crate) const BATCH: usize = 500;

/// The content of a listing entry, in addition to the fields for sorting and filtering.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct EntrySummary {
    /// Number of times that the video's state has been published.
    #[serde(default)]
    pub(crate) epoch: u64,
    pub(crate) storage_path: String,
    pub(crate) poster_path: Option<String>,
    /// The URL that the video was fetched from, with secrets redacted.
    pub(crate) source_url: Option<String>,
    pub(crate) duration: f64,
    pub(crate) chunks: u32,
    pub(crate) chunk_config: String,
    /// Frames per second as a fraction.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) frame_rate: Option<FrameRate>,
    /// Whether the file has a sound track; `None` if that is unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) has_sound: Option<bool>,
    /// Timecode of the first frame.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) timecode: Option<String>,
    /// Name of the reel in edit lists.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) reel_name: Option<String>,
    /// A one-sentence synopsis.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) synopsis: Option<String>,
    /// User metadata.
    #[serde(default, rename = "about")]
    pub(crate) metadata: VideoMetadata,
    /// The published revision of each analyzer's points, by analyzer id. Points with another
    /// revision do not belong to the published record.
    pub(crate) revisions: BTreeMap<String, String>,
}

impl EntrySummary {
    /// Whether an analyzer's points with this revision belong to the published record. Points
    /// without a revision always do.
    pub(crate) fn has_revision(&self, analyzer_id: &str, revision: &str) -> bool {
        revision.is_empty() || self.revisions.get(analyzer_id).is_some_and(|own| own == revision)
    }
}

/// Builds a published video's listing summary.
pub(crate) fn summary(record: &VideoRecord) -> EntrySummary {
    let revisions = record.analyzers.iter();
    EntrySummary {
        epoch: record.epoch,
        storage_path: record.storage_path.clone(),
        poster_path: record.poster_path.clone(),
        source_url: record.source_url.as_deref().map(redact_secrets),
        duration: record.duration,
        chunks: record.chunks,
        chunk_config: record.chunking.config(),
        frame_rate: record.frame_rate_fraction(),
        has_sound: record.audio_tracks.map(|tracks| tracks > 0),
        timecode: record.timecode.clone(),
        reel_name: record.reel_name(),
        synopsis: record.synopsis.clone(),
        metadata: record.metadata.clone(),
        revisions: revisions.map(|(id, entry)| (id.clone(), entry.revision.clone())).collect(),
    }
}

/// Builds a published video's listing entry.
pub(crate) fn listing_entry(record: &VideoRecord) -> Result<VideoEntry> {
    let mut fields = record.metadata.fields();
    if record.corrections_document.is_some() {
        fields.insert(CORRECTED.into(), FieldValue::Keywords(vec![true.to_string()]));
    }
    Ok(VideoEntry {
        video_id: record.video_id,
        created_at: instant(&record.created_at).unwrap_or_default(),
        filename: record.filename.clone(),
        analyzers: record.analyzer_ids(),
        fields,
        document: Document::serialize(&summary(record))?,
    })
}

fn parse_summary(entry: &VideoEntry) -> Result<EntrySummary> {
    entry.document.read().map_err(|e| {
        Error::corrupt(format!("the entry of '{}' in the listing: {e}", entry.video_id))
    })
}

/// The listing of all published videos.
pub struct Listing {
    pub(crate) listing: Arc<dyn VideoListing>,
    records: Arc<Records>,
    summary_cache: TtlCache,
    /// The changes that this process has made.
    pub(crate) changes: EntryChanges,
}

impl Listing {
    pub(crate) fn new(
        listing: Arc<dyn VideoListing>,
        records: Arc<Records>,
        summary_cache: TtlCache,
    ) -> Self {
        Self { listing, records, summary_cache, changes: EntryChanges::new() }
    }

    /// Reads a page of entries with their summaries. Also returns the total number of matches.
    pub(crate) async fn page(
        &self,
        query: &ListQuery,
    ) -> Result<(Vec<(VideoEntry, EntrySummary)>, u64)> {
        let page = self.listing.list(query).await?;
        let entries = page.entries.into_iter().map(|entry| {
            let summary = parse_summary(&entry)?;
            Ok((entry, summary))
        });
        Ok((entries.collect::<Result<_>>()?, page.total))
    }

    /// Reads the summaries of the given videos, omitting unpublished videos.
    pub(crate) async fn summaries(
        &self,
        video_ids: &[VideoId],
    ) -> Result<HashMap<VideoId, EntrySummary>> {
        let entries = self.listing.get(video_ids).await?;
        entries.into_iter().map(|entry| Ok((entry.video_id, parse_summary(&entry)?))).collect()
    }

    /// Reads the summaries of the given videos, like [`Self::summaries`]. Uses the cached summary
    /// of a video if `is_sufficient` accepts it.
    pub(crate) async fn cached_summaries(
        &self,
        video_ids: &[VideoId],
        is_sufficient: impl Fn(VideoId, &EntrySummary) -> bool,
    ) -> Result<HashMap<VideoId, Arc<EntrySummary>>> {
        let now = self.summary_cache.now();
        let mut summaries = HashMap::new();
        let mut missing = Vec::new();
        for id in video_ids {
            match self.summary_cache.get(*id, &now).filter(|summary| is_sufficient(*id, summary)) {
                Some(summary) => {
                    summaries.insert(*id, summary);
                }
                None => missing.push(*id),
            }
        }
        if !missing.is_empty() {
            for (id, summary) in self.summaries(&missing).await? {
                let summary = Arc::new(summary);
                self.summary_cache.insert(id, &now, summary.clone());
                summaries.insert(id, summary);
            }
        }
        Ok(summaries)
    }

    /// Lists up to [`BATCH`] videos that satisfy the conditions, newest first, starting after the
    /// position `after`. Also returns the position for the next call, or `None` if there are no
    /// more videos.
    pub(crate) async fn video_batch(
        &self,
        conditions: &[Condition],
        after: Option<Position>,
    ) -> Result<(Vec<VideoId>, Option<Position>)> {
        let positions = self.matching_positions(conditions, after).await?;
        let next = positions.last().filter(|_| positions.len() == BATCH).cloned();
        Ok((positions.into_iter().map(|position| position.video_id).collect(), next))
    }

    /// Lists the positions of up to [`BATCH`] videos that satisfy the conditions, newest first,
    /// starting after the position `after`.
    pub(crate) async fn matching_positions(
        &self,
        conditions: &[Condition],
        after: Option<Position>,
    ) -> Result<Vec<Position>> {
        let conditions = conditions.to_vec();
        let query = ListQuery { conditions, after, limit: BATCH, ..ListQuery::default() };
        let entries = self.listing.list(&query).await?.entries;
        Ok(entries.iter().map(position).collect())
    }

    /// Finds the positions of the given videos, newest first, omitting videos that the caller may
    /// not see.
    pub(crate) async fn positions(
        &self,
        access: &Access,
        ids: &[VideoId],
    ) -> Result<Vec<Position>> {
        let entries = self.entries(access, ids).await?;
        let mut positions: Vec<Position> = entries.iter().map(position).collect();
        positions.sort_by(listing_order);
        Ok(positions)
    }

    /// Lists the ids of the videos that satisfy the conditions.
    pub(crate) async fn matching(&self, conditions: &[Condition]) -> Result<Vec<VideoId>> {
        Ok(self.listing.ids(conditions, None, usize::MAX).await?)
    }

    /// Counts a field's keywords among the videos that satisfy the conditions. Returns the first
    /// `limit` keywords, each with the number of videos that have it.
    pub(crate) async fn words(
        &self,
        field: &str,
        conditions: &[Condition],
        limit: usize,
    ) -> Result<Vec<(String, u64)>> {
        Ok(self.listing.keyword_counts(field, conditions, None, limit).await?)
    }

    /// Counts the videos that a caller may see.
    pub(crate) async fn count(&self, access: &Access) -> Result<u64> {
        Ok(self.listing.list(&visible_query(access, 0)).await?.total)
    }

    /// Reads the newest videos that a caller may see, at most `limit`.
    pub(crate) async fn newest(&self, access: &Access, limit: usize) -> Result<Vec<VideoEntry>> {
        Ok(self.listing.list(&visible_query(access, limit)).await?.entries)
    }

    /// Reads the entries of the given videos, in the same order. Omits videos that are unpublished
    /// or that the caller may not see.
    pub(crate) async fn entries(
        &self,
        access: &Access,
        video_ids: &[VideoId],
    ) -> Result<Vec<VideoEntry>> {
        let mut entries = self.listing.get(video_ids).await?;
        let visible = metadata::visible_to(access);
        entries.retain(|entry| {
            visible.as_ref().is_none_or(|Condition { field, predicate }| {
                entry.fields.get(field).is_some_and(|value| predicate.matches(value))
            })
        });
        Ok(entries)
    }

    /// Reads the entries of the given videos with their summaries. Omits videos that are unpublished
    /// or that the caller may not see.
    pub(crate) async fn visible_summaries(
        &self,
        access: &Access,
        video_ids: &[VideoId],
    ) -> Result<Vec<(VideoEntry, EntrySummary)>> {
        let entries = self.entries(access, video_ids).await?.into_iter();
        let with_summary = |entry: VideoEntry| {
            let summary = parse_summary(&entry)?;
            Ok((entry, summary))
        };
        entries.map(with_summary).collect()
    }

    /// Finds the newest video that was fetched from `url` and that the caller may see. Secrets in
    /// `url` must be redacted.
    pub(crate) async fn find_by_source_url(
        &self,
        access: &Access,
        url: &str,
    ) -> Result<Option<VideoId>> {
        let mut query = visible_query(access, BATCH);
        loop {
            let (entries, _) = self.page(&query).await?;
            let has_url = |summary: &EntrySummary| summary.source_url.as_deref() == Some(url);
            if let Some((entry, _)) = entries.iter().find(|(_, summary)| has_url(summary)) {
                return Ok(Some(entry.video_id));
            }
            match entries.last() {
                Some((last, _)) if entries.len() == BATCH => query.after = Some(position(last)),
                _ => return Ok(None),
            }
        }
    }

    /// Updates a video's listing entry from its record, or removes the entry if there is no record.
    pub(crate) async fn relist(&self, video_id: VideoId) -> Result<()> {
        let mut entry = self.entry(video_id).await?;
        loop {
            let changed = match &entry {
                Some(entry) => self.listing.put(vec![entry.clone()]).await,
                None => self.listing.remove(&[video_id]).await,
            };
            // A failed call may have changed the entry, and the video has changed in any case.
            self.summary_cache.invalidate();
            self.changes.count(video_id);
            changed?;
            let now = self.entry(video_id).await?;
            if now == entry {
                return Ok(());
            }
            entry = now;
        }
    }

    /// Checks whether a video's listing entry matches its record.
    pub(crate) async fn is_current(&self, video_id: VideoId, state: &RecordState) -> Result<bool> {
        let entries = self.listing.get(&[video_id]).await?;
        let expected = state.record().map(listing_entry).transpose()?;
        Ok(entries.first() == expected.as_ref())
    }

    async fn entry(&self, video_id: VideoId) -> Result<Option<VideoEntry>> {
        self.records.state(video_id).await?.record().map(listing_entry).transpose()
    }

    /// Rebuilds the listing, unless it is complete and in the current format.
    pub async fn rebuild(&self) -> Result<()> {
        if self.state().await?.format == FORMAT {
            return Ok(());
        }
        let ids = self.records.ids().await?;
        tracing::info!(videos = ids.len(), "rebuilding the listing");
        for batch in ids.chunks(BATCH) {
            let entries = self.entries_from_records(batch).await?;
            self.listing.put(entries.values().cloned().collect()).await?;
            entries.keys().for_each(|video_id| self.changes.count(*video_id));
            // Another instance may have published or deleted videos before the entries were
            // written.
            let now = self.entries_from_records(batch).await?;
            for video_id in batch.iter().filter(|id| entries.get(*id) != now.get(*id)) {
                self.relist(*video_id).await?;
            }
        }
        self.set_state(&ListingState::with_format(FORMAT)).await
    }

    /// Derives the entries of the given videos from their records, omitting unpublished videos.
    async fn entries_from_records(
        &self,
        video_ids: &[VideoId],
    ) -> Result<HashMap<VideoId, VideoEntry>> {
        let records = self.records.find_all(video_ids).await?;
        records.iter().map(|record| Ok((record.video_id, listing_entry(record)?))).collect()
    }

    /// Finds the listed videos whose ids are not in `ids`, which must be sorted.
    pub(crate) async fn listed_except(&self, ids: &[VideoId]) -> Result<Vec<VideoId>> {
        let mut others = Vec::new();
        let mut after = None;
        loop {
            let page = self.listing.ids(&[], after, BATCH).await?;
            let Some(last) = page.last() else { return Ok(others) };
            after = Some(*last);
            others.extend(page.into_iter().filter(|id| ids.binary_search(id).is_err()));
        }
    }
}

/// Creates the query for the newest `limit` videos that a caller may see.
fn visible_query(access: &Access, limit: usize) -> ListQuery {
    let conditions = metadata::visible_to(access).into_iter().collect();
    ListQuery { conditions, limit, ..ListQuery::default() }
}

/// Returns an entry's position in the listing order.
pub(crate) fn position(entry: &VideoEntry) -> Position {
    Position { created_at: entry.created_at, video_id: entry.video_id }
}

/// Compares two positions in the listing order: newest first, then by id.
pub(crate) fn listing_order(a: &Position, b: &Position) -> Ordering {
    b.created_at.cmp(&a.created_at).then_with(|| a.video_id.cmp(&b.video_id))
}

/// Converts positions to and from cursors, which clients receive and send back.
pub(crate) mod cursor {
    use ports::listing::Position;

    use crate::kernel::error::{Error, Result};

    pub(crate) fn text(position: &Position) -> String {
        format!("{}-{}", position.created_at, position.video_id)
    }

    pub(crate) fn read(text: &str) -> Result<Position> {
        let position = text.split_once('-').and_then(|(created_at, video_id)| {
            let (created_at, video_id) = (created_at.parse().ok()?, video_id.parse().ok()?);
            Some(Position { created_at, video_id })
        });
        position.ok_or_else(|| {
            let expected = "expected the `next` of a page of videos";
            Error::Invalid(format!("unknown cursor '{text}'; {expected}"))
        })
    }
}
