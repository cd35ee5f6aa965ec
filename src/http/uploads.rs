//! `/uploads`: uploads that are cut off and resume, by the protocol tus 1.0 with `creation`,
//! `creation-with-upload`, `expiration`, `checksum` and `termination`. `POST /videos` ingests a
//! complete upload.

use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use futures::StreamExt;
use poem::http::{HeaderValue, Method, StatusCode, header};
use poem::web::{Data, Path};
use poem::{Body, Request, Response, Route, RouteMethod, handler};

use super::HttpOptions;
use super::auth::{Service, Token};
use super::body::{announced, expect_uncompressed, within};
use super::document::Methods;
use super::errors::Failure;
use super::multipart::Uploads;
use super::params::shown;
use crate::domain::ingest::uploads::UploadState;
use crate::domain::{Error, Scoped};

const VERSION: &str = "1.0.0";
const PIECE: &str = "application/offset+octet-stream";

type Outcome = Result<Response, Failure>;

/// Adds the routes.
pub(super) fn with_uploads(routes: Route, methods: &mut Methods) -> Route {
    methods.add("/uploads", "POST, OPTIONS");
    methods.add("/uploads/{upload_id}", "HEAD, PATCH, DELETE, POST, OPTIONS");
    let each = RouteMethod::new().head(one).patch(one).delete(one).post(one).options(abilities);
    routes
        .at("/uploads", RouteMethod::new().post(begin).options(abilities))
        .at("/uploads/:upload_id", each)
}

/// What the service can do.
#[handler]
fn abilities(request: &Request, Data(service): Data<&Service>) -> Response {
    let answer = Token::of(request).map(|token| {
        Response::builder()
            .status(StatusCode::NO_CONTENT)
            .header("Tus-Version", VERSION)
            .header(
                "Tus-Extension",
                "creation,creation-with-upload,expiration,checksum,termination",
            )
            .header("Tus-Checksum-Algorithm", "sha1")
            .header("Tus-Max-Size", service.of(&token).largest_upload())
            .finish()
    });
    told(answer)
}

/// Begins an upload, with its first bytes where the body has them.
#[handler]
async fn begin(
    request: &Request,
    body: Body,
    Data(service): Data<&Service>,
    Data(uploads): Data<&Arc<Uploads>>,
    Data(options): Data<&Arc<HttpOptions>>,
) -> Response {
    let answer = async {
        check_version(request)?;
        let length = number(request, "upload-length")?;
        let metadata = text(request, "upload-metadata")?.unwrap_or_default();
        let filename = filename(metadata)?;
        let service = service.of(&Token::of(request)?);
        let upload = service.begin_upload(length, filename, metadata.to_owned()).await?;
        let created = Response::builder()
            .status(StatusCode::CREATED)
            .header(header::LOCATION, format!("uploads/{}", upload.id));
        if !request.content_type().is_some_and(is_piece) {
            return Ok(expiring(created, &upload).finish());
        }
        let id = upload.id;
        let appended = match Piece::new(request, service.clone(), id.clone(), 0, body, options) {
            Ok(piece) => piece.append_detached(uploads).await,
            Err(failure) => Err(failure),
        };
        match appended {
            Ok(upload) => {
                let created = created.header("Upload-Offset", upload.offset);
                Ok(expiring(created, &upload).finish())
            }
            // The client does not know its address, so it cannot resume it.
            Err(failure) => {
                if let Err(error) = service.remove_upload(&id).await {
                    tracing::warn!(%error, "a failed upload was left until it expires");
                }
                Err(failure)
            }
        }
    };
    told(answer.await)
}

/// Goes on with an upload, tells where it stands, or removes it.
#[handler]
async fn one(
    request: &Request,
    Path(id): Path<String>,
    body: Body,
    Data(service): Data<&Service>,
    Data(uploads): Data<&Arc<Uploads>>,
    Data(options): Data<&Arc<HttpOptions>>,
) -> Response {
    let answer = async {
        check_version(request)?;
        let service = service.of(&Token::of(request)?);
        // For clients that cannot send every method.
        let overriding = text(request, "x-http-method-override")?;
        match overriding.unwrap_or(request.method().as_str()) {
            "HEAD" => state(&service, &id).await,
            "DELETE" => {
                service.remove_upload(&id).await?;
                Ok(Response::builder().status(StatusCode::NO_CONTENT).finish())
            }
            "PATCH" => {
                let offset = number(request, "upload-offset")?;
                let piece =
                    Piece::new(request, service.clone(), id.clone(), offset, body, options)?;
                let appended = piece.append_detached(uploads).await;
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
                Ok(expiring(response, &upload).finish())
            }
            method => Err(Failure::new(
                StatusCode::METHOD_NOT_ALLOWED,
                format!(
                    "an upload takes HEAD, PATCH and DELETE, not '{}' (X-HTTP-Method-Override)",
                    shown(method)
                ),
            )),
        }
    };
    let mut response = told(answer.await);
    if request.method() == Method::HEAD {
        response.set_body(Body::empty());
    }
    response
}

async fn state(service: &Scoped, id: &str) -> Outcome {
    let upload = service.upload(id).await?;
    let mut response = Response::builder()
        .header("Upload-Offset", upload.offset)
        .header("Upload-Length", upload.length)
        .header(header::CACHE_CONTROL, "no-store");
    if !upload.metadata.is_empty() {
        response = response.header("Upload-Metadata", &upload.metadata);
    }
    Ok(expiring(response, &upload).finish())
}

/// Whether a body of this type is a piece of an upload. Media types are case-insensitive, and
/// parameters change nothing (RFC 9110 section 8.3.1).
fn is_piece(content_type: &str) -> bool {
    let essence = content_type.split(';').next().unwrap_or_default();
    essence.trim().eq_ignore_ascii_case(PIECE)
}

/// A part of an upload, on its way.
struct Piece {
    service: Scoped,
    id: String,
    offset: u64,
    checksum: Option<[u8; 20]>,
    /// What the client says will come.
    length: Option<u64>,
    body: Body,
    options: Arc<HttpOptions>,
}

impl Piece {
    fn new(
        request: &Request,
        service: Scoped,
        id: String,
        offset: u64,
        body: Body,
        options: &Arc<HttpOptions>,
    ) -> Result<Self, Failure> {
        let kind = request.content_type().unwrap_or_default();
        if !is_piece(kind) {
            return Err(Failure::new(
                StatusCode::UNSUPPORTED_MEDIA_TYPE,
                format!("the Content-Type is '{}'; it must be {PIECE}", shown(kind)),
            ));
        }
        expect_uncompressed(request)?;
        Ok(Self {
            service,
            id,
            offset,
            checksum: text(request, "upload-checksum")?.map(checksum).transpose()?,
            length: announced(request),
            body,
            options: options.clone(),
        })
    }

    /// Appends in a task: bytes that arrived are kept when the client leaves.
    async fn append_detached(self, uploads: &Arc<Uploads>) -> Result<UploadState, Failure> {
        let uploads = uploads.clone();
        let append = tokio::spawn(async move {
            let Ok(_place) = uploads.0.try_acquire() else {
                return Err(Failure::busy(
                    "too many uploads are on their way; try again later",
                    10,
                ));
            };
            self.append().await
        });
        append.await.map_err(|_| Failure::internal())?
    }

    async fn append(self) -> Result<UploadState, Failure> {
        let mut upload =
            self.service.append_to_upload(&self.id, self.offset, self.checksum).await?;
        if self.length.is_some_and(|length| length > upload.missing()) {
            return Err(Failure::too_large(format!(
                "the upload lacks {} bytes, and more are sent (Content-Length)",
                upload.missing()
            )));
        }
        let mut bytes = self.body.into_bytes_stream();
        let cut = loop {
            match within(self.options.server.upload_idle_timeout, bytes.next()).await {
                Ok(Some(Ok(bytes))) => match upload.write(&bytes).await {
                    Ok(()) => {}
                    // What came before is kept.
                    Err(error @ Error::TooLarge(_)) => break Some(error.into()),
                    Err(error) => return Err(error.into()),
                },
                Ok(Some(Err(_))) => {
                    break Some(Failure::unprocessable("the body ended before it was complete"));
                }
                Ok(None) => break None,
                Err(late) => break Some(late),
            }
        };
        if let Some(failure) = cut {
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

fn expiring(response: poem::ResponseBuilder, upload: &UploadState) -> poem::ResponseBuilder {
    let time = upload.expires.strftime("%a, %d %b %Y %H:%M:%S GMT").to_string();
    response.header("Upload-Expires", time)
}

fn told(outcome: Outcome) -> Response {
    spoken(outcome.unwrap_or_else(Failure::into_response))
}

/// Every answer says which version it speaks.
fn spoken(mut response: Response) -> Response {
    response.headers_mut().insert("Tus-Resumable", HeaderValue::from_static(VERSION));
    if response.status() == StatusCode::PRECONDITION_FAILED {
        response.headers_mut().insert("Tus-Version", HeaderValue::from_static(VERSION));
    }
    response
}

fn check_version(request: &Request) -> Result<(), Failure> {
    let given = request.header("tus-resumable").unwrap_or_default();
    if given == VERSION {
        return Ok(());
    }
    Err(Failure::new(
        StatusCode::PRECONDITION_FAILED,
        format!("Tus-Resumable is '{}'; it must be {VERSION}", shown(given)),
    ))
}

/// A header that has to be text.
fn text<'r>(request: &'r Request, name: &str) -> Result<Option<&'r str>, Failure> {
    let Some(value) = request.headers().get(name) else { return Ok(None) };
    let text = value.to_str().ok();
    text.map(Some).ok_or_else(|| Failure::unprocessable(format!("{name} is not plain text")))
}

fn number(request: &Request, name: &str) -> Result<u64, Failure> {
    let given = text(request, name)?.unwrap_or_default();
    let digits = !given.is_empty() && given.bytes().all(|b| b.is_ascii_digit());
    given.parse().ok().filter(|_| digits).ok_or_else(|| {
        let given = shown(given);
        Failure::unprocessable(format!("{name} is '{given}'; it must be a number of bytes"))
    })
}

/// `sha1`, a space and the hash in base64.
fn checksum(given: &str) -> Result<[u8; 20], Failure> {
    let (algorithm, hash) = given.split_once(' ').unwrap_or((given, ""));
    if algorithm != "sha1" {
        return Err(Failure::new(
            StatusCode::BAD_REQUEST,
            format!("upload-checksum is by '{}'; it must be by sha1", shown(algorithm)),
        ));
    }
    let hash = STANDARD.decode(hash.trim()).ok().and_then(|hash| hash.try_into().ok());
    hash.ok_or_else(|| {
        Failure::unprocessable("upload-checksum must be 'sha1', a space and 20 bytes in base64")
    })
}

/// The name of the file in `Upload-Metadata`: pairs of a key and base64, separated by commas.
fn filename(metadata: &str) -> Result<Option<String>, Failure> {
    for pair in metadata.split(',').map(str::trim) {
        let (key, value) = pair.split_once(' ').unwrap_or((pair, ""));
        if key != "filename" {
            continue;
        }
        let name = STANDARD.decode(value.trim()).ok().and_then(|n| String::from_utf8(n).ok());
        return name.filter(|name| !name.is_empty()).map(Some).ok_or_else(|| {
            Failure::unprocessable("upload-metadata: filename must be UTF-8 text in base64")
        });
    }
    Ok(None)
}
