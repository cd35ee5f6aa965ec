//! Two instances over one bucket and one index. One is suspended in the middle of a change until its
//! lease expires and the other instance has changed the video; then it resumes. What the other has
//! published must stay complete. Suspends at every call if `SHOTLOG_TORTURE` is set, else at every
//! sixth.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use adapters::index::memory::MemoryIndex;
use adapters::listing::memory::MemoryListing;
use adapters::storage::OpendalStorage;
use domain::maintenance::repair::Repair;
use ports::conformance::faults::{Fault, Faults};
use ports::index::{Filter, IndexStatistics};
use ports::records::RecordStore;
use serde_json::json;

use crate::support::{BASE, FakeEmbedder, FlakyRecords, FlakyStorage, TestApp, clip, video_id};

/// Without `SHOTLOG_TORTURE`, the instance is suspended at every n-th call.
const SHORT_STEP: usize = 6;

/// The suspended instance, the one that takes over, and the faults of the suspended one's calls.
struct Pair {
    suspended: TestApp,
    other: TestApp,
    faults: Arc<Faults>,
}

impl Pair {
    async fn new() -> Self {
        let records = Arc::new(FlakyRecords::default());
        let index = Arc::new(MemoryIndex::new(FakeEmbedder::DIMENSION));
        let listing = Arc::new(MemoryListing::new());
        let bucket = OpendalStorage::memory(BASE).expect("storage");
        let bucket = Arc::new(FlakyStorage::new(bucket));
        let faults = Arc::new(Faults::default());
        let app = |faults: Option<Arc<Faults>>| {
            TestApp::with(|setup| {
                setup.records = records.clone();
                setup.index = index.clone();
                setup.listing = listing.clone();
                setup.storage = Some(bucket.clone());
                setup.faults = faults;
                setup.settings.shared_records = true;
                // The suspended instance must not notice by its own clock that its lease has expired.
                setup.settings.records.lease = Duration::from_secs(1 << 30);
                setup.settings.records.deadline = Duration::from_secs(1 << 30);
            })
        };
        Self { suspended: app(Some(faults.clone())).await, other: app(None).await, faults }
    }

    /// Expires the lease of the suspended instance, since the test clock stands still.
    async fn end_lease(&self, video_id: &str) {
        let ended = json!({"holder": "the sleeper", "until": 0});
        let key = format!("claims/{video_id}.json");
        self.other.records.put(&key, &ended).await.expect("records");
    }

    /// Repeats a change, suspending its instance at each call in turn while the other one ingests the
    /// video. Returns the number of suspensions.
    async fn suspend_at_each_call(
        &self,
        name: &str,
        first: f64,
        published: bool,
        change: impl AsyncFn(&str, Vec<u8>) -> Option<usize>,
    ) -> usize {
        let step = match std::env::var_os("SHOTLOG_TORTURE") {
            Some(_) => 1,
            None => SHORT_STEP,
        };
        for nth in (1..).step_by(step) {
            let file = clip(first + nth as f64 / 100.0);
            let id = expected_video_id(&file);
            if published {
                assert_eq!(self.other.video_of(&file).await, id);
            }
            let record = async || {
                let key = format!("videos/{id}/video.json");
                self.other.records.get(&key).await.expect("records")
            };
            let before = record().await;
            self.faults.plan(nth, Fault::Sleeps);
            let mut changing = Box::pin(change(&id, file.clone()));
            let early_result = tokio::select! {
                biased;
                acknowledged = &mut changing => Some(acknowledged),
                () = self.faults.asleep() => None,
            };
            if !self.faults.sleeps() {
                return nth / step;
            }
            let claimed = record().await != before;
            self.end_lease(&id).await;
            let fields = [("mode", "interval"), ("interval", "5")];
            let job = self.other.job_of(&fields, "clip.mp4", &file).await;
            let case = format!("{name}, asleep at call {nth}");
            assert_eq!(job["status"], "done", "{case}: {job}");
            let published = self.check(&id, &file, &format!("{case}, while it sleeps")).await;
            self.faults.wake();
            // The call that releases the lock may be suspended longer than the change itself.
            let acknowledged = match early_result {
                Some(acknowledged) => acknowledged,
                None => changing.await,
            };
            let chunks = self.check(&id, &file, &case).await;
            // A change suspended before it began builds on what the other has published.
            let builds_on_it = !claimed && acknowledged == Some(chunks);
            assert!(chunks == published || builds_on_it, "{case}: {chunks} chunks");
            let verified =
                self.other.service.maintenance.verification.run().await.expect("verifies");
            assert_eq!((verified.problems, verified.busy), (Vec::new(), 0), "{case}");
            let deleted = self.other.delete(&format!("/videos/{id}")).await.status;
            assert_eq!(deleted, if chunks == 0 { 404 } else { 200 }, "{case}");
        }
        unreachable!("a change has an end")
    }

    /// Asserts that the published video is complete. Returns its number of chunks, 0 without a video.
    async fn check(&self, id: &str, file: &[u8], case: &str) -> usize {
        let app = &self.other;
        let reply = app.get(&format!("/videos/{id}/chunks")).await;
        if reply.status == 404 {
            return 0;
        }
        let log = reply.ok();
        let chunks = log["chunks"].as_array().expect("chunks");
        assert!(chunks.iter().all(|chunk| chunk["default_video"].is_object()), "{case}: {log}");
        app.get(&format!("/videos/{id}/aggregates")).await.ok();
        let query = json!({"text": "boat", "video_ids": [id], "limit": 50});
        let page = app.post_json("/query", query).await.ok();
        assert_eq!(page["results"].as_array().map(Vec::len), Some(chunks.len()), "{case}");
        let video = app.get(&format!("/videos/{id}")).await.ok();
        let path = video["storage_path"].as_str().expect("a path");
        assert_eq!(app.get(&format!("/storage/{path}")).await.body, file, "{case}: {path}");
        chunks.len()
    }
}

fn expected_video_id(file: &[u8]) -> String {
    use sha1::{Digest, Sha1};
    Sha1::digest(file).iter().take(8).map(|byte| format!("{byte:02x}")).collect()
}

/// Ingests a file in chunks of `interval` seconds. Returns their number if the ingest succeeds.
async fn ingest(app: &TestApp, interval: &str, file: &[u8]) -> Option<usize> {
    let fields = [("mode", "interval"), ("interval", interval)];
    let job = app.job_of(&fields, "clip.mp4", file).await;
    job["result"]["chunks"].as_u64().map(|chunks| chunks as usize)
}

#[tokio::test(start_paused = true)]
async fn publication_survives_the_return_of_a_suspended_instance() {
    let pair = Pair::new().await;
    let suspended = &pair.suspended;
    let ingest_once = async |_: &str, file: Vec<u8>| ingest(suspended, "10", &file).await;
    let mut stops = pair.suspend_at_each_call("ingest", 25.0, false, ingest_once).await;

    let reingest = async |_: &str, file: Vec<u8>| ingest(suspended, "8", &file).await;
    stops += pair.suspend_at_each_call("re-ingest", 26.0, true, reingest).await;

    let delete = async |id: &str, _: Vec<u8>| {
        let reply = suspended.delete(&format!("/videos/{id}")).await;
        (reply.status == 200).then_some(0)
    };
    stops += pair.suspend_at_each_call("delete", 27.0, true, delete).await;

    let reindex = async |_: &str, _: Vec<u8>| {
        let all = Repair { all: true, ..Repair::default() };
        // Losing the race to the other instance is no failure here.
        let _ = suspended.service.maintenance.reindexer.reindex(all).await;
        None
    };
    stops += pair.suspend_at_each_call("reindex", 28.0, true, reindex).await;

    let failing_ingest = async |_: &str, file: Vec<u8>| {
        suspended.embedder.down.store(true, Ordering::SeqCst);
        let chunks = ingest(suspended, "10", &file).await;
        suspended.embedder.down.store(false, Ordering::SeqCst);
        assert_eq!(chunks, None, "it fails");
        None
    };
    stops += pair.suspend_at_each_call("failing ingest", 29.0, false, failing_ingest).await;
    println!("stopped at {stops} calls, nothing lost");
}

#[tokio::test(start_paused = true)]
async fn read_retries_after_losing_a_race() {
    let pair = Pair::new().await;
    let file = clip(20.0);
    let id = pair.other.video_of(&file).await;
    let mut intervals = ["5", "10"].into_iter().cycle();
    for path in ["chunks", "chunks/0", "aggregates", "export?format=json"] {
        let path = format!("/videos/{id}/{path}");
        for nth in 1.. {
            // No cached response belongs to the current video.
            let interval = intervals.next().expect("another one");
            assert!(ingest(&pair.other, interval, &file).await.is_some(), "{path}");
            pair.faults.plan(nth, Fault::Sleeps);
            let mut reading = Box::pin(pair.suspended.get(&path));
            tokio::select! {
                biased;
                _ = &mut reading => {
                    assert!(nth > 2, "{path} reads its record and a document");
                    break;
                }
                () = pair.faults.asleep() => {}
            }
            let interval = intervals.next().expect("another one");
            assert!(ingest(&pair.other, interval, &file).await.is_some(), "{path}");
            pair.faults.wake();
            reading.await.ok();
        }
    }
    assert_eq!(pair.suspended.get("/health").await.ok()["unreadable"], json!([]));
}

#[tokio::test(start_paused = true)]
async fn delete_completes_after_its_client_disconnects() {
    let pair = Pair::new().await;
    let id = pair.suspended.video().await;
    let path = format!("/videos/{id}");
    // A call after the tombstone is written.
    pair.faults.plan(8, Fault::Sleeps);
    let asleep = pair.faults.asleep();
    tokio::select! {
        reply = pair.suspended.delete(&path) => panic!("it is done already: {}", reply.text()),
        () = asleep => {}
    }
    pair.other.get(&path).await.error(404);
    pair.faults.wake();
    while !pair.other.records.list("").await.expect("records").is_empty() {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    let points = pair.other.index.count(&Filter::video(video_id(&id))).await.expect("an index");
    assert_eq!(points, 0);
}
