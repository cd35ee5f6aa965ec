//! Video time and wall-clock time: spans, timecodes, rounding and the current time.

use serde::{Deserialize, Serialize};

/// A span of a video, with times in seconds from the start. In a video's list of spans, the index
/// of a span is its chunk id.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Span {
    /// Where the span begins.
    pub start: f64,
    /// Where the span ends, after `start`.
    pub end: f64,
}

impl Span {
    /// Returns the length, in seconds.
    pub fn seconds(&self) -> f64 {
        self.end - self.start
    }

    /// Returns the length of the overlap with `other`, in seconds; 0 if there is none.
    pub fn overlap(&self, other: &Self) -> f64 {
        (self.end.min(other.end) - self.start.max(other.start)).max(0.0)
    }

    /// Whether this is a single time within `other`.
    pub fn is_at(&self, other: &Self) -> bool {
        self.start == self.end && other.start <= self.start && self.start <= other.end
    }

    /// Formats the span as `M:SS.ss-M:SS.ss`.
    pub fn timecode(&self) -> String {
        format!("{}-{}", timecode(self.start), timecode(self.end))
    }
}

/// Formats a time as `M:SS.ss`.
pub fn timecode(seconds: f64) -> String {
    let hundredths = (seconds.max(0.0) * 100.0).round() as u64;
    format!("{}:{:02}.{:02}", hundredths / 6000, hundredths / 100 % 60, hundredths % 100)
}

/// Returns the current time in the API's format: ISO 8601 in UTC, to the second.
pub fn now() -> String {
    jiff::Timestamp::now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}

/// Converts an ISO 8601 time to milliseconds since 1970. A date alone means midnight UTC.
pub fn instant(text: &str) -> Option<i64> {
    let date = || text.parse::<jiff::civil::Date>().ok()?.to_zoned(jiff::tz::TimeZone::UTC).ok();
    let parsed = text.parse::<jiff::Timestamp>().ok().or_else(|| Some(date()?.timestamp()));
    parsed.map(jiff::Timestamp::as_millisecond)
}

/// Formats an instant, given in milliseconds since 1970, in the API's format. This is the inverse
/// of [`instant`], except that fractions of a second are lost.
pub fn iso(instant: i64) -> String {
    let at = jiff::Timestamp::from_millisecond(instant).unwrap_or_default();
    at.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}

/// Formats an instant, given in milliseconds since 1970, in ISO 8601 in UTC, to the millisecond. This
/// is the inverse of [`instant`].
pub fn iso_milliseconds(instant: i64) -> String {
    let at = jiff::Timestamp::from_millisecond(instant).unwrap_or_default();
    at.strftime("%Y-%m-%dT%H:%M:%S%.3fZ").to_string()
}

/// Rounds a time in seconds to milliseconds. This is the precision of all times in records, hits
/// and citations, and it is finer than the duration of any frame.
pub fn rounded(seconds: f64) -> f64 {
    // Adding zero turns −0.0, which is the sum of no numbers, into 0.0.
    (seconds * 1000.0).round() / 1000.0 + 0.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn milliseconds_survive_formatting() {
        let at = 1_767_225_600_007;
        assert_eq!(iso_milliseconds(at), "2026-01-01T00:00:00.007Z");
        assert_eq!(instant(&iso_milliseconds(at)), Some(at));
        assert_eq!(iso_milliseconds(at - 7), "2026-01-01T00:00:00.000Z");
    }

    #[test]
    fn timecodes_round_once_and_carry() {
        for (seconds, expected) in [
            (0.0, "0:00.00"),
            (3.0, "0:03.00"),
            (59.996, "1:00.00"),
            (75.5, "1:15.50"),
            (3661.25, "61:01.25"),
        ] {
            assert_eq!(timecode(seconds), expected);
        }
    }
}
