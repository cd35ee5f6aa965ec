//! A form filled in from a chunk: validated values, the evidence for each, and the reasons for
//! missing values.

use indexmap::IndexMap;
use ports::llm::PassageKind;
use serde::{Deserialize, Serialize};

use crate::analysis::IndexEntry;
use crate::analysis::facets::{Display, Facets};
use crate::analysis::output::{AnalyzerOutput, Statement};
use crate::kernel::moment::MomentId;
use crate::kernel::time::Span;
use crate::kernel::verdict::Verdict;

/// The values of a form for one chunk.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct FilledForm {
    /// An object with the properties of the schema. Values without evidence are null.
    pub(crate) values: IndexMap<String, FormValue>,
    /// The evidence for each value.
    pub(crate) evidence: Vec<FieldEvidence>,
    /// The fields without a value, each with the reason.
    pub(crate) missing: Vec<MissingField>,
}

/// The value of a field, list or object.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub(crate) enum FormValue {
    Null,
    Boolean(bool),
    Whole(i64),
    Number(f64),
    Text(String),
    Span(SpanValue),
    List(Vec<FormValue>),
    Object(IndexMap<String, FormValue>),
}

/// A time span as a value, with times in seconds from the start of the video.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SpanValue {
    pub(super) start: f64,
    pub(super) end: f64,
}

/// The evidence for a value.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct FieldEvidence {
    /// JSON pointer to the value within `values`.
    pub(crate) path: String,
    /// The moment that supports the value.
    pub(crate) moment_id: MomentId,
    /// Start of the moment, in seconds from the start of the video.
    pub(crate) start: f64,
    /// End of the moment, in seconds from the start of the video.
    pub(crate) end: f64,
    /// The text that supports the value; empty if the value comes from the picture.
    pub(crate) quote: String,
    /// Whether the text supports the value; null if the value comes from the picture.
    pub(crate) verdict: Option<Verdict>,
}

/// A field without a value.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct MissingField {
    /// Path in the schema, with `*` in place of list indexes.
    pub(crate) path: String,
    /// Why there is no value.
    pub(crate) reason: String,
}

impl FormValue {
    /// The value as one line of text, or `None` if it is null.
    fn to_text(&self) -> Option<String> {
        match self {
            Self::Null => None,
            Self::Boolean(true) => Some("yes".into()),
            Self::Boolean(false) => Some("no".into()),
            Self::Whole(number) => Some(number.to_string()),
            Self::Number(number) => Some(number.to_string()),
            Self::Text(text) => Some(text.clone()),
            Self::Span(SpanValue { start, end }) => {
                Some(Span { start: *start, end: *end }.timecode())
            }
            Self::List(values) => {
                let texts: Vec<String> = values.iter().filter_map(Self::to_text).collect();
                (!texts.is_empty()).then(|| texts.join("; "))
            }
            Self::Object(values) => {
                let texts: Vec<String> = values
                    .iter()
                    .filter_map(|(name, value)| {
                        Some(format!("{} {}", label(name), value.to_text()?))
                    })
                    .collect();
                (!texts.is_empty()).then(|| texts.join(", "))
            }
        }
    }
}

/// The name of a property as words.
fn label(name: &str) -> String {
    name.replace(['_', '-'], " ")
}

impl FilledForm {
    /// Whether it has no values.
    pub(super) fn is_empty(&self) -> bool {
        self.evidence.is_empty()
    }

    /// The properties that have evidence not marked unsupported. Each is returned as text, with the
    /// span of the first such evidence.
    fn supported_texts(&self) -> Vec<(String, Option<Span>)> {
        let supported = self.values.iter().filter_map(|(name, value)| {
            let path = format!("/{name}");
            let belongs = |evidence: &&FieldEvidence| {
                evidence
                    .path
                    .strip_prefix(&path)
                    .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
            };
            let holds = |evidence: &&FieldEvidence| evidence.verdict != Some(Verdict::Unsupported);
            let first = self.evidence.iter().filter(belongs).find(holds)?;
            let span = Span { start: first.start, end: first.end };
            Some((format!("{}: {}", label(name), value.to_text()?), Some(span)))
        });
        supported.collect()
    }

    fn composed_description(&self) -> String {
        let texts = self.supported_texts().into_iter();
        texts.map(|(text, _)| sentence(&text)).collect::<Vec<_>>().join(" ")
    }
}

/// Capitalizes `text` and appends a full stop unless it ends with punctuation.
pub(super) fn sentence(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next().map(|first| first.to_uppercase().to_string()).unwrap_or_default();
    let end = if text.ends_with(['.', '!', '?']) { "" } else { "." };
    format!("{first}{}{end}", letters.as_str())
}

impl AnalyzerOutput for FilledForm {
    fn index_entry(&self) -> IndexEntry {
        let description = self.composed_description();
        if description.is_empty() {
            return IndexEntry::default();
        }
        let fields = ["combined", "description"].map(|field| (field, description.clone()));
        let display = Display::new(description);
        IndexEntry { fields: fields.into(), facets: Facets::default(), display }
    }

    fn statements(&self) -> Vec<Statement> {
        let statement = |(text, span): (String, Option<Span>)| Statement {
            span,
            ..Statement::new(PassageKind::Prose, sentence(&text))
        };
        self.supported_texts().into_iter().map(statement).collect()
    }

    fn description(&self) -> Option<String> {
        Some(self.composed_description()).filter(|text| !text.is_empty())
    }

    fn cells(&self) -> Vec<String> {
        self.values.values().map(|value| value.to_text().unwrap_or_default()).collect()
    }
}
