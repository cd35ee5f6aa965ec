//! `default_video`: what a chunk shows, through a vision model when one is configured, else
//! composed from what can be measured.

mod compose;

use std::collections::BTreeMap;

use async_trait::async_trait;
use ports::llm::{Description, Passage, Request, Task};
use serde_json::{Value, json};

use crate::domain::analysis::evidence::ChunkEvidence;
use crate::domain::analysis::hit::HitDocument;
use crate::domain::analysis::video::Output;
use crate::domain::analysis::{Analyzer, AnalyzerSpec, Indexed, string, strings};
use crate::domain::kernel::error::{Error, Result};
use crate::domain::kernel::ports::Models;
use crate::domain::media::picture::jpeg;

/// The analyzer.
pub(crate) struct DefaultVideo;

/// Changes whenever the prompt or the composition does, so that stored output is known to be old.
const VERSION: u32 = 2;

const PROMPT: &str = include_str!("prompt.md");

/// Longest answer of the vision model.
const MAX_TOKENS: u32 = 800;

#[async_trait]
impl Analyzer for DefaultVideo {
    fn spec(&self) -> &'static AnalyzerSpec {
        &AnalyzerSpec {
            id: "default_video",
            group: None,
            description: "what is seen: a description, the setting, people, objects, actions, tags",
        }
    }

    fn missing(&self, _models: &Models) -> Option<String> {
        None
    }

    fn fingerprint(&self, models: &Models) -> String {
        if models.llm.sees() {
            format!("{}/v{VERSION}", models.llm.model())
        } else {
            let reader = models.reader.as_ref().map_or("no reader", |r| r.model());
            let detector = models.detector.as_ref().map_or("no detector", |d| d.model());
            let voice = models.voice_activity.as_ref().map_or("no voice", |v| v.model());
            format!("composed/{reader}/{detector}/{voice}/v{VERSION}")
        }
    }

    fn costly(&self, models: &Models) -> bool {
        models.llm.sees() || models.reader.is_some() || models.detector.is_some()
    }

    fn asks(&self, models: &Models) -> bool {
        models.llm.sees() && models.llm.billed()
    }

    fn spares(&self, models: &Models) -> bool {
        models.llm.sees()
    }

    async fn analyze(&self, models: &Models, chunk: &ChunkEvidence) -> Result<Option<Output>> {
        let description = if models.llm.sees() && chunk.video.has_video {
            describe(models, chunk).await?
        } else {
            compose::compose(chunk, chunk.lines(models).await?, chunk.sights(models).await?)
        };
        if description == Description::default() {
            return Ok(None);
        }
        let mut output = match json!(description) {
            Value::Object(map) => map,
            _ => Output::new(),
        };
        output.insert("_frames".into(), json!(chunk.frame_times()));
        Ok(Some(output))
    }

    fn index(&self, output: &Output) -> Indexed {
        let document = HitDocument {
            description: string(output, "description"),
            people: strings(output, "people"),
            objects: strings(output, "objects"),
            actions: strings(output, "actions"),
            tags: strings(output, "tags"),
            ..HitDocument::default()
        };
        let setting = string(output, "setting");
        let labelled = [
            ("", document.description.clone()),
            ("Setting: ", setting),
            ("People: ", document.people.join("; ")),
            ("Objects: ", document.objects.join(", ")),
            ("Actions: ", document.actions.join("; ")),
            ("Tags: ", document.tags.join(", ")),
        ];
        let combined: Vec<String> = labelled
            .into_iter()
            .filter(|(_, text)| !text.is_empty())
            .map(|(label, text)| format!("{label}{text}"))
            .collect();
        let fields = BTreeMap::from([
            ("combined", combined.join("\n")),
            ("description", document.description.clone()),
            ("people", document.people.join(". ")),
            ("actions", document.actions.join(". ")),
            ("objects", document.objects.join(", ")),
        ]);
        Indexed { fields, document }
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
    let mut passages =
        vec![Passage { id: "span".into(), source: "timecode".into(), text: chunk.span.timecode() }];
    let on_screen = compose::on_screen_text(chunk.lines(models).await?);
    if !on_screen.is_empty() {
        passages.push(Passage {
            id: "text".into(),
            source: "on-screen text".into(),
            text: on_screen.join("\n"),
        });
    }
    let words = chunk.video.speech.words_in(chunk.span);
    if !words.is_empty() {
        let words: Vec<&str> = words.iter().map(|word| word.text.as_str()).collect();
        passages.push(Passage {
            id: "speech".into(),
            source: "recognised speech".into(),
            text: words.join(" "),
        });
    }
    let seen = compose::inventory(&chunk.sights(models).await?.tracks);
    if !seen.is_empty() {
        passages.push(Passage {
            id: "objects".into(),
            source: "object detector".into(),
            text: seen.join(", "),
        });
    }
    let request = Request {
        task: Task::Describe,
        instructions: PROMPT.into(),
        passages,
        question: None,
        images,
        max_tokens: MAX_TOKENS,
    };
    let completion = models.llm.complete(&request).await?;
    serde_json::from_value(completion.answer)
        .map_err(|e| Error::corrupt(format!("the model's description does not parse: {e}")))
}
