//! The document of a bin that lists its pages, and the changes that can be undone.

use std::collections::BTreeSet;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::pages::{PageDelta, PageRef};
use super::usage::VideoShare;
use super::{Bin, BinId, random_digits};
use crate::kernel::error::{Error, Result};
use crate::kernel::time::iso;

/// A kind of change to a bin.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ChangeKind {
    /// The name or the description was changed.
    Describe,
    /// Selects were added.
    Add,
    /// A select was changed.
    Edit,
    /// Selects were moved.
    Move,
    /// A select was split.
    Split,
    /// Selects were removed.
    Remove,
    /// A tag was renamed or removed.
    Tag,
}

/// The stored state of a bin, except for the selects, which are in the pages.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct BinHead {
    pub(super) bin_id: BinId,
    pub(super) name: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub(super) description: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) collection: Option<String>,
    /// Creation time, in milliseconds since 1970.
    pub(super) created_at: i64,
    /// Time of the last change, in milliseconds since 1970.
    pub(super) changed_at: i64,
    /// Number of the state, counted from 1.
    pub(super) version: u64,
    /// The version in which the name, the description or the collection last changed.
    pub(super) details_version: u64,
    /// The version in which the sequence of selects last changed.
    pub(super) order_version: u64,
    /// The version that the last undo created; 0 if there was none.
    #[serde(default)]
    pub(super) undo_version: u64,
    /// The id of the next new select. Ids are not used again, even after an undo.
    pub(super) next_select: u64,
    /// Number of selects.
    pub(super) selects: usize,
    /// Total length of all selects as trimmed, in milliseconds.
    pub(super) milliseconds: u64,
    /// The selects by video; `None` if that is not known without reading them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) videos: Option<Vec<VideoShare>>,
    pub(super) pages: Vec<PageRef>,
    /// Name of the document with the order of the selects; `None` if it is the order of the pages.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) order: Option<String>,
    /// The changes that can be undone, newest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) undo: Vec<UndoStep>,
    /// Distinguishes this state from one with the same version that another process tries to store.
    pub(super) nonce: String,
}

/// What is needed to undo a change. The page list is stored as the difference to the page list
/// after the change.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct UndoStep {
    change: ChangeKind,
    /// The details before the change, if it changed them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    details: Option<Details>,
    /// Number of selects before the change.
    selects: usize,
    /// Total length of all selects before the change, in milliseconds.
    milliseconds: u64,
    pages: PageDelta,
    /// Name of the document with the order before the change.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    order: Option<String>,
}

/// The name and the description of a bin.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Details {
    name: String,
    description: String,
}

impl BinHead {
    /// Creates the state of a new bin without selects.
    pub(super) fn new(name: String, description: String, collection: Option<String>) -> Self {
        let now = Timestamp::now().as_millisecond();
        Self {
            bin_id: BinId::random(),
            name,
            description,
            collection,
            created_at: now,
            changed_at: now,
            version: 1,
            details_version: 1,
            order_version: 1,
            undo_version: 0,
            next_select: 1,
            selects: 0,
            milliseconds: 0,
            videos: Some(Vec::new()),
            pages: Vec::new(),
            order: None,
            undo: Vec::new(),
            nonce: random_digits(),
        }
    }

    /// Creates the next state, which is still equal to this one except for its version.
    pub(super) fn next(&self) -> Self {
        Self {
            version: self.version + 1,
            changed_at: Timestamp::now().as_millisecond().max(self.changed_at),
            nonce: random_digits(),
            ..self.clone()
        }
    }

    /// Checks that a part of the bin, which last changed in the version `changed`, is still the
    /// same as in the version `expected`. Returns `Outdated` if not.
    pub(super) fn check_unchanged(&self, expected: Option<u64>, changed: u64) -> Result<()> {
        // An undo may restore selects with an earlier version, so it counts as a change to
        // everything.
        let changed = changed.max(self.undo_version);
        match expected {
            Some(version) if version < changed || version > self.version => {
                Err(Error::Outdated(format!(
                    "bin '{}' has changed since the version in If-Match and is now version {}; read \
                     it again",
                    self.bin_id, self.version
                )))
            }
            _ => Ok(()),
        }
    }

    /// Notes that this state results from a change of `before`, so that the change can be undone.
    pub(super) fn push_undo(&mut self, change: ChangeKind, before: &Self, max_undo: usize) {
        let (name, description) = (before.name.clone(), before.description.clone());
        let details_changed = name != self.name || description != self.description;
        let step = UndoStep {
            change,
            details: details_changed.then_some(Details { name, description }),
            selects: before.selects,
            milliseconds: before.milliseconds,
            pages: PageDelta::between(&before.pages, &self.pages),
            order: before.order.clone(),
        };
        self.undo.insert(0, step);
        self.undo.truncate(max_undo);
    }

    /// Restores the state before the last change, under the current version. Returns `Conflict` if
    /// there is no change to undo.
    pub(super) fn pop_undo(&mut self) -> Result<()> {
        if self.undo.is_empty() {
            return Err(Error::Conflict(format!(
                "bin '{}' has no change that can be undone (bins.max_undo)",
                self.bin_id
            )));
        }
        let UndoStep { details, selects, milliseconds, pages, order, .. } = self.undo.remove(0);
        let restored = pages.restore(&self.pages);
        self.pages = restored.ok_or_else(|| {
            Error::corrupt(format!("the undo history of bin '{}' does not fit", self.bin_id))
        })?;
        (self.selects, self.milliseconds, self.videos) = (selects, milliseconds, None);
        self.order = order;
        if let Some(Details { name, description }) = details {
            (self.name, self.description) = (name, description);
        }
        self.undo_version = self.version;
        Ok(())
    }

    /// Returns the names of all documents that this state needs: its pages and its order, and those
    /// needed by an undo.
    pub(super) fn documents(&self) -> BTreeSet<&str> {
        let undone = self.undo.iter().flat_map(|step| step.pages.replaced());
        let pages = self.pages.iter().chain(undone).map(|page| page.name.as_str());
        pages.chain(self.orders()).collect()
    }

    /// Returns the names of the documents with the current order and those needed by an undo.
    fn orders(&self) -> impl Iterator<Item = &str> {
        let undone = self.undo.iter().map(|step| &step.order);
        undone.chain([&self.order]).filter_map(Option::as_deref)
    }

    /// Estimates the memory that the state takes, in bytes.
    pub(super) fn memory(&self) -> usize {
        let page = |page: &PageRef| size_of::<PageRef>() + page.name.len();
        let undone = self.undo.iter().flat_map(|step| step.pages.replaced());
        let pages: usize = self.pages.iter().chain(undone).map(page).sum();
        let orders: usize = self.orders().map(str::len).sum();
        size_of::<Self>()
            + self.name.len()
            + self.description.len()
            + size_of_val(&*self.undo)
            + self.videos.as_deref().map_or(0, size_of_val)
            + pages
            + orders
    }

    /// Returns the bin as users see it, with the length of all selects.
    pub(super) fn view(&self) -> Bin {
        Bin {
            bin_id: self.bin_id.clone(),
            name: self.name.clone(),
            description: self.description.clone(),
            collection: self.collection.clone(),
            version: self.version,
            selects: self.selects,
            duration: self.milliseconds as f64 / 1000.0,
            created_at: iso(self.created_at),
            updated_at: iso(self.changed_at),
            undo_steps: self.undo.len(),
            last_change: self.undo.first().map(|step| step.change),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(name: &str) -> PageRef {
        PageRef { name: name.to_owned(), selects: 1 }
    }

    fn changed(before: &BinHead, pages: &[&str], max_undo: usize) -> BinHead {
        let mut head = before.next();
        head.pages = pages.iter().map(|name| page(name)).collect();
        head.selects = pages.len();
        head.push_undo(ChangeKind::Add, before, max_undo);
        head
    }

    #[test]
    fn changes_are_undone_newest_first() {
        let empty = BinHead::new("a".into(), String::new(), None);
        let mut states = vec![empty];
        for pages in [&["p"][..], &["p", "q"], &["r", "q"], &["q", "r"], &[], &["x", "y", "z"]] {
            states.push(changed(states.last().expect("a state"), pages, 20));
        }
        let mut head = states.pop().expect("a state");
        while let Some(before) = states.pop() {
            head = head.next();
            head.pop_undo().expect("a step");
            assert_eq!((&head.pages, head.selects), (&before.pages, before.selects));
        }
        assert!(matches!(head.pop_undo(), Err(Error::Conflict(_))));
    }

    #[test]
    fn pages_are_needed_as_long_as_an_undo_may_restore_them() {
        let empty = BinHead::new("a".into(), String::new(), None);
        let first = changed(&empty, &["p", "q"], 2);
        let second = changed(&first, &["p", "r"], 2);
        assert_eq!(second.documents(), BTreeSet::from(["p", "q", "r"]));
        let fourth = changed(&changed(&second, &["s"], 2), &["t"], 2);
        assert_eq!(fourth.documents(), BTreeSet::from(["p", "r", "s", "t"]));
        assert_eq!(fourth.undo.len(), 2);
        assert_eq!(changed(&first, &["p"], 0).documents(), BTreeSet::from(["p"]));
    }

    #[test]
    fn an_undo_restores_the_order() {
        let stored = changed(&BinHead::new("a".into(), String::new(), None), &["p", "q"], 2);
        let ordered = |before: &BinHead, order: Option<&str>| {
            let mut head = before.next();
            head.order = order.map(str::to_owned);
            head.push_undo(ChangeKind::Move, before, 2);
            head
        };
        let (first, second) = (ordered(&stored, Some("o")), ordered(&stored, None));
        let mut third = ordered(&ordered(&first, Some("r")), None);
        assert_eq!(third.documents(), BTreeSet::from(["o", "p", "q", "r"]));
        assert_eq!(second.documents(), BTreeSet::from(["p", "q"]));
        for order in [Some("r"), Some("o")] {
            third.pop_undo().expect("a step");
            assert_eq!(third.order.as_deref(), order);
        }
    }

    #[test]
    fn details_are_restored_only_by_the_undo_of_their_change() {
        let mut renamed = BinHead::new("a".into(), "old".into(), None).next();
        let before = renamed.clone();
        renamed.name = "b".into();
        renamed.push_undo(ChangeKind::Describe, &before, 20);
        let mut head = changed(&renamed, &["p"], 20).next();
        head.pop_undo().expect("a step");
        assert_eq!(head.name, "b");
        head.pop_undo().expect("a step");
        assert_eq!((head.name.as_str(), head.description.as_str()), ("a", "old"));
    }

    #[test]
    fn changes_of_other_parts_do_not_outdate_a_version() {
        let mut head = BinHead::new("a".into(), String::new(), None);
        head.version = 9;
        assert!(head.check_unchanged(None, 9).is_ok());
        assert!(head.check_unchanged(Some(5), 5).is_ok());
        for (expected, changed) in [(4, 5), (10, 1), (0, 1)] {
            let outdated = head.check_unchanged(Some(expected), changed);
            assert!(matches!(outdated, Err(Error::Outdated(_))), "{expected} {changed}");
        }
        head.undo_version = 7;
        assert!(
            head.check_unchanged(Some(6), 1).is_err() && head.check_unchanged(Some(7), 1).is_ok()
        );
    }
}
