//! The exported part of a video.

use crate::kernel::error::{Error, Result};
use crate::kernel::time::{Span, timecode};

/// A requested part of a video.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct PartFields {
    /// Start, in seconds from the start of the video; defaults to the start of the video.
    pub start: Option<f64>,
    /// End, in seconds from the start of the video; defaults to the end of the video.
    pub end: Option<f64>,
    /// Whether exported times count from the start of the part; otherwise, they count from the
    /// start of the video.
    pub from_zero: bool,
}

/// The exported part and the origin of exported times.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct ExportPart {
    /// The span of the part; `None` for the whole video.
    span: Option<Span>,
    from_zero: bool,
}

impl ExportPart {
    /// Validates a part of a video that is `duration` seconds long. Returns `Invalid` if the part
    /// is empty or begins outside the video.
    pub(super) fn new(fields: PartFields, duration: f64) -> Result<Self> {
        let PartFields { start, end, from_zero } = fields;
        if start.is_none() && end.is_none() {
            return Ok(Self { span: None, from_zero });
        }
        let (start, end) = (start.unwrap_or(0.0), end.unwrap_or(duration));
        if !(0.0..duration).contains(&start) || end <= start {
            return Err(Error::Invalid(format!(
                "there is nothing from {start} to {end} in this video; 'start' lies between 0 and \
                 {duration} seconds, 'end' after it"
            )));
        }
        Ok(Self { span: Some(Span { start, end }), from_zero })
    }

    /// Returns the start of the part, in seconds from the start of the video.
    pub(super) fn start(&self) -> f64 {
        self.span.map_or(0.0, |span| span.start)
    }

    /// Whether exported times count from the start of the part.
    pub(super) fn counts_from_zero(&self) -> bool {
        self.from_zero
    }

    /// Clips a span to the part, without converting its times. Returns `None` if the span and the
    /// part do not overlap.
    pub(super) fn within(&self, span: Span) -> Option<Span> {
        let Some(part) = self.span else { return Some(span) };
        let within = Span { start: span.start.max(part.start), end: span.end.min(part.end) };
        (within.end > within.start).then_some(within)
    }

    /// Converts a time in the video to an export time, in seconds.
    pub(super) fn exported_time(&self, seconds: f64) -> f64 {
        if self.from_zero { seconds - self.start() } else { seconds }
    }

    /// Clips a span to the part and converts its times to export times. Returns `None` if the span
    /// and the part do not overlap.
    pub(super) fn exported_span(&self, span: Span) -> Option<Span> {
        let Span { start, end } = self.within(span)?;
        Some(Span { start: self.exported_time(start), end: self.exported_time(end) })
    }

    /// Returns the suffix for file names, which is empty for the whole video.
    pub(super) fn suffix(&self) -> String {
        let name = |seconds| timecode(seconds).replace(':', "m");
        self.span.map_or_else(String::new, |Span { start, end }| {
            format!("-{}s-{}s", name(start), name(end))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn part_clips_and_shifts_spans() {
        let fields = PartFields { start: Some(10.0), end: Some(75.5), from_zero: true };
        let part = ExportPart::new(fields, 100.0).expect("a part");
        let span = |start, end| Span { start, end };
        assert_eq!(part.exported_span(span(5.0, 20.0)), Some(span(0.0, 10.0)));
        assert_eq!(part.within(span(70.0, 90.0)), Some(span(70.0, 75.5)));
        assert_eq!(part.exported_span(span(0.0, 10.0)), None);
        assert_eq!(part.suffix(), "-0m10.00s-1m15.50s");
        assert_eq!(ExportPart::default().exported_span(span(5.0, 20.0)), Some(span(5.0, 20.0)));
        for (start, end) in [(-1.0, 5.0), (100.0, 110.0), (50.0, 50.0)] {
            let fields = PartFields { start: Some(start), end: Some(end), from_zero: false };
            ExportPart::new(fields, 100.0).expect_err("no part");
        }
    }
}
