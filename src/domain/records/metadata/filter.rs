//! Conditions on user metadata, by which a listing selects videos.

use ports::index::{Condition, Predicate};
use serde_json::Value;

use super::{COLLECTION, MetadataKeys, MetadataType, field_name};
use crate::kernel::access::Access;
use crate::kernel::error::{Error, Result};
use crate::kernel::names::{comma_separated, suggest};
use crate::kernel::time::instant;

/// Returns the listing condition that selects the videos in this collection.
pub(crate) fn in_collection(name: &str) -> Condition {
    Condition { field: COLLECTION.into(), predicate: Predicate::AnyKeyword(vec![name.into()]) }
}

/// Returns the listing condition that selects the videos that a caller may see, or `None` if access
/// is unrestricted.
pub(crate) fn visible_to(access: &Access) -> Option<Condition> {
    let names = access.collections()?.iter().cloned().collect();
    Some(Condition { field: COLLECTION.into(), predicate: Predicate::AnyKeyword(names) })
}

/// Parses a metadata filter into listing conditions. For each key, the filter contains a value, a
/// list of values of which one must match, or a range of numbers or times such as `{"gte": 1,
/// "lte": 5}`. Returns `Invalid` for a key that no video has, and `Unprocessable` if a value does
/// not have the type of its key.
pub(crate) fn conditions(filter: &Value, keys: &MetadataKeys) -> Result<Vec<Condition>> {
    let filter = filter.as_object().ok_or_else(|| {
        Error::Unprocessable(format!("filter 'metadata' is {filter}; it must be an object of keys"))
    })?;
    let mut conditions = Vec::new();
    for (key, value) in filter {
        let Some(kind) = keys.get(key) else {
            let known: Vec<&str> = keys.keys().map(String::as_str).collect();
            let hint = suggest(key, &known).map(|n| format!("did you mean '{n}'? "));
            return Err(Error::Invalid(format!(
                "no video has the metadata key '{key}'; {}available: {}",
                hint.unwrap_or_default(),
                comma_separated(&known)
            )));
        };
        let test = |predicate| Condition { field: field_name(key), predicate };
        conditions.extend(predicates(key, *kind, value)?.into_iter().map(test));
    }
    Ok(conditions)
}

fn predicates(key: &str, kind: MetadataType, value: &Value) -> Result<Vec<Predicate>> {
    let type_error = || {
        let range = match kind {
            MetadataType::Number | MetadataType::Time => ", or an object with gte and lte",
            _ => "",
        };
        Error::Unprocessable(format!(
            "filter 'metadata' asks for {value} of '{key}', which is a {}; give one, a list of \
             them{range}",
            kind.name()
        ))
    };
    let number = |value: &Value| match kind {
        MetadataType::Number => value.as_f64(),
        MetadataType::Time => value.as_str().and_then(instant).map(|instant| instant as f64),
        _ => None,
    };
    if let (MetadataType::Number | MetadataType::Time, Value::Object(range)) = (kind, value) {
        let bound = |(name, value): (&String, &Value)| match name.as_str() {
            "gte" => number(value).map(Predicate::AtLeast),
            "lte" => number(value).map(Predicate::AtMost),
            _ => None,
        };
        let bounds: Option<Vec<Predicate>> = range.iter().map(bound).collect();
        return bounds.filter(|bounds| !bounds.is_empty()).ok_or_else(type_error);
    }
    let any = match value {
        Value::Array(values) => values.as_slice(),
        one => std::slice::from_ref(one),
    };
    if matches!(kind, MetadataType::Number | MetadataType::Time) {
        let [one] = any else { return Err(type_error()) };
        let exactly = number(one).ok_or_else(type_error)?;
        return Ok(vec![Predicate::AtLeast(exactly), Predicate::AtMost(exactly)]);
    }
    let keyword = |value: &Value| match (kind, value) {
        (MetadataType::Boolean, Value::Bool(boolean)) => Some(boolean.to_string()),
        (MetadataType::String | MetadataType::List, Value::String(text)) => Some(text.clone()),
        _ => None,
    };
    let keywords: Option<Vec<String>> = any.iter().map(keyword).collect();
    Ok(vec![Predicate::AnyKeyword(keywords.ok_or_else(type_error)?)])
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn filters_require_the_type_of_their_key() {
        let keys = MetadataKeys::from(
            [
                ("camera", MetadataType::String),
                ("take", MetadataType::Number),
                ("shot", MetadataType::Time),
                ("ok", MetadataType::Boolean),
            ]
            .map(|(key, kind)| (key.to_owned(), kind)),
        );
        let found = |given| conditions(&given, &keys);
        let is =
            |key: &str, predicate| vec![Condition { field: format!("metadata.{key}"), predicate }];
        let any = |words: &[&str]| {
            Predicate::AnyKeyword(words.iter().map(|word| (*word).to_owned()).collect())
        };
        assert_eq!(found(json!({"camera": "n"})).expect("one"), is("camera", any(&["n"])));
        let two = found(json!({"camera": ["n", "s"]})).expect("two");
        assert_eq!(two, is("camera", any(&["n", "s"])));
        assert_eq!(found(json!({"ok": true})).expect("one"), is("ok", any(&["true"])));
        let range = found(json!({"take": {"gte": 2}})).expect("a range");
        assert_eq!(range, is("take", Predicate::AtLeast(2.0)));
        let range = found(json!({"shot": {"lte": "1970-01-01T00:00:01Z"}})).expect("a range");
        assert_eq!(range, is("shot", Predicate::AtMost(1000.0)));
        for (given, expected) in [
            (json!({"camra": "n"}), "did you mean 'camera'?"),
            (json!({"take": "two"}), "which is a number"),
            (json!({"camera": {"gte": 1}}), "which is a string"),
            (json!({"take": {"above": 1}}), "gte and lte"),
            (json!(["camera"]), "an object of keys"),
        ] {
            let error = found(given.clone()).expect_err("refused").to_string();
            assert!(error.contains(expected), "{given}: {error}");
        }
    }
}
