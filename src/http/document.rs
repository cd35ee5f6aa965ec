//! The OpenAPI document and the pages that show it, all from the definitions of the routes and from
//! what this install has: its analyzers, aggregators, fields and filters.

use poem::endpoint::make_sync;
use poem::http::{Method, header};
use poem::{Endpoint, Response};
use poem_openapi::{OpenApi, OpenApiService};
use serde_json::{Map, Value, json};

use super::ask::CHOSEN_PER_VIDEO;
use super::conform;
use crate::domain::chunking::{MODES, PRESETS};
use crate::domain::status::Schema;

/// The document and its pages, ready to serve.
pub(super) struct Document {
    pub(super) json: String,
    pub(super) swagger: String,
    pub(super) redoc: String,
    pub(super) methods: Methods,
}

impl Document {
    pub(super) fn new<A: OpenApi>(service: &OpenApiService<A, ()>, installed: &Schema) -> Self {
        let generated = service.spec();
        // The generated text is what serde_json wrote a moment ago.
        let mut document: Value = serde_json::from_str(&generated).unwrap_or_default();
        install(&mut document, installed);
        let json = serde_json::to_string_pretty(&document).unwrap_or_default();
        // The pages hold the document inside a script element.
        let inline = json.replace("</", "<\\/");
        let font = "<link href=\"https://fonts.googleapis.com/css?family=Montserrat:300,400,700|Roboto:300,400,700\" rel=\"stylesheet\">";
        Self {
            swagger: service.swagger_ui_html().replace(&generated, &inline),
            redoc: service.redoc_html().replace(&generated, &inline).replace(font, ""),
            methods: Methods::new(&document),
            json,
        }
    }
}

/// Serves a fixed text.
pub(super) fn fixed(content_type: &'static str, text: String) -> impl Endpoint {
    let text = bytes::Bytes::from(text);
    make_sync(move |_| {
        Response::builder()
            .content_type(content_type)
            .header(header::CACHE_CONTROL, "no-cache")
            .header(header::CONTENT_SECURITY_POLICY, "frame-ancestors 'none'; base-uri 'none'")
            .body(text.clone())
    })
}

/// Which methods each path takes, for the `Allow` header, and which query parameters each
/// operation.
pub(super) struct Methods {
    paths: Vec<(Vec<String>, String)>,
    operations: Vec<Operation>,
}

struct Operation {
    path: Vec<String>,
    method: String,
    parameters: Vec<String>,
}

impl Methods {
    fn new(document: &Value) -> Self {
        let paths = document["paths"].as_object().into_iter().flatten();
        let of_path = paths.map(|(path, operations)| {
            let named = operations.as_object().into_iter().flat_map(Map::keys);
            (path, named.map(|method| method.to_uppercase()).collect::<Vec<_>>())
        });
        let mut methods = Self { paths: vec![], operations: operations(document) };
        for (path, mut named) in of_path {
            if named.iter().any(|method| method == "GET") {
                named.push("HEAD".into());
            }
            methods.add(path, named.join(", "));
        }
        methods
    }

    /// Adds a path that the document does not hold. `{…}` stands for any one segment, `*` for the
    /// rest.
    pub(super) fn add(&mut self, path: &str, methods: impl Into<String>) {
        self.paths.push((segments(path), methods.into()));
    }

    /// Why a query string is refused: an operation of the document does not take its parameter.
    pub(super) fn refusal(&self, method: &Method, path: &str, query: &str) -> Option<String> {
        let given: Vec<&str> = path.split('/').collect();
        let method = if method == Method::HEAD { &Method::GET } else { method };
        let fits = |o: &&Operation| {
            o.method == method.as_str() && o.path.len() == given.len() && same(&o.path, &given)
        };
        let fitting = self.operations.iter().filter(fits);
        // A literal path wins over a template.
        let operation = fitting.min_by_key(|o| o.path.iter().filter(|s| is_any(s)).count())?;
        let accepted: Vec<&str> = operation.parameters.iter().map(String::as_str).collect();
        let mut names = url::form_urlencoded::parse(query.as_bytes()).map(|(name, _)| name);
        let stranger = names.find(|name| !accepted.contains(&&**name))?;
        Some(conform::unknown("parameter", &stranger, &accepted))
    }

    /// The methods of the first path that fits.
    pub(super) fn of(&self, path: &str) -> Option<String> {
        self.fitting(path).map(|(_, methods)| methods.clone())
    }

    /// The first path that fits, as it was added.
    pub(super) fn route(&self, path: &str) -> Option<String> {
        self.fitting(path).map(|(pattern, _)| pattern.join("/"))
    }

    fn fitting(&self, path: &str) -> Option<&(Vec<String>, String)> {
        let given: Vec<&str> = path.split('/').collect();
        let fits = |pattern: &[String]| match pattern.split_last() {
            Some((last, head)) if last == "*" => given.len() > head.len() && same(head, &given),
            _ => given.len() == pattern.len() && same(pattern, &given),
        };
        self.paths.iter().find(|(pattern, _)| fits(pattern))
    }
}

fn same(pattern: &[String], given: &[&str]) -> bool {
    pattern.iter().zip(given).all(|(known, given)| is_any(known) || known == given)
}

fn is_any(segment: &str) -> bool {
    segment.starts_with('{')
}

fn segments(path: &str) -> Vec<String> {
    path.split('/').map(str::to_owned).collect()
}

/// Every operation of the document with its query parameters.
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

/// Writes what this install has into the document.
fn install(document: &mut Value, installed: &Schema) {
    let aggregators: Vec<_> = installed.aggregators.iter().map(|a| a.id.clone()).collect();
    narrow_requests(document, installed);
    close_requests(document);
    narrow_responses(&mut document["components"]["schemas"], installed);
    refer_plainly(document);
    for (path, name, keyword, value) in [
        ("/videos/{video_id}/chunks", "analyzer", "enum", json!(installed.analyzers)),
        (
            "/videos/{video_id}/chunks",
            "chunk_ids",
            "pattern",
            json!("^ *-?[0-9]+ *(, *-?[0-9]+ *)*$"),
        ),
        ("/videos/{video_id}/aggregates", "aggregator", "enum", json!(aggregators)),
    ] {
        let parameters = document["paths"][path]["get"]["parameters"].as_array_mut();
        for parameter in parameters.into_iter().flatten().filter(|p| p["name"] == name) {
            parameter["schema"][keyword] = value.clone();
        }
    }
    document["info"]["x-installed"] = json!({
        "analyzers": installed.analyzers,
        "exclusive_groups": installed.exclusive_groups,
        "aggregators": aggregators,
    });
}

/// Says of a reference what the framework says in a second part of `allOf`: generators merge the two,
/// and give up where that has no type. What may be null as well is one of two, since `nullable` means
/// nothing without a type next to it (OpenAPI 3.0.3).
fn refer_plainly(node: &mut Value) {
    match node {
        Value::Array(items) => items.iter_mut().for_each(refer_plainly),
        Value::Object(object) => {
            if let Some(reference) = annotated_reference(object) {
                object.remove("allOf");
                if object.remove("nullable").is_some_and(|nullable| nullable == true) {
                    let nothing = json!({"nullable": true, "enum": [null]});
                    object.insert("oneOf".into(), json!([reference, nothing]));
                } else {
                    object.insert("allOf".into(), json!([reference]));
                }
            }
            object.values_mut().for_each(refer_plainly);
        }
        _ => {}
    }
}

/// The reference of a schema that has only words to add to it, which stand in the schema itself too.
fn annotated_reference(schema: &Map<String, Value>) -> Option<Value> {
    let [reference, words] = schema.get("allOf")?.as_array()?.as_slice() else { return None };
    let mut words = words.as_object()?.iter();
    let said = words.all(|(name, value)| schema.get(name) == Some(value));
    (said && reference["$ref"].is_string()).then(|| reference.clone())
}

/// The names and numbers that requests may hold.
fn narrow_requests(document: &mut Value, installed: &Schema) {
    let fields: Vec<_> = installed.vector_fields.iter().map(|(field, _)| field).collect();
    let levels: Vec<_> = installed.detail_levels.iter().map(|(level, _)| level).collect();
    let mut asked = installed.analyzers.clone();
    asked.push(CHOSEN_PER_VIDEO.to_owned());
    let schemas = &mut document["components"]["schemas"];
    for (schema, field, mut values) in [
        ("QueryRequest", "analyzer", json!(installed.analyzers)),
        ("QueryRequest", "field", json!(fields)),
        ("QueryRequest", "detail", json!(levels)),
        ("AskRequest", "analyzer", json!(asked)),
    ] {
        let field = &mut schemas[schema]["properties"][field];
        if let (Some(true), Some(list)) = (field["nullable"].as_bool(), values.as_array_mut()) {
            list.push(Value::Null);
        }
        field["enum"] = values;
    }
    schemas["QueryRequest"]["properties"]["filters"] = filters(installed);
    // Also accepted without it, where `like` or `order` stands in its place.
    schemas["QueryRequest"]["required"] = json!(["text"]);
    for fields in ["/components/schemas/UrlIngestRequest/properties", UPLOAD] {
        if let Some(fields) = document.pointer_mut(fields) {
            constrain_ingest(fields);
        }
    }
}

/// What a request names beyond its fields is refused.
fn close_requests(document: &mut Value) {
    let close = |schema: &mut Value| {
        let named = schema["properties"].as_object().is_some_and(|fields| !fields.is_empty());
        if named && schema["additionalProperties"].is_null() {
            schema["additionalProperties"] = json!(false);
        }
    };
    let mut named = Vec::new();
    let paths = document["paths"].as_object_mut().into_iter().flatten();
    for (_, operation) in paths.flat_map(|(_, item)| item.as_object_mut().into_iter().flatten()) {
        let content = operation.pointer_mut("/requestBody/content").and_then(Value::as_object_mut);
        for (_, media) in content.into_iter().flatten() {
            match media["schema"]["$ref"].as_str() {
                Some(reference) => named.push(reference.trim_start_matches('#').to_owned()),
                None => close(&mut media["schema"]),
            }
        }
    }
    for reference in named {
        document.pointer_mut(&reference).into_iter().for_each(close);
    }
}

/// What responses hold: the analyzers there are, and nothing beyond a hit's level of detail.
fn narrow_responses(schemas: &mut Value, installed: &Schema) {
    for level in ["MinimalResult", "StandardResult", "FullResult"] {
        schemas[level]["additionalProperties"] = json!(false);
    }
    if let Some(known) = schemas["Chunk"]["properties"].as_object_mut() {
        let head = ["chunk_id", "start", "end", "timecode"];
        known.retain(|name, _| {
            head.contains(&name.as_str()) || installed.analyzers.iter().any(|id| id == name)
        });
    }
    require_what_is_always_sent(schemas);
}

/// Where the document holds the fields of an upload.
const UPLOAD: &str =
    "/paths/~1videos/post/requestBody/content/multipart~1form-data/schema/properties";

/// What the domain accepts in the fields of an ingest beyond their types. It answers with other
/// statuses than a wrong type does, so it is not part of the types.
fn constrain_ingest(fields: &mut Value) {
    let presets: Vec<&str> = PRESETS.iter().map(|preset| preset.name).collect();
    let modes: Vec<&str> = MODES.iter().map(|(mode, _)| *mode).collect();
    fields["mode"]["enum"] = json!(modes);
    fields["preset"]["enum"] = json!(presets);
    for weight in ["speaker", "silence", "cut", "semantic"] {
        fields[weight]["minimum"] = json!(0);
    }
    for seconds in ["interval", "min_duration", "max_duration"] {
        fields[seconds]["minimum"] = json!(0);
        fields[seconds]["exclusiveMinimum"] = json!(true);
    }
    if fields["url"].is_object() {
        fields["url"]["format"] = json!("uri");
        fields["url"]["pattern"] = json!("^[Hh][Tt][Tt][Pp][Ss]?://");
    }
}

/// A field that may be null in a response is still there. Clients, on the other hand, may leave out
/// what may be null.
fn require_what_is_always_sent(schemas: &mut Value) {
    let sent = schemas.as_object_mut().into_iter().flatten();
    for (_, schema) in sent.filter(|(name, _)| !name.ends_with("Request")) {
        let fields = schema["properties"].as_object().into_iter().flatten();
        let nullable = fields.filter(|(_, field)| field["nullable"] == true);
        let names: Vec<Value> = nullable.map(|(name, _)| json!(name)).collect();
        if let Some(required) = schema.get_mut("required").and_then(Value::as_array_mut) {
            required.extend(names);
        }
    }
}

fn filters(installed: &Schema) -> Value {
    let mut properties = Map::new();
    for filter in &installed.filters {
        let schema = match filter.kind.as_str() {
            "list[str]" => json!({"type": "array", "items": {"type": "string"}}),
            "list[int]" => json!({"type": "array", "items": {"type": "integer"}}),
            "int" => json!({"type": "integer"}),
            "float" => json!({"type": "number"}),
            _ => json!({"type": "string"}),
        };
        properties.insert(filter.name.clone(), schema);
    }
    json!({
        "type": "object",
        "description": "Hard conditions that must all hold.",
        "default": {},
        "properties": properties,
        "additionalProperties": false,
    })
}
