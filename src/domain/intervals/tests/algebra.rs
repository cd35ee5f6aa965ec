//! Random expressions over random videos, compared with an evaluation millisecond by millisecond in
//! which each time is true, false or unknown.

use fastrand::Rng;
use serde_json::{Value, json};

use super::{compile, facts, speech, table};
use crate::aggregation::aggregators::speaker_stats::SpokenTurn;
use crate::aggregation::aggregators::stats::PeopleCount;
use crate::aggregation::testing::video;
use crate::facts::VideoFacts;

/// Length of the made-up videos, in milliseconds.
const END: usize = 48;

/// Whether something holds in each millisecond, if it is known.
type Truths = [Option<bool>; END];

/// A made-up video: what holds, and the facts that say so.
struct Sample {
    voice: Truths,
    speakers: [Truths; 2],
    crowd: Truths,
    facts: VideoFacts,
}

const SPEAKERS: [&str; 2] = ["Ada", "Bo"];

/// The longest parts of known truth, as first millisecond and the one after the last.
fn runs(truths: &Truths) -> Vec<(usize, usize)> {
    let mut runs = Vec::new();
    let mut start = None;
    for at in 0..=END {
        match (truths.get(at).copied().flatten() == Some(true), start) {
            (true, None) => start = Some(at),
            (false, Some(first)) => {
                runs.push((first, at));
                start = None;
            }
            _ => {}
        }
    }
    runs
}

fn random_truths(rng: &mut Rng) -> Truths {
    let mut truths = [Some(false); END];
    for _ in 0..rng.usize(0..6) {
        let start = rng.usize(0..END);
        truths[start..(start + rng.usize(1..10)).min(END)].fill(Some(true));
    }
    truths
}

fn seconds(at: usize) -> f64 {
    at as f64 / 1000.0
}

impl Sample {
    fn random(rng: &mut Rng) -> Self {
        let mut voice = random_truths(rng);
        let mut speakers = [random_truths(rng), random_truths(rng)];
        // People are counted in some chunks of six milliseconds.
        let mut crowd = [None; END];
        for chunk in crowd.chunks_mut(6) {
            chunk.fill((rng.u8(0..4) > 0).then(|| rng.bool()));
        }
        let spans: Vec<(f64, f64)> =
            runs(&voice).into_iter().map(|(start, end)| (seconds(start), seconds(end))).collect();
        let turns = SPEAKERS.iter().zip(&speakers).flat_map(|(speaker, own)| {
            runs(own).into_iter().map(|(start, end)| SpokenTurn {
                start: seconds(start),
                end: seconds(end),
                speaker: (*speaker).to_owned(),
            })
        });
        let counts = crowd.chunks(6).enumerate().filter_map(|(at, chunk)| {
            let people_count = u64::from(chunk[0]?);
            Some(PeopleCount { start: seconds(at * 6), end: seconds(at * 6 + 6), people_count })
        });
        let (has_voice, has_turns) = (rng.u8(0..4) > 0, rng.u8(0..4) > 0);
        let (turns, counts) = (turns.collect(), counts.collect());
        let known = facts(&video(seconds(END), 1), has_voice.then(|| speech(&spans, &[])));
        let facts = VideoFacts { turns: has_turns.then_some(turns), people: Some(counts), ..known };
        if !has_voice {
            voice = [None; END];
        }
        if !has_turns {
            speakers = [[None; END]; 2];
        }
        Self { voice, speakers, crowd, facts }
    }

    /// Evaluates an expression millisecond by millisecond.
    fn truths(&self, expression: &Value) -> Truths {
        let fields = expression.as_object().expect("an object");
        let (name, operand) = fields.iter().next().expect("an operator");
        let each = || -> Vec<Truths> {
            operand.as_array().into_iter().flatten().map(|operand| self.truths(operand)).collect()
        };
        match name.as_str() {
            "all" => combined(&each(), |all| match () {
                () if all.contains(&Some(false)) => Some(false),
                () if all.contains(&None) => None,
                () => Some(true),
            }),
            "any" => combined(&each(), |any| match () {
                () if any.contains(&Some(true)) => Some(true),
                () if any.contains(&None) => None,
                () => Some(false),
            }),
            "not" => self.truths(operand).map(|truth| truth.map(|truth| !truth)),
            "then" => {
                let gap = (fields["within"].as_f64().expect("seconds") * 1000.0).round() as usize;
                let steps = each();
                related(&steps, sequences(&steps, gap))
            }
            "during" => {
                let pair = each();
                let is_inside =
                    |run: &(usize, usize)| pair[1][run.0..run.1].iter().all(|t| *t == Some(true));
                related(&pair, runs(&pair[0]).into_iter().filter(is_inside).collect())
            }
            "overlaps" => {
                let pair = each();
                let is_common = |run: &(usize, usize)| pair[1][run.0..run.1].contains(&Some(true));
                related(&pair, runs(&pair[0]).into_iter().filter(is_common).collect())
            }
            "at_least" => {
                let of = self.truths(&fields["of"]);
                let minimum = operand["seconds"].as_f64().expect("seconds") * 1000.0;
                let is_long = |run: &(usize, usize)| run.1 - run.0 >= minimum.round() as usize;
                related(&[of], runs(&of).into_iter().filter(is_long).collect())
            }
            "between" => {
                let time =
                    |at: usize| (operand[at].as_f64().expect("a time") * 1000.0).round() as usize;
                std::array::from_fn(|at| Some((time(0)..time(1)).contains(&at)))
            }
            "speech" => self.voice,
            "silence" => self.voice.map(|truth| truth.map(|truth| !truth)),
            "people" => self.crowd,
            "speaker" => self.speakers[usize::from(operand == SPEAKERS[1])],
            other => panic!("{other}"),
        }
    }
}

fn combined(sets: &[Truths], truth: impl Fn(&[Option<bool>]) -> Option<bool>) -> Truths {
    std::array::from_fn(|at| truth(&sets.iter().map(|set| set[at]).collect::<Vec<_>>()))
}

/// A relation holds in some parts. Elsewhere, it is known not to hold where all operands are known.
fn related(operands: &[Truths], holds: Vec<(usize, usize)>) -> Truths {
    let known = combined(operands, |all| (!all.contains(&None)).then_some(false));
    let mut truths = known;
    for (start, end) in holds {
        truths[start..end].fill(Some(true));
    }
    truths
}

/// The sequences of one run of each step. Each begins at most `gap` milliseconds after the one before.
fn sequences(steps: &[Truths], gap: usize) -> Vec<(usize, usize)> {
    let mut sequences = runs(&steps[0]);
    for step in &steps[1..] {
        let all = runs(step);
        let extended = sequences.iter().filter_map(|(start, end)| {
            let next = all.iter().find(|run| run.0 >= *end)?;
            (next.0 <= end + gap).then_some((*start, next.1))
        });
        sequences = extended.collect();
    }
    sequences
}

fn random_expression(rng: &mut Rng, depth: usize) -> Value {
    let kinds = if depth == 0 { 5 } else { 12 };
    let list = |rng: &mut Rng, count: usize| -> Vec<Value> {
        (0..count).map(|_| random_expression(rng, depth - 1)).collect()
    };
    match rng.u8(0..kinds) {
        0 => json!({"speech": true}),
        1 => json!({"silence": true}),
        2 => json!({"people": true}),
        3 => json!({"speaker": SPEAKERS[rng.usize(0..2)]}),
        4 => {
            let start = rng.usize(0..END);
            json!({"between": [seconds(start), seconds(start + rng.usize(1..20))]})
        }
        5 => json!({"not": random_expression(rng, depth - 1)}),
        6 | 7 => {
            let count = rng.usize(1..4);
            json!({"all": list(rng, count)})
        }
        8 => {
            let count = rng.usize(1..4);
            json!({"any": list(rng, count)})
        }
        9 => {
            let count = rng.usize(2..4);
            json!({"then": list(rng, count), "within": seconds(rng.usize(0..8))})
        }
        10 => {
            let relation = if rng.bool() { "during" } else { "overlaps" };
            json!({relation: list(rng, 2)})
        }
        _ => {
            let minimum = seconds(rng.usize(0..10));
            json!({"at_least": {"seconds": minimum}, "of": random_expression(rng, depth - 1)})
        }
    }
}

#[test]
fn expressions_agree_with_an_evaluation_of_every_millisecond() {
    let mut rng = Rng::with_seed(11);
    for _ in 0..4000 {
        let sample = Sample::random(&mut rng);
        let table = table(&sample.facts);
        let expression = random_expression(&mut rng, 3);
        for expression in [&expression, &json!({"not": expression})] {
            let compiled = compile(expression);
            let found = compiled.spans(&table);
            let found: Vec<(usize, usize)> =
                found.intervals().iter().map(|i| (i.start as usize, i.end as usize)).collect();
            assert_eq!(found, runs(&sample.truths(expression)), "{expression}");
            for span in compiled.spans(&table).intervals() {
                let proofs = compiled.proofs(&table, *span, 5);
                assert!(!proofs.is_empty(), "{expression}");
                let mut moments = proofs.iter().flat_map(|proof| &proof.moments);
                let is_near = |m: &super::super::evaluate::ProofMoment| {
                    m.start < span.span().end && span.span().start < m.end
                };
                assert!(moments.all(is_near), "{expression}: {proofs:?}");
            }
        }
    }
}
