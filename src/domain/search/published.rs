//! The hits of published points.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use ports::index::VectorQuery;

use crate::domain::analysis::hit::HitDocument;
use crate::domain::catalog::Listed;
use crate::domain::kernel::error::{Error, Result};
use crate::domain::kernel::video::VideoId;
use crate::domain::search::{Mode, Search, mode};

/// A search looks at most at so many times the hits that are wanted.
const WIDEST: usize = 4;

/// A hit of a published video.
pub(super) struct Published {
    pub(super) hit: mode::Found,
    pub(super) document: HitDocument,
    pub(super) video_url: String,
    pub(super) recorded_at: Option<String>,
}

impl Search {
    /// The hits of the published points. Others are in the index while a video is published
    /// or deleted; where they crowd out what is wanted, more is looked at.
    pub(super) async fn published(
        &self,
        mode: Mode,
        text: &str,
        query: VectorQuery,
    ) -> Result<Vec<Published>> {
        let wanted = query.limit;
        let mut videos = HashMap::new();
        let mut limit = wanted;
        loop {
            let hits = self.find(mode, text, VectorQuery { limit, ..query.clone() }).await?;
            let complete = hits.len() < limit || limit > WIDEST * wanted;
            let mut published = self.current(hits, &mut videos).await?;
            if complete || published.len() >= wanted {
                published.truncate(wanted);
                return Ok(published);
            }
            limit *= 2;
        }
    }

    /// Those of the hits whose points are published. `videos` is what is known of their videos, and
    /// where their bytes are.
    pub(super) async fn current(
        &self,
        hits: Vec<mode::Found>,
        videos: &mut HashMap<VideoId, (Arc<Listed>, String)>,
    ) -> Result<Vec<Published>> {
        let document = |hit: mode::Found| {
            let document: HitDocument = hit.document.read().map_err(|e| {
                let error = Error::corrupt(format!("a hit of '{}': {e}", hit.id.video_id));
                // What is JSON is as it was written.
                if e.is_data() { error } else { self.mended_soon(error) }
            })?;
            Ok((hit, document))
        };
        let hits = hits.into_iter().map(document).collect::<Result<Vec<_>>>()?;
        let is_published = |listed: &Listed, hit: &mode::Found, document: &HitDocument| {
            listed.publishes(&hit.id.analyzer_id, &document.revision)
        };
        let of_hits: BTreeSet<VideoId> = hits.iter().map(|(hit, _)| hit.id.video_id).collect();
        let unread = of_hits.into_iter().filter(|id| !videos.contains_key(id));
        let unread: Vec<VideoId> = unread.collect();
        let is_enough = |id: VideoId, listed: &Listed| {
            let mut of_video = hits.iter().filter(|(hit, _)| hit.id.video_id == id);
            of_video.all(|(hit, document)| is_published(listed, hit, document))
        };
        for (id, listed) in self.catalog.listed_lately(&unread, is_enough).await? {
            let url = self.storage.download_url(&listed.storage_path).await?;
            videos.insert(id, (listed, url));
        }
        let published = |(hit, document): (mode::Found, HitDocument)| {
            let (video, url) = videos.get(&hit.id.video_id)?;
            let recorded_at = video.about.wall_clock(document.start);
            is_published(video, &hit, &document).then(|| {
                let video_url = url.clone();
                Published { hit, document, video_url, recorded_at }
            })
        };
        Ok(hits.into_iter().filter_map(published).collect())
    }
}
