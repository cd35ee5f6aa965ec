//! What kind of thing a noun names: a dog is an animal. The nouns are those of the picture models.

use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

/// What a noun is: its synonyms, and the words for more general things, in lower case.
struct Noun {
    synonyms: Vec<String>,
    kinds: Vec<String>,
}

static NOUNS: LazyLock<HashMap<String, Noun>> = LazyLock::new(|| {
    let lines = include_str!("vocabulary/kinds.tsv").lines().filter(|line| !line.starts_with('#'));
    let words = |column: Option<&str>| -> Vec<String> {
        let words = column.unwrap_or_default().split("; ").filter(|word| !word.is_empty());
        words.map(str::to_lowercase).collect()
    };
    let nouns = lines.map(|line| {
        let mut columns = line.split('\t');
        let name = columns.next().unwrap_or_default().to_lowercase();
        (name, Noun { synonyms: words(columns.next()), kinds: words(columns.next()) })
    });
    nouns.collect()
});

/// Whether a noun is a word for a thing or for something more specific: a terrier is a dog and an
/// animal. Ignores case. A noun that is not known is only itself.
pub fn is_a(noun: &str, thing: &str) -> bool {
    let (noun, thing) = (noun.to_lowercase(), thing.to_lowercase());
    noun == thing
        || NOUNS
            .get(&noun)
            .is_some_and(|known| known.synonyms.contains(&thing) || known.kinds.contains(&thing))
}

/// Whether a lower-case noun is known as a thing, a synonym or a kind of thing.
pub fn is_known(noun: &str) -> bool {
    static KNOWN: LazyLock<HashSet<&str>> = LazyLock::new(|| {
        let words = |noun: &'static Noun| noun.synonyms.iter().chain(&noun.kinds);
        let all = NOUNS.iter().flat_map(|(name, noun)| std::iter::once(name).chain(words(noun)));
        all.map(String::as_str).collect()
    });
    KNOWN.contains(noun)
}

/// Returns the synonyms of a noun, in lower case. A noun that is not known has none.
pub fn synonyms(noun: &str) -> &'static [String] {
    NOUNS.get(&noun.to_lowercase()).map_or(&[], |known| &known.synonyms)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn things_and_kinds_are_known() {
        for (noun, expected) in
            [("giraffe", true), ("animal", true), ("bike", true), ("district", false)]
        {
            assert_eq!(is_known(noun), expected, "{noun}");
        }
    }

    #[test]
    fn nouns_are_what_their_kinds_say() {
        for (noun, thing) in [
            ("German shepherd", "dog"),
            ("German shepherd", "animal"),
            ("sulphur-crested cockatoo", "bird"),
            ("cellular telephone", "cell phone"),
            ("bus", "vehicle"),
            ("Granny Smith", "fruit"),
            ("unheard-of", "unheard-of"),
        ] {
            assert!(is_a(noun, thing), "{noun}: {thing}");
        }
        for (noun, thing) in [
            ("kite", "animal"),
            ("dog", "German shepherd"),
            ("mouse", "animal"),
            ("car", "container"),
        ] {
            assert!(!is_a(noun, thing), "{noun}: {thing}");
        }
    }
}
