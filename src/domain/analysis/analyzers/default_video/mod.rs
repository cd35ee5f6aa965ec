//! `default_video`: what a chunk shows, through a vision model when one is configured, else
//! composed from what is read, heard and detected in it.

mod compose;
mod decompose;
mod heard;
mod picture;
mod seen;

use std::collections::BTreeMap;
use std::sync::Arc;

use async_trait::async_trait;
use ports::llm::{Description, Moment, Passage, PassageKind};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::domain::analysis::certainty::Certainty;
use crate::domain::analysis::correction::Overlay;
use crate::domain::analysis::evidence::ChunkEvidence;
use crate::domain::analysis::finding::{Finding, Part, Statement, Stored, read};
use crate::domain::analysis::hit::HitDocument;
use crate::domain::analysis::video::Output;
use crate::domain::analysis::{Analyzer, AnalyzerSpec, Column, Indexed, TextStyle, heard_by};
use crate::domain::kernel::error::Result;
use crate::domain::kernel::ports::Models;
use crate::domain::kernel::schema::schema_of;
use crate::domain::kernel::time::Span;
use crate::domain::llm::ask::{Ask, Prompt};
use crate::domain::media::picture::jpeg;
pub(crate) use compose::inventory;

/// What requests and stored records call it.
pub(crate) const ID: &str = "default_video";

/// Describes what a chunk shows.
pub(crate) struct DefaultVideo;

/// What a chunk shows.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub(crate) struct Shown {
    /// One to four sentences.
    pub(crate) description: String,
    /// Where it takes place; empty when it cannot be told.
    pub(crate) setting: String,
    /// Each visible person by looks.
    pub(crate) people: Vec<String>,
    /// Names of visible objects.
    pub(crate) objects: Vec<String>,
    /// What is done.
    pub(crate) actions: Vec<String>,
    /// Topics.
    pub(crate) tags: Vec<String>,
    /// What the description was composed from; empty where a model wrote it.
    #[serde(rename = "_parts", skip_serializing_if = "Vec::is_empty")]
    #[schemars(skip)]
    pub(crate) parts: Vec<Part>,
    /// How many of each thing the description tells of are seen at once.
    #[serde(rename = "_counts", skip_serializing_if = "BTreeMap::is_empty")]
    #[schemars(skip)]
    pub(crate) counts: BTreeMap<String, usize>,
    /// How sure it is that they are there.
    #[serde(rename = "_certainty", skip_serializing_if = "Certainty::is_empty")]
    #[schemars(skip)]
    pub(crate) certainty: Certainty,
}

impl From<Description> for Shown {
    fn from(told: Description) -> Self {
        let Description { description, setting, people, objects, actions, tags } = told;
        Self { description, setting, people, objects, actions, tags, ..Self::default() }
    }
}

/// Changes whenever the prompt does, so that stored output is known to be old.
const VERSION: u32 = 2;

/// Changes whenever the composition does.
const COMPOSITION: u32 = 6;

const PROMPT: &str = include_str!("prompt.md");

/// Longest answer of the vision model.
const MAX_TOKENS: u32 = 800;

#[async_trait]
impl Analyzer for DefaultVideo {
    fn spec(&self) -> AnalyzerSpec<'_> {
        AnalyzerSpec {
            id: ID,
            group: None,
            description: "what is seen: a description, the setting, people, objects, actions, tags",
            evidence_rank: 0,
            telling_rank: 0,
            style: TextStyle::Prose,
            filtered_by: &["objects", "tags", "people"],
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
        if models.llm.supports_images() {
            format!("{}/v{VERSION}", models.llm.model())
        } else {
            let reader = models.ocr.as_ref().map_or("no reader", |r| r.model());
            let detector = models.detector.as_ref().map_or("no detector", |d| d.model());
            let words = heard_by(models);
            format!("composed/{reader}/{detector}/{words}/v{COMPOSITION}")
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
        let shown = if models.llm.supports_images() && chunk.video.has_video {
            Shown::from(describe(models, chunk).await?)
        } else {
            let (lines, tracks) = chunk.sights(models).await?;
            compose::compose(chunk, lines, tracks, models.vad.is_some())
        };
        if shown == Shown::default() {
            return Ok(None);
        }
        Ok(Some(Arc::new(Stored::seen(shown, chunk.frame_times()))))
    }

    fn schema(&self) -> Value {
        schema_of::<Shown>()
    }

    fn read(&self, stored: Value) -> Result<Output> {
        read::<Shown>(stored)
    }

    fn tells(&self, hit: &HitDocument) -> Vec<Statement> {
        told(&hit.description, &hit.parts)
    }
}

/// The parts of a description, or all of it as prose.
fn told(description: &str, parts: &[Part]) -> Vec<Statement> {
    let read_back = if parts.is_empty() { decompose::parts_of(description) } else { Vec::new() };
    let parts = if parts.is_empty() { &read_back } else { parts };
    if parts.is_empty() {
        return vec![Statement::new(PassageKind::Prose, description)];
    }
    parts.iter().map(|part| Statement::new(part.kind, part.text.clone())).collect()
}

impl Finding for Shown {
    fn index(&self) -> Indexed {
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
        let document = HitDocument {
            description: self.description.clone(),
            parts: self.parts.clone(),
            people: self.people.clone(),
            objects: self.objects.clone(),
            actions: self.actions.clone(),
            tags: self.tags.clone(),
            certainty: self.certainty.clone(),
            ..HitDocument::default()
        };
        Indexed { fields, document }
    }

    fn statements(&self) -> Vec<Statement> {
        told(&self.description, &self.parts)
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

    fn correct(&mut self, overlay: &Overlay, span: Span) {
        for (said, now) in overlay.reworded(span) {
            self.requote(PassageKind::Speech, said, now);
        }
        let read = self.parts.iter().filter(|part| part.kind == PassageKind::Screen);
        let read: Vec<String> = read.map(|part| part.text.clone()).collect();
        for text in read {
            if let Some(now) = overlay.requoted(&text, span) {
                let now = Some(now.as_str()).filter(|now| !now.is_empty());
                self.requote(PassageKind::Screen, &text, now);
            }
        }
    }
}

impl Shown {
    /// Puts one text in the place of another that is quoted; of one without successor nothing is left.
    fn requote(&mut self, kind: PassageKind, text: &str, now: Option<&str>) {
        let quoted = |text: &str| format!("“{text}”");
        self.description = match (now, kind) {
            (Some(now), _) => self.description.replace(&quoted(text), &quoted(now)),
            (None, PassageKind::Speech) => {
                self.description.replace(&format!("says: {}", quoted(text)), "speaks.")
            }
            (None, _) => self.description.replace(&quoted(text), ""),
        };
        let own = |part: &Part| part.kind == kind && part.text == text;
        match now {
            Some(now) => {
                let parts = self.parts.iter_mut().filter(|part| own(part));
                parts.for_each(|part| now.clone_into(&mut part.text));
            }
            None => self.parts.retain(|part| !own(part)),
        }
    }
}

/// One call over several frames.
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
    let moment = Some(Moment { video_id: None, start: span.start, end: span.end });
    let about = |id: &str, kind, text: String| Passage {
        moment: moment.clone(),
        ..Passage::new(id, kind, text)
    };
    let mut passages = vec![Passage {
        topic: Some("timecode".into()),
        ..Passage::new("span", PassageKind::Scene, span.timecode())
    }];
    let on_screen = compose::on_screen_text(chunk.screen_lines(models).await?);
    if !on_screen.is_empty() {
        passages.push(about("text", PassageKind::Screen, on_screen.join("\n")));
    }
    let words = chunk.video.speech.words_in(chunk.span);
    if !words.is_empty() {
        let words: Vec<&str> = words.iter().map(|word| word.text.as_str()).collect();
        passages.push(about("speech", PassageKind::Speech, words.join(" ")));
    }
    let seen = compose::inventory(&chunk.tracks(models).await?.tracks);
    if !seen.is_empty() {
        passages.push(about("objects", PassageKind::Objects, seen.join(", ")));
    }
    let prompt = Prompt {
        instructions: PROMPT.into(),
        passages,
        images,
        max_tokens: MAX_TOKENS,
        ..Prompt::default()
    };
    models.llm.ask(prompt).await
}
