//! Tests of the adapters of the `reranker` port.

use ports::conformance;
use shotlog_adapters::reranker::ScriptedReranker;

#[tokio::test]
async fn scripted() {
    let reranker = ScriptedReranker::new(|_, text| if text.contains("dog") { 0.9 } else { 0.1 });
    conformance::reranker::suite(&reranker).await;
}

/// Tests with the network that `make setup` builds. They are skipped unless `SHOTLOG_MODELS` and
/// `SHOTLOG_ONNXRUNTIME` are set.
#[cfg(feature = "onnx")]
mod onnx {
    use std::collections::BTreeMap;
    use std::path::PathBuf;

    use ports::conformance;
    use ports::reranker::Reranker;
    use serde::Deserialize;
    use shotlog_adapters::reranker::{OnnxReranker, OnnxRerankerOptions};
    use shotlog_adapters::{OnnxRuntime, OnnxThreading};

    /// The scores of the trained network before its conversion
    /// (`scripts/models/train_reranker.py`).
    #[derive(Deserialize)]
    struct Golden {
        question: String,
        scores: BTreeMap<String, f32>,
    }

    fn open() -> Option<OnnxReranker> {
        let path = |variable: &str| std::env::var_os(variable).map(PathBuf::from);
        let (Some(library), Some(models)) = (path("SHOTLOG_ONNXRUNTIME"), path("SHOTLOG_MODELS"))
        else {
            eprintln!("skipped: SHOTLOG_ONNXRUNTIME or SHOTLOG_MODELS is not set");
            return None;
        };
        let folder = models.join("embed");
        let options = OnnxRerankerOptions {
            model: folder.join("all-MiniLM-L6-v2-answers.onnx"),
            tokenizer: folder.join("tokenizer.json"),
            max_tokens: 128,
            threading: OnnxThreading::default(),
        };
        if !options.model.is_file() {
            eprintln!("skipped: there is no {}", options.model.display());
            return None;
        }
        let runtime = OnnxRuntime::load(&library).unwrap();
        Some(OnnxReranker::open(&runtime, &options).unwrap())
    }

    #[tokio::test]
    async fn network() {
        let Some(reranker) = open() else { return };
        conformance::reranker::suite(&reranker).await;
    }

    #[tokio::test]
    async fn scores_are_those_of_the_trained_network() {
        let Some(reranker) = open() else { return };
        let golden = include_str!("../fixtures/reranker_golden.json");
        let Golden { question, scores } = serde_json::from_str(golden).unwrap();
        let texts: Vec<String> = scores.keys().cloned().collect();
        let found = reranker.score(&question, &texts).await.unwrap();
        for ((text, expected), found) in scores.iter().zip(found) {
            assert!((expected - found).abs() < 0.05, "{text:?}: {found} instead of {expected}");
        }
    }
}
