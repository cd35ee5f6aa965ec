//! `mcp`: serves agents that start a program and talk to it over its standard input and output, by
//! handing their messages on to a running service.

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

use super::client::Service;
use super::{Failure, ServiceArgs};
use crate::config::Config;
use crate::mcp::PATH;

/// Hands messages on until the agent ends its side. Standard output has nothing but messages.
pub(super) async fn mcp(config: &Config, args: &ServiceArgs) -> Result<(), Failure> {
    let service = Service::new(config, args)?;
    let address = format!("{}{PATH}", service.server);
    // Whether the service is there and lets us in is told at once, and in words.
    let ping = json!({"jsonrpc": "2.0", "id": 0, "method": "ping"});
    let accepted = "application/json, text/event-stream";
    service.answer(service.client.post(&address).header(ACCEPT, accepted).json(&ping)).await?;
    let mut settings = StreamableHttpClientTransportConfig::with_uri(address);
    settings.auth_header = service.token;
    let remote = StreamableHttpClientTransport::with_client(service.client, settings);
    let local = IntoTransport::<RoleServer, _, _>::into_transport(stdio());
    bridge(local, remote).await
}

async fn bridge(
    mut agent: impl Transport<RoleServer>,
    mut service: impl Transport<RoleClient>,
) -> Result<(), Failure> {
    let mut sending = JoinSet::new();
    let mut calls: HashMap<RequestId, AbortHandle> = HashMap::new();
    loop {
        tokio::select! {
            message = agent.receive() => {
                let Some(message) = message else { break };
                // No session is kept that could be told: a call ends with its connection.
                if let Some(cancelled) = cancelled(&message) {
                    calls.remove(&cancelled).inspect(AbortHandle::abort);
                    continue;
                }
                let id = asked(&message);
                let sent = service.send(message);
                let failed = id.clone();
                let task = sending.spawn(async move { (failed, sent.await.map_err(|e| e.to_string())) });
                calls.extend(id.map(|id| (id, task)));
            }
            message = service.receive() => {
                let Some(message) = message else {
                    return Err("the service ended the conversation".into());
                };
                answered(&message).and_then(|id| calls.remove(id));
                agent.send(message).await?;
            }
            Some(sent) = sending.join_next() => {
                if let Ok((Some(id), Err(error))) = sent && calls.remove(&id).is_some() {
                    agent.send(unanswered(id, &error)).await?;
                }
            }
        }
    }
    service.close().await?;
    Ok(())
}

/// The request that a message asks.
fn asked(message: &ClientJsonRpcMessage) -> Option<RequestId> {
    match message {
        JsonRpcMessage::Request(request) => Some(request.id.clone()),
        _ => None,
    }
}

/// The request that a message gives up.
fn cancelled(message: &ClientJsonRpcMessage) -> Option<RequestId> {
    match message {
        JsonRpcMessage::Notification(told) => match &told.notification {
            ClientNotification::CancelledNotification(cancelled) => {
                cancelled.params.request_id.clone()
            }
            _ => None,
        },
        _ => None,
    }
}

/// The request that a message answers.
fn answered(message: &ServerJsonRpcMessage) -> Option<&RequestId> {
    match message {
        JsonRpcMessage::Response(response) => Some(&response.id),
        JsonRpcMessage::Error(error) => error.id.as_ref(),
        _ => None,
    }
}

fn unanswered(id: RequestId, error: &str) -> ServerJsonRpcMessage {
    let told = format!("the service did not answer: {error}");
    ServerJsonRpcMessage::error(ErrorData::internal_error(told, None), Some(id))
}
