//! A cache of values by name with a limit in bytes.

use quick_cache::sync::{Cache, DefaultLifecycle};
use quick_cache::{DefaultHashBuilder, OptionsBuilder, Weighter};

/// Memory that an entry takes in addition to its value and its name, in bytes.
const OVERHEAD: usize = 256;

/// A typical size of an entry, in bytes. The number of entries is estimated from it.
const TYPICAL_ENTRY: usize = 4096;

/// A cache of values by name. If it is full, it evicts values that were used neither recently nor
/// often.
pub(crate) struct ByteCache<V>(Cache<Box<str>, (V, usize), EntrySize>);

/// The memory that an entry takes.
#[derive(Clone)]
struct EntrySize;

impl<V> Weighter<Box<str>, (V, usize)> for EntrySize {
    fn weight(&self, name: &Box<str>, (_, bytes): &(V, usize)) -> u64 {
        (bytes + name.len() + OVERHEAD) as u64
    }
}

impl<V: Clone> ByteCache<V> {
    /// Creates an empty cache that holds at most `capacity` bytes.
    pub(crate) fn new(capacity: usize) -> Self {
        let options = OptionsBuilder::new()
            .estimated_items_capacity(capacity / TYPICAL_ENTRY)
            .weight_capacity(capacity as u64)
            // Each shard has its share of the capacity, and a value must fit into its shard.
            .shards(1)
            .build()
            .expect("both capacities are set");
        let (hasher, lifecycle) = (DefaultHashBuilder::default(), DefaultLifecycle::default());
        Self(Cache::with_options(options, EntrySize, hasher, lifecycle))
    }

    pub(crate) fn get(&self, name: &str) -> Option<V> {
        self.0.get(name).map(|(value, _)| value)
    }

    /// Stores a value of `bytes` bytes under a name, replacing an earlier value. A value larger
    /// than the whole cache is not stored.
    pub(crate) fn insert(&self, name: &str, value: V, bytes: usize) {
        self.0.insert(name.into(), (value, bytes));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_stay_within_the_capacity() {
        let cache = ByteCache::new(3 * (1000 + OVERHEAD + 3));
        for number in 0..100 {
            cache.insert(&number.to_string(), number, 1000);
            assert_eq!(cache.get(&number.to_string()), Some(number), "the newest value is kept");
        }
        let kept = (0..100).filter(|number| cache.get(&number.to_string()).is_some()).count();
        assert!((1..=3).contains(&kept), "{kept}");
        cache.insert("99", 1, 1000);
        assert_eq!(cache.get("99"), Some(1), "replaced");
        cache.insert("99", 2, 9000);
        assert_eq!(cache.get("99"), None, "too large to store, and the old value is stale");
        let none = ByteCache::new(0);
        none.insert("a", 1, 0);
        assert_eq!(none.get("a"), None);
    }
}
