//! A JSON document as a row of units, so that some of them can be read alone, each at its place in the
//! document.

use serde_json::{Map, Value};

/// How a document falls into units.
pub(crate) struct Split {
    /// What a unit may take; a list or an object that takes more is several.
    pub(crate) largest: usize,
    /// What a value takes.
    pub(crate) cost: fn(&Value) -> usize,
}

/// A part of a document that stays whole.
pub(crate) struct Unit<'d> {
    pub(crate) value: &'d Value,
    /// The fields that it stands in, outermost first.
    pub(crate) names: Vec<&'d str>,
    /// How many lists it stands in.
    pub(crate) lists: usize,
}

impl Unit<'_> {
    /// As JSON, behind the names of the fields that it stands in.
    pub(crate) fn written(&self) -> String {
        let names = self.names.iter().map(|name| format!("{}:", Value::from(*name)));
        names.chain([self.value.to_string()]).collect()
    }
}

impl Split {
    fn is_unit(&self, value: &Value) -> bool {
        let empty = match value {
            Value::Array(elements) => elements.is_empty(),
            Value::Object(fields) => fields.is_empty(),
            _ => true,
        };
        empty || (self.cost)(value) <= self.largest
    }

    /// The units of a document, in order.
    pub(crate) fn units<'d>(&self, document: &'d Value) -> Vec<Unit<'d>> {
        let mut units = Vec::new();
        self.collect(document, &mut Vec::new(), 0, &mut units);
        units
    }

    fn collect<'d>(
        &self,
        value: &'d Value,
        names: &mut Vec<&'d str>,
        lists: usize,
        units: &mut Vec<Unit<'d>>,
    ) {
        match value {
            value if self.is_unit(value) => units.push(Unit { value, names: names.clone(), lists }),
            Value::Array(elements) => {
                for element in elements {
                    self.collect(element, names, lists + 1, units);
                }
            }
            Value::Object(fields) => {
                for (name, value) in fields {
                    names.push(name);
                    self.collect(value, names, lists, units);
                    names.pop();
                }
            }
            _ => {}
        }
    }

    /// The document with those units alone whose place in the row is wanted: lists and objects hold only
    /// them.
    pub(crate) fn keep(
        &self,
        document: &Value,
        wanted: impl FnMut(usize) -> bool,
    ) -> Map<String, Value> {
        let mut kept = (0..).map(wanted);
        match self.prune(document, &mut kept) {
            Some(Value::Object(document)) => document,
            _ => Map::new(),
        }
    }

    fn prune(&self, value: &Value, kept: &mut impl Iterator<Item = bool>) -> Option<Value> {
        match value {
            value if self.is_unit(value) => kept.next()?.then(|| value.clone()),
            Value::Array(elements) => {
                let left: Vec<Value> =
                    elements.iter().filter_map(|element| self.prune(element, kept)).collect();
                (!left.is_empty()).then_some(Value::Array(left))
            }
            Value::Object(fields) => {
                let left: Map<String, Value> = fields
                    .iter()
                    .filter_map(|(name, value)| Some((name.clone(), self.prune(value, kept)?)))
                    .collect();
                (!left.is_empty()).then_some(Value::Object(left))
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn units_keep_their_place() {
        let split = Split { largest: 12, cost: |value| value.to_string().len() };
        let document = json!({"n": 3, "of": {"list": [{"a": 1}, {"b": "long enough"}]}, "z": []});
        let units = split.units(&document);
        let written: Vec<String> = units.iter().map(Unit::written).collect();
        assert_eq!(
            written,
            [
                "\"n\":3",
                "\"of\":\"list\":{\"a\":1}",
                "\"of\":\"list\":\"b\":\"long enough\"",
                "\"z\":[]"
            ]
        );
        assert_eq!(units[1].lists, 1);
        let part = split.keep(&document, |at| at == 1 || at == 3);
        assert_eq!(Value::Object(part), json!({"of": {"list": [{"a": 1}]}, "z": []}));
        let all = split.keep(&document, |_| true);
        assert_eq!(Value::Object(all), document);
    }
}
