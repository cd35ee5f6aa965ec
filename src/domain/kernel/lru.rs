//! An LRU cache with a limit in bytes.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use parking_lot::{Mutex, MutexGuard};

/// Memory that an entry takes in addition to its value and its name, in bytes.
const OVERHEAD: usize = 256;

/// A cache of values by name. If it is full, the least recently used values are evicted.
pub(crate) struct LruCache<V> {
    capacity: usize,
    entries: Mutex<Entries<V>>,
}

struct Entries<V> {
    values: HashMap<Arc<str>, Value<V>>,
    /// Names in order of their last use.
    uses: BTreeMap<u64, Arc<str>>,
    next_use: u64,
    bytes: usize,
}

struct Value<V> {
    value: V,
    bytes: usize,
    last_use: u64,
}

impl<V: Clone> LruCache<V> {
    /// Creates an empty cache that holds at most `capacity` bytes.
    pub(crate) fn new(capacity: usize) -> Self {
        let (values, uses) = (HashMap::new(), BTreeMap::new());
        Self { capacity, entries: Mutex::new(Entries { values, uses, next_use: 0, bytes: 0 }) }
    }

    pub(crate) fn get(&self, name: &str) -> Option<V> {
        let entries = &mut *self.entries();
        let value = entries.values.get_mut(name)?;
        let name = entries.uses.remove(&value.last_use)?;
        entries.next_use += 1;
        value.last_use = entries.next_use;
        entries.uses.insert(entries.next_use, name);
        Some(value.value.clone())
    }

    /// Stores a value of `bytes` bytes under a name, replacing an earlier value. A value larger
    /// than the whole cache is not stored.
    pub(crate) fn insert(&self, name: &str, value: V, bytes: usize) {
        let bytes = bytes + name.len() + OVERHEAD;
        let entries = &mut *self.entries();
        entries.remove(name);
        if bytes > self.capacity {
            return;
        }
        while entries.bytes + bytes > self.capacity {
            let Some((_, oldest)) = entries.uses.first_key_value() else { break };
            entries.remove(&oldest.clone());
        }
        entries.next_use += 1;
        entries.bytes += bytes;
        let name: Arc<str> = name.into();
        entries.uses.insert(entries.next_use, name.clone());
        entries.values.insert(name, Value { value, bytes, last_use: entries.next_use });
    }

    fn entries(&self) -> MutexGuard<'_, Entries<V>> {
        self.entries.lock()
    }
}

impl<V> Entries<V> {
    fn remove(&mut self, name: &str) {
        if let Some(removed) = self.values.remove(name) {
            self.uses.remove(&removed.last_use);
            self.bytes -= removed.bytes;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn least_recently_used_values_are_evicted() {
        let cache = LruCache::new(2 * (1000 + OVERHEAD + 1));
        cache.insert("a", 1, 1000);
        cache.insert("b", 2, 1000);
        assert_eq!(cache.get("a"), Some(1));
        cache.insert("c", 3, 1000);
        let entries = ["a", "b", "c"].map(|name| cache.get(name));
        assert_eq!(entries, [Some(1), None, Some(3)], "b was the least recently used");
        cache.insert("c", 4, 1000);
        assert_eq!([cache.get("a"), cache.get("c")], [Some(1), Some(4)], "counted once");
        cache.insert("c", 5, 3000);
        assert_eq!(
            [cache.get("a"), cache.get("c")],
            [Some(1), None],
            "too large to store, and the old value is stale"
        );
        let none = LruCache::new(0);
        none.insert("a", 1, 0);
        assert_eq!(none.get("a"), None);
    }
}
