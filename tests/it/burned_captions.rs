//! Captions that are drawn into the pictures of clips and of a bin's video, through the real decoder.

use std::sync::Arc;

use adapters::decoder::{WorkerDecoder, WorkerOptions};
use adapters::transcriber::ScriptedTranscriber;
use adapters::vad::ScriptedVoiceActivity;
use ports::transcriber::{Transcript, Word};
use ports::vad::SpeechSpan;
use serde_json::{Value, json};

use crate::footage::Studio;
use crate::string_out::{Footage, bin, ingested, string_out};
use crate::support::mentions;

/// The font of captions, without which they cannot be drawn.
const FONT: &str = "/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf";

/// The first row that captions may cover: the lower third of 180 rows.
const FIRST_ROW: usize = 120;

/// What is said, with the characters that have a meaning to filters, subtitles and shells, in several
/// scripts and directions.
const TEXTS: [&str; 4] = [
    "It's here: 100% \\ {\\pos(0,0)} %{pts}",
    "\u{645}\u{631}\u{62d}\u{628}\u{627} abc \u{202e}def",
    "\u{1f642}\u{200d}\u{1f525} ok \u{65e5}\u{672c}, [a];b='c'",
    "<b>$(reboot)</b> `x` \"y\" --> z",
];

fn has_font() -> bool {
    let found = std::path::Path::new(FONT).exists();
    if !found {
        println!("skipped: there is no {FONT}");
    }
    found
}

/// A video that is grey for eight seconds, in which one text is said from 0.5 s and each further one
/// two seconds later, for one second.
async fn spoken(studio: &Studio, source: &str) -> String {
    let tone = "sine=frequency=440:duration=8";
    let inputs = ["-f", "lavfi", "-i", source, "-f", "lavfi", "-i", tone];
    let coded = ["-c:v", "libx264", "-preset", "ultrafast", "-pix_fmt", "yuv420p", "-c:a", "aac"];
    let file = studio.make(&[&inputs[..], &coded, &["grey.mp4"]].concat());
    let video_id = ingested(studio, &file).await;
    let turn = |(number, text): (usize, &&str)| {
        let start = 0.5 + 2.0 * number as f64;
        json!({"speaker": "S1", "start": start, "end": start + 1.0, "text": text})
    };
    let turns: Vec<Value> = TEXTS.iter().enumerate().map(turn).collect();
    let outputs = json!([{"turns": turns, "speakers": ["S1"]}]);
    studio.app.plant_output(&video_id, "diarization", outputs).await;
    video_id
}

/// Number of bright pixels of a frame, above and below [`FIRST_ROW`].
fn bright(footage: &Footage, frame: usize) -> [usize; 2] {
    let (above, below) = footage.frames[frame].split_at(FIRST_ROW * footage.size.0);
    [above, below].map(|pixels| pixels.iter().filter(|pixel| **pixel > 200).count())
}

async fn clip(studio: &Studio, video_id: &str, query: &str) -> Footage {
    let reply = studio.app.get(&format!("/videos/{video_id}/clip?{query}")).await;
    assert_eq!(reply.status, 200, "{}", reply.text());
    assert_eq!(reply.header("content-type"), "video/mp4");
    let file = studio.folder.path().join("clip.mp4");
    std::fs::write(&file, &reply.body).expect("the clip");
    Footage::read(&file)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_bins_video_shows_what_is_said_while_it_is_said() {
    if !has_font() {
        return;
    }
    let studio = Studio::open().await;
    let video_id = spoken(&studio, "color=gray:s=320x180:r=25:d=8").await;
    let span = |start: f64, end: f64| json!({"video_id": video_id, "start": start, "end": end});
    // The second and the first text, and the end of a pause.
    let path = bin(&studio, &[span(2.0, 4.0), span(0.0, 1.0), span(7.6, 8.0)]).await;
    let plain = Footage::read(&string_out(&studio, &path, "").await);
    let captioned = Footage::read(&string_out(&studio, &path, "?captions=true").await);
    assert_eq!((plain.frames.len(), captioned.frames.len()), (85, 85));
    let spoken = |frame: usize| (13..38).contains(&frame) || (63..75).contains(&frame);
    for frame in 0..85 {
        assert_eq!(bright(&plain, frame), [0, 0]);
        let [above, below] = bright(&captioned, frame);
        assert_eq!((above, below > 20), (0, spoken(frame)), "frame {frame} has {below} pixels");
    }
    // With handles, what is said in them is shown as well.
    let handles = Footage::read(&string_out(&studio, &path, "?captions=true&handles=0.5").await);
    assert_eq!(handles.frames.len(), 76 + 38 + 23);
    assert!(bright(&handles, 76 + 26)[1] > 20, "the handle after the second select");
    let silent = bin(&studio, &[span(7.6, 8.0)]).await;
    let detail = studio.app.get(&format!("{silent}/string-out?captions=true")).await.error(400);
    mentions(&detail, &["none of the clips has recognised speech", "captions=false"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn clips_show_captions_of_any_text() {
    if !has_font() {
        return;
    }
    let studio = Studio::open().await;
    let video_id = spoken(&studio, "color=gray:s=320x180:r=30000/1001:d=8").await;
    let mut pictures = Vec::new();
    for (number, text) in TEXTS.iter().enumerate() {
        let (start, end) = (2 * number, 2 * number + 2);
        let query = format!("start={start}&end={end}&captions=true");
        let footage = clip(&studio, &video_id, &query).await;
        assert_eq!((footage.frames.len(), footage.size), (60, (320, 180)));
        assert_eq!(bright(&footage, 5), [0, 0]);
        let [above, below] = bright(&footage, 30);
        assert!(above == 0 && below > 20, "{text}: {above} and {below}");
        pictures.push(footage.frames[30].clone());
    }
    pictures.sort();
    pictures.dedup();
    assert_eq!(pictures.len(), TEXTS.len(), "every text is drawn as itself");
    let plain = clip(&studio, &video_id, "start=0&end=2").await;
    assert_eq!(bright(&plain, 30), [0, 0]);
    for (query, words) in [
        ("start=7.6&end=8&captions=true", &["no part of the clip has recognised speech"][..]),
        ("start=0&end=2&captions=true&exact=false", &["exact=false", "captions=true"]),
        ("start=3&end=2&captions=true", &["end after its start"]),
    ] {
        let uri = format!("/videos/{video_id}/clip?{query}");
        mentions(&studio.app.get(&uri).await.error(400), words);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn captions_follow_corrections() {
    if !has_font() {
        return;
    }
    let words = |_: &[f32]| {
        let word = |(number, text): (usize, &str)| {
            let start = number as f64 * 0.4;
            Word { text: text.into(), start, end: start + 0.4, confidence: 0.9 }
        };
        let words = ["You", "are", "here."].into_iter().enumerate().map(word).collect();
        Ok(Transcript { language: Some("en".into()), words, ..Transcript::default() })
    };
    let spans = vec![SpeechSpan { start: 0.5, end: 2.0 }];
    let studio = Studio::with(|setup| {
        setup.models.transcriber = Some(Arc::new(ScriptedTranscriber::new(words)));
        setup.models.vad = Some(Arc::new(ScriptedVoiceActivity::new(spans)));
    })
    .await;
    let (source, tone) = ("color=gray:s=320x180:r=25:d=4", "sine=frequency=440:duration=4");
    let inputs = ["-f", "lavfi", "-i", source, "-f", "lavfi", "-i", tone];
    let coded = ["-c:v", "libx264", "-pix_fmt", "yuv420p", "-c:a", "aac", "said.mp4"];
    let file = studio.make(&[&inputs[..], &coded].concat());
    let fields = [("mode", "interval"), ("interval", "10"), ("analyzers", "transcript")];
    let job = studio.ingest(&file, &fields).await;
    let video_id = job["result"]["video_id"].as_str().unwrap_or_else(|| panic!("{job}"));
    let query = "start=0&end=2&captions=true";
    let before = clip(&studio, video_id, query).await;
    assert!(bright(&before, 30)[1] > 20);
    let correction = json!({"of": "words", "from": "here", "to": "everywhere else"});
    let corrections = json!({"corrections": [correction]});
    studio.app.post_json(&format!("/videos/{video_id}/corrections"), corrections).await.ok();
    let after = clip(&studio, video_id, query).await;
    assert!(before.frames[2] == after.frames[2] && before.frames[30] != after.frames[30]);
}

#[tokio::test(flavor = "multi_thread")]
async fn captions_of_turned_videos_are_upright() {
    if !has_font() {
        return;
    }
    let studio = Studio::open().await;
    spoken(&studio, "color=gray:s=320x180:r=25:d=8").await;
    // Players turn this video by 90 degrees; its captions are upright.
    let file = studio.folder.path().join("grey.mp4").to_string_lossy().into_owned();
    let turned =
        studio.make(&["-i", &file, "-c", "copy", "-metadata:s:v", "rotate=90", "turned.mp4"]);
    let turned = ingested(&studio, &turned).await;
    let turns = json!([{"speaker": "S1", "start": 0.5, "end": 1.5, "text": "upright"}]);
    let outputs = json!([{"turns": turns, "speakers": ["S1"]}]);
    studio.app.plant_output(&turned, "diarization", outputs).await;
    let footage = clip(&studio, &turned, "start=0&end=2&captions=true").await;
    assert_eq!(footage.size, (180, 320));
    let rows = |frame: &Vec<u8>| -> Vec<usize> {
        let bright = |row: &[u8]| row.iter().any(|pixel| *pixel > 200);
        frame.chunks(180).enumerate().filter(|(_, row)| bright(row)).map(|(at, _)| at).collect()
    };
    let rows = rows(&footage.frames[25]);
    assert!(rows.len() < 20 && rows[0] > 280, "rows {rows:?} have text");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_missing_font_is_named() {
    let studio = Studio::with(|setup| {
        let program = env!("CARGO_BIN_EXE_shotlog").into();
        let mut options = WorkerOptions { program, ..Default::default() };
        options.ffmpeg.caption_font = "/nowhere/font.ttf".into();
        setup.decoder = Arc::new(WorkerDecoder::new(options));
    })
    .await;
    let video_id = spoken(&studio, "color=gray:s=320x180:r=25:d=8").await;
    let uri = format!("/videos/{video_id}/clip?start=0&end=2&captions=true");
    let detail = studio.app.get(&uri).await.error(400);
    mentions(&detail, &["'/nowhere/font.ttf'", "decoder.caption_font", "fonts-dejavu-core"]);
}
