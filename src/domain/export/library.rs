//! Exports the chunks that match search filters, from any number of videos, as one file.

use std::collections::{BTreeSet, VecDeque};

use bytes::Bytes;
use futures::StreamExt;
use futures::stream::{self, BoxStream};
use ports::index::FieldValue;
use ports::listing::Position;
use serde_json::{Map, Value};

use crate::export::csv::Table;
use crate::export::{Exports, VideoLog, json};
use crate::indexing::filter_payload;
use crate::kernel::access::Access;
use crate::kernel::error::{Error, Result};
use crate::kernel::moment::MomentId;
use crate::kernel::names::comma_separated;
use crate::kernel::video::{ChunkId, VideoId};
use crate::search::filters::{self, ParsedFilters};

/// The first columns of each line.
const FIRST_COLUMNS: [&str; 5] = ["video_id", "filename", "collection", "recorded_at", "moment_id"];

/// A format of a library export.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LibraryFormat {
    /// CSV (RFC 4180) with the columns of every analyzer.
    Csv,
    /// One JSON object per line.
    Jsonl,
}

/// A file that is streamed as it is written.
pub struct LibraryExport {
    /// Suggested file name.
    pub filename: &'static str,
    /// The bytes of the file. An error ends the stream early.
    pub content: BoxStream<'static, Result<Bytes>>,
}

impl LibraryFormat {
    /// Parses a format's id. Returns `Invalid` if the id is unknown.
    pub fn parse(name: &str) -> Result<Self> {
        match name {
            "csv" => Ok(Self::Csv),
            "jsonl" => Ok(Self::Jsonl),
            other => Err(Error::Invalid(format!(
                "unknown export format '{}'; available: {}",
                other.chars().take(60).filter(|c| !c.is_control()).collect::<String>(),
                comma_separated(&["csv", "jsonl"])
            ))),
        }
    }
}

/// The chunks of a video that the filter `where` selects.
enum ChosenChunks {
    All,
    These(BTreeSet<ChunkId>),
}

/// The state of a streamed export.
struct LibraryWriter {
    exports: Exports,
    access: Access,
    parsed: ParsedFilters,
    /// The chunks of the filter `bin`; `None` without it.
    bin: Option<BTreeSet<(VideoId, ChunkId)>>,
    /// The table of a CSV file; `None` for JSON lines.
    table: Option<Table>,
    /// Ids of videos read ahead from the listing.
    videos: VecDeque<VideoId>,
    /// The position in the listing after `videos`; `None` at the end of the listing.
    after: Option<Position>,
}

impl Exports {
    /// Exports the chunks that match the filters in the videos that the caller can see. Returns
    /// `Invalid` and `Unprocessable` in the same cases as a search.
    pub async fn export_library(
        &self,
        access: &Access,
        video_ids: Option<&[String]>,
        filters: &Map<String, Value>,
        format: LibraryFormat,
    ) -> Result<LibraryExport> {
        let mut parsed = filters::parse(filters)?;
        if let Some(expression) = &parsed.intervals {
            self.intervals.parse(expression)?;
        }
        if let Some(ids) = video_ids {
            let ids = ids.iter().filter_map(|id| id.parse().ok());
            parsed.chunks = parsed.chunks.in_videos(ids);
        }
        let bin = match &parsed.bin {
            Some(bin_id) => Some(self.bins.chunks(access, bin_id).await?.into_iter().collect()),
            None => None,
        };
        let conditions = self.scopes.video_conditions(access, &parsed).await?;
        let (videos, after) = self.listing.video_batch(&conditions, None).await?;
        let table = match format {
            LibraryFormat::Csv => Some(Table::new(self.analyzers.all())),
            LibraryFormat::Jsonl => None,
        };
        let header = table.as_ref().map(|table| Ok(Bytes::from(table.header(&FIRST_COLUMNS))));
        let writing = LibraryWriter {
            exports: self.clone(),
            access: access.clone(),
            parsed,
            bin,
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
            content: stream::iter(header).chain(lines).boxed(),
        })
    }
}

impl LibraryWriter {
    /// Writes the lines for the next video that has matching chunks. Returns `None` at the end.
    async fn next(&mut self) -> Result<Option<Bytes>> {
        loop {
            let Some(video_id) = self.videos.pop_front() else {
                let Some(after) = self.after.take() else { return Ok(None) };
                let scopes = &self.exports.scopes;
                let conditions = scopes.video_conditions(&self.access, &self.parsed).await?;
                let (videos, after) =
                    self.exports.listing.video_batch(&conditions, Some(after)).await?;
                (self.videos, self.after) = (videos.into(), after);
                continue;
            };
            if !self.may_match(video_id) {
                continue;
            }
            let Some(chosen) = self.chosen_chunks(video_id).await? else { continue };
            let (records, read) = (&self.exports.records, |r| self.exports.log(r, false));
            let log = match records.read_published(video_id, read).await {
                Ok(log) => log,
                // The video was deleted in the meantime.
                Err(Error::NotFound(_)) => continue,
                Err(error) if error.is_corrupt() => {
                    tracing::warn!(%video_id, error = %error.labelled(), "not exported");
                    continue;
                }
                Err(error) => return Err(error),
            };
            let lines = self.lines(&log, &chosen);
            if !lines.is_empty() {
                return Ok(Some(lines.into()));
            }
        }
    }

    /// Whether the filters on the video id accept a video.
    fn may_match(&self, video_id: VideoId) -> bool {
        let id = FieldValue::Keywords(vec![video_id.to_string()]);
        let id_conditions =
            self.parsed.chunks.0.iter().filter(|condition| condition.field == "video_id");
        id_conditions.into_iter().all(|condition| condition.predicate.matches(&id))
    }

    /// Finds the chunks that the filters `where` and `bin` select in a video. Returns `None` if there
    /// are none.
    async fn chosen_chunks(&self, video_id: VideoId) -> Result<Option<ChosenChunks>> {
        let mut chosen = self.bin.as_ref().map(|bin| {
            let in_video = (video_id, ChunkId(0))..=(video_id, ChunkId(u32::MAX));
            bin.range(in_video).map(|(_, chunk)| *chunk).collect::<BTreeSet<_>>()
        });
        if let Some(expression) = &self.parsed.intervals {
            let selected = self.exports.intervals.chunks(expression, &[video_id]).await?;
            let mut selected: BTreeSet<ChunkId> =
                selected.into_iter().map(|(_, chunk)| chunk).collect();
            if let Some(chosen) = &chosen {
                selected.retain(|chunk| chosen.contains(chunk));
            }
            chosen = Some(selected);
        }
        let Some(chosen) = chosen else { return Ok(Some(ChosenChunks::All)) };
        Ok((!chosen.is_empty()).then_some(ChosenChunks::These(chosen)))
    }

    fn lines(&self, log: &VideoLog, chosen: &ChosenChunks) -> String {
        let is_chosen = |chunk: &ChunkId| match chosen {
            ChosenChunks::All => true,
            ChosenChunks::These(chunks) => chunks.contains(chunk),
        };
        let chunks = log.video.chunk_ids().filter(is_chosen);
        let matching = chunks.filter(|chunk| self.matches(log, *chunk));
        matching.map(|chunk| self.line(log, chunk)).collect()
    }

    /// Whether any analyzer's output for a chunk satisfies all filters.
    fn matches(&self, log: &VideoLog, chunk: ChunkId) -> bool {
        if self.parsed.chunks.0.is_empty() {
            return true;
        }
        log.video.outputs.keys().any(|id| {
            let found = log.analyzers.get(id).zip(log.video.output(id, chunk));
            let Some((analyzer, finding)) = found else { return false };
            let facets = finding.index_entry().facets;
            let (config, span) = (log.record.chunking.config(), log.video.spans[chunk.index()]);
            let mut fields = filter_payload(&*analyzer, &config, span, &facets);
            let video_id = log.record.video_id.to_string();
            fields.insert("video_id".into(), FieldValue::Keywords(vec![video_id]));
            fields.insert("analyzer_id".into(), FieldValue::Keywords(vec![id.clone()]));
            fields.insert("chunk_id".into(), FieldValue::Integer(chunk.into()));
            self.parsed.chunks.0.iter().all(|condition| {
                fields.get(&condition.field).is_some_and(|value| condition.predicate.matches(value))
            })
        })
    }

    fn line(&self, log: &VideoLog, chunk: ChunkId) -> String {
        let (record, span) = (&log.record, log.video.spans[chunk.index()]);
        let lead = [
            Some(record.video_id.to_string()),
            Some(record.filename.clone()),
            record.metadata.collection.clone(),
            record.metadata.wall_clock(span.start),
            Some(MomentId::new(record.video_id, span).to_string()),
        ];
        match &self.table {
            Some(table) => {
                let cells = lead.each_ref().map(|cell| cell.as_deref().unwrap_or_default());
                table.row(log, chunk, &cells)
            }
            None => {
                let known = FIRST_COLUMNS
                    .into_iter()
                    .zip(lead)
                    .filter_map(|(name, cell)| Some((name.to_owned(), Value::String(cell?))));
                let line: Map<String, Value> = known.chain(json::chunk_json(log, chunk)).collect();
                Value::Object(line).to_string() + "\n"
            }
        }
    }
}
