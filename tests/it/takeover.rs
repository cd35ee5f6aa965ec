//! Several instances over one job queue: any of them reports every job, and one takes over the jobs of
//! another.

use std::net::TcpListener;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use adapters::jobs::MemoryJobs;
use ports::jobs::{JobQueue, QueueLane};
use serde_json::{Value, json};

use crate::support::model::CountingModel;
use crate::support::process::{Process, bars};
use crate::support::{TestApp, clip, mentions, s3};

/// A NATS server that is stopped with the test.
struct Nats {
    process: Child,
    url: String,
    _folder: tempfile::TempDir,
}

impl Drop for Nats {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

impl Nats {
    fn start() -> Option<Self> {
        let free = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = free.local_addr().unwrap().port();
        drop(free);
        let folder = tempfile::tempdir().unwrap();
        let mut server = Command::new("nats-server");
        server.args(["--addr", "127.0.0.1", "--port", &port.to_string(), "--jetstream"]);
        server.arg("--store_dir").arg(folder.path());
        let Ok(process) = server.stdout(Stdio::null()).stderr(Stdio::null()).spawn() else {
            println!("skipped: the program nats-server is not there");
            return None;
        };
        while std::net::TcpStream::connect(("127.0.0.1", port)).is_err() {
            std::thread::sleep(Duration::from_millis(20));
        }
        Some(Self { process, url: format!("nats://127.0.0.1:{port}"), _folder: folder })
    }
}

/// One bucket and one queue; a worker silent for two seconds is presumed dead.
fn settings(nats: &Nats) -> Option<Vec<(&'static str, String)>> {
    let own = uuid::Uuid::new_v4().simple().to_string();
    let mut settings = s3::settings(&own)?;
    settings.extend([
        ("RECORDS__KIND", "bucket".into()),
        ("RECORDS__BUCKET", s3::bucket()),
        ("RECORDS__PREFIX", format!("tests/{own}/records")),
        ("RECORDS__LEASE", "4".into()),
        ("INDEX__KIND", "memory".into()),
        ("JOBS__KIND", "nats".into()),
        ("JOBS__URL", nats.url.clone()),
        ("JOBS__REDELIVERY", "2".into()),
        ("JOBS__TIMEOUT", "2".into()),
    ]);
    Some(settings)
}

async fn start(below: &Path, name: &str, settings: &[(&str, String)]) -> Process {
    let folder = below.join(name);
    std::fs::create_dir(&folder).unwrap();
    Process::start(&folder, settings).await
}

fn is_done(job: &Value) -> bool {
    job["status"] == "done"
}

#[tokio::test(flavor = "multi_thread")]
async fn job_of_a_killed_worker_resumes_elsewhere_without_repeated_model_calls() {
    let Some(nats) = Nats::start() else { return };
    let Some(mut settings) = settings(&nats) else { return };
    let folder = tempfile::tempdir().unwrap();
    let Some(clip) = bars(folder.path(), 20, 0) else { return };
    let model = CountingModel::start().await;
    settings.extend(model.settings());

    let victim = start(folder.path(), "victim", &settings).await;
    let job_id = victim.upload(&clip, &[]).await.unwrap();
    let survivor = start(folder.path(), "survivor", &settings).await;
    // Partly done, as the other instance reports it.
    let partly_done = |job: &Value| job["detail"]["done"].as_u64() >= Some(4);
    let job = survivor.job(&job_id, partly_done).await;
    assert_eq!((&job["status"], &job["detail"]["total"]), (&json!("running"), &json!(10)), "{job}");
    drop(victim);
    let paid = model.described.swap(0, Ordering::SeqCst);
    let finished = survivor.get(&format!("/jobs/{job_id}")).await["detail"]["done"].clone();
    let finished = finished.as_u64().unwrap() as usize;
    assert!((4..10).contains(&finished), "killed while analyzing: {job}");

    let job = survivor.job(&job_id, is_done).await;
    assert_eq!(job["result"]["indexed"]["default_video"], 10, "{job}");
    let repeated = model.described.load(Ordering::SeqCst);
    assert!(repeated <= 10 - finished, "{finished} were finished, {paid} paid, then {repeated}");
    println!("{paid} calls before the kill, {finished} chunks finished, {repeated} calls after it");
    let video = survivor.get("/videos").await["videos"][0].clone();
    assert_eq!(video["video_id"], job["result"]["video_id"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn any_instance_runs_a_job_and_reports_it() {
    let Some(nats) = Nats::start() else { return };
    let Some(settings) = settings(&nats) else { return };
    let folder = tempfile::tempdir().unwrap();
    let Some(clip) = bars(folder.path(), 4, 0) else { return };
    let worker = start(folder.path(), "worker", &settings).await;
    let mut no_workers = settings.clone();
    no_workers.push(("INGEST__WORKERS", "0".into()));
    let frontend = start(folder.path(), "frontend", &no_workers).await;

    let job_id = frontend.upload(&clip, &[]).await.unwrap();
    let job = frontend.job(&job_id, is_done).await;
    assert_eq!(worker.get(&format!("/jobs/{job_id}")).await, job);
    assert_eq!(worker.get("/jobs").await, json!({"jobs": [job], "total": 1}));
    assert_eq!(frontend.get("/jobs").await, worker.get("/jobs").await);
    let unknown = frontend.get("/jobs/*").await;
    mentions(unknown["detail"].as_str().unwrap(), &["unknown job '*'"]);

    // A job cancelled through one instance stops on the other.
    let model = CountingModel::start().await;
    drop(worker);
    let mut paid = settings.clone();
    paid.extend(model.settings());
    let worker = start(folder.path(), "paid", &paid).await;
    let Some(long) = bars(folder.path(), 60, 1) else { return };
    let job_id = frontend.upload(&long, &[]).await.unwrap();
    worker.job(&job_id, |job| job["stage"] == "analyzing").await;
    let client = reqwest::Client::new();
    client.delete(format!("{}/jobs/{job_id}", frontend.url)).send().await.unwrap();
    let job = loop {
        let job = worker.get(&format!("/jobs/{job_id}")).await;
        if job["status"] == "failed" {
            break job;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    };
    mentions(job["error"].as_str().unwrap(), &["Cancelled", "the job was cancelled"]);
    assert!(model.described.load(Ordering::SeqCst) < 30, "stopped before its end");

    // Without the NATS server there are no jobs; everything else works.
    drop(nats);
    let get = async |path: &str| reqwest::get(format!("{}{path}", worker.url)).await.unwrap();
    // The last probe result is cached for a while.
    while get("/ready").await.status() != 503 {
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    for (path, status) in [("/jobs", 503), ("/ready", 503), ("/videos", 200), ("/health", 200)] {
        let reply = get(path).await;
        assert_eq!(reply.status(), status, "{path}");
        let has_retry_after = reply.headers().contains_key("retry-after");
        assert_eq!(has_retry_after, path == "/jobs", "{path}");
    }
}

async fn start_job(jobs: &MemoryJobs, app: &TestApp) -> String {
    app.model.stalled.store(true, Ordering::SeqCst);
    let reply = app.upload(&[], "c.mp4", &clip(10.0)).await.json();
    let job_id = reply["job_id"].as_str().unwrap().to_owned();
    while jobs.get(&job_id).await.unwrap().unwrap().document["job"]["stage"] != "analyzing" {
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
    job_id
}

#[tokio::test]
async fn upload_stays_in_the_bucket_until_its_job_ends() {
    let jobs = Arc::new(MemoryJobs::shared());
    let app = TestApp::with(|setup| {
        setup.jobs = jobs.clone();
        setup.settings.ingest.queue = 1;
        setup.settings.ingest.workers = 1;
    })
    .await;
    let job_id = start_job(&jobs, &app).await;
    assert_eq!(app.incoming(), 1);
    let queued = app.upload(&[], "c.mp4", &clip(12.0)).await;
    assert_eq!(queued.status, 202);
    assert_eq!(app.upload(&[], "c.mp4", &clip(13.0)).await.status, 503, "the queue is full");
    app.delete(&format!("/jobs/{}", queued.json()["job_id"].as_str().unwrap())).await.ok();
    app.model.stalled.store(false, Ordering::SeqCst);
    assert_eq!(app.finished(&job_id).await["status"], "done");
    while app.incoming() > 0 {
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
    assert_eq!((app.spooled(), jobs.waiting_count().await.unwrap()), (0, 0));
}

#[tokio::test]
async fn job_cancelled_while_queued_sends_one_callback() {
    for jobs in [MemoryJobs::new(), MemoryJobs::shared()] {
        let jobs = Arc::new(jobs);
        let app = TestApp::with(|setup| {
            setup.jobs = jobs.clone();
            setup.settings.ingest.workers = 1;
        })
        .await;
        let running = start_job(&jobs, &app).await;
        let fields = [("callback_url", "http://example.org/hook")];
        let queued = app.upload(&fields, "c.mp4", &clip(11.0)).await.json();
        let queued = queued["job_id"].as_str().unwrap();
        for _ in 0..2 {
            let job = app.delete(&format!("/jobs/{queued}")).await.ok();
            assert_eq!(job["status"], "failed", "cancelled at once: {job}");
        }
        app.model.stalled.store(false, Ordering::SeqCst);
        app.finished(&running).await;
        let last = app.job_of(&[], "c.mp4", &clip(12.0)).await;
        assert_eq!(last["status"], "done");
        while app.incoming() + app.spooled() > 0 {
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
        assert_eq!(app.webhooks.requests().len(), 1);
    }
}

#[tokio::test]
async fn stopping_instance_releases_its_jobs() {
    let jobs = Arc::new(MemoryJobs::shared());
    let app = TestApp::with(|setup| setup.jobs = jobs.clone()).await;
    let job_id = start_job(&jobs, &app).await;
    app.service.jobs.worker.stop(Duration::ZERO).await;
    let job = app.get(&format!("/jobs/{job_id}")).await.ok();
    assert_eq!((&job["status"], &job["stage"]), (&json!("queued"), &json!("starting")), "{job}");
    assert_eq!(
        jobs.take(QueueLane::Main).await.unwrap().job_id(),
        job_id,
        "another worker can take it at once"
    );
    let released = jobs.get(&job_id).await.unwrap().unwrap();
    assert_eq!(released.document["attempts"], 0, "a release does not count as an attempt");
}

#[tokio::test]
async fn stopping_instance_with_a_private_queue_fails_its_jobs() {
    let jobs = Arc::new(MemoryJobs::new());
    let app = TestApp::with(|setup| {
        setup.jobs = jobs.clone();
        setup.settings.ingest.workers = 1;
    })
    .await;
    let running = start_job(&jobs, &app).await;
    let queued = app.upload(&[], "c.mp4", &clip(11.0)).await.json();
    app.service.jobs.worker.stop(Duration::ZERO).await;
    for job_id in [running.as_str(), queued["job_id"].as_str().unwrap()] {
        let job = app.get(&format!("/jobs/{job_id}")).await.ok();
        mentions(job["error"].as_str().unwrap(), &["Cancelled", "the service is stopping"]);
    }
    assert_eq!((app.spooled(), jobs.waiting_count().await.unwrap()), (0, 0));
    let late = app.upload(&[], "c.mp4", &clip(12.0)).await;
    mentions(&late.error(503), &["stopping"]);
    assert_eq!(app.spooled(), 0);
}

#[tokio::test]
async fn instance_presumed_dead_leaves_the_job_to_its_successor() {
    let jobs = Arc::new(MemoryJobs::shared());
    let app = TestApp::with(|setup| setup.jobs = jobs.clone()).await;
    let job_id = start_job(&jobs, &app).await;
    let stored = jobs.get(&job_id).await.unwrap().unwrap();
    let mut document = stored.document;
    document["worker"] = json!("another");
    document["attempts"] = json!(3);
    jobs.compare_and_swap(&job_id, stored.version, &document)
        .await
        .unwrap()
        .expect("no concurrent change");
    // It stops, so the job is delivered again, which exceeds the attempts in its document.
    let job = app.finished(&job_id).await;
    assert_eq!(job["status"], "failed");
    let error = job["error"].as_str().unwrap();
    mentions(error, &["ConnectionError", "given up", "3 times", "jobs.attempts"]);
}

#[tokio::test]
async fn unreadable_job_is_set_aside() {
    let jobs = Arc::new(MemoryJobs::shared());
    for (job_id, document) in
        [("null", Value::Null), ("other", json!({"job": "of a later version"}))]
    {
        jobs.add(QueueLane::Main, job_id, &document).await.unwrap();
    }
    let app = TestApp::with(|setup| {
        setup.jobs = jobs.clone();
        setup.settings.ingest.workers = 1;
        setup.settings.jobs.attempts = 2;
    })
    .await;
    // It does not block other jobs.
    assert_eq!(app.job_of(&[], "c.mp4", &clip(10.0)).await["status"], "done");
    for job_id in ["null", "other"] {
        while jobs.get(job_id).await.unwrap().unwrap().document["job"]["status"] != "failed" {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        let job = app.get(&format!("/jobs/{job_id}")).await.ok();
        let error = job["error"].as_str().unwrap();
        mentions(error, &["DataError: ", "set aside", "2 times", "jobs.attempts", "again"]);
    }
    while jobs.waiting_count().await.unwrap() > 0 {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    assert_eq!(app.get("/jobs").await.ok()["total"], 3);
}
