//! Named entity recognition for English with rules and word lists. The rules would rather miss a
//! name than invent one. If text has no capital letters, as from some speech recognisers, or only
//! capital letters, as on signs, only the lists are used.

mod names;
mod numbers;
mod words;

use std::{collections::BTreeMap, ops::Range, sync::Arc};

use async_trait::async_trait;
use ports::{
    Result,
    ner::{EntityRecognizer, EntitySpan},
};

use names::Names;
use numbers::Numbers;
use words::WordTokens;

/// The recogniser. Its labels are `person`, `place`, `organisation`, `date`, `time`, `money`,
/// `percentage` and `quantity`. Clones are cheap.
#[derive(Clone)]
pub struct RuleEntities {
    labels: Arc<[String]>,
    names: Arc<Names>,
    numbers: Arc<Numbers>,
}

impl RuleEntities {
    /// Creates a recogniser with the built-in word lists.
    pub fn new() -> Self {
        Self {
            labels: Kind::ALL.iter().map(|kind| kind.label().to_owned()).collect(),
            names: Arc::new(Names::new()),
            numbers: Arc::new(Numbers::new()),
        }
    }

    fn spans(&self, text: &str) -> Vec<EntitySpan> {
        let words = WordTokens::new(text);
        let mut candidates = self.names.candidates(text, &words);
        self.numbers.candidates(text, &mut candidates);
        pick(candidates)
    }
}

impl Default for RuleEntities {
    fn default() -> Self {
        Self::new()
    }
}

#[async_trait]
impl EntityRecognizer for RuleEntities {
    fn model(&self) -> &str {
        "rules"
    }

    fn labels(&self) -> &[String] {
        &self.labels
    }

    async fn recognize(&self, texts: &[String]) -> Result<Vec<Vec<EntitySpan>>> {
        let this = self.clone();
        let texts = texts.to_vec();
        crate::blocking::run(move || Ok(texts.iter().map(|text| this.spans(text)).collect())).await
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Person,
    Place,
    Organisation,
    Date,
    Time,
    Money,
    Percentage,
    Quantity,
}

impl Kind {
    const ALL: [Self; 8] = [
        Self::Person,
        Self::Place,
        Self::Organisation,
        Self::Date,
        Self::Time,
        Self::Money,
        Self::Percentage,
        Self::Quantity,
    ];

    fn label(self) -> &'static str {
        match self {
            Self::Person => "person",
            Self::Place => "place",
            Self::Organisation => "organisation",
            Self::Date => "date",
            Self::Time => "time",
            Self::Money => "money",
            Self::Percentage => "percentage",
            Self::Quantity => "quantity",
        }
    }
}

#[derive(Debug, Clone)]
struct Candidate {
    range: Range<usize>,
    kind: Kind,
    confidence: f32,
}

/// Keeps the longest of overlapping candidates, or the most confident if they are equally long.
fn pick(mut candidates: Vec<Candidate>) -> Vec<EntitySpan> {
    candidates.sort_by(|a, b| {
        b.range.len().cmp(&a.range.len()).then(b.confidence.total_cmp(&a.confidence))
    });
    let mut taken: BTreeMap<usize, Candidate> = BTreeMap::new();
    for candidate in candidates {
        let before = taken.range(..candidate.range.end).next_back();
        if before.is_none_or(|(_, other)| other.range.end <= candidate.range.start) {
            taken.insert(candidate.range.start, candidate);
        }
    }
    let span = |c: Candidate| EntitySpan {
        range: c.range,
        label: c.kind.label().to_owned(),
        confidence: c.confidence,
    };
    taken.into_values().map(span).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks a sentence in which `[label text]` marks each expected entity. Finding any other
    /// entity is an error.
    fn check(marked: &str) {
        let mut text = String::new();
        let mut expected = Vec::new();
        for (i, part) in marked.split(['[', ']']).enumerate() {
            if i % 2 == 0 {
                text.push_str(part);
            } else if let Some((label, name)) = part.split_once(' ') {
                expected.push((label.to_owned(), name.to_owned()));
                text.push_str(name);
            }
        }
        let found: Vec<(String, String)> = RuleEntities::new()
            .spans(&text)
            .into_iter()
            .map(|s| (s.label, text[s.range].to_owned()))
            .collect();
        assert_eq!(found, expected, "{text}");
    }

    #[test]
    fn names_people() {
        for marked in [
            "[person John Smith] met [person Maria] at the door.",
            "Yesterday's man, Mr. [person Quilter], is the apostle of the middle classes.",
            "mr [person quilter] is the apostle of the middle classes",
            "President [person John F. Kennedy] spoke to [person Vincent van Gogh].",
            "Dr. [person Okonkwo-Bell] thanked [person Patrick O'Brien].",
            "Will you mark the page? May I? Grace is a virtue, and Rose petals fall.",
            "I asked [person Will Turner] and [person Grace Hopper].",
            "Then [person Omar] said hello to the President.",
            "[person Brandon Castellano] holds the copyright.",
            "The [date Monday] crowd saw [person Serena Williams]'s last serve.",
            "She is Mrs [person Dalloway].",
            "[person Barack] and [person Michelle Obama] arrived.",
        ] {
            check(marked);
        }
    }

    #[test]
    fn names_places() {
        for marked in [
            "They flew from [place Paris] to [place New York City] and on to [place Greenbelt], \
             [place Maryland].",
            "Roast turkey with china plates, nice reading, in jordan trainers.",
            "We drove through [place Georgia] and [place Turkey] to the [place Black Sea].",
            "the train to paris stops in [place buenos aires]"
                .replace("paris", "[place paris]")
                .as_str(),
            "Walk down [place Baker Street] to [place Hyde Park], then along [place Lake Geneva].",
            "Vice President for [place Southern Europe], [place Middle East] and [place Africa]",
            "LIVE FROM [place NEW YORK]",
            "[place Mount Everest] is high; the [place United States of America] is wide.",
            "The street was long. The Park is closed.",
        ] {
            check(marked);
        }
    }

    #[test]
    fn names_organisations() {
        for marked in [
            "[organisation NASA]'s [organisation Goddard Space Flight Center] built it.",
            "[organisation Acme Widgets Inc.] sued [organisation Google].",
            "[organisation University of Oxford] and [organisation Stanford University] agree.",
            "[organisation Johns Hopkins University] and the [organisation Bank of England] agree.",
            "The [organisation Ministry of Defence] said who is to go.",
            "An apple and a shell lay on the canon; the company grew.",
            "I work for [organisation Apple] and she for [organisation Procter & Gamble].",
            "who are you, and can it be so?",
            "The [organisation New York Times] reported it.",
            "[organisation Smith & Sons Ltd] was founded by [person Peter Smith].",
            "This Company is closed.",
        ] {
            check(marked);
        }
    }

    #[test]
    fn names_dates_and_times() {
        for marked in [
            "On [date March 12, 2026] and [date 3rd of May 1999], then [date 2026-11-20].",
            "It opened on [date Monday, 4 July 1776] at [time 10:30 am].",
            "Built in [date 1969] and sold in the [date 1990s], in the [date 19th century].",
            "It costs 1969 and room 2010 is free.",
            "Come at [time 5 pm], or [time noon], or [time half past nine], or [time 7 o'clock].",
            "You may march in [date March] or [date next Friday]; they may not.",
            "[date 12.03.2026] was [date Thursday]; see you [date tomorrow].",
            "COPYRIGHT © [date 2013]",
            "a second look at the second minute of the day",
        ] {
            check(marked);
        }
    }

    #[test]
    fn names_money_shares_and_quantities() {
        for marked in [
            "For [money $35]. For everyone.",
            "It made [money $1.5 million], or [money 20 euros], or [money EUR 3,000.50].",
            "[money two hundred dollars] is [percentage 12.5%] or [percentage twenty five percent].",
            "It weighs [quantity 5 kg], runs [quantity 100 km/h] for [quantity three hours].",
            "[quantity 20 °C] after [quantity 1,200 square metres] of [quantity 3.5-inch] tape",
            "46K shots from 7858 movies and two people",
            "[money ¥500], [money £3bn], [money 50 cents]",
        ] {
            check(marked);
        }
    }

    #[test]
    fn chooses_the_longest_of_overlapping_candidates() {
        let candidate = |range, kind, confidence| Candidate { range, kind, confidence };
        let spans = pick(vec![
            candidate(0..4, Kind::Place, 0.9),
            candidate(0..9, Kind::Organisation, 0.5),
            candidate(8..12, Kind::Date, 0.9),
            candidate(9..12, Kind::Person, 0.9),
        ]);
        let found: Vec<_> = spans.iter().map(|s| (s.range.clone(), s.label.as_str())).collect();
        assert_eq!(found, [(0..9, "organisation"), (9..12, "person")]);
    }
}
