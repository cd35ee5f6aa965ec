//! Defines the configuration section `[llm]` and opens the language model that it selects.

use std::sync::Arc;
use std::time::Duration;

use ports::llm::LanguageModel;
use ports::units::seconds;
use serde::{Deserialize, Serialize};

use super::{Extractive, ExtractiveOptions, OpenAiLanguageModel, OpenAiOptions};
use crate::OpenError;
use crate::open::set;
use crate::openai::{Connection, Retry};

/// The kind of language model.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// The extractive model, which selects from the evidence and needs neither model weights nor a
    /// network connection.
    #[default]
    Extractive,
    /// An OpenAI-compatible server.
    Openai,
}

/// Settings of the language model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Settings {
    /// The kind of model.
    pub kind: Kind,
    /// Server address up to and including `/v1` (openai).
    pub url: String,
    /// The server's name for the model (openai).
    pub model: String,
    /// API key (openai).
    pub api_key: String,
    /// Whether the model accepts images (openai).
    pub vision: bool,
    /// Maximum number of tokens of evidence per request.
    pub context_tokens: usize,
    /// Maximum number of tokens in an answer (openai).
    pub max_output_tokens: u32,
    /// Timeout for a response, in seconds (openai).
    #[serde(with = "seconds")]
    pub timeout: u64,
    /// Maximum number of concurrent requests (openai).
    pub concurrency: usize,
    /// Maximum number of requests per answer, including retries after 429 and 5xx (openai).
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
    /// Returns a connection to an OpenAI-compatible server with this section's timeouts and
    /// retries.
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
