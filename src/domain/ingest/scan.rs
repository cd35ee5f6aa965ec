//! The decoding pass: the boundary detectors and measures fed from one scan of the file.

use std::path::PathBuf;
use std::sync::Arc;

use ports::decoder::{SAMPLE_RATE, ScanOptions, ScanSink, ScanSummary, VideoDecoder};

use crate::domain::chunking::Signals;
use crate::domain::chunking::Weights;
use crate::domain::chunking::cut::CutDetector;
use crate::domain::chunking::silence::SilenceDetector;
use crate::domain::error::{Error, Result};
use crate::domain::jobs::Progress;

struct Detectors {
    cut: CutDetector,
    silence: SilenceDetector,
    heard: bool,
    progress: Progress,
}

impl ScanSink for Detectors {
    fn frame(&mut self, time: f64, rgb: &[u8]) -> ports::Result<()> {
        self.cut.push(time, rgb);
        self.stop_when_cancelled()
    }

    fn audio(&mut self, time: f64, samples: &[f32]) -> ports::Result<()> {
        if !self.heard {
            self.silence.starts_at(time);
            self.heard = true;
        }
        self.silence.push(samples);
        self.stop_when_cancelled()
    }
}

impl Detectors {
    fn stop_when_cancelled(&self) -> ports::Result<()> {
        self.progress
            .check()
            .map_err(|e| ports::PortError::new(ports::ErrorKind::Other, e.to_string()))
    }
}

/// Decodes the file once and returns everything measured on the way.
pub(super) async fn scan(
    decoder: Arc<dyn VideoDecoder>,
    file: PathBuf,
    width: u32,
    height: u32,
    progress: Progress,
) -> Result<Signals> {
    let scanned = tokio::task::spawn_blocking(move || {
        let mut detectors = Detectors {
            cut: CutDetector::new(width, height),
            silence: SilenceDetector::new(SAMPLE_RATE),
            heard: false,
            progress,
        };
        let summary = decoder.scan(&file, &ScanOptions { width, height }, &mut detectors);
        detectors.progress.check()?;
        Ok::<_, Error>(detectors.signals(summary?))
    });
    scanned.await.map_err(|e| Error::corrupt(format!("decoding panicked: {e}")))?
}

impl Detectors {
    fn signals(self, summary: ScanSummary) -> Signals {
        let cuts = self.cut.finish();
        let silence = self.silence.finish();
        Signals {
            candidates: Weights {
                speaker: Vec::new(),
                silence: silence.candidates,
                cut: cuts.candidates,
                semantic: Vec::new(),
            },
            visual: cuts.seconds,
            loudness: silence.levels,
            end: summary.end,
        }
    }
}
