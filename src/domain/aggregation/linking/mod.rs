//! Links people across chunks by their clothing, with constrained average-linkage clustering.
//! People in the same chunk are never linked, and clothing that several people wear is not used for
//! linking.

pub(crate) mod clothing;
pub(crate) mod object_tracks;

use std::collections::{BTreeMap, BTreeSet};

use crate::aggregation::linking::clothing::ClothingSignature;
use crate::kernel::video::ChunkId;

/// Minimum clothing similarity at which two groups of observations may be one person.
const MIN_SIMILARITY: f64 = 0.6;

/// A linked person must be more similar than anyone else in the same chunk, by at least this
/// margin.
const MARGIN: f64 = 0.1;

/// Maximum number of signatures compared, since the run time is cubic. The least frequent
/// signatures stay unlinked.
const MAX_SIGNATURES: usize = 400;

/// Groups observations into people. Each observation is a chunk and clothing, and observations are
/// in chronological order. Returns lists of indexes into `observations`, sorted by their first
/// index.
pub(crate) fn link(observations: &[(ChunkId, ClothingSignature)]) -> Vec<Vec<usize>> {
    let mut by_signature: BTreeMap<&ClothingSignature, Vec<usize>> = BTreeMap::new();
    let mut persons: Vec<Vec<usize>> = Vec::new();
    for (i, (_, signature)) in observations.iter().enumerate() {
        if signature.is_identifying() {
            by_signature.entry(signature).or_default().push(i);
        } else {
            persons.push(vec![i]);
        }
    }
    let mut groups: Vec<Cluster> = Vec::new();
    for (signature, members) in by_signature {
        let chunks: BTreeSet<ChunkId> = members.iter().map(|i| observations[*i].0).collect();
        if chunks.len() < members.len() {
            // Two people in one chunk wear the same clothes, so the clothes identify neither.
            persons.extend(members.into_iter().map(|i| vec![i]));
        } else {
            groups.push(Cluster { signatures: vec![signature], members, chunks });
        }
    }
    groups.sort_by_key(|group| (std::cmp::Reverse(group.members.len()), group.members[0]));
    let rare = groups.split_off(groups.len().min(MAX_SIGNATURES));
    persons.extend(rare.into_iter().map(|group| group.members));
    persons.extend(agglomerate(groups).into_iter().map(|group| group.members));
    for person in &mut persons {
        person.sort_unstable();
    }
    persons.sort();
    persons
}

/// Observations that may belong to one person.
struct Cluster<'a> {
    signatures: Vec<&'a ClothingSignature>,
    members: Vec<usize>,
    chunks: BTreeSet<ChunkId>,
}

impl Cluster<'_> {
    fn seen_with(&self, other: &Self) -> bool {
        !self.chunks.is_disjoint(&other.chunks)
    }

    /// Returns the mean similarity of two clusters, or 0 if any two of their signatures contradict
    /// each other.
    fn similarity(&self, other: &Self) -> f64 {
        let mut sum = 0.0;
        for a in &self.signatures {
            for b in &other.signatures {
                match a.similarity(b) {
                    similarity if similarity <= 0.0 => return 0.0,
                    similarity => sum += similarity,
                }
            }
        }
        sum / (self.signatures.len() * other.signatures.len()) as f64
    }
}

/// Merges the most similar pair of clusters until no pair is similar enough.
fn agglomerate(mut groups: Vec<Cluster<'_>>) -> Vec<Cluster<'_>> {
    let mut similarity: Vec<Vec<f64>> =
        groups.iter().map(|a| groups.iter().map(|b| a.similarity(b)).collect()).collect();
    while let Some((a, b)) = best_pair(&groups, &similarity) {
        let joined = groups.swap_remove(b);
        similarity.swap_remove(b);
        for row in &mut similarity {
            row.swap_remove(b);
        }
        let group = &mut groups[a];
        group.signatures.extend(joined.signatures);
        group.members.extend(joined.members);
        group.chunks.extend(joined.chunks);
        for other in 0..groups.len() {
            let value = groups[a].similarity(&groups[other]);
            similarity[a][other] = value;
            similarity[other][a] = value;
        }
    }
    groups
}

/// Finds the most similar pair of clusters that may be one person. Returns their indexes, the
/// smaller index first.
fn best_pair(groups: &[Cluster<'_>], similarity: &[Vec<f64>]) -> Option<(usize, usize)> {
    let mut pairs: Vec<(usize, usize)> = Vec::new();
    for a in 0..groups.len() {
        pairs.extend((a + 1..groups.len()).map(|b| (a, b)).filter(|&(a, b)| {
            similarity[a][b] >= MIN_SIMILARITY && !groups[a].seen_with(&groups[b])
        }));
    }
    pairs.sort_by(|x, y| similarity[y.0][y.1].total_cmp(&similarity[x.0][x.1]).then(x.cmp(y)));
    pairs.into_iter().find(|&(a, b)| {
        let value = similarity[a][b];
        // Reject the pair if a rival seen together with `a` is nearly as similar to `b`, or vice
        // versa.
        !(0..groups.len()).any(|rival| {
            rival != a
                && rival != b
                && (groups[rival].seen_with(&groups[a]) && similarity[rival][b] > value - MARGIN
                    || groups[rival].seen_with(&groups[b]) && similarity[rival][a] > value - MARGIN)
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::analyzers::people::parse_garments;

    fn wearing(clothing: &str) -> ClothingSignature {
        ClothingSignature::from_garments(&parse_garments(clothing))
    }

    #[test]
    fn people_are_linked_by_clothing() {
        for (what, observations, expected) in [
            (
                "the same clothes",
                vec![(0, "red coat"), (1, "red coat"), (3, "a red jacket")],
                vec![vec![0, 1, 2]],
            ),
            (
                "two people with different clothes",
                vec![(0, "red coat"), (0, "green hoodie"), (1, "green hoodie"), (2, "red coat")],
                vec![vec![0, 3], vec![1, 2]],
            ),
            (
                "twins in one chunk stay unlinked",
                vec![(0, "red coat"), (0, "red coat"), (1, "red coat")],
                vec![vec![0], vec![1], vec![2]],
            ),
            (
                "near twins are ambiguous",
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
                "a chain does not join contradictions",
                vec![
                    (0, "white shirt, blue jeans, red tie"),
                    (1, "white shirt, blue jeans"),
                    (2, "white shirt, blue jeans, green tie"),
                ],
                vec![vec![0, 1], vec![2]],
            ),
        ] {
            let observations: Vec<(ChunkId, ClothingSignature)> = observations
                .into_iter()
                .map(|(chunk, clothing)| (ChunkId(chunk), wearing(clothing)))
                .collect();
            assert_eq!(link(&observations), expected, "{what}");
        }
    }

    #[test]
    fn a_person_is_in_each_chunk_at_most_once() {
        let clothes =
            ["red coat", "red jacket, hat", "red coat, boots", "blue cap, red coat", "red dress"];
        let observations: Vec<(ChunkId, ClothingSignature)> = (0..60)
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
