//! The index on a Qdrant server, over gRPC. Several instances may share one: all of them go through
//! an alias, behind which [`QdrantIndex::beside`] fills a new collection while searches go on.
//!
//! A `replace` writes the new points before it removes the old ones, so a reader may see both for
//! a moment and never neither. Searches are exact unless [`QdrantOptions::exact`] is off.

mod collection;
mod filter;
mod groups;
mod words;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::time::Duration;

use async_trait::async_trait;
use ports::index::{FieldValue, Filter, Hit, Point, PointId, TextQuery, VectorIndex, VectorQuery};
use ports::{ErrorKind, PortError, Result};
use qdrant_client::qdrant::{
    Condition, CountPointsBuilder, DeletePointsBuilder, FacetCountsBuilder, NamedVectors,
    PayloadIncludeSelector, PointStruct, Query, QueryPoints, QueryPointsBuilder, ScoredPoint,
    ScrollPointsBuilder, SearchParamsBuilder, UpsertPointsBuilder, Value, Vector, VectorInput,
    VectorsSelector, facet_value, value,
};
use qdrant_client::{Qdrant, QdrantError};
use uuid::Uuid;

use super::check;

/// Points written or read in one request.
const PAGE: u32 = 256;

/// Bytes of documents and texts written in one request; the server refuses larger messages.
const REQUEST_BYTES: usize = 8 << 20;

/// Hits asked for beyond the limit, so that equal scores at the limit can be put in order.
const MARGIN: u64 = 16;

/// Above this limit a search first asks how many points there are: the server reserves room for
/// as many hits as are asked for.
const LARGE_LIMIT: usize = 1000;

/// Distinct values of a field that are listed at most.
const MAX_VALUES: u64 = 1 << 20;

/// Names of points' ids, as Qdrant wants a UUID or a number: version 5 in this namespace.
const NAMESPACE: Uuid = Uuid::from_u128(0x6d1c_6a3e_0f0b_4f5c_9a51_5107_1065_0001);

/// How a server is reached and what its collection looks like.
#[derive(Debug, Clone)]
pub struct QdrantOptions {
    /// The gRPC address: `http://host:6334`, or `https://` for TLS.
    pub url: String,
    /// The server's API key or token.
    pub api_key: Option<String>,
    /// The name under which the points are found: an alias of the collection that holds them.
    pub collection: String,
    /// Components of each vector.
    pub dimension: usize,
    /// The embedding model; a collection filled by another one is refused.
    pub model: String,
    /// The vector fields.
    pub fields: Vec<String>,
    /// Every point is compared, as the embedded index does; off, the server's graph is walked,
    /// which is faster from a million points on and misses some hits, more with narrow filters.
    pub exact: bool,
    /// Parts that a new collection is split into, over the nodes of a cluster; at least 1.
    pub shards: u32,
    /// Copies of each part of a new collection; at least 1.
    pub replicas: u32,
    /// Of one request.
    pub timeout: Duration,
    /// Of one request, when the server does not answer or is overloaded; at least 1.
    pub attempts: u32,
}

/// The index. Cheap to clone.
#[derive(Clone)]
pub struct QdrantIndex {
    client: Qdrant,
    options: QdrantOptions,
    /// The collection or alias that requests name.
    target: String,
}

impl QdrantIndex {
    /// Connects, and creates the collection where there is none yet.
    ///
    /// `Invalid` when the collection holds vectors of another dimension, model or field list.
    pub async fn open(options: QdrantOptions) -> Result<Self> {
        let client = connect(&options)?;
        let target = options.collection.clone();
        let index = Self { client, options, target };
        index.open_collection().await?;
        Ok(index)
    }

    async fn retrying<T, F>(&self, mut request: impl FnMut() -> F) -> Result<T>
    where
        F: Future<Output = Result<T, QdrantError>>,
    {
        let mut pause = Duration::from_millis(200);
        for _ in 1..self.options.attempts {
            match request().await.map_err(|e| self.failed(e)) {
                Err(e) if e.kind() == ErrorKind::Unavailable => {
                    tracing::debug!(error = %e, "asking Qdrant again");
                    tokio::time::sleep(pause).await;
                    pause *= 3;
                }
                outcome => return outcome,
            }
        }
        request().await.map_err(|e| self.failed(e))
    }

    fn failed(&self, error: QdrantError) -> PortError {
        let (QdrantError::ResponseError { status }
        | QdrantError::ResourceExhaustedError { status, .. }) = &error
        else {
            let message = format!("cannot use Qdrant at {}: {error}", self.options.url);
            return PortError::caused_by(ErrorKind::Other, message, error);
        };
        // The code's name as gRPC spells it; the crate of its type is not a dependency.
        let (kind, what) = match format!("{:?}", status.code()).as_str() {
            "Unavailable" => (ErrorKind::Unavailable, "cannot reach"),
            // How the client reports a connection that it could not make.
            _ if status.message().starts_with("Failed to connect") => {
                (ErrorKind::Unavailable, "cannot reach")
            }
            "ResourceExhausted" | "Aborted" => (ErrorKind::Unavailable, "is overloaded:"),
            "DeadlineExceeded" | "Cancelled" => (ErrorKind::Timeout, "no answer in time from"),
            "Unauthenticated" | "PermissionDenied" => {
                (ErrorKind::Denied, "the API key (index.api_key) was refused by")
            }
            "NotFound" => (ErrorKind::NotFound, "not found on"),
            _ => (ErrorKind::Other, "an error from"),
        };
        let message = format!("{what} Qdrant at {}: {}", self.options.url, status.message());
        PortError::caused_by(kind, message, error)
    }

    fn point(&self, point: Point) -> Result<PointStruct> {
        let uuid = uuid(&point).to_string();
        let mut payload = HashMap::new();
        let document = serde_json::to_string(&point.document)
            .map_err(|e| PortError::caused_by(ErrorKind::Invalid, "the document is not JSON", e))?;
        payload.insert("document".to_owned(), Value::from(document));
        payload.insert("video_id".to_owned(), Value::from(point.id.video_id.clone()));
        payload.insert("chunk_id".to_owned(), Value::from(i64::from(point.id.chunk_id)));
        payload.insert("analyzer_id".to_owned(), Value::from(point.id.analyzer_id.clone()));
        for (field, value) in point.payload {
            let value = match value {
                FieldValue::Keywords(words) => Value::from(words),
                FieldValue::Integer(number) => Value::from(number),
                // Zero has one sign, so that bounds include it.
                FieldValue::Float(number) => Value::from(number + 0.0),
            };
            payload.insert(field, value);
        }
        let mut vectors = NamedVectors::default();
        for (field, vector) in point.vectors {
            if !self.options.fields.contains(&field) {
                let message = format!(
                    "the collection has no vector field `{field}`; it has {}",
                    self.options.fields.join(", ")
                );
                return Err(PortError::new(ErrorKind::Invalid, message));
            }
            vectors = vectors.add_vector(field, Vector::new_dense(vector));
        }
        let words = words::Words::of(&point.text);
        if let Some((indices, values)) = words.weights() {
            vectors = vectors.add_vector(collection::TEXT, Vector::new_sparse(indices, values));
            payload.insert(collection::WORDS.to_owned(), Value::from(words.joined()));
        }
        Ok(PointStruct::new(uuid, vectors, payload))
    }

    async fn upsert(&self, points: Vec<PointStruct>) -> Result<()> {
        let request = UpsertPointsBuilder::new(&self.target, points).wait(true).build();
        self.retrying(|| self.client.upsert_points(request.clone())).await?;
        Ok(())
    }

    /// The best `limit` of a query in order of score, then id.
    async fn ranked(&self, mut request: QueryPoints, limit: usize) -> Result<Vec<Hit>> {
        let limit = self.at_most_all(limit, &request.filter).await?;
        if limit == 0 {
            return Ok(Vec::new());
        }
        let mut asked = limit as u64 + MARGIN;
        loop {
            request.limit = Some(asked);
            let found = self.retrying(|| self.client.query(request.clone())).await?.result;
            let full = found.len() as u64 == asked;
            let tied = |found: &[ScoredPoint]| {
                found.last().map(|p| p.score) == found.get(limit - 1).map(|p| p.score)
            };
            if full && tied(&found) {
                asked *= 4;
                continue;
            }
            let mut hits = found.into_iter().map(hit).collect::<Result<Vec<_>>>()?;
            order(&mut hits, limit);
            return Ok(hits);
        }
    }

    /// The limit, or the number of points that match where that is less and the limit is large.
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
        let answer = self.retrying(|| self.client.count(request.clone())).await?;
        Ok(answer.result.map_or(0, |r| r.count))
    }

    /// The distinct values of a keyword field over the points that match.
    async fn facets(
        &self,
        field: &str,
        filter: Option<qdrant_client::qdrant::Filter>,
    ) -> Result<Vec<String>> {
        let mut request =
            FacetCountsBuilder::new(&self.target, field).limit(MAX_VALUES).exact(true).build();
        request.filter = filter;
        let found = self.retrying(|| self.client.facet(request.clone())).await?;
        let values: BTreeSet<String> = found
            .hits
            .into_iter()
            // The server keeps a value for a while after its last point is gone.
            .filter(|hit| hit.count > 0)
            .filter_map(|hit| match hit.value?.variant? {
                facet_value::Variant::StringValue(text) => Some(text),
                _ => None,
            })
            .collect();
        Ok(values.into_iter().collect())
    }

    fn query(&self, field: &str, filter: qdrant_client::qdrant::Filter) -> QueryPointsBuilder {
        QueryPointsBuilder::new(&self.target).using(field).filter(filter).with_payload(payload(&[
            "document",
            "video_id",
            "chunk_id",
            "analyzer_id",
        ]))
    }

    /// The request for a nearest-neighbour search; `None` where nothing can match.
    fn nearest(&self, query: &VectorQuery) -> Result<Option<QueryPoints>> {
        check::vector_query(query, self.options.dimension)?;
        let Some(filter) = filter::translate(&query.filter)? else { return Ok(None) };
        if !self.options.fields.contains(&query.field) {
            return Ok(None);
        }
        let mut request = self
            .query(&query.field, filter)
            .query(Query::new_nearest(VectorInput::new_dense(query.vector.clone())))
            .params(SearchParamsBuilder::default().exact(self.options.exact));
        if let Some(threshold) = query.threshold.filter(|t| t.is_finite()) {
            // The server may round the other way; the exact test is in `cosines`.
            request = request.score_threshold(threshold - 1e-4);
        }
        Ok(Some(request.into()))
    }

    /// The requests whose scores add up to those of a full-text search: one for each phrase, one for
    /// the words.
    fn matching(&self, query: &TextQuery) -> Result<Vec<QueryPoints>> {
        check::text_query(query)?;
        let Some(filter) = filter::translate(&query.filter)? else { return Ok(Vec::new()) };
        let asked = words::Asked::of(&query.text);
        let parts = asked.phrases.iter().map(Some).chain((!asked.words.is_empty()).then_some(None));
        let request = |phrase: Option<&words::Phrase>| {
            let (words, mut filter) = (phrase.map_or(&asked.words, |p| &p.words), filter.clone());
            if let Some(phrase) = phrase {
                filter.must.push(Condition::matches_phrase(collection::WORDS, &*phrase.joined));
            }
            let (indices, values) = words::presence(words);
            let sparse = Query::new_nearest(VectorInput::new_sparse(indices, values));
            self.query(collection::TEXT, filter).query(sparse).into()
        };
        Ok(parts.map(request).collect())
    }
}

/// Scores within −1..1, and none below the threshold.
fn cosines(mut hits: Vec<Hit>, threshold: Option<f32>) -> Vec<Hit> {
    for hit in &mut hits {
        hit.score = hit.score.clamp(-1.0, 1.0) + 0.0;
    }
    hits.retain(|hit| threshold.is_none_or(|least| hit.score >= least));
    hits
}

#[async_trait]
impl VectorIndex for QdrantIndex {
    async fn replace(&self, scope: Option<&Filter>, points: Vec<Point>) -> Result<()> {
        let scope = scope.map(filter::translate).transpose()?;
        for point in &points {
            check::point(point, self.options.dimension)?;
        }
        // The last of several points with one id and revision is the one that counts.
        let points: BTreeMap<Uuid, Point> =
            points.into_iter().map(|point| (uuid(&point), point)).collect();
        let ids: Vec<String> = points.keys().map(Uuid::to_string).collect();
        let structs = points
            .into_values()
            .map(|p| Ok((size(&p), self.point(p)?)))
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
            self.retrying(|| self.client.delete_points(request.clone())).await?;
        }
        Ok(())
    }

    async fn search(&self, query: VectorQuery) -> Result<Vec<Hit>> {
        let Some(request) = self.nearest(&query)? else { return Ok(Vec::new()) };
        Ok(cosines(self.ranked(request, query.limit).await?, query.threshold))
    }

    async fn text_search(&self, query: TextQuery) -> Result<Vec<Hit>> {
        let mut best: BTreeMap<PointId, Hit> = BTreeMap::new();
        for request in self.matching(&query)? {
            for hit in self.ranked(request, query.limit).await? {
                best.entry(hit.id.clone())
                    .and_modify(|known| known.score += hit.score)
                    .or_insert(hit);
            }
        }
        let mut hits: Vec<Hit> = best.into_values().collect();
        order(&mut hits, query.limit);
        Ok(hits)
    }

    async fn search_by_video(&self, query: VectorQuery, per_video: usize) -> Result<Vec<Hit>> {
        let Some(request) = self.nearest(&query)? else { return Ok(Vec::new()) };
        let hits = self.grouped(vec![request], query.limit, per_video).await?;
        Ok(cosines(hits, query.threshold))
    }

    async fn text_search_by_video(&self, query: TextQuery, per_video: usize) -> Result<Vec<Hit>> {
        self.grouped(self.matching(&query)?, query.limit, per_video).await
    }

    async fn vectors(&self, filter: &Filter, field: &str) -> Result<Vec<(PointId, Vec<f32>)>> {
        let Some(mut filter) = filter::translate(filter)? else { return Ok(Vec::new()) };
        if !self.options.fields.iter().any(|known| known == field) {
            return Ok(Vec::new());
        }
        filter.must.push(Condition::has_vector(field));
        let mut request = ScrollPointsBuilder::new(&self.target)
            .filter(filter)
            .limit(PAGE)
            .with_payload(payload(&["video_id", "chunk_id", "analyzer_id"]))
            .with_vectors(VectorsSelector { names: vec![field.to_owned()] })
            .build();
        let mut found = Vec::new();
        loop {
            let page = self.retrying(|| self.client.scroll(request.clone())).await?;
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

    async fn count(&self, filter: &Filter) -> Result<u64> {
        match filter::translate(filter)? {
            Some(filter) => self.counted(Some(filter)).await,
            None => Ok(0),
        }
    }

    async fn values(&self, field: &str) -> Result<Vec<String>> {
        check::keyword_field(field)?;
        self.facets(field, None).await
    }

    async fn revisions(&self, video_id: &str) -> Result<Vec<String>> {
        self.facets("revision", filter::translate(&Filter::video(video_id))?).await
    }

    fn shared(&self) -> bool {
        true
    }

    async fn adopt(&self, install: &str) -> Result<String> {
        self.adopt_collection(install).await
    }

    async fn probe(&self) -> Result<()> {
        let known = self.client.collection_info(&self.target).await;
        known.map(|_| ()).map_err(|e| self.failed(e))
    }
}

fn connect(options: &QdrantOptions) -> Result<Qdrant> {
    let address = url::Url::parse(&options.url).ok().filter(|url| {
        matches!(url.scheme(), "http" | "https") && url.host_str().is_some_and(|h| !h.is_empty())
    });
    if address.is_none() {
        let message = format!(
            "index.url is {:?}, which is no address; the server's gRPC address is expected, such \
             as http://127.0.0.1:6334",
            options.url
        );
        return Err(PortError::new(ErrorKind::Invalid, message));
    }
    let mut config = Qdrant::from_url(&options.url)
        .timeout(options.timeout)
        .connect_timeout(options.timeout.min(Duration::from_secs(5)))
        .skip_compatibility_check();
    config.api_key.clone_from(&options.api_key);
    config.build().map_err(|e| {
        let message = format!("cannot use Qdrant at {}: {e}", options.url);
        PortError::caused_by(ErrorKind::Invalid, message, e)
    })
}

fn payload(fields: &[&str]) -> PayloadIncludeSelector {
    PayloadIncludeSelector { fields: fields.iter().map(|f| (*f).to_owned()).collect() }
}

/// The same for every instance, so that writing a point again replaces it.
fn uuid(point: &Point) -> Uuid {
    let PointId { video_id, chunk_id, analyzer_id } = &point.id;
    let name = format!("{video_id}\0{chunk_id}\0{analyzer_id}\0{}", point.revision());
    Uuid::new_v5(&NAMESPACE, name.as_bytes())
}

/// About how many bytes a point takes in a request.
fn size(point: &Point) -> usize {
    let vectors: usize = point.vectors.values().map(|v| v.len() * 4).sum();
    let document = serde_json::to_vec(&point.document).map_or(0, |d| d.len());
    vectors + document + 3 * point.text.len() + 1024
}

fn hit(point: ScoredPoint) -> Result<Hit> {
    let document = text(&point.payload, "document")?;
    let document = serde_json::from_str(document).map_err(|e| {
        PortError::caused_by(ErrorKind::Corrupt, "a point's document is not JSON", e)
    })?;
    Ok(Hit { id: id(&point.payload)?, score: point.score, document })
}

fn id(payload: &HashMap<String, Value>) -> Result<PointId> {
    let chunk = match payload.get("chunk_id").and_then(|v| v.kind.as_ref()) {
        Some(value::Kind::IntegerValue(number)) => u32::try_from(*number).ok(),
        _ => None,
    };
    Ok(PointId {
        video_id: text(payload, "video_id")?.to_owned(),
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
             service a collection of its own (index.collection) and run `shotlog reindex`"
        ),
    )
}

/// The first `limit` by score, ties by id.
fn order(hits: &mut Vec<Hit>, limit: usize) {
    hits.sort_by(|a, b| b.score.total_cmp(&a.score).then_with(|| a.id.cmp(&b.id)));
    hits.truncate(limit);
}
