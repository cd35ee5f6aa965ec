use std::sync::atomic::Ordering;
use std::time::Duration;

use poem::http::Method;
use ports::records::RecordStore;
use serde_json::{Value, json};

use crate::support::{Reply, TestApp, clip, keys, mentions};

async fn put(app: &TestApp, name: &str, questions: Value) -> Reply {
    let body = json!({"questions": questions}).to_string();
    let request = app.request(Method::PUT, &format!("/evaluations/{name}"));
    app.raw(request.content_type("application/json").body(body)).await
}

/// Three questions about the fake clip: a door that opens in the first ten seconds, a boat after that,
/// and a tiger, which is absent.
fn questions(video_id: &str) -> Value {
    json!([
        {"id": "door", "text": "a woman opens a door", "relevant": [
            {"moment_id": format!("m_{video_id}_0_10000"), "grade": 3}]},
        {"id": "boat", "text": "boat on a lake", "video_ids": [video_id], "relevant": [
            {"video_id": video_id, "start": 10.0, "end": 20.0},
            {"video_id": video_id, "start": 20.0, "end": 30.0, "grade": 2}]},
        {"id": "tiger", "text": "tiger jumps through burning ring", "absent": true},
    ])
}

/// Runs an evaluation and returns its ended job, failed or done.
async fn run_job(app: &TestApp, name: &str, request: Value) -> Value {
    let accepted = app.post_json(&format!("/evaluations/{name}/runs"), request).await;
    assert_eq!(accepted.status, 202, "{}", accepted.text());
    app.finished(accepted.json()["job_id"].as_str().unwrap()).await
}

async fn run(app: &TestApp, name: &str, request: Value) -> Value {
    let job = run_job(app, name, request).await;
    assert_eq!((&job["status"], &job["source"]), (&json!("done"), &json!(name)), "{job}");
    assert_eq!(job["result"], json!({"evaluation": name, "run_id": job["job_id"]}));
    let id = job["job_id"].as_str().unwrap();
    app.get(&format!("/evaluations/{name}/runs/{id}")).await.ok()
}

/// A run without the fields that differ between runs: ids and times.
fn without_ids_and_times(mut run: Value) -> Value {
    fn strip(value: &mut Value) {
        match value {
            Value::Object(map) => {
                for key in ["run_id", "created_at", "seconds", "latency", "search_ms", "ask_ms"] {
                    map.remove(key);
                }
                map.values_mut().for_each(strip);
            }
            Value::Array(items) => items.iter_mut().for_each(strip),
            _ => {}
        }
    }
    strip(&mut run);
    run
}

#[tokio::test]
async fn judged_questions_are_stored_and_returned() {
    let app = TestApp::new().await;
    let id = app.video().await;
    assert_eq!(app.get("/evaluations").await.ok(), json!({"evaluations": []}));
    let stored = put(&app, "kitchen-1", questions(&id)).await.ok();
    assert_eq!(stored["questions"][1]["relevant"][0]["moment_id"], format!("m_{id}_10000_20000"));
    assert_eq!(stored["questions"][1]["relevant"][0]["grade"], 1);
    assert_eq!(keys(&stored["questions"][2]), ["absent", "id", "relevant", "text"]);
    let counts = json!({"questions": 3, "absent": 1, "judgements": 3, "runs": 0});
    assert_eq!(stored["counts"], counts);
    let path = "/evaluations/kitchen-1";
    assert_eq!(app.get(path).await.ok(), stored);
    // A returned evaluation can be put again unchanged.
    let again = put(&app, "kitchen-1", stored["questions"].clone()).await.ok();
    assert_eq!(
        (&again["revision"], &again["created_at"]),
        (&stored["revision"], &stored["created_at"])
    );
    put(&app, "a", json!([{"id": "x", "text": "x", "absent": true}])).await.ok();
    let list = app.get("/evaluations").await.ok();
    let names: Vec<&Value> =
        list["evaluations"].as_array().unwrap().iter().map(|e| &e["name"]).collect();
    assert_eq!(names, ["a", "kitchen-1"]);
    assert_eq!(list["evaluations"][1]["counts"], counts);
    let gone = app.delete(path).await.ok();
    assert_eq!(gone, json!({"name": "kitchen-1", "deleted": true}));
    mentions(&app.get(path).await.error(404), &["unknown evaluation 'kitchen-1'"]);
    app.delete(path).await.error(404);
    app.get(&format!("{path}/runs")).await.error(404);
    app.post_json(&format!("{path}/runs"), json!({})).await.error(404);
}

#[tokio::test]
async fn repeated_runs_give_identical_measurements() {
    let app = TestApp::new().await;
    let id = app.video().await;
    put(&app, "clip", questions(&id)).await.ok();
    let request = json!({
        "configurations": [
            {"name": "usual"},
            {"name": "one", "limit": 1, "mode": "hybrid", "min_p_present": 0.3},
            {"name": "everything", "analyzer": "*", "ask": true},
        ],
        "max_model_calls": 3,
    });
    let calls = app.model.calls.load(Ordering::SeqCst);
    let first = run(&app, "clip", request.clone()).await;
    let model_calls = app.model.calls.load(Ordering::SeqCst) - calls;
    assert!((1..=3).contains(&model_calls), "{model_calls}");
    assert_eq!((&first["embedder"], &first["language_model"]), (&json!("words"), &json!("fake")));
    let [usual, one, everything] = &first["configurations"].as_array().unwrap()[..] else {
        panic!("{first}")
    };
    let metrics = &usual["metrics"];
    // The hits for the boat: the door first, then the moment of lower grade, then the better one.
    let ndcg = (1.0 + (1.0 / 3_f64.log2() + 3.0 / 2.0) / (3.0 + 1.0 / 3_f64.log2())) / 2.0;
    let error = metrics["ndcg"].as_f64().unwrap() - ndcg;
    assert!(error.abs() < 1e-4 && metrics["recall"] == 1.0, "{first}");
    assert_eq!((&metrics["overlap"], &metrics["answered"]), (&json!(1.0), &Value::Null));
    // Three hits from three chunks; one shows the door and two show the boat.
    assert_eq!(metrics["judged"], 0.5);
    assert_eq!(one["metrics"]["recall"], 0.75);
    assert_eq!(usual["configuration"]["limit"], 5);
    assert_eq!(one["configuration"]["min_p_present"], 0.3);
    assert_eq!(
        (&usual["cost"]["model_calls"], &usual["latency"]["ask_p50"]),
        (&json!(0), &Value::Null)
    );
    assert_eq!(everything["cost"]["model_calls"], model_calls);
    assert!(
        everything["cost"]["output_tokens"].is_u64() && everything["latency"]["ask_p95"].is_f64()
    );
    assert!(
        everything["metrics"]["answered"].is_f64() && everything["metrics"]["supported"].is_f64()
    );

    let [door, boat, tiger] = &first["questions"].as_array().unwrap()[..] else {
        panic!("{first}")
    };
    let hit = &door["results"]["usual"]["hits"][0];
    assert_eq!((&hit["moment_id"], &hit["grade"]), (&json!(format!("m_{id}_0_10000")), &json!(3)));
    assert_eq!(boat["results"]["one"]["recall"], 0.5);
    assert_eq!(tiger["absent"], true);
    assert_eq!(keys(&tiger["results"]["usual"]), ["hits", "search_ms", "told_present"]);
    let compared = first["compare"].as_array().unwrap();
    let recall = compared.iter().find(|c| c["metric"] == "recall" && c["configuration"] == "one");
    let recall = recall.unwrap();
    assert_eq!((&recall["difference"], &recall["baseline"]), (&json!(-0.25), &json!("usual")));
    assert_eq!(
        (&recall["low"], &recall["high"], &recall["questions"]),
        (&json!(-0.5), &json!(0.0), &json!(2))
    );

    let second = run(&app, "clip", request).await;
    assert_ne!(first["run_id"], second["run_id"]);
    assert_eq!(without_ids_and_times(first.clone()), without_ids_and_times(second.clone()));
    let list = app.get("/evaluations/clip/runs").await.ok();
    let ids: Vec<&Value> = list["runs"].as_array().unwrap().iter().map(|r| &r["run_id"]).collect();
    assert_eq!(ids, [&second["run_id"], &first["run_id"]]);
    assert_eq!(list["runs"][1]["configurations"], first["configurations"]);
}

#[tokio::test]
async fn judgements_survive_rechunking_and_report_a_deleted_video() {
    let app = TestApp::new().await;
    let id = app.video().await;
    let other = app.video_of(&clip(20.0)).await;
    let mut judged = questions(&id);
    let moment_of_other = |end: u32| json!({"video_id": other, "start": 0, "end": end});
    judged[0]["relevant"].as_array_mut().unwrap().push(moment_of_other(10));
    let gone = json!({"id": "gone", "text": "door", "relevant": [moment_of_other(5)]});
    judged.as_array_mut().unwrap().push(gone);
    put(&app, "clip", judged).await.ok();
    let before = run(&app, "clip", json!({})).await;
    assert_eq!((&before["lost"], before["questions"].as_array().unwrap().len()), (&json!([]), 4));

    app.job_of(&[("mode", "interval"), ("interval", "7")], "clip.mp4", &clip(30.0)).await;
    app.delete(&format!("/videos/{other}")).await.ok();
    let after = run(&app, "clip", json!({})).await;
    let metrics = &after["configurations"][0]["metrics"];
    assert_eq!(metrics["recall"], 1.0, "{after}");
    assert!(metrics["overlap"].as_f64() < Some(1.0), "{after}");
    assert_eq!(
        after["lost"],
        json!([
            {"question_id": "door", "moment_id": format!("m_{other}_0_10000")},
            {"question_id": "gone", "moment_id": format!("m_{other}_0_5000")},
        ])
    );
    assert_eq!(after["questions"].as_array().unwrap().len(), 3);
    assert_eq!(after["revision"], before["revision"]);
}

#[tokio::test]
async fn invalid_judgements_are_refused() {
    let app = TestApp::with(|setup| {
        setup.settings.evaluation.max_questions = 4;
        setup.settings.evaluation.max_judgements = 3;
        setup.settings.evaluation.max_evaluations = 1;
    })
    .await;
    let id = app.video().await;
    let door = |change: Value| {
        let mut question = json!({"id": "door", "text": "door"});
        question.as_object_mut().unwrap().extend(change.as_object().unwrap().clone());
        json!([question])
    };
    let judged = |moment: Value| door(json!({"relevant": [moment]}));
    let absent = |id: String| json!({"id": id, "text": "x", "absent": true});
    let right = json!({"video_id": id, "start": 0, "end": 1});
    for (questions, status, words) in [
        (json!([]), 422, "questions"),
        (door(json!({})), 422, "'door' has neither"),
        (door(json!({"relevant": [right], "absent": true})), 422, "'door' has both"),
        (judged(json!({"grade": 2})), 422, "give moment_id, or else video_id, start and end"),
        (judged(json!({"moment_id": "m_1_2_3"})), 422, "m_<video_id>_<start>_<end>"),
        (judged(json!({"video_id": id, "start": 5, "end": 4})), 422, "goes from 5 to 4"),
        (judged(json!({"video_id": id, "start": 5, "end": 5.004})), 400, "is shorter than 0.01 s"),
        (judged(json!({"video_id": "x", "start": 5, "end": 6})), 422, "16 hexadecimal digits"),
        (judged(json!({"video_id": id, "start": 0, "end": 1, "grade": 4})), 422, "grade"),
        (
            judged(json!({"video_id": id, "start": 0, "end": 1, "grad": 3})),
            422,
            "did you mean 'grade'",
        ),
        (judged(json!({"moment_id": format!("m_{id}_0_40000")})), 400, "'door': moment 'm_"),
        (
            judged(json!({"moment_id": "m_0123456789abcdef_0_10"})),
            400,
            "is gone: there is no video",
        ),
        (door(json!({"relevant": [right, right]})), 400, "twice"),
        (
            door(json!({"relevant": [right], "video_ids": ["0123456789abcdef"]})),
            400,
            "of a video that is not in video_ids",
        ),
        (door(json!({"absent": true, "video_ids": []})), 400, "has no video_ids"),
        (json!([absent("a".into()), absent("a".into())]), 400, "the question 'a' occurs twice"),
        (json!([absent(" ".into())]), 422, "id is empty"),
        (
            (0..5).map(|i| absent(i.to_string())).collect::<Vec<_>>().into(),
            400,
            "5 questions; evaluation.max_questions is 4",
        ),
        (
            door(json!({"relevant": (0..4).map(|i| json!({"video_id": id, "start": i, "end": 9}))
                .collect::<Vec<_>>()})),
            400,
            "4 judged moments; evaluation.max_judgements is 3",
        ),
    ] {
        let error = put(&app, "set", questions.clone()).await.error(status);
        mentions(&error, &[words]);
    }
    for name in ["Set", "-set", &"x".repeat(65), "a.b"] {
        let error = put(&app, name, json!([absent("a".into())])).await.error(400);
        mentions(&error, &["is not a valid evaluation name"]);
    }
    assert_eq!(app.get("/evaluations").await.ok(), json!({"evaluations": []}));
    put(&app, "set", json!([absent("a".into())])).await.ok();
    put(&app, "set", json!([absent("b".into())])).await.ok();
    let error = put(&app, "other", json!([absent("a".into())])).await.error(400);
    mentions(&error, &["evaluation.max_evaluations", "delete one"]);
}

#[tokio::test]
async fn invalid_runs_are_refused() {
    let app = TestApp::with(|setup| setup.settings.evaluation.max_configurations = 2).await;
    put(&app, "set", json!([{"id": "a", "text": "tiger", "absent": true}])).await.ok();
    for (request, status, words) in [
        (json!({"configurations": [{"analyzer": "default_vide"}]}), 400, "default_video"),
        (json!({"configurations": [{"field": "combind"}]}), 400, "combined"),
        (json!({"configurations": [{"mode": "fuzzy"}]}), 400, "hybrid"),
        (json!({"configurations": [{"limit": 51}]}), 422, "limit"),
        (json!({"configurations": [{}, {}]}), 400, "the configuration 'default' occurs twice"),
        (
            json!({"configurations": [{"name": "a"}, {"name": "b"}, {"name": "c"}]}),
            400,
            "evaluation.max_configurations",
        ),
        (json!({"configurations": [{"embedder": "other"}]}), 422, "embedder"),
        (json!({"configurations": [{"ask": true}]}), 400, "up to 1 calls of 'fake'"),
        (
            json!({"configurations": [{"ask": true}], "max_model_calls": 0}),
            400,
            "max_model_calls is 0: set it to 1",
        ),
    ] {
        let error = app.post_json("/evaluations/set/runs", request).await.error(status);
        mentions(&error, &[words]);
    }
    assert_eq!(app.get("/jobs").await.ok()["total"], 0);
    mentions(&app.get("/evaluations/set/runs/x").await.error(404), &["once its job"]);
}

#[tokio::test]
async fn run_stops_at_its_time_limit() {
    let app = TestApp::with(|setup| setup.settings.evaluation.timeout = Duration::ZERO).await;
    app.video().await;
    app.model.stalled.store(true, Ordering::SeqCst);
    put(&app, "set", json!([{"id": "a", "text": "tiger", "absent": true}])).await.ok();
    let request = json!({"configurations": [{"ask": true}], "max_model_calls": 1});
    let job = run_job(&app, "set", request).await;
    mentions(job["error"].as_str().unwrap(), &["TimeoutError: ", "evaluation.timeout"]);
    assert_eq!(app.get("/evaluations/set/runs").await.ok(), json!({"runs": []}));
}

#[tokio::test]
async fn oldest_runs_are_removed_and_a_deleted_evaluation_gets_none() {
    let app = TestApp::with(|setup| setup.settings.evaluation.max_runs = 2).await;
    app.video().await;
    put(&app, "set", json!([{"id": "a", "text": "tiger", "absent": true}])).await.ok();
    let mut ids = Vec::new();
    for _ in 0..3 {
        ids.insert(0, run(&app, "set", json!({})).await["run_id"].clone());
    }
    let list = app.get("/evaluations/set/runs").await.ok();
    let remaining: Vec<&Value> =
        list["runs"].as_array().unwrap().iter().map(|r| &r["run_id"]).collect();
    assert_eq!(remaining, [&ids[0], &ids[1]]);
    app.get(&format!("/evaluations/set/runs/{}", ids[2].as_str().unwrap())).await.error(404);
    assert_eq!(app.records.list("evaluations/").await.unwrap().len(), 3);

    app.model.stalled.store(true, Ordering::SeqCst);
    let request = json!({"configurations": [{"ask": true}], "max_model_calls": 1});
    let accepted = app.post_json("/evaluations/set/runs", request).await.json();
    let job_id = accepted["job_id"].as_str().unwrap();
    assert_eq!((&accepted["run_id"], &accepted["model_calls"]), (&accepted["job_id"], &json!(1)));
    while app.get(&format!("/jobs/{job_id}")).await.ok()["stage"] != "evaluating" {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    app.delete("/evaluations/set").await.ok();
    app.model.stalled.store(false, Ordering::SeqCst);
    let job = app.finished(job_id).await;
    mentions(job["error"].as_str().unwrap(), &["NotFoundError: unknown evaluation 'set'"]);
    assert_eq!(app.records.list("evaluations/").await.unwrap(), [""; 0]);
}

#[tokio::test]
async fn unreadable_evaluation_can_be_deleted() {
    let app = TestApp::new().await;
    app.records.put("evaluations/set/evaluation.json", &json!({"name": 7})).await.unwrap();
    app.get("/evaluations/set").await.error(500);
    assert_eq!(app.get("/evaluations").await.ok(), json!({"evaluations": []}));
    app.delete("/evaluations/set").await.ok();
    app.get("/evaluations/set").await.error(404);
}
