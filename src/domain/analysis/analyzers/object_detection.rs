//! `object_detection`: which objects a chunk shows, how many distinct ones, where and when.

use std::collections::BTreeMap;
use std::sync::Arc;

use async_trait::async_trait;
use ports::llm::PassageKind;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use text::plural::counted;

use crate::domain::analysis::evidence::ChunkEvidence;
use crate::domain::analysis::finding::{Finding, Statement, Stored, read};
use crate::domain::analysis::hit::HitDocument;
use crate::domain::analysis::prose::in_view;
use crate::domain::analysis::video::Output;
use crate::domain::analysis::{Analyzer, AnalyzerSpec, Column, Indexed, no_detector};
use crate::domain::kernel::error::Result;
use crate::domain::kernel::ports::Models;
use crate::domain::kernel::time::rounded;
use crate::domain::media::tracking::Location;
use crate::domain::media::tracking::{Seen, Track};

/// The analyzer.
pub(crate) struct ObjectDetection;

/// Its id.
pub(crate) const ID: &str = "object_detection";

const VERSION: u32 = 1;

/// The objects of a chunk.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Objects {
    /// Labels, those of most distinct objects first.
    pub(crate) objects: Vec<String>,
    /// One record for each label.
    pub(crate) detections: Vec<Detection>,
}

/// All objects of one label in a chunk.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Detection {
    /// What they are.
    pub label: String,
    /// Distinct ones.
    pub count: u64,
    /// Of the surest sight, 0..1.
    pub confidence: f64,
    /// Seconds.
    pub first_seen: f64,
    /// Seconds.
    pub last_seen: f64,
    /// Every sight, in order of time; left out of hits.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub locations: Vec<Location>,
}

#[async_trait]
impl Analyzer for ObjectDetection {
    fn spec(&self) -> &'static AnalyzerSpec {
        &AnalyzerSpec {
            id: ID,
            group: None,
            description: "objects: labels, distinct counts, when and where they are seen",
            evidence_rank: 4,
            telling_rank: 1,
            columns: &[Column { name: "objects", rank: 4 }],
        }
    }

    fn unavailable(&self, models: &Models) -> Option<String> {
        no_detector(models)
    }

    fn fingerprint(&self, models: &Models) -> String {
        let detector = models.detector.as_ref().map_or("none", |d| d.model());
        format!("{detector}/v{VERSION}")
    }

    fn cacheable(&self, _models: &Models) -> bool {
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
        let objects = labels.iter().map(|(label, _)| (*label).to_owned()).collect();
        let detections = labels.iter().map(|(label, tracks)| detection(label, tracks)).collect();
        let found = Objects { objects, detections };
        Ok(Some(Arc::new(Stored::seen(found, sights.times.clone()))))
    }

    fn read(&self, stored: Value) -> Result<Output> {
        read::<Objects>(stored)
    }

    fn tells(&self, hit: &HitDocument) -> Vec<Statement> {
        seen(&hit.detections)
    }
}

/// What is in view, and how many of each.
fn seen(detections: &[Detection]) -> Vec<Statement> {
    let counts: Vec<String> =
        detections.iter().map(|found| counted(&found.label, found.count)).collect();
    in_view(&counts).map(|text| Statement::new(PassageKind::Objects, text)).into_iter().collect()
}

impl Finding for Objects {
    fn index(&self) -> Indexed {
        let counted: Vec<String> = self
            .detections
            .iter()
            .map(|found| match found.count {
                0 | 1 => found.label.clone(),
                count => format!("{count} × {}", found.label),
            })
            .collect();
        let text = counted.join(", ");
        let fields =
            BTreeMap::from([("combined", text.clone()), ("objects", self.objects.join(", "))]);
        let detections = self
            .detections
            .iter()
            .map(|found| Detection { locations: Vec::new(), ..found.clone() })
            .collect();
        let objects = self.objects.clone();
        let document =
            HitDocument { description: text, objects, detections, ..HitDocument::default() };
        Indexed { fields, document }
    }

    fn statements(&self) -> Vec<Statement> {
        seen(&self.detections)
    }

    fn cells(&self) -> Vec<String> {
        vec![self.objects.join("; ")]
    }
}

fn detection(label: &str, tracks: &[&Track]) -> Detection {
    let mut seen: Vec<&Seen> = tracks.iter().flat_map(|track| &track.seen).collect();
    seen.sort_by(|a, b| a.time.total_cmp(&b.time));
    let confidence = tracks.iter().map(|track| track.confidence()).fold(0.0, f32::max);
    Detection {
        label: label.to_owned(),
        count: tracks.len() as u64,
        confidence: rounded(confidence.into()),
        first_seen: rounded(seen.first().map_or(0.0, |s| s.time)),
        last_seen: rounded(seen.last().map_or(0.0, |s| s.time)),
        locations: seen.iter().map(|s| Location::new(s.time, &s.bounds, s.confidence)).collect(),
    }
}
