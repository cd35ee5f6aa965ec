//! Tests that filters select the right points.

use std::ops::Range;

use super::points::{axis, chunks, filter, id, lean, nearest, point, replace, words};
use crate::ChunkId;
use crate::conformance::video;
use crate::index::{Filter, Index, Predicate, TextQuery, VectorQuery};

/// A filter, and the video and chunk of each point that it selects.
type Case = (Filter, &'static [(&'static str, u32)]);

pub(super) async fn are_conjunctions(index: &dyn Index) {
    let points = vec![
        point("aa", 0)
            .keywords("objects", &["car", "dog"])
            .float("start", 0.0)
            .float("end", 5.0)
            .integer("people_count", 0),
        point("aa", 1)
            .keywords("objects", &["dog"])
            .float("start", 5.0)
            .float("end", 10.0)
            .integer("people_count", 2),
        point("aa", 2).keywords("objects", &[]).float("start", 10.0).float("end", 15.5),
        point("bb", 0)
            .keywords("objects", &["car"])
            .keywords("tags", &["night", "rain"])
            .integer("people_count", -3),
        point("bb", 3),
    ];
    replace(index, points.into_iter().map(|p| p.vector("combined", axis(0))).collect()).await;
    for (filter, expected) in [id_cases(), keyword_cases(), number_cases()].concat() {
        let expected: Vec<_> = expected.iter().map(|(v, c)| id(v, *c, "default_video")).collect();
        let counted = index.count(&filter).await.unwrap();
        assert_eq!(counted, expected.len() as u64, "count of {filter:?}");
        let query = VectorQuery { filter: filter.clone(), ..nearest("combined", axis(0), 99) };
        let found: Vec<_> = index.search(query).await.unwrap().into_iter().map(|h| h.id).collect();
        assert_eq!(found, expected, "search with {filter:?}");
        let vectors = index.vectors(&filter, "combined").await.unwrap();
        let found: Vec<_> = vectors.into_iter().map(|(id, _)| id).collect();
        assert_eq!(found, expected, "vectors of {filter:?}");
    }
}

/// Filters on the parts of a point's id.
fn id_cases() -> Vec<Case> {
    let bb = video("bb");
    vec![
        (Filter::default(), &[("aa", 0), ("aa", 1), ("aa", 2), ("bb", 0), ("bb", 3)]),
        (Filter::video(video("aa")), &[("aa", 0), ("aa", 1), ("aa", 2)]),
        (Filter::video(video("ff")), &[]),
        (filter("video_id", any(&[bb.as_str(), "zz"])), &[("bb", 0), ("bb", 3)]),
        (filter("video_id", any(&[])), &[]),
        (
            filter("analyzer_id", any(&["default_video"])),
            &[("aa", 0), ("aa", 1), ("aa", 2), ("bb", 0), ("bb", 3)],
        ),
        (filter("analyzer_id", any(&["ocr"])), &[]),
        (filter("chunk_id", among(&[0, 3])), &[("aa", 0), ("bb", 0), ("bb", 3)]),
        (filter("chunk_id", among(&[])), &[]),
        (filter("chunk_id", among(&[-1, i64::MAX])), &[]),
        (filter("chunk_id", Predicate::AtLeast(1.5)), &[("aa", 2), ("bb", 3)]),
        (Filter::video(video("aa")).and("chunk_id", among(&[0, 3])), &[("aa", 0)]),
        (in_chunks(&[("bb", 0), ("aa", 2), ("aa", 3), ("ff", 0)]), &[("aa", 2), ("bb", 0)]),
        (in_chunks(&[("aa", 1), ("bb", 0)]).and("chunk_id", among(&[0])), &[("bb", 0)]),
        (in_chunks(&[("aa", 1), ("bb", 0)]).in_videos([video("aa")]), &[("aa", 1)]),
        (in_chunks(&[]), &[]),
        (Filter::video(video("aa")).and("video_id", any(&[bb.as_str()])), &[]),
    ]
}

fn keyword_cases() -> Vec<Case> {
    vec![
        (filter("objects", any(&["car"])), &[("aa", 0), ("bb", 0)]),
        (filter("objects", any(&["car", "dog"])), &[("aa", 0), ("aa", 1), ("bb", 0)]),
        (filter("objects", any(&["cat"])), &[]),
        // A condition matches if any of its keywords matches. Two conditions must both match.
        (filter("objects", any(&["car"])).and("objects", any(&["dog"])), &[("aa", 0)]),
        (filter("objects", any(&["car"])).and("tags", any(&["rain"])), &[("bb", 0)]),
        (filter("objects", any(&["dog"])).and("tags", any(&["rain"])), &[]),
    ]
}

fn number_cases() -> Vec<Case> {
    vec![
        (filter("people_count", Predicate::AtLeast(0.0)), &[("aa", 0), ("aa", 1)]),
        (filter("people_count", Predicate::AtLeast(0.5)), &[("aa", 1)]),
        (filter("people_count", Predicate::AtMost(0.0)), &[("aa", 0), ("bb", 0)]),
        (filter("people_count", Predicate::AtMost(-2.5)), &[("bb", 0)]),
        (filter("people_count", among(&[2, -3])), &[("aa", 1), ("bb", 0)]),
        (filter("people_count", Predicate::AtLeast(1e300)), &[]),
        (filter("people_count", Predicate::AtLeast(f64::INFINITY)), &[]),
        (filter("people_count", Predicate::AtMost(f64::NEG_INFINITY)), &[]),
        (
            filter("people_count", Predicate::AtMost(f64::INFINITY)),
            &[("aa", 0), ("aa", 1), ("bb", 0)],
        ),
        // Bounds are inclusive. The sign of zero does not matter.
        (filter("start", Predicate::AtLeast(5.0)), &[("aa", 1), ("aa", 2)]),
        (filter("start", Predicate::AtLeast(5.000_000_001)), &[("aa", 2)]),
        (filter("start", Predicate::AtMost(-0.0)), &[("aa", 0)]),
        (filter("start", Predicate::AtLeast(0.0)), &[("aa", 0), ("aa", 1), ("aa", 2)]),
        (filter("end", Predicate::AtMost(15.5)), &[("aa", 0), ("aa", 1), ("aa", 2)]),
        (filter("end", Predicate::AtMost(15.499)), &[("aa", 0), ("aa", 1)]),
        (
            filter("start", Predicate::AtLeast(5.0)).and("end", Predicate::AtMost(10.0)),
            &[("aa", 1)],
        ),
    ]
}

fn any(words: &[&str]) -> Predicate {
    Predicate::AnyKeyword(words.iter().map(|&w| w.into()).collect())
}

fn among(numbers: &[i64]) -> Predicate {
    Predicate::AnyInteger(numbers.to_vec())
}

fn in_chunks(chunks: &[(&str, u32)]) -> Filter {
    Filter::default().in_chunks(chunks.iter().map(|(v, chunk)| (video(v), ChunkId(*chunk))))
}

/// Checks filters that list many chunks, some of which have no points in the index, in every kind of
/// search.
pub(super) async fn accept_many_chunks(index: &dyn Index) {
    let is_listed = |n: u32| n.is_multiple_of(7);
    let name = |n: u32| format!("{:04x}", n % 50);
    let points = |range: Range<u32>| {
        let point = |n: u32| {
            point(&name(n), n).vector("combined", lean(n as f32 * 0.001)).says("lighthouse")
        };
        range.map(point).collect::<Vec<_>>()
    };
    replace(index, points(0..400)).await;
    replace(index, points(400..700)).await;
    let listed = (0..1000).filter(|n| is_listed(*n));
    let listed = listed.flat_map(|n| [(video(&name(n)), ChunkId(n)), (video("ff"), ChunkId(n))]);
    let many = Filter::default().in_chunks(listed);
    let expected: Vec<u32> = (0..700).filter(|n| is_listed(*n)).collect();
    let limit = 700;
    assert_eq!(index.count(&many).await.unwrap(), expected.len() as u64);
    let query = VectorQuery { filter: many.clone(), ..nearest("combined", axis(0), limit) };
    assert_eq!(chunks(&index.search(query).await.unwrap()), expected, "nearest first");
    let text = TextQuery { filter: many.clone(), ..words("lighthouse", limit) };
    let mut found = chunks(&index.text_search(text).await.unwrap());
    found.sort_unstable();
    assert_eq!(found, expected);
    let listed = index.list(&many, limit).await.unwrap();
    let mut found: Vec<u32> = listed.iter().map(|point| point.id.chunk_id.0).collect();
    found.sort_unstable();
    assert_eq!(found, expected);
    let one = many.in_videos([video(&name(7))]);
    let query = VectorQuery { filter: one, ..nearest("combined", axis(0), limit) };
    let expected: Vec<u32> = expected.into_iter().filter(|n| name(*n) == name(7)).collect();
    assert_eq!(chunks(&index.search(query).await.unwrap()), expected);
}

/// Checks filters that list many videos. A filter on metadata may list hundreds of videos, most of
/// which have no points in the index.
pub(super) async fn accept_many_videos(index: &dyn Index) {
    let named = |n: u32| video(&format!("{n:04x}"));
    let points = |range: Range<u32>| {
        let point = |n: u32| {
            point(&format!("{:04x}", n % 400), n)
                .vector("combined", lean(n as f32 * 0.001))
                .says("lighthouse")
                .keywords("tags", &[if n.is_multiple_of(3) { "night" } else { "day" }])
        };
        range.map(point).collect::<Vec<_>>()
    };
    replace(index, points(0..500)).await;
    replace(index, points(500..900)).await;
    index.replace(Some(&Filter::video(named(30))), Vec::new()).await.unwrap();
    let ids = |range: Range<u32>| -> Vec<String> {
        range.map(|n| named(n).into()).chain(["nobody's".into()]).collect()
    };
    let videos = |range| Predicate::AnyKeyword(ids(range));
    let night = Predicate::AnyKeyword(vec!["night".into()]);
    for (filter, lets_through) in [
        (filter("video_id", videos(20..220)), (20..220, false)),
        (filter("video_id", videos(20..220)).and("tags", night.clone()), (20..220, true)),
        (filter("tags", night).and("video_id", videos(390..3000)), (390..400, true)),
        (filter("video_id", videos(20..220)).and("video_id", videos(200..3000)), (200..220, false)),
        (filter("video_id", videos(20..220)).and("video_id", videos(210..212)), (210..212, false)),
        (filter("video_id", videos(500..900)), (0..0, false)),
    ] {
        let (range, night): (Range<u32>, bool) = lets_through;
        let expected: Vec<u32> = (0..900)
            .filter(|n| {
                range.contains(&(n % 400)) && n % 400 != 30 && (!night || n.is_multiple_of(3))
            })
            .collect();
        let query = VectorQuery { filter: filter.clone(), ..nearest("combined", axis(0), 999) };
        let hits = index.search(query.clone()).await.unwrap();
        assert_eq!(chunks(&hits), expected, "nearest with {filter:?}");
        let query = TextQuery { filter: filter.clone(), ..words("lighthouse", 999) };
        let mut found = chunks(&index.text_search(query).await.unwrap());
        found.sort_unstable();
        assert_eq!(found, expected, "words with {filter:?}");
        assert_eq!(index.count(&filter).await.unwrap(), expected.len() as u64);
    }
}

pub(super) async fn apply_before_scoring(index: &dyn Index) {
    // The hundred nearest points do not match the filter, but the ten farthest points do.
    let points = (0..110).map(|i| {
        let tag = if i < 100 { "near" } else { "far" };
        point("aa", i).vector("combined", lean(i as f32 * 0.01)).keywords("tags", &[tag])
    });
    replace(index, points.collect()).await;
    let only_far = filter("tags", Predicate::AnyKeyword(vec!["far".into()]));
    let query = VectorQuery { filter: only_far, ..nearest("combined", axis(0), 10) };
    let hits = index.search(query).await.unwrap();
    assert_eq!(chunks(&hits), (100..110).collect::<Vec<_>>());
}
