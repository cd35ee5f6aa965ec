//! English noun plurals.

/// Nouns with irregular plurals, as singular and plural.
pub(crate) const IRREGULAR: &[(&str, &str)] = &[
    ("man", "men"),
    ("woman", "women"),
    ("child", "children"),
    ("person", "people"),
    ("foot", "feet"),
    ("tooth", "teeth"),
    ("mouse", "mice"),
    ("goose", "geese"),
    ("knife", "knives"),
    ("wife", "wives"),
];

/// The plural of a lower-case noun, or of a phrase that ends in a noun: `buses`, `wine glasses`,
/// `sheep`.
pub fn plural(noun: &str) -> String {
    /// Nouns whose singular and plural are the same.
    const ALIKE: &[&str] = &["sheep", "skis", "scissors"];
    let (before, last) = noun.rfind(' ').map_or(("", noun), |space| noun.split_at(space + 1));
    if let Some((_, plural)) = IRREGULAR.iter().find(|(singular, _)| *singular == last) {
        return format!("{before}{plural}");
    }
    let mut ending = last.chars().rev();
    match (ending.next(), ending.next()) {
        _ if ALIKE.contains(&last) => noun.to_owned(),
        (Some('s' | 'x' | 'z'), _) | (Some('h'), Some('c' | 's')) => format!("{noun}es"),
        (Some('y'), Some(before)) if !"aeiou".contains(before) => {
            format!("{}ies", &noun[..noun.len() - 1])
        }
        _ => format!("{noun}s"),
    }
}

/// The nouns, or phrases that end in a noun, with the plural `noun`. The noun itself is included,
/// since it may be a singular: `bus`, `buses`. Some of the results are no words, such as `glasse` for
/// `glasses`, so look them up in a list of nouns.
pub fn singulars(noun: &str) -> Vec<String> {
    let (before, last) = noun.rfind(' ').map_or(("", noun), |space| noun.split_at(space + 1));
    let irregular = IRREGULAR.iter().map(|(singular, _)| format!("{before}{singular}"));
    let stems = [("ies", "y"), ("es", ""), ("s", "")];
    let regular = stems.iter().filter_map(|(ending, singular)| {
        Some(format!("{before}{}{singular}", last.strip_suffix(ending)?))
    });
    let mut found: Vec<String> =
        irregular.chain(regular).filter(|singular| plural(singular) == noun).collect();
    found.insert(0, noun.to_owned());
    found
}

/// Whether a noun names a substance or a group, which is not counted: `food`, `furniture`.
pub fn is_uncountable(noun: &str) -> bool {
    ["clothing", "food", "fruit", "furniture"].contains(&noun)
}

/// Formats a count with its noun: `0 people`, `1 person`, `3 chunks`.
pub fn with_count(name: &str, count: u64) -> String {
    match count {
        1 => format!("1 {name}"),
        n => format!("{n} {}", plural(name)),
    }
}

/// Formats a noun, preceded by its count if the count is above one: `two people`, `13 dogs`, `bus`.
/// An uncountable noun has no count.
pub fn plural_with_count(name: &str, count: u64) -> String {
    match count {
        _ if is_uncountable(name) => name.to_owned(),
        0 | 1 => name.to_owned(),
        n => format!("{} {}", number_word(n), plural(name)),
    }
}

/// The numbers that running text spells out, from zero.
const NUMBER_WORDS: &[&str] = &[
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten",
    "eleven", "twelve",
];

/// Writes a number as running text does: in words up to twelve, then in digits.
pub fn number_word(number: u64) -> String {
    let word = usize::try_from(number).ok().and_then(|at| NUMBER_WORDS.get(at));
    word.map_or_else(|| number.to_string(), |word| (*word).to_owned())
}

/// Whether a phrase begins with a count above one, in words or digits: `two cars`, `13 people`.
pub fn is_counted(phrase: &str) -> bool {
    let first = phrase.split(' ').next().unwrap_or_default();
    let is_word = NUMBER_WORDS[2..].iter().any(|word| first.eq_ignore_ascii_case(word));
    is_word || first.starts_with(|c: char| c.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn with_count_states_every_count() {
        let counts = [0, 1, 3].map(|count| with_count("person", count));
        assert_eq!(counts, ["0 people", "1 person", "3 people"]);
    }

    #[test]
    fn plural_follows_rules_and_exceptions() {
        for (noun, expected) in [
            ("dog", "dogs"),
            ("bus", "buses"),
            ("wine glass", "wine glasses"),
            ("couch", "couches"),
            ("toothbrush", "toothbrushes"),
            ("mouth", "mouths"),
            ("box", "boxes"),
            ("city", "cities"),
            ("toy", "toys"),
            ("person", "people"),
            ("police woman", "police women"),
            ("sheep", "sheep"),
            ("scissors", "scissors"),
            ("knife", "knives"),
        ] {
            assert_eq!(plural(noun), expected);
        }
    }

    #[test]
    fn singulars_have_the_plural() {
        for (noun, singular) in [
            ("dogs", "dog"),
            ("wine glasses", "wine glass"),
            ("buses", "bus"),
            ("houses", "house"),
            ("cities", "city"),
            ("people", "person"),
            ("bus", "bus"),
            ("sheep", "sheep"),
        ] {
            let found = singulars(noun);
            assert_eq!(found[0], noun);
            assert!(found.iter().any(|one| one == singular), "{noun}: {found:?}");
            assert!(found[1..].iter().all(|one| plural(one) == noun), "{noun}: {found:?}");
        }
    }

    #[test]
    fn plural_with_count_omits_one() {
        for (count, expected) in [(0, "bus"), (1, "bus"), (2, "two buses"), (13, "13 buses")] {
            assert_eq!(plural_with_count("bus", count), expected);
            assert_eq!(is_counted(expected), count > 1, "{expected}");
        }
        assert!(!is_counted("one-way sign") && !is_counted("a bus"));
        assert_eq!(plural_with_count("food", 2), "food");
    }
}
