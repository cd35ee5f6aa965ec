//! Merges the OCR results from several frames into lines of text with their times and positions,
//! and groups lines into captions and rows of tables.

mod icons;
mod tables;
mod vote;

use ports::detector::overlap;
use ports::llm::PassageKind;
use ports::ocr::TextLine;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use text::letters_and_digits;

use crate::kernel::time::rounded;
use crate::media::tracking::Location;
pub(crate) use icons::remove_icons;
use tables::Tables;

/// Minimum confidence of a line. Lines below this value contain more noise than text.
const MIN_CONFIDENCE: f32 = 0.7;

/// Minimum similarity of two readings of the same line (normalised edit distance without spaces).
const MIN_LINE_SIMILARITY: f64 = 0.8;

/// A line of text on screen, over time.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ScreenLine {
    /// The text that the readings of all frames agree on, character by character.
    pub text: String,
    /// The highest confidence of a reading, 0..1.
    pub confidence: f64,
    /// Time at which the line first appears, in seconds from the start of the video.
    pub first_seen: f64,
    /// Time at which the line last appears, in seconds from the start of the video.
    pub last_seen: f64,
    /// All observations of the line, in chronological order; omitted from search hits.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub locations: Vec<Location>,
}

/// Merges the lines of all frames into distinct lines. The frames are given in chronological order.
/// The result is sorted by first appearance, then from top to bottom.
pub(crate) fn merge_lines(frames: &[(f64, Vec<TextLine>)]) -> Vec<ScreenLine> {
    let mut merged: Vec<Line<'_>> = Vec::new();
    for (time, lines) in frames {
        for line in lines.iter().filter(|line| line.confidence >= MIN_CONFIDENCE) {
            let key = letters_and_digits(&line.text);
            if key.is_empty() {
                continue;
            }
            // A line can be in only one place at a time, so two similar lines in one frame are
            // distinct.
            let is_known = |known: &&mut Line<'_>| {
                known.seen.last().is_some_and(|(last, _)| last < time)
                    && is_same_line(&known.key, &key)
                    && has_same_words(known.best, line)
                    // Another text in another place is not a reading of this line.
                    && (known.key == key || known.overlap(line) > 0.0)
            };
            let known = merged.iter_mut().filter(is_known);
            match known.max_by(|a, b| a.overlap(line).total_cmp(&b.overlap(line))) {
                Some(known) => {
                    if line.confidence > known.best.confidence {
                        (known.best, known.key) = (line, key);
                    }
                    known.seen.push((*time, line));
                }
                None => merged.push(Line { key, best: line, seen: vec![(*time, line)] }),
            }
        }
    }
    let position = |line: &Line<'_>| (line.seen[0].0, line.seen[0].1.bounds[1]);
    merged.sort_by(|a, b| {
        let ((s, y), (t, v)) = (position(a), position(b));
        s.total_cmp(&t).then(y.total_cmp(&v))
    });
    merged.iter().map(Line::record).collect()
}

fn is_same_line(one: &str, other: &str) -> bool {
    strsim::normalized_levenshtein(one, other) >= MIN_LINE_SIMILARITY
}

/// Whether two readings may have the same words. They count as different lines if a number such as
/// a score, a step or a clock time has changed or if a word has been replaced, even if they are
/// otherwise similar.
fn has_same_words(one: &TextLine, other: &TextLine) -> bool {
    /// A difference in a short word is trusted if both readings have at least this confidence.
    const MIN_SHORT_WORD_CONFIDENCE: f32 = 0.9;
    let words = |text: &str| -> Vec<String> {
        let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
        words.map(str::to_lowercase).collect()
    };
    let (ours, theirs) = (words(&one.text), words(&other.text));
    if ours.len() != theirs.len() {
        // A missed space joins two words.
        return digits(&ours.concat()) == digits(&theirs.concat());
    }
    let is_confident = one.confidence.min(other.confidence) >= MIN_SHORT_WORD_CONFIDENCE;
    ours.iter().zip(&theirs).all(|(a, b)| is_same_word(a, b, is_confident))
}

/// Whether two readings may be the same word. Both are given in lower case.
fn is_same_word(a: &str, b: &str, is_confident: bool) -> bool {
    /// Minimum similarity of two readings of the same word.
    const SAME_WORD: f64 = 0.6;
    /// Maximum length of a short word. A single letter can turn a short word into another, such as
    /// "now" into "not".
    const SHORT: usize = 3;
    let has_digits = |word: &str| word.chars().any(char::is_numeric);
    if has_digits(a) || has_digits(b) {
        return digits(&as_digits(a)) == digits(&as_digits(b));
    }
    let short = a.chars().count().max(b.chars().count()) <= SHORT;
    a == b || !(short && is_confident) && strsim::normalized_levenshtein(a, b) >= SAME_WORD
}

fn digits(text: &str) -> String {
    text.chars().filter(|c| c.is_numeric()).collect()
}

/// Replaces letters that are commonly misread digits with those digits.
fn as_digits(word: &str) -> String {
    let digit = |c| match c {
        'o' => '0',
        'i' | 'l' => '1',
        'z' => '2',
        's' => '5',
        'b' => '8',
        other => other,
    };
    word.chars().map(digit).collect()
}

/// Lines that form one text, such as a two-line title.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Caption {
    /// The text, on one line.
    pub(crate) text: String,
    /// How prominent the caption is. This is the height of the letters, as a share of the picture's
    /// height, multiplied by the number of observations.
    pub(crate) prominence: f64,
    /// The lowest confidence of its lines, 0..1.
    pub(crate) confidence: f64,
}

/// Text on screen as a statement.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ScreenStatement {
    /// [`PassageKind::Screen`] or [`PassageKind::Row`].
    pub(crate) kind: PassageKind,
    pub(crate) text: String,
    /// The lowest confidence of its lines, 0..1.
    pub(crate) confidence: f64,
}

/// What the lines on screen state, in order of appearance: captions, then rows of tables. The cells
/// of a row, with the names of their columns, are one text.
pub(crate) fn statements(lines: &[ScreenLine]) -> Vec<ScreenStatement> {
    let tables = Tables::find(lines);
    let captions = captions_outside(lines, &tables).into_iter().map(|caption| ScreenStatement {
        kind: PassageKind::Screen,
        text: caption.text,
        confidence: caption.confidence,
    });
    captions.chain(tables.rows).collect()
}

/// Maximum number of lines in a caption. More lines are considered a page of text.
const MAX_CAPTION_LINES: usize = 4;

/// Groups lines into distinct captions, in order of appearance. Lines form one caption if they
/// appear together and are directly below or next to each other. Single letters are dropped, and
/// the cells of tables.
pub(crate) fn captions(lines: &[ScreenLine]) -> Vec<Caption> {
    captions_outside(lines, &Tables::find(lines))
}

fn captions_outside(lines: &[ScreenLine], tables: &Tables) -> Vec<Caption> {
    let mut groups: Vec<Vec<&ScreenLine>> = Vec::new();
    let outside = lines.iter().enumerate().filter(|(line, _)| !tables.cells.contains(line));
    for (_, line) in outside {
        let group = groups.iter_mut().find(|group| {
            group.len() < MAX_CAPTION_LINES
                && group.last().is_some_and(|last| separator(last, line).is_some())
        });
        match group {
            Some(group) => group.push(line),
            None => groups.push(vec![line]),
        }
    }
    let mut captions: Vec<(String, Caption)> = Vec::new();
    for group in groups {
        let caption = caption(&group);
        let key = letters_and_digits(&caption.text);
        let known = captions.iter().any(|(other, _)| other.contains(&key));
        if key.chars().count() >= 2 && !known {
            captions.retain(|(other, _)| !key.contains(other.as_str()));
            captions.push((key, caption));
        }
    }
    captions.into_iter().map(|(_, caption)| caption).collect()
}

fn caption(lines: &[&ScreenLine]) -> Caption {
    let mut text = lines[0].text.trim().to_owned();
    for pair in lines.windows(2) {
        text.push_str(separator(pair[0], pair[1]).unwrap_or(" "));
        text.push_str(pair[1].text.trim());
    }
    let height = |line: &&ScreenLine| line.locations.first().map_or(0.0, |at| at.bounds[3]);
    let seen = lines.iter().map(|line| line.locations.len().max(1)).max().unwrap_or(1);
    let height = lines.iter().map(height).fold(0.0, f64::max);
    let confidence = lines.iter().map(|line| line.confidence).fold(1.0, f64::min);
    Caption { text, prominence: height * seen as f64, confidence }
}

/// Returns the separator between two lines of one caption. The separator is a space if both lines
/// or neither are in upper case. Otherwise, it is a comma, as between a name and a role. Returns
/// `None` if the lines belong to different captions.
fn separator(above: &ScreenLine, line: &ScreenLine) -> Option<&'static str> {
    /// Maximum gap between the two lines, in letter heights.
    const GAP: f64 = 0.9;
    /// Minimum gap between the two lines, in letter heights. Lines with a negative gap overlap.
    const INTO: f64 = -0.4;
    /// Maximum vertical shift between lines next to each other, in letter heights.
    const ROW: f64 = 0.4;
    /// Maximum ratio of the letter heights of lines next to each other.
    const ONE_SIZE: f64 = 1.35;
    /// Maximum ratio of the letter heights of lines below each other.
    const ONE_CAPTION: f64 = 3.0;
    let together = above.locations.iter().find_map(|a| {
        let b = line.locations.iter().find(|b| b.t == a.t)?;
        Some((a.bounds, b.bounds))
    });
    let ([x, y, w, h], [u, v, o, k]) = together?;
    let (min, max) = (h.min(k), h.max(k));
    let ratio = max / min.max(f64::MIN_POSITIVE);
    let space = |gap: f64| (INTO * min..=GAP * min).contains(&gap);
    let common = (x + w).min(u + o) - x.max(u);
    let under = space(v - (y + h)) && common >= 0.5 * w.min(o) && ratio <= ONE_CAPTION;
    let next_to = space(u - (x + w)) && ((y + h / 2.0) - (v + k / 2.0)).abs() <= ROW * min;
    let upper_case = |text: &str| !text.chars().any(char::is_lowercase);
    match (upper_case(&above.text), upper_case(&line.text)) {
        _ if !(under || next_to && ratio <= ONE_SIZE) => None,
        (a, b) if a == b => Some(" "),
        _ => Some(", "),
    }
}

/// One line of text over time.
struct Line<'a> {
    /// The letters and digits of `best`, in lower case.
    key: String,
    /// The reading with the highest confidence.
    best: &'a TextLine,
    seen: Vec<(f64, &'a TextLine)>,
}

impl Line<'_> {
    /// The overlap of a reading with the last place of the line, 0..1.
    fn overlap(&self, reading: &TextLine) -> f32 {
        self.seen.last().map_or(0.0, |(_, last)| overlap(&last.bounds, &reading.bounds))
    }

    fn record(&self) -> ScreenLine {
        let (first, last) = (self.seen.first(), self.seen.last());
        let readings = self.seen.iter().map(|(_, line)| (line.text.as_str(), line.confidence));
        ScreenLine {
            text: vote::vote(readings),
            confidence: rounded(self.best.confidence.into()),
            first_seen: rounded(first.map_or(0.0, |(t, _)| *t)),
            last_seen: rounded(last.map_or(0.0, |(t, _)| *t)),
            locations: self
                .seen
                .iter()
                .map(|(t, line)| Location::new(*t, &line.bounds, line.confidence))
                .collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn readings_of_a_static_line_are_merged() {
        let line = |text: &str, confidence, y| TextLine {
            text: text.into(),
            confidence,
            bounds: [0.1, y, 0.5, 0.1],
        };
        let frames = [
            (
                1.0,
                vec![line("SPEED LlMIT", 0.8, 0.9), line("Exit", 0.9, 0.1), line("~~", 0.9, 0.5)],
            ),
            (2.0, vec![line("SPEED LIMIT", 0.95, 0.9), line("noise", 0.3, 0.2)]),
            (3.0, vec![line("SPEEDLIMIT", 0.9, 0.9), line("Speed limit", 0.9, 0.2)]),
        ];
        let lines = merge_lines(&frames);
        let seen: Vec<_> =
            lines.iter().map(|l| (l.text.as_str(), l.locations.len(), l.first_seen)).collect();
        assert_eq!(seen, [("Exit", 1, 1.0), ("SPEED LIMIT", 3, 1.0), ("Speed limit", 1, 3.0)]);
    }

    #[test]
    fn similar_text_in_another_place_is_another_line() {
        let read = |name: &str| {
            let line = |text: &str, y| TextLine {
                text: text.into(),
                confidence: 0.9,
                bounds: [0.1, y, 0.5, 0.1],
            };
            vec![line("\"Widget E\"],", 0.1), line(name, 0.7)]
        };
        let frames = [(1.0, read("Widget E")), (2.0, read("Widgct E")), (3.0, read("Widget E"))];
        let lines: Vec<_> =
            merge_lines(&frames).into_iter().map(|l| (l.text, l.locations.len())).collect();
        let line = |text: &str, count| (text.to_owned(), count);
        assert_eq!(lines, [line("\"Widget E\"],", 3), line("Widget E", 3)]);
    }

    #[test]
    fn changed_numbers_and_words_make_another_line() {
        let read = |text: &str| {
            vec![TextLine { text: text.into(), confidence: 0.9, bounds: [0.1, 0.1, 0.5, 0.1] }]
        };
        let frames = [
            (1.0, read("HOME 1 - 0 AWAY")),
            (2.0, read("HOME 1 - 0 AWAV")),
            (3.0, read("HOME 2 - 0 AWAY")),
            (4.0, read("HOME 2 - 1 AWAY")),
            (5.0, read("H0ME 2 - 1 AWAY")),
            (6.0, read("PLEASE CHOOSE THE RED ONE")),
            (7.0, read("PLEASE CHOOSE THE BIG ONE")),
        ];
        let lines: Vec<_> =
            merge_lines(&frames).into_iter().map(|l| (l.text, l.first_seen, l.last_seen)).collect();
        let line = |text: &str, first, last| (text.to_owned(), first, last);
        assert_eq!(
            lines,
            [
                line("HOME 1 - 0 AWAY", 1.0, 2.0),
                line("HOME 2 - 0 AWAY", 3.0, 3.0),
                line("HOME 2 - 1 AWAY", 4.0, 5.0),
                line("PLEASE CHOOSE THE RED ONE", 6.0, 6.0),
                line("PLEASE CHOOSE THE BIG ONE", 7.0, 7.0)
            ]
        );
    }

    #[test]
    fn misread_letters_do_not_make_another_line() {
        let line = |text: &str, confidence| TextLine {
            text: text.into(),
            confidence,
            bounds: [0.1, 0.1, 0.5, 0.1],
        };
        for (one, other, same) in [
            ("CAMERA 07 NORTH GATE", "CAMERA O7 NORTH GATE", true),
            ("Step 11 of 14", "Step 1l of 14", true),
            ("Step 1of 14", "Step 1 of 14", true),
            ("Step 1of 14", "Step 2of 14", false),
            ("10km to go", "20km to go", false),
            ("Total 1,250.00", "Total 1,260.00", false),
            ("The door is now open", "The door is not open", false),
            ("The printer is connected", "The printer is connectcd", true),
        ] {
            assert_eq!(
                has_same_words(&line(one, 0.95), &line(other, 0.95)),
                same,
                "{one}, {other}"
            );
        }
        let (one, other) = ("In the door", "In tbe door");
        assert!(has_same_words(&line(one, 0.95), &line(other, 0.8)), "unsure of a letter");
    }

    fn screen_line(text: &str, t: f64, bounds: [f32; 4]) -> ScreenLine {
        ScreenLine {
            text: text.into(),
            locations: vec![Location::new(t, &bounds, 0.9)],
            ..ScreenLine::default()
        }
    }

    fn caption_texts(lines: &[ScreenLine]) -> Vec<String> {
        captions(lines).into_iter().map(|caption| caption.text).collect()
    }

    #[test]
    fn adjacent_lines_are_one_caption() {
        for (what, lines, expected) in [
            (
                "under one another",
                vec![
                    screen_line("FOR", 1.0, [0.4, 0.30, 0.2, 0.08]),
                    screen_line("BIGGER", 1.0, [0.35, 0.40, 0.3, 0.08]),
                    screen_line("ESCAPES", 1.0, [0.35, 0.50, 0.3, 0.08]),
                ],
                "FOR BIGGER ESCAPES",
            ),
            (
                "a name and what the person does",
                vec![
                    screen_line("ADA", 1.0, [0.1, 0.70, 0.2, 0.10]),
                    screen_line("Engineer", 1.0, [0.1, 0.81, 0.3, 0.05]),
                ],
                "ADA, Engineer",
            ),
            (
                "next to each other",
                vec![
                    screen_line("NORTH", 1.0, [0.1, 0.1, 0.2, 0.05]),
                    screen_line("GATE", 1.0, [0.33, 0.1, 0.2, 0.05]),
                ],
                "NORTH GATE",
            ),
        ] {
            assert_eq!(caption_texts(&lines), [expected], "{what}");
        }
    }

    #[test]
    fn caption_is_as_doubtful_as_its_most_doubtful_line() {
        let line = |text: &str, y, confidence| ScreenLine {
            confidence,
            ..screen_line(text, 1.0, [0.4, y, 0.2, 0.08])
        };
        let lines = [line("DAS", 0.30, 0.99), line("BOREL", 0.40, 0.8), line("EXIT", 0.9, 0.9)];
        let captions = captions(&lines);
        let read: Vec<_> = captions.iter().map(|c| (c.text.as_str(), c.confidence)).collect();
        assert_eq!(read, [("DAS BOREL", 0.8), ("EXIT", 0.9)]);
    }

    #[test]
    fn statements_are_captions_and_rows_of_tables() {
        let table = [("Lamp", "12"), ("Chair", "40"), ("Desk", "90"), ("Shelf", "35")];
        let cells = table.iter().enumerate().flat_map(|(row, (name, price))| {
            let y = 0.2 + 0.1 * row as f32;
            [
                screen_line(name, 1.0, [0.1, y, 0.1, 0.03]),
                screen_line(price, 1.0, [0.4, y, 0.1, 0.03]),
            ]
        });
        let lines: Vec<ScreenLine> =
            cells.chain([screen_line("Prices", 1.0, [0.1, 0.05, 0.2, 0.05])]).collect();
        let expected = [
            (PassageKind::Screen, "Prices"),
            (PassageKind::Row, "Lamp; 12"),
            (PassageKind::Row, "Chair; 40"),
            (PassageKind::Row, "Desk; 90"),
            (PassageKind::Row, "Shelf; 35"),
        ];
        let stated = statements(&lines);
        let stated: Vec<_> = stated.iter().map(|s| (s.kind, s.text.as_str())).collect();
        assert_eq!(stated, expected);
    }

    #[test]
    fn lines_apart_in_space_or_time_are_separate_captions() {
        let apart = [
            screen_line("EXIT", 1.0, [0.1, 0.1, 0.2, 0.05]),
            screen_line("www.example.org", 1.0, [0.1, 0.9, 0.3, 0.05]),
        ];
        assert_eq!(caption_texts(&apart), ["EXIT", "www.example.org"]);
        let one_after_the_other = [
            screen_line("ONE", 1.0, [0.4, 0.30, 0.2, 0.08]),
            screen_line("TWO", 2.0, [0.4, 0.40, 0.2, 0.08]),
        ];
        assert_eq!(caption_texts(&one_after_the_other), ["ONE", "TWO"]);
    }

    #[test]
    fn line_read_whole_later_replaces_its_part() {
        let lines = [
            screen_line("GOOGLE", 1.0, [0.4, 0.30, 0.2, 0.08]),
            screen_line("x", 1.0, [0.9, 0.9, 0.02, 0.02]),
            screen_line("GOOGLE PARIS", 2.0, [0.4, 0.30, 0.2, 0.08]),
        ];
        assert_eq!(caption_texts(&lines), ["GOOGLE PARIS"]);
    }
}
