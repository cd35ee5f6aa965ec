//! Words and sentences for what detectors found.

use text::in_a_row;

use crate::domain::media::geometry::Side;
use crate::domain::media::movement::Movement;

/// `moving to the right`.
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

/// `on the left`.
pub(crate) fn side(side: Side) -> &'static str {
    match side {
        Side::Left => "on the left",
        Side::Middle => "in the middle",
        Side::Right => "on the right",
    }
}

/// `4 people and a dog are in view.` of names with their counts; nothing of none.
pub(crate) fn in_view(seen: &[String]) -> Option<String> {
    let (last, others) = seen.split_last()?;
    let verb = if others.is_empty() && with_article(last) != *last { "is" } else { "are" };
    let named: Vec<String> = seen.iter().map(|name| with_article(name)).collect();
    Some(sentence(&format!("{} {verb} in view", in_a_row(&named, "and"))))
}

/// `a car` or `an umbrella`; what is counted stays as it is.
pub(crate) fn with_article(name: &str) -> String {
    let article = if name.starts_with(['a', 'e', 'i', 'o', 'u']) { "an" } else { "a" };
    if name.starts_with(|c: char| c.is_ascii_digit()) {
        name.to_owned()
    } else {
        format!("{article} {name}")
    }
}

/// With a capital at the beginning and a full stop at the end.
pub(crate) fn sentence(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next().into_iter().flat_map(char::to_uppercase);
    format!("{}{}.", first.collect::<String>(), letters.as_str())
}

#[cfg(test)]
mod tests {
    use text::plural::counted;

    use super::*;

    #[test]
    fn things_in_view_read_as_a_sentence() {
        for (seen, expected) in [
            (&[("person", 4), ("dog", 1)][..], Some("4 people and a dog are in view.")),
            (
                &[("bus", 2), ("umbrella", 1), ("sheep", 3)],
                Some("2 buses, an umbrella and 3 sheep are in view."),
            ),
            (&[("umbrella", 1)], Some("An umbrella is in view.")),
            (&[("car", 2)], Some("2 cars are in view.")),
            (&[], None),
        ] {
            let seen: Vec<String> = seen.iter().map(|(label, n)| counted(label, *n)).collect();
            assert_eq!(in_view(&seen).as_deref(), expected);
        }
    }
}
