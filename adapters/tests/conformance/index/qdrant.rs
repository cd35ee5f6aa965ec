//! Tests of the Qdrant index against the server whose gRPC URL is in `QDRANT_URL`.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use ports::ErrorKind;
use ports::conformance::index::{DIMENSION, check, pictures};
use ports::index::{
    Filter, Index, IndexStatistics, IndexUpkeep, PictureSpace, PointId, VectorIndex, VectorQuery,
};
use ports::ownership::StoreOwnership;
use qdrant_client::Qdrant;
use shotlog_adapters::index::qdrant::{QdrantIndex, QdrantOptions};

use super::batch;

/// Returns options for a collection that only this test uses. Returns `None` if there is no server.
fn options(name: &str) -> Option<QdrantOptions> {
    let Ok(url) = std::env::var("QDRANT_URL") else {
        println!("skipped: QDRANT_URL is not set, the gRPC address of a Qdrant server");
        return None;
    };
    Some(QdrantOptions {
        url,
        api_key: std::env::var("QDRANT_API_KEY").ok(),
        collection: format!("shotlog-test-{}-{name}", std::process::id()),
        dimension: DIMENSION,
        model: "test".into(),
        fields: ["combined", "people", "objects"].map(str::to_owned).to_vec(),
        pictures: Some(pictures()),
        exact: true,
        shards: 1,
        replicas: 1,
        timeout: Duration::from_secs(30),
        attempts: 2,
    })
}

#[tokio::test(flavor = "multi_thread")]
async fn qdrant() {
    let next = AtomicUsize::new(0);
    if options("").is_none() {
        return;
    }
    let fresh = || async {
        let name = format!("suite{}", next.fetch_add(1, Ordering::Relaxed));
        let options = options(&name).unwrap();
        // Another instance already has the collection open.
        QdrantIndex::open(options.clone()).await.unwrap();
        Arc::new(QdrantIndex::open(options).await.unwrap()) as Arc<dyn Index>
    };
    check(fresh).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn qdrant_collection_is_rebuilt_behind_the_alias() {
    let Some(options) = options("beside") else { return };
    let all = Filter::default();
    let old = QdrantIndex::open(options.clone()).await.unwrap();
    old.replace(None, batch(1)).await.unwrap();
    let before = old.count(&all).await.unwrap();
    assert_eq!(old.adopt("other").await.unwrap(), "other");
    let again = QdrantIndex::open(options.clone()).await.unwrap();
    assert_eq!(again.adopt("install").await.unwrap(), "other", "the first owner stays");

    // A crashed attempt leaves a collection behind. The next attempt starts with an empty
    // collection.
    QdrantIndex::begin_rebuild(options.clone())
        .await
        .unwrap()
        .replace(None, batch(3))
        .await
        .unwrap();
    let model = QdrantOptions { model: "another".into(), ..options.clone() };
    let new = QdrantIndex::begin_rebuild(model.clone()).await.unwrap();
    assert_eq!(new.count(&all).await.unwrap(), 0);
    let searched = new.previous().await.unwrap().expect("the one that is searched");
    assert_eq!(searched.count(&all).await.unwrap(), before);
    new.replace(None, [batch(1), batch(2)].concat()).await.unwrap();
    assert_eq!(old.count(&all).await.unwrap(), before, "searches see the old one");
    new.publish().await.unwrap();
    assert_eq!(old.count(&all).await.unwrap(), 2 * before, "searches see the new one");

    assert_eq!(old.adopt("install").await.unwrap(), "other", "it is that of the one before");

    let error = QdrantIndex::open(options.clone()).await.err().unwrap();
    assert_eq!(error.kind(), ErrorKind::Invalid);
    assert!(error.to_string().contains("shotlog reindex"), "{error}");
    let wider = QdrantOptions { dimension: DIMENSION + 1, ..model.clone() };
    let error = QdrantIndex::open(wider).await.err().unwrap();
    assert!(error.to_string().contains("dimensions"), "{error}");
    QdrantIndex::open(model).await.unwrap().probe().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn qdrant_collection_without_pictures_is_used_without_them() {
    let Some(options) = options("pictures") else { return };
    let none = QdrantOptions { pictures: None, ..options.clone() };
    let other = PictureSpace { model: "another".into(), ..pictures() };
    let other = QdrantOptions { pictures: Some(other), ..options.clone() };
    let wider = PictureSpace { dimension: 13, ..pictures() };
    let wider = QdrantOptions { pictures: Some(wider), ..options.clone() };
    let mut points = batch(1);
    for point in &mut points {
        point.vectors.insert("still".into(), [vec![0.0; 11], vec![1.0]].concat());
    }
    let ids: BTreeSet<PointId> = points.iter().map(|point| point.id.clone()).collect();
    let query = VectorQuery {
        field: "still".into(),
        vector: points[0].vectors["still"].clone(),
        filter: Filter::default(),
        limit: 3,
        threshold: None,
        per_video: None,
    };
    QdrantIndex::open(none).await.unwrap();
    for before in [None, Some(other), Some(wider)] {
        if let Some(before) = before {
            QdrantIndex::begin_rebuild(before).await.unwrap().publish().await.unwrap();
        }
        let index = QdrantIndex::open(options.clone()).await.unwrap();
        index.replace(None, points.clone()).await.unwrap();
        assert_eq!(index.count(&Filter::default()).await.unwrap(), points.len() as u64);
        let found = async |index: &QdrantIndex| {
            let hits = index.search(query.clone()).await.unwrap().len();
            let vectors = index.vectors(&Filter::default(), "still").await.unwrap().len();
            (hits, vectors, index.cosines("still", &query.vector, &ids).await.unwrap().len())
        };
        assert_eq!(found(&index).await, (0, 0, 0));
        let advice = index.advice().await.unwrap().expect("a field is missing");
        assert!(advice.contains("`still`") && advice.contains("shotlog reindex"), "{advice}");

        let fresh = QdrantIndex::begin_rebuild(options.clone()).await.unwrap();
        fresh.replace(None, points.clone()).await.unwrap();
        assert_eq!(found(&fresh.previous().await.unwrap().unwrap()).await, (0, 0, 0));
        fresh.publish().await.unwrap();
        assert_eq!(found(&index).await, (3, points.len(), points.len()), "without a restart");
        assert_eq!(index.advice().await.unwrap(), None);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn qdrant_builds_a_graph_only_if_used() {
    let Some(exact) = options("graph") else { return };
    let client = Qdrant::from_url(&exact.url).skip_compatibility_check().build().unwrap();
    let links = async || {
        let info = client.collection_info(&exact.collection).await.unwrap().result.unwrap();
        info.config.unwrap().hnsw_config.unwrap().m
    };
    QdrantIndex::open(exact.clone()).await.unwrap();
    assert_eq!(links().await, Some(0));
    let walked = QdrantOptions { exact: false, ..exact.clone() };
    QdrantIndex::open(walked).await.unwrap();
    assert_eq!(links().await, Some(16));
    QdrantIndex::open(exact.clone()).await.unwrap();
    assert_eq!(links().await, Some(16), "a graph that is there stays");
}

#[tokio::test(flavor = "multi_thread")]
async fn unreachable_qdrant_is_reported() {
    let unreachable = QdrantOptions {
        url: "http://127.0.0.1:1".into(),
        api_key: None,
        collection: "any".into(),
        dimension: DIMENSION,
        model: "test".into(),
        fields: vec!["combined".into()],
        pictures: None,
        exact: true,
        shards: 1,
        replicas: 1,
        timeout: Duration::from_secs(2),
        attempts: 2,
    };
    let error = QdrantIndex::open(unreachable.clone()).await.err().unwrap();
    assert_eq!(error.kind(), ErrorKind::Unavailable, "{error}");
    assert!(error.to_string().contains("127.0.0.1:1"), "{error}");
    let nonsense = QdrantOptions { url: "not an address".into(), ..unreachable };
    let error = QdrantIndex::open(nonsense).await.err().expect("no address");
    assert_eq!(error.kind(), ErrorKind::Invalid, "{error}");
    assert!(error.to_string().contains("http://127.0.0.1:6334"), "{error}");
}
