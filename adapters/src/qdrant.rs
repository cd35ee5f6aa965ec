//! The Qdrant client, with its connection, retries, and the mapping of its errors to port errors.
//! All adapters that store data in Qdrant use this module.

use std::time::Duration;

use ports::{ErrorKind, PortError, Result};
use qdrant_client::{Qdrant, QdrantError};

/// A connection to a Qdrant server. Clones are cheap.
#[derive(Clone)]
pub(crate) struct QdrantConnection {
    pub(crate) client: Qdrant,
    url: String,
    attempts: u32,
}

impl QdrantConnection {
    /// Creates a client for the gRPC URL `url`. It connects on first use. A request times out after
    /// `timeout` and is sent up to `attempts` times if the server does not answer.
    pub(crate) fn connect(
        url: &str,
        api_key: Option<&str>,
        timeout: Duration,
        attempts: u32,
    ) -> Result<Self> {
        let address = url::Url::parse(url).ok().filter(|url| {
            matches!(url.scheme(), "http" | "https")
                && url.host_str().is_some_and(|host| !host.is_empty())
        });
        if address.is_none() {
            let message = format!(
                "index.url is {url:?}, which is no address; the server's gRPC address is expected, \
                 such as http://127.0.0.1:6334"
            );
            return Err(PortError::new(ErrorKind::Invalid, message));
        }
        let mut config = Qdrant::from_url(url)
            .timeout(timeout)
            .connect_timeout(timeout.min(Duration::from_secs(5)))
            .skip_compatibility_check();
        config.api_key = api_key.map(str::to_owned);
        let client = config.build().map_err(|e| {
            let message = format!("cannot use Qdrant at {url}: {e}");
            PortError::caused_by(ErrorKind::Invalid, message, e)
        })?;
        Ok(Self { client, url: url.to_owned(), attempts })
    }

    /// Sends a request. Retries it if the server does not answer.
    pub(crate) async fn retrying<T, F>(&self, mut request: impl FnMut() -> F) -> Result<T>
    where
        F: Future<Output = Result<T, QdrantError>>,
    {
        let mut pause = Duration::from_millis(200);
        for _ in 1..self.attempts {
            match request().await.map_err(|e| self.failed(e)) {
                Err(e) if e.kind() == ErrorKind::Unavailable => {
                    tracing::debug!(error = %e, "asking Qdrant again");
                    tokio::time::sleep(pause).await;
                    pause *= 3;
                }
                outcome => return outcome,
            }
        }
        request().await.map_err(|e| self.failed(e))
    }

    /// Maps the client's error to a port error.
    pub(crate) fn failed(&self, error: QdrantError) -> PortError {
        let (QdrantError::ResponseError { status }
        | QdrantError::ResourceExhaustedError { status, .. }) = &error
        else {
            let message = format!("cannot use Qdrant at {}: {error}", self.url);
            return PortError::caused_by(ErrorKind::Other, message, error);
        };
        // This matches the name of the gRPC code, because the crate that defines the code's type is
        // not a dependency.
        let (kind, what) = match format!("{:?}", status.code()).as_str() {
            "Unavailable" => (ErrorKind::Unavailable, "cannot reach"),
            // This is how the client reports a failed connection.
            _ if status.message().starts_with("Failed to connect") => {
                (ErrorKind::Unavailable, "cannot reach")
            }
            "ResourceExhausted" | "Aborted" => (ErrorKind::Unavailable, "is overloaded:"),
            "DeadlineExceeded" | "Cancelled" => (ErrorKind::Timeout, "no answer in time from"),
            "Unauthenticated" | "PermissionDenied" => {
                (ErrorKind::Denied, "the API key (index.api_key) was refused by")
            }
            "NotFound" => (ErrorKind::NotFound, "not found on"),
            _ => (ErrorKind::Other, "an error from"),
        };
        let message = format!("{what} Qdrant at {}: {}", self.url, status.message());
        PortError::caused_by(kind, message, error)
    }
}
