//! Tests that the scripted adapters pass the same suites as the real ones.

use ports::{
    conformance,
    decoder::Image,
    detector::Detection,
    ocr::TextLine,
    sentiment::Sentiment,
    transcriber::{Transcript, Word},
    vad::SpeechSpan,
};
use shotlog_adapters::{
    detector::ScriptedDetector,
    ner::ScriptedEntities,
    ocr::ScriptedTextRecognizer,
    sentiment::ScriptedSentiment,
    speaker::{ScriptedSpeakerEmbedder, ScriptedSpeakerSegmentation},
    transcriber::ScriptedTranscriber,
    vad::ScriptedVoiceActivity,
};

#[tokio::test]
async fn detector() {
    let object = |label: &str, confidence| Detection {
        label: label.into(),
        confidence,
        bounds: [0.1, 0.2, 0.3, 0.4],
    };
    let detector = ScriptedDetector::with_objects(vec![object("dog", 0.5), object("person", 0.9)]);
    conformance::detector::suite(&detector, &stripes()).await;
    let asked = detector.calls();
    use ports::detector::ObjectDetector;
    let seen = detector.detect(&stripes()).await.unwrap();
    assert_eq!(seen[0].label, "person");
    assert_eq!(detector.calls(), asked + 1);
}

#[tokio::test]
async fn reader() {
    let line = TextLine { text: "GATE 7".into(), confidence: 0.9, bounds: [0.0, 0.0, 0.5, 0.1] };
    conformance::ocr::suite(&ScriptedTextRecognizer::with_lines(vec![line]), &stripes()).await;
}

#[tokio::test]
async fn transcriber() {
    let word =
        |text: &str, start| Word { text: text.into(), start, end: start + 0.4, confidence: 1.0 };
    let transcript = Transcript {
        language: Some("en".into()),
        words: vec![word("ask", 0.1), word("not", 0.6)],
        ..Transcript::default()
    };
    let transcriber = ScriptedTranscriber::with_transcript(transcript).with_max_seconds(20.0);
    conformance::transcriber::suite(&transcriber, &tone(2.0)).await;
}

#[test]
fn voice_activity() {
    let spans = vec![SpeechSpan { start: 0.25, end: 0.75 }, SpeechSpan { start: 1.5, end: 9.0 }];
    conformance::vad::activity(&ScriptedVoiceActivity::new(spans), &tone(3.0));
}

#[tokio::test]
async fn speaker_segmentation() {
    let loud = |samples: &[f32]| 1 + u8::from(samples.iter().any(|s| *s > 0.4));
    let segmentation = ScriptedSpeakerSegmentation::new(loud);
    conformance::speaker::segmentation(&segmentation, &tone(3.0)).await;
}

#[tokio::test]
async fn speaker_embedder() {
    let embedder = ScriptedSpeakerEmbedder::new(|samples| {
        let peak = samples.iter().fold(0.0_f32, |m, s| m.max(s.abs()));
        Some(vec![samples[1] / peak, 2.0])
    });
    conformance::speaker::embedder(&embedder, &tone(2.0)).await;
}

#[tokio::test]
async fn sentiment() {
    let classifier = ScriptedSentiment::new(|text| {
        let positive = if text.contains("love") { 0.75 } else { 0.0 };
        Ok(Sentiment { positive, neutral: 0.25, negative: 0.75 - positive })
    });
    conformance::sentiment::suite(&classifier).await;
}

#[tokio::test]
async fn entities() {
    let names = [("Webb", "person"), ("Webb telescope", "product"), ("NASA", "organisation")];
    conformance::ner::suite(&ScriptedEntities::new(&names), "the Webb telescope of NASA").await;
}

fn stripes() -> Image {
    let rgb = (0..32 * 24).flat_map(|i| [if i % 5 == 0 { 250 } else { 10 }, 90, 30]).collect();
    Image { width: 32, height: 24, rgb }
}

fn tone(seconds: f32) -> Vec<f32> {
    (0..(seconds * 16_000.0) as usize).map(|i| 0.3 * (i as f32 * 0.07 + 0.1).sin()).collect()
}
