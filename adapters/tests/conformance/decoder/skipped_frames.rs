//! Tests that a scan skips frames only where the picture does not change.

use ports::decoder::{AudioBlock, ScanFrame, ScanOptions, ScanSink, ScanSummary, VideoDecoder};

use super::ffmpeg::{Studio, decoder};

/// Two still pictures, and one that scrolls fast, beginning at 4 s. The first picture ends in the
/// middle of a pattern of predicted frames.
const SHOTS: &str = "smptebars=s=320x180:r=25:d=2.04[a];rgbtestsrc=s=320x180:r=25:d=1.96[b];\
                     testsrc=s=320x180:r=25:d=2,scroll=h=0.08[c];[a][b][c]concat=n=3,format=yuv420p";

/// There is no key frame at the start of a shot, and there are non-reference frames.
const CODING: &str = "-c:v libx264 -bf 3 -b_strategy 0 -sc_threshold 0 -g 250";

/// Minimum mean channel difference, 0..255, at which two small frames count as different.
const UNLIKE: f64 = 6.0;

/// The time and pixels of each frame, and the number of frames skipped before it.
#[derive(Default)]
struct FrameLog {
    frames: Vec<(f64, Vec<u8>, u32)>,
}

impl ScanSink for FrameLog {
    fn frame(&mut self, frame: ScanFrame<'_>) -> ports::Result<()> {
        self.frames.push((frame.time, frame.rgb.to_vec(), frame.skipped));
        Ok(())
    }

    fn audio(&mut self, _: AudioBlock<'_>) -> ports::Result<()> {
        Ok(())
    }
}

impl FrameLog {
    fn has(&self, time: f64) -> bool {
        self.frames.iter().any(|frame| (frame.0 - time).abs() < 1e-3)
    }
}

fn scanned(file: &std::path::Path, exact: bool) -> (FrameLog, ScanSummary) {
    let (mut log, size) =
        (FrameLog::default(), ScanOptions { width: 80, height: 45, exact, audio_track: None });
    let summary = decoder().scan(file, &size, &mut log).unwrap();
    (log, summary)
}

#[test]
fn static_frames_are_skipped() {
    let Some(studio) = Studio::open() else { return };
    let arguments = format!("-f lavfi -i {SHOTS} {CODING}");
    let Some(file) = studio.make("calm.mp4", &arguments) else { return };
    let ((every, whole), (log, summary)) = (scanned(&file, true), scanned(&file, false));

    assert_eq!(every.frames.len(), 150);
    assert!(every.frames.iter().all(|frame| frame.2 == 0));
    let skipped: u32 = log.frames.iter().map(|frame| frame.2).sum();
    assert!(skipped > 30, "{skipped} were skipped");
    assert_eq!((log.frames.len() + skipped as usize, summary.end), (150, whole.end));

    for (time, rgb, _) in &log.frames {
        let exact = every.frames.iter().find(|(at, ..)| at == time).unwrap();
        let apart = rgb.iter().zip(&exact.1).map(|(a, b)| f64::from(a.abs_diff(*b)));
        let apart = apart.sum::<f64>() / rgb.len() as f64;
        assert!(apart < UNLIKE, "the frame at {time} differs by {apart:.1} from what is shown");
    }
    for pair in log.frames.windows(2) {
        assert!(pair[1].0 - pair[0].0 < 0.1, "{} and {}", pair[0].0, pair[1].0);
    }
    // The times of the last frame of each shot and of the first frame of the next shot.
    for time in [2.0, 2.04, 3.96, 4.0] {
        assert!(log.has(time), "the frame at {time} was skipped");
    }
    let moving = log.frames.iter().filter(|frame| frame.0 > 4.4);
    assert_eq!(moving.map(|frame| frame.2).sum::<u32>(), 0, "where the picture moves");
}
