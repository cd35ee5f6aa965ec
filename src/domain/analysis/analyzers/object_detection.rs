//! `object_detection`: which objects a chunk shows, how many distinct ones, where and when.

use std::collections::BTreeMap;
use std::sync::Arc;

use async_trait::async_trait;
use ports::llm::PassageKind;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use text::plural::counted;

use crate::domain::analysis::certainty::Certainty;
use crate::domain::analysis::evidence::ChunkEvidence;
use crate::domain::analysis::finding::{Finding, Statement, Stored, read_migrated};
use crate::domain::analysis::hit::HitDocument;
use crate::domain::analysis::prose::in_view;
use crate::domain::analysis::video::Output;
use crate::domain::analysis::{Analyzer, AnalyzerSpec, Column, Indexed, TextStyle, no_detector};
use crate::domain::kernel::error::Result;
use crate::domain::kernel::ports::Models;
use crate::domain::kernel::schema::schema_of;
use crate::domain::kernel::time::rounded;
use crate::domain::media::movement::Movement;
use crate::domain::media::tracking::{Location, Track, TrackPoint, tracks_of};

/// Finds which objects a chunk shows, how many distinct ones, where and when.
pub(crate) struct ObjectDetection;

/// What requests and stored records call it.
pub(crate) const ID: &str = "object_detection";

const VERSION: u32 = 3;

/// The objects of a chunk.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub(crate) struct Objects {
    /// Labels, those of most distinct objects first.
    pub(crate) objects: Vec<String>,
    /// One record for each label.
    pub(crate) detections: Vec<Detection>,
    /// How sure it is that they are there.
    #[serde(rename = "_certainty", skip_serializing_if = "Certainty::is_empty")]
    #[schemars(skip)]
    pub(crate) certainty: Certainty,
}

/// All objects of one label in a chunk.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Detection {
    /// What they are.
    pub label: String,
    /// Distinct ones.
    pub count: u64,
    /// Of the surest sight, 0..1.
    pub confidence: f64,
    /// When it is first seen, seconds of the video.
    pub first_seen: f64,
    /// When it was last seen, seconds of the video.
    pub last_seen: f64,
    /// Every sight, in order of time; left out of hits.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub locations: Vec<Location>,
    /// The distinct ones as they were followed; left out of hits.
    #[serde(rename = "_tracks", skip_serializing_if = "Vec::is_empty")]
    #[schemars(skip)]
    pub tracks: Vec<ObjectTrack>,
}

/// One object over the time of a chunk.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ObjectTrack {
    /// How it moves.
    pub movement: Movement,
    /// Which of its detection's locations are of it, in order of time.
    pub points: Vec<usize>,
}

#[async_trait]
impl Analyzer for ObjectDetection {
    fn spec(&self) -> AnalyzerSpec<'_> {
        AnalyzerSpec {
            id: ID,
            group: None,
            description: "objects: labels, distinct counts, when and where they are seen",
            evidence_rank: 4,
            telling_rank: 1,
            style: TextStyle::Objects,
            filtered_by: &["objects"],
            columns: const { &[Column::new("objects", 4)] },
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
        let seen = chunk.tracks(models).await?;
        let mut labels: Vec<(&str, Vec<&Track>)> = Vec::new();
        for track in &seen.tracks {
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
        let found = Objects { objects, detections, certainty: Certainty::of(seen) };
        Ok(Some(Arc::new(Stored::seen(found, seen.times.clone()))))
    }

    fn schema(&self) -> Value {
        schema_of::<Objects>()
    }

    fn read(&self, stored: Value) -> Result<Output> {
        read_migrated(stored, |found: &mut Objects| {
            found.detections.iter_mut().for_each(Detection::follow);
        })
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
            .map(|found| Detection { locations: Vec::new(), tracks: Vec::new(), ..found.clone() })
            .collect();
        let objects = self.objects.clone();
        let certainty = self.certainty.clone();
        let document = HitDocument {
            description: text,
            objects,
            detections,
            certainty,
            ..HitDocument::default()
        };
        Indexed { fields, document }
    }

    fn statements(&self) -> Vec<Statement> {
        seen(&self.detections)
    }

    fn cells(&self) -> Vec<String> {
        vec![self.objects.join("; ")]
    }
}

/// The objects of one label as one record.
fn detection(label: &str, tracks: &[&Track]) -> Detection {
    let each = tracks.iter().enumerate();
    let mut seen: Vec<(usize, &TrackPoint)> =
        each.flat_map(|(n, track)| track.points.iter().map(move |point| (n, point))).collect();
    seen.sort_by(|a, b| a.1.time.total_cmp(&b.1.time));
    let points_of = |n: usize| {
        let places = seen.iter().enumerate().filter(move |(_, (track, _))| *track == n);
        places.map(|(place, _)| place).collect()
    };
    let confidence = tracks.iter().map(|track| track.confidence()).fold(0.0, f32::max);
    Detection {
        label: label.to_owned(),
        count: tracks.len() as u64,
        confidence: rounded(confidence.into()),
        first_seen: rounded(seen.first().map_or(0.0, |(_, point)| point.time)),
        last_seen: rounded(seen.last().map_or(0.0, |(_, point)| point.time)),
        locations: seen.iter().map(|(_, point)| Location::from(*point)).collect(),
        tracks: (0..)
            .zip(tracks)
            .map(|(n, track)| ObjectTrack { movement: track.movement(), points: points_of(n) })
            .collect(),
    }
}

impl Detection {
    /// Follows the objects through the locations of a record that was stored without tracks.
    fn follow(&mut self) {
        if !self.tracks.is_empty() {
            return;
        }
        let boxes: Vec<_> = self.locations.iter().map(Location::bounding_box).collect();
        self.tracks = tracks_of(&self.locations, self.count as usize)
            .into_iter()
            .map(|points| ObjectTrack {
                movement: Movement::through(points.iter().map(|point| &boxes[*point])),
                points,
            })
            .collect();
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::domain::analysis::finding::output_of;

    fn track(label: &str, seen: &[(f64, f32)]) -> Track {
        let point = |&(time, x): &(f64, f32)| TrackPoint {
            bounds: [x, 0.4, 0.2, 0.2],
            ..TrackPoint::at(time, 0.9)
        };
        Track { label: label.into(), points: seen.iter().map(point).collect() }
    }

    fn reread(stored: Value) -> Objects {
        let read = ObjectDetection.read(stored).expect("an output");
        output_of::<Objects>(&*read).expect("objects").clone()
    }

    #[test]
    fn tracks_are_stored_beside_the_locations_and_left_out_of_hits() {
        let [left, right] = [
            track("car", &[(1.0, 0.0), (2.0, 0.2), (3.0, 0.3)]),
            track("car", &[(1.0, 0.7), (3.0, 0.7)]),
        ];
        let found = Objects {
            objects: vec!["car".into()],
            detections: vec![detection("car", &[&left, &right])],
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
        assert_eq!(reread(stored), found);
        let shown = json!(found.index().document.detections);
        assert_eq!((shown[0].get("locations"), shown[0].get("_tracks")), (None, None));
    }

    #[test]
    fn an_output_without_tracks_is_followed_when_it_is_read() {
        let at = |t: f64, x: f64| json!({"t": t, "box": [x, 0.4, 0.2, 0.2], "confidence": 0.9});
        let car = json!({
            "label": "car", "count": 2, "first_seen": 1.0, "last_seen": 8.0,
            "locations": [at(1.0, 0.0), at(1.0, 0.7), at(2.0, 0.7), at(8.0, 0.3)],
        });
        let uncharted = json!({"label": "dog", "count": 2, "first_seen": 1.0, "last_seen": 2.0});
        let found = reread(json!({"objects": ["car", "dog"], "detections": [car, uncharted]}));
        let still = ObjectTrack { movement: Movement::Still, points: vec![1, 2] };
        let moving = ObjectTrack { movement: Movement::Right, points: vec![0, 3] };
        assert_eq!(found.detections[0].tracks, [moving, still]);
        assert_eq!(found.detections[1].tracks, [], "it was stored without locations");
    }
}
