//! A custom aggregator: `darkest.rs` is the aggregator, and [`Aggregators::with`] adds it. The example uses
//! the analyzer of the example `own_analyzer`, ingests a clip and prints its darkest moment. With an address
//! it then serves the API and the page, which show both.
//!
//! ```text
//! cargo run --example own_aggregator -- clip.mp4 127.0.0.1:8080
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
use std::time::Duration;

use adapters::embedder::HashingEmbedder;
use brightness::Brightness;
use darkest::Darkest;
use domain::aggregation::Aggregators;
use domain::analysis::{Analyzers, DEFAULT_ANALYZER};
use shotlog::http::{self, HttpOptions};

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let Some(clip) = arguments.next() else {
        return Err("usage: own_aggregator CLIP [ADDRESS]".into());
    };
    let address = arguments.next();
    let url = format!("http://{}", address.as_deref().unwrap_or("127.0.0.1:8080"));
    let work = tempfile::tempdir()?;
    let analyzers = Analyzers::default().with(&Brightness);
    let aggregators = Aggregators::default().with(&Darkest);
    let embedder = Arc::new(HashingEmbedder::new(256)?);
    let service = common::service(work.path(), &url, embedder, analyzers, aggregators)?;
    let selection = format!("{DEFAULT_ANALYZER},{}", brightness::ID);
    let video_id = common::ingest(&service, &clip, &selection).await?;
    println!("{:#}", service.catalog.library.aggregate(video_id, darkest::ID).await?);
    if let Some(address) = address {
        let listener = http::listen(&address).await?;
        let options = HttpOptions { base_url: url, serves_storage: true, ..HttpOptions::default() };
        let settings = options.server.clone();
        let routes = http::app(service, options, Vec::new());
        http::serve(listener, routes, &settings, std::future::pending::<Duration>()).await;
    }
    Ok(())
}
