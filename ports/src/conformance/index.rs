//! The suite for adapters of the `index` port. All adapters must pass [`check`]. Adapters whose
//! `replace` is atomic must also pass [`check_whole_batches`].

mod filters;
mod groups;
mod pictures;
mod points;
mod values;

use std::collections::{BTreeMap, BTreeSet};
use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::{Value, json};

use points::{
    PointBuilder, axis, chunks, filter, id, invalid, lean, nearest, point, replace, search, text,
    words,
};

use crate::conformance::video;
use crate::index::{
    Filter, Hit, Index, PictureSpace, Point, PointId, Predicate, TextQuery, VectorQuery,
};
use crate::{ChunkId, Document};

/// The vector dimension of every index under test, except in its picture fields.
pub const DIMENSION: usize = 8;

/// The picture fields of every index under test.
pub fn pictures() -> PictureSpace {
    PictureSpace { fields: vec!["still".into()], dimension: 12, model: "test pictures".into() }
}

/// Checks every requirement of the port. Each call of `fresh` must return an empty index whose
/// dimension is [`DIMENSION`] and whose picture fields are those of [`pictures`].
pub async fn check<F, Fut>(fresh: F)
where
    F: Fn() -> Fut,
    Fut: Future<Output = Arc<dyn Index>>,
{
    empty_index_returns_nothing(&*fresh().await).await;
    hits_are_ranked_by_cosine(&*fresh().await).await;
    equal_scores_are_ordered_by_id(&*fresh().await).await;
    thresholds_drop_weaker_hits(&*fresh().await).await;
    points_without_the_field_never_match(&*fresh().await).await;
    documents_come_back_as_stored(&*fresh().await).await;
    filters::are_conjunctions(&*fresh().await).await;
    filters::accept_many_videos(&*fresh().await).await;
    filters::accept_many_chunks(&*fresh().await).await;
    filters::apply_before_scoring(&*fresh().await).await;
    keywords_are_compared_whole(&*fresh().await).await;
    replace_keeps_other_ids_and_revisions(&*fresh().await).await;
    replace_removes_the_scope_first(&*fresh().await).await;
    empty_scope_removes_every_point(&*fresh().await).await;
    points_have_unique_ids(&*fresh().await).await;
    large_batches_stay_searchable(&*fresh().await).await;
    invalid_points_change_nothing(&*fresh().await).await;
    invalid_filters_change_nothing(&*fresh().await).await;
    invalid_queries_are_refused(&*fresh().await).await;
    text_is_found_by_words_and_phrases(&*fresh().await).await;
    text_search_filters_and_limits(&*fresh().await).await;
    words_and_phrases_add_up(&*fresh().await).await;
    groups::contain_the_best_of_each_video(&*fresh().await).await;
    groups::ties_are_ordered_by_id(&*fresh().await).await;
    vectors_come_back_in_order(&*fresh().await).await;
    pictures::have_another_dimension(&*fresh().await).await;
    pictures::are_replaced_with_their_point(&*fresh().await).await;
    pictures::wrong_dimensions_are_refused(&*fresh().await).await;
    values::values_are_distinct_and_in_order(&*fresh().await).await;
    values::facet_counts_are_most_frequent_first(&*fresh().await).await;
    values::points_are_listed_in_order(&*fresh().await).await;
    concurrent_writes_are_all_kept(fresh().await).await;
    first_owner_is_kept(&*fresh().await).await;
}

/// Checks that readers see all of a `replace` or none of it.
pub async fn check_whole_batches<F, Fut>(fresh: F)
where
    F: Fn() -> Fut,
    Fut: Future<Output = Arc<dyn Index>>,
{
    readers_see_whole_batches(fresh().await).await;
}

async fn first_owner_is_kept(index: &dyn Index) {
    for _ in 0..2 {
        assert_eq!(index.adopt("one").await.unwrap(), "one");
    }
    let other = index.adopt("other").await.unwrap();
    assert!(other == "one" || other == "other", "{other}");
    assert_eq!(index.count(&Filter::default()).await.unwrap(), 0, "an owner is no point");
}

async fn empty_index_returns_nothing(index: &dyn Index) {
    index.probe().await.unwrap();
    assert_eq!(index.count(&Filter::default()).await.unwrap(), 0);
    assert_eq!(search(index, "combined", axis(0), 5).await, []);
    assert_eq!(text(index, "anything").await, []);
    assert_eq!(index.vectors(&Filter::default(), "combined").await.unwrap(), []);
    assert!(index.values("video_id").await.unwrap().is_empty());
    index.replace(None, vec![]).await.unwrap();
    index.replace(Some(&Filter::default()), vec![]).await.unwrap();
    assert_eq!(index.count(&Filter::default()).await.unwrap(), 0);
}

async fn hits_are_ranked_by_cosine(index: &dyn Index) {
    let points = (0..5).map(|i| point("aa", i).vector("combined", lean(i as f32 * 0.2))).collect();
    replace(index, points).await;
    let hits = search(index, "combined", axis(0), 10).await;
    assert_eq!(chunks(&hits), [0, 1, 2, 3, 4], "nearest first");
    for (i, hit) in hits.iter().enumerate() {
        let cosine = (i as f32 * 0.2).cos();
        assert!((hit.score - cosine).abs() < 1e-5, "score {} is not {cosine}", hit.score);
        assert!((-1.0..=1.0).contains(&hit.score), "a cosine lies in -1..1, not {}", hit.score);
    }
    assert_eq!(chunks(&search(index, "combined", axis(0), 2).await), [0, 1], "limit");
    assert_eq!(search(index, "combined", axis(0), 0).await, [], "a limit of zero");
    assert_eq!(search(index, "combined", axis(0), usize::MAX).await.len(), 5, "no limit at all");
    let opposite = axis(0).map(|x| -x);
    let hits = search(index, "combined", opposite, 1).await;
    assert_eq!(chunks(&hits), [4], "the opposite direction ranks the other way round");
    assert!(hits[0].score < 0.0, "negative cosines stay negative");
}

async fn equal_scores_are_ordered_by_id(index: &dyn Index) {
    let ids = [("bb", 1, "x"), ("aa", 10, "x"), ("aa", 2, "y"), ("aa", 2, "x"), ("ab", 0, "x")];
    for (video, chunk, analyzer) in ids {
        let mut new = point(video, chunk).vector("combined", axis(1)).says("same words");
        new.id.analyzer_id = analyzer.into();
        replace(index, vec![new.build()]).await;
    }
    let mut sorted: Vec<_> = ids.iter().map(|(v, c, a)| id(v, *c, a)).collect();
    sorted.sort();
    for limit in 1..=ids.len() {
        let hits = search(index, "combined", axis(1), limit).await;
        let found: Vec<_> = hits.into_iter().map(|hit| hit.id).collect();
        assert_eq!(found, sorted[..limit], "ties at limit {limit}");
    }
    let found = index.text_search(words("words", 3)).await.unwrap();
    let found: Vec<_> = found.into_iter().map(|hit| hit.id).collect();
    assert_eq!(found, sorted[..3], "ties of a text search");
}

async fn thresholds_drop_weaker_hits(index: &dyn Index) {
    let points = (0..4).map(|i| point("aa", i).vector("combined", lean(i as f32 * 0.5))).collect();
    replace(index, points).await;
    for (threshold, expected) in
        [(-1.0, 4), (0.5, 3), (0.6, 2), (0.99, 1), (1.1, 0), (f32::NEG_INFINITY, 4)]
    {
        let query = VectorQuery { threshold: Some(threshold), ..nearest("combined", axis(0), 10) };
        let hits = index.search(query).await.unwrap();
        assert_eq!(hits.len(), expected, "threshold {threshold}");
        assert!(hits.iter().all(|hit| hit.score >= threshold));
    }
}

async fn points_without_the_field_never_match(index: &dyn Index) {
    let both = point("aa", 0).vector("combined", axis(0)).vector("people", axis(1));
    replace(index, vec![both, point("aa", 1).vector("combined", axis(1)), point("aa", 2)]).await;
    assert_eq!(chunks(&search(index, "combined", axis(0), 9).await), [0, 1]);
    assert_eq!(chunks(&search(index, "people", axis(0), 9).await), [0]);
    assert_eq!(search(index, "objects", axis(0), 9).await, [], "a field no point has");
    assert_eq!(index.count(&Filter::default()).await.unwrap(), 3, "they are points all the same");
    // If the new point lacks the vector field, searches on that field no longer find it.
    replace(index, vec![point("aa", 0).vector("combined", axis(0))]).await;
    assert_eq!(search(index, "people", axis(0), 9).await, []);
}

async fn documents_come_back_as_stored(index: &dyn Index) {
    let documents = [
        json!({"z": 1, "a": [1.5, -0.25, null, true], "nested": {"text": "été 🎬 \"quoted\"\n"}}),
        json!({}),
        json!("text"),
        json!({"big": u64::MAX, "small": i64::MIN, "long": "x".repeat(100_000)}),
    ]
    .map(Document::from);
    let points = documents.iter().zip(0..).map(|(document, i)| {
        let mut point = point("aa", i).vector("combined", axis(0)).says("word").build();
        point.document = document.clone();
        point
    });
    index.replace(None, points.collect()).await.unwrap();
    for hits in [search(index, "combined", axis(0), 9).await, text(index, "word").await] {
        assert_eq!(hits.len(), documents.len());
        for hit in hits {
            let stored = &documents[hit.id.chunk_id.index()];
            assert_eq!(&hit.document, stored);
        }
    }
}

async fn keywords_are_compared_whole(index: &dyn Index) {
    let words =
        ["Zürich", "zürich", "Zu\u{308}rich", "東京 タワー", "a b", "a", "", " a", "🎬", "x'\"\\y"];
    let points = words.iter().zip(0..).map(|(word, i)| point("aa", i).keywords("objects", &[word]));
    replace(index, points.collect()).await;
    for (word, i) in words.iter().zip(0..) {
        let one = filter("objects", Predicate::AnyKeyword(vec![(*word).into()]));
        assert_eq!(index.count(&one).await.unwrap(), 1, "exactly one point has {word:?}");
        let both = one.and("chunk_id", Predicate::AnyInteger(vec![i]));
        assert_eq!(index.count(&both).await.unwrap(), 1, "and it is the one with {word:?}");
    }
    let mut sorted: Vec<String> = words.iter().map(|&w| w.into()).collect();
    sorted.sort();
    assert_eq!(index.values("objects").await.unwrap(), sorted);
}

async fn replace_keeps_other_ids_and_revisions(index: &dyn Index) {
    replace(index, vec![tagged("aa", 0, "r1"), tagged("aa", 1, "r1"), tagged("bb", 0, "r1")]).await;
    // Without a scope, only points with the same id and revision are replaced.
    replace(index, vec![tagged("aa", 1, "r1").says("other"), tagged("aa", 2, "r1")]).await;
    assert_eq!(index.count(&with_revision("r1")).await.unwrap(), 4);
    assert_eq!(chunks(&search(index, "combined", axis(1), 1).await), [1]);
    assert_eq!(text(index, "r1").await.len(), 3, "replaced text is not found any more");

    // Points with different revisions coexist.
    replace(index, vec![tagged("aa", 1, "r2"), tagged("aa", 2, "r2")]).await;
    assert_eq!(index.count(&Filter::default()).await.unwrap(), 6);
    assert_eq!(chunks(&search(index, "combined", axis(1), 2).await), [1, 1]);
    assert_eq!(index.revisions(video("aa")).await.unwrap(), ["r1", "r2"]);
    assert_eq!(index.revisions(video("bb")).await.unwrap(), ["r1"]);
    assert_eq!(index.revisions(video("cc")).await.unwrap(), [""; 0]);
    let old = Filter::video(video("aa")).and("revision", Predicate::AnyKeyword(vec!["r1".into()]));
    index.replace(Some(&old), vec![]).await.unwrap();
    assert_eq!(index.revisions(video("aa")).await.unwrap(), ["r2"], "removed revisions are gone");
    assert_eq!(index.count(&Filter::video(video("aa"))).await.unwrap(), 2);
}

async fn replace_removes_the_scope_first(index: &dyn Index) {
    replace(index, vec![tagged("aa", 1, "r2"), tagged("aa", 2, "r2"), tagged("bb", 0, "r1")]).await;
    let [aa, bb, cc] = ["aa", "bb", "cc"].map(|name| Filter::video(video(name)));
    // A scope removes matching points before the new ones are added.
    let new = vec![tagged("aa", 0, "r3").build(), tagged("cc", 5, "r3").build()];
    index.replace(Some(&aa), new).await.unwrap();
    assert_eq!(index.count(&aa).await.unwrap(), 1);
    assert_eq!(index.count(&bb).await.unwrap(), 1, "outside the scope");
    assert_eq!(index.count(&cc).await.unwrap(), 1, "new points need no scope");

    // Without new points, `replace` only removes those in the scope.
    let scope = aa.clone().and("chunk_id", Predicate::AtLeast(1.0));
    index.replace(Some(&scope), vec![]).await.unwrap();
    assert_eq!(index.count(&aa).await.unwrap(), 1, "nothing matched the scope");
    index.replace(Some(&aa), vec![]).await.unwrap();
    assert_eq!(index.count(&aa).await.unwrap(), 0);
}

async fn empty_scope_removes_every_point(index: &dyn Index) {
    let replaced = tagged("dd", 0, "r5").says("r4");
    replace(index, vec![tagged("bb", 0, "r1"), tagged("cc", 5, "r3"), replaced]).await;
    replace(index, vec![tagged("dd", 0, "r5")]).await;
    index.replace(Some(&Filter::default()), vec![tagged("ee", 0, "r7").build()]).await.unwrap();
    assert_eq!(index.values("video_id").await.unwrap(), [video("ee").as_str()]);
    for removed in ["r1", "r3", "r4", "r5"] {
        assert_eq!(text(index, removed).await, [], "{removed}");
    }
}

async fn points_have_unique_ids(index: &dyn Index) {
    let dd = Filter::video(video("dd"));
    // If several points of a batch have the same id, the last one wins.
    replace(index, vec![tagged("dd", 0, "r5").says("r4"), tagged("dd", 0, "r5")]).await;
    assert_eq!(index.count(&dd).await.unwrap(), 1);
    assert_eq!(index.count(&with_revision("r5")).await.unwrap(), 1);

    // Another analyzer's result for the same chunk is a different point.
    let mut other = tagged("dd", 0, "r6");
    other.id.analyzer_id = "ocr".into();
    replace(index, vec![other]).await;
    assert_eq!(index.count(&dd).await.unwrap(), 2);
    let scope = dd.clone().and("analyzer_id", Predicate::AnyKeyword(vec!["ocr".into()]));
    index.replace(Some(&scope), vec![]).await.unwrap();
    assert_eq!(index.count(&dd).await.unwrap(), 1);
}

/// Returns a point of this revision, whose text is the revision.
fn tagged(video: &str, chunk: u32, revision: &str) -> PointBuilder {
    point(video, chunk)
        .vector("combined", axis(chunk as usize % DIMENSION))
        .keywords("revision", &[revision])
        .says(revision)
}

fn with_revision(revision: &str) -> Filter {
    filter("revision", Predicate::AnyKeyword(vec![revision.into()]))
}

async fn large_batches_stay_searchable(index: &dyn Index) {
    let count = 3000;
    let all = |revision: &str| -> Vec<Point> {
        (0..count)
            .map(|i| {
                point(&format!("{}", i % 7), i)
                    .vector("combined", lean(i as f32 / count as f32))
                    .keywords("revision", &[revision])
                    .says(&format!("word{i} common"))
                    .build()
            })
            .collect()
    };
    index.replace(None, all("r1")).await.unwrap();
    index.replace(Some(&Filter::default()), all("r2")).await.unwrap();
    index.replace(None, all("r2")).await.unwrap();
    assert_eq!(index.count(&Filter::default()).await.unwrap(), u64::from(count));
    assert_eq!(index.count(&with_revision("r1")).await.unwrap(), 0);
    let hits = search(index, "combined", axis(0), 20).await;
    assert_eq!(chunks(&hits), (0..20).collect::<Vec<_>>());
    let query =
        VectorQuery { filter: Filter::video(video("3")), ..nearest("combined", axis(0), 3) };
    assert_eq!(chunks(&index.search(query).await.unwrap()), [3, 10, 17]);
    assert_eq!(chunks(&text(index, "word1234").await), [1234]);
}

async fn invalid_points_change_nothing(index: &dyn Index) {
    let good = || point("aa", 0).vector("combined", axis(0)).says("kept");
    replace(index, vec![good()]).await;
    let mut bad: Vec<(&str, Point)> = vec![
        ("too few dimensions", good().raw("people", vec![1.0; DIMENSION - 1]).build()),
        ("too many dimensions", good().raw("people", vec![1.0; DIMENSION + 1]).build()),
        ("no dimension", good().raw("people", vec![]).build()),
        ("NaN in a vector", good().raw("people", vec![f32::NAN; DIMENSION]).build()),
        ("an infinite vector", good().raw("people", vec![f32::INFINITY; DIMENSION]).build()),
        ("NaN in the payload", good().float("start", f64::NAN).build()),
        ("an unknown payload field", good().keywords("colour", &["red"]).build()),
        ("a keyword where an integer belongs", good().keywords("people_count", &["1"]).build()),
        ("an integer where a float belongs", good().integer("start", 1).build()),
        ("a float where a keyword belongs", good().float("tags", 1.0).build()),
    ];
    for field in ["video_id", "analyzer_id"] {
        bad.push(("an id's field in the payload", good().keywords(field, &["zz"]).build()));
    }
    for (why, point) in bad {
        let scope = Filter::default();
        let others = vec![good().build(), self::point("bb", 1).build(), point];
        invalid(index.replace(Some(&scope), others).await, why);
        assert_eq!(index.count(&Filter::default()).await.unwrap(), 1, "{why} changed the index");
        assert_eq!(chunks(&text(index, "kept").await), [0], "{why} changed the index");
    }
    assert_eq!(index.values("video_id").await.unwrap(), [video("aa").as_str()]);
}

async fn invalid_filters_change_nothing(index: &dyn Index) {
    replace(index, vec![point("aa", 0).vector("combined", axis(0)).says("kept")]).await;
    let any = || Predicate::AnyKeyword(vec!["x".into()]);
    let filters = [
        ("an unknown field", filter("colour", any())),
        ("a vector's field", filter("combined", any())),
        ("keywords against an integer", filter("people_count", any())),
        ("keywords against a float", filter("start", any())),
        ("integers against a keyword", filter("objects", Predicate::AnyInteger(vec![1]))),
        ("integers against a float", filter("start", Predicate::AnyInteger(vec![1]))),
        ("a bound on a keyword", filter("objects", Predicate::AtLeast(1.0))),
        ("an upper bound on a keyword", filter("video_id", Predicate::AtMost(1.0))),
        ("a bound that is no number", filter("start", Predicate::AtLeast(f64::NAN))),
        ("one bad condition among good ones", Filter::video(video("aa")).and("colour", any())),
    ];
    for (why, filter) in filters {
        invalid(index.count(&filter).await, why);
        invalid(index.vectors(&filter, "combined").await, why);
        invalid(index.replace(Some(&filter), vec![point("cc", 1).build()]).await, why);
        let query = VectorQuery { filter: filter.clone(), ..nearest("combined", axis(0), 1) };
        invalid(index.search(query.clone()).await, why);
        invalid(index.search(VectorQuery { per_video: Some(1), ..query }).await, why);
        let query = TextQuery { filter, ..words("kept", 1) };
        invalid(index.text_search(query.clone()).await, why);
        invalid(index.text_search(TextQuery { per_video: Some(1), ..query }).await, why);
    }
    assert_eq!(
        index.values("video_id").await.unwrap(),
        [video("aa").as_str()],
        "all of that changed nothing"
    );
}

async fn invalid_queries_are_refused(index: &dyn Index) {
    replace(index, vec![point("aa", 0).vector("combined", axis(0)).says("kept")]).await;
    for (why, vector) in [
        ("a short query", vec![1.0; DIMENSION - 1]),
        ("a long query", vec![1.0; DIMENSION + 1]),
        ("an empty query", vec![]),
        ("NaN in a query", vec![f32::NAN; DIMENSION]),
    ] {
        let query = VectorQuery { vector, ..nearest("combined", axis(0), 1) };
        invalid(index.search(query).await, why);
    }
    let query = VectorQuery { threshold: Some(f32::NAN), ..nearest("combined", axis(0), 1) };
    invalid(index.search(query).await, "a threshold that is no number");
    for field in ["colour", "combined", "start", "chunk_id"] {
        invalid(index.values(field).await, "values of what is no keyword field");
    }
    assert_eq!(index.values("video_id").await.unwrap(), [video("aa").as_str()]);
}

async fn text_is_found_by_words_and_phrases(index: &dyn Index) {
    let texts = [
        "The red car stops in front of the bakery.",
        "A car is red; the front of the bakery is dark",
        "Nobody speaks. NOBODY moves.",
        "Zürich Hauptbahnhof, platform 12",
        "",
    ];
    let points = texts.iter().zip(0..).map(|(text, i)| point("aa", i).says(text));
    replace(index, points.collect()).await;
    let cases: &[(&str, &[u32])] = &[
        ("bakery", &[0, 1]),
        ("BAKERY", &[0, 1]),
        ("nobody", &[2]),
        ("Zürich", &[3]),
        ("12", &[3]),
        ("platform nobody", &[2, 3]),
        ("\"red car\"", &[0]),
        ("\"car is red\"", &[1]),
        ("\"Red Car\"", &[0]),
        ("\"car red\"", &[]),
        ("\"red car\" platform", &[0]),
        ("\"bakery\"", &[0, 1]),
        ("submarine", &[]),
        ("bak", &[]),
        ("", &[]),
        (" \t.,;!? ", &[]),
        ("\"\"", &[]),
        ("\"", &[]),
        ("\"nobody", &[2]),
        // Operators of query languages are treated as plain text.
        ("AND OR NOT", &[]),
        ("+bakery -car", &[0, 1]),
        ("field:nobody*~2", &[2]),
        ("(nobody [to", &[2]),
    ];
    for (query, expected) in cases {
        let mut found = chunks(&text(index, query).await);
        found.sort_unstable();
        assert_eq!(found, *expected, "text search for {query:?}");
    }
    // A hit ranks higher if it matches more words or rarer words.
    let hits = text(index, "red platform hauptbahnhof").await;
    assert_eq!(hits[0].id.chunk_id, ChunkId(3));
    assert!(hits.iter().all(|hit| hit.score > 0.0), "a match scores above zero");
    assert!(hits.windows(2).all(|pair| pair[0].score >= pair[1].score), "best first");
    let long = "word ".repeat(20_000);
    assert_eq!(text(index, &long).await, [], "a very long query is still a query");
}

async fn text_search_filters_and_limits(index: &dyn Index) {
    let points = (0..30).map(|i| {
        let video = if i % 2 == 0 { "aa" } else { "bb" };
        let words = "lighthouse ".repeat(1 + i as usize % 3);
        point(video, i).says(&words).float("start", f64::from(i))
    });
    replace(index, points.collect()).await;
    let find = |filter: Filter, limit| TextQuery { filter, ..words("lighthouse", limit) };
    let all = index.text_search(find(Filter::default(), 99)).await.unwrap();
    assert_eq!(all.len(), 30);
    let odd = index.text_search(find(Filter::video(video("bb")), 99)).await.unwrap();
    assert_eq!(odd.len(), 15);
    assert!(odd.iter().all(|hit| hit.id.video_id == video("bb")));
    let expected: Vec<_> =
        all.iter().filter(|hit| hit.id.video_id == video("bb")).cloned().collect();
    assert_eq!(odd, expected, "a filter changes neither order nor score");
    let late = Filter::video(video("aa")).and("start", Predicate::AtLeast(20.0));
    assert_eq!(index.text_search(find(late, 99)).await.unwrap().len(), 5);
    for limit in [0, 1, 7] {
        let few = index.text_search(find(Filter::default(), limit)).await.unwrap();
        assert_eq!(few, all[..limit], "limit {limit}");
    }
    let none = filter("objects", Predicate::AnyKeyword(vec![]));
    assert_eq!(index.text_search(find(none, 9)).await.unwrap(), []);
}

/// Checks that a search adds up the scores of words and phrases. The best match for the words and
/// the phrase together is not the best match for either alone.
async fn words_and_phrases_add_up(index: &dyn Index) {
    let others = (0..8).flat_map(|i| [point("aa", i).says("sea"), point("bb", i).says("red car")]);
    replace(index, others.collect()).await;
    replace(index, vec![point("cc", 0).says("red car sea"), point("aa", 9).says("sea car")]).await;
    let query = |limit| words("\"red car\" sea", limit);
    let grouped = |query| TextQuery { per_video: Some(1), ..query };
    let all = index.text_search(query(100)).await.unwrap();
    assert_eq!((all.len(), all[0].id.video_id), (9, video("cc")), "every hit has the phrase");
    for limit in 1..=3 {
        let found = index.text_search(query(limit)).await.unwrap();
        assert_eq!(found, all[..limit], "limit {limit}");
    }
    let by_video = index.text_search(grouped(query(1))).await.unwrap();
    assert_eq!(by_video, all[..1]);
    let nowhere = words("\"car red\" ship", 9);
    assert_eq!(index.text_search(nowhere.clone()).await.unwrap(), []);
    assert_eq!(index.text_search(grouped(nowhere)).await.unwrap(), []);
}

async fn vectors_come_back_in_order(index: &dyn Index) {
    for (video, chunk) in [("bb", 2), ("aa", 10), ("aa", 9), ("bb", 0)] {
        let one = point(video, chunk).vector("combined", lean(chunk as f32 * 0.1));
        replace(index, vec![if chunk == 9 { one.vector("people", axis(3)) } else { one }]).await;
    }
    let all = index.vectors(&Filter::default(), "combined").await.unwrap();
    let ids: Vec<_> = all.iter().map(|(id, _)| (id.video_id, id.chunk_id)).collect();
    assert_eq!(ids, points::owned(&[("aa", 9), ("aa", 10), ("bb", 0), ("bb", 2)]));
    for (id, vector) in &all {
        let stored = lean(id.chunk_id.0 as f32 * 0.1);
        assert_eq!(vector.len(), DIMENSION);
        assert!(vector.iter().zip(stored).all(|(a, b)| (a - b).abs() < 1e-6), "as it was stored");
    }
    let people = index.vectors(&Filter::video(video("aa")), "people").await.unwrap();
    assert_eq!(people.len(), 1, "points without the field are left out");
    assert_eq!(people[0].0.chunk_id, ChunkId(9));
    assert_eq!(index.vectors(&Filter::default(), "objects").await.unwrap(), []);

    let asked: BTreeSet<PointId> = all.iter().map(|(id, _)| id.clone()).skip(1).take(2).collect();
    for (field, towards) in [("combined", lean(0.3)), ("combined", axis(1)), ("people", axis(3))] {
        let searched = search(index, field, towards, 9).await;
        let of_asked = searched.into_iter().filter(|hit| asked.contains(&hit.id));
        let expected: BTreeMap<PointId, f32> = of_asked.map(|hit| (hit.id, hit.score)).collect();
        let cosines = index.cosines(field, &towards, &asked).await.unwrap();
        assert_eq!(
            cosines.len(),
            expected.len(),
            "{field}: no other points, and no others' fields"
        );
        for (id, cosine) in cosines {
            let expected = expected[&id];
            assert!(
                (cosine - expected).abs() < 1e-6,
                "{field} of {id:?}: {cosine}, not {expected}"
            );
        }
    }
    assert_eq!(index.cosines("combined", &axis(1), &BTreeSet::new()).await.unwrap(), []);
    assert_eq!(index.cosines("objects", &axis(1), &asked).await.unwrap(), []);
}

async fn concurrent_writes_are_all_kept(index: Arc<dyn Index>) {
    let writers: Vec<_> = (0..8)
        .map(|writer| {
            let index = index.clone();
            tokio::spawn(async move {
                let digit = writer.to_string();
                for chunk in 0..6 {
                    let new = point(&digit, chunk).vector("combined", axis(writer));
                    index.replace(None, vec![new.build()]).await.unwrap();
                    // Every later read must see the acknowledged write.
                    let seen = index.count(&Filter::video(video(&digit))).await.unwrap();
                    assert_eq!(seen, u64::from(chunk) + 1);
                }
            })
        })
        .collect();
    for writer in writers {
        writer.await.unwrap();
    }
    assert_eq!(index.count(&Filter::default()).await.unwrap(), 48);
}

async fn readers_see_whole_batches(index: Arc<dyn Index>) {
    const SIZE: u32 = 20;
    let generation = |number: i64| -> Vec<Point> {
        (0..SIZE)
            .map(|chunk| {
                point("aa", chunk)
                    .vector("combined", lean(number as f32 * 0.01))
                    .integer("people_count", number)
                    .says("steady")
                    .document(json!({ "generation": number }))
                    .build()
            })
            .collect()
    };
    let scope = Filter::video(video("aa"));
    index.replace(Some(&scope), generation(0)).await.unwrap();
    let done = Arc::new(AtomicBool::new(false));
    let readers: Vec<_> = (0..3)
        .map(|reader| {
            let (index, done) = (index.clone(), done.clone());
            tokio::spawn(async move {
                let mut newest = 0;
                while !done.load(Ordering::Relaxed) {
                    let hits = match reader {
                        0 => search(&*index, "combined", axis(0), 99).await,
                        1 => text(&*index, "steady").await,
                        _ => {
                            let filter = Filter::video(video("aa"));
                            let query = VectorQuery { filter, ..nearest("combined", axis(0), 99) };
                            index.search(query).await.unwrap()
                        }
                    };
                    assert_eq!(hits.len(), SIZE as usize, "a search saw half a batch");
                    let generation =
                        |hit: &Hit| hit.document.read::<Value>().unwrap()["generation"].as_i64();
                    let seen = generation(&hits[0]).unwrap();
                    assert!(seen >= newest, "a search went back in time");
                    for hit in &hits {
                        assert_eq!(generation(hit), Some(seen), "a search mixed two batches");
                        let cosine = (seen as f32 * 0.01).cos();
                        if reader != 1 {
                            assert!((hit.score - cosine).abs() < 1e-5, "a torn point");
                        }
                    }
                    newest = seen;
                    tokio::task::yield_now().await;
                }
            })
        })
        .collect();
    for number in 1..=25 {
        index.replace(Some(&scope), generation(number)).await.unwrap();
    }
    done.store(true, Ordering::Relaxed);
    for reader in readers {
        reader.await.unwrap();
    }
}
