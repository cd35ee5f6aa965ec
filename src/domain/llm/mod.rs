//! Wraps language models for use-cases: counts calls and cost, enforces a call budget, memoises
//! answers and parses them into types.

pub mod budget;
pub mod memoised;
pub mod metered;
pub mod structured;
