//! What the `open` of every folder shares: the error that names the key at fault, and the choice to
//! go without.

use ports::PortError;

/// Why an adapter cannot be opened: the section or key at fault, and what would be right.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct OpenError(String);

impl OpenError {
    #[cfg(any(feature = "ffmpeg", feature = "cloud"))]
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self(message.into())
    }

    /// Names the section whose adapter could not be opened.
    pub(crate) fn at(section: &str) -> impl Fn(PortError) -> Self + '_ {
        move |error| Self(format!("[{section}] {error}"))
    }

    /// A choice that this build cannot make, and the feature that brings it back.
    #[cfg(not(all(feature = "ffmpeg", feature = "onnx", feature = "cloud")))]
    pub(crate) fn compiled_out(choice: &str, feature: &str) -> Self {
        Self(format!("{choice} was compiled out; build with --features {feature}"))
    }
}

/// Takes a missing model of the kind `auto` for "none" and says so.
pub(crate) fn optional<T>(
    auto: bool,
    without: &str,
    opened: Result<T, OpenError>,
) -> Result<Option<T>, OpenError> {
    match opened {
        Ok(adapter) => Ok(Some(adapter)),
        Err(error) if auto => {
            tracing::warn!("{without}: {error}; `shotlog models --fetch` gets it or says how");
            Ok(None)
        }
        Err(error) => Err(error),
    }
}

/// The value of a key that is set: an empty string stands for "not set".
pub(crate) fn set(text: &str) -> Option<String> {
    (!text.is_empty()).then(|| text.to_owned())
}
