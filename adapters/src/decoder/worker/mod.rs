//! `VideoDecoder` in processes of their own, one for each call: whatever a file makes FFmpeg do, it
//! is done where nothing else is within reach. The composition root opens it; `work` is the other
//! end, which the program runs when it is started as `shotlog decode`.
//!
//! The process gets the open file as its standard input and writes frames and sound to its standard
//! output. It has an empty environment and no other descriptor, and before it reads a byte of the
//! file it gives up the file system and the network (Landlock), all system calls but those that
//! decoding takes (seccomp), and memory and processor time beyond its limits. What it writes is
//! checked like any input: a file may have taken it over.

mod cage;
mod process;
mod wire;
mod work;

use std::collections::VecDeque;
use std::fs::File;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use ports::Result;
use ports::decoder::{
    CancellationToken, Clip, ClipRequest, Frame, MediaInfo, ScanOptions, ScanSink, ScanSummary,
    Still, VideoDecoder,
};

use super::ffmpeg::{FfmpegOptions, Way, open_media};
pub use cage::missing_protection;
use process::Process;
use wire::{Job, Outcome, Request};
pub use work::work;

/// Frames that one process is asked for.
const FRAMES_AT_ONCE: usize = 1000;

/// Files whose way is remembered.
const WAYS: usize = 64;

/// The limits of the processes.
#[derive(Debug, Clone, PartialEq)]
pub struct WorkerOptions {
    /// What is accepted, and how long it may take.
    pub ffmpeg: FfmpegOptions,
    /// Memory beside the program's own, bytes.
    pub memory: u64,
    /// Processor time, whatever the file holds …
    pub processor_time: Duration,
    /// … and in addition for each second of media, or for each frame asked for.
    pub processor_time_per_second: Duration,
    /// The program that is started as `PROGRAM decode REQUEST`.
    pub program: PathBuf,
}

impl Default for WorkerOptions {
    /// Those of `[decoder]` where nothing else is set.
    fn default() -> Self {
        (&super::Settings::default()).into()
    }
}

impl From<&super::Settings> for WorkerOptions {
    fn from(section: &super::Settings) -> Self {
        Self {
            ffmpeg: section.into(),
            memory: section.memory,
            processor_time: Duration::from_secs(section.processor_time),
            processor_time_per_second: Duration::from_secs(section.processor_time_per_second),
            program: this_program(),
        }
    }
}

impl WorkerOptions {
    /// Processor time for so many seconds of media, or so many frames, in whole seconds.
    fn processor_seconds(&self, content: f64) -> u64 {
        let more = self.processor_time_per_second.mul_f64(content);
        (self.processor_time + more).as_secs().max(1)
    }
}

/// The program that runs, also where its file has been replaced meanwhile.
fn this_program() -> PathBuf {
    if cfg!(target_os = "linux") {
        "/proc/self/exe".into()
    } else {
        std::env::current_exe().unwrap_or_else(|_| "shotlog".into())
    }
}

/// Reads video and sound files with FFmpeg, in a confined process for each call.
#[derive(Debug)]
pub struct WorkerDecoder {
    options: WorkerOptions,
    /// The ways to the frames of the files that were asked for last.
    ways: Mutex<VecDeque<(FileId, Way)>>,
}

/// A file as it is now: device, inode, size and time of change.
type FileId = (u64, u64, u64, i64, i64);

impl WorkerDecoder {
    /// A decoder with these limits. Starts nothing.
    pub fn new(options: WorkerOptions) -> Self {
        Self { options, ways: Mutex::default() }
    }

    fn start(&self, file: Arc<File>, job: Job) -> Result<Process> {
        let frames = match &job {
            Job::Frames { stills, .. } => stills.len() as f64,
            Job::Clip { start, end, .. } => (end - start).max(0.0),
            Job::Probe | Job::Scan { .. } | Job::Sound { .. } => 0.0,
        };
        let request = Request {
            ffmpeg: self.options.ffmpeg.clone(),
            memory: self.options.memory,
            processor_seconds: self.options.processor_seconds(frames),
            parent: std::process::id(),
            job,
        };
        Process::start(&self.options, &file, &request, frames)
    }

    fn frames_of(
        &self,
        file: Arc<File>,
        stills: &[Still],
        way: Option<Way>,
    ) -> Result<(Vec<Option<Frame>>, Way)> {
        let mut frames = vec![None; stills.len()];
        let finite = |&index: &usize| stills[index].time.is_finite();
        let asked: Vec<usize> = (0..stills.len()).filter(finite).collect();
        let job = Job::Frames { stills: asked.iter().map(|&i| stills[i]).collect(), way };
        let outcome = self.start(file, job)?.run(&mut |index, frame| {
            if let Some(slot) = asked.get(index).and_then(|&i| frames.get_mut(i)) {
                *slot = Some(frame);
            }
        })?;
        match outcome {
            Outcome::Frames(way) => Ok((frames, way)),
            _ => Err(wire::nonsense()),
        }
    }

    fn known_way(&self, id: &FileId) -> Option<Way> {
        let ways = self.ways.lock().unwrap_or_else(PoisonError::into_inner);
        ways.iter().find(|(known, _)| known == id).map(|(_, way)| way.clone())
    }

    fn remember(&self, id: FileId, way: &Way) {
        let mut ways = self.ways.lock().unwrap_or_else(PoisonError::into_inner);
        ways.retain(|(known, _)| *known != id);
        ways.push_back((id, way.clone()));
        if ways.len() > WAYS {
            ways.pop_front();
        }
    }
}

impl VideoDecoder for WorkerDecoder {
    fn probe(&self, file: &Path) -> Result<MediaInfo> {
        match self.start(open_media(file)?, Job::Probe)?.run(&mut |_, _| {})? {
            Outcome::Probed(info) => Ok(info.into()),
            _ => Err(wire::nonsense()),
        }
    }

    fn scan(
        &self,
        file: &Path,
        options: &ScanOptions,
        sink: &mut dyn ScanSink,
    ) -> Result<ScanSummary> {
        let ScanOptions { width, height, exact, audio_track } = *options;
        let job = Job::Scan { width, height, exact, audio_track };
        self.start(open_media(file)?, job)?.scan(options, sink)
    }

    fn sound(&self, file: &Path, audio_track: Option<u32>, sink: &mut dyn ScanSink) -> Result<()> {
        self.start(open_media(file)?, Job::Sound { audio_track })?.sound(sink)
    }

    fn stills(&self, file: &Path, stills: &[Still]) -> Result<Vec<Option<Frame>>> {
        let file = open_media(file)?;
        let meta = file.metadata()?;
        let id = (meta.dev(), meta.ino(), meta.len(), meta.mtime(), meta.mtime_nsec());
        let mut found = Vec::with_capacity(stills.len());
        for stills in stills.chunks(FRAMES_AT_ONCE) {
            let known = self.known_way(&id);
            let (frames, way) = self.frames_of(file.clone(), stills, known.clone())?;
            if known.as_ref() != Some(&way) {
                self.remember(id, &way);
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
        let job = Job::Clip { start, end, exact, max_bytes, audio_track };
        self.start(open_media(file)?, job)?.clip(&out, max_bytes, cancel)
    }
}
