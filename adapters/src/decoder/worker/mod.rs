//! A `VideoDecoder` that runs each call in a separate sandboxed process. If a file takes over
//! FFmpeg, it cannot reach anything else. `work` is the worker side, which the program runs as
//! `shotlog decode`.
//!
//! The worker gets the open file as standard input and writes frames and audio to standard output.
//! Its environment is empty except for `LD_LIBRARY_PATH`, and it inherits no other descriptor.
//! A rendered sequence has one worker for each part, and one worker that encodes what they decode and
//! sees no file. Before a worker reads a byte of its input, it reads the font of captions and gives up
//! access to the file system and the network (Landlock) and all system calls that decoding does not
//! need (seccomp), and limits its memory and CPU time. The worker's output is validated like any
//! untrusted input, because the file may have taken over the worker.

mod process;
mod render;
mod sandbox;
mod wire;
mod work;

use std::collections::VecDeque;
use std::fs::File;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use ports::Result;
use ports::decoder::{
    CancellationToken, Clip, ClipRequest, Frame, MediaInfo, RenderFormat, RenderParts, ScanOptions,
    ScanSink, ScanSummary, Still, VideoDecoder,
};

use super::ffmpeg::{FfmpegOptions, SeekMethod, open_media};
use process::Process;
pub use sandbox::missing_protection;
use wire::{WorkerJob, WorkerRequest, WorkerResult};
pub use work::work;

/// Maximum number of frames per worker.
const FRAMES_AT_ONCE: usize = 1000;

/// Number of files whose seek method is cached.
const CACHED_METHODS: usize = 64;

/// Limits for worker processes.
#[derive(Debug, Clone, PartialEq)]
pub struct WorkerOptions {
    /// Accepted formats and timeouts.
    pub ffmpeg: FfmpegOptions,
    /// Memory limit in addition to the program's own memory, in bytes.
    pub memory: u64,
    /// Base limit on CPU time for decoding a file.
    pub cpu_time: Duration,
    /// Additional CPU time per second of media, or per requested frame.
    pub cpu_time_per_second: Duration,
    /// The program, which is started as `PROGRAM decode REQUEST`.
    pub program: PathBuf,
}

impl Default for WorkerOptions {
    /// The defaults of `[decoder]`.
    fn default() -> Self {
        (&super::Settings::default()).into()
    }
}

impl From<&super::Settings> for WorkerOptions {
    fn from(section: &super::Settings) -> Self {
        Self {
            ffmpeg: section.into(),
            memory: section.memory,
            cpu_time: Duration::from_secs(section.cpu_time),
            cpu_time_per_second: Duration::from_secs(section.cpu_time_per_second),
            program: this_program(),
        }
    }
}

impl WorkerOptions {
    /// Returns the CPU time, in whole seconds, for `content` seconds of media or `content` frames.
    fn processor_seconds(&self, content: f64) -> u64 {
        let more = self.cpu_time_per_second.mul_f64(content);
        (self.cpu_time + more).as_secs().max(1)
    }
}

/// Returns the path of the running program. On Linux, the path works even if the file has been
/// replaced.
fn this_program() -> PathBuf {
    if cfg!(target_os = "linux") {
        "/proc/self/exe".into()
    } else {
        std::env::current_exe().unwrap_or_else(|_| "shotlog".into())
    }
}

/// Decodes video and audio files with FFmpeg, in one sandboxed process per call.
#[derive(Debug)]
pub struct WorkerDecoder {
    options: WorkerOptions,
    /// The seek methods of recently used files.
    methods: Mutex<VecDeque<(FileId, SeekMethod)>>,
}

/// A file's identity (device and inode) and state (size and change time).
type FileId = (u64, u64, u64, i64, i64);

impl WorkerDecoder {
    /// Creates a decoder with these limits without starting a process.
    pub fn new(options: WorkerOptions) -> Self {
        Self { options, methods: Mutex::default() }
    }

    fn start(&self, file: Arc<File>, job: WorkerJob) -> Result<Process> {
        self.start_with(file.try_clone()?.into(), job)
    }

    fn start_with(&self, input: Stdio, job: WorkerJob) -> Result<Process> {
        let content = job.content();
        let request = WorkerRequest {
            ffmpeg: self.options.ffmpeg.clone(),
            memory: self.options.memory,
            processor_seconds: self.options.processor_seconds(content),
            parent: std::process::id(),
            job,
        };
        Process::start(&self.options, input, &request, content)
    }

    fn extract_frames(
        &self,
        file: Arc<File>,
        stills: &[Still],
        method: Option<SeekMethod>,
    ) -> Result<(Vec<Option<Frame>>, SeekMethod)> {
        let mut frames = vec![None; stills.len()];
        let finite = |&index: &usize| stills[index].time.is_finite();
        let indexes: Vec<usize> = (0..stills.len()).filter(finite).collect();
        let job =
            WorkerJob::Frames { stills: indexes.iter().map(|&i| stills[i]).collect(), method };
        let outcome = self.start(file, job)?.run(&mut |index, frame| {
            if let Some(slot) = indexes.get(index).and_then(|&i| frames.get_mut(i)) {
                *slot = Some(frame);
            }
        })?;
        match outcome {
            WorkerResult::Frames(method) => Ok((frames, method)),
            _ => Err(wire::protocol_violation()),
        }
    }

    fn cached_method(&self, id: &FileId) -> Option<SeekMethod> {
        let methods = self.methods.lock();
        methods.iter().find(|(cached, _)| cached == id).map(|(_, method)| method.clone())
    }

    fn remember(&self, id: FileId, method: &SeekMethod) {
        let mut methods = self.methods.lock();
        methods.retain(|(cached, _)| *cached != id);
        methods.push_back((id, method.clone()));
        if methods.len() > CACHED_METHODS {
            methods.pop_front();
        }
    }
}

impl VideoDecoder for WorkerDecoder {
    fn probe(&self, file: &Path) -> Result<MediaInfo> {
        match self.start(open_media(file)?, WorkerJob::Probe)?.run(&mut |_, _| {})? {
            WorkerResult::MediaInfo(info) => Ok((*info).into()),
            _ => Err(wire::protocol_violation()),
        }
    }

    fn scan(
        &self,
        file: &Path,
        options: &ScanOptions,
        sink: &mut dyn ScanSink,
    ) -> Result<ScanSummary> {
        let ScanOptions { width, height, exact, audio_track } = *options;
        let job = WorkerJob::Scan { width, height, exact, audio_track };
        self.start(open_media(file)?, job)?.scan(options, sink)
    }

    fn sound(&self, file: &Path, audio_track: Option<u32>, sink: &mut dyn ScanSink) -> Result<()> {
        self.start(open_media(file)?, WorkerJob::Sound { audio_track })?.sound(sink)
    }

    fn stills(&self, file: &Path, stills: &[Still]) -> Result<Vec<Option<Frame>>> {
        let file = open_media(file)?;
        let meta = file.metadata()?;
        let id = (meta.dev(), meta.ino(), meta.len(), meta.mtime(), meta.mtime_nsec());
        let mut found = Vec::with_capacity(stills.len());
        for stills in stills.chunks(FRAMES_AT_ONCE) {
            let cached = self.cached_method(&id);
            let (frames, method) = self.extract_frames(file.clone(), stills, cached.clone())?;
            if cached.as_ref() != Some(&method) {
                self.remember(id, &method);
            }
            found.extend(frames);
        }
        Ok(found)
    }

    fn clip(
        &self,
        file: &Path,
        cut: &ClipRequest,
        out: File,
        cancel: &CancellationToken,
    ) -> Result<Clip> {
        let ClipRequest { start, end, exact, max_bytes, audio_track } = *cut;
        let job = WorkerJob::Clip { start, end, exact, max_bytes, audio_track };
        self.start(open_media(file)?, job)?.clip(&out, max_bytes, cancel)
    }

    fn render(
        &self,
        format: &RenderFormat,
        parts: &mut RenderParts<'_>,
        out: File,
        cancel: &CancellationToken,
    ) -> Result<()> {
        render::render(self, format, parts, &out, cancel)
    }
}
