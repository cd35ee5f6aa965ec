//! What a person wears, as the signature by which people are linked. Two are alike by the garments
//! and colours they share; a garment of the same kind in another colour rules out that they are of
//! one person.

use std::collections::BTreeSet;

use text::colours::family_of;

use crate::domain::media::clothing::{BodyPart, Garment, TOP};

/// The total weight (see [`weight`]) from which on clothing tells a person from others.
const IDENTIFYING: f64 = 1.0;

/// Colours that so many people wear that they say little.
const COMMON: &[&str] = &["black", "white", "grey"];

/// What a person wears. Equal signatures are of the same clothing.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Signature(Vec<Garment>);

impl Signature {
    /// Of these garments in any order, whatever the shades of their colours are called.
    pub(crate) fn of(garments: &[Garment]) -> Self {
        let family =
            |colour: &String| family_of(colour).map_or(colour.clone(), |f| f.name().to_owned());
        let alike = |garment: &Garment| Garment {
            colours: distinct(garment.colours.iter().map(family)),
            details: distinct(garment.details.iter().cloned()),
            ..garment.clone()
        };
        Self(distinct(garments.iter().map(alike)))
    }

    /// Whether it says enough to recognise somebody by.
    pub(crate) fn identifies(&self) -> bool {
        self.weight() >= IDENTIFYING - 1e-9
    }

    /// How many particulars it has.
    pub(crate) fn weight(&self) -> f64 {
        self.0.iter().map(weight).sum()
    }

    /// 0 (different clothes) to 1 (the same).
    pub(crate) fn likeness(&self, other: &Self) -> f64 {
        let mut pairs: Vec<(f64, f64, usize, usize)> = Vec::new();
        for (i, a) in self.0.iter().enumerate() {
            for (j, b) in other.0.iter().enumerate() {
                if a.part == b.part && (a.kind == b.kind || a.part != BodyPart::Accessory) {
                    let match_of = match_of(a, b);
                    let kinds = if a.kind == b.kind { 1.0 } else { 0.0 };
                    pairs.push((kinds, match_of, i, j));
                }
            }
        }
        pairs.sort_by(|a, b| b.0.total_cmp(&a.0).then(b.1.total_cmp(&a.1)));
        let (mut taken_a, mut taken_b) = (BTreeSet::new(), BTreeSet::new());
        let mut shared = 0.0;
        for (_, degree, i, j) in pairs {
            if taken_a.contains(&i) || taken_b.contains(&j) {
                continue;
            }
            if degree <= 0.0 {
                return 0.0;
            }
            taken_a.insert(i);
            taken_b.insert(j);
            shared += degree * weight(&self.0[i]).min(weight(&other.0[j]));
        }
        let (a, b) = (self.weight(), other.weight());
        let (least, most) = (a.min(b), a.max(b));
        if least <= 0.0 {
            return 0.0;
        }
        // One description is often shorter than the other, so what counts is mostly how much of
        // the shorter one is in the longer.
        (0.7 * shared / least + 0.3 * shared / most).min(1.0)
    }
}

/// In order, each once.
fn distinct<T: Ord>(items: impl Iterator<Item = T>) -> Vec<T> {
    items.collect::<BTreeSet<T>>().into_iter().collect()
}

/// How much a garment says: 1 for one of a colour that few wear.
fn weight(garment: &Garment) -> f64 {
    // What is only known as a top, of two colours, may have one of them from what is behind it.
    let mixed = garment.kind == TOP && garment.colours.len() > 1;
    let colour = garment
        .colours
        .iter()
        .map(|colour| {
            let common = COMMON.contains(&colour.as_str());
            let usual = colour == "blue" && garment.part == BodyPart::Lower;
            match () {
                () if usual => 0.6,
                () if common => 0.4,
                () if mixed => 0.7,
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

/// 0 where two garments cannot be one, up to 1 where they look the same.
fn match_of(a: &Garment, b: &Garment) -> f64 {
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
    use crate::domain::analysis::analyzers::people::{garments, worn};
    use crate::domain::media::clothing::TROUSERS;

    fn signature(clothing: &str) -> Signature {
        Signature::of(&garments(clothing))
    }

    #[test]
    fn generic_clothing_identifies_nobody() {
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
            assert_eq!(signature(clothing).identifies(), identifies, "{clothing}");
        }
    }

    #[test]
    fn likeness_is_of_garments_and_colours() {
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
            let (a_read, b_read) = (signature(a), signature(b));
            let likeness = a_read.likeness(&b_read);
            assert!((likeness - b_read.likeness(&a_read)).abs() < 1e-9, "{a} / {b}");
            assert_eq!(likeness >= 0.6, alike, "{a} / {b}: {likeness}");
        }
        assert_eq!(signature("red coat, black hat"), signature("black hat, red coat"));
    }

    #[test]
    fn measured_garments_are_those_that_their_words_tell() {
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
                let words: Vec<String> = measured.iter().map(worn).collect();
                let words = words.join(", ");
                assert_eq!(Signature::of(&measured), signature(&words), "{words}");
            }
        }
    }
}
