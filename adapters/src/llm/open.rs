//! What `[llm]` says of the model, and the adapter that it asks for.

use std::sync::Arc;
use std::time::Duration;

use ports::llm::LanguageModel;
use ports::units::seconds;
use serde::{Deserialize, Serialize};

use super::{Extractive, ExtractiveOptions, OpenAiLanguageModel, OpenAiOptions};
use crate::OpenError;
use crate::open::set;
use crate::openai::{Connection, Retry};

/// The language model.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// Selects from the evidence: no weights, no network.
    #[default]
    Extractive,
    /// An OpenAI-compatible server.
    Openai,
}

/// The language model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Settings {
    /// What writes.
    pub kind: Kind,
    /// Server address, up to `/v1` (openai).
    pub url: String,
    /// The server's name for the model (openai).
    pub model: String,
    /// The server's key (openai).
    pub api_key: String,
    /// Whether the model sees pictures (openai).
    pub vision: bool,
    /// Tokens of evidence that fit into one request.
    pub context_tokens: usize,
    /// Most tokens of one answer (openai).
    pub max_output_tokens: u32,
    /// Longest wait for an answer, seconds (openai).
    #[serde(with = "seconds")]
    pub timeout: u64,
    /// Requests in flight at once (openai).
    pub concurrency: usize,
    /// Requests in all for one answer, repetitions after 429 and 5xx included (openai).
    pub attempts: u32,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            kind: Kind::default(),
            url: String::new(),
            model: String::new(),
            api_key: String::new(),
            vision: true,
            context_tokens: 24_000,
            max_output_tokens: 4096,
            timeout: 120,
            concurrency: 4,
            attempts: 4,
        }
    }
}

impl Settings {
    /// A connection to any OpenAI-compatible server, as patient as this section says.
    pub(crate) fn connection(&self, url: &str, api_key: &str) -> Connection {
        Connection {
            base_url: url.to_owned(),
            api_key: set(api_key),
            connect_timeout: Duration::from_secs(10),
            timeout: Duration::from_secs(self.timeout),
            concurrency: self.concurrency,
            retry: Retry { attempts: self.attempts, ..Retry::default() },
        }
    }
}

impl From<&Settings> for ExtractiveOptions {
    fn from(section: &Settings) -> Self {
        Self { context_tokens: section.context_tokens, max_sentences: 400 }
    }
}

impl From<&Settings> for OpenAiOptions {
    fn from(section: &Settings) -> Self {
        Self {
            connection: section.connection(&section.url, &section.api_key),
            model: section.model.clone(),
            sees: section.vision,
            context_tokens: section.context_tokens,
            max_output_tokens: section.max_output_tokens,
            temperature: Some(0.0),
        }
    }
}

/// Opens the language model.
pub fn open(section: &Settings) -> Result<Arc<dyn LanguageModel>, OpenError> {
    match section.kind {
        Kind::Extractive => Ok(Arc::new(Extractive::new(section.into()))),
        Kind::Openai => {
            let model = OpenAiLanguageModel::new(section.into());
            Ok(Arc::new(model.map_err(OpenError::in_section("llm"))?))
        }
    }
}
