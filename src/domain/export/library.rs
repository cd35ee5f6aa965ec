//! The chunks of many videos as one file: those that the filters of a search let through.

use std::collections::VecDeque;

use bytes::Bytes;
use futures::StreamExt;
use futures::stream::{self, BoxStream};
use ports::index::FieldValue;
use ports::listing::Position;
use serde_json::{Map, Value};

use crate::domain::export::csv::Table;
use crate::domain::export::{Exports, Log, json};
use crate::domain::kernel::access::Access;
use crate::domain::kernel::error::{Error, Result};
use crate::domain::kernel::moment::MomentId;
use crate::domain::kernel::names::listed;
use crate::domain::kernel::video::{ChunkId, VideoId};
use crate::domain::search::filters::{self, Parsed};
use crate::domain::search::indexing::filtered_by;

/// What each line of a file says first.
const LEAD: [&str; 5] = ["video_id", "filename", "collection", "recorded_at", "moment_id"];

/// A format of the chunks of many videos.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LibraryFormat {
    /// A table (RFC 4180) with the columns of every analyzer.
    Csv,
    /// A JSON object on each line.
    Jsonl,
}

/// A file that is written while it is sent.
pub struct LibraryExport {
    /// A name to save it under.
    pub filename: &'static str,
    /// Its bytes; an error ends it before its time.
    pub content: BoxStream<'static, Result<Bytes>>,
}

impl LibraryFormat {
    /// `Invalid` where the name is none.
    pub fn parse(name: &str) -> Result<Self> {
        match name {
            "csv" => Ok(Self::Csv),
            "jsonl" => Ok(Self::Jsonl),
            other => Err(Error::Invalid(format!(
                "unknown export format '{}'; available: {}",
                other.chars().take(60).filter(|c| !c.is_control()).collect::<String>(),
                listed(&["csv", "jsonl"])
            ))),
        }
    }
}

/// A file on its way.
struct Writing {
    exports: Exports,
    access: Access,
    parsed: Parsed,
    /// `None` writes lines of JSON.
    table: Option<Table>,
    /// Videos that come next.
    videos: VecDeque<VideoId>,
    /// Where those begin that come after them.
    after: Option<Position>,
}

impl Exports {
    /// The chunks that a caller sees and that filters, those of a search, let through. `Invalid` and
    /// `Unprocessable` as of a search.
    pub async fn export_library(
        &self,
        access: &Access,
        video_ids: Option<&[String]>,
        given: &Map<String, Value>,
        format: LibraryFormat,
    ) -> Result<LibraryExport> {
        let mut parsed = filters::parse(given)?;
        if let Some(named) = video_ids {
            let named = named.iter().filter_map(|id| id.parse().ok());
            parsed.chunks = parsed.chunks.in_videos(named);
        }
        let conditions = self.search.of_videos(access, &parsed).await?;
        let (videos, after) = self.catalog.some_of(&conditions, None).await?;
        let table = match format {
            LibraryFormat::Csv => Some(Table::of(self.catalog.analyzers.all())),
            LibraryFormat::Jsonl => None,
        };
        let heading = table.as_ref().map(|table| Ok(Bytes::from(table.heading(&LEAD))));
        let writing = Writing {
            exports: self.clone(),
            access: access.clone(),
            parsed,
            table,
            videos: videos.into(),
            after,
        };
        let lines = stream::try_unfold(writing, |mut writing| async move {
            Ok(writing.next().await?.map(|lines| (lines, writing)))
        });
        Ok(LibraryExport {
            filename: match format {
                LibraryFormat::Csv => "shotlog.csv",
                LibraryFormat::Jsonl => "shotlog.jsonl",
            },
            content: stream::iter(heading).chain(lines).boxed(),
        })
    }
}

impl Writing {
    /// The lines of the next video that has any.
    async fn next(&mut self) -> Result<Option<Bytes>> {
        loop {
            let Some(video_id) = self.videos.pop_front() else {
                let Some(after) = self.after.take() else { return Ok(None) };
                let search = &self.exports.search;
                let conditions = search.of_videos(&self.access, &self.parsed).await?;
                let (videos, after) =
                    self.exports.catalog.some_of(&conditions, Some(after)).await?;
                (self.videos, self.after) = (videos.into(), after);
                continue;
            };
            if !self.wants(video_id) {
                continue;
            }
            let catalog = &self.exports.catalog;
            let log = match catalog.read_published(video_id, |r| self.exports.log(r)).await {
                Ok(log) => log,
                // Deleted meanwhile.
                Err(Error::NotFound(_)) => continue,
                Err(error) if error.is_corrupt() => {
                    tracing::warn!(%video_id, error = %error.labelled(), "not exported");
                    continue;
                }
                Err(error) => return Err(error),
            };
            let lines = self.lines(&log);
            if !lines.is_empty() {
                return Ok(Some(lines.into()));
            }
        }
    }

    /// Whether the filters let anything of a video through, as far as its id tells.
    fn wants(&self, video_id: VideoId) -> bool {
        let id = FieldValue::Keywords(vec![video_id.to_string()]);
        let of_video =
            self.parsed.chunks.0.iter().filter(|condition| condition.field == "video_id");
        of_video.into_iter().all(|condition| condition.predicate.matches(&id))
    }

    fn lines(&self, log: &Log) -> String {
        let wanted = log.video.chunk_ids().filter(|chunk| self.lets_through(log, *chunk));
        wanted.map(|chunk| self.line(log, chunk)).collect()
    }

    /// Whether what some analyzer has found in a chunk satisfies every filter.
    fn lets_through(&self, log: &Log, chunk: ChunkId) -> bool {
        if self.parsed.chunks.0.is_empty() {
            return true;
        }
        log.video.outputs.keys().any(|id| {
            let found = log.analyzers.known(id).zip(log.video.finding(id, chunk));
            let Some((analyzer, finding)) = found else { return false };
            let document = finding.index().document;
            let (config, span) = (log.record.chunking.config(), log.video.spans[chunk.index()]);
            let mut fields = filtered_by(&*analyzer, &config, span, &document);
            let video_id = log.record.video_id.to_string();
            fields.insert("video_id".into(), FieldValue::Keywords(vec![video_id]));
            fields.insert("analyzer_id".into(), FieldValue::Keywords(vec![id.clone()]));
            fields.insert("chunk_id".into(), FieldValue::Integer(chunk.into()));
            self.parsed.chunks.0.iter().all(|condition| {
                fields.get(&condition.field).is_some_and(|value| condition.predicate.matches(value))
            })
        })
    }

    fn line(&self, log: &Log, chunk: ChunkId) -> String {
        let (record, span) = (&log.record, log.video.spans[chunk.index()]);
        let lead = [
            Some(record.video_id.to_string()),
            Some(record.filename.clone()),
            record.about.collection.clone(),
            record.about.wall_clock(span.start),
            Some(MomentId::new(record.video_id, span).to_string()),
        ];
        match &self.table {
            Some(table) => {
                let cells = lead.each_ref().map(|cell| cell.as_deref().unwrap_or_default());
                table.row(log, chunk, &cells)
            }
            None => {
                let known = LEAD
                    .into_iter()
                    .zip(lead)
                    .filter_map(|(name, cell)| Some((name.to_owned(), Value::String(cell?))));
                let line: Map<String, Value> = known.chain(json::view(log, chunk)).collect();
                Value::Object(line).to_string() + "\n"
            }
        }
    }
}
