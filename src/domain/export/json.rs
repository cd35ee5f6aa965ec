//! The whole log as a JSON document.

use serde_json::{Map, Value, json};

use crate::export::{Content, VideoLog};
use crate::kernel::error::Result;
use crate::kernel::video::ChunkId;
use crate::library::rendered::strip_internal;

pub(super) fn write(log: &VideoLog) -> Result<Content> {
    let chunks: Vec<Value> =
        log.chunks().map(|(chunk, _)| Value::Object(chunk_json(log, chunk))).collect();
    let document = json!({
        "video_id": log.record.video_id,
        "filename": log.record.filename,
        "video_url": log.video_url,
        "duration": log.record.duration,
        "frame_rate": log.record.frame_rate,
        "chunk_config": log.record.chunking.config(),
        "analyzers": log.record.analyzer_ids(),
        "chunks": chunks,
        "aggregates": log.aggregates,
    });
    Ok(Content::Document(document))
}

/// Returns a chunk with every analyzer's output, as JSON.
pub(super) fn chunk_json(log: &VideoLog, chunk: ChunkId) -> Map<String, Value> {
    let span = log.video.spans[chunk.index()];
    let mut json = Map::from_iter([
        ("chunk_id".to_owned(), json!(chunk)),
        ("start".to_owned(), json!(span.start)),
        ("end".to_owned(), json!(span.end)),
        ("timecode".to_owned(), json!(span.timecode())),
    ]);
    for (analyzer, outputs) in &log.video.outputs {
        if let Some(Some(output)) = outputs.get(chunk.index()) {
            let mut output = output.to_json();
            strip_internal(&mut output);
            json.insert(analyzer.clone(), Value::Object(output));
        }
    }
    json
}
