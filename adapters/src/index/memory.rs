//! An index in memory, which is a simple reference implementation for tests and short-lived
//! installations. All points are lost on restart, and every search scans all points.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Arc, OnceLock};

use async_trait::async_trait;
use parking_lot::RwLock;
use ports::index::{
    FacetQuery, FieldValue, Filter, Hit, IndexStatistics, IndexUpkeep, ListedPoint, PictureSpace,
    Point, PointId, Predicate, TextQuery, VectorIndex, VectorQuery,
};
use ports::ownership::StoreOwnership;
use ports::vector::dot;
use ports::{ErrorKind, PortError, Result, VideoId};

use super::dimensions::Dimensions;
use super::top_values::TopValues;
use super::{check, cosines, words};

/// The usual BM25 constants, which the embedded index uses too.
const K1: f32 = 1.2;
const B: f32 = 0.75;

/// An index that keeps its points in a sorted map. Clones are cheap and share the points.
#[derive(Clone)]
pub struct MemoryIndex {
    dimensions: Arc<Dimensions>,
    points: Arc<RwLock<Arc<Points>>>,
    owner: Arc<OnceLock<String>>,
    shared: bool,
}

/// Points by id and revision.
type Points = BTreeMap<(PointId, String), Arc<Entry>>;

struct Entry {
    point: Point,
    words: Vec<(usize, String)>,
}

/// A score and its entry.
type ScoredEntry<'a> = (f32, &'a Entry);

impl MemoryIndex {
    /// Creates an empty index for vectors with this dimension.
    pub fn new(dimension: usize) -> Self {
        let dimensions = Arc::new(Dimensions { text: dimension, pictures: None });
        Self { dimensions, points: Arc::default(), owner: Arc::default(), shared: false }
    }

    /// Gives the fields of `pictures` their own dimension. The index must be empty.
    pub fn with_pictures(self, pictures: PictureSpace) -> Self {
        let dimensions = Dimensions { text: self.dimensions.text, pictures: Some(pictures) };
        Self { dimensions: Arc::new(dimensions), ..self }
    }

    /// Creates an empty index that several instances in one process can share through clones.
    pub fn shared(dimension: usize) -> Self {
        Self { shared: true, ..Self::new(dimension) }
    }

    /// Returns the current points; later writes do not affect them.
    fn snapshot(&self) -> Arc<Points> {
        self.points.read().clone()
    }
}

#[async_trait]
impl VectorIndex for MemoryIndex {
    async fn replace(&self, scope: Option<&Filter>, points: Vec<Point>) -> Result<()> {
        let scope = scope.cloned();
        let index = self.clone();
        blocking(move || {
            if let Some(scope) = &scope {
                check::filter(scope)?;
            }
            for point in &points {
                check::point(point, &index.dimensions)?;
            }
            let mut analyzer = words::analyzer();
            let entries: Vec<_> = points
                .into_iter()
                .map(|point| {
                    let words = words::words(&mut analyzer, &point.text);
                    Arc::new(Entry { point, words })
                })
                .collect();
            let mut guard = index.points.write();
            let points = Arc::make_mut(&mut guard);
            if let Some(scope) = &scope {
                points.retain(|_, entry| !matches(scope, &entry.point));
            }
            let key = |point: &Point| (point.id.clone(), point.revision().to_owned());
            points.extend(entries.into_iter().map(|entry| (key(&entry.point), entry)));
            Ok(())
        })
        .await
    }

    async fn search(&self, query: VectorQuery) -> Result<Vec<Hit>> {
        check::vector_query(&query, &self.dimensions)?;
        let points = self.snapshot();
        blocking(move || {
            let scored = points.values().filter_map(|entry| {
                let vector = entry.point.vectors.get(&query.field)?;
                if !matches(&query.filter, &entry.point) {
                    return None;
                }
                let score = cosine(vector, &query.vector);
                query.threshold.is_none_or(|lower| score >= lower).then_some((score, &**entry))
            });
            Ok(best(scored.collect(), query.limit, query.per_video))
        })
        .await
    }

    async fn text_search(&self, query: TextQuery) -> Result<Vec<Hit>> {
        check::text_query(&query)?;
        let points = self.snapshot();
        blocking(move || {
            let clauses = words::clauses(&mut words::analyzer(), &query.text);
            let scored = bm25(&points, &clauses, &query.filter);
            Ok(best(scored, query.limit, query.per_video))
        })
        .await
    }

    async fn vectors(&self, filter: &Filter, field: &str) -> Result<Vec<(PointId, Vec<f32>)>> {
        check::filter(filter)?;
        let (points, filter, field) = (self.snapshot(), filter.clone(), field.to_owned());
        blocking(move || {
            let found = points.values().filter(|entry| matches(&filter, &entry.point));
            Ok(found
                .filter_map(|entry| {
                    let vector = entry.point.vectors.get(&field)?;
                    Some((entry.point.id.clone(), vector.clone()))
                })
                .collect())
        })
        .await
    }

    async fn cosines(
        &self,
        field: &str,
        vector: &[f32],
        ids: &BTreeSet<PointId>,
    ) -> Result<Vec<(PointId, f32)>> {
        check::vector(field, vector, &self.dimensions)?;
        cosines::from_vectors(self, field, vector, ids).await
    }

    async fn list(&self, filter: &Filter, limit: usize) -> Result<Vec<ListedPoint>> {
        check::filter(filter)?;
        let (points, filter) = (self.snapshot(), filter.clone());
        blocking(move || {
            let found = points.values().filter(|entry| matches(&filter, &entry.point)).take(limit);
            let listed = found.map(|entry| ListedPoint {
                id: entry.point.id.clone(),
                document: entry.point.document.clone(),
            });
            Ok(listed.collect())
        })
        .await
    }

    async fn probe(&self) -> Result<()> {
        Ok(())
    }
}

#[async_trait]
impl IndexStatistics for MemoryIndex {
    async fn count(&self, filter: &Filter) -> Result<u64> {
        check::filter(filter)?;
        let (points, filter) = (self.snapshot(), filter.clone());
        blocking(move || {
            Ok(points.values().filter(|entry| matches(&filter, &entry.point)).count() as u64)
        })
        .await
    }

    async fn values(&self, field: &str) -> Result<Vec<String>> {
        check::keyword_field(field)?;
        let (points, field) = (self.snapshot(), field.to_owned());
        blocking(move || {
            let mut values = BTreeSet::new();
            for entry in points.values() {
                match value(&entry.point, &field) {
                    Some(FieldRef::Keywords(keywords)) => values.extend(keywords.iter().cloned()),
                    Some(FieldRef::Keyword(keyword)) => {
                        values.insert(keyword.to_owned());
                    }
                    _ => {}
                }
            }
            Ok(values.into_iter().collect())
        })
        .await
    }

    async fn facet_counts(&self, query: &FacetQuery) -> Result<Vec<(String, u64)>> {
        check::facet_query(query)?;
        let (points, query) = (self.snapshot(), query.clone());
        blocking(move || {
            let mut counts: BTreeMap<&str, u64> = BTreeMap::new();
            for entry in points.values().filter(|entry| matches(&query.filter, &entry.point)) {
                let values: BTreeSet<&str> = match value(&entry.point, &query.field) {
                    Some(FieldRef::Keywords(all)) => all.iter().map(String::as_str).collect(),
                    Some(FieldRef::Keyword(one)) => [one].into(),
                    _ => BTreeSet::new(),
                };
                for value in values {
                    *counts.entry(value).or_default() += 1;
                }
            }
            let mut top_values = TopValues::new(&query);
            for (value, points) in counts {
                top_values.add(value, points);
            }
            Ok(top_values.into_values())
        })
        .await
    }

    async fn revisions(&self, video_id: VideoId) -> Result<Vec<String>> {
        let points = self.snapshot();
        blocking(move || {
            let of_video = points.keys().filter(|(id, _)| id.video_id == video_id);
            let revisions: BTreeSet<&String> = of_video.map(|(_, revision)| revision).collect();
            Ok(revisions.into_iter().filter(|r| !r.is_empty()).cloned().collect())
        })
        .await
    }
}

#[async_trait]
impl StoreOwnership for MemoryIndex {
    fn shared(&self) -> bool {
        self.shared
    }

    async fn adopt(&self, install: &str) -> Result<String> {
        Ok(self.owner.get_or_init(|| install.to_owned()).clone())
    }
}

#[async_trait]
impl IndexUpkeep for MemoryIndex {
    /// Does nothing, because a crash loses all points anyway.
    async fn check(&self) -> Result<()> {
        Ok(())
    }

    async fn reset(&self) -> Result<()> {
        Ok(())
    }

    async fn advice(&self) -> Result<Option<String>> {
        Ok(None)
    }
}

/// The value of a payload field, for comparisons.
enum FieldRef<'a> {
    Keyword(&'a str),
    Keywords(&'a [String]),
    Integer(i64),
    Float(f64),
}

fn value<'a>(point: &'a Point, field: &str) -> Option<FieldRef<'a>> {
    Some(match field {
        "video_id" => FieldRef::Keyword(point.id.video_id.as_str()),
        "chunk_id" => FieldRef::Integer(point.id.chunk_id.into()),
        "analyzer_id" => FieldRef::Keyword(&point.id.analyzer_id),
        _ => match point.payload.get(field)? {
            FieldValue::Keywords(keywords) => FieldRef::Keywords(keywords),
            FieldValue::Integer(number) => FieldRef::Integer(*number),
            FieldValue::Float(number) => FieldRef::Float(*number),
        },
    })
}

fn matches(filter: &Filter, point: &Point) -> bool {
    filter.0.iter().all(|condition| {
        let Some(value) = value(point, &condition.field) else { return false };
        match (&condition.predicate, value) {
            (Predicate::AnyKeyword(any), FieldRef::Keyword(keyword)) => {
                any.iter().any(|k| k == keyword)
            }
            (Predicate::AnyKeyword(any), FieldRef::Keywords(values)) => {
                any.iter().any(|k| values.contains(k))
            }
            (Predicate::AnyVideo(any), _) => any.binary_search(&point.id.video_id).is_ok(),
            (Predicate::AnyChunk(any), _) => {
                any.binary_search(&(point.id.video_id, point.id.chunk_id)).is_ok()
            }
            (Predicate::AnyInteger(any), FieldRef::Integer(number)) => any.contains(&number),
            (Predicate::AtLeast(bound), FieldRef::Integer(number)) => {
                check::lowest_integer(*bound).is_some_and(|lower| number >= lower)
            }
            (Predicate::AtMost(bound), FieldRef::Integer(number)) => {
                check::highest_integer(*bound).is_some_and(|upper| number <= upper)
            }
            (Predicate::AtLeast(bound), FieldRef::Float(number)) => number >= *bound,
            (Predicate::AtMost(bound), FieldRef::Float(number)) => number <= *bound,
            _ => false,
        }
    })
}

fn cosine(a: &[f32], b: &[f32]) -> f32 {
    // Rounding can push the dot product of two unit vectors above 1; `+ 0.0` removes the sign of
    // zero.
    dot(a, b).clamp(-1.0, 1.0) + 0.0
}

fn bm25<'a>(
    points: &'a Points,
    clauses: &[Vec<(usize, String)>],
    filter: &Filter,
) -> Vec<ScoredEntry<'a>> {
    let total: usize = points.values().map(|entry| entry.words.len()).sum();
    let average = total as f32 / points.len().max(1) as f32;
    let mut scores: HashMap<(&PointId, &str), (f32, &Entry)> = HashMap::new();
    for clause in clauses {
        let found: Vec<_> = points
            .values()
            .map(|entry| (occurrences(&entry.words, clause), &**entry))
            .filter(|(times, _)| *times > 0)
            .collect();
        let (all, having) = (points.len() as f32, found.len() as f32);
        let rarity = (1.0 + (all - having + 0.5) / (having + 0.5)).ln();
        for (times, entry) in found {
            if matches(filter, &entry.point) {
                let (times, length) = (times as f32, entry.words.len() as f32);
                let norm = K1 * (1.0 - B + B * length / average);
                let key = (&entry.point.id, entry.point.revision());
                scores.entry(key).or_insert((0.0, entry)).0 +=
                    rarity * times * (K1 + 1.0) / (times + norm);
            }
        }
    }
    let has_phrases = |entry: &Entry| {
        let mut phrases = clauses.iter().filter(|clause| clause.len() > 1);
        phrases.all(|phrase| occurrences(&entry.words, phrase) > 0)
    };
    scores.into_values().filter(|(_, entry)| has_phrases(entry)).collect()
}

/// Counts how often the words of a clause occur at their relative positions.
fn occurrences(words: &[(usize, String)], clause: &[(usize, String)]) -> usize {
    let Some((_, first)) = clause.first() else { return 0 };
    words
        .iter()
        .enumerate()
        .filter(|(i, (start, word))| {
            word == first
                && clause[1..].iter().all(|(distance, expected)| {
                    words[i + 1..]
                        .iter()
                        .take_while(|(at, _)| at - start <= *distance)
                        .any(|(at, word)| at - start == *distance && word == expected)
                })
        })
        .count()
}

/// Returns the `limit` points with the highest scores. Points with equal scores are ordered by id.
/// If `per_video` is set, returns this number of points with the highest scores of each of the
/// `limit` videos whose points score highest.
fn best(mut scored: Vec<ScoredEntry<'_>>, limit: usize, per_video: Option<usize>) -> Vec<Hit> {
    scored.sort_by(|(a, x), (b, y)| b.total_cmp(a).then_with(|| x.point.id.cmp(&y.point.id)));
    let Some(per_video) = per_video else {
        return scored.into_iter().take(limit).map(hit).collect();
    };
    let mut places: HashMap<VideoId, usize> = HashMap::new();
    let mut groups: Vec<Vec<Hit>> = Vec::new();
    for (score, entry) in scored {
        let next = places.len();
        let place = *places.entry(entry.point.id.video_id).or_insert(next);
        if place == groups.len() {
            groups.push(Vec::new());
        }
        if place < limit && groups[place].len() < per_video {
            groups[place].push(hit((score, entry)));
        }
    }
    groups.into_iter().flatten().collect()
}

fn hit((score, entry): ScoredEntry<'_>) -> Hit {
    Hit { id: entry.point.id.clone(), score, document: entry.point.document.clone() }
}

async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T> + Send + 'static,
) -> Result<T> {
    tokio::task::spawn_blocking(work).await.unwrap_or_else(|e| {
        Err(PortError::caused_by(ErrorKind::Other, "the index task did not finish", e))
    })
}
