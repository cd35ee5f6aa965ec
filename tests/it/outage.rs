//! The object store goes away in the middle of an upload: the job says so, everything else goes on,
//! and the next ingest finds it back. Needs the S3 server that `S3_ENDPOINT` names.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

use crate::support::process::{Process, bars};
use crate::support::{mentions, s3};

/// Passes connections on until so many bytes have gone through, then drops them all and takes none.
#[derive(Clone, Default)]
struct Line {
    down: Arc<AtomicBool>,
    /// Bytes that still go through to the server; more than any test sends means no limit.
    left: Arc<AtomicUsize>,
}

impl Line {
    /// The address that leads to `to`.
    async fn start(&self, to: String) -> String {
        self.left.store(usize::MAX, Ordering::SeqCst);
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        let line = self.clone();
        tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                let (line, to) = (line.clone(), to.clone());
                tokio::spawn(async move { line.pass(client, &to).await });
            }
        });
        address
    }

    async fn pass(&self, client: TcpStream, to: &str) -> std::io::Result<()> {
        if self.down.load(Ordering::SeqCst) {
            return Ok(());
        }
        let server = TcpStream::connect(to).await?;
        let (mut from_client, mut to_client) = client.into_split();
        let (mut from_server, mut to_server) = server.into_split();
        let back = async { tokio::io::copy(&mut from_server, &mut to_client).await.map(|_| ()) };
        let forth = async {
            let mut block = vec![0; 16 << 10];
            loop {
                let count = from_client.read(&mut block).await?;
                let spent = |left: usize| left.checked_sub(count);
                if self.left.fetch_update(Ordering::SeqCst, Ordering::SeqCst, spent).is_err() {
                    self.down.store(true, Ordering::SeqCst);
                }
                if count == 0 || self.down.load(Ordering::SeqCst) {
                    return Ok(());
                }
                to_server.write_all(&block[..count]).await?;
            }
        };
        // Both halves are dropped as soon as either ends.
        tokio::select! { ended = back => ended, ended = forth => ended }
    }
}

/// Waits until the service says of itself that it is in this state.
async fn tells(service: &Process, status: &str) {
    while service.get("/health").await["status"] != status {
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn storage_that_goes_away_fails_the_job_and_nothing_else() {
    let Some(mut settings) = s3::settings(&uuid::Uuid::new_v4().simple().to_string()) else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let [Some(first), Some(second)] = [1, 2].map(|seed| bars(folder.path(), 4, seed)) else {
        return;
    };
    let line = Line::default();
    let endpoint = settings.iter_mut().find(|(key, _)| *key == "STORAGE__ENDPOINT").unwrap();
    let server = endpoint.1.split_once("://").unwrap().1.trim_end_matches('/').to_owned();
    endpoint.1 = line.start(server).await;
    settings.push(("STORAGE__RETRIES", "1".into()));
    let service = Process::start(folder.path(), &settings).await;
    let done = service.upload(&first, &[]).await.unwrap();
    let done = service.job(&done, |job| job["status"] == "done").await;
    let video = done["result"]["video_id"].as_str().unwrap().to_owned();

    // It dies when half of the file has been sent.
    let half = std::fs::metadata(&second).unwrap().len() as usize / 2;
    line.left.store(half, Ordering::SeqCst);
    let failed = service.upload(&second, &[]).await.unwrap();
    let failed = service.job(&failed, |job| job["status"] == "failed").await;
    assert!(line.down.load(Ordering::SeqCst), "the server is gone");
    mentions(failed["error"].as_str().unwrap(), &["ConnectionError: ", "cannot store"]);
    tells(&service, "degraded").await;
    assert_eq!(service.get("/videos").await["total"], 1, "nothing is half published");
    assert_eq!(service.get(&format!("/videos/{video}")).await["chunks"], 2);
    let chunks = service.get(&format!("/videos/{video}/chunks")).await;
    assert_eq!(chunks["chunks"].as_array().map(Vec::len), Some(2), "{chunks}");
    let query = json!({"text": "coloured bars", "score_threshold": 0.0});
    let client = reqwest::Client::new();
    let found = client.post(format!("{}/query", service.url)).json(&query).send().await.unwrap();
    let found: serde_json::Value = found.json().await.unwrap();
    assert!(found["results"].is_array(), "searches go on: {found}");

    line.left.store(usize::MAX, Ordering::SeqCst);
    line.down.store(false, Ordering::SeqCst);
    let again = service.upload(&second, &[]).await.unwrap();
    service.job(&again, |job| job["status"] == "done").await;
    tells(&service, "ok").await;
    assert_eq!(service.get("/videos").await["total"], 2);
}
