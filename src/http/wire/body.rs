//! JSON request and response bodies, optional forms, and functions that read a body within limits
//! on size and time.

use std::io::Read;
use std::marker::PhantomData;
use std::time::Duration;

use bytes::Bytes;
use flate2::read::MultiGzDecoder;
use poem::http::{StatusCode, header};
use poem::web::Form as PoemForm;
use poem::{Body, FromRequest, IntoResponse, Request, RequestBody, Response, Result};
use poem_openapi::payload::{ParsePayload, Payload};
use poem_openapi::registry::{
    MetaHeader, MetaMediaType, MetaRequest, MetaResponse, MetaResponses, MetaSchemaRef, Registry,
};
use poem_openapi::types::{ParseFromJSON, ToJSON, Type};
use poem_openapi::{ApiExtractor, ApiExtractorType, ApiResponse, ExtractParamOptions};

use super::conditional::quoted;
use super::failure::HttpFailure;
use super::validation;
use crate::http::settings::HttpOptions;

/// A JSON body. A request body is validated against the schema of `T`; a response has status 200.
pub(crate) struct Json<T>(pub(crate) T);

/// A response with status 200 whose body is a `T` that is already serialized as JSON.
pub(crate) struct RawJson<T>(Bytes, PhantomData<fn() -> T>);

impl<T> RawJson<T> {
    pub(crate) fn new(text: impl Into<Bytes>) -> Self {
        Self(text.into(), PhantomData)
    }
}

/// A JSON response with status 200 and the version of the resource as its `ETag`.
pub(crate) struct Versioned<T> {
    pub(crate) version: u64,
    pub(crate) body: T,
}

/// A JSON response with status 201.
pub(crate) struct Created<T>(pub(crate) T);

/// A JSON response with status 202.
pub(crate) struct Accepted<T>(pub(crate) T);

/// A URL-encoded form that may be omitted.
pub(crate) struct OptionalForm<T>(pub(crate) T);

impl<T: Type> Payload for Json<T> {
    const CONTENT_TYPE: &'static str = "application/json";

    fn schema_ref() -> MetaSchemaRef {
        T::schema_ref()
    }

    fn register(registry: &mut Registry) {
        T::register(registry);
    }
}

impl<T: ParseFromJSON + 'static> ParsePayload for Json<T> {
    const IS_REQUIRED: bool = true;

    async fn from_request(request: &Request, body: &mut RequestBody) -> Result<Self> {
        let bytes = read(request, body.take()?, |options| options.server.max_json_bytes).await?;
        let value = serde_json::from_slice(&bytes)
            .map_err(|e| HttpFailure::unprocessable(format!("the body is not valid JSON: {e}")))?;
        let value = validation::validate::<T>(value).map_err(HttpFailure::unprocessable)?;
        let parsed = T::parse_from_json(Some(value));
        Ok(Self(parsed.map_err(|e| HttpFailure::unprocessable(e.into_message()))?))
    }
}

impl<'a, T: ParseFromJSON + 'static> ApiExtractor<'a> for Json<T> {
    const TYPES: &'static [ApiExtractorType] = &[ApiExtractorType::RequestObject];
    type ParamType = ();
    type ParamRawType = ();

    fn register(registry: &mut Registry) {
        T::register(registry);
    }

    fn request_meta() -> Option<MetaRequest> {
        Some(request_meta::<Self>())
    }

    async fn from_request(
        request: &'a Request,
        body: &mut RequestBody,
        _: ExtractParamOptions<()>,
    ) -> Result<Self> {
        expect_type(request, "application/json", |essence| {
            essence == "application/json" || essence.ends_with("+json")
        })?;
        <Self as ParsePayload>::from_request(request, body).await
    }
}

impl<T: ToJSON> IntoResponse for Json<T> {
    fn into_response(self) -> Response {
        json_response(StatusCode::OK, &self.0)
    }
}

impl<T: ToJSON> ApiResponse for Json<T> {
    fn meta() -> MetaResponses {
        responses::<T>(200, "Success.")
    }

    fn register(registry: &mut Registry) {
        T::register(registry);
    }
}

impl<T> IntoResponse for RawJson<T> {
    fn into_response(self) -> Response {
        Response::builder().content_type("application/json").body(self.0)
    }
}

impl<T: Type> ApiResponse for RawJson<T> {
    fn meta() -> MetaResponses {
        responses::<T>(200, "Success.")
    }

    fn register(registry: &mut Registry) {
        T::register(registry);
    }
}

impl<T: ToJSON> IntoResponse for Versioned<T> {
    fn into_response(self) -> Response {
        let mut response = json_response(StatusCode::OK, &self.body);
        if let Ok(etag) = quoted(&self.version.to_string()).parse() {
            response.headers_mut().insert(header::ETAG, etag);
        }
        response
    }
}

impl<T: ToJSON> ApiResponse for Versioned<T> {
    fn meta() -> MetaResponses {
        let etag = || MetaHeader {
            name: "ETag".into(),
            description: Some("Version of the resource, for `If-Match`.".into()),
            required: true,
            deprecated: false,
            schema: String::schema_ref(),
        };
        let mut meta = responses::<T>(200, "Success.");
        meta.responses.iter_mut().for_each(|response| response.headers.push(etag()));
        meta
    }

    fn register(registry: &mut Registry) {
        T::register(registry);
    }
}

impl<T: ToJSON> IntoResponse for Created<T> {
    fn into_response(self) -> Response {
        json_response(StatusCode::CREATED, &self.0)
    }
}

impl<T: ToJSON> ApiResponse for Created<T> {
    fn meta() -> MetaResponses {
        responses::<T>(201, "Created.")
    }

    fn register(registry: &mut Registry) {
        T::register(registry);
    }
}

impl<T: ToJSON> IntoResponse for Accepted<T> {
    fn into_response(self) -> Response {
        json_response(StatusCode::ACCEPTED, &self.0)
    }
}

impl<T: ToJSON> ApiResponse for Accepted<T> {
    fn meta() -> MetaResponses {
        responses::<T>(202, "Accepted. Poll the job until it is done or failed.")
    }

    fn register(registry: &mut Registry) {
        T::register(registry);
    }
}

impl<T: Type> Payload for OptionalForm<T> {
    const CONTENT_TYPE: &'static str = "application/x-www-form-urlencoded";

    fn schema_ref() -> MetaSchemaRef {
        T::schema_ref()
    }
}

impl<T: ParseFromJSON + 'static> ParsePayload for OptionalForm<T> {
    const IS_REQUIRED: bool = false;

    async fn from_request(request: &Request, body: &mut RequestBody) -> Result<Self> {
        let bytes = read(request, body.take()?, |options| options.server.max_form_bytes).await?;
        let fields = if bytes.is_empty() {
            vec![]
        } else {
            expect_type(request, Self::CONTENT_TYPE, |essence| essence == Self::CONTENT_TYPE)?;
            form(request, bytes.into()).await?
        };
        let value = validation::validate_form::<T>(fields).map_err(HttpFailure::unprocessable)?;
        let parsed = T::parse_from_json(Some(value));
        Ok(Self(parsed.map_err(|e| HttpFailure::unprocessable(e.into_message()))?))
    }
}

impl<'a, T: ParseFromJSON + 'static> ApiExtractor<'a> for OptionalForm<T> {
    const TYPES: &'static [ApiExtractorType] = &[ApiExtractorType::RequestObject];
    type ParamType = ();
    type ParamRawType = ();

    fn register(registry: &mut Registry) {
        T::register(registry);
    }

    fn request_meta() -> Option<MetaRequest> {
        Some(request_meta::<Self>())
    }

    async fn from_request(
        request: &'a Request,
        body: &mut RequestBody,
        _: ExtractParamOptions<()>,
    ) -> Result<Self> {
        <Self as ParsePayload>::from_request(request, body).await
    }
}

/// Returns the HTTP options, for use in extractors.
pub(crate) fn options(request: &Request) -> Result<&HttpOptions> {
    request.data::<std::sync::Arc<HttpOptions>>().map(AsRef::as_ref).ok_or_else(|| {
        poem::Error::from_string("no options are attached", StatusCode::INTERNAL_SERVER_ERROR)
    })
}

/// Reads the whole body and decompresses it. Fails if it is larger than `limit` or does not arrive
/// within `body_timeout`.
pub(crate) async fn read(
    request: &Request,
    body: Body,
    limit: fn(&HttpOptions) -> usize,
) -> Result<Vec<u8>> {
    let options = options(request)?;
    let limit = limit(options);
    let coding = ContentCoding::from_request(request)?;
    // Checked before reading: a client that waits for "100 Continue" has not sent the body yet.
    if content_length(request).is_some_and(|length| length > limit as u64) {
        return Err(too_large(limit).into());
    }
    let bytes = with_timeout(options.server.body_timeout, body.into_bytes_limit(limit)).await?;
    let bytes = bytes.map_err(|e| match e {
        poem::error::ReadBodyError::PayloadTooLarge => too_large(limit).into(),
        other => poem::Error::from(other),
    })?;
    match coding {
        ContentCoding::Identity => Ok(bytes.into()),
        ContentCoding::Gzip => Ok(decompress(&bytes, limit)?),
    }
}

fn too_large(limit: usize) -> HttpFailure {
    HttpFailure::too_large(format!("the body is larger than the {limit} bytes that are allowed"))
}

/// Returns the body's length in bytes, if `Content-Length` is present.
pub(crate) fn content_length(request: &Request) -> Option<u64> {
    request.header("content-length").and_then(|length| length.parse().ok())
}

/// Decompresses a gzip body. Fails if the result exceeds `limit` bytes, as a defense against
/// decompression bombs.
fn decompress(compressed: &[u8], limit: usize) -> Result<Vec<u8>, HttpFailure> {
    let mut bytes = Vec::new();
    let mut decoder = MultiGzDecoder::new(compressed).take(limit as u64 + 1);
    decoder
        .read_to_end(&mut bytes)
        .map_err(|e| HttpFailure::unprocessable(format!("the body is not valid gzip: {e}")))?;
    if bytes.len() > limit {
        return Err(too_large(limit));
    }
    Ok(bytes)
}

/// How a body is compressed (`Content-Encoding`).
enum ContentCoding {
    Identity,
    Gzip,
}

impl ContentCoding {
    /// Parses the header. Fails with 415 for other encodings; the error names the accepted ones.
    fn from_request(request: &Request) -> Result<Self, HttpFailure> {
        match content_encoding(request).as_str() {
            "" | "identity" => Ok(Self::Identity),
            "gzip" | "x-gzip" => Ok(Self::Gzip),
            other => Err(unsupported(other, "gzip, identity")),
        }
    }
}

/// Rejects a compressed body, for routes that store the bytes as sent.
pub(crate) fn expect_uncompressed(request: &Request) -> Result<(), HttpFailure> {
    match content_encoding(request).as_str() {
        "" | "identity" => Ok(()),
        other => Err(unsupported(other, "identity")),
    }
}

fn content_encoding(request: &Request) -> String {
    let values = request.headers().get_all(header::CONTENT_ENCODING).into_iter();
    let values = values.map(|value| String::from_utf8_lossy(value.as_bytes()).trim().to_owned());
    values.collect::<Vec<_>>().join(", ").to_ascii_lowercase()
}

fn unsupported(coding: &str, accepted: &'static str) -> HttpFailure {
    let coding = super::params::excerpt(coding);
    let detail = format!("the Content-Encoding is '{coding}'; accepted: {accepted}");
    HttpFailure {
        accept_encoding: Some(accepted),
        ..HttpFailure::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, detail)
    }
}

/// Returns the result of `work`, or 408 if it takes longer than `limit`.
pub(crate) async fn with_timeout<T>(
    limit: Duration,
    work: impl Future<Output = T>,
) -> Result<T, HttpFailure> {
    tokio::time::timeout(limit, work).await.map_err(|_| {
        HttpFailure::new(
            StatusCode::REQUEST_TIMEOUT,
            format!("no more of the body arrived within {} seconds", limit.as_secs_f64()),
        )
    })
}

/// Parses the fields of a URL-encoded form.
pub(crate) async fn form(request: &Request, bytes: Body) -> Result<Vec<(String, String)>> {
    let form =
        <PoemForm<_> as FromRequest>::from_request(request, &mut RequestBody::new(bytes)).await;
    let PoemForm(fields) =
        form.map_err(|e| HttpFailure::unprocessable(format!("the body is not a form: {e}")))?;
    Ok(fields)
}

fn expect_type(
    request: &Request,
    expected: &str,
    matches: fn(&str) -> bool,
) -> Result<(), HttpFailure> {
    let sent = request.content_type().unwrap_or_default();
    let essence = sent.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    if matches(&essence) {
        return Ok(());
    }
    Err(HttpFailure::unprocessable(format!(
        "the Content-Type is '{}'; it must be {expected}",
        super::params::excerpt(sent)
    )))
}

fn request_meta<P: ParsePayload + Payload>() -> MetaRequest {
    MetaRequest {
        description: None,
        content: vec![MetaMediaType { content_type: P::CONTENT_TYPE, schema: P::schema_ref() }],
        required: P::IS_REQUIRED,
    }
}

fn responses<T: Type>(status: u16, description: &'static str) -> MetaResponses {
    MetaResponses {
        responses: vec![MetaResponse {
            description,
            status: Some(status),
            status_range: None,
            content: vec![MetaMediaType {
                content_type: <Json<T> as Payload>::CONTENT_TYPE,
                schema: T::schema_ref(),
            }],
            headers: vec![],
        }],
    }
}

fn json_response(status: StatusCode, value: &impl ToJSON) -> Response {
    Response::builder().status(status).content_type("application/json").body(value.to_json_string())
}
