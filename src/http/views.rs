//! The shapes of the contract and the check of what clients send, for the other ways in.

pub(crate) use super::aggregates::OneAggregate;
pub(crate) use super::ask::{AskRequest, AskResponse};
pub(crate) use super::conform::{conform, unknown};
pub(crate) use super::errors::Failure;
pub(crate) use super::jobs::Job;
pub(crate) use super::meta::{Aggregator, Filter, Schema};
pub(crate) use super::moments::{MissingMoment, Moment, MomentDetail};
pub(crate) use super::plan::{Plan, PlanRequest};
pub(crate) use super::query::{Diagnostics, StandardResult, field};
pub(crate) use super::transcript::{LanguageSpan, Utterance, listed_languages};
pub(crate) use super::values::{AnyObject, Ordered};
pub(crate) use super::videos::{UrlIngestRequest, Video, VideoDetail, VideoList};
