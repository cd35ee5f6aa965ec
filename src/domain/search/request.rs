//! The parameters of a search. All callers (`/query`, agents, alerts, evaluations, evidence) build
//! a [`SearchRequest`]; names are parsed only here.

use std::str::FromStr;

use serde_json::{Map, Value};

use crate::analysis::{self, VECTOR_FIELDS};
use crate::kernel::error::{Error, Result};
use crate::kernel::moment::MomentId;
use crate::kernel::names::unknown;
use crate::search::example_picture::ExamplePicture;
use crate::search::pages::PageStart;
use crate::search::retrieval::mode::Mode;

/// Stands for all analyzers wherever an analyzer id is expected.
pub const ALL_ANALYZERS: &str = "*";

/// The orders of listings without a search text, with a description of each.
pub const ORDERS: &[(&str, &str)] =
    &[("newest", "newest video first, and in chronological order within each video")];

/// A search.
#[derive(Debug, Clone, PartialEq)]
pub struct SearchRequest {
    /// What to search for.
    pub target: SearchTarget,
    /// The analyzers whose output is searched.
    pub analyzers: SearchedAnalyzers,
    /// The vector field.
    pub field: VectorField,
    /// The mode; `None` means [`Mode::Vector`] for one analyzer and [`Mode::Hybrid`] for all.
    pub mode: Option<Mode>,
    /// The videos to search; `None` means all of them.
    pub video_ids: Option<Vec<String>>,
    /// The request's filters, not yet parsed.
    pub filters: Map<String, Value>,
    /// Maximum number of hits, 1..=50.
    pub limit: u32,
    /// Hits with a lower cosine are dropped, in every mode.
    pub score_threshold: Option<f32>,
    /// Hits with a `p_present` (0..1) below this value are dropped.
    pub min_p_present: Option<f32>,
    /// Whether a re-ranker scores the hits against the search text.
    pub rerank: bool,
    /// Where the page begins.
    pub page: PageStart,
}

impl SearchRequest {
    /// Creates a search for `text` in the output of all analyzers for every video.
    pub fn text(text: impl Into<String>, limit: u32) -> Self {
        Self {
            target: SearchTarget::Text(text.into()),
            analyzers: SearchedAnalyzers::All,
            field: VectorField::COMBINED,
            mode: None,
            video_ids: None,
            filters: Map::new(),
            limit,
            score_threshold: None,
            min_p_present: None,
            rerank: false,
            page: PageStart::First,
        }
    }

    /// The mode, or its default if none is given.
    pub(super) fn mode(&self) -> Mode {
        self.mode.unwrap_or(match self.analyzers {
            SearchedAnalyzers::All => Mode::Hybrid,
            SearchedAnalyzers::One(_) => Mode::Vector,
        })
    }

    /// The field that is searched: a picture is compared with pictures.
    pub fn searched_field(&self) -> VectorField {
        match self.target {
            SearchTarget::Picture(_) => VectorField::VISUAL,
            _ => self.field,
        }
    }

    /// Checks the parameters. Returns `Invalid` if one of them does not apply to the target.
    pub(super) fn check(&self) -> Result<()> {
        let scored = self.mode.is_some() || self.min_p_present.is_some();
        match &self.target {
            SearchTarget::Text(text) if text.is_empty() => Err(missing_target()),
            SearchTarget::Text(_) => Ok(()),
            SearchTarget::Similar(_) | SearchTarget::Picture(_)
                if self.mode.is_some_and(|mode| mode != Mode::Vector)
                    || self.min_p_present.is_some() =>
            {
                Err(Error::Invalid(
                    "a search for similar moments uses vectors only; omit mode and min_p_present"
                        .into(),
                ))
            }
            SearchTarget::Picture(_)
                if ![VectorField::COMBINED, VectorField::VISUAL].contains(&self.field) =>
            {
                Err(Error::Invalid(format!(
                    "a picture is compared in the field 'visual', not in '{}'; omit field",
                    self.field.name()
                )))
            }
            SearchTarget::Similar(_) | SearchTarget::Picture(_) => Ok(()),
            SearchTarget::Listing(_) if scored || self.score_threshold.is_some() => {
                Err(Error::Invalid(
                    "a listing has no scores; omit mode, score_threshold and min_p_present".into(),
                ))
            }
            SearchTarget::Listing(_) => Ok(()),
        }
    }
}

/// The target of a search.
#[derive(Debug, Clone, PartialEq)]
pub enum SearchTarget {
    /// Moments that match a text.
    Text(String),
    /// Moments that are similar to another one.
    Similar(MomentId),
    /// Moments that look like a picture.
    Picture(ExamplePicture),
    /// All moments that match the filters.
    Listing(ListingOrder),
}

impl SearchTarget {
    /// Parses the target that a request names. Returns `Unprocessable` if the request names no
    /// target. Returns `Invalid` if it names more than one target, a malformed moment or an unknown
    /// order.
    pub fn parse(
        text: Option<String>,
        like: Option<&str>,
        order: Option<&str>,
        picture: Option<ExamplePicture>,
    ) -> Result<Self> {
        match (text.filter(|text| !text.is_empty()), like, order, picture) {
            (Some(text), None, None, None) => Ok(Self::Text(text)),
            (None, Some(moment), None, None) => Ok(Self::Similar(moment.parse()?)),
            (None, None, Some(order), None) => Ok(Self::Listing(order.parse()?)),
            (None, None, None, Some(picture)) => Ok(Self::Picture(picture)),
            (None, None, None, None) => Err(missing_target()),
            _ => Err(Error::Invalid(
                "text, like, image and order exclude each other; give one of them".into(),
            )),
        }
    }

    /// The search text; empty if there is none.
    pub fn search_text(&self) -> &str {
        match self {
            Self::Text(text) => text,
            Self::Similar(_) | Self::Picture(_) | Self::Listing(_) => "",
        }
    }
}

fn missing_target() -> Error {
    Error::Unprocessable(
        "text is missing; it must be a string that is not empty, or `like` must name a moment, \
         `image` must contain a picture, or `order` must say in which order to list what the filters leave"
            .into(),
    )
}

/// The order of a listing, one of [`ORDERS`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ListingOrder {
    /// The most recently ingested video first; chronological order within each video.
    Newest,
}

impl FromStr for ListingOrder {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        match name {
            "newest" => Ok(Self::Newest),
            other => Err(unknown("order", other, ORDERS)),
        }
    }
}

/// The analyzers whose output a search covers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SearchedAnalyzers {
    /// Every analyzer; hits in the same chunk are merged.
    All,
    /// The analyzer with this id.
    One(String),
}

impl SearchedAnalyzers {
    /// The id of the analyzer; `None` for all.
    pub fn id(&self) -> Option<&str> {
        match self {
            Self::All => None,
            Self::One(id) => Some(id),
        }
    }
}

impl From<String> for SearchedAnalyzers {
    fn from(id: String) -> Self {
        if id == ALL_ANALYZERS { Self::All } else { Self::One(id) }
    }
}

/// The name of a vector field: one of [`VECTOR_FIELDS`], or [`VISUAL`](analysis::VISUAL).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct VectorField(&'static str);

impl VectorField {
    /// The field that covers an analyzer's whole output.
    pub const COMBINED: Self = Self(analysis::COMBINED);

    /// The field of the pictures.
    pub const VISUAL: Self = Self(analysis::VISUAL);

    /// The field's name.
    pub const fn name(self) -> &'static str {
        self.0
    }
}

impl FromStr for VectorField {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        if name == analysis::VISUAL {
            return Ok(Self::VISUAL);
        }
        let known = VECTOR_FIELDS.iter().find(|(field, _)| *field == name);
        known.map(|(field, _)| Self(field)).ok_or_else(|| unknown("field", name, VECTOR_FIELDS))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_search_has_one_target() {
        let text = || Some("a dog".to_owned());
        let target = |text, like, order| SearchTarget::parse(text, like, order, None);
        assert_eq!(target(text(), None, None).expect("a text"), SearchTarget::Text("a dog".into()));
        let listing = target(Some(String::new()), None, Some("newest")).expect("a listing");
        assert_eq!(listing, SearchTarget::Listing(ListingOrder::Newest));
        assert!(SearchRequest::text("", 5).check().is_err());
        for (error, parsed) in [
            ("text is missing", target(None, None, None)),
            ("exclude each other", target(text(), None, Some("newest"))),
            ("unknown order 'oldest'; available: newest", target(None, None, Some("oldest"))),
        ] {
            assert!(parsed.expect_err("an error").to_string().contains(error), "{error}");
        }
    }

    #[test]
    fn the_default_mode_depends_on_the_analyzers() {
        let mut request = SearchRequest::text("a dog", 5);
        assert_eq!(request.mode(), Mode::Hybrid);
        request.analyzers = "ocr".to_owned().into();
        assert_eq!(request.mode(), Mode::Vector);
        request.mode = Some(Mode::Text);
        assert_eq!(request.mode(), Mode::Text);
    }

    #[test]
    fn parameters_without_meaning_are_rejected() {
        let listing = SearchRequest {
            target: SearchTarget::Listing(ListingOrder::Newest),
            ..SearchRequest::text("", 5)
        };
        assert!(listing.check().is_ok());
        assert!(SearchRequest { score_threshold: Some(0.5), ..listing.clone() }.check().is_err());
        let moment = "m_0000000000000000_0_1000".parse().expect("a moment");
        let similar = SearchRequest { target: SearchTarget::Similar(moment), ..listing };
        assert!(SearchRequest { mode: Some(Mode::Vector), ..similar.clone() }.check().is_ok());
        assert!(SearchRequest { mode: Some(Mode::Hybrid), ..similar.clone() }.check().is_err());
        assert!(SearchRequest { min_p_present: Some(0.5), ..similar }.check().is_err());
    }
}
