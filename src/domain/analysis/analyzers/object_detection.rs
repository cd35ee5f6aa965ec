//! `object_detection`: the objects in a chunk, with labels, distinct counts, positions and times.

use std::collections::BTreeMap;
use std::sync::Arc;

use async_trait::async_trait;
use ports::llm::PassageKind;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use text::plural::plural_with_count;

use crate::analysis::certainty::Certainty;
use crate::analysis::evidence::ChunkEvidence;
use crate::analysis::facets::{Display, Facets};
use crate::analysis::output::{AnalyzerOutput, OutputRecord, Statement, read_migrated};
use crate::analysis::presentation::{Lane, OutputKind, Presentation, TrackSpec};
use crate::analysis::prose;
use crate::analysis::video::Output;
use crate::analysis::{
    Analyzer, AnalyzerSpec, Column, IndexEntry, TextStyle, missing_detector, object_models,
};
use crate::kernel::error::Result;
use crate::kernel::ports::Models;
use crate::kernel::schema::json_schema;
use crate::kernel::time::rounded;
use crate::media::movement::Movement;
use crate::media::tracking::{Location, Track, TrackPoint, tracks_from_locations};

/// The `object_detection` analyzer.
pub(crate) struct ObjectDetectionAnalyzer;

/// The id used in requests and stored records.
pub(crate) const ID: &str = "object_detection";

const VERSION: u32 = 3;

/// The objects of a chunk.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub(crate) struct ChunkObjects {
    /// Labels, by descending number of distinct objects.
    pub(crate) objects: Vec<String>,
    /// One record per label.
    pub(crate) detections: Vec<LabelDetection>,
    /// For each label, the certainty that such an object is present.
    #[serde(rename = "_certainty", skip_serializing_if = "Certainty::is_empty")]
    #[schemars(skip)]
    pub(crate) certainty: Certainty,
}

/// All objects with one label in a chunk.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct LabelDetection {
    /// The label.
    pub label: String,
    /// Number of distinct objects.
    pub count: u64,
    /// Confidence of the most confident detection, 0..1.
    pub confidence: f64,
    /// Time at which it is first seen, in seconds from the start of the video.
    pub first_seen: f64,
    /// Time at which it is last seen, in seconds from the start of the video.
    pub last_seen: f64,
    /// Every detection, in chronological order; omitted from hits.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub locations: Vec<Location>,
    /// The tracks of the distinct objects; omitted from hits.
    #[serde(rename = "_tracks", skip_serializing_if = "Vec::is_empty")]
    #[schemars(skip)]
    pub tracks: Vec<ObjectTrack>,
}

/// The track of one object within a chunk.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ObjectTrack {
    /// How the object moves.
    pub movement: Movement,
    /// Indexes of the object's locations in [`LabelDetection::locations`], in chronological order.
    pub points: Vec<usize>,
}

#[async_trait]
impl Analyzer for ObjectDetectionAnalyzer {
    fn spec(&self) -> AnalyzerSpec<'_> {
        AnalyzerSpec {
            id: ID,
            group: None,
            description: "objects: labels, distinct counts, when and where they are seen",
            evidence_rank: 4,
            statement_rank: 1,
            style: TextStyle::Objects,
            filter_fields: &["objects"],
            label: "Objects",
            presentation: const {
                let detections = TrackSpec {
                    lane: Some(Lane::spans("object", "Objects", 80)),
                    ..TrackSpec::sightings("/detections", "label")
                };
                Presentation {
                    icon: "object",
                    kind: OutputKind::Objects,
                    rank: 30,
                    text: Some("/objects"),
                    tracks: &[detections],
                    ..Presentation::ROWS
                }
            },
            columns: const { &[Column::new("objects", 4)] },
        }
    }

    fn unavailable(&self, models: &Models) -> Option<String> {
        missing_detector(models)
    }

    fn fingerprint(&self, models: &Models) -> String {
        let detector = object_models(models).unwrap_or_else(|| "none".into());
        format!("{detector}/v{VERSION}")
    }

    fn cacheable(&self, _models: &Models) -> bool {
        true
    }

    async fn analyze(&self, models: &Models, chunk: &ChunkEvidence) -> Result<Option<Output>> {
        let chunk_tracks = chunk.tracks(models).await?;
        let mut labels: Vec<(&str, Vec<&Track>)> = Vec::new();
        for track in &chunk_tracks.tracks {
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
        let detections =
            labels.iter().map(|(label, tracks)| label_detection(label, tracks)).collect();
        let certainty = Certainty::from_tracks(chunk_tracks);
        let output = ChunkObjects { objects, detections, certainty };
        Ok(Some(Arc::new(OutputRecord::from_frames(output, chunk_tracks.times.clone()))))
    }

    fn schema(&self) -> Value {
        json_schema::<ChunkObjects>()
    }

    fn read(&self, stored: Value) -> Result<Output> {
        read_migrated(stored, |objects: &mut ChunkObjects| {
            objects.detections.iter_mut().for_each(LabelDetection::restore_tracks);
        })
    }
}

/// Returns the statement that lists the visible objects with their counts, if there are any.
pub(crate) fn in_view(detections: &[LabelDetection]) -> Option<Statement> {
    let counts = detections.iter().map(|d| plural_with_count(&d.label, d.count));
    let text = prose::in_view(&counts.collect::<Vec<String>>());
    text.map(|text| Statement::new(PassageKind::Objects, text))
}

impl AnalyzerOutput for ChunkObjects {
    fn index_entry(&self) -> IndexEntry {
        let counted: Vec<String> = self
            .detections
            .iter()
            .map(|detection| match detection.count {
                0 | 1 => detection.label.clone(),
                count => format!("{count} × {}", detection.label),
            })
            .collect();
        let text = counted.join(", ");
        let fields =
            BTreeMap::from([("combined", text.clone()), ("objects", self.objects.join(", "))]);
        let detections: Vec<LabelDetection> = self
            .detections
            .iter()
            .map(|detection| LabelDetection {
                locations: Vec::new(),
                tracks: Vec::new(),
                ..detection.clone()
            })
            .collect();
        let (objects, certainty) = (self.objects.clone(), self.certainty.clone());
        let facets = Facets { objects, certainty, ..Facets::default() };
        let display = Display::new(text).with_records("detections", &detections);
        IndexEntry { fields, facets, display }
    }

    fn statements(&self) -> Vec<Statement> {
        in_view(&self.detections).into_iter().collect()
    }

    fn cells(&self) -> Vec<String> {
        vec![self.objects.join("; ")]
    }
}

/// Merges the tracks of one label into one record.
fn label_detection(label: &str, tracks: &[&Track]) -> LabelDetection {
    let each = tracks.iter().enumerate();
    let mut points: Vec<(usize, &TrackPoint)> =
        each.flat_map(|(n, track)| track.points.iter().map(move |point| (n, point))).collect();
    points.sort_by(|a, b| a.1.time.total_cmp(&b.1.time));
    let indexes_for = |n: usize| {
        let own = points.iter().enumerate().filter(move |(_, (track, _))| *track == n);
        own.map(|(index, _)| index).collect()
    };
    let confidence = tracks.iter().map(|track| track.confidence()).fold(0.0, f32::max);
    LabelDetection {
        label: label.to_owned(),
        count: tracks.len() as u64,
        confidence: rounded(confidence.into()),
        first_seen: rounded(points.first().map_or(0.0, |(_, point)| point.time)),
        last_seen: rounded(points.last().map_or(0.0, |(_, point)| point.time)),
        locations: points.iter().map(|(_, point)| Location::from(*point)).collect(),
        tracks: (0..)
            .zip(tracks)
            .map(|(n, track)| ObjectTrack { movement: track.movement(), points: indexes_for(n) })
            .collect(),
    }
}

impl LabelDetection {
    /// Rebuilds the tracks from the locations if the record was stored without tracks.
    fn restore_tracks(&mut self) {
        if !self.tracks.is_empty() {
            return;
        }
        let boxes: Vec<_> = self.locations.iter().map(Location::bounding_box).collect();
        self.tracks = tracks_from_locations(&self.locations, self.count as usize)
            .into_iter()
            .map(|points| ObjectTrack {
                movement: Movement::from_boxes(points.iter().map(|point| &boxes[*point])),
                points,
            })
            .collect();
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::analysis::output::output_of;

    fn track(label: &str, seen: &[(f64, f32)]) -> Track {
        let point = |&(time, x): &(f64, f32)| TrackPoint {
            bounds: [x, 0.4, 0.2, 0.2],
            ..TrackPoint::at(time, 0.9)
        };
        Track { label: label.into(), points: seen.iter().map(point).collect() }
    }

    fn read_back(stored: Value) -> ChunkObjects {
        let read = ObjectDetectionAnalyzer.read(stored).expect("an output");
        output_of::<ChunkObjects>(&*read).expect("objects").clone()
    }

    #[test]
    fn tracks_are_stored_with_the_locations_and_omitted_from_hits() {
        let [left, right] = [
            track("car", &[(1.0, 0.0), (2.0, 0.2), (3.0, 0.3)]),
            track("car", &[(1.0, 0.7), (3.0, 0.7)]),
        ];
        let found = ChunkObjects {
            objects: vec!["car".into()],
            detections: vec![label_detection("car", &[&left, &right])],
            certainty: Certainty::default(),
        };
        let stored = json!(found);
        assert_eq!(
            stored["detections"][0]["_tracks"],
            json!([
                {"movement": "right", "points": [0, 2, 3]},
                {"movement": "still", "points": [1, 4]},
            ])
        );
        assert_eq!(read_back(stored), found);
        let shown = json!(found.index_entry().display.records["detections"]);
        assert_eq!((shown[0].get("locations"), shown[0].get("_tracks")), (None, None));
    }

    #[test]
    fn read_restores_missing_tracks() {
        let at = |t: f64, x: f64| json!({"t": t, "box": [x, 0.4, 0.2, 0.2], "confidence": 0.9});
        let car = json!({
            "label": "car", "count": 2, "first_seen": 1.0, "last_seen": 8.0,
            "locations": [at(1.0, 0.0), at(1.0, 0.7), at(2.0, 0.7), at(8.0, 0.3)],
        });
        let without_locations =
            json!({"label": "dog", "count": 2, "first_seen": 1.0, "last_seen": 2.0});
        let found =
            read_back(json!({"objects": ["car", "dog"], "detections": [car, without_locations]}));
        let still = ObjectTrack { movement: Movement::Still, points: vec![1, 2] };
        let moving = ObjectTrack { movement: Movement::Right, points: vec![0, 3] };
        assert_eq!(found.detections[0].tracks, [moving, still]);
        assert_eq!(found.detections[1].tracks, [], "stored without locations");
    }
}
