//! Checks that videos have what a question names, so that a question about Apollo 13 is not answered
//! with what is said about Apollo 11.

use std::collections::HashMap;

use text::names::{NamedSubject, NamedText, named_subjects};

use crate::answering::Answering;
use crate::answering::answer::attributed::keep_attributed;
use crate::answering::context::Evidence;
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
    /// or part of the file name, and of it only the words of the speaker whose words the question asks
    /// for. The stored intervals are read for the first of the videos that lack a name in their
    /// evidence; the others lack it.
    pub(super) async fn keep_named<'a>(
        &self,
        question: &str,
        context: &[&'a Evidence],
    ) -> Result<NamedEvidence<'a>> {
        let mut kept = keep_attributed(question, context);
        let named = named_subjects(question);
        if named.is_empty() {
            return Ok(NamedEvidence { kept, missing: Vec::new() });
        }
        let mut texts: HashMap<VideoId, Vec<&str>> = HashMap::new();
        let mut videos: Vec<VideoId> = Vec::new();
        for evidence in context {
            let of_video = texts.entry(evidence.video_id).or_default();
            if of_video.is_empty() {
                videos.push(evidence.video_id);
            }
            of_video
                .extend(evidence.speaker.as_deref().into_iter().chain([evidence.text.as_str()]));
        }
        let entries = self.listing.summaries(&videos).await?;
        let filename = |id: &VideoId| {
            let path = entries.get(id).map_or("", |entry| entry.storage_path.as_str());
            path.rsplit('/').next().unwrap_or_default().replace('_', " ")
        };
        let mut missing: HashMap<VideoId, Vec<NamedSubject>> = videos
            .iter()
            .map(|id| {
                let texts = texts.remove(id).unwrap_or_default().into_iter().map(str::to_owned);
                (*id, missing_names(&named, texts.chain([filename(id)])))
            })
            .collect();
        let lacking = videos.iter().filter(|id| !missing[*id].is_empty()).copied();
        let read: Vec<VideoId> = lacking.take(self.max_consulted_videos()).collect();
        for (id, table) in self.intervals.tables.read(&read).await? {
            let left = missing.remove(&id).unwrap_or_default();
            missing.insert(id, missing_names(&left, table.texts()));
        }
        kept.retain(|evidence| missing[&evidence.video_id].is_empty());
        let first = videos.first().and_then(|id| missing.remove(id)).filter(|_| kept.is_empty());
        let missing = first.into_iter().flatten().map(|subject| subject.text).collect();
        Ok(NamedEvidence { kept, missing })
    }
}

/// The names that occur in none of the texts.
fn missing_names(named: &[NamedSubject], texts: impl Iterator<Item = String>) -> Vec<NamedSubject> {
    let mut missing = named.to_vec();
    for text in texts {
        if missing.is_empty() {
            break;
        }
        let text = NamedText::new(&text);
        missing.retain(|subject| !subject.occurs_in(&text));
    }
    missing
}
