//! Decodes files as the service would, each in a sandboxed process. Prints one line of JSON per
//! file, which says whether the file was accepted, how long it is and how long decoding took.
//! `scripts/torture/files.sh` evaluates the lines.
//!
//!     cargo run -p shotlog-adapters --example scan_files -- target/debug/shotlog FILE…
//!
//! If `-` is given instead of the program, files are decoded in this process, to compare the cost.

use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use ports::decoder::{
    AudioBlock, SAMPLE_RATE, ScanFrame, ScanOptions, ScanSink, ScanSummary, VideoDecoder,
    VideoDecoderExt,
};
use serde_json::{Value, json};
use shotlog_adapters::decoder::{FfmpegDecoder, FfmpegOptions, WorkerDecoder, WorkerOptions};

/// Number of files decoded in parallel.
const THREADS: usize = 2;

const SIZE: ScanOptions = ScanOptions { width: 160, height: 90, exact: false, audio_track: None };

/// A sink that discards everything.
struct Nothing;

impl ScanSink for Nothing {
    fn frame(&mut self, _: ScanFrame<'_>) -> ports::Result<()> {
        Ok(())
    }

    fn audio(&mut self, _: AudioBlock<'_>) -> ports::Result<()> {
        Ok(())
    }
}

fn main() {
    let mut arguments = std::env::args_os().skip(1);
    let Some(program) = arguments.next() else {
        eprintln!("usage: scan_files PROGRAM FILE…");
        return;
    };
    let options = WorkerOptions { program: program.into(), ..WorkerOptions::default() };
    let decoder: &dyn VideoDecoder = match options.program.as_os_str() {
        none if none == "-" => &FfmpegDecoder::new(FfmpegOptions::default()),
        _ => &WorkerDecoder::new(options),
    };
    let files: Vec<_> = arguments.collect();
    let next = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(|| {
                while let Some(file) = files.get(next.fetch_add(1, Ordering::Relaxed)) {
                    println!("{}", report(decoder, Path::new(file)));
                }
            });
        }
    });
}

fn report(decoder: &dyn VideoDecoder, file: &Path) -> Value {
    let started = Instant::now();
    let scanned = decode(decoder, file);
    let seconds = started.elapsed().as_secs_f64();
    let file = file.to_string_lossy();
    match scanned {
        Ok(summary) => {
            let heard = summary.samples as f64 / f64::from(SAMPLE_RATE);
            json!({
                "file": file, "seconds": seconds, "end": summary.end, "frames": summary.frames,
                "heard": heard, "damaged": summary.damaged,
            })
        }
        Err(error) => {
            let kind = error.kind().type_name();
            json!({"file": file, "seconds": seconds, "error": error.to_string(), "kind": kind})
        }
    }
}

/// Reads from a file everything that an ingest would read.
fn decode(decoder: &dyn VideoDecoder, file: &Path) -> ports::Result<ScanSummary> {
    decoder.probe(file)?;
    let summary = decoder.scan(file, &SIZE, &mut Nothing)?;
    decoder.frames(file, &[0.0, summary.end / 2.0, summary.end], 320)?;
    Ok(summary)
}
