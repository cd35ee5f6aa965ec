//! What a container states about its source: when it was recorded, the timecode of its first frame, its
//! reel and its exact frame rate.

use ports::decoder::VideoDecoder;

use super::ffmpeg::{Studio, decoder};

const FILM: &str = "-f lavfi -i testsrc2=s=64x36:r=25:d=1 -c:v mpeg4";

#[test]
fn recording_time_is_read() {
    let Some(studio) = Studio::open() else { return };
    let utc = "-metadata creation_time=2021-03-04T05:06:07Z";
    let apple = "-movflags use_metadata_tags \
                 -metadata com.apple.quicktime.creationdate=2021-03-04T07:06:08+0200";
    for (name, options, expected) in [
        ("plain.mp4", utc, Some("2021-03-04T05:06:07.000000Z")),
        ("plain.mov", utc, Some("2021-03-04T05:06:07.000000Z")),
        ("plain.mkv", utc, Some("2021-03-04T05:06:07.000000Z")),
        ("apple.mov", apple, Some("2021-03-04T07:06:08+0200")),
        ("both.mov", &format!("{utc} {apple}"), Some("2021-03-04T07:06:08+0200")),
        ("neither.mp4", "-bitexact", None),
    ] {
        let file = studio.make(name, &format!("{FILM} {options}")).unwrap();
        let info = decoder().probe(&file).unwrap();
        assert_eq!(info.recorded_at.as_deref(), expected, "{name}");
    }
}

#[test]
fn source_timecode_is_read() {
    let Some(studio) = Studio::open() else { return };
    let broadcast = FILM.replace("r=25", "r=30000/1001");
    for (name, film, options, expected) in [
        ("track.mov", FILM, "-timecode 10:20:30:12", Some("10:20:30:12")),
        ("track.mp4", FILM, "-timecode 10:20:30:12", Some("10:20:30:12")),
        ("drop.mov", &broadcast, "-timecode 01:02:03;04", Some("01:02:03;04")),
        ("tag.mkv", FILM, "-metadata timecode=10:20:30:12", Some("10:20:30:12")),
        ("none.mov", FILM, "-bitexact", None),
    ] {
        let file = studio.make(name, &format!("{film} {options}")).unwrap();
        let info = decoder().probe(&file).unwrap();
        assert_eq!(info.timecode.as_deref(), expected, "{name}");
    }
}

#[test]
fn exact_frame_rates_and_timecodes_of_every_kind_are_read() {
    let Some(studio) = Studio::open() else { return };
    for (rate, label) in [
        ("24000/1001", "01:00:00:00"),
        ("24/1", "01:00:00:00"),
        ("25/1", "10:11:12:13"),
        ("30000/1001", "01:00:00;00"),
        ("30000/1001", "01:00:00:00"),
        ("30/1", "01:00:00:29"),
        ("50/1", "01:00:00:49"),
        ("60000/1001", "00:01:00;04"),
        ("60000/1001", "01:00:00:00"),
        ("60/1", "23:59:59:59"),
    ] {
        let film = FILM.replace("r=25", &format!("r={rate}"));
        for container in ["mov", "mp4"] {
            let name = format!("{}.{container}", rate.replace('/', "_"));
            let file = studio.make(&name, &format!("{film} -timecode {label}")).unwrap();
            let info = decoder().probe(&file).unwrap();
            assert_eq!(info.timecode.as_deref(), Some(label), "{name} {rate}");
            let read = info.video.unwrap().frame_rate.unwrap();
            assert_eq!(read.to_standard().to_string(), rate, "{name}: {read}");
        }
    }
}

#[test]
fn reel_name_is_read() {
    let Some(studio) = Studio::open() else { return };
    for (name, options, expected) in [
        ("track.mov", "-timecode 01:00:00:00 -metadata:s:v reel_name=A001C002", Some("A001C002")),
        ("tag.mkv", "-metadata reel_name=A001C002", Some("A001C002")),
        ("none.mov", "-timecode 01:00:00:00", None),
    ] {
        let file = studio.make(name, &format!("{FILM} {options}")).unwrap();
        let info = decoder().probe(&file).unwrap();
        assert_eq!(info.reel_name.as_deref(), expected, "{name}");
    }
}
