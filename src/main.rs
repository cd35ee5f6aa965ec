//! The `shotlog` program. What each command does is in [`shotlog::cli`].

use std::process::ExitCode;

fn main() -> ExitCode {
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
    runtime.block_on(shotlog::cli::run())
}

/// Has glibc map every block of a mebibyte or more on its own and give it back when it is freed.
/// Decoded pictures and the activations of networks are such blocks, of ever changing sizes: kept
/// in the heaps of many threads they add up to three times the memory that is in use (1.7 GB
/// against 0.44 GB over a five-minute video).
#[cfg(all(target_os = "linux", target_env = "gnu"))]
#[expect(unsafe_code, reason = "mallopt is a C function")]
fn return_large_blocks() {
    // SAFETY: mallopt changes settings of the allocator; no other thread runs yet.
    unsafe {
        libc::mallopt(libc::M_MMAP_THRESHOLD, 1 << 20);
        libc::mallopt(libc::M_ARENA_MAX, 2);
    }
}

#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
fn return_large_blocks() {}
