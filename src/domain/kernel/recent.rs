//! What was last asked for by name, as far as there is room.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// What a value takes beside itself and its name, bytes.
const OVERHEAD: usize = 256;

/// Values by name: those that were not used for longest make room for others.
pub(crate) struct Recent<V> {
    room: usize,
    kept: Mutex<Kept<V>>,
}

struct Kept<V> {
    values: HashMap<Arc<str>, Value<V>>,
    /// Names by when their values were last used.
    uses: BTreeMap<u64, Arc<str>>,
    next_use: u64,
    bytes: usize,
}

struct Value<V> {
    value: V,
    bytes: usize,
    last_use: u64,
}

impl<V: Clone> Recent<V> {
    /// None yet, and room for so many bytes.
    pub(crate) fn new(room: usize) -> Self {
        let (values, uses) = (HashMap::new(), BTreeMap::new());
        Self { room, kept: Mutex::new(Kept { values, uses, next_use: 0, bytes: 0 }) }
    }

    pub(crate) fn get(&self, name: &str) -> Option<V> {
        let kept = &mut *self.kept();
        let value = kept.values.get_mut(name)?;
        let name = kept.uses.remove(&value.last_use)?;
        kept.next_use += 1;
        value.last_use = kept.next_use;
        kept.uses.insert(kept.next_use, name);
        Some(value.value.clone())
    }

    /// Keeps a value of so many bytes in place of the one of that name, unless there is no room even
    /// without any other.
    pub(crate) fn keep(&self, name: &str, value: V, bytes: usize) {
        let bytes = bytes + name.len() + OVERHEAD;
        let kept = &mut *self.kept();
        kept.remove(name);
        if bytes > self.room {
            return;
        }
        while kept.bytes + bytes > self.room {
            let Some((_, longest_unused)) = kept.uses.first_key_value() else { break };
            kept.remove(&longest_unused.clone());
        }
        kept.next_use += 1;
        kept.bytes += bytes;
        let name: Arc<str> = name.into();
        kept.uses.insert(kept.next_use, name.clone());
        kept.values.insert(name, Value { value, bytes, last_use: kept.next_use });
    }

    fn kept(&self) -> MutexGuard<'_, Kept<V>> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<V> Kept<V> {
    fn remove(&mut self, name: &str) {
        if let Some(before) = self.values.remove(name) {
            self.uses.remove(&before.last_use);
            self.bytes -= before.bytes;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_last_used_is_kept() {
        let recent = Recent::new(2 * (1000 + OVERHEAD + 1));
        recent.keep("a", 1, 1000);
        recent.keep("b", 2, 1000);
        assert_eq!(recent.get("a"), Some(1));
        recent.keep("c", 3, 1000);
        let kept = ["a", "b", "c"].map(|name| recent.get(name));
        assert_eq!(kept, [Some(1), None, Some(3)], "b was not used for longest");
        recent.keep("c", 4, 1000);
        assert_eq!([recent.get("a"), recent.get("c")], [Some(1), Some(4)], "counted once");
        recent.keep("c", 5, 3000);
        assert_eq!(
            [recent.get("a"), recent.get("c")],
            [Some(1), None],
            "too large, and out of date"
        );
        let none = Recent::new(0);
        none.keep("a", 1, 0);
        assert_eq!(none.get("a"), None);
    }
}
