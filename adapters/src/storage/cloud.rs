//! Opens S3 and GCS buckets.

use std::time::Duration;

use opendal::layers::{RetryLayer, TimeoutLayer};
use opendal::{Operator, services};
use ports::Result;

use super::opendal::{OpendalStorage, RemoteLimits, failed};
use super::urls::PublicUrls;

/// A bucket on S3 or a compatible server.
#[derive(Clone, Default)]
pub struct S3Options {
    /// Name of the bucket.
    pub bucket: String,
    /// Endpoint URL, such as `https://host[:port]`; `None` for Amazon's endpoint in the region.
    pub endpoint: Option<String>,
    /// Region, for example `eu-central-1`. Many other servers accept any value, such as `auto`.
    pub region: String,
    /// Key prefix within the bucket. It may be empty.
    pub prefix: String,
    /// Access key id. If it or the secret key is `None`, credentials come from the environment,
    /// profiles or machine roles.
    pub access_key_id: Option<String>,
    /// Secret access key (see `access_key_id`).
    pub secret_access_key: Option<String>,
    /// Session token for temporary credentials.
    pub session_token: Option<String>,
    /// Whether requests and public URLs use `bucket.host` instead of `host/bucket`.
    pub virtual_host_style: bool,
    /// Public base URL of the bucket, if it differs from the endpoint (for example, a CDN).
    pub public_base_url: Option<String>,
    /// How long presigned URLs are valid; `None` for a public bucket.
    pub signed: Option<Duration>,
    /// Limits for requests.
    pub limits: RemoteLimits,
}

/// A bucket on Google Cloud Storage.
#[derive(Clone, Default)]
pub struct GcsOptions {
    /// Name of the bucket.
    pub bucket: String,
    /// Endpoint URL; `None` for Google's endpoint.
    pub endpoint: Option<String>,
    /// Key prefix within the bucket. It may be empty.
    pub prefix: String,
    /// A service account's JSON key, base64-encoded. If `None`, credentials come from the
    /// environment or the machine's account.
    pub credential: Option<String>,
    /// Whether to send unsigned requests, for public buckets and test servers.
    pub anonymous: bool,
    /// Public base URL of the bucket, if it differs from the endpoint (for example, a CDN).
    pub public_base_url: Option<String>,
    /// How long presigned URLs are valid; `None` for a public bucket.
    pub signed: Option<Duration>,
    /// Limits for requests.
    pub limits: RemoteLimits,
}

/// Opens an S3 bucket without sending a request.
pub fn s3(options: &S3Options) -> Result<OpendalStorage> {
    let amazon = format!("https://s3.{}.amazonaws.com", options.region);
    let endpoint = options.endpoint.as_deref().unwrap_or(&amazon);
    let mut service = services::S3::default()
        .bucket(&options.bucket)
        .region(&options.region)
        .endpoint(endpoint)
        .root(&options.prefix);
    if let (Some(id), Some(secret)) = (&options.access_key_id, &options.secret_access_key) {
        // Configured credentials take precedence over the machine's credentials.
        service = service
            .access_key_id(id)
            .secret_access_key(secret)
            .disable_config_load()
            .disable_ec2_metadata();
        if let Some(token) = &options.session_token {
            service = service.session_token(token);
        }
    }
    let bucket_url = if options.virtual_host_style {
        service = service.enable_virtual_host_style();
        match endpoint.split_once("://") {
            Some((scheme, host)) => format!("{scheme}://{}.{host}", options.bucket),
            None => format!("https://{}.{endpoint}", options.bucket),
        }
    } else {
        format!("{}/{}", endpoint.trim_end_matches('/'), options.bucket)
    };
    opendal::install_default();
    let operator = Operator::new(service).map_err(|e| failed("open", "the S3 bucket", e))?;
    let public = options.public_base_url.as_deref().unwrap_or(&bucket_url);
    remote(
        operator,
        &options.bucket,
        PublicUrls::new(public, &options.prefix)?,
        options.signed,
        &options.limits,
    )
}

/// Opens a GCS bucket without sending a request.
pub fn gcs(options: &GcsOptions) -> Result<OpendalStorage> {
    let endpoint = options.endpoint.as_deref().unwrap_or("https://storage.googleapis.com");
    let mut service =
        services::Gcs::default().bucket(&options.bucket).endpoint(endpoint).root(&options.prefix);
    if let Some(credential) = &options.credential {
        service = service.credential(credential).disable_config_load().disable_vm_metadata();
    }
    if options.anonymous {
        service = service.skip_signature().disable_config_load().disable_vm_metadata();
    }
    opendal::install_default();
    let operator = Operator::new(service).map_err(|e| failed("open", "the GCS bucket", e))?;
    let bucket_url = format!("{}/{}", endpoint.trim_end_matches('/'), options.bucket);
    let public = options.public_base_url.as_deref().unwrap_or(&bucket_url);
    remote(
        operator,
        &options.bucket,
        PublicUrls::new(public, &options.prefix)?,
        options.signed,
        &options.limits,
    )
}

fn remote(
    operator: Operator,
    bucket: &str,
    urls: PublicUrls,
    signed: Option<Duration>,
    limits: &RemoteLimits,
) -> Result<OpendalStorage> {
    // The timeout is the innermost layer, so it ends a single attempt, and the request is then
    // retried.
    let probing = operator
        .layer(TimeoutLayer::new().with_timeout(limits.timeout).with_io_timeout(limits.io_timeout));
    let retrying = RetryLayer::new().with_max_times(limits.retries).with_jitter();
    Ok(OpendalStorage {
        operator: probing.clone().layer(retrying),
        probing,
        bucket: bucket.to_owned(),
        urls,
        root: None,
        block: limits.part_size,
        concurrency: limits.concurrency,
        signed,
    })
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use ports::storage::ObjectStorage;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::TcpListener;

    use super::*;

    /// Starts an overloaded server. Returns its URL and the number of requests that it has rejected
    /// so far.
    async fn overloaded() -> (String, Arc<AtomicUsize>) {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = format!("http://{}", listener.local_addr().expect("an address"));
        let refused = Arc::new(AtomicUsize::new(0));
        let count = refused.clone();
        tokio::spawn(async move {
            while let Ok((mut client, _)) = listener.accept().await {
                let mut request = [0; 4096];
                let _ = client.read(&mut request).await;
                count.fetch_add(1, Ordering::SeqCst);
                let answer = "HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\n\
                              Connection: close\r\n\r\n";
                let _ = client.write_all(answer.as_bytes()).await;
            }
        });
        (address, refused)
    }

    #[tokio::test]
    async fn probe_is_not_retried() {
        let (endpoint, refused) = overloaded().await;
        let bucket = s3(&S3Options {
            bucket: "bucket".into(),
            endpoint: Some(endpoint),
            region: "us-east-1".into(),
            access_key_id: Some("id".into()),
            secret_access_key: Some("secret".into()),
            ..S3Options::default()
        })
        .expect("a bucket");
        bucket.probe().await.expect_err("the server refuses");
        assert_eq!(refused.load(Ordering::SeqCst), 1, "one request, no retries");
    }
}
