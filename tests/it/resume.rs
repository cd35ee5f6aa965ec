//! A service that is killed in the middle of an analyzer: started again, it pays for no finished
//! chunk twice. Real processes, a real clip and a model server that counts.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use poem::listener::{Acceptor, Listener, TcpListener};
use poem::web::Json;
use poem::{EndpointExt, Route, Server, handler, post, web::Data};
use serde_json::{Value, json};

use crate::support::process::{Process, bars};

/// Chat completions with the right shape for each schema; counts those with pictures.
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

fn settings(model: &str) -> [(&'static str, String); 3] {
    [("LLM__KIND", "openai".into()), ("LLM__URL", model.into()), ("LLM__MODEL", "counting".into())]
}

#[tokio::test]
async fn a_killed_service_pays_for_no_finished_chunk_again() {
    let folder = tempfile::tempdir().unwrap();
    let Some(clip) = bars(folder.path(), 20, 0) else { return };
    let described = Arc::new(AtomicUsize::new(0));
    let acceptor = TcpListener::bind("127.0.0.1:0").into_acceptor().await.unwrap();
    let address = acceptor.local_addr()[0].as_socket_addr().copied().unwrap();
    let app = Route::new().at("/v1/chat/completions", post(complete)).data(described.clone());
    tokio::spawn(Server::new_with_acceptor(acceptor).run(app));
    let model = format!("http://{address}/v1");

    let service = Process::start(folder.path(), &settings(&model)).await;
    let three = |job: &Value| job["detail"]["done"].as_u64() >= Some(3);
    let job = service.job(&service.upload(&clip, &[]).await.unwrap(), three).await;
    assert_eq!(job["detail"]["analyzer"], "default_video");
    assert_eq!(job["detail"]["total"], 10);
    drop(service);
    let paid = described.swap(0, Ordering::SeqCst);
    let finished = job["detail"]["done"].as_u64().unwrap() as usize;
    assert!((3..10).contains(&finished), "killed on the way: {job}");

    let service = Process::start(folder.path(), &settings(&model)).await;
    let listing = service.get("/videos").await;
    assert_eq!(listing["videos"], json!([]), "nothing half-published");
    let job_id = service.upload(&clip, &[]).await.unwrap();
    let job = service.job(&job_id, |job| job["status"] == "done").await;
    assert_eq!(job["result"]["indexed"]["default_video"], 10, "{job}");
    let again = described.load(Ordering::SeqCst);
    assert!(again <= 10 - finished, "{finished} were finished, {paid} paid, then {again}");
    println!("{paid} calls before the kill, {finished} chunks finished, {again} calls after it");
}
