//! Language model wrappers for use-cases: metering, call budget, memoisation and structured output.

pub mod budget;
pub mod memoised;
pub mod metered;
pub mod structured;
