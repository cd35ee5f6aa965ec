use std::sync::atomic::Ordering;

use domain::analysis::Analyzers;
use serde_json::{Value, json};

use crate::extension::brightness::Brightness;
use crate::support::{TestApp, clip, mentions};

async fn plan(app: &TestApp, request: Value) -> Value {
    app.post_json("/videos/plan", request).await.ok()
}

#[tokio::test]
async fn plan_of_a_new_url_is_an_estimate() {
    let app = TestApp::new().await;
    let request = json!({"url": "http://example.com/v.mp4", "mode": "interval", "interval": 10});
    let without_duration = plan(&app, request.clone()).await;
    assert_eq!(without_duration["video_id"], json!(null));
    assert_eq!(
        (&without_duration["chunks"], &without_duration["history"]),
        (&json!(null), &json!(0))
    );
    assert_eq!(without_duration["analyzers"]["default_video"]["model_calls"], json!(null));
    assert_eq!(without_duration["aggregators"]["stats"]["model_calls"], 0, "calls no model");
    assert_eq!(without_duration["aggregators"]["summary"]["model_calls"], json!(null));

    // The cost of a minute is estimated from an ingested video of 30 s in three chunks.
    let done = app.job_of(&[("mode", "interval"), ("interval", "10")], "c.mp4", &clip(30.0)).await;
    assert_eq!(done["status"], "done", "{done}");
    let calls = app.model.calls.load(Ordering::SeqCst) as u64;
    let mut request = request;
    request["duration"] = json!(60);
    let with_duration = plan(&app, request.clone()).await;
    assert_eq!((&with_duration["chunks"], &with_duration["history"]), (&json!(6), &json!(1)));
    assert_eq!(with_duration["analyzers"]["default_video"]["model_calls"], 6);
    assert_eq!(with_duration["total"]["model_calls"], 2 * calls, "{with_duration}");
    assert!(with_duration["total"]["seconds"].is_number(), "{with_duration}");
    // A file upload is planned by its duration alone.
    let mut file = request.clone();
    file.as_object_mut().expect("an object").remove("url");
    assert_eq!(plan(&app, file).await, with_duration);
    assert_eq!(app.model.calls.load(Ordering::SeqCst) as u64, calls, "a plan calls no model");
}

#[tokio::test]
async fn plan_of_an_ingested_video_is_exact() {
    let app = TestApp::new().await;
    let fields = [("mode", "interval"), ("interval", "10")];
    let done = app.job_of(&fields, "c.mp4", &clip(30.0)).await;
    let id = &done["result"]["video_id"];
    let same = plan(&app, json!({"video_id": id, "mode": "interval", "interval": 10})).await;
    assert_eq!((&same["video_id"], &same["chunks"]), (id, &json!(3)));
    assert_eq!(same["chunk_config"], "interval:10");
    assert_eq!(same["analyzers"]["default_video"]["reused"], 3);
    assert_eq!(same["aggregators"]["summary"]["reused"], 1);
    assert_eq!(
        (&same["total"]["model_calls"], &same["total"]["seconds"]),
        (&json!(0), &json!(0.0))
    );

    let finer = plan(&app, json!({"video_id": id, "mode": "interval", "interval": 5})).await;
    assert_eq!(finer["chunks"], 6);
    let expected = &finer["analyzers"]["default_video"];
    assert_eq!((&expected["reused"], &expected["model_calls"]), (&json!(0), &json!(6)));
    assert_eq!(finer["aggregators"]["summary"]["reused"], 0);
}

#[tokio::test]
async fn rechunking_reports_dropped_output_before_and_after() {
    let app = TestApp::with(|setup| setup.analyzers = Analyzers::default().with(&Brightness)).await;
    let both =
        [("analyzers", "default_video,brightness"), ("mode", "interval"), ("interval", "10")];
    let done = app.job_of(&both, "c.mp4", &clip(30.0)).await;
    let id = &done["result"]["video_id"];
    assert_eq!(done["result"].get("dropped"), None, "{done}");
    let same = json!({"video_id": id, "mode": "interval", "interval": 10});
    assert_eq!(plan(&app, same).await["drops"], json!([]));
    let mut finer = json!({"video_id": id, "mode": "interval", "interval": 5});
    assert_eq!(plan(&app, finer.clone()).await["drops"], json!(["brightness"]));
    finer["analyzers"] = json!("brightness,default_video");
    assert_eq!(plan(&app, finer).await["drops"], json!([]));
    let done = app.job_of(&[("mode", "interval"), ("interval", "5")], "c.mp4", &clip(30.0)).await;
    assert_eq!(done["result"]["dropped"], json!(["brightness"]), "{done}");
    assert_eq!(done["result"]["analyzers"], json!(["default_video"]));
}

#[tokio::test]
async fn plan_requires_one_source_and_valid_fields() {
    let app = TestApp::new().await;
    let url = "http://example.com/v.mp4";
    for (request, status, words) in [
        (json!({}), 422, "either url or video_id"),
        (json!({"url": url, "video_id": "0123456789abcdef"}), 422, "either url or video_id"),
        (json!({"video_id": "0123456789abcdef"}), 404, "unknown video_id"),
        (json!({"url": "ftp://x/v.mp4"}), 400, "http or https"),
        (json!({"url": url, "analyzers": "none"}), 400, "unknown analyzer 'none'"),
        (json!({"url": url, "duration": 0}), 422, "more than 0"),
        (json!({"url": url, "max_model_calls": -1}), 422, "max_model_calls"),
    ] {
        let reply = app.post_json("/videos/plan", request).await;
        mentions(&reply.error(status), &[words]);
    }
}

#[tokio::test]
async fn ingest_stops_at_its_call_limit_and_resumes_later() {
    let app = TestApp::new().await;
    let fields = |max_calls: &'static str| {
        [("mode", "interval"), ("interval", "10"), ("max_model_calls", max_calls)]
    };
    let stopped = app.job_of(&fields("2"), "c.mp4", &clip(50.0)).await;
    assert_eq!((&stopped["status"], &stopped["stage"]), (&json!("failed"), &json!("analyzing")));
    mentions(
        stopped["error"].as_str().unwrap(),
        &["BudgetExhausted: ", "the 2 model calls", "max_model_calls", "ingest again"],
    );
    assert_eq!(app.model.calls.load(Ordering::SeqCst), 2);
    assert_eq!(app.get("/videos").await.ok()["total"], 0, "nothing is partially published");

    // Of five chunks two are already described; the remaining calls are too few for the aggregators.
    let stopped = app.job_of(&fields("4"), "c.mp4", &clip(50.0)).await;
    assert_eq!((&stopped["status"], &stopped["stage"]), (&json!("failed"), &json!("aggregating")));
    assert_eq!(app.model.described.load(Ordering::SeqCst), 5);
    assert_eq!(app.model.calls.load(Ordering::SeqCst), 6);

    let done = app.job_of(&fields("100"), "c.mp4", &clip(50.0)).await;
    assert_eq!(done["status"], "done", "{done}");
    assert_eq!(app.model.described.load(Ordering::SeqCst), 5, "no chunk is described twice");
    let in_parts = app.model.calls.load(Ordering::SeqCst);

    let whole = TestApp::new().await;
    whole.job_of(&fields("100"), "c.mp4", &clip(50.0)).await;
    assert_eq!(in_parts, whole.model.calls.load(Ordering::SeqCst), "no model call is repeated");
}

#[tokio::test]
async fn finished_job_is_sent_to_the_callback_url() {
    let app = TestApp::new().await;
    let url = "https://me:s3cret@example.com/hook?signature=s3cret";
    app.webhooks.fail(2);
    let done = app.job_of(&[("callback_url", url)], "c.mp4", &clip(10.0)).await;
    let failed = app.job_of(&[("callback_url", url)], "c.mp4", b"no video").await;
    let notices = loop {
        let notices = app.webhooks.requests();
        if notices.len() == 2 {
            break notices;
        }
        tokio::time::sleep(std::time::Duration::from_millis(2)).await;
    };
    for job in [done, failed] {
        let notice = notices.iter().find(|notice| {
            serde_json::from_slice::<Value>(&notice.body).unwrap()["job_id"] == job["job_id"]
        });
        let notice = notice.expect("a callback for each job");
        let mut job = job.clone();
        let traceback = job["detail"].as_object_mut().expect("it").remove("traceback");
        assert_eq!(traceback.is_some(), job["status"] == "failed");
        assert_eq!(serde_json::from_slice::<Value>(&notice.body).unwrap(), job);
        assert_eq!(notice.url, url);
        assert!(!String::from_utf8_lossy(&notice.body).contains("s3cret"));
        let (name, value) = &notice.headers[0];
        assert_eq!(name, "Shotlog-Signature");
        assert!(value.starts_with("t=") && value.contains(",v1="), "{value}");
    }

    let jobs = app.get("/jobs").await;
    assert!(!jobs.text().contains("s3cret"), "{}", jobs.text());

    let reply = app.upload(&[("callback_url", "file:///etc/passwd")], "c.mp4", &clip(10.0)).await;
    mentions(&reply.error(400), &["callback_url", "http or https"]);
    let app = TestApp::with(|setup| setup.settings.callbacks.secret.clear()).await;
    let reply = app.upload(&[("callback_url", url)], "c.mp4", &clip(10.0)).await;
    mentions(&reply.error(400), &["callback_url", "callbacks.secret"]);
}
