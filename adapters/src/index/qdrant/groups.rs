//! Searches grouped by video. The server names the videos whose best points come first, then the
//! best points of each are asked for in one request.

use std::collections::{BTreeMap, HashSet};

use ports::Result;
use ports::index::{Hit, PointId};
use qdrant_client::qdrant::{Condition, QueryBatchPoints, QueryPointGroups, QueryPoints, group_id};

use super::{LARGE_LIMIT, MARGIN, QdrantIndex, hit, order};

/// Videos whose points are asked for in one request.
const VIDEOS: usize = 64;

impl QdrantIndex {
    /// The best `per_video` points of each of the `limit` first videos. What the parts find of a
    /// point adds up to its score.
    pub(super) async fn grouped(
        &self,
        parts: Vec<QueryPoints>,
        limit: usize,
        per_video: usize,
    ) -> Result<Vec<Hit>> {
        let (mut limit, mut per_video) = (limit, per_video);
        if let Some(part) = parts.first() {
            limit = self.at_most_all(limit, &part.filter).await?;
            per_video = self.at_most_all(per_video, &part.filter).await?;
        }
        if limit == 0 || per_video == 0 {
            return Ok(Vec::new());
        }
        let mut videos = Vec::new();
        let mut known = HashSet::new();
        for part in &parts {
            let found = self.videos(part, limit).await?;
            videos.extend(found.into_iter().filter(|video| known.insert(video.clone())));
        }
        let mut groups = Vec::new();
        for some in videos.chunks(VIDEOS) {
            groups.extend(self.points_of(some, &parts, per_video).await?);
        }
        groups.sort_by(|a, b| match (a.first(), b.first()) {
            (Some(a), Some(b)) => b.score.total_cmp(&a.score).then_with(|| a.id.cmp(&b.id)),
            (a, b) => b.is_some().cmp(&a.is_some()),
        });
        groups.truncate(limit);
        Ok(groups.into_iter().flatten().collect())
    }

    /// The videos with the best points, a margin for equal ones among them. The server may stop
    /// before it has found as many as were asked for: it goes on without those it has found.
    async fn videos(&self, part: &QueryPoints, limit: usize) -> Result<Vec<String>> {
        let wanted = limit + MARGIN as usize;
        let mut request = QueryPointGroups {
            collection_name: part.collection_name.clone(),
            query: part.query.clone(),
            using: part.using.clone(),
            filter: part.filter.clone(),
            params: part.params.clone(),
            score_threshold: part.score_threshold,
            group_by: "video_id".to_owned(),
            group_size: Some(1),
            ..QueryPointGroups::default()
        };
        let mut videos: Vec<String> = Vec::new();
        loop {
            request.limit = Some((wanted - videos.len()).min(LARGE_LIMIT) as u64);
            let answer = self.retrying(|| self.client.query_groups(request.clone())).await?;
            let groups = answer.result.map(|result| result.groups).unwrap_or_default();
            let found: Vec<String> = groups
                .into_iter()
                .filter_map(|group| match group.id?.kind? {
                    group_id::Kind::StringValue(video) => Some(video),
                    _ => None,
                })
                .collect();
            let ended = found.is_empty();
            let others = Condition::matches("video_id", found.clone());
            request.filter.get_or_insert_default().must_not.push(others);
            videos.extend(found);
            if ended || videos.len() >= wanted {
                return Ok(videos);
            }
        }
    }

    /// The best points of each of these videos, in their order.
    async fn points_of(
        &self,
        videos: &[String],
        parts: &[QueryPoints],
        per_video: usize,
    ) -> Result<Vec<Vec<Hit>>> {
        let limit = per_video as u64 + MARGIN;
        let of_video = |video: &String, part: &QueryPoints| {
            let mut query = part.clone();
            let this = Condition::matches("video_id", video.clone());
            query.filter.get_or_insert_default().must.push(this);
            query.limit = Some(limit);
            query
        };
        let queries = videos.iter().flat_map(|v| parts.iter().map(move |part| of_video(v, part)));
        let request = QueryBatchPoints {
            collection_name: self.target.clone(),
            query_points: queries.collect(),
            ..QueryBatchPoints::default()
        };
        let answer = self.retrying(|| self.client.query_batch(request.clone())).await?;
        let mut groups = Vec::with_capacity(videos.len());
        for of_parts in answer.result.chunks(parts.len()) {
            let mut best: BTreeMap<PointId, Hit> = BTreeMap::new();
            for point in of_parts.iter().flat_map(|found| &found.result) {
                let hit = hit(point.clone())?;
                best.entry(hit.id.clone())
                    .and_modify(|known| known.score += hit.score)
                    .or_insert(hit);
            }
            let mut group: Vec<Hit> = best.into_values().collect();
            order(&mut group, per_video);
            groups.push(group);
        }
        Ok(groups)
    }
}
