//! What is stored for a bin: how much a change writes, and what maintenance verifies and removes.

use std::collections::BTreeSet;

use ports::records::RecordStore;
use serde_json::{Value, json};

use super::{bin, filled, order, selects, span};
use crate::support::{TestApp, mentions};

/// The keys of the documents of all bins.
async fn keys(app: &TestApp) -> BTreeSet<String> {
    app.records.list("bins/").await.unwrap().into_iter().collect()
}

/// The total size of documents, as JSON.
async fn bytes<'k>(app: &TestApp, keys: impl Iterator<Item = &'k String>) -> usize {
    let mut bytes = 0;
    for key in keys {
        bytes +=
            app.records.get(key).await.unwrap().map_or(0, |document| document.to_string().len());
    }
    bytes
}

/// A bin with this number of selects of 9 seconds, each 1 ms after the one before.
async fn large(app: &TestApp, video_id: &str, count: u32) -> String {
    let path = bin(app, "large").await;
    let moment = |ms| json!({"moment_id": format!("m_{video_id}_{ms}_{}", ms + 9_000)});
    let selects: Vec<Value> = (0..count).map(moment).collect();
    app.post_json(&format!("{path}/selects"), json!({"selects": selects})).await.ok();
    path
}

#[tokio::test]
async fn a_change_of_a_large_bin_writes_little() {
    let app = TestApp::new().await;
    let id = app.video().await;
    let path = large(&app, &id, 10_000).await;
    let full = json!({"selects": [{"moment_id": format!("m_{id}_0_1000")}]});
    let refused = app.post_json(&format!("{path}/selects"), full).await;
    mentions(&refused.error(400), &["at most 10000 selects"]);
    let stored = keys(&app).await;
    let total = bytes(&app, stored.iter()).await;
    println!("10000 selects: {} documents, {total} bytes", stored.len());

    for (name, uri, body) in [
        ("move", "selects/move", json!({"select_ids": ["s9001"], "position": 10})),
        ("remove", "selects/remove", json!({"select_ids": ["s5000"]})),
        ("split", "selects/s3000/split", json!({"at": 5})),
    ] {
        let before = keys(&app).await;
        app.post_json(&format!("{path}/{uri}"), body).await.ok();
        let after = keys(&app).await;
        let new: Vec<&String> = after.difference(&before).collect();
        let head = before.iter().filter(|key| key.ends_with("/bin.json"));
        let written = bytes(&app, new.iter().copied().chain(head)).await;
        println!("{name}: {} pages, {written} bytes", new.len());
        assert!((1..=4).contains(&new.len()), "{name}: {new:?}");
        assert!(written < total / 8, "{name}: {written} of {total} bytes");
    }
    let page = app.get(&format!("{path}/selects?offset=9&limit=3")).await.ok();
    let ids: Vec<&Value> =
        page["selects"].as_array().unwrap().iter().map(|s| &s["select_id"]).collect();
    assert_eq!(ids, ["s10", "s9001", "s11"]);
    for _ in 0..3 {
        app.post_json(&format!("{path}/undo"), Value::Null).await.ok();
    }
    let last = app.get(&format!("{path}/selects?offset=9999")).await.ok();
    assert_eq!(last["selects"][0]["select_id"], "s10000");
    assert_eq!(keys(&app).await, stored, "an undo removes the pages that it replaced");
}

#[tokio::test]
async fn a_move_of_scattered_selects_writes_only_their_order() {
    let app = TestApp::with(|setup| setup.settings.bins.cache_bytes = 0).await;
    let id = app.video().await;
    let path = large(&app, &id, 2_000).await;
    let stored = keys(&app).await;
    let tens = |count: usize| (1..=count).map(|number| format!("s{}", number * 10));
    let moved: Vec<String> = tens(100).rev().collect();
    let body = json!({"select_ids": moved, "position": 0});
    app.post_json(&format!("{path}/selects/move"), body).await.ok();

    let ordered = keys(&app).await;
    let new: Vec<&String> = ordered.difference(&stored).collect();
    assert_eq!(new.len(), 1, "{new:?}");
    let others = (1..=2_000).filter(|number| number % 10 != 0 || *number > 1_000);
    let expected: Vec<String> =
        moved.into_iter().chain(others.map(|number| format!("s{number}"))).collect();
    for offset in [0, 95, 400, 1_750] {
        let page = app.get(&format!("{path}/selects?limit=300&offset={offset}")).await.ok();
        let page = page["selects"].as_array().unwrap().iter().map(|s| s["select_id"].clone());
        let wanted = &expected[offset..(offset + 300).min(2_000)];
        assert_eq!(page.collect::<Vec<Value>>(), wanted, "{offset}");
    }
    assert_eq!(app.service.catalog.bins.sweep().await.unwrap(), 0);

    app.patch_json(&format!("{path}/selects/s990"), json!({"note": "changed"})).await.ok();
    let second = app.get(&format!("{path}/selects?limit=2")).await.ok();
    assert_eq!(second["selects"][1]["note"], "changed");
    for _ in 0..2 {
        app.post_json(&format!("{path}/undo"), Value::Null).await.ok();
    }
    assert_eq!(keys(&app).await, stored, "an undo removes the order");
}

#[tokio::test]
async fn listing_bins_reads_no_selects() {
    let app = TestApp::with(|setup| setup.settings.bins.cache_bytes = 0).await;
    let id = app.video().await;
    let path = filled(&app, &id, 20).await;
    for key in keys(&app).await.iter().filter(|key| !key.ends_with("/bin.json")) {
        app.records.spoil(key).await;
    }
    let bins = app.get("/bins").await.ok();
    assert_eq!(
        (&bins["bins"][0]["selects"], &bins["bins"][0]["duration"]),
        (&json!(20), &json!(20.0))
    );
    assert_eq!(app.get(&format!("/bins?video_id={id}")).await.ok()["video_selects"], 20);
    app.get(&format!("{path}/selects")).await.error(500);
}

#[tokio::test]
async fn bins_survive_a_restart() {
    let before = TestApp::new().await;
    let id = before.video().await;
    let path = filled(&before, &id, 3).await;
    before.patch_json(&format!("{path}/selects/s2"), json!({"note": "kept"})).await.ok();
    let state = (before.get(&path).await.ok(), selects(&before, &path).await);
    let after = TestApp::with(|setup| {
        (setup.records, setup.index) = (before.records.clone(), before.index.clone());
        (setup.listing, setup.storage) = (before.listing.clone(), Some(before.storage.clone()));
    })
    .await;
    assert_eq!((after.get(&path).await.ok(), selects(&after, &path).await), state);
    after.post_json(&format!("{path}/undo"), Value::Null).await.ok();
    assert_eq!(selects(&after, &path).await[1]["note"], "");
}

#[tokio::test]
async fn a_sweep_removes_only_what_no_bin_needs() {
    let app = TestApp::new().await;
    let id = app.video().await;
    let path = filled(&app, &id, 3).await;
    let folder = path.trim_start_matches('/').to_owned();
    app.patch_json(&format!("{path}/selects/s2"), json!({"note": "new"})).await.ok();
    let needed = keys(&app).await;
    let sweep = async || app.service.catalog.bins.sweep().await.unwrap();
    assert_eq!(sweep().await, 0);

    // Version 3 is current: an interrupted change to it can no longer succeed, a later one can.
    let garbage = format!("{folder}/3-aaaaaaaaaaaa.json");
    let pending = format!("{folder}/4-bbbbbbbbbbbb.json");
    for key in [&garbage, &pending] {
        app.records.put(key, &json!([])).await.unwrap();
    }
    // The delete of a bin was interrupted.
    app.records.put("bins/0123456789ab/bin.json", &json!({"deleted": true})).await.unwrap();
    app.records.put("bins/0123456789ab/1-cccccccccccc.json", &json!([])).await.unwrap();
    app.records.put("bins/ba9876543210/1-dddddddddddd.json", &json!([])).await.unwrap();
    app.get("/bins/0123456789ab").await.error(404);
    assert_eq!(app.get("/bins").await.ok()["total"], 1);
    assert_eq!(app.service.maintenance.verification.run().await.unwrap().problems, [""; 0]);
    assert_eq!(sweep().await, 3);
    let mut expected = needed.clone();
    expected.insert(pending);
    assert_eq!(keys(&app).await, expected);
    app.post_json(&format!("{path}/undo"), Value::Null).await.ok();
    assert_eq!(order(&app, &path).await, ["s1", "s2", "s3"]);
    assert_eq!(sweep().await, 1);
}

#[tokio::test]
async fn damaged_bins_are_reported_and_can_be_deleted() {
    let app = TestApp::with(|setup| setup.settings.bins.cache_bytes = 0).await;
    let id = app.video().await;
    let problems = async || app.service.maintenance.verification.run().await.unwrap().problems;
    let [whole, damaged, lacking, unreadable] = [
        filled(&app, &id, 2).await,
        filled(&app, &id, 2).await,
        filled(&app, &id, 2).await,
        filled(&app, &id, 2).await,
    ];
    assert_eq!(problems().await, [""; 0]);
    let page = async |path: &str| {
        let folder = format!("{}/", path.trim_start_matches('/'));
        let keys = keys(&app).await.into_iter();
        let mut pages = keys.filter(|key| key.starts_with(&folder) && !key.ends_with("/bin.json"));
        pages.next().unwrap()
    };
    app.records.spoil(&page(&damaged).await).await;
    app.records.delete(&page(&lacking).await).await.unwrap();
    let head = format!("{}/bin.json", unreadable.trim_start_matches('/'));
    app.records.put(&head, &json!({"name": 7})).await.unwrap();

    let found = problems().await;
    assert_eq!(found.len(), 3, "{found:?}");
    for (path, words) in [
        (&damaged, ["is not JSON", "delete the bin"]),
        (&lacking, ["is missing", "delete the bin"]),
        (&unreadable, ["does not read back", "delete the bin"]),
    ] {
        let bin_id = path.trim_start_matches("/bins/");
        let line = found.iter().find(|line| line.starts_with(&format!("bin {bin_id}: ")));
        mentions(line.unwrap(), &words);
        app.get(&format!("{path}/selects")).await.error(500);
    }
    assert_eq!(app.get("/bins").await.ok()["total"], 3, "the unreadable one is not listed");
    for path in [damaged, lacking, unreadable] {
        app.delete(&path).await.ok();
    }
    assert_eq!(problems().await, [""; 0]);
    assert_eq!(selects(&app, &whole).await.len(), 2);
    let folder = format!("{}/", whole.trim_start_matches('/'));
    assert!(keys(&app).await.iter().all(|key| key.starts_with(&folder)));

    let more = json!({"selects": [span(&id, 0.0, 1.0)]});
    app.post_json(&format!("{whole}/selects"), more).await.ok();
}

#[tokio::test]
async fn a_damaged_order_is_reported() {
    let app = TestApp::new().await;
    let id = app.video().await;
    let path = large(&app, &id, 900).await;
    let before = keys(&app).await;
    let ends = json!({"select_ids": ["s1", "s500", "s900"], "position": 450});
    app.post_json(&format!("{path}/selects/move"), ends).await.ok();
    let after = keys(&app).await;
    let order = after.difference(&before).next().unwrap();
    let problems = async || app.service.maintenance.verification.run().await.unwrap().problems;
    assert_eq!(problems().await, [""; 0]);
    for (damage, words) in [
        (json!([[0, 899]]), "does not order every select"),
        (json!([[0, 900], [5, 1]]), "does not order every select"),
        (json!({"runs": 7}), "does not read back"),
    ] {
        app.records.put(order, &damage).await.unwrap();
        mentions(&problems().await.concat(), &[order, words, "delete the bin"]);
        app.get(&format!("{path}/selects")).await.error(500);
    }
    app.records.delete(order).await.unwrap();
    mentions(&problems().await.concat(), &[order, "is missing"]);
}
