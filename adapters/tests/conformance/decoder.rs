//! Tests of the adapters of the `decoder` port.

use std::path::Path;

use adapters::decoder::{Fill, RecordedDecoder, Recording, Scene, ToneSpan};
use ports::conformance::decoder::{self as suite, TestClip};
use shotlog_adapters as adapters;

const RED: [u8; 3] = [220, 30, 30];
const GREEN: [u8; 3] = [30, 180, 60];
const BLUE: [u8; 3] = [40, 60, 200];

fn write(folder: &Path, name: &str, recording: &Recording) -> std::path::PathBuf {
    let file = folder.join(name);
    std::fs::write(&file, recording.to_bytes()).unwrap();
    file
}

fn recording() -> Recording {
    let scene = |seconds, colour| Scene { seconds, fill: Fill::Colour(colour) };
    Recording {
        width: 320,
        height: 180,
        frame_rate: 25.0,
        scenes: vec![scene(1.0, RED), scene(1.0, GREEN), scene(1.0, BLUE)],
        sounds: vec![
            ToneSpan { seconds: 1.0, tone: 440.0 },
            ToneSpan { seconds: 1.0, tone: 0.0 },
            ToneSpan { seconds: 1.0, tone: 660.0 },
        ],
        claimed_duration: None,
        damaged_from: None,
    }
}

/// Describes the content of `recording` and of the clips that are made with the `ffmpeg` program.
fn clip() -> TestClip {
    let loud = 0.5 / std::f32::consts::SQRT_2;
    TestClip {
        size: Some((320, 180)),
        shots: vec![(0.0, RED), (1.0, GREEN), (2.0, BLUE)],
        tones: Some(vec![(0.0, 1.0, loud), (2.0, 3.0, loud)]),
        end: 3.0,
        duration_is_true: true,
    }
}

#[test]
fn recorded() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let decoder = RecordedDecoder;
    suite::check(&decoder, "recording", &write(folder, "a", &recording()), &clip());
    let lying = Recording { claimed_duration: Some(60.0), ..recording() };
    let claims = TestClip { duration_is_true: false, ..clip() };
    suite::check(&decoder, "a lying duration", &write(folder, "b", &lying), &claims);
    let mute = Recording { sounds: Vec::new(), ..recording() };
    suite::check(
        &decoder,
        "no sound",
        &write(folder, "c", &mute),
        &TestClip { tones: None, ..clip() },
    );
    let blind = Recording { scenes: Vec::new(), ..recording() };
    let heard = TestClip { size: None, shots: Vec::new(), ..clip() };
    suite::check(&decoder, "no picture", &write(folder, "d", &blind), &heard);
    let damaged = Recording { damaged_from: Some(1.5), ..recording() };
    suite::check_damaged(&decoder, "damaged", &write(folder, "e", &damaged), &clip());
    let hollow = Recording { damaged_from: Some(0.0), ..recording() };
    suite::check_empty(&decoder, "hollow", &write(folder, "f", &hollow));
    suite::check_non_media(&decoder);
    suite::check_missing(&decoder);
}

#[cfg(feature = "ffmpeg")]
mod channels;
#[cfg(feature = "ffmpeg")]
mod clips;
#[cfg(feature = "ffmpeg")]
mod hostile;
#[cfg(feature = "ffmpeg")]
mod metadata;
#[cfg(feature = "ffmpeg")]
mod numbered;
#[cfg(feature = "ffmpeg")]
mod process;
#[cfg(feature = "ffmpeg")]
mod seeking;
#[cfg(feature = "ffmpeg")]
mod skipped_frames;

#[cfg(feature = "ffmpeg")]
mod ffmpeg {
    use std::path::PathBuf;
    use std::process::Command;
    use std::time::Duration;

    use adapters::decoder::{FfmpegDecoder, FfmpegOptions, WorkerDecoder, WorkerOptions};
    use ports::ErrorKind;
    use ports::decoder::{
        AudioBlock, CancellationToken, ClipRequest, Image, ScanFrame, ScanOptions, ScanSink,
        VideoDecoder, VideoDecoderExt,
    };

    use super::*;

    /// Three seconds with three colours, and two tones with silence in between.
    const PICTURE: &str = "color=c=0xDC1E1E:s=320x180:r=25:d=1[a];color=c=0x1EB43C:s=320x180:r=25:d=1[b];color=c=0x283CC8:s=320x180:r=25:d=1[c];[a][b][c]concat=n=3,format=yuv420p,setsar=1";
    const SOUND: &str = "aevalsrc='0.5*sin(440*2*PI*t)*(lt(t,1)+gte(t,2))':s=44100:d=3";

    /// Duration of the MP2 encoder's priming samples before the audio, in seconds.
    const MP2_PRIMING: f64 = 481.0 / 44_100.0;

    fn after_priming(clip: &TestClip, by: f64) -> TestClip {
        TestClip {
            shots: clip.shots.iter().map(|s| (s.0 + by, s.1)).collect(),
            tones: clip
                .tones
                .iter()
                .flatten()
                .map(|t| (t.0 + by, t.1 + by, t.2))
                .collect::<Vec<_>>()
                .into(),
            end: clip.end + by,
            ..clip.clone()
        }
    }

    /// Returns the sandboxed decoder, which runs in a separate process.
    pub(super) fn decoder() -> WorkerDecoder {
        confined(WorkerOptions::default())
    }

    pub(super) fn confined(options: WorkerOptions) -> WorkerDecoder {
        let program = env!("CARGO_BIN_EXE_decode-worker").into();
        WorkerDecoder::new(WorkerOptions { program, ..options })
    }

    #[test]
    fn unconfined_decoder_passes() {
        let Some(studio) = Studio::open() else { return };
        let file = studio.both("h264.mp4", "-c:v libx264 -g 12 -c:a aac").unwrap();
        suite::check(&FfmpegDecoder::new(FfmpegOptions::default()), "h264.mp4", &file, &clip());
    }

    pub(super) struct Studio {
        folder: tempfile::TempDir,
    }

    impl Studio {
        /// Returns `None` and prints a message if there is no `ffmpeg` program.
        pub(super) fn open() -> Option<Self> {
            if Command::new("ffmpeg").arg("-version").output().is_err() {
                println!("skipped: there is no ffmpeg program to make clips with");
                return None;
            }
            Some(Self { folder: tempfile::tempdir().unwrap() })
        }

        pub(super) fn path(&self, name: &str) -> PathBuf {
            self.folder.path().join(name)
        }

        /// Runs `ffmpeg` with these arguments, which are split at spaces, and then the output file.
        pub(super) fn make(&self, name: &str, arguments: &str) -> Option<PathBuf> {
            let file = self.path(name);
            let output = Command::new("ffmpeg")
                .current_dir(self.folder.path())
                .args(["-nostdin", "-v", "error", "-y"])
                .args(arguments.split(' ').map(|a| match a {
                    "{picture}" => PICTURE,
                    "{sound}" => SOUND,
                    other => other,
                }))
                .arg(&file)
                .output()
                .unwrap();
            let why = String::from_utf8_lossy(&output.stderr);
            if !output.status.success() {
                assert!(why.contains("Unknown encoder"), "{name}: {why}");
                println!("{name} skipped: {why}");
                return None;
            }
            Some(file)
        }

        pub(super) fn both(&self, name: &str, coding: &str) -> Option<PathBuf> {
            self.make(name, &format!("-f lavfi -i {{picture}} -f lavfi -i {{sound}} {coding}"))
        }
    }

    /// The right channel is the inverted left channel, as with a reversed loudspeaker cable.
    #[test]
    fn inverted_channels_do_not_cancel() {
        let Some(studio) = Studio::open() else { return };
        for (name, sound) in
            [("opposite.mkv", "pan=stereo|c0=c0|c1=-1*c0"), ("same.mkv", "pan=stereo|c0=c0|c1=c0")]
        {
            let coding = format!("-c:v ffv1 -af {sound} -c:a flac");
            let file = studio.both(name, &coding).unwrap();
            suite::check(&decoder(), name, &file, &clip());
        }
    }

    /// The images show patches of reference white and of a grey card, in PQ and in HLG.
    #[test]
    fn hdr_is_tone_mapped() {
        let Some(studio) = Studio::open() else { return };
        for (name, transfer, white, grey) in
            [("pq.mkv", "smpte2084", 573, 397), ("hlg.mkv", "arib-std-b67", 721, 393)]
        {
            let input = format!(
                "-f lavfi -i color=s=64x36:r=25:d=1,format=yuv420p10le,\
                 geq=lum='if(lt(X\\,32)\\,{white}\\,{grey})':cb=512:cr=512"
            );
            let colours = format!(
                "-color_primaries bt2020 -color_trc {transfer} -colorspace bt2020nc -color_range tv"
            );
            let file = studio.make(name, &format!("{input} -c:v ffv1 {colours}")).unwrap();
            let shown = |file: &std::path::Path| {
                let frames = decoder().frames(file, &[0.5], 64).unwrap();
                let image = frames[0].as_ref().unwrap().image.clone();
                [8, 56].map(|x: usize| image.rgb[(18 * 64 + x) * 3])
            };
            let [white, grey] = shown(&file);
            assert!((232..=250).contains(&white), "{name}: white is {white}");
            assert!((75..=130).contains(&grey), "{name}: grey is {grey}");
            let clip = studio.path("clip.mp4");
            let cut = ClipRequest {
                start: 0.2,
                end: 0.8,
                exact: true,
                max_bytes: 1 << 20,
                audio_track: None,
            };
            let out = std::fs::File::create(&clip).unwrap();
            decoder().clip(&file, &cut, out, &CancellationToken::default()).unwrap();
            let again = shown(&clip);
            for (once, twice) in [white, grey].iter().zip(again) {
                assert!(once.abs_diff(twice) <= 6, "{name}: {once} and {twice} in the clip");
            }
        }
    }

    #[test]
    fn formats() {
        let Some(studio) = Studio::open() else { return };
        let decoder = decoder();
        for (name, coding) in [
            ("h264.mp4", "-c:v libx264 -g 12 -c:a aac"),
            ("bframes.mp4", "-c:v libx264 -bf 3 -g 30 -movflags +faststart -c:a aac"),
            ("ten_bit.mkv", "-c:v libx264 -pix_fmt yuv420p10le -c:a flac"),
            ("hevc.mp4", "-c:v libx265 -x265-params log-level=none -c:a aac"),
            ("vp8.webm", "-c:v libvpx -b:v 1M -c:a libvorbis"),
            ("vp9.webm", "-c:v libvpx-vp9 -b:v 1M -cpu-used 8 -c:a libvorbis"),
            ("mpeg4.avi", "-c:v mpeg4 -q:v 2 -c:a pcm_s16le"),
            ("mpeg2.ts", "-c:v mpeg2video -q:v 2 -c:a mp2"),
            ("mpeg1.mpg", "-c:v mpeg1video -q:v 2 -c:a mp2"),
            ("quicktime.mov", "-c:v mjpeg -q:v 2 -c:a pcm_s24be"),
            ("flash.flv", "-c:v flv -q:v 2 -c:a pcm_s16le"),
            ("theora.ogv", "-c:v libtheora -q:v 9 -c:a libvorbis"),
            (
                "fragmented.mp4",
                "-c:v libx264 -bf 0 -c:a flac -strict -2 -movflags frag_keyframe+empty_moov",
            ),
            ("windows.wmv", "-c:v wmv2 -q:v 2 -c:a pcm_s16le"),
            (
                "surround.mkv",
                "-c:v ffv1 -af pan=5.1|FL=c0|FR=c0|FC=c0|LFE=c0|BL=c0|BR=c0 -c:a flac",
            ),
        ] {
            let Some(file) = studio.both(name, coding) else { continue };
            // The duration of some formats, such as MPEG program streams, is only an estimate.
            let duration_is_true = !name.ends_with("mpg");
            let priming = if name == "mpeg2.ts" || name == "mpeg1.mpg" { MP2_PRIMING } else { 0.0 };
            suite::check(
                &decoder,
                name,
                &file,
                &after_priming(&TestClip { duration_is_true, ..clip() }, priming),
            );
        }
    }

    #[test]
    fn video_only_and_audio_only() {
        let Some(studio) = Studio::open() else { return };
        let decoder = decoder();
        let mute = TestClip { tones: None, ..clip() };
        for (name, coding) in [("mute.mp4", "-c:v libx264"), ("mute.mkv", "-c:v ffv1")] {
            let Some(file) = studio.make(name, &format!("-f lavfi -i {{picture}} {coding}")) else {
                continue;
            };
            suite::check(&decoder, name, &file, &mute);
        }
        let heard = TestClip { size: None, shots: Vec::new(), ..clip() };
        for (name, coding) in [
            ("sound.wav", "-c:a pcm_s16le"),
            ("sound.flac", "-c:a flac"),
            ("sound.mp3", "-c:a libmp3lame"),
            ("sound.m4a", "-c:a aac"),
            ("sound.ogg", "-c:a libvorbis"),
            ("sound.opus", "-c:a libopus -ar 48000"),
            ("sound.webm", "-c:a libopus -ar 48000"),
            (
                "many_channels.wav",
                "-filter_complex [0]asplit=24[a0][a1][a2][a3][a4][a5][a6][a7][a8][a9][b0][b1][b2][b3][b4][b5][b6][b7][b8][b9][c0][c1][c2][c3];[a0][a1][a2][a3][a4][a5][a6][a7][a8][a9][b0][b1][b2][b3][b4][b5][b6][b7][b8][b9][c0][c1][c2][c3]amerge=inputs=24 -c:a pcm_s16le",
            ),
        ] {
            let Some(file) = studio.make(name, &format!("-f lavfi -i {{sound}} {coding}")) else {
                continue;
            };
            suite::check(&decoder, name, &file, &heard);
        }
    }

    #[test]
    fn cover_art_is_not_video() {
        let Some(studio) = Studio::open() else { return };
        let heard = TestClip { size: None, shots: Vec::new(), ..clip() };
        studio.make("cover.jpg", "-f lavfi -i color=c=red:s=640x640:d=0.04 -frames:v 1").unwrap();
        for (name, coding) in
            [("cover.mp3", "-c:a libmp3lame -id3v2_version 3"), ("cover.m4a", "-c:a aac")]
        {
            let arguments = format!(
                "-f lavfi -i {{sound}} -i cover.jpg -map 0 -map 1 {coding} -c:v copy -disposition:v attached_pic"
            );
            let Some(file) = studio.make(name, &arguments) else { continue };
            suite::check(&decoder(), name, &file, &heard);
        }
        // Cover art does not hide the video, no matter which of them comes first.
        let arguments = "-i cover.jpg -f lavfi -i {picture} -map 0 -map 1 -c:v:0 copy -c:v:1 libx264 -disposition:v:0 attached_pic";
        let file = studio.make("cover_and_video.mp4", arguments).unwrap();
        suite::check(&decoder(), "cover_and_video.mp4", &file, &TestClip { tones: None, ..clip() });
    }

    #[test]
    fn sizes_and_shapes() {
        let Some(studio) = Studio::open() else { return };
        let mute = |size| TestClip { size: Some(size), tones: None, ..clip() };
        for (name, coding, size) in [
            ("odd.mkv", "-vf scale=321:181,setsar=1 -c:v ffv1 -pix_fmt yuv444p", (321, 181)),
            ("odd_chroma.mkv", "-vf scale=33:35,setsar=1 -c:v ffv1 -pix_fmt yuv420p", (33, 35)),
            ("tiny.mkv", "-vf scale=2:2,setsar=1 -c:v ffv1", (2, 2)),
            ("anamorphic.mp4", "-vf scale=240:180,setsar=4/3 -c:v libx264", (320, 180)),
            ("portrait.mp4", "-vf scale=240:180,setsar=3/4 -c:v libx264", (240, 240)),
            ("alpha.mov", "-vf format=argb -c:v qtrle", (320, 180)),
            ("grey.mkv", "-vf format=gbrp -c:v ffv1", (320, 180)),
            (
                "full_range.mkv",
                "-vf scale=out_range=pc,format=yuvj420p -c:v mjpeg -q:v 2",
                (320, 180),
            ),
        ] {
            let Some(file) = studio.make(name, &format!("-f lavfi -i {{picture}} {coding}")) else {
                continue;
            };
            suite::check(&decoder(), name, &file, &mute(size));
        }
        studio.make("lying.mp4", "-f lavfi -i {picture} -c:v libx264").unwrap();
        let file =
            studio.make("turned.mp4", "-i lying.mp4 -c copy -metadata:s:v rotate=90").unwrap();
        suite::check(&decoder(), "turned.mp4", &file, &mute((180, 320)));
    }

    #[test]
    fn rotation_is_applied() {
        let Some(studio) = Studio::open() else { return };
        // The left half is red and the right half blue. `rotate=90` turns the image clockwise, so
        // red ends up on top.
        let halves = "color=c=0xDC1E1E:s=160x180:r=25:d=1[a];color=c=0x283CC8:s=160x180:r=25:d=1[b];[a][b]hstack";
        studio
            .make("halves.mp4", &format!("-f lavfi -i {halves} -pix_fmt yuv420p -c:v libx264"))
            .unwrap();
        let file = studio
            .make("turned_halves.mp4", "-i halves.mp4 -c copy -metadata:s:v rotate=90")
            .unwrap();
        let expected = studio.make("expected.png", "-i turned_halves.mp4 -frames:v 1").unwrap();
        let expected = image::open(expected).unwrap().to_rgb8();
        let frames = decoder().frames(&file, &[0.0], 1000).unwrap();
        let shown = &frames[0].as_ref().unwrap().image;
        assert_eq!((shown.width, shown.height), expected.dimensions());
        for (x, y) in [(20, 20), (160, 20), (20, 300), (160, 300)] {
            let at = ((y * shown.width + x) * 3) as usize;
            let near = expected
                .get_pixel(x, y)
                .0
                .iter()
                .zip(&shown.rgb[at..at + 3])
                .all(|(a, &b)| a.abs_diff(b) < 12);
            assert!(near, "at {x},{y}: {:?}", &shown.rgb[at..at + 3]);
        }
    }

    #[test]
    fn times_match_a_player() {
        let Some(studio) = Studio::open() else { return };
        let decoder = decoder();
        let loud = 0.5 / std::f32::consts::SQRT_2;
        // The video starts 0.8 s after the audio, and the timeline starts with the audio.
        let late =
            TestClip { shots: vec![(0.8, RED), (1.8, GREEN), (2.8, BLUE)], end: 3.8, ..clip() };
        for (name, coding) in [
            ("late_picture.mp4", "-c:v libx264 -c:a aac"),
            // Uses a codec without priming, because Matroska would shift the video by the priming.
            ("late_picture.mkv", "-c:v libx264 -c:a pcm_s16le"),
        ] {
            let Some(file) = studio.make(
                name,
                &format!("-f lavfi -i {{sound}} -itsoffset 0.8 -f lavfi -i {{picture}} {coding}"),
            ) else {
                continue;
            };
            suite::check(&decoder, name, &file, &late);
        }
        // A transport stream cannot hide the encoder's priming, so the priming comes first.
        let coding =
            "-f lavfi -i {sound} -itsoffset 0.8 -f lavfi -i {picture} -c:v libx264 -c:a mp2";
        let file = studio.make("late_picture.ts", coding).unwrap();
        suite::check(&decoder, "late_picture.ts", &file, &after_priming(&late, MP2_PRIMING));
        // The audio starts after the video.
        let file = studio
            .make(
                "late_sound.mp4",
                "-f lavfi -i {picture} -itsoffset 0.5 -f lavfi -i {sound} -c:v libx264 -c:a aac",
            )
            .unwrap();
        let late =
            TestClip { tones: Some(vec![(0.5, 1.5, loud), (2.5, 3.5, loud)]), end: 3.5, ..clip() };
        suite::check(&decoder, "late_sound.mp4", &file, &late);
        // The file's timestamps do not start at 0.
        let file = studio.both("offset.ts", "-c:v libx264 -c:a mp2 -output_ts_offset 100").unwrap();
        suite::check(&decoder, "offset.ts", &file, &after_priming(&clip(), MP2_PRIMING));
        // The file is cut without re-encoding, so an edit list hides the first half second.
        studio.both("whole.mp4", "-c:v libx264 -g 250 -c:a aac").unwrap();
        let file = studio.make("edited.mp4", "-ss 0.48 -i whole.mp4 -c copy").unwrap();
        let edited = TestClip {
            shots: vec![(0.0, RED), (0.52, GREEN), (1.52, BLUE)],
            tones: Some(vec![(0.0, 0.52, loud), (1.52, 2.52, loud)]),
            end: 2.52,
            ..clip()
        };
        suite::check(&decoder, "edited.mp4", &file, &edited);
        // The frame rate varies. Red has 25, green has 5 and blue has 25 frames per second.
        let file = studio
            .both(
                "variable.mp4",
                "-vf select='not(between(n,25,49)*mod(n,5))' -vsync vfr -c:v libx264 -c:a aac",
            )
            .unwrap();
        suite::check(&decoder, "variable.mp4", &file, &clip());
        let file = studio
            .both(
                "variable.mkv",
                "-vf select='not(between(n,25,49)*mod(n,5))' -vsync vfr -c:v libx264 -c:a flac",
            )
            .unwrap();
        suite::check(&decoder, "variable.mkv", &file, &clip());
    }

    #[test]
    fn audio_gaps_are_silence() {
        let Some(studio) = Studio::open() else { return };
        let loud = 0.5 / std::f32::consts::SQRT_2;
        let file = studio.make("gap.mkv", "-f lavfi -i {picture} -f lavfi -i {sound} -af aselect='not(between(t,0.4,0.8))' -c:v libx264 -c:a pcm_s16le").unwrap();
        let gap = TestClip {
            tones: Some(vec![(0.0, 0.4, loud), (0.8, 1.0, loud), (2.0, 3.0, loud)]),
            ..clip()
        };
        suite::check(&decoder(), "gap.mkv", &file, &gap);
    }

    #[test]
    fn formats_change_mid_stream() {
        let Some(studio) = Studio::open() else { return };
        let loud = 0.5 / std::f32::consts::SQRT_2;
        // Two concatenated streams have different sample rates and channels.
        studio.make("a.mp2", "-f lavfi -i {sound} -ar 44100 -c:a mp2").unwrap();
        studio
            .make("b.mp2", "-f lavfi -i {sound} -ar 24000 -af pan=stereo|c0=c0|c1=c0 -c:a mp2")
            .unwrap();
        let joined: Vec<u8> = ["a.mp2", "b.mp2"]
            .iter()
            .flat_map(|n| std::fs::read(studio.path(n)).unwrap())
            .collect();
        std::fs::write(studio.path("joined.mp2"), joined).unwrap();
        let heard = TestClip {
            size: None,
            shots: Vec::new(),
            tones: Some(vec![(0.0, 1.0, loud), (2.0, 4.0, loud), (5.0, 6.0, loud)]),
            end: 6.05,
            duration_is_true: false,
        };
        suite::check(&decoder(), "joined.mp2", &studio.path("joined.mp2"), &heard);
        // Two spliced recordings have different sizes, and the timestamps start over.
        studio.make("a.ts", "-f lavfi -i {picture} -c:v libx264 -output_ts_offset 500").unwrap();
        studio.make("b.ts", "-f lavfi -i {picture} -vf scale=160:90 -c:v libx264").unwrap();
        let joined: Vec<u8> =
            ["a.ts", "b.ts"].iter().flat_map(|n| std::fs::read(studio.path(n)).unwrap()).collect();
        std::fs::write(studio.path("joined.ts"), joined).unwrap();
        let mut output = ScanOutput::default();
        let summary = decoder().scan(&studio.path("joined.ts"), &SIZE, &mut output).unwrap();
        assert_eq!(summary.frames, 150);
        assert!(
            (summary.end - 6.0).abs() < 0.2,
            "the clock continues across the splice: {}",
            summary.end
        );
    }

    #[test]
    fn damaged_file_yields_its_beginning() {
        let Some(studio) = Studio::open() else { return };
        let file = studio
            .both("faststart.mp4", "-c:v libx264 -g 12 -c:a aac -movflags +faststart")
            .unwrap();
        let bytes = std::fs::read(file).unwrap();
        std::fs::write(studio.path("cut_off.mp4"), &bytes[..bytes.len() * 6 / 10]).unwrap();
        suite::check_damaged(&decoder(), "cut_off.mp4", &studio.path("cut_off.mp4"), &clip());
        // If the index at its end is missing, the file cannot be decoded.
        let file = studio.both("index_last.mp4", "-c:v libx264 -c:a aac").unwrap();
        let bytes = std::fs::read(file).unwrap();
        std::fs::write(studio.path("no_index.mp4"), &bytes[..bytes.len() / 2]).unwrap();
        suite::check_invalid(&decoder(), "no_index.mp4", &studio.path("no_index.mp4"));
    }

    #[test]
    fn damaged_packets_are_counted_and_skipped() {
        let Some(studio) = Studio::open() else { return };
        let file = studio.both("noisy.ts", "-c:v libx264 -g 6 -c:a mp2").unwrap();
        let mut bytes = std::fs::read(file).unwrap();
        let (from, to) = (bytes.len() * 4 / 10, bytes.len() * 5 / 10);
        for (i, byte) in bytes[from..to].iter_mut().enumerate() {
            // The headers of the packets stay intact, but their payload is overwritten.
            if (from + i) % 188 > 12 {
                *byte = byte.wrapping_mul(31).wrapping_add(i as u8);
            }
        }
        std::fs::write(studio.path("noisy.ts"), bytes).unwrap();
        let mut output = ScanOutput::default();
        let summary = decoder().scan(&studio.path("noisy.ts"), &SIZE, &mut output).unwrap();
        assert!(summary.damaged > 0, "{summary:?}");
        assert!((summary.end - 3.0).abs() < 0.2, "{summary:?}");
    }

    #[test]
    fn containers_without_frames() {
        let Some(studio) = Studio::open() else { return };
        for name in ["hollow.mp4", "hollow.mkv"] {
            let file = studio.make(name, "-f lavfi -i {picture} -frames:v 0 -c:v mpeg4").unwrap();
            suite::check_empty(&decoder(), name, &file);
        }
        let file = studio.make("hollow.wav", "-f lavfi -i {sound} -t 0 -c:a pcm_s16le").unwrap();
        suite::check_empty(&decoder(), "hollow.wav", &file);
    }

    #[test]
    fn non_media_files_are_rejected() {
        suite::check_non_media(&decoder());
        suite::check_missing(&decoder());
        let folder = tempfile::tempdir().unwrap();
        let pipe = folder.path().join("pipe.mp4");
        if Command::new("mkfifo").arg(&pipe).status().is_ok_and(|s| s.success()) {
            suite::check_invalid(&decoder(), "a pipe", &pipe);
        }
        let picture = folder.path().join("picture.png");
        image::RgbImage::new(64, 64).save(&picture).unwrap();
        suite::check_invalid(&decoder(), "a still picture", &picture);
    }

    #[test]
    fn limits_are_enforced() {
        let Some(studio) = Studio::open() else { return };
        let file = studio.both("limited.mp4", "-c:v libx264 -c:a aac").unwrap();
        let with = |change: fn(&mut FfmpegOptions)| {
            let mut options = WorkerOptions::default();
            change(&mut options.ffmpeg);
            confined(options)
        };
        let scan = |decoder: WorkerDecoder| {
            decoder.scan(&file, &SIZE, &mut ScanOutput::default()).unwrap_err().kind()
        };
        assert_eq!(scan(with(|o| o.max_pixels = 320 * 179)), ErrorKind::TooLarge);
        assert_eq!(scan(with(|o| o.max_duration = 2.0)), ErrorKind::TooLarge);
        assert_eq!(scan(with(|o| o.max_streams = 1)), ErrorKind::Invalid);
        assert_eq!(scan(with(|o| o.open_timeout = Duration::ZERO)), ErrorKind::Timeout);
        let slow = with(|o| {
            o.timeout = Duration::ZERO;
            o.timeout_per_second = Duration::ZERO;
        });
        assert_eq!(slow.frames(&file, &[1.0], 64).unwrap_err().kind(), ErrorKind::Timeout);
        assert_eq!(scan(slow), ErrorKind::Timeout);
    }

    /// Checks known properties of real clips.
    #[test]
    fn real_clips() {
        let Some(media) = std::env::var_os("SHOTLOG_MEDIA").map(PathBuf::from) else {
            println!("skipped: SHOTLOG_MEDIA names no folder");
            return;
        };
        // The columns are file, displayed size, whether there is audio, number of frames, time of
        // the first frame, and end.
        for (name, size, sound, frames, first, end) in [
            ("googlework_short.mp4", (320, 180), true, 1026, 0.834, 35.07),
            ("decord_video_90.mov", (320, 568), false, 3, 0.0, 0.1),
            ("h265_video.mp4", (128, 128), false, 10, 0.0, 1.0),
            ("nasa_13013.mp4", (480, 270), true, 390, 0.0, 13.056),
            ("cockatoo.mp4", (1280, 720), true, 280, 0.0, 14.0),
            ("intel_bottle-detection.mp4", (640, 360), false, 1189, 0.0, 39.85),
        ] {
            let file = media.join(name);
            let info = decoder().probe(&file).unwrap();
            let video = info.video.unwrap();
            assert_eq!(
                ((video.width, video.height), info.audio.is_some()),
                (size, sound),
                "{name}"
            );
            let mut output = ScanOutput::default();
            let summary = decoder().scan(&file, &SIZE, &mut output).unwrap();
            assert_eq!(summary.frames, frames, "{name}");
            assert_eq!(summary.damaged, 0, "{name}");
            assert!((output.first.unwrap() - first).abs() < 1e-3, "{name}: {:?}", output.first);
            assert!((summary.end - end).abs() < 0.1, "{name}: {}", summary.end);
        }
    }

    /// Checks that seeking to a frame yields the same image as decoding from the beginning.
    #[test]
    fn seek_yields_the_same_frame() {
        let Some(media) = std::env::var_os("SHOTLOG_MEDIA").map(PathBuf::from) else {
            println!("skipped: SHOTLOG_MEDIA names no folder");
            return;
        };
        let clips = std::fs::read_dir(media).unwrap().map(|entry| entry.unwrap().path());
        for clip in clips.filter(|path| path.extension().is_some_and(|e| e == "mp4" || e == "mov"))
        {
            let mut frames_of_scan = FrameRecorder::default();
            decoder().scan(&clip, &SIZE, &mut frames_of_scan).unwrap();
            let frames = frames_of_scan.frames;
            for (time, expected) in frames.iter().step_by(frames.len().div_ceil(6)) {
                let found = decoder().frames(&clip, &[time + 1e-3], 320).unwrap().remove(0);
                let found = found.unwrap_or_else(|| panic!("{}: none at {time}", clip.display()));
                assert!((found.time - time).abs() < 0.02, "{}: {time}", clip.display());
                let unlike = difference(&found.image, expected);
                assert!(unlike < 8.0, "{}: at {time} they differ by {unlike:.1}", clip.display());
            }
        }
    }

    /// Returns the mean difference of the channels, 0..255, after scaling `picture` down to the
    /// size of `small`.
    fn difference(picture: &Image, small: &[u8]) -> f64 {
        let ScanOptions { width, height, .. } = SIZE;
        let large = image::RgbImage::from_raw(picture.width, picture.height, picture.rgb.clone());
        let shrunk = image::imageops::thumbnail(&large.unwrap(), width, height);
        let apart = |(a, b): (&u8, &u8)| f64::from(a.abs_diff(*b));
        shrunk.iter().zip(small).map(apart).sum::<f64>() / small.len() as f64
    }

    /// The frames of a scan with their times.
    #[derive(Default)]
    struct FrameRecorder {
        frames: Vec<(f64, Vec<u8>)>,
    }

    impl ScanSink for FrameRecorder {
        fn frame(&mut self, frame: ScanFrame<'_>) -> ports::Result<()> {
            self.frames.push((frame.time, frame.rgb.to_vec()));
            Ok(())
        }

        fn audio(&mut self, _: AudioBlock<'_>) -> ports::Result<()> {
            Ok(())
        }
    }

    const SIZE: ScanOptions = ScanOptions { width: 48, height: 27, exact: true, audio_track: None };

    #[derive(Default)]
    struct ScanOutput {
        first: Option<f64>,
    }

    impl ScanSink for ScanOutput {
        fn frame(&mut self, frame: ScanFrame<'_>) -> ports::Result<()> {
            self.first.get_or_insert(frame.time);
            Ok(())
        }

        fn audio(&mut self, _: AudioBlock<'_>) -> ports::Result<()> {
            Ok(())
        }
    }
}
