//! A custom adapter: an embedder that only distinguishes colours, in a service without HTTP. The
//! example ingests a clip and finds the moments that show a colour.
//!
//! ```text
//! cargo run --example own_embedder -- clip.mp4 "something blue"
//! ```
//!
//! Inside the service, the adapter would be a file in `adapters/src/embedder/`, with a variant of
//! `Kind` and an arm in the `open` function of `adapters/src/embedder/open.rs`.

mod common;

use std::error::Error;
use std::sync::Arc;

use async_trait::async_trait;
use domain::aggregation::Aggregators;
use domain::analysis::Analyzers;
use domain::kernel::access::Access;
use domain::search::SearchRequest;
use ports::embedder::{Embedder, estimate_tokens};

const COLOURS: [&str; 11] = [
    "black",
    "grey",
    "white",
    "red",
    "brown",
    "orange",
    "yellow",
    "green",
    "turquoise",
    "blue",
    "violet",
];

/// An embedder with one dimension per colour, and one dimension for texts without a colour.
struct ColourEmbedder;

#[async_trait]
impl Embedder for ColourEmbedder {
    fn model(&self) -> &str {
        "colours"
    }

    fn dimension(&self) -> usize {
        COLOURS.len() + 1
    }

    async fn embed(&self, texts: &[String]) -> ports::Result<Vec<Vec<f32>>> {
        Ok(texts.iter().map(|text| vector(text)).collect())
    }

    async fn count_tokens(&self, texts: &[String]) -> ports::Result<Vec<usize>> {
        Ok(estimate_tokens(texts))
    }

    async fn probe(&self) -> ports::Result<()> {
        Ok(())
    }
}

fn vector(text: &str) -> Vec<f32> {
    let text = text.to_lowercase();
    let mut vector: Vec<f32> = COLOURS.iter().map(|c| text.matches(c).count() as f32).collect();
    vector.push(if vector.iter().all(|&n| n == 0.0) { 1.0 } else { 0.0 });
    let length = vector.iter().map(|x| x * x).sum::<f32>().sqrt();
    vector.iter_mut().for_each(|x| *x /= length);
    vector
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let (Some(clip), Some(text)) = (arguments.next(), arguments.next()) else {
        return Err("usage: own_embedder CLIP TEXT".into());
    };
    let work = tempfile::tempdir()?;
    let embedder = Arc::new(ColourEmbedder);
    let service = common::service(
        work.path(),
        "http://127.0.0.1:8080",
        embedder,
        Analyzers::default(),
        Aggregators::default(),
    )?;
    common::ingest(&service, &clip, "default_video").await?;
    let request = SearchRequest {
        analyzers: "default_video".to_owned().into(),
        score_threshold: Some(0.3),
        ..SearchRequest::text(text, 3)
    };
    let found = service.answering.query(&Access::default(), &request, false).await?;
    for hit in found.page.results {
        println!("{:.2}  {}  {}", hit.score, hit.timecode, hit.display.description);
    }
    Ok(())
}
