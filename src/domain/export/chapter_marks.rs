//! A video's chapters, for the formats that include chapters.

use crate::aggregation::aggregators::chapters;
use crate::aggregation::result::result_of;
use crate::export::{VideoLog, one_line};
use crate::kernel::error::{Error, Result};
use crate::kernel::names::comma_separated;
use crate::kernel::time::Span;

/// A chapter of the video.
pub(super) struct ChapterMark {
    pub(super) span: Span,
    pub(super) title: String,
}

/// Returns the chapters in the exported part, with their times converted to export times. Returns
/// `Invalid` if the video has no chapters.
pub(super) fn chapters(log: &VideoLog, format: &str) -> Result<Vec<ChapterMark>> {
    let to_export_time = |chapter: ChapterMark| {
        let Span { start, end } = chapter.span;
        ChapterMark {
            span: Span { start: log.part.exported_time(start), end: log.part.exported_time(end) },
            ..chapter
        }
    };
    let chapters =
        stored_chapters(log).map(|chapters| chapters.into_iter().map(to_export_time).collect());
    chapters.ok_or_else(|| {
        let present: Vec<&String> = log.record.aggregates.keys().collect();
        Error::Invalid(format!(
            "video '{}' has no chapters to export as {format}; the aggregator {} gives them, the \
             video has: {}",
            log.record.video_id,
            chapters::ID,
            comma_separated(&present)
        ))
    })
}

/// Returns the chapters in the exported part, with times in seconds from the start of the video.
/// Returns `None` if the video has no chapters.
pub(super) fn stored_chapters(log: &VideoLog) -> Option<Vec<ChapterMark>> {
    let outline: &chapters::Outline = result_of(log.chapters.as_deref()?)?;
    let read = outline.chapters.iter().filter_map(|chapter| {
        let span = log.part.within(Span { start: chapter.start, end: chapter.end })?;
        let title = one_line(&chapter.title).replace("-->", "→");
        (span.end > span.start).then_some(ChapterMark { span, title })
    });
    Some(read.collect())
}
