//! Clips, frames and peaks whose clients disconnect.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use poem::http::Method;
use ports::decoder::{
    CancellationToken, Clip, ClipRequest, Frame, MediaInfo, RenderFormat, RenderParts, ScanOptions,
    ScanSink, ScanSummary, Still, VideoDecoder, VideoDecoderExt,
};
use ports::{ErrorKind, PortError, Result};
use serde_json::json;
use tokio::sync::Semaphore;

use crate::support::{SceneDecoder, TestApp, clip};

/// A decoder whose clips end once they are cancelled and released. While `slow` is set, scans and stills
/// end once they are released.
struct SlowDecoder {
    slow: AtomicBool,
    started: Semaphore,
    released: Semaphore,
    running: AtomicUsize,
    max_running: AtomicUsize,
}

impl SlowDecoder {
    fn new(released: usize) -> Arc<Self> {
        Arc::new(Self {
            slow: AtomicBool::new(false),
            started: Semaphore::new(0),
            released: Semaphore::new(released),
            running: AtomicUsize::new(0),
            max_running: AtomicUsize::new(0),
        })
    }

    fn wait(&self, done: impl Fn() -> bool) {
        let running = self.running.fetch_add(1, Ordering::SeqCst) + 1;
        self.max_running.fetch_max(running, Ordering::SeqCst);
        self.started.add_permits(1);
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

    /// Sends a request and disconnects as soon as its work has started.
    async fn abandon(&self, app: &TestApp, uri: &str) {
        tokio::select! {
            reply = app.get(uri) => panic!("replied without decoding: {}", reply.text()),
            permit = self.started.acquire() => permit.unwrap().forget(),
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

    fn sound(&self, file: &Path, audio_track: Option<u32>, sink: &mut dyn ScanSink) -> Result<()> {
        self.scan_sound(file, audio_track, sink)
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
        Err(PortError::new(ErrorKind::Unavailable, "the clip was cancelled"))
    }

    fn render(
        &self,
        _: &RenderFormat,
        parts: &mut RenderParts<'_>,
        _: std::fs::File,
        cancel: &CancellationToken,
    ) -> Result<()> {
        parts.next().transpose()?;
        self.wait(|| cancel.is_cancelled());
        Err(PortError::new(ErrorKind::Unavailable, "the sequence was cancelled"))
    }
}

async fn app(decoder: &Arc<SlowDecoder>) -> (TestApp, String) {
    let app = TestApp::with(|setup| setup.decoder = decoder.clone()).await;
    let video = app.video().await;
    (app, format!("/videos/{video}/clip"))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_clip_is_cancelled_when_its_client_disconnects() {
    let decoder = SlowDecoder::new(1);
    let (app, clip) = app(&decoder).await;
    for end in 1..10 {
        decoder.abandon(&app, &format!("{clip}?start=0&end={end}")).await;
    }
    while decoder.running.load(Ordering::SeqCst) > 0 {
        tokio::task::yield_now().await;
    }
    assert_eq!(decoder.max_running.load(Ordering::SeqCst), 1, "clips at once (frames.clips)");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_video_of_a_bin_is_cancelled_when_its_client_disconnects() {
    let decoder = SlowDecoder::new(1);
    let app = TestApp::with(|setup| setup.decoder = decoder.clone()).await;
    let video = app.video().await;
    let bin = app.post_json("/bins", json!({"name": "two"})).await.ok();
    let path = format!("/bins/{}", bin["bin_id"].as_str().unwrap());
    let select = |start: f64| json!({"video_id": video, "start": start, "end": start + 1.0});
    let selects = json!({"selects": [select(0.0), select(4.0), select(8.0)]});
    app.post_json(&format!("{path}/selects"), selects).await.ok();
    for handles in 0..5 {
        decoder.abandon(&app, &format!("{path}/string-out?handles={handles}")).await;
    }
    decoder.abandon(&app, &format!("/videos/{video}/clip?start=0&end=1")).await;
    while decoder.running.load(Ordering::SeqCst) > 0 {
        tokio::task::yield_now().await;
    }
    assert_eq!(decoder.max_running.load(Ordering::SeqCst), 1, "clips at once (frames.clips)");
}

#[tokio::test]
async fn a_head_request_for_a_clip_cuts_nothing() {
    let decoder = SlowDecoder::new(0);
    let (app, clip) = app(&decoder).await;
    let head =
        app.raw(app.request(Method::HEAD, &format!("{clip}?start=1&end=2.5")).finish()).await;
    assert_eq!((head.status, head.body.len()), (200, 0));
    assert_eq!(head.header("content-type"), "video/mp4");
    assert_eq!(head.header("content-disposition"), "attachment; filename=\"clip-1s-2.5s.mp4\"");
    assert_eq!(head.header("accept-ranges"), "bytes");
    assert_eq!(head.header("content-length"), "", "the length is unknown before the clip is cut");
    let beyond = app.request(Method::HEAD, &format!("{clip}?start=1&end=9999")).finish();
    assert_eq!(app.raw(beyond).await.status, 400);
    let unknown = app.request(Method::HEAD, "/videos/0123456789abcdef/clip?start=0&end=1").finish();
    assert_eq!(app.raw(unknown).await.status, 404);
    assert_eq!(decoder.max_running.load(Ordering::SeqCst), 0, "no clip was cut");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_abandoned_clip_holds_its_slot_until_decoding_ends() {
    let decoder = SlowDecoder::new(0);
    let (app, clip) = app(&decoder).await;
    decoder.abandon(&app, &format!("{clip}?start=0&end=1")).await;
    let next = format!("{clip}?start=0&end=2");
    let next = tokio::time::timeout(Duration::from_millis(200), decoder.abandon(&app, &next));
    next.await.expect_err("it waits for the slot of the first");
    decoder.released.add_permits(1);
    decoder.abandon(&app, &format!("{clip}?start=0&end=3")).await;
    assert_eq!(decoder.max_running.load(Ordering::SeqCst), 1, "clips at once (frames.clips)");
}

#[tokio::test(flavor = "multi_thread")]
async fn abandoned_frames_and_peaks_hold_their_slots_until_decoding_ends() {
    for [first, second] in [
        ["frames?t=1&width=64", "frames?t=2&width=64"],
        ["storyboard", "storyboard"],
        ["peaks?buckets=10", "peaks?buckets=10"],
    ] {
        let decoder = SlowDecoder::new(0);
        let app = TestApp::with(|setup| setup.decoder = decoder.clone()).await;
        let [one, other] = [app.video().await, app.video_of(&clip(20.0)).await];
        decoder.slow.store(true, Ordering::SeqCst);
        decoder.abandon(&app, &format!("/videos/{one}/{first}")).await;
        let next = format!("/videos/{other}/{second}");
        let next = tokio::time::timeout(Duration::from_millis(200), decoder.abandon(&app, &next));
        next.await.expect_err("it waits for the slot of the first");
        decoder.released.add_permits(1);
        while decoder.running.load(Ordering::SeqCst) > 0 {
            tokio::task::yield_now().await;
        }
        assert_eq!(app.get(&format!("/videos/{other}/{second}")).await.status, 200, "{second}");
        assert_eq!(decoder.max_running.load(Ordering::SeqCst), 1, "{first}");
    }
}
