//! Decides how the selects of a bin are stored. A change of their order alone writes no page: the
//! order is a document that refers to the selects in the pages.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::draft::ids;
use super::pages::{Page, PageRef, paginate};
use super::select::{Select, SelectId};

/// The order of the selects of a bin that are stored in another order.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Order(Vec<Run>);

/// Selects that are next to each other in the pages and in the bin: the position of the first one
/// in the pages, and their number. Stored as an array, because a bin may have many.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
struct Run(usize, usize);

impl Run {
    fn range(self) -> Range<usize> {
        self.0..self.0 + self.1
    }
}

impl Order {
    /// Computes the order of `selects`, which are stored in the order of `stored`.
    fn between(stored: &[Select], selects: &[Select]) -> Self {
        let positions: HashMap<SelectId, usize> = ids(stored).zip(0..).collect();
        let mut runs: Vec<Run> = Vec::new();
        for position in ids(selects).filter_map(|id| positions.get(&id).copied()) {
            match runs.last_mut() {
                Some(run) if run.range().end == position => run.1 += 1,
                _ => runs.push(Run(position, 1)),
            }
        }
        Self(runs)
    }

    /// Returns where the selects at these positions of the bin are in the pages.
    pub(super) fn stored(&self, positions: &Range<usize>) -> Vec<Range<usize>> {
        let mut stored = Vec::new();
        let mut run_start = 0;
        for run in &self.0 {
            let run_end = run_start + run.1;
            let within = positions.start.max(run_start)..positions.end.min(run_end);
            if !within.is_empty() {
                stored.push(run.0 + within.start - run_start..run.0 + within.end - run_start);
            }
            run_start = run_end;
        }
        stored
    }

    /// Returns selects of the bin in the order of the pages.
    pub(super) fn in_pages(&self, selects: &[Select]) -> Vec<Select> {
        let mut runs = Vec::with_capacity(self.0.len());
        let mut rest = selects;
        for run in &self.0 {
            let (run_selects, others) = rest.split_at(run.1.min(rest.len()));
            runs.push((run.0, run_selects));
            rest = others;
        }
        runs.sort_by_key(|(start, _)| *start);
        runs.into_iter().flat_map(|(_, selects)| selects).cloned().collect()
    }

    /// Checks that the order has each of `count` selects once.
    pub(super) fn is_complete(&self, count: usize) -> bool {
        let mut runs = self.0.clone();
        runs.sort_by_key(|run| run.0);
        let end = runs.iter().try_fold(0, |end, run| (run.0 == end).then_some(end + run.1));
        end == Some(count)
    }
}

/// How the selects of a new state are stored.
pub(super) struct SelectLayout {
    /// The selects in the order of the pages.
    pub(super) selects: Vec<Select>,
    pub(super) pages: Vec<Page>,
    /// The order of the selects in the bin; `None` if it is the order of the pages.
    pub(super) order: Option<Order>,
}

impl SelectLayout {
    /// Lays out the selects `new` of a bin whose `pages` have the selects `stored`, so that the
    /// fewest documents are written.
    pub(super) fn new(pages: &[PageRef], stored: &[Select], new: &[Select]) -> Self {
        let in_order =
            Self { pages: paginate(pages, stored, new), selects: new.to_vec(), order: None };
        if in_order.written() <= 1 {
            return in_order;
        }
        let selects = in_place(stored, new);
        let order = Some(Order::between(&selects, new));
        let in_place = Self { pages: paginate(pages, stored, &selects), selects, order };
        if in_place.written() < in_order.written() { in_place } else { in_order }
    }

    /// Returns the number of documents to write.
    fn written(&self) -> usize {
        let new = self.pages.iter().filter(|page| matches!(page, Page::New(_))).count();
        new + usize::from(self.order.is_some())
    }
}

/// Returns the selects `new`, those of `stored` where they are, and each other one after the select
/// that it follows in `new`.
fn in_place(stored: &[Select], new: &[Select]) -> Vec<Select> {
    let known: HashSet<SelectId> = ids(stored).collect();
    let mut kept: HashMap<SelectId, &Select> = HashMap::new();
    let mut added: HashMap<Option<SelectId>, Vec<&Select>> = HashMap::new();
    let mut previous = None;
    for select in new {
        if known.contains(&select.id) {
            kept.insert(select.id, select);
            previous = Some(select.id);
        } else {
            added.entry(previous).or_default().push(select);
        }
    }
    let first = added.remove(&None).unwrap_or_default();
    let others = ids(stored).filter_map(|id| Some((id, *kept.get(&id)?)));
    let others = others.flat_map(|(id, select)| {
        std::iter::once(select).chain(added.remove(&Some(id)).unwrap_or_default())
    });
    first.into_iter().chain(others).cloned().collect()
}

#[cfg(test)]
mod tests {
    use super::super::select::testing::select;
    use super::*;

    /// A bin as it is stored, and the number of documents that the last change has written.
    #[derive(Default)]
    struct Stored {
        pages: Vec<PageRef>,
        selects: Vec<Select>,
        order: Option<Order>,
        names: usize,
        written: usize,
    }

    impl Stored {
        fn filled(count: u64) -> Self {
            let mut stored = Self::default();
            stored.change(|selects| selects.extend((1..=count).map(select)));
            stored
        }

        fn selects(&self, positions: &Range<usize>) -> Vec<Select> {
            let all = 0..self.selects.len();
            let clipped = positions.start.min(all.end)..positions.end.min(all.end);
            let ranges = match &self.order {
                Some(order) => order.stored(positions),
                None => vec![clipped],
            };
            ranges.into_iter().flat_map(|range| self.selects[range].to_vec()).collect()
        }

        fn change(&mut self, change: impl FnOnce(&mut Vec<Select>)) {
            let old = self.selects(&(0..usize::MAX));
            let mut new = old.clone();
            change(&mut new);
            let stored = match &self.order {
                Some(order) => order.in_pages(&old),
                None => old,
            };
            assert_eq!(stored, self.selects);
            let layout = SelectLayout::new(&self.pages, &stored, &new);
            self.written = layout.written();
            self.pages = Vec::new();
            for page in layout.pages {
                self.names += 1;
                self.pages.push(match page {
                    Page::Stored(page) => page,
                    Page::New(range) => {
                        PageRef { name: self.names.to_string(), selects: range.len() }
                    }
                });
            }
            (self.selects, self.order) = (layout.selects, layout.order);
            assert_eq!(self.selects(&(0..usize::MAX)), new);
            assert!(self.order.as_ref().is_none_or(|order| order.is_complete(new.len())));
        }
    }

    #[test]
    fn a_move_of_any_selects_writes_only_their_order() {
        let mut bin = Stored::filled(10_000);
        let mut random = fastrand::Rng::with_seed(5);
        for _ in 0..20 {
            bin.change(|selects| {
                let mut moved: Vec<Select> = Vec::new();
                for _ in 0..100 {
                    moved.push(selects.remove(random.usize(..selects.len())));
                }
                let at = random.usize(..=selects.len());
                drop(selects.splice(at..at, moved));
            });
            assert_eq!(bin.written, 1);
        }
        bin.change(|selects| selects[4_321].note = "a note".into());
        assert!(bin.written <= 3, "{}", bin.written);
        bin.change(|selects| selects.push(select(10_001)));
        assert!(bin.written <= 3, "{}", bin.written);
        bin.change(|selects| selects.truncate(5_000));
        bin.change(|selects| selects.sort_by_key(|select| select.id));
        assert!(bin.written <= 1, "{}", bin.written);
    }

    #[test]
    fn bins_of_one_page_have_no_other_order() {
        let mut bin = Stored::filled(300);
        bin.change(|selects| selects.reverse());
        assert_eq!((&bin.order, bin.written), (&None, 1));
        bin.change(Vec::clear);
        assert_eq!((bin.pages.len(), bin.written), (0, 0));
    }

    #[test]
    fn parts_of_an_order_are_found_in_the_pages() {
        let stored: Vec<Select> = (1..=8).map(select).collect();
        let selects: Vec<Select> = [5, 6, 7, 1, 2, 8, 4, 3].map(select).into();
        let order = Order::between(&stored, &selects);
        assert_eq!(order, Order(vec![Run(4, 3), Run(0, 2), Run(7, 1), Run(3, 1), Run(2, 1)]));
        for (positions, expected) in [
            (0..8, vec![4..7, 0..2, 7..8, 3..4, 2..3]),
            (1..4, vec![5..7, 0..1]),
            (6..usize::MAX, vec![3..4, 2..3]),
            (8..9, vec![]),
            (3..3, vec![]),
        ] {
            assert_eq!(order.stored(&positions), expected, "{positions:?}");
        }
        for (runs, count, complete) in [
            (vec![], 0, true),
            (vec![Run(1, 2), Run(0, 1)], 3, true),
            (vec![Run(1, 2), Run(0, 1)], 4, false),
            (vec![Run(0, 2), Run(1, 1)], 3, false),
            (vec![Run(1, 2)], 2, false),
        ] {
            assert_eq!(Order(runs.clone()).is_complete(count), complete, "{runs:?} {count}");
        }
    }

    #[test]
    fn an_order_stays_correct_over_many_changes() {
        let mut bin = Stored::filled(1_500);
        let mut random = fastrand::Rng::with_seed(11);
        for id in 2_000..2_200 {
            let at = random.usize(..bin.selects.len());
            let count = random.usize(..60);
            bin.change(|selects| match random.u8(..6) {
                0 => selects.push(select(id)),
                1 => selects.insert(at, select(id)),
                2 => drop(selects.drain(at..(at + count).min(selects.len()))),
                3 => {
                    let more = (0..count as u64).map(|i| select(id * 1_000 + i));
                    drop(selects.splice(at..at, more));
                }
                4 => selects[at].note = "another".into(),
                _ => {
                    let rest = &mut selects[at..];
                    rest.rotate_left(count.min(rest.len()));
                }
            });
        }
    }
}
