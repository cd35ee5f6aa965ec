//! The tracked objects of a chunk, and images of them.

use std::collections::BTreeMap;

use ports::decoder::{Frame, Image};

use crate::media::agreement::{IMAGES_PER_OBJECT, MIN_SIDE};
use crate::media::clothing::{Garment, measure_garments};
use crate::media::picture::crop;
use crate::media::tracking::{Track, TrackPoint};

/// The tracked objects of a chunk.
#[derive(Debug, Default)]
pub struct ChunkTracks {
    /// Times of the analyzed frames, in seconds from the start of the video.
    pub times: Vec<f64>,
    /// All objects, including people.
    pub tracks: Vec<Track>,
    /// The people with their clothing.
    pub people: Vec<PersonTrack>,
    /// Labels that the detector found but that could not be verified, each with the confidence of
    /// the most confident object.
    pub unverified: Vec<(String, f32)>,
}

/// A person tracked through a chunk.
#[derive(Debug)]
pub struct PersonTrack {
    /// Positions over time.
    pub track: Track,
    /// Garments, found by measuring colours.
    pub garments: Vec<Garment>,
    /// The person's image, cropped from the frame with the most confident detection.
    pub portrait: Image,
}

impl PersonTrack {
    pub(crate) fn from_track(track: &Track, frames: &[Frame]) -> Option<Self> {
        let image = |time: f64| frames.iter().find(|f| f.time == time).map(|f| &f.image);
        let measured: Vec<Vec<Garment>> = track
            .points
            .iter()
            .filter_map(|point| measure_garments(image(point.time)?, &point.bounds))
            .collect();
        let garments = agreed(&measured);
        let surest = track.best_point()?;
        let portrait = crop(image(surest.time)?, &surest.bounds);
        Some(Self { track: track.clone(), garments, portrait })
    }
}

/// Returns the garments that most frames agree on, since a passer-by or a shadow can distort the
/// colours in a single frame.
fn agreed(frames: &[Vec<Garment>]) -> Vec<Garment> {
    let mut votes: BTreeMap<&Garment, usize> = BTreeMap::new();
    for garment in frames.iter().flatten() {
        *votes.entry(garment).or_default() += 1;
    }
    let most = votes.into_iter().filter(|(_, count)| 2 * count > frames.len());
    most.map(|(garment, _)| garment.clone()).collect()
}

/// Crops an object from the frames that show it best, unless it is too small there.
pub(crate) fn best_images(track: &Track, frames: &[Frame]) -> Vec<Image> {
    let mut points: Vec<_> = track.points.iter().collect();
    points.sort_by(|a, b| b.confidence.total_cmp(&a.confidence));
    let image = |point: &&TrackPoint| {
        let frame = frames.iter().find(|frame| frame.time == point.time)?;
        let [_, _, width, height] = point.bounds;
        let (width, height) =
            (width * frame.image.width as f32, height * frame.image.height as f32);
        (width.min(height) >= MIN_SIDE).then(|| crop(&frame.image, &point.bounds))
    };
    points.iter().filter_map(image).take(IMAGES_PER_OBJECT).collect()
}
