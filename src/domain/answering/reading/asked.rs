//! Questions that somebody asks in the footage. They answer nothing, but their replies may.

use text::words;

use super::Window;
use crate::answering::context::Evidence;

/// Factor for the score of a window in which only questions are asked.
const SHARE_OF_QUESTION: f32 = 0.5;

/// Factor for the score of a window: [`SHARE_OF_QUESTION`] if nothing but questions is said in it. A
/// question that somebody asks in the footage answers nothing, but its reply may.
pub(super) fn share_of_question(question: &str, said: &Window<'_>) -> f32 {
    if said.iter().all(|said| said.is_asked) && !asks_for_questions(question) {
        SHARE_OF_QUESTION
    } else {
        1.0
    }
}

/// Whether a question asks for what somebody asks.
fn asks_for_questions(question: &str) -> bool {
    const ASKING: &[&str] = &["ask", "asks", "asked", "question", "questions"];
    words(question).iter().any(|word| ASKING.contains(&word.lower.as_str()))
}

/// Whether a sentence of an answer quotes a question from a conversation, which answers nothing
/// unless the user asks for questions.
pub(in crate::answering) fn quotes_question(
    question: &str,
    sentence: &str,
    context: &[&Evidence],
) -> bool {
    let is_asked = sentence.trim_end_matches('”').ends_with('?');
    is_asked && is_conversation(context) && !asks_for_questions(question)
}

/// Whether more than one person speaks.
pub(super) fn is_conversation(context: &[&Evidence]) -> bool {
    let mut speakers = context.iter().filter_map(|evidence| evidence.speaker.as_deref());
    let first = speakers.next();
    speakers.any(|speaker| Some(speaker) != first)
}

#[cfg(test)]
mod tests {
    use super::super::windows;
    use super::*;
    use crate::answering::context::tests::piece;

    #[test]
    fn questions_in_the_footage_are_no_answers() {
        let said = |speaker: &str, text: &str| Evidence {
            speaker: Some(speaker.into()),
            ..piece(0.0, 5.0, text)
        };
        let all = [
            said("S1", "Do they order iced coffee?"),
            said("S1", "But why do they?"),
            said("S2", "We sell iced coffee."),
            said("S1", "Do you know it?"),
        ];
        let context: Vec<&Evidence> = all.iter().collect();
        let shares = |question: &str| -> Vec<f32> {
            windows(&context).iter().map(|said| share_of_question(question, said)).collect()
        };
        let lengths: Vec<usize> = windows(&context).iter().map(Vec::len).collect();
        assert_eq!(lengths, [1, 2, 1, 1]);
        assert_eq!(shares("What do they order?"), [0.5, 1.0, 1.0, 0.5]);
        assert_eq!(shares("What do they ask?"), [1.0; 4]);
        let quotes = |question: &str, sentence: &str| quotes_question(question, sentence, &context);
        assert!(quotes("What do they order?", "S1: “Do they order iced coffee?”"));
        assert!(!quotes("What do they ask?", "S1: “Do they order iced coffee?”"));
        assert!(!quotes("What do they order?", "S2: “We sell iced coffee.”"));
        let speech = [said("S1", "We choose to go to the moon."), said("S1", "But why the moon?")];
        let speech: Vec<&Evidence> = speech.iter().collect();
        assert_eq!(windows(&speech).iter().map(Vec::len).collect::<Vec<_>>(), [2, 1], "rhetorical");
        assert!(!quotes_question("Where do we go?", "S1: “But why the moon?”", &speech));
    }
}
