//! Several clients and instances that change one bin.

use std::sync::Arc;
use std::time::Duration;

use futures::future::join_all;
use poem::http::Method;
use ports::conformance::faults::{Fault, Faults};
use serde_json::{Value, json};

use super::{bin, filled, order, send, span};
use crate::support::{Reply, TestApp, mentions};

#[tokio::test]
async fn changes_based_on_an_outdated_version_are_refused() {
    let app = TestApp::new().await;
    let id = app.video().await;
    let path = filled(&app, &id, 3).await;
    let select = |number: u32| format!("{path}/selects/s{number}");
    let rate = |rating: u32| json!({"rating": rating});
    // Version 3 changes the first select, version 4 the order.
    app.patch_json(&select(1), rate(1)).await.ok();
    let order_of_three = json!({"select_ids": ["s3"], "position": 0});
    app.post_json(&format!("{path}/selects/move"), order_of_three.clone()).await.ok();

    let outdated = |reply: Reply| mentions(&reply.error(412), &["has changed", "version 4"]);
    outdated(send(&app, Method::PATCH, &select(1), Some(2), rate(5)).await);
    outdated(
        send(&app, Method::POST, &format!("{}/split", select(1)), Some(2), json!({"at": 0.5}))
            .await,
    );
    outdated(send(&app, Method::DELETE, &select(1), Some(2), Value::Null).await);
    let both = json!({"select_ids": ["s2", "s1"]});
    outdated(send(&app, Method::POST, &format!("{path}/selects/remove"), Some(2), both).await);
    outdated(
        send(&app, Method::POST, &format!("{path}/selects/move"), Some(3), order_of_three).await,
    );
    outdated(send(&app, Method::POST, &format!("{path}/undo"), Some(3), Value::Null).await);
    outdated(send(&app, Method::DELETE, &path, Some(3), Value::Null).await);
    for tag in ["4", "W/\"4\"", "\"x\"", "\"5\"", ""] {
        let request = app.request(Method::DELETE, &path).header("If-Match", tag);
        outdated(app.raw(request.finish()).await);
    }
    assert_eq!(app.get(&path).await.ok()["version"], 4);

    // Changes to other parts do not matter.
    send(&app, Method::PATCH, &select(2), Some(2), rate(2)).await.ok();
    send(&app, Method::PATCH, &path, Some(2), json!({"name": "renamed"})).await.ok();
    send(&app, Method::PATCH, &select(1), Some(3), rate(3)).await.ok();
    let reply = send(&app, Method::PATCH, &path, Some(5), json!({"name": "again"})).await;
    mentions(&reply.error(412), &["version 7"]);
    // An undo counts as a change to everything.
    app.post_json(&format!("{path}/undo"), Value::Null).await.ok();
    send(&app, Method::PATCH, &select(2), Some(7), rate(4)).await.error(412);
    send(&app, Method::PATCH, &select(2), Some(8), rate(4)).await.ok();
    let request = app.request(Method::DELETE, &path).header("If-Match", "\"2\", \"9\"");
    app.raw(request.finish()).await.ok();
}

#[tokio::test]
async fn concurrent_additions_are_all_kept() {
    let app = TestApp::new().await;
    let id = app.video().await;
    let path = bin(&app, "shared").await;
    let add = |second: u32| {
        let body = json!({"selects": [span(&id, f64::from(second), f64::from(second + 1))]});
        let (app, uri) = (&app, format!("{path}/selects"));
        async move { app.post_json(&uri, body).await.ok() }
    };
    let added = join_all((0..25).map(add)).await;
    let mut ids: Vec<&str> =
        added.iter().map(|added| added["selects"][0]["select_id"].as_str().unwrap()).collect();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), 25);
    let bin = app.get(&path).await.ok();
    assert_eq!((&bin["selects"], &bin["version"]), (&json!(25), &json!(26)));
    assert_eq!(order(&app, &path).await.len(), 25);
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

/// One instance is suspended at each call of a change while another one changes the same bin.
#[tokio::test]
async fn a_suspended_change_loses_nothing_that_another_instance_changed() {
    let (suspended, other, faults) = two_instances().await;
    let id = other.video().await;
    let mut cases = 0;
    for (name, method, uri, body) in [
        ("add", Method::POST, "/selects", json!({"selects": [span(&id, 0.0, 1.0)]})),
        ("edit", Method::PATCH, "/selects/s2", json!({"note": "mine"})),
        ("move", Method::POST, "/selects/move", json!({"select_ids": ["s3"], "before": "s1"})),
        ("split", Method::POST, "/selects/s2/split", json!({"at": 1.5})),
        ("remove", Method::DELETE, "/selects/s2", Value::Null),
        ("describe", Method::PATCH, "", json!({"name": "mine"})),
    ] {
        for nth in 1.. {
            let path = filled(&other, &id, 3).await;
            let uri = format!("{path}{uri}");
            faults.plan(nth, Fault::Sleeps);
            let mut change = Box::pin(send(&suspended, method.clone(), &uri, None, body.clone()));
            let early = tokio::select! {
                biased;
                reply = &mut change => Some(reply),
                () = faults.asleep() => None,
            };
            if !faults.sleeps() {
                assert!(nth > 3, "{name}: {nth} calls");
                break;
            }
            let theirs = json!({"selects": [span(&id, 5.0, 6.0)], "position": 0});
            other.post_json(&format!("{path}/selects"), theirs).await.ok();
            other.patch_json(&format!("{path}/selects/s1"), json!({"note": "theirs"})).await.ok();
            faults.wake();
            let reply = match early {
                Some(reply) => reply,
                None => change.await,
            };
            let case = format!("{name}, asleep at call {nth}");
            assert_eq!(reply.status, 200, "{case}: {}", reply.text());

            let list = other.get(&format!("{path}/selects")).await.ok();
            let selects = list["selects"].as_array().unwrap();
            let note = |id: &str| {
                let select = selects.iter().find(|select| select["select_id"] == id);
                select.map(|select| select["note"].as_str().unwrap())
            };
            assert_eq!(note("s1"), Some("theirs"), "{case}: {list}");
            let expected = match name {
                "add" | "split" => 5,
                "remove" => 3,
                _ => 4,
            };
            assert_eq!(selects.len(), expected, "{case}: {list}");
            match name {
                "edit" => assert_eq!(note("s2"), Some("mine"), "{case}"),
                "remove" => assert_eq!(note("s2"), None, "{case}"),
                "describe" => assert_eq!(other.get(&path).await.ok()["name"], "mine", "{case}"),
                "move" => {
                    let order = order(&other, &path).await;
                    let at = |id: &str| order.iter().position(|other| other == id);
                    assert!(at("s3") < at("s1"), "{case}: {order:?}");
                }
                _ => {}
            }
            assert_eq!(other.service.catalog.bins.sweep().await.unwrap(), 0, "{case}");
            let verified = other.service.maintenance.verification.run().await.unwrap();
            assert_eq!(verified.problems, [""; 0], "{case}");
            cases += 1;
        }
    }
    assert!(cases > 20, "{cases}");
}

#[tokio::test]
async fn a_bin_deleted_during_a_change_stays_deleted() {
    let (suspended, other, faults) = two_instances().await;
    let id = other.video().await;
    let body = json!({"selects": [span(&id, 0.0, 1.0)]});
    for nth in 1.. {
        let path = bin(&other, "doomed").await;
        let uri = format!("{path}/selects");
        faults.plan(nth, Fault::Sleeps);
        let mut change = Box::pin(send(&suspended, Method::POST, &uri, None, body.clone()));
        tokio::select! {
            biased;
            _ = &mut change => {}
            () = faults.asleep() => {}
        }
        if !faults.sleeps() {
            break;
        }
        other.delete(&path).await.ok();
        faults.wake();
        let status = change.await.status;
        assert!(status == 404 || status == 200, "asleep at call {nth}: {status}");
        other.get(&path).await.error(404);
        other.service.catalog.bins.sweep().await.unwrap();
        use ports::records::RecordStore;
        assert_eq!(other.records.list("bins/").await.unwrap(), [""; 0], "asleep at call {nth}");
    }
}
