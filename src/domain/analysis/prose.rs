//! Words and sentences for what detectors found.

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
    let one = |name: &String| {
        let counted = name.starts_with(|c: char| c.is_ascii_digit());
        let article = if name.starts_with(['a', 'e', 'i', 'o', 'u']) { "an" } else { "a" };
        if counted { name.clone() } else { format!("{article} {name}") }
    };
    let verb = if others.is_empty() && one(last) != *last { "is" } else { "are" };
    let listed = others.iter().map(one).collect::<Vec<_>>().join(", ");
    let listed = if others.is_empty() { one(last) } else { format!("{listed} and {}", one(last)) };
    let mut letters = listed.chars();
    let first = letters.next()?.to_uppercase();
    Some(format!("{first}{} {verb} in view.", letters.as_str()))
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
