//! A form that is filled in: values, what shows each, and why others are missing.

use std::collections::BTreeMap;

use indexmap::IndexMap;
use ports::llm::{ExtractedValue, Field, FieldKind, Passage, PassageKind};
use serde::{Deserialize, Serialize};
use text::{is_function_word, numbers::numbers, occurs, tokens};

use crate::domain::analysis::Indexed;
use crate::domain::analysis::extraction::form::Form;
use crate::domain::analysis::finding::{Finding, Statement};
use crate::domain::analysis::hit::HitDocument;
use crate::domain::kernel::moment::MomentId;
use crate::domain::kernel::time::Span;
use crate::domain::kernel::verdict::Verdict;
use crate::domain::kernel::video::VideoId;

/// What one chunk shows of a form.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Filled {
    /// An object as the schema has it; null where nothing is shown.
    pub(crate) values: IndexMap<String, FieldValue>,
    /// What shows each value.
    pub(crate) evidence: Vec<FieldEvidence>,
    /// Fields without a value, with the reason.
    pub(crate) missing: Vec<MissingField>,
}

/// A value of a form.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub(crate) enum FieldValue {
    Null,
    Boolean(bool),
    Whole(i64),
    Number(f64),
    Text(String),
    Span(SpanValue),
    List(Vec<FieldValue>),
    Object(IndexMap<String, FieldValue>),
}

/// A span of the video as a value, seconds.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SpanValue {
    start: f64,
    end: f64,
}

/// What shows a value.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct FieldEvidence {
    /// Of the value within `values`, a JSON pointer.
    pub(crate) path: String,
    /// The moment that shows it.
    pub(crate) moment_id: MomentId,
    /// When it is, seconds of the video.
    pub(crate) start: f64,
    /// When it ends, seconds of the video.
    pub(crate) end: f64,
    /// The words that show it; empty where it is seen.
    pub(crate) quote: String,
    /// Whether the words bear it out; null where it is seen, which words cannot tell.
    pub(crate) verdict: Option<Verdict>,
}

/// A field without a value.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct MissingField {
    /// As the schema has it, with `*` for the places in lists.
    pub(crate) path: String,
    /// Why there is none.
    pub(crate) reason: String,
}

/// What a chunk is filled in from.
pub(super) struct Sheet<'a> {
    pub(super) form: &'a Form,
    pub(super) fields: &'a [Field],
    pub(super) video_id: VideoId,
    pub(super) span: Span,
    pub(super) passages: &'a [Passage],
    /// Whether the model was shown pictures.
    pub(super) seen: bool,
    /// Whether it goes by words alone.
    pub(super) selects: bool,
}

/// A value that was found, by its path.
type Found = BTreeMap<String, FieldValue>;

impl Sheet<'_> {
    /// The form, filled in with what of a model's values is right.
    pub(super) fn fill(&self, extracted: Vec<ExtractedValue>) -> Filled {
        let (mut found, mut evidence) = (Found::new(), Vec::new());
        let mut refused: BTreeMap<&str, String> = BTreeMap::new();
        for value in &extracted {
            let Some(field) = self.fields.iter().find(|f| is_of(&value.field, &f.path)) else {
                continue;
            };
            match self.accept(field, value) {
                Ok((accepted, shown)) => {
                    if found.insert(value.field.clone(), accepted).is_none() {
                        evidence.push(shown);
                    }
                }
                Err(reason) => {
                    refused.entry(&field.path).or_insert(reason);
                }
            }
        }
        let mut places = BTreeMap::new();
        let values = self.build(self.form, "", "", &found, &mut places);
        let values = match values {
            FieldValue::Object(values) => values,
            _ => IndexMap::new(),
        };
        // Items of lists are counted from 0 whatever numbers the model gave them.
        evidence.retain_mut(|shown: &mut FieldEvidence| match places.remove(&shown.path) {
            Some(place) => {
                shown.path = place;
                true
            }
            None => false,
        });
        evidence.sort_by(|a, b| a.start.total_cmp(&b.start).then_with(|| a.path.cmp(&b.path)));
        let nothing = if self.selects {
            "no words of what is said or written here name it; a language model understands more \
             than words (llm.kind)"
        } else {
            "nothing here shows it"
        };
        let lacks = |field: &&Field| !found.keys().any(|path| is_of(path, &field.path));
        let missing = self.fields.iter().filter(lacks).map(|field| MissingField {
            path: field.path.clone(),
            reason: refused.get(field.path.as_str()).cloned().unwrap_or_else(|| nothing.into()),
        });
        Filled { values, missing: missing.collect(), evidence }
    }

    /// A value and what shows it, or why it is not taken.
    fn accept(
        &self,
        field: &Field,
        value: &ExtractedValue,
    ) -> std::result::Result<(FieldValue, FieldEvidence), String> {
        let text = value.value.trim();
        let passage = self.passages.iter().find(|passage| passage.id == value.passage.trim());
        if passage.is_none() && !(self.seen && value.passage.trim().is_empty()) {
            return Err(format!("the model answered '{text}' and named nothing that shows it"));
        }
        let accepted = read(&field.kind, text, self.span).ok_or_else(|| {
            format!("the model answered '{text}', which is not {}", expected(&field.kind))
        })?;
        let moment = passage.and_then(|passage| passage.moment.as_ref());
        let span = moment.map_or(self.span, |moment| Span { start: moment.start, end: moment.end });
        let shown = FieldEvidence {
            path: value.field.clone(),
            moment_id: MomentId::new(self.video_id, span),
            start: span.start,
            end: span.end,
            quote: passage.map(|passage| passage.text.clone()).unwrap_or_default(),
            verdict: passage.map(|passage| borne_out(&field.kind, &accepted, text, passage)),
        };
        Ok((accepted, shown))
    }

    /// The value of a part of the form; `from` is its path in what was found, `to` the one it gets.
    /// Enters where each found value went.
    fn build(
        &self,
        form: &Form,
        from: &str,
        to: &str,
        found: &Found,
        places: &mut BTreeMap<String, String>,
    ) -> FieldValue {
        if form.is_leaf() {
            let Some(value) = found.get(from) else { return FieldValue::Null };
            places.insert(from.to_owned(), to.to_owned());
            return value.clone();
        }
        if let Some(items) = &form.items {
            let most = form.max_items.unwrap_or(usize::MAX);
            let within = format!("{from}/");
            let below =
                found.range(within.clone()..).take_while(|(path, _)| path.starts_with(&within));
            let number = |path: &String| path[within.len()..].split('/').next()?.parse().ok();
            let mut numbers: Vec<u32> = below.filter_map(|(path, _)| number(path)).collect();
            numbers.sort_unstable();
            numbers.dedup();
            let list = numbers.iter().take(most).enumerate().map(|(place, number)| {
                let (from, to) = (format!("{from}/{number}"), format!("{to}/{place}"));
                self.build(items, &from, &to, found, places)
            });
            let list: Vec<FieldValue> = list.collect();
            return if list.is_empty() { FieldValue::Null } else { FieldValue::List(list) };
        }
        let value = |(name, property): (&String, &Form)| {
            let (from, to) = (format!("{from}/{name}"), format!("{to}/{name}"));
            (name.clone(), self.build(property, &from, &to, found, places))
        };
        FieldValue::Object(form.properties.iter().map(value).collect())
    }
}

/// Whether a path is one of those that a field's path stands for.
fn is_of(path: &str, field: &str) -> bool {
    let (mut own, mut of_field) = (path.split('/'), field.split('/'));
    loop {
        match (own.next(), of_field.next()) {
            (None, None) => return true,
            (Some(own), Some("*")) if own.parse::<u32>().is_ok() => {}
            (Some(own), Some(other)) if own == other => {}
            _ => return false,
        }
    }
}

/// A value in writing as the kind has it; `None` where it is none of that kind.
fn read(kind: &FieldKind, text: &str, chunk: Span) -> Option<FieldValue> {
    match kind {
        _ if text.is_empty() => None,
        FieldKind::Text | FieldKind::Email | FieldKind::Uri | FieldKind::Date | FieldKind::Time => {
            Some(FieldValue::Text(text.to_owned()))
        }
        FieldKind::OneOf(options) => {
            let option = options.iter().find(|option| option.eq_ignore_ascii_case(text))?;
            Some(FieldValue::Text(option.clone()))
        }
        FieldKind::Boolean => text.to_ascii_lowercase().parse().ok().map(FieldValue::Boolean),
        FieldKind::Number { whole, minimum, maximum } => {
            let number: f64 = text.parse().ok().filter(|number: &f64| number.is_finite())?;
            let fits = minimum.is_none_or(|least| number >= least)
                && maximum.is_none_or(|most| number <= most);
            if !fits {
                return None;
            }
            /// Whole numbers that a float holds exactly.
            const EXACT: f64 = 9_007_199_254_740_992.0;
            let is_whole = number.fract() == 0.0 && number.abs() <= EXACT;
            match (whole, is_whole) {
                (_, true) => Some(FieldValue::Whole(number as i64)),
                (false, false) => Some(FieldValue::Number(number)),
                (true, false) => None,
            }
        }
        FieldKind::Span => {
            let (start, end) = text.split_once('-')?;
            let (start, end): (f64, f64) = (start.trim().parse().ok()?, end.trim().parse().ok()?);
            // A sentence may begin before its chunk and end after it.
            let meets = start <= end && start < chunk.end && end > chunk.start;
            (start >= 0.0 && meets).then_some(FieldValue::Span(SpanValue { start, end }))
        }
    }
}

fn expected(kind: &FieldKind) -> String {
    match kind {
        FieldKind::Text => "text".into(),
        FieldKind::Email => "an e-mail address".into(),
        FieldKind::Uri => "a web address".into(),
        FieldKind::Date => "a date".into(),
        FieldKind::Time => "a time of day".into(),
        FieldKind::OneOf(options) => format!("one of: {}", options.join(", ")),
        FieldKind::Number { whole: true, .. } => "a whole number within the bounds".into(),
        FieldKind::Number { whole: false, .. } => "a number within the bounds".into(),
        FieldKind::Boolean => "true or false".into(),
        FieldKind::Span => "a span within the chunk".into(),
    }
}

/// Whether the words of a passage bear a value out.
fn borne_out(kind: &FieldKind, value: &FieldValue, text: &str, passage: &Passage) -> Verdict {
    let there = tokens(&passage.text);
    let own = tokens(text);
    match (kind, value) {
        (_, FieldValue::Span(_)) => Verdict::Supported,
        // Whether something is so is more than its words.
        (_, FieldValue::Boolean(_)) => Verdict::Weak,
        (FieldKind::Number { .. }, _) => {
            let said = numbers(&there).iter().any(|n| text.parse() == Ok(n.value));
            if said { Verdict::Supported } else { Verdict::Unsupported }
        }
        _ => {
            let mut words: Vec<&str> = own.iter().map(|token| token.lower.as_str()).collect();
            if words.iter().any(|word| !is_function_word(word)) {
                words.retain(|word| !is_function_word(word));
            }
            let said = words.iter().filter(|word| occurs(word, &there)).count();
            let misheard = words.iter().any(|w| passage.doubtful.iter().any(|doubt| doubt == w));
            match kind {
                _ if said == words.len() && !misheard => Verdict::Supported,
                // What is said may be put into a class whose name is not said.
                FieldKind::OneOf(_) => Verdict::Weak,
                _ if 2 * said >= words.len() => Verdict::Weak,
                _ => Verdict::Unsupported,
            }
        }
    }
}

impl FieldValue {
    /// In words, on one line; `None` where nothing is known.
    fn told(&self) -> Option<String> {
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
                let told: Vec<String> = values.iter().filter_map(Self::told).collect();
                (!told.is_empty()).then(|| told.join("; "))
            }
            Self::Object(values) => {
                let told: Vec<String> = values
                    .iter()
                    .filter_map(|(name, value)| Some(format!("{} {}", label(name), value.told()?)))
                    .collect();
                (!told.is_empty()).then(|| told.join(", "))
            }
        }
    }
}

/// The name of a property as words.
fn label(name: &str) -> String {
    name.replace(['_', '-'], " ")
}

impl Filled {
    /// Whether the chunk shows nothing of the form.
    pub(super) fn is_empty(&self) -> bool {
        self.evidence.is_empty()
    }

    /// What is borne out, in words: each property that has a value and is not contradicted by all that
    /// shows it, with when it is shown.
    fn told(&self) -> Vec<(String, Option<Span>)> {
        let told = self.values.iter().filter_map(|(name, value)| {
            let path = format!("/{name}");
            let is_of = |shown: &&FieldEvidence| {
                shown
                    .path
                    .strip_prefix(&path)
                    .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
            };
            let held = |shown: &&FieldEvidence| shown.verdict != Some(Verdict::Unsupported);
            let first = self.evidence.iter().filter(is_of).find(held)?;
            let span = Span { start: first.start, end: first.end };
            Some((format!("{}: {}", label(name), value.told()?), Some(span)))
        });
        told.collect()
    }

    fn description_of(&self) -> String {
        let told: Vec<String> = self.told().into_iter().map(|(text, _)| sentence(&text)).collect();
        told.join(" ")
    }
}

/// With a capital letter and a full stop.
pub(super) fn sentence(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next().map(|first| first.to_uppercase().to_string()).unwrap_or_default();
    let end = if text.ends_with(['.', '!', '?']) { "" } else { "." };
    format!("{first}{}{end}", letters.as_str())
}

impl Finding for Filled {
    fn index(&self) -> Indexed {
        let description = self.description_of();
        if description.is_empty() {
            return Indexed::default();
        }
        let fields = ["combined", "description"].map(|field| (field, description.clone()));
        let document = HitDocument { description, ..HitDocument::default() };
        Indexed { fields: fields.into(), document }
    }

    fn statements(&self) -> Vec<Statement> {
        let statement = |(text, span): (String, Option<Span>)| Statement {
            span,
            ..Statement::new(PassageKind::Prose, sentence(&text))
        };
        self.told().into_iter().map(statement).collect()
    }

    fn description(&self) -> Option<String> {
        Some(self.description_of()).filter(|text| !text.is_empty())
    }

    fn cells(&self) -> Vec<String> {
        self.values.values().map(|value| value.told().unwrap_or_default()).collect()
    }
}

#[cfg(test)]
mod tests {
    use ports::llm::Moment;

    use super::*;
    use crate::domain::analysis::extraction::form::ExtractorSettings;

    const SCHEMA: &str = r#"{"type": "object", "properties": {
        "dish": {"type": "string"},
        "course": {"type": "string", "enum": ["starter", "main"]},
        "price": {"type": "number", "minimum": 0},
        "when": {"type": "object", "format": "span"},
        "vegan": {"type": "boolean"},
        "steps": {"type": "array", "maxItems": 2, "items": {
            "type": "object", "properties": {
                "what": {"type": "string"}, "minutes": {"type": "integer"}}}}}}"#;

    fn filled(values: &[(&str, &str, &str)], seen: bool) -> Filled {
        let form = Form::parse(SCHEMA, &ExtractorSettings::default()).expect("a form");
        let said = |id: &str, start: f64, text: &str| Passage {
            moment: Some(Moment { video_id: None, start, end: start + 2.0 }),
            ..Passage::new(id, PassageKind::Speech, text)
        };
        let passages = [
            said("s0", 10.0, "The fish soup costs twelve euros."),
            said("s1", 12.0, "Stir it for 5 minutes, then let it rest for 3."),
        ];
        let fields = form.fields();
        let sheet = Sheet {
            fields: &fields,
            form: &form,
            video_id: "0123456789abcdef".parse().expect("an id"),
            span: Span { start: 9.0, end: 15.0 },
            passages: &passages,
            seen,
            selects: false,
        };
        let values = values.iter().map(|(field, value, passage)| ExtractedValue {
            field: (*field).into(),
            value: (*value).into(),
            passage: (*passage).into(),
        });
        sheet.fill(values.collect())
    }

    fn json(value: &impl Serialize) -> String {
        serde_json::to_string(value).expect("JSON")
    }

    #[test]
    fn values_come_with_what_shows_them_and_the_rest_with_a_reason() {
        let filled = filled(
            &[
                ("/dish", "fish soup", "s0"),
                ("/course", "Main", "s0"),
                ("/price", "12", "s0"),
                ("/when", "10-12", "s0"),
                ("/steps/4/what", "stir", "s1"),
                ("/steps/4/minutes", "5", "s1"),
                ("/steps/7/minutes", "9", "s1"),
            ],
            false,
        );
        assert_eq!(
            json(&filled.values),
            r#"{"dish":"fish soup","course":"main","price":12,"when":{"start":10.0,"end":12.0},"vegan":null,"steps":[{"what":"stir","minutes":5},{"what":null,"minutes":9}]}"#
        );
        let shown: Vec<_> =
            filled.evidence.iter().map(|e| (e.path.as_str(), e.start, e.verdict)).collect();
        use Verdict::{Supported, Unsupported, Weak};
        assert_eq!(
            shown,
            [
                ("/course", 10.0, Some(Weak)),
                ("/dish", 10.0, Some(Supported)),
                ("/price", 10.0, Some(Supported)),
                ("/when", 10.0, Some(Supported)),
                ("/steps/0/minutes", 12.0, Some(Supported)),
                ("/steps/0/what", 12.0, Some(Supported)),
                ("/steps/1/minutes", 12.0, Some(Unsupported)),
            ]
        );
        assert_eq!(filled.evidence[0].moment_id.to_string(), "m_0123456789abcdef_10000_12000");
        assert_eq!(
            json(&filled.missing),
            r#"[{"path":"/vegan","reason":"nothing here shows it"}]"#
        );
        assert_eq!(
            filled.description().as_deref(),
            Some(
                "Dish: fish soup. Course: main. Price: 12. When: 0:10.00-0:12.00. \
                 Steps: what stir, minutes 5; minutes 9."
            )
        );
        let read: Filled = serde_json::from_str(&json(&filled)).expect("reads back");
        assert_eq!(json(&read), json(&filled));
    }

    #[test]
    fn what_is_no_value_of_its_field_is_told() {
        let wrong = [
            ("/price", "cheap", "s0"),
            ("/course", "dessert", "s0"),
            ("/dish", "fish soup", "s9"),
            ("/vegan", "true", ""),
            ("/colour", "red", "s0"),
            ("/when", "99-100", "s0"),
        ];
        let refused = filled(&wrong, false);
        assert!(refused.is_empty());
        let reasons = json(&refused.missing);
        for told in [
            "'cheap', which is not a number",
            "'dessert', which is not one of: starter, main",
            "'fish soup' and named nothing that shows it",
            "'99-100', which is not a span within the chunk",
        ] {
            assert!(reasons.contains(told), "{told}: {reasons}");
        }
        // What is seen has no words to check it by.
        let seen = filled(&wrong, true);
        assert_eq!((seen.evidence.len(), seen.evidence[0].verdict), (1, None));
    }

    #[test]
    fn what_its_evidence_does_not_say_is_kept_and_not_told() {
        let filled = filled(&[("/dish", "apple pie", "s0"), ("/price", "40", "s0")], false);
        assert_eq!(filled.evidence.len(), 2);
        assert_eq!(filled.description(), None);
        assert!(filled.index().fields.is_empty() && filled.statements().is_empty());
    }
}
