//! A scripted reranker for tests.

use async_trait::async_trait;
use ports::Result;
use ports::reranker::Reranker;

type Script = dyn Fn(&str, &str) -> f32 + Send + Sync;

/// A reranker that calls a closure with the question and each text.
pub struct ScriptedReranker {
    script: Box<Script>,
}

impl ScriptedReranker {
    /// Creates a reranker that calls `script` with the question and each text. `script` returns a
    /// score in 0..1.
    pub fn new(script: impl Fn(&str, &str) -> f32 + Send + Sync + 'static) -> Self {
        Self { script: Box::new(script) }
    }
}

#[async_trait]
impl Reranker for ScriptedReranker {
    fn model(&self) -> &str {
        "scripted"
    }

    async fn score(&self, question: &str, texts: &[String]) -> Result<Vec<f32>> {
        Ok(texts.iter().map(|text| (self.script)(question, text)).collect())
    }
}
