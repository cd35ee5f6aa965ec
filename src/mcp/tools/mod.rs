//! The tools of agents: one file each and the list.
//!
//! To add one, write its file and name it here as a module and in [`TOOLS`].

mod ask;
mod describe_library;
mod get_aggregate;
mod get_frames;
mod get_job;
mod get_transcript;
mod ingest_url;
mod plan_ingest;
mod read_moments;
mod search_moments;

use std::sync::LazyLock;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use futures::FutureExt;
use futures::future::BoxFuture;
use poem_openapi::types::{ParseFromJSON, ToJSON};
use rmcp::model::{
    CallToolRequestParams, CallToolResult, ContentBlock, ListToolsResult,
    ProgressNotificationParam, ProgressToken, Tool as Definition, ToolAnnotations,
};
use rmcp::service::{Peer, RequestContext};
use rmcp::{ErrorData, RoleServer};
use serde_json::{Value, json};

use super::Caller;
use super::budget::{Budget, tokens_of, tokens_of_answer, tokens_of_picture};
use super::pages::position;
use super::prose::sentence;
use super::schema;
use crate::domain::Scoped;
use crate::http::views::{Failure, conform, unknown};
use crate::mcp::McpSettings;

/// Every tool, in the order in which a model reads of them.
static TOOLS: &[Entry] = &[
    entry::<describe_library::DescribeLibrary>(),
    entry::<search_moments::SearchMoments>(),
    entry::<read_moments::ReadMoments>(),
    entry::<ask::Ask>(),
    entry::<get_transcript::GetTranscript>(),
    entry::<get_frames::GetFrames>(),
    entry::<get_aggregate::GetAggregate>(),
    entry::<plan_ingest::PlanIngest>(),
    entry::<ingest_url::IngestUrl>(),
    entry::<get_job::GetJob>(),
];

/// What a model can call: what it is told of it, what it gives and gets.
trait Tool {
    const NAME: &'static str;
    /// For people.
    const TITLE: &'static str;
    /// What it is for and how to use it, for a model.
    const DESCRIPTION: &'static str;
    /// Whether the library stays as it is.
    const READS_ONLY: bool = true;
    type Input: ParseFromJSON + 'static;
    type Output: ToJSON;

    /// Answers a call within its budget. A failure tells the model what would be right.
    fn call(
        call: Call<'_>,
        input: Self::Input,
    ) -> impl Future<Output = Result<Answer<Self::Output>, Failure>> + Send;
}

/// What a tool may use.
struct Call<'c> {
    service: &'c Scoped,
    settings: &'c McpSettings,
    budget: Budget,
    progress: Option<Progress<'c>>,
}

/// Tells a caller who asked for it how far its call is.
struct Progress<'c> {
    peer: &'c Peer<RoleServer>,
    token: ProgressToken,
}

impl Progress<'_> {
    /// The `step`th thing to tell.
    async fn tell(&self, step: usize, message: &str) {
        let told = ProgressNotificationParam::new(self.token.clone(), step as f64)
            .with_message(sentence(message));
        // A caller who has gone needs none.
        let _ = self.peer.notify_progress(told).await;
    }
}

/// What a tool gives: the same as prose and as structure, and pictures.
struct Answer<T> {
    text: String,
    content: T,
    pictures: Vec<Picture>,
}

/// A JPEG.
struct Picture {
    bytes: bytes::Bytes,
    width: u32,
    height: u32,
}

impl<T> Answer<T> {
    fn new(text: impl Into<String>, content: T) -> Self {
        Self { text: text.into(), content, pictures: Vec::new() }
    }
}

type Answering<'c> = BoxFuture<'c, Result<Answer<Value>, Failure>>;

/// A tool without its types.
struct Entry {
    name: &'static str,
    define: fn() -> Definition,
    answer: for<'c> fn(Call<'c>, Value) -> Answering<'c>,
}

const fn entry<T: Tool + 'static>() -> Entry {
    Entry {
        name: T::NAME,
        define: define::<T>,
        answer: |call, input| answer::<T>(call, input).boxed(),
    }
}

fn define<T: Tool>() -> Definition {
    let hints = ToolAnnotations::with_title(T::TITLE)
        .read_only(T::READS_ONLY)
        .destructive(false)
        .open_world(!T::READS_ONLY);
    Definition::new(T::NAME, T::DESCRIPTION, schema::arguments_of::<T::Input>())
        .with_title(T::TITLE)
        .with_raw_output_schema(schema::schema_of::<T::Output>())
        .with_annotations(hints)
}

async fn answer<T: Tool>(call: Call<'_>, input: Value) -> Result<Answer<Value>, Failure> {
    let input = conform::<T::Input>(input).map_err(Failure::unprocessable)?;
    let input = T::Input::parse_from_json(Some(input))
        .map_err(|e| Failure::unprocessable(e.into_message()))?;
    let Answer { text, content, pictures } = T::call(call, input).await?;
    Ok(Answer { text, content: content.to_json().unwrap_or_default(), pictures })
}

/// A page of what a model is told of the tools; all of them fit the usual budget.
pub(super) fn list(
    settings: &McpSettings,
    cursor: Option<&str>,
) -> Result<ListToolsResult, Failure> {
    static DEFINITIONS: LazyLock<Vec<Definition>> =
        LazyLock::new(|| TOOLS.iter().map(|tool| (tool.define)()).collect());
    let from = position(cursor)?;
    let mut budget = Budget::new(settings.max_tokens);
    let page: Vec<Definition> = DEFINITIONS
        .iter()
        .skip(from)
        .take_while(|tool| budget.take(tokens_of(&json!(tool))))
        .cloned()
        .collect();
    let next = from + page.len();
    let mut list = ListToolsResult::with_all_items(page);
    list.next_cursor = (next < DEFINITIONS.len()).then(|| next.to_string());
    Ok(list)
}

/// Answers a call. What a tool refuses is an answer too, which a model can read and do better.
pub(super) async fn call(
    caller: Caller<'_>,
    request: CallToolRequestParams,
    context: &RequestContext<RoleServer>,
) -> Result<CallToolResult, ErrorData> {
    let Some(tool) = TOOLS.iter().find(|tool| tool.name == request.name) else {
        let names: Vec<&str> = TOOLS.iter().map(|tool| tool.name).collect();
        return Err(ErrorData::invalid_params(unknown("tool", &request.name, &names), None));
    };
    let token = context.meta.get_progress_token();
    let call = Call {
        service: &caller.service,
        settings: caller.settings,
        budget: Budget::new(caller.settings.max_tokens),
        progress: token.map(|token| Progress { peer: &context.peer, token }),
    };
    let input = Value::Object(request.arguments.unwrap_or_default());
    let answer = (tool.answer)(call, input).await;
    let answer = answer.and_then(|answer| within(answer, caller.settings.max_tokens));
    tracing::info!(tool = tool.name, refused = answer.is_err(), "called");
    Ok(answer.unwrap_or_else(|failure| {
        CallToolResult::error(vec![ContentBlock::text(sentence(&failure.detail))])
    }))
}

/// The answer in the protocol's terms, unless it has more tokens than any may.
fn within(answer: Answer<Value>, most: usize) -> Result<CallToolResult, Failure> {
    let pictures = answer.pictures.iter();
    let of_pictures: usize = pictures.map(|p| tokens_of_picture(p.width, p.height)).sum();
    let mut content = vec![ContentBlock::text(answer.text)];
    content.extend(
        answer
            .pictures
            .iter()
            .map(|picture| ContentBlock::image(STANDARD.encode(&picture.bytes), "image/jpeg")),
    );
    let mut result = CallToolResult::success(content);
    result.structured_content = Some(answer.content);
    let tokens = tokens_of_answer(&result) + of_pictures;
    if tokens > most {
        return Err(Failure::unprocessable(format!(
            "the answer has {tokens} tokens, more than the {most} of mcp.max_tokens; ask for less at once"
        )));
    }
    Ok(result)
}
