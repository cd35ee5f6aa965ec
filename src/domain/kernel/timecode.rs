//! SMPTE timecode (ST 12-1): hours, minutes, seconds and frames, drop-frame or non-drop-frame.

use std::fmt;
use std::ops::Add;

use ports::FrameRate;

const MINUTES_PER_DAY: u64 = 24 * 60;

/// The timecode of a frame, between 00:00:00:00 and the last frame of a day. Sums wrap at midnight.
///
/// Timecode counts whole frames per second: 30 at 30000/1001 frames per second. Drop-frame timecode
/// skips numbers so that it keeps up with the clock: each minute except every tenth begins with
/// frame number 2 if it counts 30 frames, with 4 if it counts 60, and with 8 if it counts 120.
/// There is no drop-frame timecode for other rates.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Timecode {
    /// Number of frames since midnight.
    frames: u64,
    nominal: u32,
    drop_frame: bool,
}

/// The error for text that is not a timecode at the given rate.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "'{text}' is no timecode at {nominal} frames per second; one has hours, minutes, seconds and \
     frames, such as 01:00:00:00, or 01:00:00;00 for drop frame"
)]
pub struct InvalidTimecode {
    text: String,
    nominal: u32,
}

impl Timecode {
    /// Returns the timecode of a frame, given as the number of frames since midnight. `drop_frame`
    /// has no effect at a rate without drop-frame timecode.
    pub fn from_frames(frames: u64, rate: FrameRate, drop_frame: bool) -> Self {
        let nominal = rate.nominal();
        let zero = Self { frames: 0, nominal, drop_frame: drop_frame && has_drop_frame(nominal) };
        Self { frames: frames % zero.frames_per_day(), ..zero }
    }

    /// Parses a timecode such as `01:00:00:00`. A `;` or `.` means drop-frame; it is read as `:` at
    /// a rate without drop-frame timecode. Fails if there is no such time of day, and if drop-frame
    /// timecode skips the number.
    pub fn parse(text: &str, rate: FrameRate) -> Result<Self, InvalidTimecode> {
        let fields = || {
            let parts: Vec<u64> = text
                .split([':', ';', '.'])
                .map(|part| part.trim().parse().ok())
                .collect::<Option<_>>()?;
            let [hours, minutes, seconds, frames] = parts[..] else { return None };
            let zero = Self::from_frames(0, rate, text.contains([';', '.']));
            zero.at([hours, minutes, seconds, frames])
        };
        fields().ok_or_else(|| InvalidTimecode {
            text: text.chars().take(60).filter(|c| !c.is_control()).collect(),
            nominal: rate.nominal(),
        })
    }

    /// Returns the timecode with these hours, minutes, seconds and frames. Returns `None` if there
    /// is none.
    fn at(self, [hours, minutes, seconds, frames]: [u64; 4]) -> Option<Self> {
        let nominal = u64::from(self.nominal);
        if hours > 23 || minutes > 59 || seconds > 59 || frames >= nominal {
            return None;
        }
        if seconds == 0 && !minutes.is_multiple_of(10) && frames < self.dropped_per_minute() {
            return None;
        }
        let minutes = hours * 60 + minutes;
        let counted = (minutes * 60 + seconds) * nominal + frames;
        let dropped = self.dropped_per_minute() * (minutes - minutes / 10);
        Some(Self { frames: counted - dropped, ..self })
    }

    /// Returns the hours, minutes, seconds and frames.
    pub fn fields(self) -> [u64; 4] {
        let (nominal, dropped) = (u64::from(self.nominal), self.dropped_per_minute());
        let minute = nominal * 60 - dropped;
        let ten_minutes = minute * 10 + dropped;
        let (tens, rest) = (self.frames / ten_minutes, self.frames % ten_minutes);
        // The first of every ten minutes skips no numbers.
        let minutes = rest.saturating_sub(dropped) / minute;
        let counted = self.frames + dropped * (tens * 9 + minutes);
        let (seconds, frames) = (counted / nominal, counted % nominal);
        [seconds / 3600, seconds / 60 % 60, seconds % 60, frames]
    }

    /// Returns the number of frames since midnight.
    pub fn frames(self) -> u64 {
        self.frames
    }

    /// Returns the number of frames counted per second.
    pub fn nominal(self) -> u32 {
        self.nominal
    }

    /// Whether this is drop-frame timecode.
    pub fn is_drop_frame(self) -> bool {
        self.drop_frame
    }

    /// Returns the number of frames that have a timecode of this kind.
    pub fn frames_per_day(self) -> u64 {
        let per_minute = u64::from(self.nominal) * 60;
        let dropping_minutes = MINUTES_PER_DAY - MINUTES_PER_DAY / 10;
        per_minute * MINUTES_PER_DAY - self.dropped_per_minute() * dropping_minutes
    }

    /// Returns the number of frame numbers skipped per minute, except in every tenth minute.
    fn dropped_per_minute(self) -> u64 {
        if self.drop_frame { u64::from(self.nominal) / 15 } else { 0 }
    }
}

fn has_drop_frame(nominal: u32) -> bool {
    matches!(nominal, 30 | 60 | 120)
}

impl Add<u64> for Timecode {
    type Output = Self;

    fn add(self, frames: u64) -> Self {
        let day = self.frames_per_day();
        Self { frames: (self.frames + frames % day) % day, ..self }
    }
}

impl fmt::Display for Timecode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [hours, minutes, seconds, frames] = self.fields();
        let sign = if self.drop_frame { ';' } else { ':' };
        write!(f, "{hours:02}:{minutes:02}:{seconds:02}{sign}{frames:02}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The rates of film and television, and whether to count in drop-frame timecode.
    const KINDS: [(u32, u32, bool); 12] = [
        (24_000, 1001, false),
        (24, 1, false),
        (25, 1, false),
        (30_000, 1001, true),
        (30_000, 1001, false),
        (30, 1, false),
        (50, 1, false),
        (60_000, 1001, true),
        (60_000, 1001, false),
        (60, 1, false),
        (120_000, 1001, true),
        (10, 1, false),
    ];

    fn zero((numerator, denominator, drop_frame): (u32, u32, bool)) -> (FrameRate, Timecode) {
        let rate = FrameRate::new(numerator, denominator).expect("a rate");
        (rate, Timecode::from_frames(0, rate, drop_frame))
    }

    /// The fields of the next frame, according to the rule for skipped numbers.
    fn next_fields([h, m, s, f]: [u64; 4], nominal: u64, skipped: u64) -> [u64; 4] {
        if f + 1 < nominal {
            return [h, m, s, f + 1];
        }
        if s + 1 < 60 {
            return [h, m, s + 1, 0];
        }
        let (h, m) = if m + 1 < 60 { (h, m + 1) } else { ((h + 1) % 24, 0) };
        [h, m, 0, if m % 10 == 0 { 0 } else { skipped }]
    }

    #[test]
    fn every_frame_of_a_day_has_the_next_number() {
        for kind in [(25, 1, false), (30_000, 1001, true), (60_000, 1001, true)] {
            let (_, zero) = zero(kind);
            let skipped = if kind.2 { u64::from(zero.nominal()) / 15 } else { 0 };
            let mut expected = [0; 4];
            for frames in 0..zero.frames_per_day() {
                let timecode = zero + frames;
                assert_eq!(timecode.fields(), expected, "{kind:?} {frames}");
                assert_eq!(zero.at(expected), Some(timecode), "{kind:?} {frames}");
                expected = next_fields(expected, u64::from(zero.nominal()), skipped);
            }
            assert_eq!(expected, [0; 4], "the day of {kind:?} ends at midnight");
        }
    }

    #[test]
    fn text_round_trips_at_every_minute_of_a_day() {
        for kind in KINDS {
            let (rate, zero) = zero(kind);
            for minute in 0..MINUTES_PER_DAY {
                let counted = minute * 60 * u64::from(zero.nominal());
                let dropped = zero.dropped_per_minute() * (minute - minute / 10);
                let first = counted - dropped + zero.frames_per_day();
                for frames in first - 3..first + 10 {
                    let timecode = zero + frames;
                    let text = timecode.to_string();
                    assert_eq!(Timecode::parse(&text, rate), Ok(timecode), "{text}");
                    assert_eq!(text.contains(';'), kind.2, "{text}");
                }
            }
        }
    }

    #[test]
    fn skipped_numbers_are_no_timecode() {
        for (numerator, skipped) in [(30_000, 2), (60_000, 4), (120_000, 8)] {
            let (rate, zero) = zero((numerator, 1001, true));
            for minute in (0..MINUTES_PER_DAY).filter(|minute| minute % 10 != 0) {
                let (hours, minutes) = (minute / 60, minute % 60);
                for frames in 0..skipped {
                    let text = format!("{hours:02}:{minutes:02}:00;{frames:02}");
                    Timecode::parse(&text, rate).expect_err(&text);
                    assert!(Timecode::parse(&text.replace(';', ":"), rate).is_ok(), "{text}");
                }
                assert!(zero.at([hours, minutes, 0, skipped]).is_some());
            }
        }
    }

    #[test]
    fn drop_frame_timecode_keeps_up_with_the_clock() {
        let (rate, zero) = zero((30_000, 1001, true));
        for (frames, expected) in [
            (0, "00:00:00;00"),
            (1799, "00:00:59;29"),
            (1800, "00:01:00;02"),
            (3597, "00:01:59;29"),
            (3598, "00:02:00;02"),
            (17_981, "00:09:59;29"),
            (17_982, "00:10:00;00"),
            (107_892, "01:00:00;00"),
        ] {
            assert_eq!((zero + frames).to_string(), expected, "{frames}");
        }
        // A day of timecode is less than a tenth of a second shorter than a day of the clock.
        let day = zero.frames_per_day() as f64 / rate.per_second();
        assert!((86_400.0 - day).abs() < 0.1, "{day}");
        let sixty =
            Timecode::from_frames(3600, FrameRate::new(60_000, 1001).expect("a rate"), true);
        assert_eq!(sixty.to_string(), "00:01:00;04");
    }

    #[test]
    fn timecodes_of_containers_are_parsed() {
        let broadcast = (30_000, 1001);
        for (text, (numerator, denominator), frames, drop_frame) in [
            ("01:00:00:00", (25, 1), 90_000, false),
            ("01:00:00;00", broadcast, 107_892, true),
            ("01:00:00.00", broadcast, 107_892, true),
            ("01;00;00;00", broadcast, 107_892, true),
            ("01:00:00:00", broadcast, 108_000, false),
            ("01:00:00:00", (24_000, 1001), 86_400, false),
            ("10:11:12:13", (24, 1), 880_141, false),
            // There is no drop-frame timecode at this rate.
            ("00:00:01;00", (25, 1), 25, false),
            ("23:59:59:119", (120, 1), 10_367_999, false),
        ] {
            let rate = FrameRate::new(numerator, denominator).expect("a rate");
            let timecode = Timecode::parse(text, rate).expect(text);
            assert_eq!(
                (timecode.frames(), timecode.is_drop_frame()),
                (frames, drop_frame),
                "{text}"
            );
        }
        let rate = FrameRate::new(25, 1).expect("a rate");
        for text in [
            "",
            "yesterday",
            "00:00:00:25",
            "24:00:00:00",
            "00:60:00:00",
            "00:00:60:00",
            "1:2:3",
            "00:00:00:00:00",
            "-1:00:00:00",
            "00:00:00:-1",
            "99999999999999999999:00:00:00",
        ] {
            let error = Timecode::parse(text, rate).expect_err(text).to_string();
            assert!(error.contains("25 frames per second"), "{error}");
        }
    }

    #[test]
    fn sums_wrap_at_midnight() {
        let mut random = fastrand::Rng::with_seed(12);
        for _ in 0..100_000 {
            let (rate, zero) = zero(KINDS[random.usize(..KINDS.len())]);
            let day = zero.frames_per_day();
            let (start, length) = (zero + random.u64(..day), random.u64(..day));
            let end = start + length;
            assert_eq!(end.frames(), (start.frames() + length) % day);
            assert_eq!(start + length / 2 + (length - length / 2), end);
            assert_eq!(Timecode::parse(&end.to_string(), rate), Ok(end));
            assert_eq!(start + day, start);
            assert_eq!((start + u64::MAX).frames(), (start.frames() + u64::MAX % day) % day);
        }
    }
}
