//! Searching one snapshot. Filters go first: what they leave is scored exactly, in parallel, by
//! the product of float32 rows. Every function here blocks.

use std::collections::{BTreeSet, BinaryHeap};
use std::ops::Range;

use ports::index::{Filter, Hit, PointId, TextQuery, VectorQuery};
use ports::{ErrorKind, PortError, Result};
use rayon::ThreadPool;
use rayon::prelude::*;
use tantivy::query::{EnableScoring, Query, Weight};
use tantivy::schema::{IndexRecordOption, Value};
use tantivy::tokenizer::TextAnalyzer;
use tantivy::{DocAddress, DocId, DocSet, TERMINATED, TantivyDocument};

use super::failed;
use super::schema::PointSchema;
use super::snapshot::{Scored, SegmentView, Snapshot};
use super::vectors::{FLOAT, Rows};
use crate::index::words;

/// Rows that one task scores; large enough that starting it costs nothing beside it.
const TASK_ROWS: usize = 4096;

/// Components that are summed side by side: four SSE or one AVX-512 register.
const LANES: usize = 16;

pub(super) fn nearest(
    snapshot: &Snapshot,
    schema: &PointSchema,
    pool: &ThreadPool,
    query: &VectorQuery,
) -> Result<Vec<Hit>> {
    let filter = weigh(snapshot, &*schema.filter(&query.filter)?, &query.filter)?;
    let mut selections = Vec::new();
    for (segment, view) in snapshot.segments.iter().enumerate() {
        let Some(rows) = view.data.fields.get(&query.field) else { continue };
        let selected = match &filter {
            None => Selected::All(rows.len()),
            Some(weight) => {
                let docs = matching(&**weight, view)?;
                Selected::Rows(docs.into_iter().filter_map(|doc| rows.row(doc)).collect())
            }
        };
        selections.push((segment, rows, selected));
    }
    let tasks: Vec<(usize, &Rows, &Selected, Range<usize>)> = selections
        .iter()
        .flat_map(|(segment, rows, selected)| {
            let starts = (0..selected.len()).step_by(TASK_ROWS);
            starts.map(move |start| {
                let end = selected.len().min(start + TASK_ROWS);
                (*segment, *rows, selected, start..end)
            })
        })
        .collect();
    let score = |(segment, rows, selected, range): &(usize, &Rows, &Selected, Range<usize>)| {
        let view = &snapshot.segments[*segment];
        let mut best = Best::new(query.limit, query.threshold);
        for i in range.clone() {
            let row = selected.row(i);
            // Rounding can carry the product of two unit vectors past 1.
            let score = dot(&query.vector, rows.row_bytes(row)).clamp(-1.0, 1.0);
            if score >= best.least {
                let doc = rows.doc(row);
                // A filter has left out what was removed already.
                if matches!(selected, Selected::Rows(_)) || view.is_alive(doc) {
                    best.offer(Scored { score, rank: view.data.rank(doc), doc });
                }
            }
        }
        (*segment, best)
    };
    let found: Vec<(usize, Best)> = if tasks.len() > 1 && pool.current_num_threads() > 1 {
        pool.install(|| tasks.par_iter().map(score).collect())
    } else {
        tasks.iter().map(score).collect()
    };

    let mut segments: Vec<Option<Best>> = snapshot.segments.iter().map(|_| None).collect();
    for (segment, best) in found {
        match &mut segments[segment] {
            Some(merged) => merged.absorb(best),
            empty => *empty = Some(best),
        }
    }
    hits(snapshot, schema, segments, query.limit)
}

pub(super) fn text(
    snapshot: &Snapshot,
    schema: &PointSchema,
    analyzer: &mut TextAnalyzer,
    query: &TextQuery,
) -> Result<Vec<Hit>> {
    let clauses = words::clauses(analyzer, &query.text);
    if clauses.is_empty() {
        return Ok(Vec::new());
    }
    let weight = schema
        .text(clauses, &query.filter)?
        .weight(EnableScoring::enabled_from_searcher(&snapshot.searcher))
        .map_err(failed)?;
    let mut segments = Vec::new();
    for view in &snapshot.segments {
        let mut best = Best::new(query.limit, None);
        let mut offer = |doc, score| {
            if score >= best.least && view.is_alive(doc) {
                best.offer(Scored { score, rank: view.data.rank(doc), doc });
            }
        };
        weight.for_each(&view.reader, &mut offer).map_err(failed)?;
        segments.push(Some(best));
    }
    hits(snapshot, schema, segments, query.limit)
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
        for doc in matching(&*weight, view)? {
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
    let Some(weight) = weigh(snapshot, &*query, filter)? else {
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
            // The dictionary keeps the words of removed documents until the segment is merged.
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

/// The distinct revisions of the points that match.
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
        let docs = matching(&*weight, view)?;
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

/// The rows of a field that a search scores.
enum Selected {
    /// Every row, the removed ones among them.
    All(usize),
    /// These, ascending.
    Rows(Vec<usize>),
}

impl Selected {
    fn len(&self) -> usize {
        match self {
            Self::All(rows) => *rows,
            Self::Rows(rows) => rows.len(),
        }
    }

    fn row(&self, i: usize) -> usize {
        match self {
            Self::All(_) => i,
            Self::Rows(rows) => rows[i],
        }
    }
}

/// The best documents of one segment so far.
struct Best {
    limit: usize,
    /// Nothing below this score is wanted.
    least: f32,
    /// The worst on top.
    kept: BinaryHeap<Scored>,
}

impl Best {
    fn new(limit: usize, threshold: Option<f32>) -> Self {
        let least = match limit {
            0 => f32::INFINITY,
            _ => threshold.unwrap_or(f32::NEG_INFINITY),
        };
        Self { limit, least, kept: BinaryHeap::new() }
    }

    fn offer(&mut self, new: Scored) {
        if self.kept.len() < self.limit {
            self.kept.push(new);
        } else if let Some(mut worst) = self.kept.peek_mut()
            && new < *worst
        {
            *worst = new;
        }
        if self.kept.len() == self.limit
            && let Some(worst) = self.kept.peek()
        {
            self.least = self.least.max(worst.score);
        }
    }

    fn absorb(&mut self, other: Self) {
        for scored in other.kept {
            self.offer(scored);
        }
    }
}

/// The best of all segments with their ids and documents.
fn hits(
    snapshot: &Snapshot,
    schema: &PointSchema,
    segments: Vec<Option<Best>>,
    limit: usize,
) -> Result<Vec<Hit>> {
    let mut all: Vec<(f32, u32, DocId)> = Vec::new();
    for (segment, best) in (0..).zip(segments) {
        let kept = best.map(|best| best.kept).unwrap_or_default();
        all.extend(kept.into_iter().map(|scored| (scored.score, segment, scored.doc)));
    }
    all.sort_unstable_by(|a, b| b.0.total_cmp(&a.0));
    // Ids decide between equal scores; nothing below the last wanted score needs one.
    if let Some(&(last, ..)) = limit.checked_sub(1).and_then(|last| all.get(last)) {
        all.retain(|(score, ..)| *score >= last);
    }
    let mut ranked = all
        .into_iter()
        .map(|(score, segment, doc)| {
            Ok((score, snapshot.segments[segment as usize].data.id(doc)?, segment, doc))
        })
        .collect::<tantivy::Result<Vec<_>>>()
        .map_err(failed)?;
    ranked.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
    ranked.truncate(limit);
    ranked
        .into_iter()
        .map(|(score, id, segment, doc)| {
            let stored: TantivyDocument =
                snapshot.searcher.doc(DocAddress::new(segment, doc)).map_err(failed)?;
            let json = stored.get_first(schema.document);
            let document = json
                .and_then(|json| serde_json::from_slice(json.as_bytes()?).ok())
                .ok_or_else(|| {
                    PortError::new(
                        ErrorKind::Corrupt,
                        format!("the document of point {id:?} does not read back as JSON"),
                    )
                })?;
            Ok(Hit { id, score, document })
        })
        .collect()
}

/// The filter, ready to run; none when it lets everything through.
fn weigh(
    snapshot: &Snapshot,
    query: &dyn Query,
    filter: &Filter,
) -> Result<Option<Box<dyn Weight>>> {
    if filter.0.is_empty() {
        return Ok(None);
    }
    let scoring = EnableScoring::disabled_from_searcher(&snapshot.searcher);
    Ok(Some(query.weight(scoring).map_err(failed)?))
}

/// The living documents of a segment that match, ascending.
fn matching(weight: &dyn Weight, view: &SegmentView) -> Result<Vec<DocId>> {
    let mut found = Vec::new();
    let mut keep = |docs: &[DocId]| match view.reader.alive_bitset() {
        None => found.extend_from_slice(docs),
        Some(alive) => found.extend(docs.iter().filter(|doc| alive.is_alive(**doc))),
    };
    weight.for_each_no_score(&view.reader, &mut keep).map_err(failed)?;
    Ok(found)
}

/// The product of a query and a stored row.
fn dot(query: &[f32], row: &[u8]) -> f32 {
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
