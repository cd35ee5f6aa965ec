//! Instances that share an index: each caches the video metadata of its hits, and finds newly published
//! videos at once.

use std::sync::Arc;
use std::time::Duration;

use adapters::index::memory::MemoryIndex;
use serde_json::{Value, json};

use crate::support::{FakeEmbedder, Setup, TestApp, clip};

const LONG: Duration = Duration::from_secs(3600);

/// Two instances that share all stores; each caches the video metadata of hits for `video_cache_ttl`.
async fn two_instances(video_cache_ttl: Duration) -> [TestApp; 2] {
    let index = Arc::new(MemoryIndex::shared(FakeEmbedder::DIMENSION));
    let first = TestApp::with(|setup| {
        setup.index = index.clone();
        setup.settings.records.video_cache_ttl = video_cache_ttl;
    })
    .await;
    let share_stores = |setup: &mut Setup| {
        setup.index = index.clone();
        setup.records = first.records.clone();
        setup.listing = first.listing.clone();
        setup.storage = Some(first.storage.clone());
        setup.settings.records.video_cache_ttl = video_cache_ttl;
    };
    let second = TestApp::with(share_stores).await;
    [first, second]
}

/// The recording time of every hit of a search.
async fn recording_times(app: &TestApp) -> Vec<Value> {
    let body = json!({"text": "a scene", "analyzer": "default_video", "synthesize": false});
    let page = app.post_json("/query", body).await.ok();
    let hits = page["results"].as_array().expect("hits").iter();
    hits.map(|hit| hit["recorded_at"].clone()).collect()
}

async fn set_year(app: &TestApp, id: &str, year: u32) {
    let at = json!({"recorded_at": format!("{year}-01-01T00:00:00Z")});
    app.patch_json(&format!("/videos/{id}"), at).await.ok();
}

fn all_from(year: u32, hits: &[Value]) -> bool {
    let matches = |hit: &Value| hit.as_str().is_some_and(|at| at.starts_with(&year.to_string()));
    !hits.is_empty() && hits.iter().all(matches)
}

#[tokio::test]
async fn hits_show_own_changes_at_once_and_those_of_others_after_the_cache_ttl() {
    let [here, there] = two_instances(LONG).await;
    let id = here.video().await;
    set_year(&here, &id, 2001).await;
    assert!(all_from(2001, &recording_times(&here).await));
    set_year(&there, &id, 2002).await;
    assert!(all_from(2002, &recording_times(&there).await), "its own change");
    assert!(all_from(2001, &recording_times(&here).await), "the cached value");
    set_year(&here, &id, 2003).await;
    assert!(all_from(2003, &recording_times(&here).await), "its own change");

    let [here, there] = two_instances(Duration::ZERO).await;
    let id = here.video().await;
    set_year(&here, &id, 2001).await;
    assert!(all_from(2001, &recording_times(&here).await));
    set_year(&there, &id, 2002).await;
    assert!(all_from(2002, &recording_times(&here).await), "nothing is cached");
}

#[tokio::test]
async fn videos_that_another_instance_publishes_or_deletes_change_hits_at_once() {
    let [here, there] = two_instances(LONG).await;
    let file = clip(30.0);
    let id = here.video_of(&file).await;
    set_year(&here, &id, 2001).await;
    assert_eq!(recording_times(&here).await.len(), 3);
    set_year(&there, &id, 2002).await;
    let fields = [("mode", "interval"), ("interval", "15")];
    assert_eq!(there.job_of(&fields, "clip.mp4", &file).await["status"], "done");
    let hits = recording_times(&here).await;
    assert!(hits.len() == 2 && all_from(2002, &hits), "metadata of new points is read: {hits:?}");
    there.delete(&format!("/videos/{id}")).await.ok();
    assert!(recording_times(&here).await.is_empty());
}
