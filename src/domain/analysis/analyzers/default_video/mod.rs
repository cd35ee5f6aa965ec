//! `default_video`: describes what a chunk shows, using a vision model if one is configured,
//! otherwise by combining screen text, speech and detected objects.

mod compose;
pub(crate) mod decompose;
mod objects;
mod picture;
mod seen;
mod voices;

use std::collections::BTreeMap;
use std::sync::Arc;

use async_trait::async_trait;
use ports::llm::{Description, Passage, PassageKind, VideoSpan};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::analysis::certainty::Certainty;
use crate::analysis::correction::CorrectionSet;
use crate::analysis::evidence::ChunkEvidence;
use crate::analysis::facets::{Display, Facets};
use crate::analysis::output::{AnalyzerOutput, DescriptionPart, OutputRecord, Statement, read};
use crate::analysis::presentation::{OutputKind, Presentation};
use crate::analysis::video::Output;
use crate::analysis::views::ImageVectors;
use crate::analysis::{
    Analyzer, AnalyzerSpec, Column, IndexEntry, TextStyle, object_models, speech_models,
};
use crate::kernel::error::Result;
use crate::kernel::ports::Models;
use crate::kernel::schema::json_schema;
use crate::kernel::time::Span;
use crate::llm::structured::{Prompt, StructuredOutput};
use crate::media::picture::jpeg;
pub(crate) use compose::inventory;
pub(crate) use objects::is_implied;
use seen::SeenLabel;

/// The id used in requests and stored records.
pub(crate) const ID: &str = "default_video";

/// The `default_video` analyzer.
pub(crate) struct DefaultVideoAnalyzer;

/// The description of a chunk.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub(crate) struct ChunkDescription {
    /// One to four sentences.
    pub(crate) description: String,
    /// The place that is shown; empty if unknown.
    pub(crate) setting: String,
    /// The appearance of each visible person.
    pub(crate) people: Vec<String>,
    /// Names of visible objects.
    pub(crate) objects: Vec<String>,
    /// Actions.
    pub(crate) actions: Vec<String>,
    /// Topics.
    pub(crate) tags: Vec<String>,
    /// What the frames probably show; each label is a tag.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) seen: Vec<SeenLabel>,
    /// The statements that the description was composed from; empty if a model wrote it.
    #[serde(rename = "_parts", skip_serializing_if = "Vec::is_empty")]
    #[schemars(skip)]
    pub(crate) parts: Vec<DescriptionPart>,
    /// For each label in the description, the largest number of objects that several frames show
    /// at once.
    #[serde(rename = "_counts", skip_serializing_if = "BTreeMap::is_empty")]
    #[schemars(skip)]
    pub(crate) counts: BTreeMap<String, usize>,
    /// For each label, the certainty that such an object is present.
    #[serde(rename = "_certainty", skip_serializing_if = "Certainty::is_empty")]
    #[schemars(skip)]
    pub(crate) certainty: Certainty,
    /// The vectors of frames.
    #[serde(rename = "_images", skip_serializing_if = "ImageVectors::is_empty")]
    #[schemars(skip)]
    pub(crate) images: ImageVectors,
}

impl From<Description> for ChunkDescription {
    fn from(written: Description) -> Self {
        let Description { description, setting, people, objects, actions, tags } = written;
        Self { description, setting, people, objects, actions, tags, ..Self::default() }
    }
}

/// Increased with every change to the prompt, so that stored output is recognized as out of date.
const VERSION: u32 = 2;

/// Increased with every change to how descriptions are composed.
const COMPOSITION: u32 = 11;

const PROMPT: &str = include_str!("prompt.md");

/// Maximum length of the vision model's answer, in tokens.
const MAX_TOKENS: u32 = 800;

#[async_trait]
impl Analyzer for DefaultVideoAnalyzer {
    fn spec(&self) -> AnalyzerSpec<'_> {
        AnalyzerSpec {
            id: ID,
            group: None,
            description: "what is seen: a description, the setting, people, objects, actions, tags",
            evidence_rank: 0,
            statement_rank: 0,
            style: TextStyle::Prose,
            filter_fields: &["objects", "tags", "people"],
            label: "Scenes",
            presentation: const {
                Presentation {
                    icon: "scene",
                    kind: OutputKind::Scene,
                    rank: 0,
                    text: Some("/description"),
                    ..Presentation::ROWS
                }
            },
            columns: const {
                &[
                    Column::new("description", 0),
                    Column::new("setting", 1),
                    Column::new("people", 2),
                    Column::new("actions", 5),
                    Column::new("tags", 6),
                ]
            },
        }
    }

    fn unavailable(&self, _models: &Models) -> Option<String> {
        None
    }

    fn fingerprint(&self, models: &Models) -> String {
        let images = models.image_embedder.as_ref().map_or("no images", |images| images.model());
        if models.llm.supports_images() {
            format!("{}/{images}/v{VERSION}", models.llm.model())
        } else {
            let reader = models.ocr.as_ref().map_or("no reader", |r| r.model());
            let detector = object_models(models).unwrap_or_else(|| "no detector".into());
            let speech = speech_models(models);
            format!("composed/{reader}/{detector}/{speech}/{images}/v{COMPOSITION}")
        }
    }

    fn cacheable(&self, models: &Models) -> bool {
        models.llm.supports_images() || models.ocr.is_some() || models.detector.is_some()
    }

    fn bills_model(&self, models: &Models) -> bool {
        models.llm.supports_images() && models.llm.is_billed()
    }

    fn quotes_speech(&self, models: &Models) -> bool {
        !models.llm.supports_images()
    }

    fn reuses_repeats(&self, models: &Models) -> bool {
        models.llm.supports_images()
    }

    async fn analyze(&self, models: &Models, chunk: &ChunkEvidence) -> Result<Option<Output>> {
        let mut output = if models.llm.supports_images() && chunk.video.has_video {
            ChunkDescription::from(describe(models, chunk).await?)
        } else {
            let (lines, tracks) = chunk.screen_lines_and_tracks(models).await?;
            compose::compose(chunk, lines, tracks, models.vad.is_some())
        };
        if output == ChunkDescription::default() {
            return Ok(None);
        }
        output.add_views(models, chunk).await?;
        Ok(Some(Arc::new(OutputRecord::from_frames(output, chunk.frame_times()))))
    }

    fn schema(&self) -> Value {
        json_schema::<ChunkDescription>()
    }

    fn read(&self, stored: Value) -> Result<Output> {
        read::<ChunkDescription>(stored)
    }
}

impl AnalyzerOutput for ChunkDescription {
    fn index_entry(&self) -> IndexEntry {
        let labelled = [
            ("", self.description.clone()),
            ("Setting: ", self.setting.clone()),
            ("People: ", self.people.join("; ")),
            ("Objects: ", self.objects.join(", ")),
            ("Actions: ", self.actions.join("; ")),
            ("Tags: ", self.tags.join(", ")),
        ];
        let combined: Vec<String> = labelled
            .into_iter()
            .filter(|(_, text)| !text.is_empty())
            .map(|(label, text)| format!("{label}{text}"))
            .collect();
        let fields = BTreeMap::from([
            ("combined", combined.join("\n")),
            ("description", self.description.clone()),
            ("people", self.people.join(". ")),
            ("actions", self.actions.join(". ")),
            ("objects", self.objects.join(", ")),
        ]);
        let facets = Facets {
            people: self.people.clone(),
            objects: self.objects.clone(),
            actions: self.actions.clone(),
            tags: self.tags.clone(),
            certainty: self.certainty.clone(),
            ..Facets::default()
        };
        IndexEntry { fields, facets, display: Display::new(&self.description) }
    }

    fn image_vectors(&self) -> Option<&ImageVectors> {
        Some(&self.images)
    }

    /// Returns the parts of a composed description, or the whole description as prose if it has no
    /// parts.
    fn statements(&self) -> Vec<Statement> {
        let parsed = match self.parts.is_empty() {
            true => decompose::parse(&self.description),
            false => Vec::new(),
        };
        let parts = if self.parts.is_empty() { &parsed } else { &self.parts };
        if parts.is_empty() {
            return vec![Statement::new(PassageKind::Prose, &self.description)];
        }
        parts.iter().map(|part| Statement::new(part.kind, part.text.clone())).collect()
    }

    fn description(&self) -> Option<String> {
        Some(self.description.clone())
    }

    fn cells(&self) -> Vec<String> {
        vec![
            self.description.clone(),
            self.setting.clone(),
            self.people.join("; "),
            self.actions.join("; "),
            self.tags.join("; "),
        ]
    }

    fn apply_corrections(&mut self, corrections: &CorrectionSet, span: Span) {
        for (original, corrected) in corrections.corrected_sentences(span) {
            self.replace_quote(PassageKind::Speech, original, corrected);
        }
        let on_screen = self.parts.iter().filter(|part| part.kind == PassageKind::Screen);
        let on_screen: Vec<String> = on_screen.map(|part| part.text.clone()).collect();
        for text in on_screen {
            if let Some(corrected) = corrections.correct_screen_quote(&text, span) {
                let corrected = Some(corrected.as_str()).filter(|text| !text.is_empty());
                self.replace_quote(PassageKind::Screen, &text, corrected);
            }
        }
    }
}

impl ChunkDescription {
    /// Adds what whole frames show, and their vectors.
    async fn add_views(&mut self, models: &Models, chunk: &ChunkEvidence) -> Result<()> {
        let views = chunk.views(models).await?;
        if let Some(classifier) = &models.classifier {
            let unverified = &chunk.tracks(models).await?.unverified;
            self.seen = seen::seen(views, classifier.labels(), unverified);
            for SeenLabel { label, probability, .. } in &self.seen {
                if !self.tags.contains(label) {
                    self.tags.push(label.clone());
                    self.certainty.add(label, *probability);
                }
            }
        }
        if let Some(embedder) = &models.image_embedder {
            self.images = ImageVectors::new(embedder.model(), views);
        }
        Ok(())
    }

    /// Replaces a quotation, or removes it if there is no replacement.
    fn replace_quote(&mut self, kind: PassageKind, text: &str, replacement: Option<&str>) {
        let quoted = |text: &str| format!("“{text}”");
        self.description = match (replacement, kind) {
            (Some(new), _) => self.description.replace(&quoted(text), &quoted(new)),
            (None, PassageKind::Speech) => {
                self.description.replace(&format!("says: {}", quoted(text)), "speaks.")
            }
            (None, _) => self.description.replace(&quoted(text), ""),
        };
        let own = |part: &DescriptionPart| part.kind == kind && part.text == text;
        match replacement {
            Some(new) => {
                let parts = self.parts.iter_mut().filter(|part| own(part));
                parts.for_each(|part| new.clone_into(&mut part.text));
            }
            None => self.parts.retain(|part| !own(part)),
        }
    }
}

/// Describes the frames of a chunk with one call to the vision model.
async fn describe(models: &Models, chunk: &ChunkEvidence) -> Result<Description> {
    let frames = chunk.frames().await?;
    if frames.is_empty() {
        return Ok(Description::default());
    }
    let mut images = Vec::with_capacity(frames.len());
    for frame in frames {
        images.push(jpeg(frame.image).await?);
    }
    let span = chunk.span;
    let moment = Some(VideoSpan { video_id: None, start: span.start, end: span.end });
    let passage = |id: &str, kind, text: String| Passage {
        moment: moment.clone(),
        ..Passage::new(id, kind, text)
    };
    let mut passages = vec![Passage {
        topic: Some("timecode".into()),
        ..Passage::new("span", PassageKind::Scene, span.timecode())
    }];
    let on_screen = compose::on_screen_text(chunk.screen_lines(models).await?);
    if !on_screen.is_empty() {
        passages.push(passage("text", PassageKind::Screen, on_screen.join("\n")));
    }
    let words = chunk.video.speech.words_in(chunk.span);
    if !words.is_empty() {
        let words: Vec<&str> = words.iter().map(|word| word.text.as_str()).collect();
        passages.push(passage("speech", PassageKind::Speech, words.join(" ")));
    }
    let objects = compose::inventory(&chunk.tracks(models).await?.tracks);
    if !objects.is_empty() {
        passages.push(passage("objects", PassageKind::Objects, objects.join(", ")));
    }
    let prompt = Prompt {
        instructions: PROMPT.into(),
        passages,
        images,
        max_tokens: MAX_TOKENS,
        ..Prompt::default()
    };
    models.llm.complete_as(prompt).await
}
