//! Answers questions about facts from the facts that are stored: how many speakers there are, when
//! a slide first appears, who talks most. The question is read by rules
//! ([`question`] and [`grammar`]), the facts are read as typed values ([`crate::facts`]), and each
//! answer is a sentence with the moments that show it. Without a matching fact, the question is
//! answered like any other.

mod absence;
mod classes;
mod contents;
mod grammar;
mod needs;
mod occurrences;
mod pattern;
mod question;
mod speakers;
#[cfg(test)]
mod tests;
mod times;
mod window;
mod wording;

use ports::llm::PassageKind;
use text::word_overlap;

use super::answer::AnswerAttempt;
use super::audit::{AuditedSentence, CitedText, SentenceClaim};
use super::citations::CitationForm;
use super::context::{Evidence, EvidenceGroup, VideoContext};
use super::refusal::NO_ANSWER;
use crate::analysis::prose::capitalised;
use crate::answering::Answering;
use crate::facts::{Needs, VideoFacts};
use crate::kernel::error::Result;
use crate::kernel::moment::MomentId;
use crate::kernel::time::Span;
use crate::kernel::verdict::Verdict;
use crate::kernel::video::VideoId;
pub(super) use pattern::captures;
pub(super) use question::asks_for_footage_time;
use question::{FactQuestion, Intent, SpeakerRank, Subject, SubjectPhrase};
pub(super) use wording::clock;
use wording::ended;

/// The source of facts in [`Evidence`] and in the counts of an answer's sources.
pub(super) const SOURCE: &str = "facts";

/// Maximum number of videos whose facts an answer states.
const MAX_VIDEOS: usize = 3;

/// A fact in a sentence.
#[derive(Debug, Clone, PartialEq)]
struct Fact {
    text: String,
    /// The moments that show it.
    spans: Vec<Span>,
    /// Whether the fact is known for sure. If not, the text says how uncertain it is.
    is_certain: bool,
}

/// What the stored facts of a video say about a question.
#[derive(Debug, Clone, PartialEq)]
enum Resolution {
    /// The facts that answer the question.
    Answer(Vec<Fact>),
    /// A fact that rules out an answer, such as that there is only one speaker. It begins in lower
    /// case and has no full stop.
    Denial(Fact),
    /// What the question asks for is not among the facts that would show it, so a moment that the
    /// search finds is only near. The text is like that of a denial.
    Absence(Fact),
    /// What the question asks for is not among the stored facts, but may still be in the video. The
    /// text is like that of a denial.
    Doubt(Fact),
    /// The stored facts say nothing about the question.
    Unknown,
}

/// A fact of one video.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct VideoFact {
    video_id: VideoId,
    fact: Fact,
}

/// The stored facts about a question.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct FactAnswer {
    /// The facts that answer the question; empty if there are none.
    facts: Vec<VideoFact>,
    /// Why there is no answer.
    denial: Option<VideoFact>,
    /// What is not among the stored facts, for an answer that says that no moment answers the
    /// question.
    doubt: Option<String>,
    /// Whether an answer from the search is only near what the question asks for.
    is_absent: bool,
}

impl Resolution {
    fn answer(fact: Fact) -> Self {
        Self::Answer(vec![fact])
    }
}

impl FactAnswer {
    /// Whether the facts answer the question or rule out an answer.
    pub(super) fn is_final(&self) -> bool {
        !self.facts.is_empty() || self.denial.is_some()
    }

    /// The number of facts of a video in the answer.
    pub(super) fn count(&self, video_id: VideoId) -> u32 {
        let facts = self.facts.iter().chain(&self.denial);
        facts.filter(|fact| fact.video_id == video_id).count() as u32
    }

    /// The facts as evidence for a language model.
    pub(super) fn evidence(&self) -> Vec<EvidenceGroup> {
        let facts = self.facts.iter().chain(&self.denial);
        let evidence = facts.zip(0..).filter_map(|(VideoFact { video_id, fact }, element)| {
            let (first, others) = fact.spans.split_first()?;
            Some(vec![Evidence {
                video_id: *video_id,
                span: *first,
                other_spans: others.to_vec(),
                source: SOURCE,
                element,
                kind: PassageKind::Prose,
                speaker: None,
                topic: Some("stored fact".into()),
                text: ended(capitalised(&fact.text)),
                p_present: None,
            }])
        });
        evidence.collect()
    }

    /// States in a refusal what is not among the stored facts. If the facts would show what is
    /// asked for, an answer that the search has found becomes the nearest moment.
    pub(super) fn explain(&self, answer: &mut AnswerAttempt) {
        let Some(doubt) = &self.doubt else { return };
        if answer.text.is_none() || (answer.answered && !self.is_absent) {
            return;
        }
        let reason = format!("{NO_ANSWER}: {doubt}");
        let is_shown = |one: &AuditedSentence| one.verdict != Verdict::Unsupported;
        let Some(first) = answer.audit.iter().position(is_shown) else { return };
        let mut refusal = answer.audit.remove(first);
        refusal.sentence = match answer.answered {
            true => format!("{reason}; the nearest moment: {}", refusal.sentence),
            false => refusal.sentence.replacen(NO_ANSWER, &reason, 1),
        };
        answer.audit.retain(|one| !is_shown(one));
        answer.text = Some(format!("{} {}", refusal.sentence, refusal.citations.join(" ")));
        answer.text = answer.text.as_ref().map(|text| text.trim_end().to_owned());
        answer.answered = false;
        answer.audit.push(refusal);
    }
}

impl Answering {
    /// Finds the stored facts that answer a question, in the videos that are most likely to answer
    /// it. `contexts` are sorted by probability.
    pub(super) async fn find_facts(
        &self,
        question: &str,
        contexts: &[VideoContext<'_>],
    ) -> Result<FactAnswer> {
        let mut answer = FactAnswer::default();
        let Some(question) = FactQuestion::parse(question) else { return Ok(answer) };
        let needs = Needs::for_question(&question);
        let is_one_video = contexts.len() == 1;
        let mut max_videos = self.max_consulted_videos();
        if let Some(setting) = &question.setting {
            // Only one video is meant.
            max_videos = 1;
            let first = contexts.first().map(|context| context.record.video_id);
            let Some(first) = first else { return Ok(answer) };
            if !is_one_video && !self.mentions(first, setting).await? {
                return Ok(answer);
            }
        }
        let mut chunks = 0;
        let mut videos = 0;
        for context in contexts.iter().take(max_videos) {
            chunks += context.record.chunks;
            if videos == MAX_VIDEOS || (needs.outputs() && chunks > self.max_fact_chunks) {
                break;
            }
            let facts = VideoFacts::read(&self.records, context.record, needs).await?;
            let (video_id, filename) = (facts.video_id, facts.filename.clone());
            match resolve(&question, facts) {
                Resolution::Answer(found) => {
                    videos += 1;
                    answer.facts.extend(found.into_iter().map(|mut fact| {
                        if !is_one_video {
                            fact.text = format!("In {filename}: {}", fact.text);
                        }
                        VideoFact { video_id, fact }
                    }));
                }
                Resolution::Denial(fact) if is_one_video => {
                    answer.denial = Some(VideoFact { video_id, fact });
                }
                Resolution::Absence(fact) if is_one_video => {
                    (answer.doubt, answer.is_absent) = (Some(fact.text), true);
                }
                Resolution::Doubt(fact) if is_one_video => answer.doubt = Some(fact.text),
                _ => {}
            }
        }
        Ok(answer)
    }

    /// Whether a video says or shows a word of what a question says about it.
    async fn mentions(&self, video_id: VideoId, setting: &SubjectPhrase) -> Result<bool> {
        let tables = self.intervals.tables.read(&[video_id]).await?;
        let words = setting.content();
        let mentions = |text: String| word_overlap(&words, &text) > 0.0;
        Ok(tables.get(&video_id).is_some_and(|table| table.texts().any(mentions)))
    }

    /// Writes an answer from facts. The audit compares each sentence with the statement of its
    /// fact. A sentence about an uncertain fact is at most weakly supported.
    pub(super) async fn answer_from_facts(
        &self,
        answer: &FactAnswer,
        form: CitationForm,
    ) -> AnswerAttempt {
        match self.audited_facts(answer, form).await {
            Ok(answer) => answer,
            Err(error) => AnswerAttempt::failed(&error),
        }
    }

    async fn audited_facts(
        &self,
        answer: &FactAnswer,
        form: CitationForm,
    ) -> Result<AnswerAttempt> {
        let refusal = answer.denial.as_ref().filter(|_| answer.facts.is_empty());
        let sentences: Vec<(String, &VideoFact)> = match refusal {
            Some(denial) => vec![(format!("{NO_ANSWER}: {}.", denial.fact.text), denial)],
            None => answer.facts.iter().map(|fact| (fact.fact.text.clone(), fact)).collect(),
        };
        let claim = |(_, fact): &(String, &'_ VideoFact)| fact.fact.text.clone();
        let statements: Vec<String> = sentences.iter().map(claim).collect();
        let claims: Vec<SentenceClaim<'_>> = statements
            .iter()
            .zip(&sentences)
            .map(|(statement, (_, fact))| SentenceClaim {
                sentence: statement,
                cited: vec![CitedText { speaker: None, text: &fact.fact.text }],
                times: fact.fact.spans.iter().flat_map(|span| [span.start, span.end]).collect(),
            })
            .collect();
        let verdicts = self.audit(&claims).await?;
        let audited = |((sentence, found), verdict): ((String, &VideoFact), Verdict)| {
            let VideoFact { video_id, fact } = found;
            let cite = |span: &Span| form.format(*video_id, *span);
            AuditedSentence {
                sentence,
                citations: fact.spans.iter().map(cite).collect(),
                moments: fact.spans.iter().map(|span| MomentId::new(*video_id, *span)).collect(),
                verdict: match verdict {
                    Verdict::Supported if !fact.is_certain => Verdict::Weak,
                    verdict => verdict,
                },
            }
        };
        let audit: Vec<AuditedSentence> =
            sentences.into_iter().zip(verdicts).map(audited).collect();
        let cited = audit.iter().map(|s| format!("{} {}", s.sentence, s.citations.join(" ")));
        let text = cited.collect::<Vec<_>>().join(" ");
        Ok(AnswerAttempt { text: Some(text), answered: refusal.is_none(), audit, error: None })
    }
}

/// Answers a question from the facts of one video.
fn resolve(question: &FactQuestion, facts: VideoFacts) -> Resolution {
    let facts = match question.window {
        None => facts,
        Some(window) => match window.span(facts.video_duration) {
            Some(span) => facts.within(span),
            None => {
                let end = clock(facts.video_duration);
                return Resolution::Denial(Fact {
                    text: format!("the video ends at {end}"),
                    spans: vec![facts.span],
                    is_certain: true,
                });
            }
        },
    };
    let FactQuestion { intent, subject, other, .. } = question;
    if let Subject::Absent(absent) = subject {
        return absence::absence(&facts, absent, *intent);
    }
    let resolution = match intent {
        Intent::Count => count(&facts, subject),
        Intent::When(edge) => times::when(&facts, subject, *edge),
        Intent::HowLong => how_long(&facts, subject),
        Intent::Who(SpeakerRank::Any) => match subject {
            Subject::Mention(phrase, _) => contents::who_says(&facts, phrase),
            _ => Resolution::Unknown,
        },
        Intent::Who(rank) => speakers::rank(&facts, *rank),
        Intent::List => list(&facts, subject),
        Intent::Exists => contents::exists(&facts, subject),
        Intent::Order => times::order(&facts, subject, other.as_ref()),
        Intent::Compare => speakers::compare(&facts, subject, other.as_ref()),
        Intent::Quote => match subject {
            Subject::Speaker(speaker) => contents::quotes(&facts, Some(speaker)),
            _ => contents::quotes(&facts, None),
        },
        Intent::Describe => contents::describe(&facts),
    };
    match (resolution, intent, subject) {
        (Resolution::Unknown, Intent::When(_) | Intent::HowLong, Subject::Shown(phrase)) => {
            contents::not_shown(&facts, phrase)
        }
        (Resolution::Unknown, Intent::When(_), Subject::Mention(phrase, _)) => {
            contents::no_mention(&facts, phrase, true)
        }
        (resolution, ..) => resolution,
    }
}

fn count(facts: &VideoFacts, subject: &Subject) -> Resolution {
    match subject {
        Subject::Speakers => speakers::count_speakers(facts),
        Subject::People => contents::count_people(facts),
        Subject::Anyone => contents::count_anyone(facts),
        Subject::Turns(speaker) => speakers::count_turns(facts, speaker.as_ref()),
        Subject::Handovers => speakers::count_handovers(facts),
        Subject::Words => contents::count_words(facts),
        Subject::Mention(phrase, by) => contents::count_mentions(facts, phrase, by.as_ref()),
        Subject::Things(phrase) => contents::count_things(facts, phrase),
        _ => Resolution::Unknown,
    }
}

fn how_long(facts: &VideoFacts, subject: &Subject) -> Resolution {
    match subject {
        Subject::Video => times::video_length(facts),
        Subject::Speech => speakers::speech_length(facts),
        Subject::Speakers => speakers::speaking_times(facts),
        Subject::Speaker(speaker) => match speakers::find(facts, speaker) {
            Ok(voice) => speakers::speaking_time(&voice),
            Err(reason) => reason,
        },
        _ => times::shown_length(facts, subject),
    }
}

fn list(facts: &VideoFacts, subject: &Subject) -> Resolution {
    match subject {
        Subject::Speakers => speakers::count_speakers(facts),
        Subject::ScreenText => contents::list_text(facts),
        Subject::Screen => contents::list_screen(facts),
        Subject::AllThings => contents::list_things(facts, None),
        Subject::Things(phrase) => contents::list_things(facts, Some(&phrase.noun())),
        _ => Resolution::Unknown,
    }
}
