//! A service whose servers are not there yet: it waits for them, says so, and goes on with what does
//! not need them. Needs `nats-server`, or the S3 server that `S3_ENDPOINT` names.

use serde_json::Value;

use crate::support::process::{Process, command};
use crate::support::{mentions, s3};

/// An address where nobody listens.
fn nowhere() -> u16 {
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    free.local_addr().unwrap().port()
}

async fn status(service: &Process, path: &str) -> u16 {
    reqwest::get(format!("{}{path}", service.url)).await.unwrap().status().as_u16()
}

async fn is_waiting(service: &Process) {
    let reply = reqwest::get(format!("{}/ready", service.url)).await.unwrap();
    assert_eq!(reply.status(), 503);
    let body: Value = reply.json().await.unwrap();
    assert_eq!(body["checks"]["stores opened"], "failed", "{body}");
    assert_eq!(status(service, "/live").await, 200);
    assert_eq!(status(service, "/health").await, 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_queue_that_is_not_there_yet_is_waited_for() {
    let folder = tempfile::tempdir().unwrap();
    let port = nowhere();
    let settings = [
        ("JOBS__KIND", "nats".to_owned()),
        ("JOBS__URL", format!("nats://127.0.0.1:{port}")),
        ("JOBS__TIMEOUT", "2".to_owned()),
    ];
    let service = Process::start(folder.path(), &settings).await;
    is_waiting(&service).await;
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
async fn records_that_are_out_of_reach_are_waited_for() {
    let folder = tempfile::tempdir().unwrap();
    let endpoint = format!("http://127.0.0.1:{}", nowhere());
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
    is_waiting(&service).await;
    assert_eq!(service.get("/health").await["status"], "degraded");
    let form = reqwest::multipart::Form::new()
        .part("file", reqwest::multipart::Part::bytes(vec![0; 100]).file_name("c.mp4"));
    let client = reqwest::Client::new();
    let reply = client.post(format!("{}/videos", service.url)).multipart(form).send().await;
    assert_eq!(reply.unwrap().status(), 503, "nothing is taken that could not be kept");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_bucket_that_does_not_exist_is_refused() {
    let Some(mut settings) = s3::settings(&uuid::Uuid::new_v4().simple().to_string()) else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let bucket = settings.iter_mut().find(|(key, _)| *key == "STORAGE__BUCKET").unwrap();
    bucket.1 = "there-is-no-such-bucket".into();
    settings.push(("HTTP__LISTEN", "127.0.0.1:0".into()));
    let refused = command(folder.path(), &settings).arg("serve").output().unwrap();
    assert!(!refused.status.success());
    let told = String::from_utf8_lossy(&refused.stderr);
    mentions(&told, &["the bucket of objects cannot be used", "NoSuchBucket", "storage.bucket"]);
    settings.push(("RECORDS__KIND", "bucket".into()));
    settings.push(("RECORDS__BUCKET", "neither-is-this".into()));
    let refused = command(folder.path(), &settings).arg("serve").output().unwrap();
    assert!(!refused.status.success());
    let told = String::from_utf8_lossy(&refused.stderr);
    mentions(&told, &["the bucket of records cannot be used", "NoSuchBucket", "records.bucket"]);
}
