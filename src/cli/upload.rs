//! Sending a file to a running service: where the line breaks it goes on from what has arrived.

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

use super::Failure;
use super::client::Service;

/// Times that it is tried again while nothing more arrives: for about ten minutes.
const TRIES: u32 = 45;

/// Longest pause between two tries.
const LONGEST_PAUSE: Duration = Duration::from_secs(15);

/// Why a try came to nothing.
enum Cut {
    /// Another may fare better.
    Passes(String),
    /// None does.
    Stays(Failure),
}

impl Service {
    /// Sends a file, or goes on with the upload that an earlier run began, and returns its id.
    pub(super) async fn send_file(
        &self,
        path: &Path,
        begun: Option<&str>,
    ) -> Result<String, Failure> {
        let cannot = |e| format!("cannot read {}: {e}", path.display());
        let size = tokio::fs::metadata(path).await.map_err(cannot)?.len();
        let bar = ProgressBar::new(size)
            .with_style(ProgressStyle::with_template("{bar:30} {bytes}/{total_bytes} {msg}")?);
        bar.set_message("uploading");
        let id = match begun {
            Some(id) => id.to_owned(),
            None => self.begin(path, size).await?,
        };
        let sent = self.send_rest(path, &id, size, &bar).await;
        bar.finish_and_clear();
        sent.map_err(|error| -> Failure {
            format!("{error}; `--upload {id}` goes on from what has arrived").into()
        })?;
        Ok(id)
    }

    async fn begin(&self, path: &Path, size: u64) -> Result<String, Failure> {
        let name = path.file_name().map_or("video".into(), |n| n.to_string_lossy());
        let request = self
            .tus(Method::POST, "")
            .header("Upload-Length", size)
            .header("Upload-Metadata", format!("filename {}", STANDARD.encode(&*name)));
        let response = self.send(request).await?;
        if response.status() != StatusCode::CREATED {
            return Err(refusal(response).await.into());
        }
        let location = response.headers().get(header::LOCATION).and_then(|l| l.to_str().ok());
        let id = location.and_then(|location| location.rsplit('/').next());
        Ok(id.ok_or("the service says not where the upload is kept (Location)")?.to_owned())
    }

    async fn send_rest(
        &self,
        path: &Path,
        id: &str,
        size: u64,
        bar: &ProgressBar,
    ) -> Result<(), Failure> {
        let mut tries = 0;
        let mut arrived = 0;
        loop {
            let cut = match self.offset(id).await {
                Ok(offset) if offset == size => return Ok(()),
                Ok(offset) => {
                    if offset > arrived {
                        (arrived, tries) = (offset, 0);
                    }
                    self.send_from(path, id, offset, bar).await.err()
                }
                Err(cut) => Some(cut),
            };
            let why = match cut {
                None => continue,
                Some(Cut::Stays(error)) => return Err(error),
                Some(Cut::Passes(why)) => why,
            };
            if tries == TRIES {
                return Err(why.into());
            }
            let pause = Duration::from_millis(250 << tries.min(6)).min(LONGEST_PAUSE);
            tries += 1;
            bar.set_message(format!("{why}; trying again"));
            tokio::time::sleep(pause).await;
        }
    }

    /// Bytes that have arrived.
    async fn offset(&self, id: &str) -> Result<u64, Cut> {
        let response = self.told(self.tus(Method::HEAD, id)).await?;
        let offset = response.headers().get("Upload-Offset").and_then(|o| o.to_str().ok());
        offset.and_then(|offset| offset.parse().ok()).ok_or_else(|| {
            Cut::Stays("the service says not how much has arrived (Upload-Offset)".into())
        })
    }

    async fn send_from(
        &self,
        path: &Path,
        id: &str,
        offset: u64,
        bar: &ProgressBar,
    ) -> Result<(), Cut> {
        let open = async {
            let mut file = tokio::fs::File::open(path).await?;
            file.seek(SeekFrom::Start(offset)).await?;
            Ok::<_, std::io::Error>(file)
        };
        let file = open
            .await
            .map_err(|e| Cut::Stays(format!("cannot read {}: {e}", path.display()).into()))?;
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
        self.told(request).await.map(|_| ())
    }

    async fn told(&self, request: RequestBuilder) -> Result<Response, Cut> {
        let response = self.send(request).await.map_err(|e| Cut::Passes(e.to_string()))?;
        let status = response.status();
        // 409: what came of a request that was cut off is only being stored.
        let passes = status.is_server_error()
            || [StatusCode::CONFLICT, StatusCode::REQUEST_TIMEOUT].contains(&status);
        match status.is_success() {
            true => Ok(response),
            false if passes => Err(Cut::Passes(refusal(response).await)),
            false => Err(Cut::Stays(refusal(response).await.into())),
        }
    }

    fn tus(&self, method: Method, id: &str) -> RequestBuilder {
        let url = format!("{}/uploads/{id}", self.server);
        self.client.request(method, url.trim_end_matches('/')).header("Tus-Resumable", "1.0.0")
    }
}

async fn refusal(response: Response) -> String {
    let status = response.status();
    let body: Value = response.json().await.unwrap_or(Value::Null);
    let detail = body["detail"].as_str().unwrap_or("no reason given");
    format!("the service answered {status}: {detail}")
}
