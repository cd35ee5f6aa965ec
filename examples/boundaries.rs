//! Finds shot boundaries and pauses in files, and compares the cuts with a list of true cuts. Also
//! compares the time taken with the time that the `ffmpeg` program takes to decode the same file in
//! the same run. Processor time is printed too, since on a busy machine its ratio is more stable
//! than that of wall time.
//!
//! `cargo run --release --example boundaries -- [--truth truth.json] [--repeat N] [--exact] FILE…`
//!
//! The truth file maps file names to `cuts` (times in seconds). Optional fields are `ambiguous`
//! (times in seconds that are not judged), `soft_transitions` (texts with "between A and B") and
//! `fade_boundaries_sec`.

use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use adapters::decoder::{FfmpegDecoder, FfmpegOptions};
use cuts::{CutDetector, Cuts};
use domain::chunking::silence::{SilenceDetector, Silences};
use ports::decoder::{
    AudioBlock, SAMPLE_RATE, ScanFrame, ScanOptions, ScanSink, ScanSummary, VideoDecoder,
};

const WIDTH: u32 = 160;
const HEIGHT: u32 = 90;

/// Maximum distance between a detected cut and the true cut, in seconds.
const TOLERANCE: f64 = 0.1;

/// Detections within this many seconds of an ambiguous moment are ignored.
const AMBIGUITY: f64 = 0.3;

fn main() -> Result<(), Box<dyn Error>> {
    let mut files = Vec::new();
    let mut truth = serde_json::Value::Null;
    let mut repeat = 1;
    let mut exact = false;
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--truth" => {
                let path = arguments.next().ok_or("--truth needs a file")?;
                truth = serde_json::from_str(&std::fs::read_to_string(path)?)?;
            }
            "--exact" => exact = true,
            "--repeat" => repeat = arguments.next().ok_or("--repeat needs a number")?.parse()?,
            _ => files.push(PathBuf::from(argument)),
        }
    }
    if files.is_empty() {
        return Err("usage: boundaries [--truth truth.json] [--repeat N] [--exact] FILE…".into());
    }
    let mut total = Score::default();
    for file in &files {
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        let detection = fastest_run(repeat, || detect(file, exact))?;
        let reference = fastest_run(repeat, || decode_with_ffmpeg(file)).ok();
        println!("{name}");
        report(
            &detection.value,
            (detection.wall, detection.cpu),
            reference.map(|r| (r.wall, r.cpu)),
        );
        if let Some(truth) = Truth::parse(&truth[&*name]) {
            let score = truth.judge(&detection.value.cuts);
            score.print();
            total.add(&score);
        }
    }
    if total.correct + total.missed.len() + total.wrong.len() > 0 {
        println!("all files with truth");
        total.print();
    }
    if let Some(peak) = peak_memory() {
        println!("peak resident memory of this process: {peak} MiB");
    }
    Ok(())
}

struct Detection {
    cuts: Cuts,
    silences: Silences,
    summary: ScanSummary,
}

struct Detectors {
    cut: CutDetector,
    silence: SilenceDetector,
    in_cut: Duration,
    in_silence: Duration,
}

impl ScanSink for Detectors {
    fn frame(&mut self, frame: ScanFrame<'_>) -> ports::Result<()> {
        let start = Instant::now();
        self.cut.push(frame);
        self.in_cut += start.elapsed();
        Ok(())
    }

    fn audio(&mut self, block: AudioBlock<'_>) -> ports::Result<()> {
        let start = Instant::now();
        self.silence.starts_at(block.time);
        self.silence.push(block.samples);
        self.in_silence += start.elapsed();
        Ok(())
    }
}

fn detect(file: &Path, exact: bool) -> Result<Detection, Box<dyn Error>> {
    let decoder = FfmpegDecoder::new(FfmpegOptions::default());
    let mut detectors = Detectors {
        cut: CutDetector::new(WIDTH, HEIGHT),
        silence: SilenceDetector::new(SAMPLE_RATE),
        in_cut: Duration::ZERO,
        in_silence: Duration::ZERO,
    };
    let size = ScanOptions { width: WIDTH, height: HEIGHT, exact, audio_track: None };
    let summary = decoder.scan(file, &size, &mut detectors)?;
    if std::env::var_os("BOUNDARIES_PROFILE").is_some() {
        println!("cut {:.2?}, silence {:.2?}", detectors.in_cut, detectors.in_silence);
    }
    let (cuts, silences) = (detectors.cut.finish(), detectors.silence.finish());
    Ok(Detection { cuts, silences, summary })
}

fn decode_with_ffmpeg(file: &Path) -> Result<(), Box<dyn Error>> {
    let status = Command::new("ffmpeg")
        .args(["-nostdin", "-v", "quiet", "-i"])
        .arg(file)
        .args(["-an", "-vf", "scale=160:90", "-f", "null", "-"])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()?;
    if status.success() { Ok(()) } else { Err("ffmpeg failed".into()) }
}

/// A result, with the shortest wall time and the shortest processor time of its runs, in seconds.
struct Timed<T> {
    value: T,
    wall: f64,
    cpu: f64,
}

fn fastest_run<T>(
    times: usize,
    run: impl Fn() -> Result<T, Box<dyn Error>>,
) -> Result<Timed<T>, Box<dyn Error>> {
    let timed = || -> Result<Timed<T>, Box<dyn Error>> {
        let (start, cpu) = (Instant::now(), processor_seconds());
        let value = run()?;
        let wall = start.elapsed().as_secs_f64();
        Ok(Timed { value, wall, cpu: processor_seconds() - cpu })
    };
    let mut best = timed()?;
    for _ in 1..times {
        let next = timed()?;
        best = Timed {
            value: next.value,
            wall: best.wall.min(next.wall),
            cpu: best.cpu.min(next.cpu),
        };
    }
    Ok(best)
}

/// Processor time of this process and its finished children, in seconds. 0 if the system does not
/// report this time.
fn processor_seconds() -> f64 {
    /// Linux reports these times in hundredths of a second, independent of the kernel's tick rate.
    const TICKS: f64 = 100.0;
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    // The name in parentheses may contain any character; the times follow eleven fields after it.
    let fields = stat.rsplit(')').next().unwrap_or_default().split_whitespace().skip(11).take(4);
    fields.filter_map(|f| f.parse::<f64>().ok()).sum::<f64>() / TICKS
}

fn report(detection: &Detection, (wall, cpu): (f64, f64), reference: Option<(f64, f64)>) {
    let list = |times: &mut dyn Iterator<Item = (f64, f32)>| {
        times.map(|(t, s)| format!("{t:.3} ({s:.2})")).collect::<Vec<_>>().join(", ")
    };
    let Detection { cuts, silences, summary } = detection;
    println!(
        "  {} frames, {} samples, ends at {:.3} s, {} damaged packets",
        summary.frames, summary.samples, summary.end, summary.damaged
    );
    println!("  cuts: {}", list(&mut cuts.candidates.iter().map(|c| (c.time, c.strength))));
    println!("  pauses: {}", list(&mut silences.candidates.iter().map(|c| (c.time, c.strength))));
    match reference {
        Some((wall_reference, cpu_reference)) => println!(
            "  wall {wall:.2} s, ffmpeg program {wall_reference:.2} s: ratio {:.2}; \
             processor {cpu:.2} s, ffmpeg program {cpu_reference:.2} s: ratio {:.2}",
            wall / wall_reference,
            cpu / cpu_reference
        ),
        None => println!("  wall {wall:.2} s, processor {cpu:.2} s (nothing to compare with)"),
    }
}

struct Truth {
    cuts: Vec<f64>,
    ignored: Vec<(f64, f64)>,
}

impl Truth {
    fn parse(entry: &serde_json::Value) -> Option<Self> {
        let numbers = |key: &str| -> Option<Vec<f64>> {
            Some(entry[key].as_array()?.iter().filter_map(serde_json::Value::as_f64).collect())
        };
        let mut ignored: Vec<(f64, f64)> = numbers("ambiguous")
            .unwrap_or_default()
            .into_iter()
            .map(|t| (t - AMBIGUITY, t + AMBIGUITY))
            .collect();
        for text in entry["soft_transitions"].as_array().into_iter().flatten() {
            let words = text.as_str().unwrap_or_default().split_whitespace();
            let times: Vec<f64> = words.filter_map(|w| w.parse().ok()).collect();
            if let [from, to, ..] = times[..] {
                ignored.push((from - AMBIGUITY, to + AMBIGUITY));
            }
        }
        if let Some(fades) = numbers("fade_boundaries_sec") {
            // The list covers only the beginning of the clip and starts with time 0, which is not a
            // cut.
            let end = fades.last().copied().unwrap_or(0.0) + 2.0;
            ignored.push((end, f64::INFINITY));
            return Some(Self { cuts: fades.into_iter().filter(|&t| t > 0.0).collect(), ignored });
        }
        Some(Self { cuts: numbers("cuts")?, ignored })
    }

    fn judge(&self, cuts: &Cuts) -> Score {
        let mut unmatched = self.cuts.clone();
        let mut score = Score::default();
        for time in cuts.candidates.iter().map(|c| c.time) {
            let nearest = (0..unmatched.len())
                .min_by(|&a, &b| {
                    (unmatched[a] - time).abs().total_cmp(&(unmatched[b] - time).abs())
                })
                .filter(|&i| (unmatched[i] - time).abs() <= TOLERANCE + 1e-6);
            if let Some(i) = nearest {
                unmatched.swap_remove(i);
                score.correct += 1;
            } else if !self.ignored.iter().any(|&(a, b)| a <= time && time <= b) {
                score.wrong.push(time);
            }
        }
        unmatched.sort_by(f64::total_cmp);
        score.missed = unmatched;
        score
    }
}

#[derive(Default)]
struct Score {
    correct: usize,
    wrong: Vec<f64>,
    missed: Vec<f64>,
}

impl Score {
    fn add(&mut self, other: &Self) {
        self.correct += other.correct;
        self.wrong.extend(&other.wrong);
        self.missed.extend(&other.missed);
    }

    fn print(&self) {
        // If there are no true cuts, detecting none is a perfect score.
        let share =
            |total: usize| if total == 0 { 1.0 } else { self.correct as f64 / total as f64 };
        let precision = share(self.correct + self.wrong.len());
        let recall = share(self.correct + self.missed.len());
        let f1 = if precision + recall > 0.0 {
            2.0 * precision * recall / (precision + recall)
        } else {
            0.0
        };
        println!(
            "  precision {precision:.3}, recall {recall:.3}, F1 {f1:.3} ({} correct; wrong {:.3?}; missed {:.3?})",
            self.correct, self.wrong, self.missed
        );
    }
}

fn peak_memory() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|l| l.starts_with("VmHWM:"))?;
    Some(line.split_whitespace().nth(1)?.parse::<u64>().ok()? / 1024)
}
