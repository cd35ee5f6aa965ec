//! Tests of the recogniser for OpenAI-compatible servers, run against a server that misbehaves.

use std::time::Duration;

use ports::transcriber::Transcriber;
use ports::{ErrorKind, conformance};
use serde_json::{Value, json};
use shotlog_adapters::openai::{Connection, Retry};
use shotlog_adapters::transcriber::{OpenAiTranscriber, OpenAiTranscriberOptions};

use crate::server::{Reply, Server};

fn options(url: &str) -> OpenAiTranscriberOptions {
    OpenAiTranscriberOptions {
        connection: Connection {
            base_url: url.to_owned(),
            api_key: Some("sk-test".to_owned()),
            connect_timeout: Duration::from_secs(5),
            timeout: Duration::from_secs(20),
            concurrency: 2,
            retry: Retry {
                attempts: 3,
                first_pause: Duration::from_millis(1),
                longest_pause: Duration::from_millis(5),
                total_pause: Duration::from_secs(5),
            },
        },
        ..OpenAiTranscriberOptions::default()
    }
}

fn transcriber(server: &Server) -> OpenAiTranscriber {
    OpenAiTranscriber::new(options(&server.url)).unwrap()
}

/// Returns four seconds of synthetic speech, which is a voiced sound in syllables, with pauses.
fn speech() -> Vec<f32> {
    let sample = |i: usize| {
        let t = i as f32 / 16_000.0;
        let turn = std::f32::consts::TAU * 140.0 * t;
        let voice: f32 = (1..12).map(|n| (turn * n as f32).sin() / n as f32).sum();
        let syllable = (std::f32::consts::TAU * 4.0 * t).sin().max(0.0);
        let spoken = if t % 2.0 < 1.6 { 1.0 } else { 0.0 };
        voice * syllable * spoken * 0.2
    };
    (0..64_000).map(sample).collect()
}

fn verbose() -> Value {
    json!({
        "task": "transcribe", "language": "english", "duration": 4.0, "text": "Hello there, world.",
        "words": [
            {"word": "Hello", "start": 0.1, "end": 0.5},
            {"word": " there", "start": 0.5, "end": 0.9},
            {"word": "world", "start": 1.2, "end": 9.0},
        ],
        "segments": [{
            "id": 0, "start": 0.0, "end": 1.6, "text": " Hello there, world.",
            "avg_logprob": -0.223, "no_speech_prob": 0.01, "compression_ratio": 0.9,
        }],
    })
}

async fn transcribed_words(body: Value) -> Vec<(String, f64, f64)> {
    let server = Server::in_turn(vec![Reply::json(200, body)]).await;
    let transcript = transcriber(&server).transcribe(&speech(), None).await.unwrap();
    let rounded = |seconds: f64| (seconds * 1000.0).round() / 1000.0;
    let words = transcript.words.into_iter();
    words.map(|w| (w.text, rounded(w.start), rounded(w.end))).collect()
}

#[tokio::test]
async fn openai_passes_the_suite() {
    let server = Server::in_turn(vec![Reply::json(200, verbose())]).await;
    let transcriber = transcriber(&server);
    conformance::transcriber::suite(&transcriber, &speech()).await;
    let asked = server.calls();
    let transcript = transcriber.transcribe(&vec![0.0; 48_000], None).await.unwrap();
    assert_eq!(transcript.words, []);
    assert_eq!(server.calls(), asked, "silence is not sent");
}

#[tokio::test]
async fn openai_sends_wav_and_requests_word_times() {
    let server = Server::in_turn(vec![Reply::json(200, verbose())]).await;
    let options = OpenAiTranscriberOptions { language: Some("en".into()), ..options(&server.url) };
    let transcriber = OpenAiTranscriber::new(options).unwrap();
    let transcript = transcriber.transcribe(&speech(), None).await.unwrap();
    assert_eq!(transcript.language.as_deref(), Some("en"));
    let texts: Vec<&str> = transcript.words.iter().map(|w| w.text.as_str()).collect();
    assert_eq!(texts, ["Hello", "there", "world"]);
    assert!((transcript.words[0].confidence - 0.8).abs() < 0.01);
    assert_eq!(transcript.words[2].end, 4.0, "no word outlasts the sound");

    let received = &server.received()[0];
    assert_eq!(received.path, "/v1/audio/transcriptions");
    assert_eq!(received.authorization.as_deref(), Some("Bearer sk-test"));
    let body = received.body.as_str().unwrap();
    for part in [
        "filename=\"speech.wav\"",
        "audio/wav",
        "WAVEfmt ",
        "name=\"model\"\r\n\r\nwhisper-1",
        "name=\"language\"\r\n\r\nen",
        "name=\"response_format\"\r\n\r\nverbose_json",
        "name=\"timestamp_granularities[]\"\r\n\r\nword",
    ] {
        assert!(body.contains(part), "{part}");
    }
}

#[tokio::test]
async fn openai_derives_words_from_segments_and_text() {
    let segment = json!({"start": 1.0, "end": 2.0, "text": " a bcd"});
    let nested = json!({"start": 1.0, "end": 2.0, "text": "a", "words": [
        {"word": " a", "start": 1.1, "end": 1.4, "probability": 0.5},
    ]});
    let word = |text: &str, start, end| (text.to_owned(), start, end);
    for (body, expected) in [
        (
            json!({"text": "a bcd", "segments": [segment]}),
            vec![word("a", 1.0, 1.333), word("bcd", 1.333, 2.0)],
        ),
        (json!({"text": "a", "words": [], "segments": [nested]}), vec![word("a", 1.1, 1.4)]),
        (json!({"text": "a bcd"}), vec![word("a", 0.0, 1.333), word("bcd", 1.333, 4.0)]),
        (json!({"text": "", "segments": []}), vec![]),
        (
            json!({"text": "b a", "words": [
                {"word": "b", "start": 3.0, "end": 2.0}, {"word": "a", "start": -1.0, "end": 0.5},
            ]}),
            vec![word("a", 0.0, 0.5), word("b", 3.0, 3.0)],
        ),
    ] {
        assert_eq!(transcribed_words(body.clone()).await, expected, "{body}");
    }
}

#[tokio::test]
async fn openai_drops_hallucinations() {
    let mut silent = verbose();
    silent["segments"][0]["no_speech_prob"] = json!(0.9);
    silent["segments"][0]["avg_logprob"] = json!(-1.4);
    assert_eq!(transcribed_words(silent.clone()).await, []);
    silent.as_object_mut().unwrap().remove("words");
    assert_eq!(transcribed_words(silent).await, []);
    let mut looping = verbose();
    looping["segments"][0]["compression_ratio"] = json!(5.0);
    assert_eq!(transcribed_words(looping).await, []);
}

#[tokio::test]
async fn openai_spreads_words_without_server_times() {
    let refusal = json!({"error": {"message": "response_format 'verbose_json' is not supported"}});
    let server = Server::start(move |received, _| {
        let body = received.body.as_str().unwrap();
        match body.contains("verbose_json") {
            true => Reply::json(400, refusal.clone()),
            false => Reply::json(200, json!({"text": "one two"})),
        }
    })
    .await;
    let transcriber = transcriber(&server);
    for calls in [2, 3] {
        let transcript = transcriber.transcribe(&speech(), None).await.unwrap();
        assert_eq!(transcript.words.len(), 2);
        assert_eq!(server.calls(), calls, "the lesson is learned once");
    }
}

#[tokio::test]
async fn openai_retries_overload_and_broken_connections() {
    for trouble in [
        Reply::Send(429, "retry-after: 0\r\n".into(), "{}".into()),
        Reply::json(503, json!({})),
        Reply::Drop,
        Reply::CutOff,
    ] {
        let server = Server::in_turn(vec![trouble.clone(), Reply::json(200, verbose())]).await;
        let transcript = transcriber(&server).transcribe(&speech(), None).await;
        assert_eq!(transcript.unwrap().words.len(), 3, "{trouble:?}");
        assert_eq!(server.calls(), 2, "{trouble:?}");
    }
    let server = Server::in_turn(vec![Reply::json(429, json!({}))]).await;
    let error = transcriber(&server).transcribe(&speech(), None).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unavailable);
    assert_eq!(server.calls(), 3);
}

#[tokio::test]
async fn openai_reports_unusable_responses() {
    let text = |body: &str| Reply::Send(200, String::new(), body.to_owned());
    for (reply, kind) in [
        (text("not json"), ErrorKind::Corrupt),
        (text("[]"), ErrorKind::Corrupt),
        (text("{}"), ErrorKind::Corrupt),
        (text(r#"{"text": 7}"#), ErrorKind::Corrupt),
        (text(r#"{"text": "a", "words": [{"word": "a"}]}"#), ErrorKind::Corrupt),
        (text(r#"{"text": "a", "segments": "none"}"#), ErrorKind::Corrupt),
        (Reply::json(401, json!({"error": {"message": "bad key sk-test"}})), ErrorKind::Denied),
        (Reply::json(404, json!({"detail": "no such model"})), ErrorKind::NotFound),
        (Reply::json(413, json!({})), ErrorKind::TooLarge),
    ] {
        let server = Server::in_turn(vec![reply.clone()]).await;
        let error = transcriber(&server).transcribe(&speech(), None).await.unwrap_err();
        assert_eq!(error.kind(), kind, "{reply:?}: {error}");
        assert!(!error.to_string().contains("sk-test"), "{error}");
        assert_eq!(server.calls(), 1, "{reply:?} is not worth another try");
    }
    let options = OpenAiTranscriberOptions { model: " ".into(), ..options("http://localhost/v1") };
    assert_eq!(OpenAiTranscriber::new(options).err().map(|e| e.kind()), Some(ErrorKind::Invalid));
}

#[tokio::test]
async fn openai_times_out_on_a_silent_server() {
    let server = Server::in_turn(vec![Reply::Hang]).await;
    let mut options = options(&server.url);
    options.connection.timeout = Duration::from_millis(200);
    let transcriber = OpenAiTranscriber::new(options).unwrap();
    let error = transcriber.transcribe(&speech(), None).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Timeout);
    assert_eq!(server.calls(), 1, "it may have been paid for");
}
