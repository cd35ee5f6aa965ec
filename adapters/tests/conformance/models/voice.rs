//! Voice activity and speaker vectors on real speech.

use ports::{
    conformance,
    decoder::SAMPLE_RATE,
    voice::{SpeechSpan, VoiceActivity},
};

use super::support;

#[cfg(feature = "onnx")]
#[test]
fn silero() {
    use shotlog_adapters::{
        OnnxThreading,
        voice::{Silero, SileroOptions, SpeechOptions},
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
    conformance::voice::activity(&silero, &jfk);
    for (clip, accuracy) in accuracies(&silero) {
        assert!(accuracy >= 0.95, "{clip}: {accuracy:.3}");
    }
}

/// Share of 10 ms frames on which a detector agrees with the spans known for each clip.
fn accuracies(detector: &dyn VoiceActivity) -> Vec<(&'static str, f64)> {
    let Some(truth) = support::truth() else { return Vec::new() };
    let pairs = |value: &serde_json::Value, start: usize| -> Vec<(f64, f64)> {
        let items = value.as_array().unwrap().iter();
        items.map(|v| (v[start].as_f64().unwrap(), v[start + 1].as_f64().unwrap())).collect()
    };
    let clips = [
        ("jfk.wav", "utterances", 1),
        ("azure_weather.wav", "utterances", 1),
        ("googlework_short.mp4", "speech_intervals_vad", 0),
        ("nasa_13013.mp4", "speech_intervals_vad", 0),
        ("ForBiggerEscapes.mp4", "speech_intervals_vad", 0),
    ];
    let mut results = Vec::new();
    for (clip, key, start) in clips {
        let Some(samples) = support::sound(clip) else { continue };
        let mut session = detector.begin().unwrap();
        session.push(&samples).unwrap();
        let found = session.finish().unwrap();
        let known = pairs(&truth[clip][key], start);
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
