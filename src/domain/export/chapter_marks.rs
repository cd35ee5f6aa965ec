//! The chapters of a video: what the formats that carry chapters share.

use crate::domain::aggregation::aggregators::chapters;
use crate::domain::aggregation::result::result_of;
use crate::domain::export::{Log, one_line};
use crate::domain::kernel::error::{Error, Result};
use crate::domain::kernel::names::listed;
use crate::domain::kernel::time::Span;

/// A titled stretch of the video.
pub(super) struct Chapter {
    pub(super) span: Span,
    pub(super) title: String,
}

/// The chapters of the part that is exported, in order; `Invalid` where the aggregate is not stored.
pub(super) fn chapters(log: &Log, format: &str) -> Result<Vec<Chapter>> {
    let told = |chapter: Chapter| {
        let Span { start, end } = chapter.span;
        Chapter {
            span: Span { start: log.part.exported_time(start), end: log.part.exported_time(end) },
            ..chapter
        }
    };
    let chapters = stored(log).map(|chapters| chapters.into_iter().map(told).collect());
    chapters.ok_or_else(|| {
        let present: Vec<&String> = log.aggregates.keys().collect();
        Error::Invalid(format!(
            "video '{}' has no chapters to export as {format}; the aggregator {} gives them, the \
             video has: {}",
            log.record.video_id,
            chapters::ID,
            listed(&present)
        ))
    })
}

/// The chapters in seconds of the video, if there are any.
pub(super) fn stored(log: &Log) -> Option<Vec<Chapter>> {
    let outline: &chapters::Outline = result_of(log.chapters.as_deref()?)?;
    let read = outline.chapters.iter().filter_map(|chapter| {
        let span = log.part.within(Span { start: chapter.start, end: chapter.end })?;
        let title = one_line(&chapter.title).replace("-->", "→");
        (span.end > span.start).then_some(Chapter { span, title })
    });
    Some(read.collect())
}
