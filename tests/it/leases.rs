//! Instances that share their records never work on the same video at once.

use std::sync::Arc;
use std::time::Duration;

use adapters::records::MemoryRecords;
use domain::records::locks::VideoLocks;
use ports::records::RecordStore;
use serde_json::json;

use crate::support::video_id;

const VIDEO: &str = "0123456789abcdef";
const KEY: &str = "claims/0123456789abcdef.json";
const LONG: Option<Duration> = Some(Duration::from_secs(3600));

#[tokio::test]
async fn one_instance_at_a_time_works_on_a_video() {
    let records = Arc::new(MemoryRecords::new());
    let [here, there] = [(); 2].map(|()| VideoLocks::new(records.clone(), LONG));
    let claim = here.lock(video_id(VIDEO)).await.unwrap();
    assert!(there.try_lock(video_id(VIDEO)).await.unwrap().is_none(), "the other instance has it");
    assert!(
        here.try_lock(video_id(VIDEO)).await.unwrap().is_none(),
        "another job of this process has it"
    );
    assert!(
        there.try_lock(video_id("fedcba9876543210")).await.unwrap().is_some(),
        "other videos are free"
    );
    claim.check().unwrap();
    drop(claim);
    there.lock(video_id(VIDEO)).await.unwrap().check().unwrap();
    while records.get(KEY).await.unwrap().is_some() {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
}

#[tokio::test]
async fn a_dead_instances_video_is_free_when_its_lease_expires() {
    let records = Arc::new(MemoryRecords::new());
    let locks = VideoLocks::new(records.clone(), LONG);
    records.put(KEY, &json!({"holder": "dead", "until": 4e9})).await.unwrap();
    assert!(locks.try_lock(video_id(VIDEO)).await.unwrap().is_none());
    records.put(KEY, &json!({"holder": "dead", "until": 1e9})).await.unwrap();
    locks.try_lock(video_id(VIDEO)).await.unwrap().expect("the lease has expired").check().unwrap();
}

#[tokio::test]
async fn a_lease_is_renewed_and_its_loss_is_detected() {
    let records = Arc::new(MemoryRecords::new());
    let locks = VideoLocks::new(records.clone(), Some(Duration::from_millis(400)));
    let claim = locks.lock(video_id(VIDEO)).await.unwrap();
    let first = records.get(KEY).await.unwrap();
    while records.get(KEY).await.unwrap() == first {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    records.put(KEY, &json!({"holder": "another", "until": 4e9})).await.unwrap();
    while claim.check().is_ok() {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    drop(claim);
    let lease = records.get(KEY).await.unwrap().expect("the other instance's lease stays");
    assert_eq!(lease["holder"], "another");
}

#[tokio::test]
async fn a_single_process_records_its_claims_too() {
    let records = Arc::new(MemoryRecords::new());
    let locks = VideoLocks::new(records.clone(), None);
    let claim = locks.lock(video_id(VIDEO)).await.unwrap();
    assert!(locks.try_lock(video_id(VIDEO)).await.unwrap().is_none());
    claim.check().unwrap();
    assert_eq!(records.list("claims/").await.unwrap().len(), 1);
    drop(claim);
    let next = locks.lock(video_id(VIDEO)).await.unwrap();
    drop(next);
    while !records.list("").await.unwrap().is_empty() {
        tokio::task::yield_now().await;
    }
}
