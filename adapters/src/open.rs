//! Helpers for the `open` functions: an error that names the configuration key, and handling of
//! optional models.

use ports::PortError;
use serde::{Deserialize, Serialize};

/// Whether a section uses its network on ONNX Runtime.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NetworkKind {
    /// The network if its files exist, otherwise no network.
    #[default]
    Auto,
    /// The network.
    Onnx,
    /// No network.
    None,
}

impl NetworkKind {
    /// Opens the selected network by calling `network`. `without` states what happens if there is
    /// no network.
    pub(crate) fn open<T>(
        self,
        without: &str,
        network: impl FnOnce() -> Result<T, OpenError>,
    ) -> Result<Option<T>, OpenError> {
        match self {
            Self::None => Ok(None),
            Self::Onnx => network().map(Some),
            Self::Auto => Ok(optional(without, network())),
        }
    }
}

/// The reason why an adapter cannot be opened. It names the section or key and says what is
/// expected.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct OpenError(String);

impl OpenError {
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self(message.into())
    }

    /// Returns a function that prefixes errors with the adapter's section.
    pub(crate) fn in_section(section: &str) -> impl Fn(PortError) -> Self + '_ {
        move |error| Self(format!("[{section}] {error}"))
    }

    /// Returns the error for a choice that this build does not include. The error names the feature
    /// that enables the choice.
    #[cfg(not(all(feature = "ffmpeg", feature = "onnx", feature = "cloud")))]
    pub(crate) fn compiled_out(choice: &str, feature: &str) -> Self {
        Self(format!("{choice} was compiled out; build with --features {feature}"))
    }
}

/// Returns `None` and logs a warning if the model cannot be opened.
pub(crate) fn optional<T>(without: &str, opened: Result<T, OpenError>) -> Option<T> {
    opened
        .inspect_err(|error| {
            tracing::warn!(
                "{without}: {error}; `shotlog models --fetch` downloads it or explains how"
            );
        })
        .ok()
}

/// Returns the value of a key. Returns `None` if the value is empty, which counts as unset.
pub(crate) fn set(text: &str) -> Option<String> {
    (!text.is_empty()).then(|| text.to_owned())
}
