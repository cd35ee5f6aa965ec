//! Extractors: analyzers that users define by a JSON schema. Of each chunk they fill in the schema from
//! what is said, shown and seen; every value comes with the moment that shows it.

mod filled;
pub(crate) mod form;

use std::sync::Arc;

use async_trait::async_trait;
use ports::llm::{Extraction, Field, Moment, Passage, PassageKind};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use sha1::{Digest, Sha1};

use crate::domain::analysis::analyzers::default_video::inventory;
use crate::domain::analysis::evidence::ChunkEvidence;
use crate::domain::analysis::extraction::filled::{Filled, Sheet};
use crate::domain::analysis::finding::{Statement, Stored, read};
use crate::domain::analysis::hit::HitDocument;
use crate::domain::analysis::video::Output;
use crate::domain::analysis::{Analyzer, AnalyzerSpec, Column, TextStyle, heard_by};
use crate::domain::kernel::error::Result;
use crate::domain::kernel::ports::Models;
use crate::domain::llm::ask::{Ask, Prompt};
use crate::domain::media::picture::jpeg;
pub use form::{ExtractorSettings, Form, Format, Kind};

/// What somebody wants to know of every chunk.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ExtractorDefinition {
    /// What requests and stored records call it: the id of an analyzer.
    pub name: String,
    /// What it is for, in a sentence.
    pub description: String,
    /// What it fills in.
    pub schema: Form,
    /// When it was defined first.
    pub created_at: String,
    /// When it was last changed.
    pub updated_at: String,
}

/// Changes whenever the prompt or the check of values does.
const VERSION: u32 = 1;

const PROMPT: &str = include_str!("prompt.md");

/// Longest answer of the language model.
const MAX_TOKENS: u32 = 1500;

/// An analyzer that fills in a form.
#[derive(Debug)]
pub struct Extractor {
    definition: ExtractorDefinition,
    /// Those of the form.
    fields: Vec<Field>,
    /// The properties of the form.
    columns: Vec<Column>,
    /// Digest of what decides its output.
    digest: String,
}

impl Extractor {
    /// The analyzer of a definition.
    pub(crate) fn new(definition: ExtractorDefinition) -> Self {
        const RANK: u8 = 50;
        let column = |name: &String| Column {
            name: format!("{}.{name}", definition.name).into(),
            rank: RANK,
        };
        let columns = definition.schema.properties.keys().map(column).collect();
        let decides = json!([definition.description, definition.schema]);
        let digest = Sha1::digest(decides.to_string());
        let digest = digest.iter().take(8).map(|byte| format!("{byte:02x}")).collect();
        Self { fields: definition.schema.fields(), definition, columns, digest }
    }

    /// What it was made of.
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
            // Behind what the service finds by itself.
            evidence_rank: 50,
            telling_rank: 50,
            style: TextStyle::Prose,
            filtered_by: &[],
            columns: &self.columns,
        }
    }

    fn unavailable(&self, _models: &Models) -> Option<String> {
        None
    }

    fn fingerprint(&self, models: &Models) -> String {
        let reader = models.ocr.as_ref().map_or("no reader", |r| r.model());
        let detector = models.detector.as_ref().map_or("no detector", |d| d.model());
        let (llm, words, digest) = (models.llm.model(), heard_by(models), &self.digest);
        format!("{llm}/{reader}/{detector}/{words}/{digest}/v{VERSION}")
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
        let seen = !images.is_empty();
        let prompt = Prompt {
            instructions: PROMPT.into(),
            passages: passages.clone(),
            fields: self.fields.clone(),
            images,
            max_tokens: MAX_TOKENS,
            ..Prompt::default()
        };
        let answer: Extraction = models.llm.ask(prompt).await?;
        let sheet = Sheet {
            form: &self.definition.schema,
            fields: &self.fields,
            video_id: chunk.video.video_id,
            span: chunk.span,
            passages: &passages,
            seen,
            selects: models.llm.is_extractive(),
        };
        let filled = sheet.fill(answer.values);
        if filled.is_empty() {
            return Ok(None);
        }
        Ok(Some(Arc::new(Stored::seen(filled, chunk.frame_times()))))
    }

    fn schema(&self) -> Value {
        json!({
            "type": "object",
            "description": self.definition.description,
            "properties": {
                "values": self.definition.schema,
                "evidence": {
                    "type": "array",
                    "description": "What shows each value, in order of time.",
                    "items": {
                        "type": "object",
                        "properties": {
                            "path": {"type": "string", "description": "JSON pointer within `values`."},
                            "moment_id": {"type": "string"},
                            "start": {"type": "number", "description": "Seconds of the video."},
                            "end": {"type": "number", "description": "Seconds of the video."},
                            "quote": {"type": "string", "description": "Empty where it is seen."},
                            "verdict": {
                                "enum": ["supported", "weak", "unsupported", null],
                                "description": "Whether the words bear it out; null where it is seen.",
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
                            "path": {"type": "string", "description": "With `*` for places in lists."},
                            "reason": {"type": "string"},
                        },
                    },
                },
            },
        })
    }

    fn read(&self, stored: Value) -> Result<Output> {
        read::<Filled>(stored)
    }

    fn tells(&self, hit: &HitDocument) -> Vec<Statement> {
        vec![Statement::new(PassageKind::Prose, &hit.description)]
    }
}

/// What is said, read and detected in a chunk, as much as the model can be shown.
async fn passages(models: &Models, chunk: &ChunkEvidence) -> Result<Vec<Passage>> {
    let mut passages = Vec::new();
    let of = |id: String, kind, start: f64, end: f64, text: &str| Passage {
        moment: Some(Moment { video_id: None, start, end }),
        ..Passage::new(id, kind, text)
    };
    for (n, said) in chunk.utterances().enumerate() {
        let passage = of(format!("s{n}"), PassageKind::Speech, said.start, said.end, &said.text);
        passages.push(Passage { speaker: said.speaker.clone(), ..passage });
    }
    let (lines, tracks) = chunk.sights(models).await?;
    for (n, line) in lines.iter().enumerate() {
        let (start, end) = (line.first_seen, line.last_seen.max(line.first_seen));
        passages.push(of(format!("t{n}"), PassageKind::Screen, start, end, &line.text));
    }
    let seen = inventory(&tracks.tracks).join("\n");
    if !seen.is_empty() {
        let (start, end) = (chunk.span.start, chunk.span.end);
        passages.push(of("o".into(), PassageKind::Objects, start, end, &seen));
    }
    // Half of what fits, a passage's heading and the fields included.
    let mut room = models.llm.context_tokens() / 2 * 4;
    passages.retain(|passage| {
        let cost = passage.text.len() + 40;
        let fits = cost <= room;
        room = room.saturating_sub(cost);
        fits
    });
    Ok(passages)
}
