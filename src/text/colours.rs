//! Colour names by family.

/// A colour and the names of its shades, in lower case.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Family {
    /// Names of the colour itself; the first is the family's name.
    pub names: &'static [&'static str],
    /// Names of its shades.
    pub shades: &'static [&'static str],
    /// Shades named after things. By itself, such a word may mean the thing.
    pub things: &'static [&'static str],
}

impl Family {
    /// The name of the family.
    pub fn name(&self) -> &'static str {
        self.names[0]
    }

    /// Whether the colour is black, white or grey.
    pub fn is_achromatic(&self) -> bool {
        matches!(self.name(), "black" | "white" | "grey")
    }
}

const fn family(
    names: &'static [&'static str],
    shades: &'static [&'static str],
    things: &'static [&'static str],
) -> Family {
    Family { names, shades, things }
}

/// All colour families.
pub const FAMILIES: &[Family] = &[
    family(&["black"], &[], &[]),
    family(&["white"], &["off-white"], &["cream", "ivory"]),
    family(&["grey", "gray"], &["silver"], &["charcoal"]),
    family(&["brown"], &["beige", "khaki"], &["tan", "camel"]),
    family(&["blue"], &["indigo"], &["navy", "denim"]),
    family(&["turquoise"], &["teal", "cyan"], &["aqua"]),
    family(&["red"], &["crimson", "scarlet", "maroon"], &["burgundy"]),
    family(&["green"], &[], &["olive", "lime", "mint"]),
    family(&["yellow"], &["gold", "golden"], &["mustard"]),
    family(&["orange"], &[], &[]),
    family(&["pink"], &["magenta"], &["salmon", "rose"]),
    family(&["purple", "violet"], &["lilac"], &["lavender"]),
];

/// The family of a word that is known to be a colour, as in a description of clothes.
pub fn find_family(lower: &str) -> Option<&'static Family> {
    let has = |family: &&Family| {
        [family.names, family.shades, family.things].iter().any(|words| words.contains(&lower))
    };
    FAMILIES.iter().find(has)
}

/// The family that has the word among its names. There is one for `gray`, but none for the shade
/// `crimson`.
pub fn family_named(lower: &str) -> Option<&'static Family> {
    FAMILIES.iter().find(|family| family.names.contains(&lower))
}

/// Whether a word by itself means a colour. `crimson` does, but `cream` may mean the thing.
pub fn is_colour(lower: &str) -> bool {
    FAMILIES.iter().any(|family| family.names.contains(&lower) || family.shades.contains(&lower))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colour_words_are_classified() {
        // Family, whether the word names the whole family, whether it means a colour by itself.
        for (word, family, named, colour) in [
            ("grey", Some("grey"), true, true),
            ("gray", Some("grey"), true, true),
            ("violet", Some("purple"), true, true),
            ("crimson", Some("red"), false, true),
            ("navy", Some("blue"), false, false),
            ("bright", None, false, false),
        ] {
            assert_eq!(find_family(word).map(Family::name), family, "{word}");
            assert_eq!(family_named(word).is_some(), named, "{word}");
            assert_eq!(is_colour(word), colour, "{word}");
        }
    }

    #[test]
    fn each_word_belongs_to_one_family() {
        let mut all: Vec<&str> =
            FAMILIES.iter().flat_map(|f| [f.names, f.shades, f.things].concat()).collect();
        let count = all.len();
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), count);
    }

    #[test]
    fn three_families_are_achromatic() {
        let grey: Vec<&str> =
            FAMILIES.iter().filter(|f| f.is_achromatic()).map(Family::name).collect();
        assert_eq!(grey, ["black", "white", "grey"]);
    }
}
