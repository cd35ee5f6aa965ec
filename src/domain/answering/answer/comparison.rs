//! Questions about several videos, such as `What does each interviewee say about prices?`. The same
//! question is answered from each video alone, so that no video hides another.

use std::ops::Range;

use ports::llm::TokenSink;
use text::tokens;

use super::AnswerAttempt;
use crate::answering::Answering;
use crate::answering::audit::AuditedSentence;
use crate::answering::citations::{CitationForm, with_citations};
use crate::answering::context::{Evidence, VideoContext};
use crate::answering::facts::captures;
use crate::kernel::verdict::Verdict;

/// Maximum number of videos that are compared, those that most probably answer first.
const MAX_VIDEOS: usize = 8;

/// Maximum number of sentences from each video.
const MAX_SENTENCES: usize = 2;

/// What a rule asks each video: about a topic, which is its last capture, or the capture itself.
#[derive(Debug, Clone, Copy)]
enum ComparisonForm {
    Topic,
    Question,
}

/// The rules, in the order in which they are tried. The classes are those of questions about facts.
const RULES: &[(&str, ComparisonForm)] = &[
    ("compare what @each_person @think about|of|on *", ComparisonForm::Topic),
    ("compare how @each_person @think about|of|on *", ComparisonForm::Topic),
    ("compare the? @views of? the? @interviewees? about|of|on|regarding *", ComparisonForm::Topic),
    ("compare the|these|those|all|both? @recordings about|on|regarding *", ComparisonForm::Topic),
    ("what @does @each_person @think about|of|on *", ComparisonForm::Topic),
    ("how @does @each_person @think about|of|on *", ComparisonForm::Topic),
    ("how @does the|these|both? @recordings differ|compare about|on|in *", ComparisonForm::Topic),
    ("how @does @each_person differ|disagree about|on *", ComparisonForm::Topic),
    (
        "which|what @recordings mention|mentions|discuss|discusses|cover|covers *",
        ComparisonForm::Topic,
    ),
    (
        "which|what @recordings talk|talks|speak|speaks|say|are|is something? about *",
        ComparisonForm::Topic,
    ),
    ("in|for each|every|all|both of? the? @recordings *", ComparisonForm::Question),
    ("across all? the? @recordings *", ComparisonForm::Question),
    ("* in|across each|every|all|both of? the? @recordings", ComparisonForm::Question),
    ("* across the @recordings", ComparisonForm::Question),
];

/// Returns the question to ask of each video; `None` if a question does not compare videos.
pub(in crate::answering) fn question_of_each(question: &str) -> Option<String> {
    let words = tokens(question);
    let lower: Vec<&str> = words.iter().map(|word| word.lower.as_str()).collect();
    let text = |range: &Range<usize>| {
        let (first, last) = (words.get(range.start)?, words.get(range.end.checked_sub(1)?)?);
        question.get(first.start..last.start + last.text.len())
    };
    RULES.iter().find_map(|(pattern, asked)| {
        let captured = captures(pattern, &lower)?;
        let text = text(captured.last()?)?;
        Some(match asked {
            ComparisonForm::Topic => format!("What is said about {text}?"),
            ComparisonForm::Question => format!("{text}?"),
        })
    })
}

impl Answering {
    /// Answers a question from each video alone. Returns `None` if fewer than two videos answer it.
    pub(in crate::answering) async fn answer_each(
        &self,
        question: &str,
        contexts: &[VideoContext<'_>],
        kept: &[&Evidence],
        form: CitationForm,
    ) -> Option<AnswerAttempt> {
        let mut audit: Vec<AuditedSentence> = Vec::new();
        let mut answered = 0;
        for context in contexts.iter().take(MAX_VIDEOS) {
            let record = context.record;
            let of_video: Vec<&Evidence> =
                kept.iter().copied().filter(|e| e.video_id == record.video_id).collect();
            let attempt =
                self.attempt_answer(question, &of_video, form, TokenSink::default()).await;
            if !attempt.answered {
                continue;
            }
            answered += 1;
            let mut shown = 0;
            for mut sentence in attempt.audit {
                if sentence.verdict == Verdict::Unsupported {
                    audit.push(sentence);
                } else if shown < MAX_SENTENCES {
                    if shown == 0 {
                        sentence.sentence =
                            format!("In {}: {}", record.filename, sentence.sentence);
                    }
                    shown += 1;
                    audit.push(sentence);
                }
            }
        }
        (answered > 1).then(|| {
            let is_shown = |one: &&AuditedSentence| one.verdict != Verdict::Unsupported;
            let text = with_citations(audit.iter().filter(is_shown));
            AnswerAttempt { text: Some(text), answered: true, audit, error: None }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comparisons_become_a_question_for_each_video() {
        for (question, expected) in [
            ("Compare what the interviewees say about rent.", "What is said about rent?"),
            (
                "What does each participant think of the new bridge?",
                "What is said about the new bridge?",
            ),
            ("How do the interviews differ on school fees?", "What is said about school fees?"),
            ("Which interviews mention the Elbe?", "What is said about the Elbe?"),
            ("Which videos talk about fishing?", "What is said about fishing?"),
            ("In each interview, when was the speaker born?", "when was the speaker born?"),
            ("Where did they grow up in all the recordings?", "Where did they grow up?"),
            ("What colour is the car across the clips?", "What colour is the car?"),
        ] {
            assert_eq!(question_of_each(question).as_deref(), Some(expected), "{question}");
        }
        for question in [
            "What does Ada say about rent?",
            "What does she think of the bridge?",
            "Which ferry leaves at nine?",
            "Who is in the video?",
            "Compare the prices.",
        ] {
            assert_eq!(question_of_each(question), None, "{question}");
        }
    }
}
