//! Diarization error on real clips: the whole pipeline with the real decoder and networks against
//! human annotations. Skipped without SHOTLOG_MEDIA, SHOTLOG_MODELS and SHOTLOG_ONNXRUNTIME.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use adapters::decoder::{FfmpegDecoder, FfmpegOptions};
use domain::ingest::ScanSettings;
use serde_json::Value;

use crate::support::TestApp;

/// Seconds around each edge in the reference that are not scored.
const COLLAR: f64 = 0.25;

/// A speaker, and the start and end of their turn in seconds.
type Turn = (String, f64, f64);

/// Clips and their maximum error. The networks' authors publish the thresholds; how these follow the noise
/// was tuned on `pyannote_sample`, `ami_dev00` and `ami_dev01`.
const CLIPS: [(&str, f64); 5] = [
    ("pyannote_sample.wav", 0.10),
    ("falcon_test.wav", 0.10),
    ("demo_public.mp4", 0.10),
    ("ami_dev00.wav", 0.25),
    ("ami_dev01.wav", 0.25),
];

fn folder(variable: &str) -> Option<PathBuf> {
    let path = std::env::var_os(variable).map(PathBuf::from);
    if path.is_none() {
        eprintln!("skipped: {variable} is not set");
    }
    path
}

fn reference(entry: &Value) -> Vec<Turn> {
    let text = |v: &Value| v.as_str().map_or_else(|| v.to_string(), str::to_owned);
    let time = |v: &Value| v.as_f64().expect("a time");
    if let Some(rttm) = entry["rttm"].as_array() {
        return rttm.iter().map(|t| (text(&t[0]), time(&t[1]), time(&t[2]))).collect();
    }
    let key = if entry["segments"].is_array() { "segments" } else { "speech" };
    let turns = entry[key].as_array().expect("turns");
    turns.iter().map(|t| (text(&t["speaker"]), time(&t["start"]), time(&t["end"]))).collect()
}

/// Missed, false and confused speech over all reference speech under the best mapping of labels to
/// speakers. Overlapping speakers all count.
fn error_rate(reference: &[Turn], hypothesis: &[Turn], end: f64) -> f64 {
    let edges: Vec<f64> = reference.iter().flat_map(|t| [t.1, t.2]).collect();
    let names = |turns: &[Turn]| {
        let mut names: Vec<String> = turns.iter().map(|t| t.0.clone()).collect();
        names.sort();
        names.dedup();
        names
    };
    let (people, labels) = (names(reference), names(hypothesis));
    let at = |turns: &[Turn], names: &[String], t: f64| -> Vec<bool> {
        let speaks = |name: &String| turns.iter().any(|x| x.0 == *name && x.1 <= t && t < x.2);
        names.iter().map(speaks).collect()
    };
    let (mut wrong, mut total) = (0, 0);
    let mut shared = vec![vec![0_usize; labels.len()]; people.len()];
    for t in (0..(end * 100.0) as usize).map(|i| i as f64 / 100.0) {
        if edges.iter().any(|edge| (t - edge).abs() <= COLLAR) {
            continue;
        }
        let (expected, actual) = (at(reference, &people, t), at(hypothesis, &labels, t));
        let count = |speaking: &[bool]| speaking.iter().filter(|s| **s).count();
        total += count(&expected);
        wrong += count(&expected).max(count(&actual));
        for (row, _) in shared.iter_mut().zip(&expected).filter(|(_, speaks)| **speaks) {
            row.iter_mut().zip(&actual).for_each(|(sum, speaks)| *sum += usize::from(*speaks));
        }
    }
    (wrong - max_shared(&shared, &mut Vec::new())) as f64 / total as f64
}

fn max_shared(rows: &[Vec<usize>], assigned: &mut Vec<usize>) -> usize {
    let Some((row, others)) = rows.split_first() else { return 0 };
    let mut best = max_shared(others, assigned);
    for (label, frames) in row.iter().enumerate() {
        if !assigned.contains(&label) {
            assigned.push(label);
            best = best.max(frames + max_shared(others, assigned));
            assigned.pop();
        }
    }
    best
}

fn speakers(turns: &[Turn]) -> usize {
    turns.iter().map(|t| &t.0).collect::<std::collections::BTreeSet<_>>().len()
}

async fn app(models: &Path, runtime: PathBuf) -> TestApp {
    let files = adapters::models::Settings {
        dir: models.to_owned(),
        onnxruntime: runtime,
        ..adapters::models::Settings::default()
    };
    let networks = adapters::speaker::open(&adapters::speaker::Settings::default(), &files);
    let networks = networks.expect("networks that fit").expect("networks");
    let activity = adapters::vad::open(&adapters::vad::Settings::default(), &files);
    TestApp::with(|setup| {
        setup.decoder = Arc::new(FfmpegDecoder::new(FfmpegOptions::default()));
        setup.settings.decoder = ScanSettings::default();
        setup.settings.ingest.max_upload_bytes = 16 << 20;
        setup.models.vad = activity.expect("voice activity");
        setup.models.speaker_segmentation = Some(networks.segmentation);
        setup.models.speaker_embedder = Some(networks.embedder);
    })
    .await
}

#[tokio::test(flavor = "multi_thread")]
async fn diarization_error_of_real_clips_is_within_its_limits() {
    let (Some(media), Some(models)) = (folder("SHOTLOG_MEDIA"), folder("SHOTLOG_MODELS")) else {
        return;
    };
    let Some(runtime) = folder("SHOTLOG_ONNXRUNTIME") else { return };
    if !models.join("speaker/campplus-zh-en.onnx").is_file() {
        eprintln!("skipped: SHOTLOG_MODELS has no speaker networks");
        return;
    }
    let app = app(&models, runtime).await;
    let annotations: Value =
        serde_json::from_slice(&std::fs::read(media.join("ground_truth.json")).unwrap()).unwrap();
    let mut failed = Vec::new();
    for (clip, max_error) in CLIPS {
        let fields = [("analyzers", "diarization"), ("mode", "interval"), ("interval", "600")];
        let job = app.job_of(&fields, clip, &std::fs::read(media.join(clip)).unwrap()).await;
        assert_eq!(job["status"], "done", "{clip}: {job}");
        let id = job["result"]["video_id"].as_str().unwrap();
        let chunks = app.get(&format!("/videos/{id}/chunks")).await.json();
        let turns = chunks["chunks"][0]["diarization"]["turns"].as_array().cloned();
        let number = |v: &Value| v.as_f64().unwrap();
        let hypothesis: Vec<Turn> = turns
            .unwrap_or_default()
            .iter()
            .map(|t| {
                (t["speaker"].as_str().unwrap().into(), number(&t["start"]), number(&t["end"]))
            })
            .collect();
        let reference = reference(&annotations[clip]);
        let last = reference.iter().chain(&hypothesis).map(|t| t.2).fold(0.0, f64::max);
        let end = annotations[clip]["uem"][1].as_f64().unwrap_or(last);
        let error = error_rate(&reference, &hypothesis, end);
        let (actual, expected) = (speakers(&hypothesis), speakers(&reference));
        println!("{clip}: {error:.3} (maximum {max_error}), {actual} of {expected} speakers");
        if error > max_error || actual.abs_diff(expected) > 1 {
            failed.push(format!("{clip}: {error:.3}, {actual} speakers; {hypothesis:?}"));
        }
    }
    assert!(failed.is_empty(), "{failed:#?}");
}

#[test]
fn the_error_rate_counts_missed_false_and_confused_speech() {
    let turn = |speaker: &str, start, end| (speaker.to_owned(), start, end);
    let reference = [turn("a", 1.0, 11.5), turn("b", 11.5, 22.0)];
    assert_eq!(error_rate(&reference, &[turn("x", 1.0, 11.5), turn("y", 11.5, 22.0)], 22.0), 0.0);
    let swapped = error_rate(&reference, &[turn("x", 1.0, 22.0)], 22.0);
    assert!((swapped - 0.5).abs() < 0.01, "{swapped}");
    let missed = error_rate(&reference, &[turn("x", 1.0, 11.5)], 22.0);
    assert!((missed - 0.5).abs() < 0.01, "{missed}");
}
