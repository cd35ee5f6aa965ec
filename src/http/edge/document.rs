//! The OpenAPI document and the pages that display it, generated from the route definitions and
//! from what this install provides: analyzers, aggregators, vector fields and filters.

use poem::endpoint::make_sync;
use poem::http::header;
use poem::{Endpoint, Response, get};
use poem_openapi::{OpenApi, OpenApiService};
use serde_json::{Map, Value, json};

use super::route_table::{PlainRoute, RouteTable};
use crate::http::wire::answers::AUTO_ANALYZER;
use domain::chunking::{MODES, PRESETS};
use domain::status::Schema;

/// The OpenAPI document and the pages that display it, ready to serve.
pub(crate) struct OpenApiDocument {
    pub(crate) json: String,
    swagger: String,
    redoc: String,
    pub(crate) routes: RouteTable,
}

impl OpenApiDocument {
    pub(crate) fn new<A: OpenApi>(service: &OpenApiService<A, ()>, installed: &Schema) -> Self {
        let generated = service.spec();
        // This cannot fail, because serde_json has just written the text.
        let mut document: Value = serde_json::from_str(&generated).unwrap_or_default();
        add_installed(&mut document, installed);
        let json = serde_json::to_string_pretty(&document).unwrap_or_default();
        // The pages embed the document in a script element, which a `</script` in it would end.
        let inline = json.replace("</", "<\\/");
        let font = "<link href=\"https://fonts.googleapis.com/css?family=Montserrat:300,400,700|Roboto:300,400,700\" rel=\"stylesheet\">";
        Self {
            swagger: service.swagger_ui_html().replace(&generated, &inline),
            redoc: service.redoc_html().replace(&generated, &inline).replace(font, ""),
            routes: RouteTable::new(&document),
            json,
        }
    }

    /// Returns the routes that serve the document and the pages that display it.
    pub(crate) fn pages(&self) -> Vec<PlainRoute> {
        const HTML: &str = "text/html; charset=utf-8";
        let page = |path: &str, content_type, text: &str| {
            let endpoint = get(static_page(content_type, text.to_owned()));
            PlainRoute::new(path, "GET, HEAD", endpoint).without_token()
        };
        vec![
            page("/openapi.json", "application/json", &self.json),
            page("/docs", HTML, &self.swagger),
            page("/redoc", HTML, &self.redoc),
        ]
    }
}

/// Returns an endpoint that serves fixed text.
fn static_page(content_type: &'static str, text: String) -> impl Endpoint {
    let text = bytes::Bytes::from(text);
    make_sync(move |_| {
        Response::builder()
            .content_type(content_type)
            .header(header::CACHE_CONTROL, "no-cache")
            .header(header::CONTENT_SECURITY_POLICY, "frame-ancestors 'none'; base-uri 'none'")
            .body(text.clone())
    })
}

/// Adds the capabilities of this install to the document.
fn add_installed(document: &mut Value, installed: &Schema) {
    let aggregators: Vec<_> = installed.aggregators.iter().map(|a| a.id.clone()).collect();
    narrow_requests(document, installed);
    close_requests(document);
    narrow_responses(&mut document["components"]["schemas"], installed);
    simplify_references(document);
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

/// Removes the description from each `allOf` that consists of a reference and a description. The
/// schema itself repeats the description, and client generators cannot merge parts without a type.
/// A nullable reference becomes a `oneOf`, because `nullable` has no effect without a `type` next
/// to it (OpenAPI 3.0.3).
fn simplify_references(node: &mut Value) {
    match node {
        Value::Array(items) => items.iter_mut().for_each(simplify_references),
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
            object.values_mut().for_each(simplify_references);
        }
        _ => {}
    }
}

/// Returns the reference in the `allOf` of `schema` if the second part of the `allOf` only repeats
/// annotations of `schema`.
fn annotated_reference(schema: &Map<String, Value>) -> Option<Value> {
    let [reference, words] = schema.get("allOf")?.as_array()?.as_slice() else { return None };
    let mut words = words.as_object()?.iter();
    let repeated = words.all(|(name, value)| schema.get(name) == Some(value));
    (repeated && reference["$ref"].is_string()).then(|| reference.clone())
}

/// Restricts request fields to the values that this install accepts.
fn narrow_requests(document: &mut Value, installed: &Schema) {
    let fields: Vec<_> = installed.vector_fields.iter().map(|(field, _)| field).collect();
    let levels: Vec<_> = installed.detail_levels.iter().map(|(level, _)| level).collect();
    let mut ask_analyzers = installed.analyzers.clone();
    ask_analyzers.push(AUTO_ANALYZER.to_owned());
    let schemas = &mut document["components"]["schemas"];
    for (schema, field, mut values) in [
        ("QueryRequest", "analyzer", json!(installed.analyzers)),
        ("QueryRequest", "field", json!(fields)),
        ("QueryRequest", "detail", json!(levels)),
        ("AskRequest", "analyzer", json!(ask_analyzers)),
    ] {
        let field = &mut schemas[schema]["properties"][field];
        if let (Some(true), Some(list)) = (field["nullable"].as_bool(), values.as_array_mut()) {
            list.push(Value::Null);
        }
        field["enum"] = values;
    }
    schemas["QueryRequest"]["properties"]["filters"] = filters(installed);
    // The document requires `text`, although the service also accepts `like`, `image` or `order` instead.
    schemas["QueryRequest"]["required"] = json!(["text"]);
    require_any_of(&mut schemas["QueryRequest"], &["text", "like", "image", "order"]);
    for request in ["/components/schemas/UrlIngestRequest", UPLOAD] {
        if let Some(schema) = document.pointer_mut(request) {
            constrain_ingest(&mut schema["properties"]);
        }
    }
    if let Some(form) = document.pointer_mut(UPLOAD) {
        require_any_of(form, &["file", "upload_id"]);
    }
}

/// Requires at least one of the fields, with a value other than null. The `anyOf` is within an
/// `allOf`, because client generators would take a schema with `anyOf` for a union and drop its
/// own properties.
fn require_any_of(schema: &mut Value, fields: &[&str]) {
    let alternative = |field: &&str| {
        let mut property = schema["properties"][*field].clone();
        if let Some(property) = property.as_object_mut() {
            property.retain(|keyword, _| keyword != "nullable" && keyword != "description");
        }
        json!({"type": "object", "required": [field], "properties": {*field: property}})
    };
    let alternatives: Vec<Value> = fields.iter().map(alternative).collect();
    schema["allOf"] = json!([{"type": "object", "anyOf": alternatives}]);
}

/// Forbids additional properties in requests.
fn close_requests(document: &mut Value) {
    let close = |schema: &mut Value| {
        let names = schema["properties"].as_object().is_some_and(|fields| !fields.is_empty());
        if names && schema["additionalProperties"].is_null() {
            schema["additionalProperties"] = json!(false);
        }
    };
    let mut names = Vec::new();
    let paths = document["paths"].as_object_mut().into_iter().flatten();
    for (_, operation) in paths.flat_map(|(_, item)| item.as_object_mut().into_iter().flatten()) {
        let content = operation.pointer_mut("/requestBody/content").and_then(Value::as_object_mut);
        for (_, media) in content.into_iter().flatten() {
            match media["schema"]["$ref"].as_str() {
                Some(reference) => names.push(reference.trim_start_matches('#').to_owned()),
                None => close(&mut media["schema"]),
            }
        }
    }
    for reference in names {
        document.pointer_mut(&reference).into_iter().for_each(close);
    }
}

/// Restricts responses to the installed analyzers, and each hit to the fields of its detail level.
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
    require_nullable_fields(schemas);
}

/// JSON pointer to the upload form.
const UPLOAD: &str = "/paths/~1videos/post/requestBody/content/multipart~1form-data/schema";

/// Adds the limits that the domain checks for ingest fields. The types do not include these limits,
/// because violations have a different status code than type errors.
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

/// Marks nullable response fields as required, because responses always contain them. In requests,
/// nullable fields remain optional.
fn require_nullable_fields(schemas: &mut Value) {
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
            "dict" | "expression" => json!({"type": "object"}),
            _ => json!({"type": "string"}),
        };
        properties.insert(filter.name.clone(), schema);
    }
    json!({
        "type": "object",
        "description": "Hard filters that must all match. For a list of values, any one matches.",
        "default": {},
        "properties": properties,
        "additionalProperties": false,
    })
}
