//! The worker process ends: at its deadline, and with its parent.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use adapters::decoder::{WorkerDecoder, WorkerOptions};
use ports::ErrorKind;
use ports::decoder::{
    AudioBlock, CancellationToken, ClipRequest, ScanFrame, ScanOptions, ScanSink, VideoDecoder,
};
use shotlog_adapters as adapters;

use super::ffmpeg::{Studio, decoder};

/// Far longer than any of these tests needs to wait.
const PATIENCE: Duration = Duration::from_secs(120);

/// A worker that answers nothing. Another process writes it: a file that this one has open for
/// writing cannot be run, nor one that a child of another test has inherited.
fn silent_worker(folder: &Path) -> PathBuf {
    let program = folder.join("silent.sh");
    let write = "printf '#!/bin/sh\\nexec sleep 300\\n' >\"$0\" && chmod +x \"$0\"";
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

/// Names the file that the parent scans.
#[cfg(target_os = "linux")]
const SCANNED_FILE: &str = "SHOTLOG_TEST_SCANNED_FILE";

/// Stops the process that sends frames, reports its id, and keeps it.
#[cfg(target_os = "linux")]
struct WorkerStopper;

#[cfg(target_os = "linux")]
impl ScanSink for WorkerStopper {
    fn frame(&mut self, _: ScanFrame<'_>) -> ports::Result<()> {
        let children = std::fs::read_to_string("/proc/thread-self/children")?;
        let worker: u32 = children.trim().parse().unwrap();
        signal(worker, "-STOP");
        println!("\nworker {worker}");
        thread::sleep(PATIENCE);
        Ok(())
    }

    fn audio(&mut self, _: AudioBlock<'_>) -> ports::Result<()> {
        Ok(())
    }
}

#[cfg(target_os = "linux")]
fn signal(process: u32, name: &str) {
    Command::new("kill").args([name, &process.to_string()]).status().unwrap();
}

/// The state of a process, as a letter; `None` if there is no such process.
#[cfg(target_os = "linux")]
fn state(process: u32) -> Option<char> {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    stat.rsplit_once(") ")?.1.chars().next()
}

#[cfg(target_os = "linux")]
fn eventually(condition: impl Fn() -> bool) -> bool {
    let step = Duration::from_millis(50);
    (0..PATIENCE.as_millis() / step.as_millis()).any(|_| {
        let holds = condition();
        if !holds {
            thread::sleep(step);
        }
        holds
    })
}

/// The parent is this test again, in a process that is killed.
#[test]
#[cfg(target_os = "linux")]
fn stopped_worker_dies_with_its_parent() {
    let size = ScanOptions { width: 160, height: 90, exact: true, audio_track: None };
    if let Some(file) = std::env::var_os(SCANNED_FILE) {
        decoder().scan(Path::new(&file), &size, &mut WorkerStopper).unwrap();
        return;
    }
    let Some(studio) = Studio::open() else { return };
    if !Path::new("/proc/thread-self/children").exists() {
        println!("skipped: this kernel does not list the children of a thread");
        return;
    }
    // More than fits into the pipe: the worker still runs when its first frame arrives.
    let arguments = "-f lavfi -i testsrc2=s=64x36:r=25:d=60 -c:v mpeg4";
    let file = studio.make("long.mp4", arguments).unwrap();
    let mut parent = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "decoder::process::stopped_worker_dies_with_its_parent", "--nocapture"])
        .env(SCANNED_FILE, &file)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(parent.stdout.take().unwrap()).lines();
    let worker = lines.find_map(|line| line.unwrap().strip_prefix("worker ")?.parse().ok());
    let worker: u32 = worker.expect("the parent has a worker");
    let stopped = eventually(|| state(worker) == Some('T'));
    parent.kill().unwrap();
    parent.wait().unwrap();
    let ended = eventually(|| matches!(state(worker), None | Some('Z')));
    if !ended {
        signal(worker, "-KILL");
    }
    assert!(stopped && ended, "stopped: {stopped}, ended: {ended}");
}
