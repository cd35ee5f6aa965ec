//! Restricts hits to published points.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use ports::index::Hit;
use ports::storage::ObjectUrls;

use crate::analysis::{Analyzers, COMBINED, TextStyle, VISUAL};
use crate::catalog::Catalog;
use crate::indexing::health::IndexHealth;
use crate::indexing::point::PointDocument;
use crate::kernel::error::{Error, Result};
use crate::kernel::moment::MomentId;
use crate::kernel::video::VideoId;
use crate::listing::{EntrySummary, Listing};
use crate::search::calibration::PresenceEstimator;
use crate::search::results::SearchResult;
use crate::search::retrieval::mode::IndexHits;

/// Length of a snippet, in characters.
const SNIPPET: usize = 180;

/// Which hits of a search to return, and how to score them.
#[derive(Clone, Copy)]
pub(crate) struct Scoring<'a> {
    /// The vector field that is searched.
    pub(crate) field: &'a str,
    /// Estimates `p_present`; `None` if the moments are listed without a search text.
    pub(crate) presence: Option<&'a PresenceEstimator<'a>>,
    /// Maximum number of hits in each video.
    pub(crate) per_video: usize,
}

/// The metadata and the URL of each video with hits, kept between calls.
pub(crate) type HitVideos = HashMap<VideoId, (Arc<EntrySummary>, String)>;

/// Reads the hits of published points.
pub(crate) struct HitReader {
    analyzers: Analyzers,
    listing: Arc<Listing>,
    storage: Arc<dyn ObjectUrls>,
    health: Arc<IndexHealth>,
}

impl HitReader {
    pub(crate) fn new(
        storage: Arc<dyn ObjectUrls>,
        catalog: &Catalog,
        health: Arc<IndexHealth>,
    ) -> Self {
        let (analyzers, listing) = (catalog.analyzers.clone(), catalog.listing.clone());
        Self { analyzers, listing, storage, health }
    }

    /// Builds the results from the hits whose points are published, up to `per_video` in each video.
    pub(crate) async fn keep_published(
        &self,
        found: IndexHits,
        scoring: Scoring<'_>,
        videos: &mut HitVideos,
    ) -> Result<Vec<SearchResult>> {
        let IndexHits { hits, text_scores } = found;
        let read = |hit: Hit| Ok((self.read_document(&hit)?, hit));
        let hits = hits.into_iter().map(read).collect::<Result<Vec<_>>>()?;
        let is_published = |listed: &EntrySummary, hit: &Hit, document: &PointDocument| {
            listed.has_revision(&hit.id.analyzer_id, &document.revision)
        };
        let hit_videos: BTreeSet<VideoId> = hits.iter().map(|(_, hit)| hit.id.video_id).collect();
        let uncached = hit_videos.into_iter().filter(|id| !videos.contains_key(id));
        let uncached: Vec<VideoId> = uncached.collect();
        let is_current = |id: VideoId, listed: &EntrySummary| {
            let mut video_hits = hits.iter().filter(|(_, hit)| hit.id.video_id == id);
            video_hits.all(|(document, hit)| is_published(listed, hit, document))
        };
        for (id, listed) in self.listing.cached_summaries(&uncached, is_current).await? {
            let url = self.storage.download_url(&listed.storage_path).await?;
            videos.insert(id, (listed, url));
        }
        let mut counts: HashMap<VideoId, usize> = HashMap::new();
        let result = |(document, hit): (PointDocument, Hit)| {
            let (video, url) = videos.get(&hit.id.video_id)?;
            let count = counts.entry(hit.id.video_id).or_default();
            if *count == scoring.per_video || !is_published(video, &hit, &document) {
                return None;
            }
            *count += 1;
            let text_score = text_scores.get(&hit.id).copied();
            let result = self.result(scoring, hit, document);
            let recorded_at = video.metadata.wall_clock(result.span.start);
            Some(SearchResult { text_score, video_url: url.clone(), recorded_at, ..result })
        };
        Ok(hits.into_iter().filter_map(result).collect())
    }

    fn read_document(&self, hit: &Hit) -> Result<PointDocument> {
        let style = self.text_style(&hit.id.analyzer_id);
        PointDocument::read(&hit.document, style).map_err(|e| {
            let error = Error::corrupt(format!("a hit of '{}': {e}", hit.id.video_id));
            // Valid JSON of another shape is not index damage: it is what was written.
            if e.is_data() { error } else { self.health.report_damage(error) }
        })
    }

    /// Returns the style of the text of an analyzer's whole record.
    fn text_style(&self, analyzer_id: &str) -> TextStyle {
        let analyzer = self.analyzers.get(analyzer_id);
        analyzer.map_or(TextStyle::Prose, |analyzer| analyzer.spec().style)
    }

    /// Builds a result without the metadata of its video and without a full-text score.
    fn result(&self, scoring: Scoring<'_>, hit: Hit, document: PointDocument) -> SearchResult {
        let Scoring { field, presence, .. } = scoring;
        let span = document.span();
        let style = self.text_style(&hit.id.analyzer_id);
        let p_found =
            presence.map_or(0.0, |p| p.hit_probability(field, style, hit.score, &document));
        SearchResult {
            moment_id: MomentId::new(hit.id.video_id, span),
            video_id: hit.id.video_id,
            chunk_id: hit.id.chunk_id,
            span,
            timecode: span.timecode(),
            score: hit.score.clamp(0.0, 1.0),
            text_score: None,
            p_present: p_found,
            p_found,
            p_seen: 0.0,
            found_by: vec![hit.id.analyzer_id],
            // A picture has no text, so its hit has that of the whole record.
            text: document.embedded_text(if field == VISUAL { COMBINED } else { field }).to_owned(),
            snippet: document.text.chars().take(SNIPPET).collect(),
            video_url: String::new(),
            recorded_at: None,
            statements: document.statements,
            facets: document.facets,
            display: document.display,
        }
    }
}
