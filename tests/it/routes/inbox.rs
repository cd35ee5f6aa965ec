//! The matches of alerts: `/inbox` and `/alerts/{name}/matches`.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use futures::future::join_all;
use ports::conformance::faults::{Fault, Faults};
use ports::records::RecordStore;
use serde_json::{Value, json};

use crate::support::{TestApp, clip, mentions};

const HISTORY: &str = "alert-matches/doors.json";

/// An alert without a webhook that matches any moment.
fn door() -> Value {
    json!({"text": "a door", "min_p_present": 0, "limit": 2})
}

/// Ingests a clip in chunks of ten seconds, and waits for the alerts.
async fn ingest(app: &TestApp, seconds: f64) -> String {
    let id = app.video_of(&clip(seconds)).await;
    app.idle().await;
    id
}

async fn inbox(app: &TestApp, query: &str) -> Value {
    app.get(&format!("/inbox{query}")).await.ok()
}

fn field<'v>(list: &'v Value, name: &str) -> Vec<&'v str> {
    list["matches"].as_array().unwrap().iter().map(|m| m[name].as_str().unwrap()).collect()
}

#[tokio::test]
async fn an_alert_without_a_webhook_stores_what_it_finds() {
    // Only webhooks need a signing key.
    let app = TestApp::with(|setup| setup.settings.callbacks.secret.clear()).await;
    ingest(&app, 10.0).await;
    let alert = app.put_json("/alerts/doors", door()).await.ok();
    assert_eq!(
        (&alert["webhook"], &alert["unread"], &alert["matches"]),
        (&Value::Null, &json!(0), &json!(0))
    );
    assert_eq!(inbox(&app, "").await, json!({"matches": [], "total": 0, "unread": 0}));

    let job = app
        .job_of(
            &[("mode", "interval"), ("interval", "10"), ("recorded_at", "2026-01-01T10:00:00Z")],
            "clip.mp4",
            &clip(30.0),
        )
        .await;
    let id = job["result"]["video_id"].as_str().unwrap().to_owned();
    app.idle().await;
    assert!(app.webhooks.requests().is_empty());
    let list = inbox(&app, "").await;
    assert_eq!((&list["total"], &list["unread"], list.get("next")), (&json!(2), &json!(2), None));
    let first = &list["matches"][0];
    assert_eq!((&first["alert"], &first["video_id"]), (&json!("doors"), &json!(id)));
    assert_eq!((&first["filename"], &first["read"]), (&json!("clip.mp4"), &json!(false)));
    assert_eq!(first["delivery"], Value::Null);
    assert!(first["recorded_at"].as_str().unwrap().starts_with("2026-01-01T10:00:"), "{first}");
    assert!(!first["snippet"].as_str().unwrap().is_empty());
    let (start, end) = (first["start"].as_f64().unwrap(), first["end"].as_f64().unwrap());
    assert!(start < end && first["p_present"].as_f64().is_some_and(|p| p > 0.0), "{first}");
    assert_eq!(app.get(first["frame_url"].as_str().unwrap()).await.status, 200);
    let moment = first["moment_id"].as_str().unwrap();
    assert_eq!(app.get(&format!("/moments/{moment}")).await.ok()["video_id"], json!(id));
    let starts: Vec<f64> =
        list["matches"].as_array().unwrap().iter().map(|m| m["start"].as_f64().unwrap()).collect();
    assert!(starts[0] < starts[1], "in the order of the video: {starts:?}");
    assert_eq!(app.get("/alerts/doors/matches").await.ok(), list);
    let alert = app.get("/alerts/doors").await.ok();
    assert_eq!((&alert["unread"], &alert["matches"]), (&json!(2), &json!(2)));
    assert_eq!((&alert["delivered"], &alert["failed"]), (&json!(0), &json!([])));
    app.get("/alerts/no/matches").await.error(404);
    mentions(&app.get("/inbox?cursor=x").await.error(400), &["cursor is 'x'", "`next`"]);

    // A video that is analyzed again into other chunks has other moments.
    let interval = [("mode", "interval"), ("interval", "15")];
    app.job_of(&interval, "clip.mp4", &clip(30.0)).await;
    app.idle().await;
    let all = inbox(&app, "").await;
    assert_eq!(all["total"], 4);
    assert_eq!(all["matches"].as_array().unwrap()[2..], list["matches"].as_array().unwrap()[..]);
}

#[tokio::test]
async fn users_judge_matches() {
    let app = TestApp::with(|setup| setup.settings.alerts.max_note_chars = 10).await;
    app.put_json("/alerts/doors", door()).await.ok();
    ingest(&app, 20.0).await;
    let open = inbox(&app, "").await;
    let ids = field(&open, "match_id");
    let one = |id: &str| format!("/alerts/doors/matches/{id}");
    let wrong = json!({"verdict": "false_alarm", "note": " A gate.\n", "author": "Ada"});
    let judged = app.patch_json(&one(ids[0]), wrong).await.ok();
    assert_eq!((&judged["verdict"], &judged["note"]), (&json!("false_alarm"), &json!("A gate.")));
    assert_eq!((&judged["handled_by"], &judged["read"]), (&json!("Ada"), &json!(true)));
    assert!(judged["handled_at"].as_str().unwrap().ends_with('Z'), "{judged}");
    let right = app.patch_json(&one(ids[1]), json!({"verdict": "confirmed"})).await.ok();
    assert_eq!((&right["handled_by"], right.get("note")), (&json!("anonymous"), None));
    for (state, expected) in
        [("open", &[][..]), ("false_alarm", &ids[..1]), ("confirmed", &ids[1..])]
    {
        for path in ["/inbox", "/alerts/doors/matches"] {
            let list = app.get(&format!("{path}?verdict={state}")).await.ok();
            assert_eq!(field(&list, "match_id"), expected, "{path}: {state}");
        }
    }
    let alert = app.get("/alerts/doors").await.ok();
    assert_eq!((&alert["confirmed"], &alert["false_alarms"]), (&json!(1), &json!(1)));
    // An alert that is renamed keeps what was found out.
    app.patch_json("/alerts/doors", json!({"name": "gates"})).await.ok();
    assert_eq!(app.get("/alerts/gates").await.ok()["false_alarms"], 1);
    app.patch_json("/alerts/gates", json!({"name": "doors"})).await.ok();

    let opened = app.patch_json(&one(ids[0]), json!({"verdict": null})).await.ok();
    let gone = ["verdict", "note", "handled_by", "handled_at"].map(|key| opened.get(key));
    assert_eq!((gone, &opened["read"]), ([None; 4], &json!(true)));

    let judge = async |body: Value| app.patch_json(&one(ids[0]), body).await;
    for (body, words) in [
        (json!({}), &["verdict is missing", "false_alarm"][..]),
        (json!({"verdict": "right"}), &["Verdict", "found \"right\""]),
        (json!({"verdict": "confirmed", "note": " "}), &["1 to 10 characters"]),
        (json!({"verdict": "confirmed", "note": "12345678901"}), &["alerts.max_note_chars"]),
        (json!({"verdict": "confirmed", "author": ""}), &["author", "1 to 100 characters"]),
    ] {
        mentions(&judge(body).await.error(422), words);
    }
    let unknown = app.patch_json(&one("a"), json!({"verdict": null})).await.error(404);
    mentions(&unknown, &["alert 'doors' has no match 'a'", "/alerts/doors/matches lists them"]);
    app.patch_json("/alerts/no/matches/a", json!({"verdict": null})).await.error(404);
    let wrong = app.get("/inbox?verdict=right").await.error(400);
    mentions(&wrong, &["verdict is 'right'", "open, confirmed or false_alarm"]);
    assert_eq!(app.get("/alerts/doors").await.ok()["false_alarms"], 0);
}

#[tokio::test]
async fn matches_are_paged_and_marked_as_read() {
    let app = TestApp::new().await;
    app.put_json("/alerts/doors", door()).await.ok();
    app.put_json("/alerts/cars_2", json!({"text": "a car", "min_p_present": 0, "limit": 1}))
        .await
        .ok();
    for seconds in [20.0, 30.0, 40.0] {
        ingest(&app, seconds).await;
    }
    let all = inbox(&app, "").await;
    assert_eq!((&all["total"], &all["unread"]), (&json!(9), &json!(9)));
    let found_at = field(&all, "found_at");
    assert!(found_at.is_sorted_by(|a, b| a >= b), "newest first: {found_at:?}");
    let ids = field(&all, "match_id");
    assert_eq!(ids.iter().collect::<BTreeSet<_>>().len(), 9);
    let (mut paged, mut cursor) = (Vec::new(), String::new());
    loop {
        let page = inbox(&app, &format!("?limit=2{cursor}")).await;
        assert_eq!(page["total"], 9);
        paged.extend(field(&page, "match_id").into_iter().map(str::to_owned));
        let Some(next) = page["next"].as_str() else { break };
        cursor = format!("&cursor={next}");
    }
    assert_eq!(paged, ids);

    let mark = async |path: &str, body: Value| app.post_json(path, body).await;
    let doors = app.get("/alerts/doors/matches").await.ok();
    let newest = field(&doors, "match_id")[0];
    let one = json!({"match_ids": [newest, "0123456789abcdef0123456789abcdef"]});
    assert_eq!(mark("/inbox/read", one.clone()).await.ok(), json!({"marked": 1, "unread": 8}));
    assert_eq!(mark("/inbox/read", one).await.ok(), json!({"marked": 0, "unread": 8}));
    let unread = inbox(&app, "?unread=true").await;
    assert_eq!((&unread["total"], &unread["unread"]), (&json!(8), &json!(8)));
    assert!(!field(&unread, "match_id").contains(&newest));
    assert_eq!(app.get("/alerts/doors/matches").await.ok()["matches"][0]["read"], true);

    let back = json!({"match_ids": [newest], "read": false});
    assert_eq!(mark("/inbox/read", back.clone()).await.ok(), json!({"marked": 1, "unread": 9}));
    assert_eq!(mark("/inbox/read", back).await.ok(), json!({"marked": 0, "unread": 9}));
    mark("/inbox/read", json!({"match_ids": [newest]})).await.ok();

    // Everything up to a time: the matches in the newest video stay as they are.
    let until = json!({"until": field(&doors, "found_at")[2]});
    let marked = mark("/alerts/doors/matches/read", until).await.ok();
    assert_eq!(marked, json!({"marked": 4, "unread": 1}));
    let cars = app.get("/alerts/cars_2/matches?unread=true").await.ok();
    assert_eq!((&cars["total"], &cars["unread"]), (&json!(3), &json!(3)), "other alerts");
    let until = json!({"until": found_at[0]});
    assert_eq!(mark("/inbox/read", until).await.ok()["unread"], 0);
    let list = app.get("/alerts").await.ok();
    assert!(list["alerts"].as_array().unwrap().iter().all(|a| a["unread"] == 0), "{list}");

    for body in [json!({}), json!({"match_ids": ["a"], "until": found_at[0]})] {
        mentions(&mark("/inbox/read", body).await.error(422), &["either match_ids or until"]);
    }
    mentions(&mark("/inbox/read", json!({"until": "now"})).await.error(422), &["until is 'now'"]);
    mark("/inbox/read", json!({"match_ids": []})).await.error(422);
    mark("/alerts/no/matches/read", json!({"match_ids": ["a"]})).await.error(404);
}

#[tokio::test]
async fn a_history_keeps_the_newest_matches() {
    let app = TestApp::with(|setup| setup.settings.alerts.max_matches = 3).await;
    app.put_json("/alerts/doors", door()).await.ok();
    let mut videos = Vec::new();
    for seconds in [20.0, 30.0, 40.0] {
        videos.push(ingest(&app, seconds).await);
    }
    let list = inbox(&app, "").await;
    assert_eq!(field(&list, "video_id"), [&videos[2], &videos[2], &videos[1]]);
    assert_eq!(list["total"], 3);
}

#[tokio::test]
async fn deliveries_are_reported_per_match() {
    let app = TestApp::new().await;
    let mut alert = door();
    alert["webhook"] = json!("https://example.org/hook");
    app.put_json("/alerts/doors", alert).await.ok();
    app.webhooks.fail(1000);
    ingest(&app, 30.0).await;
    let list = inbox(&app, "").await;
    let delivery = &list["matches"][0]["delivery"];
    assert_eq!((&delivery["state"], &delivery["attempts"]), (&json!("failed"), &json!(3)));
    mentions(delivery["error"].as_str().unwrap(), &["the receiver does not answer"]);
    app.webhooks.fail(0);
    app.post_json("/alerts/doors/retry", Value::Null).await;
    app.idle().await;
    let again = inbox(&app, "").await;
    assert_eq!(
        again["matches"][1]["delivery"],
        json!({"state": "delivered", "attempts": 4, "error": null})
    );
    assert_eq!(field(&again, "match_id"), field(&list, "match_id"), "the retry adds nothing");

    // Without the webhook, the alert keeps its matches.
    app.put_json("/alerts/doors", door()).await.ok();
    ingest(&app, 20.0).await;
    let list = inbox(&app, "").await;
    assert_eq!((&list["total"], &list["matches"][0]["delivery"]), (&json!(4), &Value::Null));
    assert_eq!(list["matches"][3]["delivery"]["state"], "delivered");
}

#[tokio::test]
async fn matches_of_deleted_videos_and_alerts_are_removed() {
    let app = TestApp::new().await;
    app.put_json("/alerts/doors", door()).await.ok();
    let (kept, gone) = (ingest(&app, 20.0).await, ingest(&app, 30.0).await);
    let before = app.records.get(HISTORY).await.unwrap().unwrap();
    app.delete(&format!("/videos/{gone}")).await.ok();
    let list = inbox(&app, "").await;
    assert_eq!((&list["total"], field(&list, "video_id")), (&json!(2), vec![kept.as_str(); 2]));
    assert!(!app.records.get(HISTORY).await.unwrap().unwrap().to_string().contains(&gone));

    // A process died before it removed the matches: they are not listed, and a sweep removes them.
    app.records.put(HISTORY, &before).await.unwrap();
    assert_eq!(field(&inbox(&app, "").await, "video_id"), [&kept, &kept]);
    let alerts = &app.service.alerts;
    assert_eq!(alerts.sweep().await.unwrap(), 2);
    assert_eq!(alerts.sweep().await.unwrap(), 0);
    let list = inbox(&app, "").await;
    assert_eq!((&list["total"], &list["unread"]), (&json!(2), &json!(2)));

    // An ingest of the deleted video finds its moments again.
    ingest(&app, 30.0).await;
    assert_eq!(inbox(&app, "").await["total"], 4);

    let before = app.records.get(HISTORY).await.unwrap().unwrap();
    app.delete("/alerts/doors").await.ok();
    assert_eq!(app.records.get(HISTORY).await.unwrap(), None);
    // A process died before it removed the history: a new alert of the same name does not get it.
    app.records.put(HISTORY, &before).await.unwrap();
    app.put_json("/alerts/doors", door()).await.ok();
    assert_eq!(inbox(&app, "").await["total"], 0);
    assert_eq!(alerts.sweep().await.unwrap(), 1);
    app.records.put(HISTORY, &before).await.unwrap();
    ingest(&app, 40.0).await;
    assert_eq!(inbox(&app, "").await["total"], 2);
    app.delete("/alerts/doors").await.ok();
    app.records.put(HISTORY, &before).await.unwrap();
    assert_eq!(alerts.sweep().await.unwrap(), 1, "no alert has this history");
    assert_eq!(app.records.get(HISTORY).await.unwrap(), None);
}

#[tokio::test]
async fn an_alert_stored_without_an_id_keeps_one_history() {
    let app = TestApp::new().await;
    let mut alert = door();
    alert["webhook"] = json!("https://example.org/hook");
    app.put_json("/alerts/doors", alert).await.ok();
    let mut stored = app.records.get("alerts/doors.json").await.unwrap().unwrap();
    stored.as_object_mut().unwrap().remove("id").unwrap();
    app.records.put("alerts/doors.json", &stored).await.unwrap();
    ingest(&app, 20.0).await;
    assert_eq!(inbox(&app, "").await["total"], 2);
    assert_eq!(app.webhooks.requests().len(), 1);
    app.put_json("/alerts/doors", door()).await.ok();
    ingest(&app, 30.0).await;
    assert_eq!(inbox(&app, "").await["total"], 4);
}

#[tokio::test]
async fn a_damaged_history_is_reported_and_affects_nothing_else() {
    let app = TestApp::new().await;
    app.put_json("/alerts/doors", door()).await.ok();
    app.put_json("/alerts/cars", door()).await.ok();
    ingest(&app, 20.0).await;
    app.records.spoil(HISTORY).await;
    let list = inbox(&app, "").await;
    assert_eq!(field(&list, "alert"), ["cars", "cars"]);
    app.get("/alerts/doors/matches").await.error(500);
    assert_eq!(app.get("/alerts").await.ok()["alerts"][1]["matches"], 0);
    let verified = app.service.maintenance.verification.run().await.unwrap();
    assert_eq!(verified.problems.len(), 1, "{:?}", verified.problems);
    mentions(&verified.problems[0], &["alert doors", "delete the alert"]);
    ingest(&app, 30.0).await;
    assert_eq!(inbox(&app, "").await["total"], 4);
    app.service.alerts.sweep().await.unwrap();
    app.delete("/alerts/doors").await.ok();
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

/// One instance is suspended at each call while it stores or marks matches; another one stores the
/// matches of another video in the meantime.
#[tokio::test]
async fn a_suspended_instance_loses_and_repeats_no_match() {
    let (suspended, other, faults) = two_instances().await;
    other.put_json("/alerts/doors", door()).await.ok();
    let id = ingest(&other, 20.0).await;
    let note = format!("publications/{id}.json");
    let mut cases = 0;
    for nth in 1.. {
        other.records.delete(HISTORY).await.unwrap();
        other.records.put(&note, &json!({"mark": "a"})).await.unwrap();
        faults.plan(nth, Fault::Sleeps);
        let mut work = Box::pin(async {
            suspended.service.jobs.submission.resume().await.unwrap();
            suspended.idle().await
        });
        let ended = tokio::select! {
            biased;
            _ = &mut work => true,
            () = faults.asleep() => false,
        };
        if !faults.sleeps() {
            break;
        }
        let theirs = ingest(&other, 20.0 + nth as f64).await;
        faults.wake();
        if !ended {
            work.await;
        }
        let list = inbox(&other, "").await;
        let videos = field(&list, "video_id");
        let count = |id: &str| videos.iter().filter(|video| **video == id).count();
        let case = format!("asleep at call {nth}: {list}");
        assert_eq!((count(&id), count(&theirs), videos.len()), (2, 2, 4), "{case}");
        cases += 1;
    }
    assert!(cases > 5, "{cases}");

    for nth in 1.. {
        let before = inbox(&other, "?limit=500").await;
        let until = json!({"until": field(&before, "found_at")[0]});
        faults.plan(nth, Fault::Sleeps);
        let mut marking = Box::pin(suspended.post_json("/inbox/read", until));
        let early = tokio::select! {
            biased;
            reply = &mut marking => Some(reply),
            () = faults.asleep() => None,
        };
        if !faults.sleeps() {
            assert!(nth > 4, "{nth} calls");
            break;
        }
        let theirs = ingest(&other, 120.0 + nth as f64).await;
        faults.wake();
        let reply = match early {
            Some(reply) => reply,
            None => marking.await,
        };
        let case = format!("marking, asleep at call {nth}");
        assert_eq!(reply.status, 200, "{case}: {}", reply.text());
        let unread = inbox(&other, "?unread=true").await;
        assert_eq!(field(&unread, "video_id"), [&theirs, &theirs], "{case}");
        assert_eq!(
            inbox(&other, "").await["total"],
            before["total"].as_u64().unwrap() + 2,
            "{case}"
        );
    }
}

#[tokio::test]
async fn instances_that_handle_the_same_publication_store_its_matches_once() {
    let (first, second, _) = two_instances().await;
    second.put_json("/alerts/doors", door()).await.ok();
    let id = ingest(&second, 20.0).await;
    second.records.delete(HISTORY).await.unwrap();
    second.records.put(&format!("publications/{id}.json"), &json!({"mark": "a"})).await.unwrap();
    join_all([&first, &second].map(|app| async {
        app.service.jobs.submission.resume().await.unwrap();
        app.idle().await;
    }))
    .await;
    let list = inbox(&second, "").await;
    assert_eq!(field(&list, "video_id"), [&id, &id]);
}
