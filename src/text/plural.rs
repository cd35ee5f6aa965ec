//! Plurals of English nouns.

/// Nouns whose plural no rule gives, as singular and plural.
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

/// The plural of a lower-case noun or of a name that ends in one: `buses`, `wine glasses`, `sheep`.
pub fn plural(noun: &str) -> String {
    /// Nouns that are their own plural.
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

/// So many of a thing, as `0 people`, `1 person`, `3 chunks`.
pub fn many(name: &str, count: u64) -> String {
    match count {
        1 => format!("1 {name}"),
        n => format!("{n} {}", plural(name)),
    }
}

/// A name and how many there are of it, as `2 people`, `3 dogs`; `bus` of one.
pub fn counted(name: &str, count: u64) -> String {
    match count {
        0 | 1 => name.to_owned(),
        n => format!("{n} {}", plural(name)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_is_counted_too() {
        let told = [0, 1, 3].map(|count| many("person", count));
        assert_eq!(told, ["0 people", "1 person", "3 people"]);
    }

    #[test]
    fn nouns_have_the_plural_people_give_them() {
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
    fn what_is_one_is_not_counted() {
        for (count, expected) in [(0, "bus"), (1, "bus"), (2, "2 buses")] {
            assert_eq!(counted("bus", count), expected);
        }
    }
}
