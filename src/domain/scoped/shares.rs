//! Shares: those that a caller may see, and the clips of a share, for people who have no token.

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
use crate::shares::{self, Share, ShareId, ShareList, ShareQuery, ShareView, SharedPart};

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

/// A valid share. Anyone who knows its id may read the clips of its parts and, of several clips, the
/// titles of their videos, and nothing else: neither the id of a video nor any other part of it.
pub struct OpenShare {
    service: Arc<Shotlog>,
    view: ShareView,
    records: Vec<VideoRecord>,
}

impl OpenShare {
    /// Opens a share. Returns `NotFound` if it does not exist, was withdrawn or has expired, and if
    /// all its videos were deleted.
    pub async fn open(service: &Arc<Shotlog>, share_id: &ShareId) -> Result<Self> {
        let (view, records) = service.catalog.shares.open(share_id).await?;
        Ok(Self { service: service.clone(), view, records })
    }

    /// Returns the share.
    pub fn share(&self) -> &Share {
        &self.view.share
    }

    /// Returns the clips of the share, in order.
    pub fn clips(&self) -> Vec<SharedClip<'_>> {
        let clip = |(index, part): (usize, &SharedPart)| {
            let record = self.records.iter().find(|record| record.video_id == part.video_id)?;
            Some(SharedClip { open: self, part: *part, number: index + 1, record })
        };
        self.view.parts().enumerate().filter_map(clip).collect()
    }
}

/// The clip of a part of a share.
pub struct SharedClip<'s> {
    open: &'s OpenShare,
    part: SharedPart,
    number: usize,
    record: &'s VideoRecord,
}

impl SharedClip<'_> {
    /// Returns the number of the clip in its share, counted from 1.
    pub fn number(&self) -> usize {
        self.number
    }

    /// Returns the title of the clip's video, or its file name without the extension.
    pub fn title(&self) -> String {
        shares::default_title(self.record)
    }

    /// Whether the share has no other clip.
    pub fn is_only_one(&self) -> bool {
        self.open.view.others.is_empty()
    }

    /// Returns the part of its video that the clip shows.
    pub fn span(&self) -> Span {
        self.part.span
    }

    /// Whether the clip is a video and not only sound.
    pub fn has_picture(&self) -> bool {
        self.record.has_picture()
    }

    /// Whether speech was recognised in the video, so that the clip may have captions.
    pub fn has_speech(&self) -> bool {
        [transcript::ID, diarization::ID].iter().any(|id| self.record.has_output(id))
    }

    /// Cuts the clip, or returns the cached one, with the title of the share in its file name.
    pub async fn clip(&self) -> Result<ClipFile> {
        let Span { start, end } = self.part.span;
        let clip = self.open.service.frames.clip(self.part.video_id, start, end, true).await?;
        Ok(ClipFile { filename: self.filename(clip.video), ..clip })
    }

    /// Returns the properties of the clip without cutting it.
    pub async fn outline(&self) -> Result<ClipOutline> {
        let Span { start, end } = self.part.span;
        let video_id = self.part.video_id;
        let outline = self.open.service.frames.clip_outline(video_id, start, end, true).await?;
        let filename = self.filename(outline.video);
        let named = |clip: ClipFile| ClipFile { filename: self.filename(clip.video), ..clip };
        Ok(ClipOutline { filename, cached: outline.cached.map(named), ..outline })
    }

    /// Returns a frame of the clip as a JPEG. Returns `NotFound` if the clip has no picture.
    pub async fn poster(&self) -> Result<Bytes> {
        self.open.service.frames.clip_poster(self.part.video_id, self.part.span).await
    }

    /// Returns what is said in the clip as WebVTT captions, with times from the start of the clip.
    pub async fn captions(&self) -> Result<String> {
        let Span { start, end } = self.part.span;
        let part = PartFields { start: Some(start), end: Some(end), from_zero: true };
        let options = ExportOptions { part, ..ExportOptions::default() };
        match self.open.service.exports.export(self.part.video_id, "vtt", options).await {
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
        let words = self.open.share().title.split(|c: char| !c.is_alphanumeric());
        let words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
        let name: String = words.join("-").chars().take(MAX_FILENAME_CHARS).collect();
        let name = if name.is_empty() { "clip" } else { name.as_str() };
        let number = if self.is_only_one() { String::new() } else { format!("-{}", self.number) };
        format!("{name}{number}.{}", if video { "mp4" } else { "m4a" })
    }
}
