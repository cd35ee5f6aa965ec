//! Queries that return an error if files are damaged. Reading a damaged dictionary panics, and
//! tantivy looks up the points that a commit deletes on a thread where a panic ends the process.

use std::panic::{AssertUnwindSafe, catch_unwind};

use tantivy::error::DataCorruption;
use tantivy::query::{EnableScoring, Explanation, Query, Scorer, Weight};
use tantivy::{DocId, Score, SegmentReader, TantivyError};

/// Wraps a query so that its panics become errors.
pub(super) fn catch_panics(query: Box<dyn Query>) -> Box<dyn Query> {
    Box::new(CatchPanics(query))
}

#[derive(Debug)]
struct CatchPanics(Box<dyn Query>);

impl Clone for CatchPanics {
    fn clone(&self) -> Self {
        Self(self.0.box_clone())
    }
}

impl Query for CatchPanics {
    fn weight(&self, scoring: EnableScoring<'_>) -> tantivy::Result<Box<dyn Weight>> {
        let weight = guard(|| self.0.weight(scoring))?;
        Ok(Box::new(CatchPanicsWeight(weight)))
    }
}

struct CatchPanicsWeight(Box<dyn Weight>);

impl Weight for CatchPanicsWeight {
    fn scorer(&self, reader: &SegmentReader, boost: Score) -> tantivy::Result<Box<dyn Scorer>> {
        guard(|| self.0.scorer(reader, boost))
    }

    fn explain(&self, reader: &SegmentReader, doc: DocId) -> tantivy::Result<Explanation> {
        guard(|| self.0.explain(reader, doc))
    }

    fn for_each_no_score(
        &self,
        reader: &SegmentReader,
        callback: &mut dyn FnMut(&[DocId]),
    ) -> tantivy::Result<()> {
        guard(|| self.0.for_each_no_score(reader, callback))
    }
}

fn guard<T>(read: impl FnOnce() -> tantivy::Result<T>) -> tantivy::Result<T> {
    // The panicked reader is not used again: the commit fails and the index is rebuilt.
    catch_unwind(AssertUnwindSafe(read)).unwrap_or_else(|_| {
        let comment = "reading a segment panicked".to_owned();
        Err(TantivyError::DataCorruption(DataCorruption::comment_only(comment)))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn panic_becomes_an_error() {
        let error = guard::<()>(|| panic!("a damaged dictionary")).expect_err("an error");
        assert!(matches!(error, TantivyError::DataCorruption(_)), "{error}");
    }
}
