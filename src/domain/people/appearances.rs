//! Where the people who have a name appear in a video, derived from the corrections to it.

use std::collections::{BTreeMap, BTreeSet};

use crate::aggregation::entity::Entity;
use crate::analysis::correction::{Correction, CorrectionKind};
use crate::intervals::set::{Interval, IntervalSet, Milliseconds};
use crate::media::speech::is_speaker_label;

/// Maximum gap between two appearances that count as one, in milliseconds. A person is seen in each
/// chunk from the first analyzed frame to the last, and a turn of a speaker ends at a pause.
const MAX_GAP: Milliseconds = 2000;

/// Minimum time for which a person counts as visible, in milliseconds. A person who is seen in one
/// frame would have none.
const MIN_VISIBLE: Milliseconds = 1000;

/// Memory that a name takes in addition to its text and its intervals, in bytes.
const OVERHEAD: usize = 256;

/// How an appearance of a person is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum AppearanceKind {
    /// The person is visible.
    Visible,
    /// The person speaks.
    Speaking,
}

/// The people who have a name in one video.
#[derive(Debug, Default)]
pub(super) struct VideoPeople {
    /// By the key of the name.
    pub(super) people: BTreeMap<String, PersonInVideo>,
    /// Whether the video has a picture.
    pub(super) has_picture: bool,
}

/// A person who has a name in one video.
#[derive(Debug, Default)]
pub(super) struct PersonInVideo {
    /// The spellings of the name, each with the number of intervals to which corrections gave it.
    pub(super) spellings: BTreeMap<String, usize>,
    pub(super) visible: IntervalSet,
    pub(super) speaking: IntervalSet,
    /// Id of the linked person with this name, if there is one.
    pub(super) entity_id: Option<String>,
    /// What the corrections of people replaced: ids of linked people and former names.
    replaced: BTreeSet<String>,
}

/// Returns what is compared of a name: neither case nor spaces at its ends.
pub(super) fn name_key(name: &str) -> String {
    name.trim().to_lowercase()
}

impl VideoPeople {
    /// Derives the people from corrections, oldest first, to a video that lasts until `end`. Where
    /// several corrections name the same voice or person, the last one counts.
    pub(super) fn new(corrections: &[Correction], end: Milliseconds) -> Self {
        let mut applied: Vec<(&Correction, IntervalSet)> = Vec::new();
        for correction in corrections.iter().filter(|correction| correction.is_name()) {
            let own: IntervalSet = correction.spans.iter().copied().map(Interval::from).collect();
            for (earlier, intervals) in &mut applied {
                if correction.renames(earlier) {
                    *intervals = intervals.difference(&own);
                }
            }
            applied.push((correction, own));
        }
        let mut people: BTreeMap<String, PersonInVideo> = BTreeMap::new();
        for (correction, intervals) in applied {
            if intervals.is_empty() || is_label(correction) {
                continue;
            }
            let person = people.entry(name_key(&correction.to)).or_default();
            *person.spellings.entry(correction.to.clone()).or_default() +=
                intervals.intervals().len();
            if correction.kind == CorrectionKind::Person {
                person.visible = person.visible.union(&intervals);
                person.replaced.insert(correction.from.clone());
            } else {
                person.speaking = person.speaking.union(&intervals);
            }
        }
        for person in people.values_mut() {
            let visible = person.visible.bridged(MAX_GAP, &[]);
            person.visible = visible.intervals().iter().map(|own| extended(*own, end)).collect();
            person.speaking = person.speaking.bridged(MAX_GAP, &[]);
        }
        Self { people, has_picture: false }
    }

    /// Whether a person with a name is visible.
    pub(super) fn has_visible(&self) -> bool {
        self.people.values().any(|person| !person.visible.is_empty())
    }

    /// Finds the linked person with each name. If people were not linked again since they were named,
    /// a correction has the id.
    pub(super) fn set_entities<'e>(&mut self, entities: impl Iterator<Item = &'e Entity>) {
        for entity in entities {
            let id = &entity.entity_id;
            let named = match &entity.name {
                Some(name) => self.people.get_mut(&name_key(name)),
                None => self.people.values_mut().find(|person| person.replaced.contains(id)),
            };
            if let Some(person) = named.filter(|person| !person.visible.is_empty()) {
                person.entity_id.get_or_insert_with(|| id.clone());
            }
        }
    }

    /// Approximates the memory that the people take.
    pub(super) fn bytes(&self) -> usize {
        let person = |(key, person): (&String, &PersonInVideo)| {
            let intervals = [&person.visible, &person.speaking];
            let intervals = intervals.map(|set| size_of_val(set.intervals()));
            OVERHEAD + 2 * key.len() + intervals.iter().sum::<usize>()
        };
        self.people.iter().map(person).sum()
    }
}

impl PersonInVideo {
    /// The intervals of both kinds, in order.
    pub(super) fn appearances(&self) -> Vec<(Interval, AppearanceKind)> {
        let of_kind = |set: &IntervalSet, kind| {
            set.intervals().iter().map(|own| (*own, kind)).collect::<Vec<_>>()
        };
        let mut all = of_kind(&self.visible, AppearanceKind::Visible);
        all.extend(of_kind(&self.speaking, AppearanceKind::Speaking));
        all.sort_unstable();
        all
    }
}

/// Whether a correction assigns a turn to another speaker without a name.
fn is_label(correction: &Correction) -> bool {
    correction.kind == CorrectionKind::Speaker && is_speaker_label(&correction.to)
}

/// Extends an interval to the minimum length within a video that lasts until `end`.
fn extended(interval: Interval, end: Milliseconds) -> Interval {
    let missing = MIN_VISIBLE.saturating_sub(interval.length());
    if missing == 0 {
        return interval;
    }
    let start = interval.start.saturating_sub(missing / 2);
    let start = start.min(end.saturating_sub(MIN_VISIBLE)).min(interval.start);
    Interval::new(start, (start + MIN_VISIBLE).min(end).max(interval.end))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::time::Span;
    use crate::media::tracking::Location;

    fn speaker(from: &str, to: &str, spans: &[(f64, f64)]) -> Correction {
        Correction {
            id: "c1".into(),
            kind: CorrectionKind::Speaker,
            from: from.into(),
            to: to.into(),
            span: None,
            created_at: String::new(),
            speaker_spans: Vec::new(),
            person_locations: Vec::new(),
            places: spans.len() as u32,
            spans: spans.iter().map(|(start, end)| Span { start: *start, end: *end }).collect(),
        }
    }

    /// A correction to a person whose boxes are at `left`.
    fn person(from: &str, to: &str, left: f64, spans: &[(f64, f64)]) -> Correction {
        let at = |t: f64| Location { t, bounds: [left, 0.2, 0.2, 0.6], confidence: 0.9 };
        let locations = spans.iter().flat_map(|(start, end)| [at(*start), at(*end)]).collect();
        let kind = CorrectionKind::Person;
        Correction { kind, person_locations: locations, ..speaker(from, to, spans) }
    }

    /// The appearances of a name, in milliseconds.
    fn appearances(people: &VideoPeople, key: &str) -> Vec<(u32, u32, AppearanceKind)> {
        let all = people.people.get(key).map(PersonInVideo::appearances).unwrap_or_default();
        all.into_iter().map(|(own, kind)| (own.start, own.end, kind)).collect()
    }

    #[test]
    fn one_name_joins_voices_and_people() {
        use AppearanceKind::{Speaking, Visible};
        let corrections = [
            speaker("S1", "Ada", &[(0.0, 4.0), (5.5, 9.0), (20.0, 22.0)]),
            speaker("S3", " ada", &[(30.0, 31.0)]),
            speaker("S2", "S1", &[(10.0, 12.0)]),
            person("ab-p1", "ADA", 0.1, &[(1.0, 9.5), (10.0, 19.5)]),
            person("ab-p4", "Ada", 0.6, &[(40.0, 40.0)]),
        ];
        let people = VideoPeople::new(&corrections, 40_200);
        assert_eq!(people.people.keys().collect::<Vec<_>>(), ["ada"], "S1 is no name");
        let expected = [
            (0, 9000, Speaking),
            (1000, 19_500, Visible),
            (20_000, 22_000, Speaking),
            (30_000, 31_000, Speaking),
            (39_200, 40_200, Visible),
        ];
        assert_eq!(appearances(&people, "ada"), expected);
    }

    #[test]
    fn the_last_name_counts() {
        let corrections = [
            speaker("S1", "Ada", &[(0.0, 4.0), (10.0, 14.0)]),
            speaker("S2", "Bob", &[(3.0, 6.0)]),
            speaker("Ada", "Cleo", &[(10.0, 14.0)]),
            person("ab-p1", "Dan", 0.1, &[(0.0, 5.0)]),
            person("ab-p2", "Eve", 0.6, &[(0.0, 5.0)]),
            person("Dan", "Fay", 0.1, &[(0.0, 5.0)]),
        ];
        let mut people = VideoPeople::new(&corrections, 20_000);
        let speaking = AppearanceKind::Speaking;
        assert_eq!(appearances(&people, "ada"), [(0, 4000, speaking)], "Bob talks over Ada");
        assert_eq!(appearances(&people, "cleo"), [(10_000, 14_000, speaking)]);
        assert_eq!(appearances(&people, "dan"), []);
        let visible = AppearanceKind::Visible;
        for name in ["eve", "fay"] {
            assert_eq!(appearances(&people, name), [(0, 5000, visible)], "{name}");
        }
        let entity = |id: &str, name: Option<&str>| Entity {
            entity_id: id.into(),
            name: name.map(str::to_owned),
            ..Entity::default()
        };
        let entities = [entity("ab-p2", None), entity("ab-p3", Some("Fay"))];
        people.set_entities(entities.iter());
        assert_eq!(people.people["eve"].entity_id.as_deref(), Some("ab-p2"));
        assert_eq!(people.people["fay"].entity_id.as_deref(), Some("ab-p3"));
    }
}
