//! Constrained clustering of people: average linkage over clothing, where people who are seen
//! together are never one person, and where clothing that several people wear links nobody.

pub(crate) mod clothing;
pub(crate) mod object_tracks;

use std::collections::{BTreeMap, BTreeSet};

use crate::domain::aggregation::linking::clothing::Signature;
use crate::domain::kernel::video::ChunkId;

/// Clothing this alike may be of one person.
const ALIKE: f64 = 0.6;

/// A link must be better by this than one to somebody else who is seen together with that person.
const MARGIN: f64 = 0.1;

/// Signatures that are compared with each other; the time is in the cube of it. The rest, seen
/// least often, stays unlinked.
const MOST_SIGNATURES: usize = 400;

/// Groups observations, given as chunk and clothing in order of time, into persons: lists of
/// indexes, in order of their first one.
pub(crate) fn link(observations: &[(ChunkId, Signature)]) -> Vec<Vec<usize>> {
    let mut by_signature: BTreeMap<&Signature, Vec<usize>> = BTreeMap::new();
    let mut persons: Vec<Vec<usize>> = Vec::new();
    for (i, (_, signature)) in observations.iter().enumerate() {
        if signature.identifies() {
            by_signature.entry(signature).or_default().push(i);
        } else {
            persons.push(vec![i]);
        }
    }
    let mut groups: Vec<Group> = Vec::new();
    for (signature, members) in by_signature {
        let chunks: BTreeSet<ChunkId> = members.iter().map(|i| observations[*i].0).collect();
        if chunks.len() < members.len() {
            // Two people in one chunk wear the same: nobody can tell which is which elsewhere.
            persons.extend(members.into_iter().map(|i| vec![i]));
        } else {
            groups.push(Group { signatures: vec![signature], members, chunks });
        }
    }
    groups.sort_by_key(|group| (std::cmp::Reverse(group.members.len()), group.members[0]));
    let rare = groups.split_off(groups.len().min(MOST_SIGNATURES));
    persons.extend(rare.into_iter().map(|group| group.members));
    persons.extend(agglomerate(groups).into_iter().map(|group| group.members));
    for person in &mut persons {
        person.sort_unstable();
    }
    persons.sort();
    persons
}

/// Observations taken for one person.
struct Group<'a> {
    signatures: Vec<&'a Signature>,
    members: Vec<usize>,
    chunks: BTreeSet<ChunkId>,
}

impl Group<'_> {
    fn seen_with(&self, other: &Self) -> bool {
        !self.chunks.is_disjoint(&other.chunks)
    }

    /// Mean likeness; 0 as soon as two of the signatures rule each other out.
    fn likeness(&self, other: &Self) -> f64 {
        let mut sum = 0.0;
        for a in &self.signatures {
            for b in &other.signatures {
                match a.likeness(b) {
                    likeness if likeness <= 0.0 => return 0.0,
                    likeness => sum += likeness,
                }
            }
        }
        sum / (self.signatures.len() * other.signatures.len()) as f64
    }
}

/// Joins the most alike pair until none is alike enough.
fn agglomerate(mut groups: Vec<Group<'_>>) -> Vec<Group<'_>> {
    let mut likeness: Vec<Vec<f64>> =
        groups.iter().map(|a| groups.iter().map(|b| a.likeness(b)).collect()).collect();
    while let Some((a, b)) = best_pair(&groups, &likeness) {
        let joined = groups.swap_remove(b);
        likeness.swap_remove(b);
        for row in &mut likeness {
            row.swap_remove(b);
        }
        let group = &mut groups[a];
        group.signatures.extend(joined.signatures);
        group.members.extend(joined.members);
        group.chunks.extend(joined.chunks);
        for other in 0..groups.len() {
            let value = groups[a].likeness(&groups[other]);
            likeness[a][other] = value;
            likeness[other][a] = value;
        }
    }
    groups
}

/// The most alike pair that may be one person, as (smaller, larger) index.
fn best_pair(groups: &[Group<'_>], likeness: &[Vec<f64>]) -> Option<(usize, usize)> {
    let mut pairs: Vec<(usize, usize)> = Vec::new();
    for a in 0..groups.len() {
        pairs.extend(
            (a + 1..groups.len())
                .map(|b| (a, b))
                .filter(|&(a, b)| likeness[a][b] >= ALIKE && !groups[a].seen_with(&groups[b])),
        );
    }
    pairs.sort_by(|x, y| likeness[y.0][y.1].total_cmp(&likeness[x.0][x.1]).then(x.cmp(y)));
    pairs.into_iter().find(|&(a, b)| {
        let value = likeness[a][b];
        // Somebody seen together with `a` who would do for `b` as well, or the other way round.
        !(0..groups.len()).any(|rival| {
            rival != a
                && rival != b
                && (groups[rival].seen_with(&groups[a]) && likeness[rival][b] > value - MARGIN
                    || groups[rival].seen_with(&groups[b]) && likeness[rival][a] > value - MARGIN)
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::analysis::analyzers::people::garments;

    fn wearing(clothing: &str) -> Signature {
        Signature::of(&garments(clothing))
    }

    #[test]
    fn people_are_linked_by_what_they_wear() {
        for (what, observations, expected) in [
            (
                "the same clothes",
                vec![(0, "red coat"), (1, "red coat"), (3, "a red jacket")],
                vec![vec![0, 1, 2]],
            ),
            (
                "two people, told apart",
                vec![(0, "red coat"), (0, "green hoodie"), (1, "green hoodie"), (2, "red coat")],
                vec![vec![0, 3], vec![1, 2]],
            ),
            (
                "twins seen together are nobody's double",
                vec![(0, "red coat"), (0, "red coat"), (1, "red coat")],
                vec![vec![0], vec![1], vec![2]],
            ),
            (
                "near twins: the one elsewhere could be either",
                vec![(0, "red coat, jeans"), (0, "red coat, boots"), (1, "red coat")],
                vec![vec![0], vec![1], vec![2]],
            ),
            (
                "generic descriptions",
                vec![(0, "dark clothing"), (1, "dark clothing"), (2, ""), (3, "a shirt")],
                vec![vec![0], vec![1], vec![2], vec![3]],
            ),
            (
                "changed clothes",
                vec![(0, "red coat, blue jeans"), (1, "green coat, blue jeans")],
                vec![vec![0], vec![1]],
            ),
            (
                "a chain does not join what rules each other out",
                vec![
                    (0, "white shirt, blue jeans, red tie"),
                    (1, "white shirt, blue jeans"),
                    (2, "white shirt, blue jeans, green tie"),
                ],
                vec![vec![0, 1], vec![2]],
            ),
        ] {
            let observations: Vec<(ChunkId, Signature)> = observations
                .into_iter()
                .map(|(chunk, clothing)| (ChunkId(chunk), wearing(clothing)))
                .collect();
            assert_eq!(link(&observations), expected, "{what}");
        }
    }

    #[test]
    fn nobody_is_in_one_chunk_twice() {
        let clothes =
            ["red coat", "red jacket, hat", "red coat, boots", "blue cap, red coat", "red dress"];
        let observations: Vec<(ChunkId, Signature)> = (0..60)
            .map(|i| {
                (ChunkId::from_index(i / 3), wearing(clothes[(i * 7 + i / 4) % clothes.len()]))
            })
            .collect();
        for person in link(&observations) {
            let chunks: BTreeSet<ChunkId> = person.iter().map(|i| observations[*i].0).collect();
            assert_eq!(chunks.len(), person.len());
        }
    }
}
