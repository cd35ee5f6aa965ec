//! Speaker vectors on real speech.

use ports::{conformance, speaker::SpeakerEmbedder};
use shotlog_adapters::speaker::TimbreEmbedder;

use super::support;

#[tokio::test]
async fn timbre() {
    let Some(jfk) = support::sound("jfk.wav") else { return };
    let embedder = TimbreEmbedder::new();
    conformance::speaker::embedder(&embedder, &jfk).await;
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
        speaker::{XVectorEmbedder, XVectorOptions},
    };
    let Some(runtime) = support::runtime() else { return };
    let options = XVectorOptions {
        model: concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/speaker.onnx").into(),
        same_voice: 0.5,
        threading: OnnxThreading { threads: 1, sessions: 2 },
    };
    let embedder = XVectorEmbedder::open(&runtime, &options).unwrap();
    let Some(jfk) = support::sound("jfk.wav") else { return };
    conformance::speaker::embedder(&embedder, &jfk).await;
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
