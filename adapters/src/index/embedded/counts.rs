//! Counts the values of a keyword field among the matching points. It walks the term dictionaries
//! of all segments in parallel, so that only about as many values as requested are in memory. Every
//! function in this file blocks.

use ports::index::FacetQuery;
use ports::{PortError, Result};
use tantivy::schema::IndexRecordOption;
use tantivy::termdict::TermStreamer;
use tantivy::{DocSet, InvertedIndexReader, TERMINATED};

use super::failed;
use super::schema::PointSchema;
use super::selection::{filter_weight, matching_docs};
use super::snapshot::{SegmentView, Snapshot};
use crate::index::top_values::TopValues;

/// Returns the most frequent values among the matching points, with their counts.
pub(super) fn facet_counts(
    snapshot: &Snapshot,
    schema: &PointSchema,
    query: &FacetQuery,
) -> Result<Vec<(String, u64)>> {
    let field = schema.field(&query.field)?;
    let weight = filter_weight(snapshot, &*schema.filter(&query.filter)?, &query.filter)?;
    let mut segments = Vec::with_capacity(snapshot.segments.len());
    for view in &snapshot.segments {
        let counted = match &weight {
            None => CountedDocs::Alive,
            Some(weight) => {
                let mut those = vec![false; view.reader.max_doc() as usize];
                for doc in matching_docs(&**weight, view)? {
                    those[doc as usize] = true;
                }
                CountedDocs::Those(those)
            }
        };
        segments.push((view, view.reader.inverted_index(field).map_err(failed)?, counted));
    }
    let mut walks = Vec::with_capacity(segments.len());
    for (view, index, counted) in &segments {
        let mut terms = index.terms().stream().map_err(PortError::from)?;
        if terms.advance() {
            walks.push(Walk { terms, view, index, counted });
        }
    }
    let mut top_values = TopValues::new(query);
    while let Some(smallest) = walks.iter().map(|walk| walk.terms.key()).min().map(<[u8]>::to_vec) {
        let value = String::from_utf8_lossy(&smallest);
        let is_match = top_values.has_prefix(&value);
        let mut points = 0;
        let mut left = Vec::with_capacity(walks.len());
        for mut walk in walks {
            let mut more = true;
            if walk.terms.key() == smallest {
                points += if is_match { walk.points()? } else { 0 };
                more = walk.terms.advance();
            }
            if more {
                left.push(walk);
            }
        }
        walks = left;
        top_values.add(&value, points);
    }
    Ok(top_values.into_values())
}

/// Which points of a segment to count.
enum CountedDocs {
    Alive,
    Those(Vec<bool>),
}

/// A cursor in the term dictionary of a segment.
struct Walk<'a> {
    terms: TermStreamer<'a>,
    view: &'a SegmentView,
    index: &'a InvertedIndexReader,
    counted: &'a CountedDocs,
}

impl Walk<'_> {
    /// Returns the number of counted points that have the current value.
    fn points(&self) -> Result<u64> {
        let term = self.terms.value();
        if matches!(self.counted, CountedDocs::Alive) && self.view.reader.alive_bitset().is_none() {
            return Ok(term.doc_freq.into());
        }
        let postings = self.index.read_postings_from_terminfo(term, IndexRecordOption::Basic);
        let mut postings = postings.map_err(PortError::from)?;
        let (mut points, mut doc) = (0, postings.doc());
        while doc != TERMINATED {
            points += u64::from(match self.counted {
                CountedDocs::Alive => self.view.is_alive(doc),
                CountedDocs::Those(those) => those[doc as usize],
            });
            doc = postings.advance();
        }
        Ok(points)
    }
}
