//! JSON-RPC framing in front of the protocol. Bodies that are not messages get a JSON-RPC error.
//! Batches, which revision 2025-03-26 allows, are split into single messages.

use poem::http::{Method, StatusCode};
use poem::{Body, Endpoint, Request, Response, Result};
use rmcp::model::{ClientJsonRpcMessage, ErrorCode, ProtocolVersion};
use serde_json::{Value, json};

/// The header with the protocol revision. If it is absent, the revision that allows batches is
/// assumed.
const REVISION: &str = "mcp-protocol-version";

/// Wraps the endpoint that handles single messages.
pub(super) struct JsonRpcEndpoint<E> {
    pub(super) inner: E,
    /// Maximum number of messages in a batch.
    pub(super) max_batch: usize,
}

impl<E: Endpoint<Output = Response>> Endpoint for JsonRpcEndpoint<E> {
    type Output = Response;

    async fn call(&self, mut request: Request) -> Result<Response> {
        // The body has already been received in full and is within its limits.
        let bytes = request.take_body().into_bytes().await?;
        let value: Value = match serde_json::from_slice(&bytes) {
            Ok(value) => value,
            Err(e) => {
                let detail = format!("the body is not valid JSON: {e}");
                return Ok(error_response(Value::Null, ErrorCode::PARSE_ERROR, detail));
            }
        };
        if let Value::Array(messages) = value {
            return self.batch(&request, messages).await;
        }
        if let Err(e) = serde_json::from_slice::<ClientJsonRpcMessage>(&bytes) {
            let detail = format!("the body is not a message of the protocol: {e}");
            return Ok(error_response(id(&value), ErrorCode::INVALID_REQUEST, detail));
        }
        request.set_body(bytes);
        self.inner.call(request).await
    }
}

impl<E: Endpoint<Output = Response>> JsonRpcEndpoint<E> {
    /// Returns the responses to a batch, or 202 if it contains only notifications and responses.
    async fn batch(&self, head: &Request, messages: Vec<Value>) -> Result<Response> {
        if let Some(detail) = self.batch_error(head, messages.len()) {
            return Ok(error_response(Value::Null, ErrorCode::INVALID_REQUEST, detail));
        }
        let mut answers = Vec::new();
        for message in messages {
            if message["method"] == "initialize" {
                let detail = "initialize must not be in a batch; send it alone";
                answers.push(error_object(id(&message), ErrorCode::INVALID_REQUEST, detail));
                continue;
            }
            if let Err(e) = serde_json::from_value::<ClientJsonRpcMessage>(message.clone()) {
                let detail = format!("this is not a message of the protocol: {e}");
                answers.push(error_object(id(&message), ErrorCode::INVALID_REQUEST, detail));
                continue;
            }
            let response = self.inner.call(single_request(head, &message)).await?;
            let bytes = match response.status() {
                StatusCode::OK => response.into_body().into_bytes().await?,
                StatusCode::ACCEPTED => continue,
                // Headers that are invalid for one message are invalid for all.
                _ => return Ok(response),
            };
            answers.push(serde_json::from_slice(&bytes).map_err(poem::error::InternalServerError)?);
        }
        if answers.is_empty() {
            return Ok(Response::builder().status(StatusCode::ACCEPTED).finish());
        }
        Ok(json_response(StatusCode::OK, &Value::Array(answers)))
    }

    /// Returns why the whole batch is rejected, or `None` if it is accepted.
    fn batch_error(&self, head: &Request, messages: usize) -> Option<String> {
        let with_batches = ProtocolVersion::V_2025_03_26;
        let revision = head.header(REVISION).unwrap_or(with_batches.as_str());
        if revision != with_batches.as_str() {
            return Some(format!(
                "revision {revision} of the protocol has no batches; send one message at a time"
            ));
        }
        match messages {
            0 => Some("the batch is empty".into()),
            n if n > self.max_batch => Some(format!(
                "the batch has {n} messages; at most {} are accepted (mcp.max_batch)",
                self.max_batch
            )),
            _ => None,
        }
    }
}

/// Builds a separate request for one message of a batch.
fn single_request(head: &Request, message: &Value) -> Request {
    let builder = Request::builder().method(Method::POST).uri(head.uri().clone());
    let mut request = builder.body(Body::from_string(message.to_string()));
    *request.headers_mut() = head.headers().clone();
    *request.extensions_mut() = head.extensions().clone();
    request
}

/// The id of a message; null if it has no valid one.
fn id(message: &Value) -> Value {
    let id = message.get("id").filter(|id| id.is_string() || id.is_i64());
    id.cloned().unwrap_or(Value::Null)
}

fn error_object(id: Value, code: ErrorCode, message: impl Into<String>) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "error": {"code": code.0, "message": message.into()}})
}

fn error_response(id: Value, code: ErrorCode, message: impl Into<String>) -> Response {
    json_response(StatusCode::BAD_REQUEST, &error_object(id, code, message))
}

fn json_response(status: StatusCode, value: &Value) -> Response {
    Response::builder().status(status).content_type("application/json").body(value.to_string())
}
