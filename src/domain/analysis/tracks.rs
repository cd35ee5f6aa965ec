//! The tracked objects of a chunk, and images of them.

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
        // Take the majority vote over all frames, since a passer-by or a shadow can distort the
        // colours in a single frame.
        let mut votes: Vec<(Vec<Garment>, usize)> = Vec::new();
        for point in &track.points {
            let worn =
                image(point.time).map_or_else(Vec::new, |i| measure_garments(i, &point.bounds));
            match votes.iter_mut().find(|(garments, _)| *garments == worn) {
                Some((_, count)) => *count += 1,
                None => votes.push((worn, 1)),
            }
        }
        let visible = votes.into_iter().filter(|(garments, _)| !garments.is_empty());
        let garments =
            visible.max_by_key(|(_, count)| *count).map_or_else(Vec::new, |(garments, _)| garments);
        let surest = track.best_point()?;
        let portrait = crop(image(surest.time)?, &surest.bounds);
        Some(Self { track: track.clone(), garments, portrait })
    }
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
