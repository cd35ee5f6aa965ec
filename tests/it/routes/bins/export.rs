//! Bins exported for editing programs and readers.

use serde_json::{Value, json};

use super::{bin, send, span};
use crate::support::readers::read_with;
use crate::support::{Reply, TestApp, clip, mentions};

/// A bin with a trimmed, rated quote of the second video, a note on the first one, and a second
/// quote.
async fn app_with_bin() -> (TestApp, String, [String; 2]) {
    let app = TestApp::new().await;
    let (first, second) = (app.video().await, app.video_of(&clip(20.0)).await);
    let turns = json!([
        {"speaker": "Anna", "start": 1.0, "end": 3.0, "text": "We choose to go, <now>."},
        {"speaker": "Ben", "start": 3.5, "end": 5.0, "text": "Why?"},
    ]);
    let outputs = json!([{"turns": turns, "speakers": ["Anna", "Ben"]}, null]);
    app.plant_output(&second, "diarization", outputs).await;
    let path = bin(&app, "Best quotes: 1/2").await;
    let mut quote = span(&second, 0.5, 6.0);
    quote["in"] = json!(1.0);
    (quote["rating"], quote["tags"]) = (json!(5), json!(["moon", "opening"]));
    let mut noted = span(&first, 20.0, 22.04);
    noted["note"] = json!("a door | opens");
    let selects = json!({"selects": [quote, noted, span(&second, 3.2, 4.88)]});
    app.post_json(&format!("{path}/selects"), selects).await.ok();
    (app, path, [first, second])
}

async fn export(app: &TestApp, path: &str, format: &str) -> Reply {
    let reply = app.get(&format!("{path}/export?format={format}")).await;
    assert_eq!(reply.status, 200, "{format}: {}", reply.text());
    reply
}

/// Reads an exported file with an independent program; `None` if that is not installed.
fn read(reply: &Reply, name: &str, program: &str, arguments: &[&str]) -> Option<Value> {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join(name);
    std::fs::write(&file, &reply.body).expect("a file");
    read_with(program, &file, arguments)
}

#[tokio::test]
async fn selects_become_frame_exact_clips_in_their_order() {
    let (app, path, videos) = app_with_bin().await;
    for video_id in &videos {
        app.edit_record(video_id, |record| record["exact_frame_rate"] = json!("25/1")).await;
    }
    // Frame of the source, number of frames and frame of the sequence.
    let expected = json!([[25, 125, 0], [500, 51, 125], [80, 42, 176]]);
    for (format, name) in [
        ("edl", "a.edl"),
        ("otio", "a.otio"),
        ("fcpxml", "a.fcpxml"),
        ("xmeml", "a.xml"),
        ("clips.csv", "a.csv"),
    ] {
        let reply = export(&app, &path, format).await;
        let disposition = reply.header("content-disposition");
        assert!(disposition.contains("\"Best_quotes__1_2."), "{disposition}");
        let Some(clips) = read(&reply, name, "sequence.py", &["25/1"]) else { return };
        assert_eq!(clips, expected, "{format}");
    }
    // The export follows the bin.
    let moved = json!({"select_ids": ["s3"], "position": 0});
    app.post_json(&format!("{path}/selects/move"), moved).await.ok();
    let reply = export(&app, &path, "otio").await;
    let clips = read(&reply, "a.otio", "sequence.py", &["25/1"]).expect("the reader is installed");
    assert_eq!(clips, json!([[80, 42, 0], [25, 125, 42], [500, 51, 167]]));
}

#[tokio::test]
async fn sequences_have_the_requested_frame_rate() {
    let (app, path, videos) = app_with_bin().await;
    for video_id in &videos {
        app.edit_record(video_id, |record| record["exact_frame_rate"] = json!("25/1")).await;
    }
    // Frames of the sources stay, and those of the sequence are twice as many.
    let expected = json!([[25, 125, 0], [500, 51, 250], [80, 42, 352]]);
    let reply = export(&app, &path, "otio&frame_rate=50").await;
    let Some(clips) = read(&reply, "a.otio", "sequence.py", &["50/1"]) else { return };
    assert_eq!(clips, expected);
    let fraction = export(&app, &path, "fcpxml&frame_rate=30000/1001").await.text();
    mentions(&fraction, &["frameDuration=\"1001/30000s\""]);
    let refused = async |rate: &str| {
        let reply = app.get(&format!("{path}/export?format=edl&frame_rate={rate}")).await;
        reply.error(422)
    };
    mentions(&refused("fast").await, &["frame_rate is fast", "30000/1001"]);
    mentions(&refused("240").await, &["frame_rate is 240", "from 1 to 120"]);
}

#[tokio::test]
async fn notes_tags_and_ratings_are_exported() {
    let (app, path, [_, second]) = app_with_bin().await;
    let csv = export(&app, &path, "clips.csv").await.text();
    mentions(
        &csv,
        &[
            "\"Anna: We choose to go, <now>. Ben: Why?\",moon; opening,5,",
            &format!("{second},clip.mp4,"),
            "a door | opens,,,,",
        ],
    );
    let fcpxml = export(&app, &path, "fcpxml").await.text();
    mentions(
        &fcpxml,
        &["duration=\"5s\" value=\"moon, opening\"/>", "<note>a door | opens</note>"],
    );
    let otio: Value = serde_json::from_str(&export(&app, &path, "otio").await.text()).unwrap();
    let metadata = &otio["tracks"]["children"][0]["children"][0]["metadata"]["shotlog"];
    assert_eq!((&metadata["rating"], &metadata["tags"][1]), (&json!(5), &json!("opening")));
}

#[tokio::test]
async fn quotes_have_speakers_times_and_links() {
    let (app, path, _) = app_with_bin().await;
    let text = export(&app, &path, "quotes.md").await.text();
    let (quote, rest) = text.split_once("\n## [2. ").expect("a second quote");
    mentions(
        quote,
        &[
            "# Best quotes: 1/2\n\n## [1. clip.mp4, 00:00:01:00 to 00:00:06:00](<http",
            "#t=1.000,6.000>)\n\n**Anna** `00:00:01:00`\n\nWe choose to go, \\<now\\>.\n",
            "**Ben** `00:00:03:05`\n\nWhy?\n\n> Tags: moon, opening\n\n> Rating: 5 of 5\n",
        ],
    );
    mentions(rest, &["\n> a door \\| opens\n", "## [3. clip.mp4, 00:00:03:02 to 00:00:04:09]"]);
    let reply = export(&app, &path, "quotes.docx").await;
    let Some(paragraphs) = read(&reply, "a.docx", "document.py", &[]) else { return };
    assert_eq!(
        paragraphs.as_array().unwrap()[..5],
        [
            json!(["Title", "Best quotes: 1/2"]),
            json!(["Heading 1", "1. clip.mp4, 00:00:01:00 to 00:00:06:00"]),
            json!(["Speaker", "Anna 00:00:01:00"]),
            json!(["Normal", "We choose to go, <now>."]),
            json!(["Speaker", "Ben 00:00:03:05"]),
        ]
    );
}

#[tokio::test]
async fn captions_follow_the_selects() {
    let (app, path, _) = app_with_bin().await;
    let captions = export(&app, &path, "vtt").await.text();
    let cues: Vec<&str> = captions.split("\n\n").skip(1).collect();
    assert_eq!(
        cues,
        [
            "00:00:00.000 --> 00:00:02.000\n<v Anna>We choose to go, &lt;now&gt;.</v>",
            "00:00:02.500 --> 00:00:04.000\n<v Ben>Why?</v>",
            "00:00:07.300 --> 00:00:08.700\n<v Ben>Why?</v>",
            "",
        ]
    );
    let srt = export(&app, &path, "srt").await.text();
    mentions(&srt, &["3\n00:00:07,300 --> 00:00:08,700\nWhy?\n"]);
}

#[tokio::test]
async fn missing_videos_are_named_or_omitted() {
    let (app, path, [first, second]) = app_with_bin().await;
    app.delete(&format!("/videos/{first}")).await.ok();
    let refused = app.get(&format!("{path}/export?format=edl")).await.error(400);
    mentions(&refused, &["missing", "s2 (clip.mp4)", "missing=omit"]);
    let reply = export(&app, &path, "otio&missing=omit").await;
    if let Some(clips) = read(&reply, "a.otio", "sequence.py", &["10/1"]) {
        assert_eq!(clips, json!([[10, 50, 0], [32, 17, 50]]));
    }
    app.delete(&format!("/videos/{second}")).await.ok();
    let refused = app.get(&format!("{path}/export?format=edl")).await.error(400);
    mentions(&refused, &["s1 (clip.mp4), s2 (clip.mp4), s3 (clip.mp4)"]);
}

#[tokio::test]
async fn exports_are_limited_to_chosen_selects() {
    let (app, path, [first, _]) = app_with_bin().await;
    let rate = async |select: &str, rating: u8| {
        app.patch_json(&format!("{path}/selects/{select}"), json!({"rating": rating})).await.ok();
    };
    rate("s3", 3).await;
    let ends = async |query: &str| {
        let csv = export(&app, &path, &format!("clips.csv&{query}")).await.text();
        let end = |line: &str| line.rsplit(',').next().unwrap().to_owned();
        csv.lines().skip(1).map(end).collect::<Vec<_>>()
    };
    let all = ends("").await;
    assert_eq!(all.len(), 3, "{all:?}");
    // The order stays that of the bin.
    assert_eq!(ends("select_ids=s3,%20s1").await, [all[0].clone(), all[2].clone()]);
    assert_eq!(ends("min_rating=1").await, [all[0].clone(), all[2].clone()]);
    assert_eq!(ends("min_rating=4").await, [all[0].clone()]);
    assert_eq!(ends("tag=opening").await, [all[0].clone()]);
    assert_eq!(ends("min_rating=3&select_ids=s2,s3").await, [all[2].clone()]);

    for (query, status, words) in [
        ("select_ids=s1,s9,s10", 404, &["no select 's9'"][..]),
        ("select_ids=first", 404, &["no select 'first'"]),
        ("select_ids=", 422, &["select_ids is empty", "commas"]),
        ("min_rating=0", 422, &["min_rating is '0'", "from 1 to 5"]),
        ("min_rating=6", 422, &["from 1 to 5"]),
        ("tag=sun&min_rating=2", 400, &["rating of 2 or more and the tag 'sun'"]),
        ("min_rating=5&select_ids=s2,s3", 400, &["rating of 5 or more among 'select_ids'"]),
    ] {
        for file in ["export?format=edl&", "clips?", "string-out?"] {
            mentions(&app.get(&format!("{path}/{file}{query}")).await.error(status), words);
        }
    }
    rate("s1", 0).await;
    let refused = app.get(&format!("{path}/clips?min_rating=4")).await.error(400);
    mentions(&refused, &["no selects with a rating of 4 or more"]);
    // A missing video matters only if its select is exported.
    app.delete(&format!("/videos/{first}")).await.ok();
    assert_eq!(ends("select_ids=s1").await.len(), 1);
}

#[tokio::test]
async fn invalid_exports_of_bins_are_refused_with_a_reason() {
    let (app, path, _) = app_with_bin().await;
    for (query, status, words) in [
        ("format=csv", 400, &["'csv'", "cannot contain clips", "srt, vtt, edl"][..]),
        ("format=avi", 400, &["'avi'", "quotes.docx"]),
        ("format=edl&missing=perhaps", 422, &["missing"]),
        ("", 422, &["format"]),
    ] {
        mentions(&app.get(&format!("{path}/export?{query}")).await.error(status), words);
    }
    mentions(&app.get("/bins/0123456789ab/export?format=edl").await.error(404), &["unknown bin"]);
    let empty = bin(&app, "empty").await;
    let refused = app.get(&format!("{empty}/export?format=edl")).await.error(400);
    mentions(&refused, &["has no selects"]);
    let silent = bin(&app, "silent").await;
    let video = app.video_of(&clip(12.0)).await;
    let selects = json!({"selects": [span(&video, 0.0, 1.0)]});
    send(&app, poem::http::Method::POST, &format!("{silent}/selects"), None, selects).await.ok();
    let refused = app.get(&format!("{silent}/export?format=vtt")).await.error(400);
    mentions(&refused, &["none of the clips", "vtt"]);
}

#[tokio::test]
async fn archives_of_clips_that_cannot_be_made_are_refused_with_a_reason() {
    let app = TestApp::with(|setup| setup.settings.bins.max_clips = 2).await;
    let (id, other) = (app.video().await, app.video_of(&clip(20.0)).await);
    let path = bin(&app, "three").await;
    let archive = format!("{path}/clips");
    mentions(&app.get(&archive).await.error(400), &["has no selects"]);
    let selects = [span(&id, 0.0, 1.0), span(&id, 2.0, 3.0), span(&other, 2.0, 3.0)];
    app.post_json(&format!("{path}/selects"), json!({"selects": selects})).await.ok();
    mentions(&app.get(&archive).await.error(400), &["3 clips", "at most 2 (bins.max_clips)"]);
    assert_eq!(app.get(&format!("{archive}?select_ids=s2,s3")).await.status, 200);
    app.delete(&format!("/videos/{other}")).await.ok();
    mentions(&app.get(&archive).await.error(400), &["s3 (clip.mp4)", "missing=omit"]);
    let reply = app.get(&format!("{archive}?missing=omit")).await;
    assert_eq!(reply.status, 200, "{}", reply.text());
    mentions(&app.get("/bins/0123456789ab/clips").await.error(404), &["unknown bin"]);
}
