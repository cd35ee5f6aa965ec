//! `GET /values`: the values that search filters can take.

use poem_openapi::param::Query;
use poem_openapi::{Object, OpenApi};

use crate::http::edge::auth::{CallerToken, Service};
use crate::http::wire::body::Json;
use crate::http::wire::errors::{ApiError, Search};
use crate::http::wire::params::{Bounded, json_object};
use domain::search::values;
use domain::search::values::ValuesQuery;

/// The routes of this section.
pub(super) struct ValuesApi(pub(super) Service);

#[OpenApi]
impl ValuesApi {
    /// List filter values.
    ///
    /// Returns the values that occur for a filter, most frequent first.
    #[oai(path = "/values", method = "get", operation_id = "values")]
    #[expect(clippy::too_many_arguments, reason = "one per parameter of the route")]
    async fn values(
        &self,
        token: CallerToken,
        /// Name of a text filter of `/query`: `objects`, `tags`, `people`, `speakers`,
        /// `analyzer_ids`, `video_ids`, `chunk_config`, `collections`, or `metadata.<key>` for a
        /// metadata key with text values.
        field: Query<String>,
        /// Only values with this prefix, ignoring case.
        prefix: Query<Option<String>>,
        /// Maximum number of values, from 1 to 200. Default: 20.
        #[oai(default = "twenty")]
        limit: Query<Bounded<1, 200>>,
        /// Only values that occur in these videos, given as comma-separated ids.
        video_ids: Query<Option<String>>,
        /// Only values from the output of this analyzer.
        analyzer: Query<Option<String>>,
        /// Only values from chunks that match these filters, given as a JSON object like `filters`
        /// in `/query`.
        filters: Query<Option<String>>,
    ) -> Result<Json<ValuesBody>, ApiError<Search>> {
        let ids = |text: &String| text.split(',').map(|id| id.trim().to_owned()).collect();
        let filters = filters.0.as_deref().map(|text| json_object("filters", text)).transpose()?;
        let query = ValuesQuery {
            field: field.0,
            prefix: prefix.0.unwrap_or_default(),
            limit: limit.0.0,
            video_ids: video_ids.0.as_ref().map(ids),
            analyzer: analyzer.0,
            filters: filters.unwrap_or_default(),
        };
        let values = self.0.scoped(&token).values(&query).await?;
        Ok(Json(ValuesBody::new(query.field, values)))
    }
}

fn twenty() -> Bounded<1, 200> {
    Bounded(20)
}

#[derive(Object)]
#[oai(rename = "Values")]
struct ValuesBody {
    /// Name of the filter.
    field: String,
    /// The values, most frequent first.
    values: Vec<FilterValue>,
    /// Whether there are more values than `limit`.
    more: bool,
}

#[derive(Object)]
struct FilterValue {
    /// The value, in the form that the filter accepts.
    value: String,
    /// Number of chunks that have the value, counted for the analyzer with the most such chunks;
    /// absent for filters on videos.
    #[oai(skip_serializing_if_is_none)]
    moments: Option<u64>,
    /// Number of videos that have the value; absent for filters on chunks.
    #[oai(skip_serializing_if_is_none)]
    videos: Option<u64>,
}

impl ValuesBody {
    fn new(field: String, values: values::Values) -> Self {
        let value = |(value, count)| FilterValue {
            value,
            moments: (!values.counts_videos).then_some(count),
            videos: values.counts_videos.then_some(count),
        };
        Self { field, values: values.values.into_iter().map(value).collect(), more: values.more }
    }
}
