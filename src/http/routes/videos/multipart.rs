//! The multipart body of `POST /videos`. The file is streamed to disk as it arrives, using bounded
//! memory; the fields may come in any order.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll};

use bytes::Bytes;
use futures::Stream;
use poem::http::StatusCode;
use poem::web::{Field, Multipart};
use poem::{Body, FromRequest, Request, RequestBody, Result};
use poem_openapi::payload::{ParsePayload, Payload};
use poem_openapi::registry::{MetaMediaType, MetaRequest, MetaSchema, MetaSchemaRef, Registry};
use poem_openapi::types::{ParseFromJSON, Type};
use poem_openapi::{ApiExtractor, ApiExtractorType, ExtractParamOptions};
use tokio::io::AsyncReadExt;

use crate::http::edge::auth::{CallerToken, Service};
use crate::http::edge::upload_slots::UploadSlots;
use crate::http::settings::HttpOptions;
use crate::http::wire::body;
use crate::http::wire::failure::HttpFailure;
use crate::http::wire::ingest::IngestOptions;
use crate::http::wire::validation;
use domain::ingest::SpooledFile;
use domain::scoped::Editor;

/// Maximum number of bytes that were read from the socket but not delivered to the file. It is
/// enough for headers, boundaries, the other fields and several socket reads.
const SLACK: u64 = 4 * 1024 * 1024;

/// A received upload. Dropping it deletes the file.
pub(super) struct UploadForm {
    pub(super) content: UploadContent,
    pub(super) options: IngestOptions,
}

/// The source of the ingest.
pub(super) enum UploadContent {
    /// The name that the client gave the file, and the uploaded file.
    File(Option<String>, SpooledFile),
    /// The id of a resumable upload.
    Upload(String),
}

/// The field that names a resumable upload instead of a file.
const UPLOAD_ID: &str = "upload_id";

impl Payload for UploadForm {
    const CONTENT_TYPE: &'static str = "multipart/form-data";

    fn schema_ref() -> MetaSchemaRef {
        let mut registry = Registry::new();
        let options = registry.create_fake_schema::<IngestOptions>();
        let file = MetaSchema {
            description: Some("The video file."),
            ..MetaSchema::new_with_format("string", "binary")
        };
        let upload_id = MetaSchema {
            description: Some(
                "Id of a completed resumable upload, given instead of `file`: the last segment of its `/uploads` URL.",
            ),
            ..MetaSchema::new("string")
        };
        let mut properties = vec![
            ("file", MetaSchemaRef::Inline(Box::new(file))),
            (UPLOAD_ID, MetaSchemaRef::Inline(Box::new(upload_id))),
        ];
        properties.extend(options.properties.into_iter().map(|(name, field)| {
            // Form fields cannot be null: a field is either present or absent.
            let MetaSchemaRef::Inline(mut schema) = field else { return (name, field) };
            schema.nullable = false;
            (name, MetaSchemaRef::Inline(schema))
        }));
        MetaSchemaRef::Inline(Box::new(MetaSchema { properties, ..MetaSchema::new("object") }))
    }
}

impl ParsePayload for UploadForm {
    const IS_REQUIRED: bool = true;

    async fn from_request(request: &Request, body: &mut RequestBody) -> Result<Self> {
        let options = body::options(request)?;
        let (service, uploads) =
            match (request.data::<Service>(), request.data::<Arc<UploadSlots>>()) {
                (Some(service), Some(uploads)) => {
                    (service.scoped(&CallerToken::extract(request)?), uploads)
                }
                _ => return Err(HttpFailure::internal().into()),
            };
        let editor = service.for_write().map_err(HttpFailure::from)?;
        body::expect_uncompressed(request)?;
        let limit = service.max_upload_bytes();
        if body::content_length(request).is_some_and(|length| length > limit.saturating_add(SLACK))
        {
            let detail = format!("the body is larger than the {limit} bytes that are allowed");
            return Err(HttpFailure::too_large(detail).into());
        }
        let Ok(_slot) = uploads.0.try_acquire() else {
            return Err(HttpFailure::busy(
                "too many uploads are on their way; try again later",
                10,
            )
            .into());
        };
        let mut form = Form::new(request, body.take()?, options).await?;
        while let Some(field) = form.next().await? {
            form.read_field(field, &editor).await?;
        }
        form.finish()
    }
}

impl<'a> ApiExtractor<'a> for UploadForm {
    const TYPES: &'static [ApiExtractorType] = &[ApiExtractorType::RequestObject];
    type ParamType = ();
    type ParamRawType = ();

    fn register(registry: &mut Registry) {
        IngestOptions::register(registry);
    }

    fn request_meta() -> Option<MetaRequest> {
        Some(MetaRequest {
            description: None,
            content: vec![MetaMediaType {
                content_type: Self::CONTENT_TYPE,
                schema: Self::schema_ref(),
            }],
            required: true,
        })
    }

    async fn from_request(
        request: &'a Request,
        body: &mut RequestBody,
        _: ExtractParamOptions<()>,
    ) -> Result<Self> {
        <Self as ParsePayload>::from_request(request, body).await
    }
}

/// A form whose body is being read.
struct Form<'o> {
    parts: Multipart,
    delivered: Arc<AtomicU64>,
    options: &'o HttpOptions,
    fields: Vec<(String, String)>,
    file: Option<(Option<String>, SpooledFile)>,
}

impl<'o> Form<'o> {
    async fn new(request: &Request, body: Body, options: &'o HttpOptions) -> Result<Self> {
        let delivered = Arc::new(AtomicU64::new(0));
        let metered = MeteredBody {
            inner: Box::pin(body.into_bytes_stream()),
            read: 0,
            delivered: delivered.clone(),
            yielded: false,
        };
        let mut body = RequestBody::new(Body::from_bytes_stream(metered));
        let parts =
            <Multipart as FromRequest>::from_request(request, &mut body).await.map_err(|_| {
                HttpFailure::unprocessable(format!(
                    "the Content-Type is '{}'; it must be multipart/form-data with a boundary",
                    crate::http::wire::params::excerpt(request.content_type().unwrap_or_default())
                ))
            })?;
        Ok(Self { parts, delivered, options, fields: vec![], file: None })
    }

    async fn next(&mut self) -> Result<Option<Field>> {
        let field =
            body::with_timeout(self.options.server.upload_idle_timeout, self.parts.next_field())
                .await?;
        field.map_err(|e| body_error(&e))
    }

    async fn read_field(&mut self, field: Field, editor: &Editor<'_>) -> Result<()> {
        let name = field.name().unwrap_or_default().to_owned();
        let duplicate = || HttpFailure::unprocessable(format!("{name} is given more than once"));
        if name == "file" {
            if self.file.is_some() {
                return Err(duplicate().into());
            }
            let filename = field.file_name().map(str::to_owned);
            let file = self.spool(field, editor).await?;
            // For an empty file field, browsers send an empty file without a name.
            if file.size > 0 || filename.as_deref().is_some_and(|name| !name.is_empty()) {
                self.file = Some((filename, file));
            }
            return Ok(());
        }
        let accepted = accepted_fields();
        if !accepted.contains(&name.as_str()) {
            return Err(HttpFailure::unprocessable(validation::unknown_name(
                "field", &name, &accepted,
            ))
            .into());
        }
        if self.fields.iter().any(|(given, _)| *given == name) {
            return Err(duplicate().into());
        }
        let text = self.read_text(&name, field).await?;
        self.fields.push((name, text));
        Ok(())
    }

    async fn spool(&self, field: Field, editor: &Editor<'_>) -> Result<SpooledFile> {
        let mut spool = editor.spool_upload().await.map_err(HttpFailure::from)?;
        let mut reader = std::pin::pin!(field.into_async_read());
        let mut buffer = vec![0; 64 * 1024];
        loop {
            let read = body::with_timeout(
                self.options.server.upload_idle_timeout,
                reader.read(&mut buffer),
            )
            .await?;
            let count = read.map_err(|e| body_error(&e))?;
            if count == 0 {
                break;
            }
            self.delivered.fetch_add(count as u64, Ordering::Relaxed);
            spool.write(&buffer[..count]).await.map_err(HttpFailure::from)?;
        }
        Ok(spool.finish().await.map_err(HttpFailure::from)?)
    }

    async fn read_text(&self, name: &str, field: Field) -> Result<String> {
        let limit = self.options.server.max_field_bytes;
        let mut bytes = Vec::new();
        let mut reader = std::pin::pin!(field.into_async_read().take(limit as u64 + 1));
        let read = body::with_timeout(
            self.options.server.upload_idle_timeout,
            reader.read_to_end(&mut bytes),
        )
        .await?;
        read.map_err(|e| body_error(&e))?;
        if bytes.len() > limit {
            let detail = format!("{name} is longer than the {limit} bytes that are allowed");
            return Err(HttpFailure::too_large(detail).into());
        }
        Ok(String::from_utf8(bytes)
            .map_err(|_| HttpFailure::unprocessable(format!("{name} is not UTF-8 text")))?)
    }

    fn finish(mut self) -> Result<UploadForm> {
        let index = self.fields.iter().position(|(name, _)| name == UPLOAD_ID);
        let upload = index.map(|index| self.fields.swap_remove(index).1);
        let value = validation::validate_form::<IngestOptions>(self.fields)
            .map_err(HttpFailure::unprocessable)?;
        let options = IngestOptions::parse_from_json(Some(value))
            .map_err(|e| HttpFailure::unprocessable(e.into_message()))?;
        let content = match (self.file, upload) {
            (Some((filename, file)), None) => UploadContent::File(filename, file),
            (None, Some(id)) => UploadContent::Upload(id),
            (None, None) => {
                return Err(HttpFailure::unprocessable(
                    "file is missing; it must be a video file, unless upload_id names an upload",
                )
                .into());
            }
            (Some(_), Some(_)) => {
                return Err(HttpFailure::unprocessable(
                    "file and upload_id are both given; the video is one of them",
                )
                .into());
            }
        };
        Ok(UploadForm { content, options })
    }
}

fn accepted_fields() -> Vec<&'static str> {
    let options = validation::field_names(&Registry::new().create_fake_schema::<IngestOptions>());
    ["file", UPLOAD_ID].into_iter().chain(options).collect()
}

/// Returns the error for a body that cannot be read: too many bytes outside the file, or a
/// malformed or truncated body.
fn body_error(error: &(dyn std::error::Error + 'static)) -> poem::Error {
    let causes = std::iter::successors(Some(error), |e| e.source());
    let message = causes.map(ToString::to_string).collect::<Vec<_>>().join(": ");
    if message.contains(OVERRUN) {
        let detail = "the body holds too much outside the field 'file'";
        return HttpFailure::new(StatusCode::PAYLOAD_TOO_LARGE, detail).into();
    }
    HttpFailure::unprocessable(format!("the multipart body is broken or was cut off: {message}"))
        .into()
}

const OVERRUN: &str = "more than the form's fields account for";

/// A body that limits how much the multipart reader buffers. The reader takes everything that is
/// ready, and a fast client could make that arbitrarily large. The body therefore yields one block
/// per poll. It fails once more than [`SLACK`] bytes have been read but not delivered to the file.
struct MeteredBody {
    inner: Pin<Box<dyn Stream<Item = std::io::Result<Bytes>> + Send>>,
    read: u64,
    delivered: Arc<AtomicU64>,
    yielded: bool,
}

impl Stream for MeteredBody {
    type Item = std::io::Result<Bytes>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        if std::mem::take(&mut self.yielded) {
            context.waker().wake_by_ref();
            return Poll::Pending;
        }
        let item = self.inner.as_mut().poll_next(context);
        if let Poll::Ready(Some(Ok(bytes))) = &item {
            self.yielded = true;
            self.read += bytes.len() as u64;
            if self.read - self.delivered.load(Ordering::Relaxed) > SLACK {
                return Poll::Ready(Some(Err(std::io::Error::other(OVERRUN))));
            }
        }
        item
    }
}
