//! Wire types and validation of the HTTP API, for other inbound adapters.

pub(crate) use super::aggregates::OneAggregate;
pub(crate) use super::ask::{AskRequest, AskResponse};
pub(crate) use super::errors::Failure;
pub(crate) use super::jobs::Job;
pub(crate) use super::meta::{Aggregator, Filter, Schema};
pub(crate) use super::moments::{MissingMoment, Moment, MomentDetail};
pub(crate) use super::plan::{Plan, PlanRequest};
pub(crate) use super::query::{Diagnostics, StandardResult, field};
pub(crate) use super::transcript::{LanguageSpan, Utterance, language_spans};
pub(crate) use super::validation::{unknown_name, validate};
pub(crate) use super::values::{AnyObject, OrderedMap};
pub(crate) use super::videos::{UrlIngestRequest, Video, VideoDetail, VideoList};
