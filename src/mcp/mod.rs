//! The inbound adapter for agents: `/mcp` speaks the Model Context Protocol over streamable HTTP. Like
//! the HTTP handlers, tools and resources parse what they are given, call use-cases and show the
//! contract's shapes. No session is kept: any instance answers any request, and a call ends with its
//! connection. Must not name an adapter.

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

use crate::domain::kernel::access::Access;
use crate::domain::{Scoped, Shotlog};
use crate::http::Mount;
use crate::http::views::Failure;
pub use settings::McpSettings;

/// Where it is mounted.
pub const PATH: &str = "/mcp";

/// What models are told before anything else.
const INSTRUCTIONS: &str = "Shotlog watches videos and writes down every moment: what is seen, said \
and written, with times in seconds of the video. Begin with describe_library. To find moments use \
search_moments; p_present is the probability that what was searched for is really there, so below 0.5 \
take it for absent. To have a question answered with citations use ask; a citation [<video_id> \
<start>-<end>s] names the moment that supports a sentence. Look closer with get_transcript, get_frames \
and get_aggregate. Answers are cut to a budget: where one has `next` or `rest`, there is more, and it \
says how to get that.";

/// What is mounted beside the routes of the contract; nothing where it is switched off.
pub fn mount(service: Arc<Shotlog>, settings: McpSettings) -> Option<Mount> {
    settings.enabled.then(|| Mount { path: PATH, endpoint: endpoint(Server { service, settings }) })
}

fn endpoint(server: Server) -> BoxEndpoint<'static, Response> {
    // Hosts and origins have been checked by the guard, like those of all requests.
    let config = StreamableHttpServerConfig::default()
        .with_legacy_session_mode(false)
        .with_json_response(true)
        .disable_allowed_hosts()
        .disable_allowed_origins();
    let sessions = Arc::new(NeverSessionManager::default());
    let max_batch = server.settings.max_batch;
    let service = StreamableHttpService::new(move || Ok(server.clone()), sessions, config);
    messages::Messages { inner: service.compat(), max_batch }.boxed()
}

/// Answers the requests of agents.
#[derive(Clone)]
struct Server {
    service: Arc<Shotlog>,
    settings: McpSettings,
}

/// Who sent a request, and how they are answered.
struct Caller<'s> {
    service: Scoped,
    settings: &'s McpSettings,
}

impl Server {
    /// Who sent a request: the edge has noted what their token reaches.
    fn caller(&self, context: &RequestContext<RoleServer>) -> Result<Caller<'_>, ErrorData> {
        let parts = context.extensions.get::<Parts>();
        let access = parts.and_then(|parts| parts.extensions.get::<Access>());
        let access = access.ok_or_else(|| {
            ErrorData::internal_error("it is not known what the caller's token reaches", None)
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
        tools::list(&self.settings, cursor.as_deref()).map_err(refused)
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let caller = self.caller(&context)?;
        let answer = async { tools::call(caller, request, &context).await.map(Into::into) };
        attended(&context, answer).await
    }

    async fn list_resources(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let cursor = request.and_then(|request| request.cursor);
        let caller = self.caller(&context)?;
        attended(&context, async { resources::list(&caller, cursor).await.map_err(refused) }).await
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
        let answer =
            async { resources::read(&caller, &request.uri).await.map(Into::into).map_err(refused) };
        attended(&context, answer).await
    }
}

/// A refusal in the protocol's terms.
fn refused(failure: Failure) -> ErrorData {
    let sentence = prose::sentence(&failure.detail);
    match failure.status.as_u16() {
        404 => ErrorData::resource_not_found(sentence, None),
        400..=499 => ErrorData::invalid_params(sentence, None),
        _ => ErrorData::internal_error(sentence, None),
    }
}

/// The outcome of `work`, which is given up when the caller goes away. A call is answered in a task of
/// its own, beyond the edge: whoever waits for one that panicked would wait for ever.
async fn attended<T>(
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
            Err(ErrorData::internal_error(Failure::internal().detail, None))
        }),
    }
}
