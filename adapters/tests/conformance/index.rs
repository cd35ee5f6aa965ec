//! Adapters of the `index` port.

use std::sync::Arc;

use ports::conformance::index::{DIMENSION, check, check_whole_batches};
use ports::index::VectorIndex;
use shotlog_adapters::index::memory::MemoryIndex;

#[tokio::test(flavor = "multi_thread")]
async fn memory() {
    let fresh = || async { Arc::new(MemoryIndex::new(DIMENSION)) as Arc<dyn VectorIndex> };
    check(fresh).await;
    check_whole_batches(fresh).await;
}
