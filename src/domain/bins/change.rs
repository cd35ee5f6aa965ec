//! Changes to a bin. A change is applied to the current state of the bin, again if another process
//! has changed the bin in the meantime. It names selects by their ids, so changes to different
//! selects do not conflict.

use super::draft::{Addition, Draft, ids};
use super::head::{BinHead, ChangeKind};
use super::select::{Select, SelectDraft, SelectId, SelectPatch};
use super::store::StoredBin;
use super::usage::{restored_shares, visible_bin};
use super::videos::{BinVideo, SelectView};
use super::{Bin, BinId, Bins};
use crate::kernel::access::Access;
use crate::kernel::error::Result;
use crate::kernel::moment::MomentId;
use crate::records::documents::{MAX_SWAP_ATTEMPTS, busy};

pub use super::draft::Place;

/// A change to a bin.
#[derive(Debug, Clone, PartialEq)]
pub enum BinChange {
    /// Changes the name or the description; `None` leaves it unchanged.
    Describe {
        /// The new name.
        name: Option<String>,
        /// The new description; empty to remove it.
        description: Option<String>,
    },
    /// Adds selects at a place, in this order.
    Add(Vec<SelectDraft>, Place),
    /// Changes a select.
    Edit(SelectId, SelectPatch),
    /// Moves selects to a place, in this order.
    Move(Vec<SelectId>, Place),
    /// Splits a select at a time, given in seconds of the video.
    Split(SelectId, f64),
    /// Removes selects.
    Remove(Vec<SelectId>),
    /// Renames a tag of all selects, or removes it.
    RenameTag {
        /// The tag.
        from: String,
        /// Its new name, which merges it with a tag that has this name; `None` to remove it.
        to: Option<String>,
    },
    /// Undoes the last change.
    Undo,
}

/// The result of a change.
#[derive(Debug, Clone, PartialEq)]
pub struct BinChanged {
    /// The bin after the change.
    pub bin: Bin,
    /// The selects that were added, edited or split. Those with a renamed tag are left out.
    pub selects: Vec<SelectView>,
}

impl Bins {
    /// Changes a bin. Returns `NotFound` if the caller may not see the bin or if a select or a
    /// tag does not exist, `Outdated` if what the change affects has changed since the version `expected`,
    /// `Conflict` if there is nothing to undo, `Unprocessable` for a value that exceeds a limit,
    /// and `Invalid` if a moment does not exist or if the bin would have too many selects.
    ///
    /// A change that leaves everything as it is creates no version.
    pub async fn change(
        &self,
        access: &Access,
        bin_id: &BinId,
        expected: Option<u64>,
        change: BinChange,
    ) -> Result<BinChanged> {
        self.readiness.check()?;
        // A caller that may not see the bin learns nothing about the videos in the request.
        self.find(access, bin_id).await?;
        let additions = match &change {
            BinChange::Add(drafts, _) => self.additions(access, drafts).await?,
            _ => Vec::new(),
        };
        let _lock = self.lock(bin_id).lock().await;
        for _ in 0..MAX_SWAP_ATTEMPTS {
            let changed = match &change {
                BinChange::Undo => self.try_undo(access, bin_id, expected).await?,
                BinChange::Describe { name, description } => {
                    let details = (name.as_deref(), description.as_deref());
                    self.try_describe(access, bin_id, expected, details).await?
                }
                change => self.try_change(access, bin_id, expected, change, &additions).await?,
            };
            if let Some(changed) = changed {
                return Ok(changed);
            }
        }
        Err(busy(&format!("bin '{bin_id}' is")))
    }

    /// Checks new selects against their videos.
    async fn additions(&self, access: &Access, drafts: &[SelectDraft]) -> Result<Vec<Addition>> {
        let mut selects = Vec::with_capacity(drafts.len());
        let mut moments: Vec<MomentId> = drafts.iter().map(|draft| draft.moment.clone()).collect();
        for draft in drafts {
            let select = Select::new(draft, &self.settings)?;
            if select.trim() != (None, None) {
                moments.push(MomentId::new(select.video_id, select.trimmed_span()));
            }
            selects.push(select);
        }
        let videos = self.videos_of_moments(access, &moments).await?;
        let addition = |mut select: Select| {
            let BinVideo { filename, collection, .. } = videos.get(&select.video_id)?.clone();
            select.filename = filename;
            Some(Addition { select, collection })
        };
        Ok(selects.into_iter().filter_map(addition).collect())
    }

    /// Applies a change to selects. Returns `None` if another process changed the bin first.
    async fn try_change(
        &self,
        access: &Access,
        bin_id: &BinId,
        expected: Option<u64>,
        change: &BinChange,
        additions: &[Addition],
    ) -> Result<Option<BinChanged>> {
        let (stored, selects) = self.open(access, bin_id).await?;
        let base = &stored.head;
        let mut head = base.next();
        let mut draft = Draft {
            base,
            expected,
            settings: &self.settings,
            selects: selects.clone(),
            next: base.next_select,
        };
        let (kind, touched) = draft.apply(change, additions)?;
        if let BinChange::Edit(_, patch) = change
            && (patch.trim_in.is_some() || patch.trim_out.is_some())
        {
            self.check_trims(access, &touched).await?;
        }
        let views = self.views(access, touched).await?;
        if draft.selects == selects {
            let bin = visible_bin(self, access, base).await?;
            return Ok(Some(BinChanged { bin, selects: views }));
        }
        head.next_select = draft.next;
        if !ids(&selects).eq(ids(&draft.selects)) {
            head.order_version = head.version;
        }
        let written = self.write_selects(&mut head, base, &selects, &draft.selects).await?;
        head.push_undo(kind, base, self.settings.max_undo);
        let bin = visible_bin(self, access, &head).await?;
        let swapped = self.swap(&stored, head, &written).await?;
        Ok(swapped.then_some(BinChanged { bin, selects: views }))
    }

    async fn try_describe(
        &self,
        access: &Access,
        bin_id: &BinId,
        expected: Option<u64>,
        (name, description): (Option<&str>, Option<&str>),
    ) -> Result<Option<BinChanged>> {
        let name = name.map(|name| self.settings.check_name(name)).transpose()?;
        let description =
            description.map(|text| self.settings.check_description(text)).transpose()?;
        let stored = self.find(access, bin_id).await?;
        let base = &stored.head;
        base.check_unchanged(expected, base.details_version)?;
        let mut head = base.next();
        head.name = name.unwrap_or(head.name);
        head.description = description.unwrap_or(head.description);
        if (&head.name, &head.description) == (&base.name, &base.description) {
            let bin = visible_bin(self, access, base).await?;
            return Ok(Some(BinChanged { bin, selects: Vec::new() }));
        }
        head.details_version = head.version;
        head.push_undo(ChangeKind::Describe, base, self.settings.max_undo);
        self.swap_head(access, &stored, head).await
    }

    async fn try_undo(
        &self,
        access: &Access,
        bin_id: &BinId,
        expected: Option<u64>,
    ) -> Result<Option<BinChanged>> {
        let stored = self.find(access, bin_id).await?;
        stored.head.check_unchanged(expected, stored.head.version)?;
        let mut head = stored.head.next();
        head.pop_undo()?;
        head.videos = restored_shares(self, &head).await?;
        self.swap_head(access, &stored, head).await
    }

    /// Replaces the state of a bin by one that needs no new documents.
    async fn swap_head(
        &self,
        access: &Access,
        stored: &StoredBin,
        head: BinHead,
    ) -> Result<Option<BinChanged>> {
        let bin = visible_bin(self, access, &head).await?;
        let swapped = self.swap(stored, head, &[]).await?;
        Ok(swapped.then_some(BinChanged { bin, selects: Vec::new() }))
    }
}
