//! Pages of search results, and the position where each begins.

use std::collections::HashSet;
use std::fmt;
use std::str::FromStr;

use ports::index::VectorQuery;
use ports::listing::Position;

use crate::kernel::error::Result;
use crate::kernel::video::{ChunkId, VideoId};
use crate::search::{Mode, Search, SearchResult};

/// Where a page begins.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum PageStart {
    /// At the first result.
    #[default]
    First,
    /// After this many results of a ranking.
    Offset(usize),
    /// After a chunk of a video, in the order of a listing.
    AfterChunk(Position, ChunkId),
}

impl fmt::Display for PageStart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::First => write!(f, "0"),
            Self::Offset(hits) => write!(f, "{hits}"),
            Self::AfterChunk(video, chunk) => {
                write!(f, "{}.{}.{chunk}", video.created_at, video.video_id)
            }
        }
    }
}

/// The text is not a [`PageStart`].
#[derive(Debug)]
pub struct InvalidPageStart;

impl FromStr for PageStart {
    type Err = InvalidPageStart;

    fn from_str(text: &str) -> std::result::Result<Self, InvalidPageStart> {
        if let Ok(hits) = text.parse() {
            return Ok(Self::Offset(hits));
        }
        let listed = || {
            let mut parts = text.split('.');
            let (created_at, video_id, chunk) = (parts.next()?, parts.next()?, parts.next()?);
            let video =
                Position { created_at: created_at.parse().ok()?, video_id: video_id.parse().ok()? };
            parts.next().is_none().then_some(Self::AfterChunk(video, ChunkId(chunk.parse().ok()?)))
        };
        listed().ok_or(InvalidPageStart)
    }
}

/// A page of hits.
#[derive(Debug, Default)]
pub(super) struct Page {
    pub(super) results: Vec<SearchResult>,
    /// Where the page after each result begins.
    pub(super) next_pages: Vec<PageStart>,
    /// Whether there may be results after the last one.
    pub(super) more: bool,
}

/// The query for a ranking, of which pages are cut.
pub(super) struct RankingQuery<'a> {
    pub(super) mode: Mode,
    /// Whether all analyzers are searched.
    pub(super) all_analyzers: bool,
    pub(super) text: &'a str,
    pub(super) query: VectorQuery,
    /// Hits with a lower `p_present` are dropped.
    pub(super) min_probability: f32,
    /// Whether a re-ranker scores the hits together with the question.
    pub(super) rerank: bool,
    /// A chunk that is never a hit: the example of a similarity search.
    pub(super) exclude: Option<(VideoId, ChunkId)>,
}

impl Search {
    /// The first `limit` hits, and whether there may be more.
    pub(super) async fn top_hits(
        &self,
        ranking: &RankingQuery<'_>,
        limit: usize,
    ) -> Result<(Vec<SearchResult>, bool)> {
        let RankingQuery { mode, all_analyzers, text, query, min_probability, rerank, exclude } =
            ranking;
        let query = VectorQuery { limit: limit + usize::from(exclude.is_some()), ..query.clone() };
        let mut hits = match all_analyzers {
            true => self.search_all_analyzers(*mode, text, query).await?,
            false => self.search(*mode, text, query).await?,
        };
        hits.retain(|hit| *exclude != Some((hit.video_id, hit.chunk_id)));
        hits.truncate(limit);
        let full = hits.len() == limit;
        if *rerank {
            self.rerank(text, &mut hits).await?;
        }
        hits.retain(|hit| hit.p_present >= *min_probability);
        Ok((hits, full))
    }

    /// A page of a ranking. The depth of a search changes its order, so every page after the first is cut
    /// from one ranking of [`page_window`](crate::search::SearchSettings) hits that leaves out
    /// those of the first page.
    pub(super) async fn page_of_ranking(
        &self,
        ranking: &RankingQuery<'_>,
        limit: usize,
        from: usize,
    ) -> Result<Page> {
        let (mut hits, mut more) = self.top_hits(ranking, limit).await?;
        if from > 0 {
            let first_page: HashSet<_> =
                hits.iter().map(|hit| (hit.video_id, hit.chunk_id)).collect();
            let (deep, _) = self.top_hits(ranking, self.settings.page_window.max(limit)).await?;
            hits.extend(
                deep.into_iter().filter(|h| !first_page.contains(&(h.video_id, h.chunk_id))),
            );
            more = hits.len() > from + limit;
        }
        let results: Vec<_> = hits.into_iter().skip(from).take(limit).collect();
        let next_pages = (from + 1..).map(PageStart::Offset).take(results.len()).collect();
        Ok(Page { results, next_pages, more })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn page_start_round_trips() {
        let video_id = VideoId::from_digest([7; 20]);
        let video = Position { created_at: -5, video_id };
        for start in [PageStart::Offset(12), PageStart::AfterChunk(video, ChunkId(3))] {
            assert_eq!(start.to_string().parse::<PageStart>().expect("a page start"), start);
        }
        for text in ["", "x", "1.2", "1.0707070707070707.3.4"] {
            assert!(text.parse::<PageStart>().is_err(), "{text}");
        }
    }
}
