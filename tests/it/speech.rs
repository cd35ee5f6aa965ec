//! Speech through the whole pipeline: heard once, cut into chunks, presented by two analyzers.

use std::sync::Arc;

use adapters::llm::Extractive;
use adapters::reranker::ScriptedReranker;
use adapters::speaker::{ScriptedSpeakerEmbedder, ScriptedSpeakerSegmentation};
use adapters::transcriber::ScriptedTranscriber;
use adapters::vad::ScriptedVoiceActivity;
use ports::decoder::SAMPLE_RATE;
use ports::transcriber::{Transcript, Word};
use ports::vad::SpeechSpan;
use ports::{ErrorKind, PortError};
use serde_json::{Value, json};

use crate::support::{Models, TestApp, clip, mentions};

/// Too short for all of the speech, so that it is heard in two packs.
const PACK: f64 = 12.0;

/// Speech at 1–4 s, 4.5–9 s (heard in one piece) and 21–24 s: two words per second.
fn talking(transcriber: Arc<ScriptedTranscriber>) -> Models {
    let span = |start, end| SpeechSpan { start, end };
    let spans = vec![span(1.0, 4.0), span(4.5, 9.0), span(21.0, 24.0)];
    Models {
        transcriber: Some(transcriber),
        vad: Some(Arc::new(ScriptedVoiceActivity::new(spans))),
        speaker_segmentation: Some(Arc::new(ScriptedSpeakerSegmentation::new(|_| 1))),
        speaker_embedder: Some(Arc::new(ScriptedSpeakerEmbedder::new(|_| Some(vec![1.0, 0.0])))),
        ..Models::default()
    }
}

fn counting() -> ScriptedTranscriber {
    ScriptedTranscriber::new(|samples| {
        let seconds = samples.len() / SAMPLE_RATE as usize;
        let word = |i: usize| Word {
            text: format!("w{i}"),
            start: i as f64 * 0.5,
            end: i as f64 * 0.5 + 0.5,
            confidence: 0.8,
        };
        let words = (0..2 * seconds).map(word).collect();
        Ok(Transcript { language: Some("en".into()), words, ..Transcript::default() })
    })
    .with_max_seconds(PACK)
}

async fn app(transcriber: &Arc<ScriptedTranscriber>) -> TestApp {
    let models = talking(transcriber.clone());
    TestApp::with(|setup| setup.models = models).await
}

fn fields<'a>(analyzers: &'a str, interval: &'a str) -> [(&'a str, &'a str); 3] {
    [("analyzers", analyzers), ("mode", "interval"), ("interval", interval)]
}

async fn chunks(app: &TestApp, id: &Value) -> Value {
    app.get(&format!("/videos/{}/chunks", id.as_str().unwrap())).await.json()["chunks"].clone()
}

#[tokio::test]
async fn the_speech_analyzers_exclude_each_other() {
    let app = app(&Arc::new(counting())).await;
    let schema = app.get("/schema").await.json();
    assert_eq!(schema["exclusive_groups"], json!([["diarization", "transcript"]]));
    let reply = app.upload(&[("analyzers", "transcript,diarization")], "c.mp4", &clip(30.0)).await;
    assert_eq!(reply.status, 400);
    mentions(&reply.text(), &["diarization", "transcript", "exclusive"]);
}

#[tokio::test]
async fn a_transcript_has_the_words_of_each_chunk() {
    let transcriber = Arc::new(counting());
    let app = app(&transcriber).await;
    let job = app.job_of(&fields("transcript", "10"), "c.mp4", &clip(30.0)).await;
    assert_eq!(job["status"], "done", "{job}");
    assert_eq!(job["result"]["indexed"], json!({"transcript": 2}), "the middle chunk is silent");
    assert_eq!(transcriber.calls(), 2, "speech with short pauses is heard in one piece");
    let chunks = chunks(&app, &job["result"]["video_id"]).await;
    assert_eq!(chunks.as_array().unwrap().len(), 3);
    let first = &chunks[0]["transcript"];
    assert_eq!(first["language"], "en");
    assert_eq!(first["segments"][0]["start"], 0.6, "from the beginning of the video");
    assert_eq!(chunks[1].get("transcript"), None);
    let last = &chunks[2]["transcript"]["segments"][0];
    assert!(last["start"].as_f64().unwrap() >= 20.6, "{last}");
}

#[tokio::test]
async fn a_transcript_lists_its_languages() {
    let transcriber = ScriptedTranscriber::new(|samples| {
        let long = samples.len() > 6 * SAMPLE_RATE as usize;
        let (language, said) = if long { ("en", "Good morning.") } else { ("de", "Danke.") };
        let word = |(at, text): (usize, &str)| Word {
            text: text.into(),
            start: 0.5 + at as f64,
            end: 1.5 + at as f64,
            confidence: 0.9,
        };
        Ok(Transcript {
            language: Some(language.into()),
            language_probability: Some(0.9),
            words: said.split(' ').enumerate().map(word).collect(),
        })
    });
    let app = app(&Arc::new(transcriber.with_max_seconds(PACK))).await;
    let job = app.job_of(&fields("transcript", "10"), "c.mp4", &clip(30.0)).await;
    let id = job["result"]["video_id"].clone();
    let path = format!("/videos/{}/transcript", id.as_str().unwrap());
    let all = app.get(&path).await.json();
    assert_eq!(all["language"], "en", "{all}");
    let english = json!({"start": 0.6, "end": 9.4, "language": "en"});
    let german = json!({"start": 20.6, "end": 24.4, "language": "de"});
    assert_eq!(all["languages"], json!([english, german]));
    let later = app.get(&format!("{path}?after=15")).await.json();
    assert_eq!(later["languages"], json!([german]));
    let chunks = chunks(&app, &id).await;
    let languages = [0, 2].map(|chunk| chunks[chunk]["transcript"]["language"].clone());
    assert_eq!(languages, ["en", "de"]);
}

#[tokio::test]
async fn what_would_make_too_many_chunks_is_refused_before_speech_is_recognised() {
    let transcriber = Arc::new(counting());
    let models = talking(transcriber.clone());
    let app = TestApp::with(|setup| {
        setup.models = models;
        setup.settings.ingest.max_chunks = 5;
    })
    .await;
    let job = app.job_of(&fields("transcript", "2"), "c.mp4", &clip(30.0)).await;
    assert_eq!(job["status"], "failed", "{job}");
    mentions(job["error"].as_str().unwrap(), &["15 chunks", "ingest.max_chunks"]);
    assert_eq!(transcriber.calls(), 0);
}

#[tokio::test]
async fn speech_is_heard_once_however_often_the_video_is_split() {
    let transcriber = Arc::new(counting());
    let app = app(&transcriber).await;
    let first = app.job_of(&fields("transcript", "10"), "c.mp4", &clip(30.0)).await;
    let calls = transcriber.calls();
    for (analyzers, interval) in
        [("transcript", "10"), ("diarization", "10"), ("transcript,default_video", "5")]
    {
        let job = app.job_of(&fields(analyzers, interval), "c.mp4", &clip(30.0)).await;
        assert_eq!(job["status"], "done", "{job}");
    }
    assert_eq!(transcriber.calls(), calls);
    let chunks = chunks(&app, &first["result"]["video_id"]).await;
    assert_eq!(chunks.as_array().unwrap().len(), 6);
    let word_of = |chunk: &Value| chunk["transcript"]["text"].as_str().unwrap_or("").to_owned();
    let text = chunks.as_array().unwrap().iter().map(word_of).collect::<Vec<_>>().join(" ");
    assert_eq!(text.matches("w0").count(), 2, "no word is lost or doubled by splitting: {text}");
}

#[tokio::test]
async fn what_is_said_over_the_end_of_a_chunk_is_whole_in_both() {
    let app = app(&Arc::new(counting())).await;
    let job = app.job_of(&fields("transcript", "5"), "c.mp4", &clip(30.0)).await;
    let id = job["result"]["video_id"].as_str().unwrap();
    let stored = app.get(&format!("/videos/{id}/chunks?verbose=true")).await.json();
    let [first, second] = [0, 1].map(|chunk| &stored["chunks"][chunk]["transcript"]);
    assert!(!first["text"].as_str().unwrap().contains("w10"), "{first}");
    assert_eq!(first["_sentences"], second["_sentences"]);
    let whole = first["_sentences"][0]["text"].as_str().unwrap();
    mentions(whole, &["w0 w1", "w10"]);
    let subtitles = app.get(&format!("/videos/{id}/export?format=srt")).await.text();
    assert_eq!(subtitles.matches("w0").count(), 2, "once for each stretch of speech: {subtitles}");
    let body = json!({"text": "w10", "analyzer": "transcript", "detail": "full", "limit": 50});
    let found = app.post_json("/query", body).await.json();
    let hit = found["results"].as_array().unwrap().iter().find(|hit| hit["chunk_id"] == 0);
    mentions(hit.unwrap()["text"].as_str().unwrap(), &["w0 w1", "w10"]);
}

#[tokio::test]
async fn a_search_over_everything_names_who_found_it() {
    let app = app(&Arc::new(counting())).await;
    app.job_of(&fields("transcript,default_video", "10"), "c.mp4", &clip(30.0)).await;
    let ask = async |analyzer: &str, more: Value| {
        let mut body =
            json!({"text": "w7", "analyzer": analyzer, "synthesize": false, "limit": 50});
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        app.post_json("/query", body).await.json()
    };
    let all = ask("*", json!({})).await;
    assert_eq!((&all["analyzer"], all["results"].as_array().unwrap().len()), (&json!("*"), 3));
    let best = &all["results"][0];
    assert_eq!(best["found_by"][0], "transcript");
    assert!(best["text_score"].is_number(), "words count where all are searched: {best}");
    assert!(!best["objects"].as_array().unwrap().is_empty(), "what else is known of it: {best}");
    let p = best["p_present"].as_f64().unwrap();
    let sure = ask("*", json!({"min_p_present": p})).await;
    let chunks = |found: &Value| found["results"].as_array().unwrap().len();
    assert!(chunks(&sure) < chunks(&all), "{sure}");
    let one = ask("transcript", json!({})).await;
    assert_eq!(one["results"][0].get("found_by"), None);
    let empty = ask("default_video", json!({"mode": "text"})).await;
    assert_eq!(empty["results"], json!([]));
    assert!(empty["diagnostics"]["found_by_others"]["transcript"].is_number(), "{empty}");
}

#[tokio::test]
async fn what_is_said_is_read_sentence_by_sentence() {
    let app = app(&Arc::new(counting())).await;
    let job = app.job_of(&fields("transcript", "10"), "c.mp4", &clip(30.0)).await;
    let path = format!("/videos/{}/transcript", job["result"]["video_id"].as_str().unwrap());
    let all = app.get(&path).await.ok();
    let said = all["utterances"].as_array().unwrap();
    assert!(said.len() > 1 && all["total"] == said.len() && all.get("tokens").is_none(), "{all}");
    assert_eq!(all["language"], "en");
    let longest = said.iter().map(|said| said.to_string().len()).max().unwrap();
    let (mut read, mut cursor) = (Vec::new(), String::new());
    loop {
        let part =
            app.get(&format!("{path}?max_tokens={}{cursor}", longest.div_ceil(2))).await.ok();
        assert!(part["tokens"].as_u64().unwrap() <= longest.div_ceil(2) as u64, "{part}");
        read.extend(part["utterances"].as_array().unwrap().clone());
        match part["next"].as_str() {
            Some(next) => cursor = format!("&cursor={next}"),
            None => break,
        }
    }
    assert!(!cursor.is_empty());
    assert_eq!(&read, said);
    let later = app.get(&format!("{path}?after={}", said[0]["end"])).await.ok();
    assert_eq!(later["total"], said.len() - 1);
    mentions(&app.get(&format!("{path}?after=1{cursor}")).await.error(400), &["another request"]);
    let unheard = app.video_of(&clip(10.0)).await;
    let refused = app.get(&format!("/videos/{unheard}/transcript")).await.error(400);
    mentions(&refused, &["nobody has listened", "diarization and transcript"]);
    app.get("/videos/fedcba9876543210/transcript").await.error(404);
}

#[tokio::test]
async fn a_question_is_answered_from_what_any_analyzer_has() {
    let app = app(&Arc::new(counting())).await;
    app.job_of(&fields("transcript,default_video", "10"), "c.mp4", &clip(30.0)).await;
    *app.model.says.lock().unwrap() = vec![("w6 w7 w8", "w6 w7 w8")];
    let body = json!({"question": "Who says w7?", "limit": 1});
    let answer = app.post_json("/ask", body).await.json();
    assert_eq!(answer["answered"], true, "{answer}");
    mentions(answer["answer"].as_str().unwrap(), &["w6 w7 w8"]);
    assert!(answer["results"][0]["snippet"].is_null());
}

#[tokio::test]
async fn diarization_has_turns_with_their_words() {
    let app = app(&Arc::new(counting())).await;
    let job = app.job_of(&fields("diarization", "30"), "c.mp4", &clip(30.0)).await;
    assert_eq!(job["status"], "done", "{job}");
    let chunks = chunks(&app, &job["result"]["video_id"]).await;
    let output = &chunks[0]["diarization"];
    assert_eq!(output["speakers"], json!(["S1"]));
    let turns = output["turns"].as_array().unwrap();
    assert_eq!(turns.len(), 2, "{turns:?}");
    assert!(turns[0]["text"].as_str().unwrap().starts_with("w0 w1"));
    let video = app.get(&format!("/videos/{}", job["result"]["video_id"].as_str().unwrap())).await;
    assert_eq!(video.json()["analyzers"], json!(["diarization"]));
}

#[tokio::test]
async fn a_recogniser_that_fails_fails_only_who_needs_words() {
    let down = || {
        ScriptedTranscriber::new(|_| {
            Err(PortError::new(ErrorKind::Unavailable, "the recogniser cannot be reached"))
        })
    };
    let app = app(&Arc::new(down())).await;
    let job = app.job_of(&[], "c.mp4", &clip(30.0)).await;
    assert_eq!(job["status"], "done", "a description needs no words: {job}");
    let job = app.job_of(&fields("transcript", "10"), "c.mp4", &clip(30.0)).await;
    assert_eq!(job["status"], "failed");
    assert!(job["error"].as_str().unwrap().contains("recogniser"), "{job}");
    let videos = app.get("/videos").await.json();
    assert_eq!(videos["videos"][0]["analyzers"], json!(["default_video"]), "nothing is lost");
}

#[tokio::test]
async fn pieces_that_were_recognised_are_not_paid_for_again() {
    let calls = std::sync::atomic::AtomicUsize::new(0);
    let transcriber = Arc::new(
        ScriptedTranscriber::new(move |_| {
            if calls.fetch_add(1, std::sync::atomic::Ordering::SeqCst) == 1 {
                return Err(PortError::new(ErrorKind::Unavailable, "gone for a moment"));
            }
            Ok(Transcript::default())
        })
        .with_max_seconds(PACK),
    );
    let models = talking(transcriber.clone());
    let app = TestApp::with(|setup| {
        setup.models = models;
        setup.settings.ingest.concurrency = 1;
    })
    .await;
    let job = app.job_of(&fields("transcript", "10"), "c.mp4", &clip(30.0)).await;
    assert_eq!(job["status"], "failed", "{job}");
    let job = app.job_of(&fields("transcript", "10"), "c.mp4", &clip(30.0)).await;
    assert_eq!(job["status"], "done", "{job}");
    assert_eq!(transcriber.calls(), 3, "the first piece once, the second twice");
}

/// Somebody asks what car it is until 9 s, and is answered from 21 s on.
fn asking() -> ScriptedTranscriber {
    ScriptedTranscriber::new(|samples| {
        let seconds = samples.len() / SAMPLE_RATE as usize;
        let said = if seconds > 5 { "So what kind of car is it?" } else { "A blue Fusion." };
        let word = |(i, text): (usize, &str)| Word {
            text: text.to_owned(),
            start: 0.6 + i as f64 * 0.3,
            end: 0.8 + i as f64 * 0.3,
            confidence: 0.9,
        };
        let words = said.split(' ').enumerate().map(word).collect();
        Ok(Transcript { language: Some("en".into()), words, ..Transcript::default() })
    })
    .with_max_seconds(PACK)
}

#[tokio::test]
async fn a_reranker_decides_what_answers_a_question() {
    let asked = json!({"question": "Which kind of car is it?", "limit": 1});
    let score =
        |answer: f32| move |_: &str, text: &str| if text.contains("Fusion") { answer } else { 0.0 };
    for (answer, answered) in [(0.9, true), (0.0, false)] {
        let mut models = talking(Arc::new(asking()));
        models.reranker = Some(Arc::new(ScriptedReranker::new(score(answer))));
        let app = TestApp::with(|setup| {
            setup.models = models;
            setup.llm = Some(Arc::new(Extractive::default()));
        })
        .await;
        let job = app.job_of(&fields("transcript", "15"), "c.mp4", &clip(30.0)).await;
        assert_eq!(job["result"]["indexed"], json!({"transcript": 2}), "{job}");
        let found = app.post_json("/ask", asked.clone()).await.ok();
        assert_eq!(found["results"].as_array().unwrap().len(), 1, "the moment that asks");
        assert_eq!(found["answered"], answered, "{found}");
        // Said in the next moment, which shares no word with the question.
        assert_eq!(
            found["answer"].as_str().unwrap().contains("A blue Fusion."),
            answered,
            "{found}"
        );
    }
}

#[tokio::test]
async fn hits_are_read_together_with_a_question() {
    let score = |_: &str, text: &str| if text.contains("Fusion") { 1.0 } else { 0.0 };
    let mut models = talking(Arc::new(asking()));
    models.reranker = Some(Arc::new(ScriptedReranker::new(score)));
    let app = TestApp::with(|setup| setup.models = models).await;
    app.job_of(&fields("transcript", "15"), "c.mp4", &clip(30.0)).await;
    let search = async |text: &str, rerank: bool| {
        let asked = json!({"text": text, "analyzer": "*", "synthesize": false, "rerank": rerank});
        let found = app.post_json("/query", asked).await.ok();
        let hits = found["results"].as_array().unwrap().clone();
        let probable = |hit: &Value| hit["p_present"].as_f64().unwrap();
        assert!(hits.windows(2).all(|two| probable(&two[0]) >= probable(&two[1])), "{found}");
        let of = |chunk: u64| probable(hits.iter().find(|hit| hit["chunk_id"] == chunk).unwrap());
        (of(0), of(1))
    };
    let question = "Which kind of car is it?";
    let (asks, tells) = search(question, false).await;
    let (asks_read, tells_read) = search(question, true).await;
    assert!(asks_read < asks && tells_read > tells, "{asks_read} {asks} {tells_read} {tells}");
    // Words that are no question are searched for as they are.
    assert_eq!(search("kind of car", true).await, search("kind of car", false).await);
    let sure = json!({"text": question, "analyzer": "*", "synthesize": false, "rerank": true,
                      "min_p_present": asks_read + 0.001});
    let found = app.post_json("/query", sure).await.ok();
    let left = found["results"].as_array().unwrap();
    assert!(left.iter().all(|hit| hit["chunk_id"] == 1), "{found}");
}
