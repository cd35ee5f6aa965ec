//! A custom analyzer in a service without HTTP: `brightness.rs` is the analyzer, and
//! [`Analyzers::with`] adds it. The example ingests a clip and prints how bright each chunk is.
//!
//! ```text
//! cargo run --example own_analyzer -- clip.mp4
//! ```
//!
//! Inside the service, `brightness.rs` would be a file in `src/domain/analysis/analyzers/`, with
//! `crate::` instead of `domain::` and a rank among those of the other analyzers.

mod brightness;
#[path = "../common/mod.rs"]
mod common;

use std::error::Error;
use std::sync::Arc;

use adapters::embedder::HashingEmbedder;
use brightness::Brightness;
use domain::aggregation::Aggregators;
use domain::analysis::Analyzers;
use domain::library::chunks::ChunkQuery;

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let Some(clip) = std::env::args().nth(1) else {
        return Err("usage: own_analyzer CLIP".into());
    };
    let work = tempfile::tempdir()?;
    let analyzers = Analyzers::default().with(&Brightness);
    let embedder = Arc::new(HashingEmbedder::new(256)?);
    let url = "http://127.0.0.1:8080";
    let service = common::service(work.path(), url, embedder, analyzers, Aggregators::default())?;
    let video_id = common::ingest(&service, &clip, brightness::ID).await?;
    let query = ChunkQuery { limit: 500, ..ChunkQuery::default() };
    for chunk in service.catalog.library.chunks(video_id, query).await?.chunks {
        for (analyzer, output) in chunk.outputs {
            println!("{}  {analyzer}  {output}", chunk.span.timecode());
        }
    }
    Ok(())
}
