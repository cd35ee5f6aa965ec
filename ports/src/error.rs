//! The error every port returns: a kind the domain acts on and a message a person acts on.

use std::fmt;

/// What every port method returns.
pub type Result<T, E = PortError> = std::result::Result<T, E>;

/// What went wrong, as far as the caller's next step depends on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ErrorKind {
    /// What was asked for is not there.
    NotFound,
    /// The input is at fault: trying again with the same input fails again.
    Invalid,
    /// The input exceeds a configured limit.
    TooLarge,
    /// The other side refused the credentials or the operation.
    Denied,
    /// The other side cannot be reached or is overloaded; trying later may help.
    Unavailable,
    /// The other side did not answer in time.
    Timeout,
    /// Stored data does not read back as what was written.
    Corrupt,
    /// There is no room for what was to be written.
    Full,
    /// Anything else.
    Other,
}

impl ErrorKind {
    /// The type name shown to clients before the message, as in `ValueError: …`.
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

/// A failed port call. `Display` is the message alone: lower case, what was wrong and what would
/// be right. The chain of causes is kept in `source`.
#[derive(Debug)]
pub struct PortError {
    kind: ErrorKind,
    message: String,
    source: Option<Box<dyn std::error::Error + Send + Sync>>,
}

impl PortError {
    /// An error without a deeper cause.
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), source: None }
    }

    /// An error that keeps what caused it.
    pub fn caused_by(
        kind: ErrorKind,
        message: impl Into<String>,
        source: impl Into<Box<dyn std::error::Error + Send + Sync>>,
    ) -> Self {
        Self { kind, message: message.into(), source: Some(source.into()) }
    }

    /// What the caller can act on.
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

impl From<std::io::Error> for PortError {
    fn from(e: std::io::Error) -> Self {
        let kind = match e.kind() {
            std::io::ErrorKind::NotFound => ErrorKind::NotFound,
            std::io::ErrorKind::PermissionDenied => ErrorKind::Denied,
            std::io::ErrorKind::TimedOut => ErrorKind::Timeout,
            std::io::ErrorKind::StorageFull | std::io::ErrorKind::QuotaExceeded => ErrorKind::Full,
            _ => ErrorKind::Other,
        };
        let message = match kind {
            ErrorKind::Full => format!("no space is left on the disk; free some: {e}"),
            _ => e.to_string(),
        };
        Self::caused_by(kind, message, e)
    }
}
