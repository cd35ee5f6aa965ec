//! `/moments` and `/evidence`: what is stored about a span of a video, under a stable id.

use poem_openapi::param::Path;
use poem_openapi::types::ToJSON;
use poem_openapi::{Enum, Object, OpenApi};
use ports::llm::PassageKind;
use serde_json::Value;

use crate::http::edge::auth::{CallerToken, Service};
use crate::http::wire::body::Json;
use crate::http::wire::budget::ResponseBudget;
use crate::http::wire::errors::{ApiError, ByIdChecked, Search};
use crate::http::wire::hits::DiagnosticsBody;
use crate::http::wire::values::{AnyObject, OrderedMap, shortest};
use domain::Error;
use domain::analysis::output::Statement;
use domain::answering::evidence::{EvidenceMoment, EvidenceQuery};
use domain::kernel::moment::MomentId;
use domain::kernel::time::Span;
use domain::library::moments;

/// The routes of this section.
pub(super) struct MomentsApi(pub(super) Service);

#[OpenApi]
impl MomentsApi {
    /// Get a moment.
    ///
    /// Returns everything that is stored about a moment, which is a span of a video. Hits and
    /// citations refer to moments. A moment remains readable as long as its video exists. After the
    /// video is ingested again, the moment contains the new chunks.
    #[oai(path = "/moments/:moment_id", method = "get", operation_id = "moment")]
    async fn moment(
        &self,
        token: CallerToken,
        /// Id of the moment, as in hits and citations.
        moment_id: Path<String>,
    ) -> Result<Json<MomentBody>, ApiError<ByIdChecked>> {
        let id: MomentId = moment_id.parse()?;
        Ok(Json(MomentBody::new(self.0.scoped(&token).moment(&id).await?, MomentDetail::Full)))
    }

    /// Get several moments.
    ///
    /// Returns moments by id, within a token budget.
    #[oai(path = "/moments/read", method = "post", operation_id = "read_moments")]
    async fn read_moments(
        &self,
        token: CallerToken,
        Json(request): Json<ReadRequest>,
    ) -> Result<Json<ReadMomentsBody>, ApiError<Search>> {
        let ids: Vec<MomentId> =
            request.moment_ids.iter().map(|id| id.parse()).collect::<Result<_, Error>>()?;
        let request_key = format!("{ids:?} {:?}", request.detail);
        let budget = ResponseBudget { max_tokens: request.max_tokens, cursor: request.cursor };
        let skipped = budget.skipped(&request_key)?;
        let ids: Vec<MomentId> = ids.into_iter().skip(skipped).collect();
        let left = ids.len();
        let service = self.0.scoped(&token);
        let mut read: Vec<Result<MomentBody, MissingMomentBody>> = Vec::new();
        for moment in service.moments(ids).await? {
            read.push(moment.map(|m| MomentBody::new(m, request.detail)).map_err(Into::into));
        }
        let text = |read: &Result<MomentBody, MissingMomentBody>| match read {
            Ok(moment) => moment.to_json_string(),
            Err(missing) => missing.to_json_string(),
        };
        let texts: Vec<String> = read.iter().map(text).collect();
        let (fit, usage) =
            budget.fit(service.tokens(), &texts, &request_key, skipped, left).await?;
        let (mut moments, mut missing) = (Vec::new(), Vec::new());
        for moment in read.into_iter().take(fit) {
            match moment {
                Ok(moment) => moments.push(moment),
                Err(gone) => missing.push(gone),
            }
        }
        let (tokens, tokenizer, next) = (usage.tokens, usage.tokenizer, usage.next);
        Ok(Json(ReadMomentsBody { moments, missing, tokens, tokenizer, next }))
    }

    /// Retrieve evidence.
    ///
    /// Returns what your own model needs to answer a question, within a token budget: the moments
    /// that most probably show what was asked for, most probable first. Each moment includes the
    /// statements of all analyzers about it and about the adjacent chunks.
    #[oai(path = "/evidence", method = "post", operation_id = "evidence")]
    async fn evidence(
        &self,
        token: CallerToken,
        Json(request): Json<EvidenceRequest>,
    ) -> Result<Json<EvidenceResponse>, ApiError<Search>> {
        let EvidenceRequest { max_tokens, cursor, .. } = &request;
        let budget = ResponseBudget { max_tokens: Some(*max_tokens), cursor: cursor.clone() };
        let query: EvidenceQuery = request.into();
        let (question, request_key) = (query.question.clone(), format!("{query:?}"));
        let service = self.0.scoped(&token);
        let found = service.evidence(query).await?;
        let best = found.moments.iter().map(|m| m.p_present).fold(0.0, f32::max);
        let moments = found.moments.into_iter().map(Into::into).collect();
        let (moments, usage) = budget.fit_items(service.tokens(), moments, &request_key).await?;
        Ok(Json(EvidenceResponse {
            question,
            p_present: shortest(best).clamp(0.0, 1.0),
            moments,
            tokens: usage.tokens.unwrap_or_default(),
            tokenizer: service.tokens().tokenizer().to_owned(),
            next: usage.next,
            diagnostics: found.diagnostics.map(Into::into),
        }))
    }
}

#[derive(Object)]
struct ReadRequest {
    /// Moment ids, as in hits and citations.
    #[oai(validator(min_items = 1, max_items = 100))]
    moment_ids: Vec<String>,
    #[oai(default = "standard")]
    detail: MomentDetail,
    /// Maximum number of tokens in all moments together; the response contains only whole moments,
    /// in the order of the request. Null: no limit.
    #[oai(nullable, validator(minimum(value = "1")))]
    max_tokens: Option<u32>,
    /// `next` from the previous response.
    #[oai(nullable)]
    cursor: Option<String>,
}

/// Level of detail of a moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Enum)]
#[oai(rename_all = "lowercase")]
pub(crate) enum MomentDetail {
    /// Statements about the moment's chunks, as text.
    Standard,
    /// Statements, and the output of every analyzer.
    Full,
}

fn standard() -> MomentDetail {
    MomentDetail::Standard
}

#[derive(Object)]
#[oai(rename = "ReadMoments")]
struct ReadMomentsBody {
    /// The moments, in the order of the request.
    moments: Vec<MomentBody>,
    /// Moments that cannot be read, because their video was deleted or because they lie outside the
    /// video.
    missing: Vec<MissingMomentBody>,
    /// Number of tokens in `moments` and `missing`; present if `max_tokens` is set.
    #[oai(skip_serializing_if_is_none)]
    tokens: Option<u32>,
    /// Name of the embedder whose tokenizer counted the tokens; present if `max_tokens` is set.
    #[oai(skip_serializing_if_is_none)]
    tokenizer: Option<String>,
    /// Cursor for the remaining moments; absent if nothing is left. A response contains at most 500
    /// chunks in total.
    #[oai(skip_serializing_if_is_none)]
    next: Option<String>,
}

#[derive(Object)]
#[oai(rename = "MissingMoment")]
pub(crate) struct MissingMomentBody {
    /// Id of the moment.
    moment_id: String,
    /// Why the moment cannot be read.
    pub(crate) detail: String,
}

impl From<moments::MissingMoment> for MissingMomentBody {
    fn from(missing: moments::MissingMoment) -> Self {
        Self { moment_id: missing.moment_id.to_string(), detail: missing.reason }
    }
}

/// A span of a video and what is stored about it.
#[derive(Object)]
#[oai(rename = "Moment")]
pub(crate) struct MomentBody {
    /// Id of the moment.
    moment_id: String,
    /// Id of the video.
    video_id: String,
    /// File name of the video.
    filename: String,
    /// Start time, in seconds from the start of the video.
    start: f64,
    /// End time, in seconds from the start of the video.
    end: f64,
    /// Start and end as a timecode.
    timecode: String,
    /// URL of the video in storage.
    video_url: String,
    /// Wall-clock time at the start (ISO 8601, UTC); present if the video has `recorded_at`.
    #[oai(skip_serializing_if_is_none)]
    recorded_at: Option<String>,
    /// Path of the frame at the midpoint of the moment, relative to the service's root.
    frame_url: String,
    /// Current chunks that overlap the moment; at most 500.
    chunks: Vec<MomentChunkBody>,
    /// Total number of chunks that overlap the moment.
    total_chunks: u32,
    /// The chunk before the overlapping ones; null at the beginning of the video.
    #[oai(nullable)]
    before: Option<Neighbour>,
    /// The chunk after the overlapping ones; null at the end of the video.
    #[oai(nullable)]
    after: Option<Neighbour>,
}

#[derive(Object)]
#[oai(rename = "MomentChunk")]
struct MomentChunkBody {
    /// Id of the chunk.
    chunk_id: u32,
    /// Start time, in seconds from the start of the video.
    start: f64,
    /// End time, in seconds from the start of the video.
    end: f64,
    /// Start and end as a timecode.
    timecode: String,
    /// Duration of the overlap with the moment, in seconds.
    overlap: f64,
    /// Statements about the chunk.
    says: Vec<Says>,
    /// Output of each analyzer, by analyzer id; present if `detail` is `full`.
    #[oai(skip_serializing_if_is_none)]
    outputs: Option<OrderedMap<AnyObject>>,
}

/// A statement about a chunk. Identical statements from several analyzers appear only once.
#[derive(Object)]
struct Says {
    kind: SaysKind,
    /// The speaker, if known.
    #[oai(skip_serializing_if_is_none)]
    speaker: Option<String>,
    /// Start time, in seconds from the start of the video; present if it is more precise than the
    /// start of the chunk.
    #[oai(skip_serializing_if_is_none)]
    start: Option<f64>,
    /// End time, in seconds from the start of the video; present if it is more precise than the end
    /// of the chunk.
    #[oai(skip_serializing_if_is_none)]
    end: Option<f64>,
    /// The statement.
    text: String,
}

/// Source of a statement.
#[derive(Enum)]
#[oai(rename_all = "lowercase")]
enum SaysKind {
    /// A description.
    Prose,
    /// Speech.
    Speech,
    /// On-screen text.
    Screen,
    /// Detected objects.
    Objects,
    /// The setting.
    Scene,
    /// Detected people.
    People,
}

/// A chunk next to a moment.
#[derive(Object)]
struct Neighbour {
    /// Id of the moment with the same span as the chunk.
    moment_id: String,
    /// Id of the chunk.
    chunk_id: u32,
    /// Statements about the chunk; empty if the response already contains them in another moment.
    says: Vec<Says>,
}

#[derive(Object)]
struct EvidenceRequest {
    /// The question or search text.
    #[oai(validator(min_length = 1))]
    question: String,
    /// Ids of the videos to search. Null: all videos.
    #[oai(nullable)]
    video_ids: Option<Vec<String>>,
    /// Maximum number of moments. Default: 10.
    #[oai(default = "ten", validator(minimum(value = "1"), maximum(value = "50")))]
    limit: u32,
    /// Minimum `p_present` of a moment, from 0 to 1. Null: no minimum.
    #[oai(nullable, validator(minimum(value = "0"), maximum(value = "1")))]
    min_p_present: Option<f64>,
    /// Hard filters that must all match, as in `/query`.
    #[oai(default)]
    filters: AnyObject,
    /// Maximum number of tokens in all moments together; the response contains only whole moments.
    /// Default: 4000.
    #[oai(default = "evidence_tokens", validator(minimum(value = "1")))]
    max_tokens: u32,
    /// `next` from the previous response.
    #[oai(nullable)]
    cursor: Option<String>,
}

fn ten() -> u32 {
    10
}

fn evidence_tokens() -> u32 {
    4000
}

impl From<EvidenceRequest> for EvidenceQuery {
    fn from(r: EvidenceRequest) -> Self {
        Self {
            question: r.question,
            video_ids: r.video_ids,
            limit: r.limit,
            min_p_present: r.min_p_present.map(|min| min as f32),
            filters: r.filters.0,
        }
    }
}

#[derive(Object)]
struct EvidenceResponse {
    /// The question.
    question: String,
    /// Highest `p_present` among all moments that were found, from 0 to 1; 0 if there are none.
    #[oai(validator(minimum(value = "0"), maximum(value = "1")))]
    p_present: f64,
    /// The moments, most probable first.
    moments: Vec<ProbableMoment>,
    /// Number of tokens in `moments`.
    tokens: u32,
    /// Name of the embedder whose tokenizer counted the tokens.
    tokenizer: String,
    /// Cursor for the remaining moments; absent if nothing is left.
    #[oai(skip_serializing_if_is_none)]
    next: Option<String>,
    /// Why there are no moments; absent if there are any.
    #[oai(skip_serializing_if_is_none)]
    diagnostics: Option<DiagnosticsBody>,
}

/// A moment that probably contains what was asked for.
#[derive(Object)]
struct ProbableMoment {
    #[oai(flatten)]
    moment: MomentBody,
    /// Citation of the moment, in the form that answers use.
    citation: String,
    /// Calibrated probability (0 to 1) that the moment really contains what was asked for.
    #[oai(validator(minimum(value = "0"), maximum(value = "1")))]
    p_present: f64,
    /// Ids of the analyzers whose output matched, most probable match first.
    found_by: Vec<String>,
}

impl From<EvidenceMoment> for ProbableMoment {
    fn from(found: EvidenceMoment) -> Self {
        Self {
            moment: MomentBody::new(found.moment, MomentDetail::Standard),
            citation: found.citation,
            p_present: shortest(found.p_present).clamp(0.0, 1.0),
            found_by: found.found_by,
        }
    }
}

impl MomentBody {
    pub(crate) fn new(moment: moments::Moment, detail: MomentDetail) -> Self {
        let Span { start, end } = moment.moment_id.span();
        let video_id = moment.moment_id.video_id();
        Self {
            moment_id: moment.moment_id.to_string(),
            filename: moment.filename,
            start,
            end,
            timecode: moment.moment_id.span().timecode(),
            video_url: moment.video_url,
            recorded_at: moment.recorded_at,
            frame_url: format!("/videos/{video_id}/frames?t={:.3}", (start + end) / 2.0),
            chunks: moment
                .chunks
                .into_iter()
                .map(|chunk| MomentChunkBody::new(chunk, detail))
                .collect(),
            total_chunks: moment.total_chunks,
            before: moment.before.map(Into::into),
            after: moment.after.map(Into::into),
            video_id: video_id.to_string(),
        }
    }
}

impl MomentChunkBody {
    fn new(chunk: moments::MomentChunk, detail: MomentDetail) -> Self {
        let moments::MomentChunk { chunk, overlap, statements } = chunk;
        let read = |text: &str| serde_json::from_str(text).unwrap_or(Value::Null);
        let outputs = || {
            let outputs = chunk.outputs.iter();
            outputs.map(|(id, text)| (id.clone(), AnyObject::from_value(read(text)))).collect()
        };
        Self {
            chunk_id: chunk.chunk_id.0,
            start: chunk.span.start,
            end: chunk.span.end,
            timecode: chunk.span.timecode(),
            overlap,
            says: statements.into_iter().map(Into::into).collect(),
            outputs: (detail == MomentDetail::Full).then(|| OrderedMap(outputs())),
        }
    }
}

impl From<moments::NeighbourChunk> for Neighbour {
    fn from(neighbour: moments::NeighbourChunk) -> Self {
        Self {
            moment_id: neighbour.moment_id.to_string(),
            chunk_id: neighbour.chunk_id.0,
            says: neighbour.statements.into_iter().map(Into::into).collect(),
        }
    }
}

impl From<Statement> for Says {
    fn from(statement: Statement) -> Self {
        Self {
            kind: match statement.kind {
                PassageKind::Prose => SaysKind::Prose,
                PassageKind::Speech => SaysKind::Speech,
                PassageKind::Screen | PassageKind::Row => SaysKind::Screen,
                PassageKind::Objects => SaysKind::Objects,
                PassageKind::Scene => SaysKind::Scene,
                PassageKind::People => SaysKind::People,
            },
            speaker: statement.speaker,
            start: statement.span.map(|span| span.start),
            end: statement.span.map(|span| span.end),
            text: statement.text,
        }
    }
}
