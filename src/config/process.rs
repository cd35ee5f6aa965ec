//! Sections about the process: shutdown, logs and traces.

use std::time::Duration;

use ports::units::seconds;
use serde::{Deserialize, Serialize};

/// Shutdown of the service.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Shutdown {
    /// Grace period for running jobs and requests, given in seconds in the configuration file.
    #[serde(with = "seconds")]
    pub grace: Duration,
}

impl Default for Shutdown {
    fn default() -> Self {
        Self { grace: Duration::from_secs(30) }
    }
}

/// The format of log lines.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LogFormat {
    /// Human-readable text.
    #[default]
    Text,
    /// One JSON object per line.
    Json,
}

/// Logging.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Log {
    /// The format of log lines.
    pub format: LogFormat,
    /// Levels by module, such as `info` or `shotlog=debug,info`.
    pub filter: String,
}

impl Default for Log {
    fn default() -> Self {
        Self { format: LogFormat::default(), filter: "info".into() }
    }
}

/// Tracing.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Traces {
    /// URL of an OpenTelemetry collector for OTLP over HTTP, such as `http://127.0.0.1:4318`. If
    /// empty, tracing is disabled.
    pub endpoint: String,
    /// Service name in traces.
    pub service_name: String,
    /// Share of requests and jobs to trace, from 0 to 1.
    pub share: f64,
    /// Timeout for sending a batch, given in seconds in the configuration file.
    #[serde(with = "seconds")]
    pub timeout: Duration,
}

impl Default for Traces {
    fn default() -> Self {
        Self {
            endpoint: String::new(),
            service_name: "shotlog".into(),
            share: 1.0,
            timeout: Duration::from_secs(10),
        }
    }
}
