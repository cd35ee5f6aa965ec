//! A recogniser that finds scripted names, for tests of the domain.

use std::sync::atomic::{AtomicUsize, Ordering};

use async_trait::async_trait;
use ports::{
    Result,
    ner::{EntityRecognizer, EntitySpan},
};

/// A recogniser that finds the scripted names by exact match and counts the calls.
pub struct ScriptedEntities {
    names: Vec<(String, String)>,
    labels: Vec<String>,
    calls: AtomicUsize,
}

impl ScriptedEntities {
    /// Creates a recogniser. `names` are pairs of a non-empty name and its label. If two names
    /// begin at the same position, the longer one matches.
    pub fn new(names: &[(&str, &str)]) -> Self {
        let mut names: Vec<(String, String)> =
            names.iter().map(|(n, l)| (n.to_string(), l.to_string())).collect();
        names.sort_by_key(|(name, _)| std::cmp::Reverse(name.len()));
        let mut labels: Vec<String> = names.iter().map(|(_, l)| l.clone()).collect();
        labels.sort_unstable();
        labels.dedup();
        Self { names, labels, calls: AtomicUsize::new(0) }
    }

    /// Returns the number of calls of [`EntityRecognizer::recognize`] so far.
    pub fn calls(&self) -> usize {
        self.calls.load(Ordering::Relaxed)
    }

    fn spans(&self, text: &str) -> Vec<EntitySpan> {
        let mut spans = Vec::new();
        let mut at = 0;
        while let Some(first) = text[at..].chars().next() {
            let found = self.names.iter().find(|(name, _)| text[at..].starts_with(name.as_str()));
            at += match found {
                Some((name, label)) => {
                    let range = at..at + name.len();
                    spans.push(EntitySpan { range, label: label.clone(), confidence: 1.0 });
                    name.len()
                }
                None => first.len_utf8(),
            };
        }
        spans
    }
}

#[async_trait]
impl EntityRecognizer for ScriptedEntities {
    fn model(&self) -> &str {
        "scripted"
    }

    fn labels(&self) -> &[String] {
        &self.labels
    }

    async fn recognize(&self, texts: &[String]) -> Result<Vec<Vec<EntitySpan>>> {
        self.calls.fetch_add(1, Ordering::Relaxed);
        Ok(texts.iter().map(|text| self.spans(text)).collect())
    }
}
