//! The `shotlog` program. [`shotlog::cli`] implements its commands.

use std::process::ExitCode;
use std::time::Duration;

fn main() -> ExitCode {
    disable_onnx_telemetry();
    configure_allocator();
    // The decoder subprocess needs neither configuration nor threads.
    if let Some(exit_code) = shotlog::cli::decode() {
        return exit_code;
    }
    let runtime = match tokio::runtime::Runtime::new() {
        Ok(runtime) => runtime,
        Err(error) => {
            eprintln!("shotlog: cannot start the async runtime: {error}");
            return ExitCode::FAILURE;
        }
    };
    let exit_code = runtime.block_on(shotlog::cli::run());
    // Blocking threads must not delay the exit. Decoder processes end with this process.
    runtime.shutdown_timeout(Duration::from_millis(500));
    exit_code
}

/// Disables ONNX Runtime telemetry. The variable must be set before the library loads, because
/// loading already writes a device id to the home directory and sends the first event.
#[expect(unsafe_code, reason = "another thread must not read the environment at the same time")]
fn disable_onnx_telemetry() {
    // SAFETY: no other thread runs yet.
    unsafe { std::env::set_var("ORT_DISABLE_TELEMETRY", "1") };
}

/// Makes glibc map blocks of 512 KiB or more separately and return them to the system when they are
/// freed. Decoded frames and network activations are such blocks, of varying sizes. In per-thread
/// heaps, they would roughly quadruple the memory in use (1.7 GB instead of 0.44 GB for a
/// five-minute video).
#[cfg(all(target_os = "linux", target_env = "gnu"))]
#[expect(unsafe_code, reason = "mallopt is a C function")]
fn configure_allocator() {
    // SAFETY: mallopt changes settings of the allocator; no other thread runs yet.
    unsafe {
        libc::mallopt(libc::M_MMAP_THRESHOLD, 1 << 19);
        libc::mallopt(libc::M_ARENA_MAX, 2);
    }
}

#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
fn configure_allocator() {}
