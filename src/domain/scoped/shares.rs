//! Shares: those that a caller may see, and the clip behind a share, for people who have no token.

use std::sync::Arc;

use bytes::Bytes;

use super::Scoped;
use crate::Shotlog;
use crate::analysis::analyzers::{diarization, transcript};
use crate::export::{Content, ExportOptions, PartFields};
use crate::frames::{ClipFile, ClipOutline};
use crate::kernel::error::{Error, Result};
use crate::kernel::time::Span;
use crate::records::record::VideoRecord;
use crate::shares::{Share, ShareId, ShareList, ShareQuery, SharedPart};

/// Maximum length of the name of a downloaded clip, in characters, without its extension.
const MAX_FILENAME_CHARS: usize = 60;

/// The captions of a clip in which nobody speaks, as WebVTT.
const NO_CAPTIONS: &str = "WEBVTT\n";

/// The shares of the videos that the caller may see.
pub struct VisibleShares<'s>(&'s Scoped);

impl<'s> From<&'s Scoped> for VisibleShares<'s> {
    fn from(scoped: &'s Scoped) -> Self {
        Self(scoped)
    }
}

#[expect(missing_docs, reason = "the method is the use-case of its name")]
impl VisibleShares<'_> {
    pub async fn list(&self, query: &ShareQuery) -> Result<ShareList> {
        self.0.service.catalog.shares.list(&self.0.access, query).await
    }
}

/// The clip of a valid share. Whoever knows the id of the share may read the clip, and nothing else
/// of its video: neither the id and the file name of the video nor any other part of it.
pub struct SharedClip {
    service: Arc<Shotlog>,
    shared: SharedPart,
    record: VideoRecord,
}

impl SharedClip {
    /// Opens a share. Returns `NotFound` if it does not exist, was withdrawn or has expired, and if
    /// its video was deleted.
    pub async fn open(service: &Arc<Shotlog>, share_id: &ShareId) -> Result<Self> {
        let (shared, record) = service.catalog.shares.open(share_id).await?;
        Ok(Self { service: service.clone(), shared, record })
    }

    /// Returns the share.
    pub fn share(&self) -> &Share {
        &self.shared.share
    }

    /// Whether the clip is a video and not only sound.
    pub fn has_picture(&self) -> bool {
        self.record.has_picture()
    }

    /// Whether speech was recognised in the video, so that the clip may have captions.
    pub fn has_speech(&self) -> bool {
        [transcript::ID, diarization::ID].iter().any(|id| self.record.has_output(id))
    }

    /// Cuts the clip, or returns the cached one, with the title of the share as its file name.
    pub async fn clip(&self) -> Result<ClipFile> {
        let Span { start, end } = self.share().span;
        let clip = self.service.frames.clip(self.shared.video_id, start, end, true).await?;
        Ok(ClipFile { filename: self.filename(clip.video), ..clip })
    }

    /// Returns the properties of the clip without cutting it.
    pub async fn outline(&self) -> Result<ClipOutline> {
        let Span { start, end } = self.share().span;
        let video_id = self.shared.video_id;
        let outline = self.service.frames.clip_outline(video_id, start, end, true).await?;
        let filename = self.filename(outline.video);
        let named = |clip: ClipFile| ClipFile { filename: self.filename(clip.video), ..clip };
        Ok(ClipOutline { filename, cached: outline.cached.map(named), ..outline })
    }

    /// Returns a frame of the clip as a JPEG. Returns `NotFound` if the clip has no picture.
    pub async fn poster(&self) -> Result<Bytes> {
        self.service.frames.clip_poster(self.shared.video_id, self.share().span).await
    }

    /// Returns what is said in the clip as WebVTT captions, with times from the start of the clip.
    pub async fn captions(&self) -> Result<String> {
        let Span { start, end } = self.share().span;
        let part = PartFields { start: Some(start), end: Some(end), from_zero: true };
        let options = ExportOptions { part, ..ExportOptions::default() };
        match self.service.exports.export(self.shared.video_id, "vtt", options).await {
            Ok(export) => match export.content {
                Content::Text(captions) => Ok(captions),
                Content::Document(_) | Content::Bytes(_) => Ok(NO_CAPTIONS.into()),
            },
            Err(Error::Invalid(_)) => Ok(NO_CAPTIONS.into()),
            Err(error) => Err(error),
        }
    }

    /// Returns the file name of the clip, which is made of the title of the share.
    fn filename(&self, video: bool) -> String {
        let words = self.share().title.split(|c: char| !c.is_alphanumeric());
        let words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
        let name: String = words.join("-").chars().take(MAX_FILENAME_CHARS).collect();
        let name = if name.is_empty() { "clip" } else { name.as_str() };
        format!("{name}.{}", if video { "mp4" } else { "m4a" })
    }
}
