//! Two instances over one bucket and one index. One is stopped in the middle of a change, so long
//! that its lease ends and the other does what it likes with the video; then it goes on. What the
//! other has published stays whole. Every call is tried where `SHOTLOG_TORTURE` is set, else every
//! sixth.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use adapters::index::memory::MemoryIndex;
use adapters::listing::memory::MemoryListing;
use adapters::storage::OpendalStorage;
use ports::conformance::faults::{Fault, Faults};
use ports::index::{Filter, VectorIndex};
use ports::records::RecordStore;
use serde_json::json;
use shotlog::domain::search::reindex::Repair;

use crate::support::{BASE, FakeEmbedder, FlakyRecords, FlakyStorage, TestApp, clip, video_id};

/// In the short form so many calls lie between those at which the sleeper is stopped.
const SHORT_STEP: usize = 6;

/// The sleeper and the one that takes over, and what the sleeper's calls meet.
struct Pair {
    sleeper: TestApp,
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
                // The sleeper must not notice by itself.
                setup.settings.records.lease = Duration::from_secs(1 << 30);
                setup.settings.records.deadline = Duration::from_secs(1 << 30);
            })
        };
        Self { sleeper: app(Some(faults.clone())).await, other: app(None).await, faults }
    }

    /// Ends the lease of the sleeper, whose clock has stopped.
    async fn end_lease(&self, video_id: &str) {
        let ended = json!({"holder": "the sleeper", "until": 0});
        let key = format!("claims/{video_id}.json");
        self.other.records.put(&key, &ended).await.expect("records");
    }

    /// Stops the sleeper at each call of a change in turn while the other ingests the video, and
    /// says how many calls there were.
    async fn stopped_at_each_call(
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
            let id = id_of(&file);
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
            let awake = tokio::select! {
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
            // What gives back the lock may sleep longer than what had it.
            let acknowledged = match awake {
                Some(acknowledged) => acknowledged,
                None => changing.await,
            };
            let found = self.check(&id, &file, &case).await;
            // One that had not begun when it fell asleep finds what the other has published.
            let builds_on_it = !claimed && acknowledged == Some(found);
            assert!(found == published || builds_on_it, "{case}: {found} chunks");
            let verified = self.other.service.catalog.verify().await.expect("verifies");
            assert_eq!((verified.problems, verified.busy), (Vec::new(), 0), "{case}");
            let deleted = self.other.delete(&format!("/videos/{id}")).await.status;
            assert_eq!(deleted, if found == 0 { 404 } else { 200 }, "{case}");
        }
        unreachable!("a change has an end")
    }

    /// What is published is there, whole; says how many chunks it has, none where there is no video.
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
        let found = app.post_json("/query", query).await.ok();
        assert_eq!(found["results"].as_array().map(Vec::len), Some(chunks.len()), "{case}");
        let video = app.get(&format!("/videos/{id}")).await.ok();
        let path = video["storage_path"].as_str().expect("a path");
        assert_eq!(app.get(&format!("/storage/{path}")).await.body, file, "{case}: {path}");
        chunks.len()
    }
}

fn id_of(file: &[u8]) -> String {
    use sha1::{Digest, Sha1};
    Sha1::digest(file).iter().take(8).map(|byte| format!("{byte:02x}")).collect()
}

/// Ingests a file in chunks of so many seconds; says how many they are if that succeeds.
async fn ingest(app: &TestApp, interval: &str, file: &[u8]) -> Option<usize> {
    let fields = [("mode", "interval"), ("interval", interval)];
    let job = app.job_of(&fields, "clip.mp4", file).await;
    job["result"]["chunks"].as_u64().map(|chunks| chunks as usize)
}

#[tokio::test(start_paused = true)]
async fn what_was_published_while_an_instance_slept_stays_whole() {
    let pair = Pair::new().await;
    let sleeper = &pair.sleeper;
    let ingested = async |_: &str, file: Vec<u8>| ingest(sleeper, "10", &file).await;
    let mut stops = pair.stopped_at_each_call("ingest", 25.0, false, ingested).await;

    let rechunked = async |_: &str, file: Vec<u8>| ingest(sleeper, "8", &file).await;
    stops += pair.stopped_at_each_call("re-ingest", 26.0, true, rechunked).await;

    let deleted = async |id: &str, _: Vec<u8>| {
        let reply = sleeper.delete(&format!("/videos/{id}")).await;
        (reply.status == 200).then_some(0)
    };
    stops += pair.stopped_at_each_call("delete", 27.0, true, deleted).await;

    let rebuilt = async |_: &str, _: Vec<u8>| {
        let all = Repair { all: true, ..Repair::default() };
        // It may find that the other was quicker.
        let _ = sleeper.service.search.reindex(all).await;
        None
    };
    stops += pair.stopped_at_each_call("reindex", 28.0, true, rebuilt).await;

    let failing = async |_: &str, file: Vec<u8>| {
        sleeper.embedder.down.store(true, Ordering::SeqCst);
        let chunks = ingest(sleeper, "10", &file).await;
        sleeper.embedder.down.store(false, Ordering::SeqCst);
        assert_eq!(chunks, None, "it fails");
        None
    };
    stops += pair.stopped_at_each_call("failing ingest", 29.0, false, failing).await;
    println!("stopped at {stops} calls, nothing lost");
}

#[tokio::test(start_paused = true)]
async fn a_read_that_loses_a_race_reads_again() {
    let pair = Pair::new().await;
    let file = clip(20.0);
    let id = pair.other.video_of(&file).await;
    let mut intervals = ["5", "10"].into_iter().cycle();
    for path in ["chunks", "chunks/0", "aggregates", "export?format=json"] {
        let path = format!("/videos/{id}/{path}");
        for nth in 1.. {
            // No answer that is kept is of the video as it is now.
            let interval = intervals.next().expect("another one");
            assert!(ingest(&pair.other, interval, &file).await.is_some(), "{path}");
            pair.faults.plan(nth, Fault::Sleeps);
            let mut reading = Box::pin(pair.sleeper.get(&path));
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
    assert_eq!(pair.sleeper.get("/health").await.ok()["unreadable"], json!([]));
}

#[tokio::test(start_paused = true)]
async fn a_delete_goes_on_when_its_client_hangs_up() {
    let pair = Pair::new().await;
    let id = pair.sleeper.video().await;
    let path = format!("/videos/{id}");
    // Somewhere after its tombstone.
    pair.faults.plan(8, Fault::Sleeps);
    let asleep = pair.faults.asleep();
    tokio::select! {
        reply = pair.sleeper.delete(&path) => panic!("it is done already: {}", reply.text()),
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
