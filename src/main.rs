//! The `shotlog` program. What each command does is in [`shotlog::cli`].

use std::process::ExitCode;
use std::time::Duration;

fn main() -> ExitCode {
    send_no_telemetry();
    return_large_blocks();
    // A process that decodes needs neither settings nor threads.
    if let Some(ended) = shotlog::cli::decode() {
        return ended;
    }
    let runtime = match tokio::runtime::Runtime::new() {
        Ok(runtime) => runtime,
        Err(error) => {
            eprintln!("shotlog: cannot start the async runtime: {error}");
            return ExitCode::FAILURE;
        }
    };
    let ended = runtime.block_on(shotlog::cli::run());
    // Work on a blocking thread that nobody waits for must not hold the process up; the processes
    // that decode end with this one.
    runtime.shutdown_timeout(Duration::from_millis(500));
    ended
}

/// Has ONNX Runtime tell nobody that it is used. What it is told once it is loaded comes too late: it has then made
/// an identifier of the machine, which it keeps in the home directory, and begun to send that it runs.
#[expect(unsafe_code, reason = "another thread must not read the environment meanwhile")]
fn send_no_telemetry() {
    // SAFETY: no other thread runs yet.
    unsafe { std::env::set_var("ORT_DISABLE_TELEMETRY", "1") };
}

/// Has glibc map every block of half a mebibyte or more on its own and give it back when it is freed.
/// Decoded pictures and the activations of networks are such blocks, of ever changing sizes: kept
/// in the heaps of many threads they add up to three times the memory that is in use (1.7 GB
/// against 0.44 GB over a five-minute video).
#[cfg(all(target_os = "linux", target_env = "gnu"))]
#[expect(unsafe_code, reason = "mallopt is a C function")]
fn return_large_blocks() {
    // SAFETY: mallopt changes settings of the allocator; no other thread runs yet.
    unsafe {
        libc::mallopt(libc::M_MMAP_THRESHOLD, 1 << 19);
        libc::mallopt(libc::M_ARENA_MAX, 2);
    }
}

#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
fn return_large_blocks() {}
