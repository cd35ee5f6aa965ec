//! Finds dates, times, money, percentages and quantities. These are expressions with digits or
//! spelled-out numbers.

use std::ops::RangeInclusive;

use regex::Regex;
use text::calendar::{MONTHS, WEEKDAYS, is_ambiguous_month};
use text::numbers::{CARDINALS, SCALES};

use super::{Candidate, Kind};

/// The compiled expressions.
pub(super) struct Numbers {
    rules: Vec<(Kind, f32, Regex)>,
}

const NUMBER: &str = r"(?:\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?)";
const SCALE: &str = r"(?: ?(?:thousand|million|billion|trillion|bn|mn|m|k)\b)";
const DAY: &str = r"(?:[12]\d|3[01]|0?[1-9])(?:st|nd|rd|th)?";
const YEAR: &str = r"(?:1[5-9]\d\d|20\d\d)";
const CURRENCY: &str = r"(?:dollars?|euros?|pounds sterling|pounds?|cents?|pence|yen|yuan|rupees?|francs?|roubles?|rubles?|pesos?|bucks|USD|EUR|GBP|JPY|CHF)";
const UNIT: &str = r"(?:(?:square |cubic )?(?:milli|centi|kilo)?(?:met(?:re|er)s?|lit(?:re|er)s?|grams?|watts?|hertz|bytes?)|miles? (?:per|an) hour|miles?|(?:square |cubic )?(?:feet|foot|inch(?:es)?|yards?)|acres?|hectares?|tons?|tonnes?|pounds|ounces?|gallons?|degrees(?: (?:Celsius|Fahrenheit))?|light[- ]years?|seconds?|minutes?|hours?|days?|weeks?|months?|years?|decades?|km/h|mph|kph|km²|m²|km|cm|mm|kg|mg|kW|MW|GHz|MHz|kHz|Hz|GB|MB|TB|fps|°[CF]?)";

/// Kind, confidence and expression of each rule. `{NAME}` stands for a fragment that [`fragments`]
/// builds. An alternative is case-sensitive if only its capital letter distinguishes it from an
/// ordinary word.
const RULES: [(Kind, f32, &str); 24] = [
    (Kind::Date, 0.95, r"\b{YEAR}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])\b"),
    (Kind::Date, 0.9, r"\b(?:[0-2]?\d|3[01])([./])(?:[0-2]?\d|3[01])[./](?:19|20)\d\d\b"),
    (Kind::Date, 0.95, r"\b(?:(?i:{WEEKDAY}),? )?(?i:{DAY}(?: of)? {MONTH}),?(?: {YEAR})?\b"),
    (Kind::Date, 0.95, r"\b(?:(?i:{WEEKDAY}),? )?(?i:{MONTH} {DAY})\b(?:,? {YEAR}\b)?"),
    (Kind::Date, 0.9, r"\b(?i:{MONTH}),? {YEAR}\b"),
    (
        Kind::Date,
        0.8,
        r"\b(?i:(?:next|last|this|every) (?:{WEEKDAY}|week|month|year|summer|winter|spring|autumn))\b",
    ),
    (Kind::Date, 0.85, r"\b(?i:{WEEKDAY})s?\b"),
    (Kind::Date, 0.85, r"\b(?i:{CERTAIN_MONTH})\b"),
    (
        Kind::Date,
        0.8,
        r"\b(?i:in|since|until|during|by|last|next|early|late|of) (?P<e>March|May)\b",
    ),
    (
        Kind::Date,
        0.8,
        r"(?:\b(?i:in|since|from|until|till|by|during|before|after|of|year|around|between|early|late|copyright) |© ?|\(c\) ?|\()(?P<e>{YEAR})\b",
    ),
    (Kind::Date, 0.85, r"\b(?:1[5-9]|20)\d0s\b"),
    (
        Kind::Date,
        0.85,
        r"\b(?i:(?:\d{1,2}(?:st|nd|rd|th)|nineteenth|twentieth|twenty[- ]first) century)\b",
    ),
    (
        Kind::Date,
        0.7,
        r"\b(?i:tomorrow|(?:the day (?:after|before) )?yesterday|today)(?P<stop>'s)?\b",
    ),
    (Kind::Time, 0.9, r"\b(?:[01]?\d|2[0-3]):[0-5]\d(?::[0-5]\d)?(?: ?(?i:[ap]\.?m\b\.?))?"),
    (Kind::Time, 0.9, r"\b(?i:(?:1[0-2]|[1-9]|{HOUR}) ?(?:o['’]clock|[ap]\.?m\b\.?))"),
    (Kind::Time, 0.85, r"\b(?i:(?:half|quarter) (?:past|to) (?:1[0-2]|[1-9]|{HOUR}))\b"),
    (Kind::Time, 0.7, r"\b(?i:noon|midday|midnight)\b"),
    (Kind::Money, 0.95, r"(?:\b(?:US|A|C|NZ))?[$€£¥₹] ?{NUMBER}(?i:{SCALE})?"),
    (Kind::Money, 0.9, r"\b(?:USD|EUR|GBP|JPY|CHF|CNY|INR) ?{NUMBER}(?i:{SCALE})?"),
    (Kind::Money, 0.9, r"\b(?i:{AMOUNT} ?{CURRENCY})\b"),
    (Kind::Money, 0.9, r"\b{NUMBER}(?i:{SCALE})? ?[€£¥]"),
    (Kind::Percentage, 0.95, r"\b{NUMBER} ?%"),
    (
        Kind::Percentage,
        0.9,
        r"\b(?i:(?:{NUMBER}|{SPELLED}) ?(?:percent|per cent|percentage points?))\b",
    ),
    (Kind::Quantity, 0.85, r"\b(?i:(?:{AMOUNT}|half an?)[ -]?{UNIT})(?:\b| |$|[,.;)])"),
];

/// Returns the placeholders in [`RULES`] with their expressions.
fn fragments() -> [(&'static str, String); 12] {
    let scales = SCALES.iter().map(|(name, _)| *name).filter(|name| !name.ends_with('s'));
    let number_word = any(named(1..=99).chain(scales));
    let spelled = format!(r"(?:{number_word}(?:[ -](?:and )?)?)+");
    let month =
        format!(r"(?:{}|(?:Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sept?|Oct|Nov|Dec)\b\.?)", any(MONTHS));
    let certain_months = MONTHS.into_iter().filter(|month| !is_ambiguous_month(month));
    [
        ("{NUMBER}", NUMBER.to_owned()),
        ("{SCALE}", SCALE.to_owned()),
        ("{DAY}", DAY.to_owned()),
        ("{YEAR}", YEAR.to_owned()),
        ("{CURRENCY}", CURRENCY.to_owned()),
        ("{UNIT}", UNIT.to_owned()),
        ("{HOUR}", any(named(1..=12))),
        ("{WEEKDAY}", any(WEEKDAYS)),
        ("{MONTH}", month),
        ("{CERTAIN_MONTH}", any(certain_months)),
        ("{AMOUNT}", format!(r"(?:{NUMBER}{SCALE}?|{spelled})")),
        ("{SPELLED}", spelled),
    ]
}

impl Numbers {
    pub(super) fn new() -> Self {
        let fragments = fragments();
        let compile = |(kind, confidence, rule): (Kind, f32, &str)| {
            let expression = fragments
                .iter()
                .fold(rule.to_owned(), |rule, (name, fragment)| rule.replace(name, fragment));
            // A test ensures that every rule compiles.
            Regex::new(&expression).ok().map(|regex| (kind, confidence, regex))
        };
        Self { rules: RULES.into_iter().filter_map(compile).collect() }
    }

    pub(super) fn candidates(&self, text: &str, found: &mut Vec<Candidate>) {
        for (kind, confidence, rule) in &self.rules {
            for captures in rule.captures_iter(text) {
                if captures.name("stop").is_some() {
                    continue;
                }
                let Some(hit) = captures.name("e").or_else(|| captures.get(0)) else { continue };
                let shown = hit.as_str().trim_end_matches([' ', ',', ';', ')', '-']);
                // A final full stop ends the sentence, unless it belongs to `a.m.`.
                let shown = match shown.to_ascii_lowercase().ends_with(".m.") {
                    true => shown,
                    false => shown.trim_end_matches('.'),
                };
                if !shown.is_empty() {
                    let range = hit.start()..hit.start() + shown.len();
                    found.push(Candidate { range, kind: *kind, confidence: *confidence });
                }
            }
        }
    }
}

/// Returns a regular expression that matches any of the words.
fn any<'a>(words: impl IntoIterator<Item = &'a str>) -> String {
    format!("(?:{})", words.into_iter().collect::<Vec<_>>().join("|"))
}

/// Returns the names of the numbers in `range`, except "dozen", which is a countable noun.
fn named(range: RangeInclusive<u32>) -> impl Iterator<Item = &'static str> {
    let selected = move |(name, value): &&(&str, u32)| range.contains(value) && *name != "dozen";
    CARDINALS.iter().filter(selected).map(|(name, _)| *name)
}

#[cfg(test)]
mod tests {
    #[test]
    fn every_rule_compiles() {
        assert_eq!(super::Numbers::new().rules.len(), super::RULES.len());
    }
}
