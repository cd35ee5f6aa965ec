//! Store faults: whichever call fails, hangs or loses its reply, acknowledged work is kept, a repair leaves
//! nothing for `verify` to report, and every reply is one that the contract defines. With
//! `SHOTLOG_TORTURE` set, every call of every use-case is tried, otherwise a few of each.

use std::sync::Arc;
use std::time::Duration;

use adapters::storage::OpendalStorage;
use domain::maintenance::repair::Repair;
use poem::http::Method;
use ports::conformance::faults::{Fault, Faults};
use ports::index::{Filter, VectorIndex};
use ports::records::RecordStore;
use serde_json::{Value, json};

use crate::support::{BASE, FlakyStorage, Reply, TestApp, clip, mentions};

const FAULTS: [Fault; 4] = [Fault::Fails, Fault::Hangs, Fault::Unanswered, Fault::Down];

/// Calls of each use-case that are tried with each fault unless `SHOTLOG_TORTURE` is set.
const SHORT: usize = 4;

const FORM: &str = "application/x-www-form-urlencoded";

/// Length of the video in every use-case, in seconds.
const SECONDS: f64 = 20.0;

/// Chunks of the video before a use-case.
const CHUNKS: u64 = 2;

struct Torture {
    app: TestApp,
    faults: Arc<Faults>,
    id: String,
}

/// The number of chunks that the video must have after a use-case; 0 if there must be no video.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Outcome {
    /// The use-case was acknowledged: the video has this many chunks.
    Done(u64),
    /// The use-case failed: the video is unchanged or has this many chunks.
    Failed(u64),
}

impl Torture {
    async fn new() -> Self {
        let faults = Arc::new(Faults::default());
        let storage = OpendalStorage::memory(BASE).expect("storage");
        let app = TestApp::with(|setup| {
            setup.faults = Some(faults.clone());
            setup.storage = Some(Arc::new(FlakyStorage::new(storage)));
            setup.settings.records.deadline = Duration::from_secs(1);
        })
        .await;
        let id = app.video_of(&clip(SECONDS)).await;
        Self { app, faults, id }
    }

    async fn job(&self, interval: &str) -> Value {
        let fields = [("mode", "interval"), ("interval", interval)];
        self.app.job_of(&fields, "clip.mp4", &clip(SECONDS)).await
    }

    async fn ingest(&self, interval: &str, chunks: u64) -> Outcome {
        outcome(&self.job(interval).await, chunks)
    }

    /// Restores the state before every use-case: the original video, or none if `absent`.
    async fn restore(&self, absent: bool) {
        if absent {
            self.app.delete(&format!("/videos/{}", self.id)).await;
        } else if self.chunks().await != CHUNKS {
            let job = self.job("10").await;
            assert_eq!(job["status"], "done", "{job}");
        }
        // Every change of the video keeps its comment and its share, or removes them with the video.
        let comments = format!("/videos/{}/comments", self.id);
        if !absent && self.app.get(&comments).await.ok()["total"] == 0 {
            self.app.post_json(&comments, json!({"start": 1, "text": "stays"})).await.ok();
        }
        if !absent && self.app.get("/shares").await.ok()["shares"] == json!([]) {
            let shares = format!("/videos/{}/shares", self.id);
            assert_eq!(self.app.post_json(&shares, json!({})).await.status, 201);
        }
    }

    async fn chunks(&self) -> u64 {
        let reply = self.app.get(&format!("/videos/{}/chunks", self.id)).await;
        if reply.status == 404 {
            return 0;
        }
        let log = reply.ok();
        let chunks = log["chunks"].as_array().expect("chunks");
        assert!(chunks.iter().all(|chunk| chunk["default_video"].is_object()), "{log}");
        log["total"].as_u64().expect("a number")
    }

    /// Removes every point from the index.
    async fn lose_points(&self) {
        self.app.index.replace(Some(&Filter::default()), Vec::new()).await.expect("an index");
    }

    /// Checks that nothing is lost and that nothing is inconsistent after a repair.
    async fn check(&self, before: u64, outcome: Outcome, case: &str) {
        let service = &self.app.service;
        let repaired = service.maintenance.reindexer.reindex(Repair::default()).await.expect(case);
        assert_eq!((repaired.unreadable, repaired.orphans_kept), (0, 0), "{case}");
        let verified = service.maintenance.verification.run().await.expect(case);
        assert_eq!(verified.problems, [""; 0], "{case}");
        assert_eq!(verified.busy, 0, "{case}: something holds a lock");
        let chunks = self.chunks().await;
        match outcome {
            Outcome::Done(expected) => assert_eq!(chunks, expected, "{case}"),
            Outcome::Failed(intended) => {
                assert!(chunks == before || chunks == intended, "{case}: {chunks} chunks");
            }
        }
        let search = json!({"text": "a woman opens a door", "limit": 50, "mode": "hybrid"});
        let page = self.app.post_json("/query", search).await.ok();
        assert_eq!(page["results"].as_array().map(Vec::len), Some(chunks as usize), "{case}");
        if chunks > 0 {
            // A delete that hung has already retired the earlier object name.
            let video = self.app.get(&format!("/videos/{}", self.id)).await.ok();
            let path = video["storage_path"].as_str().expect("a path");
            let object = self.app.get(&format!("/storage/{path}")).await;
            assert_eq!(object.body, clip(SECONDS), "{case}");
        } else {
            let comments = self.app.records.list("comments/").await.expect(case);
            assert_eq!(comments, [""; 0], "{case}");
            let shares = self.app.records.list("shares/").await.expect(case);
            assert_eq!(shares, [""; 0], "{case}");
        }
    }

    /// Sends a request once for each of its calls to a store, with the disk full at that call.
    /// Asserts that it succeeds or says that the disk is full.
    async fn fill_the_disk(&self, name: &str, send: impl AsyncFn(usize) -> Reply) {
        let mut refused = 0;
        for nth in 1.. {
            self.faults.plan(nth, Fault::Full);
            let reply = send(nth).await;
            let Some(call) = self.faults.clear() else { break };
            if reply.status < 300 {
                continue;
            }
            let detail = reply.error(503);
            mentions(&detail, &["no space is left on the disk", "try again"]);
            println!("{name}: {call}: {detail}");
            refused += 1;
        }
        assert!(refused > 0, "{name}: no call failed");
    }

    /// Runs a use-case with every fault at every call, or at a few, and returns the number of cases.
    async fn every_call(
        &self,
        name: &str,
        absent: bool,
        prepare: impl AsyncFn(),
        run: impl AsyncFn() -> Outcome,
    ) -> usize {
        let before = if absent { 0 } else { CHUNKS };
        self.restore(absent).await;
        prepare().await;
        self.faults.plan(usize::MAX, Fault::Fails);
        let outcome = run().await;
        assert!(matches!(outcome, Outcome::Done(_)), "{name} without faults: {outcome:?}");
        let calls = self.faults.calls();
        self.faults.clear();
        let step = match std::env::var_os("SHOTLOG_TORTURE") {
            Some(_) => 1,
            None => calls.div_ceil(SHORT).max(1),
        };
        let mut cases = 0;
        for fault in FAULTS {
            // Each fault starts at another call, so that together they cover more calls.
            for nth in (1 + cases % step..=calls).step_by(step) {
                self.restore(absent).await;
                prepare().await;
                self.faults.plan(nth, fault);
                let outcome = run().await;
                let call = self.faults.clear();
                let case = format!("{name}, call {nth} of {calls} ({call:?}) {fault:?}");
                self.check(before, outcome, &case).await;
                cases += 1;
            }
        }
        println!("{name}: {calls} calls, {cases} cases");
        cases
    }
}

fn outcome(job: &Value, chunks: u64) -> Outcome {
    match job["status"].as_str() {
        Some("done") => Outcome::Done(chunks),
        _ => {
            let error = job["error"].as_str().expect("an error");
            assert!(error.contains("Error: ") || error.starts_with("Cancelled: "), "{error}");
            Outcome::Failed(chunks)
        }
    }
}

#[tokio::test(start_paused = true)]
async fn every_use_case_survives_every_store_fault() {
    let torture = Torture::new().await;
    let (t, id) = (&torture, torture.id.as_str());
    let nothing = async || {};
    let mut cases = 0;
    cases += t.every_call("ingest", true, nothing, async || t.ingest("10", CHUNKS).await).await;
    cases += t.every_call("re-ingest", false, nothing, async || t.ingest("5", 4).await).await;
    let other_model = async || {
        let entry = |record: &mut Value| {
            record["analyzers"]["default_video"]["fingerprint"] = json!("another model");
        };
        t.app.edit_record(id, entry).await;
    };
    let rerun = async || t.ingest("10", CHUNKS).await;
    cases += t.every_call("re-run of an analyzer", false, other_model, rerun).await;
    let aggregate = async || {
        let path = format!("/videos/{id}/aggregates");
        let reply = t.app.post_text(&path, FORM, "aggregators=stats,summary").await;
        match reply.json()["job_id"].as_str() {
            Some(job) => outcome(&t.app.finished(job).await, CHUNKS),
            None => Outcome::Failed(CHUNKS),
        }
    };
    cases += t.every_call("aggregates", false, nothing, aggregate).await;
    let delete = async || match t.app.delete(&format!("/videos/{id}")).await.status {
        200 => Outcome::Done(0),
        _ => Outcome::Failed(0),
    };
    let annotate = async || {
        let patch = json!({"metadata": {"camera": "north"}, "collection": "street"});
        match t.app.patch_json(&format!("/videos/{id}"), patch).await.status {
            200 => Outcome::Done(CHUNKS),
            _ => Outcome::Failed(CHUNKS),
        }
    };
    cases += t.every_call("annotate", false, nothing, annotate).await;
    cases += t.every_call("delete", false, nothing, delete).await;
    let repair =
        async |repair: Repair| match t.app.service.maintenance.reindexer.reindex(repair).await {
            Ok(_) => Outcome::Done(CHUNKS),
            Err(_) => Outcome::Failed(CHUNKS),
        };
    let rebuild = async || repair(Repair { all: true, ..Repair::default() }).await;
    cases += t.every_call("reindex", false, nothing, rebuild).await;
    let repair_index = async || repair(Repair::default()).await;
    cases += t.every_call("repair", false, async || t.lose_points().await, repair_index).await;
    let reads = [
        ("search", "/query", json!({"text": "boat", "mode": "hybrid"})),
        ("search everywhere", "/query", json!({"text": "boat", "analyzer": "*"})),
        ("ask", "/ask", json!({"question": "Who opens the door?"})),
        ("list", "/videos", Value::Null),
        ("chunks", &format!("/videos/{id}/chunks"), Value::Null),
        ("evidence", "/evidence", json!({"question": "Who opens the door?"})),
        ("moment", &format!("/moments/m_{id}_1000_12000"), Value::Null),
        ("export", &format!("/videos/{id}/export?format=json"), Value::Null),
    ];
    for (name, path, body) in reads {
        let read = async || {
            let reply = match &body {
                Value::Null => t.app.get(path).await,
                body => t.app.post_json(path, body.clone()).await,
            };
            if reply.status == 200 { Outcome::Done(CHUNKS) } else { Outcome::Failed(CHUNKS) }
        };
        cases += t.every_call(name, false, nothing, read).await;
    }
    println!("{cases} cases, 0 problems");
}

/// For every published video either the webhook was called or the alert lists the failure. Each of its moments
/// is in the inbox once, at the latest after a retry.
#[tokio::test(start_paused = true)]
async fn every_published_video_calls_the_webhook_or_is_listed_as_failed() {
    let torture = Torture::new().await;
    let (t, submission) = (&torture, &torture.app.service.jobs.submission);
    let alert = json!({"text": "a door", "webhook": "http://example.org/hook", "min_p_present": 0});
    t.app.put_json("/alerts/doors", alert).await.ok();
    t.restore(true).await;
    t.faults.plan(usize::MAX, Fault::Fails);
    t.ingest("10", CHUNKS).await;
    t.app.idle().await;
    let calls = t.faults.calls();
    t.faults.clear();
    assert_eq!(t.app.webhooks.requests().len(), 1);
    let step = if std::env::var_os("SHOTLOG_TORTURE").is_some() { 1 } else { calls / (2 * SHORT) };
    let (mut cases, mut published) = (0, 0);
    for fault in FAULTS {
        for nth in (1 + cases % step..=calls).step_by(step) {
            t.restore(true).await;
            let before = t.app.webhooks.requests().len();
            t.faults.plan(nth, fault);
            t.ingest("10", CHUNKS).await;
            t.app.idle().await;
            let case = format!("call {nth} of {calls} ({:?}) {fault:?}", t.faults.clear());
            // The next start of the service does the same.
            submission.resume().await.expect(&case);
            t.app.idle().await;
            if t.chunks().await == CHUNKS {
                let listed = t.app.get("/alerts/doors").await.ok()["failed"] != json!([]);
                let called = t.app.webhooks.requests().len() > before;
                assert!(called || listed, "{case}: no call and no listed failure");
                if listed {
                    t.app.post_json("/alerts/doors/retry", Value::Null).await;
                    t.app.idle().await;
                }
                let inbox = t.app.get("/inbox").await.ok();
                let matches = inbox["matches"].as_array().expect("a list").iter();
                let mut starts: Vec<f64> =
                    matches.map(|m| m["start"].as_f64().expect("a time")).collect();
                starts.sort_by(f64::total_cmp);
                assert_eq!(starts, [0.0, 10.0], "{case}: {inbox}");
                assert_eq!((&inbox["total"], &inbox["unread"]), (&json!(2), &json!(2)), "{case}");
                published += 1;
            }
            cases += 1;
        }
    }
    println!("{cases} cases, {published} of them published, 0 problems");
    assert!(published > 0);
}

/// Whichever call fails, a change of a bin is complete or has no effect.
#[tokio::test(start_paused = true)]
async fn bins_survive_every_store_fault() {
    let torture = Torture::new().await;
    let (app, faults, id) = (&torture.app, &torture.faults, torture.id.as_str());
    let select = |start: f64| json!({"video_id": id, "start": start, "end": start + 1.0});
    let new_bin = async || {
        let bin = app.post_json("/bins", json!({"name": "a"})).await.ok();
        let path = format!("/bins/{}", bin["bin_id"].as_str().expect("an id"));
        let three = json!({"selects": [select(0.0), select(1.0), select(2.0)]});
        app.post_json(&format!("{path}/selects"), three).await.ok();
        app.patch_json(&format!("{path}/selects/s2"), json!({"note": "edited"})).await.ok();
        path
    };
    // The selects of a bin; null if there is no such bin.
    let state = async |path: &str| {
        let reply = app.get(&format!("{path}/selects")).await;
        if reply.status == 404 { Value::Null } else { reply.ok()["selects"].clone() }
    };
    let mut cases = 0;
    for (name, method, uri, body) in [
        ("add", Method::POST, "/selects", json!({"selects": [select(9.0)], "position": 0})),
        ("edit", Method::PATCH, "/selects/s1", json!({"rating": 3, "out": 0.5})),
        ("move", Method::POST, "/selects/move", json!({"select_ids": ["s3"], "position": 0})),
        ("remove", Method::DELETE, "/selects/s1", Value::Null),
        ("undo", Method::POST, "/undo", Value::Null),
        ("delete", Method::DELETE, "", Value::Null),
    ] {
        let change = async |path: &str| {
            let request = app.request(method.clone(), &format!("{path}{uri}"));
            app.raw(match &body {
                Value::Null => request.finish(),
                body => request.content_type("application/json").body(body.to_string()),
            })
            .await
        };
        let path = new_bin().await;
        let before = state(&path).await;
        faults.plan(usize::MAX, Fault::Fails);
        change(&path).await.ok();
        let calls = faults.calls();
        faults.clear();
        let done = state(&path).await;
        assert_ne!(before, done, "{name}");
        for (fault, nth) in FAULTS.iter().flat_map(|fault| (1..=calls).map(move |n| (fault, n))) {
            let path = new_bin().await;
            faults.plan(nth, *fault);
            let reply = change(&path).await;
            let case = format!("{name}, call {nth} of {calls} ({:?}) {fault:?}", faults.clear());
            let after = state(&path).await;
            match reply.status {
                200 => assert_eq!(after, done, "{case}"),
                _ => assert!(after == before || after == done, "{case}: {after}"),
            }
            let bins = &app.service.catalog.bins;
            bins.sweep().await.expect(&case);
            let verified = app.service.maintenance.verification.run().await.expect(&case);
            assert_eq!(verified.problems, [""; 0], "{case}");
            assert_eq!(state(&path).await, after, "{case}");
            app.delete(&path).await;
            cases += 1;
        }
    }
    println!("{cases} cases, 0 problems");
}

/// Whichever call fails, a change of a comment is complete or has no effect, and the activity list
/// has every comment.
#[tokio::test(start_paused = true)]
async fn comments_survive_every_store_fault() {
    let torture = Torture::new().await;
    let (app, faults) = (&torture.app, &torture.faults);
    let path = format!("/videos/{}/comments", torture.id);
    let texts = async |uri: &str| {
        let list = app.get(uri).await.ok();
        let items = list.get("comments").unwrap_or(&list["entries"]).as_array().expect("a list");
        let text = |item: &Value| item.get("comment").unwrap_or(item)["text"].clone();
        let mut texts: Vec<String> = items.iter().map(|item| text(item).to_string()).collect();
        texts.sort_unstable();
        texts
    };
    let mut cases = 0;
    for (method, body) in [
        (Method::POST, json!({"start": 2, "text": "new"})),
        (Method::PATCH, json!({"text": "edited"})),
        (Method::DELETE, Value::Null),
    ] {
        let change = async |fault: Fault, nth: usize| {
            let first = app.post_json(&path, json!({"start": 1, "text": "first"})).await.ok();
            let own = format!("{path}/{}", first["comment_id"].as_str().expect("an id"));
            let uri = if method == Method::POST { &path } else { &own };
            let before = texts(&path).await;
            faults.plan(nth, fault);
            let request = app.request(method.clone(), uri).content_type("application/json");
            let reply = app.raw(request.body(body.to_string())).await;
            let calls = faults.calls();
            faults.clear();
            let after = texts(&path).await;
            assert_eq!(after, texts("/activity").await, "{method}, call {nth} {fault:?}");
            let comments = &app.service.catalog.comments;
            assert_eq!(comments.sweep().await.expect("a sweep"), 0);
            let verified = app.service.maintenance.verification.run().await.expect("a report");
            assert_eq!(verified.problems, [""; 0], "{method}, call {nth} {fault:?}");
            for comment in app.get(&path).await.ok()["comments"].as_array().expect("a list") {
                app.delete(&format!("{path}/{}", comment["comment_id"].as_str().unwrap())).await;
            }
            (reply.status, before, after, calls)
        };
        let (status, before, done, calls) = change(Fault::Fails, usize::MAX).await;
        assert_eq!(status, 200, "{method}");
        assert_ne!(before, done, "{method}");
        for (fault, nth) in FAULTS.iter().flat_map(|fault| (1..=calls).map(move |n| (*fault, n))) {
            let (status, before, after, _) = change(fault, nth).await;
            let whole = after == done || (status != 200 && after == before);
            assert!(whole, "{method}, call {nth} of {calls} {fault:?}: {status}, {after:?}");
            cases += 1;
        }
    }
    println!("{cases} cases, 0 problems");
}

/// Whichever call fails, a share is created or withdrawn or nothing changes; each listed share opens, and a
/// withdrawn one does not.
#[tokio::test(start_paused = true)]
async fn shares_survive_every_store_fault() {
    let torture = Torture::new().await;
    let (app, faults) = (&torture.app, &torture.faults);
    let path = format!("/videos/{}/shares", torture.id);
    let status_of_page = async |share: &Value| {
        app.get(&format!("/shared/{}", share["share_id"].as_str().expect("an id"))).await.status
    };
    let own_path =
        |share: &Value| format!("/shares/{}", share["share_id"].as_str().expect("an id"));
    let mut cases = 0;
    for method in [Method::POST, Method::DELETE] {
        let change = async |fault: Fault, nth: usize| {
            let first = app.post_json(&path, json!({"end": 1})).await.json();
            faults.plan(nth, fault);
            let reply = match method == Method::POST {
                true => app.post_json(&path, json!({"end": 2})).await,
                false => app.delete(&own_path(&first)).await,
            };
            let calls = faults.calls();
            faults.clear();
            let case = format!("{method}, call {nth} {fault:?}: {}", reply.status);
            let list = app.get("/shares").await.ok();
            let of_video = app.get(&format!("/shares?video_id={}", torture.id)).await.ok();
            assert_eq!(list, of_video, "{case}");
            let shares = list["shares"].as_array().expect("a list");
            for share in shares {
                assert_eq!(status_of_page(share).await, 200, "{case}");
            }
            match reply.status {
                201 => assert!(shares.contains(&reply.json()), "{case}"),
                200 => assert_eq!(status_of_page(&first).await, 404, "{case}"),
                _ => {}
            }
            assert_eq!(app.service.catalog.shares.sweep().await.expect("a sweep"), 0, "{case}");
            let verified = app.service.maintenance.verification.run().await.expect("a report");
            assert_eq!(verified.problems, [""; 0], "{case}");
            for share in shares {
                app.delete(&own_path(share)).await.ok();
            }
            (reply.status < 300, shares.len(), calls)
        };
        let (is_done, done, calls) = change(Fault::Fails, usize::MAX).await;
        assert_eq!((is_done, done), (true, if method == Method::POST { 2 } else { 0 }));
        for (fault, nth) in FAULTS.iter().flat_map(|fault| (1..=calls).map(move |n| (*fault, n))) {
            let (is_done, shares, _) = change(fault, nth).await;
            let whole = shares == done || (!is_done && shares == 1);
            assert!(whole, "{method}, call {nth} of {calls} {fault:?}: {shares} shares");
            cases += 1;
        }
    }
    println!("{cases} cases, 0 problems");
}

#[tokio::test(start_paused = true)]
async fn a_full_disk_refuses_changes_but_allows_deletes() {
    let torture = Torture::new().await;
    let (t, id) = (&torture, torture.id.as_str());
    let video = format!("/videos/{id}");
    t.faults.plan(usize::MAX, Fault::Full);
    t.app.patch_json(&video, json!({"metadata": {"camera": "south"}})).await.ok();
    for nth in 1..=t.faults.calls() {
        t.faults.plan(nth, Fault::Full);
        let reply =
            t.app.patch_json(&video, json!({"metadata": {"camera": nth.to_string()}})).await;
        if reply.status != 200 {
            mentions(&reply.error(503), &["no space is left on the disk", "try again"]);
        }
        t.faults.clear();
    }
    t.faults.plan(usize::MAX, Fault::Full);
    t.app.delete(&video).await.ok();
    for nth in 1..=t.faults.calls() {
        t.restore(false).await;
        t.faults.plan(nth, Fault::Full);
        let reply = t.app.delete(&video).await;
        let call = t.faults.clear();
        assert_eq!(reply.status, 200, "call {nth} ({call:?}): {}", reply.text());
        t.app.get(&video).await.error(404);
    }
}

#[tokio::test(start_paused = true)]
async fn a_full_disk_refuses_extractors_uploads_and_bins() {
    let torture = Torture::new().await;
    let app = &torture.app;
    let schema = json!({"type": "object", "properties": {"weather": {"type": "string"}}});
    let extractor = async |nth: usize| {
        let path = format!("/extractors/weather{nth}");
        app.put_json(&path, json!({"schema": schema})).await
    };
    torture.fill_the_disk("extractor", extractor).await;
    let upload = async |_| {
        let request = app.request(Method::POST, "/uploads");
        let request = request.header("Tus-Resumable", "1.0.0").header("Upload-Length", "9");
        app.raw(request.finish()).await
    };
    torture.fill_the_disk("upload", upload).await;
    torture
        .fill_the_disk("bin", async |_| app.post_json("/bins", json!({"name": "a"})).await)
        .await;
}
