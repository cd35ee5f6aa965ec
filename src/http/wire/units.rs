//! Splits a JSON document into a sequence of units, so that a response can contain only some of
//! them, each in its original place.

use serde_json::{Map, Value};

/// How to split a document into units.
pub(crate) struct UnitSplitter {
    /// Maximum cost of a unit; a list or an object that costs more is split.
    pub(crate) max_cost: usize,
    /// Returns the cost of a value.
    pub(crate) cost: fn(&Value) -> usize,
}

/// A part of a document that is not split further.
pub(crate) struct Unit<'d> {
    pub(crate) value: &'d Value,
    /// Names of the enclosing fields, outermost first.
    pub(crate) names: Vec<&'d str>,
    /// Number of enclosing lists.
    pub(crate) lists: usize,
}

impl Unit<'_> {
    /// Returns the value as JSON text, preceded by the names of the enclosing fields.
    pub(crate) fn to_text(&self) -> String {
        let names = self.names.iter().map(|name| format!("{}:", Value::from(*name)));
        names.chain([self.value.to_string()]).collect()
    }
}

impl UnitSplitter {
    fn is_unit(&self, value: &Value) -> bool {
        let empty = match value {
            Value::Array(elements) => elements.is_empty(),
            Value::Object(fields) => fields.is_empty(),
            _ => true,
        };
        empty || (self.cost)(value) <= self.max_cost
    }

    /// Returns the units of a document, in order.
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

    /// Returns the document reduced to the units whose index `is_included` accepts. Lists and
    /// objects that become empty are dropped.
    pub(crate) fn keep(
        &self,
        document: &Value,
        is_included: impl FnMut(usize) -> bool,
    ) -> Map<String, Value> {
        let mut included = (0..).map(is_included);
        match self.prune(document, &mut included) {
            Some(Value::Object(document)) => document,
            _ => Map::new(),
        }
    }

    fn prune(&self, value: &Value, included: &mut impl Iterator<Item = bool>) -> Option<Value> {
        match value {
            value if self.is_unit(value) => included.next()?.then(|| value.clone()),
            Value::Array(elements) => {
                let remaining: Vec<Value> =
                    elements.iter().filter_map(|element| self.prune(element, included)).collect();
                (!remaining.is_empty()).then_some(Value::Array(remaining))
            }
            Value::Object(fields) => {
                let remaining: Map<String, Value> = fields
                    .iter()
                    .filter_map(|(name, value)| Some((name.clone(), self.prune(value, included)?)))
                    .collect();
                (!remaining.is_empty()).then_some(Value::Object(remaining))
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
        let split = UnitSplitter { max_cost: 12, cost: |value| value.to_string().len() };
        let document = json!({"n": 3, "of": {"list": [{"a": 1}, {"b": "long enough"}]}, "z": []});
        let units = split.units(&document);
        let texts: Vec<String> = units.iter().map(Unit::to_text).collect();
        assert_eq!(
            texts,
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
