//! Wire types and parsing that several routes share.

pub(crate) mod answers;
pub(crate) mod body;
pub(crate) mod budget;
pub(crate) mod conditional;
pub(crate) mod disposition;
pub(crate) mod errors;
pub(crate) mod events;
pub(crate) mod failure;
pub(crate) mod hits;
pub(crate) mod ingest;
pub(crate) mod job_status;
pub(crate) mod params;
pub(crate) mod presentation;
pub(crate) mod share_paths;
pub(crate) mod units;
pub(crate) mod validation;
pub(crate) mod values;
