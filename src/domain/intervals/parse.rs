//! Reads expressions from the JSON of requests. [`OPERATORS`] is the only list of what they can
//! contain: errors and the documentation follow it.

use serde_json::{Map, Value};
use text::tokens;

use crate::intervals::expression::{
    DEFAULT_PROBABILITY, IntervalExpression, IntervalTerm, TermPhrase,
};
use crate::intervals::set::{Milliseconds, milliseconds};
use crate::intervals::settings::IntervalSettings;
use crate::kernel::error::{Error, Result};
use crate::kernel::names::{comma_separated, suggest};

/// An operator or a term, by the name of its field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OperatorSpec {
    /// The name of the field that holds the operands or the value.
    pub name: &'static str,
    /// The names of further fields.
    pub options: &'static [&'static str],
    /// When it holds, in one phrase.
    pub description: &'static str,
}

const fn operator(
    name: &'static str,
    options: &'static [&'static str],
    description: &'static str,
) -> OperatorSpec {
    OperatorSpec { name, options, description }
}

/// Every operator and every term.
pub const OPERATORS: &[OperatorSpec] = &[
    operator("all", &[], "when all of a list of expressions hold"),
    operator("any", &[], "when any of a list of expressions holds"),
    operator("not", &[], "when an expression is known not to hold"),
    operator("then", &["within"], "a list of expressions, one after another"),
    operator("during", &[], "the spans of one expression within a span of another"),
    operator("overlaps", &[], "the spans of one expression that overlap another"),
    operator("at_least", &["of"], "the spans of an expression with a minimum length, or a count"),
    operator("between", &[], "two times of the video"),
    operator("says", &[], "words that are spoken"),
    operator("reads", &[], "words on screen"),
    operator("sees", &["min_probability"], "a visible thing"),
    operator("speaker", &[], "a speaker who speaks"),
    operator("speech", &[], "somebody speaks"),
    operator("silence", &[], "nobody speaks"),
    operator("people", &[], "the number of people in a chunk"),
    operator("tag", &["min_probability"], "a tag of the picture"),
    operator("text", &["min_p_present"], "what a search finds"),
];

impl IntervalExpression {
    /// Parses an expression and returns its canonical form. Returns `Invalid` for an unknown name
    /// and for an expression that is too large, and `Unprocessable` for a value of the wrong type or
    /// outside its range.
    pub fn parse(value: &Value, limits: &IntervalSettings) -> Result<Self> {
        let mut parser = Parser { limits, terms: 0 };
        Ok(parser.expression(value, 1)?.canonical())
    }
}

struct Parser<'l> {
    limits: &'l IntervalSettings,
    /// Number of terms so far.
    terms: usize,
}

impl Parser<'_> {
    fn expression(&mut self, value: &Value, depth: usize) -> Result<IntervalExpression> {
        let max = self.limits.max_depth;
        if depth > max {
            let problem = format!("the expression nests more than {max} levels");
            return Err(Error::Invalid(format!("{problem} (intervals.max_depth)")));
        }
        let Value::Object(fields) = value else {
            return Err(type_error("an expression", value, EXPRESSION_FORM));
        };
        let spec = find_operator(fields)?;
        let operand = &fields[spec.name];
        match spec.name {
            "all" => Ok(IntervalExpression::All(self.list(spec, operand, 1, depth)?)),
            "any" => Ok(IntervalExpression::Any(self.list(spec, operand, 1, depth)?)),
            "not" => Ok(IntervalExpression::Not(Box::new(self.expression(operand, depth + 1)?))),
            "then" => Ok(IntervalExpression::Then {
                steps: self.list(spec, operand, 2, depth)?,
                within: duration("within", fields.get("within"))?,
            }),
            "during" => Ok(IntervalExpression::During(self.pair(spec, operand, depth)?)),
            "overlaps" => Ok(IntervalExpression::Overlaps(self.pair(spec, operand, depth)?)),
            "at_least" => self.at_least(operand, fields.get("of"), depth),
            _ => {
                self.terms += 1;
                let max = self.limits.max_terms;
                if self.terms > max {
                    let problem = format!("the expression has more than {max} terms");
                    return Err(Error::Invalid(format!("{problem} (intervals.max_terms)")));
                }
                Ok(IntervalExpression::Term(term(spec.name, operand, fields)?))
            }
        }
    }

    fn list(
        &mut self,
        spec: &OperatorSpec,
        operands: &Value,
        minimum: usize,
        depth: usize,
    ) -> Result<Vec<IntervalExpression>> {
        match operands {
            Value::Array(operands) if operands.len() >= minimum => {
                operands.iter().map(|operand| self.expression(operand, depth + 1)).collect()
            }
            other => {
                let expected = match minimum {
                    1 => "a list of expressions that is not empty",
                    _ => "a list of at least two expressions",
                };
                Err(type_error(spec.name, other, expected))
            }
        }
    }

    fn pair(
        &mut self,
        spec: &OperatorSpec,
        operands: &Value,
        depth: usize,
    ) -> Result<Box<[IntervalExpression; 2]>> {
        let pair: Result<[IntervalExpression; 2], _> =
            self.list(spec, operands, 2, depth)?.try_into();
        let expected = "a list of two expressions";
        pair.map(Box::new).map_err(|_| type_error(spec.name, operands, expected))
    }

    /// Parses a minimum length, or a minimum count of things or people.
    fn at_least(
        &mut self,
        minimum: &Value,
        operand: Option<&Value>,
        depth: usize,
    ) -> Result<IntervalExpression> {
        const FORM: &str = "an object with seconds or count";
        let Some(operand) = operand else {
            let detail = "of is missing; it must be the expression that at_least applies to";
            return Err(Error::Unprocessable(detail.into()));
        };
        let Value::Object(fields) = minimum else {
            return Err(type_error("at_least", minimum, FORM));
        };
        check_names("field", "at_least", fields, &["seconds", "count"])?;
        let of = self.expression(operand, depth + 1)?;
        match (fields.get("seconds"), fields.get("count")) {
            (Some(seconds), None) => Ok(IntervalExpression::Lasting {
                minimum: duration("seconds", Some(seconds))?,
                of: Box::new(of),
            }),
            (None, Some(count)) => with_count(integer("count", count, 1)?, of),
            _ => Err(type_error("at_least", minimum, FORM)),
        }
    }
}

const EXPRESSION_FORM: &str = "an object with one operator or term, such as {\"speech\": true}";

/// Finds the operator of an expression, and checks the names of all fields.
fn find_operator(fields: &Map<String, Value>) -> Result<&'static OperatorSpec> {
    let named = |name: &str| OPERATORS.iter().find(|spec| spec.name == name);
    let mut found = fields.keys().filter_map(|name| named(name));
    let Some(spec) = found.next() else {
        let names: Vec<&str> = OPERATORS.iter().map(|spec| spec.name).collect();
        return Err(match fields.keys().next() {
            Some(name) => unknown_name("operator", name, &names),
            None => {
                Error::Unprocessable(format!("an expression is {{}}; it must be {EXPRESSION_FORM}"))
            }
        });
    };
    if let Some(other) = found.next() {
        let names = format!("'{}' and '{}'", spec.name, other.name);
        let detail = format!("an expression has one operator or term, not {names}; use all or any");
        return Err(Error::Invalid(detail));
    }
    let accepted: Vec<&str> = std::iter::once(&spec.name).chain(spec.options).copied().collect();
    check_names("option", spec.name, fields, &accepted)?;
    Ok(spec)
}

/// Checks the names of the fields of an object. Unknown names are errors, because ignoring a
/// misspelled option would silently change what is found.
fn check_names(
    what: &str,
    owner: &str,
    fields: &Map<String, Value>,
    accepted: &[&str],
) -> Result<()> {
    match fields.keys().find(|name| !accepted.contains(&name.as_str())) {
        Some(name) => Err(unknown_name(&format!("{what} of {owner}"), name, accepted)),
        None => Ok(()),
    }
}

fn unknown_name(what: &str, name: &str, accepted: &[&str]) -> Error {
    let nearest = suggest(name, accepted).map(|nearest| format!("did you mean '{nearest}'? "));
    let nearest = nearest.unwrap_or_default();
    let name = excerpt(name);
    let accepted = comma_separated(accepted);
    Error::Invalid(format!("unknown {what} '{name}'; {nearest}available: {accepted}"))
}

/// Sets the minimum number of things or people that a term counts.
fn with_count(count: u32, of: IntervalExpression) -> Result<IntervalExpression> {
    let term = match of {
        IntervalExpression::Term(IntervalTerm::Sees { min_probability: Some(_), .. }) => {
            let detail =
                "a count is of detected things, which have no minimum; omit min_probability";
            return Err(Error::Invalid(detail.into()));
        }
        IntervalExpression::Term(IntervalTerm::Sees { label, min_probability, .. }) => {
            IntervalTerm::Sees { label, min_probability, count }
        }
        IntervalExpression::Term(IntervalTerm::People { at_most, .. }) => {
            IntervalTerm::People { at_least: count, at_most }
        }
        _ => {
            let detail = "a count is of things or people; `of` must be sees or people";
            return Err(Error::Invalid(detail.into()));
        }
    };
    Ok(IntervalExpression::Term(term))
}

fn term(name: &str, value: &Value, fields: &Map<String, Value>) -> Result<IntervalTerm> {
    let probability = |option| probability(option, fields.get(option));
    match name {
        "says" => Ok(IntervalTerm::Says(phrase(name, value)?)),
        "reads" => Ok(IntervalTerm::Reads(phrase(name, value)?)),
        "sees" => Ok(IntervalTerm::Sees {
            label: string(name, value)?.to_lowercase(),
            min_probability: probability("min_probability")?,
            count: 1,
        }),
        "speaker" => Ok(IntervalTerm::Speaker(string(name, value)?)),
        "speech" if *value == Value::Bool(true) => Ok(IntervalTerm::Speech),
        "silence" if *value == Value::Bool(true) => Ok(IntervalTerm::Silence),
        "people" => people(value),
        "tag" => Ok(IntervalTerm::Tag {
            label: string(name, value)?.to_lowercase(),
            min_probability: probability("min_probability")?.unwrap_or(DEFAULT_PROBABILITY),
        }),
        "text" => Ok(IntervalTerm::Text {
            text: string(name, value)?,
            min_p_present: probability("min_p_present")?.unwrap_or(DEFAULT_PROBABILITY),
        }),
        "between" => between(value),
        // Speech and silence.
        _ => Err(type_error(name, value, "true; for the opposite, use not")),
    }
}

/// Parses words; those in double quotes must occur as they are.
fn phrase(name: &str, value: &Value) -> Result<TermPhrase> {
    const QUOTES: &[char] = &['"', '“', '”'];
    let text = string(name, value)?;
    let is_exact = text.chars().count() > 1 && text.starts_with(QUOTES) && text.ends_with(QUOTES);
    let words: Vec<String> = tokens(&text).into_iter().map(|token| token.lower).collect();
    match words.is_empty() {
        true => Err(type_error(name, value, "text with at least one word")),
        false => Ok(TermPhrase { words, is_exact }),
    }
}

/// Parses text that is not empty. White space is normalised.
fn string(name: &str, value: &Value) -> Result<String> {
    let words = value.as_str().map(|text| text.split_whitespace().collect::<Vec<_>>().join(" "));
    let text = words.filter(|text| !text.is_empty());
    text.ok_or_else(|| type_error(name, value, "a string that is not empty"))
}

fn people(value: &Value) -> Result<IntervalTerm> {
    const FORM: &str = "true, or an object with at_least, at_most or both";
    let range = match value {
        Value::Bool(true) => return Ok(IntervalTerm::People { at_least: 1, at_most: None }),
        Value::Object(range) if !range.is_empty() => range,
        other => return Err(type_error("people", other, FORM)),
    };
    check_names("field", "people", range, &["at_least", "at_most"])?;
    let bound = |name: &str| range.get(name).map(|value| integer(name, value, 0)).transpose();
    Ok(IntervalTerm::People {
        at_least: bound("at_least")?.unwrap_or_default(),
        at_most: bound("at_most")?,
    })
}

fn between(value: &Value) -> Result<IntervalTerm> {
    const FORM: &str = "a list of two times in seconds, the second after the first; null is the \
                        beginning or the end of the video";
    let time = |value: &Value| match value {
        Value::Null => Some(None),
        value => value.as_f64().filter(|time| *time >= 0.0).map(|time| Some(milliseconds(time))),
    };
    let times = value.as_array().filter(|times| times.len() == 2);
    let times = times.and_then(|times| Some((time(&times[0])?, time(&times[1])?)));
    let range = times.map(|(start, end)| (start.unwrap_or_default(), end));
    let range = range.filter(|(start, end)| end.is_none_or(|end| *start < end));
    let (start, end) = range.ok_or_else(|| type_error("between", value, FORM))?;
    Ok(IntervalTerm::Between { start, end })
}

/// Parses a length of time in seconds.
fn duration(name: &str, value: Option<&Value>) -> Result<Milliseconds> {
    const FORM: &str = "a number of seconds of at least 0";
    let Some(value) = value else {
        return Err(Error::Unprocessable(format!("{name} is missing; it must be {FORM}")));
    };
    let seconds = value.as_f64().filter(|seconds| *seconds >= 0.0);
    seconds.map(milliseconds).ok_or_else(|| type_error(name, value, FORM))
}

fn integer(name: &str, value: &Value, minimum: u32) -> Result<u32> {
    let number = value.as_u64().and_then(|number| u32::try_from(number).ok());
    let expected = format!("an integer of at least {minimum}");
    number.filter(|n| *n >= minimum).ok_or_else(|| type_error(name, value, &expected))
}

fn probability(name: &str, value: Option<&Value>) -> Result<Option<f64>> {
    let Some(value) = value else { return Ok(None) };
    let number = value.as_f64().filter(|number| (0.0..=1.0).contains(number));
    number.map(Some).ok_or_else(|| type_error(name, value, "a number from 0 to 1"))
}

fn type_error(name: &str, value: &Value, expected: &str) -> Error {
    let value = excerpt(&value.to_string());
    Error::Unprocessable(format!("{name} is {value}; it must be {expected}"))
}

/// The beginning of a text from a request, as messages quote it.
fn excerpt(text: &str) -> String {
    const MAX_CHARS: usize = 60;
    let is_long = text.chars().nth(MAX_CHARS).is_some();
    let printable = |c: char| if c.is_control() { '\u{fffd}' } else { c };
    let mut excerpt: String = text.chars().take(MAX_CHARS).map(printable).collect();
    if is_long {
        excerpt.push('…');
    }
    excerpt
}
