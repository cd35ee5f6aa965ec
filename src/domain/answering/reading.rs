//! Reading the evidence for a question sentence by sentence: which sentences answer it, and which comes
//! nearest to that.

use std::collections::{BTreeSet, HashMap, HashSet};

use ports::llm::PassageKind;
use text::questions::{AnswerKind, is_question};
use text::{tokens, words};

use crate::domain::answering::Answering;
use crate::domain::answering::answer::Evidence;
use crate::domain::kernel::error::{Error, Result};
use crate::domain::kernel::vector::dot;
use crate::domain::search::rerank::{self, Wanted, read_at_once};

/// Sentences of the likeliest moments that are compared with a question that has no answer.
const COMPARED: usize = 32;

/// So many of them, the likeliest by themselves, are also compared together with what follows them.
const CONTINUED: usize = 8;

/// Sentences that a reranker reads for a question: the likeliest.
const READ: usize = 24;

/// Of what no search has found, such as what sums up a video: it is told of as if it were as likely as not.
const UNKNOWN: f32 = 0.5;

/// So much later, seconds, what is said does not follow any more.
const PAUSE: f64 = 3.0;

/// Words from which what a speaker says tells something of a moment by itself.
const TELLING: usize = 3;

/// Longest sentence that is quoted, characters.
const LONGEST_SENTENCE: usize = 400;

/// A sentence of a moment.
#[derive(Debug, Clone, Copy)]
pub(super) struct Said<'a> {
    text: &'a str,
    evidence: &'a Evidence,
}

impl<'a> Said<'a> {
    fn is_speech(&self) -> bool {
        self.evidence.kind == PassageKind::Speech
    }

    /// Whether it was measured alone, and tells nothing that one would look for.
    fn is_scene(&self) -> bool {
        self.evidence.kind == PassageKind::Scene
    }

    /// Whether another sentence, which comes after it, is said right after.
    fn is_followed_by(&self, next: &Self) -> bool {
        self.evidence.video_id == next.evidence.video_id
            && next.evidence.span.start <= self.evidence.span.end + PAUSE
    }

    /// Whether it is language, as [`is_language`].
    pub(super) fn is_language(&self) -> bool {
        is_language(self.evidence)
    }

    fn p_present(&self) -> Option<f32> {
        self.evidence.p_present
    }

    /// The sentence itself.
    pub(super) fn text(&self) -> &'a str {
        self.text
    }

    /// As an answer quotes it, with what it is a sentence of.
    pub(super) fn quoted(&self) -> (String, &'a Evidence) {
        let mut sentence = self.text.chars().take(LONGEST_SENTENCE).collect::<String>();
        if matches!(self.evidence.kind, PassageKind::Speech | PassageKind::Screen) {
            sentence = format!("“{sentence}”");
        }
        if let Some(speaker) = &self.evidence.speaker {
            sentence = format!("{speaker}: {sentence}");
        }
        (sentence, self.evidence)
    }
}

/// A sentence and what is said right after it.
pub(super) type Window<'a> = Vec<Said<'a>>;

/// A window, and how probable it is that it is about a question.
pub(super) struct Nearest<'a> {
    pub(super) said: Window<'a>,
    pub(super) p_present: f32,
    /// Whether it has what the question asks for.
    pub(super) fits: bool,
}

impl Nearest<'_> {
    fn rank(&self) -> f32 {
        self.p_present + f32::from(u8::from(self.fits))
    }
}

/// A window, and how probable it is that it answers a question.
pub(super) struct Read<'a> {
    pub(super) said: Window<'a>,
    pub(super) score: f32,
}

/// What a reranker makes of the evidence for a question.
pub(super) struct Reading<'a> {
    /// The likeliest windows, the surest first.
    windows: Vec<Read<'a>>,
    /// How sure it is of each of the texts that it was given.
    pub(super) of_texts: Vec<f32>,
    /// Whether all that is said about something answers.
    pub(super) is_topic: bool,
}

impl<'a> Reading<'a> {
    /// How sure the surest answer is; 0 where there is nothing to read.
    pub(super) fn surest(&self) -> f32 {
        self.windows.first().map_or(0.0, |read| read.score)
    }

    /// The windows that answer the question at least so surely, the surest first, none of which begins
    /// with what one before it quotes.
    pub(super) fn answers(&self, least: f32, most: usize) -> Vec<&Read<'a>> {
        let mut quoted: HashSet<&str> = HashSet::new();
        let sure = self.windows.iter().take_while(|read| read.score >= least);
        let new = sure.filter(|read| {
            let new = !quoted.contains(read.said[0].text);
            quoted.extend(read.said.iter().filter(|_| new).map(|said| said.text));
            new
        });
        new.take(most).collect()
    }
}

/// Whether a piece of evidence is language, and does not sum up a video.
pub(super) fn is_language(evidence: &Evidence) -> bool {
    evidence.topic.is_none() && rerank::is_language(evidence.kind)
}

/// Every sentence of the evidence, with the one that is said right after it; what stands on screen together
/// is one.
fn windows<'a>(context: &[&'a Evidence]) -> Vec<Window<'a>> {
    let sentences = |&evidence: &&'a Evidence| {
        let parts = read_at_once(evidence.kind, &evidence.text);
        parts.into_iter().map(move |text| Said { text, evidence })
    };
    let mut known = HashSet::new();
    let all: Vec<Said<'a>> = context.iter().flat_map(sentences).collect();
    let new =
        |said: &Said<'a>| known.insert((said.evidence.video_id, said.evidence.kind, said.text));
    let all: Vec<Said<'a>> = all.into_iter().filter(new).collect();
    let (speech, others): (Vec<Said<'a>>, _) = all.into_iter().partition(Said::is_speech);
    let window = |(at, said): (usize, &Said<'a>)| {
        let next = speech.get(at + 1).filter(|next| said.is_followed_by(next));
        std::iter::once(*said).chain(next.copied()).collect()
    };
    let mut windows: Vec<Window<'a>> = speech.iter().enumerate().map(window).collect();
    windows.extend(others.into_iter().map(|said| vec![said]));
    // Of a turn in a conversation a word or two may be left.
    let tells = |said: &Window<'_>| {
        said[0].evidence.speaker.is_none() || tokens(said[0].text).len() >= TELLING
    };
    if windows.iter().any(tells) {
        windows.retain(tells);
    }
    windows
}

fn joined(said: &[Said<'_>]) -> String {
    said.iter().map(|said| said.text).collect::<Vec<_>>().join(" ")
}

fn likely(said: &Window<'_>) -> f32 {
    said[0].p_present().unwrap_or(-1.0)
}

impl Answering {
    /// How probable it is that the evidence, and some texts, answer a question: by what a reranker makes of
    /// each, and by the probability of its moment, where that is known. Of what is said about something, the
    /// share of its words. `None` without a reranker, and where nothing in particular is asked for.
    pub(super) async fn read<'a>(
        &self,
        question: &str,
        context: &[&'a Evidence],
        texts: &[(&str, Option<f32>)],
    ) -> Result<Option<Reading<'a>>> {
        let Some(reranker) = &self.models.reranker else { return Ok(None) };
        let Some(wanted) = Wanted::by(question) else { return Ok(None) };
        let is_read = |said: &Said<'_>| match wanted.is_topic() {
            true => said.is_speech(),
            false => is_language(said.evidence),
        };
        let mut windows: Vec<(f32, String, Window<'a>)> = windows(context)
            .into_iter()
            .filter(|said| is_read(&said[0]))
            .map(|said| {
                // What is said about something begins with it.
                let text = if wanted.is_topic() { said[0].text.to_owned() } else { joined(&said) };
                (wanted.shared_with(&text) + likely(&said), text, said)
            })
            .filter(|(_, text, _)| wanted.may_be_in(text))
            .collect();
        windows.sort_by(|a, b| b.0.total_cmp(&a.0));
        windows.truncate(READ);
        let of_windows = windows.iter().map(|(_, text, said)| (text.as_str(), said[0].p_present()));
        let asked: Vec<(&str, Option<f32>)> = of_windows.chain(texts.iter().copied()).collect();
        let mut scores: Vec<f32> = match wanted.is_topic() {
            true => asked.iter().map(|(text, _)| wanted.shared_with(text)).collect(),
            false => {
                let texts: Vec<&str> = asked.iter().map(|(text, _)| *text).collect();
                let scores = rerank::read(reranker.as_ref(), question, &texts).await?.into_iter();
                let found = asked.iter().map(|(_, found)| found.unwrap_or(UNKNOWN));
                scores.zip(found).map(|(read, found)| rerank::presence(found, read)).collect()
            }
        };
        let of_texts = scores.split_off(windows.len());
        let read = windows.into_iter().zip(scores);
        let mut read: Vec<Read<'a>> =
            read.map(|((_, _, said), score)| Read { said, score }).collect();
        read.sort_by(|a, b| b.score.total_cmp(&a.score));
        Ok(Some(Reading { windows: read, of_texts, is_topic: wanted.is_topic() }))
    }

    /// Of the moments that are most likely to have it, the window that is most probably about the
    /// question.
    pub(super) async fn nearest<'a>(
        &self,
        question: &str,
        context: &[&'a Evidence],
    ) -> Result<Option<Nearest<'a>>> {
        let asked_for = AnswerKind::asked_for(&words(question));
        let mut windows = windows(context);
        windows.retain(|said| !said[0].is_scene());
        windows.sort_by(|a, b| likely(b).total_cmp(&likely(a)));
        windows.truncate(COMPARED);

        let asked = self.search.embed_question(question).await?;
        let presence = self.search.presence(question, &asked).await?;
        let probable = async |texts: Vec<(String, &Evidence)>| {
            // Many moments are told alike: no text is embedded twice.
            let different: BTreeSet<&str> = texts.iter().map(|(text, _)| text.as_str()).collect();
            let different: Vec<String> = different.into_iter().map(str::to_owned).collect();
            let vectors = self.embedder.embed(&different).await?;
            let vectors: HashMap<&str, &Vec<f32>> =
                different.iter().map(String::as_str).zip(&vectors).collect();
            let probability = |(text, evidence): &(String, &Evidence)| {
                let vector = vectors.get(text.as_str());
                let told = vector
                    .map_or(0.0, |v| presence.probability(evidence.style(), dot(v, &asked), text));
                // No surer than it is that what was detected, or is searched for by a few words, is there.
                let is_there = evidence.kind == PassageKind::Objects || !is_question(question);
                told.min(evidence.p_present.filter(|_| is_there).unwrap_or(1.0))
            };
            Ok::<Vec<f32>, Error>(texts.iter().map(probability).collect())
        };
        let alone = windows.iter().map(|said| (said[0].text.to_owned(), said[0].evidence));
        let alone = probable(alone.collect()).await?;
        let mut nearest: Vec<Nearest<'a>> = windows
            .into_iter()
            .zip(alone)
            .map(|(said, p_present)| {
                let fits = !asked_for.is_definite() || asked_for.is_in(&words(&joined(&said)));
                Nearest { said, p_present, fits }
            })
            .collect();
        nearest.sort_by(|a, b| b.rank().total_cmp(&a.rank()));
        nearest.truncate(CONTINUED);
        let mut continued: Vec<&mut Nearest<'a>> =
            nearest.iter_mut().filter(|nearest| nearest.said.len() > 1).collect();
        let together = continued.iter().map(|n| (joined(&n.said), n.said[0].evidence));
        let together = probable(together.collect()).await?;
        for (nearest, together) in continued.iter_mut().zip(together) {
            nearest.p_present = nearest.p_present.max(together);
        }
        Ok(nearest.into_iter().max_by(|a, b| a.rank().total_cmp(&b.rank())))
    }
}
