//! A service that is killed in the middle of an analyzer: started again, it pays for no finished
//! chunk twice. Real processes, a real clip and a model server that counts.

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use poem::listener::{Acceptor, Listener, TcpListener};
use poem::web::Json;
use poem::{EndpointExt, Route, Server, handler, post, web::Data};
use serde_json::{Value, json};

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

struct Service(Child, String);

impl Drop for Service {
    fn drop(&mut self) {
        // SIGKILL: nothing is flushed, nothing is tidied up.
        self.0.kill().expect("the process can be killed");
        self.0.wait().expect("the process ends");
    }
}

impl Service {
    async fn start(data: &Path, model: &str) -> Self {
        let port = {
            let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
            free.local_addr().unwrap().port()
        };
        let child = Command::new(env!("CARGO_BIN_EXE_shotlog"))
            .arg("serve")
            .current_dir(data)
            .env("SERVICE_HTTP__LISTEN", format!("127.0.0.1:{port}"))
            .env("SERVICE_DATA_DIR", data.join("data"))
            .env("SERVICE_LLM__KIND", "openai")
            .env("SERVICE_LLM__URL", model)
            .env("SERVICE_LLM__MODEL", "counting")
            .env("SERVICE_EMBEDDER__KIND", "hashing")
            .env("SERVICE_READER__KIND", "none")
            .env("SERVICE_DETECTOR__KIND", "none")
            .env("SERVICE_TRANSCRIBER__KIND", "none")
            .env("SERVICE_VOICE__KIND", "none")
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("the service starts");
        let service = Self(child, format!("http://127.0.0.1:{port}"));
        while reqwest::get(format!("{}/health", service.1)).await.is_err() {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        service
    }

    /// Ingests the clip and returns its job once `enough` says so.
    async fn ingest(&self, clip: &Path, enough: impl Fn(&Value) -> bool) -> Value {
        let file = reqwest::multipart::Part::bytes(std::fs::read(clip).unwrap()).file_name("c.mp4");
        let form = reqwest::multipart::Form::new()
            .text("mode", "interval")
            .text("interval", "2")
            .part("file", file);
        let client = reqwest::Client::new();
        let sent = client.post(format!("{}/videos", self.1)).multipart(form).send().await.unwrap();
        let accepted: Value = sent.json().await.unwrap();
        let url = format!("{}/jobs/{}", self.1, accepted["job_id"].as_str().unwrap());
        loop {
            let job: Value = reqwest::get(&url).await.unwrap().json().await.unwrap();
            assert_ne!(job["status"], "failed", "{job}");
            if enough(&job) {
                return job;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }
}

/// Twenty seconds of bars whose colours turn.
fn clip(folder: &Path) -> Option<std::path::PathBuf> {
    let file = folder.join("clip.mp4");
    let made = Command::new("ffmpeg")
        .args(["-loglevel", "error", "-nostdin", "-f", "lavfi", "-i"])
        .arg("testsrc2=size=320x180:rate=10:duration=20,hue=H=t")
        .arg(&file)
        .status();
    match made {
        Ok(status) if status.success() => Some(file),
        _ => {
            println!("skipped: the program ffmpeg is not there to make a clip");
            None
        }
    }
}

#[tokio::test]
async fn a_killed_service_pays_for_no_finished_chunk_again() {
    let folder = tempfile::tempdir().unwrap();
    let Some(clip) = clip(folder.path()) else { return };
    let described = Arc::new(AtomicUsize::new(0));
    let acceptor = TcpListener::bind("127.0.0.1:0").into_acceptor().await.unwrap();
    let address = acceptor.local_addr()[0].as_socket_addr().copied().unwrap();
    let app = Route::new().at("/v1/chat/completions", post(complete)).data(described.clone());
    tokio::spawn(Server::new_with_acceptor(acceptor).run(app));
    let model = format!("http://{address}/v1");

    let service = Service::start(folder.path(), &model).await;
    let three = |job: &Value| job["detail"]["done"].as_u64() >= Some(3);
    let job = service.ingest(&clip, three).await;
    assert_eq!(job["detail"]["analyzer"], "default_video");
    assert_eq!(job["detail"]["total"], 10);
    drop(service);
    let paid = described.swap(0, Ordering::SeqCst);
    let finished = job["detail"]["done"].as_u64().unwrap() as usize;
    assert!((3..10).contains(&finished), "killed on the way: {job}");

    let service = Service::start(folder.path(), &model).await;
    let listing: Value =
        reqwest::get(format!("{}/videos", service.1)).await.unwrap().json().await.unwrap();
    assert_eq!(listing["videos"], json!([]), "nothing half-published");
    let job = service.ingest(&clip, |job| job["status"] == "done").await;
    assert_eq!(job["result"]["indexed"]["default_video"], 10, "{job}");
    let again = described.load(Ordering::SeqCst);
    assert!(again <= 10 - finished, "{finished} were finished, {paid} paid, then {again}");
    println!("{paid} calls before the kill, {finished} chunks finished, {again} calls after it");
}
