//! Every video is looked at once in a while, wherever the service was started and ended meanwhile.

use std::ops::ControlFlow;
use std::time::Duration;

use ports::index::{Filter, VectorIndex};
use ports::listing::VideoListing;
use ports::records::RecordStore;
use shotlog::domain::search::reindex::ReindexReport;

use crate::support::{TestApp, clip};

const DAY: Duration = Duration::from_secs(86_400);

/// Some videos, in order of their ids.
async fn videos(app: &TestApp) -> Vec<String> {
    let mut ids = Vec::new();
    for seconds in [30.0, 31.0, 32.0] {
        ids.push(app.video_of(&clip(seconds)).await);
    }
    ids.sort();
    ids
}

/// The points of a video are lost.
async fn lose(app: &TestApp, id: &str) {
    let of_video = Filter::video(id.parse().unwrap());
    app.index.replace(Some(&of_video), Vec::new()).await.unwrap();
}

/// Looks on to the end, if that is due.
async fn looked(app: &TestApp, every: Duration) -> Option<ReindexReport> {
    let mut look = app.service.search.due_scrub(every).await.unwrap()?;
    loop {
        match app.service.search.continue_scrub(look, DAY).await.unwrap() {
            ControlFlow::Break(done) => return Some(done),
            ControlFlow::Continue(more) => look = more,
        }
    }
}

#[tokio::test]
async fn what_was_looked_at_is_not_looked_at_again_before_it_is_due() {
    let app = TestApp::new().await;
    let ids = videos(&app).await;
    lose(&app, &ids[1]).await;
    let done = looked(&app, DAY).await.expect("none was made");
    assert_eq!((done.videos, done.rebuilt), (3, 1));
    lose(&app, &ids[1]).await;
    assert_eq!(looked(&app, DAY).await, None);
    assert_eq!(looked(&app, Duration::ZERO).await.expect("always due").rebuilt, 1);
}

#[tokio::test]
async fn one_that_was_ended_goes_on_where_it_was() {
    let app = TestApp::new().await;
    let ids = videos(&app).await;
    let look = app.service.search.due_scrub(DAY).await.unwrap().expect("none was made");
    let begun = app.service.search.continue_scrub(look, Duration::ZERO).await.unwrap();
    assert!(begun.is_continue(), "the first of three");
    drop(begun);
    lose(&app, &ids[0]).await;
    lose(&app, &ids[2]).await;
    let done = looked(&app, DAY).await.expect("it has not come to its end");
    assert_eq!((done.videos, done.rebuilt), (2, 1));
    assert_eq!(looked(&app, DAY).await, None);
    assert_eq!(looked(&app, Duration::ZERO).await.expect("always due").rebuilt, 1);
}

#[tokio::test]
async fn what_has_no_record_is_removed_however_often_a_look_is_ended() {
    let app = TestApp::new().await;
    let ids = videos(&app).await;
    lose(&app, &ids[0]).await;
    app.records.delete(&format!("videos/{}/video.json", ids[0])).await.unwrap();
    let left = async || app.records.list(&format!("videos/{}/", ids[0])).await.unwrap().len();
    let search = &app.service.search;
    let begun = async || {
        let look = search.due_scrub(DAY).await.unwrap().expect("not at its end");
        search.continue_scrub(look, Duration::ZERO).await.unwrap()
    };
    // Ended by a stop after the first, which has no record.
    assert!(begun().await.is_continue() && left().await > 0);
    let mut look = begun().await;
    while let ControlFlow::Continue(more) = look {
        look = search.continue_scrub(more, Duration::ZERO).await.unwrap();
    }
    assert_eq!(left().await, 0);
    assert_eq!(search.due_scrub(DAY).await.unwrap().map(|_| ()), None);
}

#[tokio::test]
async fn a_listing_that_was_lost_makes_it_due() {
    let app = TestApp::new().await;
    videos(&app).await;
    looked(&app, DAY).await.expect("none was made");
    app.listing.set_mark("of another form").await.unwrap();
    app.service.catalog.list_all().await.unwrap();
    assert!(looked(&app, DAY).await.is_some());
}
