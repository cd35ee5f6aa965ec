//! Voice activity and speaker vectors on real speech.

use ports::{
    conformance,
    decoder::SAMPLE_RATE,
    voice::{SpeakerEmbedder, SpeechSpan, VoiceActivity},
};
use shotlog_adapters::voice::{SpectralVoiceActivity, TimbreEmbedder};

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

#[test]
fn spectral() {
    let Some(jfk) = support::sound("jfk.wav") else { return };
    let detector = SpectralVoiceActivity::default();
    conformance::voice::activity(&detector, &jfk);
    for (clip, accuracy) in accuracies(&detector) {
        // Twenty seconds of drums come before the speech of this one.
        if clip != "googlework_short.mp4" {
            assert!(accuracy >= 0.9, "{clip}: {accuracy:.3}");
        }
    }
}

#[tokio::test]
async fn timbre() {
    let Some(jfk) = support::sound("jfk.wav") else { return };
    let embedder = TimbreEmbedder::new();
    conformance::voice::embedder(&embedder, &jfk).await;
    // Stretches of one voice each, without the overlaps.
    let falcon = [("1", 1.7, 3.9), ("2", 6.2, 11.1), ("3", 12.8, 18.0)];
    let pyannote = [
        ("90", 8.4, 9.9),
        ("90", 11.05, 14.45),
        ("91", 14.75, 17.9),
        ("90", 18.65, 21.4),
        ("91", 21.8, 27.8),
        ("90", 28.5, 30.0),
    ];
    let one = [("jfk", 0.32, 2.27), ("jfk", 5.38, 7.65), ("jfk", 8.16, 10.62)];
    for (clip, turns) in
        [("falcon_test.wav", &falcon[..]), ("pyannote_sample.wav", &pyannote), ("jfk.wav", &one)]
    {
        let Some(samples) = support::sound(clip) else { return };
        let mut pieces = Vec::new();
        for (voice, start, end) in turns {
            let count = ((end - start) / 2.0_f64).round().max(1.0) as usize;
            for i in 0..count {
                let at = |share: f64| ((start + (end - start) * share) * 16_000.0) as usize;
                let (from, to) = (i as f64 / count as f64, (i + 1) as f64 / count as f64);
                let vector = embedder.embed(&samples[at(from)..at(to)]).await.unwrap().unwrap();
                pieces.push((*voice, vector));
            }
        }
        let groups = linked(pieces);
        println!("{clip}: {groups:?}");
        let voices: std::collections::BTreeSet<_> = turns.iter().map(|t| t.0).collect();
        assert_eq!(groups.len(), voices.len(), "{clip}: one group per voice");
        for group in groups {
            assert!(group.iter().all(|voice| *voice == group[0]), "{clip}: {group:?}");
        }
    }
}

#[cfg(feature = "onnx")]
#[tokio::test]
async fn xvector() {
    use shotlog_adapters::{
        OnnxThreading,
        voice::{XVectorEmbedder, XVectorOptions},
    };
    let Some(runtime) = support::runtime() else { return };
    let options = XVectorOptions {
        model: concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/speaker.onnx").into(),
        same_voice: 0.5,
        threading: OnnxThreading { threads: 1, sessions: 2 },
    };
    let embedder = XVectorEmbedder::open(&runtime, &options).unwrap();
    let Some(jfk) = support::sound("jfk.wav") else { return };
    conformance::voice::embedder(&embedder, &jfk).await;
}

/// Average linkage by cosine at the threshold that the embedder recommends.
fn linked(pieces: Vec<(&str, Vec<f32>)>) -> Vec<Vec<&str>> {
    let cosine = |a: usize, b: usize| -> f32 {
        pieces[a].1.iter().zip(&pieces[b].1).map(|(x, y)| x * y).sum()
    };
    let mut groups: Vec<Vec<usize>> = (0..pieces.len()).map(|i| vec![i]).collect();
    loop {
        let mean = |a: &[usize], b: &[usize]| {
            let sum: f32 = a.iter().flat_map(|i| b.iter().map(move |j| cosine(*i, *j))).sum();
            sum / (a.len() * b.len()) as f32
        };
        let pairs = (0..groups.len()).flat_map(|a| (0..a).map(move |b| (a, b)));
        let closest = pairs
            .map(|(a, b)| (mean(&groups[a], &groups[b]), a, b))
            .max_by(|x, y| x.0.total_cmp(&y.0));
        match closest {
            Some((alike, a, b)) if alike >= TimbreEmbedder::new().same_voice() => {
                let moved = groups.remove(a);
                groups[b].extend(moved);
            }
            _ => break,
        }
    }
    groups.into_iter().map(|g| g.into_iter().map(|i| pieces[i].0).collect()).collect()
}

/// Share of 10 ms frames on which a detector agrees with the spans known for each clip.
fn accuracies(detector: &dyn VoiceActivity) -> Vec<(&'static str, f64)> {
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
