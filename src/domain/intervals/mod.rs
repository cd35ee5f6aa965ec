//! The intervals of videos: when something is said, read or seen, and expressions over them, such as
//! speech without a car in view.
//!
//! The stored facts of each video are read once into a compact table, which is stored and cached
//! until the video changes. [`IntervalFilter`] finds the chunks that an expression selects, and
//! [`crate::interval_search`] the spans in which it holds.

pub(crate) mod evaluate;
pub mod expression;
pub(crate) mod filter;
mod parse;
pub(crate) mod set;
mod settings;
mod stored;
pub(crate) mod table;
pub(crate) mod tables;
pub(crate) mod terms;
#[cfg(test)]
pub(crate) mod tests;

pub(crate) use filter::IntervalFilter;

pub use evaluate::{IntervalProof, ProofMoment};
pub use parse::{OPERATORS, OperatorSpec};
pub use settings::IntervalSettings;
