//! The tools, with one file each, and the list of all tools.
//!
//! To add a tool, write its file, declare it as a module here, and add it to [`TOOLS`].

mod add_to_bin;
mod ask;
mod describe_library;
mod find_intervals;
mod find_person;
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
use super::budget::{TokenBudget, image_tokens, result_tokens, value_tokens};
use super::pages::position;
use super::prose::truncate;
use super::schema;
use crate::http::views::{HttpFailure, unknown_name, validate};
use crate::mcp::McpSettings;
use domain::Scoped;

/// Every tool, in the order in which clients list them.
static TOOLS: &[Entry] = &[
    entry::<describe_library::DescribeLibrary>(),
    entry::<search_moments::SearchMoments>(),
    entry::<find_intervals::FindIntervals>(),
    entry::<find_person::FindPerson>(),
    entry::<read_moments::ReadMoments>(),
    entry::<ask::Ask>(),
    entry::<get_transcript::GetTranscript>(),
    entry::<get_frames::GetFrames>(),
    entry::<get_aggregate::GetAggregate>(),
    entry::<add_to_bin::AddToBin>(),
    entry::<plan_ingest::PlanIngest>(),
    entry::<ingest_url::IngestUrl>(),
    entry::<get_job::GetJob>(),
];

/// A tool: its description, input and output.
trait Tool {
    const NAME: &'static str;
    /// Human-readable title.
    const TITLE: &'static str;
    /// What the tool does and how a model should use it.
    const DESCRIPTION: &'static str;
    /// Whether the tool leaves the library unchanged.
    const READ_ONLY: bool = true;
    type Input: ParseFromJSON + 'static;
    type Output: ToJSON;

    /// Handles a call within its budget. An error states what would be valid.
    fn call(
        call: Call<'_>,
        input: Self::Input,
    ) -> impl Future<Output = Result<ToolAnswer<Self::Output>, HttpFailure>> + Send;
}

/// The context of a tool call.
struct Call<'c> {
    service: &'c Scoped,
    settings: &'c McpSettings,
    budget: TokenBudget,
    progress: Option<Progress<'c>>,
}

/// Sends progress notifications to a caller that requested them.
struct Progress<'c> {
    peer: &'c Peer<RoleServer>,
    token: ProgressToken,
}

impl Progress<'_> {
    /// Sends notification number `step`.
    async fn notify(&self, step: usize, message: &str) {
        let notification = ProgressNotificationParam::new(self.token.clone(), step as f64)
            .with_message(truncate(message));
        // The caller may have disconnected.
        let _ = self.peer.notify_progress(notification).await;
    }
}

/// The output of a tool: the same content as text and as structured content, plus images.
struct ToolAnswer<T> {
    text: String,
    content: T,
    images: Vec<Image>,
}

/// A JPEG image, with its size in pixels.
struct Image {
    bytes: bytes::Bytes,
    width: u32,
    height: u32,
}

impl<T> ToolAnswer<T> {
    fn new(text: impl Into<String>, content: T) -> Self {
        Self { text: text.into(), content, images: Vec::new() }
    }
}

type AnswerFuture<'c> = BoxFuture<'c, Result<ToolAnswer<Value>, HttpFailure>>;

/// A tool with its types erased.
struct Entry {
    name: &'static str,
    define: fn() -> Definition,
    answer: for<'c> fn(Call<'c>, Value) -> AnswerFuture<'c>,
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
        .read_only(T::READ_ONLY)
        .destructive(false)
        .open_world(!T::READ_ONLY);
    Definition::new(T::NAME, T::DESCRIPTION, schema::input_schema::<T::Input>())
        .with_title(T::TITLE)
        .with_raw_output_schema(schema::output_schema::<T::Output>())
        .with_annotations(hints)
}

async fn answer<T: Tool>(call: Call<'_>, input: Value) -> Result<ToolAnswer<Value>, HttpFailure> {
    let input = validate::<T::Input>(input).map_err(HttpFailure::unprocessable)?;
    let input = T::Input::parse_from_json(Some(input))
        .map_err(|e| HttpFailure::unprocessable(e.into_message()))?;
    let ToolAnswer { text, content, images } = T::call(call, input).await?;
    Ok(ToolAnswer { text, content: content.to_json().unwrap_or_default(), images })
}

/// A page of the tool definitions; all of them fit into the default budget.
pub(super) fn list(
    settings: &McpSettings,
    cursor: Option<&str>,
) -> Result<ListToolsResult, HttpFailure> {
    static DEFINITIONS: LazyLock<Vec<Definition>> =
        LazyLock::new(|| TOOLS.iter().map(|tool| (tool.define)()).collect());
    let from = position(cursor)?;
    let mut budget = TokenBudget::new(settings.max_tokens);
    let page: Vec<Definition> = DEFINITIONS
        .iter()
        .skip(from)
        .take_while(|tool| budget.take(value_tokens(&json!(tool))))
        .cloned()
        .collect();
    let next = from + page.len();
    let mut list = ListToolsResult::with_all_items(page);
    list.next_cursor = (next < DEFINITIONS.len()).then(|| next.to_string());
    Ok(list)
}

/// Handles a call. A tool's failure is returned as a tool error, which a model can read and act on.
pub(super) async fn call(
    caller: Caller<'_>,
    request: CallToolRequestParams,
    context: &RequestContext<RoleServer>,
) -> Result<CallToolResult, ErrorData> {
    let Some(tool) = TOOLS.iter().find(|tool| tool.name == request.name) else {
        let names: Vec<&str> = TOOLS.iter().map(|tool| tool.name).collect();
        return Err(ErrorData::invalid_params(unknown_name("tool", &request.name, &names), None));
    };
    let token = context.meta.get_progress_token();
    let call = Call {
        service: &caller.service,
        settings: caller.settings,
        budget: TokenBudget::new(caller.settings.max_tokens),
        progress: token.map(|token| Progress { peer: &context.peer, token }),
    };
    let input = Value::Object(request.arguments.unwrap_or_default());
    let answer = (tool.answer)(call, input).await;
    let answer = answer.and_then(|answer| into_call_result(answer, caller.settings.max_tokens));
    tracing::info!(tool = tool.name, refused = answer.is_err(), "called");
    Ok(answer.unwrap_or_else(|failure| {
        CallToolResult::error(vec![ContentBlock::text(truncate(&failure.detail))])
    }))
}

/// Converts an answer to a call result, unless it exceeds the token limit.
fn into_call_result(
    answer: ToolAnswer<Value>,
    max_tokens: usize,
) -> Result<CallToolResult, HttpFailure> {
    let images = answer.images.iter();
    let image_total: usize = images.map(|p| image_tokens(p.width, p.height)).sum();
    let mut content = vec![ContentBlock::text(answer.text)];
    content.extend(
        answer
            .images
            .iter()
            .map(|image| ContentBlock::image(STANDARD.encode(&image.bytes), "image/jpeg")),
    );
    let mut result = CallToolResult::success(content);
    result.structured_content = Some(answer.content);
    let tokens = result_tokens(&result) + image_total;
    if tokens > max_tokens {
        return Err(HttpFailure::unprocessable(format!(
            "the answer has {tokens} tokens, more than the {max_tokens} of mcp.max_tokens; ask for less at once"
        )));
    }
    Ok(result)
}
