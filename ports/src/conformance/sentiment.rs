//! The suite for adapters of the `sentiment` port.

use crate::sentiment::{Sentiment, SentimentClassifier};

/// Checks every requirement of the port, using plain English texts.
pub async fn suite(classifier: &dyn SentimentClassifier) {
    assert!(!classifier.model().is_empty(), "a classifier names its model");
    results_are_in_order(classifier).await;
    text_without_words_is_neutral(classifier).await;
    results_are_independent_of_the_batch(classifier).await;
    any_text_is_accepted(classifier).await;
}

const GLAD: &str = "What a wonderful day, I love this great and beautiful place!";
const SAD: &str = "This is a terrible disaster and I hate the horrible pain.";

async fn results_are_in_order(classifier: &dyn SentimentClassifier) {
    assert_eq!(classify(classifier, &[]).await, [], "no texts give no results");
    let results = classify(classifier, &[GLAD, SAD, GLAD]).await;
    assert_eq!(results.len(), 3, "one result per text");
    assert!(results[0].positive > results[0].negative, "{GLAD:?} is glad: {:?}", results[0]);
    assert!(results[1].negative > results[1].positive, "{SAD:?} is sad: {:?}", results[1]);
    assert_eq!(results[0], results[2], "the same text gives the same shares");
}

async fn text_without_words_is_neutral(classifier: &dyn SentimentClassifier) {
    for text in ["", "   ", "\n\t", "...", "12 34"] {
        let result = classify(classifier, &[text]).await[0];
        assert!(result.neutral > 0.99, "{text:?} is neutral, not {result:?}");
    }
}

async fn results_are_independent_of_the_batch(classifier: &dyn SentimentClassifier) {
    let alone = classify(classifier, &[GLAD]).await[0];
    let in_batch = classify(classifier, &[SAD, GLAD, "", SAD]).await[1];
    assert!((alone.positive - in_batch.positive).abs() < 1e-3, "neighbours change nothing");
}

async fn any_text_is_accepted(classifier: &dyn SentimentClassifier) {
    let long = "good bad ".repeat(5_000);
    for text in ["é", "日本語のテキスト", "🙂🙃", "\u{0}\u{fffd}", "!?!?!?", "but", &long]
    {
        classify(classifier, &[text]).await;
    }
}

async fn classify(classifier: &dyn SentimentClassifier, texts: &[&str]) -> Vec<Sentiment> {
    let texts: Vec<String> = texts.iter().map(|t| t.to_string()).collect();
    let results = classifier.classify(&texts).await.expect("texts are classified");
    for result in &results {
        let shares = [result.positive, result.neutral, result.negative];
        assert!(shares.iter().all(|s| (0.0..=1.0).contains(s)), "shares are in 0..1: {result:?}");
        let sum: f32 = shares.iter().sum();
        assert!((sum - 1.0).abs() < 1e-3, "shares add up to 1: {result:?}");
    }
    results
}
