//! `shotlog ingest` over a connection that drops.

use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use sha1::{Digest, Sha1};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

use crate::support::process::{Process, bars, command};

const MEGABYTE: usize = 1024 * 1024;

/// A TCP proxy to the service that drops the connection after each megabyte, `breaks` times in total,
/// counts the bytes sent and records the offsets from which they were sent.
struct FlakyProxy {
    address: String,
    sent: Arc<AtomicUsize>,
    offsets: Arc<Mutex<Vec<usize>>>,
}

impl FlakyProxy {
    async fn start(service: &str, breaks: usize) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = format!("http://{}", listener.local_addr().expect("an address"));
        let sent = Arc::new(AtomicUsize::new(0));
        let offsets = Arc::new(Mutex::new(Vec::new()));
        let to = service.trim_start_matches("http://").to_owned();
        let (counted, recorded) = (sent.clone(), offsets.clone());
        tokio::spawn(async move {
            loop {
                let Ok((client, _)) = listener.accept().await else { return };
                let Ok(upstream) = TcpStream::connect(&to).await else { continue };
                let (sent, offsets) = (counted.clone(), recorded.clone());
                tokio::spawn(forward(client, upstream, sent, offsets, breaks));
            }
        });
        Self { address, sent, offsets }
    }
}

/// The `Upload-Offset` of a PATCH request that begins with these bytes.
fn upload_offset(request: &[u8]) -> Option<usize> {
    let text = String::from_utf8_lossy(request.strip_prefix(b"PATCH ")?).to_ascii_lowercase();
    text.split("upload-offset: ").nth(1)?.lines().next()?.parse().ok()
}

async fn forward(
    client: TcpStream,
    upstream: TcpStream,
    sent: Arc<AtomicUsize>,
    offsets: Arc<Mutex<Vec<usize>>>,
    breaks: usize,
) {
    let (mut from_client, mut to_client) = client.into_split();
    let (mut from_upstream, mut to_upstream) = upstream.into_split();
    let responses = tokio::spawn(async move {
        tokio::io::copy(&mut from_upstream, &mut to_client).await.map(|_| ())
    });
    let mut buffer = vec![0; 16 * 1024];
    while let Ok(count @ 1..) = from_client.read(&mut buffer).await {
        offsets.lock().expect("the offsets").extend(upload_offset(&buffer[..count]));
        let before = sent.fetch_add(count, Ordering::SeqCst) / MEGABYTE;
        let after = sent.load(Ordering::SeqCst) / MEGABYTE;
        if to_upstream.write_all(&buffer[..count]).await.is_err()
            || before < after && after <= breaks
        {
            break;
        }
    }
    responses.abort();
}

/// A valid video followed by a 16 MiB `free` box, which players skip.
fn large_video(folder: &Path) -> Option<(std::path::PathBuf, Vec<u8>)> {
    let path = bars(folder, 4, 7)?;
    let mut bytes = std::fs::read(&path).expect("the video");
    let rest = 16 * MEGABYTE;
    bytes.extend((rest as u32).to_be_bytes());
    bytes.extend(b"free");
    bytes.extend((8..rest).map(|at| (at % 251) as u8));
    std::fs::write(&path, &bytes).expect("written");
    Some((path, bytes))
}

#[tokio::test]
async fn upload_resumes_after_connection_failures() {
    let folder = tempfile::tempdir().expect("a folder");
    let Some((path, bytes)) = large_video(folder.path()) else { return };
    let settings = [("INGEST__UPLOAD_PART_BYTES", "65536".to_owned())];
    let service = Process::start(folder.path(), &settings).await;
    service.ready().await;
    let proxy = FlakyProxy::start(&service.url, 5).await;
    let mut ingest = command(folder.path(), &settings);
    ingest.arg("ingest").arg(&path).args(["--server", &proxy.address]);
    let output = tokio::task::spawn_blocking(move || ingest.output().expect("it runs"));
    let output = output.await.expect("it ends");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let result: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let digest = Sha1::digest(&bytes);
    let id: String = digest.iter().take(8).map(|byte| format!("{byte:02x}")).collect();
    assert_eq!(result["video_id"], id.as_str(), "{result}");
    assert_eq!(result["filename"], "bars7.mp4");
    let sent = proxy.sent.load(Ordering::SeqCst);
    assert!(sent > bytes.len(), "{sent} of {}", bytes.len());
    // How much of an interrupted request is stored when the client asks depends on the machine.
    let offsets = proxy.offsets.lock().expect("the offsets").clone();
    assert!(offsets.len() > 5 && offsets.is_sorted(), "{offsets:?}");
    assert!(offsets.first() == Some(&0) && offsets.last() > Some(&0), "{offsets:?}");
}
