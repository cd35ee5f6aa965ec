//! Translates the filters in a request into index and listing filters, which together form the
//! scope of a search.

use std::collections::HashSet;
use std::sync::Arc;

use ports::index::{Condition, Filter, Predicate};
use serde_json::{Map, Value};

use crate::bins::Bins;
use crate::catalog::Catalog;
use crate::intervals::IntervalFilter;
use crate::kernel::access::Access;
use crate::kernel::error::Result;
use crate::kernel::video::VideoId;
use crate::library::metadata_store::MetadataStore;
use crate::listing::Listing;
use crate::records::metadata;
use crate::search::filters::{self, ParsedFilters};

/// Resolves the filters of requests.
pub(crate) struct ScopeResolver {
    listing: Arc<Listing>,
    metadata: Arc<MetadataStore>,
    intervals: Arc<IntervalFilter>,
    bins: Arc<Bins>,
}

impl ScopeResolver {
    pub(super) fn new(catalog: &Catalog) -> Self {
        Self {
            listing: catalog.listing.clone(),
            metadata: catalog.metadata.clone(),
            intervals: catalog.intervals.clone(),
            bins: catalog.bins.clone(),
        }
    }

    /// Builds the index filter for a search in the videos that the caller can see. If `analyzer` is
    /// `None`, the filter covers all analyzers.
    pub(crate) async fn scope(
        &self,
        access: &Access,
        analyzer: Option<&str>,
        video_ids: Option<&[String]>,
        filters: &Map<String, Value>,
    ) -> Result<Filter> {
        let parsed = filters::parse(filters)?;
        let matching = self.restrict_videos(access, &parsed).await?;
        // A malformed id matches no video.
        let requested: Option<Vec<VideoId>> =
            video_ids.map(|ids| ids.iter().filter_map(|id| id.parse().ok()).collect());
        let videos = match &parsed.intervals {
            Some(_) => self.searched_videos(matching.as_deref(), requested.as_deref()).await?,
            None => Vec::new(),
        };
        let mut filter = self.chunk_filter(access, &parsed, &videos).await?;
        if let Some(analyzer) = analyzer {
            filter = filter.and("analyzer_id", Predicate::AnyKeyword(vec![analyzer.into()]));
        }
        for videos in [requested, matching].into_iter().flatten() {
            filter = filter.in_videos(videos);
        }
        Ok(filter)
    }

    /// Finds the videos that match the filters and that a request names. `None` accepts every video.
    async fn searched_videos(
        &self,
        matching: Option<&[VideoId]>,
        requested: Option<&[VideoId]>,
    ) -> Result<Vec<VideoId>> {
        match (matching, requested) {
            (Some(matching), Some(requested)) => {
                let requested: HashSet<&VideoId> = requested.iter().collect();
                Ok(matching.iter().filter(|id| requested.contains(id)).copied().collect())
            }
            (Some(videos), None) | (None, Some(videos)) => Ok(videos.to_vec()),
            (None, None) => self.listing.matching(&[]).await,
        }
    }

    /// Builds the index filter for the chunks that match the filters in these videos. Returns
    /// `Invalid` if the caller may not see the bin in the filters.
    pub(crate) async fn chunk_filter(
        &self,
        access: &Access,
        parsed: &ParsedFilters,
        videos: &[VideoId],
    ) -> Result<Filter> {
        let mut filter = parsed.chunks.clone();
        if let Some(expression) = &parsed.intervals {
            filter = filter.in_chunks(self.intervals.chunks(expression, videos).await?);
        }
        if let Some(bin_id) = &parsed.bin {
            filter = filter.in_chunks(self.bins.chunks(access, bin_id).await?);
        }
        Ok(filter)
    }

    /// Finds the videos that match the filters and that the caller can see; returns `None` if there
    /// is no restriction.
    pub(crate) async fn matching_videos(
        &self,
        access: &Access,
        filters: &Map<String, Value>,
    ) -> Result<Option<Vec<VideoId>>> {
        self.restrict_videos(access, &filters::parse(filters)?).await
    }

    async fn restrict_videos(
        &self,
        access: &Access,
        parsed: &ParsedFilters,
    ) -> Result<Option<Vec<VideoId>>> {
        let conditions = self.video_conditions(access, parsed).await?;
        if conditions.is_empty() {
            return Ok(None);
        }
        Ok(Some(self.listing.matching(&conditions).await?))
    }

    /// Builds the listing conditions from the filters on whole videos and from the caller's access
    /// rights.
    pub(crate) async fn video_conditions(
        &self,
        access: &Access,
        parsed: &ParsedFilters,
    ) -> Result<Vec<Condition>> {
        let mut conditions: Vec<Condition> = parsed.videos.clone();
        conditions.extend(metadata::visible_to(access));
        if let Some(metadata) = &parsed.metadata {
            let keys = self.metadata.visible_keys(access).await?;
            conditions.extend(metadata::conditions(metadata, &keys)?);
        }
        Ok(conditions)
    }
}
