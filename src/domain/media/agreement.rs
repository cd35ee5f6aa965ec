//! Verifies the labels of detected objects with an image classifier. A detector chooses between few
//! labels, so something that has none gets a wrong one: a cockatoo is a teddy bear, a car seen from
//! above a cell phone. The classifier knows more things, but not where they are. A label is stated
//! if both agree or one is sure. If they agree only on what kind of thing it is, the kind is stated.

use text::kinds::is_a;

use crate::media::tracking::Track;

/// Number of images per object that the classifier gets.
pub(crate) const IMAGES_PER_OBJECT: usize = 2;

/// Maximum number of objects per chunk that are verified; the most confident come first.
pub(crate) const MAX_OBJECTS: usize = 16;

/// Minimum width and height of an object that the classifier can recognise, in pixels.
pub(crate) const MIN_SIDE: f32 = 32.0;

/// The classifier agrees with a label if its classes have at least this probability. A class is one
/// of 1,000, so even a low probability is no coincidence.
const AGREES: f32 = 0.15;

/// The classifier does not agree with a label if something else is this many times as probable.
const RIVAL: f32 = 2.0;

/// The classifier agrees with the kind of a label if its classes have at least this probability.
const AGREES_ON_KIND: f32 = 0.5;

/// Probability from which the classifier alone is sure of a kind.
const SURE: f32 = 0.8;

/// Confidence from which the detector alone is sure of a label.
const DETECTOR_SURE: f32 = 0.75;

/// Confidence from which the detector alone is sure of a label that the classifier does not know.
const DETECTOR_SURE_OF_UNKNOWN: f32 = 0.6;

/// Probability of an animal from which a person of whom the detector is not sure is not stated. The
/// classifier has no class for people.
const CONTESTS_PERSON: f32 = 0.3;

/// Classes that are less probable than this are ignored: there are hundreds of them, and together
/// they mean nothing.
const MIN_PROBABILITY: f32 = 0.005;

/// The kinds that are stated, from specific to general.
const KINDS: &[&str] = &[
    "dog",
    "cat",
    "bird",
    "fish",
    "insect",
    "spider",
    "snake",
    "lizard",
    "frog",
    "monkey",
    "bear",
    "animal",
    "bicycle",
    "boat",
    "bus",
    "truck",
    "car",
    "vehicle",
    "fruit",
    "vegetable",
    "food",
    "musical instrument",
    "furniture",
    "bottle",
    "clothing",
];

/// The kinds of which one excludes the other.
const EXCLUSIVE: &[&str] =
    &["animal", "vehicle", "food", "musical instrument", "furniture", "bottle"];

/// What a classifier's labels mean.
pub(crate) struct Classes<'a> {
    labels: &'a [String],
}

/// The outcome of a verification.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Agreement {
    /// The object is what the detector says.
    Label,
    /// The object is of this kind.
    Kind(&'static str),
    /// Neither agreed nor contradicted.
    Unsure,
    /// The object is something else.
    Contradiction,
}

impl<'a> Classes<'a> {
    pub(crate) fn new(labels: &'a [String]) -> Self {
        Self { labels }
    }

    /// Returns the probability that an image shows a thing or something more specific, for each of
    /// the kinds and each class.
    pub(crate) fn things(&self, probabilities: &[f32]) -> Vec<(&'a str, f32)> {
        let classes = self.labels.iter().map(String::as_str).zip(probabilities.iter().copied());
        let probable: Vec<(&str, f32)> = classes.filter(|(_, p)| *p >= MIN_PROBABILITY).collect();
        let kind = |kind: &&'static str| -> (&'a str, f32) {
            let members = probable.iter().filter(|(class, _)| is_a(class, kind));
            (*kind, members.map(|(_, p)| p).sum())
        };
        let kinds: Vec<(&str, f32)> = KINDS.iter().map(kind).collect();
        probable.into_iter().chain(kinds).collect()
    }

    /// Verifies a track, given the mean probability of each class over some images of the object.
    pub(crate) fn verify(&self, track: &Track, probabilities: &[f32]) -> Agreement {
        let label = track.label.as_str();
        let classes = self.labels.iter().zip(probabilities);
        let probable: Vec<_> = classes.filter(|(_, p)| **p >= MIN_PROBABILITY).collect();
        let probability = |thing: &str| -> f32 {
            probable.iter().filter(|(class, _)| is_a(class, thing)).map(|(_, p)| **p).sum()
        };
        let agreed = probability(label);
        let by_kind: Vec<(&'static str, f32)> =
            KINDS.iter().map(|kind| (*kind, probability(kind))).collect();
        let rivals = by_kind.iter().filter(|(kind, _)| !is_a(label, kind) && !is_a(kind, label));
        if agreed >= AGREES && rivals.map(|(_, p)| *p).fold(0.0, f32::max) < RIVAL * agreed {
            return Agreement::Label;
        }
        // A thing that the classifier has no class for, such as a giraffe, is just an animal to it.
        let known = self.labels.iter().any(|class| is_a(class, label));
        let enough = if known { DETECTOR_SURE } else { DETECTOR_SURE_OF_UNKNOWN };
        let detector_is_sure = track.confidence() >= enough;
        let sure = by_kind.iter().find(|(_, p)| *p >= SURE).map(|(kind, _)| *kind);
        let exclusive = || by_kind.iter().filter(|(kind, _)| EXCLUSIVE.contains(kind));
        let own = exclusive().find(|(kind, _)| is_a(label, kind));
        if let Some((kind, p)) = own
            && *p >= AGREES_ON_KIND
        {
            if !known && detector_is_sure {
                return Agreement::Label;
            }
            return Agreement::Kind(sure.filter(|sure| is_a(sure, kind)).unwrap_or(kind));
        }
        match sure {
            // The image of a person shows mostly clothes.
            Some("clothing") if label != "person" => return Agreement::Contradiction,
            Some(kind) if kind != "clothing" => return Agreement::Kind(kind),
            _ if label == "person" => {
                let is_contested =
                    track.confidence() < DETECTOR_SURE && probability("animal") >= CONTESTS_PERSON;
                return if is_contested { Agreement::Unsure } else { Agreement::Label };
            }
            _ => {}
        }
        let mut others = exclusive().filter(|(kind, _)| own.is_none_or(|(own, _)| own != kind));
        if others.any(|(_, p)| *p >= AGREES_ON_KIND) {
            return Agreement::Contradiction;
        }
        if detector_is_sure { Agreement::Label } else { Agreement::Unsure }
    }
}

/// Returns the objects as they are stated: with the label of the detector, with that of a kind, or
/// not at all. A label that is verified for one object holds for the others that are uncertain,
/// which may be too small to recognise. An object that is of another kind than its label may be part
/// of a verified one of that kind, such as the dog in front of a bicycle; then it is not stated.
pub(crate) fn stated(tracks: Vec<Track>, verified: &[Agreement]) -> Vec<Track> {
    let labels: Vec<String> = tracks
        .iter()
        .zip(verified)
        .filter(|(_, agreement)| **agreement == Agreement::Label)
        .map(|(track, _)| track.label.clone())
        .collect();
    let state = |(mut track, agreement): (Track, &Agreement)| match agreement {
        Agreement::Label => Some(track),
        Agreement::Kind(kind) => {
            let mistaken = !is_a(&track.label, kind);
            track.label = (*kind).to_owned();
            (!mistaken || !labels.iter().any(|label| is_a(label, kind))).then_some(track)
        }
        Agreement::Unsure => labels.contains(&track.label).then_some(track),
        Agreement::Contradiction => None,
    };
    tracks.into_iter().zip(verified).filter_map(state).collect()
}

/// Returns the labels of the objects that are not stated because neither model was sure, each with
/// the confidence of the most confident one.
pub(crate) fn unverified(tracks: &[Track], verified: &[Agreement]) -> Vec<(String, f32)> {
    let mut labels: Vec<(String, f32)> = Vec::new();
    for (track, agreement) in tracks.iter().zip(verified) {
        if *agreement != Agreement::Unsure {
            continue;
        }
        match labels.iter_mut().find(|(label, _)| *label == track.label) {
            Some((_, confidence)) => *confidence = confidence.max(track.confidence()),
            None => labels.push((track.label.clone(), track.confidence())),
        }
    }
    labels
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::media::tracking::TrackPoint;

    const CLASSES: [&str; 6] =
        ["German shepherd", "sulphur-crested cockatoo", "minivan", "spatula", "gazelle", "jean"];

    fn verify(label: &str, confidence: f32, probabilities: [f32; 6]) -> Agreement {
        let labels = CLASSES.map(str::to_owned);
        let track = Track { label: label.into(), points: vec![TrackPoint::at(1.0, confidence)] };
        Classes::new(&labels).verify(&track, &probabilities)
    }

    #[test]
    fn labels_need_agreement_or_one_sure_model() {
        use Agreement::{Contradiction, Kind, Label, Unsure};
        for (label, confidence, probabilities, expected) in [
            ("dog", 0.45, [0.3, 0.0, 0.1, 0.2, 0.2, 0.2], Label),
            ("dog", 0.55, [0.2, 0.5, 0.0, 0.3, 0.0, 0.0], Kind("animal")),
            ("teddy bear", 0.69, [0.0, 0.9, 0.0, 0.1, 0.0, 0.0], Kind("bird")),
            ("cell phone", 0.6, [0.0, 0.0, 0.6, 0.4, 0.0, 0.0], Contradiction),
            ("cow", 0.44, [0.0, 0.0, 0.0, 0.4, 0.6, 0.0], Kind("animal")),
            ("giraffe", 0.7, [0.0, 0.0, 0.0, 0.4, 0.6, 0.0], Label),
            ("kite", 0.5, [0.0, 0.0, 0.2, 0.8, 0.0, 0.0], Unsure),
            ("surfboard", 0.65, [0.0, 0.0, 0.2, 0.8, 0.0, 0.0], Label),
            ("person", 0.5, [0.0, 0.0, 0.0, 0.1, 0.0, 0.9], Label),
            ("person", 0.5, [0.0, 0.9, 0.0, 0.1, 0.0, 0.0], Kind("bird")),
            ("person", 0.6, [0.0, 0.4, 0.0, 0.6, 0.0, 0.0], Unsure),
            ("person", 0.8, [0.0, 0.4, 0.0, 0.6, 0.0, 0.0], Label),
            ("car", 0.8, [0.0, 0.0, 0.0, 1.0, 0.0, 0.0], Label),
            ("car", 0.5, [0.0, 0.0, 0.0, 1.0, 0.0, 0.0], Unsure),
        ] {
            assert_eq!(verify(label, confidence, probabilities), expected, "{label}");
        }
    }

    #[test]
    fn uncertain_objects_need_a_verified_one_with_their_label() {
        let track = |label: &str| Track { label: label.into(), points: vec![] };
        let tracks = ["car", "car", "kite", "cow"].map(track).to_vec();
        let verified =
            [Agreement::Label, Agreement::Unsure, Agreement::Unsure, Agreement::Kind("animal")];
        let labels: Vec<String> = stated(tracks, &verified).into_iter().map(|t| t.label).collect();
        assert_eq!(labels, ["car", "car", "animal"]);
    }
}
