//! Stereo sound with a voice on each channel: speech is recognised per channel, and each word's speaker is
//! its channel. Other stereo sound is mixed to mono before recognition.

use std::sync::Arc;

use adapters::decoder::{FfmpegDecoder, FfmpegOptions};
use adapters::speaker::{ScriptedSpeakerEmbedder, ScriptedSpeakerSegmentation};
use adapters::transcriber::ScriptedTranscriber;
use adapters::vad::ScriptedVoiceActivity;
use ports::decoder::SAMPLE_RATE;
use ports::transcriber::{Transcript, Word};
use ports::vad::SpeechSpan;
use serde_json::{Value, json};

use crate::support::{Models, TestApp};

const RATE: usize = SAMPLE_RATE as usize;

/// A stereo file of 16-bit samples.
fn wav(left: &[i16], right: &[i16]) -> Vec<u8> {
    let samples = left.iter().zip(right).flat_map(|(left, right)| [*left, *right]);
    let data: Vec<u8> = samples.flat_map(i16::to_le_bytes).collect();
    let size = data.len() as u32;
    let mut file = b"RIFF".to_vec();
    file.extend((36 + size).to_le_bytes());
    file.extend(b"WAVEfmt ");
    file.extend(16_u32.to_le_bytes());
    file.extend([1_u16, 2].map(u16::to_le_bytes).concat());
    file.extend([SAMPLE_RATE, SAMPLE_RATE * 4].map(u32::to_le_bytes).concat());
    file.extend([4_u16, 16].map(u16::to_le_bytes).concat());
    file.extend(b"data");
    file.extend(size.to_le_bytes());
    file.extend(data);
    file
}

/// Twelve seconds of silence with a tone from the second `from` to the second `to`.
fn tone(pitch: f32, from: usize, to: usize) -> Vec<i16> {
    let sample = |at: usize| {
        let time = at as f32 / SAMPLE_RATE as f32;
        let sounds = (from * RATE..to * RATE).contains(&at);
        if sounds { ((time * pitch * std::f32::consts::TAU).sin() * 8000.0) as i16 } else { 0 }
    };
    (0..12 * RATE).map(sample).collect()
}

/// Transcribes each half second of sound as "low" or "high" by its pitch, and silence as nothing.
fn pitch_transcriber() -> ScriptedTranscriber {
    ScriptedTranscriber::new(|samples| {
        let word = |(at, part): (usize, &[f32])| {
            let crossings = part.windows(2).filter(|pair| pair[0] < 0.0 && pair[1] >= 0.0).count();
            let audible = part.iter().filter(|sample| **sample != 0.0).count();
            let text = if crossings * RATE < 500 * audible { "low" } else { "high" };
            let start = at as f64 * 0.5;
            let word = Word { text: text.into(), start, end: start + 0.4, confidence: 0.9 };
            (crossings > 20).then_some(word)
        };
        let words = samples.chunks(RATE / 2).enumerate().filter_map(word).collect();
        Ok(Transcript { language: Some("en".into()), words, ..Transcript::default() })
    })
}

async fn app(transcriber: &Arc<ScriptedTranscriber>) -> TestApp {
    let span = |start, end| SpeechSpan { start, end };
    let spans = vec![span(1.0, 8.0), span(8.0, 9.5), span(9.5, 11.0)];
    let models = Models {
        transcriber: Some(transcriber.clone()),
        vad: Some(Arc::new(ScriptedVoiceActivity::new(spans))),
        speaker_segmentation: Some(Arc::new(ScriptedSpeakerSegmentation::new(|_| 1))),
        speaker_embedder: Some(Arc::new(ScriptedSpeakerEmbedder::new(|_| Some(vec![1.0, 0.0])))),
        ..Models::default()
    };
    TestApp::with(|setup| {
        setup.decoder = Arc::new(FfmpegDecoder::new(FfmpegOptions::default()));
        setup.models = models;
    })
    .await
}

async fn transcript(app: &TestApp, interval: &str, file: &[u8]) -> (String, Value) {
    let fields = [("analyzers", "diarization"), ("mode", "interval"), ("interval", interval)];
    let job = app.job_of(&fields, "call.wav", file).await;
    assert_eq!(job["status"], "done", "{job}");
    let id = job["result"]["video_id"].as_str().unwrap().to_owned();
    let transcript = app.get(&format!("/videos/{id}/transcript")).await.json();
    (id, transcript)
}

fn utterances(transcript: &Value) -> Vec<(Value, &str)> {
    let items = transcript["utterances"].as_array().unwrap();
    items.iter().map(|u| (u["speaker"].clone(), u["text"].as_str().unwrap())).collect()
}

#[tokio::test]
async fn overlapping_speech_on_two_channels_keeps_both_utterances() {
    let transcriber = Arc::new(pitch_transcriber());
    let app = app(&transcriber).await;
    let call = wav(&tone(200.0, 1, 9), &tone(900.0, 8, 11));
    let (id, transcript) = transcript(&app, "4", &call).await;
    assert_eq!(transcriber.calls(), 2, "once for each channel");
    let utterances = utterances(&transcript);
    assert_eq!(utterances.len(), 2, "{transcript}");
    assert_eq!((&utterances[0].0, &utterances[1].0), (&json!("S1"), &json!("S2")));
    assert!(
        utterances[0].1.starts_with("low low") && !utterances[0].1.contains("high"),
        "{transcript}"
    );
    assert!(
        utterances[1].1.starts_with("high high") && !utterances[1].1.contains("low"),
        "{transcript}"
    );
    let chunks = app.get(&format!("/videos/{id}/chunks")).await.json();
    let last = &chunks["chunks"][2]["diarization"];
    assert_eq!(last["speakers"], json!(["S1", "S2"]), "{last}");
    let texts: Vec<&str> =
        last["turns"].as_array().unwrap().iter().map(|t| t["text"].as_str().unwrap()).collect();
    assert!(texts[0].starts_with("low") && texts[1].starts_with("high"), "{last}");
    let captions = app.get(&format!("/videos/{id}/export?format=srt")).await.text();
    assert_eq!(captions.matches("high").count(), utterances[1].1.split(' ').count(), "{captions}");
}

#[tokio::test]
async fn correcting_a_channels_words_and_speaker_keeps_the_other_channel() {
    let app = app(&Arc::new(pitch_transcriber())).await;
    let (id, _) = transcript(&app, "20", &wav(&tone(200.0, 1, 9), &tone(900.0, 8, 11))).await;
    let corrections = json!([
        {"of": "speaker", "from": "S2", "to": "Anna"},
        {"of": "words", "from": "high", "to": "hello"},
    ]);
    let path = format!("/videos/{id}/corrections");
    app.post_json(&path, json!({"corrections": corrections})).await.ok();
    let transcript = app.get(&format!("/videos/{id}/transcript")).await.json();
    let utterances = utterances(&transcript);
    assert_eq!(
        (&utterances[0].0, &utterances[1].0),
        (&json!("S1"), &json!("Anna")),
        "{transcript}"
    );
    assert!(
        !utterances[0].1.contains("hello") && utterances[1].1.contains("hello hello"),
        "{transcript}"
    );
}

#[tokio::test]
async fn channels_with_the_same_voice_are_transcribed_once() {
    let (voice, other) = (tone(200.0, 1, 9), tone(900.0, 8, 11));
    let quieter: Vec<i16> = voice.iter().map(|sample| sample / 10 * 7).collect();
    let opposite: Vec<i16> = voice.iter().map(|sample| -sample).collect();
    let silent = vec![0; voice.len()];
    let mixed = |own: &[i16], bleeding: &[i16]| -> Vec<i16> {
        own.iter().zip(bleeding).map(|(own, other)| own + other / 10 * 7).collect()
    };
    for (name, left, right) in [
        ("identical", voice.clone(), voice.clone()),
        ("3 dB to the left", voice.clone(), quieter),
        ("opposite sign", voice.clone(), opposite),
        ("one channel silent", voice.clone(), silent),
        ("3 dB of bleed", mixed(&voice, &other), mixed(&other, &voice)),
    ] {
        let transcriber = Arc::new(pitch_transcriber());
        let app = app(&transcriber).await;
        let (_, transcript) = transcript(&app, "20", &wav(&left, &right)).await;
        assert_eq!(transcriber.calls(), 1, "{name}");
        let utterances = utterances(&transcript);
        assert!(utterances.iter().all(|(speaker, _)| *speaker == "S1"), "{name}: {transcript}");
    }
}

#[cfg(feature = "onnx")]
mod footage {
    use std::path::{Path, PathBuf};

    use super::*;

    fn folder(variable: &str) -> Option<PathBuf> {
        let path = std::env::var_os(variable).map(PathBuf::from);
        if path.is_none() {
            eprintln!("skipped: {variable} is not set");
        }
        path
    }

    /// The samples of a 16 kHz mono file of 16-bit samples.
    fn samples(file: &Path) -> Vec<i16> {
        let bytes = std::fs::read(file).unwrap();
        let data = bytes.windows(4).position(|name| name == b"data").unwrap() + 8;
        bytes[data..].as_chunks().0.iter().map(|pair| i16::from_le_bytes(*pair)).collect()
    }

    async fn app(models: PathBuf, onnxruntime: PathBuf) -> TestApp {
        let files = adapters::models::Settings {
            dir: models,
            onnxruntime,
            ..adapters::models::Settings::default()
        };
        let speaker = adapters::speaker::open(&adapters::speaker::Settings::default(), &files);
        let speaker = speaker.unwrap().unwrap();
        let vad = adapters::vad::open(&adapters::vad::Settings::default(), &files).unwrap();
        let transcriber = adapters::transcriber::Settings::default();
        let transcriber =
            adapters::transcriber::open(&transcriber, &files, &adapters::llm::Settings::default())
                .unwrap();
        TestApp::with(|setup| {
            setup.decoder = Arc::new(FfmpegDecoder::new(FfmpegOptions::default()));
            setup.models.vad = vad;
            setup.models.transcriber = transcriber;
            setup.models.speaker_segmentation = Some(speaker.segmentation);
            setup.models.speaker_embedder = Some(speaker.embedder);
        })
        .await
    }

    /// One voice on each channel, which overlap by 1.5 s.
    #[tokio::test(flavor = "multi_thread")]
    async fn a_two_channel_call_has_the_words_of_both_voices() {
        let (Some(media), Some(models)) = (folder("SHOTLOG_MEDIA"), folder("SHOTLOG_MODELS"))
        else {
            return;
        };
        let Some(runtime) = folder("SHOTLOG_ONNXRUNTIME") else { return };
        let networks = ["speech/whisper-base", "speaker/campplus-zh-en.onnx"];
        if !networks.iter().all(|network| models.join(network).exists()) {
            eprintln!("skipped: SHOTLOG_MODELS has no speech and speaker networks");
            return;
        }
        let mut left = samples(&media.join("jfk.wav"));
        let mut right = vec![0; left.len() - RATE * 3 / 2];
        right.extend(samples(&media.join("azure_weather.wav")));
        left.resize(right.len(), 0);
        let app = app(models, runtime).await;
        let (_, transcript) = transcript(&app, "60", &wav(&left, &right)).await;
        let text_by = |speaker: &str| -> String {
            let utterances = utterances(&transcript).into_iter().filter(|(own, _)| own == speaker);
            utterances.map(|(_, text)| text).collect::<Vec<_>>().join(" ").to_lowercase()
        };
        assert!(text_by("S1").contains("what you can do for your country"), "{transcript}");
        assert!(text_by("S2").contains("what's the weather like"), "{transcript}");
        assert_eq!(utterances(&transcript).iter().filter(|(own, _)| own == "S2").count(), 1);
    }
}
