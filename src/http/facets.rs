//! `GET /values`: what the filters of searches can be set to.

use poem_openapi::param::Query;
use poem_openapi::{Object, OpenApi};

use super::auth::{Service, Token};
use super::body::Json;
use super::errors::{ApiError, Search};
use super::params::{Bounded, json_object};
use crate::domain::search::values;
use crate::domain::search::values::ValuesQuery;

/// The routes of this section.
pub(super) struct ValuesApi(pub(super) Service);

#[OpenApi]
impl ValuesApi {
    /// The values that occur for a filter, the most frequent first.
    #[oai(path = "/values", method = "get", operation_id = "values")]
    #[expect(clippy::too_many_arguments, reason = "one per parameter of the route")]
    async fn values(
        &self,
        token: Token,
        /// A filter of `/query` by words: `objects`, `tags`, `people`, `speakers`, `analyzer_ids`,
        /// `video_ids`, `chunk_config`, `collections`, or `metadata.<key>` for a key of words.
        field: Query<String>,
        /// Only values that begin so, in whichever case.
        prefix: Query<Option<String>>,
        /// Values at most.
        #[oai(default = "twenty")]
        limit: Query<Bounded<1, 200>>,
        /// Only of these videos: ids with commas between them.
        video_ids: Query<Option<String>>,
        /// Only what this analyzer told.
        analyzer: Query<Option<String>>,
        /// Only where these hold: a JSON object as the `filters` of `/query`.
        filters: Query<Option<String>>,
    ) -> Result<Json<Values>, ApiError<Search>> {
        let ids = |given: &String| given.split(',').map(|id| id.trim().to_owned()).collect();
        let filters =
            filters.0.as_deref().map(|given| json_object("filters", given)).transpose()?;
        let query = ValuesQuery {
            field: field.0,
            prefix: prefix.0.unwrap_or_default(),
            limit: limit.0.0,
            video_ids: video_ids.0.as_ref().map(ids),
            analyzer: analyzer.0,
            filters: filters.unwrap_or_default(),
        };
        let found = self.0.of(&token).values(&query).await?;
        Ok(Json(Values::new(query.field, found)))
    }
}

fn twenty() -> Bounded<1, 200> {
    Bounded(20)
}

#[derive(Object)]
struct Values {
    field: String,
    values: Vec<FilterValue>,
    /// Whether other values occur beside these.
    more: bool,
}

#[derive(Object)]
struct FilterValue {
    /// As the filter takes it.
    value: String,
    /// Moments that have it, as the analyzer has them that tells it of most; absent for what is of whole
    /// videos.
    #[oai(skip_serializing_if_is_none)]
    moments: Option<u64>,
    /// Videos that have it; absent for what is of moments.
    #[oai(skip_serializing_if_is_none)]
    videos: Option<u64>,
}

impl Values {
    fn new(field: String, found: values::Values) -> Self {
        let value = |(value, count)| FilterValue {
            value,
            moments: (!found.of_videos).then_some(count),
            videos: found.of_videos.then_some(count),
        };
        Self { field, values: found.values.into_iter().map(value).collect(), more: found.more }
    }
}
