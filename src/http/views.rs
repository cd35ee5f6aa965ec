//! Wire types and validation of the HTTP API, for other inbound adapters.

pub(crate) use super::aggregates::OneAggregate;
pub(crate) use super::ask::{AskRequest, AskResponseBody};
pub(crate) use super::errors::Failure;
pub(crate) use super::jobs::JobBody;
pub(crate) use super::meta::{AggregatorBody, FilterBody, SchemaBody};
pub(crate) use super::moments::{MissingMomentBody, MomentBody, MomentDetail};
pub(crate) use super::plan::{PlanBody, PlanRequest};
pub(crate) use super::query::{DiagnosticsBody, StandardResult};
pub(crate) use super::transcript::{LanguageSpanBody, UtteranceBody, language_spans};
pub(crate) use super::units::{Unit, UnitSplitter};
pub(crate) use super::validation::{unknown_name, validate};
pub(crate) use super::values::{AnyObject, OrderedMap};
pub(crate) use super::videos::{UrlIngestRequest, VideoBody, VideoDetailBody, VideoListBody};
