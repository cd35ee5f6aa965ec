//! Memory does not grow with the size of a file.

use std::process::Command;

use crate::support::process::Process;

/// More than the service takes without models, much less than the file.
const MOST: u64 = 200 << 20;

#[tokio::test(flavor = "multi_thread")]
async fn a_file_larger_than_the_memory_allowed_is_ingested() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("raw.avi");
    // 3.1 MB for each of 130 pictures.
    let made = Command::new("ffmpeg")
        .args(["-loglevel", "error", "-nostdin", "-f", "lavfi", "-i"])
        .arg("testsrc2=size=1920x1080:rate=10:duration=13")
        .args(["-c:v", "rawvideo", "-pix_fmt", "yuv420p"])
        .arg(&file)
        .status();
    if !made.is_ok_and(|status| status.success()) {
        println!("skipped: the program ffmpeg is not there to make a clip");
        return;
    }
    assert!(std::fs::metadata(&file).unwrap().len() > 380 << 20);
    let service = Process::start(folder.path(), &[]).await;
    let job_id = service.upload(&file, &[]).await.unwrap();
    service.job(&job_id, |job| job["status"] == "done").await;
    let peak = service.peak_memory();
    assert!(peak < MOST, "{} MiB were resident", peak >> 20);
}
