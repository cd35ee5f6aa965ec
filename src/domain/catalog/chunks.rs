//! Reading stored analyzer output.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use crate::domain::catalog::record::VideoRecord;
use crate::domain::catalog::{Catalog, OutputDocuments};
use crate::domain::kernel::error::{Error, Result};
use crate::domain::kernel::time::Span;

/// One analyzer's output on one chunk, as it is stored.
pub type OutputDocument = Map<String, Value>;

/// Which chunks to list.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ChunkQuery {
    /// Restrict to one analyzer's output.
    pub analyzer: Option<String>,
    /// Keep chunks ending after this second.
    pub after: Option<f64>,
    /// Keep chunks starting before this second.
    pub before: Option<f64>,
    /// Comma-separated integers.
    pub chunk_ids: Option<String>,
    /// Page size, 1..=500.
    pub limit: u32,
    /// Chunks to skip.
    pub offset: u32,
    /// Include internal keys.
    pub verbose: bool,
}

/// One chunk with its analyzers' output.
#[derive(Debug, Clone, PartialEq)]
pub struct ChunkView {
    /// Position in the video's chunk list.
    pub chunk_id: u32,
    /// When it is, seconds of the video.
    pub span: Span,
    /// Output by analyzer id, for those that have any.
    pub outputs: BTreeMap<String, OutputDocument>,
}

/// A page of chunks.
#[derive(Debug, Clone, PartialEq)]
pub struct ChunkPage {
    /// Their video.
    pub video_id: String,
    /// Analyzers with output on the video.
    pub analyzers: Vec<String>,
    /// Chunks that match, on all pages.
    pub total: u32,
    /// Chunks skipped.
    pub offset: u32,
    /// Page size.
    pub limit: u32,
    /// This page.
    pub chunks: Vec<ChunkView>,
}

impl Catalog {
    /// Stored analyzer output, filtered and paged.
    pub async fn chunks(&self, video_id: &str, query: ChunkQuery) -> Result<ChunkPage> {
        let wanted = query.chunk_ids.as_deref().map(parse_ids).transpose()?;
        let (query, wanted) = (&query, wanted.as_deref());
        let read = |record| async move { self.chunks_of(&record, query, wanted).await };
        self.read_published(video_id, read).await
    }

    async fn chunks_of(
        &self,
        record: &VideoRecord,
        query: &ChunkQuery,
        wanted: Option<&[u32]>,
    ) -> Result<ChunkPage> {
        let mut outputs = BTreeMap::new();
        match &query.analyzer {
            Some(analyzer) => {
                outputs.insert(analyzer.clone(), self.output_documents(record, analyzer).await?);
            }
            None => {
                for analyzer in record.analyzer_ids() {
                    let documents = self.output_documents(record, &analyzer).await?;
                    outputs.insert(analyzer, documents);
                }
            }
        }
        let matching: Vec<(u32, Span)> = (0..)
            .zip(self.spans(record).await?)
            .filter(|(id, span)| {
                wanted.is_none_or(|ids| ids.contains(id))
                    && query.after.is_none_or(|after| span.end > after)
                    && query.before.is_none_or(|before| span.start < before)
            })
            .collect();
        let total = matching.len() as u32;
        let chunks = matching
            .into_iter()
            .skip(query.offset as usize)
            .take(query.limit as usize)
            .map(|(chunk_id, span)| view(chunk_id, span, &outputs, query.verbose))
            .collect();
        Ok(ChunkPage {
            video_id: record.video_id.clone(),
            analyzers: record.analyzer_ids(),
            total,
            offset: query.offset,
            limit: query.limit,
            chunks,
        })
    }

    /// One chunk, all analyzers merged.
    pub async fn chunk(&self, video_id: &str, chunk_id: u32, verbose: bool) -> Result<ChunkView> {
        let read = |record| async move { self.chunk_of(&record, chunk_id, verbose).await };
        self.read_published(video_id, read).await
    }

    async fn chunk_of(
        &self,
        record: &VideoRecord,
        chunk_id: u32,
        verbose: bool,
    ) -> Result<ChunkView> {
        let spans = self.spans(record).await?;
        let span = spans.get(chunk_id as usize).ok_or_else(|| {
            Error::NotFound(format!(
                "video '{}' has no chunk {chunk_id}; it has chunks 0 to {}",
                record.video_id,
                spans.len().saturating_sub(1)
            ))
        })?;
        let mut outputs = BTreeMap::new();
        for analyzer in record.analyzer_ids() {
            let documents = self.output_documents(record, &analyzer).await?;
            outputs.insert(analyzer, documents);
        }
        Ok(view(chunk_id, *span, &outputs, verbose))
    }
}

/// The ids that a chunk can have; other integers are integers that no chunk has.
fn parse_ids(ids: &str) -> Result<Vec<u32>> {
    let integer = |id: &str| {
        let digits = id.strip_prefix(['-', '+']).unwrap_or(id);
        !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit())
    };
    if !ids.split(',').all(|id| integer(id.trim())) {
        return Err(Error::Invalid(format!(
            "chunk_ids is '{ids}'; it must be comma-separated integers such as 2,4,7"
        )));
    }
    Ok(ids.split(',').filter_map(|id| id.trim().parse().ok()).collect())
}

fn view(
    chunk_id: u32,
    span: Span,
    outputs: &BTreeMap<String, OutputDocuments>,
    verbose: bool,
) -> ChunkView {
    let outputs = outputs
        .iter()
        .filter_map(|(analyzer, outputs)| {
            let mut output = outputs.get(chunk_id as usize)?.clone()?;
            if !verbose {
                strip_internal(&mut output);
            }
            Some((analyzer.clone(), output))
        })
        .collect();
    ChunkView { chunk_id, span, outputs }
}

/// Removes keys that begin with `_` and `locations`, at every depth.
pub(crate) fn strip_internal(output: &mut OutputDocument) {
    output.retain(|key, _| !key.starts_with('_') && key != "locations");
    output.values_mut().for_each(strip_nested);
}

fn strip_nested(value: &mut Value) {
    match value {
        Value::Object(object) => strip_internal(object),
        Value::Array(items) => items.iter_mut().for_each(strip_nested),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn internal_keys_go_at_every_depth() {
        let mut output = json!({"a": 1, "_frames": [1], "people": [{"person": "p1", "locations": [1], "_x": 2}]})
            .as_object()
            .cloned()
            .expect("an object");
        strip_internal(&mut output);
        assert_eq!(Value::Object(output), json!({"a": 1, "people": [{"person": "p1"}]}));
    }

    #[test]
    fn ids_are_integers_between_commas() {
        assert_eq!(parse_ids("2, 4,7").expect("ids"), [2, 4, 7]);
        for bad in ["", "2,,4", "a", "1.5", "-", "--1", "1-", "2;3"] {
            assert!(matches!(parse_ids(bad), Err(Error::Invalid(_))), "{bad}");
        }
    }

    #[test]
    fn integers_that_no_chunk_has_match_nothing() {
        assert!(parse_ids("-1").expect("an integer").is_empty());
        assert_eq!(parse_ids("-1,3,99999999999999999999").expect("integers"), [3]);
    }
}
