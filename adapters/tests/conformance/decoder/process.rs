//! The worker process ends at its deadline.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use adapters::decoder::{WorkerDecoder, WorkerOptions};
use ports::ErrorKind;
use ports::decoder::{CancellationToken, ClipRequest, VideoDecoder};
use shotlog_adapters as adapters;

/// Far longer than any of these tests needs to wait.
const PATIENCE: Duration = Duration::from_secs(120);

/// A worker that answers nothing. Another process writes it: a file that this one has open for
/// writing cannot be run, nor one that a child of another test has inherited.
fn silent_worker(folder: &Path) -> PathBuf {
    let program = folder.join("silent.sh");
    let write = "printf '#!/bin/sh\\nexec sleep 10000\\n' >\"$0\" && chmod +x \"$0\"";
    let status = Command::new("sh").args(["-c", write]).arg(&program).status().unwrap();
    assert!(status.success());
    program
}

#[test]
fn deadline_of_a_clip_follows_its_length() {
    let folder = tempfile::tempdir().unwrap();
    let mut options =
        WorkerOptions { program: silent_worker(folder.path()), ..WorkerOptions::default() };
    options.ffmpeg.open_timeout = Duration::ZERO;
    options.ffmpeg.timeout = Duration::ZERO;
    options.ffmpeg.timeout_per_second = Duration::from_secs(1);
    let file = folder.path().join("long.mp4");
    std::fs::write(&file, "not opened").unwrap();
    let cut = ClipRequest {
        start: 10_000.0,
        end: 10_001.0,
        exact: true,
        max_bytes: 1 << 20,
        audio_track: None,
    };
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        let out = tempfile::tempfile().unwrap();
        sender.send(WorkerDecoder::new(options).clip(
            &file,
            &cut,
            out,
            &CancellationToken::default(),
        ))
    });
    let outcome = receiver.recv_timeout(PATIENCE).expect("a second of media takes no hours");
    let error = outcome.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Invalid, "{error}");
    assert!(error.to_string().contains("decoder.timeout_per_second"), "{error}");
}
