//! Tests of the adapters of the `listing` port.

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use ports::ErrorKind;
use ports::conformance::listing::{check, check_reopened};
use ports::listing::{ListQuery, VideoEntry, VideoListing};
use serde_json::json;
use shotlog_adapters::listing::embedded::EmbeddedListing;
use shotlog_adapters::listing::memory::MemoryListing;

use crate::small_disk;

#[tokio::test(flavor = "multi_thread")]
async fn memory() {
    check(|| async { Arc::new(MemoryListing::new()) as Arc<dyn VideoListing> }).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn embedded() {
    let folder = tempfile::tempdir().unwrap();
    let next = AtomicUsize::new(0);
    let fresh = || async {
        let name = next.fetch_add(1, Ordering::Relaxed).to_string();
        Arc::new(open(&folder.path().join(name)).await) as Arc<dyn VideoListing>
    };
    check(fresh).await;
    let file = folder.path().join("again");
    check_reopened(|| async { Arc::new(open(&file).await) as Arc<dyn VideoListing> }).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn embedded_listing_is_exclusive() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("videos");
    let listing = open(&file).await;
    listing.put(vec![entry(1)]).await.unwrap();
    let error = EmbeddedListing::open(file.clone()).await.err().unwrap();
    assert_eq!(error.kind(), ErrorKind::Unavailable, "{error}");
    assert_eq!(listing.list(&all()).await.unwrap().entries, [entry(1)]);
}

/// If the file is damaged in any way, the listing has either all entries, or no entries and no
/// mark.
#[tokio::test(flavor = "multi_thread")]
async fn damaged_listing_is_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("videos");
    let listing = open(&file).await;
    let entries: Vec<_> = (0..60).rev().map(entry).collect();
    listing.put(entries.clone()).await.unwrap();
    listing.set_mark("in step").await.unwrap();
    drop(listing);
    let sound = fs::read(&file).unwrap();

    let used = sound.iter().rposition(|byte| *byte != 0).unwrap();
    let flips = (0..used).step_by(used / 60).map(|at| {
        let mut bytes = sound.clone();
        bytes[at] ^= 0x41;
        (format!("byte {at}"), bytes)
    });
    let cuts = [1, 100, used / 2, used]
        .map(|length| (format!("cut to {length}"), sound[..length].to_vec()));
    let other =
        [("no listing".to_owned(), b"something else".to_vec()), ("empty".to_owned(), vec![])];
    let mut replaced = 0;
    for (what, bytes) in flips.chain(cuts).chain(other) {
        fs::write(&file, bytes).unwrap();
        let listing = open(&file).await;
        let found = listing.list(&all()).await.unwrap().entries;
        match listing.mark().await.unwrap() {
            Some(mark) => assert!(mark == "in step" && found == entries, "{what}"),
            None => {
                assert_eq!(found, [], "{what}");
                replaced += 1;
            }
        }
        listing.put(vec![entry(99)]).await.unwrap();
        assert_eq!(listing.get(&[entry(99).video_id]).await.unwrap(), [entry(99)], "{what}");
    }
    assert!(replaced > 20, "only {replaced} of the damages were found");
}

#[tokio::test(flavor = "multi_thread")]
async fn full_disk_is_reported_until_there_is_space() {
    let test = "listing::full_disk_is_reported_until_there_is_space";
    let Some(disk) = small_disk::open(test) else { return };
    let listing = open(&disk.join("videos")).await;
    let entries: Vec<_> = (0..200).map(entry).collect();
    listing.put(entries.clone()).await.unwrap();
    let filler = small_disk::fill(&disk);
    // The listing file still has free space inside it.
    let mut next = 1000;
    let error = loop {
        match listing.put((next..next + 100).map(entry).collect()).await {
            Ok(()) => next += 100,
            Err(error) => break error,
        }
    };
    small_disk::assert_full(&error);
    for _ in 0..3 {
        let entries = (next..next + 100).map(entry).collect();
        small_disk::assert_full(&listing.put(entries).await.unwrap_err());
        let found = listing.get(&[entry(1).video_id]).await.unwrap();
        assert_eq!(found, [entry(1)], "reading needs no space");
    }
    fs::remove_file(filler).unwrap();
    listing.remove(&[entry(0).video_id]).await.unwrap();
    listing.put(vec![entry(999)]).await.unwrap();
    let found = listing.get(&[0, 1, 999].map(|number| entry(number).video_id)).await.unwrap();
    assert_eq!(found, [entry(1), entry(999)]);
    let total = listing.list(&all()).await.unwrap().total;
    assert_eq!(total, 200 + next as u64 - 1000);
}

fn entry(number: i64) -> VideoEntry {
    VideoEntry {
        video_id: format!("{number:016x}").parse().unwrap(),
        created_at: number,
        filename: format!("clip-{number}.mp4"),
        analyzers: vec!["transcript".into(), "ocr".into()],
        fields: Default::default(),
        document: json!({ "number": number, "fill": "x".repeat(2000) }).into(),
    }
}

fn all() -> ListQuery {
    ListQuery { limit: 1000, ..ListQuery::default() }
}

async fn open(file: &Path) -> EmbeddedListing {
    EmbeddedListing::open(file.into()).await.unwrap()
}

#[cfg(feature = "cloud")]
mod qdrant {
    use std::time::Duration;

    use shotlog_adapters::listing::qdrant::{QdrantListing, QdrantListingOptions};

    use super::*;

    #[tokio::test(flavor = "multi_thread")]
    async fn qdrant() {
        let Ok(url) = std::env::var("QDRANT_URL") else {
            println!("skipped: QDRANT_URL is not set, the gRPC address of a Qdrant server");
            return;
        };
        let next = AtomicUsize::new(0);
        let options = |name: String| QdrantListingOptions {
            url: url.clone(),
            api_key: std::env::var("QDRANT_API_KEY").ok(),
            collection: format!("shotlog-test-{}-listing-{name}", std::process::id()),
            shards: 1,
            replicas: 1,
            timeout: Duration::from_secs(30),
            attempts: 2,
        };
        let open = |name: String| {
            let options = options(name);
            async {
                // Another instance already has the collection open.
                QdrantListing::open(options.clone()).await.unwrap();
                Arc::new(QdrantListing::open(options).await.unwrap()) as Arc<dyn VideoListing>
            }
        };
        check(|| open(next.fetch_add(1, Ordering::Relaxed).to_string())).await;
        check_reopened(|| open("again".into())).await;
    }
}
