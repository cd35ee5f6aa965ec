//! A file system of a few megabytes, to fill up.

use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use ports::ErrorKind;

/// The folder of the file system, in the process that has it.
const FOLDER: &str = "SHOTLOG_TEST_SMALL_DISK";

/// What the commands around a test end with if they cannot make a file system.
const NO_MOUNT: i32 = 77;

/// Returns a folder on a file system of 24 MiB, which only a process in a private mount namespace
/// can have. In any other process, runs the named test again in such a namespace and returns
/// `None`.
pub(crate) fn open(test: &str) -> Option<PathBuf> {
    if let Some(folder) = std::env::var_os(FOLDER) {
        return Some(folder.into());
    }
    let folder = tempfile::tempdir().unwrap();
    let run = format!(
        "mount -t tmpfs -o size=24m tmpfs \"${FOLDER}\" || exit {NO_MOUNT}; \
         exec \"$0\" --exact \"$1\" --nocapture"
    );
    let outcome = Command::new("unshare")
        .args(["--user", "--map-root-user", "--mount", "sh", "-c", &run])
        .arg(std::env::current_exe().unwrap())
        .arg(test)
        .env(FOLDER, folder.path())
        .output();
    let why = match outcome {
        Err(error) => error.to_string(),
        Ok(output) => {
            let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
            let (shown, why) = (text(&output.stdout), text(&output.stderr));
            if output.status.success() {
                assert!(shown.contains("1 passed"), "{test} did not run: {shown}");
                return None;
            }
            let refused = output.status.code() == Some(NO_MOUNT) || why.starts_with("unshare:");
            assert!(refused, "{test} failed on a small disk: {shown}{why}");
            why
        }
    };
    println!("skipped: this system lets no test mount a file system: {}", why.trim());
    None
}

/// Takes all space that is left, until the returned file is removed.
pub(crate) fn fill(folder: &Path) -> PathBuf {
    let path = folder.join("filler");
    let mut file = File::create(&path).unwrap();
    for size in [1 << 20, 4 << 10, 1] {
        let block = vec![0; size];
        while file.write_all(&block).is_ok() {}
    }
    path
}

/// Asserts that an error says that the disk is full.
#[track_caller]
pub(crate) fn assert_full(error: &ports::PortError) {
    assert_eq!(error.kind(), ErrorKind::Full, "{error}");
    assert!(error.to_string().contains("free some"), "{error}");
}
