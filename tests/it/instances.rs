//! Instances that share an index: what hits show of their videos is kept for a while, and what was
//! published is found at once.

use std::sync::Arc;
use std::time::Duration;

use adapters::index::memory::MemoryIndex;
use serde_json::{Value, json};

use crate::support::{FakeEmbedder, Setup, TestApp, clip};

const LONG: Duration = Duration::from_secs(3600);

/// Two instances that share what is stored; each keeps for so long what hits show.
async fn two(video_cache_ttl: Duration) -> [TestApp; 2] {
    let index = Arc::new(MemoryIndex::shared(FakeEmbedder::DIMENSION));
    let first = TestApp::with(|setup| {
        setup.index = index.clone();
        setup.settings.records.video_cache_ttl = video_cache_ttl;
    })
    .await;
    let beside = |setup: &mut Setup| {
        setup.index = index.clone();
        setup.records = first.records.clone();
        setup.listing = first.listing.clone();
        setup.storage = Some(first.storage.clone());
        setup.settings.records.video_cache_ttl = video_cache_ttl;
    };
    let second = TestApp::with(beside).await;
    [first, second]
}

/// When the moments of a search were recorded.
async fn recorded(app: &TestApp) -> Vec<Value> {
    let body = json!({"text": "a scene", "analyzer": "default_video", "synthesize": false});
    let found = app.post_json("/query", body).await.ok();
    let hits = found["results"].as_array().expect("hits").iter();
    hits.map(|hit| hit["recorded_at"].clone()).collect()
}

async fn record_at(app: &TestApp, id: &str, year: u32) {
    let at = json!({"recorded_at": format!("{year}-01-01T00:00:00Z")});
    app.patch_json(&format!("/videos/{id}"), at).await.ok();
}

fn of(year: u32, hits: &[Value]) -> bool {
    let begins = |hit: &Value| hit.as_str().is_some_and(|at| at.starts_with(&year.to_string()));
    !hits.is_empty() && hits.iter().all(begins)
}

#[tokio::test]
async fn hits_show_own_changes_at_once_and_those_of_others_a_while_later() {
    let [here, there] = two(LONG).await;
    let id = here.video().await;
    record_at(&here, &id, 2001).await;
    assert!(of(2001, &recorded(&here).await));
    record_at(&there, &id, 2002).await;
    assert!(of(2002, &recorded(&there).await), "its own change");
    assert!(of(2001, &recorded(&here).await), "what was read before");
    record_at(&here, &id, 2003).await;
    assert!(of(2003, &recorded(&here).await), "its own change");

    let [here, there] = two(Duration::ZERO).await;
    let id = here.video().await;
    record_at(&here, &id, 2001).await;
    assert!(of(2001, &recorded(&here).await));
    record_at(&there, &id, 2002).await;
    assert!(of(2002, &recorded(&here).await), "nothing is kept");
}

#[tokio::test]
async fn what_another_instance_publishes_or_deletes_shows_at_once() {
    let [here, there] = two(LONG).await;
    let file = clip(30.0);
    let id = here.video_of(&file).await;
    record_at(&here, &id, 2001).await;
    assert_eq!(recorded(&here).await.len(), 3);
    record_at(&there, &id, 2002).await;
    let anew = [("mode", "interval"), ("interval", "15")];
    assert_eq!(there.job_of(&anew, "clip.mp4", &file).await["status"], "done");
    let hits = recorded(&here).await;
    assert!(hits.len() == 2 && of(2002, &hits), "points not known before are looked up: {hits:?}");
    there.delete(&format!("/videos/{id}")).await.ok();
    assert!(recorded(&here).await.is_empty());
}
