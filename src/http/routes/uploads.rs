//! `/uploads`: resumable uploads with the tus 1.0 protocol and its extensions `creation`,
//! `creation-with-upload`, `expiration`, `checksum` and `termination`. `POST /videos` ingests a
//! completed upload.

use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use futures::StreamExt;
use poem::http::{HeaderValue, Method, StatusCode, header};
use poem::web::{Data, Path};
use poem::{Body, Request, Response, RouteMethod, handler};

use crate::http::edge::auth::{CallerToken, Service};
use crate::http::edge::route_table::PlainRoute;
use crate::http::edge::upload_slots::UploadSlots;
use crate::http::settings::HttpOptions;
use crate::http::wire::body::{content_length, expect_uncompressed, with_timeout};
use crate::http::wire::failure::HttpFailure;
use crate::http::wire::params::excerpt;
use domain::ingest::uploads::UploadState;
use domain::{Error, Scoped};

const VERSION: &str = "1.0.0";
const PATCH_CONTENT_TYPE: &str = "application/offset+octet-stream";

type TusResult = Result<Response, HttpFailure>;

/// Returns the routes of the protocol.
pub(super) fn routes() -> [PlainRoute; 2] {
    let uploads = RouteMethod::new().post(create_upload).options(capabilities);
    let upload = RouteMethod::new()
        .head(upload_resource)
        .patch(upload_resource)
        .delete(upload_resource)
        .post(upload_resource)
        .options(capabilities);
    [
        PlainRoute::new("/uploads", "POST, OPTIONS", uploads),
        PlainRoute::new("/uploads/:upload_id", "HEAD, PATCH, DELETE, POST, OPTIONS", upload),
    ]
}

/// Handles OPTIONS: reports the protocol version, extensions and limits.
#[handler]
fn capabilities(request: &Request, Data(service): Data<&Service>) -> Response {
    let answer = CallerToken::extract(request).map(|token| {
        Response::builder()
            .status(StatusCode::NO_CONTENT)
            .header("Tus-Version", VERSION)
            .header(
                "Tus-Extension",
                "creation,creation-with-upload,expiration,checksum,termination",
            )
            .header("Tus-Checksum-Algorithm", "sha1")
            .header("Tus-Max-Size", service.scoped(&token).max_upload_bytes())
            .finish()
    });
    into_tus_response(answer)
}

/// Creates an upload, and appends the body if the request has one.
#[handler]
async fn create_upload(
    request: &Request,
    body: Body,
    Data(service): Data<&Service>,
    Data(uploads): Data<&Arc<UploadSlots>>,
    Data(options): Data<&Arc<HttpOptions>>,
) -> Response {
    let answer = async {
        check_version(request)?;
        let length = byte_count(request, "upload-length")?;
        let metadata = header_text(request, "upload-metadata")?.unwrap_or_default();
        let filename = filename(metadata)?;
        let service = service.scoped(&CallerToken::extract(request)?);
        let upload =
            service.for_write()?.begin_upload(length, filename, metadata.to_owned()).await?;
        let created = Response::builder()
            .status(StatusCode::CREATED)
            .header(header::LOCATION, format!("uploads/{}", upload.id));
        if !request.content_type().is_some_and(is_patch_body) {
            return Ok(with_expiry(created, &upload).finish());
        }
        let id = upload.id;
        let appended =
            match UploadPatch::new(request, service.clone(), id.clone(), 0, body, options) {
                Ok(patch) => patch.append_detached(uploads).await,
                Err(failure) => Err(failure),
            };
        match appended {
            Ok(upload) => {
                let created = created.header("Upload-Offset", upload.offset);
                Ok(with_expiry(created, &upload).finish())
            }
            // The client does not know the upload's URL, so it cannot resume the upload.
            Err(failure) => {
                if let Err(error) = service.for_write()?.remove_upload(&id).await {
                    tracing::warn!(%error, "a failed upload was left until it expires");
                }
                Err(failure)
            }
        }
    };
    into_tus_response(answer.await)
}

/// Appends to an upload, reports its offset, or removes it.
#[handler]
async fn upload_resource(
    request: &Request,
    Path(id): Path<String>,
    body: Body,
    Data(service): Data<&Service>,
    Data(uploads): Data<&Arc<UploadSlots>>,
    Data(options): Data<&Arc<HttpOptions>>,
) -> Response {
    let answer = async {
        check_version(request)?;
        let service = service.scoped(&CallerToken::extract(request)?);
        // This header is for clients that cannot send every method.
        let overriding = header_text(request, "x-http-method-override")?;
        match overriding.unwrap_or(request.method().as_str()) {
            "HEAD" => state(&service, &id).await,
            "DELETE" => {
                service.for_write()?.remove_upload(&id).await?;
                Ok(Response::builder().status(StatusCode::NO_CONTENT).finish())
            }
            "PATCH" => {
                let offset = byte_count(request, "upload-offset")?;
                let patch =
                    UploadPatch::new(request, service.clone(), id.clone(), offset, body, options)?;
                let appended = patch.append_detached(uploads).await;
                let upload = match appended {
                    Ok(upload) => upload,
                    Err(failure) if failure.status == StatusCode::CONFLICT => {
                        let offset = service.upload(&id).await?.offset;
                        let mut response = failure.into_response();
                        response.headers_mut().insert("Upload-Offset", offset.into());
                        return Ok(response);
                    }
                    Err(failure) => return Err(failure),
                };
                let response = Response::builder()
                    .status(StatusCode::NO_CONTENT)
                    .header("Upload-Offset", upload.offset);
                Ok(with_expiry(response, &upload).finish())
            }
            method => Err(HttpFailure::new(
                StatusCode::METHOD_NOT_ALLOWED,
                format!(
                    "an upload takes HEAD, PATCH and DELETE, not '{}' (X-HTTP-Method-Override)",
                    excerpt(method)
                ),
            )),
        }
    };
    let mut response = into_tus_response(answer.await);
    if request.method() == Method::HEAD {
        response.set_body(Body::empty());
    }
    response
}

async fn state(service: &Scoped, id: &str) -> TusResult {
    let upload = service.upload(id).await?;
    let mut response = Response::builder()
        .header("Upload-Offset", upload.offset)
        .header("Upload-Length", upload.length)
        .header(header::CACHE_CONTROL, "no-store");
    if !upload.metadata.is_empty() {
        response = response.header("Upload-Metadata", &upload.metadata);
    }
    Ok(with_expiry(response, &upload).finish())
}

/// Whether a content type is the one that tus requires in PATCH requests. Media types are
/// case-insensitive, and parameters are ignored (RFC 9110 section 8.3.1).
fn is_patch_body(content_type: &str) -> bool {
    let essence = content_type.split(';').next().unwrap_or_default();
    essence.trim().eq_ignore_ascii_case(PATCH_CONTENT_TYPE)
}

/// A PATCH request that is being received.
struct UploadPatch {
    service: Scoped,
    id: String,
    offset: u64,
    checksum: Option<[u8; 20]>,
    /// `Content-Length`, if present.
    length: Option<u64>,
    body: Body,
    options: Arc<HttpOptions>,
}

impl UploadPatch {
    fn new(
        request: &Request,
        service: Scoped,
        id: String,
        offset: u64,
        body: Body,
        options: &Arc<HttpOptions>,
    ) -> Result<Self, HttpFailure> {
        let kind = request.content_type().unwrap_or_default();
        if !is_patch_body(kind) {
            return Err(HttpFailure::new(
                StatusCode::UNSUPPORTED_MEDIA_TYPE,
                format!("the Content-Type is '{}'; it must be {PATCH_CONTENT_TYPE}", excerpt(kind)),
            ));
        }
        expect_uncompressed(request)?;
        Ok(Self {
            service,
            id,
            offset,
            checksum: header_text(request, "upload-checksum")?.map(checksum).transpose()?,
            length: content_length(request),
            body,
            options: options.clone(),
        })
    }

    /// Appends in a separate task, so that received bytes are kept if the client disconnects.
    async fn append_detached(self, uploads: &Arc<UploadSlots>) -> Result<UploadState, HttpFailure> {
        let uploads = uploads.clone();
        let append = tokio::spawn(async move {
            let Ok(_slot) = uploads.0.try_acquire() else {
                return Err(HttpFailure::busy(
                    "too many uploads are on their way; try again later",
                    10,
                ));
            };
            self.append().await
        });
        append.await.map_err(|_| HttpFailure::internal())?
    }

    async fn append(self) -> Result<UploadState, HttpFailure> {
        let editor = self.service.for_write()?;
        let mut upload = editor.append_to_upload(&self.id, self.offset, self.checksum).await?;
        if self.length.is_some_and(|length| length > upload.missing()) {
            return Err(HttpFailure::too_large(format!(
                "the upload lacks {} bytes, and more are sent (Content-Length)",
                upload.missing()
            )));
        }
        let mut bytes = self.body.into_bytes_stream();
        let interrupted = loop {
            match with_timeout(self.options.server.upload_idle_timeout, bytes.next()).await {
                Ok(Some(Ok(bytes))) => match upload.write(&bytes).await {
                    Ok(()) => {}
                    // The bytes that have already been written are kept.
                    Err(error @ Error::TooLarge(_)) => break Some(error.into()),
                    Err(error) => return Err(error.into()),
                },
                Ok(Some(Err(_))) => {
                    break Some(HttpFailure::unprocessable(
                        "the body ended before it was complete",
                    ));
                }
                Ok(None) => break None,
                Err(late) => break Some(late),
            }
        };
        if let Some(failure) = interrupted {
            if upload.is_checked() {
                upload.abandon().await;
            } else {
                upload.finish().await?;
            }
            return Err(failure);
        }
        Ok(upload.finish().await?)
    }
}

fn with_expiry(response: poem::ResponseBuilder, upload: &UploadState) -> poem::ResponseBuilder {
    let time = upload.expires.strftime("%a, %d %b %Y %H:%M:%S GMT").to_string();
    response.header("Upload-Expires", time)
}

fn into_tus_response(outcome: TusResult) -> Response {
    with_tus_version(outcome.unwrap_or_else(HttpFailure::into_response))
}

/// Adds the protocol version, which every response must contain.
fn with_tus_version(mut response: Response) -> Response {
    response.headers_mut().insert("Tus-Resumable", HeaderValue::from_static(VERSION));
    if response.status() == StatusCode::PRECONDITION_FAILED {
        response.headers_mut().insert("Tus-Version", HeaderValue::from_static(VERSION));
    }
    response
}

fn check_version(request: &Request) -> Result<(), HttpFailure> {
    let value = request.header("tus-resumable").unwrap_or_default();
    if value == VERSION {
        return Ok(());
    }
    Err(HttpFailure::new(
        StatusCode::PRECONDITION_FAILED,
        format!("Tus-Resumable is '{}'; it must be {VERSION}", excerpt(value)),
    ))
}

/// Returns the value of a header that must be text.
fn header_text<'r>(request: &'r Request, name: &str) -> Result<Option<&'r str>, HttpFailure> {
    let Some(value) = request.headers().get(name) else { return Ok(None) };
    let text = value.to_str().ok();
    text.map(Some).ok_or_else(|| HttpFailure::unprocessable(format!("{name} is not plain text")))
}

fn byte_count(request: &Request, name: &str) -> Result<u64, HttpFailure> {
    let value = header_text(request, name)?.unwrap_or_default();
    let digits = !value.is_empty() && value.bytes().all(|b| b.is_ascii_digit());
    value.parse().ok().filter(|_| digits).ok_or_else(|| {
        let value = excerpt(value);
        HttpFailure::unprocessable(format!("{name} is '{value}'; it must be a number of bytes"))
    })
}

/// Parses a checksum of the form `sha1 <hash in base64>`.
fn checksum(value: &str) -> Result<[u8; 20], HttpFailure> {
    let (algorithm, hash) = value.split_once(' ').unwrap_or((value, ""));
    if algorithm != "sha1" {
        return Err(HttpFailure::new(
            StatusCode::BAD_REQUEST,
            format!("upload-checksum is by '{}'; it must be by sha1", excerpt(algorithm)),
        ));
    }
    let hash = STANDARD.decode(hash.trim()).ok().and_then(|hash| hash.try_into().ok());
    hash.ok_or_else(|| {
        HttpFailure::unprocessable("upload-checksum must be 'sha1', a space and 20 bytes in base64")
    })
}

/// Returns the file name in `Upload-Metadata`, which contains comma-separated pairs of a key and a
/// base64 value.
fn filename(metadata: &str) -> Result<Option<String>, HttpFailure> {
    for pair in metadata.split(',').map(str::trim) {
        let (key, value) = pair.split_once(' ').unwrap_or((pair, ""));
        if key != "filename" {
            continue;
        }
        let name = STANDARD.decode(value.trim()).ok().and_then(|n| String::from_utf8(n).ok());
        return name.filter(|name| !name.is_empty()).map(Some).ok_or_else(|| {
            HttpFailure::unprocessable("upload-metadata: filename must be UTF-8 text in base64")
        });
    }
    Ok(None)
}
