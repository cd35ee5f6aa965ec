//! Tests of voice activity detection on real speech.

use ports::{
    conformance,
    decoder::SAMPLE_RATE,
    vad::{SpeechSpan, VoiceActivityDetector},
};
use shotlog_adapters::vad::SpectralVoiceActivity;

use super::support;

#[cfg(feature = "onnx")]
#[test]
fn silero() {
    use shotlog_adapters::{
        OnnxThreading,
        vad::{Silero, SileroOptions, SpeechOptions},
    };
    let Some(runtime) = support::runtime() else { return };
    let Some(model) = support::model("vad/silero_vad_16k_op15.onnx") else { return };
    let options = SileroOptions {
        model,
        speech: SpeechOptions::default(),
        threading: OnnxThreading::default(),
    };
    let silero = Silero::open(&runtime, &options).unwrap();
    let Some(jfk) = support::sound("jfk.wav") else { return };
    conformance::vad::activity(&silero, &jfk);
    for (clip, accuracy) in accuracies(&silero) {
        assert!(accuracy >= 0.95, "{clip}: {accuracy:.3}");
    }
}

#[test]
fn spectral() {
    let Some(jfk) = support::sound("jfk.wav") else { return };
    let detector = SpectralVoiceActivity::default();
    conformance::vad::activity(&detector, &jfk);
    for (clip, accuracy) in accuracies(&detector) {
        // This clip has twenty seconds of drums before the speech.
        if clip != "googlework_short.mp4" {
            assert!(accuracy >= 0.9, "{clip}: {accuracy:.3}");
        }
    }
}

/// Returns, for each clip, the share of 10 ms frames in which the detector agrees with the labelled
/// spans.
fn accuracies(detector: &dyn VoiceActivityDetector) -> Vec<(&'static str, f64)> {
    let Some(truth) = support::truth() else { return Vec::new() };
    let clips = [
        ("jfk.wav", "utterances", "1"),
        ("azure_weather.wav", "utterances", "1"),
        ("googlework_short.mp4", "speech_intervals_vad", "0"),
        ("nasa_13013.mp4", "speech_intervals_vad", "0"),
        ("ForBiggerEscapes.mp4", "speech_intervals_vad", "0"),
        ("falcon_test.wav", "segments", "start"),
        ("pyannote_sample.wav", "rttm", "1"),
    ];
    let number = |value: &serde_json::Value, key: &str| match key.parse::<usize>() {
        Ok(index) => (value[index].as_f64(), value[index + 1].as_f64()),
        Err(_) => (value[key].as_f64(), value["end"].as_f64()),
    };
    let pairs = |value: &serde_json::Value, key: &str| -> Vec<(f64, f64)> {
        let items = value.as_array().unwrap().iter().map(|v| number(v, key));
        items.map(|(start, end)| (start.unwrap(), end.unwrap())).collect()
    };
    let mut results = Vec::new();
    for (clip, key, at) in clips {
        let Some(samples) = support::sound(clip) else { continue };
        let mut session = detector.begin().unwrap();
        session.push(&samples).unwrap();
        let found = session.finish().unwrap();
        let known = pairs(&truth[clip][key], at);
        let frames = samples.len() * 100 / SAMPLE_RATE as usize;
        let agreed = (0..frames).filter(|i| {
            let t = (*i as f64 + 0.5) / 100.0;
            let heard = found.iter().any(|s: &SpeechSpan| s.start <= t && t < s.end);
            heard == known.iter().any(|(start, end)| *start <= t && t < *end)
        });
        let accuracy = agreed.count() as f64 / frames as f64;
        println!("{} on {clip}: frame accuracy {accuracy:.3}", detector.model());
        results.push((clip, accuracy));
    }
    results
}
