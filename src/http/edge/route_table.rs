//! The paths of the service with their methods and parameters, and routes that are not in the
//! OpenAPI document.

use poem::RouteMethod;
use poem::http::Method;
use serde_json::{Map, Value};

use crate::http::wire::validation;

/// A route that is not in the OpenAPI document: a page, a file, a probe or another protocol.
pub(crate) struct PlainRoute {
    /// Path from the service's root; `:name` stands for one segment, and `*name` for the rest of
    /// the path.
    pub(crate) path: String,
    /// Accepted methods, for the `Allow` header.
    pub(crate) methods: &'static str,
    /// Whether the route can be called without a token.
    pub(crate) is_open: bool,
    pub(crate) endpoint: RouteMethod,
}

impl PlainRoute {
    /// Creates a route that needs a token.
    pub(crate) fn new(
        path: impl Into<String>,
        methods: &'static str,
        endpoint: RouteMethod,
    ) -> Self {
        Self { path: path.into(), methods, is_open: false, endpoint }
    }

    /// Makes the route callable without a token.
    pub(crate) fn without_token(self) -> Self {
        Self { is_open: true, ..self }
    }
}

/// The methods of each path, for the `Allow` header, and the query parameters of each operation.
pub(crate) struct RouteTable {
    paths: Vec<(Vec<String>, String)>,
    operations: Vec<Operation>,
}

struct Operation {
    path: Vec<String>,
    method: String,
    parameters: Vec<String>,
}

impl RouteTable {
    pub(crate) fn new(document: &Value) -> Self {
        let paths = document["paths"].as_object().into_iter().flatten();
        let by_path = paths.map(|(path, operations)| {
            let names = operations.as_object().into_iter().flat_map(Map::keys);
            (path, names.map(|method| method.to_uppercase()).collect::<Vec<_>>())
        });
        let mut methods = Self { paths: vec![], operations: operations(document) };
        for (path, mut names) in by_path {
            if names.iter().any(|method| method == "GET") {
                names.push("HEAD".into());
            }
            methods.paths.push((segments(path), names.join(", ")));
        }
        methods
    }

    /// Adds a path that is not in the document. `:name` matches any one segment, and `*name`
    /// matches the rest of the path.
    pub(crate) fn add(&mut self, path: &str, methods: &str) {
        let pattern = |segment: &str| match (segment.strip_prefix(':'), segment.starts_with('*')) {
            (Some(name), _) => format!("{{{name}}}"),
            (None, true) => "*".to_owned(),
            (None, false) => segment.to_owned(),
        };
        self.paths.push((path.split('/').map(pattern).collect(), methods.to_owned()));
    }

    /// Returns an error message if `query` names a parameter that the operation does not have.
    pub(crate) fn unknown_parameter(
        &self,
        method: &Method,
        path: &str,
        query: &str,
    ) -> Option<String> {
        let requested: Vec<&str> = path.split('/').collect();
        let method = if method == Method::HEAD { &Method::GET } else { method };
        let matches = |o: &&Operation| {
            o.method == method.as_str()
                && o.path.len() == requested.len()
                && segments_match(&o.path, &requested)
        };
        let matching = self.operations.iter().filter(matches);
        // A literal path takes precedence over a template.
        let operation =
            matching.min_by_key(|o| o.path.iter().filter(|s| is_placeholder(s)).count())?;
        let accepted: Vec<&str> = operation.parameters.iter().map(String::as_str).collect();
        let mut names = url::form_urlencoded::parse(query.as_bytes()).map(|(name, _)| name);
        let unknown = names.find(|name| !accepted.contains(&&**name))?;
        Some(validation::unknown_name("parameter", &unknown, &accepted))
    }

    /// Returns the methods of the first path pattern that matches.
    pub(crate) fn allowed_methods(&self, path: &str) -> Option<String> {
        self.find(path).map(|(_, methods)| methods.clone())
    }

    /// Returns the first path pattern that matches.
    pub(crate) fn route(&self, path: &str) -> Option<String> {
        self.find(path).map(|(pattern, _)| pattern.join("/"))
    }

    fn find(&self, path: &str) -> Option<&(Vec<String>, String)> {
        let requested: Vec<&str> = path.split('/').collect();
        let matches = |pattern: &[String]| match pattern.split_last() {
            Some((last, head)) if last == "*" => {
                requested.len() > head.len() && segments_match(head, &requested)
            }
            _ => requested.len() == pattern.len() && segments_match(pattern, &requested),
        };
        self.paths.iter().find(|(pattern, _)| matches(pattern))
    }
}

fn segments_match(pattern: &[String], requested: &[&str]) -> bool {
    pattern
        .iter()
        .zip(requested)
        .all(|(pattern, requested)| is_placeholder(pattern) || pattern == requested)
}

fn is_placeholder(segment: &str) -> bool {
    segment.starts_with('{')
}

fn segments(path: &str) -> Vec<String> {
    path.split('/').map(str::to_owned).collect()
}

/// Returns every operation in the document with its query parameters.
fn operations(document: &Value) -> Vec<Operation> {
    let mut operations = Vec::new();
    for (path, item) in document["paths"].as_object().into_iter().flatten() {
        for (method, operation) in item.as_object().into_iter().flatten() {
            let parameters = operation["parameters"].as_array().into_iter().flatten();
            let names =
                parameters.filter(|p| p["in"] == "query").filter_map(|p| p["name"].as_str());
            operations.push(Operation {
                path: segments(path),
                method: method.to_uppercase(),
                parameters: names.map(str::to_owned).collect(),
            });
        }
    }
    operations
}
