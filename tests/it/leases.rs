//! Instances that share their records keep out of each other's way.

use std::sync::Arc;
use std::time::Duration;

use adapters::records::MemoryRecords;
use ports::records::RecordStore;
use serde_json::json;
use shotlog::domain::catalog::locks::VideoLocks;

use crate::support::video_id;

const VIDEO: &str = "0123456789abcdef";
const KEY: &str = "claims/0123456789abcdef.json";
const LONG: Option<Duration> = Some(Duration::from_secs(3600));

#[tokio::test]
async fn one_instance_at_a_time_works_on_a_video() {
    let records = Arc::new(MemoryRecords::new());
    let [here, there] = [(); 2].map(|()| VideoLocks::new(records.clone(), LONG));
    let claim = here.lock(video_id(VIDEO)).await.unwrap();
    assert!(there.try_lock(video_id(VIDEO)).await.unwrap().is_none(), "it is held here");
    assert!(
        here.try_lock(video_id(VIDEO)).await.unwrap().is_none(),
        "also by another job of this process"
    );
    assert!(
        there.try_lock(video_id("fedcba9876543210")).await.unwrap().is_some(),
        "others are free"
    );
    claim.check().unwrap();
    drop(claim);
    there.lock(video_id(VIDEO)).await.unwrap().check().unwrap();
    while records.get(KEY).await.unwrap().is_some() {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
}

#[tokio::test]
async fn what_a_dead_instance_held_is_free_when_its_lease_ends() {
    let records = Arc::new(MemoryRecords::new());
    let claims = VideoLocks::new(records.clone(), LONG);
    records.put(KEY, &json!({"holder": "dead", "until": 4e9})).await.unwrap();
    assert!(claims.try_lock(video_id(VIDEO)).await.unwrap().is_none());
    records.put(KEY, &json!({"holder": "dead", "until": 1e9})).await.unwrap();
    claims.try_lock(video_id(VIDEO)).await.unwrap().expect("it has ended").check().unwrap();
}

#[tokio::test]
async fn a_lease_is_renewed_and_its_loss_noticed() {
    let records = Arc::new(MemoryRecords::new());
    let claims = VideoLocks::new(records.clone(), Some(Duration::from_millis(400)));
    let claim = claims.lock(video_id(VIDEO)).await.unwrap();
    let first = records.get(KEY).await.unwrap();
    while records.get(KEY).await.unwrap() == first {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    records.put(KEY, &json!({"holder": "another", "until": 4e9})).await.unwrap();
    while claim.check().is_ok() {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    drop(claim);
    let left = records.get(KEY).await.unwrap().expect("the other's lease stays");
    assert_eq!(left["holder"], "another");
}

#[tokio::test]
async fn a_process_alone_notes_what_it_is_at() {
    let records = Arc::new(MemoryRecords::new());
    let claims = VideoLocks::new(records.clone(), None);
    let claim = claims.lock(video_id(VIDEO)).await.unwrap();
    assert!(claims.try_lock(video_id(VIDEO)).await.unwrap().is_none());
    claim.check().unwrap();
    assert_eq!(records.list("claims/").await.unwrap().len(), 1);
    drop(claim);
    let next = claims.lock(video_id(VIDEO)).await.unwrap();
    drop(next);
    while !records.list("").await.unwrap().is_empty() {
        tokio::task::yield_now().await;
    }
}
