//! Comments that are written at the same time, also by two instances.

use std::sync::Arc;
use std::time::Duration;

use futures::future::join_all;
use ports::conformance::faults::{Fault, Faults};
use ports::records::RecordStore;
use serde_json::json;

use super::{comment, one, path, problems, texts};
use crate::support::{Reply, TestApp};

#[tokio::test]
async fn concurrent_comments_are_all_kept() {
    let app = TestApp::new().await;
    let id = app.video().await;
    join_all((0..25).map(|at| comment(&app, &id, f64::from(at) / 10.0, "x"))).await;
    let list = app.get(&path(&id)).await.ok();
    let starts: Vec<f64> =
        list["comments"].as_array().unwrap().iter().map(|c| c["start"].as_f64().unwrap()).collect();
    assert_eq!(starts.len(), 25);
    assert!(starts.is_sorted(), "{starts:?}");
    assert_eq!(texts(&app.get("/activity?limit=100").await.ok()).len(), 25);
}

/// Two instances that share their stores; calls of the first one can be suspended.
async fn two_instances() -> (TestApp, TestApp, Arc<Faults>) {
    let other = TestApp::new().await;
    let faults = Arc::new(Faults::default());
    let suspended = TestApp::with(|setup| {
        (setup.records, setup.index) = (other.records.clone(), other.index.clone());
        (setup.listing, setup.storage) = (other.listing.clone(), Some(other.storage.clone()));
        setup.faults = Some(faults.clone());
        // The suspended instance is not to notice by its own clock.
        setup.settings.records.deadline = Duration::from_secs(1 << 30);
    });
    (suspended.await, other, faults)
}

/// Runs a change in the first instance, suspended at the `nth` call of a store, and `meanwhile` in
/// the second one. Returns `None` if the change makes fewer calls.
async fn during(
    faults: &Faults,
    nth: usize,
    change: impl Future<Output = Reply>,
    meanwhile: impl Future<Output = ()>,
) -> Option<Reply> {
    faults.plan(nth, Fault::Sleeps);
    let mut change = Box::pin(change);
    let early = tokio::select! {
        biased;
        reply = &mut change => Some(reply),
        () = faults.asleep() => None,
    };
    if !faults.sleeps() {
        return None;
    }
    meanwhile.await;
    faults.wake();
    Some(match early {
        Some(reply) => reply,
        None => change.await,
    })
}

#[tokio::test]
async fn instances_that_write_at_the_same_time_lose_no_comment() {
    let (suspended, other, faults) = two_instances().await;
    let id = other.video().await;
    let mut cases = 0;
    for name in ["add", "edit", "delete"] {
        for nth in 1.. {
            let (own, theirs) =
                (comment(&other, &id, 1.0, "own").await, comment(&other, &id, 2.0, "theirs").await);
            let change = async {
                match name {
                    "add" => {
                        suspended.post_json(&path(&id), json!({"start": 3, "text": "added"})).await
                    }
                    "edit" => suspended.patch_json(&one(&own), json!({"text": "edited"})).await,
                    _ => suspended.delete(&one(&own)).await,
                }
            };
            let meanwhile = async {
                other.patch_json(&one(&theirs), json!({"text": "changed"})).await.ok();
                comment(&other, &id, 4.0, "also added").await;
            };
            let Some(reply) = during(&faults, nth, change, meanwhile).await else {
                assert!(nth > 2, "{name}: {nth} calls");
                break;
            };
            let case = format!("{name}, asleep at call {nth}");
            assert_eq!(reply.status, 200, "{case}: {}", reply.text());
            let list = other.get(&path(&id)).await.ok();
            let expected = match name {
                "add" => &["own", "changed", "added", "also added"][..],
                "edit" => &["edited", "changed", "also added"],
                _ => &["changed", "also added"],
            };
            assert_eq!(texts(&list), expected, "{case}");
            let mut newest: Vec<String> = texts(&other.get("/activity?limit=100").await.ok())
                .into_iter()
                .map(str::to_owned)
                .collect();
            newest.sort_unstable();
            let mut expected = expected.to_vec();
            expected.sort_unstable();
            assert_eq!(newest, expected, "{case}");
            for comment in list["comments"].as_array().unwrap() {
                other.delete(&one(comment)).await.ok();
            }
            cases += 1;
        }
        let list = other.get(&path(&id)).await.ok();
        for comment in list["comments"].as_array().unwrap() {
            other.delete(&one(comment)).await.ok();
        }
    }
    assert_eq!(problems(&other).await, [""; 0]);
    assert!(cases > 10, "{cases}");
}

#[tokio::test]
async fn a_comment_on_a_video_that_is_deleted_meanwhile_goes_with_it() {
    let (suspended, other, faults) = two_instances().await;
    for nth in 1.. {
        let id = other.video().await;
        comment(&other, &id, 1.0, "first").await;
        let uri = path(&id);
        let change = suspended.post_json(&uri, json!({"start": 2, "text": "late"}));
        let meanwhile = async {
            other.delete(&format!("/videos/{id}")).await.ok();
        };
        let Some(reply) = during(&faults, nth, change, meanwhile).await else {
            assert!(nth > 4, "{nth} calls");
            break;
        };
        assert!([200, 404].contains(&reply.status), "asleep at call {nth}: {}", reply.text());
        other.get(&path(&id)).await.error(404);
        assert_eq!(problems(&other).await, [""; 0], "asleep at call {nth}");
        other.service.catalog.comments.sweep().await.unwrap();
        assert_eq!(other.records.list("comments/").await.unwrap(), [""; 0], "asleep at call {nth}");
        assert_eq!(texts(&other.get("/activity").await.ok()), [""; 0], "asleep at call {nth}");
        assert_eq!(other.video().await, id);
        assert_eq!(other.get(&path(&id)).await.ok()["total"], 0, "asleep at call {nth}");
    }
}
