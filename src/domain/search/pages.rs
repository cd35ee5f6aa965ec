//! Pages of a search, and where each begins.

use std::collections::HashSet;
use std::fmt;
use std::str::FromStr;

use ports::index::VectorQuery;
use ports::listing::Position;

use crate::domain::kernel::error::Result;
use crate::domain::kernel::video::{ChunkId, VideoId};
use crate::domain::search::{Mode, Search, SearchResult};

/// Where a page begins.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Place {
    /// At the first moment there is.
    #[default]
    First,
    /// After so many of a ranking.
    Ranked(usize),
    /// After a chunk of a video, in order of time.
    Listed(Position, ChunkId),
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::First => write!(f, "0"),
            Self::Ranked(hits) => write!(f, "{hits}"),
            Self::Listed(video, chunk) => {
                write!(f, "{}.{}.{chunk}", video.created_at, video.video_id)
            }
        }
    }
}

/// What is no place.
#[derive(Debug)]
pub struct NoPlace;

impl FromStr for Place {
    type Err = NoPlace;

    fn from_str(text: &str) -> std::result::Result<Self, NoPlace> {
        if let Ok(hits) = text.parse() {
            return Ok(Self::Ranked(hits));
        }
        let listed = || {
            let mut parts = text.split('.');
            let (created_at, video_id, chunk) = (parts.next()?, parts.next()?, parts.next()?);
            let video =
                Position { created_at: created_at.parse().ok()?, video_id: video_id.parse().ok()? };
            parts.next().is_none().then_some(Self::Listed(video, ChunkId(chunk.parse().ok()?)))
        };
        listed().ok_or(NoPlace)
    }
}

/// A page of hits.
#[derive(Debug, Default)]
pub(super) struct Page {
    pub(super) results: Vec<SearchResult>,
    /// The place after each.
    pub(super) places: Vec<Place>,
    /// Whether there may be more after the last.
    pub(super) more: bool,
}

/// A ranking that is looked for.
pub(super) struct Ranking<'a> {
    pub(super) mode: Mode,
    /// Whether every analyzer is searched.
    pub(super) every: bool,
    pub(super) text: &'a str,
    pub(super) query: VectorQuery,
    /// Hits that are less probably there are left out.
    pub(super) least: f32,
    /// Whether hits are read together with a question.
    pub(super) rerank: bool,
    /// The chunk that is no hit.
    pub(super) besides: Option<(VideoId, ChunkId)>,
}

impl Search {
    /// The hits that come first, and whether there may be more.
    pub(super) async fn first_of(
        &self,
        ranking: &Ranking<'_>,
        limit: usize,
    ) -> Result<(Vec<SearchResult>, bool)> {
        let Ranking { mode, every, text, query, least, rerank, besides } = ranking;
        let query = VectorQuery { limit: limit + usize::from(besides.is_some()), ..query.clone() };
        let mut hits = match every {
            true => self.search_everything(*mode, text, query).await?,
            false => self.search(*mode, text, query).await?,
        };
        hits.retain(|hit| *besides != Some((hit.video_id, hit.chunk_id)));
        hits.truncate(limit);
        let full = hits.len() == limit;
        if *rerank {
            self.rerank(text, &mut hits).await?;
        }
        hits.retain(|hit| hit.p_present >= *least);
        Ok((hits, full))
    }

    /// A page of a ranking. How deep a ranking is looked for changes its order: so every page after the
    /// first is cut from one of [`page_window`](crate::domain::search::SearchSettings) hits, without
    /// those of the first.
    pub(super) async fn page_of(
        &self,
        ranking: &Ranking<'_>,
        limit: usize,
        from: usize,
    ) -> Result<Page> {
        let (mut hits, mut more) = self.first_of(ranking, limit).await?;
        if from > 0 {
            let known: HashSet<_> = hits.iter().map(|hit| (hit.video_id, hit.chunk_id)).collect();
            let (deep, _) = self.first_of(ranking, self.settings.page_window.max(limit)).await?;
            hits.extend(deep.into_iter().filter(|h| !known.contains(&(h.video_id, h.chunk_id))));
            more = hits.len() > from + limit;
        }
        let results: Vec<_> = hits.into_iter().skip(from).take(limit).collect();
        let places = (from + 1..).map(Place::Ranked).take(results.len()).collect();
        Ok(Page { results, places, more })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_reads_back_as_it_is_written() {
        let video_id = VideoId::from_digest([7; 20]);
        let video = Position { created_at: -5, video_id };
        for place in [Place::Ranked(12), Place::Listed(video, ChunkId(3))] {
            assert_eq!(place.to_string().parse::<Place>().expect("a place"), place);
        }
        for text in ["", "x", "1.2", "1.0707070707070707.3.4"] {
            assert!(text.parse::<Place>().is_err(), "{text}");
        }
    }
}
