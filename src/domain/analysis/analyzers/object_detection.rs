//! `object_detection`: which objects a chunk shows, how many distinct ones, where and when.

use std::collections::BTreeMap;

use async_trait::async_trait;
use ports::detector::BoundingBox;
use serde_json::{Value, json};

use crate::domain::analysis::evidence::ChunkEvidence;
use crate::domain::analysis::hit::HitDocument;
use crate::domain::analysis::video::Output;
use crate::domain::analysis::{
    Analyzer, AnalyzerSpec, Indexed, no_detector, rounded, strings, without_locations,
};
use crate::domain::kernel::error::Result;
use crate::domain::kernel::ports::Models;
use crate::domain::media::tracking::{Seen, Track};

/// The analyzer.
pub(crate) struct ObjectDetection;

const VERSION: u32 = 1;

#[async_trait]
impl Analyzer for ObjectDetection {
    fn spec(&self) -> &'static AnalyzerSpec {
        &AnalyzerSpec {
            id: "object_detection",
            group: None,
            description: "objects: labels, distinct counts, when and where they are seen",
        }
    }

    fn missing(&self, models: &Models) -> Option<String> {
        no_detector(models)
    }

    fn fingerprint(&self, models: &Models) -> String {
        let detector = models.detector.as_ref().map_or("none", |d| d.model());
        format!("{detector}/v{VERSION}")
    }

    fn costly(&self, _models: &Models) -> bool {
        true
    }

    async fn analyze(&self, models: &Models, chunk: &ChunkEvidence) -> Result<Option<Output>> {
        let sights = chunk.sights(models).await?;
        let mut labels: Vec<(&str, Vec<&Track>)> = Vec::new();
        for track in &sights.tracks {
            match labels.iter_mut().find(|(label, _)| *label == track.label) {
                Some((_, tracks)) => tracks.push(track),
                None => labels.push((&track.label, vec![track])),
            }
        }
        if labels.is_empty() {
            return Ok(None);
        }
        labels.sort_by_key(|(_, tracks)| std::cmp::Reverse(tracks.len()));
        let objects: Vec<&str> = labels.iter().map(|(label, _)| *label).collect();
        let detections: Vec<Value> =
            labels.iter().map(|(label, tracks)| detection(label, tracks)).collect();
        Ok(Some(Output::from_iter([
            ("objects".to_owned(), json!(objects)),
            ("detections".to_owned(), json!(detections)),
            ("_frames".to_owned(), json!(sights.times)),
        ])))
    }

    fn index(&self, output: &Output) -> Indexed {
        let objects = strings(output, "objects");
        let detections = without_locations(output, "detections");
        let counted: Vec<String> = detections
            .iter()
            .filter_map(|d| Some((d["label"].as_str()?, d["count"].as_u64()?)))
            .map(
                |(label, count)| {
                    if count > 1 { format!("{count} × {label}") } else { label.into() }
                },
            )
            .collect();
        let text = counted.join(", ");
        let fields = BTreeMap::from([("combined", text.clone()), ("objects", objects.join(", "))]);
        let document =
            HitDocument { description: text, objects, detections, ..HitDocument::default() };
        Indexed { fields, document }
    }
}

fn detection(label: &str, tracks: &[&Track]) -> Value {
    let mut seen: Vec<&Seen> = tracks.iter().flat_map(|track| &track.seen).collect();
    seen.sort_by(|a, b| a.time.total_cmp(&b.time));
    let confidence = tracks.iter().map(|track| track.confidence()).fold(0.0, f32::max);
    json!({
        "label": label,
        "count": tracks.len(),
        "confidence": rounded(confidence.into()),
        "first_seen": rounded(seen.first().map_or(0.0, |s| s.time)),
        "last_seen": rounded(seen.last().map_or(0.0, |s| s.time)),
        "locations": seen.iter().map(|s| location(s.time, &s.bounds, s.confidence)).collect::<Vec<_>>(),
    })
}

/// Where something is at one moment: box as fractions of the picture.
pub(crate) fn location(time: f64, bounds: &BoundingBox, confidence: f32) -> Value {
    let bounds: Vec<f64> = bounds.iter().map(|x| (f64::from(*x) * 1e4).round() / 1e4).collect();
    json!({"t": rounded(time), "box": bounds, "confidence": rounded(confidence.into())})
}
