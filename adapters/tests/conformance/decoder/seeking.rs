//! Tests that request frames between key frames. The decoder skips other frames on the way to them.

use ports::decoder::{AudioBlock, ScanFrame, ScanOptions, ScanSink, Still, VideoDecoder};

use super::ffmpeg::{Studio, decoder};

/// The picture scrolls, so that every frame differs.
const PICTURE: &str = "-f lavfi -i testsrc2=s=160x96:r=25:d=8,scroll=h=0.01";

/// There is a key frame every 30 frames, with non-reference frames in between.
const CODING: &str = "-c:v libx264 -bf 3 -b_strategy 0 -sc_threshold 0 -g 30 -pix_fmt yuv420p";

/// Maximum mean channel difference, 0..255, that colour conversion and the loop filter may cause.
const ALIKE: f64 = 8.0;

#[derive(Default)]
struct FrameLog(Vec<(f64, Vec<u8>)>);

impl ScanSink for FrameLog {
    fn frame(&mut self, frame: ScanFrame<'_>) -> ports::Result<()> {
        self.0.push((frame.time, frame.rgb.to_vec()));
        Ok(())
    }

    fn audio(&mut self, _: AudioBlock<'_>) -> ports::Result<()> {
        Ok(())
    }
}

/// The frame shown at a time is found for any spacing of frames.
#[test]
fn frame_matches_the_requested_time() {
    let Some(studio) = Studio::open() else { return };
    for (name, spacing) in [
        ("even.mp4", "-vf null"),
        ("even.mkv", "-vf null"),
        // There are frames only in every other span of 0.3 s, with a gap of two seconds.
        ("uneven.mp4", "-vf select=lt(mod(t\\,0.6)\\,0.3)*not(between(t\\,3\\,5)) -fps_mode vfr"),
        ("uneven.mkv", "-vf select=lt(mod(t\\,0.6)\\,0.3)*not(between(t\\,3\\,5)) -fps_mode vfr"),
        ("interlaced.mp4", "-vf setfield=tff -flags +ilme+ildct"),
        // This container has no index of key frames.
        ("stream.ts", "-vf null"),
    ] {
        let Some(file) = studio.make(name, &format!("{PICTURE} {spacing} {CODING}")) else {
            continue;
        };
        let (mut log, size) = (
            FrameLog::default(),
            ScanOptions { width: 160, height: 96, exact: true, audio_track: None },
        );
        let end = decoder().scan(&file, &size, &mut log).unwrap().end;
        let times: Vec<f64> = (0..).map(|i| f64::from(i) * 0.21).take_while(|t| *t < end).collect();
        let stills: Vec<Still> = times.iter().map(|&time| Still { time, max_side: 160 }).collect();
        let found = decoder().stills(&file, &stills).unwrap();
        for (time, found) in times.iter().zip(found) {
            let shown = log.0.iter().rev().find(|(at, _)| *at <= time + 1e-4);
            let (at, rgb) = shown.or(log.0.first()).unwrap();
            let found = found.unwrap_or_else(|| panic!("{name}: nothing at {time}"));
            assert!(
                (found.time - at).abs() < 1e-3,
                "{name}: at {time} {} and not {at}",
                found.time
            );
            let apart = found.image.rgb.iter().zip(rgb).map(|(a, b)| f64::from(a.abs_diff(*b)));
            let apart = apart.sum::<f64>() / rgb.len() as f64;
            assert!(apart < ALIKE, "{name}: the frame at {time} differs by {apart:.1}");
        }
    }
}

#[test]
fn one_call_returns_frames_of_two_sizes() {
    let Some(studio) = Studio::open() else { return };
    let Some(file) = studio.make("sizes.mp4", &format!("{PICTURE} {CODING}")) else { return };
    let requests = [(1.0, 80), (3.0, 160), (1.0, 160), (f64::NAN, 80), (3.0, 80)];
    let stills = requests.map(|(time, max_side)| Still { time, max_side });
    let found = decoder().stills(&file, &stills).unwrap();
    let found: Vec<Option<(f64, u32)>> =
        found.into_iter().map(|f| f.map(|f| (f.time, f.image.width))).collect();
    let expected = [Some((1.0, 80)), Some((3.0, 160)), Some((1.0, 160)), None, Some((3.0, 80))];
    assert_eq!(found, expected);
}
