//! Speech through the whole pipeline: recognised once, cut into chunks, presented by two analyzers.

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

/// Maximum seconds per recogniser call; less than all speech, so that it takes two calls.
const PACK: f64 = 12.0;

/// Speech at 1–4 s, 4.5–9 s (recognised in one call) and 21–24 s: two words per second.
fn speech_models(transcriber: Arc<ScriptedTranscriber>) -> Models {
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

fn numbered_words() -> ScriptedTranscriber {
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
    let models = speech_models(transcriber.clone());
    TestApp::with(|setup| setup.models = models).await
}

fn fields<'a>(analyzers: &'a str, interval: &'a str) -> [(&'a str, &'a str); 3] {
    [("analyzers", analyzers), ("mode", "interval"), ("interval", interval)]
}

async fn chunks(app: &TestApp, id: &Value) -> Value {
    app.get(&format!("/videos/{}/chunks", id.as_str().unwrap())).await.json()["chunks"].clone()
}

#[tokio::test]
async fn speech_analyzers_exclude_each_other() {
    let app = app(&Arc::new(numbered_words())).await;
    let schema = app.get("/schema").await.json();
    assert_eq!(schema["exclusive_groups"], json!([["diarization", "transcript"]]));
    let reply = app.upload(&[("analyzers", "transcript,diarization")], "c.mp4", &clip(30.0)).await;
    assert_eq!(reply.status, 400);
    mentions(&reply.text(), &["diarization", "transcript", "exclusive"]);
}

#[tokio::test]
async fn transcript_contains_the_words_of_each_chunk() {
    let transcriber = Arc::new(numbered_words());
    let app = app(&transcriber).await;
    let job = app.job_of(&fields("transcript", "10"), "c.mp4", &clip(30.0)).await;
    assert_eq!(job["status"], "done", "{job}");
    assert_eq!(job["result"]["indexed"], json!({"transcript": 2}), "the middle chunk is silent");
    assert_eq!(transcriber.calls(), 2, "speech with short pauses is recognised in one call");
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
async fn transcript_lists_its_languages() {
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
    assert!(all["utterances"].as_array().unwrap().iter().all(|said| said.get("words").is_none()));
    let timed = app.get(&format!("{path}?words=true")).await.json();
    for said in timed["utterances"].as_array().unwrap() {
        let words = said["words"].as_array().expect("words");
        let texts: Vec<&str> = words.iter().filter_map(|word| word["text"].as_str()).collect();
        assert_eq!(texts.join(" "), said["text"], "{said}");
        assert_eq!((&words[0]["start"], &words[0]["confidence"]), (&said["start"], &json!(0.9)));
        assert_eq!(words.last().unwrap()["end"], said["end"], "{said}");
    }
    let later = app.get(&format!("{path}?after=15")).await.json();
    assert_eq!(later["languages"], json!([german]));
    let chunks = chunks(&app, &id).await;
    let languages = [0, 2].map(|chunk| chunks[chunk]["transcript"]["language"].clone());
    assert_eq!(languages, ["en", "de"]);
}

#[tokio::test]
async fn chunk_limit_is_checked_before_speech_recognition() {
    let transcriber = Arc::new(numbered_words());
    let models = speech_models(transcriber.clone());
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
async fn rechunking_does_not_repeat_speech_recognition() {
    let transcriber = Arc::new(numbered_words());
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
    let text_of_chunk =
        |chunk: &Value| chunk["transcript"]["text"].as_str().unwrap_or("").to_owned();
    let text = chunks.as_array().unwrap().iter().map(text_of_chunk).collect::<Vec<_>>().join(" ");
    assert_eq!(text.matches("w0").count(), 2, "no word is lost or duplicated by splitting: {text}");
}

#[tokio::test]
async fn sentence_across_a_chunk_boundary_is_complete_in_both_chunks() {
    let app = app(&Arc::new(numbered_words())).await;
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
    let page = app.post_json("/query", body).await.json();
    let hit = page["results"].as_array().unwrap().iter().find(|hit| hit["chunk_id"] == 0);
    mentions(hit.unwrap()["text"].as_str().unwrap(), &["w0 w1", "w10"]);
}

#[tokio::test]
async fn search_over_all_analyzers_names_the_analyzers_that_matched() {
    let app = app(&Arc::new(numbered_words())).await;
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
    assert!(best["text_score"].is_number(), "a search over all analyzers is hybrid: {best}");
    assert!(
        !best["objects"].as_array().unwrap().is_empty(),
        "fields of other analyzers are included: {best}"
    );
    let p = best["p_present"].as_f64().unwrap();
    let sure = ask("*", json!({"min_p_present": p})).await;
    let chunks = |page: &Value| page["results"].as_array().unwrap().len();
    assert!(chunks(&sure) < chunks(&all), "{sure}");
    let single = ask("transcript", json!({})).await;
    assert_eq!(single["results"][0].get("found_by"), None);
    let empty = ask("default_video", json!({"mode": "text"})).await;
    assert_eq!(empty["results"], json!([]));
    assert!(empty["diagnostics"]["found_by_others"]["transcript"].is_number(), "{empty}");
}

#[tokio::test]
async fn transcript_is_paged_by_sentence() {
    let app = app(&Arc::new(numbered_words())).await;
    let job = app.job_of(&fields("transcript", "10"), "c.mp4", &clip(30.0)).await;
    let path = format!("/videos/{}/transcript", job["result"]["video_id"].as_str().unwrap());
    let all = app.get(&path).await.ok();
    let utterances = all["utterances"].as_array().unwrap();
    assert!(
        utterances.len() > 1 && all["total"] == utterances.len() && all.get("tokens").is_none(),
        "{all}"
    );
    assert_eq!(all["language"], "en");
    let longest = utterances.iter().map(|utterance| utterance.to_string().len()).max().unwrap();
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
    assert_eq!(&read, utterances);
    let later = app.get(&format!("{path}?after={}", utterances[0]["end"])).await.ok();
    assert_eq!(later["total"], utterances.len() - 1);
    mentions(&app.get(&format!("{path}?after=1{cursor}")).await.error(400), &["another request"]);
    let unheard = app.video_of(&clip(10.0)).await;
    let refused = app.get(&format!("/videos/{unheard}/transcript")).await.error(400);
    mentions(&refused, &["has no transcript", "diarization and transcript"]);
    app.get("/videos/fedcba9876543210/transcript").await.error(404);
}

#[tokio::test]
async fn question_is_answered_from_any_analyzers_output() {
    let app = app(&Arc::new(numbered_words())).await;
    app.job_of(&fields("transcript,default_video", "10"), "c.mp4", &clip(30.0)).await;
    *app.model.says.lock().unwrap() = vec![("w6 w7 w8", "w6 w7 w8")];
    let body = json!({"question": "Who says w7?", "limit": 1});
    let answer = app.post_json("/ask", body).await.json();
    assert_eq!(answer["answered"], true, "{answer}");
    mentions(answer["answer"].as_str().unwrap(), &["w6 w7 w8"]);
    assert!(answer["results"][0]["snippet"].is_null());
}

#[tokio::test]
async fn diarization_turns_contain_their_words() {
    let app = app(&Arc::new(numbered_words())).await;
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
async fn failed_recognition_fails_only_analyzers_that_need_words() {
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
async fn retry_does_not_recognise_finished_pieces_again() {
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
    let models = speech_models(transcriber.clone());
    let app = TestApp::with(|setup| {
        setup.models = models;
        setup.settings.ingest.concurrency = 1;
    })
    .await;
    let job = app.job_of(&fields("transcript", "10"), "c.mp4", &clip(30.0)).await;
    assert_eq!(job["status"], "failed", "{job}");
    let job = app.job_of(&fields("transcript", "10"), "c.mp4", &clip(30.0)).await;
    assert_eq!(job["status"], "done", "{job}");
    assert_eq!(transcriber.calls(), 3, "one call for the first piece, two for the second");
}

/// Recognises a question about a car in the first stretch of speech and its answer in the second.
fn question_and_answer() -> ScriptedTranscriber {
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
async fn reranker_decides_which_moment_answers_a_question() {
    let question = json!({"question": "Which kind of car is it?", "limit": 1});
    let score =
        |answer: f32| move |_: &str, text: &str| if text.contains("Fusion") { answer } else { 0.0 };
    for (answer, answered) in [(0.9, true), (0.0, false)] {
        let mut models = speech_models(Arc::new(question_and_answer()));
        models.reranker = Some(Arc::new(ScriptedReranker::new(score(answer))));
        let app = TestApp::with(|setup| {
            setup.models = models;
            setup.llm = Some(Arc::new(Extractive::default()));
        })
        .await;
        let job = app.job_of(&fields("transcript", "15"), "c.mp4", &clip(30.0)).await;
        assert_eq!(job["result"]["indexed"], json!({"transcript": 2}), "{job}");
        let reply = app.post_json("/ask", question.clone()).await.ok();
        assert_eq!(
            reply["results"].as_array().unwrap().len(),
            1,
            "only the moment with the question"
        );
        assert_eq!(reply["answered"], answered, "{reply}");
        // The answer is in the next moment, which shares no word with the question.
        assert_eq!(
            reply["answer"].as_str().unwrap().contains("A blue Fusion."),
            answered,
            "{reply}"
        );
    }
}

#[tokio::test]
async fn a_comparison_is_answered_from_each_video() {
    let score = |_: &str, text: &str| if text.contains("Fusion") { 0.9 } else { 0.0 };
    let mut models = speech_models(Arc::new(question_and_answer()));
    models.reranker = Some(Arc::new(ScriptedReranker::new(score)));
    let app = TestApp::with(|setup| {
        setup.models = models;
        setup.llm = Some(Arc::new(Extractive::default()));
    })
    .await;
    let mut ids = Vec::new();
    for (name, seconds) in [("ada.mp4", 30.0), ("bo.mp4", 40.0)] {
        let job = app.job_of(&fields("transcript", "15"), name, &clip(seconds)).await;
        ids.push(job["result"]["video_id"].as_str().unwrap().to_owned());
    }
    let question = "Which kind of car is it in each video?";
    let answer = app.post_json("/ask", json!({"question": question})).await.ok();
    assert_eq!((&answer["question"], &answer["answered"]), (&json!(question), &json!(true)));
    for (name, id) in ["ada.mp4", "bo.mp4"].into_iter().zip(&ids) {
        let of_video = |one: &&Value| {
            one["sentence"].as_str().unwrap().starts_with(&format!("In {name}: "))
                && one["citations"][0].as_str().unwrap().contains(id.as_str())
        };
        let audit = answer["audit"].as_array().unwrap();
        assert_eq!(audit.iter().filter(of_video).count(), 1, "{name}: {answer}");
    }
    assert_eq!(answer["answer"].as_str().unwrap().matches("A blue Fusion.").count(), 2);
    // One video alone has nothing to be compared with.
    let alone = json!({"question": question, "video_ids": [ids[0]]});
    let answer = app.post_json("/ask", alone).await.ok();
    assert!(!answer["answer"].as_str().unwrap().starts_with("In ada.mp4"), "{answer}");
}

#[tokio::test]
async fn reranker_scores_hits_against_the_question() {
    let score = |_: &str, text: &str| if text.contains("Fusion") { 1.0 } else { 0.0 };
    let mut models = speech_models(Arc::new(question_and_answer()));
    models.reranker = Some(Arc::new(ScriptedReranker::new(score)));
    let app = TestApp::with(|setup| setup.models = models).await;
    app.job_of(&fields("transcript", "15"), "c.mp4", &clip(30.0)).await;
    let search = async |text: &str, rerank: bool| {
        let request = json!({"text": text, "analyzer": "*", "synthesize": false, "rerank": rerank});
        let page = app.post_json("/query", request).await.ok();
        let hits = page["results"].as_array().unwrap().clone();
        let p_present = |hit: &Value| hit["p_present"].as_f64().unwrap();
        assert!(hits.windows(2).all(|two| p_present(&two[0]) >= p_present(&two[1])), "{page}");
        let p_of_chunk =
            |chunk: u64| p_present(hits.iter().find(|hit| hit["chunk_id"] == chunk).unwrap());
        (p_of_chunk(0), p_of_chunk(1))
    };
    let question = "Which kind of car is it?";
    let (asking, answering) = search(question, false).await;
    let (asking_reranked, answering_reranked) = search(question, true).await;
    assert!(
        asking_reranked < asking && answering_reranked > answering,
        "{asking_reranked} {asking} {answering_reranked} {answering}"
    );
    // Only questions are re-ranked.
    assert_eq!(search("kind of car", true).await, search("kind of car", false).await);
    let sure = json!({"text": question, "analyzer": "*", "synthesize": false, "rerank": true,
                      "min_p_present": asking_reranked + 0.001});
    let page = app.post_json("/query", sure).await.ok();
    let remaining = page["results"].as_array().unwrap();
    assert!(remaining.iter().all(|hit| hit["chunk_id"] == 1), "{page}");
}
