//! The index on a Qdrant server, accessed over gRPC. Several instances may share one server. All of
//! them access the collection through an alias, so [`QdrantIndex::begin_rebuild`] can fill a new
//! collection while searches continue.
//!
//! A `replace` writes the new points before it removes the old ones, so a reader may briefly see
//! both, but always sees one or the other. Searches are exact if [`QdrantOptions::exact`] is
//! `true`.

mod collection;
mod filter;
mod groups;
mod list;
mod names;
mod pictures;
mod words;

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use async_trait::async_trait;
use ports::index::{
    FacetQuery, FieldValue, Filter, Hit, IndexStatistics, IndexUpkeep, ListedPoint, PictureSpace,
    Point, PointId, TextQuery, VectorIndex, VectorQuery,
};
use ports::ownership::StoreOwnership;
use ports::{ChunkId, Document, ErrorKind, PortError, Result, VideoId};
use qdrant_client::qdrant::{
    BatchResult, Condition, CountPointsBuilder, DeletePointsBuilder, FacetCountsBuilder,
    GetPointsBuilder, NamedVectors, PayloadIncludeSelector, PointStruct, Query, QueryBatchPoints,
    QueryPoints, QueryPointsBuilder, ScoredPoint, ScrollPointsBuilder, SearchParamsBuilder,
    UpsertPointsBuilder, Value, Vector, VectorInput, VectorsSelector, facet_value,
    point_id::PointIdOptions, value, with_payload_selector::SelectorOptions,
};
use uuid::Uuid;

use super::check;
use super::dimensions::Dimensions;
use super::top_values::TopValues;
use crate::qdrant::QdrantConnection;

/// Number of points per read or write request.
const PAGE: u32 = 256;

/// Approximate maximum size of a write request, in bytes. The server rejects much larger messages.
const REQUEST_BYTES: usize = 8 << 20;

/// Maximum number of points tied with the last hit that are ordered by id. If more points are tied,
/// the server chooses among them.
const TIES: usize = 1024;

/// Number of extra points to request for each part of a query if the scores of several parts are
/// added up.
const SUM_MARGIN: usize = 256;

/// The payload field with a point's document.
const DOCUMENT: &str = "document";

/// The payload fields that form a point's id.
const IDS: [&str; 3] = ["video_id", "chunk_id", "analyzer_id"];

/// The payload fields with a point's document and id.
const ID_AND_DOCUMENT: [&str; 4] = [DOCUMENT, "video_id", "chunk_id", "analyzer_id"];

/// If a search requests more hits than this, it first counts the points, because the server
/// allocates memory for the requested number of hits.
const LARGE_LIMIT: usize = 1000;

/// Maximum number of distinct values listed for a field.
const MAX_VALUES: u64 = 1 << 20;

/// How to reach the server and set up the collection.
#[derive(Debug, Clone)]
pub struct QdrantOptions {
    /// gRPC URL such as `http://host:6334`, or `https://…` for TLS.
    pub url: String,
    /// The server's API key or token.
    pub api_key: Option<String>,
    /// Name of the alias for the collection in use.
    pub collection: String,
    /// Number of components in each vector of `fields`.
    pub dimension: usize,
    /// The embedding model. A collection that was filled with another model is rejected.
    pub model: String,
    /// The vector fields, except the picture fields.
    pub fields: Vec<String>,
    /// The picture fields, if any. In a collection that was created without a picture field, or
    /// with another picture model or dimension, the field stays empty until a rebuild.
    pub pictures: Option<PictureSpace>,
    /// Whether to compare every point, as the embedded index does. If `false`, the server walks its
    /// HNSW graph. The graph is faster if there are a million points or more, but misses some hits,
    /// especially with narrow filters.
    pub exact: bool,
    /// Number of shards of a new collection; at least 1.
    pub shards: u32,
    /// Replication factor of a new collection; at least 1.
    pub replicas: u32,
    /// Timeout for one request.
    pub timeout: Duration,
    /// Maximum number of attempts per request if the server does not answer or is overloaded; at
    /// least 1.
    pub attempts: u32,
}

/// An index on a Qdrant server. Clones are cheap.
#[derive(Clone)]
pub struct QdrantIndex {
    server: QdrantConnection,
    options: QdrantOptions,
    /// The collection or alias to use in requests.
    target: String,
    dimensions: Dimensions,
    /// Set once the collection is known to have every picture field.
    pictures_complete: Arc<OnceLock<()>>,
}

impl QdrantIndex {
    /// Connects, and creates the collection if necessary.
    ///
    /// Returns `Invalid` if the collection has another dimension, model or list of fields.
    pub async fn open(options: QdrantOptions) -> Result<Self> {
        let index = Self::connect(options)?;
        index.open_collection().await?;
        Ok(index)
    }

    fn connect(options: QdrantOptions) -> Result<Self> {
        let QdrantOptions { url, api_key, timeout, attempts, .. } = &options;
        let server = QdrantConnection::connect(url, api_key.as_deref(), *timeout, *attempts)?;
        let pictures = options.pictures.clone();
        let dimensions = Dimensions { text: options.dimension, pictures };
        dimensions.check()?;
        let target = options.collection.clone();
        Ok(Self { server, options, target, dimensions, pictures_complete: Arc::default() })
    }

    /// Converts a point. `pictures` are the picture fields that the collection has.
    fn point(&self, point: Point, pictures: &[String]) -> Result<PointStruct> {
        let uuid = names::name(&point).to_string();
        let mut payload = HashMap::new();
        payload.insert(DOCUMENT.to_owned(), Value::from(point.document.as_str()));
        payload.insert("video_id".to_owned(), Value::from(point.id.video_id.to_string()));
        payload.insert("chunk_id".to_owned(), Value::from(i64::from(point.id.chunk_id)));
        payload.insert("analyzer_id".to_owned(), Value::from(point.id.analyzer_id.clone()));
        for (field, value) in point.payload {
            let value = match value {
                FieldValue::Keywords(words) => Value::from(words),
                FieldValue::Integer(number) => Value::from(number),
                // Adding 0.0 removes the sign of zero, so that bounds include it.
                FieldValue::Float(number) => Value::from(number + 0.0),
            };
            payload.insert(field, value);
        }
        let mut vectors = NamedVectors::default();
        for (field, vector) in point.vectors {
            if self.dimensions.picture_space(&field).is_some() {
                if pictures.contains(&field) {
                    vectors = vectors.add_vector(field, Vector::new_dense(vector));
                }
                continue;
            }
            if !self.options.fields.contains(&field) {
                let message = format!(
                    "the collection has no vector field `{field}`; it has {}",
                    self.options.fields.join(", ")
                );
                return Err(PortError::new(ErrorKind::Invalid, message));
            }
            vectors = vectors.add_vector(field, Vector::new_dense(vector));
        }
        let words = words::WordSequence::new(&point.text);
        if let Some((indices, values)) = words.weights() {
            vectors = vectors.add_vector(collection::TEXT, Vector::new_sparse(indices, values));
            payload.insert(collection::WORDS.to_owned(), Value::from(words.joined()));
        }
        Ok(PointStruct::new(uuid, vectors, payload))
    }

    async fn upsert(&self, points: Vec<PointStruct>) -> Result<()> {
        let request = UpsertPointsBuilder::new(&self.target, points).wait(true).build();
        self.server.retrying(|| self.server.client.upsert_points(request.clone())).await?;
        Ok(())
    }

    /// Finds the `limit` points with the highest scores for a query, ordered by score, then name,
    /// and the documents of most of them. If further points are tied with the last one, a second
    /// request fetches the names of up to [`TIES`] tied points. It does not fetch their payloads,
    /// because the server reads these from disk point by point.
    async fn ranked(
        &self,
        mut request: QueryPoints,
        limit: usize,
    ) -> Result<(Vec<NamedScore>, Documents)> {
        let limit = self.at_most_all(limit, &request.filter).await?;
        if limit == 0 {
            return Ok(Default::default());
        }
        request.limit = Some(limit as u64 + 1);
        request.with_payload = Some(payload(&ID_AND_DOCUMENT).into());
        let mut answer = self.server.retrying(|| self.server.client.query(request.clone())).await?;
        let mut documents = Documents::new();
        for point in answer.result.iter().take(limit) {
            documents.insert(name(point.id.as_ref())?, id_and_document(&point.payload)?);
        }
        if let (Some(last), Some(next)) = (answer.result.get(limit - 1), answer.result.get(limit))
            && last.score == next.score
        {
            request.limit = Some((limit + TIES) as u64);
            request.score_threshold = Some(last.score.next_down());
            request.with_payload = Some(false.into());
            answer = self.server.retrying(|| self.server.client.query(request.clone())).await?;
        }
        let found = answer.result.iter().map(NamedScore::read).collect::<Result<Vec<_>>>()?;
        Ok((best(found, limit), documents))
    }

    /// Runs queries and returns the results of each query, in order.
    async fn batch(&self, queries: Vec<QueryPoints>) -> Result<Vec<Vec<NamedScore>>> {
        let request = QueryBatchPoints {
            collection_name: self.target.clone(),
            query_points: queries,
            ..QueryBatchPoints::default()
        };
        let answer =
            self.server.retrying(|| self.server.client.query_batch(request.clone())).await?;
        let found = |list: &BatchResult| list.result.iter().map(NamedScore::read).collect();
        answer.result.iter().map(found).collect()
    }

    /// Merges the points found for the parts of a query. Returns each point once, with the sum of
    /// its scores. Requests the scores for all parts again, because a point may rank too low in one
    /// part to be among the hits for that part.
    async fn sum_scores(
        &self,
        parts: &[QueryPoints],
        found: Vec<NamedScore>,
    ) -> Result<Vec<NamedScore>> {
        if parts.len() == 1 || found.is_empty() {
            return Ok(found);
        }
        let names: BTreeSet<String> = found.into_iter().map(|found| found.name).collect();
        let of_these = |part: &QueryPoints| {
            let mut query = limited_to(part, names.len());
            let these = Condition::has_id(names.iter().cloned());
            query.filter.get_or_insert_default().must.push(these);
            query
        };
        let found = self.batch(parts.iter().map(of_these).collect()).await?;
        Ok(sum_by_point(found.into_iter().flatten()))
    }

    /// Adds ids and documents to the hits. Fetches the ids and documents that are not in `known`.
    async fn with_documents(
        &self,
        found: Vec<NamedScore>,
        mut known: Documents,
    ) -> Result<Vec<Hit>> {
        let missing: Vec<_> = found
            .iter()
            .filter(|found| !known.contains_key(&found.name))
            .map(|found| found.name.clone().into())
            .collect();
        for points in missing.chunks(PAGE as usize) {
            let request = GetPointsBuilder::new(&self.target, points)
                .with_payload(payload(&ID_AND_DOCUMENT))
                .build();
            let answer =
                self.server.retrying(|| self.server.client.get_points(request.clone())).await?;
            for point in answer.result {
                known.insert(name(point.id.as_ref())?, id_and_document(&point.payload)?);
            }
        }
        // Skips points that were removed in the meantime.
        let hit = |NamedScore { score, name }: NamedScore| {
            let (id, document) = known.remove(&name)?;
            Some(Hit { id, score, document })
        };
        Ok(found.into_iter().filter_map(hit).collect())
    }

    /// Returns the limit. If the limit is large and exceeds the number of matching points, returns
    /// that number.
    async fn at_most_all(
        &self,
        limit: usize,
        filter: &Option<qdrant_client::qdrant::Filter>,
    ) -> Result<usize> {
        if limit <= LARGE_LIMIT {
            return Ok(limit);
        }
        let count = self.counted(filter.clone()).await?;
        Ok(limit.min(usize::try_from(count).unwrap_or(usize::MAX)))
    }

    async fn counted(&self, filter: Option<qdrant_client::qdrant::Filter>) -> Result<u64> {
        let mut request = CountPointsBuilder::new(&self.target).exact(true).build();
        request.filter = filter;
        let answer = self.server.retrying(|| self.server.client.count(request.clone())).await?;
        Ok(answer.result.map_or(0, |r| r.count))
    }

    /// Counts the matching points for each distinct value of a keyword field.
    async fn facets(
        &self,
        field: &str,
        filter: Option<qdrant_client::qdrant::Filter>,
    ) -> Result<BTreeMap<String, u64>> {
        let mut request =
            FacetCountsBuilder::new(&self.target, field).limit(MAX_VALUES).exact(true).build();
        request.filter = filter;
        let found = self.server.retrying(|| self.server.client.facet(request.clone())).await?;
        let values = found
            .hits
            .into_iter()
            // The server keeps a value for a while after its last point has been removed.
            .filter(|hit| hit.count > 0)
            .filter_map(|hit| match hit.value?.variant? {
                facet_value::Variant::StringValue(text) => Some((text, hit.count)),
                _ => None,
            });
        Ok(values.collect())
    }

    fn query(&self, field: &str, filter: qdrant_client::qdrant::Filter) -> QueryPointsBuilder {
        QueryPointsBuilder::new(&self.target).using(field).filter(filter)
    }

    /// Builds the request for a nearest-neighbour search. Returns `None` if no point can match.
    async fn nearest(&self, query: &VectorQuery) -> Result<Option<QueryPoints>> {
        check::vector_query(query, &self.dimensions)?;
        let Some(filter) = filter::translate(&query.filter)? else { return Ok(None) };
        if !self.has_field(&query.field).await? {
            return Ok(None);
        }
        let mut request = self
            .query(&query.field, filter)
            .query(Query::new_nearest(VectorInput::new_dense(query.vector.clone())))
            .params(SearchParamsBuilder::default().exact(self.options.exact));
        if let Some(threshold) = query.threshold.filter(|t| t.is_finite()) {
            // The threshold is slightly lower because the server may round differently. `cosines`
            // applies the exact threshold.
            request = request.score_threshold(threshold - 1e-4);
        }
        Ok(Some(request.into()))
    }

    /// Builds the requests for a full-text search, one per phrase and one for the words. The scores
    /// of a point in all requests add up to its score in the search.
    fn matching(&self, query: &TextQuery) -> Result<Vec<QueryPoints>> {
        check::text_query(query)?;
        let Some(mut filter) = filter::translate(&query.filter)? else { return Ok(Vec::new()) };
        let query_parts = words::ParsedQuery::parse(&query.text);
        let parts = query_parts
            .phrases
            .iter()
            .map(Some)
            .chain((!query_parts.words.is_empty()).then_some(None));
        let phrases = query_parts.phrases.iter();
        filter.must.extend(
            phrases.map(|phrase| Condition::matches_phrase(collection::WORDS, &*phrase.joined)),
        );
        let request = |phrase: Option<&words::Phrase>| {
            let words = phrase.map_or(&query_parts.words, |phrase| &phrase.words);
            let (indices, values) = words::presence(words);
            let sparse = Query::new_nearest(VectorInput::new_sparse(indices, values));
            self.query(collection::TEXT, filter.clone()).query(sparse).into()
        };
        Ok(parts.map(request).collect())
    }
}

/// Clamps scores to −1..1 and drops hits below the threshold.
fn cosines(mut hits: Vec<Hit>, threshold: Option<f32>) -> Vec<Hit> {
    for hit in &mut hits {
        hit.score = hit.score.clamp(-1.0, 1.0) + 0.0;
    }
    hits.retain(|hit| threshold.is_none_or(|min_score| hit.score >= min_score));
    hits
}

#[async_trait]
impl VectorIndex for QdrantIndex {
    async fn replace(&self, scope: Option<&Filter>, points: Vec<Point>) -> Result<()> {
        let scope = scope.map(filter::translate).transpose()?;
        for point in &points {
            check::point(point, &self.dimensions)?;
        }
        let mut fields = points.iter().flat_map(|point| point.vectors.keys());
        let pictures = match fields.any(|field| self.dimensions.picture_space(field).is_some()) {
            true => self.picture_fields().await?,
            false => Vec::new(),
        };
        // If several points have the same id and revision, the last one wins.
        let points: BTreeMap<Uuid, Point> =
            points.into_iter().map(|point| (names::name(&point), point)).collect();
        let ids: Vec<String> = points.keys().map(Uuid::to_string).collect();
        let structs = points
            .into_values()
            .map(|p| Ok((size(&p), self.point(p, &pictures)?)))
            .collect::<Result<Vec<_>>>()?;
        let (mut batch, mut bytes) = (Vec::new(), 0);
        for (size, point) in structs {
            if batch.len() == PAGE as usize || (bytes + size > REQUEST_BYTES && !batch.is_empty()) {
                self.upsert(std::mem::take(&mut batch)).await?;
                bytes = 0;
            }
            bytes += size;
            batch.push(point);
        }
        if !batch.is_empty() {
            self.upsert(batch).await?;
        }
        if let Some(Some(mut scope)) = scope {
            if !ids.is_empty() {
                scope.must_not.push(Condition::has_id(ids));
            }
            let request = DeletePointsBuilder::new(&self.target).points(scope).wait(true).build();
            self.server.retrying(|| self.server.client.delete_points(request.clone())).await?;
        }
        Ok(())
    }

    async fn search(&self, query: VectorQuery) -> Result<Vec<Hit>> {
        let Some(request) = self.nearest(&query).await? else { return Ok(Vec::new()) };
        let hits = match query.per_video {
            Some(per_video) => self.grouped(vec![request], query.limit, per_video).await?,
            None => {
                let (found, documents) = self.ranked(request, query.limit).await?;
                self.with_documents(found, documents).await?
            }
        };
        Ok(cosines(hits, query.threshold))
    }

    async fn text_search(&self, query: TextQuery) -> Result<Vec<Hit>> {
        let parts = self.matching(&query)?;
        if let Some(per_video) = query.per_video {
            return self.grouped(parts, query.limit, per_video).await;
        }
        let (found, documents) = match parts.as_slice() {
            [] => return Ok(Vec::new()),
            [part] => self.ranked(part.clone(), query.limit).await?,
            _ => {
                let limit = self.at_most_all(query.limit, &parts[0].filter).await?;
                let first = |part: &QueryPoints| limited_to(part, limit + SUM_MARGIN);
                let found = self.batch(parts.iter().map(first).collect()).await?;
                let found = self.sum_scores(&parts, found.into_iter().flatten().collect()).await?;
                (best(found, limit), Documents::new())
            }
        };
        self.with_documents(found, documents).await
    }

    async fn vectors(&self, filter: &Filter, field: &str) -> Result<Vec<(PointId, Vec<f32>)>> {
        let Some(mut filter) = filter::translate(filter)? else { return Ok(Vec::new()) };
        if !self.has_field(field).await? {
            return Ok(Vec::new());
        }
        filter.must.push(Condition::has_vector(field));
        let mut request = ScrollPointsBuilder::new(&self.target)
            .filter(filter)
            .limit(PAGE)
            .with_payload(payload(&IDS))
            .with_vectors(VectorsSelector { names: vec![field.to_owned()] })
            .build();
        let mut found = Vec::new();
        loop {
            let page = self.server.retrying(|| self.server.client.scroll(request.clone())).await?;
            for point in page.result {
                let vectors = point.vectors.as_ref().and_then(|v| v.get_vector_by_name(field));
                if let Some(qdrant_client::qdrant::vector_output::Vector::Dense(vector)) = vectors {
                    found.push((id(&point.payload)?, vector.data));
                }
            }
            request.offset = page.next_page_offset;
            if request.offset.is_none() {
                break;
            }
        }
        found.sort_by(|(a, _), (b, _)| a.cmp(b));
        Ok(found)
    }

    async fn cosines(
        &self,
        field: &str,
        vector: &[f32],
        ids: &BTreeSet<PointId>,
    ) -> Result<Vec<(PointId, f32)>> {
        check::vector(field, vector, &self.dimensions)?;
        if !self.has_field(field).await? {
            return Ok(Vec::new());
        }
        let ids: Vec<&PointId> = ids.iter().collect();
        let mut found = Vec::new();
        for some in ids.chunks(PAGE as usize) {
            let mut request: QueryPoints = self
                .query(field, filter::points_filter(some))
                .query(Query::new_nearest(VectorInput::new_dense(vector.to_vec())))
                .params(SearchParamsBuilder::default().exact(true))
                .with_payload(payload(&IDS))
                .into();
            let mut limit = 2 * some.len();
            let answer = loop {
                request.limit = Some(limit as u64);
                let query = || self.server.client.query(request.clone());
                let answer = self.server.retrying(query).await?.result;
                // An id may have any number of revisions.
                if answer.len() < limit {
                    break answer;
                }
                limit *= 2;
            };
            for point in answer {
                found.push((id(&point.payload)?, point.score.clamp(-1.0, 1.0) + 0.0));
            }
        }
        Ok(found)
    }

    async fn list(&self, filter: &Filter, limit: usize) -> Result<Vec<ListedPoint>> {
        let Some(filter) = filter::translate(filter)? else { return Ok(Vec::new()) };
        self.first(filter, limit).await
    }

    async fn probe(&self) -> Result<()> {
        let known = self.server.client.collection_info(&self.target).await;
        known.map(|_| ()).map_err(|e| self.server.failed(e))
    }
}

#[async_trait]
impl IndexStatistics for QdrantIndex {
    async fn count(&self, filter: &Filter) -> Result<u64> {
        match filter::translate(filter)? {
            Some(filter) => self.counted(Some(filter)).await,
            None => Ok(0),
        }
    }

    async fn values(&self, field: &str) -> Result<Vec<String>> {
        check::keyword_field(field)?;
        Ok(self.facets(field, None).await?.into_keys().collect())
    }

    async fn facet_counts(&self, query: &FacetQuery) -> Result<Vec<(String, u64)>> {
        check::facet_query(query)?;
        let Some(filter) = filter::translate(&query.filter)? else { return Ok(Vec::new()) };
        let mut top_values = TopValues::new(query);
        for (value, points) in self.facets(&query.field, Some(filter)).await? {
            top_values.add(&value, points);
        }
        Ok(top_values.into_values())
    }

    async fn revisions(&self, video_id: VideoId) -> Result<Vec<String>> {
        let of_video = filter::translate(&Filter::video(video_id))?;
        Ok(self.facets("revision", of_video).await?.into_keys().collect())
    }
}

#[async_trait]
impl StoreOwnership for QdrantIndex {
    fn shared(&self) -> bool {
        true
    }

    async fn adopt(&self, install: &str) -> Result<String> {
        self.adopt_collection(install).await
    }
}

#[async_trait]
impl IndexUpkeep for QdrantIndex {
    /// Does nothing, because the server checks its data.
    async fn check(&self) -> Result<()> {
        Ok(())
    }

    async fn reset(&self) -> Result<()> {
        Ok(())
    }

    async fn advice(&self) -> Result<Option<String>> {
        self.missing_pictures().await
    }
}

fn payload(fields: &[&str]) -> SelectorOptions {
    let fields = fields.iter().map(|field| (*field).to_owned()).collect();
    SelectorOptions::Include(PayloadIncludeSelector { fields })
}

/// Returns the approximate size of a point in a request, in bytes.
fn size(point: &Point) -> usize {
    let vectors: usize = point.vectors.values().map(|v| v.len() * 4).sum();
    vectors + point.document.as_str().len() + 3 * point.text.len() + 1024
}

/// Ids and documents by point name.
type Documents = HashMap<String, (PointId, Document)>;

/// A point in a response.
struct NamedScore {
    /// The server's name for the point.
    name: String,
    score: f32,
}

impl NamedScore {
    fn read(point: &ScoredPoint) -> Result<Self> {
        Ok(Self { name: name(point.id.as_ref())?, score: point.score })
    }

    /// Orders by descending score. Points with equal scores are ordered by name and therefore by
    /// id.
    fn order(&self, other: &Self) -> Ordering {
        other.score.total_cmp(&self.score).then_with(|| self.name.cmp(&other.name))
    }
}

/// Returns a part of a query that requests only the names of the `limit` points with the highest
/// scores.
fn limited_to(part: &QueryPoints, limit: usize) -> QueryPoints {
    let mut query = part.clone();
    query.limit = Some(limit as u64);
    query.with_payload = Some(false.into());
    query
}

/// Sums the scores of each point over several searches.
fn sum_by_point(found: impl IntoIterator<Item = NamedScore>) -> Vec<NamedScore> {
    let mut sums: HashMap<String, NamedScore> = HashMap::new();
    for found in found {
        sums.entry(found.name.clone())
            .and_modify(|known| known.score += found.score)
            .or_insert(found);
    }
    sums.into_values().collect()
}

/// Returns the `limit` points with the highest scores. Points with equal scores are ordered by
/// name.
fn best(mut found: Vec<NamedScore>, limit: usize) -> Vec<NamedScore> {
    found.sort_by(NamedScore::order);
    found.truncate(limit);
    found
}

fn name(point: Option<&qdrant_client::qdrant::PointId>) -> Result<String> {
    match point.and_then(|point| point.point_id_options.as_ref()) {
        Some(PointIdOptions::Uuid(uuid)) => Ok(uuid.clone()),
        _ => Err(foreign("UUID")),
    }
}

fn id_and_document(payload: &HashMap<String, Value>) -> Result<(PointId, Document)> {
    Ok((id(payload)?, Document::from_json(text(payload, DOCUMENT)?)))
}

fn id(payload: &HashMap<String, Value>) -> Result<PointId> {
    let chunk = match payload.get("chunk_id").and_then(|v| v.kind.as_ref()) {
        Some(value::Kind::IntegerValue(number)) => u32::try_from(*number).ok().map(ChunkId),
        _ => None,
    };
    Ok(PointId {
        video_id: text(payload, "video_id")?.parse().map_err(|_| foreign("video_id"))?,
        chunk_id: chunk.ok_or_else(|| foreign("chunk_id"))?,
        analyzer_id: text(payload, "analyzer_id")?.to_owned(),
    })
}

fn text<'a>(payload: &'a HashMap<String, Value>, field: &str) -> Result<&'a str> {
    match payload.get(field).and_then(|v| v.kind.as_ref()) {
        Some(value::Kind::StringValue(text)) => Ok(text),
        _ => Err(foreign(field)),
    }
}

fn foreign(field: &str) -> PortError {
    PortError::new(
        ErrorKind::Corrupt,
        format!(
            "a point of the collection has no `{field}`, so something else wrote it; give this \
             service its own collection (index.collection) and run `shotlog reindex`"
        ),
    )
}
