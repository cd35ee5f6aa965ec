//! How much of a bin is from each video. Bins keep it in their document, so that lists of bins need
//! not read selects to leave out missing videos, or to find the bins that use a video.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use serde::{Deserialize, Serialize};

use super::head::BinHead;
use super::select::Select;
use super::{Bin, Bins};
use crate::kernel::access::Access;
use crate::kernel::error::Result;
use crate::kernel::video::VideoId;

/// Maximum number of videos in the document of a bin, which stays below 20 KB with them. The selects
/// of a bin with more videos are read instead.
const MAX_VIDEOS: usize = 500;

/// The selects of a bin that are from one video: the video, their number, and their length as
/// trimmed, in milliseconds. Stored as an array, because a bin may have many.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct VideoShare(VideoId, usize, u64);

/// Sums selects by video.
fn sum_by_video<'s>(selects: impl IntoIterator<Item = &'s Select>) -> Vec<VideoShare> {
    let mut sums: BTreeMap<VideoId, (usize, u64)> = BTreeMap::new();
    for select in selects {
        let (count, milliseconds) = sums.entry(select.video_id).or_default();
        *count += 1;
        *milliseconds += select.milliseconds();
    }
    let share = |(id, (count, milliseconds))| VideoShare(id, count, milliseconds);
    sums.into_iter().map(share).collect()
}

/// Sums the selects of a bin for its document; `None` if they are from too many videos.
pub(super) fn stored_shares(selects: &[Select]) -> Option<Vec<VideoShare>> {
    Some(sum_by_video(selects)).filter(|shares| shares.len() <= MAX_VIDEOS)
}

/// Sums the selects that an undo restores, for the document of the bin.
pub(super) async fn restored_shares(
    bins: &Bins,
    head: &BinHead,
) -> Result<Option<Vec<VideoShare>>> {
    Ok(shares(bins, head).await?.filter(|shares| shares.len() <= MAX_VIDEOS))
}

/// Returns the shares of a bin. Reads the selects if the document does not have them; `None` if a
/// page of selects is missing.
async fn shares(bins: &Bins, head: &BinHead) -> Result<Option<Vec<VideoShare>>> {
    if let Some(shares) = &head.videos {
        return Ok(Some(shares.clone()));
    }
    match bins.read_range(head, &(0..usize::MAX)).await {
        Ok(selects) => Ok(Some(sum_by_video(&selects))),
        // Another change may have removed the page in the meantime, and an unreadable bin is listed.
        Err(error) if error.is_corrupt() => Ok(None),
        Err(error) => Err(error),
    }
}

/// Returns bins as the caller sees them. Their length does not count selects whose video is missing.
pub(super) async fn visible_bins(
    bins: &Bins,
    access: &Access,
    heads: &[&BinHead],
) -> Result<Vec<Bin>> {
    let mut with_shares = Vec::with_capacity(heads.len());
    let mut used = BTreeSet::new();
    for &head in heads {
        let shares = shares(bins, head).await?;
        used.extend(shares.iter().flatten().map(|VideoShare(id, ..)| *id));
        with_shares.push((head, shares));
    }
    let videos = bins.visible_videos(access, used.into_iter()).await?;
    let visible: HashSet<VideoId> = videos.into_keys().collect();
    let view = |(head, shares): (&BinHead, Option<Vec<VideoShare>>)| match shares {
        Some(shares) => {
            let present = shares.iter().filter(|VideoShare(id, ..)| visible.contains(id));
            let milliseconds: u64 = present.map(|VideoShare(.., length)| length).sum();
            Bin { duration: milliseconds as f64 / 1000.0, ..head.view() }
        }
        None => head.view(),
    };
    Ok(with_shares.into_iter().map(view).collect())
}

/// Returns a bin as the caller sees it.
pub(super) async fn visible_bin(bins: &Bins, access: &Access, head: &BinHead) -> Result<Bin> {
    let views = visible_bins(bins, access, &[head]).await?;
    Ok(views.into_iter().next().unwrap_or_else(|| head.view()))
}

/// Keeps the bins that use a video. Returns the number of their selects of the video.
pub(super) async fn retain_using(
    bins: &Bins,
    heads: &mut Vec<&BinHead>,
    video_id: VideoId,
) -> Result<usize> {
    let mut total = 0;
    for head in std::mem::take(heads) {
        let shares = shares(bins, head).await?.unwrap_or_default();
        if let Some(VideoShare(_, count, _)) = shares.iter().find(|share| share.0 == video_id) {
            total += count;
            heads.push(head);
        }
    }
    Ok(total)
}

#[cfg(test)]
mod tests {
    use super::super::select::testing::select;
    use super::*;

    #[test]
    fn shares_are_stored_unless_there_are_too_many_videos() {
        let of_video = |video: usize| Select {
            video_id: format!("{video:016x}").parse().expect("an id"),
            ..select(1)
        };
        let two = [of_video(7), of_video(3), of_video(7)];
        let shares = stored_shares(&two).expect("two videos");
        let json = serde_json::to_string(&shares).expect("JSON");
        assert_eq!(json, "[[\"0000000000000003\",1,10000],[\"0000000000000007\",2,20000]]");
        let many: Vec<Select> = (0..=MAX_VIDEOS).map(of_video).collect();
        assert!(stored_shares(&many[1..]).is_some() && stored_shares(&many).is_none());
    }
}
