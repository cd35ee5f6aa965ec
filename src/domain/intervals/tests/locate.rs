//! When a text is said or shown.

use super::{facts, speech, table};
use crate::aggregation::testing::video;
use crate::facts::{TimedLine, VideoFacts};
use crate::kernel::time::Span;

#[test]
fn a_text_is_found_where_its_first_words_are_said_or_its_first_line_is_shown() {
    let words = [("We", 1.0, 1.2), ("make", 1.2, 1.5), ("We", 4.0, 4.2), ("make", 4.2, 4.5)];
    let words = words.into_iter().chain([("maps.", 4.5, 5.0)]).collect::<Vec<_>>();
    let known = facts(&video(10.0, 1), Some(speech(&[(0.0, 10.0)], &words)));
    let line = |text: &str, start: f64| {
        let span = Span { start, end: start + 2.0 };
        TimedLine { text: text.into(), span, possible: span, confidence: 0.9 }
    };
    let lines = Some(vec![line("Fish soup", 6.5), line("for 60", 7.0)]);
    let table = table(&VideoFacts { lines, ..known });
    let whole = Span { start: 0.0, end: 10.0 };
    assert_eq!(table.time_of("We make maps", whole), Some(4.0));
    assert_eq!(table.time_of("We make", whole), Some(1.0));
    assert_eq!(table.time_of("We make", Span { start: 3.0, end: 5.0 }), Some(4.0));
    assert_eq!(table.time_of("FISH SOUP, for 60", whole), Some(6.5));
    assert_eq!(table.time_of("A cat is in view.", whole), None);
    assert_eq!(table.time_of("", whole), None);
}
