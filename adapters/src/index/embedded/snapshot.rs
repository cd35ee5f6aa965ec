//! The data that a search reads. A snapshot holds the segments of one commit with their vectors and
//! ids. The writer creates a snapshot after each commit. All searches that start before the next
//! commit share it.

use std::collections::{BTreeMap, HashMap};
use std::ops::Range;
use std::sync::Arc;

use ports::index::PointId;
use ports::video::InvalidVideoId;
use ports::{ChunkId, VideoId};
use tantivy::columnar::{Cardinality, Column, StrColumn};
use tantivy::index::{SegmentId, SegmentReader};
use tantivy::{DocId, Searcher, TantivyError};

use super::vectors::{self, Rows};
use crate::index::dimensions::Dimensions;

/// Documents per batch when columns are read.
const BLOCK: usize = 512;

/// The state of the index after one commit.
pub(super) struct Snapshot {
    pub(super) searcher: Searcher,
    /// The segments, in the same order as those of `searcher`.
    pub(super) segments: Vec<SegmentView>,
}

/// One segment of a commit.
pub(super) struct SegmentView {
    pub(super) reader: SegmentReader,
    /// The segment's data that deletions do not affect.
    pub(super) data: Arc<SegmentData>,
}

pub(super) struct SegmentData {
    pub(super) fields: BTreeMap<String, Rows>,
    ids: Vec<Rank>,
    runs: Runs,
    /// Video ids by ordinal, which is also their sorted order.
    videos: Vec<VideoId>,
    analyzers: StrColumn,
}

/// A document's id as ordinals within its segment. Ordinals in a dictionary follow the order of its
/// terms, so ranks compare like the ids.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Rank {
    video: u32,
    chunk: ChunkId,
    analyzer: u32,
}

impl Rank {
    /// Returns the ordinal of the video within the segment.
    pub(super) fn video(self) -> u32 {
        self.video
    }

    /// Returns the ordinal of the analyzer within the segment.
    pub(super) fn analyzer(self) -> u32 {
        self.analyzer
    }
}

impl Snapshot {
    /// Creates a snapshot of the segments of `searcher`, reusing the data of `previous`.
    pub(super) fn new(
        searcher: Searcher,
        previous: Option<&Snapshot>,
        dimensions: &Dimensions,
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
                    None => Arc::new(SegmentData::open(reader, dimensions)?),
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
    fn open(reader: &SegmentReader, dimensions: &Dimensions) -> tantivy::Result<Self> {
        let columns = reader.fast_fields();
        let missing =
            |name: &str| TantivyError::InternalError(format!("the segment lacks `{name}`"));
        let videos = columns.str("video_id")?.ok_or_else(|| missing("video_id"))?;
        let analyzers = columns.str("analyzer_id")?.ok_or_else(|| missing("analyzer_id"))?;
        let chunks = columns.i64("chunk_id")?;
        let ids = ranks(reader.max_doc(), videos.ords(), &chunks, analyzers.ords())
            .ok_or_else(|| missing("id"))?;
        let videos = video_ids(&videos)?;
        let fields = vectors::open(reader, dimensions)?;
        let runs = Runs::new(&ids, videos.len());
        Ok(Self { fields, ids, runs, videos, analyzers })
    }

    /// Returns, for each analyzer ordinal, whether `accepted` contains the analyzer.
    pub(super) fn analyzers_among(&self, accepted: &[String]) -> tantivy::Result<Vec<bool>> {
        let mut among = vec![false; self.analyzers.num_terms()];
        for id in accepted {
            if let Some(ordinal) = self.analyzers.dictionary().term_ord(id)? {
                among[ordinal as usize] = true;
            }
        }
        Ok(among)
    }

    /// Returns, for each video ordinal, whether `accepted` contains the video. `accepted` must be
    /// sorted.
    pub(super) fn videos_among(&self, accepted: &[VideoId]) -> Vec<bool> {
        let mut among = vec![false; self.videos.len()];
        self.ordinals(accepted).for_each(|ordinal| among[ordinal] = true);
        among
    }

    /// Returns the documents of the videos in `accepted` as ascending runs. `accepted` must be
    /// sorted.
    pub(super) fn video_docs(&self, accepted: &[VideoId]) -> Vec<Range<DocId>> {
        let of_videos = self.ordinals(accepted).flat_map(|ordinal| self.runs.for_video(ordinal));
        let mut docs: Vec<Range<DocId>> = of_videos.cloned().collect();
        docs.sort_unstable_by_key(|docs| docs.start);
        docs
    }

    /// Returns the ordinals of the videos in `accepted` that the segment contains. `accepted` must
    /// be sorted.
    fn ordinals(&self, accepted: &[VideoId]) -> impl Iterator<Item = usize> {
        let mut from = 0;
        accepted.iter().filter_map(move |id| {
            from += lower_bound(&self.videos[from..], id);
            (self.videos.get(from) == Some(id)).then_some(from)
        })
    }

    pub(super) fn rank(&self, doc: DocId) -> Rank {
        self.ids[doc as usize]
    }

    /// Returns the chunk of a document.
    pub(super) fn chunk(&self, doc: DocId) -> (VideoId, ChunkId) {
        let rank = self.rank(doc);
        (self.videos[rank.video as usize], rank.chunk)
    }

    /// Returns the id of a document.
    pub(super) fn id(&self, doc: DocId) -> tantivy::Result<PointId> {
        let rank = self.rank(doc);
        let mut analyzer_id = String::new();
        self.analyzers.ord_to_str(rank.analyzer.into(), &mut analyzer_id)?;
        let video_id = self.videos[rank.video as usize];
        Ok(PointId { video_id, chunk_id: rank.chunk, analyzer_id })
    }
}

/// Returns the number of ids that sort before `id`. It gallops from the start, because a caller
/// that looks up sorted ids finds each id near the previous one.
fn lower_bound(ids: &[VideoId], id: &VideoId) -> usize {
    let mut reach = 1;
    while ids.get(reach - 1).is_some_and(|there| there < id) {
        reach *= 2;
    }
    let from = reach / 2;
    from + ids[from..reach.min(ids.len())].partition_point(|there| there < id)
}

/// The documents of each video, which are mostly contiguous.
struct Runs {
    /// The runs, grouped by video ordinal.
    docs: Vec<Range<DocId>>,
    /// For each video ordinal, the index of the video's first run. The last element is the number
    /// of runs.
    first: Vec<u32>,
}

impl Runs {
    /// Groups the documents with these ids into runs. There are `videos` videos.
    fn new(ids: &[Rank], videos: usize) -> Self {
        let mut runs: Vec<(u32, Range<DocId>)> = Vec::new();
        for (doc, rank) in (0..).zip(ids) {
            match runs.last_mut().filter(|(of, _)| *of == rank.video) {
                Some((_, docs)) => docs.end = doc + 1,
                None => runs.push((rank.video, doc..doc + 1)),
            }
        }
        runs.sort_unstable_by_key(|(of, docs)| (*of, docs.start));
        let first = (0..=videos as u32).map(|of| runs.partition_point(|(video, _)| *video < of));
        let first = first.map(|first| first as u32).collect();
        Self { first, docs: runs.into_iter().map(|(_, docs)| docs).collect() }
    }

    /// Returns the runs of the video with this ordinal, ascending.
    fn for_video(&self, ordinal: usize) -> &[Range<DocId>] {
        let place = |of: usize| self.first[of] as usize;
        &self.docs[place(ordinal)..place(ordinal + 1)]
    }
}

/// Returns the ranks of a segment's documents, or `None` if a document lacks a part of its id.
fn ranks(
    docs: DocId,
    videos: &Column,
    chunks: &Column<i64>,
    analyzers: &Column,
) -> Option<Vec<Rank>> {
    let full = |cardinality: Cardinality, rows| cardinality == Cardinality::Full && rows == docs;
    let every_one = [videos, analyzers].iter().all(|c| full(c.get_cardinality(), c.num_docs()))
        && full(chunks.get_cardinality(), chunks.num_docs());
    if !every_one {
        return None;
    }
    let mut ranks = Vec::with_capacity(docs as usize);
    let (mut of_video, mut of_chunk, mut of_analyzer) = ([0; BLOCK], [0; BLOCK], [0; BLOCK]);
    for first in (0..docs as usize).step_by(BLOCK) {
        let block = 0..BLOCK.min(docs as usize - first);
        videos.values.get_range(first as u64, &mut of_video[block.clone()]);
        chunks.values.get_range(first as u64, &mut of_chunk[block.clone()]);
        analyzers.values.get_range(first as u64, &mut of_analyzer[block.clone()]);
        for i in block {
            ranks.push(Rank {
                video: u32::try_from(of_video[i]).ok()?,
                chunk: ChunkId(u32::try_from(of_chunk[i]).ok()?),
                analyzer: u32::try_from(of_analyzer[i]).ok()?,
            });
        }
    }
    Some(ranks)
}

/// Reads the video ids from the dictionary of the video column, sorted.
fn video_ids(column: &StrColumn) -> tantivy::Result<Vec<VideoId>> {
    let mut ids = Vec::with_capacity(column.num_terms());
    let mut words = column.dictionary().stream()?;
    while words.advance() {
        let word = String::from_utf8_lossy(words.key());
        ids.push(word.parse().map_err(|e: InvalidVideoId| vectors::corrupt(&e.to_string()))?);
    }
    Ok(ids)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(n: u8) -> VideoId {
        VideoId::from_digest([n; 20])
    }

    #[test]
    fn lower_bound_finds_every_id() {
        for count in 0..20_u8 {
            let ids: Vec<VideoId> = (0..count).map(|n| id(2 * n + 1)).collect();
            for target in 0..=2 * count {
                let expected = ids.iter().filter(|there| **there < id(target)).count();
                assert_eq!(lower_bound(&ids, &id(target)), expected, "{target} among {count}");
            }
        }
    }

    #[test]
    fn noncontiguous_documents_of_a_video_are_found() {
        let rank = |video| Rank { video, chunk: ChunkId(0), analyzer: 0 };
        let runs = Runs::new(&[2, 2, 0, 2, 0, 0].map(rank), 4);
        let ranges = |video| runs.for_video(video).to_vec();
        assert_eq!(
            [ranges(0), ranges(1), ranges(2), ranges(3)],
            [vec![2..3, 4..6], vec![], vec![0..2, 3..4], vec![]]
        );
    }
}
