//! Tests of searches grouped by video.

use super::points::{axis, lean, nearest, owned, places, point, replace, words};
use crate::conformance::video;
use crate::index::{Filter, Index, Predicate, TextQuery, VectorQuery};

pub(super) async fn contain_the_best_of_each_video(index: &dyn Index) {
    // One video has far more points than the others, and all its points are nearer. The points are
    // added in two batches, so that the index has two segments.
    let near = |i: u32| point("aa", i).vector("combined", lean(i as f32 * 0.001)).says("storm");
    replace(index, (0..300).map(near).collect()).await;
    let far = |(video, chunk, angle): (&str, u32, f32)| {
        let words = if video == "bb" { "storm over the sea" } else { "storm over a sea at night" };
        point(video, chunk).vector("combined", lean(angle)).says(words).float("start", 1.0)
    };
    let others = [("cc", 0, 0.5), ("bb", 0, 1.2), ("bb", 1, 0.6), ("cc", 1, 0.4), ("dd", 0, 0.9)];
    replace(index, others.into_iter().map(far).collect()).await;
    let by_video = |limit, per_video, filter: Filter, threshold| async move {
        let per_video = Some(per_video);
        let nearest = nearest("combined", axis(0), limit);
        let query = VectorQuery { filter, threshold, per_video, ..nearest };
        let hits = index.search(query).await.unwrap();
        hits.into_iter().map(|h| (h.id.video_id, h.id.chunk_id)).collect::<Vec<_>>()
    };
    let all = Filter::default;
    let check = async |limit, per_video, expected: &[(&str, u32)]| {
        let found = by_video(limit, per_video, all(), None).await;
        assert_eq!(found, owned(expected), "{per_video} of each of {limit} videos");
    };
    let two = [("aa", 0), ("aa", 1), ("cc", 1), ("cc", 0), ("bb", 1), ("bb", 0), ("dd", 0)];
    check(9, 2, &two).await;
    check(9, 1, &[("aa", 0), ("cc", 1), ("bb", 1), ("dd", 0)]).await;
    check(2, 3, &[("aa", 0), ("aa", 1), ("aa", 2), ("cc", 1), ("cc", 0)]).await;
    check(1, 1, &[("aa", 0)]).await;
    check(0, 5, &[]).await;
    check(5, 0, &[]).await;
    assert_eq!(by_video(usize::MAX, usize::MAX, all(), None).await.len(), 305, "no limit at all");
    let late = Filter::default().and("start", Predicate::AtLeast(1.0));
    let found = by_video(2, 9, late.clone(), None).await;
    assert_eq!(found, owned(&[("cc", 1), ("cc", 0), ("bb", 1), ("bb", 0)]), "filtered");
    let found = by_video(9, 9, late.clone(), Some(0.8)).await;
    assert_eq!(found, owned(&[("cc", 1), ("cc", 0), ("bb", 1)]), "above the threshold");
    let query = VectorQuery { filter: late, ..nearest("combined", axis(0), 9) };
    let plain = index.search(query.clone()).await.unwrap();
    let query = VectorQuery { per_video: Some(9), ..query };
    let mut grouped = index.search(query).await.unwrap();
    grouped.sort_by(|a, b| b.score.total_cmp(&a.score));
    assert_eq!(grouped, plain, "scores and documents are those of a plain search");

    let grouped = |text, limit| TextQuery { per_video: Some(1), ..words(text, limit) };
    let hits = index.text_search(grouped("storm sea", 3)).await.unwrap();
    let videos: Vec<_> = hits.iter().map(|hit| hit.id.video_id).collect();
    assert_eq!(videos, ["bb", "cc", "dd"].map(video), "by words");
    let plain = index.text_search(words("storm sea", 999)).await.unwrap();
    for hit in &hits {
        let best = plain.iter().find(|p| p.id.video_id == hit.id.video_id);
        assert_eq!(Some(hit), best, "its best point as a plain search finds it");
    }
    assert_eq!(index.text_search(grouped("?!", 3)).await.unwrap(), []);
}

pub(super) async fn ties_are_ordered_by_id(index: &dyn Index) {
    for (video, chunk) in [("cc", 1), ("aa", 3), ("bb", 0), ("cc", 0), ("aa", 1), ("dd", 7)] {
        let same = point(video, chunk).vector("combined", axis(1)).says("same words");
        replace(index, vec![same]).await;
    }
    let sorted = [("aa", 1), ("aa", 3), ("bb", 0), ("cc", 0), ("cc", 1), ("dd", 7)];
    let first = [("aa", 1), ("bb", 0), ("cc", 0), ("dd", 7)];
    for limit in 1..=4 {
        let query = VectorQuery { per_video: Some(1), ..nearest("combined", axis(1), limit) };
        let found = index.search(query.clone()).await.unwrap();
        assert_eq!(places(&found), owned(&first[..limit]), "ties at limit {limit}");
        let text = TextQuery { per_video: Some(1), ..words("words", limit) };
        let found = index.text_search(text).await.unwrap();
        assert_eq!(places(&found), owned(&first[..limit]), "ties of words at limit {limit}");
        if limit == 4 {
            let two = VectorQuery { per_video: Some(2), ..query };
            let found = index.search(two).await.unwrap();
            assert_eq!(places(&found), owned(&sorted), "two of each");
        }
    }
}
