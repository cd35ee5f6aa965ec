//! A fake language-model server over HTTP that counts its calls.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use poem::listener::{Acceptor, Listener, TcpListener};
use poem::web::{Data, Json};
use poem::{EndpointExt, Route, Server, handler, post};
use serde_json::{Value, json};

/// The running server.
pub struct CountingModel {
    pub url: String,
    /// Number of calls with images so far, one for each chunk.
    pub described: Arc<AtomicUsize>,
}

/// Returns a chat completion that matches the requested schema; counts requests with images.
#[handler]
async fn complete(Json(request): Json<Value>, described: Data<&Arc<AtomicUsize>>) -> Json<Value> {
    let answer = if request.to_string().contains("image_url") {
        described.fetch_add(1, Ordering::SeqCst);
        tokio::time::sleep(Duration::from_millis(100)).await;
        json!({
            "description": "Coloured bars.", "setting": "", "people": [], "objects": [],
            "actions": [], "tags": [],
        })
    } else {
        json!({})
    };
    Json(json!({
        "choices": [{"message": {"role": "assistant", "content": answer.to_string()},
                     "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 1, "completion_tokens": 1},
    }))
}

impl CountingModel {
    pub async fn start() -> Self {
        let described = Arc::new(AtomicUsize::new(0));
        let acceptor = TcpListener::bind("127.0.0.1:0").into_acceptor().await.unwrap();
        let address = acceptor.local_addr()[0].as_socket_addr().copied().unwrap();
        let app = Route::new().at("/v1/chat/completions", post(complete)).data(described.clone());
        tokio::spawn(Server::new_with_acceptor(acceptor).run(app));
        Self { url: format!("http://{address}/v1"), described }
    }

    pub fn settings(&self) -> [(&'static str, String); 3] {
        [
            ("LLM__KIND", "openai".into()),
            ("LLM__URL", self.url.clone()),
            ("LLM__MODEL", "counting".into()),
        ]
    }
}
