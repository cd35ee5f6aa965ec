//! How expressions are read and written.

use serde_json::{Value, json};

use super::super::expression::IntervalExpression;
use super::super::parse::OPERATORS;
use super::super::settings::IntervalSettings;
use super::parse;
use crate::kernel::error::Error;

fn error(expression: &Value) -> Error {
    let limits = IntervalSettings { max_terms: 8, max_depth: 4, ..IntervalSettings::default() };
    let parsed = IntervalExpression::parse(expression, &limits);
    parsed.err().unwrap_or_else(|| panic!("{expression} is accepted"))
}

#[test]
fn equal_expressions_have_the_same_canonical_form() {
    for (expression, canonical) in [
        (
            json!({"all": [{"speech": true}, {"all": [{"sees": "Car"}, {"speech": true}]}]}),
            json!({"all": [{"sees": "car"}, {"speech": true}]}),
        ),
        (json!({"any": [{"speech": true}, {"speech": true}]}), json!({"speech": true})),
        (json!({"not": {"not": {"silence": true}}}), json!({"silence": true})),
        (json!({"says": "  The Webb-telescope! "}), json!({"says": "the webb telescope"})),
        (json!({"says": "“Mars Rover”"}), json!({"says": "\"mars rover\""})),
        (json!({"people": true}), json!({"people": {"at_least": 1}})),
        (json!({"people": {"at_most": 2}}), json!({"people": {"at_least": 0, "at_most": 2}})),
        (
            json!({"at_least": {"count": 3}, "of": {"people": true}}),
            json!({"people": {"at_least": 3}}),
        ),
        (
            json!({"at_least": {"count": 2}, "of": {"sees": "dogs"}}),
            json!({"at_least": {"count": 2}, "of": {"sees": "dogs"}}),
        ),
        (json!({"at_least": {"count": 1}, "of": {"sees": "dog"}}), json!({"sees": "dog"})),
        (json!({"tag": "Beach", "min_probability": 0.5}), json!({"tag": "beach"})),
        (
            json!({"sees": "car", "min_probability": 0.5}),
            json!({"sees": "car", "min_probability": 0.5}),
        ),
        (json!({"between": [null, 10]}), json!({"between": [0.0, 10.0]})),
        (json!({"between": [1.25, null]}), json!({"between": [1.25, null]})),
    ] {
        let parsed = parse(&expression);
        assert_eq!(parsed.to_json(), canonical, "{expression}");
        assert_eq!(parse(&parsed.to_json()), parsed, "{expression}");
    }
    let (one, other) = (json!({"tag": "a"}), json!({"silence": true}));
    let (forward, backward) = (json!({"any": [one, other]}), json!({"any": [other, one]}));
    assert_eq!(parse(&forward), parse(&backward));
    let (forward, backward) = (json!({"during": [one, other]}), json!({"during": [other, one]}));
    assert_ne!(parse(&forward), parse(&backward));
}

#[test]
fn every_operator_reads_back() {
    let term = json!({"speech": true});
    for spec in OPERATORS {
        let operand = match spec.name {
            "all" | "any" => json!([term, {"silence": true}]),
            "then" | "during" | "overlaps" => json!([term, {"silence": true}]),
            "not" => term.clone(),
            "at_least" => json!({"seconds": 2.5}),
            "between" => json!([1, 2]),
            "speech" | "silence" | "people" => json!(true),
            _ => json!("word"),
        };
        let mut expression = json!({spec.name: operand});
        for option in spec.options {
            expression[*option] = match *option {
                "of" => term.clone(),
                "within" => json!(1.5),
                _ => json!(0.25),
            };
        }
        let parsed = parse(&expression);
        assert_eq!(parse(&parsed.to_json()), parsed, "{expression}");
    }
}

#[test]
fn values_of_the_wrong_type_or_range_are_unprocessable() {
    for (expression, words) in [
        (json!("speech"), "an expression is \"speech\"; it must be an object"),
        (json!({}), "it must be an object with one operator or term"),
        (json!({"all": []}), "all is []; it must be a list of expressions that is not empty"),
        (json!({"any": {"speech": true}}), "any is {"),
        (json!({"then": [{"speech": true}], "within": 1}), "a list of at least two expressions"),
        (json!({"then": [{"speech": true}, {"silence": true}]}), "within is missing"),
        (
            json!({"then": [{"speech": true}, {"silence": true}], "within": -1}),
            "within is -1; it must be a number of seconds of at least 0",
        ),
        (
            json!({"during": [{"speech": true}, {"silence": true}, {"speech": true}]}),
            "a list of two expressions",
        ),
        (json!({"says": " "}), "says is \" \"; it must be a string that is not empty"),
        (json!({"says": "…"}), "text with at least one word"),
        (json!({"reads": 5}), "reads is 5"),
        (json!({"speech": false}), "speech is false; it must be true; for the opposite, use not"),
        (json!({"sees": "car", "min_probability": 1.5}), "a number from 0 to 1"),
        (json!({"people": {}}), "people is {}"),
        (
            json!({"people": {"at_least": -1}}),
            "at_least is -1; it must be an integer of at least 0",
        ),
        (json!({"between": [5, 2]}), "the second after the first"),
        (json!({"between": [-1, 2]}), "between is [-1,2]"),
        (json!({"at_least": {"seconds": 1}}), "of is missing"),
        (json!({"at_least": 5, "of": {"speech": true}}), "an object with seconds or count"),
        (
            json!({"at_least": {"seconds": 1, "count": 2}, "of": {"speech": true}}),
            "an object with seconds or count",
        ),
        (json!({"at_least": {"count": 0}, "of": {"sees": "car"}}), "an integer of at least 1"),
    ] {
        let error = error(&expression);
        assert!(matches!(error, Error::Unprocessable(_)), "{expression}: {error:?}");
        assert!(error.to_string().contains(words), "{expression}: {error}");
    }
}

#[test]
fn unknown_names_and_large_expressions_are_invalid() {
    let many: Vec<Value> = (0..9).map(|n| json!({"says": format!("w{n}")})).collect();
    let deep = json!({"not": {"all": [{"not": {"any": [{"speech": true}]}}]}});
    for (expression, words) in [
        (
            json!({"say": "hello"}),
            "unknown operator 'say'; did you mean 'says'? available: all, any",
        ),
        (json!({"speech": true, "silence": true}), "not 'speech' and 'silence'; use all or any"),
        (
            json!({"sees": "car", "min_p": 1}),
            "unknown option of sees 'min_p'; did you mean 'min_probability'?",
        ),
        (json!({"people": {"min": 1}}), "unknown field of people 'min'"),
        (json!({"at_least": {"count": 2}, "of": {"speech": true}}), "`of` must be sees or people"),
        (
            json!({"at_least": {"count": 2}, "of": {"sees": "car", "min_probability": 0.5}}),
            "omit min_probability",
        ),
        (json!({"all": many}), "more than 8 terms (intervals.max_terms)"),
        (deep, "nests more than 4 levels (intervals.max_depth)"),
    ] {
        let error = error(&expression);
        assert!(matches!(error, Error::Invalid(_)), "{expression}: {error:?}");
        assert!(error.to_string().contains(words), "{expression}: {error}");
    }
    let long = json!({"x".repeat(500): "\u{7}"});
    let message = error(&long).to_string();
    assert!(message.len() < 400 && !message.contains('\u{7}'), "{message}");
}
