//! The parent side: runs a worker and reads its output with timeouts. Dropping a [`Process`] kills
//! the worker.

use std::fs::File;
use std::io::{self, BufReader, Read};
use std::os::unix::fs::FileExt;
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use ports::decoder::{
    AudioBlock, CancellationToken, Clip, Frame, Image, SAMPLE_RATE, ScanFrame, ScanOptions,
    ScanSink, ScanSummary,
};
use ports::{ErrorKind, PortError, Result};
use rustix::event::{PollFd, PollFlags, Timespec, poll};

use super::WorkerOptions;
use super::wire::{
    self, MAX_JSON, PictureHead, WorkerJob, WorkerRequest, WorkerResult, protocol_violation,
    receive,
};

/// Requested pipe capacity in bytes. It has room for about twenty scan frames.
const PIPE: usize = 1 << 20;

/// How often a waiting reader checks for cancellation.
const CANCEL_CHECK: Duration = Duration::from_millis(100);

/// Time that the parent allows beyond the worker's own limits, so that the worker can report which
/// limit it hit.
const GRACE: Duration = Duration::from_secs(3);

pub(super) struct Process {
    child: Child,
    out: BufReader<Output>,
    limits: WorkerOptions,
    /// Maximum length of a plausible message, in bytes.
    longest: usize,
    /// Number of seconds of media, or of frames, for which time has been granted so far.
    allowed: f64,
}

impl Process {
    /// Starts a worker that reads `input`, with time for `content` seconds of media or `content`
    /// frames.
    pub(super) fn start(
        limits: &WorkerOptions,
        input: Stdio,
        request: &WorkerRequest,
        content: f64,
    ) -> Result<Self> {
        let json = serde_json::to_string(request).map_err(io::Error::from)?;
        let mut command = Command::new(&limits.program);
        command.arg("decode").arg(json).env_clear();
        // The shared libraries may be outside the system's search path.
        if let Some(folders) = std::env::var_os("LD_LIBRARY_PATH") {
            command.env("LD_LIBRARY_PATH", folders);
        }
        let cannot = |e: io::Error| {
            let message = format!("cannot start the process that decodes: {e}");
            PortError::caused_by(ErrorKind::Unavailable, message, e)
        };
        let mut child = command
            .stdin(input)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .map_err(cannot)?;
        let pipe = child.stdout.take().ok_or_else(|| cannot(io::ErrorKind::BrokenPipe.into()))?;
        widen(&pipe);
        let ffmpeg = &limits.ffmpeg;
        let timeout = ffmpeg.timeout.max(ffmpeg.open_timeout)
            + GRACE
            + ffmpeg.timeout_per_second.mul_f64(content);
        let wait_budget = WaitBudget { timeout, total: timeout, ..WaitBudget::default() };
        let out = BufReader::with_capacity(64 << 10, Output { pipe, wait_budget });
        let longest = longest_message(&request.job, ffmpeg.max_pixels);
        Ok(Self { child, out, limits: limits.clone(), longest, allowed: content })
    }

    /// Reads a scan to its end.
    pub(super) fn scan(
        mut self,
        size: &ScanOptions,
        sink: &mut dyn ScanSink,
    ) -> Result<ScanSummary> {
        let mut receiver = ScanReceiver::new(size, self.limits.ffmpeg.max_duration);
        let mut body = Vec::new();
        loop {
            match self.next(&mut body)? {
                wire::FRAME => {
                    let frame = receiver.frame(&body)?;
                    sink.frame(frame)?;
                    self.allow_for(frame.time);
                }
                kind @ (wire::SOUND | wire::STEREO) => {
                    let block = receiver.sound(kind, &body)?;
                    let time = block.time;
                    sink.audio(block)?;
                    self.allow_for(time);
                }
                wire::OUTCOME => match outcome(&body)? {
                    WorkerResult::Summary(summary) => {
                        receiver.summary.end = summary.end;
                        receiver.summary.damaged = summary.damaged;
                        return receiver.finish();
                    }
                    _ => return Err(protocol_violation()),
                },
                _ => return Err(protocol_violation()),
            }
        }
    }

    /// Receives a clip and writes it to `out`.
    pub(super) fn clip(
        mut self,
        out: &File,
        max_bytes: u64,
        cancel: &CancellationToken,
    ) -> Result<Clip> {
        self.cancel_with(cancel);
        match self.write_file(out, max_bytes)? {
            WorkerResult::Clip { start, copied, video } if start.is_finite() => {
                Ok(Clip { start, copied, video })
            }
            _ => Err(protocol_violation()),
        }
    }

    /// Writes the file that the worker sends to `out`, and returns the worker's result.
    pub(super) fn write_file(&mut self, out: &File, max_bytes: u64) -> Result<WorkerResult> {
        let mut body = Vec::new();
        loop {
            match self.next(&mut body)? {
                wire::BYTES => {
                    let (at, bytes) = body.split_first_chunk().ok_or_else(protocol_violation)?;
                    let at = u64::from_le_bytes(*at);
                    if at.saturating_add(bytes.len() as u64) > max_bytes {
                        return Err(protocol_violation());
                    }
                    out.write_all_at(bytes, at)?;
                }
                wire::OUTCOME => return outcome(&body),
                _ => return Err(protocol_violation()),
            }
        }
    }

    /// Ends the worker when `cancel` is cancelled.
    pub(super) fn cancel_with(&mut self, cancel: &CancellationToken) {
        self.out.get_mut().wait_budget.cancel = cancel.clone();
    }

    /// Removes the time limit of a worker that waits for input. Its processor time stays limited.
    pub(super) fn wait_without_limit(&mut self) {
        let wait_budget = &mut self.out.get_mut().wait_budget;
        (wait_budget.timeout, wait_budget.total) = (Duration::MAX, Duration::MAX);
    }

    /// Takes the pipe to a worker's standard input.
    pub(super) fn take_input(&mut self) -> Result<ChildStdin> {
        self.child.stdin.take().ok_or_else(|| io::Error::from(io::ErrorKind::BrokenPipe).into())
    }

    /// Receives the audio of a file to its end.
    pub(super) fn sound(mut self, sink: &mut dyn ScanSink) -> Result<()> {
        let size = ScanOptions { width: 0, height: 0, exact: true, audio_track: None };
        let mut receiver = ScanReceiver::new(&size, self.limits.ffmpeg.max_duration);
        let mut body = Vec::new();
        loop {
            match self.next(&mut body)? {
                kind @ (wire::SOUND | wire::STEREO) => {
                    let block = receiver.sound(kind, &body)?;
                    let time = block.time;
                    sink.audio(block)?;
                    self.allow_for(time);
                }
                wire::OUTCOME => match outcome(&body)? {
                    WorkerResult::Sound => return Ok(()),
                    _ => return Err(protocol_violation()),
                },
                _ => return Err(protocol_violation()),
            }
        }
    }

    /// Runs any other job to its end. Passes each full-size frame to `picture`, together with the
    /// index of the time for which it was requested.
    pub(super) fn run(mut self, picture: &mut dyn FnMut(usize, Frame)) -> Result<WorkerResult> {
        let mut body = Vec::new();
        loop {
            match self.next(&mut body)? {
                wire::PICTURE => {
                    let (head, rgb) = body.split_first_chunk().ok_or_else(protocol_violation)?;
                    let PictureHead { index, width, height, time } = PictureHead::from_bytes(head);
                    let bytes = u64::from(width) * u64::from(height) * 3;
                    if bytes == 0 || bytes != rgb.len() as u64 || !(time >= 0.0 && time.is_finite())
                    {
                        return Err(protocol_violation());
                    }
                    let image = Image { width, height, rgb: rgb.to_vec() };
                    picture(index as usize, Frame { time, image });
                }
                wire::OUTCOME => return outcome(&body),
                _ => return Err(protocol_violation()),
            }
        }
    }

    /// Grants the worker time for `content` seconds of media.
    fn allow_for(&mut self, content: f64) {
        if content < self.allowed + 1.0 {
            return;
        }
        self.allowed = content;
        let wait_budget = &mut self.out.get_mut().wait_budget;
        let more = self.limits.ffmpeg.timeout_per_second.mul_f64(content);
        wait_budget.total = wait_budget.timeout + more;
        grant_processor_time(&self.child, self.limits.processor_seconds(content));
    }

    /// Receives a message into `body` and returns its kind.
    pub(super) fn next(&mut self, body: &mut Vec<u8>) -> Result<u8> {
        let kind = receive(&mut self.out, self.longest, body);
        self.out.get_mut().wait_budget.quiet = Duration::ZERO;
        kind.map_err(|error| match error.kind() {
            io::ErrorKind::TimedOut => self.late(),
            io::ErrorKind::UnexpectedEof => self.death(),
            io::ErrorKind::InvalidData => protocol_violation(),
            _ if self.out.get_ref().wait_budget.cancel.is_cancelled() => cancelled(),
            _ => error.into(),
        })
    }

    fn late(&self) -> PortError {
        let waited = self.out.get_ref().wait_budget.waited.as_secs();
        let message = format!(
            "decoding stood still or took too long for what came out of the file, {waited} s so far \
             (decoder.timeout, decoder.timeout_per_second)"
        );
        PortError::new(ErrorKind::Invalid, message)
    }

    /// Returns the error for a worker that ended its output without an outcome.
    fn death(&mut self) -> PortError {
        match self.child.wait() {
            Ok(status) => PortError::new(ErrorKind::Invalid, cause_of_death(status)),
            Err(error) => error.into(),
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // The worker may have exited already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn cancelled() -> PortError {
    PortError::new(ErrorKind::Unavailable, "cancelled: the caller no longer waits")
}

fn longest_message(job: &WorkerJob, max_pixels: u64) -> usize {
    let pixels = match job {
        WorkerJob::Probe
        | WorkerJob::Sound { .. }
        | WorkerJob::Clip { .. }
        | WorkerJob::Encode(_) => 0,
        WorkerJob::Part(part) => u64::from(part.size.0) * u64::from(part.size.1),
        WorkerJob::Scan { width, height, .. } => u64::from(*width) * u64::from(*height),
        // Correcting non-square pixels may enlarge an image up to tenfold.
        WorkerJob::Frames { stills, .. } => {
            let side = stills.iter().map(|still| u64::from(still.max_side)).max().unwrap_or(0);
            side.pow(2).min(max_pixels.saturating_mul(10))
        }
    };
    let bytes = pixels.saturating_mul(3).saturating_add(PictureHead::BYTES as u64);
    usize::try_from(bytes).unwrap_or(usize::MAX).max(MAX_JSON)
}

/// Reads the worker's result, which is an error if the job failed.
pub(super) fn outcome(body: &[u8]) -> Result<WorkerResult> {
    match serde_json::from_slice(body) {
        Ok(WorkerResult::Failed { kind, message }) => Err(PortError::new(kind.into(), message)),
        Ok(outcome) => Ok(outcome),
        Err(_) => Err(protocol_violation()),
    }
}

fn cause_of_death(status: ExitStatus) -> String {
    match status.signal() {
        Some(libc::SIGXCPU) => {
            "decoding took too much processor time for what came out of the file \
             (decoder.cpu_time, decoder.cpu_time_per_second)"
                .into()
        }
        Some(libc::SIGABRT) => {
            "the decoder gave up on this file, most likely because it takes more memory than it may \
             have (decoder.memory): it is damaged or made to do harm"
                .into()
        }
        Some(libc::SIGKILL) => {
            "the system ended the decoder of this file, most likely because memory ran out".into()
        }
        Some(signal) => format!(
            "the decoder crashed on this file (signal {signal}): it is damaged or made to do harm"
        ),
        None => format!(
            "the decoder ended without an answer ({status}): the file is damaged or made to do harm"
        ),
    }
}

/// Receives a scan and validates each message.
struct ScanReceiver {
    frame_bytes: usize,
    max_duration: f64,
    last_frame: f64,
    sound_start: Option<f64>,
    samples: Vec<f32>,
    summary: ScanSummary,
}

impl ScanReceiver {
    fn new(size: &ScanOptions, max_duration: f64) -> Self {
        Self {
            frame_bytes: size.width as usize * size.height as usize * 3,
            max_duration,
            last_frame: f64::NEG_INFINITY,
            sound_start: None,
            samples: Vec::new(),
            summary: ScanSummary::default(),
        }
    }

    fn frame<'a>(&mut self, body: &'a [u8]) -> Result<ScanFrame<'a>> {
        let (time, rest) = timed(body)?;
        let (skipped, rgb) = rest.split_first_chunk().ok_or_else(protocol_violation)?;
        let skipped = u32::from_le_bytes(*skipped);
        let whole = rgb.len() == self.frame_bytes && skipped <= wire::MAX_SKIPPED;
        if !whole || time <= self.last_frame || !self.is_time(time) {
            return Err(protocol_violation());
        }
        self.last_frame = time;
        self.summary.frames += 1;
        Ok(ScanFrame { time, rgb, skipped })
    }

    fn sound(&mut self, kind: u8, body: &[u8]) -> Result<AudioBlock<'_>> {
        let (time, bytes) = timed(body)?;
        let (samples, rest) = bytes.as_chunks::<4>();
        self.samples.clear();
        self.samples.extend(samples.iter().map(|bytes| f32::from_le_bytes(*bytes)));
        let start = *self.sound_start.get_or_insert(time);
        let expected = start + self.summary.samples as f64 / f64::from(SAMPLE_RATE);
        let planes = if kind == wire::STEREO { 3 } else { 1 };
        let length = self.samples.len() / planes;
        let is_whole = rest.is_empty() && length > 0 && self.samples.len() == length * planes;
        let whole = is_whole && self.is_time(time);
        let follows = (time - expected).abs() < 1e-3;
        if !whole || !follows || !self.samples.iter().all(|s| (-1.0..=1.0).contains(s)) {
            return Err(protocol_violation());
        }
        self.summary.samples += length as u64;
        let (samples, channels) = self.samples.split_at(length);
        let channels = (planes > 1).then(|| channels.split_at(length).into());
        Ok(AudioBlock { time, samples, channels })
    }

    fn is_time(&self, time: f64) -> bool {
        (0.0..=self.max_duration).contains(&time)
    }

    fn finish(self) -> Result<ScanSummary> {
        let summary = self.summary;
        let some = summary.frames + summary.samples > 0;
        let ends = summary.end.is_finite() && summary.end >= 0.0;
        if some && ends { Ok(summary) } else { Err(protocol_violation()) }
    }
}

fn timed(body: &[u8]) -> Result<(f64, &[u8])> {
    let (time, rest) = body.split_first_chunk().ok_or_else(protocol_violation)?;
    Ok((f64::from_le_bytes(*time), rest))
}

/// The worker's standard output, read with a timeout.
struct Output {
    pipe: ChildStdout,
    wait_budget: WaitBudget,
}

/// Tracks how long the parent has waited for output. Time that the parent spends on other work does
/// not count.
#[derive(Default)]
struct WaitBudget {
    /// Timeout for one message.
    timeout: Duration,
    /// Timeout for all messages together.
    total: Duration,
    quiet: Duration,
    waited: Duration,
    cancel: CancellationToken,
}

impl Read for Output {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            let wait_budget = &mut self.wait_budget;
            if wait_budget.cancel.is_cancelled() {
                return Err(io::ErrorKind::Other.into());
            }
            let left = wait_budget.left();
            if left.is_zero() {
                return Err(io::ErrorKind::TimedOut.into());
            }
            let started = Instant::now();
            let limit = Timespec::try_from(left.min(CANCEL_CHECK)).map_err(io::Error::other)?;
            let ready = poll(&mut [PollFd::new(&self.pipe, PollFlags::IN)], Some(&limit));
            let spent = started.elapsed();
            wait_budget.quiet += spent;
            wait_budget.waited += spent;
            if ready? > 0 {
                return self.pipe.read(buffer);
            }
        }
    }
}

impl WaitBudget {
    fn left(&self) -> Duration {
        let Self { timeout, total, quiet, waited, .. } = self;
        timeout.saturating_sub(*quiet).min(total.saturating_sub(*waited))
    }
}

#[cfg(target_os = "linux")]
fn widen(pipe: &ChildStdout) {
    // The default capacity also works, but more slowly.
    let _ = rustix::pipe::fcntl_setpipe_size(pipe, PIPE);
}

#[cfg(not(target_os = "linux"))]
fn widen(_: &ChildStdout) {}

#[cfg(target_os = "linux")]
fn grant_processor_time(child: &Child, seconds: u64) {
    use rustix::process::{Pid, Resource, Rlimit, prlimit};
    let limit = Rlimit { current: Some(seconds), maximum: None };
    // The worker may have exited already.
    let _ = prlimit(Some(Pid::from_child(child)), Resource::Cpu, limit);
}

#[cfg(not(target_os = "linux"))]
fn grant_processor_time(_: &Child, _: u64) {}
