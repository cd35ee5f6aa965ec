//! The tantivy schema. It stores points as documents and expresses filters as queries. It expects
//! validated input.

use std::collections::BTreeMap;
use std::ops::Bound;

use ports::index::{FieldValue, Filter, PAYLOAD_FIELDS, PayloadType, Point, PointId, Predicate};
use ports::{ChunkId, ErrorKind, PortError, Result, VideoId};
use tantivy::query::{
    AllQuery, BooleanQuery, ConstScoreQuery, EmptyQuery, Occur, PhraseQuery, Query, RangeQuery,
    TermQuery, TermSetQuery,
};
use tantivy::schema::{
    Field, IndexRecordOption, NumericOptions, STORED, Schema, TextFieldIndexing, TextOptions,
};
use tantivy::{TantivyDocument, Term};

use super::chunk_set::ChunkSetQuery;
use super::vectors;
use crate::index::check;

/// Name of the tokenizer in the stored schema.
pub(super) const TOKENIZER: &str = "words";

/// The schema and its field handles.
#[derive(Clone)]
pub(super) struct PointSchema {
    pub(super) schema: Schema,
    /// A point's id and revision as one term. A replacement deletes the old point by this term.
    key: Field,
    text: Field,
    pub(super) document: Field,
    pub(super) vectors: Field,
    pub(super) payload: BTreeMap<&'static str, Field>,
}

impl PointSchema {
    pub(super) fn new() -> Self {
        let mut schema = Schema::builder();
        let whole = || {
            TextOptions::default().set_indexing_options(
                TextFieldIndexing::default()
                    .set_tokenizer("raw")
                    .set_fieldnorms(false)
                    .set_index_option(IndexRecordOption::Basic),
            )
        };
        let key = schema.add_text_field("key", whole());
        let words = TextFieldIndexing::default()
            .set_tokenizer(TOKENIZER)
            .set_index_option(IndexRecordOption::WithFreqsAndPositions);
        let text =
            schema.add_text_field("text", TextOptions::default().set_indexing_options(words));
        let document = schema.add_bytes_field("document", STORED);
        let vectors = schema.add_custom_field("vectors", "float32_rows", serde_json::Value::Null);
        let number = || NumericOptions::default().set_indexed().set_fast();
        let payload = PAYLOAD_FIELDS.iter().map(|&(name, kind)| {
            let field = match kind {
                // Hits read their ids from these two fields.
                PayloadType::Keyword if matches!(name, "video_id" | "analyzer_id") => {
                    schema.add_text_field(name, whole().set_fast("raw"))
                }
                PayloadType::Keyword => schema.add_text_field(name, whole()),
                PayloadType::Integer => schema.add_i64_field(name, number()),
                PayloadType::Float => schema.add_f64_field(name, number()),
            };
            (name, field)
        });
        let payload = payload.collect();
        Self { schema: schema.build(), key, text, document, vectors, payload }
    }

    /// Returns the document to store for a point, and the term that identifies it.
    pub(super) fn document(&self, point: &Point) -> Result<(Term, TantivyDocument)> {
        let PointId { video_id, chunk_id, analyzer_id } = &point.id;
        let key = format!("{video_id}\0{chunk_id}\0{analyzer_id}\0{}", point.revision());
        let mut document = TantivyDocument::new();
        document.add_text(self.key, &key);
        document.add_text(self.payload["video_id"], video_id.as_str());
        document.add_i64(self.payload["chunk_id"], i64::from(*chunk_id));
        document.add_text(self.payload["analyzer_id"], analyzer_id);
        for (name, value) in &point.payload {
            let field = self.field(name)?;
            match value {
                FieldValue::Keywords(keywords) => {
                    for keyword in keywords {
                        document.add_text(field, keyword);
                    }
                }
                FieldValue::Integer(number) => document.add_i64(field, *number),
                FieldValue::Float(number) => document.add_f64(field, one_zero(*number)),
            }
        }
        document.add_text(self.text, &point.text);
        document.add_custom(self.vectors, &vectors::encode(&point.vectors));
        document.add_bytes(self.document, point.document.as_str().as_bytes());
        Ok((Term::from_field_text(self.key, &key), document))
    }

    /// Returns a query for the points that satisfy every condition.
    pub(super) fn filter(&self, filter: &Filter) -> Result<Box<dyn Query>> {
        let conditions = filter
            .0
            .iter()
            .map(|condition| self.condition(&condition.field, &condition.predicate))
            .collect::<Result<Vec<_>>>()?;
        Ok(match conditions.len() {
            0 => Box::new(AllQuery),
            _ => all_of(conditions),
        })
    }

    /// Returns a query, scored by BM25, for the points that satisfy the filter and whose text
    /// contains every phrase, or any word if there is no phrase.
    pub(super) fn text(
        &self,
        clauses: Vec<Vec<(usize, String)>>,
        filter: &Filter,
    ) -> Result<Box<dyn Query>> {
        let term = |word: &str| Term::from_field_text(self.text, word);
        let clauses = clauses.into_iter().map(|clause| -> (Occur, Box<dyn Query>) {
            match &clause[..] {
                [(_, word)] => {
                    let query = TermQuery::new(term(word), IndexRecordOption::WithFreqs);
                    (Occur::Should, Box::new(query))
                }
                _ => {
                    let words = clause.iter().map(|(at, word)| (*at, term(word))).collect();
                    (Occur::Must, Box::new(PhraseQuery::new_with_offset(words)))
                }
            }
        });
        let words: Box<dyn Query> = Box::new(BooleanQuery::new(clauses.collect()));
        if filter.0.is_empty() {
            return Ok(words);
        }
        let unscored = ConstScoreQuery::new(self.filter(filter)?, 0.0);
        Ok(all_of(vec![words, Box::new(unscored)]))
    }

    pub(super) fn field(&self, name: &str) -> Result<Field> {
        self.payload.get(name).copied().ok_or_else(|| {
            PortError::new(ErrorKind::Invalid, format!("unknown payload field `{name}`"))
        })
    }

    fn condition(&self, name: &str, test: &Predicate) -> Result<Box<dyn Query>> {
        let field = self.field(name)?;
        let integer = self.schema.get_field_entry(field).field_type().value_type()
            == tantivy::schema::Type::I64;
        Ok(match test {
            Predicate::AnyKeyword(any) => {
                any_of(any.iter().map(|keyword| Term::from_field_text(field, keyword)).collect())
            }
            Predicate::AnyVideo(any) => {
                any_of(any.iter().map(|id| Term::from_field_text(field, id.as_str())).collect())
            }
            Predicate::AnyChunk(any) if any.len() <= FEW_TERMS => {
                let of_chunk = |(video_id, chunk): &(VideoId, ChunkId)| -> (Occur, Box<dyn Query>) {
                    let video = Term::from_field_text(self.payload["video_id"], video_id.as_str());
                    let chunk = Term::from_field_i64(field, i64::from(*chunk));
                    (Occur::Should, all_of(vec![any_of(vec![video]), any_of(vec![chunk])]))
                };
                Box::new(BooleanQuery::new(any.iter().map(of_chunk).collect()))
            }
            Predicate::AnyChunk(any) => Box::new(ChunkSetQuery::new(any.clone())),
            Predicate::AnyInteger(any) => {
                any_of(any.iter().map(|number| Term::from_field_i64(field, *number)).collect())
            }
            Predicate::AtLeast(bound) if integer => match check::lowest_integer(*bound) {
                Some(lower) => at_least(Term::from_field_i64(field, lower)),
                None => Box::new(EmptyQuery),
            },
            Predicate::AtMost(bound) if integer => match check::highest_integer(*bound) {
                Some(upper) => at_most(Term::from_field_i64(field, upper)),
                None => Box::new(EmptyQuery),
            },
            Predicate::AtLeast(bound) => at_least(Term::from_field_f64(field, one_zero(*bound))),
            Predicate::AtMost(bound) => at_most(Term::from_field_f64(field, one_zero(*bound))),
        })
    }
}

/// Maximum number of terms to look up individually. More terms form a term set, for which an
/// automaton must be built first.
pub(super) const FEW_TERMS: usize = 64;

/// Returns a query for the documents that have any of these terms.
pub(super) fn any_of(mut terms: Vec<Term>) -> Box<dyn Query> {
    let one = |term| -> Box<dyn Query> { Box::new(TermQuery::new(term, IndexRecordOption::Basic)) };
    match terms.len() {
        0 => Box::new(EmptyQuery),
        1 => one(terms.remove(0)),
        2..=FEW_TERMS => Box::new(BooleanQuery::new(
            terms.into_iter().map(|t| (Occur::Should, one(t))).collect(),
        )),
        _ => Box::new(TermSetQuery::new(terms)),
    }
}

fn all_of(mut queries: Vec<Box<dyn Query>>) -> Box<dyn Query> {
    match queries.len() {
        1 => queries.remove(0),
        _ => Box::new(BooleanQuery::new(queries.into_iter().map(|q| (Occur::Must, q)).collect())),
    }
}

fn at_least(term: Term) -> Box<dyn Query> {
    Box::new(RangeQuery::new(Bound::Included(term), Bound::Unbounded))
}

fn at_most(term: Term) -> Box<dyn Query> {
    Box::new(RangeQuery::new(Bound::Unbounded, Bound::Included(term)))
}

/// Normalizes −0.0, which tantivy orders before 0.0, to 0.0.
fn one_zero(number: f64) -> f64 {
    number + 0.0
}
