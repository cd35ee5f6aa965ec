//! `shotlog ingest` over a line that breaks.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use sha1::{Digest, Sha1};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

use crate::support::process::{Process, bars, command};

const MEGABYTE: usize = 1024 * 1024;

/// A line to the service that breaks whenever another megabyte has passed, `breaks` times in all, and
/// counts what is sent.
struct Wire {
    address: String,
    sent: Arc<AtomicUsize>,
}

impl Wire {
    async fn to(service: &str, breaks: usize) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = format!("http://{}", listener.local_addr().expect("an address"));
        let sent = Arc::new(AtomicUsize::new(0));
        let (counted, to) = (sent.clone(), service.trim_start_matches("http://").to_owned());
        tokio::spawn(async move {
            loop {
                let Ok((client, _)) = listener.accept().await else { return };
                let Ok(upstream) = TcpStream::connect(&to).await else { continue };
                tokio::spawn(carry(client, upstream, counted.clone(), breaks));
            }
        });
        Self { address, sent }
    }
}

async fn carry(client: TcpStream, upstream: TcpStream, sent: Arc<AtomicUsize>, breaks: usize) {
    let (mut from, mut back) = client.into_split();
    let (mut answers, mut to) = upstream.into_split();
    let answering =
        tokio::spawn(async move { tokio::io::copy(&mut answers, &mut back).await.map(|_| ()) });
    let mut buffer = vec![0; 16 * 1024];
    while let Ok(count @ 1..) = from.read(&mut buffer).await {
        let before = sent.fetch_add(count, Ordering::SeqCst) / MEGABYTE;
        let after = sent.load(Ordering::SeqCst) / MEGABYTE;
        if to.write_all(&buffer[..count]).await.is_err() || before < after && after <= breaks {
            break;
        }
    }
    answering.abort();
}

/// A film, with what players pass over behind it.
fn large(folder: &Path) -> Option<(std::path::PathBuf, Vec<u8>)> {
    let path = bars(folder, 4, 7)?;
    let mut bytes = std::fs::read(&path).expect("the film");
    let rest = 16 * MEGABYTE;
    bytes.extend((rest as u32).to_be_bytes());
    bytes.extend(b"free");
    bytes.extend((8..rest).map(|at| (at % 251) as u8));
    std::fs::write(&path, &bytes).expect("written");
    Some((path, bytes))
}

#[tokio::test]
async fn a_file_arrives_over_a_line_that_breaks() {
    let folder = tempfile::tempdir().expect("a folder");
    let Some((path, bytes)) = large(folder.path()) else { return };
    let settings = [("INGEST__UPLOAD_PART_BYTES", "65536".to_owned())];
    let service = Process::start(folder.path(), &settings).await;
    service.ready().await;
    let wire = Wire::to(&service.url, 5).await;
    let mut ingest = command(folder.path(), &settings);
    ingest.arg("ingest").arg(&path).args(["--server", &wire.address]);
    let done = tokio::task::spawn_blocking(move || ingest.output().expect("it runs"));
    let done = done.await.expect("it ends");
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    let result: serde_json::Value = serde_json::from_slice(&done.stdout).expect("JSON");
    let digest = Sha1::digest(&bytes);
    let id: String = digest.iter().take(8).map(|byte| format!("{byte:02x}")).collect();
    assert_eq!(result["video_id"], id.as_str(), "{result}");
    assert_eq!(result["filename"], "bars7.mp4");
    let sent = wire.sent.load(Ordering::SeqCst);
    assert!(sent > bytes.len() && 10 * sent < 11 * bytes.len(), "{sent} of {}", bytes.len());
}
