//! Extractors: user-defined analyzers that fill in a JSON schema for each chunk from speech, screen
//! text and detected objects. Every value comes with the moment that supports it.

mod filled_form;
pub(crate) mod form;
mod form_filler;

use std::sync::Arc;

use async_trait::async_trait;
use ports::llm::{Extraction, Field, Passage, PassageKind, VideoSpan};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use sha1::{Digest, Sha1};

use crate::analysis::analyzers::default_video::inventory;
use crate::analysis::evidence::ChunkEvidence;
use crate::analysis::extraction::filled_form::FilledForm;
use crate::analysis::extraction::form_filler::FormFiller;
use crate::analysis::output::{OutputRecord, read};
use crate::analysis::presentation::{self, Presentation};
use crate::analysis::video::Output;
use crate::analysis::{Analyzer, AnalyzerSpec, Column, TextStyle, speech_models};
use crate::kernel::error::Result;
use crate::kernel::ports::Models;
use crate::llm::structured::{Prompt, StructuredOutput};
use crate::media::picture::jpeg;
pub use form::{ExtractorForm, ExtractorSettings, ValueFormat, ValueType};

/// The definition of an extractor.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ExtractorDefinition {
    /// The name, also used as the analyzer id.
    pub name: String,
    /// The purpose, in one sentence.
    pub description: String,
    /// The schema to fill in.
    pub schema: ExtractorForm,
    /// Time of creation.
    pub created_at: String,
    /// Time of the last change.
    pub updated_at: String,
}

/// Increased with every change to the prompt or to the validation of values.
const VERSION: u32 = 1;

const PROMPT: &str = include_str!("prompt.md");

/// Maximum length of the language model's answer, in tokens.
const MAX_TOKENS: u32 = 1500;

/// An analyzer that fills in the schema of an [`ExtractorDefinition`].
#[derive(Debug)]
pub struct Extractor {
    definition: ExtractorDefinition,
    /// The fields of the schema.
    fields: Vec<Field>,
    /// One column per property of the schema.
    columns: Vec<Column>,
    /// The name as words.
    label: String,
    /// SHA-1 prefix of everything in the definition that affects the output.
    digest: String,
}

impl Extractor {
    /// Creates the analyzer for a definition.
    pub(crate) fn new(definition: ExtractorDefinition) -> Self {
        const RANK: u8 = 50;
        let column = |name: &String| Column {
            name: format!("{}.{name}", definition.name).into(),
            rank: RANK,
        };
        let columns = definition.schema.properties.keys().map(column).collect();
        let relevant = json!([definition.description, definition.schema]);
        let digest = Sha1::digest(relevant.to_string());
        let digest = digest.iter().take(8).map(|byte| format!("{byte:02x}")).collect();
        let label = presentation::label_from_id(&definition.name);
        Self { fields: definition.schema.fields(), definition, columns, label, digest }
    }

    /// The definition.
    pub fn definition(&self) -> &ExtractorDefinition {
        &self.definition
    }
}

#[async_trait]
impl Analyzer for Extractor {
    fn spec(&self) -> AnalyzerSpec<'_> {
        AnalyzerSpec {
            id: &self.definition.name,
            group: None,
            description: &self.definition.description,
            // After the built-in analyzers.
            evidence_rank: 50,
            statement_rank: 50,
            style: TextStyle::Prose,
            filter_fields: &[],
            label: &self.label,
            presentation: Presentation { text: Some("/values"), ..Presentation::ROWS },
            columns: &self.columns,
        }
    }

    fn unavailable(&self, _models: &Models) -> Option<String> {
        None
    }

    fn fingerprint(&self, models: &Models) -> String {
        let reader = models.ocr.as_ref().map_or("no reader", |r| r.model());
        let detector = models.detector.as_ref().map_or("no detector", |d| d.model());
        let (llm, speech, digest) = (models.llm.model(), speech_models(models), &self.digest);
        format!("{llm}/{reader}/{detector}/{speech}/{digest}/v{VERSION}")
    }

    fn cacheable(&self, models: &Models) -> bool {
        !models.llm.is_extractive() || models.ocr.is_some() || models.detector.is_some()
    }

    fn bills_model(&self, models: &Models) -> bool {
        models.llm.is_billed()
    }

    fn needs_speech(&self) -> bool {
        true
    }

    fn quotes_speech(&self, _models: &Models) -> bool {
        true
    }

    async fn analyze(&self, models: &Models, chunk: &ChunkEvidence) -> Result<Option<Output>> {
        let mut images = Vec::new();
        if models.llm.supports_images() {
            for frame in chunk.frames().await? {
                images.push(jpeg(frame.image).await?);
            }
        }
        let passages = passages(models, chunk).await?;
        if passages.is_empty() && images.is_empty() {
            return Ok(None);
        }
        let has_images = !images.is_empty();
        let prompt = Prompt {
            instructions: PROMPT.into(),
            passages: passages.clone(),
            fields: self.fields.clone(),
            images,
            max_tokens: MAX_TOKENS,
            ..Prompt::default()
        };
        let answer: Extraction = models.llm.complete_as(prompt).await?;
        let filler = FormFiller {
            form: &self.definition.schema,
            fields: &self.fields,
            video_id: chunk.video.video_id,
            span: chunk.span,
            passages: &passages,
            has_images,
            selects: models.llm.is_extractive(),
        };
        let filled = filler.fill(answer.values);
        if filled.is_empty() {
            return Ok(None);
        }
        Ok(Some(Arc::new(OutputRecord::from_frames(filled, chunk.frame_times()))))
    }

    fn schema(&self) -> Value {
        json!({
            "type": "object",
            "description": self.definition.description,
            "properties": {
                "values": self.definition.schema,
                "evidence": {
                    "type": "array",
                    "description": "The evidence of each value, in order of time.",
                    "items": {
                        "type": "object",
                        "properties": {
                            "path": {"type": "string", "description": "JSON pointer within `values`."},
                            "moment_id": {"type": "string"},
                            "start": {"type": "number", "description": "Seconds of the video."},
                            "end": {"type": "number", "description": "Seconds of the video."},
                            "quote": {"type": "string", "description": "Empty where the value comes from the picture."},
                            "verdict": {
                                "enum": ["supported", "weak", "unsupported", null],
                                "description": "Whether the quote supports the value; null without a quote.",
                            },
                        },
                    },
                },
                "missing": {
                    "type": "array",
                    "description": "Fields without a value.",
                    "items": {
                        "type": "object",
                        "properties": {
                            "path": {"type": "string", "description": "With `*` for list indexes."},
                            "reason": {"type": "string"},
                        },
                    },
                },
            },
        })
    }

    fn read(&self, stored: Value) -> Result<Output> {
        read::<FilledForm>(stored)
    }
}

/// Collects the speech, screen text and objects in a chunk, as far as they fit into the model's
/// context.
async fn passages(models: &Models, chunk: &ChunkEvidence) -> Result<Vec<Passage>> {
    let mut passages = Vec::new();
    let passage = |id: String, kind, start: f64, end: f64, text: &str| Passage {
        moment: Some(VideoSpan { video_id: None, start, end }),
        ..Passage::new(id, kind, text)
    };
    for (n, utterance) in chunk.utterances().enumerate() {
        let speech = passage(
            format!("s{n}"),
            PassageKind::Speech,
            utterance.start,
            utterance.end,
            &utterance.text,
        );
        passages.push(Passage { speaker: utterance.speaker.clone(), ..speech });
    }
    let (lines, tracks) = chunk.screen_lines_and_tracks(models).await?;
    for (n, line) in lines.iter().enumerate() {
        let (start, end) = (line.first_seen, line.last_seen.max(line.first_seen));
        passages.push(passage(format!("t{n}"), PassageKind::Screen, start, end, &line.text));
    }
    let objects = inventory(&tracks.tracks).join("\n");
    if !objects.is_empty() {
        let (start, end) = (chunk.span.start, chunk.span.end);
        passages.push(passage("o".into(), PassageKind::Objects, start, end, &objects));
    }
    // Passages and their headings may fill half of the context, at 4 characters per token.
    let mut budget = models.llm.context_tokens() / 2 * 4;
    passages.retain(|passage| {
        let cost = passage.text.len() + 40;
        let fits = cost <= budget;
        budget = budget.saturating_sub(cost);
        fits
    });
    Ok(passages)
}
