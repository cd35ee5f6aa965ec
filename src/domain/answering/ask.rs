//! Question answering (`/ask`) over segments and aggregates.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use futures::channel::mpsc::UnboundedSender;
use futures::{StreamExt, TryStreamExt, stream};
use ports::index::{Filter, Predicate, VectorQuery};
use ports::llm::{PassageKind, TokenSink};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::aggregation::AggregatorSpec;
use crate::aggregation::aggregators::summary::{self, VideoSummary};
use crate::aggregation::result::result_of;
use crate::analysis::TextStyle;
use crate::answering::Answering;
use crate::answering::answer::{CitationForm, EvidenceGroup};
use crate::answering::audit::AuditedSentence;
use crate::answering::context::{VideoContext, interleave};
use crate::catalog::moments::MAX_CHUNKS;
use crate::catalog::record::VideoRecord;
use crate::kernel::access::Access;
use crate::kernel::error::{Error, Result};
use crate::kernel::moment::MomentId;
use crate::kernel::time::Span;
use crate::kernel::vector::dot;
use crate::kernel::verdict::Verdict;
use crate::kernel::video::{ChunkId, VideoId};
use crate::search::{LIKELY, SearchResult, filters};

/// Limits of question answering.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct AskSettings {
    /// Maximum tokens of evidence for one answer.
    pub context_tokens: u32,
    /// Maximum supporting segments of one answer, over all videos. Where a question's `limit` per video
    /// would exceed it, the most probable videos are used.
    pub max_segments: usize,
}

impl Default for AskSettings {
    fn default() -> Self {
        Self { context_tokens: 6000, max_segments: 1200 }
    }
}

/// A question.
#[derive(Debug, Clone, PartialEq)]
pub struct Question {
    /// The question as asked.
    pub question: String,
    /// `None` uses every ingested video.
    pub video_ids: Option<Vec<String>>,
    /// The analyzer whose chunks are retrieved as evidence; `None` chooses per video.
    pub analyzer: Option<String>,
    /// Supporting segments per video, 1..=20.
    pub limit: u32,
    /// Segments with a lower `p_present` are dropped, 0..1.
    pub min_p_present: Option<f32>,
    /// The filters of the request, unparsed.
    pub filters: Map<String, Value>,
    /// Restricts the evidence to these moments; `None` uses the best ones.
    pub moment_ids: Option<Vec<String>>,
}

/// The chunks of the requested moments, by video.
type ChosenChunks = BTreeMap<VideoId, BTreeSet<ChunkId>>;

/// The sources of an answer in one video.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct AnswerSources {
    /// Ids of the consulted aggregators.
    pub routed_to: Vec<String>,
    /// Number of used elements by source, such as `sections` and `chunks`.
    pub counts: BTreeMap<String, u32>,
}

/// The answer to a [`Question`].
#[derive(Debug, Clone, PartialEq)]
pub struct AskResponse {
    /// The question as asked.
    pub question: String,
    /// Sentences that cite moments, or `None`.
    pub answer: Option<String>,
    /// Whether the text answers the question; `None` without an answer.
    pub answered: Option<bool>,
    /// The citation audit of each sentence, including omitted ones.
    pub audit: Vec<AuditedSentence>,
    /// `TypeName: message` if writing the answer failed.
    pub answer_error: Option<String>,
    /// By video id.
    pub sources: BTreeMap<VideoId, AnswerSources>,
    /// Supporting segments.
    pub results: Vec<SearchResult>,
    /// Why there is no evidence; the text is part of the API contract.
    pub error: Option<String>,
}

/// Default number of supporting segments per video.
pub const DEFAULT_LIMIT: u32 = 6;

/// Minimum standard score of an aggregate's similarity to a question for consulting it.
const MIN_DEVIATIONS: f64 = 1.0;

/// Maximum number of aggregates consulted per question.
const MAX_ROUTED: usize = 3;

/// Maximum number of summary sections used as evidence, the nearest to the question.
const MAX_SECTIONS: usize = 3;

/// Minimum tokens of evidence per video: aggregates are read for as many of the most probable videos as fit
/// into the token budget.
const TOKENS_PER_VIDEO: u32 = 300;

/// The events of a streamed answer, in this order.
#[derive(Debug, Clone, PartialEq)]
pub enum AskEvent {
    /// The supporting segments.
    Moments(Vec<SearchResult>),
    /// Unchecked text as the model generates it. The answer begins with the first piece and may begin
    /// again.
    Piece {
        /// Text that continues the previous piece.
        text: String,
        /// Whether it begins the answer, which discards earlier pieces.
        begins: bool,
    },
    /// A checked sentence of the answer.
    Sentence(AuditedSentence),
    /// The complete answer.
    Answer(Box<AskResponse>),
}

/// Receives the events of a streamed answer.
pub(crate) type EventSink = UnboundedSender<Result<AskEvent>>;

/// Forwards the model's tokens as [`AskEvent::Piece`].
fn token_sink(events: &EventSink) -> TokenSink {
    let events = events.clone();
    TokenSink::new(move |text, begins| {
        // A client that has disconnected is not an error.
        let _ = events.unbounded_send(Ok(AskEvent::Piece { text: text.to_owned(), begins }));
    })
}

impl Answering {
    /// Answers a question from what the caller can see.
    pub async fn ask(&self, access: &Access, question: Question) -> Result<AskResponse> {
        self.ask_stream(access, question, None).await
    }

    /// Answers like [`Self::ask`] and sends events to `events`. A client that has disconnected is not an
    /// error.
    pub(crate) async fn ask_stream(
        &self,
        access: &Access,
        question: Question,
        events: Option<&EventSink>,
    ) -> Result<AskResponse> {
        let emit = |event: AskEvent| events.map(|events| events.unbounded_send(Ok(event)));
        self.search.check_length("question", &question.question)?;
        if let Some(id) = &question.analyzer {
            self.catalog.load_if_unknown(id).await?;
            self.catalog.analyzers.find(&self.models, id)?;
        }
        if question.video_ids.as_ref().is_none_or(Vec::is_empty)
            && self.catalog.count(access).await? == 0
        {
            return Ok(empty_response(question.question, "No videos ingested."));
        }
        let chosen = match &question.moment_ids {
            Some(ids) => Some(self.chosen(access, ids).await?),
            None => None,
        };
        let vector = self.search.embed_question(&question.question).await?;
        let videos = self.videos_of(access, &question, chosen.as_ref(), &vector).await?;
        let records = self.catalog.records(&videos).await?;
        if let Some(id) = &question.analyzer
            && !records.iter().any(|record| record.analyzers.contains_key(id))
        {
            return Ok(empty_response(
                question.question,
                "Nothing indexed for the requested videos.",
            ));
        }
        let mut contexts = self.segments(&records, &question, chosen.as_ref(), &vector).await?;
        contexts.sort_by(|a, b| b.best_score().total_cmp(&a.best_score()));
        // Aggregates cover the whole video, so they are not consulted for requested moments.
        let routed = match &chosen {
            Some(_) => None,
            None => Some(self.route(&vector).await?),
        };
        let mut consulted = Vec::new();
        if let Some(routed) = &routed {
            let videos = (self.answer_tokens / TOKENS_PER_VIDEO).max(1) as usize;
            for context in contexts.iter_mut().take(videos) {
                consulted.push(self.consult(context, routed));
            }
        }
        let concurrency = self.concurrency.max(1);
        stream::iter(consulted).buffer_unordered(concurrency).try_collect::<()>().await?;
        let question = question.question;
        let mut per_video: Vec<Vec<EvidenceGroup>> =
            contexts.iter().map(|context| context.evidence(&question)).collect();
        let mut usable = per_video.iter().map(|evidence| !evidence.is_empty());
        contexts.retain(|_| usable.next().unwrap_or(false));
        per_video.retain(|evidence| !evidence.is_empty());
        if contexts.is_empty() {
            return Ok(empty_response(question, "Nothing indexed for the requested videos."));
        }
        let probabilities: Vec<f32> = contexts.iter().map(VideoContext::best_score).collect();
        let min_probability =
            min_worthwhile_probability(probabilities.iter().copied().fold(0.0, f32::max));
        for (groups, best) in per_video.iter_mut().zip(probabilities) {
            drop_improbable(groups, best, min_probability);
        }
        // The best pieces of every video come before the second best of any.
        let evidence: Vec<EvidenceGroup> = interleave(per_video);
        let kept = self.context(&evidence);
        if events.is_some() {
            let results = contexts.iter().flat_map(|context| context.results.iter().cloned());
            let _ = emit(AskEvent::Moments(results.collect()));
        }
        let sink = events.map_or_else(TokenSink::default, token_sink);
        let answer = self.attempt_answer(&question, &kept, CitationForm::Plain, sink).await;
        for sentence in answer.audit.iter().filter(|one| one.verdict != Verdict::Unsupported) {
            let _ = emit(AskEvent::Sentence(sentence.clone()));
        }
        let mut sources = BTreeMap::new();
        let mut results = Vec::new();
        for context in contexts {
            sources.insert(context.record.video_id, context.sources(&kept));
            results.extend(context.results);
        }
        Ok(AskResponse {
            question,
            answered: answer.text.is_some().then_some(answer.answered),
            answer: answer.text,
            audit: answer.audit,
            answer_error: answer.error,
            sources,
            results,
            error: None,
        })
    }

    /// The chunks that overlap the requested moments. `Invalid` for a malformed or missing moment.
    async fn chosen(&self, access: &Access, ids: &[String]) -> Result<ChosenChunks> {
        let ids = ids.iter().map(|id| id.parse()).collect::<Result<Vec<MomentId>>>()?;
        let requested = ids.len();
        let moments = self.catalog.moments(access, ids).await?;
        if moments.len() < requested {
            return Err(Error::Invalid(format!(
                "the moments of moment_ids have more than {MAX_CHUNKS} chunks together; name fewer"
            )));
        }
        let mut chosen = ChosenChunks::new();
        for moment in moments {
            let moment = moment.map_err(|missing| Error::Invalid(missing.reason))?;
            let within = moment.chunks.iter().filter(|chunk| chunk.overlap > 0.0);
            let of_video = chosen.entry(moment.moment_id.video_id()).or_default();
            of_video.extend(within.map(|chunk| chunk.chunk.chunk_id));
        }
        Ok(chosen)
    }

    /// The videos to search for a question: those requested or with a requested moment, or else all, up to
    /// the limit by `ask.max_segments`, the most probable first. The filters apply in each case.
    async fn videos_of(
        &self,
        access: &Access,
        question: &Question,
        chosen: Option<&ChosenChunks>,
        vector: &[f32],
    ) -> Result<Vec<VideoId>> {
        let matching = self.search.matching_videos(access, &question.filters).await?;
        if let Some(chosen) = chosen {
            let requested = question.video_ids.as_deref().map(distinct_ids);
            let mut ids: Vec<VideoId> = chosen.keys().copied().collect();
            ids.retain(|id| requested.as_ref().is_none_or(|requested| requested.contains(id)));
            ids.retain(|id| matching.as_ref().is_none_or(|matching| matching.contains(id)));
            return Ok(ids);
        }
        if let Some(ids) = &question.video_ids {
            let mut ids = distinct_ids(ids);
            ids.retain(|id| matching.as_ref().is_none_or(|matching| matching.contains(id)));
            return Ok(ids);
        }
        let max_videos = (self.max_segments / question.limit.max(1) as usize).max(1);
        let all = match matching {
            Some(matching) => matching,
            None => {
                let newest = self.catalog.newest(access, max_videos + 1).await?;
                newest.into_iter().map(|video| video.video_id).collect()
            }
        };
        if all.len() <= max_videos {
            return Ok(all);
        }
        let analyzer = question.analyzer.as_deref();
        let filter = self.search.scope(access, analyzer, None, &question.filters).await?;
        let query = nearest_to(vector, filter, max_videos);
        self.search.likely_videos(&question.question, query).await
    }

    /// The supporting segments of each video, with one search per set of analyzers.
    async fn segments<'a>(
        &self,
        records: &'a [VideoRecord],
        question: &Question,
        chosen: Option<&ChosenChunks>,
        vector: &[f32],
    ) -> Result<Vec<VideoContext<'a>>> {
        let mut by_analyzers: BTreeMap<Vec<String>, Vec<&VideoRecord>> = BTreeMap::new();
        for record in records {
            by_analyzers.entry(record.analyzer_ids()).or_default().push(record);
        }
        let mut contexts = Vec::with_capacity(records.len());
        for (present, records) in by_analyzers {
            contexts.extend(
                self.segments_of_group(&present, &records, question, chosen, vector).await?,
            );
        }
        Ok(contexts)
    }

    /// The supporting segments of videos that have output of these analyzers.
    async fn segments_of_group<'a>(
        &self,
        present: &[String],
        records: &[&'a VideoRecord],
        question: &Question,
        chosen: Option<&ChosenChunks>,
        vector: &[f32],
    ) -> Result<Vec<VideoContext<'a>>> {
        let mut contexts: Vec<VideoContext> =
            records.iter().map(|record| VideoContext::new(record)).collect();
        let analyzer = match &question.analyzer {
            Some(id) => Some(id.as_str()),
            None => self.catalog.analyzers.by_evidence_rank(present.iter()).first().copied(),
        };
        let Some(analyzer) = analyzer else { return Ok(contexts) };
        let mut chunks = filters::parse(&question.filters)?.chunks;
        let mut limit = question.limit as usize;
        if let Some(chosen) = chosen {
            // Every requested chunk is retrieved; chunks with the same id in other videos are dropped
            // below.
            let ids: BTreeSet<ChunkId> = chosen.values().flatten().copied().collect();
            limit = limit.max(ids.len());
            chunks = chunks.in_chunks(ids);
        }
        let is_chosen = |hit: &SearchResult| {
            let of_video = |chosen: &ChosenChunks| {
                chosen.get(&hit.video_id).is_some_and(|chunks| chunks.contains(&hit.chunk_id))
            };
            chosen.is_none_or(of_video)
        };
        let search = async |analyzers: Vec<String>, chunks: &Filter, limit: usize| {
            let per_video = limit * analyzers.len();
            let filter = chunks
                .clone()
                .in_videos(records.iter().map(|record| record.video_id))
                .and("analyzer_id", Predicate::AnyKeyword(analyzers));
            let query = nearest_to(vector, filter, records.len());
            let mut hits =
                self.search.search_by_video(&question.question, query, per_video).await?;
            hits.retain(|hit| {
                question
                    .min_p_present
                    .is_none_or(|min_probability| hit.p_present >= min_probability)
            });
            hits.retain(is_chosen);
            Ok::<_, Error>(by_video(hits))
        };
        let mut found = search(vec![analyzer.to_owned()], &chunks, limit).await?;
        let others: Vec<String> = present.iter().filter(|id| *id != analyzer).cloned().collect();
        let is_speech_analyzer = |id: &str| {
            let known = self.catalog.analyzers.get(id);
            known.is_some_and(|analyzer| analyzer.spec().style == TextStyle::Speech)
        };
        let others_have_speech =
            !is_speech_analyzer(analyzer) && others.iter().any(|id| is_speech_analyzer(id));
        let mut companions = match question.analyzer.is_none() && !others.is_empty() {
            true => search(others, &chunks, limit).await?,
            false => HashMap::new(),
        };
        let speech_analyzers: Vec<String> =
            present.iter().filter(|id| is_speech_analyzer(id)).cloned().collect();
        if question.analyzer.is_none() && chosen.is_none() && !speech_analyzers.is_empty() {
            // Also retrieves the chunks after the hits: in a conversation, the reply follows in other
            // words.
            let known: BTreeSet<(VideoId, ChunkId)> =
                found.values().chain(companions.values()).flatten().map(chunk_key).collect();
            let hits = || found.values().chain(companions.values()).flatten();
            let min_probability =
                min_worthwhile_probability(hits().map(|hit| hit.p_present).fold(0.0, f32::max));
            // Only hits that are worth reading are followed.
            let next: BTreeSet<ChunkId> = hits()
                .filter(|hit| hit.p_present >= min_probability)
                .map(|hit| (hit.video_id, hit.chunk_id.next()))
                .filter(|next| !known.contains(next))
                .map(|(_, chunk)| chunk)
                .collect();
            let count = next.len();
            let replies = match count {
                0 => HashMap::new(),
                _ => search(speech_analyzers, &chunks.in_chunks(next), count).await?,
            };
            for (video, hits) in replies {
                let hits = hits.into_iter().filter(|hit| {
                    let before = hit.chunk_id.0.checked_sub(1).map(ChunkId);
                    !known.contains(&chunk_key(hit))
                        && before.is_some_and(|before| known.contains(&(video, before)))
                });
                companions.entry(video).or_default().extend(hits);
            }
        }
        for context in &mut contexts {
            let of_video = |hits: &mut HashMap<VideoId, Vec<SearchResult>>| {
                hits.remove(&context.record.video_id).unwrap_or_default()
            };
            context.results = of_video(&mut found);
            context.companion_hits = of_video(&mut companions);
            if others_have_speech {
                // The speech analyzers have the full text; a description only quotes it.
                for hit in &mut context.results {
                    hit.statements.retain(|statement| statement.kind != PassageKind::Speech);
                }
            }
            // Different analyzers have different kinds of text, so their ranks are not comparable.
            context.companion_hits.sort_by(|a, b| b.p_present.total_cmp(&a.p_present));
        }
        Ok(contexts)
    }

    /// Routes a question to the aggregators with descriptions of outstanding similarity to it.
    async fn route(&self, vector: &[f32]) -> Result<Vec<&'static AggregatorSpec>> {
        let specs: Vec<&'static AggregatorSpec> = self.catalog.aggregators.specs().collect();
        let descriptions = self
            .routes
            .get_or_try_init(|| async {
                let texts: Vec<String> = specs.iter().map(|spec| spec.answers.to_owned()).collect();
                Ok::<_, Error>(self.embedder.embed(&texts).await?)
            })
            .await?;
        let scores: Vec<f64> = descriptions.iter().map(|d| f64::from(dot(d, vector))).collect();
        Ok(outliers(&scores).into_iter().map(|i| specs[i]).collect())
    }

    /// Adds the routed aggregates, the summary and its nearest sections. Unreadable aggregates are skipped.
    async fn consult(
        &self,
        context: &mut VideoContext<'_>,
        routed: &[&'static AggregatorSpec],
    ) -> Result<()> {
        match self.read_aggregates(context, routed).await {
            Err(error) if error.is_corrupt() => Ok(()),
            consulted => consulted,
        }
    }

    async fn read_aggregates(
        &self,
        context: &mut VideoContext<'_>,
        routed: &[&'static AggregatorSpec],
    ) -> Result<()> {
        let record = context.record;
        let whole = Span { start: 0.0, end: record.duration };
        for spec in routed {
            if record.aggregates.contains_key(spec.id) {
                let result = self.catalog.aggregate_result(record, spec.id).await?;
                context.routed_to.push(spec.id.into());
                context.routed.push((*spec, result.evidence(whole)));
            }
        }
        if record.aggregates.contains_key(summary::ID) {
            let summary = self.catalog.aggregate_result(record, summary::ID).await?;
            context.summary = summary.evidence(whole);
            if let Some(digest) =
                result_of::<VideoSummary>(summary.as_ref()).filter(|d| d.depth > 1)
            {
                let hits: Vec<(Span, f32)> = context.hits().map(span_and_probability).collect();
                context.sections = nearest_sections(digest.section_summaries(), &hits);
            }
        }
        Ok(())
    }
}

fn chunk_key(hit: &SearchResult) -> (VideoId, ChunkId) {
    (hit.video_id, hit.chunk_id)
}

fn span_and_probability(hit: &SearchResult) -> (Span, f32) {
    (Span { start: hit.document.start, end: hit.document.end }, hit.p_present)
}

/// The sections that contain the most probable segments. Needs no embedding, regardless of the number of
/// sections.
fn nearest_sections(
    mut sections: Vec<(Span, String)>,
    hits: &[(Span, f32)],
) -> Vec<(Span, String)> {
    let best_within = |section: &Span| {
        let within = hits.iter().filter(|(hit, _)| hit.overlap(section) > 0.0);
        within.map(|(_, p_present)| *p_present).fold(0.0, f32::max)
    };
    sections.sort_by(|(a, _), (b, _)| best_within(b).total_cmp(&best_within(a)));
    sections.truncate(MAX_SECTIONS);
    sections
}

/// The minimum probability of evidence worth reading, given the best: if something is likely, improbable
/// evidence would only mislead.
fn min_worthwhile_probability(best: f32) -> f32 {
    /// Share of the best probability.
    const MIN_SHARE: f32 = 0.2;
    if best >= LIKELY { MIN_SHARE * best } else { 0.0 }
}

/// Drops evidence less probable than `min_probability`, except what directly follows a probable moment.
/// `best` is the probability assumed for evidence about the whole video.
fn drop_improbable(groups: &mut Vec<EvidenceGroup>, best: f32, min_probability: f32) {
    /// Maximum distance of directly following evidence, seconds: a sentence may begin before its chunk.
    const MAX_GAP: f64 = 10.0;
    let likely = |pieces: &EvidenceGroup| pieces[0].p_present.unwrap_or(best) >= min_probability;
    let hits = |pieces: &&EvidenceGroup| pieces[0].p_present.is_some() && likely(pieces);
    let ends: Vec<f64> = groups.iter().filter(hits).map(|pieces| pieces[0].span.end).collect();
    groups.retain(|pieces| {
        let start = pieces[0].span.start;
        let follows = || ends.iter().any(|end| (start - end).abs() <= MAX_GAP);
        likely(pieces) || (pieces[0].p_present.is_some() && follows())
    });
}

/// The vector query for a question.
fn nearest_to(vector: &[f32], filter: Filter, limit: usize) -> VectorQuery {
    let (field, vector) = ("combined".into(), vector.to_vec());
    VectorQuery { field, vector, filter, limit, threshold: None }
}

fn by_video(hits: Vec<SearchResult>) -> HashMap<VideoId, Vec<SearchResult>> {
    let mut videos: HashMap<VideoId, Vec<SearchResult>> = HashMap::new();
    for hit in hits {
        videos.entry(hit.video_id).or_default().push(hit);
    }
    videos
}

/// The distinct valid ids of a request.
fn distinct_ids(ids: &[String]) -> Vec<VideoId> {
    let mut seen = BTreeSet::new();
    ids.iter().filter_map(|id| id.parse().ok()).filter(|id| seen.insert(*id)).collect()
}

fn empty_response(question: String, error: &str) -> AskResponse {
    AskResponse {
        question,
        answer: None,
        answered: None,
        audit: Vec::new(),
        answer_error: None,
        sources: BTreeMap::new(),
        results: Vec::new(),
        error: Some(error.into()),
    }
}

/// Indices with a standard score of at least [`MIN_DEVIATIONS`], best first.
fn outliers(scores: &[f64]) -> Vec<usize> {
    let count = scores.len().max(1) as f64;
    let mean = scores.iter().sum::<f64>() / count;
    let deviation = (scores.iter().map(|s| (s - mean).powi(2)).sum::<f64>() / count).sqrt();
    let mut chosen: Vec<usize> = (0..scores.len())
        .filter(|&i| deviation > 1e-9 && (scores[i] - mean) / deviation >= MIN_DEVIATIONS)
        .collect();
    chosen.sort_by(|&a, &b| scores[b].total_cmp(&scores[a]));
    chosen.truncate(MAX_ROUTED);
    chosen
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nearest_sections_contain_the_most_probable_segments() {
        let span = |start: u32| Span { start: start.into(), end: f64::from(start) + 10.0 };
        let sections: Vec<(Span, String)> =
            (0..5).map(|i| (span(i * 10), format!("section {i}"))).collect();
        let nearest = |hits: &[(Span, f32)]| -> Vec<String> {
            let nearest = nearest_sections(sections.clone(), hits);
            nearest.into_iter().map(|(_, text)| text).collect()
        };
        let hits = [(span(10), 0.2), (span(40), 0.9), (span(42), 0.4), (span(20), 0.5)];
        assert_eq!(nearest(&hits), ["section 4", "section 2", "section 1"]);
        assert_eq!(nearest(&[]), ["section 0", "section 1", "section 2"]);
    }

    #[test]
    fn outliers_are_relative_to_the_average() {
        for (scores, expected) in [
            (vec![0.1, 0.1, 0.1, 0.5, 0.1], vec![3]),
            (vec![0.7, 0.7, 0.7, 0.9, 0.7], vec![3]),
            (vec![0.2, 0.2, 0.2], vec![]),
            (vec![], vec![]),
            (vec![0.0, 0.0, 0.0, 0.0, 0.8, 0.9], vec![5, 4]),
        ] {
            assert_eq!(outliers(&scores), expected, "{scores:?}");
        }
    }
}
