//! Objects, people and on-screen text through the whole pipeline, and the description composed from them.

use std::fs::File;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use adapters::detector::ScriptedDetector;
use adapters::ocr::ScriptedTextRecognizer;
use ports::Result;
use ports::decoder::{
    CancellationToken, Clip, ClipRequest, Frame, MediaInfo, RenderFormat, RenderParts, ScanOptions,
    ScanSink, ScanSummary, Still, VideoDecoder, VideoDecoderExt,
};
use ports::detector::Detection;
use ports::ocr::TextLine;
use serde_json::{Value, json};

use crate::support::{Models, SceneDecoder, TestApp, clip};

fn object(label: &str, bounds: [f32; 4]) -> Detection {
    Detection { label: label.into(), confidence: 0.9, bounds }
}

/// Two people and a dog in every frame, and a sign.
fn street() -> Models {
    let objects = vec![
        object("person", [0.1, 0.1, 0.2, 0.8]),
        object("person", [0.6, 0.2, 0.2, 0.7]),
        object("dog", [0.4, 0.6, 0.1, 0.2]),
    ];
    let sign = TextLine { text: "NO ENTRY".into(), confidence: 0.95, bounds: [0.1, 0.1, 0.3, 0.1] };
    Models {
        detector: Some(Arc::new(ScriptedDetector::with_objects(objects))),
        ocr: Some(Arc::new(ScriptedTextRecognizer::with_lines(vec![sign]))),
        ..Models::default()
    }
}

pub(crate) async fn ingest_street(analyzers: &str) -> (TestApp, Value) {
    let models = street();
    let app = TestApp::with(|setup| setup.models = models).await;
    let fields = [("analyzers", analyzers), ("mode", "interval"), ("interval", "10")];
    let job = app.job_of(&fields, "c.mp4", &clip(30.0)).await;
    assert_eq!(job["status"], "done", "{job}");
    (app, job["result"].clone())
}

async fn first_chunk(app: &TestApp, result: &Value, verbose: bool) -> Value {
    let id = result["video_id"].as_str().unwrap();
    app.get(&format!("/videos/{id}/chunks/0?verbose={verbose}")).await.json()
}

/// A video whose only picture is the one at its start.
struct OnePicture;

impl VideoDecoder for OnePicture {
    fn probe(&self, file: &Path) -> Result<MediaInfo> {
        SceneDecoder.probe(file)
    }

    fn scan(
        &self,
        file: &Path,
        options: &ScanOptions,
        sink: &mut dyn ScanSink,
    ) -> Result<ScanSummary> {
        SceneDecoder.scan(file, options, sink)
    }

    fn sound(&self, file: &Path, audio_track: Option<u32>, sink: &mut dyn ScanSink) -> Result<()> {
        self.scan_sound(file, audio_track, sink)
    }

    fn stills(&self, file: &Path, stills: &[Still]) -> Result<Vec<Option<Frame>>> {
        let first: Vec<Still> = stills.iter().map(|still| Still { time: 0.0, ..*still }).collect();
        SceneDecoder.stills(file, &first)
    }

    fn clip(
        &self,
        file: &Path,
        cut: &ClipRequest,
        out: File,
        cancel: &CancellationToken,
    ) -> Result<Clip> {
        SceneDecoder.clip(file, cut, out, cancel)
    }

    fn render(
        &self,
        format: &RenderFormat,
        parts: &mut RenderParts<'_>,
        out: File,
        cancel: &CancellationToken,
    ) -> Result<()> {
        SceneDecoder.render(format, parts, out, cancel)
    }
}

#[tokio::test]
async fn a_picture_older_than_the_chunk_is_seen_within_the_chunk() {
    let app = TestApp::with(|setup| {
        setup.models = street();
        setup.decoder = Arc::new(OnePicture);
    })
    .await;
    let analyzers = "ocr,people,object_detection";
    let fields = [("analyzers", analyzers), ("mode", "interval"), ("interval", "10")];
    let job = app.job_of(&fields, "c.mp4", &clip(30.0)).await;
    assert_eq!(job["status"], "done", "{job}");
    let id = job["result"]["video_id"].as_str().unwrap();
    let chunks = app.get(&format!("/videos/{id}/chunks?verbose=true")).await.ok();
    for (chunk, start) in chunks["chunks"].as_array().unwrap().iter().zip([0.0, 10.0, 20.0]) {
        for (analyzer, list) in
            [("ocr", "texts"), ("people", "people"), ("object_detection", "detections")]
        {
            let item = &chunk[analyzer][list][0];
            let locations = item["locations"].as_array().unwrap();
            let frames = chunk[analyzer]["_frames"].as_array().unwrap();
            let times = [&item["first_seen"], &item["last_seen"]]
                .into_iter()
                .chain(locations.iter().map(|location| &location["t"]))
                .chain(frames);
            let times: Vec<f64> = times.map(|time| time.as_f64().unwrap()).collect();
            let within = times.iter().all(|time| (start..=start + 10.0).contains(time));
            assert!(within && times[0] < times[1], "{analyzer} at {start}: {times:?}");
        }
    }
}

#[tokio::test]
async fn chunks_are_decoded_together_within_the_memory_limit() {
    for (limit, video, passes) in [(1 << 30, true, 1..=2), (0, true, 6..=6), (0, false, 0..=0)] {
        let app = TestApp::with(|setup| {
            setup.models = street();
            setup.settings.ingest.frame_batch_bytes = limit;
        })
        .await;
        let fields =
            [("analyzers", "object_detection,ocr"), ("mode", "interval"), ("interval", "10")];
        let clip = json!({"seconds": 30.0, "video": video}).to_string();
        let job = app.job_of(&fields, "c.mp4", clip.as_bytes()).await;
        assert_eq!(job["status"], "done", "{job}");
        let calls = &job["result"]["profile"]["decode_frames"]["calls"];
        // The two analyzers run at the same time, so a second pass may begin before both have said
        // which frames they need.
        assert!(passes.contains(&calls.as_u64().unwrap_or(0)), "{limit} bytes: {calls}");
    }
}

#[tokio::test]
async fn objects_are_counted_not_boxes() {
    let (app, result) = ingest_street("object_detection").await;
    assert_eq!(result["indexed"], json!({"object_detection": 3}));
    // Each of the three chunks shows a single still picture.
    assert_eq!(result["profile"]["find_objects"]["calls"], 3);
    let chunk = first_chunk(&app, &result, false).await;
    let output = &chunk["object_detection"];
    assert_eq!(output["objects"], json!(["person", "dog"]));
    let person = &output["detections"][0];
    assert_eq!((person["label"].as_str(), person["count"].as_u64()), (Some("person"), Some(2)));
    assert_eq!(person["first_seen"], 0.5);
    assert_eq!(person["last_seen"], 9.5);
    assert_eq!((person.get("locations"), person.get("_tracks")), (None, None));
    let verbose = first_chunk(&app, &result, true).await;
    let locations = verbose["object_detection"]["detections"][1]["locations"].as_array().unwrap();
    assert_eq!(locations.len(), 10, "one frame per second");
    assert_eq!(locations[0], json!({"t": 0.5, "box": [0.4, 0.6, 0.1, 0.2], "confidence": 0.9}));
    let tracks = &verbose["object_detection"]["detections"][0]["_tracks"];
    assert_eq!(tracks.as_array().map(Vec::len), Some(2), "{tracks}");
    assert_eq!(tracks[1]["movement"], "still");
    assert_eq!((&tracks[1]["points"][0], &tracks[1]["points"][1]), (&json!(1), &json!(3)));

    // A registered analyzer without output on any video.
    let question = json!({"question": "Who?", "analyzer": "default_video"});
    let answer = app.post_json("/ask", question).await.ok();
    assert_eq!(answer["error"], "Nothing indexed for the requested videos.");

    let query = json!({
        "text": "dog", "analyzer": "object_detection", "field": "objects", "detail": "full",
        "synthesize": false, "filters": {"objects": ["dog"]},
    });
    let hits = app.post_json("/query", query).await.json();
    assert_eq!(hits["results"].as_array().unwrap().len(), 3);
    assert_eq!(hits["results"][0]["detections"][1]["label"], "dog");
    let detection = &hits["results"][0]["detections"][1];
    assert_eq!((detection.get("locations"), detection.get("_tracks")), (None, None));
}

/// Runs aggregators again and returns the result of the job.
async fn rerun(app: &TestApp, id: &str, aggregators: &str) -> Value {
    let path = format!("/videos/{id}/aggregates");
    let form = format!("aggregators={aggregators}");
    let reply = app.post_text(&path, "application/x-www-form-urlencoded", form).await;
    app.finished(reply.json()["job_id"].as_str().unwrap()).await["result"].clone()
}

#[tokio::test]
async fn aggregates_follow_changes_to_people() {
    let (app, result) = ingest_street("people").await;
    let id = result["video_id"].as_str().unwrap();
    let path = format!("/videos/{id}/aggregates?aggregator=entity_timelines");
    let timelines = app.get(&path).await.ok()["result"].clone();
    assert!(timelines["total"].as_u64() > Some(0), "{timelines}");

    app.plant_aggregate(id, "entity_timelines", json!({"total": 0, "entities": []})).await;
    let rebuilt = rerun(&app, id, "entities").await;
    assert_eq!(rebuilt["ran"], json!(["entities", "entity_timelines", "cooccurrence"]));
    assert_eq!(app.get(&path).await.ok()["result"], timelines, "computed from the current people");

    app.edit_record(id, |record| {
        for aggregate in ["entities", "entity_timelines", "cooccurrence"] {
            record["aggregates"].as_object_mut().unwrap().remove(aggregate);
        }
    })
    .await;
    let first = rerun(&app, id, "entity_timelines").await;
    assert_eq!(first["ran"], json!(["entities", "entity_timelines"]));
    assert_eq!(first["skipped"], json!([]));
    assert_eq!(app.get(&path).await.ok()["result"], timelines);
    let without = rerun(&app, id, "object_entities,speaker_stats").await;
    assert_eq!(without["skipped"], json!(["speaker_stats", "object_entities"]));
}

#[tokio::test]
async fn people_are_described_and_counted() {
    let (app, result) = ingest_street("people").await;
    let chunk = first_chunk(&app, &result, false).await;
    let output = &chunk["people"];
    assert_eq!(output["people_count"], 2);
    assert_eq!(output.get("_detector_labels"), None, "internal");
    let first = &output["people"][0];
    assert_eq!(first["person"], "p1");
    assert_eq!(first["position"], "on the left, close");
    // The vision model describes clothing; the position comes from the tracks.
    assert_eq!(first["clothing"], "green coat");
    assert_eq!(first.get("_garments"), None, "internal");
    assert_eq!(first["action"], "", "the person does not move");
    assert_eq!(output["people"][1]["position"], "on the right");
    let verbose = first_chunk(&app, &result, true).await;
    assert_eq!(verbose["people"]["_detector_labels"], json!(["dog", "person"]));
    let coat = json!([{"part": "upper", "kind": "jacket", "colours": ["green"]}]);
    assert_eq!(verbose["people"]["people"][0]["_garments"], coat);

    let query = json!({
        "text": "person on the left", "analyzer": "people", "field": "people",
        "synthesize": false, "filters": {"min_people": 2},
    });
    let hits = app.post_json("/query", query).await.json();
    assert_eq!(hits["results"][0]["people_count"], 2, "{hits}");
    let none = json!({"text": "person", "analyzer": "people", "filters": {"min_people": 3}});
    assert_eq!(app.post_json("/query", none).await.json()["results"], json!([]));
}

/// A person on the left and eleven small ones.
fn crowd() -> Models {
    let small = (0..11).map(|n| object("person", [0.35 + 0.05 * n as f32, 0.4, 0.03, 0.1]));
    let person = object("person", [0.05, 0.1, 0.2, 0.8]);
    let objects = std::iter::once(person).chain(small).collect();
    Models {
        detector: Some(Arc::new(ScriptedDetector::with_objects(objects))),
        ..Models::default()
    }
}

#[tokio::test]
async fn a_crowd_is_counted() {
    let app = TestApp::with(|setup| setup.models = crowd()).await;
    app.model.sightless.store(true, Ordering::SeqCst);
    let analyzers = "default_video,people";
    let fields = [("analyzers", analyzers), ("mode", "interval"), ("interval", "10")];
    let job = app.job_of(&fields, "c.mp4", &clip(30.0)).await;
    assert_eq!(job["status"], "done", "{job}");
    let chunk = first_chunk(&app, &job["result"], false).await;
    let output = &chunk["people"];
    assert_eq!(output["people_count"], 12);
    assert_eq!(output["others"], json!({"count": 11, "far_away": true}));
    let people = output["people"].as_array().unwrap();
    assert_eq!((people.len(), &people[0]["position"]), (1, &json!("on the left, close")));
    assert_eq!(chunk["default_video"]["people"], json!(["A person on the left, close."]));

    let id = job["result"]["video_id"].as_str().unwrap();
    let query = json!({"text": "crowd", "analyzer": "people", "detail": "minimal"});
    let hits = app.post_json("/query", query).await.ok();
    let expected = "A crowd of about 12 people: one on the left, close; 11 others, far away.";
    assert_eq!(hits["results"][0]["snippet"], expected);
    let aggregate = async |aggregator: &str| {
        let path = format!("/videos/{id}/aggregates?aggregator={aggregator}");
        app.get(&path).await.ok()["result"].clone()
    };
    let linked = aggregate("entities").await;
    // Nothing distinguishes the large person in one chunk from those in the others.
    assert_eq!((&linked["total"], &linked["unlinked"]), (&json!(0), &json!(36)), "{linked}");
    assert_eq!(aggregate("stats").await["people"]["max"], 12);
    assert_eq!(aggregate("cooccurrence").await["people_per_chunk"][0]["count"], 12);
}

#[tokio::test]
async fn persistent_text_is_read_once() {
    let (app, result) = ingest_street("ocr").await;
    let chunk = first_chunk(&app, &result, false).await;
    assert_eq!(chunk["ocr"]["text"], "NO ENTRY");
    let texts = chunk["ocr"]["texts"].as_array().unwrap();
    assert_eq!(texts.len(), 1);
    assert!(texts[0]["first_seen"].as_f64().unwrap() < texts[0]["last_seen"].as_f64().unwrap());
}

#[tokio::test]
async fn description_is_composed_from_detections() {
    let models = street();
    let app = TestApp::with(|setup| setup.models = models).await;
    app.model.sightless.store(true, Ordering::SeqCst);
    let job = app.job_of(&[("mode", "interval"), ("interval", "10")], "c.mp4", &clip(30.0)).await;
    let chunk = first_chunk(&app, &job["result"], false).await;
    let output = &chunk["default_video"];
    let description = output["description"].as_str().unwrap();
    assert!(
        description.contains("Two people and a dog are in view.")
            && description.contains("NO ENTRY"),
        "{output}"
    );
    assert_eq!(output["objects"], json!(["dog"]));
    assert_eq!(output["people"].as_array().unwrap().len(), 2);
    assert_eq!(output["actions"], json!([]), "nothing moves");
}

#[tokio::test]
async fn chunk_similar_to_the_previous_one_costs_no_call() {
    let app = TestApp::new().await;
    // One colour per ten seconds: chunks of five come in similar pairs.
    let fields = [("mode", "interval"), ("interval", "5")];
    let job = app.job_of(&fields, "c.mp4", &clip(30.0)).await;
    let id = job["result"]["video_id"].as_str().unwrap();
    assert_eq!(app.model.described.load(Ordering::SeqCst), 3, "{job}");
    let chunks =
        app.get(&format!("/videos/{id}/chunks?verbose=true")).await.json()["chunks"].clone();
    assert_eq!(chunks[0]["default_video"].get("_same_as"), None);
    assert_eq!(chunks[1]["default_video"]["_same_as"], 0);
    assert_eq!(
        chunks[1]["default_video"]["description"],
        chunks[0]["default_video"]["description"]
    );
    assert_eq!(chunks[2]["default_video"].get("_same_as"), None);
}

#[tokio::test]
async fn index_of_a_repeated_chunk_is_internal() {
    let app = TestApp::new().await;
    let fields = [("mode", "interval"), ("interval", "5")];
    let job = app.job_of(&fields, "c.mp4", &clip(30.0)).await;
    let id = job["result"]["video_id"].as_str().unwrap();
    let read = async |query: &str| app.get(&format!("/videos/{id}/chunks/1{query}")).await.ok();
    assert!(!read("").await.to_string().contains("same_as"), "hidden unless verbose");
    assert_eq!(read("?verbose=true").await["default_video"]["_same_as"], 0);
    let export = app.get(&format!("/videos/{id}/export?format=json")).await.text();
    assert!(!export.contains("same_as"));
    // Output stored by an older version.
    let mut output = read("?verbose=true").await["default_video"].clone();
    output.as_object_mut().unwrap().remove("_same_as");
    output["same_as"] = json!(0);
    app.plant_output(id, "default_video", json!([null, output])).await;
    assert!(!read("").await.to_string().contains("same_as"));
    let verbose = read("?verbose=true").await["default_video"].clone();
    assert_eq!((&verbose["_same_as"], verbose.get("same_as")), (&json!(0), None));
}
