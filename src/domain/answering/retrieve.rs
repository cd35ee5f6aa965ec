//! Retrieves the videos that may answer a question, and the supporting segments in each video.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use futures::future::{try_join, try_join_all};
use ports::index::{Filter, Predicate, VectorQuery};
use ports::llm::PassageKind;

use super::context::{VideoContext, min_worthwhile_probability};
use super::question::Question;
use crate::analysis::TextStyle;
use crate::answering::Answering;
use crate::kernel::access::Access;
use crate::kernel::error::{Error, Result};
use crate::kernel::moment::MomentId;
use crate::kernel::video::{ChunkId, VideoId};
use crate::library::moments::MAX_CHUNKS;
use crate::records::record::VideoRecord;
use crate::search::{SearchResult, VectorField, filters};

/// The chunks of the requested moments, by video.
type ChosenChunks = BTreeMap<VideoId, BTreeSet<ChunkId>>;

/// Hits by video, best first.
type HitsByVideo = HashMap<VideoId, Vec<SearchResult>>;

/// Retrieves the videos and segments that may answer one question.
pub(super) struct Retrieval<'a> {
    service: &'a Answering,
    question: &'a Question,
    access: &'a Access,
    /// The embedding of the question.
    vector: &'a [f32],
    /// The chunks of the requested moments; `None` unless the question is limited to moments.
    chosen: Option<ChosenChunks>,
}

/// Videos with output from the same analyzers.
struct VideoGroup<'a> {
    videos: Vec<VideoId>,
    /// The ids of the analyzers.
    present: &'a [String],
    /// Filter for the chunks.
    chunks: Filter,
    /// Maximum number of hits per video and analyzer.
    limit: usize,
}

impl<'a> Retrieval<'a> {
    /// Prepares the retrieval for a question. Returns `Invalid` for a malformed or missing moment
    /// in `moment_ids`.
    pub(super) async fn new(
        service: &'a Answering,
        access: &'a Access,
        question: &'a Question,
        vector: &'a [f32],
    ) -> Result<Self> {
        let chosen = match &question.moment_ids {
            Some(ids) => Some(service.chunks_of_moments(access, ids).await?),
            None => None,
        };
        Ok(Self { service, access, question, vector, chosen })
    }

    /// Whether the question is limited to moments.
    pub(super) fn is_limited_to_moments(&self) -> bool {
        self.chosen.is_some()
    }

    /// Whether the question has filters that only some chunks of a video match.
    pub(super) fn filters_chunks(&self) -> Result<bool> {
        Ok(filters::parse(&self.question.filters)?.has_chunk_filters())
    }

    /// Finds the videos to search for a question: the requested videos, or the videos of the
    /// requested moments. If the question names neither, all videos are searched. If their number
    /// exceeds the limit set by `ask.max_segments`, only the most probable videos are searched. The
    /// filters apply in every case.
    pub(super) async fn videos(&self) -> Result<Vec<VideoId>> {
        let Self { service, access, question, .. } = *self;
        let matching = service.search.scopes.matching_videos(access, &question.filters).await?;
        if let Some(chosen) = &self.chosen {
            let requested = question.video_ids.as_deref().map(distinct_ids);
            let mut ids: Vec<VideoId> = chosen.keys().copied().collect();
            ids.retain(|id| requested.as_ref().is_none_or(|requested| requested.contains(id)));
            ids.retain(|id| matching.as_ref().is_none_or(|matching| matching.contains(id)));
            return Ok(ids);
        }
        if let Some(ids) = &question.video_ids {
            let mut ids = distinct_ids(ids);
            ids.retain(|id| matching.as_ref().is_none_or(|matching| matching.contains(id)));
            return Ok(ids);
        }
        let max_videos = (service.max_segments / question.limit.max(1) as usize).max(1);
        let all = match matching {
            Some(matching) => matching,
            None => {
                let newest = service.listing.newest(access, max_videos + 1).await?;
                newest.into_iter().map(|video| video.video_id).collect()
            }
        };
        if all.len() <= max_videos {
            return Ok(all);
        }
        let analyzer = question.analyzer.as_deref();
        let filter = service.search.scopes.scope(access, analyzer, None, &question.filters).await?;
        let query = self.nearest_to(filter, max_videos);
        service.search.retriever.likely_videos(&question.question, query).await
    }

    /// Finds the supporting segments in each video, with one search per set of analyzers.
    pub(super) async fn segments<'r>(
        &self,
        records: &'r [VideoRecord],
    ) -> Result<Vec<VideoContext<'r>>> {
        let chunks = self.chunk_filter(records).await?;
        let mut by_analyzers: BTreeMap<Vec<String>, Vec<&VideoRecord>> = BTreeMap::new();
        for record in records {
            by_analyzers.entry(record.analyzer_ids()).or_default().push(record);
        }
        let groups = by_analyzers
            .iter()
            .map(|(present, records)| self.segments_of_group(present, records, &chunks));
        Ok(try_join_all(groups).await?.into_iter().flatten().collect())
    }

    /// Builds the filter for the chunks of these videos that may be segments: those that match the
    /// filters and, if moments are requested, belong to one.
    async fn chunk_filter(&self, records: &[VideoRecord]) -> Result<Filter> {
        let parsed = filters::parse(&self.question.filters)?;
        let videos: Vec<VideoId> = records.iter().map(|record| record.video_id).collect();
        let filter = self.service.search.scopes.chunk_filter(self.access, &parsed, &videos).await?;
        let Some(chosen) = &self.chosen else { return Ok(filter) };
        let pairs = chosen.iter().flat_map(|(video, chunks)| chunks.iter().map(|c| (*video, *c)));
        Ok(filter.in_chunks(pairs))
    }

    /// Finds the supporting segments in videos whose analyzers are `present`.
    async fn segments_of_group<'r>(
        &self,
        present: &[String],
        records: &[&'r VideoRecord],
        chunks: &Filter,
    ) -> Result<Vec<VideoContext<'r>>> {
        let mut contexts: Vec<VideoContext> =
            records.iter().map(|record| VideoContext::new(record)).collect();
        let Some(analyzer) = self.main_analyzer(present) else { return Ok(contexts) };
        let group = self.group(present, records, chunks);
        let others: Vec<String> = present.iter().filter(|id| *id != analyzer).cloned().collect();
        // The speech analyzers have the full text; other descriptions only quote it.
        let only_quotes_speech = !self.is_speech_analyzer(analyzer)
            && others.iter().any(|id| self.is_speech_analyzer(id));
        let companions = async {
            match self.question.analyzer.is_none() && !others.is_empty() {
                true => self.search(&group, others).await,
                false => Ok(HashMap::new()),
            }
        };
        let found = self.search(&group, vec![analyzer.to_owned()]);
        let (mut found, mut companions) = try_join(found, companions).await?;
        if self.question.analyzer.is_none() && self.chosen.is_none() {
            self.add_replies(&group, &found, &mut companions).await?;
        }
        for context in &mut contexts {
            let of_video =
                |hits: &mut HitsByVideo| hits.remove(&context.record.video_id).unwrap_or_default();
            context.results = of_video(&mut found);
            context.companion_hits = of_video(&mut companions);
            if only_quotes_speech {
                for hit in &mut context.results {
                    hit.statements.retain(|statement| statement.kind != PassageKind::Speech);
                }
            }
            // Different analyzers produce different kinds of text, so their ranks are not
            // comparable.
            context.companion_hits.sort_by(|a, b| b.p_present.total_cmp(&a.p_present));
        }
        Ok(contexts)
    }

    /// Returns the analyzer whose chunks are the segments: the requested one or, by default, the
    /// one that provides the best evidence.
    fn main_analyzer<'s>(&'s self, present: &'s [String]) -> Option<&'s str> {
        match &self.question.analyzer {
            Some(id) => Some(id.as_str()),
            None => self.service.analyzers.by_evidence_rank(present.iter()).first().copied(),
        }
    }

    fn group<'g>(
        &self,
        present: &'g [String],
        records: &[&VideoRecord],
        chunks: &Filter,
    ) -> VideoGroup<'g> {
        let videos = records.iter().map(|record| record.video_id).collect();
        // Every requested chunk is retrieved.
        let requested = self.chosen.iter().flat_map(BTreeMap::values).map(BTreeSet::len).max();
        let limit = requested.unwrap_or_default().max(self.question.limit as usize);
        VideoGroup { videos, present, chunks: chunks.clone(), limit }
    }

    /// Finds the best chunks in each video of a group, in the output of `analyzers`.
    async fn search(&self, group: &VideoGroup<'_>, analyzers: Vec<String>) -> Result<HitsByVideo> {
        let per_video = group.limit * analyzers.len();
        let filter = group.chunks.clone();
        let filter = filter.in_videos(group.videos.iter().copied());
        let filter = filter.and("analyzer_id", Predicate::AnyKeyword(analyzers));
        let query = self.nearest_to(filter, group.videos.len());
        let text = &self.question.question;
        let mut hits =
            self.service.search.retriever.search_by_video(text, query, per_video).await?;
        let min_probability = self.question.min_p_present;
        hits.retain(|hit| min_probability.is_none_or(|min| hit.p_present >= min));
        Ok(by_video(hits))
    }

    /// Adds the speech chunks that follow the hits. In a conversation, a reply follows the question
    /// and uses other words.
    async fn add_replies(
        &self,
        group: &VideoGroup<'_>,
        found: &HitsByVideo,
        companions: &mut HitsByVideo,
    ) -> Result<()> {
        let speech_analyzers: Vec<String> =
            group.present.iter().filter(|id| self.is_speech_analyzer(id)).cloned().collect();
        if speech_analyzers.is_empty() {
            return Ok(());
        }
        let hits = || found.values().chain(companions.values()).flatten();
        let known: BTreeSet<(VideoId, ChunkId)> = hits().map(chunk_key).collect();
        let min_probability =
            min_worthwhile_probability(hits().map(|hit| hit.p_present).fold(0.0, f32::max));
        // Only the chunks after hits that are worth reading are added.
        let next: BTreeSet<(VideoId, ChunkId)> = hits()
            .filter(|hit| hit.p_present >= min_probability)
            .map(|hit| (hit.video_id, hit.chunk_id.next()))
            .filter(|next| !known.contains(next))
            .collect();
        if next.is_empty() {
            return Ok(());
        }
        let following = VideoGroup {
            videos: group.videos.clone(),
            present: group.present,
            limit: next.len(),
            chunks: group.chunks.clone().in_chunks(next),
        };
        for (video, hits) in self.search(&following, speech_analyzers).await? {
            companions.entry(video).or_default().extend(hits);
        }
        Ok(())
    }

    fn is_speech_analyzer(&self, id: &str) -> bool {
        let known = self.service.analyzers.get(id);
        known.is_some_and(|analyzer| analyzer.spec().style == TextStyle::Speech)
    }

    /// Builds the vector query for the question.
    fn nearest_to(&self, filter: Filter, limit: usize) -> VectorQuery {
        VectorQuery {
            field: VectorField::COMBINED.name().into(),
            vector: self.vector.to_vec(),
            filter,
            limit,
            threshold: None,
            per_video: None,
        }
    }
}

impl Answering {
    /// Finds the chunks that overlap the requested moments. Returns `Invalid` if a moment id is
    /// malformed, a moment is missing, or there are too many chunks.
    async fn chunks_of_moments(&self, access: &Access, ids: &[String]) -> Result<ChosenChunks> {
        let ids = ids.iter().map(|id| id.parse()).collect::<Result<Vec<MomentId>>>()?;
        let requested = ids.len();
        let moments = self.library.moments(access, ids).await?;
        if moments.len() < requested {
            return Err(Error::Invalid(format!(
                "the moments of moment_ids have more than {MAX_CHUNKS} chunks together; name fewer"
            )));
        }
        let mut chosen = ChosenChunks::new();
        for moment in moments {
            let moment = moment.map_err(|missing| Error::Invalid(missing.reason))?;
            let within = moment.chunks.iter().filter(|chunk| chunk.overlap > 0.0);
            let of_video = chosen.entry(moment.moment_id.video_id()).or_default();
            of_video.extend(within.map(|chunk| chunk.chunk.chunk_id));
        }
        Ok(chosen)
    }
}

fn chunk_key(hit: &SearchResult) -> (VideoId, ChunkId) {
    (hit.video_id, hit.chunk_id)
}

fn by_video(hits: Vec<SearchResult>) -> HitsByVideo {
    let mut videos = HitsByVideo::new();
    for hit in hits {
        videos.entry(hit.video_id).or_default().push(hit);
    }
    videos
}

/// Returns the distinct valid ids in a request.
fn distinct_ids(ids: &[String]) -> Vec<VideoId> {
    let mut seen = BTreeSet::new();
    ids.iter().filter_map(|id| id.parse().ok()).filter(|id| seen.insert(*id)).collect()
}
