//! Divides the selects of a bin into pages, so that a change rewrites only the pages around it and
//! a request for a few selects of a large bin reads little more than those.

use std::collections::HashMap;
use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::select::{Select, SelectId};

/// Maximum number of selects per page. With a short note, a page takes about 50 KB.
const MAX_PAGE: usize = 400;

/// Minimum number of selects of every page but the last.
const MIN_PAGE: usize = MAX_PAGE / 2;

/// A reference to a stored page.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct PageRef {
    /// Name of the document in the bin's folder: the version that it was written for, and a random
    /// part.
    pub(super) name: String,
    /// Number of selects.
    pub(super) selects: usize,
}

/// A page of a new state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Page {
    /// A page of the previous state.
    Stored(PageRef),
    /// A page to write, with the selects at these positions.
    New(Range<usize>),
}

/// How a list of pages differs from the list that replaced it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct PageDelta {
    /// Number of pages that both lists share at the start.
    start: usize,
    /// Number of pages that both lists share at the end.
    end: usize,
    /// The pages between them.
    replaced: Vec<PageRef>,
}

impl PageDelta {
    /// Computes how `old` differs from `new`.
    pub(super) fn between(old: &[PageRef], new: &[PageRef]) -> Self {
        let is_same = |(a, b): &(&PageRef, &PageRef)| a == b;
        let start = old.iter().zip(new).take_while(is_same).count();
        let (old, new) = (&old[start..], &new[start..]);
        let end = old.iter().rev().zip(new.iter().rev()).take_while(is_same).count();
        Self { start, end, replaced: old[..old.len() - end].to_vec() }
    }

    /// Returns the old list of pages, given the new one; `None` if they do not belong together.
    pub(super) fn restore(&self, new: &[PageRef]) -> Option<Vec<PageRef>> {
        let end = new.len().checked_sub(self.end).filter(|end| *end >= self.start)?;
        Some([&new[..self.start], &self.replaced[..], &new[end..]].concat())
    }

    /// Returns the pages that are only in the old list.
    pub(super) fn replaced(&self) -> &[PageRef] {
        &self.replaced
    }
}

/// Divides `new` into pages. Uses the pages of `old` whose selects are unchanged, wherever they are
/// in the new order.
pub(super) fn paginate(pages: &[PageRef], old: &[Select], new: &[Select]) -> Vec<Page> {
    let stored = stored_pages(pages, old);
    let (mut result, mut start, mut at) = (Vec::new(), 0, 0);
    while at < new.len() {
        // Too few selects for a new page are combined with the selects of the next page.
        let pending = at - start;
        let page = stored.get(&new[at].id).filter(|_| pending == 0 || pending >= MIN_PAGE);
        let is_unchanged = |selects: &[Select]| {
            let is_last = at + selects.len() == new.len();
            (selects.len() >= MIN_PAGE || is_last) && new[at..].starts_with(selects)
        };
        match page.filter(|(_, selects)| is_unchanged(selects)) {
            Some((page, selects)) => {
                add_new_pages(&mut result, start..at);
                result.push(Page::Stored((*page).clone()));
                at += selects.len();
                start = at;
            }
            None => at += 1,
        }
    }
    add_new_pages(&mut result, start..new.len());
    result
}

/// Returns the stored pages with their selects, by the id of the first select.
fn stored_pages<'a>(
    pages: &'a [PageRef],
    selects: &'a [Select],
) -> HashMap<SelectId, (&'a PageRef, &'a [Select])> {
    let mut rest = selects;
    let mut stored = HashMap::new();
    for page in pages {
        let Some((content, others)) = rest.split_at_checked(page.selects) else { break };
        if let Some(first) = content.first() {
            stored.insert(first.id, (page, content));
        }
        rest = others;
    }
    stored
}

/// Adds new pages of equal size for the selects at these positions.
fn add_new_pages(pages: &mut Vec<Page>, selects: Range<usize>) {
    let count = selects.len().div_ceil(MAX_PAGE);
    let bound = |page: usize| selects.start + selects.len() * page / count;
    pages.extend((0..count).map(|page| Page::New(bound(page)..bound(page + 1))));
}

#[cfg(test)]
mod tests {
    use super::super::select::testing::select;
    use super::*;

    /// A bin whose pages are written like those of a stored one.
    #[derive(Default)]
    struct Pages {
        pages: Vec<PageRef>,
        selects: Vec<Select>,
        written: usize,
    }

    impl Pages {
        /// Stores new selects and returns the number of selects in the pages that were written.
        fn change(&mut self, change: impl FnOnce(&mut Vec<Select>)) -> usize {
            let mut new = self.selects.clone();
            change(&mut new);
            let mut positions = 0;
            let mut written = 0;
            let mut pages = Vec::new();
            for page in paginate(&self.pages, &self.selects, &new) {
                let page = match page {
                    Page::Stored(page) => page,
                    Page::New(range) => {
                        assert_eq!(range.start, positions, "in order");
                        self.written += 1;
                        written += range.len();
                        PageRef { name: self.written.to_string(), selects: range.len() }
                    }
                };
                positions += page.selects;
                pages.push(page);
            }
            assert_eq!(positions, new.len(), "every select is in one page");
            let (last, others) = match pages.split_last() {
                Some((last, others)) => (last.selects, others),
                None => (1, &[][..]),
            };
            assert!((1..=MAX_PAGE).contains(&last), "{last}");
            assert!(others.iter().all(|page| (MIN_PAGE..=MAX_PAGE).contains(&page.selects)));
            (self.pages, self.selects) = (pages, new);
            written
        }

        fn filled(count: u64) -> Self {
            let mut pages = Self::default();
            pages.change(|selects| selects.extend((1..=count).map(select)));
            pages
        }
    }

    #[test]
    fn a_change_writes_only_the_pages_around_it() {
        let mut bin = Pages::filled(10_000);
        assert_eq!(bin.pages.len(), 25);
        let moved = bin.change(|selects| {
            let select = selects.remove(9_000);
            selects.insert(10, select);
        });
        assert!(moved <= 4 * MAX_PAGE, "{moved}");
        assert!(bin.change(|selects| selects[5_000].note = "a note".into()) <= 2 * MAX_PAGE);
        assert!(bin.change(|selects| drop(selects.remove(3_000))) <= 2 * MAX_PAGE);
        assert!(bin.change(|selects| selects.insert(7_777, select(10_001))) <= 2 * MAX_PAGE);
        assert!(bin.change(|selects| selects.push(select(10_002))) <= MAX_PAGE);
        assert_eq!(bin.change(|_| {}), 0);
    }

    #[test]
    fn whole_pages_move_without_being_written() {
        let mut bin = Pages::filled(4_000);
        let written = bin.change(|selects| selects.rotate_left(MAX_PAGE * 3));
        assert_eq!(written, 0);
        bin.change(|selects| selects.reverse());
        bin.change(Vec::clear);
        assert_eq!(bin.pages, []);
    }

    #[test]
    fn pages_stay_within_their_bounds_over_many_changes() {
        let mut bin = Pages::filled(1_000);
        let mut random = fastrand::Rng::with_seed(7);
        for id in 2_000..2_300 {
            let at = random.usize(..=bin.selects.len());
            let count = random.usize(..250);
            bin.change(|selects| match random.u8(..5) {
                0 => selects.push(select(id)),
                1 => selects.insert(at, select(id)),
                2 => drop(selects.drain(at..(at + count).min(selects.len()))),
                3 => {
                    let more = (0..count as u64).map(|i| select(id * 1_000 + i));
                    drop(selects.splice(at..at, more));
                }
                _ => {
                    let rest = &mut selects[at..];
                    rest.rotate_left(count.min(rest.len()));
                }
            });
        }
    }

    #[test]
    fn deltas_restore_the_old_pages() {
        let list = |names: &str| -> Vec<PageRef> {
            names.chars().map(|name| PageRef { name: name.into(), selects: 1 }).collect()
        };
        for (old, new, replaced) in [
            ("", "", 0),
            ("", "abc", 0),
            ("abc", "", 3),
            ("abc", "abc", 0),
            ("abc", "axc", 1),
            ("abc", "xbc", 1),
            ("abc", "abcd", 0),
            ("aa", "aaa", 0),
            ("aaa", "aa", 1),
            ("abcd", "adcb", 3),
        ] {
            let delta = PageDelta::between(&list(old), &list(new));
            assert_eq!(delta.restore(&list(new)), Some(list(old)), "{old} {new}");
            assert_eq!(delta.replaced().len(), replaced, "{old} {new}");
        }
        let delta = PageDelta::between(&list("abc"), &list("abc"));
        assert_eq!(delta.restore(&list("a")), None);
    }
}
