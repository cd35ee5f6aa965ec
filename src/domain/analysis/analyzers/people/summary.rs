//! Summarizes the people of a chunk in one sentence, such as "3 people: one in a red top; 2 others,
//! far away."

use text::plural::with_count;

use crate::analysis::analyzers::people::appearance::{FAR_AWAY, PERSON};
use crate::analysis::analyzers::people::crowd::OtherPeople;

/// Minimum number of people in a crowd.
const MIN_CROWD: u32 = 10;

/// Summarizes people in one sentence. `descriptions` are the sentences about the individuals, and
/// `count` is the largest number of people in any one frame.
pub(super) fn summarize(count: u32, descriptions: &[&str], others: Option<OtherPeople>) -> String {
    let others_count = others.map_or(0, |others| others.count);
    let listed = descriptions.len() as u32 + others_count;
    let heading = match count {
        _ if listed <= count => people(listed),
        1 => "One person at a time".to_owned(),
        _ => format!("Up to {} at once", with_count("person", count.into())),
    };
    match (list_items(descriptions).as_slice(), others) {
        ([], None) => String::new(),
        ([], Some(others)) => format!("{}.", with_distance(others, people(others_count))),
        ([_], None) if descriptions.len() == 1 => descriptions[0].to_owned(),
        ([item], None) if item.starts_with(|c: char| c.is_ascii_digit()) && listed <= count => {
            let looks = item.trim_start_matches(|c: char| c.is_ascii_digit());
            format!("{heading}{looks}.")
        }
        (items, others) => {
            let number = if others_count == 1 { "one".into() } else { others_count.to_string() };
            let noun = if others_count == 1 { "other" } else { "others" };
            let others = others.map(|others| with_distance(others, format!("{number} {noun}")));
            let items: Vec<String> = items.iter().cloned().chain(others).collect();
            format!("{heading}: {}.", items.join("; "))
        }
    }
}

/// Counts people, as in `3 people` or `A crowd of about 12 people`.
fn people(count: u32) -> String {
    match count {
        1 => PERSON.to_owned(),
        MIN_CROWD.. => format!("A crowd of about {count} people"),
        _ => with_count("person", count.into()),
    }
}

/// Adds the distance of people who are only counted.
fn with_distance(others: OtherPeople, people: String) -> String {
    if others.far_away { format!("{people}, {FAR_AWAY}") } else { people }
}

/// Turns sentences about people into items of a list, such as `one in a red top`. People who are
/// described the same share an item, such as `2 in a red top`.
fn list_items(sentences: &[&str]) -> Vec<String> {
    let mut items: Vec<(&str, usize)> = Vec::new();
    for sentence in sentences {
        let phrase = sentence.trim().trim_end_matches('.');
        match items.iter_mut().find(|(item, _)| *item == phrase) {
            Some((_, count)) => *count += 1,
            None => items.push((phrase, 1)),
        }
    }
    let item = |(phrase, count): (&str, usize)| {
        let number = if count == 1 { "one".into() } else { count.to_string() };
        if let Some(rest) = phrase.strip_prefix(PERSON) {
            return format!("{number}{rest}");
        }
        let item = match phrase.split_once(' ') {
            Some((article @ ("A" | "An" | "The"), rest)) => {
                format!("{} {rest}", article.to_lowercase())
            }
            _ => phrase.to_owned(),
        };
        if count == 1 { item } else { format!("{number} × {item}") }
    };
    items.into_iter().map(item).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_summary_counts_people_who_look_alike() {
        let far = |count| Some(OtherPeople { count, far_away: true });
        let near = |count| Some(OtherPeople { count, far_away: false });
        let (red, blue) = ("A person in a red top.", "A person in a blue top, moving away.");
        for (count, descriptions, others, expected) in [
            (1, vec![red], None, red),
            (12, vec![], far(12), "A crowd of about 12 people, far away."),
            (5, vec![], far(5), "5 people, far away."),
            (3, vec![], near(3), "3 people."),
            (
                2,
                vec![red, blue],
                None,
                "2 people: one in a red top; one in a blue top, moving away.",
            ),
            (2, vec![red, red], None, "2 people in a red top."),
            (
                3,
                vec![red, blue, red],
                None,
                "3 people: 2 in a red top; one in a blue top, moving away.",
            ),
            (4, vec![red], far(3), "4 people: one in a red top; 3 others, far away."),
            (2, vec![red], near(1), "2 people: one in a red top; one other."),
            (
                1,
                vec![red, blue],
                None,
                "One person at a time: one in a red top; one in a blue top, moving away.",
            ),
            (3, vec![red], far(3), "Up to 3 people at once: one in a red top; 3 others, far away."),
            (
                2,
                vec!["A woman with a hat.", "Ada, a person in a red top."],
                None,
                "2 people: a woman with a hat; Ada, a person in a red top.",
            ),
            (0, vec![], None, ""),
        ] {
            assert_eq!(summarize(count, &descriptions, others), expected);
        }
    }
}
