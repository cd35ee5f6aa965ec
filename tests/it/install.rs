//! A repair erases nothing that another install may own.

use std::sync::Arc;

use adapters::index::memory::MemoryIndex;
use adapters::jobs::MemoryJobs;
use domain::maintenance::repair::Repair;
use ports::index::{Filter, IndexStatistics};

use crate::support::{FakeEmbedder, TestApp, clip, mentions};

/// Two services over one index, each with its own records.
async fn two_installs() -> [TestApp; 2] {
    let index = Arc::new(MemoryIndex::new(FakeEmbedder::DIMENSION));
    let app = || {
        TestApp::with(|setup| {
            setup.index = index.clone();
            setup.settings.index.max_orphans = 2;
        })
    };
    [app().await, app().await]
}

#[tokio::test]
async fn stores_of_another_install_are_refused() {
    let index = Arc::new(MemoryIndex::new(FakeEmbedder::DIMENSION));
    let first = TestApp::with(|setup| setup.index = index.clone()).await;
    for _ in 0..2 {
        first.service.maintenance.startup.adopt_stores().await.unwrap();
    }
    let shared = first.records.clone();
    let replica = TestApp::with(|setup| {
        setup.index = index.clone();
        setup.records = shared;
    });
    replica
        .await
        .service
        .maintenance
        .startup
        .adopt_stores()
        .await
        .expect("they share the records too");
    let other = TestApp::with(|setup| setup.index = index.clone()).await;
    let error = other.service.maintenance.startup.adopt_stores().await.unwrap_err().to_string();
    mentions(&error, &["other records", "records.kind = \"bucket\"", "index.collection"]);

    let jobs = Arc::new(MemoryJobs::shared());
    let app = || TestApp::with(|setup| setup.jobs = jobs.clone());
    app().await.service.maintenance.startup.adopt_stores().await.unwrap();
    let error =
        app().await.service.maintenance.startup.adopt_stores().await.unwrap_err().to_string();
    mentions(&error, &["other records", "records.kind = \"bucket\"", "jobs.name"]);
}

#[tokio::test]
async fn many_orphans_are_kept_unless_removal_is_requested() {
    let [here, there] = two_installs().await;
    here.video().await;
    for seconds in [31.0, 32.0, 33.0] {
        there.video_of(&clip(seconds)).await;
    }
    let points = here.index.count(&Filter::default()).await.unwrap();
    let report = here.service.maintenance.reindexer.reindex(Repair::default()).await.unwrap();
    assert_eq!((report.orphans, report.orphans_kept), (0, 3));
    assert_eq!(here.index.count(&Filter::default()).await.unwrap(), points);
    assert_eq!(
        here.service.maintenance.reindexer.excess_orphans(&*here.index).await.unwrap(),
        Some(3)
    );
    let removal = Repair { remove_orphans: true, ..Repair::default() };
    let report = here.service.maintenance.reindexer.reindex(removal).await.unwrap();
    assert_eq!((report.orphans, report.orphans_kept), (3, 0));
    assert_eq!(here.index.values("video_id").await.unwrap().len(), 1);
}

#[tokio::test]
async fn a_few_orphans_are_removed() {
    let [here, there] = two_installs().await;
    here.video().await;
    there.video_of(&clip(31.0)).await;
    assert_eq!(
        here.service.maintenance.reindexer.excess_orphans(&*here.index).await.unwrap(),
        None
    );
    let report = here.service.maintenance.reindexer.reindex(Repair::default()).await.unwrap();
    assert_eq!((report.orphans, report.orphans_kept), (1, 0));
}

#[tokio::test]
async fn empty_records_remove_no_orphans() {
    let [here, there] = two_installs().await;
    there.video().await;
    let report = here.service.maintenance.reindexer.reindex(Repair::default()).await.unwrap();
    assert_eq!((report.orphans, report.orphans_kept), (0, 1));
}

#[tokio::test]
async fn many_leftover_documents_are_kept_unless_removal_is_requested() {
    use ports::records::RecordStore;
    let app = TestApp::with(|setup| setup.settings.index.max_orphans = 2).await;
    for seconds in [31.0, 32.0, 33.0] {
        let id = app.video_of(&clip(seconds)).await;
        app.records.delete(&format!("videos/{id}/video.json")).await.unwrap();
    }
    let documents = app.records.list("videos/").await.unwrap();
    let report = app.service.maintenance.reindexer.reindex(Repair::default()).await.unwrap();
    assert_eq!(report.orphans_kept, 3);
    assert_eq!(app.records.list("videos/").await.unwrap(), documents);
    assert_eq!(app.stored(), 3);
    let removal = Repair { remove_orphans: true, ..Repair::default() };
    app.service.maintenance.reindexer.reindex(removal).await.unwrap();
    assert_eq!(app.records.list("videos/").await.unwrap(), [""; 0]);
    assert_eq!(app.stored(), 0);
}
