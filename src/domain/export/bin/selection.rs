//! Which selects of a bin are exported.

use std::collections::HashSet;

use crate::bins::select::{Select, SelectId, unknown_select};
use crate::bins::{BinId, SelectView};
use crate::kernel::error::{Error, Result};

/// Which selects of a bin are exported. They keep the order of the bin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BinSelection {
    /// Only these selects; `None` for all.
    pub select_ids: Option<Vec<SelectId>>,
    /// Only selects with at least this rating, 1..=5; `None` also for selects without a rating.
    pub min_rating: Option<u8>,
    /// Only selects with this tag.
    pub tag: Option<String>,
    /// What to do with selects whose video is missing.
    pub missing: MissingVideos,
}

/// What to do with selects whose video is missing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MissingVideos {
    /// Export nothing and name the selects.
    Refuse,
    /// Leave the selects out.
    Omit,
}

impl BinSelection {
    /// Keeps the selects to export. Returns `NotFound` for the id of a select that the bin does not
    /// have, and `Invalid` if no select is left.
    pub(super) fn filter(
        &self,
        bin_id: &BinId,
        mut selects: Vec<SelectView>,
    ) -> Result<Vec<SelectView>> {
        if let Some(requested) = &self.select_ids {
            let present: HashSet<SelectId> = selects.iter().map(|view| view.select.id).collect();
            if let Some(unknown) = requested.iter().find(|id| !present.contains(id)) {
                return Err(unknown_select(unknown));
            }
            let requested: HashSet<SelectId> = requested.iter().copied().collect();
            selects.retain(|view| requested.contains(&view.select.id));
        }
        if selects.is_empty() {
            return Err(Error::Invalid(format!("bin '{bin_id}' has no selects to export")));
        }
        selects.retain(|view| self.matches(&view.select));
        match selects.is_empty() {
            true => Err(self.none_left(bin_id)),
            false => Ok(selects),
        }
    }

    fn matches(&self, select: &Select) -> bool {
        self.min_rating.is_none_or(|min_rating| select.rating >= min_rating)
            && self.tag.as_ref().is_none_or(|tag| select.tags.contains(tag))
    }

    /// Creates the error for a rating and a tag that no select has.
    fn none_left(&self, bin_id: &BinId) -> Error {
        let mut conditions = Vec::new();
        if let Some(min_rating) = self.min_rating {
            conditions.push(format!("a rating of {min_rating} or more"));
        }
        if let Some(tag) = &self.tag {
            conditions.push(format!("the tag '{tag}'"));
        }
        let among = if self.select_ids.is_some() { " among 'select_ids'" } else { "" };
        Error::Invalid(format!(
            "bin '{bin_id}' has no selects with {}{among}",
            conditions.join(" and ")
        ))
    }
}
