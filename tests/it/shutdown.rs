//! A signal stops the service within its grace period while clips are being cut.

use std::path::Path;
use std::time::Duration;

use tokio::task::JoinHandle;

use crate::support::process::{Process, bars, process_state, send_signal};

/// Length of the video, in seconds.
const SECONDS: u32 = 20;

/// The deadline of a suspended decoder is much later than this.
const GENEROUS: Duration = Duration::from_secs(120);

/// A service with a video, whose clips can be made to last until they are cancelled.
struct Cutting {
    service: Process,
    video_id: String,
    /// The decoders that have been suspended.
    decoders: Vec<u32>,
    /// Number of clips requested so far.
    requested: u32,
}

impl Cutting {
    async fn new(folder: &Path, video: &Path) -> Self {
        let settings =
            [("SHUTDOWN__GRACE", "1s"), ("FRAMES__CLIPS", "2"), ("DECODER__TIMEOUT", "1h")];
        let service =
            Process::start(folder, &settings.map(|(key, value)| (key, value.into()))).await;
        let job = service.upload(video, &[]).await.unwrap();
        let job = service.job(&job, |job| job["status"] == "done").await;
        let video_id = job["result"]["video_id"].as_str().unwrap().to_owned();
        Self { service, video_id, decoders: Vec::new(), requested: 0 }
    }

    /// Requests a clip and suspends its decoder, so that the clip never ends.
    async fn clip(&mut self) -> JoinHandle<reqwest::Result<reqwest::Response>> {
        loop {
            self.requested += 1;
            // Each clip differs, since clips are cached.
            let end = f64::from(SECONDS) - f64::from(self.requested) / 10.0;
            let Self { service: Process { url, .. }, video_id, .. } = &*self;
            let clip = format!("{url}/videos/{video_id}/clip?start=0&end={end}&exact=true");
            let request = tokio::spawn(reqwest::get(clip));
            while !request.is_finished() {
                let children = self.service.children();
                let mut decoders = children.into_iter().filter(|id| !self.decoders.contains(id));
                let Some(decoder) = decoders.next() else {
                    tokio::time::sleep(Duration::from_millis(1)).await;
                    continue;
                };
                send_signal("-STOP", decoder);
                if process_state(decoder).is_some_and(|(state, _)| state == 'T') {
                    self.decoders.push(decoder);
                    return request;
                }
            }
            // The clip was cut before its decoder could be suspended.
            request.await.unwrap().unwrap();
        }
    }
}

/// Whether this process, and therefore the service, ignores SIGHUP, as under `nohup`.
fn ignores_hangup() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:")).unwrap();
    u64::from_str_radix(mask.trim(), 16).unwrap() & 1 != 0
}

#[tokio::test]
async fn a_signal_stops_the_service_while_clips_run() {
    let folder = tempfile::tempdir().unwrap();
    let Some(video) = bars(folder.path(), SECONDS, 0) else { return };
    for signal in ["-TERM", "-HUP"] {
        if signal == "-HUP" && ignores_hangup() {
            println!("skipped: the tests ignore SIGHUP");
            continue;
        }
        let folder = tempfile::tempdir().unwrap();
        let mut cutting = Cutting::new(folder.path(), &video).await;
        let abandoned = cutting.clip().await;
        abandoned.abort();
        let running = cutting.clip().await;
        cutting.service.signal(signal);
        let ended = cutting.service.ended(GENEROUS).await;
        assert!(ended.is_some_and(|status| status.success()), "{signal}: {ended:?}");
        running.await.unwrap().expect_err("the clip is cut off");
        for &decoder in &cutting.decoders {
            let ended = process_state(decoder).is_none_or(|(state, _)| state == 'Z');
            assert!(ended, "{signal}: the decoder {decoder} has outlived the service");
        }
    }
}
