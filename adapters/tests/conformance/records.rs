//! Tests of the adapters of the `records` port.

use std::sync::Arc;

use ports::ErrorKind;
use ports::conformance::records::{check, check_reopened};
use ports::records::{Precondition, RecordStore};
use serde_json::json;
use shotlog_adapters::records::{FolderRecords, MemoryRecords};

#[tokio::test]
async fn memory() {
    check(Arc::new(MemoryRecords::new())).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_folder() {
    let root = tempfile::tempdir().unwrap();
    let below = root.path().join("made/on/demand");
    check(Arc::new(FolderRecords::open(&below).unwrap())).await;
    check_reopened(|| Arc::new(FolderRecords::open(&below).unwrap())).await;
    let alone = Arc::new(FolderRecords::open_exclusive(&below).unwrap());
    check(alone.clone()).await;
    alone.put("a.json", &json!(1)).await.unwrap();
    assert!(alone.version("a.json").await.unwrap().is_some(), "whoever is alone knows versions");
}

#[tokio::test]
async fn non_json_file_can_be_replaced_and_removed() {
    let root = tempfile::tempdir().unwrap();
    let records = FolderRecords::open(root.path()).unwrap();
    let (key, file) = ("v/video.json", root.path().join("v/video.json"));
    records.put(key, &json!(1)).await.unwrap();
    for garbage in ["", "{", "\u{0}\u{0}"] {
        std::fs::write(&file, garbage).unwrap();
        assert_eq!(records.get(key).await.unwrap_err().kind(), ErrorKind::Corrupt);
        for expected in [Precondition::Absent, Precondition::Document(&json!(1))] {
            assert!(!records.compare_and_swap(key, expected, &json!(2)).await.unwrap());
        }
        assert!(records.compare_and_swap(key, Precondition::Unreadable, &json!(2)).await.unwrap());
        assert_eq!(records.get(key).await.unwrap(), Some(json!(2)));
        std::fs::write(&file, garbage).unwrap();
        records.delete(key).await.unwrap();
        assert_eq!(records.get(key).await.unwrap(), None);
        records.put(key, &json!(1)).await.unwrap();
    }
}

#[tokio::test]
async fn a_folder_on_a_single_thread() {
    let root = tempfile::tempdir().unwrap();
    check(Arc::new(FolderRecords::open(root.path()).unwrap())).await;
}

/// Runs against the server at `S3_ENDPOINT`, where `S3_BUCKET` must exist.
#[cfg(feature = "cloud")]
#[tokio::test(flavor = "multi_thread")]
async fn a_bucket() {
    use shotlog_adapters::records::BucketRecords;
    use shotlog_adapters::storage::{OpendalStorage, s3};
    let Some(options) = crate::storage::s3_options("tests/records") else { return };
    let open = || Arc::new(BucketRecords::new(s3(&options).unwrap()).unwrap());
    check(open()).await;
    check_reopened(|| open()).await;
    let folder = tempfile::tempdir().unwrap();
    let folder = OpendalStorage::folder(folder.path(), "http://localhost").unwrap();
    let error = BucketRecords::new(folder).err().expect("no conditional writes");
    assert!(error.to_string().contains("conditional writes"), "{error}");
}

#[cfg(feature = "cloud")]
#[tokio::test(flavor = "multi_thread")]
async fn a_bucket_on_gcs() {
    use shotlog_adapters::records::BucketRecords;
    use shotlog_adapters::storage::gcs;
    let server = crate::gcs::Gcs::start().await;
    let options = crate::storage::gcs_options(&server);
    let open = || Arc::new(BucketRecords::new(gcs(&options).unwrap()).unwrap());
    check(open()).await;
    check_reopened(|| open()).await;
    let asked = server.asked();
    assert!(asked.contains("ifGenerationMatch"), "swaps are conditional: {asked:?}");
}
