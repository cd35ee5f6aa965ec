//! Helpers for the `open` functions: the error that names the configuration key, and optional
//! models.

use ports::PortError;

/// Why an adapter cannot be opened: the section or key, and what is expected.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct OpenError(String);

impl OpenError {
    #[cfg(any(feature = "ffmpeg", feature = "cloud"))]
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self(message.into())
    }

    /// Prefixes the error with the section of the adapter.
    pub(crate) fn in_section(section: &str) -> impl Fn(PortError) -> Self + '_ {
        move |error| Self(format!("[{section}] {error}"))
    }

    /// The error for a choice that this build lacks, with the feature that enables it.
    #[cfg(not(all(feature = "ffmpeg", feature = "onnx", feature = "cloud")))]
    pub(crate) fn compiled_out(choice: &str, feature: &str) -> Self {
        Self(format!("{choice} was compiled out; build with --features {feature}"))
    }
}

/// Treats a missing model of kind `auto` as "none" and logs a warning.
pub(crate) fn optional<T>(
    auto: bool,
    without: &str,
    opened: Result<T, OpenError>,
) -> Result<Option<T>, OpenError> {
    match opened {
        Ok(adapter) => Ok(Some(adapter)),
        Err(error) if auto => {
            tracing::warn!(
                "{without}: {error}; `shotlog models --fetch` downloads it or explains how"
            );
            Ok(None)
        }
        Err(error) => Err(error),
    }
}

/// The value of a key; an empty string counts as unset.
pub(crate) fn set(text: &str) -> Option<String> {
    (!text.is_empty()).then(|| text.to_owned())
}
