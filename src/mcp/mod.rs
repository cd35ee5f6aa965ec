//! The inbound adapter for agents: `/mcp` implements the Model Context Protocol over streamable
//! HTTP. Like HTTP handlers, tools and resources parse their input, call use-cases and return the
//! types of the HTTP API. There are no sessions: any instance handles any request, and a call ends
//! when its connection closes. This module must not name an adapter.

mod budget;
mod messages;
mod pages;
mod prose;
mod resources;
mod schema;
mod settings;
mod tools;

use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use futures::FutureExt;
use poem::endpoint::{BoxEndpoint, TowerCompatExt};
use poem::http::request::Parts;
use poem::{EndpointExt, Response};
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, Implementation, ListResourceTemplatesResult,
    ListResourcesResult, ListToolsResult, PaginatedRequestParams, ReadResourceRequestParams,
    ReadResourceResponse, ServerCapabilities, ServerConfig,
};
use rmcp::service::RequestContext;
use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use rmcp::{ErrorData, RoleServer, ServerHandler};
use serde_json::json;

use crate::http::Mount;
use crate::http::views::HttpFailure;
use domain::kernel::access::Access;
use domain::{Scoped, Shotlog};
pub use settings::McpSettings;

/// Path of the endpoint.
pub const PATH: &str = "/mcp";

/// Instructions that clients show to the model on connect.
const INSTRUCTIONS: &str = "Shotlog analyzes videos and logs every moment: what is seen, said and \
written, with times in seconds of the video. Start with describe_library. Use search_moments to find \
moments; p_present is the probability that the match is really there, so treat results below 0.5 as \
absent. Use find_intervals for combinations and negations in time, and find_person for where a named person appears. Use ask to get a question answered with citations; a citation [<video_id> <start>-<end>s] \
names the moment that supports a sentence. Use get_transcript, get_frames and get_aggregate for \
details. Responses are truncated to a token budget: `next` or `rest` says that there is more and how \
to get it.";

/// Returns the mount for the endpoint, or `None` if it is disabled.
pub fn mount(service: Arc<Shotlog>, settings: McpSettings) -> Option<Mount> {
    settings.enabled.then(|| Mount { path: PATH, endpoint: endpoint(Server { service, settings }) })
}

fn endpoint(server: Server) -> BoxEndpoint<'static, Response> {
    // The guard has already checked host and origin, as for every request.
    let config = StreamableHttpServerConfig::default()
        .with_legacy_session_mode(false)
        .with_json_response(true)
        .disable_allowed_hosts()
        .disable_allowed_origins();
    let sessions = Arc::new(NeverSessionManager::default());
    let max_batch = server.settings.max_batch;
    let service = StreamableHttpService::new(move || Ok(server.clone()), sessions, config);
    messages::JsonRpcEndpoint { inner: service.compat(), max_batch }.boxed()
}

/// Handles agents' requests.
#[derive(Clone)]
struct Server {
    service: Arc<Shotlog>,
    settings: McpSettings,
}

/// The caller of a request, and the settings.
struct Caller<'s> {
    service: Scoped,
    settings: &'s McpSettings,
}

impl Server {
    /// The caller, with the access rights that the edge attached to the request.
    fn caller(&self, context: &RequestContext<RoleServer>) -> Result<Caller<'_>, ErrorData> {
        let parts = context.extensions.get::<Parts>();
        let access = parts.and_then(|parts| parts.extensions.get::<Access>());
        let access = access.ok_or_else(|| {
            ErrorData::internal_error("the access rights of the caller are unknown", None)
        })?;
        let service = self.service.scoped(access.clone());
        Ok(Caller { service, settings: &self.settings })
    }
}

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder().enable_tools().enable_resources().build();
        let name = Implementation::new("shotlog", env!("CARGO_PKG_VERSION")).with_title("Shotlog");
        ServerConfig::new(capabilities).with_server_info(name).with_instructions(INSTRUCTIONS)
    }

    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let cursor = request.and_then(|request| request.cursor);
        tools::list(&self.settings, cursor.as_deref()).map_err(to_error_data)
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let caller = self.caller(&context)?;
        let answer = async { tools::call(caller, request, &context).await.map(Into::into) };
        run_until_cancelled(&context, answer).await
    }

    async fn list_resources(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let cursor = request.and_then(|request| request.cursor);
        let caller = self.caller(&context)?;
        run_until_cancelled(&context, async {
            resources::list(&caller, cursor).await.map_err(to_error_data)
        })
        .await
    }

    async fn list_resource_templates(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        Ok(ListResourceTemplatesResult::with_all_items(resources::templates()))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let caller = self.caller(&context)?;
        let answer = async {
            resources::read(&caller, &request.uri).await.map(Into::into).map_err(|failure| {
                let uri = prose::truncate(&request.uri);
                ErrorData { data: Some(json!({ "uri": uri })), ..to_error_data(failure) }
            })
        };
        run_until_cancelled(&context, answer).await
    }
}

/// Converts a failure to a protocol error.
fn to_error_data(failure: HttpFailure) -> ErrorData {
    let sentence = prose::truncate(&failure.detail);
    match failure.status.as_u16() {
        404 => ErrorData::resource_not_found(sentence, None),
        400..=499 => ErrorData::invalid_params(sentence, None),
        _ => ErrorData::internal_error(sentence, None),
    }
}

/// Runs `work` and returns its result. Drops `work` if the caller disconnects. Calls run in tasks
/// outside the edge, so panics are caught here; otherwise the caller would wait forever.
async fn run_until_cancelled<T>(
    context: &RequestContext<RoleServer>,
    work: impl Future<Output = Result<T, ErrorData>>,
) -> Result<T, ErrorData> {
    let work = AssertUnwindSafe(work).catch_unwind();
    tokio::select! {
        biased;
        () = context.ct.cancelled() => {
            Err(ErrorData::internal_error("the call was cancelled by its caller", None))
        }
        outcome = work => outcome.unwrap_or_else(|_| {
            tracing::error!("a call of an agent panicked");
            Err(ErrorData::internal_error(HttpFailure::internal().detail, None))
        }),
    }
}
