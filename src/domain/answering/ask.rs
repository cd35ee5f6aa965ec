//! Question answering over aggregates and segments.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use futures::channel::mpsc::UnboundedSender;
use futures::{StreamExt, TryStreamExt, stream};
use ports::index::{Filter, Predicate, VectorQuery};
use ports::llm::{PassageKind, TokenSink};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::domain::aggregation::AggregatorSpec;
use crate::domain::aggregation::aggregators::summary::{self, Digest};
use crate::domain::aggregation::result::result_of;
use crate::domain::analysis::TextStyle;
use crate::domain::answering::Answering;
use crate::domain::answering::answer::{CitationForm, Evidence, Told};
use crate::domain::answering::audit::AuditedSentence;
use crate::domain::catalog::moments::MOST_CHUNKS;
use crate::domain::catalog::record::VideoRecord;
use crate::domain::kernel::access::Access;
use crate::domain::kernel::error::{Error, Result};
use crate::domain::kernel::moment::MomentId;
use crate::domain::kernel::time::Span;
use crate::domain::kernel::vector::dot;
use crate::domain::kernel::verdict::Verdict;
use crate::domain::kernel::video::{ChunkId, VideoId};
use crate::domain::search::{LIKELY, SearchResult, filters};

/// Answers.
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
    /// The question, in the words of who asks.
    pub question: String,
    /// `None` uses every ingested video.
    pub video_ids: Option<Vec<String>>,
    /// Whose chunks are retrieved as evidence; `None` chooses per video.
    pub analyzer: Option<String>,
    /// Supporting segments per video, 1..=20.
    pub limit: u32,
    /// Segments that are less probably about it are left out, 0..1.
    pub min_p_present: Option<f32>,
    /// As the client gave them.
    pub filters: Map<String, Value>,
    /// The moments that alone are read for it; `None` reads what fits best.
    pub moment_ids: Option<Vec<String>>,
}

/// The chunks of the moments that alone are read, by video.
type Chosen = BTreeMap<VideoId, BTreeSet<ChunkId>>;

/// What an answer was drawn from, per video.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Sources {
    /// Aggregators consulted.
    pub routed_to: Vec<String>,
    /// How many elements of each source were used, as `sections`, `chunks`.
    pub counts: BTreeMap<String, u32>,
}

/// The answer to a [`Question`].
#[derive(Debug, Clone, PartialEq)]
pub struct AskResponse {
    /// The question, in the words of who asks.
    pub question: String,
    /// Sentences that cite moments, or `None`.
    pub answer: Option<String>,
    /// Whether that answers the question; `None` where there is no answer.
    pub answered: Option<bool>,
    /// How far the cited moments bear out each sentence, those that were left out included.
    pub audit: Vec<AuditedSentence>,
    /// `TypeName: message`, where writing the answer failed.
    pub answer_error: Option<String>,
    /// By video id.
    pub sources: BTreeMap<VideoId, Sources>,
    /// Supporting segments.
    pub results: Vec<SearchResult>,
    /// Why there is nothing, in the contract's words.
    pub error: Option<String>,
}

/// Supporting segments per video, where nobody says how many.
pub const SEGMENTS: u32 = 6;

/// Aggregates whose likeness to a question stands out by so many standard deviations are consulted.
const STANDS_OUT: f64 = 1.0;

/// At most so many aggregates are consulted per question.
const MOST_ROUTED: usize = 3;

/// Summary sections nearest the question that are taken into the context.
const NEAREST_SECTIONS: usize = 3;

/// Tokens of evidence that a video takes at least: aggregates are read for as many of the most probable
/// videos as the context has room for.
const TOKENS_PER_VIDEO: u32 = 300;

/// What is known of an answer while it is made, in this order.
#[derive(Debug, Clone, PartialEq)]
pub enum AskEvent {
    /// The supporting segments: what is read for it.
    Moments(Vec<SearchResult>),
    /// Words of it as they are written, which nobody has checked; the answer `begins` with the first, and
    /// may begin again.
    Piece {
        /// What goes on from the piece before.
        text: String,
        /// Whether what was written before it is void.
        begins: bool,
    },
    /// A sentence that stands in it, once it was checked.
    Sentence(AuditedSentence),
    /// All of it.
    Answer(Box<AskResponse>),
}

/// Where they are told.
pub(crate) type Listener = UnboundedSender<Result<AskEvent>>;

/// Tells what a model writes.
fn written_to(listener: &Listener) -> TokenSink {
    let listener = listener.clone();
    TokenSink::new(move |text, begins| {
        // Nobody listening any more is no error.
        let _ = listener.unbounded_send(Ok(AskEvent::Piece { text: text.to_owned(), begins }));
    })
}

impl Answering {
    /// Answers a question from what a caller sees.
    pub async fn ask(&self, access: &Access, question: Question) -> Result<AskResponse> {
        self.ask_telling(access, question, None).await
    }

    /// The same, telling what is known by then. Nobody listening any more is no error.
    pub(crate) async fn ask_telling(
        &self,
        access: &Access,
        question: Question,
        telling: Option<&Listener>,
    ) -> Result<AskResponse> {
        let tell = |event: AskEvent| telling.map(|telling| telling.unbounded_send(Ok(event)));
        self.search.check_length("question", &question.question)?;
        if let Some(id) = &question.analyzer {
            self.catalog.look_up(id).await?;
            self.catalog.analyzers.find(&self.models, id)?;
        }
        if question.video_ids.as_ref().is_none_or(Vec::is_empty)
            && self.catalog.count(access).await? == 0
        {
            return Ok(nothing(question.question, "No videos ingested."));
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
            return Ok(nothing(question.question, "Nothing indexed for the requested videos."));
        }
        let mut contexts = self.segments(&records, &question, chosen.as_ref(), &vector).await?;
        contexts.sort_by(|a, b| b.best_score().total_cmp(&a.best_score()));
        // What is told of a whole video is more than was chosen of it.
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
        let at_once = self.concurrency.max(1);
        stream::iter(consulted).buffer_unordered(at_once).try_collect::<()>().await?;
        let question = question.question;
        let mut per_video: Vec<Vec<Told>> =
            contexts.iter().map(|context| context.evidence(&question)).collect();
        let mut usable = per_video.iter().map(|evidence| !evidence.is_empty());
        contexts.retain(|_| usable.next().unwrap_or(false));
        per_video.retain(|evidence| !evidence.is_empty());
        if contexts.is_empty() {
            return Ok(nothing(question, "Nothing indexed for the requested videos."));
        }
        let probabilities: Vec<f32> = contexts.iter().map(Context::best_score).collect();
        let least = least_worth(probabilities.iter().copied().fold(0.0, f32::max));
        for (told, best) in per_video.iter_mut().zip(probabilities) {
            keep_worth_reading(told, best, least);
        }
        // The best pieces of every video come before the second best of any.
        let evidence: Vec<Told> = interleave(per_video);
        let kept = self.context(&evidence);
        if telling.is_some() {
            let results = contexts.iter().flat_map(|context| context.results.iter().cloned());
            let _ = tell(AskEvent::Moments(results.collect()));
        }
        let written = telling.map_or_else(TokenSink::default, written_to);
        let answer = self.attempt_answer(&question, &kept, CitationForm::Plain, written).await;
        for sentence in answer.audit.iter().filter(|one| one.verdict != Verdict::Unsupported) {
            let _ = tell(AskEvent::Sentence(sentence.clone()));
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

    /// The chunks that moments lie in. `Invalid` for one that is none, or is gone.
    async fn chosen(&self, access: &Access, ids: &[String]) -> Result<Chosen> {
        let ids = ids.iter().map(|id| id.parse()).collect::<Result<Vec<MomentId>>>()?;
        let wanted = ids.len();
        let read = self.catalog.moments(access, ids).await?;
        if read.len() < wanted {
            return Err(Error::Invalid(format!(
                "the moments of moment_ids have more than {MOST_CHUNKS} chunks together; name fewer"
            )));
        }
        let mut chosen = Chosen::new();
        for moment in read {
            let moment = moment.map_err(|missing| Error::Invalid(missing.why))?;
            let within = moment.chunks.iter().filter(|chunk| chunk.overlap > 0.0);
            let of_video = chosen.entry(moment.moment_id.video_id()).or_default();
            of_video.extend(within.map(|chunk| chunk.chunk.chunk_id));
        }
        Ok(chosen)
    }

    /// The videos that a question is put to: those that are named or that have a chosen moment, or
    /// else all, as far as `ask.max_segments` allows, the most probable first; the filters apply to each.
    async fn videos_of(
        &self,
        access: &Access,
        question: &Question,
        chosen: Option<&Chosen>,
        vector: &[f32],
    ) -> Result<Vec<VideoId>> {
        let left = self.search.videos_left(access, &question.filters).await?;
        if let Some(chosen) = chosen {
            let named = question.video_ids.as_deref().map(once_each);
            let mut ids: Vec<VideoId> = chosen.keys().copied().collect();
            ids.retain(|id| named.as_ref().is_none_or(|named| named.contains(id)));
            ids.retain(|id| left.as_ref().is_none_or(|left| left.contains(id)));
            return Ok(ids);
        }
        if let Some(ids) = &question.video_ids {
            let mut ids = once_each(ids);
            ids.retain(|id| left.as_ref().is_none_or(|left| left.contains(id)));
            return Ok(ids);
        }
        let max_videos = (self.max_segments / question.limit.max(1) as usize).max(1);
        let all = match left {
            Some(left) => left,
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

    /// The supporting segments of each video: one search for all that have output of the same
    /// analyzers.
    async fn segments<'a>(
        &self,
        records: &'a [VideoRecord],
        question: &Question,
        chosen: Option<&Chosen>,
        vector: &[f32],
    ) -> Result<Vec<Context<'a>>> {
        let mut alike: BTreeMap<Vec<String>, Vec<&VideoRecord>> = BTreeMap::new();
        for record in records {
            alike.entry(record.analyzer_ids()).or_default().push(record);
        }
        let mut contexts = Vec::with_capacity(records.len());
        for (present, records) in alike {
            contexts.extend(self.segments_of(&present, &records, question, chosen, vector).await?);
        }
        Ok(contexts)
    }

    /// The supporting segments of videos that have output of these analyzers.
    async fn segments_of<'a>(
        &self,
        present: &[String],
        records: &[&'a VideoRecord],
        question: &Question,
        chosen: Option<&Chosen>,
        vector: &[f32],
    ) -> Result<Vec<Context<'a>>> {
        let mut contexts: Vec<Context> = records.iter().map(|record| Context::of(record)).collect();
        let analyzer = match &question.analyzer {
            Some(id) => Some(id.as_str()),
            None => self.catalog.analyzers.by_evidence(present.iter()).first().copied(),
        };
        let Some(analyzer) = analyzer else { return Ok(contexts) };
        let mut chunks = filters::parse(&question.filters)?.chunks;
        let mut limit = question.limit as usize;
        if let Some(chosen) = chosen {
            // All that is chosen is read; a chunk of that id in another video is left out below.
            let ids: BTreeSet<ChunkId> = chosen.values().flatten().copied().collect();
            limit = limit.max(ids.len());
            chunks = chunks.in_chunks(ids);
        }
        let is_chosen = |hit: &SearchResult| {
            let of_video = |chosen: &Chosen| {
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
            hits.retain(|hit| question.min_p_present.is_none_or(|least| hit.p_present >= least));
            hits.retain(is_chosen);
            Ok::<_, Error>(by_video(hits))
        };
        let mut found = search(vec![analyzer.to_owned()], &chunks, limit).await?;
        let others: Vec<String> = present.iter().filter(|id| *id != analyzer).cloned().collect();
        let hears = |id: &str| {
            let known = self.catalog.analyzers.known(id);
            known.is_some_and(|analyzer| analyzer.spec().style == TextStyle::Speech)
        };
        let heard_by_others = !hears(analyzer) && others.iter().any(|id| hears(id));
        let mut companions = match question.analyzer.is_none() && !others.is_empty() {
            true => search(others, &chunks, limit).await?,
            false => HashMap::new(),
        };
        let heard: Vec<String> = present.iter().filter(|id| hears(id)).cloned().collect();
        if question.analyzer.is_none() && chosen.is_none() && !heard.is_empty() {
            // Who asks is answered by who speaks next, in other words than those of the question.
            let known: BTreeSet<(VideoId, ChunkId)> =
                found.values().chain(companions.values()).flatten().map(place).collect();
            let hits = || found.values().chain(companions.values()).flatten();
            let least = least_worth(hits().map(|hit| hit.p_present).fold(0.0, f32::max));
            // What follows a moment that is not worth reading is not read either.
            let next: BTreeSet<ChunkId> = hits()
                .filter(|hit| hit.p_present >= least)
                .map(|hit| (hit.video_id, hit.chunk_id.next()))
                .filter(|next| !known.contains(next))
                .map(|(_, chunk)| chunk)
                .collect();
            let many = next.len();
            let replies = match many {
                0 => HashMap::new(),
                _ => search(heard, &chunks.in_chunks(next), many).await?,
            };
            for (video, hits) in replies {
                let hits = hits.into_iter().filter(|hit| {
                    let before = hit.chunk_id.0.checked_sub(1).map(ChunkId);
                    !known.contains(&place(hit))
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
            if heard_by_others {
                // Who has all of it quotes it better than a description does.
                for hit in &mut context.results {
                    hit.statements.retain(|statement| statement.kind != PassageKind::Speech);
                }
            }
            // Theirs are texts of different kinds, whose ranks do not compare.
            context.companion_hits.sort_by(|a, b| b.p_present.total_cmp(&a.p_present));
        }
        Ok(contexts)
    }

    /// The aggregators whose description stands out in likeness to a question.
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
        Ok(standing_out(&scores).into_iter().map(|i| specs[i]).collect())
    }

    /// Adds the routed aggregates, the summary and its nearest sections. What does not read back is
    /// no evidence.
    async fn consult(
        &self,
        context: &mut Context<'_>,
        routed: &[&'static AggregatorSpec],
    ) -> Result<()> {
        match self.read_aggregates(context, routed).await {
            Err(error) if error.is_corrupt() => Ok(()),
            consulted => consulted,
        }
    }

    async fn read_aggregates(
        &self,
        context: &mut Context<'_>,
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
            if let Some(digest) = result_of::<Digest>(summary.as_ref()).filter(|d| d.depth > 1) {
                let hits: Vec<(Span, f32)> = context.hits().map(probability_within).collect();
                context.sections = nearest_sections(digest.parts(), &hits);
            }
        }
        Ok(())
    }
}

/// What is known of one video for one question.
struct Context<'a> {
    record: &'a VideoRecord,
    results: Vec<SearchResult>,
    /// What the other analyzers found anywhere in the video: what was said, where the segments tell
    /// what is seen.
    companion_hits: Vec<SearchResult>,
    routed_to: Vec<String>,
    routed: Vec<(&'static AggregatorSpec, Vec<(Span, String)>)>,
    summary: Vec<(Span, String)>,
    sections: Vec<(Span, String)>,
}

impl<'a> Context<'a> {
    fn of(record: &'a VideoRecord) -> Self {
        Self {
            record,
            results: Vec::new(),
            companion_hits: Vec::new(),
            routed_to: Vec::new(),
            routed: Vec::new(),
            summary: Vec::new(),
            sections: Vec::new(),
        }
    }

    fn hits(&self) -> impl Iterator<Item = &SearchResult> {
        self.results.iter().chain(&self.companion_hits)
    }

    fn best_score(&self) -> f32 {
        self.hits().map(|hit| hit.p_present).fold(0.0, f32::max)
    }

    /// Everything as evidence, the best piece of each source before the second best of any, the
    /// retrieved segments first.
    fn evidence(&self, question: &str) -> Vec<Told> {
        let of_hits = |hits: &[SearchResult]| {
            interleave(hits.iter().map(|hit| Evidence::of_hit(hit, question)).collect())
        };
        let aggregates = self
            .routed
            .iter()
            // A model that is shown an aggregate should know what it is good for.
            .map(|(spec, pieces)| (spec.id, spec.answers, pieces))
            .chain([
                ("sections", "section", &self.sections),
                (summary::ID, summary::ID, &self.summary),
            ]);
        let mut sources = vec![of_hits(&self.results), of_hits(&self.companion_hits)];
        for (source, topic, pieces) in aggregates {
            let of_source = (0..).zip(pieces).filter(|(_, (_, text))| !text.is_empty());
            let of_source = of_source.map(|(element, (span, text))| {
                vec![Evidence {
                    video_id: self.record.video_id,
                    span: *span,
                    source,
                    element,
                    kind: PassageKind::Prose,
                    speaker: None,
                    topic: Some(topic.to_owned()),
                    text: text.clone(),
                    p_present: None,
                }]
            });
            sources.push(of_source.collect());
        }
        let mut evidence: Vec<Told> = Vec::new();
        for told in interleave(sources) {
            // The summary may be routed to as well; once is enough.
            let says = |told: &Told| -> Vec<(String, Span, Option<String>)> {
                told.iter().map(|e| (e.text.clone(), e.span, e.speaker.clone())).collect()
            };
            if !evidence.iter().any(|known| says(known) == says(&told)) {
                evidence.push(told);
            }
        }
        evidence
    }

    /// What of this video is in the context of the answer.
    fn sources(&self, kept: &[&Evidence]) -> Sources {
        let of_video = kept.iter().filter(|e| e.video_id == self.record.video_id);
        let used: BTreeSet<(&str, u32)> = of_video.map(|e| (e.source, e.element)).collect();
        let all = ["chunks", "sections", summary::ID];
        let all = all.into_iter().chain(self.routed.iter().map(|(spec, _)| spec.id));
        let count = |source: &str| used.iter().filter(|(of, _)| *of == source).count() as u32;
        let counts = all.map(|source| (source.to_owned(), count(source))).collect();
        Sources { routed_to: self.routed_to.clone(), counts }
    }
}

fn place(hit: &SearchResult) -> (VideoId, ChunkId) {
    (hit.video_id, hit.chunk_id)
}

fn probability_within(hit: &SearchResult) -> (Span, f32) {
    (Span { start: hit.document.start, end: hit.document.end }, hit.p_present)
}

/// The sections nearest the question: those in which the most probable segments lie. Nothing is embedded
/// for it, whatever the number of sections.
fn nearest_sections(
    mut sections: Vec<(Span, String)>,
    hits: &[(Span, f32)],
) -> Vec<(Span, String)> {
    let best_within = |section: &Span| {
        let within = hits.iter().filter(|(hit, _)| hit.overlap(section) > 0.0);
        within.map(|(_, p_present)| *p_present).fold(0.0, f32::max)
    };
    sections.sort_by(|(a, _), (b, _)| best_within(b).total_cmp(&best_within(a)));
    sections.truncate(NEAREST_SECTIONS);
    sections
}

/// The probability from which evidence is worth reading beside the best: where something is likely what
/// is asked about, what hardly can be would only mislead.
fn least_worth(best: f32) -> f32 {
    /// Part of the best probability.
    const WORTH: f32 = 0.2;
    if best >= LIKELY { WORTH * best } else { 0.0 }
}

/// Drops what is less probable than `least`, but for what comes right after a moment that is not: `best`
/// is the probability of what is known of the video as a whole.
fn keep_worth_reading(told: &mut Vec<Told>, best: f32, least: f32) {
    /// What follows begins so near to the end, seconds: a sentence may begin before its chunk.
    const SEAM: f64 = 10.0;
    let likely = |pieces: &Told| pieces[0].p_present.unwrap_or(best) >= least;
    let hits = |pieces: &&Told| pieces[0].p_present.is_some() && likely(pieces);
    let ends: Vec<f64> = told.iter().filter(hits).map(|pieces| pieces[0].span.end).collect();
    told.retain(|pieces| {
        let start = pieces[0].span.start;
        let follows = || ends.iter().any(|end| (start - end).abs() <= SEAM);
        likely(pieces) || (pieces[0].p_present.is_some() && follows())
    });
}

/// The search by meaning that a question makes.
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

/// The videos that a request names, each once; what is no id names none.
fn once_each(ids: &[String]) -> Vec<VideoId> {
    let mut seen = BTreeSet::new();
    ids.iter().filter_map(|id| id.parse().ok()).filter(|id| seen.insert(*id)).collect()
}

/// The first of every list, then the second of every list, and so on.
fn interleave<T>(lists: Vec<Vec<T>>) -> Vec<T> {
    let mut lists: Vec<_> = lists.into_iter().map(Vec::into_iter).collect();
    let mut merged = Vec::new();
    loop {
        let before = merged.len();
        merged.extend(lists.iter_mut().filter_map(Iterator::next));
        if merged.len() == before {
            return merged;
        }
    }
}

fn nothing(question: String, error: &str) -> AskResponse {
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

/// Indices whose standard score is at least [`STANDS_OUT`], best first.
fn standing_out(scores: &[f64]) -> Vec<usize> {
    let count = scores.len().max(1) as f64;
    let mean = scores.iter().sum::<f64>() / count;
    let deviation = (scores.iter().map(|s| (s - mean).powi(2)).sum::<f64>() / count).sqrt();
    let mut chosen: Vec<usize> = (0..scores.len())
        .filter(|&i| deviation > 1e-9 && (scores[i] - mean) / deviation >= STANDS_OUT)
        .collect();
    chosen.sort_by(|&a, &b| scores[b].total_cmp(&scores[a]));
    chosen.truncate(MOST_ROUTED);
    chosen
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sections_with_the_most_probable_segments_are_nearest() {
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
    fn selection_is_relative_to_the_average() {
        for (scores, expected) in [
            (vec![0.1, 0.1, 0.1, 0.5, 0.1], vec![3]),
            (vec![0.7, 0.7, 0.7, 0.9, 0.7], vec![3]),
            (vec![0.2, 0.2, 0.2], vec![]),
            (vec![], vec![]),
            (vec![0.0, 0.0, 0.0, 0.0, 0.8, 0.9], vec![5, 4]),
        ] {
            assert_eq!(standing_out(&scores), expected, "{scores:?}");
        }
    }
}
