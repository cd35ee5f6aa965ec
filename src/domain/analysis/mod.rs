//! The [`Analyzer`] trait and the list of analyzers.
//!
//! To add an analyzer, write its file in `analyzers` and add it to [`ANALYZERS`]. Search, answers,
//! exports and the UI read everything else from the analyzer's [`AnalyzerSpec`].

pub mod analyzers;
pub mod certainty;
pub mod chunk_text;
pub mod correction;
pub mod evidence;
pub mod extraction;
pub mod facets;
pub mod frame_batches;
pub mod output;
pub mod presentation;
pub(crate) mod prose;
pub(crate) mod tracks;
pub(crate) mod utterances;
pub mod video;
pub(crate) mod views;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::Deref;
use std::sync::Arc;

use async_trait::async_trait;
use parking_lot::RwLock;
use serde_json::Value;

use crate::analysis::video::Output;
use crate::kernel::error::{Error, Result};
use crate::kernel::names::comma_separated;
use crate::kernel::ports::Models;
use analyzers::{default_video, diarization, object_detection, ocr, people, transcript};
use evidence::ChunkEvidence;
use extraction::Extractor;
use facets::{Display, Facets};
use output::UnknownOutput;
use presentation::Presentation;
use views::MAX_VIEWS;

/// The static properties of an analyzer.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AnalyzerSpec<'a> {
    /// The id used in requests and stored records.
    pub id: &'a str,
    /// The group, if any; at most one analyzer per group may be selected.
    pub group: Option<&'static str>,
    /// What it finds, in one phrase.
    pub description: &'a str,
    /// The rank of the output as evidence for a question; lowest first. The built-in analyzers have
    /// 0 to 5, extractors have 50.
    pub evidence_rank: u8,
    /// The rank of the output when the statements about one chunk are merged; lowest first.
    pub statement_rank: u8,
    /// The style of the text that is embedded for its whole record.
    pub style: TextStyle,
    /// The table columns that show its output.
    pub columns: &'a [Column],
    /// The filterable payload fields of its points: any of `objects`, `tags`, `speakers`, `people`
    /// and `people_count`, copied from the output's [`Facets`].
    pub filter_fields: &'static [&'static str],
    /// The name on a page, in English.
    pub label: &'a str,
    /// How a page shows its output.
    pub presentation: Presentation,
}

/// The style of an embedded text. Similarity scores are comparable only within one style.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum TextStyle {
    /// Sentences that describe a scene.
    Prose,
    /// Recognized speech.
    Speech,
    /// Text recognized in the picture.
    Screen,
    /// Names of things.
    Objects,
    /// Descriptions of people.
    People,
    /// Actions.
    Actions,
}

impl TextStyle {
    /// The style of `field` for an analyzer whose whole record has the style `whole`.
    pub(crate) fn for_field(field: &str, whole: Self) -> Self {
        match field {
            "people" => Self::People,
            "actions" => Self::Actions,
            "objects" => Self::Objects,
            _ => whole,
        }
    }
}

/// A column of the chunk table in exports.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Column {
    /// The heading.
    pub name: Cow<'static, str>,
    /// The position among the columns of all analyzers; lowest first.
    pub rank: u8,
}

impl Column {
    /// A column of a built-in analyzer.
    pub const fn new(name: &'static str, rank: u8) -> Self {
        Self { name: Cow::Borrowed(name), rank }
    }
}

/// Computes an output for each chunk and derives the searchable record from it.
#[async_trait]
pub trait Analyzer: Send + Sync {
    /// The static properties.
    fn spec(&self) -> AnalyzerSpec<'_>;

    /// Returns the reason and the remedy if the analyzer cannot run with these models.
    fn unavailable(&self, models: &Models) -> Option<String>;

    /// Identifies the models, the prompt and the code version. Output with a different fingerprint
    /// is out of date.
    fn fingerprint(&self, models: &Models) -> String;

    /// Whether to cache each chunk's output so that it survives a crash: true if a chunk costs
    /// money or takes more than about a second.
    fn cacheable(&self, models: &Models) -> bool;

    /// Whether analyzing a chunk makes billed calls to the language model.
    fn bills_model(&self, _models: &Models) -> bool {
        false
    }

    /// Whether it requires speech recognition.
    fn needs_speech(&self) -> bool {
        false
    }

    /// Whether its output quotes recognized speech. If so, output computed without speech is not
    /// reused once the speech is available.
    fn quotes_speech(&self, _models: &Models) -> bool {
        false
    }

    /// Whether a chunk that looks like the previous chunk reuses that chunk's output.
    fn reuses_repeats(&self, _models: &Models) -> bool {
        false
    }

    /// Computes the output for one chunk. Returns `None` if the analyzer finds nothing.
    async fn analyze(&self, models: &Models, chunk: &ChunkEvidence) -> Result<Option<Output>>;

    /// The JSON schema of its output for a chunk, usually generated from the output type by
    /// [`json_schema`](crate::kernel::schema::json_schema).
    fn schema(&self) -> Value;

    /// Deserializes a stored output, usually with [`output::read`].
    fn read(&self, stored: Value) -> Result<Output>;
}

/// The searchable part of an output.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct IndexEntry {
    /// The text to embed for each vector field; fields without text are absent.
    pub fields: BTreeMap<&'static str, String>,
    /// The labels of the chunk, for search filters.
    pub facets: Facets,
    /// What a hit shows.
    pub display: Display,
}

/// All built-in analyzers, whether their models are available or not.
pub const ANALYZERS: &[&dyn Analyzer] = &[
    &default_video::DefaultVideoAnalyzer,
    &diarization::DiarizationAnalyzer,
    &object_detection::ObjectDetectionAnalyzer,
    &ocr::OcrAnalyzer,
    &people::PeopleAnalyzer,
    &transcript::TranscriptAnalyzer,
];

/// The analyzer that is used if a request names none.
pub const DEFAULT_ANALYZER: &str = default_video::ID;

/// The group of analyzers that present the same speech; at most one may be selected.
pub(crate) const SPEECH_GROUP: &str = "speech";

/// The vector field that covers an analyzer's whole output.
pub const COMBINED: &str = "combined";

/// The vector fields of texts, in the order in which the API lists them, each with a description.
pub const VECTOR_FIELDS: &[(&str, &str)] = &[
    (COMBINED, "whole flattened record (default)"),
    ("description", "prose summary only"),
    ("people", "person descriptions only"),
    ("actions", "actions and what objects are used for"),
    ("objects", "object names only"),
];

/// The vector field of the frames, which needs an image embedder.
pub const VISUAL: &str = "visual";

/// What [`VISUAL`] contains, as the API describes it.
pub const VISUAL_DESCRIPTION: &str = "the picture itself, compared with a text or a picture";

/// The fields in which the index stores the vectors of [`VISUAL`], one for each frame of a chunk.
pub const VISUAL_FRAMES: [&str; MAX_VIEWS] = [VISUAL, "visual_2", "visual_3"];

/// A built-in or user-defined analyzer.
#[derive(Clone)]
pub enum AnalyzerRef {
    /// A built-in analyzer.
    BuiltIn(&'static dyn Analyzer),
    /// A user-defined extractor.
    Extractor(Arc<Extractor>),
}

impl Deref for AnalyzerRef {
    type Target = dyn Analyzer;

    fn deref(&self) -> &Self::Target {
        match self {
            Self::BuiltIn(analyzer) => *analyzer,
            Self::Extractor(extractor) => &**extractor,
        }
    }
}

/// The registry of analyzers: the built-in ones and the currently defined extractors.
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
    /// Adds an analyzer.
    #[must_use]
    pub fn with(mut self, analyzer: &'static dyn Analyzer) -> Self {
        self.built_in.push(analyzer);
        self
    }

    /// Replaces all user-defined extractors.
    pub(crate) fn set_extractors(&self, extractors: Vec<Arc<Extractor>>) {
        *self.extractors.write() = extractors;
    }

    /// Whether `id` belongs to a built-in analyzer.
    pub(crate) fn is_built_in(&self, id: &str) -> bool {
        self.built_in.iter().any(|analyzer| analyzer.spec().id == id)
    }

    /// All analyzers, whether their models are available or not.
    pub fn all(&self) -> Vec<AnalyzerRef> {
        let extractors = self.extractors.read();
        let extractors = extractors.iter().cloned().map(AnalyzerRef::Extractor);
        self.built_in.iter().copied().map(AnalyzerRef::BuiltIn).chain(extractors).collect()
    }

    /// The ids of the analyzers that cannot run with these models, each with the reason.
    pub fn unavailable(&self, models: &Models) -> Vec<(String, String)> {
        let reason = |a: &AnalyzerRef| Some((a.spec().id.to_owned(), a.unavailable(models)?));
        self.all().iter().filter_map(reason).collect()
    }

    /// The analyzers whose models are available, sorted by id.
    pub fn registered(&self, models: &Models) -> Vec<AnalyzerRef> {
        let mut available = self.all();
        available.retain(|a| a.unavailable(models).is_none());
        available.sort_by(|a, b| a.spec().id.cmp(b.spec().id));
        available
    }

    /// The ids of the analyzers that [`Self::registered`] returns.
    pub fn ids(&self, models: &Models) -> Vec<String> {
        self.registered(models).iter().map(|a| a.spec().id.to_owned()).collect()
    }

    /// The groups of mutually exclusive registered analyzers.
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

    /// The analyzer with this id, whether its models are available or not.
    pub fn get(&self, id: &str) -> Option<AnalyzerRef> {
        if let Some(analyzer) = self.built_in.iter().find(|a| a.spec().id == id) {
            return Some(AnalyzerRef::BuiltIn(*analyzer));
        }
        let extractors = self.extractors.read();
        extractors.iter().find(|e| e.spec().id == id).cloned().map(AnalyzerRef::Extractor)
    }

    /// Checks that an analyzer has this id. If none has, the `Invalid` error lists all ids.
    pub fn check(&self, id: &str) -> Result<()> {
        if self.get(id).is_some() {
            return Ok(());
        }
        let all = self.all();
        let ids: Vec<&str> = all.iter().map(|analyzer| analyzer.spec().id).collect();
        Err(Error::Invalid(format!(
            "unknown analyzer '{id}'; available: {}",
            comma_separated(&ids)
        )))
    }

    /// Finds the registered analyzer with this id. If there is none, the `Invalid` error lists the
    /// registered ids.
    pub fn find(&self, models: &Models, id: &str) -> Result<AnalyzerRef> {
        let registered = self.get(id).filter(|a| a.unavailable(models).is_none());
        registered.ok_or_else(|| {
            let ids = self.ids(models);
            Error::Invalid(format!("unknown analyzer '{id}'; available: {}", comma_separated(&ids)))
        })
    }

    /// Parses a comma-separated selection; keeps its order and drops duplicates.
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
                comma_separated(&self.ids(models))
            )));
        }
        for group in self.exclusive_groups(models) {
            let chosen: Vec<_> =
                group.iter().filter(|id| selected.iter().any(|a| a.spec().id == **id)).collect();
            if chosen.len() > 1 {
                return Err(Error::Invalid(format!(
                    "the analyzers {} are mutually exclusive; select one of them",
                    comma_separated(&chosen)
                )));
            }
        }
        Ok(selected)
    }

    /// Sorts ids by [`AnalyzerSpec::evidence_rank`]; drops unknown ones.
    pub fn by_evidence_rank<'a>(&self, ids: impl Iterator<Item = &'a String>) -> Vec<&'a str> {
        self.ranked(ids, |spec| spec.evidence_rank)
    }

    /// Sorts ids by [`AnalyzerSpec::statement_rank`]; drops unknown ones.
    pub fn by_statement_rank<'a>(&self, ids: impl Iterator<Item = &'a String>) -> Vec<&'a str> {
        self.ranked(ids, |spec| spec.statement_rank)
    }

    fn ranked<'a>(
        &self,
        ids: impl Iterator<Item = &'a String>,
        rank: fn(&AnalyzerSpec<'_>) -> u8,
    ) -> Vec<&'a str> {
        let with_rank = |id: &'a String| Some((rank(&self.get(id)?.spec()), id.as_str()));
        let mut ranked: Vec<(u8, &str)> = ids.filter_map(with_rank).collect();
        ranked.sort_unstable();
        ranked.into_iter().map(|(_, id)| id).collect()
    }

    /// Deserializes a stored output; the output of an unknown analyzer becomes [`UnknownOutput`].
    pub fn read(&self, id: &str, stored: Value) -> Result<Output> {
        match self.get(id) {
            Some(analyzer) => analyzer.read(stored),
            None => output::read::<UnknownOutput>(stored),
        }
    }
}

/// The cache key of an analyzer's outputs: its fingerprint and, if it quotes speech, the name of
/// the speech recognizer.
pub(crate) fn cache_key(
    analyzer: &dyn Analyzer,
    models: &Models,
    recognizer: Option<&str>,
) -> String {
    let fingerprint = analyzer.fingerprint(models);
    match recognizer.filter(|_| analyzer.quotes_speech(models)) {
        Some(recognizer) => format!("{fingerprint}/{recognizer}"),
        None => fingerprint,
    }
}

/// Returns the reason and the remedy if voice activity cannot be detected.
pub(crate) fn missing_vad(models: &Models) -> Option<String> {
    let reason = "nothing finds speech; set vad.kind to \"auto\"";
    models.vad.is_none().then(|| reason.into())
}

/// The names of the diarization models, or `None` if one is missing.
pub(crate) fn speaker_models(models: &Models) -> Option<String> {
    let (segmentation, embedder) =
        (models.speaker_segmentation.as_ref()?, models.speaker_embedder.as_ref()?);
    Some(format!("{}+{}", segmentation.model(), embedder.model()))
}

/// Returns the reason and the remedy if speech cannot be recognized.
pub(crate) fn missing_transcriber(models: &Models) -> Option<String> {
    let reason =
        "no speech recogniser; `shotlog models --fetch` gets one or says how (transcriber.kind)";
    missing_vad(models).or_else(|| models.transcriber.is_none().then(|| reason.into()))
}

/// The names of the models that detect objects and verify their labels; `None` if there is no
/// detector.
pub(crate) fn object_models(models: &Models) -> Option<String> {
    let detector = models.detector.as_ref()?.model();
    Some(match &models.classifier {
        Some(classifier) => format!("{detector}+{}", classifier.model()),
        None => detector.to_owned(),
    })
}

/// Returns the reason and the remedy if objects cannot be detected.
pub(crate) fn missing_detector(models: &Models) -> Option<String> {
    let reason =
        "no object detector; `shotlog models --fetch` gets one or says how (detector.kind)";
    models.detector.is_none().then(|| reason.into())
}

/// The names of the models that recognize speech.
pub(crate) fn speech_models(models: &Models) -> String {
    let activity = models.vad.as_ref().map_or("none", |v| v.model());
    let transcriber = models.transcriber.as_ref().map_or("none", |t| t.model());
    format!("{activity}/{transcriber}")
}
