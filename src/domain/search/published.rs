//! The hits of published points.

use std::collections::{BTreeSet, HashMap};

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
        videos: &mut HashMap<VideoId, (Listed, String)>,
    ) -> Result<Vec<Published>> {
        let of_hits: BTreeSet<VideoId> = hits.iter().map(|hit| hit.id.video_id).collect();
        let unread = of_hits.into_iter().filter(|id| !videos.contains_key(id));
        let unread: Vec<VideoId> = unread.collect();
        for (id, listed) in self.catalog.listed(&unread).await? {
            let url = self.storage.link(&listed.storage_path).await?;
            videos.insert(id, (listed, url));
        }
        let mut published = Vec::with_capacity(hits.len());
        for mut hit in hits {
            let id = &hit.id;
            let document: HitDocument = serde_json::from_value(hit.document.take())
                .map_err(|e| Error::corrupt(format!("a hit of '{}': {e}", id.video_id)))?;
            let current = |(video, _): &&(Listed, String)| {
                let revision = video.revisions.get(&id.analyzer_id);
                document.revision.is_empty() || revision == Some(&document.revision)
            };
            if let Some((video, url)) = videos.get(&id.video_id).filter(current) {
                let (video_url, recorded_at) =
                    (url.clone(), video.about.wall_clock(document.start));
                published.push(Published { video_url, recorded_at, hit, document });
            }
        }
        Ok(published)
    }
}
