//! The listing on a Qdrant server, in a separate collection without vectors that every instance
//! shares. A page takes few requests. Entries before the offset are skipped without reading their
//! documents.

use std::collections::{BTreeMap, HashMap};
use std::time::Duration;

use async_trait::async_trait;
use ports::index::{self, FieldValue, Predicate};
use ports::listing::{ListQuery, ListingPage, Position, VideoEntry, VideoListing};
use ports::{Document, ErrorKind, PortError, Result, VideoId};
use qdrant_client::qdrant::point_id::PointIdOptions;
use qdrant_client::qdrant::{
    Condition, CountPointsBuilder, CreateCollectionBuilder, CreateFieldIndexCollectionBuilder,
    DeletePointsBuilder, Direction, FacetCountsBuilder, FieldType, Filter, GetPointsBuilder,
    NamedVectors, OrderBy, PayloadIncludeSelector, PointId, PointStruct, PointsIdsList, Range,
    RetrievedPoint, ScrollPointsBuilder, StartFrom, TextIndexParamsBuilder, TokenizerType,
    UpdateCollectionBuilder, UpsertPointsBuilder, Value, VectorsConfigBuilder, facet_value,
    start_from, value,
};
use uuid::Uuid;

use super::folded;
use crate::qdrant::QdrantConnection;

/// Number of entries per read or write request.
const PAGE: usize = 256;

/// Number of places per request. A place is only an id and a number.
const PLACES: usize = 4096;

/// Approximate maximum size of a write request, in bytes. The server rejects much larger messages.
const REQUEST_BYTES: usize = 8 << 20;

/// Maximum number of values to count per field. The limit is needed because the server does not
/// paginate them.
const WORDS: u64 = 100_000;

/// The inverted creation time. In ascending order, the newest entries come first, and entries with
/// the same time are ordered by id.
const AGE: &str = "age";

/// The letters of the filename in lower case, separated by spaces, so that a phrase query can match
/// a substring.
const LETTERS: &str = "letters";

/// Placeholder for a space among the letters.
const SPACE: char = '\u{2423}';

const FILENAME: &str = "filename";
const ANALYZERS: &str = "analyzers";
const DOCUMENT: &str = "document";

/// The fields as JSON, which is returned unchanged.
const FIELDS: &str = "fields";

/// The fields in filterable form. A dot in a field's name becomes a level of nesting.
const FILTERABLE: &str = "found_by";

/// The metadata key for the mark.
const MARK: &str = "mark";

/// How to reach the server and set up the collection.
#[derive(Debug, Clone)]
pub struct QdrantListingOptions {
    /// gRPC URL such as `http://host:6334`, or `https://…` for TLS.
    pub url: String,
    /// The server's API key or token.
    pub api_key: Option<String>,
    /// The collection for the entries. It is created if necessary.
    pub collection: String,
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

/// A listing on a Qdrant server. Clones are cheap.
#[derive(Clone)]
pub struct QdrantListing {
    server: QdrantConnection,
    collection: String,
}

/// An entry's place in the order. Places are in ascending order of these two fields.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Place {
    age: i64,
    point: Uuid,
}

impl QdrantListing {
    /// Connects, and creates the collection if necessary.
    pub async fn open(options: QdrantListingOptions) -> Result<Self> {
        let QdrantListingOptions { url, api_key, timeout, attempts, .. } = &options;
        let server = QdrantConnection::connect(url, api_key.as_deref(), *timeout, *attempts)?;
        let listing = Self { server, collection: options.collection.clone() };
        listing.create(&options).await?;
        Ok(listing)
    }

    /// Creates the collection and its indexes if they are missing.
    async fn create(&self, options: &QdrantListingOptions) -> Result<()> {
        let (server, name) = (&self.server, &self.collection);
        if !server.retrying(|| server.client.collection_exists(name)).await? {
            let request = CreateCollectionBuilder::new(name)
                .vectors_config(VectorsConfigBuilder::default())
                .shard_number(options.shards)
                .replication_factor(options.replicas)
                .on_disk_payload(true)
                .build();
            let made = server.retrying(|| server.client.create_collection(request.clone())).await;
            // Another instance may have just created it.
            if let Err(e) = made
                && !server.retrying(|| server.client.collection_exists(name)).await?
            {
                return Err(e);
            }
        }
        let info = server.retrying(|| server.client.collection_info(name)).await?;
        let indexed = info.result.map(|info| info.payload_schema).unwrap_or_default();
        let letters = TextIndexParamsBuilder::new(TokenizerType::Whitespace)
            .lowercase(false)
            .phrase_matching(true);
        let index =
            |field, kind| CreateFieldIndexCollectionBuilder::new(name, field, kind).wait(true);
        for (field, request) in [
            (AGE, index(AGE, FieldType::Integer)),
            (ANALYZERS, index(ANALYZERS, FieldType::Keyword)),
            (LETTERS, index(LETTERS, FieldType::Text).field_index_params(letters)),
        ] {
            if !indexed.contains_key(field) {
                let request = request.build();
                server.retrying(|| server.client.create_field_index(request.clone())).await?;
            }
        }
        Ok(())
    }

    /// Creates the index that is required to count a field's values, if it is missing.
    async fn create_facet_index(&self, key: &str) -> Result<()> {
        let (server, name) = (&self.server, &self.collection);
        let info = server.retrying(|| server.client.collection_info(name)).await?;
        if info.result.is_some_and(|info| info.payload_schema.contains_key(key)) {
            return Ok(());
        }
        let request = CreateFieldIndexCollectionBuilder::new(name, key, FieldType::Keyword);
        let request = request.wait(true).build();
        server.retrying(|| server.client.create_field_index(request.clone())).await?;
        Ok(())
    }

    /// Returns the age of the first matching entry in this direction of the order.
    async fn first(&self, filter: &Filter, direction: Direction) -> Result<Option<i64>> {
        let order =
            OrderBy { key: AGE.to_owned(), direction: Some(direction as i32), start_from: None };
        let request = ScrollPointsBuilder::new(&self.collection)
            .filter(filter.clone())
            .order_by(order)
            .limit(1)
            .with_payload(payload(&[AGE]))
            .build();
        Ok(self.places(request).await?.first().map(|place| place.age))
    }

    async fn upsert(&self, points: Vec<PointStruct>) -> Result<()> {
        let request = UpsertPointsBuilder::new(&self.collection, points).wait(true).build();
        self.server.retrying(|| self.server.client.upsert_points(request.clone())).await?;
        Ok(())
    }

    async fn count(&self, filter: Filter) -> Result<u64> {
        let request = CountPointsBuilder::new(&self.collection).filter(filter).exact(true).build();
        let answer = self.server.retrying(|| self.server.client.count(request.clone())).await?;
        Ok(answer.result.map_or(0, |result| result.count))
    }

    /// Finds the places of the entries on a page.
    async fn page(&self, query: &ListQuery, filter: &Filter) -> Result<Vec<Place>> {
        let place = |Position { created_at, video_id }: &Position| Place {
            age: age(*created_at),
            point: point_id(*video_id),
        };
        let mut after = query.after.as_ref().map(place);
        let (mut skip, mut page) = (query.offset, Vec::new());
        while page.len() < query.limit {
            let count = skip.saturating_add(query.limit - page.len()).min(PLACES);
            let places = self.next_places(after, count, filter).await?;
            after = places.last().copied();
            let ended = places.len() < count;
            let skipped = skip.min(places.len());
            skip -= skipped;
            page.extend_from_slice(&places[skipped..]);
            if ended {
                break;
            }
        }
        Ok(page)
    }

    /// Reads the next `count` places. Returns fewer if there are no more.
    async fn next_places(
        &self,
        after: Option<Place>,
        count: usize,
        filter: &Filter,
    ) -> Result<Vec<Place>> {
        let mut places = Vec::new();
        let mut from = None;
        if let Some(Place { age, point }) = after {
            // First come the remaining entries of the current instant.
            if let Some(next) = point.as_u128().checked_add(1) {
                places = self.instant(age, Uuid::from_u128(next), count, filter).await?;
            }
            let Some(next) = age.checked_add(1) else { return Ok(places) };
            from = Some(next);
        }
        let left = count - places.len();
        if left == 0 {
            return Ok(places);
        }
        let order = OrderBy {
            key: AGE.to_owned(),
            direction: Some(Direction::Asc as i32),
            start_from: from
                .map(|from| StartFrom { value: Some(start_from::Value::Integer(from)) }),
        };
        let request = ScrollPointsBuilder::new(&self.collection)
            .filter(filter.clone())
            .order_by(order)
            // One extra place shows whether the last instant is cut off.
            .limit(left as u32 + 1)
            .with_payload(payload(&[AGE]))
            .build();
        let mut later = self.places(request).await?;
        later.sort();
        if later.len() > left && later[left].age == later[left - 1].age {
            // The server may return only some of the entries of the last instant.
            let age = later[left].age;
            later.retain(|place| place.age < age);
            let rest = self.instant(age, Uuid::nil(), left - later.len(), filter).await?;
            later.extend(rest);
        }
        later.truncate(left);
        places.extend(later);
        Ok(places)
    }

    /// Reads up to `count` places of one instant, starting at the point `from`.
    async fn instant(
        &self,
        age: i64,
        from: Uuid,
        count: usize,
        filter: &Filter,
    ) -> Result<Vec<Place>> {
        let mut filter = filter.clone();
        filter.must.push(Condition::matches(AGE, age));
        let request = ScrollPointsBuilder::new(&self.collection)
            .filter(filter)
            .offset(PointId::from(from.to_string()))
            .limit(count as u32)
            .with_payload(payload(&[AGE]))
            .build();
        self.places(request).await
    }

    async fn places(&self, request: qdrant_client::qdrant::ScrollPoints) -> Result<Vec<Place>> {
        let answer = self.server.retrying(|| self.server.client.scroll(request.clone())).await?;
        let place = |point: RetrievedPoint| {
            let age = match field(&point, AGE)? {
                value::Kind::IntegerValue(age) => *age,
                _ => return Err(foreign(AGE)),
            };
            Ok(Place { age, point: uuid(&point)? })
        };
        answer.result.into_iter().map(place).collect()
    }

    /// Lists the first `limit` ids of matching entries that are greater than `after`, in ascending
    /// order.
    async fn ids_after(
        &self,
        filter: Filter,
        after: Option<VideoId>,
        limit: usize,
    ) -> Result<Vec<VideoId>> {
        let mut ids = Vec::new();
        let mut from = after.map_or(Some(0), |id| point_id(id).as_u128().checked_add(1));
        while let Some(next) = from.filter(|_| ids.len() < limit) {
            let count = (limit - ids.len()).min(PLACES);
            let request = ScrollPointsBuilder::new(&self.collection)
                .filter(filter.clone())
                .offset(PointId::from(Uuid::from_u128(next).to_string()))
                .limit(count as u32)
                .with_payload(false)
                .build();
            let answer =
                self.server.retrying(|| self.server.client.scroll(request.clone())).await?;
            let ended = answer.result.len() < count;
            for point in &answer.result {
                let point = uuid(point)?;
                ids.push(id(point)?);
                from = point.as_u128().checked_add(1);
            }
            if ended {
                break;
            }
        }
        Ok(ids)
    }

    /// Reads the entries of these points, in the same order. Skips missing entries.
    async fn entries(&self, points: &[Uuid]) -> Result<Vec<VideoEntry>> {
        let mut entries = Vec::new();
        for some in points.chunks(PAGE) {
            let ids: Vec<PointId> = some.iter().map(|id| id.to_string().into()).collect();
            let request = GetPointsBuilder::new(&self.collection, ids).with_payload(true).build();
            let answer =
                self.server.retrying(|| self.server.client.get_points(request.clone())).await?;
            let mut found = HashMap::new();
            for point in answer.result {
                found.insert(uuid(&point)?, entry(&point)?);
            }
            entries.extend(some.iter().filter_map(|id| found.get(id).cloned()));
        }
        Ok(entries)
    }
}

#[async_trait]
impl VideoListing for QdrantListing {
    async fn put(&self, entries: Vec<VideoEntry>) -> Result<()> {
        // If a video has several entries, the last one wins.
        let mut points = HashMap::new();
        for entry in &entries {
            points.insert(entry.video_id, point(entry)?);
        }
        let (mut batch, mut bytes) = (Vec::new(), 0);
        for (size, point) in points.into_values() {
            if batch.len() == PAGE || (bytes + size > REQUEST_BYTES && !batch.is_empty()) {
                self.upsert(std::mem::take(&mut batch)).await?;
                bytes = 0;
            }
            bytes += size;
            batch.push(point);
        }
        match batch.is_empty() {
            true => Ok(()),
            false => self.upsert(batch).await,
        }
    }

    async fn remove(&self, video_ids: &[VideoId]) -> Result<()> {
        let points: Vec<Uuid> = video_ids.iter().copied().map(point_id).collect();
        for some in points.chunks(PAGE) {
            let ids = some.iter().map(|id| id.to_string().into()).collect();
            let request = DeletePointsBuilder::new(&self.collection)
                .points(PointsIdsList { ids })
                .wait(true)
                .build();
            self.server.retrying(|| self.server.client.delete_points(request.clone())).await?;
        }
        Ok(())
    }

    async fn list(&self, query: &ListQuery) -> Result<ListingPage> {
        let filter = conditions(query);
        let (total, places) =
            futures::try_join!(self.count(filter.clone()), self.page(query, &filter))?;
        let points: Vec<Uuid> = places.iter().map(|place| place.point).collect();
        Ok(ListingPage { entries: self.entries(&points).await?, total })
    }

    async fn get(&self, video_ids: &[VideoId]) -> Result<Vec<VideoEntry>> {
        let points: Vec<Uuid> = video_ids.iter().copied().map(point_id).collect();
        self.entries(&points).await
    }

    async fn ids(
        &self,
        conditions: &[index::Condition],
        after: Option<VideoId>,
        limit: usize,
    ) -> Result<Vec<VideoId>> {
        let filter = Filter::must(conditions.iter().map(field_condition));
        self.ids_after(filter, after, limit).await
    }

    async fn keyword_counts(
        &self,
        field: &str,
        conditions: &[index::Condition],
        after: Option<&str>,
        limit: usize,
    ) -> Result<Vec<(String, u64)>> {
        let key = format!("{FILTERABLE}.{field}");
        self.create_facet_index(&key).await?;
        let request = FacetCountsBuilder::new(&self.collection, key)
            .filter(Filter::must(conditions.iter().map(field_condition)))
            .limit(WORDS)
            .exact(true)
            .build();
        let answer = self.server.retrying(|| self.server.client.facet(request.clone())).await?;
        let hits = answer.hits.into_iter();
        let word = hits.filter_map(|hit| match hit.value?.variant? {
            facet_value::Variant::StringValue(word) => Some((word, hit.count)),
            _ => None,
        });
        let mut words: Vec<(String, u64)> =
            word.filter(|(word, _)| after.is_none_or(|after| word.as_str() > after)).collect();
        words.sort_unstable();
        words.truncate(limit);
        Ok(words)
    }

    async fn created_range(&self, conditions: &[index::Condition]) -> Result<Option<(i64, i64)>> {
        let filter = Filter::must(conditions.iter().map(field_condition));
        let (newest, oldest) = futures::try_join!(
            self.first(&filter, Direction::Asc),
            self.first(&filter, Direction::Desc)
        )?;
        Ok(oldest.map(age).zip(newest.map(age)))
    }

    async fn mark(&self) -> Result<Option<String>> {
        let (server, name) = (&self.server, &self.collection);
        let info = server.retrying(|| server.client.collection_info(name)).await?;
        let config = info.result.and_then(|info| info.config).unwrap_or_default();
        match config.metadata.get(MARK).and_then(|mark| mark.kind.as_ref()) {
            Some(value::Kind::StringValue(mark)) => Ok(Some(mark.clone())),
            _ => Ok(None),
        }
    }

    async fn set_mark(&self, mark: &str) -> Result<()> {
        let mut request = UpdateCollectionBuilder::new(&self.collection).build();
        request.metadata.insert(MARK.into(), Value::from(mark.to_owned()));
        self.server.retrying(|| self.server.client.update_collection(request.clone())).await?;
        Ok(())
    }

    async fn probe(&self) -> Result<()> {
        let known = self.server.client.collection_info(&self.collection).await;
        known.map(|_| ()).map_err(|e| self.server.failed(e))
    }
}

fn payload(fields: &[&str]) -> PayloadIncludeSelector {
    PayloadIncludeSelector { fields: fields.iter().map(|field| (*field).to_owned()).collect() }
}

/// Inverts the order of instants. Unlike negation, the bitwise complement cannot overflow.
fn age(created_at: i64) -> i64 {
    !created_at
}

/// Returns the point id of a video, which consists of the bytes of the video's id, so that points
/// sort by video id.
fn point_id(id: VideoId) -> Uuid {
    Uuid::from_bytes(*id.as_bytes())
}

/// Returns the video id for a point id.
fn id(point: Uuid) -> Result<VideoId> {
    let digits = str::from_utf8(point.as_bytes()).ok();
    digits.and_then(|digits| digits.parse().ok()).ok_or_else(|| foreign("video id"))
}

fn letters(filename: &str) -> String {
    let letter = |c: char| [if c.is_whitespace() { SPACE } else { c }, ' '];
    folded(filename).chars().flat_map(letter).collect()
}

/// Returns the stored form of an entry, and its approximate size in a request, in bytes.
fn point(entry: &VideoEntry) -> Result<(usize, PointStruct)> {
    let document = entry.document.as_str();
    let fields = serde_json::to_string(&entry.fields)
        .map_err(|e| PortError::caused_by(ErrorKind::Invalid, "the fields are not JSON", e))?;
    let size = document.len() + 3 * fields.len() + 4 * entry.filename.len() + 1024;
    let payload = HashMap::from([
        (AGE.to_owned(), Value::from(age(entry.created_at))),
        (FILENAME.to_owned(), Value::from(entry.filename.clone())),
        (LETTERS.to_owned(), Value::from(letters(&entry.filename))),
        (ANALYZERS.to_owned(), Value::from(entry.analyzers.clone())),
        (DOCUMENT.to_owned(), Value::from(document)),
        (FIELDS.to_owned(), Value::from(fields)),
        (FILTERABLE.to_owned(), filterable(&entry.fields)),
    ]);
    let point = point_id(entry.video_id).to_string();
    Ok((size, PointStruct::new(point, NamedVectors::default(), payload)))
}

/// Converts the fields to filterable form.
fn filterable(fields: &BTreeMap<String, FieldValue>) -> Value {
    let mut filterable = serde_json::Map::new();
    for (name, value) in fields {
        let value = match value {
            FieldValue::Keywords(words) => words.clone().into(),
            FieldValue::Integer(number) => (*number).into(),
            FieldValue::Float(number) => (*number).into(),
        };
        match name.split_once('.') {
            Some((outer, inner)) => {
                filterable.entry(outer).or_insert_with(|| serde_json::json!({}))[inner] = value;
            }
            None => drop(filterable.insert(name.clone(), value)),
        }
    }
    Value::from(serde_json::Value::Object(filterable))
}

fn entry(point: &RetrievedPoint) -> Result<VideoEntry> {
    let text = |name: &'static str| match field(point, name)? {
        value::Kind::StringValue(text) => Ok(text.clone()),
        _ => Err(foreign(name)),
    };
    let created_at = match field(point, AGE)? {
        // `age` is its own inverse.
        value::Kind::IntegerValue(number) => age(*number),
        _ => return Err(foreign(AGE)),
    };
    let analyzers = match field(point, ANALYZERS)? {
        value::Kind::ListValue(list) => {
            let text = |value: &Value| match &value.kind {
                Some(value::Kind::StringValue(text)) => Some(text.clone()),
                _ => None,
            };
            list.values.iter().map(text).collect::<Option<_>>()
        }
        _ => None,
    };
    let fields = match point.payload.contains_key(FIELDS) {
        true => serde_json::from_str(&text(FIELDS)?).map_err(|e| {
            PortError::caused_by(ErrorKind::Corrupt, "the fields of an entry are not JSON", e)
        })?,
        false => BTreeMap::new(),
    };
    Ok(VideoEntry {
        fields,
        video_id: id(uuid(point)?)?,
        created_at,
        filename: text(FILENAME)?,
        analyzers: analyzers.ok_or_else(|| foreign(ANALYZERS))?,
        document: Document::from_json(&text(DOCUMENT)?),
    })
}

fn field<'a>(point: &'a RetrievedPoint, name: &'static str) -> Result<&'a value::Kind> {
    point.payload.get(name).and_then(|value| value.kind.as_ref()).ok_or_else(|| foreign(name))
}

fn uuid(point: &RetrievedPoint) -> Result<Uuid> {
    match point.id.as_ref().and_then(|id| id.point_id_options.as_ref()) {
        Some(PointIdOptions::Uuid(uuid)) => Uuid::parse_str(uuid).map_err(|_| foreign("UUID")),
        _ => Err(foreign("UUID")),
    }
}

fn foreign(what: &str) -> PortError {
    let message = format!(
        "an entry of the listing has no {what}, so something else wrote it; give this service its \
         own collection (index.collection)"
    );
    PortError::new(ErrorKind::Corrupt, message)
}

/// Translates the query to a Qdrant filter. Instants are compared as doubles. The comparison is
/// exact for times within 285,000 years.
fn conditions(query: &ListQuery) -> Filter {
    let mut filter = Filter::default();
    if let Some(part) = query.filename.as_deref().filter(|part| !part.is_empty()) {
        filter.must.push(Condition::matches_phrase(LETTERS, letters(part)));
    }
    if let Some(analyzer) = &query.analyzer {
        filter.must.push(Condition::matches(ANALYZERS, analyzer.clone()));
    }
    let bound = |instant: Option<i64>| instant.map(|instant| age(instant) as f64);
    let (newest, oldest) = (bound(query.to), bound(query.from));
    if newest.is_some() || oldest.is_some() {
        let ages = Range { gte: newest, lte: oldest, ..Range::default() };
        filter.must.push(Condition::range(AGE, ages));
    }
    filter.must.extend(query.conditions.iter().map(field_condition));
    filter
}

/// Translates a condition on a field.
fn field_condition(condition: &index::Condition) -> Condition {
    let field = format!("{FILTERABLE}.{}", condition.field);
    let range = |range: Range| Condition::range(field.clone(), range);
    match &condition.predicate {
        Predicate::AnyKeyword(words) => Condition::matches(field, words.clone()),
        Predicate::AnyVideo(ids) => {
            let ids: Vec<String> = ids.iter().map(|id| id.as_str().to_owned()).collect();
            Condition::matches(field, ids)
        }
        // No entry has a chunk.
        Predicate::AnyChunk(_) => Condition::matches(field, Vec::<String>::new()),
        Predicate::AnyInteger(numbers) => Condition::matches(field, numbers.clone()),
        Predicate::AtLeast(lower) => range(Range { gte: Some(*lower), ..Range::default() }),
        Predicate::AtMost(upper) => range(Range { lte: Some(*upper), ..Range::default() }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_sort_like_ids() {
        let ids = ["000000000000000a", "00ff000000000000", "a000000000000000", "ffffffffffffffff"];
        let ids: Vec<VideoId> = ids.iter().map(|id| id.parse().unwrap()).collect();
        let points: Vec<Uuid> = ids.iter().copied().map(point_id).collect();
        assert!(points.is_sorted());
        for (name, point) in ids.iter().zip(points) {
            assert_eq!(id(point).unwrap(), *name);
        }
        assert_eq!(id(Uuid::nil()).unwrap_err().kind(), ErrorKind::Corrupt);
        assert!(age(i64::MAX) < age(0) && age(0) < age(-1) && age(-1) < age(i64::MIN));
        assert_eq!(age(age(-7)), -7);
    }

    #[test]
    fn filename_substring_is_a_letter_phrase() {
        assert_eq!(letters("A b.É"), "a \u{2423} b . é ");
        let query = ListQuery { filename: Some("B".into()), ..ListQuery::default() };
        assert_eq!(conditions(&query).must.len(), 1);
        let all = ListQuery { filename: Some(String::new()), ..ListQuery::default() };
        assert_eq!(conditions(&all), Filter::default());
    }
}
