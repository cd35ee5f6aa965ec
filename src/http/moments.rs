//! `/moments` and `/evidence`: what is stored of a span of a video, by a name that lasts.

use poem_openapi::param::Path;
use poem_openapi::types::ToJSON;
use poem_openapi::{Enum, Object, OpenApi};
use ports::llm::PassageKind;
use serde_json::Value;

use super::auth::{Service, Token};
use super::body::Json;
use super::budget::Wanted;
use super::errors::{ApiError, ByIdNamed, Search};
use super::query::Diagnostics;
use super::values::{AnyObject, Ordered, shortest};
use crate::domain::Error;
use crate::domain::analysis::finding::Statement;
use crate::domain::answering::evidence::{EvidenceMoment, EvidenceQuery};
use crate::domain::catalog::moments;
use crate::domain::kernel::moment::MomentId;
use crate::domain::kernel::time::Span;

/// The routes of this section.
pub(super) struct MomentsApi(pub(super) Service);

#[OpenApi]
impl MomentsApi {
    /// What is stored of a moment.
    ///
    /// Hits and citations name moments. A moment can be read as long as its video is there: after
    /// another ingest its chunks are those of then.
    #[oai(path = "/moments/:moment_id", method = "get", operation_id = "moment")]
    async fn moment(
        &self,
        token: Token,
        moment_id: Path<String>,
    ) -> Result<Json<Moment>, ApiError<ByIdNamed>> {
        let id: MomentId = moment_id.parse()?;
        Ok(Json(Moment::of(self.0.of(&token).moment(&id).await?, MomentDetail::Full)))
    }

    /// What is stored of several moments, within so many tokens.
    #[oai(path = "/moments/read", method = "post", operation_id = "read_moments")]
    async fn read_moments(
        &self,
        token: Token,
        Json(request): Json<ReadRequest>,
    ) -> Result<Json<ReadMoments>, ApiError<Search>> {
        let ids: Vec<MomentId> =
            request.moment_ids.iter().map(|id| id.parse()).collect::<Result<_, Error>>()?;
        let named = format!("{ids:?} {:?}", request.detail);
        let wanted = Wanted { max_tokens: request.max_tokens, cursor: request.cursor };
        let skipped = wanted.skipped(&named)?;
        let ids: Vec<MomentId> = ids.into_iter().skip(skipped).collect();
        let left = ids.len();
        let service = self.0.of(&token);
        let mut read: Vec<Result<Moment, MissingMoment>> = Vec::new();
        for moment in service.moments(ids).await? {
            read.push(moment.map(|m| Moment::of(m, request.detail)).map_err(Into::into));
        }
        let text = |read: &Result<Moment, MissingMoment>| match read {
            Ok(moment) => moment.to_json_string(),
            Err(missing) => missing.to_json_string(),
        };
        let texts: Vec<String> = read.iter().map(text).collect();
        let (fit, spent) = wanted.fit(service.tokens(), &texts, &named, skipped, left).await?;
        let (mut moments, mut missing) = (Vec::new(), Vec::new());
        for moment in read.into_iter().take(fit) {
            match moment {
                Ok(moment) => moments.push(moment),
                Err(gone) => missing.push(gone),
            }
        }
        let (tokens, tokenizer, next) = (spent.tokens, spent.tokenizer, spent.next);
        Ok(Json(ReadMoments { moments, missing, tokens, tokenizer, next }))
    }

    /// What a model of your own needs to answer a question.
    ///
    /// The moments that most probably have it, with what every analyzer tells of them and what comes
    /// right before and after, the most probable first, within so many tokens.
    #[oai(path = "/evidence", method = "post", operation_id = "evidence")]
    async fn evidence(
        &self,
        token: Token,
        Json(request): Json<EvidenceRequest>,
    ) -> Result<Json<EvidenceResponse>, ApiError<Search>> {
        let EvidenceRequest { max_tokens, cursor, .. } = &request;
        let wanted = Wanted { max_tokens: Some(*max_tokens), cursor: cursor.clone() };
        let query: EvidenceQuery = request.into();
        let (question, named) = (query.question.clone(), format!("{query:?}"));
        let service = self.0.of(&token);
        let found = service.evidence(query).await?;
        let best = found.moments.iter().map(|m| m.p_present).fold(0.0, f32::max);
        let moments = found.moments.into_iter().map(Into::into).collect();
        let (moments, spent) = wanted.of(service.tokens(), moments, &named).await?;
        Ok(Json(EvidenceResponse {
            question,
            p_present: shortest(best).clamp(0.0, 1.0),
            moments,
            tokens: spent.tokens.unwrap_or_default(),
            tokenizer: service.tokens().tokenizer().to_owned(),
            next: spent.next,
            diagnostics: found.diagnostics.map(Into::into),
        }))
    }
}

#[derive(Object)]
struct ReadRequest {
    /// Names of moments, as hits and citations carry them.
    #[oai(validator(min_items = 1, max_items = 100))]
    moment_ids: Vec<String>,
    #[oai(default = "standard")]
    detail: MomentDetail,
    /// Most tokens of the moments together, whole ones, in the order of their names; all when left
    /// out.
    #[oai(nullable, validator(minimum(value = "1")))]
    max_tokens: Option<u32>,
    /// `next` of the answer before.
    #[oai(nullable)]
    cursor: Option<String>,
}

/// How much comes back of each moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Enum)]
#[oai(rename_all = "lowercase")]
pub(crate) enum MomentDetail {
    /// What its chunks tell, as text.
    Standard,
    /// And every analyzer's output.
    Full,
}

fn standard() -> MomentDetail {
    MomentDetail::Standard
}

#[derive(Object)]
struct ReadMoments {
    moments: Vec<Moment>,
    /// Those whose video is gone, or that lie outside of it.
    missing: Vec<MissingMoment>,
    /// Tokens of `moments` and `missing`; present with `max_tokens`.
    #[oai(skip_serializing_if_is_none)]
    tokens: Option<u32>,
    /// The embedder whose tokenizer has counted; present with `max_tokens`.
    #[oai(skip_serializing_if_is_none)]
    tokenizer: Option<String>,
    /// The `cursor` for the rest, where anything is left: an answer has at most 500 chunks, or one moment.
    #[oai(skip_serializing_if_is_none)]
    next: Option<String>,
}

#[derive(Object)]
pub(crate) struct MissingMoment {
    moment_id: String,
    /// Why it cannot be read.
    pub(crate) detail: String,
}

impl From<moments::MissingMoment> for MissingMoment {
    fn from(missing: moments::MissingMoment) -> Self {
        Self { moment_id: missing.moment_id.to_string(), detail: missing.why }
    }
}

/// A span of a video, and what is stored of it.
#[derive(Object)]
pub(crate) struct Moment {
    moment_id: String,
    video_id: String,
    filename: String,
    /// When it begins, seconds of the video.
    start: f64,
    /// When it ends, seconds of the video.
    end: f64,
    timecode: String,
    video_url: String,
    /// The instant when it begins, ISO 8601 in UTC; present where the video has `recorded_at`.
    #[oai(skip_serializing_if_is_none)]
    recorded_at: Option<String>,
    /// Where this service shows the frame in its middle.
    frame_url: String,
    /// Today's chunks that overlap it, at most 500.
    chunks: Vec<MomentChunk>,
    /// All that overlap it.
    total_chunks: u32,
    /// The chunk right before those; null at the beginning.
    #[oai(nullable)]
    before: Option<Neighbour>,
    /// The chunk right after those; null at the end.
    #[oai(nullable)]
    after: Option<Neighbour>,
}

#[derive(Object)]
struct MomentChunk {
    chunk_id: u32,
    /// When it begins, seconds of the video.
    start: f64,
    /// When it ends, seconds of the video.
    end: f64,
    timecode: String,
    /// How much of the moment lies in it, seconds.
    overlap: f64,
    says: Vec<Says>,
    /// Output by analyzer, at detail `full`.
    #[oai(skip_serializing_if_is_none)]
    outputs: Option<Ordered<AnyObject>>,
}

/// One thing that is told of a chunk; what several analyzers tell alike is told once.
#[derive(Object)]
struct Says {
    kind: SaysKind,
    /// Who says it, where that is known.
    #[oai(skip_serializing_if_is_none)]
    speaker: Option<String>,
    /// When it begins, seconds of the video, where that is known better than the chunk's.
    #[oai(skip_serializing_if_is_none)]
    start: Option<f64>,
    /// When it ends, seconds of the video, likewise.
    #[oai(skip_serializing_if_is_none)]
    end: Option<f64>,
    text: String,
}

/// How it is known.
#[derive(Enum)]
#[oai(rename_all = "lowercase")]
enum SaysKind {
    /// Described.
    Prose,
    /// Heard.
    Speech,
    /// Read off the picture.
    Screen,
    /// Objects that were detected.
    Objects,
    /// The setting.
    Scene,
    /// People that were detected.
    People,
}

/// A chunk beside a moment.
#[derive(Object)]
struct Neighbour {
    moment_id: String,
    chunk_id: u32,
    /// Empty where it is among the moments of the same answer.
    says: Vec<Says>,
}

#[derive(Object)]
struct EvidenceRequest {
    /// The question, or what to look for.
    #[oai(validator(min_length = 1))]
    question: String,
    /// Null searches every video.
    #[oai(nullable)]
    video_ids: Option<Vec<String>>,
    /// Moments.
    #[oai(default = "ten", validator(minimum(value = "1"), maximum(value = "50")))]
    limit: u32,
    /// Moments that less probably have it are left out.
    #[oai(nullable, validator(minimum(value = "0"), maximum(value = "1")))]
    min_p_present: Option<f64>,
    /// Hard conditions that must all hold, as those of `/query`.
    #[oai(default)]
    filters: AnyObject,
    /// Most tokens of the moments together, whole ones.
    #[oai(default = "evidence_tokens", validator(minimum(value = "1")))]
    max_tokens: u32,
    /// `next` of the answer before.
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
            min_p_present: r.min_p_present.map(|least| least as f32),
            filters: r.filters.0,
        }
    }
}

#[derive(Object)]
struct EvidenceResponse {
    question: String,
    /// Probability that the best moment really has what was asked for.
    #[oai(validator(minimum(value = "0"), maximum(value = "1")))]
    p_present: f64,
    /// The most probable first.
    moments: Vec<ProbableMoment>,
    /// Tokens of `moments`.
    tokens: u32,
    /// The embedder whose tokenizer has counted.
    tokenizer: String,
    /// The `cursor` for the rest, where anything is left.
    #[oai(skip_serializing_if_is_none)]
    next: Option<String>,
    /// Why there are no moments; absent when there are.
    #[oai(skip_serializing_if_is_none)]
    diagnostics: Option<Diagnostics>,
}

/// A moment that probably has what was asked for.
#[derive(Object)]
struct ProbableMoment {
    #[oai(flatten)]
    moment: Moment,
    /// As answers cite it.
    citation: String,
    /// Probability, measured against unrelated searches, that what was asked for is really here.
    #[oai(validator(minimum(value = "0"), maximum(value = "1")))]
    p_present: f64,
    /// The analyzers that found it, the surest first.
    found_by: Vec<String>,
}

impl From<EvidenceMoment> for ProbableMoment {
    fn from(found: EvidenceMoment) -> Self {
        Self {
            moment: Moment::of(found.moment, MomentDetail::Standard),
            citation: found.citation,
            p_present: shortest(found.p_present).clamp(0.0, 1.0),
            found_by: found.found_by,
        }
    }
}

impl Moment {
    pub(crate) fn of(moment: moments::Moment, detail: MomentDetail) -> Self {
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
            chunks: moment.chunks.into_iter().map(|chunk| MomentChunk::of(chunk, detail)).collect(),
            total_chunks: moment.total_chunks,
            before: moment.before.map(Into::into),
            after: moment.after.map(Into::into),
            video_id: video_id.to_string(),
        }
    }
}

impl MomentChunk {
    fn of(chunk: moments::MomentChunk, detail: MomentDetail) -> Self {
        let moments::MomentChunk { chunk, overlap, says } = chunk;
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
            says: says.into_iter().map(Into::into).collect(),
            outputs: (detail == MomentDetail::Full).then(|| Ordered(outputs())),
        }
    }
}

impl From<moments::Neighbour> for Neighbour {
    fn from(neighbour: moments::Neighbour) -> Self {
        Self {
            moment_id: neighbour.moment_id.to_string(),
            chunk_id: neighbour.chunk_id.0,
            says: neighbour.says.into_iter().map(Into::into).collect(),
        }
    }
}

impl From<Statement> for Says {
    fn from(statement: Statement) -> Self {
        Self {
            kind: match statement.kind {
                PassageKind::Prose => SaysKind::Prose,
                PassageKind::Speech => SaysKind::Speech,
                PassageKind::Screen => SaysKind::Screen,
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
