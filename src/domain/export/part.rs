//! A part of a video that is exported.

use crate::domain::kernel::error::{Error, Result};
use crate::domain::kernel::time::{Span, timecode};

/// A part as it is asked for.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct PartFields {
    /// Where it begins, seconds of the video; its beginning where nothing is said.
    pub start: Option<f64>,
    /// Where it ends; its end where nothing is said.
    pub end: Option<f64>,
    /// Whether times count from the beginning of the part; else they are those of the video.
    pub from_zero: bool,
}

/// What of a video is exported, and how its times are written.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Part {
    /// All of it where there is none.
    span: Option<Span>,
    from_zero: bool,
}

impl Part {
    /// A part of a video that lasts so many seconds; `Invalid` says which parts there are.
    pub(super) fn of(fields: PartFields, duration: f64) -> Result<Self> {
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

    /// Where it begins, seconds of the video.
    pub(super) fn start(&self) -> f64 {
        self.span.map_or(0.0, |span| span.start)
    }

    /// What of a stretch lies in it, in seconds of the video.
    pub(super) fn within(&self, span: Span) -> Option<Span> {
        let Some(part) = self.span else { return Some(span) };
        let within = Span { start: span.start.max(part.start), end: span.end.min(part.end) };
        (within.end > within.start).then_some(within)
    }

    /// A time of the video as the export counts it, seconds.
    pub(super) fn exported_time(&self, seconds: f64) -> f64 {
        if self.from_zero { seconds - self.start() } else { seconds }
    }

    /// What of a stretch lies in it, as it is written.
    pub(super) fn placed(&self, span: Span) -> Option<Span> {
        let Span { start, end } = self.within(span)?;
        Some(Span { start: self.exported_time(start), end: self.exported_time(end) })
    }

    /// How it ends the names of files; nothing for all of a video.
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
    fn a_part_cuts_and_moves() {
        let fields = PartFields { start: Some(10.0), end: Some(75.5), from_zero: true };
        let part = Part::of(fields, 100.0).expect("a part");
        let span = |start, end| Span { start, end };
        assert_eq!(part.placed(span(5.0, 20.0)), Some(span(0.0, 10.0)));
        assert_eq!(part.within(span(70.0, 90.0)), Some(span(70.0, 75.5)));
        assert_eq!(part.placed(span(0.0, 10.0)), None);
        assert_eq!(part.suffix(), "-0m10.00s-1m15.50s");
        assert_eq!(Part::default().placed(span(5.0, 20.0)), Some(span(5.0, 20.0)));
        for (start, end) in [(-1.0, 5.0), (100.0, 110.0), (50.0, 50.0)] {
            let fields = PartFields { start: Some(start), end: Some(end), from_zero: false };
            Part::of(fields, 100.0).expect_err("no part");
        }
    }
}
