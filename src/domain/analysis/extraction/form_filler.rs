//! Fills in a form from the values that a model extracted from a chunk: parses each value and checks
//! it against the passage that the model names as its evidence.

use std::collections::BTreeMap;

use indexmap::IndexMap;
use ports::llm::{ExtractedValue, Field, FieldKind, Passage};
use text::{is_function_word, numbers::numbers, occurs, tokens};

use crate::analysis::extraction::filled_form::{
    FieldEvidence, FilledForm, FormValue, MissingField, SpanValue,
};
use crate::analysis::extraction::form::ExtractorForm;
use crate::kernel::moment::MomentId;
use crate::kernel::time::Span;
use crate::kernel::verdict::Verdict;
use crate::kernel::video::VideoId;

/// Fills in a form for one chunk from the values that a model extracted.
pub(super) struct FormFiller<'a> {
    pub(super) form: &'a ExtractorForm,
    pub(super) fields: &'a [Field],
    pub(super) video_id: VideoId,
    pub(super) span: Span,
    pub(super) passages: &'a [Passage],
    /// Whether the model received images.
    pub(super) has_images: bool,
    /// Whether the model only selects words from the passages.
    pub(super) selects: bool,
}

/// Accepted values by path.
type ValuesByPath = BTreeMap<String, FormValue>;

impl FormFiller<'_> {
    /// Fills in the form with the extracted values that are valid.
    pub(super) fn fill(&self, extracted: Vec<ExtractedValue>) -> FilledForm {
        let (mut accepted, mut evidence) = (ValuesByPath::new(), Vec::new());
        let mut refused: BTreeMap<&str, String> = BTreeMap::new();
        for value in &extracted {
            let Some(field) = self.fields.iter().find(|f| matches_path(&value.field, &f.path))
            else {
                continue;
            };
            match self.accept(field, value) {
                Ok((field_value, field_evidence)) => {
                    if accepted.insert(value.field.clone(), field_value).is_none() {
                        evidence.push(field_evidence);
                    }
                }
                Err(reason) => {
                    refused.entry(&field.path).or_insert(reason);
                }
            }
        }
        let mut final_paths = BTreeMap::new();
        let values = self.build(self.form, "", "", &accepted, &mut final_paths);
        let values = match values {
            FormValue::Object(values) => values,
            _ => IndexMap::new(),
        };
        // List items are renumbered from 0, regardless of the indexes that the model used.
        evidence.retain_mut(|e: &mut FieldEvidence| match final_paths.remove(&e.path) {
            Some(path) => {
                e.path = path;
                true
            }
            None => false,
        });
        evidence.sort_by(|a, b| a.start.total_cmp(&b.start).then_with(|| a.path.cmp(&b.path)));
        let no_evidence = if self.selects {
            "no words of what is said or written here name it; a language model understands more \
             than words (llm.kind)"
        } else {
            "nothing here shows it"
        };
        let is_missing =
            |field: &&Field| !accepted.keys().any(|path| matches_path(path, &field.path));
        let missing = self.fields.iter().filter(is_missing).map(|field| MissingField {
            path: field.path.clone(),
            reason: refused.get(field.path.as_str()).cloned().unwrap_or_else(|| no_evidence.into()),
        });
        FilledForm { values, missing: missing.collect(), evidence }
    }

    /// Validates a value: returns it with its evidence, or the reason for rejecting it.
    fn accept(
        &self,
        field: &Field,
        value: &ExtractedValue,
    ) -> std::result::Result<(FormValue, FieldEvidence), String> {
        let text = value.value.trim();
        let passage = self.passages.iter().find(|passage| passage.id == value.passage.trim());
        if passage.is_none() && !(self.has_images && value.passage.trim().is_empty()) {
            return Err(format!("the model answered '{text}' and named nothing that shows it"));
        }
        let accepted = parse(&field.kind, text, self.span).ok_or_else(|| {
            format!("the model answered '{text}', which is not {}", expected(&field.kind))
        })?;
        let moment = passage.and_then(|passage| passage.moment.as_ref());
        let span = moment.map_or(self.span, |moment| Span { start: moment.start, end: moment.end });
        let evidence = FieldEvidence {
            path: value.field.clone(),
            moment_id: MomentId::new(self.video_id, span),
            start: span.start,
            end: span.end,
            quote: passage.map(|passage| passage.text.clone()).unwrap_or_default(),
            verdict: passage.map(|passage| verify(&field.kind, &accepted, text, passage)),
        };
        Ok((accepted, evidence))
    }

    /// Builds the value for one part of the form. `from` is its path in `accepted` and `to` its
    /// path in the result. Records the new path of each value in `final_paths`.
    fn build(
        &self,
        form: &ExtractorForm,
        from: &str,
        to: &str,
        accepted: &ValuesByPath,
        final_paths: &mut BTreeMap<String, String>,
    ) -> FormValue {
        if form.is_leaf() {
            let Some(value) = accepted.get(from) else { return FormValue::Null };
            final_paths.insert(from.to_owned(), to.to_owned());
            return value.clone();
        }
        if let Some(items) = &form.items {
            let limit = form.max_items.unwrap_or(usize::MAX);
            let prefix = format!("{from}/");
            let below =
                accepted.range(prefix.clone()..).take_while(|(path, _)| path.starts_with(&prefix));
            let number = |path: &String| path[prefix.len()..].split('/').next()?.parse().ok();
            let mut numbers: Vec<u32> = below.filter_map(|(path, _)| number(path)).collect();
            numbers.sort_unstable();
            numbers.dedup();
            let list = numbers.iter().take(limit).enumerate().map(|(index, number)| {
                let (from, to) = (format!("{from}/{number}"), format!("{to}/{index}"));
                self.build(items, &from, &to, accepted, final_paths)
            });
            let list: Vec<FormValue> = list.collect();
            return if list.is_empty() { FormValue::Null } else { FormValue::List(list) };
        }
        let value = |(name, property): (&String, &ExtractorForm)| {
            let (from, to) = (format!("{from}/{name}"), format!("{to}/{name}"));
            (name.clone(), self.build(property, &from, &to, accepted, final_paths))
        };
        FormValue::Object(form.properties.iter().map(value).collect())
    }
}

/// Whether `path` matches `pattern`, a field's path in which `*` stands for any list index.
fn matches_path(path: &str, pattern: &str) -> bool {
    let (mut path, mut pattern) = (path.split('/'), pattern.split('/'));
    loop {
        match (path.next(), pattern.next()) {
            (None, None) => return true,
            (Some(segment), Some("*")) if segment.parse::<u32>().is_ok() => {}
            (Some(segment), Some(expected)) if segment == expected => {}
            _ => return false,
        }
    }
}

/// Parses `text` as a value of `kind`. Returns `None` if `text` is not such a value.
fn parse(kind: &FieldKind, text: &str, chunk: Span) -> Option<FormValue> {
    match kind {
        _ if text.is_empty() => None,
        FieldKind::Text | FieldKind::Email | FieldKind::Uri | FieldKind::Date | FieldKind::Time => {
            Some(FormValue::Text(text.to_owned()))
        }
        FieldKind::OneOf(options) => {
            let option = options.iter().find(|option| option.eq_ignore_ascii_case(text))?;
            Some(FormValue::Text(option.clone()))
        }
        FieldKind::Boolean => text.to_ascii_lowercase().parse().ok().map(FormValue::Boolean),
        FieldKind::Number { whole, minimum, maximum } => {
            let number: f64 = text.parse().ok().filter(|number: &f64| number.is_finite())?;
            let fits =
                minimum.is_none_or(|min| number >= min) && maximum.is_none_or(|max| number <= max);
            if !fits {
                return None;
            }
            /// An `f64` represents every integer up to this value exactly.
            const EXACT: f64 = 9_007_199_254_740_992.0;
            let is_whole = number.fract() == 0.0 && number.abs() <= EXACT;
            match (whole, is_whole) {
                (_, true) => Some(FormValue::Whole(number as i64)),
                (false, false) => Some(FormValue::Number(number)),
                (true, false) => None,
            }
        }
        FieldKind::Span => {
            let (start, end) = text.split_once('-')?;
            let (start, end): (f64, f64) = (start.trim().parse().ok()?, end.trim().parse().ok()?);
            // A sentence may begin before its chunk and end after it.
            let overlaps = start <= end && start < chunk.end && end > chunk.start;
            (start >= 0.0 && overlaps).then_some(FormValue::Span(SpanValue { start, end }))
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

/// Checks whether a passage's text supports a value.
fn verify(kind: &FieldKind, value: &FormValue, text: &str, passage: &Passage) -> Verdict {
    let passage_tokens = tokens(&passage.text);
    let value_tokens = tokens(text);
    match (kind, value) {
        (_, FormValue::Span(_)) => Verdict::Supported,
        // The words of a passage cannot verify a boolean.
        (_, FormValue::Boolean(_)) => Verdict::Weak,
        (FieldKind::Number { .. }, _) => {
            let said = numbers(&passage_tokens).iter().any(|n| text.parse() == Ok(n.value));
            if said { Verdict::Supported } else { Verdict::Unsupported }
        }
        _ => {
            let mut words: Vec<&str> =
                value_tokens.iter().map(|token| token.lower.as_str()).collect();
            if words.iter().any(|word| !is_function_word(word)) {
                words.retain(|word| !is_function_word(word));
            }
            let said = words.iter().filter(|word| occurs(word, &passage_tokens)).count();
            let misheard = words.iter().any(|w| passage.doubtful.iter().any(|doubt| doubt == w));
            match kind {
                _ if said == words.len() && !misheard => Verdict::Supported,
                // Text can belong to a class without naming it.
                FieldKind::OneOf(_) => Verdict::Weak,
                _ if 2 * said >= words.len() => Verdict::Weak,
                _ => Verdict::Unsupported,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use ports::llm::{PassageKind, VideoSpan};
    use serde::Serialize;

    use super::*;
    use crate::analysis::extraction::form::ExtractorSettings;
    use crate::analysis::output::AnalyzerOutput;

    const SCHEMA: &str = r#"{"type": "object", "properties": {
        "dish": {"type": "string"},
        "course": {"type": "string", "enum": ["starter", "main"]},
        "price": {"type": "number", "minimum": 0},
        "when": {"type": "object", "format": "span"},
        "vegan": {"type": "boolean"},
        "steps": {"type": "array", "maxItems": 2, "items": {
            "type": "object", "properties": {
                "what": {"type": "string"}, "minutes": {"type": "integer"}}}}}}"#;

    fn filled(values: &[(&str, &str, &str)], has_images: bool) -> FilledForm {
        let form = ExtractorForm::parse(SCHEMA, &ExtractorSettings::default()).expect("a form");
        let said = |id: &str, start: f64, text: &str| Passage {
            moment: Some(VideoSpan { video_id: None, start, end: start + 2.0 }),
            ..Passage::new(id, PassageKind::Speech, text)
        };
        let passages = [
            said("s0", 10.0, "The fish soup costs twelve euros."),
            said("s1", 12.0, "Stir it for 5 minutes, then let it rest for 3."),
        ];
        let fields = form.fields();
        let filler = FormFiller {
            fields: &fields,
            form: &form,
            video_id: "0123456789abcdef".parse().expect("an id"),
            span: Span { start: 9.0, end: 15.0 },
            passages: &passages,
            has_images,
            selects: false,
        };
        let values = values.iter().map(|(field, value, passage)| ExtractedValue {
            field: (*field).into(),
            value: (*value).into(),
            passage: (*passage).into(),
        });
        filler.fill(values.collect())
    }

    fn json(value: &impl Serialize) -> String {
        serde_json::to_string(value).expect("JSON")
    }

    #[test]
    fn values_have_evidence_and_missing_fields_a_reason() {
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
        let read: FilledForm = serde_json::from_str(&json(&filled)).expect("reads back");
        assert_eq!(json(&read), json(&filled));
    }

    #[test]
    fn invalid_values_are_reported() {
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
        for expected in [
            "'cheap', which is not a number",
            "'dessert', which is not one of: starter, main",
            "'fish soup' and named nothing that shows it",
            "'99-100', which is not a span within the chunk",
        ] {
            assert!(reasons.contains(expected), "{expected}: {reasons}");
        }
        // A value from the picture has no text to verify it against.
        let with_images = filled(&wrong, true);
        assert_eq!((with_images.evidence.len(), with_images.evidence[0].verdict), (1, None));
    }

    #[test]
    fn unsupported_values_are_stored_but_not_stated() {
        let filled = filled(&[("/dish", "apple pie", "s0"), ("/price", "40", "s0")], false);
        assert_eq!(filled.evidence.len(), 2);
        assert_eq!(filled.description(), None);
        assert!(filled.index_entry().fields.is_empty() && filled.statements().is_empty());
    }
}
