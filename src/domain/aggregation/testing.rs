//! Video fixtures and a stub language model for aggregator tests.

use async_trait::async_trait;
use ports::llm::{Completion, LanguageModel, Narrative, Request, Summary, Task, Title, Usage};
use ports::{ErrorKind, PortError};
use serde_json::{Value, json};

use crate::aggregation::result::Results;
use crate::aggregation::{Aggregator, AggregatorInput, ChunkVectors};
use crate::analysis::Analyzers;
use crate::analysis::chunk_text::{based_on, chunk_texts};
use crate::analysis::video::AnalyzedVideo;
use crate::kernel::time::Span;
use crate::llm::memoised::{MemoisedModel, SavedAnswers};

/// Returns a video with `count` chunks of `seconds` each, without outputs.
pub(crate) fn video(seconds: f64, count: usize) -> AnalyzedVideo {
    AnalyzedVideo {
        video_id: "0123456789abcdef".parse().expect("an id"),
        duration: seconds * count as f64,
        spans: (0..count)
            .map(|i| Span { start: i as f64 * seconds, end: (i + 1) as f64 * seconds })
            .collect(),
        outputs: [].into(),
        doubtful: [].into(),
    }
}

impl AnalyzedVideo {
    /// Adds the outputs of one analyzer.
    pub(crate) fn with(mut self, analyzer: &str, outputs: Vec<Option<Value>>) -> Self {
        assert_eq!(outputs.len(), self.spans.len(), "one output per chunk");
        let read = |output| Analyzers::default().read(analyzer, output).expect("an output");
        let outputs = outputs.into_iter().map(|output| output.map(read)).collect();
        self.outputs.insert(analyzer.into(), outputs);
        self
    }
}

/// Returns the output for one chunk.
pub(crate) fn output(value: Value) -> Option<Value> {
    Some(value)
}

/// Builds the diarization output for one chunk from the speaker, start, end and text of each turn.
pub(crate) fn diarized(turns: &[(&str, f64, f64, &str)]) -> Option<Value> {
    let turns: Vec<Value> = turns
        .iter()
        .map(|(speaker, start, end, text)| {
            json!({"speaker": speaker, "start": start, "end": end, "text": text})
        })
        .collect();
    output(json!({"turns": turns}))
}

/// Computes an aggregator's stored result for a video, with [`StubModel`] as the language model.
pub(crate) async fn aggregate(aggregator: &dyn Aggregator, video: &AnalyzedVideo) -> Value {
    aggregate_with_vectors(aggregator, video, &ChunkVectors::default()).await
}

/// Computes an aggregator's stored result like [`aggregate`], but with `vectors` for the chunks.
pub(crate) async fn aggregate_with_vectors(
    aggregator: &dyn Aggregator,
    video: &AnalyzedVideo,
    vectors: &ChunkVectors,
) -> Value {
    let model = MemoisedModel::new(&StubModel, &SavedAnswers::new());
    let analyzers = Analyzers::default();
    let input = AggregatorInput {
        model: &model,
        sentiment: None,
        ner: None,
        video,
        based_on: &based_on(video, &analyzers),
        texts: &chunk_texts(video, &analyzers),
        vectors,
        results: &Results::new(),
    };
    aggregator.aggregate(&input).await.expect("a result").to_json()
}

/// A language model that answers narrative requests with `narrated`. It answers summary and title
/// requests with the beginning of the first passage.
pub(crate) struct StubModel;

#[async_trait]
impl LanguageModel for StubModel {
    fn model(&self) -> &str {
        "stub"
    }

    fn supports_images(&self) -> bool {
        false
    }

    fn is_billed(&self) -> bool {
        false
    }

    fn is_extractive(&self) -> bool {
        false
    }

    fn context_tokens(&self) -> usize {
        1000
    }

    async fn complete(&self, request: &Request) -> ports::Result<Completion> {
        let first = request.passages.first().map_or("", |passage| passage.text.as_str());
        let answer = match request.task {
            _ if first.is_empty() => {
                return Err(PortError::new(ErrorKind::Invalid, "prompt without passages"));
            }
            Task::Narrate => json!(Narrative { narrative: "narrated".into() }),
            Task::Summarize => json!(Summary { summary: first.into(), ..Summary::default() }),
            Task::Title => json!(Title {
                title: first.split(['.', '\n']).next().unwrap_or_default().to_owned()
            }),
            other => {
                let message = format!("unexpected task: {other:?}");
                return Err(PortError::new(ErrorKind::Invalid, message));
            }
        };
        Ok(Completion { answer, usage: Usage::default() })
    }
}
