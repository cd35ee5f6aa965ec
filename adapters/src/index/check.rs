//! Validation shared by all index adapters, so that their error messages are the same. It rejects
//! unknown fields, values and predicates of the wrong type, and vectors of the wrong length.
//! Adapters call it before any change or search.

use ports::index::{
    FacetQuery, FieldValue, Filter, PAYLOAD_FIELDS, PayloadType, Point, PointId, Predicate,
    TextQuery, VectorQuery,
};
use ports::{ErrorKind, PortError, Result};

use super::dimensions::Dimensions;

/// Maximum length of a keyword or id in bytes. An inverted index cannot hold terms that are much
/// longer.
pub(super) const MAX_KEYWORD_BYTES: usize = 32_768;

/// Maximum length of a vector field's name in bytes.
pub(super) const MAX_FIELD_NAME_BYTES: usize = 255;

pub(super) fn point(point: &Point, dimensions: &Dimensions) -> Result<()> {
    id(&point.id)?;
    for (field, vector) in &point.vectors {
        if field.is_empty() || field.len() > MAX_FIELD_NAME_BYTES {
            return Err(invalid(format!(
                "the name of a vector field has {} bytes; 1 to {MAX_FIELD_NAME_BYTES} are accepted",
                field.len()
            )));
        }
        self::vector(field, vector, dimensions)?;
    }
    for (field, value) in &point.payload {
        payload(field, value)?;
    }
    Ok(())
}

pub(super) fn vector_query(query: &VectorQuery, dimensions: &Dimensions) -> Result<()> {
    vector(&query.field, &query.vector, dimensions)?;
    if query.threshold.is_some_and(f32::is_nan) {
        return Err(invalid("the threshold is not a number; a cosine in -1..1 is expected"));
    }
    filter(&query.filter)
}

pub(super) fn text_query(query: &TextQuery) -> Result<()> {
    filter(&query.filter)
}

pub(super) fn filter(filter: &Filter) -> Result<()> {
    for condition in &filter.0 {
        let kind = kind(&condition.field)?;
        let fits = match &condition.predicate {
            Predicate::AnyKeyword(_) => kind == PayloadType::Keyword,
            Predicate::AnyVideo(_) => condition.field == "video_id",
            Predicate::AnyChunk(_) => condition.field == "chunk_id",
            Predicate::AnyInteger(_) => kind == PayloadType::Integer,
            Predicate::AtLeast(bound) | Predicate::AtMost(bound) => {
                if bound.is_nan() {
                    return Err(invalid(format!(
                        "the bound on `{}` is not a number; a number is expected",
                        condition.field
                    )));
                }
                kind != PayloadType::Keyword
            }
        };
        if !fits {
            return Err(invalid(format!(
                "`{}` holds {}, which the given predicate cannot compare",
                condition.field,
                plural(kind)
            )));
        }
    }
    Ok(())
}

/// Fails unless the field exists and is a keyword field.
pub(super) fn keyword_field(field: &str) -> Result<()> {
    match kind(field)? {
        PayloadType::Keyword => Ok(()),
        other => Err(invalid(format!(
            "`{field}` holds {}; only keyword fields list their values",
            plural(other)
        ))),
    }
}

pub(super) fn facet_query(query: &FacetQuery) -> Result<()> {
    keyword_field(&query.field)?;
    filter(&query.filter)
}

/// Returns the smallest integer that is at least `bound`, if any.
pub(super) fn lowest_integer(bound: f64) -> Option<i64> {
    // 2^63 is the smallest double above every i64. For bounds below every i64, the cast saturates.
    (bound < 9_223_372_036_854_775_808.0).then(|| bound.ceil() as i64)
}

/// Returns the largest integer that is at most `bound`, if any.
pub(super) fn highest_integer(bound: f64) -> Option<i64> {
    (bound >= i64::MIN as f64).then(|| bound.floor() as i64)
}

fn id(id: &PointId) -> Result<()> {
    let analyzer = &id.analyzer_id;
    if analyzer.is_empty() {
        return Err(invalid("the point's analyzer_id is empty"));
    }
    // The id is part of a compound key, and the length of that key is limited too.
    if analyzer.len() > MAX_KEYWORD_BYTES / 4 {
        return Err(invalid(format!(
            "the point's analyzer_id has {} bytes; at most {} are accepted",
            analyzer.len(),
            MAX_KEYWORD_BYTES / 4
        )));
    }
    if analyzer.contains('\0') {
        return Err(invalid("the point's analyzer_id contains a NUL character"));
    }
    Ok(())
}

/// Fails unless the vector has the dimension of the field and finite components.
pub(super) fn vector(field: &str, vector: &[f32], dimensions: &Dimensions) -> Result<()> {
    let dimension = dimensions.for_field(field);
    if vector.len() != dimension {
        return Err(invalid(format!(
            "the vector `{field}` has {} dimensions; this field holds {dimension}",
            vector.len()
        )));
    }
    if vector.iter().any(|x| !x.is_finite()) {
        return Err(invalid(format!(
            "the vector `{field}` has a component that is not a finite number"
        )));
    }
    Ok(())
}

fn payload(field: &str, value: &FieldValue) -> Result<()> {
    if matches!(field, "video_id" | "chunk_id" | "analyzer_id") {
        return Err(invalid(format!(
            "`{field}` comes from the point's id and cannot be in its payload"
        )));
    }
    match (kind(field)?, value) {
        (PayloadType::Keyword, FieldValue::Keywords(keywords)) => {
            match keywords.iter().find(|k| k.len() > MAX_KEYWORD_BYTES) {
                Some(long) => Err(invalid(format!(
                    "a keyword of `{field}` has {} bytes; at most {MAX_KEYWORD_BYTES} are accepted",
                    long.len()
                ))),
                None => Ok(()),
            }
        }
        (PayloadType::Integer, FieldValue::Integer(_)) => Ok(()),
        (PayloadType::Float, FieldValue::Float(number)) if number.is_finite() => Ok(()),
        (PayloadType::Float, FieldValue::Float(_)) => {
            Err(invalid(format!("`{field}` is not a finite number")))
        }
        (kind, _) => {
            Err(invalid(format!("`{field}` holds {}, not the kind that was given", plural(kind))))
        }
    }
}

fn kind(field: &str) -> Result<PayloadType> {
    PAYLOAD_FIELDS.iter().find(|(name, _)| *name == field).map(|(_, kind)| *kind).ok_or_else(|| {
        let known: Vec<&str> = PAYLOAD_FIELDS.iter().map(|(name, _)| *name).collect();
        invalid(format!("unknown payload field `{field}`; known are {}", known.join(", ")))
    })
}

fn plural(kind: PayloadType) -> &'static str {
    match kind {
        PayloadType::Keyword => "keywords",
        PayloadType::Integer => "an integer",
        PayloadType::Float => "a floating-point number",
    }
}

fn invalid(message: impl Into<String>) -> PortError {
    PortError::new(ErrorKind::Invalid, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integer_bounds_round_inwards() {
        assert_eq!(lowest_integer(2.0), Some(2));
        assert_eq!(lowest_integer(2.1), Some(3));
        assert_eq!(lowest_integer(-2.9), Some(-2));
        assert_eq!(lowest_integer(f64::NEG_INFINITY), Some(i64::MIN));
        assert_eq!(lowest_integer(9.3e18), None);
        assert_eq!(lowest_integer(9_223_372_036_854_775_808.0), None);
        assert_eq!(highest_integer(2.9), Some(2));
        assert_eq!(highest_integer(-2.1), Some(-3));
        assert_eq!(highest_integer(f64::INFINITY), Some(i64::MAX));
        assert_eq!(highest_integer(-9.3e18), None);
        assert_eq!(highest_integer(i64::MIN as f64), Some(i64::MIN));
    }
}
