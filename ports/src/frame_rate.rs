//! Frame rates as fractions, such as 30000/1001 frames per second.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// A number of frames per second, as a fraction in lowest terms. Its text form is `30000/1001`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct FrameRate {
    numerator: u32,
    denominator: u32,
}

/// The error for text that is not a frame rate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InvalidFrameRate(String);

impl FrameRate {
    /// Rates of film and television.
    const STANDARD: [Self; 14] = [
        Self { numerator: 24_000, denominator: 1001 },
        Self { numerator: 24, denominator: 1 },
        Self { numerator: 25, denominator: 1 },
        Self { numerator: 30_000, denominator: 1001 },
        Self { numerator: 30, denominator: 1 },
        Self { numerator: 48_000, denominator: 1001 },
        Self { numerator: 48, denominator: 1 },
        Self { numerator: 50, denominator: 1 },
        Self { numerator: 60_000, denominator: 1001 },
        Self { numerator: 60, denominator: 1 },
        Self { numerator: 96, denominator: 1 },
        Self { numerator: 100, denominator: 1 },
        Self { numerator: 120_000, denominator: 1001 },
        Self { numerator: 120, denominator: 1 },
    ];

    /// Creates a rate. Returns `None` if the numerator or the denominator is 0.
    pub fn new(numerator: u32, denominator: u32) -> Option<Self> {
        if numerator == 0 || denominator == 0 {
            return None;
        }
        let divisor = greatest_common_divisor(numerator, denominator);
        Some(Self { numerator: numerator / divisor, denominator: denominator / divisor })
    }

    /// Returns the rate for a decimal number of frames per second: the rate of film or television
    /// that it was probably rounded from, otherwise the number itself, to a thousandth. Returns
    /// `None` if the number is not positive or exceeds a million.
    pub fn nearest(frames_per_second: f64) -> Option<Self> {
        if !(0.001..=1e6).contains(&frames_per_second) {
            return None;
        }
        let thousandths = (frames_per_second * 1000.0).round() as u32;
        Self::standard(frames_per_second).or_else(|| Self::new(thousandths, 1000))
    }

    /// Replaces a measured average by the rate of film or television near it, if there is one.
    pub fn to_standard(self) -> Self {
        Self::standard(self.per_second()).unwrap_or(self)
    }

    /// Whether the rate is one of film or television, or an average near one.
    pub fn is_standard(self) -> bool {
        Self::standard(self.per_second()).is_some()
    }

    fn standard(frames_per_second: f64) -> Option<Self> {
        /// Rates are often rounded to two decimals, as in 23.98.
        const TOLERANCE: f64 = 0.005;
        let is_near = |rate: &Self| (rate.per_second() - frames_per_second).abs() < TOLERANCE;
        Self::STANDARD.into_iter().find(is_near)
    }

    /// Returns the numerator of the fraction.
    pub fn numerator(self) -> u32 {
        self.numerator
    }

    /// Returns the denominator of the fraction.
    pub fn denominator(self) -> u32 {
        self.denominator
    }

    /// Returns the rate as a decimal number of frames per second.
    pub fn per_second(self) -> f64 {
        f64::from(self.numerator) / f64::from(self.denominator)
    }

    /// Returns the whole number of frames that timecode counts per second, at least 1. It is 30 for
    /// 30000/1001.
    pub fn nominal(self) -> u32 {
        (self.per_second().round() as u32).max(1)
    }

    /// Whether the rate is a whole number times 1000/1001, as in NTSC television.
    pub fn is_ntsc(self) -> bool {
        u64::from(self.numerator) * 1001
            == u64::from(self.nominal()) * 1000 * u64::from(self.denominator)
    }

    /// Returns the number of the frame that begins nearest to a time in seconds.
    pub fn frame_at(self, seconds: f64) -> u64 {
        (seconds * f64::from(self.numerator) / f64::from(self.denominator)).round().max(0.0) as u64
    }

    /// Returns the time at which a frame begins, in seconds from the first frame.
    pub fn seconds(self, frame: u64) -> f64 {
        frame as f64 * f64::from(self.denominator) / f64::from(self.numerator)
    }

    /// Converts a number of frames to the nearest number of frames at another rate with the same
    /// duration.
    pub fn convert(self, frames: u64, to: Self) -> u64 {
        if self == to {
            return frames;
        }
        let scaled = u128::from(frames) * u128::from(to.numerator) * u128::from(self.denominator);
        let divisor = u128::from(to.denominator) * u128::from(self.numerator);
        u64::try_from((scaled + divisor / 2) / divisor).unwrap_or(u64::MAX)
    }
}

fn greatest_common_divisor(a: u32, b: u32) -> u32 {
    if b == 0 { a } else { greatest_common_divisor(b, a % b) }
}

impl fmt::Display for FrameRate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.numerator, self.denominator)
    }
}

impl FromStr for FrameRate {
    type Err = InvalidFrameRate;

    fn from_str(text: &str) -> Result<Self, InvalidFrameRate> {
        let rate = || {
            let (numerator, denominator) = text.split_once('/')?;
            Self::new(numerator.parse().ok()?, denominator.parse().ok()?)
        };
        rate().ok_or_else(|| InvalidFrameRate(text.to_owned()))
    }
}

impl TryFrom<String> for FrameRate {
    type Error = InvalidFrameRate;

    fn try_from(text: String) -> Result<Self, InvalidFrameRate> {
        text.parse()
    }
}

impl From<FrameRate> for String {
    fn from(rate: FrameRate) -> Self {
        rate.to_string()
    }
}

impl fmt::Display for InvalidFrameRate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "'{}' is no frame rate; one is a fraction such as 30000/1001", self.0)
    }
}

impl std::error::Error for InvalidFrameRate {}

#[cfg(test)]
mod tests {
    use super::*;

    fn rate(numerator: u32, denominator: u32) -> FrameRate {
        FrameRate::new(numerator, denominator).expect("a rate")
    }

    #[test]
    fn rounded_rates_become_standard_rates() {
        for (decimal, expected) in [
            (29.97, rate(30_000, 1001)),
            (29.969_999, rate(30_000, 1001)),
            (30_000.0 / 1001.0, rate(30_000, 1001)),
            (59.94, rate(60_000, 1001)),
            (23.976, rate(24_000, 1001)),
            (23.98, rate(24_000, 1001)),
            (25.0, rate(25, 1)),
            (30.0, rate(30, 1)),
            (14.9, rate(149, 10)),
            (12.5, rate(25, 2)),
            (10.0, rate(10, 1)),
        ] {
            assert_eq!(FrameRate::nearest(decimal), Some(expected), "{decimal}");
        }
        for decimal in [0.0, -25.0, f64::NAN, f64::INFINITY, 1e9] {
            assert_eq!(FrameRate::nearest(decimal), None, "{decimal}");
        }
        assert_eq!(rate(2_997_003, 100_000).to_standard(), rate(30_000, 1001));
        assert_eq!(rate(359, 12).to_standard(), rate(359, 12));
    }

    #[test]
    fn rates_are_in_lowest_terms() {
        assert_eq!(rate(50, 2), rate(25, 1));
        assert_eq!(rate(60_000, 2002).to_string(), "30000/1001");
        assert_eq!((FrameRate::new(0, 1), FrameRate::new(1, 0)), (None, None));
    }

    #[test]
    fn rates_round_trip_through_json() {
        let json = serde_json::to_value(rate(24_000, 1001)).expect("JSON");
        assert_eq!(json, "24000/1001");
        assert_eq!(serde_json::from_value::<FrameRate>(json).expect("a rate"), rate(24_000, 1001));
        for text in ["", "25", "25/0", "0/1", "-25/1", "a/b", "99999999999/1"] {
            let error = text.parse::<FrameRate>().expect_err(text).to_string();
            assert!(error.contains("30000/1001"), "{error}");
        }
    }

    #[test]
    fn nominal_rates_count_whole_frames() {
        for (rate, nominal, ntsc) in [
            (rate(24_000, 1001), 24, true),
            (rate(24, 1), 24, false),
            (rate(30_000, 1001), 30, true),
            (rate(60_000, 1001), 60, true),
            (rate(25, 2), 13, false),
            (rate(1, 10), 1, false),
        ] {
            assert_eq!((rate.nominal(), rate.is_ntsc()), (nominal, ntsc), "{rate}");
        }
    }

    #[test]
    fn times_in_milliseconds_lead_back_to_their_frame() {
        for rate in FrameRate::STANDARD {
            for frame in (0..5_000_000).step_by(997) {
                let seconds = frame as f64 / rate.per_second();
                let stored = (seconds * 1000.0).round() / 1000.0;
                assert_eq!(rate.frame_at(stored), frame, "{rate}");
            }
        }
    }

    #[test]
    fn conversion_keeps_durations() {
        assert_eq!(rate(25, 1).convert(25, rate(24, 1)), 24);
        assert_eq!(rate(30_000, 1001).convert(30_000, rate(25, 1)), 25_025);
        assert_eq!(rate(24, 1).convert(1, rate(25, 1)), 1);
        assert_eq!(rate(25, 1).convert(u64::MAX, rate(25, 1)), u64::MAX);
        for frames in 0..10_000 {
            let there = rate(30_000, 1001).convert(frames, rate(60_000, 1001));
            assert_eq!(there, frames * 2);
            assert_eq!(rate(60_000, 1001).convert(there, rate(30_000, 1001)), frames);
        }
    }
}
