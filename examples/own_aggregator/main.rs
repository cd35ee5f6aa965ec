//! A custom aggregator in a service without HTTP: `darkest.rs` is the aggregator, and
//! [`Aggregators::with`] adds it. The example uses the analyzer of the example `own_analyzer`,
//! ingests a clip and prints its darkest moment.
//!
//! ```text
//! cargo run --example own_aggregator -- clip.mp4
//! ```
//!
//! Inside the service, `darkest.rs` would be a file in `src/domain/aggregation/aggregators/`.

#[path = "../own_analyzer/brightness.rs"]
mod brightness;
#[path = "../common/mod.rs"]
mod common;
mod darkest;

use std::error::Error;
use std::sync::Arc;

use adapters::embedder::HashingEmbedder;
use brightness::Brightness;
use darkest::Darkest;
use domain::aggregation::Aggregators;
use domain::analysis::Analyzers;

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let Some(clip) = std::env::args().nth(1) else {
        return Err("usage: own_aggregator CLIP".into());
    };
    let work = tempfile::tempdir()?;
    let analyzers = Analyzers::default().with(&Brightness);
    let aggregators = Aggregators::default().with(&Darkest);
    let embedder = Arc::new(HashingEmbedder::new(256)?);
    let service = common::service(work.path(), embedder, analyzers, aggregators)?;
    let video_id = common::ingest(&service, &clip, brightness::ID).await?;
    println!("{:#}", service.catalog.aggregate(video_id, darkest::ID).await?);
    Ok(())
}
