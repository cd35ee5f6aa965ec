//! Reads which part of the video a question is about: `between 0:10 and 0:20`, `at 1:05`, `in the
//! first ten seconds`.

use text::numbers::CARDINALS;

use super::question::QuestionWord;
use crate::kernel::time::Span;

/// A part of a video, in seconds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum TimeWindow {
    /// From the first time to the second.
    Between(f64, f64),
    /// At a time.
    At(f64),
    /// From a time to the end.
    After(f64),
    /// The last seconds.
    Final(f64),
}

impl TimeWindow {
    /// Returns the span of the window in a video; `None` if it lies outside the video.
    pub(crate) fn span(self, duration: f64) -> Option<Span> {
        let (start, end) = match self {
            Self::Between(start, end) => (start, end),
            // Times in questions are whole seconds.
            Self::At(time) => (time, time + 1.0),
            Self::After(time) => (time, duration),
            Self::Final(seconds) => ((duration - seconds).max(0.0), duration),
        };
        (start < duration && start < end).then(|| Span { start, end: end.min(duration) })
    }
}

/// Removes the words that name a part of the video from a question and returns that part.
pub(super) fn take_window(words: &mut Vec<QuestionWord>) -> Option<TimeWindow> {
    for first in 0..words.len() {
        if let Some((window, end)) = window_at(words, first) {
            words.drain(first..end);
            return Some(window);
        }
    }
    None
}

/// Reads the window that begins at word `first`. Also returns the index after its last word.
fn window_at(words: &[QuestionWord], first: usize) -> Option<(TimeWindow, usize)> {
    let lower = |at: usize| words.get(at).map_or("", |word| word.lower.as_str());
    match lower(first) {
        "between" | "from" => {
            let (start, joint) = time_at(words, first + 1, true)?;
            let is_joint = ["and", "to", "until", "till"].contains(&lower(joint));
            let (end, after) = time_at(words, joint + 1, true).filter(|_| is_joint)?;
            // One of the times must have a unit, since `between 10 and 20` may count anything.
            let has_unit = time_at(words, first + 1, false).or(time_at(words, joint + 1, false));
            let start = if is_minutes(words, joint + 1) && !is_timed(words, first + 1) {
                start * 60.0
            } else {
                start
            };
            has_unit.filter(|_| start < end).map(|_| (TimeWindow::Between(start, end), after))
        }
        "at" | "around" => {
            let (time, end) = time_at(words, first + 1, false)?;
            Some((TimeWindow::At(time), end))
        }
        "after" | "since" => {
            let (time, end) = time_at(words, first + 1, false)?;
            Some((TimeWindow::After(time), end))
        }
        "before" | "until" => {
            let (time, end) = time_at(words, first + 1, false)?;
            Some((TimeWindow::Between(0.0, time), end))
        }
        "in" | "during" | "within" | "for" => {
            let at = if lower(first + 1) == "the" { first + 2 } else { first + 1 };
            let (length, end) = length_at(words, at + 1)?;
            match lower(at) {
                "first" => Some((TimeWindow::Between(0.0, length), end)),
                "last" | "final" => Some((TimeWindow::Final(length), end)),
                _ => None,
            }
        }
        _ => None,
    }
}

/// Reads a length at word `at`, such as `10 seconds` or `minute`.
fn length_at(words: &[QuestionWord], at: usize) -> Option<(f64, usize)> {
    let unit = |at: usize| words.get(at).and_then(|word| unit(&word.lower));
    if let Some(seconds) = unit(at) {
        return Some((seconds, at + 1));
    }
    let number = number(&words.get(at)?.lower)?;
    Some((number * unit(at + 1)?, at + 2))
}

/// Reads a time at word `at`: a clock time, a number with its unit (`12 s`, `1 minute 20 seconds`,
/// `second 12`) or, if `is_bare` is set, a number alone.
fn time_at(words: &[QuestionWord], at: usize, is_bare: bool) -> Option<(f64, usize)> {
    let word = words.get(at)?.lower.as_str();
    if let Some(seconds) = clock(word) {
        return Some((seconds, at + 1));
    }
    if word == "the" {
        return time_at(words, at + 1, is_bare);
    }
    let next = words.get(at + 1).map(|word| word.lower.as_str());
    if let Some(seconds) = unit(word) {
        let number = number(next?)?;
        return Some((number * seconds, at + 2));
    }
    let (value, glued) = number_with_unit(word)?;
    let (seconds, mut end) = match (glued, next.and_then(unit)) {
        (Some(unit), _) => (value * unit, at + 1),
        (None, Some(unit)) => (value * unit, at + 2),
        (None, None) if is_bare => (value, at + 1),
        (None, None) => return None,
    };
    // `1 minute 20 seconds`, `1 minute and 20 seconds`
    let follows = |at: usize| length_at(words, at).filter(|_| seconds >= 60.0);
    let is_and = words.get(end).is_some_and(|word| word.lower == "and");
    let rest = follows(end).or_else(|| follows(end + 1).filter(|_| is_and));
    let rest = rest.filter(|(rest, _)| *rest < 60.0);
    let rest = rest.map(|(rest, after)| {
        end = after;
        rest
    });
    Some((seconds + rest.unwrap_or_default(), end))
}

/// Whether the time at word `at` has a unit or is a clock time.
fn is_timed(words: &[QuestionWord], at: usize) -> bool {
    time_at(words, at, false).is_some()
}

/// Whether the time at word `at` is in minutes.
fn is_minutes(words: &[QuestionWord], at: usize) -> bool {
    let next = words.get(at + 1).and_then(|word| unit(&word.lower));
    next == Some(60.0)
}

/// The length of a unit of time, in seconds.
fn unit(word: &str) -> Option<f64> {
    match word {
        "s" | "sec" | "secs" | "second" | "seconds" => Some(1.0),
        "min" | "mins" | "minute" | "minutes" => Some(60.0),
        "h" | "hour" | "hours" => Some(3600.0),
        _ => None,
    }
}

/// The value of a number in digits or in one word.
fn number(word: &str) -> Option<f64> {
    let named = CARDINALS.iter().find(|(name, _)| *name == word);
    let value = named.map(|(_, value)| f64::from(*value)).or_else(|| word.parse().ok());
    value.filter(|value: &f64| value.is_finite() && *value >= 0.0)
}

/// A number that may be followed by its unit, as in `12s`.
fn number_with_unit(word: &str) -> Option<(f64, Option<f64>)> {
    let digits = word.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(word.len());
    match word.split_at(digits) {
        (value, unit_name) if !value.is_empty() && !unit_name.is_empty() => {
            Some((number(value)?, Some(unit(unit_name)?)))
        }
        _ => Some((number(word)?, None)),
    }
}

/// The seconds of a clock time such as `1:05` or `1:02:03`.
fn clock(word: &str) -> Option<f64> {
    let parts: Vec<f64> = word.split(':').map(|part| part.parse().ok()).collect::<Option<_>>()?;
    let is_clock = (2..=3).contains(&parts.len()) && parts[1..].iter().all(|part| *part < 60.0);
    is_clock.then(|| parts.iter().fold(0.0, |sum, part| sum * 60.0 + part))
}
