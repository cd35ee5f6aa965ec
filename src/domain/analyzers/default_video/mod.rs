//! `default_video`: what a chunk shows, through a vision model when one is configured, else
//! composed from what can be measured.

mod compose;

use std::collections::BTreeMap;

use async_trait::async_trait;
use bytes::Bytes;
use ports::decoder::Image;
use ports::llm::{Description, Passage, Request, Task};
use serde_json::{Value, json};

use super::evidence::ChunkEvidence;
use super::{Analyzer, AnalyzerSpec, Indexed, string, strings};
use crate::domain::Ports;
use crate::domain::error::{Error, Result};
use crate::domain::record::Output;
use crate::domain::search::HitDocument;

/// The analyzer.
pub(super) struct DefaultVideo;

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

    fn missing(&self, _ports: &Ports) -> Option<String> {
        None
    }

    fn fingerprint(&self, ports: &Ports) -> String {
        if ports.llm.sees() {
            format!("{}/v{VERSION}", ports.llm.model())
        } else {
            let reader = ports.reader.as_ref().map_or("no reader", |r| r.model());
            let detector = ports.detector.as_ref().map_or("no detector", |d| d.model());
            let voice = ports.voice_activity.as_ref().map_or("no voice", |v| v.model());
            format!("composed/{reader}/{detector}/{voice}/v{VERSION}")
        }
    }

    fn costly(&self, ports: &Ports) -> bool {
        ports.llm.sees() || ports.reader.is_some() || ports.detector.is_some()
    }

    fn asks(&self, ports: &Ports) -> bool {
        ports.llm.sees() && ports.llm.billed()
    }

    fn spares(&self, ports: &Ports) -> bool {
        ports.llm.sees()
    }

    async fn analyze(&self, ports: &Ports, chunk: &ChunkEvidence) -> Result<Option<Output>> {
        let description = if ports.llm.sees() && chunk.video.has_video {
            describe(ports, chunk).await?
        } else {
            compose::compose(chunk, chunk.lines(ports).await?, chunk.sights(ports).await?)
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
async fn describe(ports: &Ports, chunk: &ChunkEvidence) -> Result<Description> {
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
    let on_screen = compose::on_screen_text(chunk.lines(ports).await?);
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
    let seen = compose::inventory(&chunk.sights(ports).await?.tracks);
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
    let completion = ports.llm.complete(&request).await?;
    serde_json::from_value(completion.answer)
        .map_err(|e| Error::corrupt(format!("the model's description does not parse: {e}")))
}

/// A picture as JPEG.
pub(crate) async fn jpeg(image: Image) -> Result<Bytes> {
    const QUALITY: u8 = 85;
    tokio::task::spawn_blocking(move || {
        let mut bytes = Vec::new();
        image::codecs::jpeg::JpegEncoder::new_with_quality(&mut bytes, QUALITY)
            .encode(&image.rgb, image.width, image.height, image::ExtendedColorType::Rgb8)
            .map_err(|e| Error::corrupt(format!("cannot encode a picture: {e}")))?;
        Ok(bytes.into())
    })
    .await
    .map_err(|e| Error::corrupt(format!("encoding a picture panicked: {e}")))?
}
