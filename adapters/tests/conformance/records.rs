//! Adapters of `ports::records`.

use std::sync::Arc;

use ports::conformance::records::{check, check_reopened};
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
}

#[tokio::test]
async fn a_folder_on_a_single_thread() {
    let root = tempfile::tempdir().unwrap();
    check(Arc::new(FolderRecords::open(root.path()).unwrap())).await;
}
