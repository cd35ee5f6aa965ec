//! What a search looks through: the filters of a request as those of the index.

use ports::index::{Condition, Filter, Predicate};
use serde_json::{Map, Value};

use crate::domain::catalog::about;
use crate::domain::kernel::error::Result;
use crate::domain::kernel::video::VideoId;
use crate::domain::search::filters::Parsed;
use crate::domain::search::{Search, filters};

impl Search {
    /// The index filter of a search; over every analyzer where none is named.
    pub(crate) async fn scope(
        &self,
        analyzer: Option<&str>,
        video_ids: Option<&[String]>,
        given: &Map<String, Value>,
    ) -> Result<Filter> {
        let parsed = filters::parse(given)?;
        let videos = self.videos_of(&parsed).await?;
        let mut filter = parsed.chunks;
        if let Some(analyzer) = analyzer {
            filter = filter.and("analyzer_id", Predicate::AnyKeyword(vec![analyzer.into()]));
        }
        if let Some(named) = video_ids {
            filter = filter.and("video_id", Predicate::AnyKeyword(named.to_vec()));
        }
        if let Some(left) = videos {
            filter = filter.of_videos(left);
        }
        Ok(filter)
    }

    /// The videos that filters leave; `None` where they are not about videos.
    pub(crate) async fn videos_left(
        &self,
        given: &Map<String, Value>,
    ) -> Result<Option<Vec<VideoId>>> {
        self.videos_of(&filters::parse(given)?).await
    }

    async fn videos_of(&self, parsed: &Parsed) -> Result<Option<Vec<VideoId>>> {
        let mut conditions: Vec<Condition> = parsed.videos.clone();
        if let Some(metadata) = &parsed.metadata {
            conditions.extend(about::conditions(metadata, &self.catalog.metadata_keys().await?)?);
        }
        if conditions.is_empty() {
            return Ok(None);
        }
        Ok(Some(self.catalog.matching(&conditions).await?))
    }
}
