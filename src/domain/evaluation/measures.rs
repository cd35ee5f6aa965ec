//! Metrics for the quality of the hits and the answer for a judged question. The functions are
//! pure: they use no stores and no models.
//!
//! A hit *meets* a judged moment if their overlap in time is longer than rounding errors allow.
//! Every metric is a number per question. A configuration's metric is the mean over the questions
//! that have the metric.

use serde::{Deserialize, Serialize};

use super::questions::Judgement;
use crate::kernel::moment::MomentId;

/// A quality metric.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Metric {
    /// Share of the judged moments that any hit meets.
    Recall,
    /// Normalised discounted cumulative gain (Järvelin and Kekäläinen, ACM TOIS 20(4), 2002) with
    /// gains 2^grade − 1 and discount 1 / log2(rank + 1) (Burges et al., ICML 2005). In rank order,
    /// each hit scores the gain of the best judged moment that it meets and that no higher-ranked
    /// hit has claimed. The ideal ranking lists the judged moments, best first, up to the maximum
    /// number of hits.
    Ndcg,
    /// 1 / rank of the first hit that meets a judged moment; 0 if no hit does.
    ReciprocalRank,
    /// Intersection over union, in time, of the hit and the judged moment that match best.
    Overlap,
    /// Share of the hits that meet a judged moment.
    Judged,
    /// Whether something that is absent is reported as present.
    FalsePresence,
    /// Whether something that is present is reported as absent.
    FalseAbsence,
    /// Whether a question with an answer is answered.
    Answered,
    /// Whether a question without an answer is answered.
    FalseAnswer,
    /// Share of an answer's sentences, including omitted ones, that are supported.
    Supported,
}

/// A hit with its judgement.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct JudgedHit {
    /// The hit's moment.
    pub moment_id: MomentId,
    /// Probability that the moment shows or contains what the question asks for, 0..1.
    pub p_present: f32,
    /// Highest grade among the judged moments that the hit overlaps; `None` if it overlaps none.
    pub grade: Option<u8>,
}

/// The result of checking an answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CheckedAnswer {
    /// Whether the answer answers the question.
    pub answered: bool,
    /// Number of sentences that the cited moments support.
    pub supported: u32,
    /// Number of sentences that the cited moments support weakly.
    pub weak: u32,
    /// Number of sentences that the cited moments do not support, which the answer omits.
    pub unsupported: u32,
    /// `TypeName: message` if writing the answer failed.
    pub error: Option<String>,
}

/// Ranking metrics for the hits for one question with judged moments.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "each field is the metric of its name")]
pub struct RankingMetrics {
    pub recall: f64,
    pub ndcg: f64,
    pub reciprocal_rank: f64,
    pub overlap: f64,
    /// Share of the hits that meet a judged moment; `None` if there are no hits.
    pub judged: Option<f64>,
}

/// The outcome of one question with one configuration.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ConfigurationOutcome {
    /// The configuration's name.
    pub configuration: String,
    /// The hits, best first.
    pub hits: Vec<JudgedHit>,
    /// The ranking metrics; `None` for a question without judged moments.
    pub ranking: Option<RankingMetrics>,
    /// Whether what the question asks for is reported as present.
    #[serde(rename = "told_present")]
    pub reported_present: bool,
    /// The checked answer; `None` if the configuration asks for no answers.
    pub answer: Option<CheckedAnswer>,
    /// Duration of the search, in milliseconds.
    pub search_ms: f64,
    /// Time taken to answer, in milliseconds.
    pub ask_ms: Option<f64>,
}

/// Overlap above which a hit meets a judged moment, in seconds. The times in moment ids are rounded
/// to milliseconds.
const ROUNDING: f64 = 0.0015;

impl Metric {
    /// All metrics.
    pub const ALL: [Self; 10] = [
        Self::Recall,
        Self::Ndcg,
        Self::ReciprocalRank,
        Self::Overlap,
        Self::Judged,
        Self::FalsePresence,
        Self::FalseAbsence,
        Self::Answered,
        Self::FalseAnswer,
        Self::Supported,
    ];

    /// Computes the metric for one question. Returns `None` if the metric does not apply.
    pub(super) fn value(self, outcome: &ConfigurationOutcome) -> Option<f64> {
        let absent = outcome.ranking.is_none();
        let share = |holds: bool| if holds { 1.0 } else { 0.0 };
        let answered = || outcome.answer.as_ref().map(|answer| share(answer.answered));
        match self {
            Self::Recall => outcome.ranking.map(|ranking| ranking.recall),
            Self::Ndcg => outcome.ranking.map(|ranking| ranking.ndcg),
            Self::ReciprocalRank => outcome.ranking.map(|ranking| ranking.reciprocal_rank),
            Self::Overlap => outcome.ranking.map(|ranking| ranking.overlap),
            Self::Judged => outcome.ranking.and_then(|ranking| ranking.judged),
            Self::FalsePresence => absent.then(|| share(outcome.reported_present)),
            Self::FalseAbsence => (!absent).then(|| share(!outcome.reported_present)),
            Self::Answered => answered().filter(|_| !absent),
            Self::FalseAnswer => answered().filter(|_| absent),
            Self::Supported => outcome.answer.as_ref().and_then(CheckedAnswer::share_supported),
        }
    }

    /// Computes the mean over the questions that have the metric. Returns `None` if no question has
    /// it.
    pub(super) fn mean<'a>(
        self,
        outcomes: impl Iterator<Item = &'a ConfigurationOutcome>,
    ) -> Option<f64> {
        let values: Vec<f64> = outcomes.filter_map(|outcome| self.value(outcome)).collect();
        (!values.is_empty()).then(|| round(values.iter().sum::<f64>() / values.len() as f64))
    }
}

impl CheckedAnswer {
    fn share_supported(&self) -> Option<f64> {
        let all = self.supported + self.weak + self.unsupported;
        (self.answered && all > 0).then(|| f64::from(self.supported) / f64::from(all))
    }
}

/// Whether a hit meets a judged moment.
pub(super) fn meets(hit: &MomentId, judged: &MomentId) -> bool {
    hit.video_id() == judged.video_id() && hit.span().overlap(&judged.span()) > ROUNDING
}

/// Computes the ranking metrics for up to `limit` hits, best first. The list of judged moments must
/// not be empty.
pub(super) fn ranking(hits: &[&MomentId], judged: &[Judgement], limit: usize) -> RankingMetrics {
    let found = judged.iter().filter(|j| hits.iter().any(|hit| meets(hit, &j.moment_id))).count();
    let is_relevant = |hit: &&MomentId| judged.iter().any(|j| meets(hit, &j.moment_id));
    let rank = hits.iter().position(is_relevant);
    let pairs = hits.iter().flat_map(|hit| judged.iter().map(|j| iou(hit, &j.moment_id)));
    let share = |part: usize, of: usize| round(part as f64 / of as f64);
    RankingMetrics {
        recall: share(found, judged.len()),
        ndcg: round(ndcg(hits, judged, limit)),
        reciprocal_rank: rank.map_or(0.0, |rank| share(1, rank + 1)),
        overlap: round(pairs.fold(0.0, f64::max)),
        judged: (!hits.is_empty())
            .then(|| share(hits.iter().filter(|h| is_relevant(h)).count(), hits.len())),
    }
}

fn ndcg(hits: &[&MomentId], judged: &[Judgement], limit: usize) -> f64 {
    let gain =
        |grade: u8, place: usize| f64::from((1_u32 << grade) - 1) / (place as f64 + 2.0).log2();
    let mut left: Vec<&Judgement> = judged.iter().collect();
    left.sort_by_key(|j| std::cmp::Reverse(j.grade));
    let ideal: f64 = left.iter().take(limit).enumerate().map(|(i, j)| gain(j.grade, i)).sum();
    let mut gained = 0.0;
    for (place, hit) in hits.iter().enumerate() {
        if let Some(taken) = left.iter().position(|j| meets(hit, &j.moment_id)) {
            gained += gain(left.remove(taken).grade, place);
        }
    }
    gained / ideal
}

fn iou(a: &MomentId, b: &MomentId) -> f64 {
    if !meets(a, b) {
        return 0.0;
    }
    let (a, b) = (a.span(), b.span());
    a.overlap(&b) / (a.end.max(b.end) - a.start.min(b.start))
}

/// Rounds to four decimals, since further digits depend on the order of summation.
pub(super) fn round(value: f64) -> f64 {
    (value * 1e4).round() / 1e4
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::time::Span;

    fn moment(video: char, start: f64, end: f64) -> MomentId {
        let id = video.to_string().repeat(16).parse().expect("an id");
        MomentId::new(id, Span { start, end })
    }

    fn judged(of: &[(char, f64, f64, u8)]) -> Vec<Judgement> {
        let judgement = |&(video, start, end, grade): &(char, f64, f64, u8)| Judgement {
            moment_id: moment(video, start, end),
            grade,
        };
        of.iter().map(judgement).collect()
    }

    fn ranked(hits: &[(char, f64, f64)], judgements: &[(char, f64, f64, u8)]) -> RankingMetrics {
        let hits: Vec<MomentId> = hits.iter().map(|&(v, s, e)| moment(v, s, e)).collect();
        ranking(&hits.iter().collect::<Vec<_>>(), &judged(judgements), 5)
    }

    #[test]
    fn ranking_metrics_follow_their_definitions() {
        let two = [('a', 0.0, 10.0, 3), ('a', 20.0, 30.0, 1)];
        let log3 = 3_f64.log2();
        let ideal = 7.0 + 1.0 / log3;
        for (hits, recall, ndcg, rank, overlap, share) in [
            (vec![('a', 0.0, 10.0), ('a', 20.0, 30.0)], 1.0, 1.0, 1.0, 1.0, Some(1.0)),
            // The moment with the lower grade comes first.
            (
                vec![('a', 20.0, 30.0), ('a', 0.0, 10.0)],
                1.0,
                (1.0 + 7.0 / log3) / ideal,
                1.0,
                1.0,
                Some(1.0),
            ),
            // A hit at the same time in another video, followed by two hits that each cover half of
            // one judged moment. The moment counts once.
            (
                vec![('b', 0.0, 10.0), ('a', 0.0, 5.0), ('a', 5.0, 10.0)],
                0.5,
                7.0 / log3 / ideal,
                0.5,
                0.5,
                Some(2.0 / 3.0),
            ),
            // One hit meets both moments. Both are found, and the hit scores the better one.
            (vec![('a', 0.0, 40.0)], 1.0, 7.0 / ideal, 1.0, 0.25, Some(1.0)),
            // Except for rounding, the hit only touches the judged moments.
            (vec![('a', 10.0, 20.001)], 0.0, 0.0, 0.0, 0.0, Some(0.0)),
            (vec![], 0.0, 0.0, 0.0, 0.0, None),
        ] {
            let expected = RankingMetrics {
                recall,
                ndcg: round(ndcg),
                reciprocal_rank: rank,
                overlap,
                judged: share.map(round),
            };
            assert_eq!(ranked(&hits, &two), expected, "{hits:?}");
        }
    }

    #[test]
    fn ideal_ranking_is_limited_like_the_search() {
        let many: Vec<(char, f64, f64, u8)> =
            (0..8).map(|i| ('a', f64::from(i) * 10.0, f64::from(i) * 10.0 + 10.0, 2)).collect();
        let hits: Vec<(char, f64, f64)> = many[..5].iter().map(|&(v, s, e, _)| (v, s, e)).collect();
        let ranking = ranked(&hits, &many);
        assert_eq!((ranking.ndcg, ranking.recall), (1.0, 0.625));
    }

    #[test]
    fn mean_covers_the_questions_that_have_the_metric() {
        let outcome = |ranking: Option<RankingMetrics>, reported_present: bool, answered: bool| {
            ConfigurationOutcome {
                configuration: "c".into(),
                hits: Vec::new(),
                ranking,
                reported_present,
                answer: Some(CheckedAnswer {
                    answered,
                    supported: 1,
                    weak: 0,
                    unsupported: 1,
                    error: None,
                }),
                search_ms: 1.0,
                ask_ms: None,
            }
        };
        let found = RankingMetrics { recall: 0.5, ..RankingMetrics::default() };
        let outcomes = [
            outcome(Some(found), true, true),
            outcome(Some(RankingMetrics::default()), false, false),
            outcome(None, true, false),
            outcome(None, false, false),
        ];
        for (metric, expected) in [
            (Metric::Recall, Some(0.25)),
            (Metric::Judged, None),
            (Metric::FalsePresence, Some(0.5)),
            (Metric::FalseAbsence, Some(0.5)),
            (Metric::Answered, Some(0.5)),
            (Metric::FalseAnswer, Some(0.0)),
            (Metric::Supported, Some(0.5)),
        ] {
            assert_eq!(metric.mean(outcomes.iter()), expected, "{metric:?}");
        }
    }
}
