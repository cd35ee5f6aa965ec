//! Corrections apply wherever the video is shown, searched and exported, and survive another ingest.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use adapters::detector::ScriptedDetector;
use adapters::ocr::ScriptedTextRecognizer;
use adapters::speaker::{ScriptedSpeakerEmbedder, ScriptedSpeakerSegmentation};
use adapters::transcriber::ScriptedTranscriber;
use adapters::vad::ScriptedVoiceActivity;
use ports::detector::Detection;
use ports::ocr::TextLine;
use ports::transcriber::{Transcript, Word};
use ports::vad::SpeechSpan;
use serde_json::{Value, json};

use crate::support::{Models, TestApp, clip, mentions};

const SAID: &str = "The web telescope is cold. It sees the web of stars. Nobody else does. \
                    A web is a net after all.";

/// Models for a video in which one voice says [`SAID`] from second 2 on, one word per second, with a
/// person on the left and a sign above.
pub(super) fn speech_models() -> Models {
    let words = SAID.split_whitespace().enumerate().map(|(at, text)| Word {
        text: text.into(),
        start: at as f64,
        end: at as f64 + 0.8,
        confidence: 0.9,
    });
    let transcript =
        Transcript { language: Some("en".into()), words: words.collect(), ..Transcript::default() };
    let person =
        Detection { label: "person".into(), confidence: 0.9, bounds: [0.1, 0.2, 0.3, 0.7] };
    let sign =
        TextLine { text: "NASA GODARD".into(), confidence: 0.95, bounds: [0.2, 0.05, 0.5, 0.1] };
    let span = SpeechSpan { start: 2.0, end: 24.0 };
    Models {
        transcriber: Some(Arc::new(ScriptedTranscriber::with_transcript(transcript))),
        vad: Some(Arc::new(ScriptedVoiceActivity::new(vec![span]))),
        speaker_segmentation: Some(Arc::new(ScriptedSpeakerSegmentation::new(|_| 1))),
        speaker_embedder: Some(Arc::new(ScriptedSpeakerEmbedder::new(|_| Some(vec![1.0, 0.0])))),
        detector: Some(Arc::new(ScriptedDetector::with_objects(vec![person]))),
        ocr: Some(Arc::new(ScriptedTextRecognizer::with_lines(vec![sign]))),
        ..Models::default()
    }
}

const ANALYZERS: &str = "default_video,diarization,ocr,people";

async fn ingest(app: &TestApp, interval: &str) -> String {
    let fields = [("analyzers", ANALYZERS), ("mode", "interval"), ("interval", interval)];
    let job = app.job_of(&fields, "clip.mp4", &clip(30.0)).await;
    assert_eq!(job["status"], "done", "{job}");
    job["result"]["video_id"].as_str().unwrap().to_owned()
}

async fn app() -> (TestApp, String) {
    let app = TestApp::with(|setup| setup.models = speech_models()).await;
    // Without a vision model descriptions are composed; they quote speech and on-screen text.
    app.model.sightless.store(true, Ordering::SeqCst);
    let id = ingest(&app, "10").await;
    (app, id)
}

pub(super) async fn correct(app: &TestApp, id: &str, corrections: Value) -> Value {
    let path = format!("/videos/{id}/corrections?aggregate=true");
    let made = app.post_json(&path, json!({"corrections": corrections})).await.ok();
    if let Some(job) = made["job_id"].as_str() {
        assert_eq!(app.finished(job).await["status"], "done");
    }
    made
}

async fn get_text(app: &TestApp, path: &str) -> String {
    let reply = app.get(path).await;
    assert_eq!(reply.status, 200, "{path}: {}", reply.text());
    reply.text()
}

/// Every view of a video that contains its speech and on-screen text, by path.
async fn rendered_texts(app: &TestApp, id: &str) -> Vec<(String, String)> {
    let mut texts = Vec::new();
    for path in [
        "chunks?limit=100&verbose=true",
        "transcript",
        "export?format=srt",
        "export?format=vtt",
        "export?format=csv",
        "export?format=json",
    ] {
        let path = format!("/videos/{id}/{path}");
        texts.push((path.clone(), get_text(app, &path).await));
    }
    let everything =
        json!({"text": "webb telescope", "analyzer": "*", "limit": 50, "detail": "full"});
    texts.push(("/query".into(), app.post_json("/query", everything).await.ok().to_string()));
    texts
}

#[tokio::test]
async fn corrections_apply_to_views_search_and_exports() {
    let (app, id) = app().await;
    let raw = rendered_texts(&app, &id).await;
    let made = correct(
        &app,
        &id,
        json!([
            {"of": "speaker", "from": "S1", "to": "Ada Lovelace"},
            {"of": "words", "from": "web", "to": "Webb", "start": 2, "end": 6},
            {"of": "screen_text", "from": "GODARD", "to": "GODDARD"},
        ]),
    )
    .await;
    let made = made["corrections"].as_array().unwrap();
    assert_eq!(made.len(), 3);
    assert_eq!((&made[0]["places"], &made[1]["places"]), (&json!(1), &json!(1)), "{made:?}");
    assert_eq!(made[2]["places"], 3, "one place in each chunk");
    for (path, text) in rendered_texts(&app, &id).await {
        mentions(&text, &["The Webb telescope"]);
        if path.contains("srt") {
            // SRT captions have no speaker names.
        } else if path.contains("vtt") || path.contains("transcript") {
            mentions(&text, &["Ada Lovelace", "the web of stars"]);
        } else {
            mentions(&text, &["Ada Lovelace", "NASA GODDARD"]);
        }
        assert!(!text.contains("S1") && !text.contains("GODARD"), "{path}: {text}");
    }
    let filtered = json!({
        "text": "telescope", "analyzer": "diarization", "filters": {"speakers": ["Ada Lovelace"]},
    });
    let page = app.post_json("/query", filtered).await.ok();
    assert!(!page["results"].as_array().unwrap().is_empty(), "{page}");
    let values = app.get("/values?field=speakers").await.ok();
    assert_eq!(values["values"][0]["value"], "Ada Lovelace", "{values}");
    let stats = app.get(&format!("/videos/{id}/aggregates?aggregator=speaker_stats")).await.ok();
    mentions(&stats.to_string(), &["Ada Lovelace"]);

    let stored = app.get(&format!("/videos/{id}/corrections")).await.ok();
    assert_eq!(stored["corrections"].as_array().unwrap().len(), 3);
    let undo = format!("/videos/{id}/corrections");
    let word = made[1]["id"].as_str().unwrap();
    assert_eq!(app.delete(&format!("{undo}/{word}")).await.ok()["corrections"][0]["of"], "speaker");
    app.delete(&format!("{undo}/{word}")).await.error(404);
    let undone = app.delete(&format!("{undo}?aggregate=true")).await.ok();
    app.finished(undone["job_id"].as_str().unwrap()).await;
    for (now, before) in rendered_texts(&app, &id).await.into_iter().zip(raw) {
        assert_eq!(now, before, "the models' output is restored");
    }
    assert_eq!(app.get(&undo).await.ok()["corrections"], json!([]));
}

#[tokio::test]
async fn corrections_survive_reanalysis_and_rechunking() {
    let (app, id) = app().await;
    let entities = app.get(&format!("/videos/{id}/entities")).await.ok();
    let person = entities["entities"][0]["entity_id"].as_str().unwrap().to_owned();
    correct(
        &app,
        &id,
        json!([
            {"of": "speaker", "from": "S1", "to": "Ada Lovelace"},
            {"of": "words", "from": "web", "to": "Webb"},
            {"of": "words", "from": "after all", "to": ""},
            {"of": "person", "from": person, "to": "Grace Hopper"},
            {"of": "speaker", "from": "Ada Lovelace", "to": "Alan Turing", "start": 12, "end": 16},
        ]),
    )
    .await;
    let assert_corrected = |text: &str| {
        mentions(text, &["The Webb telescope", "Grace Hopper, a person", "A Webb is a net"]);
        assert!(
            !text.contains("S1") && !text.contains("web ") && !text.contains("after"),
            "{text}"
        );
        let turns: Value = serde_json::from_str(text).unwrap();
        let speakers: Vec<&str> = turns["chunks"]
            .as_array()
            .unwrap()
            .iter()
            .flat_map(|chunk| chunk["diarization"]["speakers"].as_array().into_iter().flatten())
            .filter_map(Value::as_str)
            .collect();
        assert!(speakers.contains(&"Alan Turing") && speakers.contains(&"Ada Lovelace"), "{text}");
    };
    let chunks = format!("/videos/{id}/chunks?limit=100");
    assert_corrected(&get_text(&app, &chunks).await);
    for interval in ["7", "10"] {
        assert_eq!(ingest(&app, interval).await, id);
        assert_corrected(&get_text(&app, &chunks).await);
        let stored = app.get(&format!("/videos/{id}/corrections")).await.ok();
        for correction in stored["corrections"].as_array().unwrap() {
            assert_ne!(correction["places"], 0, "{interval}: {correction}");
        }
    }
    let entities = app.get(&format!("/videos/{id}/entities")).await.ok();
    assert_eq!(entities["entities"][0]["name"], "Grace Hopper", "{entities}");
    mentions(&get_text(&app, &format!("/videos/{id}/export?format=csv")).await, &["Grace Hopper"]);
    assert_eq!(
        app.service.maintenance.verification.run().await.unwrap().problems,
        Vec::<String>::new()
    );
}

#[tokio::test]
async fn intervals_follow_every_change_of_a_video() {
    let (app, id) = app().await;
    let starts = async |expression: Value| -> Vec<f64> {
        let page = app.post_json("/intervals", json!({"expression": expression})).await.ok();
        let videos = page["videos"].as_array().unwrap().iter();
        let spans = videos.flat_map(|video| video["spans"].as_array().unwrap());
        spans.map(|span| span["start"].as_f64().unwrap()).collect()
    };
    let [web, webb] = ["\"web\"", "\"webb\""].map(|word| json!({"says": word}));
    let [first, ada] = ["S1", "Ada Lovelace"].map(|name| json!({"speaker": name}));
    let sign = json!({"reads": "goddard"});
    let said = starts(web.clone()).await;
    assert_eq!(said.len(), 3);
    assert_eq!(starts(webb.clone()).await, [0.0; 0]);
    assert_eq!(starts(ada.clone()).await, [0.0; 0]);
    assert_eq!(starts(sign.clone()).await, [0.0; 0]);
    let turns = starts(first.clone()).await;
    assert!(!turns.is_empty());
    correct(
        &app,
        &id,
        json!([
            {"of": "words", "from": "web", "to": "Webb", "start": 2, "end": 6},
            {"of": "speaker", "from": "S1", "to": "Ada Lovelace"},
            {"of": "screen_text", "from": "GODARD", "to": "GODDARD"},
        ]),
    )
    .await;
    assert_eq!(starts(webb.clone()).await, said[..1], "a corrected word keeps its time");
    let transcript = app.get(&format!("/videos/{id}/transcript?words=true")).await.ok();
    let utterances = transcript["utterances"].as_array().unwrap().iter();
    let words: Vec<&Value> =
        utterances.flat_map(|said| said["words"].as_array().expect("words")).collect();
    let corrected = words.iter().find(|word| word["text"].as_str().unwrap().contains("Webb"));
    assert_eq!(corrected.expect("the corrected word")["start"], said[0]);
    assert_eq!(starts(web.clone()).await, said[1..]);
    assert_eq!(starts(ada.clone()).await, turns);
    assert_eq!(starts(first.clone()).await, [0.0; 0]);
    assert_eq!(starts(sign.clone()).await.len(), 1);

    // Corrections apply to an ingest in other chunks.
    ingest(&app, "7").await;
    assert_eq!(starts(webb.clone()).await, said[..1]);
    app.delete(&format!("/videos/{id}/corrections")).await.ok();
    assert_eq!(starts(webb).await, [0.0; 0]);
    assert_eq!(starts(web).await, said);
    assert_eq!(starts(first.clone()).await, turns);
    app.delete(&format!("/videos/{id}")).await.ok();
    assert_eq!(starts(first).await, [0.0; 0]);
}

#[tokio::test]
async fn only_corrected_texts_are_embedded_again() {
    let (app, id) = app().await;
    let before = app.embedder.embedded.load(Ordering::SeqCst);
    let path = format!("/videos/{id}/corrections?aggregate=false");
    let corrections = json!([{"of": "words", "from": "telescope", "to": "observatory"}]);
    app.post_json(&path, json!({"corrections": corrections})).await.ok();
    let embedded = app.embedder.embedded.load(Ordering::SeqCst) - before;
    // Two vector fields of the turns of one chunk and of the description that quotes them.
    assert!((2..=4).contains(&embedded), "{embedded}");
}

#[tokio::test]
async fn titles_of_chapters_are_corrected_and_restored() {
    let (app, id) = app().await;
    let title = async || {
        let stored = app.get(&format!("/videos/{id}/aggregates")).await.ok();
        let chapters = &stored["aggregates"]["chapters"]["chapters"];
        chapters[0]["title"].as_str().unwrap().to_owned()
    };
    let original = title().await;
    let new = "The telescope is tested";
    let made = correct(&app, &id, json!([{"of": "chapter", "from": original, "to": new}])).await;
    let made = &made["corrections"][0];
    assert_eq!((&made["places"], &made["start"]), (&json!(1), &json!(0.0)));
    assert_eq!(title().await, new);
    let vtt = format!("/videos/{id}/export?format=chapters.vtt");
    mentions(&get_text(&app, &vtt).await, &[new]);
    // Neither another correction nor new aggregates restore the title of the model.
    correct(&app, &id, json!([{"of": "words", "from": "cold", "to": "hot"}])).await;
    let form = "application/x-www-form-urlencoded";
    let rerun = app.post_text(&format!("/videos/{id}/aggregates"), form, "").await;
    let rerun: Value = serde_json::from_str(&rerun.text()).expect("a job");
    app.finished(rerun["job_id"].as_str().unwrap()).await;
    assert_eq!(title().await, new);
    assert_eq!(app.get(&format!("/videos/{id}/corrections")).await.ok()["corrections"][0], *made);

    let path = format!("/videos/{id}/corrections");
    let refused = async |from: &str, to: &str| {
        let body = json!({"corrections": [{"of": "chapter", "from": from, "to": to}]});
        app.post_json(&path, body).await
    };
    mentions(&refused(&original, "x").await.error(400), &["no chapter has the title", new]);
    mentions(&refused(new, " ").await.error(422), &["chapter", "'to'"]);
    app.delete(&format!("{path}/{}", made["id"].as_str().unwrap())).await.ok();
    assert_eq!(title().await, original);
}

#[tokio::test]
async fn chapters_are_added_and_renamed() {
    let (app, id) = app().await;
    let chapters = async || {
        let stored = app.get(&format!("/videos/{id}/aggregates")).await.ok();
        let chapters = stored["aggregates"]["chapters"]["chapters"].as_array().unwrap().clone();
        let short = |c: &Value| json!([c["title"], c["start"], c["end"]]);
        chapters.iter().map(short).collect::<Vec<_>>()
    };
    let original = chapters().await;
    let (title, end) = (original[0][0].clone(), original[0][2].as_f64().unwrap());
    let new = json!([{"of": "chapter", "from": "", "to": "The gate", "start": 1.0, "end": 2.0}]);
    let made = correct(&app, &id, new).await["corrections"][0].clone();
    assert_eq!((&made["places"], &made["from"]), (&json!(1), &json!("")));
    let expected =
        [json!([title, 0.0, 1.0]), json!(["The gate", 1.0, 2.0]), json!([title, 2.0, end])];
    assert_eq!(chapters().await[..3], expected);
    let vtt = format!("/videos/{id}/export?format=chapters.vtt");
    mentions(&get_text(&app, &vtt).await, &["The gate", "00:00:01.000 --> 00:00:02.000"]);
    let rename = json!([{"of": "chapter", "from": "The gate", "to": "North gate"}]);
    correct(&app, &id, rename).await;
    assert_eq!(chapters().await[1][0], "North gate");

    let path = format!("/videos/{id}/corrections");
    for (start, end, to, status) in
        [(None, None, "x", 422), (Some(1.0), Some(2.0), " ", 422), (Some(1e6), Some(2e6), "x", 400)]
    {
        let one = json!({"of": "chapter", "from": "", "to": to, "start": start, "end": end});
        app.post_json(&path, json!({"corrections": [one]})).await.error(status);
    }
    app.delete(&format!("{path}/{}", made["id"].as_str().unwrap())).await.ok();
    assert_eq!(chapters().await, original, "the name of a chapter that is gone does not matter");
}

#[tokio::test]
async fn words_that_are_right_are_checked() {
    let (app, id) = app().await;
    let transcript = format!("/videos/{id}/transcript?words=true");
    let words = async || {
        let spoken = app.get(&transcript).await.ok();
        let sentence = &spoken["utterances"][0];
        (sentence["text"].as_str().unwrap().to_owned(), sentence["words"].clone())
    };
    let (text, before) = words().await;
    assert!(before[0]["confidence"].as_f64().unwrap() < 1.0, "{before}");
    let made = correct(&app, &id, json!([{"of": "words", "from": text, "to": text}])).await;
    let (same, after) = words().await;
    assert_eq!(same, text);
    let confidences = after.as_array().unwrap().iter().map(|word| word["confidence"].as_f64());
    assert!(confidences.into_iter().all(|confidence| confidence == Some(1.0)), "{after}");
    let undo =
        format!("/videos/{id}/corrections/{}", made["corrections"][0]["id"].as_str().unwrap());
    app.delete(&undo).await.ok();
    assert_eq!(words().await, (text, before));
}

#[tokio::test]
async fn invalid_corrections_are_refused_with_a_reason() {
    let (app, id) = app().await;
    let path = format!("/videos/{id}/corrections");
    let refused = async |correction: Value, status: u16| {
        let good = json!({"of": "words", "from": "cold", "to": "hot"});
        let reply = app.post_json(&path, json!({"corrections": [good, correction]})).await;
        reply.error(status)
    };
    let words = |from: &str| json!({"of": "words", "from": from, "to": "x"});
    mentions(&refused(words("submarine"), 400).await, &["nobody says 'submarine'", "nothing"]);
    mentions(&refused(words("?!"), 422).await, &["'from'", "letter"]);
    let late = json!({"of": "words", "from": "web", "to": "Webb", "start": 25, "end": 29});
    mentions(&refused(late, 400).await, &["between 0:25.00 and 0:29.00"]);
    let half = json!({"of": "words", "from": "web", "to": "Webb", "start": 25});
    mentions(&refused(half, 422).await, &["'start' and 'end' go together"]);
    let turned = json!({"of": "words", "from": "web", "to": "Webb", "start": 9, "end": 3});
    mentions(&refused(turned, 422).await, &["'end' after 'start'"]);
    let nobody = json!({"of": "speaker", "from": "S9", "to": "Ada"});
    mentions(&refused(nobody, 400).await, &["no speaker 'S9'", "S1"]);
    let unnamed = json!({"of": "speaker", "from": "S1", "to": " "});
    mentions(&refused(unnamed, 422).await, &["speaker", "'to'"]);
    let stranger = json!({"of": "person", "from": "ab-p99", "to": "Ada"});
    mentions(&refused(stranger, 404).await, &["no person 'ab-p99'", "/entities"]);
    let long = json!({"of": "words", "from": "web", "to": "x".repeat(501)});
    mentions(&refused(long, 422).await, &["500 characters", "ingest.max_correction_chars"]);
    refused(json!({"of": "colour", "from": "red", "to": "blue"}), 422).await;
    app.post_json(&path, json!({"corrections": []})).await.error(422);
    let stored = app.get(&path).await.ok();
    assert_eq!(
        stored["corrections"],
        json!([]),
        "all corrections of a request are applied, or none"
    );
    mentions(&get_text(&app, &format!("/videos/{id}/transcript")).await, &["is cold."]);
    app.get("/videos/0123456789abcdef/corrections").await.error(404);
    app.post_json("/videos/0123456789abcdef/corrections", json!({"corrections": [words("a")]}))
        .await
        .error(404);
}
