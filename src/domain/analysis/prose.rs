//! English phrases and sentences for detected objects.

use text::join_list;
use text::plural::{is_counted, is_uncountable};

use crate::media::geometry::Side;
use crate::media::movement::Movement;

/// A movement as a phrase, such as `moving to the right`.
pub(crate) fn movement(movement: Movement) -> &'static str {
    match movement {
        Movement::Glimpsed => "seen for a moment",
        Movement::Still => "staying in place",
        Movement::Right => "moving to the right",
        Movement::Left => "moving to the left",
        Movement::Closer => "coming closer",
        Movement::Away => "moving away",
    }
}

/// A side as a phrase, such as `on the left`.
pub(crate) fn side(side: Side) -> &'static str {
    match side {
        Side::Left => "on the left",
        Side::Middle => "in the middle",
        Side::Right => "on the right",
    }
}

/// Builds a sentence from counted names, such as `Four people and a dog are in view.`;
/// returns `None` if `names` is empty.
pub(crate) fn in_view(names: &[String]) -> Option<String> {
    let (last, others) = names.split_last()?;
    let named: Vec<String> = names.iter().map(|name| with_article(name)).collect();
    let is_one = others.is_empty() && (with_article(last) != *last || is_uncountable(last));
    let verb = if is_one { "is" } else { "are" };
    Some(sentence(&format!("{} {verb} in view", join_list(&named, "and"))))
}

/// Adds the indefinite article, as in `a car`. Leaves a name unchanged that begins with a number, is
/// uncountable or is a plural, such as `scissors`.
pub(crate) fn with_article(name: &str) -> String {
    let vowels = ['a', 'e', 'i', 'o', 'u', 'A', 'E', 'I', 'O', 'U'];
    let article = if name.starts_with(vowels) { "an" } else { "a" };
    let is_plural = name.ends_with('s') && !name.ends_with("ss") && !name.ends_with("us");
    if is_counted(name) || is_uncountable(name) || is_plural {
        name.to_owned()
    } else {
        format!("{article} {name}")
    }
}

/// The name of a detected object in a sentence. The name of some labels has another meaning, too.
pub(crate) fn common_name(label: &str) -> &str {
    match label {
        "mouse" => "computer mouse",
        "remote" => "remote control",
        _ => label,
    }
}

/// Capitalizes `text` and appends a full stop.
pub(crate) fn sentence(text: &str) -> String {
    capitalised(text) + "."
}

/// Capitalizes the first letter.
pub(crate) fn capitalised(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next().into_iter().flat_map(char::to_uppercase);
    first.chain(letters.as_str().chars()).collect()
}

#[cfg(test)]
mod tests {
    use text::plural::plural_with_count;

    use super::*;

    #[test]
    fn in_view_writes_a_sentence() {
        for (seen, expected) in [
            (&[("person", 4), ("dog", 1)][..], Some("Four people and a dog are in view.")),
            (
                &[("bus", 2), ("umbrella", 1), ("sheep", 3)],
                Some("Two buses, an umbrella and three sheep are in view."),
            ),
            (&[("umbrella", 1)], Some("An umbrella is in view.")),
            (&[("scissors", 1)], Some("Scissors are in view.")),
            (&[("food", 1)], Some("Food is in view.")),
            (&[("car", 2)], Some("Two cars are in view.")),
            (&[], None),
        ] {
            let seen: Vec<String> =
                seen.iter().map(|(label, n)| plural_with_count(label, *n)).collect();
            assert_eq!(in_view(&seen).as_deref(), expected);
        }
    }
}
