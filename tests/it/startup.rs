//! A service started before its servers: it waits for them, reports that, and serves everything that
//! does not need them. Needs `nats-server`, or the S3 server at `S3_ENDPOINT`.

use serde_json::Value;

use crate::support::process::{Process, command};
use crate::support::{mentions, s3};

/// A port on which nothing listens.
fn unused_port() -> u16 {
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    free.local_addr().unwrap().port()
}

async fn status(service: &Process, path: &str) -> u16 {
    reqwest::get(format!("{}{path}", service.url)).await.unwrap().status().as_u16()
}

async fn assert_waiting(service: &Process) {
    let reply = reqwest::get(format!("{}/ready", service.url)).await.unwrap();
    assert_eq!(reply.status(), 503);
    let body: Value = reply.json().await.unwrap();
    assert_eq!(body["checks"]["stores opened"], "failed", "{body}");
    assert_eq!(status(service, "/live").await, 200);
    assert_eq!(status(service, "/health").await, 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn service_waits_for_an_unreachable_queue() {
    let folder = tempfile::tempdir().unwrap();
    let port = unused_port();
    let settings = [
        ("JOBS__KIND", "nats".to_owned()),
        ("JOBS__URL", format!("nats://127.0.0.1:{port}")),
        ("JOBS__TIMEOUT", "2".to_owned()),
    ];
    let service = Process::start(folder.path(), &settings).await;
    assert_waiting(&service).await;
    assert_eq!(status(&service, "/videos").await, 200, "reads do not need it");
    let mut server = std::process::Command::new("nats-server");
    server.args(["--addr", "127.0.0.1", "--port", &port.to_string(), "--jetstream"]);
    server.arg("--store_dir").arg(folder.path().join("nats"));
    server.stdout(std::process::Stdio::null()).stderr(std::process::Stdio::null());
    let Ok(mut server) = server.spawn() else {
        println!("skipped: the program nats-server is not there");
        return;
    };
    service.ready().await;
    assert_eq!(status(&service, "/jobs").await, 200);
    server.kill().unwrap();
    server.wait().unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn service_waits_for_unreachable_records() {
    let folder = tempfile::tempdir().unwrap();
    let endpoint = format!("http://127.0.0.1:{}", unused_port());
    let settings: Vec<(&str, String)> = [
        ("STORAGE__KIND", "s3"),
        ("STORAGE__ENDPOINT", &endpoint),
        ("STORAGE__BUCKET", "objects"),
        ("STORAGE__ACCESS_KEY_ID", "id"),
        ("STORAGE__SECRET_ACCESS_KEY", "secret"),
        ("STORAGE__RETRIES", "0"),
        ("RECORDS__KIND", "bucket"),
        ("RECORDS__BUCKET", "records"),
    ]
    .map(|(key, value)| (key, value.to_owned()))
    .into();
    let service = Process::start(folder.path(), &settings).await;
    assert_waiting(&service).await;
    assert_eq!(service.get("/health").await["status"], "degraded");
    let form = reqwest::multipart::Form::new()
        .part("file", reqwest::multipart::Part::bytes(vec![0; 100]).file_name("c.mp4"));
    let client = reqwest::Client::new();
    let reply = client.post(format!("{}/videos", service.url)).multipart(form).send().await;
    assert_eq!(reply.unwrap().status(), 503, "no upload is accepted that cannot be recorded");
}

#[tokio::test(flavor = "multi_thread")]
async fn missing_bucket_is_refused() {
    let Some(mut settings) = s3::settings(&uuid::Uuid::new_v4().simple().to_string()) else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let bucket = settings.iter_mut().find(|(key, _)| *key == "STORAGE__BUCKET").unwrap();
    bucket.1 = "there-is-no-such-bucket".into();
    settings.push(("HTTP__LISTEN", "127.0.0.1:0".into()));
    let refused = command(folder.path(), &settings).arg("serve").output().unwrap();
    assert!(!refused.status.success());
    let stderr = String::from_utf8_lossy(&refused.stderr);
    mentions(&stderr, &["the bucket of objects cannot be used", "NoSuchBucket", "storage.bucket"]);
    settings.push(("RECORDS__KIND", "bucket".into()));
    settings.push(("RECORDS__BUCKET", "neither-is-this".into()));
    let refused = command(folder.path(), &settings).arg("serve").output().unwrap();
    assert!(!refused.status.success());
    let stderr = String::from_utf8_lossy(&refused.stderr);
    mentions(&stderr, &["the bucket of records cannot be used", "NoSuchBucket", "records.bucket"]);
}
