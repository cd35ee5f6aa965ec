//! Answers that say that no moment answers the question.

use crate::answering::audit::AuditedSentence;
use crate::answering::context::Evidence;
use crate::kernel::verdict::Verdict;

/// How an answer begins that says that nothing answers the question.
pub(super) const NO_ANSWER: &str = "No moment answers this question";

/// Says that no moment answers the question, and which aggregates have facts on its topic. `nothing`
/// is the statement, without a full stop, and `nearest` quotes the nearest moment.
pub(super) fn refusal(
    nothing: &str,
    nearest: Option<AuditedSentence>,
    context: &[&Evidence],
) -> Vec<AuditedSentence> {
    let first = match nearest {
        Some(quoted) => AuditedSentence {
            sentence: format!("{nothing}; the nearest moment: {}", quoted.sentence),
            ..quoted
        },
        None => uncited(format!("{nothing}.")),
    };
    let mut consulted: Vec<&str> = context.iter().filter_map(|e| e.aggregate()).collect();
    consulted.sort_unstable();
    consulted.dedup();
    let results = consulted.join(", ");
    let facts = (!consulted.is_empty()).then(|| format!("These results may say more: {results}."));
    std::iter::once(first).chain(facts.map(uncited)).collect()
}

fn uncited(sentence: String) -> AuditedSentence {
    AuditedSentence {
        sentence,
        citations: Vec::new(),
        moments: Vec::new(),
        verdict: Verdict::Supported,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::answering::context::tests::piece;

    #[test]
    fn a_refusal_names_the_aggregates_with_facts() {
        let chunk = piece(0.0, 10.0, "A man sings.");
        let of = |source: &'static str| Evidence {
            source,
            topic: Some("counts".into()),
            ..piece(0.0, 60.0, "3 kinds of objects are seen.")
        };
        let (stats, more, entities) = (of("stats"), of("stats"), of("entities"));
        let (summary, section) = (of("summary"), of("sections"));
        let text = |nearest: Option<&Evidence>, context: &[&Evidence]| {
            let quoted = nearest
                .map(|e| AuditedSentence { sentence: e.text.clone(), ..uncited(String::new()) });
            let sentences = refusal(NO_ANSWER, quoted, context).into_iter().map(|s| s.sentence);
            sentences.collect::<Vec<_>>().join(" ")
        };
        assert_eq!(text(None, &[&chunk, &summary, &section]), "No moment answers this question.");
        assert_eq!(
            text(Some(&chunk), &[&chunk, &stats, &more, &entities]),
            "No moment answers this question; the nearest moment: A man sings. These results may say \
             more: entities, stats."
        );
        assert!(text(None, &[&stats]).ends_with("These results may say more: stats."));
    }
}
