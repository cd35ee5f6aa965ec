//! Tests of the picture fields, whose vectors have another dimension than all other vectors.

use std::collections::BTreeSet;

use super::points::{
    PointBuilder, axis, chunks, id, invalid, lean, nearest, point, replace, search,
};
use super::{DIMENSION, pictures};
use crate::conformance::video;
use crate::index::{Filter, Index, PointId, Predicate, VectorQuery};
use crate::{ErrorKind, Result};

/// The picture field.
const STILL: &str = "still";

/// Returns a unit vector of the picture space at this angle (in radians) to its last axis.
fn picture(angle: f32) -> Vec<f32> {
    let mut vector = vec![0.0; pictures().dimension];
    vector[0] = angle.sin();
    vector[pictures().dimension - 1] = angle.cos();
    vector
}

/// Returns a search for the pictures nearest to the last axis of the picture space.
fn nearest_picture(limit: usize) -> VectorQuery {
    VectorQuery { field: STILL.into(), vector: picture(0.0), ..nearest(STILL, axis(0), limit) }
}

/// Returns a point at these angles in the text space and in the picture space.
fn both(video: &str, chunk: u32, text: f32, still: f32) -> PointBuilder {
    point(video, chunk).vector("combined", lean(text)).raw(STILL, picture(still))
}

pub(super) async fn have_another_dimension(index: &dyn Index) {
    let angles = [0.1, 0.2, 0.3, 0.4];
    // The pictures are in reverse order, and the last point has none.
    let points = (0..4).map(|i| match i {
        3 => point("bb", i).vector("combined", lean(angles[3])),
        _ => both("aa", i, angles[i as usize], angles[2 - i as usize]),
    });
    replace(index, points.collect()).await;
    assert_eq!(chunks(&search(index, "combined", axis(0), 9).await), [0, 1, 2, 3]);
    let hits = index.search(nearest_picture(9)).await.unwrap();
    assert_eq!(chunks(&hits), [2, 1, 0], "points without a picture never match");
    for (hit, angle) in hits.iter().zip(angles) {
        assert!((hit.score - angle.cos()).abs() < 1e-5, "{} is not a cosine", hit.score);
    }
    let few = VectorQuery {
        filter: Filter::default().and("chunk_id", Predicate::AtMost(1.0)),
        threshold: Some(0.2_f32.cos() - 1e-4),
        ..nearest_picture(9)
    };
    assert_eq!(chunks(&index.search(few).await.unwrap()), [1], "filter and threshold");
    let by_video = VectorQuery { per_video: Some(2), ..nearest_picture(9) };
    assert_eq!(chunks(&index.search(by_video).await.unwrap()), [2, 1], "by video");

    for field in ["combined", STILL] {
        let stored = index.vectors(&Filter::video(video("aa")), field).await.unwrap();
        assert_eq!(stored.len(), 3, "{field}");
        for ((id, vector), angle) in stored.iter().zip(angles) {
            let (chunk, angle) =
                (id.chunk_id.index(), if field == STILL { 0.4 - angle } else { angle });
            let expected = if field == STILL { picture(angle) } else { lean(angle).to_vec() };
            assert_eq!(vector.len(), expected.len(), "{field}");
            let equal = vector.iter().zip(&expected).all(|(a, b)| (a - b).abs() < 1e-6);
            assert!(equal, "{field} of chunk {chunk}: {vector:?} is not {expected:?}");
        }
    }
    let ids: BTreeSet<PointId> = [("aa", 0), ("aa", 2), ("bb", 3)]
        .map(|(video, chunk)| id(video, chunk, "default_video"))
        .into();
    let mut cosines = index.cosines(STILL, &picture(0.0), &ids).await.unwrap();
    cosines.sort_by(|(a, _), (b, _)| a.cmp(b));
    let found: Vec<u32> = cosines.iter().map(|(id, _)| id.chunk_id.0).collect();
    assert_eq!(found, [0, 2], "of these points, these have a picture");
    for ((_, cosine), angle) in cosines.iter().zip([0.3_f32, 0.1]) {
        assert!((cosine - angle.cos()).abs() < 1e-6, "{cosine} at {angle}");
    }
    assert_eq!(index.cosines("combined", &axis(0), &ids).await.unwrap().len(), 3);
}

pub(super) async fn are_replaced_with_their_point(index: &dyn Index) {
    replace(index, (0..3).map(|i| both("aa", i, 0.1, 0.1 + i as f32 * 0.1)).collect()).await;
    // The first point loses its picture, and the second gets another one.
    replace(index, vec![point("aa", 0).vector("combined", lean(0.1)), both("aa", 1, 0.1, 0.5)])
        .await;
    let found = async || chunks(&index.search(nearest_picture(9)).await.unwrap());
    assert_eq!(found().await, [2, 1]);
    // A point may have a picture alone.
    replace(index, vec![point("bb", 7).raw(STILL, picture(0.0))]).await;
    assert_eq!(found().await, [7, 2, 1]);
    assert_eq!(search(index, "combined", axis(0), 9).await.len(), 3);
    index.replace(Some(&Filter::video(video("aa"))), vec![]).await.unwrap();
    assert_eq!(found().await, [7]);
    let stored = index.vectors(&Filter::default(), STILL).await.unwrap();
    assert_eq!(stored.iter().map(|(id, _)| id.chunk_id.0).collect::<Vec<_>>(), [7]);
}

pub(super) async fn wrong_dimensions_are_refused(index: &dyn Index) {
    replace(index, vec![both("aa", 0, 0.1, 0.1)]).await;
    let (text, still) = (axis(0).to_vec(), picture(0.0));
    let empty: Vec<f32> = vec![];
    let wrong = [
        ("combined", &still, DIMENSION),
        (STILL, &text, pictures().dimension),
        (STILL, &empty, pictures().dimension),
    ];
    for (field, vector, expected) in wrong {
        let why = format!("{} dimensions in {field}", vector.len());
        let scope = Filter::default();
        let bad = vec![point("bb", 1).raw(field, vector.clone()).build()];
        names(index.replace(Some(&scope), bad).await, field, expected, &why);
        let query =
            VectorQuery { field: field.into(), vector: vector.clone(), ..nearest_picture(9) };
        names(index.search(query.clone()).await, field, expected, &why);
        let by_video = VectorQuery { per_video: Some(1), ..query };
        names(index.search(by_video).await, field, expected, &why);
        let ids = BTreeSet::from([id("aa", 0, "default_video")]);
        names(index.cosines(field, vector, &ids).await, field, expected, &why);
    }
    let nan = vec![f32::NAN; pictures().dimension];
    invalid(index.search(VectorQuery { vector: nan, ..nearest_picture(1) }).await, "NaN");
    assert_eq!(index.count(&Filter::default()).await.unwrap(), 1, "that changed nothing");
    assert_eq!(chunks(&index.search(nearest_picture(9)).await.unwrap()), [0]);
}

/// Asserts that a call was refused with an error that names the field and its dimension.
fn names<T>(result: Result<T>, field: &str, dimension: usize, why: &str) {
    let Err(error) = result else { panic!("{why} must be refused") };
    assert_eq!(error.kind(), ErrorKind::Invalid, "{why}: {error}");
    let message = error.to_string();
    assert!(message.contains(&format!("`{field}`")), "{why}: {message}");
    assert!(message.contains(&dimension.to_string()), "{why}: {message}");
}
