//! The listing: what a page of the library and the hits of a search show of each video, kept in the
//! index so that neither reads a record.
//!
//! A video's entry says what its record says. It is written after the record has been published and
//! before what that has replaced is removed; whoever writes it reads the record once more afterwards,
//! and goes on until both agree. So the last one to write puts right what somebody wrote who slept,
//! and what a death leaves behind is put right by the next repair.

use std::cmp::Ordering;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use ports::Document;
use ports::index::Condition;
use ports::listing::{ListQuery, Position, VideoEntry};
use serde::{Deserialize, Serialize};

use crate::domain::catalog::about::{self, About};
use crate::domain::catalog::looked::Mark;
use crate::domain::catalog::record::VideoRecord;
use crate::domain::catalog::{Catalog, Stored};
use crate::domain::kernel::access::Access;
use crate::domain::kernel::error::{Error, Result};
use crate::domain::kernel::time::instant;
use crate::domain::kernel::urls::without_secrets;
use crate::domain::kernel::video::VideoId;

/// What the listing says once it is complete. Another value when entries change their form.
const COMPLETE: &str = "3";

/// Entries read or written at once.
pub(super) const BATCH: usize = 500;

/// What the listing knows of a video beside what it is sorted and filtered by.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Listed {
    pub(crate) storage_path: String,
    pub(crate) poster_path: Option<String>,
    /// Without secrets.
    pub(crate) source_url: Option<String>,
    pub(crate) duration: f64,
    pub(crate) chunks: u32,
    pub(crate) chunk_config: String,
    /// What it is about, in a sentence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) synopsis: Option<String>,
    /// What its owner says of it.
    #[serde(default)]
    pub(crate) about: About,
    /// What marks the points of each analyzer: others are not those of the published record.
    pub(crate) revisions: BTreeMap<String, String>,
}

impl Listed {
    /// Whether points of an analyzer with this mark are those of the published record; points without
    /// one are.
    pub(crate) fn publishes(&self, analyzer_id: &str, revision: &str) -> bool {
        revision.is_empty() || self.revisions.get(analyzer_id).is_some_and(|own| own == revision)
    }
}

/// What is listed of a published video.
pub(super) fn listed_of(record: &VideoRecord) -> Listed {
    let revisions = record.analyzers.iter();
    Listed {
        storage_path: record.storage_path.clone(),
        poster_path: record.poster_path.clone(),
        source_url: record.source_url.as_deref().map(without_secrets),
        duration: record.duration,
        chunks: record.chunks,
        chunk_config: record.chunking.config(),
        synopsis: record.synopsis.clone(),
        about: record.about.clone(),
        revisions: revisions.map(|(id, entry)| (id.clone(), entry.revision.clone())).collect(),
    }
}

/// The entry of a published video.
pub(super) fn entry_of(record: &VideoRecord) -> Result<VideoEntry> {
    Ok(VideoEntry {
        video_id: record.video_id,
        created_at: instant(&record.created_at).unwrap_or_default(),
        filename: record.filename.clone(),
        analyzers: record.analyzer_ids(),
        fields: record.about.fields(),
        document: Document::serialize(&listed_of(record))?,
    })
}

fn listed(entry: &VideoEntry) -> Result<Listed> {
    entry.document.read().map_err(|e| {
        Error::corrupt(format!("the entry of '{}' in the listing: {e}", entry.video_id))
    })
}

impl Catalog {
    /// A page of entries with what they say, and how many match in all.
    pub(super) async fn page(&self, query: &ListQuery) -> Result<(Vec<(VideoEntry, Listed)>, u64)> {
        let page = self.listing.list(query).await?;
        let entries = page.entries.into_iter().map(|entry| {
            let listed = listed(&entry)?;
            Ok((entry, listed))
        });
        Ok((entries.collect::<Result<_>>()?, page.total))
    }

    /// What is listed of these videos; nothing of those that are not published.
    pub(crate) async fn listed(&self, video_ids: &[VideoId]) -> Result<HashMap<VideoId, Listed>> {
        let entries = self.listing.get(video_ids).await?;
        entries.into_iter().map(|entry| Ok((entry.video_id, listed(&entry)?))).collect()
    }

    /// The same for hits of a search: what was read lately, where that is enough, costs no request.
    pub(crate) async fn listed_lately(
        &self,
        video_ids: &[VideoId],
        is_enough: impl Fn(VideoId, &Listed) -> bool,
    ) -> Result<HashMap<VideoId, Arc<Listed>>> {
        let now = self.lately.now();
        let mut known = HashMap::new();
        let mut unknown = Vec::new();
        for id in video_ids {
            match self.lately.get(*id, &now).filter(|listed| is_enough(*id, listed)) {
                Some(listed) => {
                    known.insert(*id, listed);
                }
                None => unknown.push(*id),
            }
        }
        if !unknown.is_empty() {
            for (id, listed) in self.listed(&unknown).await? {
                let listed = Arc::new(listed);
                self.lately.keep(id, &now, listed.clone());
                known.insert(id, listed);
            }
        }
        Ok(known)
    }

    /// Some of the videos that satisfy these conditions, the newest first, from a place in the order on,
    /// and where the next ones begin; `None` after the last.
    pub(crate) async fn some_of(
        &self,
        conditions: &[Condition],
        after: Option<Position>,
    ) -> Result<(Vec<VideoId>, Option<Position>)> {
        let places = self.places_of(conditions, after).await?;
        let next = places.last().filter(|_| places.len() == BATCH).cloned();
        Ok((places.into_iter().map(|place| place.video_id).collect(), next))
    }

    /// The places of the next [`BATCH`] of the videos that satisfy these conditions, the newest first.
    pub(crate) async fn places_of(
        &self,
        conditions: &[Condition],
        after: Option<Position>,
    ) -> Result<Vec<Position>> {
        let conditions = conditions.to_vec();
        let query = ListQuery { conditions, after, limit: BATCH, ..ListQuery::default() };
        let entries = self.listing.list(&query).await?.entries;
        Ok(entries.iter().map(position).collect())
    }

    /// The places of these videos that a caller sees, the newest first.
    pub(crate) async fn places(&self, access: &Access, ids: &[VideoId]) -> Result<Vec<Position>> {
        let entries = self.entries(access, ids).await?;
        let mut places: Vec<Position> = entries.iter().map(position).collect();
        places.sort_by(in_order);
        Ok(places)
    }

    /// The ids of the videos that satisfy these conditions.
    pub(crate) async fn matching(&self, conditions: &[Condition]) -> Result<Vec<VideoId>> {
        Ok(self.listing.matching_ids(conditions).await?)
    }

    /// The words of a field of the videos that satisfy these conditions, each with how many have it: the
    /// first so many.
    pub(crate) async fn words(
        &self,
        field: &str,
        conditions: &[Condition],
        limit: usize,
    ) -> Result<Vec<(String, u64)>> {
        Ok(self.listing.keyword_counts(field, conditions, None, limit).await?)
    }

    /// How many videos a caller sees.
    pub(crate) async fn count(&self, access: &Access) -> Result<u64> {
        Ok(self.listing.list(&seen(access, 0)).await?.total)
    }

    /// The newest videos that a caller sees, at most so many.
    pub(crate) async fn newest(&self, access: &Access, limit: usize) -> Result<Vec<VideoEntry>> {
        Ok(self.listing.list(&seen(access, limit)).await?.entries)
    }

    /// The entries of these videos, in this order; none of those that are not published, or not seen
    /// by the caller.
    pub(crate) async fn entries(
        &self,
        access: &Access,
        video_ids: &[VideoId],
    ) -> Result<Vec<VideoEntry>> {
        let mut entries = self.listing.get(video_ids).await?;
        let seen = about::seen_by(access);
        entries.retain(|entry| {
            seen.as_ref().is_none_or(|Condition { field, predicate }| {
                entry.fields.get(field).is_some_and(|value| predicate.matches(value))
            })
        });
        Ok(entries)
    }

    /// The newest video that a caller sees and that was fetched from an address, which is without
    /// secrets.
    pub(crate) async fn ingested_from(
        &self,
        access: &Access,
        url: &str,
    ) -> Result<Option<VideoId>> {
        let mut query = seen(access, BATCH);
        loop {
            let (entries, _) = self.page(&query).await?;
            let from_there = |listed: &Listed| listed.source_url.as_deref() == Some(url);
            if let Some((entry, _)) = entries.iter().find(|(_, listed)| from_there(listed)) {
                return Ok(Some(entry.video_id));
            }
            match entries.last() {
                Some((last, _)) if entries.len() == BATCH => query.after = Some(position(last)),
                _ => return Ok(None),
            }
        }
    }

    /// Makes a video's entry say what its record says, or removes it with the record.
    pub(crate) async fn relist(&self, video_id: VideoId) -> Result<()> {
        let mut entry = self.entry(video_id).await?;
        loop {
            match &entry {
                Some(entry) => self.listing.put(vec![entry.clone()]).await?,
                None => self.listing.remove(&[video_id]).await?,
            }
            self.lately.forget();
            let now = self.entry(video_id).await?;
            if now == entry {
                return Ok(());
            }
            entry = now;
        }
    }

    /// Whether a video's entry says what its record says.
    pub(crate) async fn is_listed(&self, video_id: VideoId, stored: &Stored) -> Result<bool> {
        let listed = self.listing.get(&[video_id]).await?;
        let record = stored.record().map(entry_of).transpose()?;
        Ok(listed.first() == record.as_ref())
    }

    async fn entry(&self, video_id: VideoId) -> Result<Option<VideoEntry>> {
        self.stored(video_id).await?.record().map(entry_of).transpose()
    }

    /// Lists every video, unless that was done already.
    pub async fn list_all(&self) -> Result<()> {
        if self.mark().await?.form == COMPLETE {
            return Ok(());
        }
        let ids = self.ids().await?;
        tracing::info!(videos = ids.len(), "listing every video anew");
        for batch in ids.chunks(BATCH) {
            let entries = self.recorded(batch).await?;
            self.listing.put(entries.values().cloned().collect()).await?;
            // Another instance may have published or deleted some before these were written.
            let now = self.recorded(batch).await?;
            for video_id in batch.iter().filter(|id| entries.get(*id) != now.get(*id)) {
                self.relist(*video_id).await?;
            }
        }
        self.set_mark(&Mark::of_form(COMPLETE)).await
    }

    /// What the entries of these videos should be, of those that are published.
    async fn recorded(&self, video_ids: &[VideoId]) -> Result<HashMap<VideoId, VideoEntry>> {
        let records = self.records(video_ids).await?;
        records.iter().map(|record| Ok((record.video_id, entry_of(record)?))).collect()
    }

    /// Ids that are listed and not among these, which are in order.
    pub(crate) async fn listed_beside(&self, ids: &[VideoId]) -> Result<Vec<VideoId>> {
        let mut beside = Vec::new();
        let mut after = None;
        loop {
            let page = self.listing.ids(after, BATCH).await?;
            let Some(last) = page.last() else { return Ok(beside) };
            after = Some(*last);
            beside.extend(page.into_iter().filter(|id| ids.binary_search(id).is_err()));
        }
    }
}

/// The videos that a caller sees, the newest so many.
fn seen(access: &Access, limit: usize) -> ListQuery {
    let conditions = about::seen_by(access).into_iter().collect();
    ListQuery { conditions, limit, ..ListQuery::default() }
}

/// Where an entry is in the order of the listing.
pub(super) fn position(entry: &VideoEntry) -> Position {
    Position { created_at: entry.created_at, video_id: entry.video_id }
}

/// The order of the listing: the newest first, those of one instant by id.
pub(crate) fn in_order(a: &Position, b: &Position) -> Ordering {
    b.created_at.cmp(&a.created_at).then_with(|| a.video_id.cmp(&b.video_id))
}

/// Where a page ended, as a client gets it and gives it back.
pub(super) mod cursor {
    use ports::listing::Position;

    use crate::domain::kernel::error::{Error, Result};

    pub(in crate::domain::catalog) fn text(position: &Position) -> String {
        format!("{}-{}", position.created_at, position.video_id)
    }

    pub(in crate::domain::catalog) fn read(text: &str) -> Result<Position> {
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
