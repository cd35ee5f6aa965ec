//! Questions about what somebody says or thinks: `What does Ada think of the harbour?`. Only what Ada
//! says herself answers them, and not a sentence of somebody else that mentions her.

use text::tokens;

use crate::answering::context::Evidence;

/// Verbs that begin such a question, before the speaker.
const AUXILIARIES: &[&str] = &["does", "did", "do", "has", "would", "will"];

/// Verbs of saying, thinking and wishing, after the speaker.
const SAYING: &[&str] = &[
    "add",
    "admit",
    "answer",
    "argue",
    "ask",
    "believe",
    "claim",
    "complain",
    "describe",
    "expect",
    "explain",
    "fear",
    "feel",
    "hate",
    "hope",
    "like",
    "love",
    "mention",
    "mean",
    "plan",
    "prefer",
    "promise",
    "recommend",
    "remember",
    "reply",
    "report",
    "say",
    "said",
    "speak",
    "suggest",
    "talk",
    "tell",
    "think",
    "want",
    "warn",
    "wish",
];

/// Maximum number of words of a name.
const MAX_WORDS: usize = 4;

/// The speaker whose words a question asks for, as written: `Ada` in `What does Ada think of it?`
/// and in `According to Ada, what is wrong?`.
pub(in crate::answering) fn attributed_to(question: &str) -> Option<&str> {
    let all = tokens(question);
    let is = |at: usize, list: &[&str]| {
        all.get(at).is_some_and(|word| list.contains(&word.lower.as_str()))
    };
    let is_name = |at: usize| all.get(at).is_some_and(|word| word.is_capitalised());
    let name_at = |start: usize| {
        let end = (start..start + MAX_WORDS).find(|at| !is_name(*at)).unwrap_or(start + MAX_WORDS);
        let (first, last) = (all.get(start)?, all.get(end.checked_sub(1)?)?);
        (end > start).then(|| (&question[first.start..last.start + last.text.len()], end))
    };
    (0..all.len()).find_map(|at| match () {
        () if is(at, AUXILIARIES) => {
            let (name, end) = name_at(at + 1)?;
            is(end, SAYING).then_some(name)
        }
        () if is(at, &["according"]) && is(at + 1, &["to"]) => Some(name_at(at + 2)?.0),
        () => None,
    })
}

/// Whether a speaker's label or name is meant by `name`, which may be the first or the last name.
fn is_called(label: &str, name: &str) -> bool {
    let same = |one: &str| one.eq_ignore_ascii_case(name);
    same(label) || label.split_whitespace().any(same)
}

/// Keeps what the speaker says whose words a question asks for. Keeps everything if the question
/// asks for nobody's words, or if nobody in the evidence has the name.
pub(in crate::answering) fn keep_attributed<'a>(
    question: &str,
    evidence: &[&'a Evidence],
) -> Vec<&'a Evidence> {
    let by_speaker = |name: &str| -> Vec<&'a Evidence> {
        let said_by =
            |e: &&&Evidence| e.speaker.as_deref().is_some_and(|label| is_called(label, name));
        evidence.iter().filter(said_by).copied().collect()
    };
    let said = attributed_to(question).map(by_speaker).unwrap_or_default();
    if said.is_empty() { evidence.to_vec() } else { said }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::answering::context::tests::piece;

    #[test]
    fn questions_for_the_words_of_a_speaker_name_them() {
        for (question, expected) in [
            ("What does Ada think of the harbour?", Some("Ada")),
            ("What did Ada Lovelace say about engines?", Some("Ada Lovelace")),
            ("Why does S2 want a refund?", Some("S2")),
            ("According to Ada, what is wrong?", Some("Ada")),
            ("Where does Ada live?", None),
            ("What does she say about Ada?", None),
            ("Who mentions Ada?", None),
            ("Does the harbour open?", None),
        ] {
            assert_eq!(attributed_to(question), expected, "{question}");
        }
    }

    #[test]
    fn only_the_words_of_the_speaker_are_kept() {
        let by = |speaker: &str, text: &str| Evidence {
            speaker: Some(speaker.into()),
            ..piece(0.0, 5.0, text)
        };
        let all = [
            by("Ada Lovelace", "I like the harbour."),
            by("Bob", "What does Ada think of the harbour?"),
            piece(5.0, 9.0, "HARBOUR"),
        ];
        let context: Vec<&Evidence> = all.iter().collect();
        let kept = |question: &str| {
            let kept = keep_attributed(question, &context);
            kept.iter().map(|evidence| evidence.text.as_str()).collect::<Vec<_>>()
        };
        assert_eq!(kept("What does Ada think of the harbour?"), ["I like the harbour."]);
        assert_eq!(kept("What does Cleo think of the harbour?").len(), 3, "nobody is called Cleo");
        assert_eq!(kept("Where is the harbour?").len(), 3);
    }
}
