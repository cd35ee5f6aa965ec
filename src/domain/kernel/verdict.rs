//! What a check of a statement against its evidence found.

use serde::{Deserialize, Serialize};

/// Whether what is cited bears a statement out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// It says so.
    Supported,
    /// It says something near it.
    Weak,
    /// It does not say so, or says the opposite.
    Unsupported,
}
