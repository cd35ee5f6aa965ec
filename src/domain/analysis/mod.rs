//! The analyzers: what each declares of itself, and the list.
//!
//! To add one, write its file in `analyzers` and name it in [`ANALYZERS`]: everything that shows,
//! searches or cites an output reads what the file declares.

pub mod analyzers;
pub mod certainty;
pub mod chunk_text;
pub mod correction;
pub mod evidence;
pub mod extraction;
pub mod finding;
pub mod hit;
pub(crate) mod prose;
pub(crate) mod spoken;
pub mod video;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::Deref;
use std::sync::{Arc, PoisonError, RwLock};

use async_trait::async_trait;
use serde_json::Value;

use crate::domain::analysis::hit::HitDocument;
use crate::domain::analysis::video::Output;
use crate::domain::kernel::error::{Error, Result};
use crate::domain::kernel::names::listed;
use crate::domain::kernel::ports::Models;
use analyzers::{default_video, diarization, object_detection, ocr, people, transcript};
use evidence::ChunkEvidence;
use extraction::Extractor;
use finding::{Statement, Unknown};

/// What is fixed about an analyzer.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AnalyzerSpec<'a> {
    /// What requests and stored records call it.
    pub id: &'a str,
    /// At most one analyzer of a group may be selected.
    pub group: Option<&'static str>,
    /// What it does, in a sentence.
    pub description: &'a str,
    /// Its place among those whose chunks are evidence for a question, lowest first.
    pub evidence_rank: u8,
    /// Its place among those that tell of one chunk, lowest first.
    pub telling_rank: u8,
    /// What the text of its whole record is like.
    pub style: TextStyle,
    /// The columns of its output in tables.
    pub columns: &'a [Column],
    /// The payload fields that its points have, of those that searches filter by: `objects`, `tags`,
    /// `speakers`, `people` and `people_count`, which are taken from what a hit shows.
    pub filtered_by: &'static [&'static str],
}

/// What a text that is embedded is like: texts of one kind score alike, those of another differently.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum TextStyle {
    /// Sentences about what is seen and what happens.
    Prose,
    /// What somebody says.
    Speech,
    /// Lines read off the picture.
    Screen,
    /// Names of things.
    Objects,
    /// What people look like.
    People,
    /// What is done.
    Actions,
}

impl TextStyle {
    /// What a vector field holds of an analyzer whose whole record is like `whole`.
    pub(crate) fn of_field(field: &str, whole: Self) -> Self {
        match field {
            "people" => Self::People,
            "actions" => Self::Actions,
            "objects" => Self::Objects,
            _ => whole,
        }
    }
}

/// A column of a table of chunks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Column {
    /// Its heading.
    pub name: Cow<'static, str>,
    /// Its place among the columns of all analyzers, lowest first.
    pub rank: u8,
}

impl Column {
    /// Of an analyzer that is compiled in.
    pub const fn new(name: &'static str, rank: u8) -> Self {
        Self { name: Cow::Borrowed(name), rank }
    }
}

/// Turns a chunk into stored output and that output into what is searched.
#[async_trait]
pub trait Analyzer: Send + Sync {
    /// What is fixed about it.
    fn spec(&self) -> AnalyzerSpec<'_>;

    /// Why it cannot work with these models and what would help; `None` when it can.
    fn unavailable(&self, models: &Models) -> Option<String>;

    /// Model and prompt version: output with another fingerprint is out of date.
    fn fingerprint(&self, models: &Models) -> String;

    /// Whether a chunk's output is worth keeping against a crash, that is, whether it costs money
    /// or more than about a second.
    fn cacheable(&self, models: &Models) -> bool;

    /// Whether a chunk takes billed calls of the language model.
    fn bills_model(&self, _models: &Models) -> bool {
        false
    }

    /// Whether it needs the words of the video.
    fn needs_speech(&self) -> bool {
        false
    }

    /// Whether it quotes what is said where the words are known, and does without where they are
    /// not: what it then tells is not kept for when they are.
    fn quotes_speech(&self, _models: &Models) -> bool {
        false
    }

    /// Whether a chunk that looks like the one before takes over its output.
    fn reuses_repeats(&self, _models: &Models) -> bool {
        false
    }

    /// Output for one chunk, or `None` where there is nothing to say.
    async fn analyze(&self, models: &Models, chunk: &ChunkEvidence) -> Result<Option<Output>>;

    /// The JSON schema of its output on a chunk, mostly
    /// [`schema_of`](crate::domain::kernel::schema::schema_of) the type.
    fn schema(&self) -> Value;

    /// An output of its own as it was stored, mostly [`finding::read`] of the type.
    fn read(&self, stored: Value) -> Result<Output>;

    /// What a hit on its output tells.
    fn tells(&self, hit: &HitDocument) -> Vec<Statement>;

    /// The text that was embedded for a vector field, of a hit on its output.
    fn embedded(&self, field: &str, hit: &HitDocument) -> String {
        match field {
            "description" => hit.description.clone(),
            "people" => hit.people.join(". "),
            "actions" => hit.actions.join(". "),
            "objects" => hit.objects.join(", "),
            _ => hit.text.clone(),
        }
    }
}

/// The searchable side of an output.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Indexed {
    /// Text to embed by vector field; a field without evidence is absent.
    pub fields: BTreeMap<&'static str, String>,
    /// What a hit returns. Times and `text` are filled in by the caller.
    pub document: HitDocument,
}

/// Every analyzer this service has, whether its models are there or not.
pub const ANALYZERS: &[&dyn Analyzer] = &[
    &default_video::DefaultVideo,
    &diarization::Diarization,
    &object_detection::ObjectDetection,
    &ocr::Ocr,
    &people::People,
    &transcript::Transcript,
];

/// The group of analyzers that present the same speech.
pub(crate) const SPEECH: &str = "speech";

/// The vector fields in contract order with what each embeds.
pub const VECTOR_FIELDS: &[(&str, &str)] = &[
    ("combined", "whole flattened record (default)"),
    ("description", "prose summary only"),
    ("people", "person descriptions only"),
    ("actions", "actions and what objects are used for"),
    ("objects", "object names only"),
];

/// An analyzer of an install.
#[derive(Clone)]
pub enum AnalyzerRef {
    /// One that is compiled in.
    BuiltIn(&'static dyn Analyzer),
    /// One that users have defined.
    Own(Arc<Extractor>),
}

impl Deref for AnalyzerRef {
    type Target = dyn Analyzer;

    fn deref(&self) -> &Self::Target {
        match self {
            Self::BuiltIn(analyzer) => *analyzer,
            Self::Own(extractor) => &**extractor,
        }
    }
}

/// The analyzers of an install: those that are compiled in, and the extractors as they are defined at
/// this time.
#[derive(Clone)]
pub struct Analyzers {
    built_in: Vec<&'static dyn Analyzer>,
    extractors: Arc<RwLock<Vec<Arc<Extractor>>>>,
}

impl Default for Analyzers {
    fn default() -> Self {
        Self { built_in: ANALYZERS.to_vec(), extractors: Arc::default() }
    }
}

impl Analyzers {
    /// These and one more.
    #[must_use]
    pub fn and(mut self, analyzer: &'static dyn Analyzer) -> Self {
        self.built_in.push(analyzer);
        self
    }

    /// Takes these extractors for those that are defined.
    pub(crate) fn define(&self, extractors: Vec<Arc<Extractor>>) {
        *self.extractors.write().unwrap_or_else(PoisonError::into_inner) = extractors;
    }

    /// Whether an analyzer of that id is compiled in.
    pub(crate) fn is_built_in(&self, id: &str) -> bool {
        self.built_in.iter().any(|analyzer| analyzer.spec().id == id)
    }

    /// All of them, whether their models are there or not.
    pub fn all(&self) -> Vec<AnalyzerRef> {
        let extractors = self.extractors.read().unwrap_or_else(PoisonError::into_inner);
        let own = extractors.iter().cloned().map(AnalyzerRef::Own);
        self.built_in.iter().copied().map(AnalyzerRef::BuiltIn).chain(own).collect()
    }

    /// Each with why it cannot work with these models, if it cannot.
    pub fn unavailable(&self, models: &Models) -> Vec<(String, String)> {
        let why = |a: &AnalyzerRef| Some((a.spec().id.to_owned(), a.unavailable(models)?));
        self.all().iter().filter_map(why).collect()
    }

    /// Those whose models are there, in alphabetical order of their ids.
    pub fn registered(&self, models: &Models) -> Vec<AnalyzerRef> {
        let mut present = self.all();
        present.retain(|a| a.unavailable(models).is_none());
        present.sort_by(|a, b| a.spec().id.cmp(b.spec().id));
        present
    }

    /// Ids of [`Self::registered`].
    pub fn ids(&self, models: &Models) -> Vec<String> {
        self.registered(models).iter().map(|a| a.spec().id.to_owned()).collect()
    }

    /// The groups of registered analyzers of which at most one may be selected.
    pub fn exclusive_groups(&self, models: &Models) -> Vec<Vec<String>> {
        let mut groups: BTreeMap<&str, Vec<String>> = BTreeMap::new();
        for analyzer in self.registered(models) {
            let spec = analyzer.spec();
            if let Some(group) = spec.group {
                groups.entry(group).or_default().push(spec.id.to_owned());
            }
        }
        groups.into_values().filter(|members| members.len() > 1).collect()
    }

    /// The analyzer of that id, whether its models are there or not.
    pub fn known(&self, id: &str) -> Option<AnalyzerRef> {
        if let Some(analyzer) = self.built_in.iter().find(|a| a.spec().id == id) {
            return Some(AnalyzerRef::BuiltIn(*analyzer));
        }
        let extractors = self.extractors.read().unwrap_or_else(PoisonError::into_inner);
        extractors.iter().find(|e| e.spec().id == id).cloned().map(AnalyzerRef::Own)
    }

    /// `Invalid`, with what there is, unless there is an analyzer of that id, its models or not.
    pub fn check(&self, id: &str) -> Result<()> {
        if self.known(id).is_some() {
            return Ok(());
        }
        let all = self.all();
        let ids: Vec<&str> = all.iter().map(|analyzer| analyzer.spec().id).collect();
        Err(Error::Invalid(format!("unknown analyzer '{id}'; available: {}", listed(&ids))))
    }

    /// The registered analyzer of that id; `Invalid` lists what there is.
    pub fn find(&self, models: &Models, id: &str) -> Result<AnalyzerRef> {
        let registered = self.known(id).filter(|a| a.unavailable(models).is_none());
        registered.ok_or_else(|| {
            let ids = self.ids(models);
            Error::Invalid(format!("unknown analyzer '{id}'; available: {}", listed(&ids)))
        })
    }

    /// The analyzers of a comma-separated selection, in the order given, without repetitions.
    pub fn select(&self, models: &Models, selection: &str) -> Result<Vec<AnalyzerRef>> {
        let mut selected: Vec<AnalyzerRef> = Vec::new();
        for id in selection.split(',').map(str::trim).filter(|id| !id.is_empty()) {
            let analyzer = self.find(models, id)?;
            if !selected.iter().any(|a| a.spec().id == id) {
                selected.push(analyzer);
            }
        }
        if selected.is_empty() {
            return Err(Error::Invalid(format!(
                "no analyzer selected; available: {}",
                listed(&self.ids(models))
            )));
        }
        for group in self.exclusive_groups(models) {
            let chosen: Vec<_> =
                group.iter().filter(|id| selected.iter().any(|a| a.spec().id == **id)).collect();
            if chosen.len() > 1 {
                return Err(Error::Invalid(format!(
                    "the analyzers {} are mutually exclusive; select one of them",
                    listed(&chosen)
                )));
            }
        }
        Ok(selected)
    }

    /// The ids of those that have output, the best evidence for a question first.
    pub fn by_evidence<'a>(&self, present: impl Iterator<Item = &'a String>) -> Vec<&'a str> {
        self.ranked(present, |spec| spec.evidence_rank)
    }

    /// The ids of those that have output, in the order in which they tell of a chunk.
    pub fn by_telling<'a>(&self, present: impl Iterator<Item = &'a String>) -> Vec<&'a str> {
        self.ranked(present, |spec| spec.telling_rank)
    }

    fn ranked<'a>(
        &self,
        present: impl Iterator<Item = &'a String>,
        rank: fn(&AnalyzerSpec<'_>) -> u8,
    ) -> Vec<&'a str> {
        let known = |id: &'a String| Some((rank(&self.known(id)?.spec()), id.as_str()));
        let mut ranked: Vec<(u8, &str)> = present.filter_map(known).collect();
        ranked.sort_unstable();
        ranked.into_iter().map(|(_, id)| id).collect()
    }

    /// A stored output; one of an analyzer that this install does not have is kept as it is.
    pub fn read(&self, id: &str, stored: Value) -> Result<Output> {
        match self.known(id) {
            Some(analyzer) => analyzer.read(stored),
            None => finding::read::<Unknown>(stored),
        }
    }
}

/// What an output is kept as against a crash: the fingerprint and, where it quotes what is said, the
/// recogniser of the words that are known.
pub(crate) fn kept_as(analyzer: &dyn Analyzer, models: &Models, words: Option<&str>) -> String {
    let fingerprint = analyzer.fingerprint(models);
    match words.filter(|_| analyzer.quotes_speech(models)) {
        Some(recogniser) => format!("{fingerprint}/{recogniser}"),
        None => fingerprint,
    }
}

/// Why speech is not found, and what would help.
pub(crate) fn no_voices(models: &Models) -> Option<String> {
    let without = "nothing finds speech; set vad.kind to \"auto\"";
    models.vad.is_none().then(|| without.into())
}

/// The models that tell speakers apart, `None` where one is missing.
pub(crate) fn speaker_models(models: &Models) -> Option<String> {
    let (segmentation, embedder) =
        (models.speaker_segmentation.as_ref()?, models.speaker_embedder.as_ref()?);
    Some(format!("{}+{}", segmentation.model(), embedder.model()))
}

/// Why there are no words, and what would help.
pub(crate) fn no_words(models: &Models) -> Option<String> {
    let without =
        "no speech recogniser; `shotlog models --fetch` gets one or says how (transcriber.kind)";
    no_voices(models).or_else(|| models.transcriber.is_none().then(|| without.into()))
}

/// Why no objects are found, and what would help.
pub(crate) fn no_detector(models: &Models) -> Option<String> {
    let without =
        "no object detector; `shotlog models --fetch` gets one or says how (detector.kind)";
    models.detector.is_none().then(|| without.into())
}

/// The models that words and their times are from.
pub(crate) fn heard_by(models: &Models) -> String {
    let activity = models.vad.as_ref().map_or("none", |v| v.model());
    let transcriber = models.transcriber.as_ref().map_or("none", |t| t.model());
    format!("{activity}/{transcriber}")
}
