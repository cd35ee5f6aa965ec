//! Adapters of `ports::listing`.

use std::sync::Arc;

use ports::conformance::listing::check;
use ports::listing::VideoListing;
use shotlog_adapters::listing::memory::MemoryListing;

#[tokio::test(flavor = "multi_thread")]
async fn memory() {
    check(|| async { Arc::new(MemoryListing::new()) as Arc<dyn VideoListing> }).await;
}
