//! Tests of sentiment analysis and entity recognition without a network.

use ports::conformance;
use shotlog_adapters::{ner::RuleEntities, sentiment::Vader};

#[tokio::test]
async fn vader() {
    conformance::sentiment::suite(&Vader::new()).await;
}

#[tokio::test]
async fn rules() {
    let text = "Mr. Quilter paid $35 to NASA in Paris on 4 July 1776 at 10:30.";
    conformance::ner::suite(&RuleEntities::new(), text).await;
}
