//! SMPTE timecode (ST 12): hours, minutes, seconds and frames, drop-frame or non-drop-frame.

/// The start and counting mode of a video's timecode.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Timecode {
    /// Number of the first frame, counted from 00:00:00:00.
    pub(super) start: u64,
    /// Number of frames counted per second of timecode.
    base: u64,
    /// Whether the timecode is drop-frame. If so, most minutes skip frame numbers 0 and 1 at
    /// 30000/1001 frames per second, and 0 to 3 at 60000/1001, so that the timecode keeps up with
    /// the clock.
    pub(super) drop_frame: bool,
}

impl Timecode {
    /// Creates a non-drop-frame timecode that starts at 0.
    pub(super) fn zero(rate: f64) -> Self {
        Self { start: 0, base: rate.round().max(1.0) as u64, drop_frame: false }
    }

    /// Parses a container's timecode, such as `01:00:00:00`. A `;` or `.` before the frame number
    /// means drop-frame. If the container's timecode is missing or malformed, the result starts at
    /// 0.
    pub(super) fn from_container(label: Option<&str>, rate: f64) -> Self {
        label.and_then(|label| Self::parse(label, rate)).unwrap_or_else(|| Self::zero(rate))
    }

    fn parse(label: &str, rate: f64) -> Option<Self> {
        let zero = Self::zero(rate);
        let parts: Vec<u64> = label
            .split([':', ';', '.'])
            .map(|part| part.trim().parse().ok())
            .collect::<Option<_>>()?;
        let [hours, minutes, seconds, frames] = parts[..] else { return None };
        if hours > 99 || minutes > 59 || seconds > 59 || frames >= zero.base {
            return None;
        }
        let drop_frame = label.contains([';', '.']) && zero.base.is_multiple_of(30);
        let minutes = hours * 60 + minutes;
        let counted = (minutes * 60 + seconds) * zero.base + frames;
        let dropped =
            if drop_frame { zero.dropped_per_minute() * (minutes - minutes / 10) } else { 0 };
        Some(Self { start: counted.checked_sub(dropped)?, drop_frame, ..zero })
    }

    /// Returns the number of frame numbers skipped per minute, except in every tenth minute.
    fn dropped_per_minute(self) -> u64 {
        self.base / 15
    }

    /// Returns the timecode of a frame, given its number counted from 00:00:00:00.
    pub(super) fn label(self, frame: u64) -> String {
        let mut counted = frame;
        if self.drop_frame {
            let (minute, dropped_per_minute) = (self.base * 60, self.dropped_per_minute());
            let ten = minute * 10 - dropped_per_minute * 9;
            let (tens, rest) = (frame / ten, frame % ten);
            // The first of every ten minutes skips no numbers.
            let minutes = rest.saturating_sub(dropped_per_minute) / (minute - dropped_per_minute);
            counted += dropped_per_minute * (tens * 9 + minutes);
        }
        let (seconds, frames) = (counted / self.base, counted % self.base);
        let sign = if self.drop_frame { ';' } else { ':' };
        format!(
            "{:02}:{:02}:{:02}{sign}{frames:02}",
            seconds / 3600,
            seconds / 60 % 60,
            seconds % 60
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn non_drop_frame_labels() {
        for (frame, rate, expected) in [
            (0, 25.0, "00:00:00:00"),
            (124, 25.0, "00:00:04:24"),
            (30, 30_000.0 / 1001.0, "00:00:01:00"),
            (90_000, 25.0, "01:00:00:00"),
        ] {
            assert_eq!(Timecode::zero(rate).label(frame), expected);
        }
    }

    #[test]
    fn drop_frame_labels_keep_up_with_the_clock() {
        let rate = 30_000.0 / 1001.0;
        let timecode = Timecode::from_container(Some("00:00:00;00"), rate);
        assert!(timecode.drop_frame);
        for (frame, expected) in [
            (0, "00:00:00;00"),
            (1799, "00:00:59;29"),
            (1800, "00:01:00;02"),
            (3597, "00:01:59;29"),
            (3598, "00:02:00;02"),
            (17_981, "00:09:59;29"),
            (17_982, "00:10:00;00"),
            (107_892, "01:00:00;00"),
        ] {
            assert_eq!(timecode.label(frame), expected, "{frame}");
        }
        let sixty = Timecode::from_container(Some("00:00:00;00"), 60_000.0 / 1001.0);
        assert_eq!(sixty.label(3600), "00:01:00;04");
    }

    #[test]
    fn container_timecodes_are_parsed() {
        let rate = 30_000.0 / 1001.0;
        for (label, rate, start, drop_frame) in [
            ("01:00:00:00", 25.0, 90_000, false),
            ("01:00:00;00", rate, 107_892, true),
            ("01:00:00.00", rate, 107_892, true),
            ("01:00:00:00", rate, 108_000, false),
            ("10:11:12:13", 24.0, 880_141, false),
            // There is no such frame number at this rate, and no drop-frame mode.
            ("00:00:00:25", 25.0, 0, false),
            ("00:00:01;00", 25.0, 25, false),
            ("yesterday", 25.0, 0, false),
        ] {
            let timecode = Timecode::from_container(Some(label), rate);
            assert_eq!(
                (timecode.start, timecode.drop_frame),
                (start, drop_frame),
                "{label} at {rate}"
            );
        }
    }
}
