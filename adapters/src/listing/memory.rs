//! The listing in memory. It is lost on restart.

use std::collections::HashMap;
use std::sync::Arc;

use async_trait::async_trait;
use parking_lot::RwLock;
use ports::index::Condition;
use ports::listing::{ListQuery, ListingPage, VideoEntry, VideoListing};
use ports::{Result, VideoId};

use super::order::EntryOrder;
use crate::blocking;

/// A listing that keeps its entries in sorted maps. Clones are cheap and share the entries.
#[derive(Clone, Default)]
pub struct MemoryListing {
    state: Arc<RwLock<State>>,
}

#[derive(Default)]
struct State {
    order: EntryOrder,
    entries: HashMap<VideoId, VideoEntry>,
    mark: Option<String>,
}

impl MemoryListing {
    /// Creates an empty listing.
    pub fn new() -> Self {
        Self::default()
    }

    fn change(&self, change: impl FnOnce(&mut State)) {
        change(&mut self.state.write());
    }

    fn read<T>(&self, read: impl FnOnce(&State) -> T) -> T {
        read(&self.state.read())
    }
}

#[async_trait]
impl VideoListing for MemoryListing {
    async fn put(&self, entries: Vec<VideoEntry>) -> Result<()> {
        self.change(|state| {
            for entry in entries {
                state.order.put(&entry);
                state.entries.insert(entry.video_id, entry);
            }
        });
        Ok(())
    }

    async fn remove(&self, video_ids: &[VideoId]) -> Result<()> {
        self.change(|state| {
            for id in video_ids {
                state.order.remove(*id);
                state.entries.remove(id);
            }
        });
        Ok(())
    }

    async fn list(&self, query: &ListQuery) -> Result<ListingPage> {
        let (listing, query) = (self.clone(), query.clone());
        // This runs on a blocking thread, because the conditions are tested on every entry.
        blocking::run(move || {
            Ok(listing.read(|state| {
                let (page, total) = state.order.page(&query);
                let entries = page.iter().filter_map(|id| state.entries.get(id).cloned());
                ListingPage { entries: entries.collect(), total }
            }))
        })
        .await
    }

    async fn get(&self, video_ids: &[VideoId]) -> Result<Vec<VideoEntry>> {
        let found = |state: &State| {
            video_ids.iter().filter_map(|id| state.entries.get(id).cloned()).collect()
        };
        Ok(self.read(found))
    }

    async fn ids(
        &self,
        conditions: &[Condition],
        after: Option<VideoId>,
        limit: usize,
    ) -> Result<Vec<VideoId>> {
        let (listing, conditions) = (self.clone(), conditions.to_vec());
        let ids = move |state: &State| state.order.ids(&conditions, after, limit);
        blocking::run(move || Ok(listing.read(ids))).await
    }

    async fn keyword_counts(
        &self,
        field: &str,
        conditions: &[Condition],
        after: Option<&str>,
        limit: usize,
    ) -> Result<Vec<(String, u64)>> {
        let (listing, field, conditions) = (self.clone(), field.to_owned(), conditions.to_vec());
        let after = after.map(str::to_owned);
        blocking::run(move || {
            let words = |state: &State| {
                state.order.keyword_counts(&field, &conditions, after.as_deref(), limit)
            };
            Ok(listing.read(words))
        })
        .await
    }

    async fn created_range(&self, conditions: &[Condition]) -> Result<Option<(i64, i64)>> {
        let (listing, conditions) = (self.clone(), conditions.to_vec());
        blocking::run(move || Ok(listing.read(|state| state.order.created_range(&conditions))))
            .await
    }

    async fn mark(&self) -> Result<Option<String>> {
        Ok(self.read(|state| state.mark.clone()))
    }

    async fn set_mark(&self, mark: &str) -> Result<()> {
        self.change(|state| state.mark = Some(mark.to_owned()));
        Ok(())
    }

    async fn probe(&self) -> Result<()> {
        Ok(())
    }
}
