//! The suite for adapters of the `reranker` port.

use crate::reranker::Reranker;

const QUESTION: &str = "Where does the dog sleep?";
const ANSWER: &str = "The dog sleeps in a basket under the kitchen table.";
const BESIDE: &str = "Interest rates have been raised by a quarter of a percent.";

/// Checks every requirement of the port, using plain English texts.
pub async fn suite(reranker: &dyn Reranker) {
    assert!(!reranker.model().is_empty(), "a reranker names its model");
    assert!(score(reranker, QUESTION, &[]).await.is_empty(), "no texts have no scores");
    let scores = score(reranker, QUESTION, &[BESIDE, ANSWER, BESIDE]).await;
    assert!(scores[1] > scores[0], "what answers is above what does not: {scores:?}");
    assert!((scores[0] - scores[2]).abs() < 0.01, "one text has one score: {scores:?}");
    let alone = score(reranker, QUESTION, &[ANSWER]).await[0];
    assert!((alone - scores[1]).abs() < 0.01, "neighbours change nothing: {alone}, {scores:?}");
    let long = "the dog sleeps ".repeat(5_000);
    for text in ["", " ", "é", "日本語のテキスト", "🙂🙃", "\u{0}\u{fffd}", "?", &long]
    {
        score(reranker, QUESTION, &[text]).await;
        score(reranker, text, &[ANSWER, text]).await;
    }
}

async fn score(reranker: &dyn Reranker, question: &str, texts: &[&str]) -> Vec<f32> {
    let texts: Vec<String> = texts.iter().map(|text| (*text).to_owned()).collect();
    let scores = reranker.score(question, &texts).await.expect("texts are scored");
    assert_eq!(scores.len(), texts.len(), "one score per text");
    assert!(scores.iter().all(|p| (0.0..=1.0).contains(p)), "scores are in 0..1: {scores:?}");
    scores
}
