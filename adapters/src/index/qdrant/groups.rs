//! Searches grouped by video. The first request finds the videos whose points score highest, the
//! second finds the highest-scoring points of each video, and the third fetches the documents of
//! the returned points.

use std::collections::{BTreeMap, HashMap, HashSet};

use ports::Result;
use ports::index::Hit;
use qdrant_client::qdrant::{Condition, QueryPointGroups, QueryPoints, group_id};

use super::{Documents, LARGE_LIMIT, NamedScore, QdrantIndex, best, limited_to};

/// Number of videos per request for points.
const VIDEOS: usize = 64;

/// Number of extra videos and points to request, so that ties at the limit can be ordered.
const MARGIN: usize = 16;

impl QdrantIndex {
    /// Finds the `per_video` points with the highest scores in each of the `limit` videos whose
    /// points score highest. A point's score is the sum of its scores for all parts of the query.
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
            groups.extend(self.best_points(some, &parts, per_video).await?);
        }
        groups.sort_by(|a: &Vec<NamedScore>, b| a[0].order(&b[0]));
        groups.truncate(limit);
        self.with_documents(groups.into_iter().flatten().collect(), Documents::new()).await
    }

    /// Finds the videos whose points score highest, with a margin for ties. If the server returns
    /// fewer videos than requested, repeats the search without the videos found so far.
    async fn videos(&self, part: &QueryPoints, limit: usize) -> Result<Vec<String>> {
        let count = limit + MARGIN;
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
            request.limit = Some((count - videos.len()).min(LARGE_LIMIT) as u64);
            let answer =
                self.server.retrying(|| self.server.client.query_groups(request.clone())).await?;
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
            if ended || videos.len() >= count {
                return Ok(videos);
            }
        }
    }

    /// Finds the points with the highest scores in each of these videos.
    async fn best_points(
        &self,
        videos: &[String],
        parts: &[QueryPoints],
        per_video: usize,
    ) -> Result<Vec<Vec<NamedScore>>> {
        let of_video = |video: &String, part: &QueryPoints| {
            let mut query = limited_to(part, per_video + MARGIN);
            let this = Condition::matches("video_id", video.clone());
            query.filter.get_or_insert_default().must.push(this);
            query
        };
        let queries = videos.iter().flat_map(|v| parts.iter().map(move |part| of_video(v, part)));
        let found = self.batch(queries.collect()).await?;
        let places = (0..videos.len()).flat_map(|video| parts.iter().map(move |_| video));
        let of_point: HashMap<String, usize> = places
            .zip(&found)
            .flat_map(|(video, found)| found.iter().map(move |f| (f.name.clone(), video)))
            .collect();
        let found = self.sum_scores(parts, found.into_iter().flatten().collect()).await?;
        let mut groups: BTreeMap<usize, Vec<NamedScore>> = BTreeMap::new();
        for point in found {
            if let Some(video) = of_point.get(&point.name) {
                groups.entry(*video).or_default().push(point);
            }
        }
        Ok(groups.into_values().map(|points| best(points, per_video)).collect())
    }
}
