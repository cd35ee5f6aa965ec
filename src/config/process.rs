//! The sections on the process itself: stopping, logs and traces.

use std::time::Duration;

use ports::units::seconds;
use serde::{Deserialize, Serialize};

/// How the service stops.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Shutdown {
    /// How long running jobs and requests may go on, in the file seconds.
    #[serde(with = "seconds")]
    pub grace: Duration,
}

impl Default for Shutdown {
    fn default() -> Self {
        Self { grace: Duration::from_secs(30) }
    }
}

/// The form of log lines.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LogFormat {
    /// For people.
    #[default]
    Text,
    /// One object per line.
    Json,
}

/// What is logged.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Log {
    /// The form of a line.
    pub format: LogFormat,
    /// Levels by module, as `info` or `shotlog=debug,info`.
    pub filter: String,
}

impl Default for Log {
    fn default() -> Self {
        Self { format: LogFormat::default(), filter: "info".into() }
    }
}

/// What is traced.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Traces {
    /// An OpenTelemetry collector that takes OTLP over HTTP, as `http://127.0.0.1:4318`; empty: nothing is traced.
    pub endpoint: String,
    /// What the traces are filed under.
    pub service_name: String,
    /// Share of requests and jobs that are traced, 0 to 1.
    pub share: f64,
    /// Time for sending a batch, in the file seconds.
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
