use std::sync::Arc;

use adapters::jobs::MemoryJobs;
use serde_json::{Value, json};

use crate::support::{TestApp, clip, mentions};

async fn video_in(app: &TestApp, seconds: f64, collection: &str) -> String {
    let fields = [("mode", "interval"), ("interval", "10"), ("collection", collection)];
    let job = app.job_of(&fields, "clip.mp4", &clip(seconds)).await;
    assert_eq!(job["status"], "done", "{job}");
    job["result"]["video_id"].as_str().unwrap().to_owned()
}

/// Name and number of videos of each collection.
async fn list_collections(app: &TestApp) -> Vec<(String, u64)> {
    let list = app.get("/collections").await.ok();
    let read = |c: &Value| (c["name"].as_str().unwrap().into(), c["videos"].as_u64().unwrap());
    list["collections"].as_array().unwrap().iter().map(read).collect()
}

async fn in_collection(app: &TestApp, name: &str) -> u64 {
    let list = app.get(&format!("/videos?collection={name}")).await.ok();
    list["total"].as_u64().unwrap()
}

/// Waits for the job of an accepted change and returns it.
async fn finish_change(app: &TestApp, reply: crate::support::Reply) -> Value {
    assert_eq!(reply.status, 202, "{}", reply.text());
    app.finished(reply.json()["job_id"].as_str().unwrap()).await
}

#[tokio::test]
async fn collections_are_listed_renamed_and_removed() {
    let app = TestApp::new().await;
    assert_eq!(list_collections(&app).await, []);
    for (seconds, name) in [(10.0, "street"), (20.0, "street"), (30.0, "garden")] {
        video_in(&app, seconds, name).await;
    }
    assert_eq!(list_collections(&app).await, [("garden".into(), 1), ("street".into(), 2)]);
    let page = app.get("/collections?limit=1").await.ok();
    assert_eq!(
        (&page["next"], &page["collections"][0]["name"]),
        (&json!("garden"), &json!("garden"))
    );
    assert!(page["collections"][0]["first_added"].as_str().unwrap().ends_with('Z'));
    let rest = app.get("/collections?limit=1&cursor=garden").await.ok();
    assert_eq!(rest["collections"][0]["name"], "street");
    assert_eq!(rest.get("next"), None);

    let job =
        finish_change(&app, app.patch_json("/collections/street", json!({"name": "road"})).await)
            .await;
    assert_eq!(job["result"], json!({"collection": "street", "videos": 2}), "{job}");
    assert_eq!((&job["source"], &job["stage"]), (&json!("street"), &json!("complete")));
    assert_eq!(list_collections(&app).await, [("garden".into(), 1), ("road".into(), 2)]);
    assert_eq!((in_collection(&app, "road").await, in_collection(&app, "street").await), (2, 0));
    let search = json!({"text": "a door", "filters": {"collections": ["road"]}, "limit": 50});
    let hits = app.post_json("/query", search).await.ok();
    assert!(!hits["results"].as_array().unwrap().is_empty(), "{hits}");

    // Renaming to an existing name merges the collections.
    let job =
        finish_change(&app, app.patch_json("/collections/garden", json!({"name": "road"})).await)
            .await;
    assert_eq!(job["result"]["videos"], 1, "{job}");
    assert_eq!(list_collections(&app).await, [("road".into(), 3)]);

    let removed = app.get("/videos?collection=road&limit=1").await.ok();
    let removed = removed["videos"][0]["video_id"].as_str().unwrap().to_owned();
    app.patch_json(&format!("/videos/{removed}"), json!({"collection": "kept"})).await.ok();
    finish_change(&app, app.delete("/collections/kept?videos=keep").await).await;
    assert_eq!(app.get(&format!("/videos/{removed}")).await.ok().get("collection"), None);
    let other = app.get("/videos?collection=road&limit=1").await.ok();
    let other = other["videos"][0]["video_id"].as_str().unwrap().to_owned();
    assert_eq!(app.get(&format!("/videos/{other}/frames?t=0")).await.status, 200);
    assert_eq!(app.spooled(), 1, "a local copy to extract frames from");
    let job = finish_change(&app, app.delete("/collections/road?videos=delete").await).await;
    assert_eq!(job["result"], json!({"collection": "road", "videos": 2}), "{job}");
    assert_eq!(list_collections(&app).await, []);
    assert_eq!(app.spooled(), 0, "the local copies are removed");
    assert_eq!(
        app.get("/videos").await.ok()["total"],
        1,
        "only the video removed from the collection before"
    );
    assert_eq!(app.service.maintenance.verification.run().await.unwrap().problems, [""; 0]);
}

#[tokio::test]
async fn invalid_changes_are_refused() {
    let app = TestApp::new().await;
    video_in(&app, 10.0, "street").await;
    let rename = async |name: &str, to: Value| {
        app.patch_json(&format!("/collections/{name}"), json!({"name": to})).await
    };
    mentions(&rename("streets", json!("x")).await.error(404), &["unknown collection 'streets'"]);
    mentions(&rename("street", json!("street")).await.error(400), &["has that name already"]);
    mentions(&rename("street", json!("  ")).await.error(422), &["name is empty"]);
    mentions(&rename("street", json!("x".repeat(129))).await.error(422), &["at most 128"]);
    mentions(&rename("street", json!(7)).await.error(422), &["name"]);
    let unknown_field =
        app.patch_json("/collections/street", json!({"name": "a", "more": 1})).await;
    mentions(&unknown_field.error(422), &["more"]);
    mentions(&app.delete("/collections/street").await.error(422), &["videos"]);
    mentions(&app.delete("/collections/street?videos=all").await.error(422), &["videos"]);
    mentions(&app.delete("/collections/no?videos=keep").await.error(404), &["unknown collection"]);
    assert_eq!(list_collections(&app).await, [("street".into(), 1)]);
}

#[tokio::test]
async fn interrupted_change_is_completed_after_a_restart() {
    let before = TestApp::new().await;
    for seconds in [10.0, 20.0, 30.0] {
        video_in(&before, seconds, "street").await;
    }
    let (records, index) = (before.records.clone(), before.index.clone());
    let (listing, storage) = (before.listing.clone(), before.storage.clone());
    let next = async |workers: usize| {
        TestApp::with(|setup| {
            (setup.records, setup.index) = (records.clone(), index.clone());
            (setup.listing, setup.storage) = (listing.clone(), Some(storage.clone()));
            setup.jobs = Arc::new(MemoryJobs::new());
            setup.settings.ingest.workers = workers;
        })
        .await
    };
    // No worker runs the job.
    let dying = next(0).await;
    let reply = dying.patch_json("/collections/street", json!({"name": "road"})).await;
    let job_id = reply.json()["job_id"].as_str().unwrap().to_owned();
    drop(dying);

    // One video has the new name, but its listing entry was not updated.
    let renamed = before.get("/videos?limit=1").await.ok()["videos"][0]["video_id"].clone();
    let key = format!("videos/{}/video.json", renamed.as_str().unwrap());
    use ports::records::RecordStore;
    let mut record = records.get(&key).await.unwrap().unwrap();
    record["about"]["collection"] = json!("road");
    records.put(&key, &record).await.unwrap();

    let after = next(2).await;
    assert_eq!(
        after.get(&format!("/jobs/{job_id}")).await.status,
        404,
        "the in-memory queue is lost"
    );
    after.service.jobs.submission.resume().await.unwrap();
    let job = after.finished(&job_id).await;
    assert_eq!(job["status"], "done", "{job}");
    assert_eq!(list_collections(&after).await, [("road".into(), 3)]);
    // The finished change is removed, so that it runs only once.
    for _ in 0..200 {
        if records.children("pending/").await.unwrap().is_empty() {
            return;
        }
        tokio::time::sleep(std::time::Duration::from_millis(10)).await;
    }
    panic!("the pending change of a finished job was not removed");
}
