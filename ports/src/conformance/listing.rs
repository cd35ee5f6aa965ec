//! The suite for adapters of the `listing` port.

use std::collections::BTreeMap;
use std::future::Future;
use std::sync::Arc;

use serde_json::json;

use crate::VideoId;
use crate::conformance::video;
use crate::index::{Condition, FieldValue, Predicate};
use crate::listing::{ListQuery, Position, VideoEntry, VideoListing};

/// Checks every requirement of the port. Each call of `fresh` must return an empty listing.
pub async fn check<F, Fut>(fresh: F)
where
    F: Fn() -> Fut,
    Fut: Future<Output = Arc<dyn VideoListing>>,
{
    empty_listing_returns_nothing(&*fresh().await).await;
    entries_come_back_as_stored(&*fresh().await).await;
    entries_are_newest_first(&*fresh().await).await;
    pages_are_contiguous(&*fresh().await).await;
    conditions_are_conjunctions(&*fresh().await).await;
    filenames_match_by_substring(&*fresh().await).await;
    conditions_apply_to_fields(&*fresh().await).await;
    keyword_values_are_counted(&*fresh().await).await;
    entries_are_replaced_and_removed(&*fresh().await).await;
    ids_come_in_order(&*fresh().await).await;
    mark_is_durable(&*fresh().await).await;
    concurrent_writes_keep_all_entries(fresh().await).await;
}

/// Checks that acknowledged writes are still there after the listing is reopened.
pub async fn check_reopened<F, Fut>(open: F)
where
    F: Fn() -> Fut,
    Fut: Future<Output = Arc<dyn VideoListing>>,
{
    open().await.put(vec![entry("aa", 1), entry("bb", 2), entry("cc", 3)]).await.unwrap();
    open().await.remove(&[video("bb")]).await.unwrap();
    open().await.set_mark("in step").await.unwrap();
    let news = [("collection", FieldValue::Keywords(vec!["news".into()]))];
    let pairs = VideoEntry { fields: fields(&news), ..entry("cc", 3) };
    open().await.put(vec![pairs.clone()]).await.unwrap();
    let again = open().await;
    assert_eq!(again.list(&page(9)).await.unwrap().entries, [pairs, entry("aa", 1)]);
    let predicate = Predicate::AnyKeyword(vec!["news".into()]);
    let condition = Condition { field: "collection".into(), predicate };
    assert_eq!(again.ids(&[condition], None, usize::MAX).await.unwrap(), owned(&["cc"]));
    assert_eq!(again.mark().await.unwrap().as_deref(), Some("in step"));
}

async fn empty_listing_returns_nothing(listing: &dyn VideoListing) {
    listing.probe().await.expect("a working listing passes the probe");
    let none = listing.list(&page(10)).await.unwrap();
    assert_eq!((none.entries, none.total), (vec![], 0));
    assert_eq!(listing.get(&[video("aa")]).await.unwrap(), []);
    assert_eq!(listing.get(&[]).await.unwrap(), []);
    assert_eq!(listing.ids(&[], None, 10).await.unwrap(), []);
    assert_eq!(listing.mark().await.unwrap(), None);
    listing.remove(&[video("aa")]).await.unwrap();
    listing.remove(&[]).await.unwrap();
    listing.put(vec![]).await.unwrap();
    assert_eq!(listing.list(&page(10)).await.unwrap().total, 0);
}

async fn entries_come_back_as_stored(listing: &dyn VideoListing) {
    let stored = VideoEntry {
        video_id: video("00000000000000ab"),
        created_at: -1_234_567_890_123,
        filename: "Été 🎬 \"final\" cut.MP4".into(),
        analyzers: vec!["transcript".into(), "ocr".into()],
        fields: fields(&[
            ("collection", FieldValue::Keywords(vec!["été".into()])),
            ("metadata.take", FieldValue::Float(-2.5)),
        ]),
        document: json!({
            "z": 1, "a": [1.5, -0.25, null, true], "big": u64::MAX, "small": i64::MIN,
            "nested": {"text": "été 🎬 \"quoted\"\n"}, "long": "x".repeat(100_000),
        })
        .into(),
    };
    let bare = VideoEntry { filename: String::new(), analyzers: vec![], ..entry("bb", i64::MAX) };
    listing.put(vec![stored.clone(), bare.clone()]).await.unwrap();
    let listed = listing.list(&page(9)).await.unwrap();
    assert_eq!(listed.entries, [bare.clone(), stored.clone()]);
    let asked = ["bb", "ff", "00000000000000ab", "bb"].map(video);
    let got = listing.get(&asked).await.unwrap();
    assert_eq!(got, [bare.clone(), stored, bare], "in the order of the ids");
}

async fn entries_are_newest_first(listing: &dyn VideoListing) {
    let times = [("dd", 5), ("aa", 5), ("cc", -7), ("bb", 9), ("ee", 0), ("ab", 5)];
    for (video, created_at) in times {
        listing.put(vec![entry(video, created_at)]).await.unwrap();
    }
    let order = ["bb", "aa", "ab", "dd", "ee", "cc"];
    assert_eq!(listed(listing, &page(99)).await, (owned(&order), 6));
    assert_eq!(listed(listing, &page(usize::MAX)).await.0, owned(&order), "no limit at all");
    for limit in 0..order.len() {
        let (found, total) = listed(listing, &page(limit)).await;
        assert_eq!((&found[..], total), (&owned(&order)[..limit], 6), "limit {limit}");
    }
}

async fn pages_are_contiguous(listing: &dyn VideoListing) {
    // Many entries have the same time of creation, so that some pages end between entries of the
    // same time.
    let all: Vec<_> = (0..300).map(|i| entry(&format!("a{i:04}"), i64::from(i / 70))).collect();
    listing.put(all).await.unwrap();
    let (order, total) = listed(listing, &page(1000)).await;
    assert_eq!((order.len(), total), (300, 300));
    for limit in [1, 7, 128, 299, 300] {
        let (mut by_place, mut after) = (Vec::new(), None);
        for start in (0..300).step_by(limit) {
            let query = ListQuery { offset: start, ..page(limit) };
            let end = 300.min(start + limit);
            assert_eq!(listed(listing, &query).await, (order[start..end].to_vec(), 300));
            let query = ListQuery { after: after.take(), ..page(limit) };
            let found = listing.list(&query).await.unwrap();
            assert_eq!(found.total, 300, "what is skipped counts");
            after = found.entries.last().map(place);
            by_place.extend(found.entries.into_iter().map(|entry| entry.video_id));
        }
        assert_eq!(by_place, order, "pages of {limit}, one after the other");
        let beyond = ListQuery { after, ..page(limit) };
        assert_eq!(listed(listing, &beyond).await, (vec![], 300), "after the last one");
    }
    let beyond = ListQuery { offset: 300, ..page(5) };
    assert_eq!(listed(listing, &beyond).await, (vec![], 300));
    let far = ListQuery { offset: usize::MAX, ..page(5) };
    assert_eq!(listed(listing, &far).await, (vec![], 300));
    // There is no entry at this position. The offset still counts from it.
    let gap = Position { created_at: 2, video_id: video("a0150f") };
    let query = ListQuery { after: Some(gap), offset: 3, ..page(2) };
    let start = order.iter().position(|id| *id == video("a0151")).unwrap() + 3;
    assert_eq!(listed(listing, &query).await.0, order[start..start + 2]);
}

async fn conditions_are_conjunctions(listing: &dyn VideoListing) {
    let entry = |video, created_at, filename: &str, analyzers: &[&str]| VideoEntry {
        filename: filename.into(),
        analyzers: analyzers.iter().map(|&a| a.into()).collect(),
        ..entry(video, created_at)
    };
    let entries = vec![
        entry("aa", 10, "news.mp4", &["ocr", "people"]),
        entry("bb", 20, "news.mp4", &["ocr"]),
        entry("cc", 30, "goal.mp4", &["people", "ocr_de"]),
        entry("dd", 40, "goal.mp4", &[]),
    ];
    listing.put(entries).await.unwrap();
    let all = || page(9);
    let named = |name: &str| Some(name.to_owned());
    let cases: Vec<(ListQuery, &[&str])> = vec![
        (all(), &["dd", "cc", "bb", "aa"]),
        (ListQuery { analyzer: named("ocr"), ..all() }, &["bb", "aa"]),
        (ListQuery { analyzer: named("OCR"), ..all() }, &[]),
        (ListQuery { analyzer: named(""), ..all() }, &[]),
        (ListQuery { from: Some(20), ..all() }, &["dd", "cc", "bb"]),
        (ListQuery { from: Some(21), ..all() }, &["dd", "cc"]),
        (ListQuery { to: Some(20), ..all() }, &["bb", "aa"]),
        (ListQuery { to: Some(19), ..all() }, &["aa"]),
        (ListQuery { from: Some(20), to: Some(30), ..all() }, &["cc", "bb"]),
        (ListQuery { from: Some(30), to: Some(20), ..all() }, &[]),
        (
            ListQuery { from: Some(i64::MIN), to: Some(i64::MAX), ..all() },
            &["dd", "cc", "bb", "aa"],
        ),
        (ListQuery { from: Some(i64::MAX), ..all() }, &[]),
        (ListQuery { to: Some(i64::MIN), ..all() }, &[]),
        (ListQuery { filename: named("news"), analyzer: named("people"), ..all() }, &["aa"]),
        (ListQuery { filename: named("goal"), analyzer: named("ocr"), ..all() }, &[]),
        (
            ListQuery { filename: named("news"), analyzer: named("ocr"), from: Some(11), ..all() },
            &["bb"],
        ),
    ];
    for (query, expected) in cases {
        let (found, total) = listed(listing, &query).await;
        assert_eq!((found, total), (owned(expected), expected.len() as u64), "{query:?}");
        let second = ListQuery { offset: 1, limit: 1, ..query };
        let (found, total) = listed(listing, &second).await;
        let remaining = expected.get(1..2).unwrap_or_default();
        assert_eq!((found, total), (owned(remaining), expected.len() as u64), "{second:?}");
    }
    let after = Some(Position { created_at: 20, video_id: video("bb") });
    let query = ListQuery { analyzer: named("ocr"), after, ..all() };
    assert_eq!(listed(listing, &query).await, (owned(&["aa"]), 2));
}

async fn conditions_apply_to_fields(listing: &dyn VideoListing) {
    let words =
        |words: &[&str]| FieldValue::Keywords(words.iter().map(|&word| word.into()).collect());
    let entry = |video, pairs: &[(&str, FieldValue)]| VideoEntry {
        fields: fields(pairs),
        ..entry(video, 1)
    };
    let entries = vec![
        entry("aa", &[("collection", words(&["news"])), ("metadata.take", FieldValue::Float(1.5))]),
        entry(
            "bb",
            &[("collection", words(&["sport"])), ("metadata.take", FieldValue::Float(2.5))],
        ),
        entry("cc", &[("metadata.tags", words(&["x", "y z"])), ("metadata.ok", words(&["true"]))]),
        entry("dd", &[]),
    ];
    listing.put(entries).await.unwrap();
    let is = |field: &str, predicate| Condition { field: field.into(), predicate };
    let any = |field: &str, of: &[&str]| {
        is(field, Predicate::AnyKeyword(of.iter().map(|&word| word.into()).collect()))
    };
    let cases: Vec<(Vec<Condition>, &[&str])> = vec![
        (vec![], &["aa", "bb", "cc", "dd"]),
        (vec![any("collection", &["news"])], &["aa"]),
        (vec![any("collection", &["news", "sport"])], &["aa", "bb"]),
        (vec![any("collection", &["New"])], &[]),
        (vec![any("collection", &[])], &[]),
        (vec![any("metadata.tags", &["y z"])], &["cc"]),
        (vec![any("metadata.tags", &["y"])], &[]),
        (vec![any("metadata.nothing", &["y"])], &[]),
        (vec![is("metadata.take", Predicate::AtLeast(1.5))], &["aa", "bb"]),
        (vec![is("metadata.take", Predicate::AtMost(1.5))], &["aa"]),
        (vec![is("metadata.take", Predicate::AtLeast(2.0)), any("collection", &["news"])], &[]),
    ];
    for (conditions, expected) in cases {
        assert_eq!(
            listing.ids(&conditions, None, usize::MAX).await.unwrap(),
            owned(expected),
            "{conditions:?}"
        );
        let query = ListQuery { conditions, ..page(9) };
        let found = listed(listing, &query).await;
        assert_eq!(found, (owned(expected), expected.len() as u64), "{query:?}");
    }
    listing.put(vec![entry("aa", &[("collection", words(&["sport"]))])]).await.unwrap();
    let sport = [any("collection", &["sport"])];
    assert_eq!(listing.ids(&sport, None, usize::MAX).await.unwrap(), owned(&["aa", "bb"]));
    listing.remove(&[video("bb")]).await.unwrap();
    assert_eq!(listing.ids(&sport, None, usize::MAX).await.unwrap(), owned(&["aa"]));
    assert_eq!(listing.ids(&[any("collection", &["news"])], None, usize::MAX).await.unwrap(), []);
}

async fn keyword_values_are_counted(listing: &dyn VideoListing) {
    let owned = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect();
    let words = |words: &[&str]| FieldValue::Keywords(owned(words));
    let pairs = |video, at, pairs: &[(&str, FieldValue)]| VideoEntry {
        fields: fields(pairs),
        ..entry(video, at)
    };
    assert_eq!(listing.keyword_counts("collection", &[], None, 9).await.unwrap(), []);
    assert_eq!(listing.created_range(&[]).await.unwrap(), None);
    let entries = vec![
        pairs(
            "aa",
            5,
            &[("collection", words(&["news"])), ("metadata.take", FieldValue::Float(1.0))],
        ),
        pairs("bb", 7, &[("collection", words(&["news"])), ("tags", words(&["x", "y"]))]),
        pairs("cc", 2, &[("collection", words(&["a b"])), ("tags", words(&["y"]))]),
        pairs("dd", 9, &[]),
    ];
    listing.put(entries).await.unwrap();
    let news = [Condition {
        field: "collection".into(),
        predicate: Predicate::AnyKeyword(owned(&["news"])),
    }];
    let count = |words: &[(&str, u64)]| -> Vec<(String, u64)> {
        words.iter().map(|(word, count)| ((*word).to_owned(), *count)).collect()
    };
    for (field, conditions, after, limit, expected) in [
        ("collection", &[][..], None, 9, &[("a b", 1), ("news", 2)][..]),
        ("collection", &[], None, 1, &[("a b", 1)]),
        ("collection", &[], Some("a b"), 9, &[("news", 2)]),
        ("collection", &[], Some("news"), 9, &[]),
        ("collection", &news, None, 9, &[("news", 2)]),
        ("tags", &[], None, 9, &[("x", 1), ("y", 2)]),
        ("tags", &news, None, 9, &[("x", 1), ("y", 1)]),
        ("nothing", &[], None, 9, &[]),
    ] {
        let found = listing.keyword_counts(field, conditions, after, limit).await.unwrap();
        assert_eq!(found, count(expected), "{field} {conditions:?} {after:?}");
    }
    assert_eq!(listing.created_range(&[]).await.unwrap(), Some((2, 9)));
    assert_eq!(listing.created_range(&news).await.unwrap(), Some((5, 7)));
    listing.remove(&[video("aa")]).await.unwrap();
    assert_eq!(listing.created_range(&news).await.unwrap(), Some((7, 7)));
}

fn fields(pairs: &[(&str, FieldValue)]) -> BTreeMap<String, FieldValue> {
    pairs.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect()
}

async fn filenames_match_by_substring(listing: &dyn VideoListing) {
    let names = [
        ("aa", "Holiday_2024.MP4"),
        ("bb", "holiday-2023.mov"),
        ("cc", "a.b.mp4"),
        ("dd", "ÉTÉ.mp4"),
        ("ee", "two words.mp4"),
        ("ff", "abab.mkv"),
    ];
    for (video, name) in names {
        listing.put(vec![VideoEntry { filename: name.into(), ..entry(video, 1) }]).await.unwrap();
    }
    let cases: &[(&str, &[&str])] = &[
        ("holiday", &["aa", "bb"]),
        ("HOLIDAY", &["aa", "bb"]),
        ("liday_20", &["aa"]),
        ("day", &["aa", "bb"]),
        ("2024", &["aa"]),
        ("yadiloh", &[]),
        ("hday", &[]),
        (".mp4", &["aa", "cc", "dd", "ee"]),
        ("P4", &["aa", "cc", "dd", "ee"]),
        ("a.b", &["cc"]),
        ("a?b", &[]),
        ("a*b", &[]),
        ("été", &["dd"]),
        ("o w", &["ee"]),
        (" ", &["ee"]),
        ("baba", &[]),
        ("bab", &["ff"]),
        ("holiday_2024.mp4x", &[]),
        ("z", &[]),
        ("", &["aa", "bb", "cc", "dd", "ee", "ff"]),
    ];
    for (part, expected) in cases {
        let query = ListQuery { filename: Some((*part).into()), ..page(9) };
        let found = listed(listing, &query).await;
        assert_eq!(found, (owned(expected), expected.len() as u64), "part {part:?}");
    }
}

async fn entries_are_replaced_and_removed(listing: &dyn VideoListing) {
    listing.put(vec![entry("aa", 1), entry("bb", 2), entry("cc", 3)]).await.unwrap();
    let renamed = VideoEntry {
        filename: "other.mov".into(),
        analyzers: vec!["people".into()],
        document: json!({ "again": true }).into(),
        ..entry("aa", 9)
    };
    // If several entries have the same video id, the last one wins.
    let before = VideoEntry { filename: "never".into(), ..renamed.clone() };
    listing.put(vec![before, renamed.clone()]).await.unwrap();
    assert_eq!(listing.list(&page(1)).await.unwrap().entries, [renamed]);
    assert_eq!(listed(listing, &page(9)).await, (owned(&["aa", "cc", "bb"]), 3));
    let old = ListQuery { filename: Some("aa.mp4".into()), ..page(9) };
    assert_eq!(listed(listing, &old).await.1, 0, "its old name is not found any more");
    let old = ListQuery { to: Some(1), ..page(9) };
    assert_eq!(listed(listing, &old).await.1, 0, "nor is its old time");

    listing.remove(&[video("cc"), video("ff"), video("aa")]).await.unwrap();
    assert_eq!(listed(listing, &page(9)).await, (owned(&["bb"]), 1));
    assert_eq!(listing.get(&[video("aa"), video("bb")]).await.unwrap(), [entry("bb", 2)]);
    listing.put(vec![entry("aa", 0)]).await.unwrap();
    assert_eq!(listed(listing, &page(9)).await, (owned(&["bb", "aa"]), 2));
}

async fn ids_come_in_order(listing: &dyn VideoListing) {
    let ids = (0..700).map(|i| video(&format!("{:016x}", i * 7919 % 700)));
    let ids: Vec<VideoId> = ids.collect();
    listing.put(ids.iter().map(|id| entry(id.as_str(), 1)).collect()).await.unwrap();
    let mut sorted = ids;
    sorted.sort();
    let (mut found, mut after) = (Vec::new(), None::<VideoId>);
    loop {
        let page = listing.ids(&[], after, 128).await.unwrap();
        assert!(page.len() <= 128);
        let Some(last) = page.last() else { break };
        after = Some(*last);
        found.extend(page);
    }
    assert_eq!(found, sorted);
    assert_eq!(listing.ids(&[], None, 0).await.unwrap(), []);
    assert_eq!(listing.ids(&[], None, usize::MAX).await.unwrap(), sorted);
    assert_eq!(listing.ids(&[], Some(video("ff")), 9).await.unwrap(), []);
}

async fn mark_is_durable(listing: &dyn VideoListing) {
    for mark in ["first", "", "été 🎬 2026"] {
        listing.set_mark(mark).await.unwrap();
        assert_eq!(listing.mark().await.unwrap().as_deref(), Some(mark));
    }
    listing.put(vec![entry("aa", 1)]).await.unwrap();
    listing.remove(&[video("aa")]).await.unwrap();
    assert_eq!(listing.mark().await.unwrap().as_deref(), Some("été 🎬 2026"));
    assert_eq!(listed(listing, &page(9)).await, (vec![], 0), "a mark is no entry");
    assert_eq!(listing.ids(&[], None, 9).await.unwrap(), []);
}

async fn concurrent_writes_keep_all_entries(listing: Arc<dyn VideoListing>) {
    let writers: Vec<_> = (0..8)
        .map(|writer| {
            let listing = listing.clone();
            tokio::spawn(async move {
                for i in 0..12 {
                    let digits = format!("{writer}a{i:02}");
                    listing.put(vec![entry(&digits, i)]).await.unwrap();
                    // Every later read must see the acknowledged write.
                    let ids = [video(&digits)];
                    assert_eq!(listing.get(&ids).await.unwrap().len(), 1);
                    if i % 3 == 0 {
                        listing.remove(&ids).await.unwrap();
                        assert_eq!(listing.get(&ids).await.unwrap(), []);
                    }
                }
            })
        })
        .collect();
    for writer in writers {
        writer.await.unwrap();
    }
    assert_eq!(listed(&*listing, &page(99)).await.1, 64);
    assert_eq!(listing.ids(&[], None, 99).await.unwrap().len(), 64);
}

fn entry(video: &str, created_at: i64) -> VideoEntry {
    VideoEntry {
        video_id: self::video(video),
        created_at,
        filename: format!("{video}.mp4"),
        analyzers: vec!["default_video".into()],
        fields: BTreeMap::new(),
        document: json!({ "video": video, "created_at": created_at }).into(),
    }
}

fn place(entry: &VideoEntry) -> Position {
    Position { created_at: entry.created_at, video_id: entry.video_id }
}

fn page(limit: usize) -> ListQuery {
    ListQuery { limit, ..ListQuery::default() }
}

fn owned(ids: &[&str]) -> Vec<VideoId> {
    ids.iter().map(|id| video(id)).collect()
}

async fn listed(listing: &dyn VideoListing, query: &ListQuery) -> (Vec<VideoId>, u64) {
    let listed = listing.list(query).await.unwrap();
    (listed.entries.into_iter().map(|entry| entry.video_id).collect(), listed.total)
}
