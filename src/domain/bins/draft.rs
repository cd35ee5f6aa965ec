//! The selects of a bin while a change is applied to them. Reads and stores nothing.

use std::collections::HashMap;

use super::BinSettings;
use super::change::BinChange;
use super::head::{BinHead, ChangeKind};
use super::select::{Select, SelectId, SelectPatch, unknown_select};
use crate::kernel::error::{Error, Result};

/// A place in the order of a bin's selects.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// After the last select.
    End,
    /// At this position, counted from 0, among the selects that are not being moved. A position
    /// beyond the last select means the end.
    Position(usize),
    /// Before this select.
    Before(SelectId),
}

/// A new select and the collection of its video.
pub(super) struct Addition {
    pub(super) select: Select,
    pub(super) collection: Option<String>,
}

/// The selects of a bin while a change is applied to them.
pub(super) struct Draft<'a> {
    /// The state before the change.
    pub(super) base: &'a BinHead,
    /// The version in `If-Match`.
    pub(super) expected: Option<u64>,
    pub(super) settings: &'a BinSettings,
    pub(super) selects: Vec<Select>,
    /// The id of the next new select.
    pub(super) next: u64,
}

impl Draft<'_> {
    /// Applies a change. Returns the selects that it added, edited or split.
    pub(super) fn apply(
        &mut self,
        change: &BinChange,
        additions: &[Addition],
    ) -> Result<(ChangeKind, Vec<Select>)> {
        Ok(match change {
            BinChange::Add(_, place) => (ChangeKind::Add, self.add(additions, *place)?),
            BinChange::Edit(id, patch) => (ChangeKind::Edit, vec![self.edit(*id, patch)?]),
            BinChange::Split(id, time) => (ChangeKind::Split, self.split(*id, *time)?),
            BinChange::Move(ids, place) => {
                self.reorder(ids, *place)?;
                (ChangeKind::Move, Vec::new())
            }
            BinChange::Remove(ids) => {
                self.remove(ids)?;
                (ChangeKind::Remove, Vec::new())
            }
            BinChange::RenameTag { from, to } => {
                self.rename_tag(from, to.as_deref())?;
                (ChangeKind::Tag, Vec::new())
            }
            // These do not change selects.
            BinChange::Describe { .. } | BinChange::Undo => (ChangeKind::Describe, Vec::new()),
        })
    }

    fn add(&mut self, additions: &[Addition], place: Place) -> Result<Vec<Select>> {
        self.check_room(additions.len())?;
        let bin = &self.base.collection;
        if let Some(other) = additions.iter().find(|a| bin.is_some() && a.collection != *bin) {
            return Err(Error::Invalid(format!(
                "video '{}' is not in the collection '{}' of the bin",
                other.select.video_id,
                bin.as_deref().unwrap_or_default()
            )));
        }
        let index = place.index(&self.selects)?;
        let mut added = Vec::with_capacity(additions.len());
        for Addition { select, .. } in additions {
            let (id, version) = (self.next_id(), self.version());
            added.push(Select { id, version, ..select.clone() });
        }
        self.selects.splice(index..index, added.iter().cloned());
        Ok(added)
    }

    fn edit(&mut self, id: SelectId, patch: &SelectPatch) -> Result<Select> {
        let index = self.index(id)?;
        self.check_unchanged(&self.selects[index])?;
        let mut edited = self.selects[index].clone();
        edited.apply(patch, self.settings)?;
        if edited != self.selects[index] {
            edited.version = self.version();
            self.selects[index] = edited.clone();
        }
        Ok(edited)
    }

    fn split(&mut self, id: SelectId, time: f64) -> Result<Vec<Select>> {
        let index = self.index(id)?;
        self.check_unchanged(&self.selects[index])?;
        self.check_room(1)?;
        let id = self.next_id();
        let (mut first, mut second) = self.selects[index].split(time, id)?;
        (first.version, second.version) = (self.version(), self.version());
        self.selects[index] = first.clone();
        self.selects.insert(index + 1, second.clone());
        Ok(vec![first, second])
    }

    fn reorder(&mut self, moved: &[SelectId], place: Place) -> Result<()> {
        self.base.check_unchanged(self.expected, self.base.order_version)?;
        let positions = self.positions(moved)?;
        if let Place::Before(anchor) = place
            && positions.contains_key(&anchor)
        {
            return Err(Error::Invalid(format!("select '{anchor}' cannot be moved before itself")));
        }
        let all = std::mem::take(&mut self.selects);
        let (mut moved, mut others): (Vec<Select>, Vec<Select>) =
            all.into_iter().partition(|select| positions.contains_key(&select.id));
        moved.sort_by_key(|select| positions.get(&select.id).copied());
        let index = place.index(&others)?;
        others.splice(index..index, moved);
        self.selects = others;
        Ok(())
    }

    fn remove(&mut self, removed: &[SelectId]) -> Result<()> {
        let positions = self.positions(removed)?;
        for select in self.selects.iter().filter(|select| positions.contains_key(&select.id)) {
            self.check_unchanged(select)?;
        }
        self.selects.retain(|select| !positions.contains_key(&select.id));
        Ok(())
    }

    /// Renames a tag of all selects, or removes it. Returns `NotFound` if no select has it.
    fn rename_tag(&mut self, from: &str, to: Option<&str>) -> Result<()> {
        let mut is_known = false;
        for index in 0..self.selects.len() {
            let select = &self.selects[index];
            if !select.tags.iter().any(|tag| tag == from) {
                continue;
            }
            is_known = true;
            self.check_unchanged(select)?;
            let renamed = |tag: &String| match tag == from {
                true => to.map(str::to_owned),
                false => Some(tag.clone()),
            };
            let tags = self
                .settings
                .check_tags(&select.tags.iter().filter_map(renamed).collect::<Vec<_>>())?;
            if tags != select.tags {
                let version = self.version();
                let select = &mut self.selects[index];
                (select.tags, select.version) = (tags, version);
            }
        }
        match is_known {
            true => Ok(()),
            false => Err(Error::NotFound(format!(
                "no select of bin '{}' has the tag '{from}'",
                self.base.bin_id
            ))),
        }
    }

    /// Returns the position of each id in a request. Returns `Invalid` if an id is repeated, and
    /// `NotFound` if there is no such select.
    fn positions(&self, requested: &[SelectId]) -> Result<HashMap<SelectId, usize>> {
        let mut positions = HashMap::with_capacity(requested.len());
        for (position, id) in requested.iter().enumerate() {
            if positions.insert(*id, position).is_some() {
                return Err(Error::Invalid(format!("select '{id}' is listed twice")));
            }
        }
        let present = ids(&self.selects).filter(|id| positions.contains_key(id)).count();
        if present < positions.len() {
            for id in requested {
                self.index(*id)?;
            }
        }
        Ok(positions)
    }

    fn index(&self, id: SelectId) -> Result<usize> {
        self.selects.iter().position(|s| s.id == id).ok_or_else(|| unknown_select(id))
    }

    fn check_unchanged(&self, select: &Select) -> Result<()> {
        self.base.check_unchanged(self.expected, select.version)
    }

    /// Checks that the bin has room for more selects.
    fn check_room(&self, more: usize) -> Result<()> {
        let (count, max) = (self.selects.len(), self.settings.max_selects);
        if count + more > max {
            return Err(Error::Invalid(format!(
                "a bin has at most {max} selects (bins.max_selects); this one has {count}, and the \
                 request adds {more}"
            )));
        }
        Ok(())
    }

    /// Returns the version that the change creates.
    fn version(&self) -> u64 {
        self.base.version + 1
    }

    fn next_id(&mut self) -> SelectId {
        self.next += 1;
        SelectId(self.next - 1)
    }
}

impl Place {
    /// Returns the index of the place among `selects`. Returns `NotFound` if the select that it
    /// names does not exist.
    fn index(self, selects: &[Select]) -> Result<usize> {
        match self {
            Self::End => Ok(selects.len()),
            Self::Position(position) => Ok(position.min(selects.len())),
            Self::Before(id) => {
                ids(selects).position(|other| other == id).ok_or_else(|| unknown_select(id))
            }
        }
    }
}

pub(super) fn ids(selects: &[Select]) -> impl Iterator<Item = SelectId> {
    selects.iter().map(|select| select.id)
}

#[cfg(test)]
mod tests {
    use super::super::select::testing::select;
    use super::*;

    const SETTINGS: BinSettings = BinSettings {
        max: 1,
        max_selects: 6,
        max_undo: 1,
        max_name_chars: 10,
        max_note_chars: 10,
        max_tags: 2,
        max_tag_chars: 10,
        max_clips: 1,
        max_string_out: 1,
        max_string_out_side: 64,
        max_string_out_bytes: 1,
        cache_bytes: 0,
    };

    /// A bin with the selects s1 to s4, which were last changed in version 1 of 5.
    fn base() -> BinHead {
        let mut head = BinHead::new("a".into(), String::new(), None);
        (head.version, head.next_select, head.order_version) = (5, 5, 3);
        head
    }

    fn draft(base: &BinHead, expected: Option<u64>) -> Draft<'_> {
        let selects = (1..=4).map(select).collect();
        Draft { base, expected, settings: &SETTINGS, selects, next: base.next_select }
    }

    fn order(draft: &Draft<'_>) -> Vec<u64> {
        draft.selects.iter().map(|select| select.id.0).collect()
    }

    fn select_ids(ids: &[u64]) -> Vec<SelectId> {
        ids.iter().copied().map(SelectId).collect()
    }

    #[test]
    fn selects_are_added_at_a_place() {
        let base = base();
        let addition = || Addition { select: select(0), collection: None };
        for (place, expected) in [
            (Place::End, [1, 2, 3, 4, 5, 6]),
            (Place::Position(0), [5, 6, 1, 2, 3, 4]),
            (Place::Position(2), [1, 2, 5, 6, 3, 4]),
            (Place::Position(99), [1, 2, 3, 4, 5, 6]),
            (Place::Before(SelectId(4)), [1, 2, 3, 5, 6, 4]),
        ] {
            let mut draft = draft(&base, None);
            let added = draft.add(&[addition(), addition()], place).expect("added");
            assert_eq!(order(&draft), expected, "{place:?}");
            assert!(added.iter().all(|select| select.version == 6));
            assert!(matches!(draft.add(&[addition()], place), Err(Error::Invalid(_))));
        }
        let gone = draft(&base, None).add(&[addition()], Place::Before(SelectId(9)));
        assert!(matches!(gone, Err(Error::NotFound(_))));
    }

    #[test]
    fn bins_of_a_collection_have_only_its_videos() {
        let mut base = base();
        base.collection = Some("news".into());
        for (collection, allowed) in [(Some("news"), true), (Some("sport"), false), (None, false)] {
            let collection = collection.map(str::to_owned);
            let added =
                draft(&base, None).add(&[Addition { select: select(0), collection }], Place::End);
            assert_eq!(added.is_ok(), allowed);
        }
    }

    #[test]
    fn selects_are_moved_in_the_order_of_the_request() {
        let base = base();
        for (moved, place, expected) in [
            (&[1][..], Place::End, [2, 3, 4, 1]),
            (&[4], Place::Position(0), [4, 1, 2, 3]),
            (&[4, 2], Place::Before(SelectId(1)), [4, 2, 1, 3]),
            (&[1, 2], Place::Before(SelectId(4)), [3, 1, 2, 4]),
            (&[3, 1], Place::Position(1), [2, 3, 1, 4]),
            (&[4, 3, 2, 1], Place::End, [4, 3, 2, 1]),
            (&[2], Place::Position(1), [1, 2, 3, 4]),
        ] {
            let mut draft = draft(&base, None);
            draft.reorder(&select_ids(moved), place).expect("moved");
            assert_eq!(order(&draft), expected, "{moved:?} {place:?}");
        }
        for (moved, place) in [
            (&[1, 1][..], Place::End),
            (&[1], Place::Before(SelectId(1))),
            (&[9], Place::End),
            (&[1], Place::Before(SelectId(9))),
        ] {
            let refused = draft(&base, None).reorder(&select_ids(moved), place);
            assert!(matches!(refused, Err(Error::Invalid(_) | Error::NotFound(_))), "{moved:?}");
        }
    }

    #[test]
    fn a_change_conflicts_only_with_changes_of_the_same_selects() {
        let mut base = base();
        let rate = SelectPatch { rating: Some(3), ..SelectPatch::default() };
        let edited = draft(&base, Some(1)).edit(SelectId(2), &rate).expect("unchanged since");
        assert_eq!((edited.rating, edited.version), (3, 6));
        let outdated = |result: Result<()>| matches!(result, Err(Error::Outdated(_)));
        let mut changed = draft(&base, Some(4));
        changed.selects[1].version = 5;
        assert!(outdated(changed.edit(SelectId(2), &rate).map(drop)));
        assert!(outdated(changed.split(SelectId(2), 15.0).map(drop)));
        assert!(outdated(changed.remove(&select_ids(&[1, 2]))));
        assert!(changed.remove(&select_ids(&[1, 3])).is_ok());
        assert!(outdated(draft(&base, Some(2)).reorder(&select_ids(&[1]), Place::End)));
        assert!(draft(&base, Some(3)).reorder(&select_ids(&[1]), Place::End).is_ok());
        base.undo_version = 5;
        assert!(outdated(draft(&base, Some(4)).edit(SelectId(2), &rate).map(drop)));
    }

    #[test]
    fn an_edit_without_effect_changes_nothing() {
        let base = base();
        let mut draft = draft(&base, None);
        let same =
            SelectPatch { rating: Some(0), note: Some(" ".into()), ..SelectPatch::default() };
        assert_eq!(draft.edit(SelectId(2), &same).expect("no change").version, 1);
        assert_eq!(draft.selects, (1..=4).map(select).collect::<Vec<_>>());
    }

    #[test]
    fn a_split_inserts_the_second_part_after_the_first() {
        let base = base();
        let mut draft = draft(&base, None);
        let parts = draft.split(SelectId(2), 12.5).expect("two parts");
        assert_eq!(order(&draft), [1, 2, 5, 3, 4]);
        assert_eq!(parts.iter().map(|part| part.milliseconds()).sum::<u64>(), 10_000);
        assert!(matches!(draft.split(SelectId(9), 12.5), Err(Error::NotFound(_))));
        draft.split(SelectId(1), 12.5).expect("two parts");
        assert!(matches!(draft.split(SelectId(3), 12.5), Err(Error::Invalid(_))), "no more room");
    }
}
