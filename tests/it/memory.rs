//! Memory does not grow with the size of a file.

use std::process::Command;

use crate::support::process::Process;

/// More than the service uses without models, and much less than the size of the file.
const MAX_PEAK_BYTES: u64 = 200 << 20;

#[tokio::test(flavor = "multi_thread")]
async fn ingesting_a_large_file_keeps_memory_low() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("raw.avi");
    // 130 frames of 3.1 MB each.
    let status = Command::new("ffmpeg")
        .args(["-loglevel", "error", "-nostdin", "-f", "lavfi", "-i"])
        .arg("testsrc2=size=1920x1080:rate=10:duration=13")
        .args(["-c:v", "rawvideo", "-pix_fmt", "yuv420p"])
        .arg(&file)
        .status();
    if !status.is_ok_and(|status| status.success()) {
        println!("skipped: the ffmpeg program, which makes the clip, is not installed");
        return;
    }
    assert!(std::fs::metadata(&file).unwrap().len() > 380 << 20);
    let service = Process::start(folder.path(), &[]).await;
    let job_id = service.upload(&file, &[]).await.unwrap();
    service.job(&job_id, |job| job["status"] == "done").await;
    let peak = service.peak_memory();
    assert!(peak < MAX_PEAK_BYTES, "{} MiB were resident", peak >> 20);
}
