//! The verdict of a citation check.

use serde::{Deserialize, Serialize};

/// Whether the cited evidence supports a statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// The evidence says the same as the statement.
    Supported,
    /// The evidence says something similar.
    Weak,
    /// The evidence does not contain the statement, or contradicts it.
    Unsupported,
}
