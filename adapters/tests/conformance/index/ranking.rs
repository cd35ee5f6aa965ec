//! Tests that rankings of the embedded index, which scans eight-bit codes first, equal those of a
//! plain scan.

use std::collections::BTreeMap;
use std::path::Path;

use ports::index::{Filter, Point, PointId, Predicate, VectorIndex, VectorQuery};
use ports::{ChunkId, VideoId};
use serde_json::Value;
use shotlog_adapters::index::embedded::{EmbeddedIndex, EmbeddedOptions};

use super::{Random, vector_bytes};

const DIMENSION: usize = 48;
const POINTS: usize = 3000;

/// The points form clusters. Within a cluster, points differ by less than eight bits can resolve.
#[tokio::test(flavor = "multi_thread")]
async fn rankings_equal_a_plain_scan() {
    let folder = tempfile::tempdir().unwrap();
    let index = open(folder.path()).await;
    let mut random = Random(11);
    let crowds: Vec<Vec<f32>> = (0..5).map(|_| near(&mut random, &[0.0; DIMENSION], 1.0)).collect();
    let vectors: Vec<Vec<f32>> =
        (0..POINTS).map(|i| near(&mut random, &crowds[i % 5], [1e-5, 1e-3, 3e-2][i % 3])).collect();
    // Writes several segments, one of them with deleted documents.
    for first in (0..POINTS).step_by(700) {
        let some = first..POINTS.min(first + 700);
        index.replace(None, some.map(|i| point(i, &vectors[i])).collect()).await.unwrap();
    }
    let removed = Filter::video(video(7));
    index.replace(Some(&removed), vec![]).await.unwrap();

    for round in 0..60 {
        let spread = [0.0, 1e-4, 0.3][round % 3];
        let query = near(&mut random, &crowds[round % 5], spread);
        // The filters match either a few points or half of the points, which are contiguous.
        let last = [9, 24][round / 8 % 2];
        let filter = match round % 4 {
            3 => Filter::default().and("chunk_id", Predicate::AtMost(last as f64)),
            _ => Filter::default(),
        };
        let limit = [1, 10, 200, POINTS][round / 4 % 4];
        let threshold = (round % 7 == 0).then_some(0.9);
        let mut exact: Vec<(f32, PointId)> = (0..POINTS)
            .filter(|i| i / 50 != 7 && (round % 4 != 3 || i % 50 <= last))
            .map(|i| (dot(&query, &vectors[i]).clamp(-1.0, 1.0), id(i)))
            .filter(|(score, _)| threshold.is_none_or(|least| *score >= least))
            .collect();
        exact.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.cmp(&b.1)));

        let field = "combined".to_owned();
        let query = VectorQuery { field, vector: query, filter, limit, threshold, per_video: None };
        let found = index.search(query.clone()).await.unwrap();
        let found: Vec<_> = found.into_iter().map(|hit| (hit.score, hit.id)).collect();
        assert_eq!(found, exact[..limit.min(exact.len())], "round {round}");

        let mut groups: Vec<(VideoId, Vec<(f32, PointId)>)> = Vec::new();
        for (score, id) in exact {
            match groups.iter_mut().find(|(video, _)| *video == id.video_id) {
                Some((_, group)) => group.push((score, id)),
                None => groups.push((id.video_id, vec![(score, id)])),
            }
        }
        let expected: Vec<_> =
            groups.into_iter().take(limit).flat_map(|(_, g)| g.into_iter().take(3)).collect();
        let grouped = VectorQuery { per_video: Some(3), ..query };
        let found = index.search(grouped).await.unwrap();
        let found: Vec<_> = found.into_iter().map(|hit| (hit.score, hit.id)).collect();
        assert_eq!(found, expected, "round {round}, by video");
    }
}

/// If several fields of a point have equal vectors, they share storage, even after segments are
/// merged.
#[tokio::test(flavor = "multi_thread")]
async fn equal_vectors_are_stored_once() {
    let mut random = Random(3);
    let one: Vec<Vec<f32>> = (0..400).map(|_| near(&mut random, &[0.0; DIMENSION], 1.0)).collect();
    let points = |own: usize| {
        one.iter().enumerate().map(move |(i, vector)| {
            let mut point = point(i, vector);
            let other: Vec<f32> = vector.iter().map(|x| -x).collect();
            // In the second field, every `own`-th point has a different vector, and every ninth
            // point has no vector.
            let second = if i % own == 0 { other } else { vector.clone() };
            if i % 9 != 0 {
                point.vectors.insert("transcript".into(), second);
            }
            point
        })
    };
    let mut sizes = Vec::new();
    for own in [1, 10] {
        let folder = tempfile::tempdir().unwrap();
        let index = open(folder.path()).await;
        let mut all: Vec<Point> = points(own).collect();
        for some in all.chunks(25) {
            index.replace(None, some.to_vec()).await.unwrap();
        }
        let gone = Filter::video(video(2));
        index.replace(Some(&gone), vec![]).await.unwrap();
        all.retain(|point| point.id.video_id != video(2));
        for field in ["combined", "transcript"] {
            let expected: Vec<_> = all
                .iter()
                .filter_map(|point| Some((point.id.clone(), point.vectors.get(field)?.clone())))
                .collect();
            let found = index.vectors(&Filter::default(), field).await.unwrap();
            assert!(found == expected, "{field} of {own}");
            for (id, vector) in expected.into_iter().step_by(31) {
                let query = VectorQuery {
                    field: field.into(),
                    vector,
                    filter: Filter::default(),
                    limit: 1,
                    threshold: None,
                    per_video: None,
                };
                let hits = index.search(query).await.unwrap();
                assert_eq!(hits[0].id, id, "{field} of {own}");
            }
        }
        // Dropping the index waits for a running merge.
        drop(index);
        sizes.push(vector_bytes(folder.path()));
    }
    let ratio = sizes[1] as f64 / sizes[0] as f64;
    assert!(ratio < 0.7, "{sizes:?} bytes: {ratio}");
}

fn point(i: usize, vector: &[f32]) -> Point {
    Point {
        id: id(i),
        vectors: BTreeMap::from([("combined".into(), vector.to_vec())]),
        payload: BTreeMap::new(),
        text: String::new(),
        document: Value::Null.into(),
    }
}

fn id(i: usize) -> PointId {
    let chunk_id = ChunkId::from_index(i % 50);
    PointId { video_id: video(i / 50), chunk_id, analyzer_id: "default_video".into() }
}

fn video(number: usize) -> VideoId {
    format!("{number:016x}").parse().expect("an id")
}

/// Returns a random unit vector near `direction`. A larger `spread` allows a larger distance.
fn near(random: &mut Random, direction: &[f32], spread: f32) -> Vec<f32> {
    let mut even = || random.below(200_001) as f32 / 1e5 - 1.0;
    let raw: Vec<f32> = direction.iter().map(|x| x + spread * even()).collect();
    let length = raw.iter().map(|x| x * x).sum::<f32>().sqrt();
    raw.iter().map(|x| x / length).collect()
}

/// Returns the dot product, summed in the same order as in the index.
fn dot(a: &[f32], b: &[f32]) -> f32 {
    let mut sums = [0.0_f32; 16];
    for (a, b) in a.chunks_exact(16).zip(b.chunks_exact(16)) {
        for lane in 0..16 {
            sums[lane] += a[lane] * b[lane];
        }
    }
    sums.iter().sum::<f32>()
}

async fn open(folder: &Path) -> EmbeddedIndex {
    let options = EmbeddedOptions {
        folder: folder.into(),
        dimension: DIMENSION,
        model: "test".into(),
        pictures: None,
        threads: 2,
        writer_memory: 15_000_000,
        large: 0,
    };
    EmbeddedIndex::open(options).await.unwrap()
}
