//! Checks that videos have what a question names, so that a question about Apollo 13 is not answered
//! with what is said about Apollo 11.

use std::collections::BTreeMap;

use text::names::{NamedSubject, NamedText, named_subjects};

use crate::answering::Answering;
use crate::answering::context::Evidence;
use crate::intervals::table::IntervalTable;
use crate::kernel::error::Result;
use crate::kernel::video::VideoId;

/// The evidence that may answer a question with names.
pub(super) struct NamedEvidence<'a> {
    /// The evidence of the videos in which every name occurs.
    pub(super) kept: Vec<&'a Evidence>,
    /// If no video has every name: the names that the first video lacks.
    pub(super) missing: Vec<String>,
}

impl Answering {
    /// Keeps the evidence of the videos in which everything that a question names is said, read, seen
    /// or part of the file name.
    pub(super) async fn keep_named<'a>(
        &self,
        question: &str,
        context: &[&'a Evidence],
    ) -> Result<NamedEvidence<'a>> {
        let mut kept = context.to_vec();
        let named = named_subjects(question);
        if named.is_empty() {
            return Ok(NamedEvidence { kept, missing: Vec::new() });
        }
        let mut videos: Vec<VideoId> = context.iter().map(|evidence| evidence.video_id).collect();
        videos.sort_unstable();
        videos.dedup();
        let tables = self.intervals.tables.read(&videos).await?;
        let entries = self.listing.summaries(&videos).await?;
        let missing: BTreeMap<VideoId, Vec<String>> = tables
            .iter()
            .map(|(id, table)| {
                let path = entries.get(id).map_or("", |entry| entry.storage_path.as_str());
                (*id, missing_names(&named, table, path))
            })
            .collect();
        let lacking = |evidence: &&Evidence| {
            missing.get(&evidence.video_id).filter(|names| !names.is_empty())
        };
        let missing = kept.iter().find_map(lacking).cloned().unwrap_or_default();
        kept.retain(|evidence| lacking(evidence).is_none());
        let missing = if kept.is_empty() { missing } else { Vec::new() };
        Ok(NamedEvidence { kept, missing })
    }
}

/// The names that do not occur in a video. `path` ends with the file name.
fn missing_names(named: &[NamedSubject], table: &IntervalTable, path: &str) -> Vec<String> {
    let mut missing: Vec<&NamedSubject> = named.iter().collect();
    let filename = path.rsplit('/').next().unwrap_or_default().replace('_', " ");
    for text in table.texts().chain([filename]) {
        if missing.is_empty() {
            break;
        }
        let text = NamedText::new(&text);
        missing.retain(|subject| !subject.occurs_in(&text));
    }
    missing.into_iter().map(|subject| subject.text.clone()).collect()
}
