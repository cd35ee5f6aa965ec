//! Server-sent events. The OpenAPI document describes each event as an object, which is how clients
//! parse it.

use std::time::Duration;

use futures::StreamExt;
use futures::stream::BoxStream;
use poem::web::sse::{Event, SSE};
use poem::{IntoResponse, Response};
use poem_openapi::payload::Payload;
use poem_openapi::registry::{MetaMediaType, MetaResponse, MetaResponses, MetaSchemaRef, Registry};
use poem_openapi::types::{ToJSON, Type};
use poem_openapi::{ApiResponse, Object};

/// Interval between keep-alive comments. It is short because proxies close connections that have
/// been idle for about a minute.
const KEEP_ALIVE: Duration = Duration::from_secs(15);

/// A response with status 200 that sends a stream of named events with JSON data.
pub(crate) struct EventStream<T>(pub(crate) BoxStream<'static, (&'static str, T)>);

#[derive(Object)]
struct ServerSentEvent {
    /// Name of the event.
    event: String,
    /// Data of the event, as JSON text.
    data: String,
}

impl<T: ToJSON> Payload for EventStream<T> {
    const CONTENT_TYPE: &'static str = "text/event-stream";

    fn schema_ref() -> MetaSchemaRef {
        ServerSentEvent::schema_ref()
    }

    fn register(registry: &mut Registry) {
        ServerSentEvent::register(registry);
    }
}

impl<T: ToJSON + 'static> IntoResponse for EventStream<T> {
    fn into_response(self) -> Response {
        let event = |(name, data): (&'static str, T)| {
            Event::message(data.to_json_string()).event_type(name)
        };
        SSE::new(self.0.map(event)).keep_alive(KEEP_ALIVE).into_response()
    }
}

impl<T: ToJSON> ApiResponse for EventStream<T> {
    fn meta() -> MetaResponses {
        let content =
            MetaMediaType { content_type: Self::CONTENT_TYPE, schema: Self::schema_ref() };
        MetaResponses {
            responses: vec![MetaResponse {
                description: "",
                status: Some(200),
                status_range: None,
                content: vec![content],
                headers: Vec::new(),
            }],
        }
    }

    fn register(registry: &mut Registry) {
        <Self as Payload>::register(registry);
    }
}
