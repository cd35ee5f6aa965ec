//! What a search looks through: the filters of a request as those of the index.

use ports::index::{Condition, Filter, Predicate};
use serde_json::{Map, Value};

use crate::domain::catalog::about;
use crate::domain::kernel::access::Access;
use crate::domain::kernel::error::Result;
use crate::domain::kernel::video::VideoId;
use crate::domain::search::filters::Parsed;
use crate::domain::search::{Search, filters};

impl Search {
    /// The index filter of a search among what a caller sees; over every analyzer where none is named.
    pub(crate) async fn scope(
        &self,
        access: &Access,
        analyzer: Option<&str>,
        video_ids: Option<&[String]>,
        given: &Map<String, Value>,
    ) -> Result<Filter> {
        let parsed = filters::parse(given)?;
        let videos = self.videos_of(access, &parsed).await?;
        let mut filter = parsed.chunks;
        if let Some(analyzer) = analyzer {
            filter = filter.and("analyzer_id", Predicate::AnyKeyword(vec![analyzer.into()]));
        }
        if let Some(named) = video_ids {
            // What is no id is that of no video.
            filter = filter.in_videos(named.iter().filter_map(|id| id.parse().ok()));
        }
        if let Some(left) = videos {
            filter = filter.in_videos(left);
        }
        Ok(filter)
    }

    /// The videos that filters leave of those that a caller sees; `None` where that is every video.
    pub(crate) async fn videos_left(
        &self,
        access: &Access,
        given: &Map<String, Value>,
    ) -> Result<Option<Vec<VideoId>>> {
        self.videos_of(access, &filters::parse(given)?).await
    }

    async fn videos_of(&self, access: &Access, parsed: &Parsed) -> Result<Option<Vec<VideoId>>> {
        let conditions = self.of_videos(access, parsed).await?;
        if conditions.is_empty() {
            return Ok(None);
        }
        Ok(Some(self.catalog.matching(&conditions).await?))
    }

    /// What the listing is asked for: the filters of whole videos, and what a caller sees.
    pub(crate) async fn of_videos(
        &self,
        access: &Access,
        parsed: &Parsed,
    ) -> Result<Vec<Condition>> {
        let mut conditions: Vec<Condition> = parsed.videos.clone();
        conditions.extend(about::seen_by(access));
        if let Some(metadata) = &parsed.metadata {
            let keys = self.catalog.metadata_keys_seen(access).await?;
            conditions.extend(about::conditions(metadata, &keys)?);
        }
        Ok(conditions)
    }
}
