//! The values that filters can take: those that occur, with how many moments or videos have them.

use std::collections::HashMap;

use ports::index::{FacetQuery, FieldValue, Predicate};
use serde_json::{Map, Value};

use crate::domain::catalog::about::MetadataType;
use crate::domain::kernel::access::Access;
use crate::domain::kernel::error::{Error, Result};
use crate::domain::kernel::video::VideoId;
use crate::domain::search::Search;
use crate::domain::search::filters::{self, WordField};

/// Values of videos that are looked at, at most: the listing has them in the order of their words.
const MOST_WORDS: usize = 10_000;

/// Which values are asked for.
#[derive(Debug, Clone, PartialEq)]
pub struct ValuesQuery {
    /// The name of a filter by words, or `metadata.<key>`.
    pub field: String,
    /// Only values that begin so, in whichever case.
    pub prefix: String,
    /// At most so many.
    pub limit: u32,
    /// `None` looks at every video.
    pub video_ids: Option<Vec<String>>,
    /// Only what this analyzer told; `None` looks at all.
    pub analyzer: Option<String>,
    /// As those of a search.
    pub filters: Map<String, Value>,
}

/// The values of a field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Values {
    /// As the filter takes them, each with how many have it: the most frequent first, those of the same
    /// count in order.
    pub values: Vec<(String, u64)>,
    /// Whether videos are counted; else moments.
    pub of_videos: bool,
    /// Whether there are others.
    pub more: bool,
}

impl Search {
    /// The values of a filter among what a caller sees. `Invalid` for what lists no values.
    pub(crate) async fn values(&self, access: &Access, query: &ValuesQuery) -> Result<Values> {
        let field = filters::word_field(&query.field)?;
        let mut values = if field.of_videos {
            self.values_of_videos(access, query, &field).await?
        } else {
            self.values_of_moments(access, query, &field).await?
        };
        values.sort_by(|(a, many), (b, more)| more.cmp(many).then_with(|| a.cmp(b)));
        let wanted = query.limit as usize;
        let more = values.len() > wanted;
        values.truncate(wanted);
        Ok(Values { values, of_videos: field.of_videos, more })
    }

    /// Several analyzers may tell the same of a moment: the one counts that tells it of most.
    async fn values_of_moments(
        &self,
        access: &Access,
        query: &ValuesQuery,
        field: &WordField,
    ) -> Result<Vec<(String, u64)>> {
        if let Some(id) = &query.analyzer {
            self.catalog.look_up(id).await?;
            self.catalog.analyzers.find(&self.models, id)?;
        }
        let scope = self.scope(access, None, query.video_ids.as_deref(), &query.filters).await?;
        let mut counts: HashMap<String, u64> = HashMap::new();
        for analyzer in self.catalog.analyzers.all() {
            let spec = analyzer.spec();
            let asked = query.analyzer.as_ref().is_none_or(|id| *id == spec.id);
            if !asked || !field.is_of(&spec) {
                continue;
            }
            let told_by = Predicate::AnyKeyword(vec![spec.id.to_owned()]);
            let counted = FacetQuery {
                field: field.name.clone(),
                filter: scope.clone().and("analyzer_id", told_by),
                prefix: query.prefix.clone(),
                limit: query.limit as usize + 1,
            };
            for (value, points) in self.index.facet_counts(&counted).await? {
                let most = counts.entry(value).or_default();
                *most = points.max(*most);
            }
        }
        Ok(counts.into_iter().collect())
    }

    async fn values_of_videos(
        &self,
        access: &Access,
        query: &ValuesQuery,
        field: &WordField,
    ) -> Result<Vec<(String, u64)>> {
        let parsed = filters::parse(&query.filters)?;
        if query.analyzer.is_some() || !parsed.chunks.0.is_empty() {
            return Err(Error::Invalid(format!(
                "'{}' is of whole videos; ask for it without analyzer, and with filters of videos alone",
                query.field
            )));
        }
        if let Some(key) = query.field.strip_prefix("metadata.") {
            let keys = self.catalog.metadata_keys_seen(access).await?;
            match keys.get(key) {
                Some(MetadataType::Number | MetadataType::Time) => {
                    return Err(Error::Invalid(format!(
                        "'{key}' is a number or a time; values are listed of words alone"
                    )));
                }
                Some(_) => {}
                None => return Ok(Vec::new()),
            }
        }
        let conditions = self.of_videos(access, &parsed).await?;
        let mut values = match &query.video_ids {
            None => self.catalog.words(&field.name, &conditions, MOST_WORDS).await?,
            Some(ids) => {
                let left = self.catalog.matching(&conditions).await?;
                let named = ids.iter().filter_map(|id| id.parse().ok());
                let named: Vec<VideoId> = named.filter(|id| left.contains(id)).collect();
                self.values_of_named(access, &named, &field.name).await?
            }
        };
        let prefix = query.prefix.to_lowercase();
        values.retain(|(value, _)| value.to_lowercase().starts_with(&prefix));
        Ok(values)
    }

    async fn values_of_named(
        &self,
        access: &Access,
        videos: &[VideoId],
        field: &str,
    ) -> Result<Vec<(String, u64)>> {
        let mut counts: HashMap<String, u64> = HashMap::new();
        for mut entry in self.catalog.entries(access, videos).await? {
            if let Some(FieldValue::Keywords(words)) = entry.fields.remove(field) {
                for word in words {
                    *counts.entry(word).or_default() += 1;
                }
            }
        }
        Ok(counts.into_iter().collect())
    }
}
