//! Clothing signatures, which are used to link people. Similarity is based on shared garments and
//! colours. Two signatures with the same kind of garment in different colours cannot belong to the
//! same person.

use std::collections::BTreeSet;

use text::colours::find_family;

use crate::media::clothing::{BodyPart, Garment, TOP};

/// Minimum total weight (see [`weight`]) at which clothing identifies a person.
const MIN_IDENTIFYING_WEIGHT: f64 = 1.0;

/// Colours too common to identify a person.
const COMMON_COLOURS: &[&str] = &["black", "white", "grey"];

/// A person's garments. Equal signatures mean the same clothing.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct ClothingSignature(Vec<Garment>);

impl ClothingSignature {
    /// Creates a signature from garments, with their order and colour shades normalized.
    pub(crate) fn from_garments(garments: &[Garment]) -> Self {
        let family =
            |colour: &String| find_family(colour).map_or(colour.clone(), |f| f.name().to_owned());
        let normalize = |garment: &Garment| Garment {
            colours: distinct(garment.colours.iter().map(family)),
            details: distinct(garment.details.iter().cloned()),
            ..garment.clone()
        };
        Self(distinct(garments.iter().map(normalize)))
    }

    /// Whether the clothing is specific enough to identify a person.
    pub(crate) fn is_identifying(&self) -> bool {
        self.weight() >= MIN_IDENTIFYING_WEIGHT - 1e-9
    }

    /// Returns the total weight of the garments.
    pub(crate) fn weight(&self) -> f64 {
        self.0.iter().map(weight).sum()
    }

    /// Returns the similarity of two signatures, from 0 (different clothes) to 1 (the same
    /// clothes).
    pub(crate) fn similarity(&self, other: &Self) -> f64 {
        let mut pairs: Vec<(f64, f64, usize, usize)> = Vec::new();
        for (i, a) in self.0.iter().enumerate() {
            for (j, b) in other.0.iter().enumerate() {
                if a.part == b.part && (a.kind == b.kind || a.part != BodyPart::Accessory) {
                    let same_kind = if a.kind == b.kind { 1.0 } else { 0.0 };
                    pairs.push((same_kind, garment_similarity(a, b), i, j));
                }
            }
        }
        pairs.sort_by(|a, b| b.0.total_cmp(&a.0).then(b.1.total_cmp(&a.1)));
        let (mut matched_a, mut matched_b) = (BTreeSet::new(), BTreeSet::new());
        let mut shared = 0.0;
        for (_, degree, i, j) in pairs {
            if matched_a.contains(&i) || matched_b.contains(&j) {
                continue;
            }
            if degree <= 0.0 {
                return 0.0;
            }
            matched_a.insert(i);
            matched_b.insert(j);
            shared += degree * weight(&self.0[i]).min(weight(&other.0[j]));
        }
        let (a, b) = (self.weight(), other.weight());
        let (smaller, larger) = (a.min(b), a.max(b));
        if smaller <= 0.0 {
            return 0.0;
        }
        // One description is often shorter than the other, so what counts most is the share of the
        // shorter description that matches.
        (0.7 * shared / smaller + 0.3 * shared / larger).min(1.0)
    }
}

/// Sorts items and removes duplicates.
fn distinct<T: Ord>(items: impl Iterator<Item = T>) -> Vec<T> {
    items.collect::<BTreeSet<T>>().into_iter().collect()
}

/// Returns how specific a garment is. An uncommon colour alone yields 1.
fn weight(garment: &Garment) -> f64 {
    // If a measured top has two colours, one of them may come from the background.
    let is_mixed = garment.kind == TOP && garment.colours.len() > 1;
    let colour = garment
        .colours
        .iter()
        .map(|colour| {
            let is_common = COMMON_COLOURS.contains(&colour.as_str());
            let is_usual = colour == "blue" && garment.part == BodyPart::Lower;
            match () {
                () if is_usual => 0.6,
                () if is_common => 0.4,
                () if is_mixed => 0.7,
                () => 1.0,
            }
        })
        .fold(0.0, f64::max);
    let kind = match (garment.part, garment.kind.as_str()) {
        (BodyPart::Unknown, _) => return 0.5 * colour,
        (
            BodyPart::Head
            | BodyPart::Eyes
            | BodyPart::Neck
            | BodyPart::Accessory
            | BodyPart::Hands,
            _,
        )
        | (_, "uniform" | "dress") => 0.5,
        _ => 0.1,
    };
    let details = 0.25 * garment.details.len().min(2) as f64;
    colour.max(kind) + details
}

/// Returns the similarity of two garments, from 0 (they cannot be the same garment) to 1 (they look
/// the same).
fn garment_similarity(a: &Garment, b: &Garment) -> f64 {
    let shared = |a: &[String], b: &[String]| a.iter().any(|word| b.contains(word));
    let colours = if a.colours.is_empty() || b.colours.is_empty() {
        0.5
    } else if shared(&a.colours, &b.colours) {
        1.0
    } else {
        return 0.0;
    };
    let kinds = if a.kind == b.kind { 1.0 } else { 0.8 };
    let agree = a.details.is_empty() || b.details.is_empty() || shared(&a.details, &b.details);
    let details = if agree { 1.0 } else { 0.7 };
    colours * kinds * details
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::analyzers::people::{garment_phrase, parse_garments};
    use crate::media::clothing::TROUSERS;

    fn signature(clothing: &str) -> ClothingSignature {
        ClothingSignature::from_garments(&parse_garments(clothing))
    }

    #[test]
    fn generic_clothing_is_not_identifying() {
        for (clothing, identifies) in [
            ("", false),
            ("dark clothing", false),
            ("casual clothes", false),
            ("a shirt", false),
            ("black shirt", false),
            ("jeans", false),
            ("unknown", false),
            ("a suit", false),
            ("red coat", true),
            ("black top, black below the waist", false),
            ("white t-shirt and blue jeans", true),
            ("orange and grey top", false),
            ("orange and grey top, brown below the waist", true),
            ("orange top", true),
            ("grey top, blue below the waist", true),
            ("black suit, white shirt, tie", true),
            ("dark jacket with a yellow hard hat", true),
            ("yellow-and-blue striped jersey", true),
        ] {
            assert_eq!(signature(clothing).is_identifying(), identifies, "{clothing}");
        }
    }

    #[test]
    fn similarity_compares_garments_and_colours() {
        for (a, b, alike) in [
            ("red coat", "a red jacket and blue jeans", true),
            ("red coat, black hat", "black hat, crimson coat", true),
            ("navy blazer, white shirt, glasses", "blue jacket, white shirt", true),
            ("red coat", "blue coat", false),
            ("red jacket, white shirt", "blue jacket, white shirt", false),
            ("green hoodie, jeans", "green skirt, white blouse", false),
            ("white t-shirt, blue jeans", "white t-shirt, black trousers", false),
            ("red and white striped shirt", "white and red shirt with stripes", true),
        ] {
            let (first, second) = (signature(a), signature(b));
            let similarity = first.similarity(&second);
            assert!((similarity - second.similarity(&first)).abs() < 1e-9, "{a} / {b}");
            assert_eq!(similarity >= 0.6, alike, "{a} / {b}: {similarity}");
        }
        assert_eq!(signature("red coat, black hat"), signature("black hat, red coat"));
    }

    #[test]
    fn measured_garments_round_trip_through_their_phrases() {
        let colours = ["black", "white", "grey", "brown", "blue", "turquoise", "red", "green"];
        let colours = [&colours[..], &["yellow", "orange", "pink", "violet"]].concat();
        for first in &colours {
            for second in &colours {
                let measured: Vec<Garment> = [
                    (BodyPart::Upper, TOP, vec![*first, *second]),
                    (BodyPart::Lower, TROUSERS, vec![*first]),
                ]
                .into_iter()
                .map(|(part, kind, colours)| Garment {
                    part,
                    kind: kind.into(),
                    colours: colours.into_iter().map(str::to_owned).collect(),
                    details: Vec::new(),
                })
                .collect();
                let words: Vec<String> = measured.iter().map(garment_phrase).collect();
                let words = words.join(", ");
                assert_eq!(
                    ClothingSignature::from_garments(&measured),
                    signature(&words),
                    "{words}"
                );
            }
        }
    }
}
