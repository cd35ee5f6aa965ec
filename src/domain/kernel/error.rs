//! The error type of the use-cases. HTTP maps each variant to one status; job failures show
//! [`Error::type_name`] before the message.

use ports::{ErrorKind, PortError};

/// The result of a use-case.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// The error of a use-case. The message says what is wrong and what would be valid.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The request names something unknown to this install, or combines incompatible options (400).
    #[error("{0}")]
    Invalid(String),
    /// A value has the wrong type or lies outside its range (422).
    #[error("{0}")]
    Unprocessable(String),
    /// The caller's token does not permit the request (403).
    #[error("{0}")]
    Forbidden(String),
    /// The requested video, chunk, job or object does not exist (404).
    #[error("{0}")]
    NotFound(String),
    /// The request assumes a state that the resource is not in (409).
    #[error("{0}")]
    Conflict(String),
    /// What the request changes has changed since the version that the request is based on (412).
    #[error("{0}")]
    Outdated(String),
    /// The received data does not match its checksum (460, as in the tus protocol).
    #[error("{0}")]
    Mismatch(String),
    /// An upload exceeds its limit (413).
    #[error("{0}")]
    TooLarge(String),
    /// The service is full or stopping; try again later (503).
    #[error("{message}")]
    Busy {
        /// Why the request cannot be served now.
        message: String,
        /// How many seconds to wait before trying again.
        retry_after: u32,
    },
    /// The job was cancelled, for example because its video was deleted or the service is stopping.
    #[error("{0}")]
    Cancelled(String),
    /// The job has used up its budget of model calls.
    #[error("{0}")]
    BudgetExhausted(String),
    /// A port failed (500, or the job fails).
    #[error(transparent)]
    Port(#[from] PortError),
}

impl Error {
    /// Returns the error type, which a failed job's `error` shows before the colon.
    pub fn type_name(&self) -> &'static str {
        match self {
            Self::Invalid(_)
            | Self::Unprocessable(_)
            | Self::Conflict(_)
            | Self::Outdated(_)
            | Self::Mismatch(_)
            | Self::TooLarge(_) => "ValueError",
            Self::Forbidden(_) => ErrorKind::Denied.type_name(),
            Self::NotFound(_) => ErrorKind::NotFound.type_name(),
            Self::Busy { .. } => ErrorKind::Unavailable.type_name(),
            Self::Cancelled(_) => "Cancelled",
            Self::BudgetExhausted(_) => "BudgetExhausted",
            Self::Port(e) => e.kind().type_name(),
        }
    }

    /// Formats the error as `TypeName: message`, the form in which the API reports failures.
    pub fn labelled(&self) -> String {
        format!("{}: {self}", self.type_name())
    }

    /// Whether the disk or a store is full.
    pub(crate) fn is_full(&self) -> bool {
        matches!(self, Self::Port(error) if error.kind() == ErrorKind::Full)
    }

    /// Whether stored data is corrupt.
    pub(crate) fn is_corrupt(&self) -> bool {
        matches!(self, Self::Port(e) if e.kind() == ErrorKind::Corrupt)
    }

    /// Creates an error for corrupt stored data.
    pub(crate) fn corrupt(what: impl std::fmt::Display) -> Self {
        Self::Port(PortError::new(ErrorKind::Corrupt, what.to_string()))
    }
}

impl From<std::io::Error> for Error {
    fn from(e: std::io::Error) -> Self {
        Self::Port(e.into())
    }
}
