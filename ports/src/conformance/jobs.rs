//! The suite for adapters of the `jobs` port.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use futures::{StreamExt, future};
use serde_json::{Value, json};
use tokio::time::timeout;

use crate::jobs::{JobQueue, Lease, QueueLane};

/// How long a queue must stay silent to show that it has no job to deliver.
const SILENCE: Duration = Duration::from_millis(400);

/// Timeout for expected events. It is long enough for a busy machine.
const PATIENCE: Duration = Duration::from_secs(30);

/// Checks every requirement of the port on an empty queue and leaves the queue empty. `redelivery`
/// is how long an instance that holds a job may stay silent before the queue delivers the job
/// again.
pub async fn check(jobs: Arc<dyn JobQueue>, redelivery: Duration) {
    let jobs = &*jobs;
    assert!(jobs.list().await.unwrap().is_empty(), "the queue to check must be empty");
    jobs.probe().await.expect("a working queue passes the probe");
    missing_items_are_none(jobs).await;
    jobs_are_delivered_once_oldest_first(jobs).await;
    duplicate_ids_are_not_added(jobs).await;
    compare_and_swap_requires_the_precondition(jobs).await;
    watch_yields_changes(jobs).await;
    leased_job_is_not_redelivered(jobs, redelivery).await;
    released_job_is_redelivered(jobs).await;
    withdraw_removes_waiting_jobs_only(jobs).await;
    dropped_take_loses_no_job(jobs).await;
    lanes_do_not_wait_for_each_other(jobs).await;
    assert!(jobs.list().await.unwrap().is_empty(), "removed jobs are gone");
    assert_eq!(jobs.waiting_count().await.unwrap(), 0);
}

/// Checks that two instances share one queue.
pub async fn check_shared(one: Arc<dyn JobQueue>, other: Arc<dyn JobQueue>) {
    assert!(one.shared() && other.shared());
    assert_eq!(one.adopt("one").await.unwrap(), "one");
    assert_eq!(one.adopt("one").await.unwrap(), "one");
    assert_eq!(other.adopt("other").await.unwrap(), "one", "the first owner stays");
    assert!(one.list().await.unwrap().is_empty(), "an owner is no job");
    one.add(QueueLane::Main, "a", &json!("by one")).await.unwrap();
    let job = other.get("a").await.unwrap().expect("seen by the other");
    assert_eq!(job.document, json!("by one"));
    let lease = take(&*other).await;
    assert_eq!(lease.job_id(), "a");
    silent(&*one).await;
    other
        .compare_and_swap("a", job.version, &json!("changed by the other"))
        .await
        .unwrap()
        .unwrap();
    assert_eq!(one.get("a").await.unwrap().unwrap().document, json!("changed by the other"));
    assert_eq!(one.compare_and_swap("a", job.version, &json!("late")).await.unwrap(), None);
    drop(lease);
    finish(&*one, "a").await;
    assert_eq!(other.get("a").await.unwrap(), None);
}

async fn take(jobs: &dyn JobQueue) -> Box<dyn Lease> {
    timeout(PATIENCE, jobs.take(QueueLane::Main)).await.expect("a job is offered").unwrap()
}

async fn silent(jobs: &dyn JobQueue) {
    if let Ok(lease) = timeout(SILENCE, jobs.take(QueueLane::Main)).await {
        panic!("{} is offered, which nobody may take", lease.unwrap().job_id());
    }
}

/// Removes a job that is no longer queued.
async fn remove(jobs: &dyn JobQueue, job_id: &str) {
    let job = jobs.get(job_id).await.unwrap().expect("kept until it is removed");
    jobs.remove(job_id, job.version).await.unwrap();
    assert_eq!(jobs.get(job_id).await.unwrap(), None);
}

/// Takes the only waiting job, completes it and removes it.
async fn finish(jobs: &dyn JobQueue, job_id: &str) {
    let lease = take(jobs).await;
    assert_eq!(lease.job_id(), job_id);
    lease.ack().await.unwrap();
    remove(jobs, job_id).await;
}

async fn document(jobs: &dyn JobQueue, job_id: &str) -> Option<Value> {
    jobs.get(job_id).await.unwrap().map(|job| job.document)
}

async fn missing_items_are_none(jobs: &dyn JobQueue) {
    assert_eq!(jobs.get("absent").await.unwrap(), None);
    assert_eq!(jobs.compare_and_swap("absent", 1, &json!(1)).await.unwrap(), None);
    assert!(!jobs.withdraw("absent").await.expect("nothing there is no error"));
    jobs.remove("absent", 1).await.expect("nothing there is no error");
    assert_eq!(jobs.waiting_count().await.unwrap(), 0);
    silent(jobs).await;
}

async fn jobs_are_delivered_once_oldest_first(jobs: &dyn JobQueue) {
    let ids = ["c", "a", "b-0123456789abcdef0123456789abcdef"];
    for id in ids {
        assert_eq!(
            jobs.add(QueueLane::Main, id, &json!({"of": id, "ключ": [1, null]})).await.unwrap(),
            None
        );
    }
    assert_eq!(jobs.waiting_count().await.unwrap(), ids.len());
    for id in ids {
        let lease = take(jobs).await;
        assert_eq!(lease.job_id(), id, "in the order of adding");
        assert_eq!(document(jobs, id).await, Some(json!({"of": id, "ключ": [1, null]})));
        lease.ack().await.unwrap();
    }
    silent(jobs).await;
    assert_eq!(jobs.waiting_count().await.unwrap(), 0);
    let listed: BTreeSet<String> =
        jobs.list().await.unwrap().into_iter().map(|job| job.job_id).collect();
    assert_eq!(listed, ids.map(str::to_owned).into(), "jobs stay when they are done with");
    for id in ids {
        remove(jobs, id).await;
    }
}

async fn duplicate_ids_are_not_added(jobs: &dyn JobQueue) {
    let documents: Vec<Value> = (0..8).map(|n| json!(n)).collect();
    let added =
        future::join_all(documents.iter().map(|n| jobs.add(QueueLane::Main, "same", n))).await;
    let added: Vec<_> = added.into_iter().map(Result::unwrap).collect();
    let first = added.iter().position(Option::is_none).expect("one of them adds");
    assert_eq!(added.iter().filter(|job| job.is_none()).count(), 1, "{added:?}");
    let existing = added.iter().flatten();
    assert!(existing.clone().all(|job| job.document == documents[first]), "{added:?}");
    take(jobs).await.ack().await.unwrap();
    silent(jobs).await;
    let again = jobs
        .add(QueueLane::Main, "same", &json!("again"))
        .await
        .unwrap()
        .expect("kept though done with");
    assert_eq!(again.document, documents[first]);
    silent(jobs).await;
    let old = jobs.get("same").await.unwrap().unwrap().version;
    remove(jobs, "same").await;
    assert_eq!(
        jobs.add(QueueLane::Main, "same", &json!("new")).await.unwrap(),
        None,
        "a removed id is free"
    );
    jobs.remove("same", old).await.unwrap();
    assert_eq!(document(jobs, "same").await, Some(json!("new")), "another one by now");
    finish(jobs, "same").await;
}

async fn compare_and_swap_requires_the_precondition(jobs: &dyn JobQueue) {
    jobs.add(QueueLane::Main, "swap", &json!(0)).await.unwrap();
    let first = jobs.get("swap").await.unwrap().unwrap().version;
    let second =
        jobs.compare_and_swap("swap", first, &json!(1)).await.unwrap().expect("it was in `first`");
    assert_ne!(first, second);
    assert_eq!(
        jobs.compare_and_swap("swap", first, &json!(2)).await.unwrap(),
        None,
        "it is no longer"
    );
    assert_eq!(document(jobs, "swap").await, Some(json!(1)));
    let documents: Vec<Value> = (10..18).map(|n| json!(n)).collect();
    let swaps =
        future::join_all(documents.iter().map(|n| jobs.compare_and_swap("swap", second, n))).await;
    let swapped: Vec<bool> = swaps.into_iter().map(|s| s.unwrap().is_some()).collect();
    let winner = swapped.iter().position(|done| *done).expect("one of them swaps");
    assert_eq!(swapped.iter().filter(|done| **done).count(), 1, "{swapped:?}");
    assert_eq!(document(jobs, "swap").await, Some(documents[winner].clone()));
    finish(jobs, "swap").await;
    silent(jobs).await;
}

async fn watch_yields_changes(jobs: &dyn JobQueue) {
    jobs.add(QueueLane::Main, "watched", &json!(0)).await.unwrap();
    let mut seen = jobs.watch("watched").await.unwrap();
    for n in 1..4 {
        let job = timeout(PATIENCE, seen.next()).await.expect("a change is shown");
        let job = job.expect("the watch continues").unwrap();
        assert_eq!((job.job_id.as_str(), &job.document), ("watched", &json!(n - 1)));
        jobs.compare_and_swap("watched", job.version, &json!(n))
            .await
            .unwrap()
            .expect("as it was shown");
    }
    drop(seen);
    let mut unknown = jobs.watch("unknown").await.unwrap();
    let nothing = timeout(SILENCE, unknown.next()).await;
    assert!(nothing.is_err(), "an unknown job has no changes: {nothing:?}");
    finish(jobs, "watched").await;
}

async fn leased_job_is_not_redelivered(jobs: &dyn JobQueue, redelivery: Duration) {
    jobs.add(QueueLane::Main, "held", &json!(0)).await.unwrap();
    let lease = take(jobs).await;
    assert_eq!(jobs.waiting_count().await.unwrap(), 0, "what is taken does not wait");
    tokio::time::sleep(redelivery * 5 / 2).await;
    silent(jobs).await;
    lease.ack().await.unwrap();
    tokio::time::sleep(redelivery * 3 / 2).await;
    silent(jobs).await;
    remove(jobs, "held").await;
}

async fn released_job_is_redelivered(jobs: &dyn JobQueue) {
    jobs.add(QueueLane::Main, "again", &json!(0)).await.unwrap();
    let lease = take(jobs).await;
    assert_eq!(lease.delivery_count(), 1);
    lease.nack().await.unwrap();
    let lease = take(jobs).await;
    assert_eq!((lease.job_id(), lease.delivery_count()), ("again", 2), "given back");
    drop(lease);
    let lease = take(jobs).await;
    assert_eq!((lease.job_id(), lease.delivery_count()), ("again", 3), "its holder died");
    lease.ack().await.unwrap();
    silent(jobs).await;
    remove(jobs, "again").await;
}

async fn withdraw_removes_waiting_jobs_only(jobs: &dyn JobQueue) {
    for id in ["goes", "stays"] {
        jobs.add(QueueLane::Main, id, &json!(id)).await.unwrap();
    }
    if jobs.withdraw("goes").await.unwrap() {
        assert_eq!(jobs.waiting_count().await.unwrap(), 1);
        assert!(!jobs.withdraw("goes").await.unwrap(), "it is not waiting any more");
        remove(jobs, "goes").await;
    } else {
        finish(jobs, "goes").await;
    }
    let lease = take(jobs).await;
    assert_eq!(lease.job_id(), "stays");
    assert!(!jobs.withdraw("stays").await.unwrap(), "somebody has it");
    silent(jobs).await;
    lease.ack().await.unwrap();
    remove(jobs, "stays").await;
}

async fn dropped_take_loses_no_job(jobs: &dyn JobQueue) {
    let waiters: Vec<_> = (0..3).map(|_| timeout(SILENCE, jobs.take(QueueLane::Main))).collect();
    assert!(future::join_all(waiters).await.iter().all(Result::is_err));
    jobs.add(QueueLane::Main, "late", &json!(0)).await.unwrap();
    let lease = take(jobs).await;
    assert_eq!(lease.job_id(), "late");
    lease.ack().await.unwrap();
    remove(jobs, "late").await;
    // If several callers wait at once, each caller gets one job.
    let waiters = future::join_all((0..3).map(|_| take(jobs)));
    let adding = async {
        for id in ["x", "y", "z"] {
            jobs.add(QueueLane::Main, id, &json!(0)).await.unwrap();
        }
    };
    let (lease, ()) = futures::join!(waiters, adding);
    let ids: BTreeSet<&str> = lease.iter().map(|lease| lease.job_id()).collect();
    assert_eq!(ids, ["x", "y", "z"].into());
    for lease in lease {
        let job_id = lease.job_id().to_owned();
        lease.ack().await.unwrap();
        remove(jobs, &job_id).await;
    }
}

async fn lanes_do_not_wait_for_each_other(jobs: &dyn JobQueue) {
    jobs.add(QueueLane::Main, "long", &json!(0)).await.unwrap();
    jobs.add(QueueLane::FollowUp, "short", &json!(0)).await.unwrap();
    assert_eq!(jobs.waiting_count().await.unwrap(), 2, "of both lanes");
    let again = jobs.add(QueueLane::Main, "short", &json!(1)).await.unwrap();
    assert_eq!(again.expect("in the other lane").document, json!(0));
    let follow_up = || async {
        timeout(PATIENCE, jobs.take(QueueLane::FollowUp)).await.expect("a job is offered").unwrap()
    };
    let lease = follow_up().await;
    assert_eq!(lease.job_id(), "short", "although another job has waited longer");
    lease.nack().await.unwrap();
    let lease = follow_up().await;
    assert_eq!(lease.job_id(), "short", "given back to its lane");
    lease.ack().await.unwrap();
    remove(jobs, "short").await;
    finish(jobs, "long").await;
    silent(jobs).await;
}
