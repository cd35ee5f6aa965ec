//! Wire types and validation of the HTTP API that other inbound adapters may use.

pub(crate) use super::routes::aggregates::OneAggregate;
pub(crate) use super::routes::ask::{AskRequest, AskResponseBody};
pub(crate) use super::routes::bins::{BinBody, SelectRequest};
pub(crate) use super::routes::intervals::{IntervalSpanBody, IntervalsBody, NotAnalyzedBody};
pub(crate) use super::routes::jobs::JobBody;
pub(crate) use super::routes::meta::{AggregatorBody, FilterBody, SchemaBody};
pub(crate) use super::routes::moments::{MissingMomentBody, MomentBody, MomentDetail};
pub(crate) use super::routes::people::{
    AppearanceBody, AppearanceKindBody, PeopleListBody, PersonBody, PersonPageBody,
};
pub(crate) use super::routes::plan::{PlanBody, PlanRequest};
pub(crate) use super::routes::transcript::{LanguageSpanBody, UtteranceBody, language_spans};
pub(crate) use super::routes::videos::{
    UrlIngestRequest, VideoBody, VideoDetailBody, VideoListBody,
};
pub(crate) use super::wire::failure::HttpFailure;
pub(crate) use super::wire::hits::{DiagnosticsBody, StandardResult};
pub(crate) use super::wire::units::{Unit, UnitSplitter};
pub(crate) use super::wire::validation::{unknown_name, validate};
pub(crate) use super::wire::values::{AnyObject, OrderedMap};
