//! Finds the chunks that the filter `where` selects.

use std::sync::Arc;

use serde_json::Value;

use crate::intervals::evaluate::CompiledExpression;
use crate::intervals::expression::IntervalExpression;
use crate::intervals::settings::IntervalSettings;
use crate::intervals::tables::IntervalTables;
use crate::kernel::error::{Error, Result};
use crate::kernel::video::{ChunkId, VideoId};

/// Number of videos whose tables are in memory at the same time.
const WINDOW: usize = 512;

/// Selects chunks by an expression.
pub(crate) struct IntervalFilter {
    pub(crate) tables: IntervalTables,
    pub(crate) settings: IntervalSettings,
}

impl IntervalFilter {
    /// Finds the chunks of these videos that an expression selects, in order. Returns the errors of
    /// [`Self::parse`].
    pub(crate) async fn chunks(
        &self,
        expression: &Value,
        videos: &[VideoId],
    ) -> Result<Vec<(VideoId, ChunkId)>> {
        let expression = self.parse(expression)?;
        let compiled = Arc::new(CompiledExpression::new(&expression, &|_| None));
        let mut selected = Vec::new();
        for window in videos.chunks(WINDOW) {
            let tables = self.tables.read(window).await?;
            let compiled = compiled.clone();
            let selecting = tokio::task::spawn_blocking(move || {
                let chunks = tables.values().flat_map(|table| {
                    let video_id = table.identity.video_id;
                    compiled.chunks(table).into_iter().map(move |chunk| (video_id, chunk))
                });
                chunks.collect::<Vec<_>>()
            });
            selected.extend(selecting.await.map_err(|error| {
                Error::corrupt(format!("the evaluation of an expression ended early: {error}"))
            })?);
        }
        selected.sort_unstable();
        Ok(selected)
    }

    /// Parses the expression of the filter. Returns `Invalid` for an unknown name, an expression that
    /// is too large and the term `text`, and `Unprocessable` for a value of the wrong type or outside
    /// its range.
    pub(crate) fn parse(&self, expression: &Value) -> Result<IntervalExpression> {
        let expression = IntervalExpression::parse(expression, &self.settings)?;
        match expression.texts().first() {
            None => Ok(expression),
            Some(text) => Err(Error::Invalid(format!(
                "the filter 'where' has no searches ({{\"text\": \"{text}\"}}); search for the text \
                 itself, or use POST /intervals"
            ))),
        }
    }
}
