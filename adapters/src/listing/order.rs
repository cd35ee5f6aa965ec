//! Keeps the entries in order for queries, without their documents. Each entry takes about 200
//! bytes.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashSet};
use std::ops::Bound;
use std::sync::Arc;

use memchr::memmem::Finder;
use ports::VideoId;
use ports::index::{Condition, FieldValue, Predicate};
use ports::listing::{ListQuery, Position, VideoEntry};

use super::folded;

/// An entry's place in the order. The newest entries come first; entries with the same time are
/// ordered by id.
type Place = (Reverse<i64>, VideoId);

/// The keys of an entry that conditions test, except for its place in the order.
struct EntryKeys {
    filename: Box<str>,
    analyzers: Arc<[String]>,
    fields: Box<[(String, FieldValue)]>,
}

impl EntryKeys {
    fn satisfies(&self, conditions: &[Condition]) -> bool {
        conditions.iter().all(|Condition { field, predicate }| {
            let value = self.fields.iter().find(|(name, _)| name == field);
            value.is_some_and(|(_, value)| predicate.matches(value))
        })
    }
}

/// The entries in order.
#[derive(Default)]
pub(super) struct EntryOrder {
    tested: BTreeMap<Place, EntryKeys>,
    created: BTreeMap<VideoId, i64>,
    /// The values of each keyword field. For each value, the videos that have it, in ascending
    /// order.
    postings: BTreeMap<String, BTreeMap<String, Vec<VideoId>>>,
    /// Interned lists of analyzers. Most videos have the same list.
    lists: HashSet<Arc<[String]>>,
}

impl EntryOrder {
    pub(super) fn put(&mut self, entry: &VideoEntry) {
        let VideoEntry { video_id, created_at, filename, analyzers, fields, .. } = entry;
        self.add(*video_id, *created_at, filename, analyzers, fields.clone());
    }

    /// Adds an entry, replacing any entry for the same video.
    pub(super) fn add(
        &mut self,
        id: VideoId,
        created_at: i64,
        filename: &str,
        analyzers: &[String],
        fields: BTreeMap<String, FieldValue>,
    ) {
        self.remove(id);
        let analyzers = match self.lists.get(analyzers) {
            Some(list) => list.clone(),
            None => {
                let list: Arc<[String]> = analyzers.into();
                self.lists.insert(list.clone());
                list
            }
        };
        for (field, value) in &fields {
            let FieldValue::Keywords(words) = value else { continue };
            let postings = self.postings.entry(field.clone()).or_default();
            for word in words {
                let videos = postings.entry(word.clone()).or_default();
                if let Err(place) = videos.binary_search(&id) {
                    videos.insert(place, id);
                }
            }
        }
        let fields = fields.into_iter().collect();
        let tested = EntryKeys { filename: folded(filename).into(), analyzers, fields };
        self.created.insert(id, created_at);
        self.tested.insert((Reverse(created_at), id), tested);
    }

    pub(super) fn remove(&mut self, id: VideoId) {
        let Some(created_at) = self.created.remove(&id) else { return };
        let Some(tested) = self.tested.remove(&(Reverse(created_at), id)) else { return };
        for (field, value) in &tested.fields {
            let FieldValue::Keywords(words) = value else { continue };
            let Some(postings) = self.postings.get_mut(field) else { continue };
            for word in words {
                let Some(videos) = postings.get_mut(word) else { continue };
                if let Ok(place) = videos.binary_search(&id) {
                    videos.remove(place);
                }
                if videos.is_empty() {
                    postings.remove(word);
                }
            }
        }
    }

    fn entry_keys(&self, id: VideoId) -> Option<&EntryKeys> {
        self.tested.get(&(Reverse(*self.created.get(&id)?), id))
    }

    /// Returns the videos that have any of these values in a field, as one list per value.
    fn postings_for(&self, field: &str, words: &[String]) -> Vec<&[VideoId]> {
        let Some(postings) = self.postings.get(field) else { return Vec::new() };
        words.iter().filter_map(|word| Some(postings.get(word)?.as_slice())).collect()
    }

    /// Returns the ids on a page, and the number of entries that satisfy the conditions.
    pub(super) fn page(&self, query: &ListQuery) -> (Vec<VideoId>, u64) {
        let part = query.filename.as_deref().map(folded).filter(|part| !part.is_empty());
        let analyzer = query.analyzer.as_ref();
        let (from, to) = (query.from.unwrap_or(i64::MIN), query.to.unwrap_or(i64::MAX));
        let follows = |place: &Place| match &query.after {
            Some(Position { created_at, video_id }) => *place > (Reverse(*created_at), *video_id),
            None => true,
        };
        let unbounded = from == i64::MIN && to == i64::MAX;
        if part.is_none() && analyzer.is_none() && unbounded && query.conditions.is_empty() {
            let start = match &query.after {
                Some(p) => Bound::Excluded((Reverse(p.created_at), p.video_id)),
                None => Bound::Unbounded,
            };
            let left = self.tested.range((start, Bound::Unbounded)).map(|(place, _)| place.1);
            let page = left.skip(query.offset).take(query.limit).collect();
            return (page, self.tested.len() as u64);
        }
        let (mut page, mut total, mut skipped) = (Vec::new(), 0, 0);
        let part = part.as_ref().map(Finder::new);
        // No id sorts before the id of all zeros.
        let newest = (Reverse(to), VideoId::from_digest([0; 20]));
        for (place, tested) in self.tested.range(newest..) {
            if place.0.0 < from {
                break;
            }
            let named = |finder: &Finder<'_>| finder.find(tested.filename.as_bytes()).is_some();
            if part.as_ref().is_some_and(|part| !named(part))
                || analyzer.is_some_and(|analyzer| !tested.analyzers.contains(analyzer))
                || !tested.satisfies(&query.conditions)
            {
                continue;
            }
            total += 1;
            if page.len() < query.limit && follows(place) {
                match skipped < query.offset {
                    true => skipped += 1,
                    false => page.push(place.1),
                }
            }
        }
        (page, total)
    }

    /// Returns the ids of the entries that satisfy these conditions, in ascending order: the first
    /// `limit` ids greater than `after`.
    pub(super) fn ids(
        &self,
        conditions: &[Condition],
        after: Option<VideoId>,
        limit: usize,
    ) -> Vec<VideoId> {
        if conditions.is_empty() {
            let start = after.map_or(Bound::Unbounded, Bound::Excluded);
            let ids = self.created.range((start, Bound::Unbounded));
            return ids.take(limit).map(|(id, _)| *id).collect();
        }
        // Starts with the indexed keyword condition that the fewest entries satisfy.
        let listed = conditions.iter().enumerate().filter_map(|(i, condition)| {
            let Predicate::AnyKeyword(words) = &condition.predicate else { return None };
            Some((i, self.postings_for(&condition.field, words)))
        });
        let fewest =
            listed.min_by_key(|(_, lists)| lists.iter().map(|list| list.len()).sum::<usize>());
        let mut ids: Vec<VideoId> = match fewest {
            Some((first, lists)) => {
                let mut others = conditions.to_vec();
                others.remove(first);
                let satisfies = |id: &VideoId| {
                    others.is_empty() || self.entry_keys(*id).is_some_and(|t| t.satisfies(&others))
                };
                lists.into_iter().flatten().copied().filter(satisfies).collect()
            }
            None => {
                let matching = self.tested.iter().filter(|(_, t)| t.satisfies(conditions));
                matching.map(|((_, id), _)| *id).collect()
            }
        };
        ids.retain(|id| after.is_none_or(|after| *id > after));
        ids.sort_unstable();
        ids.dedup();
        ids.truncate(limit);
        ids
    }

    /// Returns the values of a keyword field among the matching entries, with their counts. See the
    /// port for details.
    pub(super) fn keyword_counts(
        &self,
        field: &str,
        conditions: &[Condition],
        after: Option<&str>,
        limit: usize,
    ) -> Vec<(String, u64)> {
        let start = after.map_or(Bound::Unbounded, Bound::Excluded);
        if conditions.is_empty() {
            let Some(postings) = self.postings.get(field) else { return Vec::new() };
            let words = postings.range::<str, _>((start, Bound::Unbounded)).take(limit);
            return words.map(|(word, videos)| (word.clone(), videos.len() as u64)).collect();
        }
        let mut counts: BTreeMap<&str, u64> = BTreeMap::new();
        for tested in self.tested.values().filter(|tested| tested.satisfies(conditions)) {
            let value = tested.fields.iter().find(|(name, _)| name == field);
            let Some((_, FieldValue::Keywords(words))) = value else { continue };
            let once: HashSet<&str> = words.iter().map(String::as_str).collect();
            for word in once {
                *counts.entry(word).or_default() += 1;
            }
        }
        let counts = counts.range::<str, _>((start, Bound::Unbounded)).take(limit);
        counts.map(|(word, count)| ((*word).to_owned(), *count)).collect()
    }

    /// Returns the earliest and the latest creation time of the entries that satisfy these
    /// conditions.
    pub(super) fn created_range(&self, conditions: &[Condition]) -> Option<(i64, i64)> {
        let mut matching = self.tested.iter().filter(|(_, tested)| tested.satisfies(conditions));
        let (Reverse(newest), _) = matching.next()?.0;
        let oldest = matching.next_back().map_or(*newest, |((Reverse(oldest), _), _)| *oldest);
        Some((oldest, *newest))
    }
}
