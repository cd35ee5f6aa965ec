//! Tests of recognisers on real speech, silence and hum.

use ports::{
    conformance,
    decoder::SAMPLE_RATE,
    transcriber::{Transcriber, Transcript},
    vad::VoiceActivityDetector,
};
use shotlog_adapters::vad::SpectralVoiceActivity;

use super::support;

/// Opens the network that `make setup` downloads and converts.
#[cfg(feature = "onnx")]
fn whisper_base() -> Option<shotlog_adapters::transcriber::Whisper> {
    use shotlog_adapters::transcriber::{Whisper, WhisperOptions};
    let runtime = support::runtime()?;
    let config = support::model("speech/whisper-base/config.json")?;
    let folder = config.parent()?.to_owned();
    Some(Whisper::open(&runtime, &WhisperOptions { folder, language: None, threads: 2 }).unwrap())
}

#[cfg(feature = "onnx")]
#[tokio::test]
async fn whisper_recognises_real_speech() {
    let Some(transcriber) = whisper_base() else { return };
    noise_has_no_words(&transcriber).await;
    let Some(jfk) = support::sound("jfk.wav") else { return };
    conformance::transcriber::suite(&transcriber, &jfk).await;
    let transcript = transcriber.transcribe(&jfk, None).await.unwrap();
    assert_eq!(transcript.language.as_deref(), Some("en"));
    assert!(transcript.language_probability.is_some_and(|p| p > 0.5));
    let german = transcriber.transcribe(&jfk, Some("de")).await.unwrap();
    assert_eq!(german.language.as_deref(), Some("de"), "it is configured, not detected");
    let unknown = transcriber.transcribe(&jfk, Some("xx")).await.unwrap();
    assert_eq!(unknown.language.as_deref(), Some("en"));

    // The limits are one or two words above the measured rates, because processors differ in their
    // arithmetic.
    let most =
        [("azure_weather.wav", 0.0), ("leopard_quilter.wav", 0.06), ("nasa_13013.mp4", 0.15)];
    for (clip, rate) in error_rates(&transcriber).await {
        let limit = most.iter().find(|m| m.0 == clip).map_or(0.0, |m| m.1);
        assert!(rate <= limit, "{clip}: word error rate {rate:.3}");
    }
}

#[cfg(feature = "onnx")]
#[tokio::test]
async fn whisper_times_words() {
    let Some(transcriber) = whisper_base() else { return };
    let (Some(samples), Some(truth)) = (support::sound("leopard_quilter.wav"), support::truth())
    else {
        return;
    };
    let transcript = transcriber.transcribe(&samples, None).await.unwrap();
    let known = truth["leopard_quilter.wav"]["words"].as_array().unwrap();
    assert_eq!(transcript.words.len(), known.len(), "{}", text(&transcript));
    let mut errors: Vec<f64> = Vec::new();
    for (word, known) in transcript.words.iter().zip(known) {
        let (start, end) = (known[1].as_f64().unwrap(), known[2].as_f64().unwrap());
        println!("{:10} {:.2} {start:.2}  {:.2} {end:.2}", word.text, word.start, word.end);
        errors.extend([(word.start - start).abs(), (word.end - end).abs()]);
    }
    errors.sort_by(f64::total_cmp);
    let (median, high) = (errors[errors.len() / 2], errors[errors.len() * 95 / 100]);
    println!("word edges: median {median:.3} s, 95th percentile {high:.3} s");
    assert!(median <= 0.06 && high <= 0.25, "median {median:.3}, 95th percentile {high:.3}");
}

/// The tiny network of `scripts/fixtures/whisper.py` finds words in any audio.
#[cfg(feature = "onnx")]
#[tokio::test]
async fn whisper_passes_the_suite() {
    use shotlog_adapters::transcriber::{Whisper, WhisperOptions};
    let Some(runtime) = support::runtime() else { return };
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/whisper");
    let options = WhisperOptions { folder: folder.into(), language: None, threads: 1 };
    let whisper = Whisper::open(&runtime, &options).unwrap();
    noise_has_no_words(&whisper).await;
    let Some(jfk) = support::sound("jfk.wav") else { return };
    conformance::transcriber::suite(&whisper, &jfk).await;
    let long: Vec<f32> = jfk.iter().chain(&jfk).chain(&jfk).chain(&jfk).copied().collect();
    let transcript = whisper.transcribe(&long, None).await.unwrap();
    assert!(transcript.words.iter().any(|w| w.start > 30.0), "windows follow one another");
    assert!(transcript.language.is_some());
}

/// Asserts that no words are found in silence, in mains hum with its harmonics, or in hiss.
async fn noise_has_no_words(transcriber: &dyn Transcriber) {
    let seconds = 3 * SAMPLE_RATE as usize;
    let hum = |i: usize| -> f32 {
        let turn = std::f32::consts::TAU * 50.0 * i as f32 / SAMPLE_RATE as f32;
        [1.0_f32, 2.0, 3.0, 4.0, 6.0].iter().map(|n| 0.1 / n * (turn * n).sin()).sum()
    };
    let mut state = 1_u32;
    let mut hiss = move |_: usize| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 8) as f32 / (1 << 24) as f32 * 0.1 - 0.05
    };
    let noises: [(&str, Vec<f32>); 3] = [
        ("silence", vec![0.0; seconds]),
        ("hum", (0..seconds).map(hum).collect()),
        ("hiss", (0..seconds).map(&mut hiss).collect()),
    ];
    for (name, samples) in noises {
        let transcript = transcriber.transcribe(&samples, None).await.unwrap();
        assert_eq!(transcript.words, [], "{} hears words in {name}", transcriber.model());
    }
}

fn text(transcript: &Transcript) -> String {
    transcript.words.iter().map(|w| w.text.as_str()).collect::<Vec<_>>().join(" ")
}

/// Returns the word error rate of each clip. Speech is split as in the pipeline.
async fn error_rates(transcriber: &dyn Transcriber) -> Vec<(&'static str, f64)> {
    let Some(truth) = support::truth() else { return Vec::new() };
    let clips = ["azure_weather.wav", "leopard_quilter.wav", "nasa_13013.mp4"];
    let mut rates = Vec::new();
    for clip in clips {
        let Some(samples) = support::sound(clip) else { continue };
        let mut recognised = Vec::new();
        let pieces = pieces(&samples, transcriber.max_seconds());
        let at = |seconds: f64| (seconds * f64::from(SAMPLE_RATE)) as usize;
        let pieces = pieces.iter().map(|(start, end)| {
            transcriber.transcribe(&samples[at(*start)..at(*end).min(samples.len())], None)
        });
        for transcript in futures::future::join_all(pieces).await {
            recognised.extend(words(&text(&transcript.unwrap())));
        }
        let reference = words(&spoken_text(&truth[clip]));
        let errors = edits(&reference, &recognised);
        let rate = errors as f64 / reference.len() as f64;
        println!(
            "{} on {clip}: word error rate {rate:.3} ({errors} of {}): {}",
            transcriber.model(),
            reference.len(),
            recognised.join(" ")
        );
        rates.push((clip, rate));
    }
    rates
}

/// Returns spans of speech with a margin of 0.2 s. Spans are joined if the pause between them is
/// shorter than a second.
fn pieces(samples: &[f32], longest: f64) -> Vec<(f64, f64)> {
    let mut session = SpectralVoiceActivity::default().begin().unwrap();
    session.push(samples).unwrap();
    let mut pieces: Vec<(f64, f64)> = Vec::new();
    for span in session.finish().unwrap() {
        match pieces.last_mut() {
            Some(last) if span.start - last.1 < 1.0 && span.end - last.0 < longest - 0.4 => {
                last.1 = span.end;
            }
            _ => pieces.push((span.start, span.end)),
        }
    }
    let total = samples.len() as f64 / f64::from(SAMPLE_RATE);
    pieces.iter().map(|p| ((p.0 - 0.2).max(0.0), (p.1 + 0.2).min(total))).collect()
}

/// Returns the reference transcript of a clip.
fn spoken_text(truth: &serde_json::Value) -> String {
    let joined = |key: &str, at: &str| {
        let items = truth[key].as_array()?;
        let texts = items.iter().map(|item| match at.parse::<usize>() {
            Ok(index) => item[index].as_str().unwrap(),
            Err(_) => item[at].as_str().unwrap(),
        });
        Some(texts.collect::<Vec<_>>().join(" "))
    };
    joined("speech", "text")
        .or_else(|| joined("transcript_segments", "2"))
        .or_else(|| joined("segments", "text"))
        .or_else(|| truth["transcript"].as_str().map(str::to_owned))
        .unwrap()
}

fn words(text: &str) -> Vec<String> {
    let kept = text.to_lowercase().replace('-', " ");
    let kept = kept.replace(|c: char| !c.is_ascii_alphanumeric() && c != '\'' && c != ' ', "");
    kept.split_whitespace().map(str::to_owned).collect()
}

/// Returns how many words must be inserted, removed or replaced to turn one text into the other.
fn edits(known: &[String], transcript: &[String]) -> usize {
    let mut row: Vec<usize> = (0..=transcript.len()).collect();
    for (i, expected) in known.iter().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, word) in transcript.iter().enumerate() {
            let replaced = diagonal + usize::from(expected != word);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[transcript.len()]
}
