//! Metadata that a video's container states, and how the service uses it.

use serde_json::{Value, json};

use crate::support::{TestApp, mentions};

/// A clip of 30 seconds with these container properties.
fn clip(properties: Value) -> Vec<u8> {
    let mut clip = json!({"seconds": 30.0});
    let fields = properties.as_object().expect("an object").clone();
    clip.as_object_mut().expect("a clip").extend(fields);
    clip.to_string().into_bytes()
}

const TEN_SECONDS: [(&str, &str); 2] = [("mode", "interval"), ("interval", "10")];

async fn detail(app: &TestApp, id: &str) -> Value {
    app.get(&format!("/videos/{id}")).await.ok()
}

/// The video in the list of all videos.
async fn listed(app: &TestApp, id: &str) -> Value {
    let list = app.get("/videos").await.ok();
    let mut videos = list["videos"].as_array().expect("videos").iter();
    videos.find(|video| video["video_id"] == id).expect("a listed video").clone()
}

#[tokio::test]
async fn the_last_chunk_ends_with_the_video() {
    let app = TestApp::new().await;
    let id = app.video_of(&clip(json!({"seconds": 20.011, "claims": 20.0}))).await;
    let video = detail(&app, &id).await;
    assert_eq!((&video["duration"], &video["chunks"]), (&json!(20.0), &json!(2)));
    let chunks = app.get(&format!("/videos/{id}/chunks")).await.ok();
    assert_eq!(chunks["chunks"][1]["end"], 20.0);
    assert!(video["container_duration"].is_null(), "the container states the same duration");
    let id = app.video_of(&clip(json!({"seconds": 20.5, "claims": 7200.0}))).await;
    let video = detail(&app, &id).await;
    assert_eq!((&video["duration"], &video["container_duration"]), (&json!(20.5), &json!(7200.0)));
}

#[tokio::test]
async fn the_users_recording_time_overrides_the_containers() {
    let app = TestApp::new().await;
    let id = app.video_of(&clip(json!({"recorded_at": "2024-05-01T10:11:12+0200"}))).await;
    let video = detail(&app, &id).await;
    assert_eq!(video["recorded_at"], "2024-05-01T08:11:12Z");
    assert_eq!(video["recorded_at_source"], "container");
    let own = json!({"recorded_at": "2024-05-02T00:00:00Z"});
    app.patch_json(&format!("/videos/{id}"), own).await.ok();
    assert_eq!(detail(&app, &id).await["recorded_at_source"], "user");
    app.patch_json(&format!("/videos/{id}"), json!({"recorded_at": null})).await.ok();
    // A second upload does not restore the time that the user removed.
    let properties = json!({"recorded_at": "2024-05-01T10:11:12+0200"});
    assert_eq!(app.video_of(&clip(properties)).await, id);
    let video = detail(&app, &id).await;
    assert!(video["recorded_at"].is_null() && video["recorded_at_source"].is_null(), "{video}");

    let fields = [("recorded_at", "2020-01-01T00:00:00Z"), TEN_SECONDS[0], TEN_SECONDS[1]];
    let file = clip(json!({"recorded_at": "2024-05-01T10:11:12Z", "seconds": 40.0}));
    let job = app.job_of(&fields, "clip.mp4", &file).await;
    let id = job["result"]["video_id"].as_str().expect("an id");
    let video = detail(&app, id).await;
    assert_eq!(video["recorded_at"], "2020-01-01T00:00:00Z");
    assert_eq!(video["recorded_at_source"], "user");
}

#[tokio::test]
async fn an_undecodable_video_stream_is_reported() {
    let app = TestApp::new().await;
    let file = clip(json!({"video": false, "left_out": "its pictures are encrypted"}));
    let job = app.job_of(&TEN_SECONDS, "clip.mp4", &file).await;
    let warnings = json!(["only the sound was analyzed: its pictures are encrypted"]);
    assert_eq!(job["result"]["warnings"], warnings);
    let id = job["result"]["video_id"].as_str().expect("an id");
    assert_eq!(detail(&app, id).await["warnings"], warnings);
    // The file is not scanned again, and the warning stays.
    let job = app.job_of(&TEN_SECONDS, "clip.mp4", &file).await;
    assert_eq!(job["result"]["warnings"], warnings);
    let id = app.video().await;
    assert!(detail(&app, &id).await["warnings"].is_null());
}

#[tokio::test]
async fn the_audible_track_is_used_unless_another_is_requested() {
    let app = TestApp::new().await;
    let file = clip(json!({"tracks": 2, "silent": 0}));
    let job = app.job_of(&TEN_SECONDS, "clip.mp4", &file).await;
    let id = job["result"]["video_id"].as_str().expect("an id").to_owned();
    mentions(
        job["result"]["warnings"][0].as_str().expect("a warning"),
        &["2 sound tracks", "track 1 was used", "track 0 is silent"],
    );
    let loudest = async || {
        let peaks = app.get(&format!("/videos/{id}/peaks?buckets=10")).await.ok();
        peaks["peaks"]
            .as_array()
            .expect("peaks")
            .iter()
            .filter_map(Value::as_f64)
            .fold(0.0, f64::max)
    };
    assert_eq!(detail(&app, &id).await["audio_track"], 1);
    // A second scan, as after an update, reports the warning again, and only once.
    app.edit_record(&id, |record| record["speech_document"] = Value::Null).await;
    let again = app.job_of(&TEN_SECONDS, "clip.mp4", &file).await;
    assert_eq!(again["result"]["warnings"], job["result"]["warnings"]);
    assert!(loudest().await > 0.1);

    let silent = [("audio_track", "0"), TEN_SECONDS[0], TEN_SECONDS[1]];
    let job = app.job_of(&silent, "clip.mp4", &file).await;
    assert_eq!(job["status"], "done", "{job}");
    assert_eq!(detail(&app, &id).await["audio_track"], 0);
    assert_eq!(loudest().await, 0.0);
    // Without the field the earlier choice stays.
    app.job_of(&TEN_SECONDS, "clip.mp4", &file).await;
    assert_eq!(detail(&app, &id).await["audio_track"], 0);

    let missing = [("audio_track", "2"), TEN_SECONDS[0], TEN_SECONDS[1]];
    let job = app.job_of(&missing, "clip.mp4", &file).await;
    mentions(
        job["error"].as_str().expect("an error"),
        &["audio_track is 2", "2 sound tracks, 0 to 1"],
    );
    let job = app.job_of(&missing, "clip.mp4", &clip(json!({"audio": false}))).await;
    mentions(job["error"].as_str().expect("an error"), &["audio_track is 2", "has no sound"]);
}

#[tokio::test]
async fn source_times_of_timelines_follow_the_timecode() {
    let app = TestApp::new().await;
    let broadcast = 30_000.0 / 1001.0;
    for (rate, timecode, mode, first, frames) in [
        (
            10.0,
            "01:00:00:00",
            "NON-DROP FRAME",
            "01:00:00:00 01:00:10:00 00:00:00:00 00:00:10:00",
            36_000,
        ),
        (10.0, "yesterday", "NON-DROP FRAME", "00:00:00:00 00:00:10:00 00:00:00:00 00:00:10:00", 0),
        // Drop-frame timecode skips this number.
        (
            broadcast,
            "00:01:00;00",
            "NON-DROP FRAME",
            "00:00:00:00 00:00:10:00 00:00:00:00 00:00:10:00",
            0,
        ),
        (
            broadcast,
            "00:00:59;00",
            "DROP FRAME",
            "00:00:59;00 00:01:09;02 00:00:00;00 00:00:10;00",
            1770,
        ),
    ] {
        let id = app.video_of(&clip(json!({"timecode": timecode, "frame_rate": rate}))).await;
        assert_eq!(detail(&app, &id).await["timecode"], timecode);
        assert_eq!(listed(&app, &id).await["timecode"], timecode);
        let edl = app.get(&format!("/videos/{id}/export?format=edl")).await.text().to_owned();
        assert!(edl.contains(&format!("FCM: {mode}\n")) && edl.contains(first), "{edl}");
        let otio = app.get(&format!("/videos/{id}/export?format=otio")).await.text();
        let otio: Value = serde_json::from_str(&otio).expect("JSON");
        let clip = &otio["tracks"]["children"][0]["children"][0];
        let start = |range: &Value| range["start_time"]["value"].as_f64();
        let media = &clip["media_references"]["DEFAULT_MEDIA"];
        assert_eq!(start(&media["available_range"]), Some(f64::from(frames)));
        assert_eq!(start(&clip["source_range"]), Some(f64::from(frames)));
    }
}

#[tokio::test]
async fn videos_state_their_reel_and_exact_frame_rate() {
    let app = TestApp::new().await;
    for (properties, rate, reel) in [
        (json!({"reel_name": "A001 (2)", "frame_rate": 29.97}), "30000/1001", "A001_2"),
        (json!({"frame_rate": 23.976}), "24000/1001", "clip"),
        (json!({"frame_rate": 25.0}), "25/1", "clip"),
        (json!({"frame_rate": 14.9}), "149/10", "clip"),
    ] {
        let id = app.video_of(&clip(properties)).await;
        let video = detail(&app, &id).await;
        assert_eq!((&video["exact_frame_rate"], &video["reel_name"]), (&json!(rate), &json!(reel)));
        let listed = listed(&app, &id).await;
        for field in ["exact_frame_rate", "reel_name", "timecode"] {
            assert_eq!(listed[field], video[field], "{field}");
        }
        let edl = app.get(&format!("/videos/{id}/export?format=edl")).await.text();
        assert!(edl.contains(&format!("001  {reel:<8} B")), "{edl}");
    }
    // Records of earlier versions state only the rounded rate.
    let id = app.video_of(&clip(json!({"frame_rate": 29.97, "timecode": "01:00:00;00"}))).await;
    app.edit_record(&id, |record| {
        for field in ["exact_frame_rate", "picture_size", "container_reel", "audio_tracks"] {
            record.as_object_mut().expect("a record").remove(field);
        }
    })
    .await;
    let video = detail(&app, &id).await;
    assert_eq!(video["exact_frame_rate"], "30000/1001");
    assert_eq!(video["reel_name"], "clip");
    let edl = app.get(&format!("/videos/{id}/export?format=edl")).await.text();
    assert!(edl.contains("01:00:00;00 01:00:10;00 00:00:00;00 00:00:10;00"), "{edl}");
}
