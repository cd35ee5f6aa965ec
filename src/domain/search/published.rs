//! Restricts hits to published points.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use ports::index::VectorQuery;

use crate::analysis::hit::HitDocument;
use crate::catalog::EntrySummary;
use crate::kernel::error::{Error, Result};
use crate::kernel::video::VideoId;
use crate::search::{Mode, Search, mode};

/// Maximum factor by which a search is widened beyond the requested number of hits.
const MAX_WIDENING: usize = 4;

/// A hit in a published video.
pub(super) struct PublishedHit {
    pub(super) hit: mode::ScoredPoint,
    pub(super) document: HitDocument,
    pub(super) video_url: String,
    pub(super) recorded_at: Option<String>,
}

impl Search {
    /// Searches published points only. While a video is being published or deleted, the index also
    /// holds unpublished points; if they crowd out the requested hits, the search is repeated with
    /// a larger limit.
    pub(super) async fn published_hits(
        &self,
        mode: Mode,
        text: &str,
        query: VectorQuery,
    ) -> Result<Vec<PublishedHit>> {
        let requested = query.limit;
        let mut videos = HashMap::new();
        let mut limit = requested;
        loop {
            let hits = self.find(mode, text, VectorQuery { limit, ..query.clone() }).await?;
            let complete = hits.len() < limit || limit > MAX_WIDENING * requested;
            let mut published = self.keep_published(hits, &mut videos).await?;
            if complete || published.len() >= requested {
                published.truncate(requested);
                return Ok(published);
            }
            limit *= 2;
        }
    }

    /// Keeps hits whose points are published. `videos` caches each video's metadata and URL between
    /// calls.
    pub(super) async fn keep_published(
        &self,
        hits: Vec<mode::ScoredPoint>,
        videos: &mut HashMap<VideoId, (Arc<EntrySummary>, String)>,
    ) -> Result<Vec<PublishedHit>> {
        let document = |hit: mode::ScoredPoint| {
            let document: HitDocument = hit.document.read().map_err(|e| {
                let error = Error::corrupt(format!("a hit of '{}': {e}", hit.id.video_id));
                // Valid JSON of an unexpected shape is not index damage: it was written that way.
                if e.is_data() { error } else { self.report_damage(error) }
            })?;
            Ok((hit, document))
        };
        let hits = hits.into_iter().map(document).collect::<Result<Vec<_>>>()?;
        let is_published =
            |listed: &EntrySummary, hit: &mode::ScoredPoint, document: &HitDocument| {
                listed.has_revision(&hit.id.analyzer_id, &document.revision)
            };
        let hit_videos: BTreeSet<VideoId> = hits.iter().map(|(hit, _)| hit.id.video_id).collect();
        let uncached = hit_videos.into_iter().filter(|id| !videos.contains_key(id));
        let uncached: Vec<VideoId> = uncached.collect();
        let is_current = |id: VideoId, listed: &EntrySummary| {
            let mut video_hits = hits.iter().filter(|(hit, _)| hit.id.video_id == id);
            video_hits.all(|(hit, document)| is_published(listed, hit, document))
        };
        for (id, listed) in self.catalog.cached_summaries(&uncached, is_current).await? {
            let url = self.storage.download_url(&listed.storage_path).await?;
            videos.insert(id, (listed, url));
        }
        let published = |(hit, document): (mode::ScoredPoint, HitDocument)| {
            let (video, url) = videos.get(&hit.id.video_id)?;
            let recorded_at = video.metadata.wall_clock(document.start);
            is_published(video, &hit, &document).then(|| {
                let video_url = url.clone();
                PublishedHit { hit, document, video_url, recorded_at }
            })
        };
        Ok(hits.into_iter().filter_map(published).collect())
    }
}
