//! Tests that list the values of keyword fields and count the points with each value.

use super::points::{point, replace};
use crate::ErrorKind;
use crate::conformance::video;
use crate::index::{FacetQuery, Filter, Index, Predicate};

pub(super) async fn values_are_distinct_and_in_order(index: &dyn Index) {
    let points = vec![
        point("bb", 0).keywords("tags", &["night", "rain"]),
        point("aa", 0).keywords("tags", &["rain", "Rain"]),
        point("aa", 1).keywords("tags", &["snow"]),
    ];
    replace(index, points).await;
    assert_eq!(index.values("tags").await.unwrap(), ["Rain", "night", "rain", "snow"]);
    assert_eq!(
        index.values("video_id").await.unwrap(),
        ["aa", "bb"].map(|id| video(id).to_string())
    );
    assert_eq!(index.values("analyzer_id").await.unwrap(), ["default_video"]);
    assert!(index.values("people").await.unwrap().is_empty());
    index.replace(Some(&Filter::video(video("aa"))), vec![]).await.unwrap();
    assert_eq!(index.values("tags").await.unwrap(), ["night", "rain"], "removed values are gone");
    assert_eq!(index.values("video_id").await.unwrap(), [video("bb").as_str()]);
}

pub(super) async fn facet_counts_are_most_frequent_first(index: &dyn Index) {
    let counted = async |field: &str, filter: Filter, prefix: &str, limit: usize| {
        let (field, prefix) = (field.to_owned(), prefix.to_owned());
        let query = FacetQuery { field, filter, prefix, limit };
        let values = index.facet_counts(&query).await.unwrap();
        values.into_iter().map(|(value, points)| format!("{value} {points}")).collect::<Vec<_>>()
    };
    let every = Filter::default;
    assert!(counted("tags", every(), "", 9).await.is_empty());
    replace(index, vec![point("aa", 0).keywords("tags", &["night", "rain"])]).await;
    let points = vec![
        point("bb", 0).keywords("tags", &["rain", "Rainbow", "été"]),
        point("bb", 1).keywords("tags", &["snow", "rain"]),
        point("bb", 2),
    ];
    replace(index, points).await;
    let all = ["rain 3", "Rainbow 1", "night 1", "snow 1", "été 1"];
    assert_eq!(counted("tags", every(), "", 9).await, all);
    assert_eq!(counted("tags", every(), "", 2).await, all[..2]);
    assert!(counted("tags", every(), "", 0).await.is_empty());
    assert_eq!(counted("tags", every(), "RAIN", 9).await, all[..2]);
    assert_eq!(counted("tags", every(), "É", 9).await, ["été 1"]);
    let of_one = Filter::video(video("aa"));
    assert_eq!(counted("tags", of_one.clone(), "", 9).await, ["night 1", "rain 1"]);
    assert_eq!(counted("analyzer_id", every(), "", 9).await, ["default_video 4"]);
    let nothing = every().and("tags", Predicate::AnyKeyword(vec![]));
    assert!(counted("tags", nothing, "", 9).await.is_empty());
    index.replace(Some(&of_one), vec![]).await.unwrap();
    assert_eq!(
        counted("tags", every(), "r", 9).await,
        ["rain 2", "Rainbow 1"],
        "removed ones are gone"
    );
    let wrong =
        FacetQuery { field: "start".into(), filter: every(), prefix: String::new(), limit: 1 };
    assert_eq!(index.facet_counts(&wrong).await.unwrap_err().kind(), ErrorKind::Invalid);
}

pub(super) async fn points_are_listed_in_order(index: &dyn Index) {
    let every = Filter::default;
    assert!(index.list(&every(), 9).await.unwrap().is_empty());
    for (video, chunk, tag) in [("bb", 10, "a"), ("bb", 2, "a"), ("aa", 7, "b"), ("bb", 3, "b")] {
        replace(index, vec![point(video, chunk).keywords("tags", &[tag])]).await;
    }
    let listed = async |filter: Filter, limit: usize| {
        let points = index.list(&filter, limit).await.unwrap();
        points.into_iter().map(|listed| listed.id).collect::<Vec<_>>()
    };
    let ids = |ids: &[(&str, u32)]| {
        ids.iter().map(|(video, chunk)| point(video, *chunk).id).collect::<Vec<_>>()
    };
    let all = ids(&[("aa", 7), ("bb", 2), ("bb", 3), ("bb", 10)]);
    for limit in 0..=all.len() {
        assert_eq!(listed(every(), limit).await, all[..limit], "at most {limit}");
    }
    assert_eq!(listed(every(), usize::MAX).await, all);
    let of_one = Filter::video(video("bb"));
    let tagged = of_one.clone().and("tags", Predicate::AnyKeyword(vec!["a".into()]));
    assert_eq!(listed(tagged, 9).await, ids(&[("bb", 2), ("bb", 10)]));
    let onwards = of_one.clone().and("chunk_id", Predicate::AtLeast(3.0));
    assert_eq!(listed(onwards, 9).await, all[2..]);
    let document = point("aa", 7).build().document;
    assert_eq!(index.list(&every(), 1).await.unwrap()[0].document, document);
    index.replace(Some(&of_one), vec![]).await.unwrap();
    assert_eq!(listed(every(), 9).await, all[..1], "removed ones are gone");
}
