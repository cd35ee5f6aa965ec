//! How facts are worded: times, lengths, counts and lists in plain English.

use text::numbers::CARDINALS;
use text::plural::plural;

/// Formats a time as a player shows it, to the second: `0:12`, `1:02:03`.
pub(in crate::answering) fn clock(seconds: f64) -> String {
    let whole = seconds.max(0.0) as u64;
    let (hours, minutes, seconds) = (whole / 3600, whole / 60 % 60, whole % 60);
    match hours {
        0 => format!("{minutes}:{seconds:02}"),
        _ => format!("{hours}:{minutes:02}:{seconds:02}"),
    }
}

/// Formats a length of time in words: `0.8 seconds`, `12 seconds`, `2 minutes 5 seconds`.
pub(super) fn length(seconds: f64) -> String {
    if seconds < 9.95 {
        let tenths = (seconds * 10.0).round() / 10.0;
        let unit = if tenths == 1.0 { "second" } else { "seconds" };
        return format!("{tenths} {unit}");
    }
    let whole = seconds.round() as u64;
    let unit = |count: u64, name: &str| match count {
        1 => format!("1 {name}"),
        count => format!("{count} {name}s"),
    };
    match (whole / 60, whole % 60) {
        (0, seconds) => unit(seconds, "second"),
        (minutes, 0) => unit(minutes, "minute"),
        (minutes, seconds) => format!("{} {}", unit(minutes, "minute"), unit(seconds, "second")),
    }
}

/// Formats a count with its noun, in words up to twelve: `no dogs`, `one dog`, `13 dogs`.
pub(super) fn count(number: u64, noun: &str) -> String {
    let named = CARDINALS.iter().find(|(_, value)| u64::from(*value) == number && number <= 12);
    match (number, named) {
        (0, _) => format!("no {}", plural(noun)),
        (1, _) => format!("one {noun}"),
        (_, Some((name, _))) => format!("{name} {}", plural(noun)),
        (_, None) => format!("{number} {}", plural(noun)),
    }
}

/// Formats a share or probability: `72 %`.
pub(super) fn percent(share: f64) -> String {
    format!("{:.0} %", 100.0 * share)
}

/// Quotes text, shortened to a length that an answer can hold.
pub(super) fn quote(text: &str) -> String {
    const MAX_CHARS: usize = 300;
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match text.char_indices().nth(MAX_CHARS) {
        Some((end, _)) => format!("“{}…”", text[..end].trim_end()),
        None => format!("“{text}”"),
    }
}

/// Ends a sentence with a full stop, unless it has one or ends with a quotation that has one.
pub(super) fn ended(text: String) -> String {
    let is_ended = [".", ".”", "?”", "!”", "…”"].iter().any(|end| text.ends_with(end));
    if is_ended { text } else { text + "." }
}
