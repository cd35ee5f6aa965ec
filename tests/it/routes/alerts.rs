use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use adapters::jobs::MemoryJobs;
use ports::records::RecordStore;
use serde_json::{Value, json};

use super::corrections::{correct, speech_models};
use crate::support::{Reply, TestApp, clip, mentions};

const HOOK: &str = "https://example.org/hook?key=of-the-door";

/// An alert that matches any moment with a door.
fn door() -> Value {
    json!({"text": "a door", "webhook": HOOK, "min_p_present": 0, "limit": 2})
}

async fn ingest(app: &TestApp, seconds: f64, fields: &[(&str, &str)]) -> String {
    let interval = ("interval", "10");
    let split = fields.iter().any(|(name, _)| *name == interval.0);
    let fields = [&[("mode", "interval"), interval][..if split { 1 } else { 2 }], fields].concat();
    let job = app.job_of(&fields, "clip.mp4", &clip(seconds)).await;
    assert_eq!(job["status"], "done", "{job}");
    job["result"]["video_id"].as_str().unwrap().to_owned()
}

/// Results of the alert jobs once every job has ended, newest first.
async fn alert_jobs(app: &TestApp) -> Vec<Value> {
    let jobs = app.idle().await.into_iter();
    let alerts = jobs.filter(|job| job["result"].get("failed_deliveries").is_some());
    alerts.map(|job| job["result"].clone()).collect()
}

fn notices(app: &TestApp) -> Vec<Value> {
    let notices = app.webhooks.requests();
    notices.iter().map(|notice| serde_json::from_slice(&notice.body).unwrap()).collect()
}

#[tokio::test]
async fn webhook_is_called_for_each_new_matching_video() {
    let app = TestApp::new().await;
    ingest(&app, 10.0, &[]).await;
    let alert = app.put_json("/alerts/doors", door()).await.ok();
    assert_eq!(alert["webhook"], "https://example.org/hook?key=REDACTED");
    assert_eq!((&alert["analyzer"], &alert["delivered"]), (&json!("*"), &json!(0)));
    let elsewhere = json!({"text": "a door", "webhook": HOOK, "min_p_present": 0,
        "filters": {"collections": ["elsewhere"]}});
    app.put_json("/alerts/elsewhere", elsewhere).await.ok();
    assert!(notices(&app).is_empty(), "no webhook for videos ingested before the alert");
    let page = app.post_json("/alerts/doors/test", Value::Null).await.ok();
    assert_eq!(page["results"].as_array().unwrap().len(), 1, "{page}");

    let id = ingest(&app, 30.0, &[("recorded_at", "2026-01-01T10:00:00Z")]).await;
    let result = json!({"video_id": id, "alerts": 1, "failed_deliveries": 0});
    assert_eq!(alert_jobs(&app).await, [result]);
    let sent = app.webhooks.requests();
    assert_eq!((sent.len(), sent[0].url.as_str()), (1, HOOK));
    let (name, signature) = &sent[0].headers[0];
    assert!(name == "Shotlog-Signature" && signature.contains(",v1="), "{signature}");
    let event = &notices(&app)[0];
    assert_eq!((&event["alert"], &event["text"]), (&json!("doors"), &json!("a door")));
    assert_eq!((&event["video_id"], &event["filename"]), (&json!(id), &json!("clip.mp4")));
    let moments = event["moments"].as_array().unwrap();
    assert_eq!(moments.len(), 2, "no more than the limit: {event}");
    assert!(moments[0]["recorded_at"].as_str().unwrap().starts_with("2026-01-01T10:00:"));
    let moment = moments[0]["moment_id"].as_str().unwrap();
    assert_eq!(app.get(&format!("/moments/{moment}")).await.ok()["video_id"], json!(id));

    // An identical ingest triggers nothing; other chunks do.
    ingest(&app, 30.0, &[]).await;
    alert_jobs(&app).await;
    assert_eq!(notices(&app).len(), 1);
    ingest(&app, 30.0, &[("interval", "15")]).await;
    alert_jobs(&app).await;
    let events = notices(&app);
    assert_eq!(events.len(), 2);
    assert_ne!(events[0]["event_id"], events[1]["event_id"]);
    let alert = app.get("/alerts/doors").await.ok();
    assert_eq!((&alert["delivered"], &alert["failed"]), (&json!(2), &json!([])));
    assert!(alert["last_delivered_at"].as_str().unwrap().ends_with('Z'));

    let list = app.get("/alerts").await.ok();
    let names: Vec<&Value> =
        list["alerts"].as_array().unwrap().iter().map(|a| &a["name"]).collect();
    assert_eq!(names, ["doors", "elsewhere"]);
    assert_eq!(app.delete("/alerts/doors").await.ok(), json!({"name": "doors", "deleted": true}));
    app.get("/alerts/doors").await.error(404);
    ingest(&app, 40.0, &[]).await;
    alert_jobs(&app).await;
    assert_eq!(notices(&app).len(), 2, "a deleted alert calls no webhook");
}

#[tokio::test]
async fn failed_delivery_is_stored_and_sent_again() {
    let app = TestApp::new().await;
    app.put_json("/alerts/doors", door()).await.ok();
    app.webhooks.fail(1000);
    let id = ingest(&app, 30.0, &[]).await;
    assert_eq!(alert_jobs(&app).await[0]["failed_deliveries"], 1);
    let alert = app.get("/alerts/doors").await.ok();
    let failed = &alert["failed"][0];
    assert_eq!((&failed["video_id"], &alert["delivered"]), (&json!(id), &json!(0)), "{alert}");
    assert!(!failed["error"].as_str().unwrap().is_empty());
    assert!(!alert.to_string().contains("of-the-door"), "{alert}");

    app.webhooks.fail(0);
    let before = app.webhooks.requests().len();
    let reply = app.post_json("/alerts/doors/retry", Value::Null).await;
    assert_eq!(reply.status, 202, "{}", reply.text());
    assert_eq!(reply.json()["job_ids"].as_array().unwrap().len(), 1);
    alert_jobs(&app).await;
    assert_eq!(app.webhooks.requests().len(), before + 1);
    assert_eq!(notices(&app).last().unwrap()["event_id"], failed["event_id"]);
    let alert = app.get("/alerts/doors").await.ok();
    assert_eq!((&alert["delivered"], &alert["failed"]), (&json!(1), &json!([])));
    let none = app.post_json("/alerts/doors/retry", Value::Null).await;
    assert_eq!(none.json(), json!({"job_ids": []}));

    // A failed delivery for a deleted video is dropped.
    app.webhooks.fail(1000);
    let gone = ingest(&app, 20.0, &[]).await;
    alert_jobs(&app).await;
    app.webhooks.fail(0);
    app.delete(&format!("/videos/{gone}")).await.ok();
    app.post_json("/alerts/doors/retry", Value::Null).await;
    alert_jobs(&app).await;
    assert_eq!(app.get("/alerts/doors").await.ok()["failed"], json!([]));
}

#[tokio::test]
async fn alerts_do_not_wait_for_ingests() {
    let app = TestApp::with(|setup| setup.settings.ingest.workers = 1).await;
    app.put_json("/alerts/doors", door()).await.ok();
    app.webhooks.fail(1000);
    ingest(&app, 30.0, &[]).await;
    alert_jobs(&app).await;
    app.webhooks.fail(0);
    let before = app.webhooks.requests().len();

    app.model.stalled.store(true, Ordering::SeqCst);
    let ingest = app.upload(&[], "c.mp4", &clip(20.0)).await.json();
    app.post_json("/alerts/doors/retry", Value::Null).await;
    while app.webhooks.requests().len() == before {
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
    let job = app.get(&format!("/jobs/{}", ingest["job_id"].as_str().unwrap())).await.ok();
    assert!(["queued", "running"].contains(&job["status"].as_str().unwrap()), "{job}");
    app.model.stalled.store(false, Ordering::SeqCst);
    app.idle().await;
}

#[tokio::test]
async fn corrections_of_older_videos_match_no_alert() {
    let app = TestApp::with(|setup| setup.models = speech_models()).await;
    let fields = [("analyzers", "diarization"), ("interval", "30")];
    let id = ingest(&app, 30.0, &fields).await;
    // Times of creation are in seconds.
    tokio::time::sleep(Duration::from_millis(1100)).await;
    let alert = json!({"text": "the web telescope", "webhook": HOOK, "min_p_present": 0});
    app.put_json("/alerts/space", alert).await.ok();
    let rename = |to: &str| json!([{"of": "speaker", "from": "S1", "to": to}]);
    correct(&app, &id, rename("Ada")).await;
    alert_jobs(&app).await;
    assert!(notices(&app).is_empty(), "the video is older than the alert");
    let fields = [("analyzers", "diarization"), ("interval", "15")];
    ingest(&app, 30.0, &fields).await;
    alert_jobs(&app).await;
    assert_eq!(notices(&app).len(), 1, "it was ingested after the alert");
}

#[tokio::test]
async fn crash_after_publication_loses_no_alert() {
    let before = TestApp::new().await;
    before.put_json("/alerts/doors", door()).await.ok();
    let id = ingest(&before, 30.0, &[]).await;
    alert_jobs(&before).await;
    let first = notices(&before)[0]["event_id"].clone();
    let inbox = before.get("/inbox").await.ok();
    assert_eq!(inbox["total"], 2);
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
    // The process crashed after the publication, before it queued the alert job.
    records.put(&format!("publications/{id}.json"), &json!({"mark": "a"})).await.unwrap();
    // The next process crashes after it has queued the job.
    let dying = next(0).await;
    dying.service.jobs.submission.resume().await.unwrap();
    dying.service.jobs.submission.resume().await.unwrap();
    assert_eq!(dying.get("/jobs").await.ok()["total"], 1, "queued only once");
    drop(dying);
    let after = next(1).await;
    after.service.jobs.submission.resume().await.unwrap();
    assert_eq!(alert_jobs(&after).await.len(), 1);
    assert!(records.children("publications/").await.unwrap().is_empty());
    let events: BTreeSet<String> =
        notices(&after).iter().map(|event| event["event_id"].to_string()).collect();
    assert_eq!(events, BTreeSet::from([first.to_string()]), "the event id is the same");
    let mut again = after.get("/inbox").await.ok();
    for one in again["matches"].as_array_mut().unwrap() {
        assert_eq!(one["delivery"]["attempts"], 2, "delivered by both processes");
        one["delivery"]["attempts"] = json!(1);
    }
    assert_eq!(again, inbox, "no match is lost or stored twice");
}

#[tokio::test]
async fn invalid_alerts_are_refused() {
    let app = TestApp::new().await;
    let with = |key: &str, value: Value| {
        let mut alert = door();
        alert[key] = value;
        alert
    };
    let put =
        async |name: &str, alert: Value| app.put_json(&format!("/alerts/{name}"), alert).await;
    mentions(
        &put("Doors", door()).await.error(400),
        &["'Doors' is not a valid alert name", "a to z"],
    );
    let refused = put("doors", with("webhook", json!("ftp://a/b"))).await.error(400);
    mentions(&refused, &["webhook", "http or https"]);
    mentions(&put("doors", with("analyzer", json!("no"))).await.error(400), &["analyzer 'no'"]);
    mentions(&put("doors", with("field", json!("no"))).await.error(400), &["unknown field 'no'"]);
    let refused = put("doors", with("filters", json!({"objcts": ["a"]}))).await.error(400);
    mentions(&refused, &["objcts", "objects"]);
    mentions(&put("doors", with("text", json!(""))).await.error(422), &["text"]);
    mentions(&put("doors", with("limit", json!(51))).await.error(422), &["limit"]);
    mentions(&put("doors", with("min_p_present", json!(2))).await.error(422), &["min_p_present"]);
    mentions(&app.get("/alerts/doors").await.error(404), &["unknown alert 'doors'"]);
    app.post_json("/alerts/doors/test", Value::Null).await.error(404);
    app.post_json("/alerts/doors/retry", Value::Null).await.error(404);
    app.delete("/alerts/doors").await.error(404);

    let app = TestApp::with(|setup| setup.settings.alerts.max = 1).await;
    app.put_json("/alerts/one", door()).await.ok();
    app.put_json("/alerts/one", door()).await.ok();
    mentions(&app.put_json("/alerts/two", door()).await.error(400), &["1 alerts", "alerts.max"]);
    let app = TestApp::with(|setup| setup.settings.callbacks.secret.clear()).await;
    mentions(&app.put_json("/alerts/one", door()).await.error(400), &["callbacks.secret"]);
    assert_eq!(app.get("/schema").await.ok()["callbacks"], false, "the schema reports it");
    let app = TestApp::new().await;
    assert_eq!(app.get("/schema").await.ok()["callbacks"], true);
}

async fn patch(app: &TestApp, name: &str, change: Value) -> Reply {
    app.patch_json(&format!("/alerts/{name}"), change).await
}

async fn matches(app: &TestApp, name: &str) -> Vec<Value> {
    let list = app.get(&format!("/alerts/{name}/matches")).await.ok();
    list["matches"].as_array().unwrap().clone()
}

#[tokio::test]
async fn a_paused_alert_finds_nothing_until_it_is_resumed() {
    let app = TestApp::new().await;
    let alert = app.put_json("/alerts/doors", door()).await.ok();
    assert_eq!(alert["paused"], false);
    assert_eq!(patch(&app, "doors", json!({"paused": true})).await.ok()["paused"], true);
    ingest(&app, 10.0, &[]).await;
    assert_eq!(alert_jobs(&app).await[0]["alerts"], 0);
    assert!(notices(&app).is_empty() && matches(&app, "doors").await.is_empty());
    assert_eq!(app.get("/alerts").await.ok()["alerts"][0]["paused"], true);
    let refused = app.post_json("/alerts/doors/retry", Value::Null).await.error(400);
    mentions(&refused, &["'doors' is paused", "resume"]);
    assert_eq!(app.put_json("/alerts/doors", door()).await.ok()["paused"], true, "stays paused");

    assert_eq!(patch(&app, "doors", json!({"paused": false})).await.ok()["paused"], false);
    let id = ingest(&app, 20.0, &[]).await;
    alert_jobs(&app).await;
    let found = matches(&app, "doors").await;
    assert_eq!(found.len(), 2, "only the later video");
    assert!(found.iter().all(|one| one["video_id"] == json!(id)));
    assert_eq!(notices(&app).len(), 1, "pausing keeps the webhook");
}

#[tokio::test]
async fn a_changed_alert_keeps_its_matches() {
    let app = TestApp::new().await;
    let before = app.put_json("/alerts/doors", door()).await.ok();
    ingest(&app, 30.0, &[]).await;
    alert_jobs(&app).await;
    let found = matches(&app, "doors").await;
    assert_eq!((found.len(), notices(&app).len()), (2, 1));
    assert_eq!(patch(&app, "doors", json!({})).await.ok()["limit"], 2, "nothing is changed");

    let change = json!({"name": "gates", "text": "a gate", "min_p_present": 0.0, "limit": 1,
        "webhook": null, "filters": {"collections": ["street"]}});
    let alert = patch(&app, "doors", change).await.ok();
    let fields = ["name", "text", "limit", "webhook", "matches", "unread", "created_at"];
    let values: Vec<&Value> = fields.iter().map(|field| &alert[*field]).collect();
    let created = &before["created_at"];
    let expected =
        [&json!("gates"), &json!("a gate"), &json!(1), &Value::Null, &json!(2), &json!(2), created];
    assert_eq!(values, expected);
    assert_eq!(alert["filters"], json!({"collections": ["street"]}));
    app.get("/alerts/doors").await.error(404);
    let moved = matches(&app, "gates").await;
    let ids = |all: &[Value]| all.iter().map(|one| one["match_id"].clone()).collect::<Vec<_>>();
    assert_eq!(ids(&moved), ids(&found), "ids do not depend on the name");
    assert_eq!(app.records.children("alert-matches/").await.unwrap(), ["gates.json"]);

    // Only later videos are searched, by the new search.
    ingest(&app, 40.0, &[]).await;
    let id = ingest(&app, 50.0, &[("collection", "street")]).await;
    alert_jobs(&app).await;
    let found = matches(&app, "gates").await;
    assert_eq!((found.len(), &found[0]["video_id"]), (3, &json!(id)));
    assert_eq!(notices(&app).len(), 1, "no webhook");
}

#[tokio::test]
async fn invalid_changes_of_alerts_are_refused() {
    let app = TestApp::new().await;
    let before = app.put_json("/alerts/doors", door()).await.ok();
    app.put_json("/alerts/gates", door()).await.ok();
    let refused =
        async |change: Value, status: u16| patch(&app, "doors", change).await.error(status);
    mentions(&refused(json!({"name": "gates", "limit": 9}), 400).await, &["alert 'gates' already"]);
    mentions(&refused(json!({"name": "Gates"}), 400).await, &["'Gates' is not a valid"]);
    mentions(&refused(json!({"webhook": "ftp://a/b"}), 400).await, &["http or https"]);
    mentions(&refused(json!({"filters": {"objcts": ["a"]}}), 400).await, &["objcts", "objects"]);
    mentions(&refused(json!({"text": ""}), 422).await, &["text", "filters"]);
    mentions(&refused(json!({"min_p_present": 2}), 422).await, &["min_p_present"]);
    mentions(&refused(json!({"limit": 0}), 422).await, &["limit"]);
    mentions(&patch(&app, "no", json!({"paused": true})).await.error(404), &["unknown alert 'no'"]);
    assert_eq!(app.get("/alerts/doors").await.ok(), before);
}

#[tokio::test]
async fn an_interrupted_renaming_is_completed_by_another_one() {
    let app = TestApp::new().await;
    app.put_json("/alerts/doors", door()).await.ok();
    ingest(&app, 30.0, &[]).await;
    alert_jobs(&app).await;
    // The process crashed after it had stored the alert under its new name.
    let mut renamed = app.records.get("alerts/doors.json").await.unwrap().unwrap();
    renamed["name"] = json!("gates");
    app.records.put("alerts/gates.json", &renamed).await.unwrap();
    let alert = patch(&app, "doors", json!({"name": "gates"})).await.ok();
    assert_eq!((&alert["name"], &alert["matches"]), (&json!("gates"), &json!(2)));
    assert_eq!(app.get("/alerts").await.ok()["alerts"].as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn an_alert_needs_no_text_if_it_has_filters() {
    let app = TestApp::new().await;
    let only = |filters: Value| json!({"filters": filters, "webhook": HOOK, "limit": 2});
    app.put_json("/alerts/street", only(json!({"collections": ["street"]}))).await.ok();
    let refused = app.put_json("/alerts/all", only(json!({}))).await.error(422);
    mentions(&refused, &["text", "filters"]);
    let scored = json!({"filters": {"collections": ["street"]}, "score_threshold": 0.3});
    mentions(&app.put_json("/alerts/scored", scored).await.error(400), &["score_threshold"]);

    ingest(&app, 20.0, &[]).await;
    let id = ingest(&app, 40.0, &[("collection", "street")]).await;
    alert_jobs(&app).await;
    let found = matches(&app, "street").await;
    let starts: Vec<&Value> = found.iter().map(|one| &one["start"]).collect();
    assert_eq!(starts, [&json!(0.0), &json!(10.0)], "the first moments");
    assert!(found.iter().all(|one| one["video_id"] == json!(id) && one["p_present"] == 1.0));
    assert_eq!((notices(&app).len(), &notices(&app)[0]["text"]), (1, &json!("")));
    let test = app.post_json("/alerts/street/test", Value::Null).await.ok();
    let results = test["results"].as_array().unwrap();
    assert_eq!((results.len(), &results[0]["score"]), (2, &Value::Null), "{test}");
    assert_eq!(results[0].get("p_present"), None);
}
