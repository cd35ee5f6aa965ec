//! Combines several readings of one line of text. A letter that is misread in one frame is usually
//! read correctly in others, so each character is voted on.

use std::collections::BTreeMap;

/// Maximum length of a line whose characters are voted on, in characters, and maximum number of
/// distinct readings. Both bound the work.
const MAX_CHARS: usize = 400;
const MAX_READINGS: usize = 32;

/// A distinct reading with the sum of its confidences.
#[derive(Debug, Clone, PartialEq)]
struct Reading<'a> {
    text: &'a str,
    weight: f64,
}

/// Returns the text that the readings agree on, character by character. A reading counts by its
/// confidence (0..1). Returns an empty text if there are no readings.
pub(super) fn vote<'a>(readings: impl Iterator<Item = (&'a str, f32)>) -> String {
    let distinct = distinct(readings);
    let Some(pivot) = distinct.first() else { return String::new() };
    if distinct.len() == 1 || pivot.text.chars().count() > MAX_CHARS {
        return pivot.text.to_owned();
    }
    let letters: Vec<char> = pivot.text.chars().collect();
    let mut ballots = vec![BTreeMap::<String, f64>::new(); letters.len() + 1];
    for reading in &distinct {
        let other: Vec<char> = reading.text.chars().take(MAX_CHARS).collect();
        for (ballot, read) in ballots.iter_mut().zip(aligned(&letters, &other)) {
            *ballot.entry(read).or_default() += reading.weight;
        }
    }
    // The first slot contains only what is read before the first character.
    let own = std::iter::once(String::new()).chain(letters.iter().map(char::to_string));
    ballots.iter().zip(own).map(|(ballot, own)| winner(ballot, own)).collect()
}

/// The distinct readings, the one with the greatest weight first.
fn distinct<'a>(readings: impl Iterator<Item = (&'a str, f32)>) -> Vec<Reading<'a>> {
    let mut distinct: Vec<Reading<'a>> = Vec::new();
    for (text, confidence) in readings {
        let weight = f64::from(confidence);
        match distinct.iter_mut().find(|reading| reading.text == text.trim()) {
            Some(reading) => reading.weight += weight,
            None => distinct.push(Reading { text: text.trim(), weight }),
        }
    }
    distinct.sort_by(|a, b| b.weight.total_cmp(&a.weight));
    distinct.truncate(MAX_READINGS);
    distinct
}

/// The text with the most votes; in a tie, the pivot's own.
fn winner(ballot: &BTreeMap<String, f64>, own: String) -> String {
    let votes = |text: &String| ballot.get(text).copied().unwrap_or(0.0);
    let best = ballot.iter().max_by(|a, b| a.1.total_cmp(b.1));
    best.filter(|(_, best)| **best > votes(&own)).map_or(own, |(text, _)| text.clone())
}

/// Aligns a reading with the pivot by the fewest edits. Returns what the reading has before the
/// pivot's first character, then, for each character of the pivot, what it has in its place and
/// after it.
fn aligned(pivot: &[char], reading: &[char]) -> Vec<String> {
    let columns = reading.len() + 1;
    let mut costs = vec![0_u32; (pivot.len() + 1) * columns];
    let at = |row: usize, column: usize| row * columns + column;
    for row in 0..=pivot.len() {
        for column in 0..columns {
            costs[at(row, column)] = match (row, column) {
                (0, edits) | (edits, 0) => edits as u32,
                _ => {
                    let changed = u32::from(pivot[row - 1] != reading[column - 1]);
                    let replaced = costs[at(row - 1, column - 1)] + changed;
                    let removed = costs[at(row - 1, column)] + 1;
                    replaced.min(removed).min(costs[at(row, column - 1)] + 1)
                }
            };
        }
    }
    let mut slots = vec![String::new(); pivot.len() + 1];
    let (mut row, mut column) = (pivot.len(), reading.len());
    while row > 0 || column > 0 {
        let cost = costs[at(row, column)];
        let is_replaced = row > 0 && column > 0 && {
            let changed = u32::from(pivot[row - 1] != reading[column - 1]);
            cost == costs[at(row - 1, column - 1)] + changed
        };
        if is_replaced {
            slots[row].insert(0, reading[column - 1]);
            (row, column) = (row - 1, column - 1);
        } else if row > 0 && cost == costs[at(row - 1, column)] + 1 {
            row -= 1;
        } else {
            slots[row].insert(0, reading[column - 1]);
            column -= 1;
        }
    }
    slots
}

#[cfg(test)]
mod tests {
    use super::*;

    fn voted(readings: &[(&str, f32)]) -> String {
        vote(readings.iter().copied())
    }

    #[test]
    fn most_readings_decide_each_character() {
        // No reading is right as a whole.
        let readings = [("Vote Presldent", 0.9), ("Voe President", 0.8), ("Vote Presidemt", 0.8)];
        assert_eq!(voted(&readings), "Vote President");
    }

    #[test]
    fn missing_space_and_superfluous_letter_are_outvoted() {
        let readings = [("NORTHGATE", 0.9), ("NORTH GATE", 0.8), ("NORTH GATES", 0.7)];
        assert_eq!(voted(&readings), "NORTH GATE");
        assert_eq!(voted(&[(".Exit", 0.9), ("Exit", 0.8), ("Exit", 0.8)]), "Exit");
    }

    #[test]
    fn confidence_decides_between_two_readings() {
        assert_eq!(voted(&[("Das Borel", 0.6), ("Das Hotel", 0.9)]), "Das Hotel");
        assert_eq!(voted(&[("Das Hotel", 0.9), ("Das Borel", 0.6)]), "Das Hotel");
    }

    #[test]
    fn one_reading_stays_as_it_is() {
        assert_eq!(voted(&[]), "");
        assert_eq!(voted(&[(" Zürich ", 0.5), ("Zürich", 0.6)]), "Zürich");
        let long = "a".repeat(MAX_CHARS + 1);
        assert_eq!(voted(&[(&long, 0.9), ("a", 0.1)]), long);
    }
}
