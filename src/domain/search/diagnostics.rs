//! Why a search came back empty: which filter kept the hits out, what was never analyzed, and how
//! near the best miss was.

use ports::index::VectorQuery;
use serde_json::{Map, Value};

use crate::domain::kernel::access::Access;
use crate::domain::kernel::error::Result;
use crate::domain::kernel::video::VideoId;
use crate::domain::search::Search;
use crate::domain::search::mode::Mode;

/// At most so many videos are named and looked at.
const MOST_VIDEOS: usize = 20;

/// Of a search over all videos the newest are looked at, so many.
const MOST_LISTED: usize = 500;

/// Hits of other analyzers that are looked at.
const OTHERS: usize = 5;

/// Probability from which another analyzer is worth naming.
const LIKELY: f32 = 0.5;

/// The filter that is a parameter of its own too; both are left out together.
pub(super) const VIDEOS: &str = "video_ids";

/// Why nothing was found.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Diagnostics {
    /// Filter to the hits there would be without it, threshold and limit as given.
    pub without_filter: Vec<(String, u32)>,
    /// Videos in scope that the analyzer has not run on, at most 20.
    pub videos_without_analyzer: Vec<VideoId>,
    /// Videos in scope that the analyzer has run on and that have no vector in the field, at most 20.
    pub videos_without_field: Vec<VideoId>,
    /// Ids that were named and are no videos of this install, at most 20.
    pub unknown_videos: Vec<String>,
    /// The other analyzers that have it, each with the best probability of their hits, the surest first.
    pub found_by_others: Vec<(String, f32)>,
    /// Best cosine among what the filters let through; `None` when they let nothing through.
    pub best_score: Option<f32>,
}

/// An empty search, as it was asked.
pub(crate) struct Empty<'a> {
    pub(crate) access: &'a Access,
    pub(crate) mode: Mode,
    pub(crate) text: &'a str,
    /// `None` where all were searched.
    pub(crate) analyzer: Option<&'a str>,
    pub(crate) video_ids: Option<&'a [String]>,
    pub(crate) filters: &'a Map<String, Value>,
    pub(crate) query: VectorQuery,
    /// 0 where every hit was wanted.
    pub(crate) min_p_present: f32,
}

impl Search {
    /// Looks for the reasons of an empty result. A search per filter and per video in scope.
    pub(crate) async fn diagnose(&self, empty: Empty<'_>) -> Result<Diagnostics> {
        let mut diagnostics = Diagnostics::default();
        let nearest = VectorQuery { limit: 1, threshold: None, ..empty.query.clone() };
        let best = self.index.search(nearest).await?;
        diagnostics.best_score = best.first().map(|hit| hit.score.clamp(0.0, 1.0));

        for name in narrowing(empty.filters, empty.video_ids) {
            let mut left = empty.filters.clone();
            left.remove(name);
            let ids = empty.video_ids.filter(|_| name != VIDEOS);
            let filter = self.scope(empty.access, empty.analyzer, ids, &left).await?;
            let query = VectorQuery { filter, ..empty.query.clone() };
            let hits = self.find(empty.mode, empty.text, query).await?;
            diagnostics.without_filter.push((name.to_owned(), hits.len() as u32));
        }
        if let Some(analyzer) = empty.analyzer {
            self.lacking(&empty, analyzer, &mut diagnostics).await?;
            diagnostics.found_by_others = self.found_by_others(&empty, analyzer).await?;
        }
        Ok(diagnostics)
    }

    /// The analyzers that have what another does not, under the same filters and threshold.
    async fn found_by_others(
        &self,
        empty: &Empty<'_>,
        analyzer: &str,
    ) -> Result<Vec<(String, f32)>> {
        let filter = self.scope(empty.access, None, empty.video_ids, empty.filters).await?;
        let query = VectorQuery { filter, limit: OTHERS, ..empty.query.clone() };
        let mut found: Vec<(String, f32)> = Vec::new();
        for hit in self.search_everything(Mode::Hybrid, empty.text, query).await? {
            let worth = hit.p_present >= empty.min_p_present.max(LIKELY);
            for id in hit.found_by.into_iter().filter(|id| worth && id != analyzer) {
                if !found.iter().any(|(known, _)| *known == id) {
                    found.push((id, hit.p_present));
                }
            }
        }
        Ok(found)
    }

    async fn lacking(
        &self,
        empty: &Empty<'_>,
        analyzer: &str,
        diagnostics: &mut Diagnostics,
    ) -> Result<()> {
        let with = self.with_analyzer(empty.access, empty.video_ids, analyzer, diagnostics).await?;
        for video in with.into_iter().take(MOST_VIDEOS) {
            let one = [video.to_string()];
            let filter = self.scope(empty.access, Some(analyzer), Some(&one), &Map::new()).await?;
            let any = VectorQuery { filter, limit: 1, threshold: None, ..empty.query.clone() };
            if self.index.search(any).await?.is_empty() {
                diagnostics.videos_without_field.push(video);
            }
        }
        Ok(())
    }

    /// The videos in scope that an analyzer has run on; tells of the others, and of those that are none.
    pub(super) async fn with_analyzer(
        &self,
        access: &Access,
        video_ids: Option<&[String]>,
        analyzer: &str,
        diagnostics: &mut Diagnostics,
    ) -> Result<Vec<VideoId>> {
        let videos = match video_ids {
            None => self.catalog.newest(access, MOST_LISTED).await?,
            Some(ids) => {
                let ids = &ids[..ids.len().min(MOST_VIDEOS)];
                let named: Vec<VideoId> = ids.iter().filter_map(|id| id.parse().ok()).collect();
                let known = self.catalog.entries(access, &named).await?;
                let is_known = |id: &String| known.iter().any(|v| v.video_id.as_str() == id);
                let unknown = ids.iter().filter(|id| !is_known(id));
                diagnostics.unknown_videos = unknown.cloned().collect();
                known
            }
        };
        let (with, without): (Vec<_>, Vec<_>) =
            videos.into_iter().partition(|v| v.analyzers.iter().any(|id| id == analyzer));
        diagnostics.videos_without_analyzer =
            without.into_iter().map(|v| v.video_id).take(MOST_VIDEOS).collect();
        Ok(with.into_iter().map(|v| v.video_id).collect())
    }
}

/// The filters of a search by name, that by video among them where it is a parameter.
pub(super) fn narrowing<'a>(
    filters: &'a Map<String, Value>,
    video_ids: Option<&[String]>,
) -> Vec<&'a str> {
    let mut names: Vec<&str> = filters.keys().map(String::as_str).collect();
    if video_ids.is_some() && !names.contains(&VIDEOS) {
        names.push(VIDEOS);
    }
    names
}
