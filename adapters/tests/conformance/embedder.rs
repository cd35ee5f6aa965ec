//! Tests of the adapters of the `embedder` port.

use std::time::Duration;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use ports::ErrorKind;
use ports::conformance::embedder as suite;
use ports::embedder::Embedder;
use serde_json::{Value, json};
use shotlog_adapters::embedder::{HashingEmbedder, OpenAiEmbedder, OpenAiEmbedderOptions};
use shotlog_adapters::openai::{Connection, Retry};

use crate::server::{ReceivedRequest, Reply, Server};

#[tokio::test]
async fn hashing() {
    for dimension in [64, HashingEmbedder::DEFAULT_DIMENSION, 1000] {
        suite::check(&HashingEmbedder::new(dimension).unwrap()).await;
    }
}

/// Starts a server that returns the vectors of the hashing embedder, scaled.
async fn hashing_server(float: bool, reversed: bool) -> Server {
    Server::start(move |request: &ReceivedRequest, _| {
        if float && request.body["encoding_format"] == "base64" {
            return Reply::json(
                400,
                json!({ "error": { "message": "encoding_format base64 is unknown" } }),
            );
        }
        let texts: Vec<String> = serde_json::from_value(request.body["input"].clone()).unwrap();
        let embedder = HashingEmbedder::new(64).unwrap();
        let vectors = tokio::task::block_in_place(|| {
            tokio::runtime::Handle::current().block_on(embedder.embed(&texts)).unwrap()
        });
        let mut data: Vec<Value> = vectors
            .into_iter()
            .enumerate()
            .map(|(index, vector)| {
                let scaled: Vec<f32> = vector.iter().map(|x| x * 7.0).collect();
                let embedding =
                    if request.body["encoding_format"] == "base64" {
                        json!(BASE64_STANDARD.encode(
                            scaled.iter().flat_map(|x| x.to_le_bytes()).collect::<Vec<_>>()
                        ))
                    } else {
                        json!(scaled)
                    };
                json!({ "index": index, "embedding": embedding })
            })
            .collect();
        if reversed {
            data.reverse();
        }
        Reply::json(200, json!({ "data": data }))
    })
    .await
}

fn options(url: &str) -> OpenAiEmbedderOptions {
    OpenAiEmbedderOptions {
        connection: Connection {
            base_url: url.to_owned(),
            api_key: Some("sk-secret".to_owned()),
            timeout: Duration::from_secs(20),
            retry: Retry { first_pause: Duration::from_millis(1), ..Retry::default() },
            ..Connection::default()
        },
        model: "hash".to_owned(),
        dimension: 64,
        batch: 16,
        ..OpenAiEmbedderOptions::default()
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn openai() {
    for (float, reversed) in [(false, false), (true, true)] {
        let server = hashing_server(float, reversed).await;
        suite::check(&OpenAiEmbedder::new(options(&server.url)).unwrap()).await;
        let first = &server.received()[0];
        assert_eq!(first.path, "/v1/embeddings");
        assert_eq!(first.authorization.as_deref(), Some("Bearer sk-secret"));
        assert_eq!(first.body["model"], "hash");
        let largest =
            server.received().iter().map(|r| r.body["input"].as_array().unwrap().len()).max();
        assert_eq!(largest, Some(16), "texts are sent in batches");
    }
}

#[tokio::test]
async fn openai_errors_are_reported() {
    let good = json!({ "data": [{ "index": 0, "embedding": vec![0.5; 64] }] });
    let cases = [
        (json!({ "data": [{ "index": 0, "embedding": [1.0, 2.0] }] }), ErrorKind::Invalid, "64"),
        (
            json!({ "data": [{ "index": 0, "embedding": vec![0.0; 64] }] }),
            ErrorKind::Corrupt,
            "normalised",
        ),
        (json!({ "data": [{ "index": 0, "embedding": "!!" }] }), ErrorKind::Corrupt, "base64"),
        (
            json!({ "data": [{ "index": 4, "embedding": vec![0.5; 64] }] }),
            ErrorKind::Corrupt,
            "more than",
        ),
        (json!({ "data": [] }), ErrorKind::Corrupt, "lacks vector 0"),
        (json!({ "vectors": [] }), ErrorKind::Corrupt, "expected form"),
    ];
    for (body, kind, part) in cases {
        let server = Server::in_turn(vec![Reply::json(200, body.clone())]).await;
        let embedder = OpenAiEmbedder::new(options(&server.url)).unwrap();
        let error = embedder.embed(&["text".to_owned()]).await.unwrap_err();
        assert_eq!(error.kind(), kind, "{body}: {error}");
        assert!(error.to_string().contains(part), "{body}: {error}");
        assert_eq!(server.calls(), 1, "{body}");
    }
    let overloaded = Reply::json(503, json!({ "error": "warming up" }));
    let server =
        Server::in_turn(vec![overloaded.clone(), overloaded, Reply::json(200, good)]).await;
    let embedder = OpenAiEmbedder::new(options(&server.url)).unwrap();
    embedder.embed(&["text".to_owned()]).await.unwrap();
    assert_eq!(server.calls(), 3);
}

#[cfg(feature = "onnx")]
mod onnx {
    use std::collections::BTreeMap;
    use std::path::PathBuf;

    use serde::Deserialize;
    use shotlog_adapters::OnnxRuntime;
    use shotlog_adapters::embedder::{OnnxEmbedder, OnnxEmbedderOptions};

    use super::*;

    #[derive(Deserialize)]
    struct Golden {
        embedding_fp32: Vec<f32>,
    }

    fn path(variable: &str) -> Option<PathBuf> {
        let path = std::env::var_os(variable).map(PathBuf::from);
        if path.is_none() {
            eprintln!("skipped: {variable} is not set");
        }
        path
    }

    fn open(file: &str, change: impl Fn(&mut OnnxEmbedderOptions)) -> Option<OnnxEmbedder> {
        let library = path("SHOTLOG_ONNXRUNTIME")?;
        let folder = path("SHOTLOG_MODELS")?.join("embed");
        let mut options =
            OnnxEmbedderOptions::new(folder.join(file), folder.join("tokenizer.json"));
        change(&mut options);
        if !options.model.is_file() {
            eprintln!("skipped: there is no {file} in SHOTLOG_MODELS");
            return None;
        }
        let runtime = OnnxRuntime::load(&library).unwrap();
        Some(OnnxEmbedder::open(&runtime, &options).unwrap())
    }

    async fn check_golden(embedder: &OnnxEmbedder, least: f32) {
        let mut files = vec![include_str!("../fixtures/minilm_golden.json").to_owned()];
        let more = path("SHOTLOG_MODELS").map(|models| models.join("embed/golden_embeddings.json"));
        files.extend(more.and_then(|file| std::fs::read_to_string(file).ok()));
        for file in files {
            let golden: BTreeMap<String, Golden> = serde_json::from_str(&file).unwrap();
            let texts: Vec<String> = golden.keys().cloned().collect();
            let vectors = embedder.embed(&texts).await.unwrap();
            for ((text, golden), vector) in golden.iter().zip(vectors) {
                let dot: f32 = vector.iter().zip(&golden.embedding_fp32).map(|(a, b)| a * b).sum();
                let norm = golden.embedding_fp32.iter().map(|x| x * x).sum::<f32>().sqrt();
                assert!(dot / norm > least, "{text:?}: cosine {}", dot / norm);
            }
        }
    }

    #[tokio::test]
    async fn minilm() {
        let Some(embedder) = open("all-MiniLM-L6-v2.onnx", |_| {}) else { return };
        assert_eq!((embedder.model(), embedder.dimension()), ("all-MiniLM-L6-v2", 384));
        check_golden(&embedder, 0.9985).await;
        suite::check(&embedder).await;
    }

    #[tokio::test]
    async fn minilm_dynamically_quantised() {
        let Some(embedder) = open("all-MiniLM-L6-v2.int8.onnx", |options| options.sessions = 2)
        else {
            return;
        };
        assert_eq!((embedder.model(), embedder.dimension()), ("all-MiniLM-L6-v2.int8", 384));
        check_golden(&embedder, 0.985).await;
        suite::check(&embedder).await;
    }

    #[tokio::test]
    async fn tokens_beyond_128_count() {
        let Some(embedder) = open("all-MiniLM-L6-v2.int8.onnx", |_| {}) else { return };
        let filler = "the weather report for the northern coast goes on for a while ".repeat(14);
        let texts = [filler.clone() + "a red bicycle", filler + "a purple elephant sings"];
        let vectors = embedder.embed(&texts).await.unwrap();
        assert_ne!(vectors[0], vectors[1], "words after the 128th token count");
    }

    #[tokio::test]
    async fn unusable_files_are_named_in_errors() {
        let Some(library) = path("SHOTLOG_ONNXRUNTIME") else { return };
        let runtime = OnnxRuntime::load(&library).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let file = |name: &str| folder.path().join(name);
        std::fs::write(file("broken.onnx"), b"not a model").unwrap();
        std::fs::write(file("broken.json"), b"{}").unwrap();
        for (model, tokenizer, kind, part) in [
            ("none.onnx", "none.json", ErrorKind::NotFound, "none.json"),
            ("broken.onnx", "broken.json", ErrorKind::Invalid, "broken.json"),
        ] {
            let options = OnnxEmbedderOptions::new(file(model), file(tokenizer));
            let error = OnnxEmbedder::open(&runtime, &options).err().unwrap();
            assert_eq!(error.kind(), kind, "{error}");
            assert!(error.to_string().contains(part), "{error}");
        }
    }
}
