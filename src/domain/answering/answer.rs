//! Answers from evidence: every sentence cites the moments that bear it out and is checked against
//! them; what they do not bear out is left out.

use ports::llm::{Answer, Moment, Passage, PassageKind, TokenSink};
use text::questions::is_question;
use text::{Quotations, Token, sentences, shared, tokens};

use crate::domain::analysis::TextStyle;
use crate::domain::analysis::finding::Statement;
use crate::domain::answering::Answering;
use crate::domain::answering::audit::{AuditedSentence, Cited, Claim, is_said_by};
use crate::domain::answering::reading::{Nearest, Said, is_language};
use crate::domain::kernel::error::Result;
use crate::domain::kernel::moment::MomentId;
use crate::domain::kernel::time::Span;
use crate::domain::kernel::verdict::Verdict;
use crate::domain::kernel::video::VideoId;
use crate::domain::llm::ask::{Ask, Prompt};
use crate::domain::search::SearchResult;
use crate::domain::search::calibration::content_words;

const PROMPT: &str = include_str!("answer.md");

/// Longest answer.
const MAX_TOKENS: u32 = 700;

/// About how many characters one token of English takes.
const CHARACTERS_PER_TOKEN: usize = 4;

/// What a piece of evidence costs beside its text, characters.
const HEADING: usize = 70;

/// Longest piece of evidence, characters; longer text is split, so that a long chunk does not crowd
/// out everything else.
const LONGEST_PIECE: usize = 2000;

/// Probability from which a sentence that means what is asked for, or was read, answers the question.
const ANSWERS: f32 = 0.5;

/// Share of the words of something from which what is said is about it.
const ABOUT: f32 = 0.6;

/// Probability from which a reranker does not refute what was chosen by its words, or is near in meaning.
const NOT_REFUTED: f32 = 0.25;

/// What is at least this part as probably an answer as the surest one is told beside it.
const SHARE: f32 = 0.6;

/// Sentences that a reranker finds and that are told, each with the one that is said right after it.
const MOST_READ: usize = 2;

/// Times that differ by less are the same, seconds.
const SAME_TIME: f64 = 0.01;

/// Probability from which a moment is likely to have to do with a question.
const RELATED: f32 = 0.3;

/// A piece of text about a moment of a video.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Evidence {
    pub(crate) video_id: VideoId,
    pub(crate) span: Span,
    /// What it is part of: `chunks`, `sections`, `summary` or an aggregator's id.
    pub(crate) source: &'static str,
    /// Which one of that source.
    pub(crate) element: u32,
    /// How it is known.
    pub(crate) kind: PassageKind,
    /// Who says it, where that is known.
    pub(crate) speaker: Option<String>,
    /// What it is good for, when it is not of a chunk.
    pub(crate) topic: Option<String>,
    pub(crate) text: String,
    /// Of a search hit.
    pub(crate) p_present: Option<f32>,
}

/// What one source tells of a moment: used as a whole or not at all.
pub(crate) type Told = Vec<Evidence>;

/// An answer with what its check found.
#[derive(Debug, Clone, PartialEq)]
struct Answered {
    text: String,
    /// Whether it answers the question; otherwise it says that the footage does not show it.
    answered: bool,
    /// Also of the sentences that were left out.
    audit: Vec<AuditedSentence>,
}

impl Evidence {
    /// What a search hit tells, the most to the point first. What it is told together stays together.
    pub(crate) fn of_hit(hit: &SearchResult, question: &str) -> Vec<Told> {
        let document = &hit.document;
        let whole = Span { start: document.start, end: document.end };
        let (turns, others): (Vec<&Statement>, Vec<&Statement>) = hit
            .statements
            .iter()
            .filter(|statement| statement.is_likely())
            .partition(|s| s.kind == PassageKind::Speech && s.span.is_some());
        let mut statements: Vec<Vec<Statement>> =
            vec![others.into_iter().cloned().collect(), spoken(&turns, whole)];
        let silent = statements.iter().flatten().all(|told| told.text.trim().is_empty());
        if silent && hit.statements.iter().all(Statement::is_likely) {
            statements = vec![vec![Statement::new(PassageKind::Prose, document.text.clone())]];
        }
        let evidence = |statement: &Statement, text: String| Self {
            video_id: hit.video_id,
            span: statement.span.unwrap_or(whole),
            source: "chunks",
            element: hit.chunk_id.0,
            kind: statement.kind,
            speaker: statement.speaker.clone(),
            topic: None,
            text,
            // What answers is read with the question there.
            p_present: Some(hit.p_found),
        };
        let mut found: Vec<Told> = Vec::new();
        for together in &statements {
            let all = together.iter().flat_map(|statement| {
                pieces(&statement.text).into_iter().map(|text| evidence(statement, text))
            });
            found.extend(grouped(all.collect()));
        }
        let words = content_words(question);
        let likeness = |told: &Told| {
            let texts: Vec<&str> = told.iter().map(|piece| piece.text.as_str()).collect();
            shared(&words, &texts.join(" "))
        };
        found.sort_by(|a, b| likeness(b).total_cmp(&likeness(a)));
        found
    }

    fn moment_id(&self) -> MomentId {
        MomentId::new(self.video_id, self.span)
    }

    pub(super) fn style(&self) -> TextStyle {
        match self.kind {
            PassageKind::Prose | PassageKind::Scene => TextStyle::Prose,
            PassageKind::Speech => TextStyle::Speech,
            PassageKind::Screen => TextStyle::Screen,
            PassageKind::Objects => TextStyle::Objects,
            PassageKind::People => TextStyle::People,
        }
    }

    fn cited(&self) -> Cited<'_> {
        Cited { speaker: self.speaker.as_deref(), text: &self.text }
    }

    fn passage(&self, id: String) -> Passage {
        let Span { start, end } = self.span;
        Passage {
            moment: Some(Moment { video_id: Some(self.video_id), start, end }),
            speaker: self.speaker.clone(),
            topic: self.topic.clone(),
            ..Passage::new(id, self.kind, self.text.clone())
        }
    }

    fn is_within(&self, other: &Self) -> bool {
        self.video_id == other.video_id
            && self.span.start >= other.span.start
            && self.span.end <= other.span.end
    }
}

/// Neighbouring pieces in groups of at most [`LONGEST_PIECE`].
fn grouped(pieces: Vec<Evidence>) -> Vec<Told> {
    let mut groups: Vec<Told> = Vec::new();
    let mut length = 0;
    for piece in pieces {
        length += piece.text.len() + 1;
        match groups.last_mut().filter(|_| length <= LONGEST_PIECE) {
            Some(group) => group.push(piece),
            None => {
                length = piece.text.len();
                groups.push(vec![piece]);
            }
        }
    }
    groups
}

/// What is said in a hit, neighbouring sentences of a speaker together: while it is short, of the whole
/// chunk and as much before and after it as its sentences last.
fn spoken(said: &[&Statement], chunk: Span) -> Vec<Statement> {
    let length: usize = said.iter().map(|statement| statement.text.len()).sum();
    let short = length <= LONGEST_PIECE;
    let spans = || said.iter().filter_map(|statement| statement.span);
    let whole = Span {
        start: spans().map(|span| span.start).fold(chunk.start, f64::min),
        end: spans().map(|span| span.end).fold(chunk.end, f64::max),
    };
    let mut found: Vec<Statement> = Vec::new();
    for statement in said {
        let span = if short { Some(whole) } else { statement.span };
        let goes_on = |last: &&mut Statement| {
            last.speaker == statement.speaker
                && last.text.len() + statement.text.len() < LONGEST_PIECE
        };
        match found.last_mut().filter(goes_on) {
            Some(last) => {
                last.span = last.span.zip(span).map(|(last, span)| Span { end: span.end, ..last });
                last.text.push('\n');
                last.text.push_str(&statement.text);
            }
            None => found.push(Statement { span, ..(*statement).clone() }),
        }
    }
    found
}

/// A text in pieces of at most [`LONGEST_PIECE`], split where sentences end or, failing that, words.
fn pieces(text: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let parts = sentences(text, Quotations::Whole).into_iter().flat_map(|sentence| -> Vec<&str> {
        if sentence.len() <= LONGEST_PIECE {
            vec![sentence]
        } else {
            sentence.split_whitespace().collect()
        }
    });
    for part in parts {
        match found.last_mut().filter(|piece| piece.len() + part.len() < LONGEST_PIECE) {
            Some(piece) => {
                piece.push(' ');
                piece.push_str(part);
            }
            None => found.push(part.to_owned()),
        }
    }
    found
}

/// How a moment is cited.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CitationForm {
    /// `[<video_id> <start>-<end>s]`, in `/query`.
    Seconds,
    /// `[<video_id> <start>-<end>]`, in `/ask`.
    Plain,
}

impl CitationForm {
    fn cite(self, evidence: &Evidence) -> String {
        self.of(evidence.video_id, evidence.span)
    }

    /// The citation of a span of a video.
    pub(super) fn of(self, video_id: VideoId, Span { start, end }: Span) -> String {
        let unit = if self == Self::Seconds { "s" } else { "" };
        format!("[{video_id} {start}-{end}{unit}]")
    }
}

/// An answer, or why there is none: what was found is worth having without one.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Attempt {
    pub(crate) text: Option<String>,
    /// Whether the text answers the question; otherwise it says that the footage does not show it.
    pub(crate) answered: bool,
    /// Also of the sentences that were left out.
    pub(crate) audit: Vec<AuditedSentence>,
    /// `TypeName: message`, where writing the answer failed.
    pub(crate) error: Option<String>,
}

impl Answering {
    /// As [`Self::answer`]; a failure takes nothing but the answer.
    pub(crate) async fn attempt_answer(
        &self,
        question: &str,
        context: &[&Evidence],
        form: CitationForm,
        sink: TokenSink,
    ) -> Attempt {
        match self.answer(question, context, form, sink).await {
            Ok(None) => Attempt::default(),
            Ok(Some(Answered { text, answered, audit })) => {
                Attempt { text: Some(text), answered, audit, error: None }
            }
            Err(error) => {
                let error = error.labelled();
                tracing::warn!(error, "no answer could be written");
                Attempt { error: Some(error), ..Attempt::default() }
            }
        }
    }

    /// What fits into one request of evidence given most relevant first, each video in order of time.
    pub(crate) fn context<'a>(&self, evidence: &'a [Told]) -> Vec<&'a Evidence> {
        let whole = self.answer_tokens as usize * CHARACTERS_PER_TOKEN;
        let fits = self.llm.context_tokens() * CHARACTERS_PER_TOKEN;
        let (mut used, mut shown) = (0, 0);
        let mut kept: Vec<&Evidence> = Vec::new();
        for told in evidence {
            let text: usize = told.iter().map(|piece| piece.text.len()).sum();
            let heading = HEADING + told[0].topic.as_ref().map_or(0, String::len);
            // A model is shown each piece under a heading of its own.
            let (cost, prompt) = (text + heading, text + told.len() * heading);
            if kept.is_empty() || (used + cost <= whole && shown + prompt <= fits) {
                (used, shown) = (used + cost, shown + prompt);
                kept.extend(told);
            }
        }
        let mut videos: Vec<VideoId> = Vec::new();
        for piece in &kept {
            if !videos.contains(&piece.video_id) {
                videos.push(piece.video_id);
            }
        }
        let place = |piece: &Evidence| videos.iter().position(|video| *video == piece.video_id);
        kept.sort_by(|a, b| {
            let times =
                a.span.start.total_cmp(&b.span.start).then(a.span.end.total_cmp(&b.span.end));
            place(a).cmp(&place(b)).then(times)
        });
        kept
    }

    /// Answers a question from a context. `None` without one. When nothing in it answers the
    /// question, the answer says so and cites the nearest moment.
    async fn answer(
        &self,
        question: &str,
        context: &[&Evidence],
        form: CitationForm,
        sink: TokenSink,
    ) -> Result<Option<Answered>> {
        if context.is_empty() {
            return Ok(None);
        }
        let passages =
            context.iter().enumerate().map(|(i, e)| e.passage(format!("p{}", i + 1))).collect();
        let prompt = Prompt {
            instructions: PROMPT.into(),
            passages,
            question: Some(question.to_owned()),
            max_tokens: MAX_TOKENS,
            sink,
            ..Prompt::default()
        };
        let answer: Answer = self.llm.ask(prompt).await?;

        let told: Vec<(String, Vec<String>)> =
            answer.sentences.into_iter().map(|s| (without_brackets(&s.text), s.passages)).collect();
        let mut cited: Vec<(&str, Vec<&Evidence>)> = Vec::new();
        for (text, ids) in &told {
            for sentence in sentences(text, Quotations::Whole) {
                cited.push((sentence, citations(sentence, ids, context)));
            }
        }
        let claims: Vec<Claim<'_>> =
            cited.iter().map(|(sentence, cited)| claim(sentence, cited, context)).collect();
        let verdicts = self.audit(&claims).await?;
        let by_chance = self.llm.is_extractive()
            && cited.iter().all(|(_, cited)| is_by_chance(question, cited));
        let audit: Vec<AuditedSentence> = cited
            .iter()
            .zip(verdicts)
            .map(|((sentence, cited), verdict)| AuditedSentence {
                sentence: (*sentence).to_owned(),
                citations: cited.iter().map(|e| form.cite(e)).collect(),
                moments: cited.iter().map(|e| e.moment_id()).collect(),
                verdict: if by_chance { Verdict::Unsupported } else { verdict },
            })
            .collect();
        let reread = self.reread(audit, &cited, question, context, form).await?;
        self.with_what_holds(reread, question, context, form).await.map(Some)
    }

    /// The answer of the sentences that hold. Where none does, the nearest moment: a model that chooses
    /// by words alone may have passed over one that means the same, which is an answer unless a reranker
    /// doubts that; else it is named as none, if it is likely to have to do with the question at all.
    async fn with_what_holds(
        &self,
        (mut audit, is_doubtful): (Vec<AuditedSentence>, bool),
        question: &str,
        context: &[&Evidence],
        form: CitationForm,
    ) -> Result<Answered> {
        let told = |s: &AuditedSentence| format!("{} {}", s.sentence, s.citations.join(" "));
        let held = |s: &&AuditedSentence| s.verdict != Verdict::Unsupported;
        let text = audit.iter().filter(held).map(told).collect::<Vec<_>>().join(" ");
        if !text.is_empty() {
            return Ok(Answered { text, answered: true, audit });
        }
        let nearest = self.nearest(question, context).await?;
        let nearest = nearest.filter(|nearest| nearest.p_present >= RELATED);
        let is_answer = |nearest: &Nearest<'_>| {
            let doubted = is_doubtful && nearest.said[0].is_language();
            nearest.fits && nearest.p_present >= ANSWERS && !doubted
        };
        let answered = self.llm.is_extractive() && nearest.as_ref().is_some_and(is_answer);
        let nothing = "The footage does not show this";
        let sentences: Vec<AuditedSentence> = match &nearest {
            Some(nearest) if answered => {
                nearest.said.iter().map(|said| quoted(said, form)).collect()
            }
            Some(nearest) => {
                let quoted = quoted(&nearest.said[0], form);
                let sentence = format!("{nothing}; the nearest moment: {}", quoted.sentence);
                vec![AuditedSentence { sentence, ..quoted }]
            }
            None => vec![AuditedSentence {
                sentence: format!("{nothing}."),
                citations: Vec::new(),
                moments: Vec::new(),
                verdict: Verdict::Supported,
            }],
        };
        let text = sentences.iter().map(told).collect::<Vec<_>>().join(" ").trim_end().to_owned();
        audit.extend(sentences);
        Ok(Answered { text, answered, audit })
    }

    /// Reads a particular question again together with the sentences that a model has chosen by their
    /// words, and with others: the sentences that answer it, the surest first, before those that do not;
    /// and whether it is doubtful that anything there does.
    async fn reread(
        &self,
        audit: Vec<AuditedSentence>,
        cited: &[(&str, Vec<&Evidence>)],
        question: &str,
        context: &[&Evidence],
        form: CitationForm,
    ) -> Result<(Vec<AuditedSentence>, bool)> {
        if !self.llm.is_extractive() {
            return Ok((audit, false));
        }
        let likely =
            |cited: &[&Evidence]| cited.iter().filter_map(|e| e.p_present).reduce(f32::max);
        let chosen: Vec<(&str, Option<f32>)> =
            cited.iter().map(|(sentence, cited)| (*sentence, likely(cited))).collect();
        let Some(reading) = self.read(question, context, &chosen).await? else {
            return Ok((audit, false));
        };
        let sure = if reading.is_topic { ABOUT } else { ANSWERS };
        let worth = (SHARE * reading.surest()).max(sure);
        let answers = reading.answers(worth, MOST_READ);
        let least = if answers.is_empty() { NOT_REFUTED } else { worth };
        let mut scored: Vec<(f32, AuditedSentence)> =
            reading.of_texts.iter().copied().zip(audit).collect();
        for ((score, told), (_, cited)) in scored.iter_mut().zip(cited) {
            let of_moments = cited.iter().any(|evidence| evidence.topic.is_none());
            let is_read = cited.iter().all(|evidence| is_language(evidence));
            let least = match () {
                // What is told of a whole video has the words of many questions.
                () if !of_moments => worth,
                () if is_read || reading.is_topic => least,
                () => 0.0,
            };
            if *score < least {
                told.verdict = Verdict::Unsupported;
            }
        }
        for answer in answers {
            for said in &answer.said {
                let has_it = |given: &AuditedSentence| {
                    given.verdict != Verdict::Unsupported && quotes(&given.sentence, said.text())
                };
                match scored.iter_mut().find(|(_, given)| has_it(given)) {
                    // What continues it does not come before it.
                    Some((score, _)) => *score = score.max(answer.score),
                    None => scored.push((answer.score, quoted(said, form))),
                }
            }
        }
        scored.sort_by(|a, b| b.0.total_cmp(&a.0));
        let audit = scored.into_iter().map(|(_, told)| told).collect();
        Ok((audit, !reading.is_topic && reading.surest() < NOT_REFUTED))
    }
}

/// A sentence of the evidence as a sentence of an answer.
fn quoted(said: &Said<'_>, form: CitationForm) -> AuditedSentence {
    let (sentence, evidence) = said.quoted();
    AuditedSentence {
        sentence,
        citations: vec![form.cite(evidence)],
        moments: vec![evidence.moment_id()],
        verdict: Verdict::Supported,
    }
}

/// Whether no moment that is cited is likely to have what a question is about, if it is about anything in
/// particular: a few words in common are found anywhere.
fn is_by_chance(question: &str, cited: &[&Evidence]) -> bool {
    // What answers a question need not be about the same; what is searched for is there or not.
    let least = if is_question(question) { RELATED } else { ANSWERS };
    let unlikely = |e: &&Evidence| e.p_present.is_some_and(|p| p < least);
    !cited.is_empty() && cited.iter().all(unlikely) && !content_words(question).is_empty()
}

/// The evidence that a sentence cites, each once: what is not in the context is no citation, and
/// where a shorter moment within the cited one says the same, it is cited instead.
fn citations<'a>(sentence: &str, ids: &[String], context: &[&'a Evidence]) -> Vec<&'a Evidence> {
    let mut cited: Vec<&Evidence> = Vec::new();
    for id in ids {
        let number: Option<usize> = id.trim().strip_prefix('p').and_then(|n| n.parse().ok());
        let Some(named) = number.and_then(|n| context.get(n.checked_sub(1)?)) else { continue };
        let length = |e: &Evidence| e.span.end - e.span.start;
        let narrowest = context
            .iter()
            .filter(|e| e.is_within(named) && length(e) < length(named))
            .filter(|e| is_said_by(sentence, e.cited()))
            .min_by(|a, b| length(a).total_cmp(&length(b)))
            .unwrap_or(named);
        if !cited.iter().any(|e| e.video_id == narrowest.video_id && e.span == narrowest.span) {
            cited.push(narrowest);
        }
    }
    // Where one moment says it by itself, those that do not are not needed.
    let alone = |e: &&Evidence| is_said_by(sentence, e.cited());
    if cited.iter().any(alone) {
        cited.retain(alone);
        // A sentence that spans two moments is cited where it begins.
        let whole = cited.clone();
        let continues = |e: &Evidence| {
            whole.iter().any(|before| before.video_id == e.video_id && is_end(before, e))
        };
        cited.retain(|e| !continues(e));
    }
    cited
}

/// Whether a piece of evidence begins where another one ends.
fn is_end(before: &Evidence, next: &Evidence) -> bool {
    before.span.start < next.span.start && (next.span.start - before.span.end).abs() < SAME_TIME
}

/// Whether a sentence has the words of a text one after the other. Punctuation does not count: lines on
/// screen are joined by commas in a description and by semicolons elsewhere.
fn quotes(sentence: &str, text: &str) -> bool {
    let (own, said) = (tokens(sentence), tokens(text));
    let is_same = |(a, b): (&Token<'_>, &Token<'_>)| a.lower == b.lower;
    let found = own.windows(said.len().max(1)).any(|window| window.iter().zip(&said).all(is_same));
    if said.is_empty() { sentence.contains(text) } else { found }
}

/// A sentence with everything the context has on the moments it cites.
fn claim<'a>(sentence: &'a str, cited: &[&Evidence], context: &[&'a Evidence]) -> Claim<'a> {
    let inside = |e: &&&Evidence| cited.iter().any(|cited| e.is_within(cited));
    Claim {
        sentence,
        cited: context.iter().filter(inside).map(|e| e.cited()).collect(),
        times: cited.iter().flat_map(|e| [e.span.start, e.span.end]).collect(),
    }
}

/// The text without anything in square brackets: only citations that were checked are shown.
fn without_brackets(text: &str) -> String {
    let mut depth = 0_u32;
    let kept: String = text
        .chars()
        .filter(|c| {
            match c {
                '[' => depth += 1,
                ']' => {
                    depth = depth.saturating_sub(1);
                    return false;
                }
                _ => {}
            }
            depth == 0
        })
        .collect();
    kept.split_whitespace().collect::<Vec<_>>().join(" ").replace(" .", ".")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn piece(start: f64, end: f64, text: &str) -> Evidence {
        Evidence {
            video_id: "00ff00ff00ff00ff".parse().expect("an id"),
            span: Span { start, end },
            source: "chunks",
            element: 0,
            kind: PassageKind::Speech,
            speaker: None,
            topic: None,
            text: text.into(),
            p_present: None,
        }
    }

    #[test]
    fn only_citations_from_the_context_survive() {
        let hello = piece(3.0, 6.12, "Hello.");
        let context = [&hello];
        let ids = |ids: &[&str]| ids.iter().map(|&id| id.to_owned()).collect::<Vec<_>>();
        assert_eq!(citations("Hello.", &ids(&["p1", "p9", "p1"]), &context), [&hello]);
        assert_eq!(citations("Hello.", &ids(&["p2", "p0", "x"]), &context), [] as [&Evidence; 0]);
        assert_eq!(CitationForm::Seconds.cite(&hello), "[00ff00ff00ff00ff 3-6.12s]");
        assert_eq!(CitationForm::Plain.cite(&hello), "[00ff00ff00ff00ff 3-6.12]");
        assert_eq!(without_brackets("He says hello [p1]."), "He says hello.");
    }

    #[test]
    fn the_shortest_moment_that_says_it_is_cited() {
        let whole = piece(0.0, 60.0, "A dog runs. Then a man sings.");
        let chapter = piece(0.0, 30.0, "A dog runs.");
        let chunk = piece(10.0, 20.0, "A dog runs on the beach.");
        let other = piece(20.0, 30.0, "A man sings.");
        let context = [&whole, &chapter, &chunk, &other];
        let ids = ["p1".to_owned()];
        assert_eq!(citations("A dog runs.", &ids, &context), [&chunk]);
        assert_eq!(citations("A man sings.", &ids, &context), [&other]);
        assert_eq!(citations("A man sings to a dog.", &ids, &context), [&whole]);
    }

    #[test]
    fn text_that_stays_on_screen_over_a_border_is_cited_once() {
        let told = "On screen: “Fish soup for 60”.";
        let [first, second, later] =
            [(10.0, 20.0), (20.0, 30.0), (40.0, 50.0)].map(|(start, end)| piece(start, end, told));
        let context = [&first, &second, &later];
        let ids = ["p1", "p2", "p3"].map(str::to_owned);
        assert_eq!(citations(told, &ids, &context), [&first, &later]);
    }

    #[test]
    fn a_quotation_is_known_by_its_words() {
        let told = "On screen: “11:15 ROSA'S KITCHEN, Fish soup for 60”.";
        assert!(quotes(told, "11:15 ROSA'S KITCHEN; Fish soup for 60"));
        assert!(quotes(told, "Fish soup"));
        assert!(!quotes(told, "Fish soup for 6"));
        assert!(!quotes(told, "soup for the kitchen"));
        assert!(!quotes("Soup.", "On screen: soup"));
    }

    #[test]
    fn what_one_speaker_says_stays_apart_from_what_another_does() {
        let turn = |speaker: &str, start: f64, text: &str| Statement {
            speaker: Some(speaker.into()),
            span: Some(Span { start, end: start + 5.0 }),
            ..Statement::new(PassageKind::Speech, text)
        };
        let chunk = Span { start: 2.0, end: 12.0 };
        let told = |turns: &[Statement]| -> Vec<(Option<String>, Option<Span>, usize)> {
            let told = spoken(&turns.iter().collect::<Vec<_>>(), chunk);
            told.into_iter().map(|s| (s.speaker, s.span, s.text.lines().count())).collect()
        };
        let span = |start, end| Some(Span { start, end });
        let short = [turn("S1", 0.0, "Hello."), turn("S1", 5.0, "So."), turn("S2", 10.0, "Yes.")];
        let (first, second) = (Some("S1".to_owned()), Some("S2".to_owned()));
        let whole = span(0.0, 15.0);
        assert_eq!(told(&short), [(first.clone(), whole, 2), (second, whole, 1)]);
        let long = "And then we went on. ".repeat(60);
        let long = [turn("S1", 0.0, "Hello."), turn("S1", 5.0, &long), turn("S1", 10.0, &long)];
        assert_eq!(
            told(&long),
            [(first.clone(), span(0.0, 10.0), 2), (first, span(10.0, 15.0), 1)]
        );
    }

    #[test]
    fn what_is_told_together_stays_together_while_it_is_short() {
        let long = "word ".repeat(LONGEST_PIECE / 5 - 10);
        let told = |texts: &[&str]| -> Vec<usize> {
            let pieces = texts.iter().map(|text| piece(0.0, 5.0, text)).collect();
            grouped(pieces).iter().map(Vec::len).collect()
        };
        assert_eq!(told(&["A bright picture.", "A dog is in view.", "EXIT"]), [3]);
        assert_eq!(told(&["A bright picture.", &long, &long, "EXIT"]), [2, 2]);
        assert_eq!(told(&[]), [0; 0]);
    }

    #[test]
    fn long_texts_come_in_pieces_that_lose_nothing() {
        let text = "One sentence of several words. ".repeat(200);
        let found = pieces(&text);
        assert!(found.len() > 2 && found.iter().all(|piece| piece.len() <= LONGEST_PIECE));
        assert_eq!(found.join(" "), text.trim());
        let endless = "word ".repeat(1000);
        assert_eq!(pieces(&endless).join(" "), endless.trim());
        assert_eq!(pieces(""), [] as [&str; 0]);
    }
}
