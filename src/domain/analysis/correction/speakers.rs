//! Applies speaker corrections to speaker turns.

use super::Correction;
use crate::kernel::time::Span;
use crate::media::speech::VoiceTurn;

/// A speaker matches a correction if they talk during at least this share of its spans, or if at
/// least this share of their speech lies within its spans.
const MIN_SHARE: f64 = 0.5;

/// Reassigns the turns that a correction applies to and returns their spans.
pub(super) fn apply(turns: &mut Vec<VoiceTurn>, correction: &Correction) -> Vec<Span> {
    let Some(label) = current_label(turns, correction) else { return Vec::new() };
    let mut corrected = Vec::new();
    let mut spans = Vec::new();
    for turn in turns.drain(..) {
        let affected = match correction.span {
            Some(span) => {
                Span { start: turn.span.start.max(span.start), end: turn.span.end.min(span.end) }
            }
            None => turn.span,
        };
        if turn.speaker != label || affected.end <= affected.start {
            corrected.push(turn);
            continue;
        }
        let rest =
            [Span { end: affected.start, ..turn.span }, Span { start: affected.end, ..turn.span }];
        let rest = rest.into_iter().filter(|span| span.end > span.start);
        corrected.extend(rest.map(|span| VoiceTurn { span, ..turn.clone() }));
        corrected.push(VoiceTurn { speaker: correction.to.clone(), span: affected, ..turn });
        spans.push(affected);
    }
    corrected.sort_by(|a, b| a.span.start.total_cmp(&b.span.start));
    *turns = corrected;
    spans
}

/// The current label of the speaker that a correction refers to.
fn current_label(turns: &[VoiceTurn], correction: &Correction) -> Option<String> {
    let mut labels: Vec<(&str, f64, f64)> = Vec::new();
    for turn in turns {
        let overlap: f64 =
            correction.speaker_spans.iter().map(|span| span.overlap(&turn.span)).sum();
        match labels.iter_mut().find(|(label, ..)| *label == turn.speaker) {
            Some((_, own, shared)) => {
                *own += turn.span.seconds();
                *shared += overlap;
            }
            None => labels.push((&turn.speaker, turn.span.seconds(), overlap)),
        }
    }
    let total: f64 = correction.speaker_spans.iter().map(Span::seconds).sum();
    let (label, own, shared) = labels.into_iter().max_by(|a, b| a.2.total_cmp(&b.2))?;
    (shared > 0.0 && (shared >= MIN_SHARE * total || shared >= MIN_SHARE * own))
        .then(|| label.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::correction::CorrectionKind;

    fn turn(speaker: &str, start: f64, end: f64) -> VoiceTurn {
        VoiceTurn { speaker: speaker.into(), span: Span { start, end }, channel: None }
    }

    fn correction(to: &str, spoken: &[(f64, f64)], span: Option<Span>) -> Correction {
        Correction {
            id: "c1".into(),
            kind: CorrectionKind::Speaker,
            from: "S1".into(),
            to: to.into(),
            span,
            created_at: String::new(),
            speaker_spans: spoken
                .iter()
                .map(|(start, end)| Span { start: *start, end: *end })
                .collect(),
            person_locations: Vec::new(),
            places: 0,
            spans: Vec::new(),
        }
    }

    #[test]
    fn a_name_follows_the_voice_when_its_label_changes() {
        let named = correction("Ada", &[(0.0, 4.0), (10.0, 14.0)], None);
        let mut turns = vec![turn("S1", 0.0, 4.0), turn("S2", 4.0, 9.0), turn("S1", 10.0, 14.0)];
        assert_eq!(apply(&mut turns, &named).len(), 2);
        assert_eq!(turns, [turn("Ada", 0.0, 4.0), turn("S2", 4.0, 9.0), turn("Ada", 10.0, 14.0)]);

        let mut again = vec![turn("S1", 4.2, 9.0), turn("S2", 0.1, 3.8), turn("S2", 10.2, 14.0)];
        apply(&mut again, &named);
        assert_eq!(again.iter().filter(|turn| turn.speaker == "Ada").count(), 2);
        assert_eq!(again[1], turn("S1", 4.2, 9.0));

        let mut others = vec![turn("S1", 20.0, 30.0), turn("S2", 3.5, 9.0)];
        assert_eq!(apply(&mut others, &named), [], "the named speaker is absent");
    }

    #[test]
    fn one_sentence_is_reassigned() {
        let reassigned = correction("S2", &[(2.0, 3.0)], Some(Span { start: 2.0, end: 3.0 }));
        let mut turns = vec![turn("S1", 0.0, 5.0), turn("S2", 6.0, 9.0)];
        assert_eq!(apply(&mut turns, &reassigned), [Span { start: 2.0, end: 3.0 }]);
        assert_eq!(
            turns,
            [
                turn("S1", 0.0, 2.0),
                turn("S2", 2.0, 3.0),
                turn("S1", 3.0, 5.0),
                turn("S2", 6.0, 9.0)
            ]
        );
    }
}
