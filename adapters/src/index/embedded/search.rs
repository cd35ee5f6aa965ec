//! Searches one snapshot. Filters apply first. Then a parallel scan of eight-bit codes finds
//! candidates for the hits with the highest scores. Float32 dot products score the candidates, so
//! rankings are exact ([`super::codes`]). Every function in this file blocks.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::iter;
use std::ops::Range;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};

use parking_lot::Mutex;
use ports::index::{Filter, Hit, PointId, TextQuery, VectorQuery};
use ports::{Document, ErrorKind, PortError, Result, VideoId};
use rayon::ThreadPool;
use tantivy::query::{EnableScoring, Query};
use tantivy::schema::{IndexRecordOption, Value};
use tantivy::tokenizer::TextAnalyzer;
use tantivy::{DocAddress, DocSet, TERMINATED, TantivyDocument};

use super::codes::{FLOAT, QuantizedQuery};
use super::collectors::{Collector, ScoredDoc, TopPerVideo, TopPoints, TopVideos};
use super::failed;
use super::schema::PointSchema;
use super::selection::{
    CandidateRow, SegmentRows, SplitFilter, filter_weight, matching_docs, select_rows,
};
use super::snapshot::Snapshot;
use crate::index::words;

/// Number of rows per task. It is large enough to make the cost of starting a task negligible.
const TASK_ROWS: usize = 4096;

/// Number of rows whose codes are compared before the most promising of these rows are scored.
const BLOCK_ROWS: usize = 256;

/// If the span of a block's rows is at most this many times the number of rows, all codes in the
/// span are scanned. Sequential reads are four times as fast as reads of short runs with gaps.
const DENSE: usize = 4;

/// Number of components summed in parallel, which is as many as fit in four SSE registers or one
/// AVX-512 register.
const LANES: usize = 16;

pub(super) fn nearest(
    snapshot: &Snapshot,
    schema: &PointSchema,
    pool: &ThreadPool,
    query: &VectorQuery,
) -> Result<Vec<Hit>> {
    let collector = TopPoints::new(query.limit, query.threshold);
    hits(snapshot, schema, collect_nearest(snapshot, schema, pool, query, collector)?, query.limit)
}

/// Returns the nearest `per_video` points of each of the videos with the nearest points.
pub(super) fn nearest_by_video(
    snapshot: &Snapshot,
    schema: &PointSchema,
    pool: &ThreadPool,
    query: &VectorQuery,
    per_video: usize,
) -> Result<Vec<Hit>> {
    let collector = TopVideos::new(query.limit, query.threshold);
    let videos = first_videos(
        snapshot,
        collect_nearest(snapshot, schema, pool, query, collector)?,
        query.limit,
    )?;
    let query = VectorQuery { filter: within(&query.filter, &videos), ..query.clone() };
    let collector = TopPerVideo::new(per_video, query.threshold);
    let found = collect_nearest(snapshot, schema, pool, &query, collector)?;
    grouped(snapshot, schema, found, &videos, per_video)
}

/// Collects the matching points of each segment. Applies the filter first, then computes exact
/// scores.
fn collect_nearest<K: Collector>(
    snapshot: &Snapshot,
    schema: &PointSchema,
    pool: &ThreadPool,
    query: &VectorQuery,
    empty: K,
) -> Result<Vec<K>> {
    let selected = select_rows(snapshot, schema, &query.filter, &query.field)?;
    let tasks: Vec<(&SegmentRows<'_>, Range<usize>)> = selected
        .iter()
        .flat_map(|of| {
            let starts = (0..of.len()).step_by(TASK_ROWS);
            starts.map(move |start| (of, start..of.len().min(start + TASK_ROWS)))
        })
        .collect();
    let (probe, floor) = (QuantizedQuery::new(&query.vector), Floor::default());
    let score = |(of, range): &(&SegmentRows<'_>, Range<usize>)| {
        let mut collector = empty.clone();
        for of_analyzer in of.candidates(range.clone()) {
            for block in of_analyzer.chunks(BLOCK_ROWS) {
                compare(&query.vector, &probe, of, block, &mut collector, &floor);
            }
        }
        (of.segment, collector)
    };
    let found = run_tasks(pool, &tasks, score);
    let mut segments: Vec<K> = snapshot.segments.iter().map(|_| empty.clone()).collect();
    for (segment, collector) in found {
        segments[segment].merge(collector);
    }
    Ok(segments)
}

/// Runs the tasks and returns all results in no particular order. The calling thread starts at
/// once. The threads of the pool join when they wake up.
fn run_tasks<T: Sync, R: Send>(
    pool: &ThreadPool,
    tasks: &[T],
    work: impl Fn(&T) -> R + Sync,
) -> Vec<R> {
    let next = AtomicUsize::new(0);
    let take = || {
        let turns = iter::repeat_with(|| tasks.get(next.fetch_add(1, Ordering::Relaxed)));
        turns.map_while(|task| task.map(&work)).collect::<Vec<R>>()
    };
    let helpers = (pool.current_num_threads() - 1).min(tasks.len().saturating_sub(1));
    let helped = Mutex::new(Vec::new());
    let mut done = pool.in_place_scope(|scope| {
        for _ in 0..helpers {
            scope.spawn(|_| {
                let mut done = take();
                helped.lock().append(&mut done);
            });
        }
        take()
    });
    done.append(&mut helped.into_inner());
    done
}

/// Offers `collector` the rows of a block that may be among the best hits.
fn compare<K: Collector>(
    query: &[f32],
    probe: &QuantizedQuery,
    of: &SegmentRows<'_>,
    block: &[CandidateRow],
    collector: &mut K,
    floor: &Floor,
) {
    let (Some(first), Some(last)) = (block.first(), block.last()) else { return };
    let first = first.index();
    let dense =
        block.is_sorted_by_key(|row| row.index()) && last.index() - first < DENSE * block.len();
    let mut bounds = [0.0; DENSE * BLOCK_ROWS];
    match dense {
        true => probe.bounds(|i| of.rows.code(first + i), &mut bounds[..=last.index() - first]),
        false => probe.bounds(|i| of.rows.code(block[i].index()), &mut bounds[..block.len()]),
    }
    for (i, row) in block.iter().enumerate() {
        let bound = bounds[if dense { row.index() - first } else { i }];
        let min_score = collector.min_score().max(floor.get());
        // Rounding can push the dot product of two unit vectors above 1.
        if bound.clamp(-1.0, 1.0) < min_score {
            continue;
        }
        let score = dot(query, of.rows.floats(row.index())).clamp(-1.0, 1.0);
        if score >= min_score {
            collector.offer(ScoredDoc { score, rank: of.view.data.rank(row.doc), doc: row.doc });
        }
    }
    floor.raise(collector.min_score());
}

pub(super) fn text(
    snapshot: &Snapshot,
    schema: &PointSchema,
    analyzer: &mut TextAnalyzer,
    query: &TextQuery,
) -> Result<Vec<Hit>> {
    let clauses = words::clauses(analyzer, &query.text);
    let found =
        collect_text(snapshot, schema, clauses, &query.filter, TopPoints::new(query.limit, None))?;
    hits(snapshot, schema, found, query.limit)
}

/// Returns the `per_video` points with the highest scores of each of the videos whose points score
/// highest.
pub(super) fn text_by_video(
    snapshot: &Snapshot,
    schema: &PointSchema,
    analyzer: &mut TextAnalyzer,
    query: &TextQuery,
    per_video: usize,
) -> Result<Vec<Hit>> {
    let clauses = words::clauses(analyzer, &query.text);
    let collector = TopVideos::new(query.limit, None);
    let found = collect_text(snapshot, schema, clauses.clone(), &query.filter, collector)?;
    let videos = first_videos(snapshot, found, query.limit)?;
    let filter = within(&query.filter, &videos);
    let found =
        collect_text(snapshot, schema, clauses, &filter, TopPerVideo::new(per_video, None))?;
    grouped(snapshot, schema, found, &videos, per_video)
}

/// Collects the points of each segment that match the clauses and the filter.
fn collect_text<K: Collector>(
    snapshot: &Snapshot,
    schema: &PointSchema,
    clauses: Vec<Vec<(usize, String)>>,
    filter: &Filter,
    empty: K,
) -> Result<Vec<K>> {
    if clauses.is_empty() {
        return Ok(snapshot.segments.iter().map(|_| empty.clone()).collect());
    }
    let split = SplitFilter::new(filter);
    let weight = schema
        .text(clauses, &split.rest)?
        .weight(EnableScoring::enabled_from_searcher(&snapshot.searcher))
        .map_err(failed)?;
    let mut segments = Vec::new();
    for view in &snapshot.segments {
        let mut collector = empty.clone();
        let ids = split.accepted_ids(view)?;
        let mut offer = |doc, score| {
            let rank = view.data.rank(doc);
            if score >= collector.min_score() && ids.has(rank) && view.is_alive(doc) {
                collector.offer(ScoredDoc { score, rank, doc });
            }
        };
        weight.for_each(&view.reader, &mut offer).map_err(failed)?;
        segments.push(collector);
    }
    Ok(segments)
}

pub(super) fn vectors(
    snapshot: &Snapshot,
    schema: &PointSchema,
    filter: &Filter,
    field: &str,
) -> Result<Vec<(PointId, Vec<f32>)>> {
    let query = schema.filter(filter)?;
    let weight =
        query.weight(EnableScoring::disabled_from_searcher(&snapshot.searcher)).map_err(failed)?;
    let mut found = Vec::new();
    for view in &snapshot.segments {
        let Some(rows) = view.data.fields.get(field) else { continue };
        for doc in matching_docs(&*weight, view)? {
            if let Some(row) = rows.row(doc) {
                found.push((view.data.id(doc).map_err(failed)?, rows.vector(row)));
            }
        }
    }
    found.sort_by(|(a, _), (b, _)| a.cmp(b));
    Ok(found)
}

pub(super) fn count(snapshot: &Snapshot, schema: &PointSchema, filter: &Filter) -> Result<u64> {
    let query = schema.filter(filter)?;
    let Some(weight) = filter_weight(snapshot, &*query, filter)? else {
        return Ok(snapshot.searcher.num_docs());
    };
    let mut total = 0;
    for view in &snapshot.segments {
        total += u64::from(weight.count(&view.reader).map_err(failed)?);
    }
    Ok(total)
}

pub(super) fn values(snapshot: &Snapshot, schema: &PointSchema, name: &str) -> Result<Vec<String>> {
    let field = schema.field(name)?;
    let mut values = BTreeSet::new();
    for view in &snapshot.segments {
        let index = view.reader.inverted_index(field).map_err(failed)?;
        let mut terms = index.terms().stream().map_err(PortError::from)?;
        while terms.advance() {
            // The dictionary keeps the terms of deleted documents until the segment is merged.
            let mut postings = index
                .read_postings_from_terminfo(terms.value(), IndexRecordOption::Basic)
                .map_err(PortError::from)?;
            let mut doc = postings.doc();
            while doc != TERMINATED && !view.is_alive(doc) {
                doc = postings.advance();
            }
            if doc != TERMINATED {
                values.insert(String::from_utf8_lossy(terms.key()).into_owned());
            }
        }
    }
    Ok(values.into_iter().collect())
}

/// Returns the distinct revisions of the matching points.
pub(super) fn revisions(
    snapshot: &Snapshot,
    schema: &PointSchema,
    filter: &Filter,
) -> Result<Vec<String>> {
    let field = schema.field("revision")?;
    let query = schema.filter(filter)?;
    let weight =
        query.weight(EnableScoring::disabled_from_searcher(&snapshot.searcher)).map_err(failed)?;
    let mut revisions = BTreeSet::new();
    for view in &snapshot.segments {
        let docs = matching_docs(&*weight, view)?;
        let index = view.reader.inverted_index(field).map_err(failed)?;
        let mut terms = index.terms().stream().map_err(PortError::from)?;
        while !docs.is_empty() && terms.advance() {
            let mut postings = index
                .read_postings_from_terminfo(terms.value(), IndexRecordOption::Basic)
                .map_err(PortError::from)?;
            if docs.iter().any(|doc| postings.doc() <= *doc && postings.seek(*doc) == *doc) {
                revisions.insert(String::from_utf8_lossy(terms.key()).into_owned());
            }
        }
    }
    Ok(revisions.into_iter().collect())
}

/// The highest minimum score among all tasks of a search. No task needs points below it.
struct Floor(AtomicU32);

impl Default for Floor {
    fn default() -> Self {
        Self(AtomicU32::new(f32::NEG_INFINITY.to_bits()))
    }
}

impl Floor {
    fn get(&self) -> f32 {
        f32::from_bits(self.0.load(Ordering::Relaxed))
    }

    fn raise(&self, min_score: f32) {
        let higher = |bits| (min_score > f32::from_bits(bits)).then_some(min_score.to_bits());
        // If the floor is already higher, it stays unchanged.
        let _ = self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, higher);
    }
}

/// A collected point: its score, id and address.
type RankedPoint = (f32, PointId, DocAddress);

fn found(snapshot: &Snapshot, segment: usize, scored: ScoredDoc) -> Result<RankedPoint> {
    let id = snapshot.segments[segment].data.id(scored.doc).map_err(failed)?;
    Ok((scored.score, id, DocAddress::new(segment as u32, scored.doc)))
}

/// Sorts points by descending score; points with equal scores are ordered by id.
fn rank(found: &mut [RankedPoint]) {
    found.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
}

/// Returns the points of all segments with the highest scores as hits.
fn hits(
    snapshot: &Snapshot,
    schema: &PointSchema,
    segments: Vec<TopPoints>,
    limit: usize,
) -> Result<Vec<Hit>> {
    let mut all: Vec<(usize, ScoredDoc)> = Vec::new();
    for (segment, points) in segments.into_iter().enumerate() {
        all.extend(points.into_points().into_iter().map(|scored| (segment, scored)));
    }
    all.sort_unstable_by(|(_, a), (_, b)| b.score.total_cmp(&a.score));
    // Ids only order points with equal scores, so the ids of points below the last returned score
    // are not needed.
    if let Some(last) = limit.checked_sub(1).and_then(|last| all.get(last)) {
        let last = last.1.score;
        all.retain(|(_, scored)| scored.score >= last);
    }
    let mut ranked = all
        .into_iter()
        .map(|(segment, scored)| found(snapshot, segment, scored))
        .collect::<Result<Vec<_>>>()?;
    rank(&mut ranked);
    ranked.truncate(limit);
    ranked.into_iter().map(|found| hit(snapshot, schema, found)).collect()
}

/// Returns the videos whose points score highest, in order of their highest score.
fn first_videos(
    snapshot: &Snapshot,
    segments: Vec<TopVideos>,
    limit: usize,
) -> Result<Vec<VideoId>> {
    let mut best = Vec::new();
    for (segment, videos) in segments.into_iter().enumerate() {
        for scored in videos.into_best() {
            best.push(found(snapshot, segment, scored)?);
        }
    }
    rank(&mut best);
    // A video may have points in several segments.
    let mut seen = HashSet::new();
    best.retain(|(_, id, _)| seen.len() < limit && seen.insert(id.video_id));
    Ok(best.into_iter().map(|(_, id, _)| id.video_id).collect())
}

/// Restricts the filter to these videos.
fn within(filter: &Filter, videos: &[VideoId]) -> Filter {
    filter.clone().in_videos(videos.iter().copied())
}

/// Returns the points of these videos with the highest scores, video by video.
fn grouped(
    snapshot: &Snapshot,
    schema: &PointSchema,
    segments: Vec<TopPerVideo>,
    videos: &[VideoId],
    per_video: usize,
) -> Result<Vec<Hit>> {
    let mut groups: HashMap<VideoId, Vec<RankedPoint>> = HashMap::new();
    for (segment, collector) in segments.into_iter().enumerate() {
        for scored in collector.into_points() {
            let found = found(snapshot, segment, scored)?;
            groups.entry(found.1.video_id).or_default().push(found);
        }
    }
    let mut hits = Vec::new();
    for video in videos {
        let mut group = groups.remove(video).unwrap_or_default();
        rank(&mut group);
        for found in group.into_iter().take(per_video) {
            hits.push(hit(snapshot, schema, found)?);
        }
    }
    Ok(hits)
}

/// Creates a hit from a ranked point and its document.
fn hit(snapshot: &Snapshot, schema: &PointSchema, (score, id, at): RankedPoint) -> Result<Hit> {
    let document = document(snapshot, schema, &id, at)?;
    Ok(Hit { id, score, document })
}

/// Reads the document of a point.
pub(super) fn document(
    snapshot: &Snapshot,
    schema: &PointSchema,
    id: &PointId,
    at: DocAddress,
) -> Result<Document> {
    let stored: TantivyDocument = snapshot.searcher.doc(at).map_err(failed)?;
    let json = stored.get_first(schema.document);
    let json = json.and_then(|json| str::from_utf8(json.as_bytes()?).ok());
    json.map(Document::from_json).ok_or_else(|| {
        let message = format!("the document of point {id:?} is not valid text");
        PortError::new(ErrorKind::Corrupt, message)
    })
}

/// Returns the dot product of a query and a stored row. Unlike [`ports::vector::dot`], it uses
/// parallel sums, which the compiler turns into vector instructions.
pub(super) fn dot(query: &[f32], row: &[u8]) -> f32 {
    let (row, _) = row.as_chunks::<FLOAT>();
    let (queries, query_rest) = query.as_chunks::<LANES>();
    let (rows, row_rest) = row.as_chunks::<LANES>();
    let mut sums = [0.0_f32; LANES];
    for (a, b) in queries.iter().zip(rows) {
        for lane in 0..LANES {
            sums[lane] += a[lane] * f32::from_le_bytes(b[lane]);
        }
    }
    let rest: f32 = query_rest.iter().zip(row_rest).map(|(a, b)| a * f32::from_le_bytes(*b)).sum();
    sums.iter().sum::<f32>() + rest
}
