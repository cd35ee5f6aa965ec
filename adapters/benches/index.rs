//! Compares the embedded index with a bare scan of the same vectors in the same run. Prints times,
//! their ratios to the bare scan, and whether targets are met. Also benchmarks the listing with
//! 100,000 videos. Exits with 1 if a ranking differs from the exact one. Run with
//! `cargo bench -p shotlog-adapters --no-default-features --bench index [-- POINTS]`.

use std::collections::BTreeMap;
use std::error::Error;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use fastrand::Rng;
use ports::index::{
    FieldValue, Filter, Point, PointId, Predicate, TextQuery, VectorIndex, VectorQuery,
};
use ports::listing::{ListQuery, VideoEntry, VideoListing};
use ports::{ChunkId, VideoId};
use serde_json::json;
use shotlog_adapters::index::embedded::{EmbeddedIndex, EmbeddedOptions};
use shotlog_adapters::listing::embedded::EmbeddedListing;

/// Default number of points.
const POINTS: usize = 100_000;
const DIMENSION: usize = 384;
const VIDEOS: usize = 100_000;
const CHUNKS_PER_VIDEO: usize = 100;
const BATCH: usize = 2_000;
/// Number of times to open the index.
const OPENS: usize = 15;
const QUERIES: usize = 60;
const TOP: usize = 10;

/// A kind of search. `keeps` does the same as `filter`, given a point's number. `bar` is the target
/// time relative to the bare scan.
struct Case {
    name: &'static str,
    filter: Filter,
    keeps: fn(usize) -> bool,
    bar: Option<f64>,
}

#[tokio::main]
async fn main() -> Result<ExitCode, Box<dyn Error>> {
    let points = std::env::args().find_map(|argument| argument.parse().ok()).unwrap_or(POINTS);
    let exact = vectors(points).await?;
    listing().await?;
    Ok(if exact { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Benchmarks the index. Returns whether every ranking was exact.
async fn vectors(points: usize) -> Result<bool, Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    let options = EmbeddedOptions {
        folder: folder.path().into(),
        dimension: DIMENSION,
        model: "bench".into(),
        pictures: None,
        threads: 0,
        writer_memory: 64_000_000,
        large: 0,
    };
    println!("{points} points × {DIMENSION} dimensions, top {TOP}, {QUERIES} queries each\n");
    let mut random = Rng::with_seed(7);
    let rows: Vec<f32> = (0..points).flat_map(|_| unit_vector(&mut random)).collect();
    let before = memory();

    build(&options, &rows).await?;
    let index = reopen(&options).await?;
    let cases = cases(points);
    let mut times = SearchTimes::default();
    // The first rounds warm up the file cache.
    for _ in 0..5 {
        times.measure_round(&index, &rows, &cases, &mut random).await?;
    }
    times = SearchTimes { different: times.different, ..SearchTimes::default() };
    for _ in 0..QUERIES {
        times.measure_round(&index, &rows, &cases, &mut random).await?;
    }
    let missed = times.report(&cases);
    replace_videos(&index, &rows, &mut random).await?;
    let after = memory();
    let mebibytes = |key: &str| (after[key] as f64 - before[key] as f64) / 1024.0;
    println!(
        "resident      {:8.0} MiB private and {:.0} MiB of mapped files",
        mebibytes("RssAnon"),
        mebibytes("RssFile")
    );
    println!("\nrankings that differ from the exact one: {}", times.different);
    println!("bars missed: {missed}");
    Ok(times.different == 0)
}

/// Benchmarks adding all points.
async fn build(options: &EmbeddedOptions, rows: &[f32]) -> Result<(), Box<dyn Error>> {
    let count = rows.len() / DIMENSION;
    let index = EmbeddedIndex::open(options.clone()).await?;
    let mut commits = Vec::new();
    let started = Instant::now();
    for first in (0..count).step_by(BATCH) {
        let points = (first..count.min(first + BATCH)).map(|i| point(i, rows)).collect();
        commits.push(timed(index.replace(None, points)).await?.1);
    }
    // Dropping the index waits for a running merge.
    drop(index);
    println!("build         {:8.1} s", started.elapsed().as_secs_f64());
    report("commit 2,000", &mut commits);
    Ok(())
}

/// Benchmarks opening the index.
async fn reopen(options: &EmbeddedOptions) -> Result<EmbeddedIndex, Box<dyn Error>> {
    let mut opens = Vec::new();
    for _ in 1..OPENS {
        opens.push(timed(EmbeddedIndex::open(options.clone())).await?.1);
    }
    let (index, took) = timed(EmbeddedIndex::open(options.clone())).await?;
    opens.push(took);
    report("open", &mut opens);
    Ok(index)
}

fn cases(points: usize) -> [Case; 5] {
    let keyword = |word: &str| Predicate::AnyKeyword(vec![word.into()]);
    let videos = (0..points / CHUNKS_PER_VIDEO).step_by(10).map(|i| video(i).to_string());
    [
        Case { name: "unfiltered", filter: Filter::default(), keeps: |_| true, bar: Some(1.5) },
        Case {
            name: "10 % by tag",
            filter: Filter::default().and("tags", keyword("tag3")),
            keeps: |i| i % 10 == 3,
            bar: Some(0.5),
        },
        Case {
            name: "10 % by video",
            filter: Filter::default().and("video_id", Predicate::AnyKeyword(videos.collect())),
            keeps: |i| (i / CHUNKS_PER_VIDEO).is_multiple_of(10),
            bar: Some(0.5),
        },
        Case {
            name: "10 % by time",
            filter: Filter::default().and("start", Predicate::AtLeast(900.0)),
            keeps: |i| i % CHUNKS_PER_VIDEO >= 90,
            bar: Some(0.5),
        },
        Case {
            name: "1 % by object",
            filter: Filter::default().and("objects", keyword("object42")),
            keeps: |i| i % 100 == 42,
            bar: None,
        },
    ]
}

/// Search times, by kind of search.
#[derive(Default)]
struct SearchTimes {
    bare: Vec<Duration>,
    cases: [Vec<Duration>; 5],
    texts: Vec<Duration>,
    by_video: Vec<Duration>,
    by_words: Vec<Duration>,
    /// Number of rankings that differ from the exact one.
    different: usize,
}

impl SearchTimes {
    /// Runs every kind of search once.
    async fn measure_round(
        &mut self,
        index: &EmbeddedIndex,
        rows: &[f32],
        cases: &[Case; 5],
        random: &mut Rng,
    ) -> Result<(), Box<dyn Error>> {
        let query = unit_vector(random);
        let started = Instant::now();
        let exact = bare_scan(rows, &query, |_| true);
        self.bare.push(started.elapsed());
        for (case, times) in cases.iter().zip(&mut self.cases) {
            let expected = match case.name {
                "unfiltered" => exact.clone(),
                _ => bare_scan(rows, &query, case.keeps),
            };
            let search = nearest(&query, case.filter.clone());
            let (hits, took) = timed(index.search(search)).await?;
            times.push(took);
            let found: Vec<PointId> = hits.into_iter().map(|hit| hit.id).collect();
            let expected: Vec<PointId> = expected.into_iter().map(|(_, i)| id(i)).collect();
            if found != expected {
                self.different += 1;
                println!("{}: {found:?} instead of {expected:?}", case.name);
            }
        }
        let text = format!("{} {}", word(random.usize(..5000)), word(random.usize(..5000)));
        let search = TextQuery { text, filter: Filter::default(), limit: TOP, per_video: None };
        self.texts.push(timed(index.text_search(search.clone())).await?.1);
        self.by_words
            .push(timed(index.text_search(TextQuery { per_video: Some(5), ..search })).await?.1);
        let nearest = nearest(&query, Filter::default());
        let search = VectorQuery { per_video: Some(5), ..nearest };
        self.by_video.push(timed(index.search(search)).await?.1);
        Ok(())
    }

    /// Prints the times and returns the number of missed targets.
    fn report(&mut self, cases: &[Case; 5]) -> usize {
        let reference = report("bare scan", &mut self.bare);
        let mut missed = 0;
        for (case, times) in cases.iter().zip(&mut self.cases) {
            let ratio = report(case.name, times) / reference;
            if let Some(bar) = case.bar {
                let verdict = if ratio <= bar { "met" } else { "MISSED" };
                missed += usize::from(ratio > bar);
                println!("              {ratio:8.2} × the bare scan, bar {bar} ×: {verdict}");
            } else {
                println!("              {ratio:8.2} × the bare scan");
            }
        }
        report("text search", &mut self.texts);
        report("best 5 of videos", &mut self.by_video);
        report("the same by words", &mut self.by_words);
        missed
    }
}

/// Benchmarks replacing the points of one video, and the searches in the second after the
/// replacement.
async fn replace_videos(
    index: &EmbeddedIndex,
    rows: &[f32],
    random: &mut Rng,
) -> Result<(), Box<dyn Error>> {
    let (mut replaces, mut searches) = (Vec::new(), Vec::new());
    for number in 0..20 {
        let (first, scope) = (number * CHUNKS_PER_VIDEO, Filter::video(video(number)));
        let points = (first..first + CHUNKS_PER_VIDEO).map(|i| point(i, rows)).collect();
        replaces.push(timed(index.replace(Some(&scope), points)).await?.1);
        let published = Instant::now();
        while published.elapsed() < Duration::from_secs(1) {
            let search = nearest(&unit_vector(random), Filter::default());
            searches.push(timed(index.search(search)).await?.1);
        }
    }
    report("replace a video", &mut replaces);
    report("search after it", &mut searches);
    let slowest = searches.last().map_or(0.0, |last| millis(*last));
    println!("                slowest {slowest:.2} ms");
    Ok(())
}

fn nearest(vector: &[f32], filter: Filter) -> VectorQuery {
    let (field, vector) = ("combined".into(), vector.to_vec());
    VectorQuery { field, vector, filter, limit: TOP, threshold: None, per_video: None }
}

/// Benchmarks listing pages of 50 entries. The target is 5 ms.
async fn listing() -> Result<(), Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    let file = folder.path().join("videos");
    let before = memory();
    let listing = EmbeddedListing::open(file.clone()).await?;
    let started = Instant::now();
    for first in (0..VIDEOS).step_by(BATCH) {
        listing.put((first..VIDEOS.min(first + BATCH)).map(entry).collect()).await?;
    }
    println!("\n{VIDEOS} videos, listed in {:.1} s", started.elapsed().as_secs_f64());
    drop(listing);
    let (listing, took) = timed(EmbeddedListing::open(file)).await?;
    println!("open          {:8.2} ms", millis(took));
    let page = ListQuery { limit: 50, ..ListQuery::default() };
    let cases = [
        ("first page", page.clone()),
        ("offset 90,000", ListQuery { offset: 90_000, ..page.clone() }),
        ("part of a name", ListQuery { filename: Some("42.mp".into()), ..page.clone() }),
        ("by analyzer", ListQuery { analyzer: Some("ocr".into()), ..page.clone() }),
        (
            "a name, deep",
            ListQuery {
                filename: Some("day".into()),
                from: Some(1_000_000),
                offset: 40_000,
                ..page.clone()
            },
        ),
    ];
    for (name, query) in cases {
        let mut times = Vec::new();
        for _ in 0..QUERIES {
            times.push(timed(listing.list(&query)).await?.1);
        }
        report(name, &mut times);
    }
    let mut puts = Vec::new();
    for number in 0..QUERIES {
        puts.push(timed(listing.put(vec![entry(number)])).await?.1);
    }
    report("put one", &mut puts);
    let resident = (memory()["RssAnon"] as f64 - before["RssAnon"] as f64) / 1024.0;
    println!("resident      {resident:8.0} MiB");
    Ok(())
}

fn entry(number: usize) -> VideoEntry {
    let text = "what a page of the library shows of a video ".repeat(20);
    let analyzers = ["transcript", "ocr", "default_video"].map(String::from);
    VideoEntry {
        video_id: video(number.wrapping_mul(0x9e37_79b9_7f4a_7c15)),
        created_at: (number * 977 % VIDEOS) as i64 * 60_000,
        filename: format!("Holiday-{number}.mp4"),
        analyzers: analyzers[number % 2..].to_vec(),
        fields: Default::default(),
        document: json!({ "title": format!("Holiday {number}"), "summary": text }).into(),
    }
}

/// Scans all rows, stored in one flat vector, on one thread with sixteen parallel sums. This is the
/// baseline.
fn bare_scan(rows: &[f32], query: &[f32], keeps: impl Fn(usize) -> bool) -> Vec<(f32, usize)> {
    let mut best: Vec<(f32, usize)> = Vec::with_capacity(TOP + 1);
    for (i, row) in rows.chunks_exact(DIMENSION).enumerate() {
        if !keeps(i) {
            continue;
        }
        let score = dot(query, row);
        if best.len() < TOP || best.last().is_some_and(|last| score > last.0) {
            let at = best.partition_point(|(better, _)| *better >= score);
            best.insert(at, (score, i));
            best.truncate(TOP);
        }
    }
    best
}

fn dot(a: &[f32], b: &[f32]) -> f32 {
    let mut sums = [0.0_f32; 16];
    for (a, b) in a.chunks_exact(16).zip(b.chunks_exact(16)) {
        for lane in 0..16 {
            sums[lane] += a[lane] * b[lane];
        }
    }
    sums.iter().sum()
}

fn point(i: usize, rows: &[f32]) -> Point {
    let mut random = Rng::with_seed(i as u64);
    let text: Vec<String> = (0..30).map(|_| word(random.usize(..5000))).collect();
    let text = text.join(" ");
    let start = (i % CHUNKS_PER_VIDEO) as f64 * 10.0;
    let keywords = |word: String| FieldValue::Keywords(vec![word]);
    Point {
        id: id(i),
        vectors: BTreeMap::from([("combined".into(), rows[i * DIMENSION..][..DIMENSION].to_vec())]),
        payload: BTreeMap::from([
            ("chunk_config".into(), keywords("audio_video:5-20".into())),
            ("tags".into(), keywords(format!("tag{}", i % 10))),
            ("objects".into(), keywords(format!("object{}", i % 100))),
            ("people_count".into(), FieldValue::Integer((i % 5) as i64)),
            ("start".into(), FieldValue::Float(start)),
            ("end".into(), FieldValue::Float(start + 10.0)),
        ]),
        document: json!({
            "start": start,
            "end": start + 10.0,
            "description": text,
            "objects": [format!("object{}", i % 100)],
            "tags": [format!("tag{}", i % 10)],
        })
        .into(),
        text,
    }
}

fn id(i: usize) -> PointId {
    PointId {
        video_id: video(i / CHUNKS_PER_VIDEO),
        chunk_id: ChunkId::from_index(i % CHUNKS_PER_VIDEO),
        analyzer_id: "default_video".into(),
    }
}

fn video(number: usize) -> VideoId {
    format!("{number:016x}").parse().expect("an id")
}

fn word(number: usize) -> String {
    format!("word{number}")
}

async fn timed<T>(work: impl Future<Output = ports::Result<T>>) -> ports::Result<(T, Duration)> {
    let started = Instant::now();
    Ok((work.await?, started.elapsed()))
}

/// Prints the median and the 99th percentile, and returns the median in milliseconds.
fn report(name: &str, times: &mut [Duration]) -> f64 {
    times.sort_unstable();
    let p50 = millis(times[times.len() / 2]);
    let p99 = millis(times[(times.len() * 99).div_ceil(100) - 1]);
    println!("{name:<17} p50 {p50:8.2} ms, p99 {p99:8.2} ms");
    p50
}

fn millis(time: Duration) -> f64 {
    time.as_secs_f64() * 1000.0
}

/// Returns the resident memory of this process by kind, in KiB. Values are zero if the system does
/// not report them.
fn memory() -> BTreeMap<&'static str, u64> {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let read = |key: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(':'))?;
        line.split_whitespace().next()?.parse().ok()
    };
    ["RssAnon", "RssFile"].map(|key| (key, read(key).unwrap_or(0))).into()
}

/// Returns a unit vector in a random direction. The direction is approximately uniform, because
/// sums of uniform numbers are nearly normal.
fn unit_vector(random: &mut Rng) -> Vec<f32> {
    let mut uniform = || random.f32() - 0.5;
    let raw: Vec<f32> =
        (0..DIMENSION).map(|_| uniform() + uniform() + uniform() + uniform()).collect();
    let length = raw.iter().map(|x| x * x).sum::<f32>().sqrt();
    raw.into_iter().map(|x| x / length).collect()
}
