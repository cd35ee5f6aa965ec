//! Selects the most frequent values in bounded memory.

use ports::index::FacetQuery;

/// Collects the most frequent values that match the query. It holds at most twice the requested
/// number of values.
pub(super) struct TopValues {
    /// The requested prefix, in lower case.
    prefix: String,
    limit: usize,
    values: Vec<(String, u64)>,
}

impl TopValues {
    pub(super) fn new(query: &FacetQuery) -> Self {
        Self { prefix: query.prefix.to_lowercase(), limit: query.limit, values: Vec::new() }
    }

    /// Returns whether a value has the requested prefix.
    pub(super) fn has_prefix(&self, value: &str) -> bool {
        self.prefix.is_empty() || value.to_lowercase().starts_with(&self.prefix)
    }

    /// Adds a value with its number of points. Must be called at most once per value.
    pub(super) fn add(&mut self, value: &str, points: u64) {
        if points == 0 || !self.has_prefix(value) {
            return;
        }
        self.values.push((value.to_owned(), points));
        if self.values.len() > self.limit.saturating_mul(2) {
            self.order();
        }
    }

    fn order(&mut self) {
        self.values
            .sort_by(|(a, count), (b, other_count)| other_count.cmp(count).then_with(|| a.cmp(b)));
        self.values.truncate(self.limit);
    }

    pub(super) fn into_values(mut self) -> Vec<(String, u64)> {
        self.order();
        self.values
    }
}
