//! What a person wears, read from the people analyzer's words: the signature by which people are
//! linked. Two descriptions are alike by the garments and colours they share; a garment of the same
//! kind in another colour rules out that they are of one person.

use std::collections::BTreeSet;

use text::colours::family_of;
use text::is_article;

/// The total weight (see [`Piece::weight`]) from which on clothing tells a person from others.
const IDENTIFYING: f64 = 1.0;

/// Where on the body garments are worn, with their names. Those of one line are one kind.
const GARMENTS: &[(&str, &[&str])] = &[
    (
        "upper",
        &["jacket", "coat", "blazer", "parka", "anorak", "raincoat", "overcoat", "windbreaker"],
    ),
    ("upper", &["shirt", "blouse", "polo"]),
    ("upper", &["t-shirt", "tshirt", "tee", "tank"]),
    ("upper", &["sweater", "hoodie", "jumper", "pullover", "cardigan", "sweatshirt", "fleece"]),
    ("upper", &["top", "upper"]),
    ("upper", &["vest", "waistcoat"]),
    ("upper", &["jersey"]),
    ("whole", &["suit", "tuxedo"]),
    ("whole", &["dress", "gown"]),
    ("whole", &["uniform", "overalls", "coveralls", "jumpsuit", "spacesuit", "robe", "costume"]),
    ("lower", &["jeans"]),
    ("lower", &["trousers", "pants", "leggings", "slacks", "bottoms", "waist", "lower", "chinos"]),
    ("lower", &["skirt"]),
    ("lower", &["shorts"]),
    ("head", &["hat", "cap", "beanie", "helmet", "hood", "headscarf", "turban", "beret"]),
    ("eyes", &["glasses", "sunglasses", "goggles", "spectacles"]),
    ("neck", &["tie", "scarf", "necktie"]),
    ("neck", &["necklace"]),
    ("feet", &["shoes", "boots", "sneakers", "sandals", "heels", "trainers"]),
    ("hands", &["gloves", "mittens"]),
    ("extra", &["apron"]),
    ("extra", &["backpack", "rucksack", "bag", "handbag"]),
    ("extra", &["belt"]),
    ("extra", &["badge", "lanyard"]),
];

/// Names that say that something is worn but not what.
const UNSPECIFIC: &[&str] =
    &["clothes", "clothing", "outfit", "attire", "garment", "garments", "wear", "dress-code"];

/// Colours that so many people wear that they say little.
const COMMON: &[&str] = &["black", "white", "grey"];

/// Words without meaning for what is worn, or too vague: anybody's jacket may be called dark.
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

/// One garment.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Piece {
    slot: &'static str,
    kind: &'static str,
    colours: BTreeSet<&'static str>,
    /// Further words, as `striped` or `logo`.
    details: BTreeSet<String>,
}

/// What a person wears. Equal signatures are of clothing described alike.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Signature(Vec<Piece>);

impl Signature {
    /// Reads the `clothing` of a person.
    pub(crate) fn read(clothing: &str) -> Self {
        let text = clothing.to_lowercase();
        let separated = |c: char| !(c.is_alphanumeric() || c == '-' || c == '\'');
        let mut pieces = BTreeSet::new();
        let mut phrase: Vec<&str> = Vec::new();
        for clause in text.split([',', ';', '.', '/']) {
            for word in clause.split(separated).filter(|word| !word.is_empty()) {
                match word {
                    "and" | "with" | "over" | "under" | "plus" => {
                        // "red and white shirt" is one garment of two colours.
                        if phrase.iter().any(|word| garment(word).is_some()) {
                            pieces.extend(piece(&phrase));
                            phrase.clear();
                        }
                    }
                    word => phrase.push(word),
                }
            }
            pieces.extend(piece(&phrase));
            phrase.clear();
        }
        Self(pieces.into_iter().collect())
    }

    /// Whether it says enough to recognise somebody by.
    pub(crate) fn identifies(&self) -> bool {
        self.weight() >= IDENTIFYING - 1e-9
    }

    /// How many particulars it has.
    pub(crate) fn weight(&self) -> f64 {
        self.0.iter().map(Piece::weight).sum()
    }

    /// 0 (different clothes) to 1 (the same).
    pub(crate) fn likeness(&self, other: &Self) -> f64 {
        let mut pairs: Vec<(f64, f64, usize, usize)> = Vec::new();
        for (i, a) in self.0.iter().enumerate() {
            for (j, b) in other.0.iter().enumerate() {
                if a.slot == b.slot && (a.kind == b.kind || a.slot != "extra") {
                    let match_of = a.matches(b);
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
            shared += degree * self.0[i].weight().min(other.0[j].weight());
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

impl Piece {
    /// How much it says: 1 for a garment of a colour that few wear.
    fn weight(&self) -> f64 {
        // What is only known as a top, of two colours, may have one of them from what is behind it.
        let mixed = self.kind == "top" && self.colours.len() > 1;
        let colour = self
            .colours
            .iter()
            .map(|colour| {
                let common = COMMON.contains(colour);
                let usual = *colour == "blue" && self.slot == "lower";
                match () {
                    () if usual => 0.6,
                    () if common => 0.4,
                    () if mixed => 0.7,
                    () => 1.0,
                }
            })
            .fold(0.0, f64::max);
        let kind = match (self.slot, self.kind) {
            ("", _) => return 0.5 * colour,
            ("head" | "eyes" | "neck" | "extra" | "hands", _) | (_, "uniform" | "dress") => 0.5,
            _ => 0.1,
        };
        let details = 0.25 * self.details.len().min(2) as f64;
        colour.max(kind) + details
    }

    /// 0 where the two cannot be one garment, up to 1 where they look the same.
    fn matches(&self, other: &Self) -> f64 {
        let colours = if self.colours.is_empty() || other.colours.is_empty() {
            0.5
        } else if self.colours.is_disjoint(&other.colours) {
            return 0.0;
        } else {
            1.0
        };
        let kinds = if self.kind == other.kind { 1.0 } else { 0.8 };
        let details = if self.details.is_empty()
            || other.details.is_empty()
            || !self.details.is_disjoint(&other.details)
        {
            1.0
        } else {
            0.7
        };
        colours * kinds * details
    }
}

fn garment(word: &str) -> Option<(&'static str, &'static str)> {
    GARMENTS.iter().find(|(_, names)| names.contains(&word)).map(|(slot, names)| (*slot, names[0]))
}

fn piece(words: &[&str]) -> Option<Piece> {
    let worn = words.iter().rev().find_map(|word| garment(word));
    let unspecific = words.iter().any(|word| UNSPECIFIC.contains(word));
    let (slot, kind) = match worn {
        Some(found) => found,
        None if unspecific => ("", ""),
        None => return None,
    };
    let mut colours = BTreeSet::new();
    let mut details = BTreeSet::new();
    for word in words {
        let parts = word.split('-').filter(|_| garment(word).is_none());
        let mut coloured = false;
        for part in parts {
            if let Some(family) = family_of(part) {
                colours.insert(family.name());
                coloured = true;
            }
        }
        let plain = is_article(word)
            || VAGUE.contains(word)
            || UNSPECIFIC.contains(word)
            || garment(word).is_some();
        if !coloured && !plain && !slot.is_empty() {
            details.insert((*word).to_owned());
        }
    }
    Some(Piece { slot, kind, colours, details })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn signature(clothing: &str) -> Signature {
        Signature::read(clothing)
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
        assert_eq!(Signature::read("red coat, black hat"), signature("black hat, red coat"));
    }
}
