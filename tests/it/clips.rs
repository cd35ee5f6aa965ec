//! Clips, pictures and peaks whose client has gone.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use poem::http::Method;
use ports::decoder::{
    CancellationToken, Clip, ClipRequest, Frame, MediaInfo, ScanOptions, ScanSink, ScanSummary,
    Still, VideoDecoder,
};
use ports::{ErrorKind, PortError, Result};
use tokio::sync::Semaphore;

use crate::support::{SceneDecoder, TestApp, clip};

/// Cuts until nobody waits for the clip and until it is let go; once it is slow, decodes until it is let
/// go.
struct SlowDecoder {
    slow: AtomicBool,
    begun: Semaphore,
    released: Semaphore,
    running: AtomicUsize,
    most: AtomicUsize,
}

impl SlowDecoder {
    fn new(released: usize) -> Arc<Self> {
        Arc::new(Self {
            slow: AtomicBool::new(false),
            begun: Semaphore::new(0),
            released: Semaphore::new(released),
            running: AtomicUsize::new(0),
            most: AtomicUsize::new(0),
        })
    }

    fn wait(&self, done: impl Fn() -> bool) {
        let running = self.running.fetch_add(1, Ordering::SeqCst) + 1;
        self.most.fetch_max(running, Ordering::SeqCst);
        self.begun.add_permits(1);
        while !done() || self.released.available_permits() == 0 {
            std::thread::sleep(Duration::from_millis(1));
        }
        self.running.fetch_sub(1, Ordering::SeqCst);
    }

    fn wait_if_slow(&self) {
        if self.slow.load(Ordering::SeqCst) {
            self.wait(|| true);
        }
    }

    /// Sends a request whose client leaves as soon as its work has begun.
    async fn abandoned(&self, app: &TestApp, uri: &str) {
        tokio::select! {
            reply = app.get(uri) => panic!("nothing was cut: {}", reply.text()),
            begun = self.begun.acquire() => begun.unwrap().forget(),
        }
    }
}

impl VideoDecoder for SlowDecoder {
    fn probe(&self, file: &Path) -> Result<MediaInfo> {
        SceneDecoder.probe(file)
    }

    fn scan(
        &self,
        file: &Path,
        options: &ScanOptions,
        sink: &mut dyn ScanSink,
    ) -> Result<ScanSummary> {
        self.wait_if_slow();
        SceneDecoder.scan(file, options, sink)
    }

    fn stills(&self, file: &Path, stills: &[Still]) -> Result<Vec<Option<Frame>>> {
        self.wait_if_slow();
        SceneDecoder.stills(file, stills)
    }

    fn clip(
        &self,
        _: &Path,
        _: &ClipRequest,
        _: std::fs::File,
        cancel: &CancellationToken,
    ) -> Result<Clip> {
        self.wait(|| cancel.is_cancelled());
        Err(PortError::new(ErrorKind::Unavailable, "nobody waits for the clip"))
    }
}

async fn app(decoder: &Arc<SlowDecoder>) -> (TestApp, String) {
    let app = TestApp::with(|setup| setup.decoder = decoder.clone()).await;
    let video = app.video().await;
    (app, format!("/videos/{video}/clip"))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_clip_that_nobody_waits_for_is_not_cut_to_its_end() {
    let decoder = SlowDecoder::new(1);
    let (app, clip) = app(&decoder).await;
    for end in 1..10 {
        decoder.abandoned(&app, &format!("{clip}?start=0&end={end}")).await;
    }
    while decoder.running.load(Ordering::SeqCst) > 0 {
        tokio::task::yield_now().await;
    }
    assert_eq!(decoder.most.load(Ordering::SeqCst), 1, "frames.clips at once");
}

#[tokio::test]
async fn the_head_of_a_clip_is_answered_without_cutting_it() {
    let decoder = SlowDecoder::new(0);
    let (app, clip) = app(&decoder).await;
    let head =
        app.raw(app.request(Method::HEAD, &format!("{clip}?start=1&end=2.5")).finish()).await;
    assert_eq!((head.status, head.body.len()), (200, 0));
    assert_eq!(head.header("content-type"), "video/mp4");
    assert_eq!(head.header("content-disposition"), "attachment; filename=\"clip-1s-2.5s.mp4\"");
    assert_eq!(head.header("accept-ranges"), "bytes");
    assert_eq!(head.header("content-length"), "", "it is not known before");
    let beyond = app.request(Method::HEAD, &format!("{clip}?start=1&end=9999")).finish();
    assert_eq!(app.raw(beyond).await.status, 400);
    let unknown = app.request(Method::HEAD, "/videos/0123456789abcdef/clip?start=0&end=1").finish();
    assert_eq!(app.raw(unknown).await.status, 404);
    assert_eq!(decoder.most.load(Ordering::SeqCst), 0, "nothing was cut");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_clip_that_is_still_cut_keeps_its_place_when_its_client_leaves() {
    let decoder = SlowDecoder::new(0);
    let (app, clip) = app(&decoder).await;
    decoder.abandoned(&app, &format!("{clip}?start=0&end=1")).await;
    let next = format!("{clip}?start=0&end=2");
    let next = tokio::time::timeout(Duration::from_millis(200), decoder.abandoned(&app, &next));
    next.await.expect_err("it waits for the place of the first");
    decoder.released.add_permits(1);
    decoder.abandoned(&app, &format!("{clip}?start=0&end=3")).await;
    assert_eq!(decoder.most.load(Ordering::SeqCst), 1, "frames.clips at once");
}

#[tokio::test(flavor = "multi_thread")]
async fn pictures_and_peaks_keep_their_places_when_their_clients_leave() {
    for [first, second] in [
        ["frames?t=1&width=64", "frames?t=2&width=64"],
        ["storyboard", "storyboard"],
        ["peaks?buckets=10", "peaks?buckets=10"],
    ] {
        let decoder = SlowDecoder::new(0);
        let app = TestApp::with(|setup| setup.decoder = decoder.clone()).await;
        let [one, other] = [app.video().await, app.video_of(&clip(20.0)).await];
        decoder.slow.store(true, Ordering::SeqCst);
        decoder.abandoned(&app, &format!("/videos/{one}/{first}")).await;
        let next = format!("/videos/{other}/{second}");
        let next = tokio::time::timeout(Duration::from_millis(200), decoder.abandoned(&app, &next));
        next.await.expect_err("it waits for the place of the first");
        decoder.released.add_permits(1);
        while decoder.running.load(Ordering::SeqCst) > 0 {
            tokio::task::yield_now().await;
        }
        assert_eq!(app.get(&format!("/videos/{other}/{second}")).await.status, 200, "{second}");
        assert_eq!(decoder.most.load(Ordering::SeqCst), 1, "{first}");
    }
}
