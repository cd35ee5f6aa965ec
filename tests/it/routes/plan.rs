use std::sync::atomic::Ordering;

use serde_json::{Value, json};
use shotlog::domain::analysis::Analyzers;

use crate::extension::brightness::Brightness;
use crate::support::{TestApp, clip, mentions};

async fn plan(app: &TestApp, request: Value) -> Value {
    app.post_json("/videos/plan", request).await.ok()
}

#[tokio::test]
async fn a_new_address_is_planned_as_far_as_it_is_known() {
    let app = TestApp::new().await;
    let request = json!({"url": "http://example.com/v.mp4", "mode": "interval", "interval": 10});
    let unknown = plan(&app, request.clone()).await;
    assert_eq!(unknown["video_id"], json!(null));
    assert_eq!((&unknown["chunks"], &unknown["history"]), (&json!(null), &json!(0)));
    assert_eq!(unknown["analyzers"]["default_video"]["model_calls"], json!(null));
    assert_eq!(unknown["aggregators"]["stats"]["model_calls"], 0, "asks no model");
    assert_eq!(unknown["aggregators"]["summary"]["model_calls"], json!(null));

    // Thirty seconds in three chunks tell what a minute would take.
    let done = app.job_of(&[("mode", "interval"), ("interval", "10")], "c.mp4", &clip(30.0)).await;
    assert_eq!(done["status"], "done", "{done}");
    let calls = app.model.calls.load(Ordering::SeqCst) as u64;
    let mut request = request;
    request["duration"] = json!(60);
    let known = plan(&app, request.clone()).await;
    assert_eq!((&known["chunks"], &known["history"]), (&json!(6), &json!(1)));
    assert_eq!(known["analyzers"]["default_video"]["model_calls"], 6);
    assert_eq!(known["total"]["model_calls"], 2 * calls, "{known}");
    assert!(known["total"]["seconds"].is_number(), "{known}");
    // A file that is to be sent is known by its length alone.
    let mut file = request.clone();
    file.as_object_mut().expect("an object").remove("url");
    assert_eq!(plan(&app, file).await, known);
    assert_eq!(app.model.calls.load(Ordering::SeqCst) as u64, calls, "a plan asks no model");
}

#[tokio::test]
async fn a_video_that_is_there_is_planned_exactly() {
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
async fn what_another_split_drops_is_told_before_and_after() {
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
async fn a_plan_needs_one_source_and_good_fields() {
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
async fn an_ingest_stops_when_its_calls_are_used_up_and_goes_on_later() {
    let app = TestApp::new().await;
    let fields =
        |most: &'static str| [("mode", "interval"), ("interval", "10"), ("max_model_calls", most)];
    let stopped = app.job_of(&fields("2"), "c.mp4", &clip(50.0)).await;
    assert_eq!((&stopped["status"], &stopped["stage"]), (&json!("failed"), &json!("analyzing")));
    mentions(
        stopped["error"].as_str().unwrap(),
        &["BudgetExhausted: ", "the 2 model calls", "max_model_calls", "ingest again"],
    );
    assert_eq!(app.model.calls.load(Ordering::SeqCst), 2);
    assert_eq!(app.get("/videos").await.ok()["total"], 0, "nothing is half published");

    // Five chunks are described, two of them already; then the aggregators have too few.
    let stopped = app.job_of(&fields("4"), "c.mp4", &clip(50.0)).await;
    assert_eq!((&stopped["status"], &stopped["stage"]), (&json!("failed"), &json!("aggregating")));
    assert_eq!(app.model.described.load(Ordering::SeqCst), 5);
    assert_eq!(app.model.calls.load(Ordering::SeqCst), 6);

    let done = app.job_of(&fields("100"), "c.mp4", &clip(50.0)).await;
    assert_eq!(done["status"], "done", "{done}");
    assert_eq!(app.model.described.load(Ordering::SeqCst), 5, "no chunk is paid for twice");
    let in_parts = app.model.calls.load(Ordering::SeqCst);

    let whole = TestApp::new().await;
    whole.job_of(&fields("100"), "c.mp4", &clip(50.0)).await;
    assert_eq!(in_parts, whole.model.calls.load(Ordering::SeqCst), "nothing is paid for twice");
}

#[tokio::test]
async fn the_end_of_a_job_is_told_where_the_ingest_says() {
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
        let told = notices.iter().find(|notice| {
            serde_json::from_slice::<Value>(&notice.body).unwrap()["job_id"] == job["job_id"]
        });
        let told = told.expect("each job is told");
        let mut job = job.clone();
        let traceback = job["detail"].as_object_mut().expect("it").remove("traceback");
        assert_eq!(traceback.is_some(), job["status"] == "failed");
        assert_eq!(serde_json::from_slice::<Value>(&told.body).unwrap(), job);
        assert_eq!(told.url, url);
        assert!(!String::from_utf8_lossy(&told.body).contains("s3cret"));
        let (name, value) = &told.headers[0];
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
