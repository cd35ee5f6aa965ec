//! Searches for what only the picture shows: by text, and by picture.

use std::io::Cursor;
use std::sync::Arc;

use adapters::classifier::ScriptedClassifier;
use adapters::embedder::HashingEmbedder;
use adapters::image_embedder::LabelBridge;
use adapters::index::memory::MemoryIndex;
use adapters::ocr::ScriptedTextRecognizer;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use domain::analysis::VISUAL_FRAMES;
use ports::classifier::ImageClassifier;
use ports::decoder::Image;
use ports::image_embedder::ImageEmbedder;
use ports::index::PictureSpace;
use serde_json::{Value, json};

use crate::support::{FakeEmbedder, TestApp, clip, mentions};

/// Three scenes of ten seconds: a lawn, a seashore and a volcano.
pub(crate) async fn ingest_landscapes() -> TestApp {
    let app = landscapes_app().await;
    let fields = [("analyzers", "default_video"), ("mode", "interval"), ("interval", "10")];
    let job = app.job_of(&fields, "landscapes.mp4", &clip(30.0)).await;
    assert_eq!(job["status"], "done", "{job}");
    app
}

/// A service that recognises a lawn, a seashore and a volcano.
async fn landscapes_app() -> TestApp {
    let script = |image: &Image| match image.rgb[image.rgb.len() - 3] {
        ..70 => vec![0.9, 0.05, 0.05],
        70..130 => vec![0.05, 0.9, 0.05],
        _ => vec![0.05, 0.05, 0.9],
    };
    let labels = ["lawn mower", "seashore", "volcano"];
    let classifier: Arc<dyn ImageClassifier> = Arc::new(ScriptedClassifier::new(&labels, script));
    let texts = Arc::new(HashingEmbedder::new(384).expect("an embedder"));
    let images = Arc::new(LabelBridge::new(classifier.clone(), texts));
    let pictures = PictureSpace {
        fields: VISUAL_FRAMES.map(str::to_owned).into(),
        dimension: images.dimension(),
        model: images.model().to_owned(),
    };
    TestApp::with(|setup| {
        setup.models.classifier = Some(classifier);
        setup.models.image_embedder = Some(images);
        setup.models.ocr = Some(Arc::new(ScriptedTextRecognizer::with_lines(Vec::new())));
        let index = MemoryIndex::new(FakeEmbedder::DIMENSION).with_pictures(pictures);
        setup.index = Arc::new(index);
    })
    .await
}

/// A data URL of a PNG whose left half has the colour of the seashore, the right half that of the
/// volcano.
pub(crate) fn picture() -> String {
    let picture = image::RgbImage::from_fn(16, 8, |x, _| match x < 8 {
        true => image::Rgb([100, 150, 90]),
        false => image::Rgb([160, 100, 90]),
    });
    let mut bytes = Cursor::new(Vec::new());
    picture.write_to(&mut bytes, image::ImageFormat::Png).expect("a PNG");
    format!("data:image/png;base64,{}", STANDARD.encode(bytes.into_inner()))
}

pub(crate) fn chunk_ids(found: &Value) -> Vec<u64> {
    let hits = found["results"].as_array().expect("results").iter();
    hits.map(|hit| hit["chunk_id"].as_u64().expect("an id")).collect()
}

#[tokio::test]
async fn texts_find_pictures() {
    let app = ingest_landscapes().await;
    for (text, chunk) in [("volcano", 2), ("seacoast", 1), ("lawn mower", 0)] {
        let visual = json!({"text": text, "field": "visual", "synthesize": false});
        let found = app.post_json("/query", visual.clone()).await.ok();
        assert_eq!(chunk_ids(&found)[0], chunk, "{text}: {found}");
        let p = |at: usize| found["results"][at]["p_present"].as_f64().expect("a probability");
        assert!(p(0) > p(1), "{text}: {found}");
        let all = json!({"text": text, "analyzer": "*", "synthesize": false});
        let found = app.post_json("/query", all.clone()).await.ok();
        assert_eq!(chunk_ids(&found)[0], chunk, "{text}: {found}");
        assert_eq!(found["results"][0]["found_by"], json!(["default_video"]));
        let full = json!({"text": text, "field": "visual", "detail": "full", "synthesize": false});
        let found = app.post_json("/query", full).await.ok();
        assert_ne!(found["results"][0]["text"], "", "the text of the whole record");
    }
}

#[tokio::test]
async fn pictures_find_pictures() {
    let app = ingest_landscapes().await;
    for (region, chunk) in [(json!([0, 0, 0.5, 1]), 1), (json!([0.5, 0, 0.5, 1]), 2)] {
        let request = json!({"image": picture(), "region": region, "analyzer": "*"});
        let found = app.post_json("/query", request.clone()).await.ok();
        assert_eq!(chunk_ids(&found)[0], chunk, "{found}");
        assert_eq!(
            (&found["field"], found["results"][0].get("p_present")),
            (&json!("visual"), None)
        );
    }
    let all = json!({"order": "newest", "analyzer": "default_video"});
    let moments = app.post_json("/query", all.clone()).await.ok();
    let like = json!({"like": moments["results"][2]["moment_id"], "field": "visual"});
    assert_eq!(chunk_ids(&app.post_json("/query", like.clone()).await.ok()).len(), 2);
}

#[tokio::test]
async fn a_moment_without_vectors_is_compared_by_its_frame() {
    let app = landscapes_app().await;
    let text = [("analyzers", "ocr"), ("mode", "interval"), ("interval", "10")];
    let job = app.job_of(&text, "landscapes.mp4", &clip(30.0)).await;
    assert_eq!(job["status"], "done", "{job}");
    let moment = format!("m_{}_20000_30000", job["result"]["video_id"].as_str().expect("an id"));
    let fields = [("analyzers", "default_video"), ("mode", "interval"), ("interval", "10")];
    let other = app.job_of(&fields, "more.mp4", &clip(40.0)).await;
    let other = &other["result"]["video_id"];
    let like = json!({"like": moment, "field": "visual", "synthesize": false});
    let found = app.post_json("/query", like.clone()).await.ok();
    let best = &found["results"][0];
    assert_eq!((&best["video_id"], best.get("p_present")), (other, None), "{found}");
    assert_eq!(chunk_ids(&found)[0], 2, "{found}");

    let sound = json!({"seconds": 3, "video": false}).to_string().into_bytes();
    let sound = app.job_of(&[("analyzers", "default_video")], "tone.wav", &sound).await;
    let moment = format!("m_{}_0_3000", sound["result"]["video_id"].as_str().expect("an id"));
    let like = json!({"like": moment, "field": "visual"});
    let error = app.post_json("/query", like.clone()).await.error(400);
    mentions(&error, &["no picture", "omit field"]);
}

#[tokio::test]
async fn labels_of_frames_are_tags() {
    let app = ingest_landscapes().await;
    let videos = app.get("/videos").await.ok();
    let id = videos["videos"][0]["video_id"].as_str().expect("an id");
    let chunk = app.get(&format!("/videos/{id}/chunks/2?verbose=true")).await.ok();
    let seen = &chunk["default_video"]["seen"][0];
    assert_eq!((&seen["label"], &seen["probability"]), (&json!("volcano"), &json!(0.9)));
    let tags = chunk["default_video"]["tags"].as_array().expect("tags");
    assert!(tags.contains(&json!("volcano")), "{tags:?}");
    let listed = json!({"order": "newest", "filters": {"tags": ["volcano"]}});
    let hits = app.post_json("/query", listed.clone()).await.ok();
    assert_eq!(hits["results"][0]["certainty"]["volcano"], 0.9, "{hits}");
    let filtered = json!({"order": "newest", "filters": {"tags": ["volcano"]}});
    assert_eq!(chunk_ids(&app.post_json("/query", filtered.clone()).await.ok()), [2]);
}

#[tokio::test]
async fn the_field_is_listed_where_it_can_be_searched() {
    let visual = json!({"text": "a volcano", "field": "visual"});
    let app = ingest_landscapes().await;
    assert!(app.get("/schema").await.ok()["vector_fields"].get("visual").is_some());
    let other = json!({"image": picture(), "field": "objects"});
    let error = app.post_json("/query", other.clone()).await.error(400);
    assert!(error.contains("'visual'"), "{error}");
    let both = json!({"image": picture(), "text": "a volcano"});
    app.post_json("/query", both.clone()).await.error(400);
    let part = json!({"text": "a volcano", "region": [0, 0, 1, 1]});
    let error = app.post_json("/query", part.clone()).await.error(400);
    assert!(error.contains("give image"), "{error}");
    let app = TestApp::new().await;
    assert!(app.get("/schema").await.ok()["vector_fields"].get("visual").is_none());
    let error = app.post_json("/query", visual.clone()).await.error(400);
    assert!(error.contains("image embedder"), "{error}");
}

#[tokio::test]
async fn alerts_compare_pictures() {
    let alert = json!({"text": "volcano", "analyzer": "default_video", "field": "visual",
        "min_p_present": 0, "webhook": "https://example.org/hook"});
    let app = TestApp::new().await;
    let error = app.put_json("/alerts/eruptions", alert.clone()).await.error(400);
    assert!(error.contains("image embedder"), "{error}");
    let app = ingest_landscapes().await;
    app.put_json("/alerts/eruptions", alert).await.ok();
    let fields = [("analyzers", "default_video"), ("mode", "interval"), ("interval", "10")];
    let job = app.job_of(&fields, "more.mp4", &clip(40.0)).await;
    assert_eq!(job["status"], "done", "{job}");
    app.idle().await;
    let sent = app.webhooks.requests();
    assert_eq!(sent.len(), 1);
    let event: Value = serde_json::from_slice(&sent[0].body).expect("an event");
    assert_eq!(event["alert"], "eruptions");
}
