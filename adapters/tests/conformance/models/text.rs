//! Sentiment and entities without a network.

use ports::conformance;
use shotlog_adapters::sentiment::Vader;

#[tokio::test]
async fn vader() {
    conformance::sentiment::suite(&Vader::new()).await;
}
