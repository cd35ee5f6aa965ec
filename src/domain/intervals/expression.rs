//! Expressions over the intervals of a video: what holds when. Requests contain them as JSON, which
//! [`parse`](super::parse) reads; every expression has one canonical form.

use serde_json::{Map, Value, json};

use crate::intervals::set::Milliseconds;

/// Minimum probability of a thing or tag that counts if an expression has no other minimum.
pub(crate) const DEFAULT_PROBABILITY: f64 = 0.5;

/// An expression. It holds at some times of a video; of these, the longest intervals are its spans.
#[derive(Debug, Clone, PartialEq)]
pub enum IntervalExpression {
    /// When all of them hold.
    All(Vec<Self>),
    /// When any of them holds.
    Any(Vec<Self>),
    /// When it is known not to hold.
    Not(Box<Self>),
    /// From the beginning of a span of the first to the end of a span of the last, one after
    /// another.
    Then {
        /// What follows one another.
        steps: Vec<Self>,
        /// Maximum time between the end of one and the beginning of the next, in milliseconds.
        within: u32,
    },
    /// The spans of the first that lie within a span of the second.
    During(Box<[Self; 2]>),
    /// The spans of the first that have a time in common with the second.
    Overlaps(Box<[Self; 2]>),
    /// The spans that last at least this long.
    Lasting {
        /// Minimum length, in milliseconds.
        minimum: u32,
        /// What lasts.
        of: Box<Self>,
    },
    /// When a term holds.
    Term(IntervalTerm),
}

/// What is known about a video at a time.
#[derive(Debug, Clone, PartialEq)]
pub enum IntervalTerm {
    /// The words are spoken, one after another.
    Says(TermPhrase),
    /// A line on screen contains the words.
    Reads(TermPhrase),
    /// Things with this label, or of this kind, are visible.
    Sees {
        /// The label, in lower case.
        label: String,
        /// Minimum probability, 0..1; `None` for what is stated, or probable.
        min_probability: Option<f64>,
        /// Minimum number of such things in one frame.
        count: u32,
    },
    /// The speaker with this label or name speaks.
    Speaker(String),
    /// Somebody speaks.
    Speech,
    /// Nobody speaks.
    Silence,
    /// A chunk of the video shows this many people at once.
    People {
        /// Minimum number.
        at_least: u32,
        /// Maximum number.
        at_most: Option<u32>,
    },
    /// The picture has this tag.
    Tag {
        /// The tag, in lower case.
        label: String,
        /// Minimum probability, 0..1.
        min_probability: f64,
    },
    /// A search finds the moment.
    Text {
        /// The search text.
        text: String,
        /// Minimum `p_present` of a hit, 0..1.
        min_p_present: f64,
    },
    /// The time of the video is in this range.
    Between {
        /// First time, in milliseconds.
        start: u32,
        /// The time after the last one, in milliseconds; `None` for the end of the video.
        end: Option<u32>,
    },
}

/// The words of a term.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TermPhrase {
    /// The words in lower case.
    pub words: Vec<String>,
    /// Whether the words must occur as they are. If not, other forms of them match as well.
    pub is_exact: bool,
}

impl TermPhrase {
    fn to_text(&self) -> String {
        let words = self.words.join(" ");
        if self.is_exact { format!("\"{words}\"") } else { words }
    }
}

impl IntervalExpression {
    /// Returns the canonical form, which is the same for expressions that differ only in the order
    /// of operands, in repetitions and in nesting.
    pub(super) fn canonical(self) -> Self {
        match self {
            Self::All(operands) => merged(operands, Self::All, |operand| match operand {
                Self::All(inner) => Ok(inner),
                other => Err(other),
            }),
            Self::Any(operands) => merged(operands, Self::Any, |operand| match operand {
                Self::Any(inner) => Ok(inner),
                other => Err(other),
            }),
            Self::Not(operand) => match operand.canonical() {
                Self::Not(inner) => *inner,
                other => Self::Not(Box::new(other)),
            },
            Self::Then { steps, within } => {
                Self::Then { steps: steps.into_iter().map(Self::canonical).collect(), within }
            }
            Self::During(pair) => Self::During(Box::new(pair.map(Self::canonical))),
            Self::Overlaps(pair) => Self::Overlaps(Box::new(pair.map(Self::canonical))),
            Self::Lasting { minimum, of } => {
                Self::Lasting { minimum, of: Box::new(of.canonical()) }
            }
            term @ Self::Term(_) => term,
        }
    }

    /// The search texts of all terms, in order.
    pub(crate) fn texts(&self) -> Vec<&str> {
        match self {
            Self::All(operands) | Self::Any(operands) | Self::Then { steps: operands, .. } => {
                operands.iter().flat_map(Self::texts).collect()
            }
            Self::Not(operand) | Self::Lasting { of: operand, .. } => operand.texts(),
            Self::During(pair) | Self::Overlaps(pair) => {
                pair.iter().flat_map(Self::texts).collect()
            }
            Self::Term(IntervalTerm::Text { text, .. }) => vec![text],
            Self::Term(_) => Vec::new(),
        }
    }

    /// Returns the JSON of the expression, which parses to the same expression.
    pub fn to_json(&self) -> Value {
        let list = |operands: &[Self]| -> Value { operands.iter().map(Self::to_json).collect() };
        match self {
            Self::All(operands) => json!({"all": list(operands)}),
            Self::Any(operands) => json!({"any": list(operands)}),
            Self::Not(operand) => json!({"not": operand.to_json()}),
            Self::Then { steps, within } => {
                json!({"then": list(steps), "within": seconds(*within)})
            }
            Self::During(pair) => json!({"during": list(&pair[..])}),
            Self::Overlaps(pair) => json!({"overlaps": list(&pair[..])}),
            Self::Lasting { minimum, of } => {
                json!({"at_least": {"seconds": seconds(*minimum)}, "of": of.to_json()})
            }
            Self::Term(term) => term.to_json(),
        }
    }
}

/// Joins operands with those of nested operators of the same kind, without repetitions and sorted.
fn merged(
    operands: Vec<IntervalExpression>,
    operator: fn(Vec<IntervalExpression>) -> IntervalExpression,
    inner: impl Fn(IntervalExpression) -> Result<Vec<IntervalExpression>, IntervalExpression>,
) -> IntervalExpression {
    let operands = operands.into_iter().map(IntervalExpression::canonical);
    let flat = operands.flat_map(|operand| inner(operand).unwrap_or_else(|other| vec![other]));
    let mut sorted: Vec<(String, IntervalExpression)> =
        flat.map(|operand| (operand.to_json().to_string(), operand)).collect();
    sorted.sort_by(|a, b| a.0.cmp(&b.0));
    sorted.dedup_by(|a, b| a.0 == b.0);
    let mut operands: Vec<IntervalExpression> = sorted.into_iter().map(|(_, one)| one).collect();
    match operands.len() {
        1 => operands.swap_remove(0),
        _ => operator(operands),
    }
}

impl IntervalTerm {
    /// Returns the JSON of the term.
    pub fn to_json(&self) -> Value {
        match self {
            Self::Says(phrase) => json!({"says": phrase.to_text()}),
            Self::Reads(phrase) => json!({"reads": phrase.to_text()}),
            Self::Sees { label, min_probability, count } => {
                let sees = with_option("sees", label, "min_probability", *min_probability);
                match count {
                    1 => sees,
                    _ => json!({"at_least": {"count": count}, "of": sees}),
                }
            }
            Self::Speaker(label) => json!({"speaker": label}),
            Self::Speech => json!({"speech": true}),
            Self::Silence => json!({"silence": true}),
            Self::People { at_least, at_most } => {
                let mut range = Map::new();
                range.insert("at_least".into(), json!(at_least));
                range.extend(at_most.map(|count| ("at_most".to_owned(), json!(count))));
                json!({"people": range})
            }
            Self::Tag { label, min_probability } => {
                let minimum = Some(*min_probability).filter(|p| *p != DEFAULT_PROBABILITY);
                with_option("tag", label, "min_probability", minimum)
            }
            Self::Text { text, min_p_present } => {
                let minimum = Some(*min_p_present).filter(|p| *p != DEFAULT_PROBABILITY);
                with_option("text", text, "min_p_present", minimum)
            }
            Self::Between { start, end } => {
                json!({"between": [seconds(*start), end.map(seconds)]})
            }
        }
    }
}

fn with_option(name: &str, value: &str, option: &str, minimum: Option<f64>) -> Value {
    let mut term = Map::new();
    term.insert(name.into(), value.into());
    term.extend(minimum.map(|minimum| (option.to_owned(), json!(minimum))));
    Value::Object(term)
}

fn seconds(time: Milliseconds) -> f64 {
    f64::from(time) / 1000.0
}
