//! A sentiment classifier with scripted results, for tests of the domain.

use std::sync::atomic::{AtomicUsize, Ordering};

use async_trait::async_trait;
use ports::{
    Result,
    sentiment::{Sentiment, SentimentClassifier},
};

type Script = dyn Fn(&str) -> Result<Sentiment> + Send + Sync;

/// A classifier that calls a closure for each text that contains a letter, and counts its calls.
pub struct ScriptedSentiment {
    script: Box<Script>,
    calls: AtomicUsize,
}

impl ScriptedSentiment {
    /// Creates a classifier that calls `script` for each text. The shares that `script` returns
    /// must add up to 1.
    pub fn new<F>(script: F) -> Self
    where
        F: Fn(&str) -> Result<Sentiment> + Send + Sync + 'static,
    {
        Self { script: Box::new(script), calls: AtomicUsize::new(0) }
    }

    /// Returns the number of calls of [`SentimentClassifier::classify`].
    pub fn calls(&self) -> usize {
        self.calls.load(Ordering::Relaxed)
    }
}

#[async_trait]
impl SentimentClassifier for ScriptedSentiment {
    fn model(&self) -> &str {
        "scripted"
    }

    async fn classify(&self, texts: &[String]) -> Result<Vec<Sentiment>> {
        self.calls.fetch_add(1, Ordering::Relaxed);
        let neutral = Sentiment { positive: 0.0, neutral: 1.0, negative: 0.0 };
        let judge = |text: &String| match text.contains(char::is_alphabetic) {
            true => (self.script)(text),
            false => Ok(neutral),
        };
        texts.iter().map(judge).collect()
    }
}
