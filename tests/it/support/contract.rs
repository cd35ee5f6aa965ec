//! Checks responses against the served OpenAPI document: the status must be declared and the body must
//! match its schema.

use poem::http::Method;
use serde_json::Value;

use super::Reply;

/// A parsed OpenAPI document.
pub struct Contract(pub Value);

impl Contract {
    pub fn new(document: &str) -> Self {
        Self(serde_json::from_str(document).expect("the document is JSON"))
    }

    /// Panics unless the document allows the response. Routes outside the document pass.
    #[track_caller]
    pub fn check(&self, method: &Method, path: &str, reply: &Reply) {
        let Some(operation) = self.operation(method, path) else { return };
        let declared = &operation["responses"][reply.status.to_string()];
        assert!(
            declared.is_object(),
            "{method} {path}: {} is undeclared: {}",
            reply.status,
            reply.text()
        );
        let Some(content) = declared["content"].as_object() else { return };
        let kind = reply.header("content-type").split(';').next().unwrap_or_default();
        let Some(media) = content.get(kind) else {
            panic!("{method} {path}: content type '{kind}' is undeclared");
        };
        if kind == "application/json" {
            let problems = self.problems(&media["schema"], &reply.json(), "$");
            assert!(problems.is_empty(), "{method} {path}: {problems:?} in {}", reply.text());
        }
    }

    fn operation(&self, method: &Method, path: &str) -> Option<&Value> {
        let given: Vec<&str> = path.split('/').collect();
        let fits = |template: &str| {
            let parts: Vec<&str> = template.split('/').collect();
            parts.len() == given.len()
                && parts
                    .iter()
                    .zip(&given)
                    .all(|(part, given)| part.starts_with('{') || part == given)
        };
        let paths = self.0["paths"].as_object()?;
        // A literal path takes precedence over a template.
        let (_, item) = paths
            .iter()
            .filter(|(template, _)| fits(template))
            .min_by_key(|(template, _)| template.matches('{').count())?;
        item.get(method.as_str().to_lowercase())
    }

    /// The places where a value violates a schema.
    pub fn problems(&self, schema: &Value, value: &Value, at: &str) -> Vec<String> {
        if let Some(reference) = schema["$ref"].as_str() {
            let target = self.0.pointer(&reference[1..]).expect("the reference resolves");
            return self.problems(target, value, at);
        }
        if value.is_null() && schema["nullable"] == true {
            return vec![];
        }
        let mut problems = Vec::new();
        let all = schema["allOf"].as_array().into_iter().flatten();
        problems.extend(all.flat_map(|part| self.problems(part, value, at)));
        if let Some(choices) = schema["oneOf"].as_array() {
            let fit = choices.iter().filter(|c| self.problems(c, value, at).is_empty()).count();
            if fit != 1 {
                problems.push(format!("{at} fits {fit} of the alternatives"));
            }
        }
        if let Some(choices) = schema["anyOf"].as_array()
            && !choices.iter().any(|choice| self.problems(choice, value, at).is_empty())
        {
            problems.push(format!("{at} fits none of the alternatives"));
        }
        let right_type = match schema["type"].as_str() {
            Some("object") => value.is_object(),
            Some("array") => value.is_array(),
            Some("string") => value.is_string(),
            Some("boolean") => value.is_boolean(),
            Some("integer") => value.is_i64() || value.is_u64(),
            Some("number") => value.is_number(),
            _ => true,
        };
        if !right_type {
            problems.push(format!("{at} is not of type {}", schema["type"]));
        }
        let allowed = schema["enum"].as_array();
        if allowed.is_some_and(|allowed| !allowed.contains(value)) {
            problems.push(format!("{at} is none of {}", schema["enum"]));
        }
        for (bound, beyond) in
            [("minimum", value.as_f64()), ("maximum", value.as_f64().map(|v| -v))]
        {
            let sign = if bound == "minimum" { 1.0 } else { -1.0 };
            if let (Some(bound), Some(value)) = (schema[bound].as_f64(), beyond)
                && value < bound * sign
            {
                problems.push(format!("{at} is out of range"));
            }
        }
        if let Some(object) = value.as_object() {
            problems.extend(self.object_problems(schema, object, at));
        }
        let items = value.as_array().into_iter().flatten().enumerate();
        problems
            .extend(items.flat_map(|(i, item)| {
                self.problems(&schema["items"], item, &format!("{at}[{i}]"))
            }));
        problems
    }

    fn object_problems(
        &self,
        schema: &Value,
        object: &serde_json::Map<String, Value>,
        at: &str,
    ) -> Vec<String> {
        let required = schema["required"].as_array().into_iter().flatten();
        let mut problems: Vec<String> = required
            .filter_map(Value::as_str)
            .filter(|name| !object.contains_key(*name))
            .map(|name| format!("{at}.{name} is missing"))
            .collect();
        for (name, value) in object {
            let at = format!("{at}.{name}");
            match (schema["properties"].get(name), &schema["additionalProperties"]) {
                (Some(property), _) => problems.extend(self.problems(property, value, &at)),
                (None, Value::Bool(false)) => problems.push(format!("{at} is not allowed")),
                (None, other) => problems.extend(self.problems(other, value, &at)),
            }
        }
        problems
    }
}
