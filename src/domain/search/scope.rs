//! Translates the filters in a request into index and listing filters, which together form the
//! scope of a search.

use std::sync::Arc;

use ports::index::{Condition, Filter, Predicate};
use serde_json::{Map, Value};

use crate::catalog::Catalog;
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
}

impl ScopeResolver {
    pub(super) fn new(catalog: &Catalog) -> Self {
        Self { listing: catalog.listing.clone(), metadata: catalog.metadata.clone() }
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
        let videos = self.restrict_videos(access, &parsed).await?;
        let mut filter = parsed.chunks;
        if let Some(analyzer) = analyzer {
            filter = filter.and("analyzer_id", Predicate::AnyKeyword(vec![analyzer.into()]));
        }
        if let Some(requested) = video_ids {
            // A malformed id matches no video.
            filter = filter.in_videos(requested.iter().filter_map(|id| id.parse().ok()));
        }
        if let Some(matching) = videos {
            filter = filter.in_videos(matching);
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
