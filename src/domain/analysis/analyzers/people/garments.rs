//! Parses garments from a description of clothing. The description comes either from a vision model
//! or from an earlier version, which did not store the garments.

use text::colours::find_family;
use text::is_article;

use crate::media::clothing::{BodyPart, Garment};

/// Body parts and the names of the garments worn there. All names in one entry mean the same kind
/// of garment. The first name is canonical.
const GARMENTS: &[(BodyPart, &[&str])] = &[
    (
        BodyPart::Upper,
        &["jacket", "coat", "blazer", "parka", "anorak", "raincoat", "overcoat", "windbreaker"],
    ),
    (BodyPart::Upper, &["shirt", "blouse", "polo"]),
    (BodyPart::Upper, &["t-shirt", "tshirt", "tee", "tank"]),
    (
        BodyPart::Upper,
        &["sweater", "hoodie", "jumper", "pullover", "cardigan", "sweatshirt", "fleece"],
    ),
    (BodyPart::Upper, &["top", "upper"]),
    (BodyPart::Upper, &["vest", "waistcoat"]),
    (BodyPart::Upper, &["jersey"]),
    (BodyPart::Whole, &["suit", "tuxedo"]),
    (BodyPart::Whole, &["dress", "gown"]),
    (
        BodyPart::Whole,
        &["uniform", "overalls", "coveralls", "jumpsuit", "spacesuit", "robe", "costume"],
    ),
    (BodyPart::Lower, &["jeans"]),
    (
        BodyPart::Lower,
        &["trousers", "pants", "leggings", "slacks", "bottoms", "waist", "lower", "chinos"],
    ),
    (BodyPart::Lower, &["skirt"]),
    (BodyPart::Lower, &["shorts"]),
    (BodyPart::Head, &["hat", "cap", "beanie", "helmet", "hood", "headscarf", "turban", "beret"]),
    (BodyPart::Eyes, &["glasses", "sunglasses", "goggles", "spectacles"]),
    (BodyPart::Neck, &["tie", "scarf", "necktie"]),
    (BodyPart::Neck, &["necklace"]),
    (BodyPart::Feet, &["shoes", "boots", "sneakers", "sandals", "heels", "trainers"]),
    (BodyPart::Hands, &["gloves", "mittens"]),
    (BodyPart::Accessory, &["apron"]),
    (BodyPart::Accessory, &["backpack", "rucksack", "bag", "handbag"]),
    (BodyPart::Accessory, &["belt"]),
    (BodyPart::Accessory, &["badge", "lanyard"]),
];

/// General words for clothing.
const UNSPECIFIC: &[&str] =
    &["clothes", "clothing", "outfit", "attire", "garment", "garments", "wear", "dress-code"];

/// Words that do not identify a garment or are too vague to describe one.
const VAGUE: &[&str] = &[
    "of",
    "in",
    "on",
    "his",
    "her",
    "their",
    "wearing",
    "wears",
    "dressed",
    "dark",
    "light",
    "bright",
    "pale",
    "deep",
    "coloured",
    "colored",
    "colour",
    "color",
    "casual",
    "formal",
    "plain",
    "simple",
    "some",
    "kind",
    "type",
    "pair",
    "unclear",
    "unknown",
    "visible",
    "not",
    "none",
    "below",
    "sleeved",
    "sleeve",
    "long",
    "short",
    "long-sleeved",
    "short-sleeved",
    "body",
    "business",
];

/// Parses the garments named in `clothing`, in order.
pub(crate) fn parse_garments(clothing: &str) -> Vec<Garment> {
    let text = clothing.to_lowercase();
    let separated = |c: char| !(c.is_alphanumeric() || c == '-' || c == '\'');
    let mut garments = Vec::new();
    let mut phrase: Vec<&str> = Vec::new();
    for clause in text.split([',', ';', '.', '/']) {
        for word in clause.split(separated).filter(|word| !word.is_empty()) {
            match word {
                "and" | "with" | "over" | "under" | "plus" => {
                    // "red and white shirt" is one garment of two colours.
                    if phrase.iter().any(|word| lookup(word).is_some()) {
                        garments.extend(parse_phrase(&phrase));
                        phrase.clear();
                    }
                }
                word => phrase.push(word),
            }
        }
        garments.extend(parse_phrase(&phrase));
        phrase.clear();
    }
    garments
}

/// The body part and the canonical garment name for `word`.
fn lookup(word: &str) -> Option<(BodyPart, &'static str)> {
    GARMENTS.iter().find(|(_, names)| names.contains(&word)).map(|(part, names)| (*part, names[0]))
}

/// Parses the garment that a phrase names, if any.
fn parse_phrase(words: &[&str]) -> Option<Garment> {
    let worn = words.iter().rev().find_map(|word| lookup(word));
    let unspecific = words.iter().any(|word| UNSPECIFIC.contains(word));
    let (part, kind) = match worn {
        Some(garment) => garment,
        None if unspecific => (BodyPart::Unknown, ""),
        None => return None,
    };
    let mut garment = Garment { part, kind: kind.to_owned(), ..Garment::default() };
    for word in words.iter().copied().filter(|word| lookup(word).is_none()) {
        let families: Vec<_> = word.split('-').filter_map(find_family).collect();
        let vague = is_article(word) || VAGUE.contains(&word) || UNSPECIFIC.contains(&word);
        if families.is_empty() && !vague && part != BodyPart::Unknown {
            garment.details.push(word.to_owned());
        }
        garment.colours.extend(families.iter().map(|family| family.name().to_owned()));
    }
    Some(garment)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parse_garments_finds_colours_and_details() {
        let parsed = |clothing: &str| -> Vec<String> {
            let garments = parse_garments(clothing).into_iter();
            garments
                .map(|g| format!("{:?} {} {:?} {:?}", g.part, g.kind, g.colours, g.details))
                .collect()
        };
        for (clothing, expected) in [
            ("", vec![]),
            ("unknown", vec![]),
            ("A crimson raincoat", vec![r#"Upper jacket ["red"] []"#]),
            (
                "red and white striped shirt with jeans",
                vec![r#"Upper shirt ["red", "white"] ["striped"]"#, "Lower jeans [] []"],
            ),
            ("yellow-and-blue jersey", vec![r#"Upper jersey ["yellow", "blue"] []"#]),
            ("dark clothes; a navy cap", vec!["Unknown  [] []", r#"Head hat ["blue"] []"#]),
        ] {
            assert_eq!(parsed(clothing), expected, "{clothing}");
        }
    }
}
