//! The error that every port returns: a kind for the domain to act on and a message for people.

use std::fmt;

/// The result of every port method.
pub type Result<T, E = PortError> = std::result::Result<T, E>;

/// The kind of failure, which decides the caller's next step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ErrorKind {
    /// The requested item does not exist.
    NotFound,
    /// The input is invalid. A retry with the same input would fail again.
    Invalid,
    /// The input exceeds a configured limit.
    TooLarge,
    /// The remote service rejected the credentials or the operation.
    Denied,
    /// The remote service is unreachable or overloaded; a later retry may succeed.
    Unavailable,
    /// The remote service did not answer in time.
    Timeout,
    /// Stored data is not as it was written.
    Corrupt,
    /// The storage has no free space.
    Full,
    /// Anything else.
    Other,
}

impl ErrorKind {
    /// Returns the type name that clients see before the message, as in `ValueError: …`.
    pub fn type_name(self) -> &'static str {
        match self {
            Self::NotFound => "NotFoundError",
            Self::Invalid | Self::TooLarge => "ValueError",
            Self::Denied => "PermissionError",
            Self::Unavailable => "ConnectionError",
            Self::Timeout => "TimeoutError",
            Self::Corrupt => "DataError",
            Self::Full => "OSError",
            Self::Other => "RuntimeError",
        }
    }
}

/// The error of a failed port call. `Display` prints only the message, which begins in lower case
/// and says what was wrong and what is expected. `source` returns the underlying cause.
#[derive(Debug)]
pub struct PortError {
    kind: ErrorKind,
    message: String,
    source: Option<Box<dyn std::error::Error + Send + Sync>>,
}

impl PortError {
    /// Creates an error without an underlying cause.
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), source: None }
    }

    /// Creates an error with an underlying cause.
    pub fn caused_by(
        kind: ErrorKind,
        message: impl Into<String>,
        source: impl Into<Box<dyn std::error::Error + Send + Sync>>,
    ) -> Self {
        Self { kind, message: message.into(), source: Some(source.into()) }
    }

    /// Returns the kind of failure.
    pub fn kind(&self) -> ErrorKind {
        self.kind
    }
}

impl fmt::Display for PortError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for PortError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.source.as_ref().map(|e| e.as_ref() as _)
    }
}

impl From<std::io::ErrorKind> for ErrorKind {
    fn from(kind: std::io::ErrorKind) -> Self {
        match kind {
            std::io::ErrorKind::NotFound => Self::NotFound,
            std::io::ErrorKind::PermissionDenied => Self::Denied,
            std::io::ErrorKind::TimedOut => Self::Timeout,
            std::io::ErrorKind::StorageFull | std::io::ErrorKind::QuotaExceeded => Self::Full,
            _ => Self::Other,
        }
    }
}

impl From<std::io::Error> for PortError {
    fn from(e: std::io::Error) -> Self {
        let kind = e.kind().into();
        let message = match kind {
            ErrorKind::Full => format!("no space is left on the disk; free some: {e}"),
            _ => e.to_string(),
        };
        Self::caused_by(kind, message, e)
    }
}
