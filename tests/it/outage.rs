//! The object store fails in the middle of an upload: the job fails with the reason, everything else
//! continues, and the next ingest uses the store again. Needs the S3 server at `S3_ENDPOINT`.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

use crate::support::process::{Process, bars};
use crate::support::{mentions, s3};

/// A TCP proxy that drops every connection, and refuses new ones, once its byte budget is spent.
#[derive(Clone, Default)]
struct FaultyProxy {
    down: Arc<AtomicBool>,
    /// Bytes still forwarded to the server; `usize::MAX` means no limit.
    left: Arc<AtomicUsize>,
}

impl FaultyProxy {
    /// Starts the proxy in front of `to` and returns its address.
    async fn start(&self, to: String) -> String {
        self.left.store(usize::MAX, Ordering::SeqCst);
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        let proxy = self.clone();
        tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                let (proxy, to) = (proxy.clone(), to.clone());
                tokio::spawn(async move { proxy.pass(client, &to).await });
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
        // Both directions are dropped as soon as either ends.
        tokio::select! { ended = back => ended, ended = forth => ended }
    }
}

/// Waits until `/health` reports this status.
async fn wait_for_status(service: &Process, status: &str) {
    while service.get("/health").await["status"] != status {
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn storage_outage_fails_only_the_running_job() {
    let Some(mut settings) = s3::settings(&uuid::Uuid::new_v4().simple().to_string()) else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let [Some(first), Some(second)] = [1, 2].map(|seed| bars(folder.path(), 4, seed)) else {
        return;
    };
    let proxy = FaultyProxy::default();
    let endpoint = settings.iter_mut().find(|(key, _)| *key == "STORAGE__ENDPOINT").unwrap();
    let server = endpoint.1.split_once("://").unwrap().1.trim_end_matches('/').to_owned();
    endpoint.1 = proxy.start(server).await;
    settings.push(("STORAGE__RETRIES", "1".into()));
    let service = Process::start(folder.path(), &settings).await;
    let finished = service.upload(&first, &[]).await.unwrap();
    let finished = service.job(&finished, |job| job["status"] == "done").await;
    let video = finished["result"]["video_id"].as_str().unwrap().to_owned();

    // The proxy fails after half of the file.
    let half = std::fs::metadata(&second).unwrap().len() as usize / 2;
    proxy.left.store(half, Ordering::SeqCst);
    let failed = service.upload(&second, &[]).await.unwrap();
    let failed = service.job(&failed, |job| job["status"] == "failed").await;
    assert!(proxy.down.load(Ordering::SeqCst), "the proxy is down");
    mentions(failed["error"].as_str().unwrap(), &["ConnectionError: ", "cannot store"]);
    wait_for_status(&service, "degraded").await;
    assert_eq!(service.get("/videos").await["total"], 1, "nothing is partially published");
    assert_eq!(service.get(&format!("/videos/{video}")).await["chunks"], 2);
    let chunks = service.get(&format!("/videos/{video}/chunks")).await;
    assert_eq!(chunks["chunks"].as_array().map(Vec::len), Some(2), "{chunks}");
    let query = json!({"text": "coloured bars", "score_threshold": 0.0});
    let client = reqwest::Client::new();
    let page = client.post(format!("{}/query", service.url)).json(&query).send().await.unwrap();
    let page: serde_json::Value = page.json().await.unwrap();
    assert!(page["results"].is_array(), "searches still work: {page}");

    proxy.left.store(usize::MAX, Ordering::SeqCst);
    proxy.down.store(false, Ordering::SeqCst);
    let retried = service.upload(&second, &[]).await.unwrap();
    service.job(&retried, |job| job["status"] == "done").await;
    wait_for_status(&service, "ok").await;
    assert_eq!(service.get("/videos").await["total"], 2);
}
