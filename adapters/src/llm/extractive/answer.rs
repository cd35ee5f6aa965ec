//! Finds the sentences that answer a question by matching its rare words. An unsupported answer is
//! worse than no answer, so a question without sufficient evidence gets no answer.

use std::collections::BTreeSet;
use std::rc::Rc;

use ports::llm::{Answer, AnswerSentence, PassageKind};
use text::questions::AnswerKind;
use text::things::stands_for;
use text::{stem, words};

use super::SUMMARY_SENTENCES;
use super::corpus::{Corpus, Sentence, content_stems};
use super::question::{QuestionTerms, bonus, counts_term};
use super::rank;

const MAX_SENTENCES: usize = 3;
/// Minimum share of the question's weight that the sentence itself must contain.
const MIN_OWN_WEIGHT: f64 = 0.3;
/// Minimum share of the question's weight that the sentence and its context must contain together.
const MIN_TOTAL_WEIGHT: f64 = 0.5;
/// Weight of a word in the context, relative to a word in the sentence.
const CONTEXT_WEIGHT: f64 = 0.5;
/// Maximum pause between a sentence and its continuation, in seconds.
const MAX_PAUSE: f64 = 3.0;
/// Score factor for a sentence in which a number counts one of the question's terms.
const COUNT_BONUS: f64 = 1.5;

/// Score factor for a sentence about another time, if other sentences are about the question's
/// time.
const OTHER_TIME_WEIGHT: f64 = 0.4;

/// What a question about the video as a whole refers to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Overview {
    Everything,
    Speech,
    Screen,
}

/// The section of the video that a question refers to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum VideoSection {
    Whole,
    Beginning,
    End,
}

impl VideoSection {
    fn from_question(question: &str) -> Self {
        let asked: Vec<String> = words(question).into_iter().map(|word| word.lower).collect();
        let has = |list: &[&str]| asked.iter().any(|word| list.contains(&word.as_str()));
        if has(&["end", "ends", "last", "finally", "ending"]) {
            Self::End
        } else if has(&["start", "starts", "begin", "begins", "beginning", "first", "opening"]) {
            Self::Beginning
        } else {
            Self::Whole
        }
    }
}

/// Finds the sentences that answer `question`. The sentence that fits best comes first.
pub(super) fn find(corpus: &Corpus, question: &str, max_sentences: usize) -> Answer {
    let asked = QuestionTerms::parse(question);
    if let Some(answer) = answer_from_topic(corpus, &asked) {
        return answer;
    }
    if asked.terms.values().all(|&weight| weight < 1.0) {
        if asked.asks_for == AnswerKind::Year {
            return sentences_with_year(corpus);
        }
        if let Some(overview) = overview(question).filter(|_| !asked.asks_for_number) {
            return about(corpus, overview, VideoSection::from_question(question), max_sentences);
        }
    }
    if asked.terms.is_empty() {
        return Answer::default();
    }
    evidence(corpus, &asked)
}

/// Answers a question that only names the topic of some passages.
fn answer_from_topic(corpus: &Corpus, question: &QuestionTerms) -> Option<Answer> {
    let topic = best_topic(corpus, question, &topic_terms(question)?)?;
    let is_relevant = |at: usize| {
        let sentence = &corpus.sentences[at];
        has_topic(corpus, sentence, topic)
            && sentence.repeats.is_none()
            && answers(question, sentence)
    };
    let mut chosen: Vec<usize> =
        (0..corpus.sentences.len()).filter(|&at| is_relevant(at)).collect();
    let names = |at: &usize| {
        let stems = &corpus.sentences[*at].stems;
        question.terms.keys().any(|term| stems.contains(term))
    };
    if chosen.iter().any(names) {
        chosen.retain(names);
    }
    // The first sentences of all passages come before any second sentence.
    let rank = |at: &usize| {
        let passage = corpus.sentences[*at].passage;
        (0..*at).filter(|other| corpus.sentences[*other].passage == passage).count()
    };
    chosen.sort_by_key(|at| (rank(at), *at));
    chosen.truncate(MAX_SENTENCES);
    let chosen: Vec<_> =
        chosen.into_iter().map(|at| (at, vec![corpus.sentences[at].passage])).collect();
    (!chosen.is_empty()).then(|| cite(corpus, chosen))
}

/// Returns the terms that a topic must contain to match the question. Returns `None` if the
/// question asks for more than a topic or for nothing in particular.
fn topic_terms(question: &QuestionTerms) -> Option<Vec<&String>> {
    let own: Vec<&String> =
        question.terms.iter().filter(|(_, weight)| **weight >= 1.0).map(|(term, _)| term).collect();
    let terms = match own[..] {
        [] if question.asks_for == AnswerKind::Anything => return None,
        [] => question.terms.keys().collect(),
        _ => own,
    };
    (!terms.is_empty() && question.required.is_empty()).then_some(terms)
}

/// Returns the most specific topic that contains all the terms and has a sentence that answers the
/// question.
fn best_topic<'a>(
    corpus: &'a Corpus,
    question: &QuestionTerms,
    terms: &[&String],
) -> Option<&'a str> {
    let mut best: Option<(f64, &str)> = None;
    for passage in corpus.passages {
        let Some(topic) = &passage.topic else { continue };
        let stems = content_stems(topic);
        if !terms.iter().all(|term| stems.contains(*term)) {
            continue;
        }
        let answered =
            |sentence: &Sentence| has_topic(corpus, sentence, topic) && answers(question, sentence);
        if !corpus.sentences.iter().any(answered) {
            continue;
        }
        let all = question.terms.keys().filter(|term| stems.contains(*term)).count();
        let share = all as f64 / stems.len().max(1) as f64;
        if best.is_none_or(|(best, _)| share > best) {
            best = Some((share, topic));
        }
    }
    best.map(|(_, topic)| topic)
}

fn has_topic(corpus: &Corpus, sentence: &Sentence, topic: &str) -> bool {
    corpus.passages[sentence.passage].topic.as_deref() == Some(topic)
}

/// Returns whether a sentence contains what the question asks for. A number that counts something
/// else is not an answer.
fn answers(question: &QuestionTerms, sentence: &Sentence) -> bool {
    bonus(question.asks_for, &sentence.text).is_some()
        && (!question.asks_for_number || counts_term(&sentence.text, &question.terms))
}

/// Finds the sentences that contain enough of the question's words, and their continuations.
fn evidence(corpus: &Corpus, question: &QuestionTerms) -> Answer {
    let mut scored = score_sentences(corpus, question);
    demote_other_times(corpus, question, &mut scored);
    // On a tie, the shorter sentence comes first.
    let length = |at: usize| corpus.sentences[at].length;
    scored.sort_by(|a, b| {
        b.1.total_cmp(&a.1).then(length(a.0).cmp(&length(b.0))).then(a.0.cmp(&b.0))
    });
    let mut chosen = merge_repetitions(corpus, &scored);
    drop_summaries(corpus, &mut chosen);
    add_follow_ups(corpus, question, &mut chosen);
    cite(corpus, chosen)
}

/// Scores the sentences that contain enough of the question's words and the kind of answer that the
/// question asks for.
fn score_sentences(corpus: &Corpus, question: &QuestionTerms) -> Vec<(usize, f64)> {
    let sentences = &corpus.sentences;
    let weights = question.weights(sentences);
    let total: f64 = weights.values().sum();
    let around = surroundings(corpus);

    let mut scored: Vec<(usize, f64)> = Vec::new();
    for (at, sentence) in sentences.iter().enumerate() {
        let near = &around[at];
        let (mut own, mut with_near) = (0.0, 0.0);
        let mut complete = true;
        for (term, weight) in &weights {
            let named = sentence.stems.iter().any(|stem| stands_for(term, stem));
            let general = if named { 1.0 } else { 0.0 };
            let alike = sentence.stems.iter().map(|stem| similarity(term, stem));
            let inside = alike.fold(general, f64::max);
            let outside = if near.contains(term.as_str()) { CONTEXT_WEIGHT } else { 0.0 };
            own += weight * inside;
            with_near += weight * inside.max(outside);
            complete &= !question.required.contains(term) || inside.max(outside) > 0.0;
        }
        if !complete || own < MIN_OWN_WEIGHT * total || with_near < MIN_TOTAL_WEIGHT * total {
            continue;
        }
        if let Some(score) = adjust_score(with_near / total, corpus, question, at) {
            scored.push((at, score));
        }
    }
    scored
}

/// Turns a sentence's share of the question's words into a score that depends on the sentence's
/// kind, length and type of answer. Returns `None` if the sentence lacks what the question asks
/// for.
fn adjust_score(share: f64, corpus: &Corpus, question: &QuestionTerms, at: usize) -> Option<f64> {
    let sentence = &corpus.sentences[at];
    // The answer may follow in the next sentence.
    let after = follow_up(corpus, at).map_or("", |next| corpus.sentences[next].text.as_str());
    let bonus = bonus(question.asks_for, &format!("{} {after}", sentence.text))?;
    let counted =
        question.asks_for == AnswerKind::Quantity && counts_term(&sentence.text, &question.terms);
    let bonus = if counted { bonus * COUNT_BONUS } else { bonus };
    let kind = match sentence.kind {
        PassageKind::Scene | PassageKind::People => 0.8,
        PassageKind::Objects => 0.9,
        _ => 1.0,
    };
    let brevity = if sentence.length < 3 { 0.7 } else { 1.0 };
    Some(share * bonus * kind * brevity)
}

/// Lowers the scores of sentences about another time, if other sentences are about the question's
/// time.
fn demote_other_times(corpus: &Corpus, question: &QuestionTerms, scored: &mut [(usize, f64)]) {
    let of_time = |at: usize| question.matches_times(&corpus.sentences[at].text);
    if scored.iter().any(|(at, _)| of_time(*at)) {
        scored
            .iter_mut()
            .filter(|(at, _)| !of_time(*at))
            .for_each(|(_, score)| *score *= OTHER_TIME_WEIGHT);
    }
}

/// Returns the sentences with the highest scores, in descending order, each with the passages that
/// say the same.
fn merge_repetitions(corpus: &Corpus, scored: &[(usize, f64)]) -> Vec<(usize, Vec<usize>)> {
    let sentences = &corpus.sentences;
    let best = scored.first().map_or(0.0, |(_, score)| *score);
    let said = |at: usize| sentences[at].kind == PassageKind::Speech;
    let mut chosen: Vec<(usize, Vec<usize>)> = Vec::new();
    for &(at, score) in scored {
        if score < 0.75 * best {
            break;
        }
        let full = chosen.len() == MAX_SENTENCES;
        let is_repetition = |other: usize| {
            let (other, new) = (&sentences[other], &sentences[at]);
            same(other, new) || adds_no_screen_text(other, new)
        };
        match chosen.iter_mut().find(|(other, _)| is_repetition(*other)) {
            // If a description repeats speech, the speech is quoted instead, together with what
            // follows it.
            Some((other, passages)) if said(at) && !said(*other) => {
                *other = at;
                passages.insert(0, sentences[at].passage);
            }
            // If sentences say the same, the first one is quoted and a few others are cited as
            // support.
            Some((_, passages)) if passages.len() < MAX_SENTENCES => {
                passages.push(sentences[at].passage)
            }
            Some(_) => {}
            None if full => {}
            None => chosen.push((at, vec![sentences[at].passage])),
        }
    }
    chosen
}

/// Drops summaries that are not in first place if there are other sentences, because a summary adds
/// nothing to the moment that it summarises.
fn drop_summaries(corpus: &Corpus, chosen: &mut Vec<(usize, Vec<usize>)>) {
    let sums_up = |at: usize| {
        let passage = corpus.sentences[at].passage;
        corpus.passages[passage].topic.is_some()
    };
    if chosen.iter().any(|(at, _)| !sums_up(*at)) {
        let mut first = true;
        chosen.retain(|(at, _)| std::mem::take(&mut first) || !sums_up(*at));
    }
}

/// Adds the sentence after the highest-scoring one, because speech about a thing usually continues
/// after the sentence that names the thing. Also adds the sentence after every question, because
/// the reply usually follows.
fn add_follow_ups(
    corpus: &Corpus,
    question: &QuestionTerms,
    chosen: &mut Vec<(usize, Vec<usize>)>,
) {
    let best = chosen.first().map(|(at, _)| *at);
    let mut place = 0;
    while place < chosen.len() {
        let at = chosen[place].0;
        let text = &corpus.sentences[at].text;
        let complete = question.asks_for.is_definite() && bonus(question.asks_for, text).is_some();
        let wants = (Some(at) == best && !complete) || is_question(text);
        let next = follow_up(corpus, at)
            .filter(|next| wants && !chosen.iter().any(|(known, _)| known == next));
        if let Some(next) = next {
            chosen.insert(place + 1, (next, vec![corpus.sentences[next].passage]));
            place += 1;
        }
        place += 1;
    }
}

fn is_question(text: &str) -> bool {
    text.trim_end_matches('”').ends_with('?')
}

/// Returns the sentence spoken right after sentence `at`.
fn follow_up(corpus: &Corpus, at: usize) -> Option<usize> {
    let own = &corpus.sentences[at];
    let moment = |sentence: &Sentence| corpus.passages[sentence.passage].moment.as_ref();
    let before = moment(own).filter(|_| own.kind == PassageKind::Speech)?;
    let soon = |next: &usize| {
        moment(&corpus.sentences[*next]).is_some_and(|after| {
            after.video_id == before.video_id && after.start <= before.end + MAX_PAUSE
        })
    };
    let said = |next: &usize| {
        let next = &corpus.sentences[*next];
        next.kind == PassageKind::Speech && next.repeats.is_none()
    };
    let next = (at + 1..corpus.sentences.len()).take_while(soon).find(said)?;
    // Another speaker continues the subject only if the sentence was a question.
    let same_turn = corpus.sentences[next].speaker == own.speaker || is_question(&own.text);
    same_turn.then_some(next)
}

/// Returns the first sentences that contain a year.
fn sentences_with_year(corpus: &Corpus) -> Answer {
    let sentences = &corpus.sentences;
    let has_year = |at: &usize| {
        sentences[*at].repeats.is_none() && bonus(AnswerKind::Year, &sentences[*at].text).is_some()
    };
    let dated = (0..sentences.len()).filter(has_year).take(MAX_SENTENCES);
    cite(corpus, dated.map(|at| (at, vec![sentences[at].passage])).collect())
}

fn cite(corpus: &Corpus, chosen: Vec<(usize, Vec<usize>)>) -> Answer {
    let sentences = chosen
        .into_iter()
        .map(|(at, passages)| {
            let mut ids: Vec<String> = Vec::new();
            for passage in passages {
                let id = &corpus.passages[passage].id;
                if !ids.contains(id) {
                    ids.push(id.clone());
                }
            }
            AnswerSentence { text: quote_with_speaker(corpus, at), passages: ids }
        })
        .collect();
    Answer { sentences }
}

fn quote_with_speaker(corpus: &Corpus, at: usize) -> String {
    let text = corpus.quoted(at);
    let sentence = &corpus.sentences[at];
    match (&sentence.speaker, sentence.kind) {
        (Some(speaker), _) => format!("{speaker}: “{}”", text.trim_matches(['“', '”'])),
        (None, PassageKind::Speech) if !text.starts_with('“') => format!("“{text}”"),
        _ => text,
    }
}

/// Recognises a question about the video as a whole, or about everything said or written in it.
fn overview(question: &str) -> Option<Overview> {
    let lower = question.to_lowercase();
    let asked: Vec<String> = words(&lower).into_iter().map(|word| word.lower).collect();
    let has = |list: &[&str]| asked.iter().any(|word| list.contains(&word.as_str()));
    if has(&[
        "said",
        "say",
        "says",
        "saying",
        "talk",
        "talking",
        "talked",
        "speak",
        "speaking",
        "speaks",
        "speech",
        "spoken",
        "discuss",
        "discussed",
        "hear",
        "heard",
        "mentioned",
    ]) {
        Some(Overview::Speech)
    } else if has(&["text", "written", "words"]) {
        Some(Overview::Screen)
    } else if has(&[
        "about",
        "happen",
        "happens",
        "happening",
        "happened",
        "summary",
        "summarize",
        "summarise",
        "overview",
        "describe",
        "topic",
        "topics",
        "shown",
        "show",
        "shows",
        "seen",
        "see",
        "contain",
        "contains",
        "subject",
        "content",
    ]) || lower.contains("going on")
    {
        Some(Overview::Everything)
    } else {
        None
    }
}

fn about(
    corpus: &Corpus,
    overview: Overview,
    section: VideoSection,
    max_sentences: usize,
) -> Answer {
    let is_summary = |passage: usize| {
        let topic = corpus.passages[passage].topic.as_deref();
        topic.is_some_and(|topic| content_stems(topic).contains(&stem("summary")))
    };
    let summary: Vec<usize> = (0..corpus.sentences.len())
        .filter(|&at| is_summary(corpus.sentences[at].passage))
        .collect();
    if overview == Overview::Everything && section == VideoSection::Whole && !summary.is_empty() {
        // A summary is used without selecting sentences.
        let chosen = summary.into_iter().take(SUMMARY_SENTENCES);
        return cite(corpus, chosen.map(|at| (at, vec![corpus.sentences[at].passage])).collect());
    }
    let part = corpus.places.div_ceil(5);
    let ranking = rank::rank(corpus, max_sentences, |at| {
        let sentence = &corpus.sentences[at];
        let inside = match section {
            VideoSection::Whole => true,
            VideoSection::Beginning => sentence.place < part,
            VideoSection::End => sentence.place + part >= corpus.places,
        };
        inside
            && match overview {
                Overview::Speech => sentence.kind == PassageKind::Speech,
                Overview::Screen => sentence.kind == PassageKind::Screen,
                Overview::Everything => true,
            }
    });
    let mut chosen = ranking.best(MAX_SENTENCES);
    chosen.sort_unstable();
    cite(corpus, chosen.into_iter().map(|at| (at, vec![corpus.sentences[at].passage])).collect())
}

/// Returns the stems of each sentence's context. The context consists of the sentences of the same
/// kind in the same moment, and of the sentence before these, because a pronoun may refer to it.
fn surroundings<'a>(corpus: &'a Corpus) -> Vec<Rc<BTreeSet<&'a str>>> {
    let mut around: Vec<Rc<BTreeSet<&str>>> = Vec::with_capacity(corpus.sentences.len());
    let mut before: Option<&Sentence> = None;
    for block in corpus.sentences.chunk_by(|a, b| a.place == b.place && a.kind == b.kind) {
        let end = before.filter(|last| last.place + 1 >= block[0].place);
        let near: BTreeSet<&str> =
            end.into_iter().chain(block).flat_map(|s| &s.stems).map(String::as_str).collect();
        around.extend(std::iter::repeat_n(Rc::new(near), block.len()));
        before = block.last();
    }
    around
}

/// Returns the similarity of two stems. It is 1 if they are equal, and less if they are forms of
/// one long word, such as `photograph` and `photographi`.
fn similarity(a: &str, b: &str) -> f64 {
    if a == b {
        return 1.0;
    }
    let common = a.bytes().zip(b.bytes()).take_while(|(a, b)| a == b).count();
    let longest = a.len().max(b.len());
    let letters = !a.bytes().any(|byte| byte.is_ascii_digit());
    if letters && common >= 5 && common * 10 >= longest * 7 { 0.7 } else { 0.0 }
}

/// Returns whether both sentences are on-screen text and the first contains every word of the
/// second.
fn adds_no_screen_text(first: &Sentence, second: &Sentence) -> bool {
    let read = |sentence: &Sentence| sentence.kind == PassageKind::Screen;
    read(first) && read(second) && second.stems.iter().all(|stem| first.stems.contains(stem))
}

fn same(a: &Sentence, b: &Sentence) -> bool {
    let a: BTreeSet<&String> = a.stems.iter().collect();
    let b: BTreeSet<&String> = b.stems.iter().collect();
    let common = a.intersection(&b).count() as f64;
    common >= 0.8 * a.union(&b).count() as f64
}
