//! Tests of the adapters of the `index` port.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use ports::conformance::index::{DIMENSION, check, check_whole_batches, pictures};
use ports::index::{
    FieldValue, Filter, Index, IndexStatistics, IndexUpkeep, PictureSpace, Point, PointId,
    Predicate, TextQuery, VectorIndex, VectorQuery,
};
use ports::ownership::StoreOwnership;
use ports::{ChunkId, ErrorKind, VideoId};
use serde_json::json;
use shotlog_adapters::index::embedded::{EmbeddedIndex, EmbeddedOptions, EmbeddedRebuild};
use shotlog_adapters::index::memory::MemoryIndex;

#[tokio::test(flavor = "multi_thread")]
async fn memory() {
    let fresh = || async {
        Arc::new(MemoryIndex::new(DIMENSION).with_pictures(pictures())) as Arc<dyn Index>
    };
    check(fresh).await;
    check_whole_batches(fresh).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn embedded() {
    let folder = tempfile::tempdir().unwrap();
    let next = AtomicUsize::new(0);
    let fresh = || async {
        let name = next.fetch_add(1, Ordering::Relaxed).to_string();
        Arc::new(open(&folder.path().join(name)).await) as Arc<dyn Index>
    };
    check(fresh).await;
    check_whole_batches(fresh).await;
}

#[cfg(feature = "cloud")]
mod qdrant;

#[tokio::test(flavor = "multi_thread")]
async fn embedded_index_survives_reopening() {
    let folder = tempfile::tempdir().unwrap();
    for round in 0..12 {
        let index = open(folder.path()).await;
        assert_eq!(index.count(&Filter::default()).await.unwrap(), round * SIZE as u64);
        for earlier in 0..round {
            assert_whole(&index, earlier as usize).await;
        }
        index.replace(None, batch(round as usize)).await.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn embedded_index_rejects_incompatible_folders() {
    let folder = tempfile::tempdir().unwrap();
    let index = open(folder.path()).await;
    index.replace(None, batch(0)).await.unwrap();

    let refused = |options| async {
        let error = EmbeddedIndex::open(options).await.err().unwrap();
        (error.kind(), error.to_string())
    };
    let (kind, message) = refused(options(folder.path())).await;
    assert_eq!(kind, ErrorKind::Unavailable);
    assert!(message.contains("another process"), "{message}");
    let error = EmbeddedIndex::begin_rebuild(options(folder.path())).await.err().unwrap();
    assert_eq!(error.kind(), ErrorKind::Unavailable, "an open index is not replaced");
    drop(index);

    let model = EmbeddedOptions { model: "another".into(), ..options(folder.path()) };
    let dimension = EmbeddedOptions { dimension: 7, ..options(folder.path()) };
    for other in [model.clone(), dimension] {
        let (kind, message) = refused(other).await;
        assert_eq!(kind, ErrorKind::Invalid);
        assert!(message.contains("shotlog reindex"), "{message}");
    }
    for bad in [
        EmbeddedOptions { dimension: 0, ..options(folder.path()) },
        EmbeddedOptions {
            pictures: Some(PictureSpace { dimension: 0, ..pictures() }),
            ..options(folder.path())
        },
        EmbeddedOptions { writer_memory: 1, ..options(folder.path()) },
    ] {
        assert_eq!(refused(bad).await.0, ErrorKind::Invalid);
    }
    let index = open(folder.path()).await;
    assert_whole(&index, 0).await;
    drop(index);

    let EmbeddedRebuild { fresh, current: searched } =
        EmbeddedIndex::begin_rebuild(model.clone()).await.unwrap();
    assert!(searched.is_none(), "it holds vectors of another model");
    fresh.publish().await.unwrap();
    drop(fresh);
    let index = EmbeddedIndex::open(model).await.unwrap();
    assert_eq!(index.count(&Filter::default()).await.unwrap(), 0);
}

mod embedded;
mod full_disk;
mod pictures;
mod ranking;

#[tokio::test(flavor = "multi_thread")]
async fn embedded_index_reclaims_space_of_deleted_points() {
    let folder = tempfile::tempdir().unwrap();
    let index = open(folder.path()).await;
    for _ in 0..60 {
        index.replace(Some(&Filter::default()), batches(0..10)).await.unwrap();
    }
    drop(index);
    let once = tempfile::tempdir().unwrap();
    let index = open(once.path()).await;
    index.replace(None, batches(0..10)).await.unwrap();
    drop(index);
    let (used, needed) = (vector_bytes(folder.path()), vector_bytes(once.path()));
    assert!(used < 3 * needed, "{used} bytes for what takes {needed}");

    // Removes half of a segment, step by step. The other half is merged into a new segment.
    let index = open(once.path()).await;
    for number in 0..9 {
        index.replace(Some(&Filter::video(video(number))), vec![]).await.unwrap();
    }
    drop(index);
    let left = vector_bytes(once.path());
    assert!(left < needed / 2, "{left} bytes are left of {needed} after removing nine tenths");
    let index = open(once.path()).await;
    assert_whole(&index, 9).await;
    assert_eq!(index.count(&Filter::default()).await.unwrap(), SIZE as u64);
}

#[tokio::test(flavor = "multi_thread")]
async fn large_embedded_index_gives_advice() {
    let folder = tempfile::tempdir().unwrap();
    let options = EmbeddedOptions { large: 2 * SIZE as u64, ..options(folder.path()) };
    let index = EmbeddedIndex::open(options).await.unwrap();
    index.replace(None, batch(0)).await.unwrap();
    assert_eq!(index.advice().await.unwrap(), None);
    index.replace(None, batch(1)).await.unwrap();
    let advice = index.advice().await.unwrap().expect("it is large");
    for part in ["80 points", "index.warn_above_points", "index.kind = \"qdrant\""] {
        assert!(advice.contains(part), "{advice}");
    }
    index.replace(Some(&Filter::video(video(0))), vec![]).await.unwrap();
    assert_eq!(index.advice().await.unwrap(), None);
    drop(index);
    let index = open(folder.path()).await;
    index.replace(None, batch(2)).await.unwrap();
    assert_eq!(index.advice().await.unwrap(), None, "0 is never");
}

/// Number of batch sequences that the child process below writes in parallel.
const SEQUENCES: usize = 3;

/// Number of points per batch.
const SIZE: usize = 40;

const CRASH_FOLDER: &str = "SHOTLOG_TEST_INDEX_FOLDER";
const CRASH_FROM: &str = "SHOTLOG_TEST_INDEX_FROM";

/// Kills a writing process repeatedly. After each kill, the folder can be opened, no acknowledged
/// batch is missing, and no batch is stored only in part.
#[tokio::test(flavor = "multi_thread")]
async fn embedded_index_survives_kills() {
    let folder = tempfile::tempdir().unwrap();
    let mut random = Random(0x5107_1065);
    let mut acknowledged = [0; SEQUENCES];
    let mut total = 0;
    for round in 0..12 {
        let mut child = start_writing(folder.path(), &acknowledged);
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let mut note = |line: String| {
            if let Some(numbers) = line.strip_prefix("acknowledged ") {
                let (sequence, count) = numbers.split_once(' ').unwrap();
                acknowledged[sequence.parse::<usize>().unwrap()] = count.parse().unwrap();
                return true;
            }
            false
        };
        // Some rounds end before the first acknowledgement, possibly while the folder is being
        // opened.
        let target = if round % 4 == 3 { 0 } else { 1 + random.below(40) };
        let mut seen = 0;
        while seen < target {
            let line = lines.next().expect("the child must write until it is killed").unwrap();
            seen += usize::from(note(line));
        }
        std::thread::sleep(Duration::from_micros(random.below(20_000) as u64));
        child.kill().unwrap();
        child.wait().unwrap();
        // Also counts the batches that were acknowledged just before the kill.
        for line in lines.map_while(Result::ok) {
            seen += usize::from(note(line));
        }
        total += seen;

        let index = open(folder.path()).await;
        let mut expected = Vec::new();
        for (sequence, acknowledged) in acknowledged.iter_mut().enumerate() {
            // The batch that was being written may be published without an acknowledgement.
            let next = number(sequence, *acknowledged);
            if index.count(&Filter::video(video(next))).await.unwrap() > 0 {
                *acknowledged += 1;
            }
            expected.extend(living(sequence, *acknowledged));
        }
        for number in &expected {
            assert_whole(&index, *number).await;
        }
        let mut videos: Vec<String> =
            expected.iter().map(|number| video(*number).to_string()).collect();
        videos.sort();
        assert_eq!(index.values("video_id").await.unwrap(), videos);
        let count = index.count(&Filter::default()).await.unwrap();
        assert_eq!(count, (expected.len() * SIZE) as u64, "points that no batch accounts for");
    }
    assert!(total > 20, "the child wrote {total} batches, too few to mean anything");
}

/// If a bit flips in any file of a segment while the index is open, no call ends the process, the
/// damage is detected, and the index accepts every point again after a reset.
#[tokio::test(flavor = "multi_thread")]
async fn open_embedded_index_recovers_from_bit_rot() {
    let mut random = Random(0xB17_4071);
    for extension in ["term", "fast", "store", "vectors", "idx", "fieldnorm"] {
        for _ in 0..3 {
            let folder = tempfile::tempdir().unwrap();
            let index = open(folder.path()).await;
            for number in 0..4 {
                index.replace(None, batch(number)).await.unwrap();
            }
            for file in files_with(folder.path(), extension) {
                let mut bytes = std::fs::read(&file).unwrap();
                let at = random.below(bytes.len());
                bytes[at] ^= 1 << random.below(8);
                // Writes in place, so that the mapped memory changes.
                let mut open = std::fs::File::options().write(true).open(&file).unwrap();
                std::io::Write::write_all(&mut open, &bytes).unwrap();
            }
            // These calls may fail, but must return.
            let _ = index.count(&Filter::video(video(1))).await;
            let _ = index.values("video_id").await;
            let _ = index.replace(Some(&Filter::video(video(1))), batch(5)).await;
            let _ = index.replace(None, batch(2)).await;
            let error = index.check().await.expect_err("the damage is found");
            assert_eq!(error.kind(), ErrorKind::Corrupt, "{extension}: {error}");
            let error = index.probe().await.expect_err("it is not whole");
            assert_eq!(error.kind(), ErrorKind::Corrupt, "{extension}: {error}");

            index.reset().await.unwrap();
            index.probe().await.unwrap();
            assert_eq!(index.count(&Filter::default()).await.unwrap(), 0);
            index.replace(None, batch(7)).await.unwrap();
            assert_whole(&index, 7).await;
            drop(index);
            let index = open(folder.path()).await;
            assert_whole(&index, 7).await;
        }
    }
}

/// Returns the segment files with this extension. There must be at least one.
fn files_with(folder: &Path, extension: &str) -> Vec<std::path::PathBuf> {
    let segments = std::fs::read_dir(folder.join("segments")).unwrap();
    let files = segments.map(|entry| entry.unwrap().path());
    let files: Vec<_> =
        files.filter(|file| file.extension().is_some_and(|found| found == extension)).collect();
    assert!(!files.is_empty(), "no .{extension} in {}", folder.display());
    files
}

/// Kills a process while it is creating an index. The folder can still be opened.
#[tokio::test(flavor = "multi_thread")]
async fn embedded_index_survives_a_kill_during_creation() {
    let mut random = Random(3);
    for _ in 0..12 {
        let folder = tempfile::tempdir().unwrap();
        let mut child = start_writing(folder.path(), &[0; SEQUENCES]);
        std::thread::sleep(Duration::from_micros(random.below(60_000) as u64));
        child.kill().unwrap();
        child.wait().unwrap();
        let index = open(folder.path()).await;
        let count = index.count(&Filter::default()).await.unwrap();
        assert_eq!(count % SIZE as u64, 0, "{count} points are no whole number of batches");
        index.replace(Some(&Filter::default()), batch(1)).await.unwrap();
        assert_whole(&index, 1).await;
    }
}

/// Starts [`writes_until_killed`] in a child process. Each sequence resumes where it stopped.
fn start_writing(folder: &Path, from: &[usize; SEQUENCES]) -> Child {
    let from: Vec<String> = from.iter().map(usize::to_string).collect();
    Command::new(std::env::current_exe().unwrap())
        .args(["index::writes_until_killed", "--exact", "--ignored", "--nocapture"])
        .env(CRASH_FOLDER, folder)
        .env(CRASH_FROM, from.join(","))
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

/// The process that the tests above kill.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "runs until it is killed; started by the tests that kill it"]
async fn writes_until_killed() {
    let Some(folder) = std::env::var_os(CRASH_FOLDER) else { return };
    let from = std::env::var(CRASH_FROM).unwrap();
    let index = Arc::new(open(Path::new(&folder)).await);
    let writers: Vec<_> = from
        .split(',')
        .map(|from| from.parse::<usize>().unwrap())
        .enumerate()
        .map(|(sequence, from)| {
            let index = index.clone();
            tokio::spawn(async move {
                for i in from.. {
                    let scope = removed_by(sequence, i).map(|number| Filter::video(video(number)));
                    let points = batch(number(sequence, i));
                    index.replace(scope.as_ref(), points).await.unwrap();
                    println!("\nacknowledged {sequence} {}", i + 1);
                }
            })
        })
        .collect();
    for writer in writers {
        writer.await.unwrap();
    }
}

/// Returns the number of a sequence's i-th batch.
fn number(sequence: usize, i: usize) -> usize {
    i * SEQUENCES + sequence
}

/// Returns the batch that the i-th batch of a sequence replaces, if any. Two out of three batches
/// replace another one.
fn removed_by(sequence: usize, i: usize) -> Option<usize> {
    (!i.is_multiple_of(3)).then(|| number(sequence, i - 1))
}

/// Returns the batches of a sequence that exist after its first `written` batches have been
/// written.
fn living(sequence: usize, written: usize) -> impl Iterator<Item = usize> {
    (0..written)
        .filter(move |i| i + 1 == written || removed_by(sequence, i + 1).is_none())
        .map(move |i| number(sequence, i))
}

fn video(number: usize) -> VideoId {
    format!("{number:016x}").parse().expect("an id")
}

fn batches(numbers: std::ops::Range<usize>) -> Vec<Point> {
    numbers.flat_map(batch).collect()
}

fn batch(number: usize) -> Vec<Point> {
    (0..SIZE)
        .map(|chunk| {
            let mut vectors = BTreeMap::from([("combined".into(), vector(number, chunk))]);
            if chunk % 3 == 0 {
                vectors.insert("people".into(), vector(chunk, number));
            }
            Point {
                id: PointId {
                    video_id: video(number),
                    chunk_id: ChunkId::from_index(chunk),
                    analyzer_id: "default_video".into(),
                },
                vectors,
                payload: BTreeMap::from([
                    ("people_count".into(), FieldValue::Integer(number as i64)),
                    ("start".into(), FieldValue::Float(chunk as f64)),
                ]),
                text: format!("batch{number} chunk{chunk}"),
                document: json!({ "number": number, "chunk": chunk, "fill": "x".repeat(500) })
                    .into(),
            }
        })
        .collect()
}

/// Asserts that every part of every point in a batch is stored and belongs to the batch.
async fn assert_whole(index: &EmbeddedIndex, number: usize) {
    let points = batch(number);
    let filter = Filter::video(video(number));
    for field in ["combined", "people"] {
        let expected: Vec<_> = points
            .iter()
            .filter_map(|point| Some((point.id.clone(), point.vectors.get(field)?.clone())))
            .collect();
        let found = index.vectors(&filter, field).await.unwrap();
        assert_eq!(found.len(), expected.len(), "vectors of batch {number}");
        assert!(found == expected, "batch {number} has vectors that are not its own");
    }
    let payload = filter
        .clone()
        .and("people_count", Predicate::AnyInteger(vec![number as i64]))
        .and("start", Predicate::AtLeast(0.0));
    let query = VectorQuery {
        field: "combined".into(),
        vector: vector(number, 7),
        filter: payload,
        limit: SIZE * 2,
        threshold: None,
        per_video: None,
    };
    let hits = index.search(query).await.unwrap();
    assert_eq!(hits.len(), SIZE, "batch {number}");
    assert_eq!(hits[0].id.chunk_id, ChunkId(7), "a vector finds its own point");
    for hit in hits {
        let stored = &points[hit.id.chunk_id.index()];
        assert_eq!((&hit.id, &hit.document), (&stored.id, &stored.document));
    }
    let query = TextQuery {
        text: format!("batch{number}"),
        filter: Filter::default(),
        limit: SIZE * 2,
        per_video: None,
    };
    assert_eq!(index.text_search(query).await.unwrap().len(), SIZE, "batch {number}");
}

/// Returns a distinct unit vector for each pair of arguments.
fn vector(number: usize, chunk: usize) -> Vec<f32> {
    let mut random = Random((number as u64) << 32 | chunk as u64 | 1 << 60);
    let raw: Vec<f32> = (0..DIMENSION).map(|_| random.below(2001) as f32 - 1000.0).collect();
    let length = raw.iter().map(|x| x * x).sum::<f32>().sqrt();
    raw.iter().map(|x| x / length).collect()
}

/// A SplitMix64 random number generator.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) % bound as u64) as usize
    }
}

fn options(folder: &Path) -> EmbeddedOptions {
    EmbeddedOptions {
        folder: folder.into(),
        dimension: DIMENSION,
        model: "test".into(),
        pictures: Some(pictures()),
        threads: 2,
        writer_memory: 15_000_000,
        large: 0,
    }
}

async fn open(folder: &Path) -> EmbeddedIndex {
    EmbeddedIndex::open(options(folder)).await.unwrap()
}

fn vector_bytes(folder: &Path) -> u64 {
    let entries = std::fs::read_dir(folder).unwrap().map(Result::unwrap);
    entries
        .map(|entry| match entry.metadata().unwrap() {
            folder if folder.is_dir() => vector_bytes(&entry.path()),
            file if entry.path().extension().is_some_and(|e| e == "vectors") => file.len(),
            _ => 0,
        })
        .sum()
}
