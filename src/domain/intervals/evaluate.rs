//! Evaluates an expression on the table of a video: the spans in which it holds, and the moments that
//! prove it.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::intervals::expression::{IntervalExpression, IntervalTerm};
use crate::intervals::set::{Interval, IntervalSet, Milliseconds};
use crate::intervals::table::IntervalTable;
use crate::intervals::terms::{MatchSource, Requirement, TermMatcher, TextHits};
use crate::kernel::time::Span;
use crate::kernel::video::ChunkId;

/// An expression that is ready to be evaluated.
#[derive(Debug)]
pub(crate) struct CompiledExpression {
    root: Node,
    /// What proves that the expression holds, in order.
    claims: Vec<Claim>,
    requirements: BTreeSet<Requirement>,
}

#[derive(Debug)]
enum Node {
    All(Vec<Node>),
    Any(Vec<Node>),
    Not(Box<Node>),
    Then(Vec<Node>, Milliseconds),
    During(Box<[Node; 2]>),
    Overlaps(Box<[Node; 2]>),
    Lasting(Milliseconds, Box<Node>),
    Term(Box<TermMatcher>),
}

/// A part of an expression that must hold, or must not.
#[derive(Debug)]
struct Claim {
    json: Value,
    node: Node,
    is_negated: bool,
}

/// The moments that prove a part of an expression in one span.
#[derive(Debug, Clone, PartialEq)]
pub struct IntervalProof {
    /// The term, or what is negated, as JSON.
    pub term: Value,
    /// Whether the moments are those in which it is known not to hold.
    pub is_absence: bool,
    /// The first moments, in order.
    pub moments: Vec<ProofMoment>,
    /// Number of further moments.
    pub more: usize,
}

/// A moment that proves a term.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ProofMoment {
    /// Start, in seconds from the start of the video.
    pub start: f64,
    /// End, in seconds from the start of the video.
    pub end: f64,
    /// The words that are spoken or read.
    pub text: Option<String>,
    /// The label of the thing or tag.
    pub label: Option<String>,
    /// The label or name of the speaker.
    pub speaker: Option<String>,
    /// The number of people or things.
    pub count: Option<u32>,
    /// The confidence of the words or the probability of the label or hit, 0..1.
    pub probability: Option<f64>,
}

impl CompiledExpression {
    /// Prepares an expression. `hits` returns the hits of a term that searches for a text.
    pub(crate) fn new(
        expression: &IntervalExpression,
        hits: &dyn Fn(&IntervalTerm) -> Option<TextHits>,
    ) -> Self {
        let mut claims: Vec<Claim> = Vec::new();
        for (part, is_negated) in claimed(expression, false) {
            let json = part.to_json();
            if !claims.iter().any(|known| known.json == json && known.is_negated == is_negated) {
                claims.push(Claim { json, node: Node::new(part, hits), is_negated });
            }
        }
        let mut requirements = BTreeSet::new();
        collect_requirements(expression, &mut requirements);
        Self { root: Node::new(expression, hits), claims, requirements }
    }

    /// What must be known about a video to evaluate every term.
    pub(crate) fn requirements(&self) -> impl Iterator<Item = Requirement> {
        self.requirements.iter().copied()
    }

    /// The spans in which the expression holds.
    pub(crate) fn spans(&self, table: &IntervalTable) -> IntervalSet {
        self.root.holds(table)
    }

    /// The chunks that the expression selects: it holds at some time in the chunk, and what its
    /// outermost level excludes with `not` is absent from the whole chunk.
    pub(crate) fn chunks(&self, table: &IntervalTable) -> Vec<ChunkId> {
        let operands = match &self.root {
            Node::All(operands) => operands.as_slice(),
            root => std::slice::from_ref(root),
        };
        let (excluded, required): (Vec<&Node>, Vec<&Node>) =
            operands.iter().partition(|operand| matches!(operand, Node::Not(_)));
        let holds = |node: &Node| node.holds(table);
        let present = (!required.is_empty()).then(|| common(required, holds));
        let absent = (!excluded.is_empty()).then(|| common(excluded, holds));
        let is_selected = |chunk: &Interval| {
            present.as_ref().is_none_or(|times| times.overlaps(*chunk))
                && absent.as_ref().is_none_or(|times| times.covers(*chunk))
        };
        let chunks = table.chunks.iter().enumerate();
        let selected = chunks.filter(|(_, chunk)| is_selected(chunk));
        selected.map(|(index, _)| ChunkId::from_index(index)).collect()
    }

    /// The moments that prove a span: for each term, up to `max` that overlap the span.
    pub(crate) fn proofs(
        &self,
        table: &IntervalTable,
        span: Interval,
        max: usize,
    ) -> Vec<IntervalProof> {
        let proofs = self.claims.iter().map(|claim| claim.proof(table, span, max));
        proofs.filter(|proof| !proof.moments.is_empty()).collect()
    }
}

/// The parts of an expression that are claimed to hold or, if negated, not to hold. A term stands for
/// itself; of a sequence or another relation that is negated, the relation as a whole does not hold.
fn claimed(expression: &IntervalExpression, is_negated: bool) -> Vec<(&IntervalExpression, bool)> {
    match expression {
        IntervalExpression::All(operands) | IntervalExpression::Any(operands) => {
            operands.iter().flat_map(|operand| claimed(operand, is_negated)).collect()
        }
        IntervalExpression::Not(operand) => claimed(operand, !is_negated),
        IntervalExpression::Term(_) => vec![(expression, is_negated)],
        _ if is_negated => vec![(expression, true)],
        IntervalExpression::Then { steps, .. } => {
            steps.iter().flat_map(|step| claimed(step, false)).collect()
        }
        IntervalExpression::During(pair) | IntervalExpression::Overlaps(pair) => {
            pair.iter().flat_map(|operand| claimed(operand, false)).collect()
        }
        IntervalExpression::Lasting { of, .. } => claimed(of, false),
    }
}

fn collect_requirements(expression: &IntervalExpression, found: &mut BTreeSet<Requirement>) {
    match expression {
        IntervalExpression::All(operands)
        | IntervalExpression::Any(operands)
        | IntervalExpression::Then { steps: operands, .. } => {
            operands.iter().for_each(|operand| collect_requirements(operand, found));
        }
        IntervalExpression::Not(operand) => collect_requirements(operand, found),
        IntervalExpression::During(pair) | IntervalExpression::Overlaps(pair) => {
            pair.iter().for_each(|operand| collect_requirements(operand, found));
        }
        IntervalExpression::Lasting { of, .. } => collect_requirements(of, found),
        IntervalExpression::Term(term) => found.extend(Requirement::for_term(term)),
    }
}

impl Node {
    fn new(
        expression: &IntervalExpression,
        hits: &dyn Fn(&IntervalTerm) -> Option<TextHits>,
    ) -> Self {
        let list = |operands: &[IntervalExpression]| -> Vec<Self> {
            operands.iter().map(|operand| Self::new(operand, hits)).collect()
        };
        let pair = |pair: &[IntervalExpression; 2]| {
            Box::new([Self::new(&pair[0], hits), Self::new(&pair[1], hits)])
        };
        match expression {
            IntervalExpression::All(operands) => Self::All(list(operands)),
            IntervalExpression::Any(operands) => Self::Any(list(operands)),
            IntervalExpression::Not(operand) => Self::Not(Box::new(Self::new(operand, hits))),
            IntervalExpression::Then { steps, within } => Self::Then(list(steps), *within),
            IntervalExpression::During(operands) => Self::During(pair(operands)),
            IntervalExpression::Overlaps(operands) => Self::Overlaps(pair(operands)),
            IntervalExpression::Lasting { minimum, of } => {
                Self::Lasting(*minimum, Box::new(Self::new(of, hits)))
            }
            IntervalExpression::Term(term) => {
                Self::Term(Box::new(TermMatcher::new(term, hits(term))))
            }
        }
    }

    /// The times at which it is known to hold.
    fn holds(&self, table: &IntervalTable) -> IntervalSet {
        match self {
            Self::All(operands) => common(operands, |operand| operand.holds(table)),
            Self::Any(operands) => joined(operands, |operand| operand.holds(table)),
            Self::Not(operand) => operand.fails(table),
            Self::Then(steps, gap) => {
                let mut sets = Vec::with_capacity(steps.len());
                for step in steps {
                    sets.push(step.holds(table));
                    if sets.last().is_some_and(IntervalSet::is_empty) {
                        return IntervalSet::default();
                    }
                }
                IntervalSet::sequences(&sets, *gap)
            }
            Self::During(pair) => pair[0].related(&pair[1], table, IntervalSet::during),
            Self::Overlaps(pair) => pair[0].related(&pair[1], table, IntervalSet::overlapping),
            Self::Lasting(minimum, operand) => operand.holds(table).lasting(*minimum),
            Self::Term(term) => term.holds(table),
        }
    }

    /// The times at which it is known not to hold.
    fn fails(&self, table: &IntervalTable) -> IntervalSet {
        match self {
            Self::All(operands) => joined(operands, |operand| operand.fails(table)),
            Self::Any(operands) => common(operands, |operand| operand.fails(table)),
            Self::Not(operand) => operand.holds(table),
            Self::Then(..) | Self::During(_) | Self::Overlaps(_) | Self::Lasting(..) => {
                self.known(table).difference(&self.holds(table))
            }
            Self::Term(term) => term.known(table).difference(&term.holds(table)),
        }
    }

    /// The times at which it is known whether it holds. That a relation does not hold is known where
    /// all of its operands are known.
    fn known(&self, table: &IntervalTable) -> IntervalSet {
        match self {
            Self::All(_) | Self::Any(_) => self.holds(table).union(&self.fails(table)),
            Self::Not(operand) | Self::Lasting(_, operand) => operand.known(table),
            Self::Then(steps, _) => self.known_relation(steps, table),
            Self::During(pair) | Self::Overlaps(pair) => self.known_relation(&pair[..], table),
            Self::Term(term) => term.known(table),
        }
    }

    fn known_relation(&self, operands: &[Self], table: &IntervalTable) -> IntervalSet {
        common(operands, |operand| operand.known(table)).union(&self.holds(table))
    }

    fn related(
        &self,
        other: &Self,
        table: &IntervalTable,
        relation: fn(&IntervalSet, &IntervalSet) -> IntervalSet,
    ) -> IntervalSet {
        let own = self.holds(table);
        if own.is_empty() { own } else { relation(&own, &other.holds(table)) }
    }
}

/// The times that the sets of all nodes have in common.
fn common<'n>(
    nodes: impl IntoIterator<Item = &'n Node>,
    set: impl Fn(&Node) -> IntervalSet,
) -> IntervalSet {
    let mut nodes = nodes.into_iter();
    let mut common = nodes.next().map(&set).unwrap_or_default();
    for node in nodes {
        if common.is_empty() {
            break;
        }
        common = common.intersection(&set(node));
    }
    common
}

/// The times that are in the set of any node.
fn joined(nodes: &[Node], set: impl Fn(&Node) -> IntervalSet) -> IntervalSet {
    let intervals = nodes.iter().flat_map(|node| set(node).intervals().to_vec());
    intervals.collect()
}

impl Claim {
    fn proof(&self, table: &IntervalTable, span: Interval, max: usize) -> IntervalProof {
        let mut proof = IntervalProof {
            term: self.json.clone(),
            is_absence: self.is_negated,
            moments: Vec::new(),
            more: 0,
        };
        match (&self.node, self.is_negated) {
            (Node::Term(term), false) => {
                let matches = matches_at(term, table, span);
                proof.more = matches.len().saturating_sub(max);
                let matches = matches.into_iter().take(max);
                proof.moments = matches.map(|(i, source)| moment(table, i, source)).collect();
            }
            (node, _) => {
                let free = node.fails(table).intersection(&IntervalSet::from_iter([span]));
                let free = free.intervals();
                proof.more = free.len().saturating_sub(max);
                let free = free.iter().take(max);
                proof.moments = free.map(|i| moment(table, *i, MatchSource::Interval)).collect();
            }
        }
        proof
    }
}

/// The moments that show that a term holds in a span, in order. If the span lies between two of them,
/// both show it: a thing that is seen before and after is seen in between.
fn matches_at<'t>(
    term: &TermMatcher,
    table: &'t IntervalTable,
    span: Interval,
) -> Vec<(Interval, MatchSource<'t>)> {
    let (mut matches, mut before, mut after) = (Vec::new(), None, None);
    term.visit(table, &mut |interval, source| {
        let found = Some((interval, source));
        if interval.overlaps(span) {
            matches.extend(found);
        } else if interval.end <= span.start {
            let is_nearer = |(known, _): &(Interval, _)| known.end < interval.end;
            before = if before.as_ref().is_none_or(is_nearer) { found } else { before };
        } else {
            let is_nearer = |(known, _): &(Interval, _)| interval.start < known.start;
            after = if after.as_ref().is_none_or(is_nearer) { found } else { after };
        }
    });
    let is_between = matches.is_empty() && term.holds(table).overlaps(span);
    if is_between {
        matches.extend(before.into_iter().chain(after));
    }
    matches.sort_by_key(|(interval, _)| *interval);
    matches
}

fn moment(table: &IntervalTable, interval: Interval, source: MatchSource<'_>) -> ProofMoment {
    let Span { start, end } = interval.span();
    let at = ProofMoment { start, end, ..ProofMoment::default() };
    let text = |id| Some(table.strings.get(id).to_owned());
    match source {
        MatchSource::Interval => at,
        MatchSource::Words(words) => {
            let texts: Vec<&str> = words.iter().map(|word| table.strings.get(word.text)).collect();
            let confidence = words.iter().map(|word| word.confidence).min();
            ProofMoment {
                text: Some(texts.join(" ")),
                probability: confidence.map(|confidence| confidence.probability()),
                ..at
            }
        }
        MatchSource::Line(line) => ProofMoment {
            text: text(line.text),
            probability: Some(line.confidence.probability()),
            ..at
        },
        MatchSource::Sighting(thing) => ProofMoment {
            label: text(thing.label),
            probability: Some(thing.probability.probability()),
            ..at
        },
        MatchSource::Speaker(speaker) => ProofMoment { speaker: text(speaker), ..at },
        MatchSource::Count(count) => ProofMoment { count: Some(count), ..at },
        MatchSource::Hit(p_present) => {
            let rounded = (f64::from(p_present) * 1000.0).round() / 1000.0;
            ProofMoment { probability: Some(rounded), ..at }
        }
    }
}
