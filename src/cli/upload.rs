//! Resumable uploads to a running service.

use std::io::SeekFrom;
use std::path::Path;
use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use futures::TryStreamExt;
use indicatif::{ProgressBar, ProgressStyle};
use reqwest::{Body, Method, RequestBuilder, Response, StatusCode, header};
use serde_json::Value;
use tokio::io::AsyncSeekExt;

use super::BoxError;
use super::client::ServiceClient;

/// Maximum number of retries without progress. They take about ten minutes in total.
const MAX_RETRIES: u32 = 45;

/// Maximum backoff between retries.
const MAX_BACKOFF: Duration = Duration::from_secs(15);

/// Why an attempt failed.
enum UploadError {
    /// A retry may succeed.
    Transient(String),
    /// A retry cannot succeed.
    Permanent(BoxError),
}

impl ServiceClient {
    /// Uploads a file, or resumes the upload `upload_id` of an earlier run. Returns the id of the
    /// upload.
    pub(super) async fn send_file(
        &self,
        path: &Path,
        upload_id: Option<&str>,
    ) -> Result<String, BoxError> {
        let cannot = |e| format!("cannot read {}: {e}", path.display());
        let size = tokio::fs::metadata(path).await.map_err(cannot)?.len();
        let bar = ProgressBar::new(size)
            .with_style(ProgressStyle::with_template("{bar:30} {bytes}/{total_bytes} {msg}")?);
        bar.set_message("uploading");
        let id = match upload_id {
            Some(id) => id.to_owned(),
            None => self.create_upload(path, size).await?,
        };
        let sent = self.send_rest(path, &id, size, &bar).await;
        bar.finish_and_clear();
        sent.map_err(|error| -> BoxError {
            format!("{error}; `--upload {id}` resumes it").into()
        })?;
        Ok(id)
    }

    async fn create_upload(&self, path: &Path, size: u64) -> Result<String, BoxError> {
        let name = path.file_name().map_or("video".into(), |n| n.to_string_lossy());
        let request = self
            .tus(Method::POST, "")
            .header("Upload-Length", size)
            .header("Upload-Metadata", format!("filename {}", STANDARD.encode(&*name)));
        let response = self.send(request).await?;
        if response.status() != StatusCode::CREATED {
            return Err(error_message(response).await.into());
        }
        let location = response.headers().get(header::LOCATION).and_then(|l| l.to_str().ok());
        let id = location.and_then(|location| location.rsplit('/').next());
        Ok(id.ok_or("the service did not return the upload's URL (Location)")?.to_owned())
    }

    async fn send_rest(
        &self,
        path: &Path,
        id: &str,
        size: u64,
        bar: &ProgressBar,
    ) -> Result<(), BoxError> {
        let mut retries = 0;
        let mut received = 0;
        loop {
            let error = match self.offset(id).await {
                Ok(offset) if offset == size => return Ok(()),
                Ok(offset) => {
                    if offset > received {
                        (received, retries) = (offset, 0);
                    }
                    self.send_from(path, id, offset, bar).await.err()
                }
                Err(error) => Some(error),
            };
            let reason = match error {
                None => continue,
                Some(UploadError::Permanent(error)) => return Err(error),
                Some(UploadError::Transient(reason)) => reason,
            };
            if retries == MAX_RETRIES {
                return Err(reason.into());
            }
            let backoff = Duration::from_millis(250 << retries.min(6)).min(MAX_BACKOFF);
            retries += 1;
            bar.set_message(format!("{reason}; retrying"));
            tokio::time::sleep(backoff).await;
        }
    }

    /// Number of bytes that the service has received.
    async fn offset(&self, id: &str) -> Result<u64, UploadError> {
        let response = self.send_checked(self.tus(Method::HEAD, id)).await?;
        let offset = response.headers().get("Upload-Offset").and_then(|o| o.to_str().ok());
        offset.and_then(|offset| offset.parse().ok()).ok_or_else(|| {
            UploadError::Permanent(
                "the service did not return the upload's offset (Upload-Offset)".into(),
            )
        })
    }

    async fn send_from(
        &self,
        path: &Path,
        id: &str,
        offset: u64,
        bar: &ProgressBar,
    ) -> Result<(), UploadError> {
        let open = async {
            let mut file = tokio::fs::File::open(path).await?;
            file.seek(SeekFrom::Start(offset)).await?;
            Ok::<_, std::io::Error>(file)
        };
        let file = open.await.map_err(|e| {
            UploadError::Permanent(format!("cannot read {}: {e}", path.display()).into())
        })?;
        bar.set_position(offset);
        bar.set_message("uploading");
        let sent = bar.clone();
        let body = tokio_util::io::ReaderStream::with_capacity(file, 256 * 1024)
            .inspect_ok(move |bytes| sent.inc(bytes.len() as u64));
        let request = self
            .tus(Method::PATCH, id)
            .header("Upload-Offset", offset)
            .header(header::CONTENT_TYPE, "application/offset+octet-stream")
            .body(Body::wrap_stream(body));
        self.send_checked(request).await.map(|_| ())
    }

    async fn send_checked(&self, request: RequestBuilder) -> Result<Response, UploadError> {
        let response =
            self.send(request).await.map_err(|e| UploadError::Transient(e.to_string()))?;
        let status = response.status();
        // 409: bytes of an interrupted request are still being stored.
        let transient = status.is_server_error()
            || [StatusCode::CONFLICT, StatusCode::REQUEST_TIMEOUT].contains(&status);
        match status.is_success() {
            true => Ok(response),
            false if transient => Err(UploadError::Transient(error_message(response).await)),
            false => Err(UploadError::Permanent(error_message(response).await.into())),
        }
    }

    fn tus(&self, method: Method, id: &str) -> RequestBuilder {
        let url = format!("{}/uploads/{id}", self.server);
        self.client.request(method, url.trim_end_matches('/')).header("Tus-Resumable", "1.0.0")
    }
}

async fn error_message(response: Response) -> String {
    let status = response.status();
    let body: Value = response.json().await.unwrap_or(Value::Null);
    let detail = body["detail"].as_str().unwrap_or("no reason given");
    format!("the service answered {status}: {detail}")
}
