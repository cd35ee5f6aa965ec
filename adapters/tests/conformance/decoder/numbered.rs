//! Tests that use numbered frames to check, in every container, that the frame returned for a time
//! is the frame shown at that time.

use ports::decoder::{
    AudioBlock, CancellationToken, ClipRequest, Image, ScanFrame, ScanOptions, ScanSink, Still,
    VideoDecoder,
};

use super::ffmpeg::{Studio, decoder};

/// Number of columns that encode the bits of a frame's number, lowest bit first, and the width of
/// the columns in pixels.
const BITS: u32 = 10;
const COLUMN: u32 = 16;

/// Frames per second.
const RATE: f64 = 25.0;

/// Returns input options for a video whose upper half shows each frame's number and whose lower
/// half moves.
fn film(seconds: u32) -> String {
    let bits = format!("mod(floor((N+{{from}})/pow(2\\,floor(X/{COLUMN})))\\,2)");
    let lower = "90+60*sin((X+Y+3*N)/9)";
    let (width, height) = (BITS * COLUMN, 96);
    format!(
        "-f lavfi -i color=s={width}x{height}:r={RATE}:d={seconds},\
         geq=lum='if(lt(Y\\,48)\\,16+210*{bits}\\,{lower})':cb=128:cr=128"
    )
}

/// Like [`film`], with frame numbers that start at `from`.
fn film_from(from: u32, seconds: u32) -> String {
    film(seconds).replace("{from}", &from.to_string())
}

fn number(image: &Image) -> u32 {
    let y = image.height / 4;
    let bright = |bit: u32| {
        let x = bit * COLUMN + COLUMN / 2;
        image.rgb[((y * image.width + x) * 3) as usize] > 128
    };
    (0..BITS).filter(|bit| bright(*bit)).map(|bit| 1 << bit).sum()
}

#[derive(Default)]
struct Numbers {
    frames: Vec<(f64, u32)>,
    samples: u64,
    loud_until: f64,
}

impl ScanSink for Numbers {
    fn frame(&mut self, frame: ScanFrame<'_>) -> ports::Result<()> {
        let image = Image { width: BITS * COLUMN, height: 96, rgb: frame.rgb.to_vec() };
        self.frames.push((frame.time, number(&image)));
        Ok(())
    }

    fn audio(&mut self, block: AudioBlock<'_>) -> ports::Result<()> {
        let AudioBlock { time, samples, .. } = block;
        self.samples += samples.len() as u64;
        if samples.iter().any(|sample| sample.abs() > 0.1) {
            self.loud_until = time + samples.len() as f64 / 16_000.0;
        }
        Ok(())
    }
}

const EXACT: ScanOptions =
    ScanOptions { width: BITS * COLUMN, height: 96, exact: true, audio_track: None };

/// Asserts that a scan, single frames and a clip show every number at its time.
fn assert_numbers_match(name: &str, file: &std::path::Path, seconds: f64) {
    let mut numbers = Numbers::default();
    decoder().scan(file, &EXACT, &mut numbers).unwrap();
    for (time, number) in &numbers.frames {
        assert_eq!((time * RATE).round() as u32, *number, "{name}: scanned at {time:.3}");
    }
    assert_eq!(numbers.frames.len() as f64, seconds * RATE, "{name}");

    // The times go forwards and backwards, and some are near the end.
    let times = [0.0, 0.02, 0.5, 3.13, 3.17, 4.9, 1.0, seconds - 1.5, seconds - 0.02, 2.46, 0.2];
    for chosen in [&times[..], &times[6..7], &times[7..8], &times[9..10]] {
        let stills: Vec<Still> = chosen.iter().map(|&time| Still { time, max_side: 400 }).collect();
        for (time, found) in chosen.iter().zip(decoder().stills(file, &stills).unwrap()) {
            let found = found.unwrap_or_else(|| panic!("{name}: nothing at {time}"));
            let expected = (time * RATE + 1e-3).floor() as u32;
            assert_eq!(number(&found.image), expected, "{name}: the frame at {time}");
        }
    }

    let cut =
        ClipRequest { start: 2.2, end: 3.4, exact: true, max_bytes: 10 << 20, audio_track: None };
    let clip = file.with_extension("clip.mp4");
    let out = std::fs::File::create(&clip).unwrap();
    decoder().clip(file, &cut, out, &CancellationToken::default()).unwrap();
    let mut cut_out = Numbers::default();
    decoder().scan(&clip, &EXACT, &mut cut_out).unwrap();
    let shown: Vec<u32> = cut_out.frames.iter().map(|(_, number)| *number).collect();
    assert_eq!(shown, (55..85).collect::<Vec<u32>>(), "{name}: the clip");
}

#[test]
fn seek_is_exact_in_every_container() {
    let Some(studio) = Studio::open() else { return };
    let x264 = "-c:v libx264 -preset veryfast -g 40 -bf 3 -b_strategy 0 -pix_fmt yuv420p";
    for (name, coding) in [
        ("h264.mp4", x264),
        ("h264.mkv", x264),
        ("h264.avi", x264),
        ("open.avi", &format!("{x264} -x264-params open-gop=1")),
        ("h264.ts", x264),
        ("raw.h264", x264),
        ("open.h264", &format!("{x264} -x264-params open-gop=1")),
        ("raw.hevc", "-c:v libx265 -g 40 -x265-params log-level=none"),
        ("mpeg4.avi", "-c:v mpeg4 -bf 2 -g 30 -q:v 2"),
        ("mpeg4.mp4", "-c:v mpeg4 -bf 2 -g 30 -q:v 2"),
        ("raw.m4v", "-c:v mpeg4 -bf 2 -g 30 -q:v 2"),
        ("raw.m2v", "-c:v mpeg2video -bf 2 -g 15 -q:v 2"),
        ("mpeg2.vob", "-c:v mpeg2video -bf 2 -g 15 -q:v 2"),
        ("mpeg2.ts", "-c:v mpeg2video -bf 2 -g 15 -q:v 2"),
        ("raw.ivf", "-c:v libvpx -b:v 2M -auto-alt-ref 1 -lag-in-frames 16 -g 40"),
        ("flash.flv", x264),
        ("nut.nut", x264),
    ] {
        let made = studio.make(name, &format!("{} {coding}", film_from(0, 8)));
        let Some(file) = made else { continue };
        assert_numbers_match(name, &file, 8.0);
    }
}

/// The stream consists of joined segments, and the timestamps of each segment begin at the same
/// value.
#[test]
fn joined_segments_are_contiguous() {
    let Some(studio) = Studio::open() else { return };
    let sound = "-f lavfi -i sine=frequency=440:sample_rate=44100:duration={d},volume=4";
    for (end, coding) in [
        ("ts", "-c:v libx264 -preset veryfast -g 25 -pix_fmt yuv420p -c:a aac"),
        ("vob", "-c:v mpeg2video -g 15 -bf 2 -q:v 2 -c:a mp2"),
    ] {
        // Larger files are not read to the end if their duration is known.
        let large = "-muxrate 110M";
        for (seconds, muxing) in [(3, ""), (12, ""), (3, large)] {
            if !muxing.is_empty() && end != "ts" {
                continue;
            }
            let coding = format!("{coding} {muxing}");
            let coding = coding.trim_end();
            let sound = sound.replace("{d}", &seconds.to_string());
            let mut joined = Vec::new();
            for piece in 0..2 {
                let film = film_from(piece * seconds * 25, seconds);
                let name = format!("piece{piece}.{end}");
                let Some(file) = studio.make(&name, &format!("{film} {sound} {coding}")) else {
                    return;
                };
                joined.extend(std::fs::read(file).unwrap());
            }
            let name = format!("joined{seconds}{}.{end}", muxing.len());
            assert!(muxing.is_empty() || joined.len() > 64 << 20, "{name}: {}", joined.len());
            let file = studio.path(&name);
            std::fs::write(&file, joined).unwrap();

            let mut numbers = Numbers::default();
            decoder().scan(&file, &EXACT, &mut numbers).unwrap();
            let whole = f64::from(2 * seconds);
            // In a program stream, the video begins a little after the audio.
            let late = numbers.frames[0].0;
            for (time, number) in &numbers.frames {
                let expected = f64::from(*number) / RATE + late;
                assert!((time - expected).abs() < 0.15, "{name}: {number} at {time:.3}");
            }
            assert!(numbers.loud_until > whole - 0.3, "{name}: {}", numbers.loud_until);
            let times = [0.5, 0.5 * whole - 0.5, 0.5 * whole + 0.7, whole - 0.5];
            let stills = times.map(|time| Still { time, max_side: 400 });
            for (time, found) in times.iter().zip(decoder().stills(&file, &stills).unwrap()) {
                let found = number(&found.unwrap().image);
                let expected = ((time - late) * RATE) as u32;
                assert!(found.abs_diff(expected) <= 4, "{name}: {found} at {time}");
            }
            assert_clip_crosses_the_joint(&name, &file, f64::from(seconds), late);
        }
    }
}

/// Asserts that a clip shows every number on both sides of the joint, with sound to its end.
fn assert_clip_crosses_the_joint(name: &str, file: &std::path::Path, joint: f64, late: f64) {
    let (start, end) = (joint - 1.0, joint + 1.0);
    for exact in [true, false] {
        let cut = ClipRequest { start, end, exact, max_bytes: 50 << 20, audio_track: None };
        let clip = file.with_extension("clip.mp4");
        let out = std::fs::File::create(&clip).unwrap();
        let began = decoder().clip(file, &cut, out, &CancellationToken::default()).unwrap().start;
        assert!(began <= start && (!exact || began == start), "{name}: begins at {began}");
        let mut shown = Numbers::default();
        decoder().scan(&clip, &EXACT, &mut shown).unwrap();
        let numbers: Vec<u32> = shown.frames.iter().map(|(_, number)| *number).collect();
        let first = numbers[0];
        let expected: Vec<u32> = (first..first + numbers.len() as u32).collect();
        assert_eq!(numbers, expected, "{name}: no number is missing or repeated");
        let last = expected[expected.len() - 1];
        for (number, time) in [(first, began), (last, end)] {
            let wanted = ((time - late) * RATE) as u32;
            assert!(number.abs_diff(wanted) <= 4, "{name}: {number} at {time}");
        }
        for (time, number) in &shown.frames {
            let expected = f64::from(number - first) / RATE;
            assert!((time - expected).abs() < 0.15, "{name}: {number} at {time:.3}");
        }
        let length = end - began;
        assert!(shown.loud_until > length - 0.3, "{name}: loud until {}", shown.loud_until);
        let seconds = shown.samples as f64 / 16_000.0;
        assert!((seconds - length).abs() < 0.3, "{name}: {seconds} s of sound");
    }
}
