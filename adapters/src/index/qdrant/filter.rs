//! Translates the port's filters to Qdrant filters.

use std::collections::BTreeMap;

use ports::Result;
use ports::index::{Condition, Filter, PAYLOAD_FIELDS, PayloadType, PointId, Predicate};
use qdrant_client::qdrant::{self, Range};

use crate::index::check;

/// Translates a filter; returns `None` if nothing can match.
pub(super) fn translate(filter: &Filter) -> Result<Option<qdrant::Filter>> {
    check::filter(filter)?;
    let conditions: Option<Vec<_>> = filter.0.iter().map(condition).collect();
    Ok(conditions.map(qdrant::Filter::must))
}

/// Returns a Qdrant filter for the points with these ids.
pub(super) fn points_filter(ids: &[&PointId]) -> qdrant::Filter {
    let mut chunks: BTreeMap<_, Vec<i64>> = BTreeMap::new();
    for id in ids {
        chunks.entry((id.video_id, &id.analyzer_id)).or_default().push(id.chunk_id.into());
    }
    let chunk_condition = |((video_id, analyzer_id), chunks): ((_, &String), _)| {
        qdrant::Condition::from(qdrant::Filter::must([
            qdrant::Condition::matches("video_id", String::from(video_id)),
            qdrant::Condition::matches("analyzer_id", analyzer_id.clone()),
            qdrant::Condition::matches("chunk_id", chunks),
        ]))
    };
    qdrant::Filter::should(chunks.into_iter().map(chunk_condition))
}

fn condition(condition: &Condition) -> Option<qdrant::Condition> {
    let field = condition.field.as_str();
    let range = |range| Some(qdrant::Condition::range(field, range));
    match &condition.predicate {
        Predicate::AnyKeyword(any) if any.is_empty() => None,
        Predicate::AnyVideo(any) if any.is_empty() => None,
        Predicate::AnyChunk(any) if any.is_empty() => None,
        Predicate::AnyInteger(any) if any.is_empty() => None,
        Predicate::AnyKeyword(any) => Some(match any.as_slice() {
            [one] => qdrant::Condition::matches(field, one.clone()),
            _ => qdrant::Condition::matches(field, any.clone()),
        }),
        Predicate::AnyVideo(any) => {
            let ids: Vec<String> = any.iter().map(|id| id.as_str().to_owned()).collect();
            Some(qdrant::Condition::matches(field, ids))
        }
        Predicate::AnyChunk(any) => {
            let by_video = any.chunk_by(|a, b| a.0 == b.0).map(|chunks| {
                let ids: Vec<i64> = chunks.iter().map(|(_, chunk)| (*chunk).into()).collect();
                qdrant::Condition::from(qdrant::Filter::must([
                    qdrant::Condition::matches("video_id", String::from(chunks[0].0)),
                    qdrant::Condition::matches("chunk_id", ids),
                ]))
            });
            Some(qdrant::Filter::should(by_video).into())
        }
        Predicate::AnyInteger(any) => Some(qdrant::Condition::matches(field, any.clone())),
        // Integers are compared as doubles. The comparison is exact up to 2^53, and no field
        // exceeds this value.
        Predicate::AtLeast(bound) if is_integer(field) => {
            let lower = check::lowest_integer(*bound)? as f64;
            range(Range { gte: Some(lower), ..Range::default() })
        }
        Predicate::AtMost(bound) if is_integer(field) => {
            let upper = check::highest_integer(*bound)? as f64;
            range(Range { lte: Some(upper), ..Range::default() })
        }
        Predicate::AtLeast(bound) => range(Range { gte: Some(finite(*bound)), ..Range::default() }),
        Predicate::AtMost(bound) => range(Range { lte: Some(finite(*bound)), ..Range::default() }),
    }
}

fn is_integer(field: &str) -> bool {
    PAYLOAD_FIELDS.iter().any(|(name, kind)| *name == field && *kind == PayloadType::Integer)
}

/// Makes a bound finite and removes the sign of zero. Stored numbers are normalized in the same
/// way, so comparisons give the right results.
fn finite(bound: f64) -> f64 {
    bound.clamp(f64::MIN, f64::MAX) + 0.0
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    #[test]
    fn unsatisfiable_filter_sends_no_request() {
        for impossible in [
            Predicate::AnyInteger(vec![]),
            Predicate::AnyChunk(Arc::new([])),
            Predicate::AtLeast(f64::INFINITY),
            Predicate::AtMost(f64::NEG_INFINITY),
        ] {
            let filter =
                Filter::video(ports::VideoId::from_digest([0; 20])).and("chunk_id", impossible);
            assert_eq!(translate(&filter).unwrap(), None);
        }
        assert_eq!(translate(&Filter::default()).unwrap(), Some(qdrant::Filter::default()));
    }

    #[test]
    fn unknown_fields_are_rejected() {
        let filter = Filter::default().and("colour", Predicate::AtLeast(1.0));
        assert!(translate(&filter).unwrap_err().to_string().contains("colour"));
    }
}
