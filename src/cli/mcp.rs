//! `mcp`: bridges an agent on standard input and output to the MCP endpoint of a running service.

use std::collections::HashMap;

use reqwest::header::ACCEPT;
use rmcp::model::{
    ClientJsonRpcMessage, ClientNotification, ErrorData, JsonRpcMessage, RequestId,
    ServerJsonRpcMessage,
};
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use rmcp::transport::{IntoTransport, StreamableHttpClientTransport, Transport, stdio};
use rmcp::{RoleClient, RoleServer};
use serde_json::json;
use tokio::task::{AbortHandle, JoinSet};

use super::client::ServiceClient;
use super::{BoxError, ServiceArgs};
use crate::config::Config;
use crate::mcp::PATH;

/// Forwards messages until the agent closes standard input. Only messages are written to standard
/// output.
pub(super) async fn mcp(config: &Config, args: &ServiceArgs) -> Result<(), BoxError> {
    let service = ServiceClient::new(config, args)?;
    let address = format!("{}{PATH}", service.server);
    // If the service is unreachable or rejects the token, this ping fails early, with a readable
    // message.
    let ping = json!({"jsonrpc": "2.0", "id": 0, "method": "ping"});
    let accepted = "application/json, text/event-stream";
    service.send_json(service.client.post(&address).header(ACCEPT, accepted).json(&ping)).await?;
    let mut settings = StreamableHttpClientTransportConfig::with_uri(address);
    settings.auth_header = service.token;
    let remote = StreamableHttpClientTransport::with_client(service.client, settings);
    let local = IntoTransport::<RoleServer, _, _>::into_transport(stdio());
    bridge(local, remote).await
}

async fn bridge(
    mut agent: impl Transport<RoleServer>,
    mut service: impl Transport<RoleClient>,
) -> Result<(), BoxError> {
    let mut sending = JoinSet::new();
    let mut calls: HashMap<RequestId, AbortHandle> = HashMap::new();
    loop {
        tokio::select! {
            message = agent.receive() => {
                let Some(message) = message else { break };
                // There is no session to notify: dropping the connection cancels the call.
                if let Some(cancelled) = cancelled_request(&message) {
                    calls.remove(&cancelled).inspect(AbortHandle::abort);
                    continue;
                }
                let id = request_id(&message);
                let sent = service.send(message);
                let failed = id.clone();
                let task = sending.spawn(async move { (failed, sent.await.map_err(|e| e.to_string())) });
                calls.extend(id.map(|id| (id, task)));
            }
            message = service.receive() => {
                let Some(message) = message else {
                    return Err("the service closed the connection".into());
                };
                answered_request(&message).and_then(|id| calls.remove(id));
                agent.send(message).await?;
            }
            Some(sent) = sending.join_next() => {
                if let Ok((Some(id), Err(error))) = sent && calls.remove(&id).is_some() {
                    agent.send(no_answer_error(id, &error)).await?;
                }
            }
        }
    }
    service.close().await?;
    Ok(())
}

/// The id of the request in a message.
fn request_id(message: &ClientJsonRpcMessage) -> Option<RequestId> {
    match message {
        JsonRpcMessage::Request(request) => Some(request.id.clone()),
        _ => None,
    }
}

/// The id of the request that a message cancels.
fn cancelled_request(message: &ClientJsonRpcMessage) -> Option<RequestId> {
    match message {
        JsonRpcMessage::Notification(message) => match &message.notification {
            ClientNotification::CancelledNotification(cancelled) => {
                cancelled.params.request_id.clone()
            }
            _ => None,
        },
        _ => None,
    }
}

/// The id of the request that a message responds to.
fn answered_request(message: &ServerJsonRpcMessage) -> Option<&RequestId> {
    match message {
        JsonRpcMessage::Response(response) => Some(&response.id),
        JsonRpcMessage::Error(error) => error.id.as_ref(),
        _ => None,
    }
}

fn no_answer_error(id: RequestId, error: &str) -> ServerJsonRpcMessage {
    let message = format!("the service did not answer: {error}");
    ServerJsonRpcMessage::error(ErrorData::internal_error(message, None), Some(id))
}
