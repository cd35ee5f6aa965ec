//! The filter values that occur in the library, each with the number of moments or videos that have
//! it.

use std::collections::HashMap;
use std::sync::Arc;

use ports::index::{FacetQuery, FieldValue, IndexStatistics, Predicate};
use serde_json::{Map, Value};

use crate::analysis::Analyzers;
use crate::catalog::Catalog;
use crate::kernel::access::Access;
use crate::kernel::error::{Error, Result};
use crate::kernel::ports::{Models, Stores};
use crate::kernel::video::VideoId;
use crate::library::metadata_store::MetadataStore;
use crate::listing::Listing;
use crate::records::extractors::ExtractorStore;
use crate::records::metadata::MetadataType;
use crate::search::filters::{self, WordField};
use crate::search::scope::ScopeResolver;

/// Maximum number of values read from the video listing. Values are read in alphabetical order, so
/// the last ones are left out.
const MAX_WORDS: usize = 10_000;

/// The parameters of `GET /filters/values`.
#[derive(Debug, Clone, PartialEq)]
pub struct ValuesQuery {
    /// Name of a filter that takes strings, or `metadata.<key>`.
    pub field: String,
    /// Only values that begin with this prefix are returned. Case is ignored.
    pub prefix: String,
    /// Maximum number of values.
    pub limit: u32,
    /// The videos to read; `None` means all of them.
    pub video_ids: Option<Vec<String>>,
    /// The analyzer whose output is counted; `None` means all analyzers.
    pub analyzer: Option<String>,
    /// The filters, as in a search.
    pub filters: Map<String, Value>,
}

/// The values of a field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Values {
    /// The values in the form that the filter accepts, each with its count. The most frequent value
    /// comes first. Values with the same count are in alphabetical order.
    pub values: Vec<(String, u64)>,
    /// Whether the counts are numbers of videos rather than of moments.
    pub counts_videos: bool,
    /// Whether there are more values than the limit.
    pub more: bool,
}

/// Lists the values of filters.
pub struct FilterValues {
    index: Arc<dyn IndexStatistics>,
    models: Models,
    listing: Arc<Listing>,
    metadata: Arc<MetadataStore>,
    extractors: Arc<ExtractorStore>,
    analyzers: Analyzers,
    scopes: Arc<ScopeResolver>,
}

impl FilterValues {
    pub(crate) fn new(
        stores: &Stores,
        models: &Models,
        catalog: &Catalog,
        scopes: Arc<ScopeResolver>,
    ) -> Self {
        Self {
            index: stores.index.clone(),
            models: models.clone(),
            listing: catalog.listing.clone(),
            metadata: catalog.metadata.clone(),
            extractors: catalog.extractors.clone(),
            analyzers: catalog.analyzers.clone(),
            scopes,
        }
    }

    /// Counts the values of a filter in the videos that the caller can see. Returns `Invalid` for a
    /// filter that does not take strings.
    pub(crate) async fn values(&self, access: &Access, query: &ValuesQuery) -> Result<Values> {
        let field = filters::word_field(&query.field)?;
        let mut values = if field.is_video_field {
            self.video_values(access, query, &field).await?
        } else {
            self.moment_values(access, query, &field).await?
        };
        values.sort_by(|(a, a_count), (b, b_count)| b_count.cmp(a_count).then_with(|| a.cmp(b)));
        let limit = query.limit as usize;
        let more = values.len() > limit;
        values.truncate(limit);
        Ok(Values { values, counts_videos: field.is_video_field, more })
    }

    /// Counts the moments that have each value. Takes the highest count of any analyzer, since
    /// several analyzers may report the same value for one moment.
    async fn moment_values(
        &self,
        access: &Access,
        query: &ValuesQuery,
        field: &WordField,
    ) -> Result<Vec<(String, u64)>> {
        if let Some(id) = &query.analyzer {
            self.extractors.load_if_unknown(id).await?;
            self.analyzers.find(&self.models, id)?;
        }
        let scope =
            self.scopes.scope(access, None, query.video_ids.as_deref(), &query.filters).await?;
        let mut counts: HashMap<String, u64> = HashMap::new();
        for analyzer in self.analyzers.all() {
            let spec = analyzer.spec();
            let selected = query.analyzer.as_ref().is_none_or(|id| *id == spec.id);
            if !selected || !field.applies_to(&spec) {
                continue;
            }
            let by_analyzer = Predicate::AnyKeyword(vec![spec.id.to_owned()]);
            let value_query = FacetQuery {
                field: field.name.clone(),
                filter: scope.clone().and("analyzer_id", by_analyzer),
                prefix: query.prefix.clone(),
                limit: query.limit as usize + 1,
            };
            for (value, points) in self.index.facet_counts(&value_query).await? {
                let count = counts.entry(value).or_default();
                *count = points.max(*count);
            }
        }
        Ok(counts.into_iter().collect())
    }

    async fn video_values(
        &self,
        access: &Access,
        query: &ValuesQuery,
        field: &WordField,
    ) -> Result<Vec<(String, u64)>> {
        let parsed = filters::parse(&query.filters)?;
        if query.analyzer.is_some() || parsed.has_chunk_filters() {
            return Err(Error::Invalid(format!(
                "'{}' is a field of whole videos; omit analyzer, and use only filters on videos",
                query.field
            )));
        }
        if let Some(key) = query.field.strip_prefix("metadata.") {
            let keys = self.metadata.visible_keys(access).await?;
            match keys.get(key) {
                Some(MetadataType::Number | MetadataType::Time) => {
                    return Err(Error::Invalid(format!(
                        "'{key}' is a number or a time; only string values can be listed"
                    )));
                }
                Some(_) => {}
                None => return Ok(Vec::new()),
            }
        }
        let conditions = self.scopes.video_conditions(access, &parsed).await?;
        let mut values = match &query.video_ids {
            None => self.listing.words(&field.name, &conditions, MAX_WORDS).await?,
            Some(ids) => {
                let matching = self.listing.matching(&conditions).await?;
                let requested = ids.iter().filter_map(|id| id.parse().ok());
                let requested: Vec<VideoId> =
                    requested.filter(|id| matching.contains(id)).collect();
                self.values_in_videos(access, &requested, &field.name).await?
            }
        };
        let prefix = query.prefix.to_lowercase();
        values.retain(|(value, _)| value.to_lowercase().starts_with(&prefix));
        Ok(values)
    }

    async fn values_in_videos(
        &self,
        access: &Access,
        videos: &[VideoId],
        field: &str,
    ) -> Result<Vec<(String, u64)>> {
        let mut counts: HashMap<String, u64> = HashMap::new();
        for mut entry in self.listing.entries(access, videos).await? {
            if let Some(FieldValue::Keywords(words)) = entry.fields.remove(field) {
                for word in words {
                    *counts.entry(word).or_default() += 1;
                }
            }
        }
        Ok(counts.into_iter().collect())
    }
}
