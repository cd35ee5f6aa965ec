//! What a use-case fails with. HTTP maps each variant to one status; job failures print
//! [`Error::type_name`] before the message.

use ports::{ErrorKind, PortError};

/// What every use-case returns.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// A failed use-case. The message tells the caller what would be right.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The request names something this install does not know or combines what does not go
    /// together (400).
    #[error("{0}")]
    Invalid(String),
    /// A value has the wrong type or lies outside its range (422).
    #[error("{0}")]
    Unprocessable(String),
    /// The caller's token does not go so far (403).
    #[error("{0}")]
    Forbidden(String),
    /// No such video, chunk, job or object (404).
    #[error("{0}")]
    NotFound(String),
    /// It stands otherwise than the request takes it to (409).
    #[error("{0}")]
    Conflict(String),
    /// What came does not fit its checksum (460, as tus has it).
    #[error("{0}")]
    Mismatch(String),
    /// An upload exceeds its limit (413).
    #[error("{0}")]
    TooLarge(String),
    /// The service is full or stopping; try again later (503).
    #[error("{message}")]
    Busy {
        /// What it waits for.
        message: String,
        /// Seconds after which to try again.
        retry_after: u32,
    },
    /// The job was cancelled: its video was deleted or the service stops.
    #[error("{0}")]
    Cancelled(String),
    /// The job was to make no more model calls.
    #[error("{0}")]
    BudgetExhausted(String),
    /// A port failed (500, or the job fails).
    #[error(transparent)]
    Port(#[from] PortError),
}

impl Error {
    /// The name before the colon in a failed job's `error`.
    pub fn type_name(&self) -> &'static str {
        match self {
            Self::Invalid(_)
            | Self::Unprocessable(_)
            | Self::Conflict(_)
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

    /// `TypeName: message`, as the contract words failures.
    pub fn labelled(&self) -> String {
        format!("{}: {self}", self.type_name())
    }

    /// Whether the disk or the store is full.
    pub(crate) fn is_full(&self) -> bool {
        matches!(self, Self::Port(error) if error.kind() == ErrorKind::Full)
    }

    /// Whether stored data does not read back.
    pub(crate) fn is_corrupt(&self) -> bool {
        matches!(self, Self::Port(e) if e.kind() == ErrorKind::Corrupt)
    }

    /// Stored data that does not read back.
    pub(crate) fn corrupt(what: impl std::fmt::Display) -> Self {
        Self::Port(PortError::new(ErrorKind::Corrupt, what.to_string()))
    }
}

impl From<std::io::Error> for Error {
    fn from(e: std::io::Error) -> Self {
        Self::Port(e.into())
    }
}
