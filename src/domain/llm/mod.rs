//! The language model as use-cases hold it: counted, within a budget, and asked nothing twice.

pub mod ask;
pub mod budget;
pub mod memoised;
pub mod metered;
