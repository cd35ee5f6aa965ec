//! What a search sees: the segments of one commit with their vectors and ids. Built by the writer
//! after each commit, shared by every search that starts before the next one.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use ports::index::PointId;
use ports::video::NoVideoId;
use ports::{ChunkId, VideoId};
use tantivy::columnar::StrColumn;
use tantivy::index::{SegmentId, SegmentReader};
use tantivy::{DocId, Searcher, TantivyError};

use super::vectors::{self, Rows};

/// One commit.
pub(super) struct Snapshot {
    pub(super) searcher: Searcher,
    /// In the order of the searcher's segments.
    pub(super) segments: Vec<SegmentView>,
}

/// One segment of a commit.
pub(super) struct SegmentView {
    pub(super) reader: SegmentReader,
    /// What stays the same while documents of the segment are removed.
    pub(super) data: Arc<SegmentData>,
}

pub(super) struct SegmentData {
    pub(super) fields: BTreeMap<String, Rows>,
    ids: Vec<Rank>,
    /// By their ordinals, which is in order.
    videos: Vec<VideoId>,
    analyzers: StrColumn,
}

/// A document's place among the ids of its segment: the dictionaries' ordinals follow the order
/// of their words, so these compare as the ids do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Rank {
    video: u32,
    chunk: ChunkId,
    analyzer: u32,
}

impl Rank {
    /// The ordinal of its video among those of the segment.
    pub(super) fn video(self) -> u32 {
        self.video
    }

    /// The ordinal of its analyzer among those of the segment.
    pub(super) fn analyzer(self) -> u32 {
        self.analyzer
    }
}

impl Snapshot {
    /// The segments of `searcher`; those that `previous` has are taken from there.
    pub(super) fn new(
        searcher: Searcher,
        previous: Option<&Snapshot>,
        dimension: usize,
    ) -> tantivy::Result<Self> {
        let known: HashMap<SegmentId, &Arc<SegmentData>> = previous
            .iter()
            .flat_map(|snapshot| &snapshot.segments)
            .map(|view| (view.reader.segment_id(), &view.data))
            .collect();
        let segments = searcher
            .segment_readers()
            .iter()
            .map(|reader| {
                let data = match known.get(&reader.segment_id()) {
                    Some(&data) => data.clone(),
                    None => Arc::new(SegmentData::open(reader, dimension)?),
                };
                Ok(SegmentView { reader: reader.clone(), data })
            })
            .collect::<tantivy::Result<_>>()?;
        Ok(Self { searcher, segments })
    }
}

impl SegmentView {
    pub(super) fn is_alive(&self, doc: DocId) -> bool {
        self.reader.alive_bitset().is_none_or(|alive| alive.is_alive(doc))
    }
}

impl SegmentData {
    fn open(reader: &SegmentReader, dimension: usize) -> tantivy::Result<Self> {
        let columns = reader.fast_fields();
        let missing =
            |name: &str| TantivyError::InternalError(format!("the segment lacks `{name}`"));
        let videos = columns.str("video_id")?.ok_or_else(|| missing("video_id"))?;
        let analyzers = columns.str("analyzer_id")?.ok_or_else(|| missing("analyzer_id"))?;
        let chunks = columns.i64("chunk_id")?;
        let ids = (0..reader.max_doc())
            .map(|doc| {
                let ordinal = |column: &StrColumn| {
                    column.ords().first(doc).and_then(|ordinal| u32::try_from(ordinal).ok())
                };
                Some(Rank {
                    video: ordinal(&videos)?,
                    chunk: ChunkId(u32::try_from(chunks.first(doc)?).ok()?),
                    analyzer: ordinal(&analyzers)?,
                })
            })
            .collect::<Option<Vec<_>>>()
            .ok_or_else(|| missing("id"))?;
        let videos = video_ids(&videos)?;
        Ok(Self { fields: vectors::open(reader, dimension)?, ids, videos, analyzers })
    }

    /// Whether each analyzer is among these; by its ordinal.
    pub(super) fn analyzers_among(&self, wanted: &[String]) -> tantivy::Result<Vec<bool>> {
        let mut among = vec![false; self.analyzers.num_terms()];
        for id in wanted {
            if let Some(ordinal) = self.analyzers.dictionary().term_ord(id)? {
                among[ordinal as usize] = true;
            }
        }
        Ok(among)
    }

    /// Whether each video is among these, which are in order; by its ordinal.
    pub(super) fn videos_among(&self, wanted: &[VideoId]) -> Vec<bool> {
        let mut among = vec![false; self.videos.len()];
        let mut from = 0;
        for id in wanted {
            match self.videos[from..].binary_search(id) {
                Ok(place) => {
                    among[from + place] = true;
                    from += place + 1;
                }
                Err(place) => from += place,
            }
        }
        among
    }

    pub(super) fn rank(&self, doc: DocId) -> Rank {
        self.ids[doc as usize]
    }

    /// The chunk that a document is of.
    pub(super) fn chunk(&self, doc: DocId) -> (VideoId, ChunkId) {
        let rank = self.rank(doc);
        (self.videos[rank.video as usize], rank.chunk)
    }

    /// The id of a document.
    pub(super) fn id(&self, doc: DocId) -> tantivy::Result<PointId> {
        let rank = self.rank(doc);
        let mut analyzer_id = String::new();
        self.analyzers.ord_to_str(rank.analyzer.into(), &mut analyzer_id)?;
        let video_id = self.videos[rank.video as usize];
        Ok(PointId { video_id, chunk_id: rank.chunk, analyzer_id })
    }
}

/// The words of the column of videos, in their order.
fn video_ids(column: &StrColumn) -> tantivy::Result<Vec<VideoId>> {
    let mut ids = Vec::with_capacity(column.num_terms());
    let mut words = column.dictionary().stream()?;
    while words.advance() {
        let word = String::from_utf8_lossy(words.key());
        ids.push(word.parse().map_err(|e: NoVideoId| vectors::corrupt(&e.to_string()))?);
    }
    Ok(ids)
}
