//! `POST /intervals`: the spans in which an expression holds.

use std::path::Path;

use domain::kernel::access::Access;
use ports::records::RecordStore;
use serde_json::{Value, json};
use shotlog::http::AuthToken;

use crate::support::{TestApp, clip, keys, mentions};

/// Ingests a clip in chunks of twenty seconds.
async fn ingest(app: &TestApp, seconds: f64) -> String {
    let fields = [("mode", "interval"), ("interval", "20")];
    let job = app.job_of(&fields, "harbour.mp4", &clip(seconds)).await;
    assert_eq!(job["status"], "done", "{job}");
    job["result"]["video_id"].as_str().unwrap().to_owned()
}

/// Stores recognised speech: spans of voice activity, and words with their start and length.
async fn plant_speech(app: &TestApp, id: &str, spans: Value, words: &[(&str, f64, f64)]) {
    let words: Vec<Value> = words
        .iter()
        .map(|(text, start, length)| {
            json!({"text": text, "start": start, "end": start + length, "confidence": 0.9})
        })
        .collect();
    let speech = json!({
        "voices_by": "test/test/v1", "spans": spans, "turns": [],
        "words": {"recogniser": "test", "language": "en", "words": words},
    });
    let key = format!("videos/{id}/speech-planted.json");
    app.records.put(&key, &speech).await.unwrap();
    app.edit_record(id, |record| record["speech_document"] = key.into()).await;
}

/// Words of equal length, one after another.
fn sentence(text: &'static str, start: f64, length: f64) -> Vec<(&'static str, f64, f64)> {
    let words = text.split(' ').enumerate();
    words.map(|(at, word)| (word, start + at as f64 * length, length)).collect()
}

/// An object in a chunk, seen once per second in each of its tracks.
fn object(label: &str, tracks: &[(u32, u32)]) -> Value {
    let mut seen: Vec<(u32, usize)> = Vec::new();
    for (track, (first, last)) in tracks.iter().enumerate() {
        seen.extend((*first..=*last).map(|time| (time, track)));
    }
    seen.sort_unstable();
    let points = |track: usize| -> Vec<usize> {
        let own = seen.iter().enumerate().filter(|(_, (_, own))| *own == track);
        own.map(|(at, _)| at).collect()
    };
    let tracks: Vec<Value> =
        (0..tracks.len()).map(|t| json!({"movement": "still", "points": points(t)})).collect();
    let location = |time: u32| json!({"t": time, "box": [0.1, 0.1, 0.2, 0.2], "confidence": 0.9});
    json!({
        "label": label, "count": tracks.len(), "confidence": 0.9, "_tracks": tracks,
        "first_seen": seen[0].0, "last_seen": seen[seen.len() - 1].0,
        "locations": seen.iter().map(|(time, _)| location(*time)).collect::<Vec<_>>(),
    })
}

/// The objects of a chunk that begins at second `start`.
fn objects(start: u32, found: &[Value]) -> Value {
    let labels: Vec<&Value> = found.iter().map(|object| &object["label"]).collect();
    let frames: Vec<u32> = (start..start + 20).collect();
    json!({"objects": labels, "detections": found, "_frames": frames})
}

/// Stores the results of the clip in docs/intervals.md.
async fn plant_harbour(app: &TestApp, id: &str) {
    plant_findings(app, id).await;
    let described = |tags: Value| json!({"description": "A harbour.", "tags": tags});
    let scenes = json!([described(json!([])), described(json!(["fog"])), described(json!([]))]);
    app.plant_output(id, "default_video", scenes).await;
}

/// Stores the results of the clip in docs/intervals.md, without descriptions.
async fn plant_findings(app: &TestApp, id: &str) {
    let words = [
        sentence("Welcome to the harbour. The ferry leaves at nine.", 2.0, 0.75),
        sentence("There is fog today, so the ferry waits.", 21.0, 1.0),
        sentence("Thank you.", 41.0, 1.5),
    ];
    let spans =
        [(2, 9), (21, 30), (41, 44)].map(|(start, end)| json!({"start": start, "end": end}));
    plant_speech(app, id, json!(spans), &words.concat()).await;
    let turns = |speaker: &str, start: u32, end: u32| {
        let turn = json!({"speaker": speaker, "start": start, "end": end, "text": ""});
        json!({"turns": [turn], "speakers": [speaker]})
    };
    let turns = json!([turns("Ada", 2, 9), turns("Bo", 21, 30), turns("Ada", 41, 44)]);
    app.plant_output(id, "diarization", turns).await;
    let line = |text: &str, first: u32, last: u32| {
        json!({"text": text, "texts": [
            {"text": text, "confidence": 0.95, "first_seen": first, "last_seen": last},
        ]})
    };
    let lines = json!([line("HARBOUR NEWS", 0, 5), line("FERRY DELAYED", 24, 38), null]);
    app.plant_output(id, "ocr", lines).await;
    let seen = json!([
        objects(0, &[object("boat", &[(1, 14), (6, 10)])]),
        objects(20, &[object("car", &[(22, 26)])]),
        objects(40, &[object("dog", &[(45, 50)])]),
    ]);
    app.plant_output(id, "object_detection", seen).await;
    let crowd = |count: u32| json!({"people": [], "people_count": count});
    app.plant_output(id, "people", json!([crowd(1), crowd(3), null])).await;
}

async fn find(app: &TestApp, body: Value) -> Value {
    app.post_json("/intervals", body).await.ok()
}

/// The spans of all videos on a page, as their timecodes.
fn timecodes(page: &Value) -> Vec<String> {
    let videos = page["videos"].as_array().unwrap().iter();
    let spans = videos.flat_map(|video| video["spans"].as_array().unwrap());
    spans.map(|span| span["timecode"].as_str().unwrap().to_owned()).collect()
}

/// The expressions among the examples of the documentation, each with its spans.
fn documented() -> Vec<(Value, String)> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/intervals.md");
    let page = std::fs::read_to_string(path).unwrap();
    let (_, examples) = page.split_once("## Examples").unwrap();
    let example = |block: &str| {
        let (json, rest) = block.split_once("```").unwrap();
        let spans = rest.lines().map(str::trim).find(|line| !line.is_empty()).unwrap();
        (serde_json::from_str(json).unwrap(), spans.to_owned())
    };
    examples.split("```json").skip(1).map(example).collect()
}

#[tokio::test]
async fn documented_examples_hold_where_the_documentation_says() {
    let app = TestApp::new().await;
    let id = ingest(&app, 60.0).await;
    plant_harbour(&app, &id).await;
    let examples = documented();
    assert_eq!(examples.len(), 10);
    for (expression, spans) in examples {
        let page = find(&app, json!({"expression": expression})).await;
        assert_eq!(timecodes(&page).join(", "), spans, "{expression}");
        assert_eq!(page["not_analyzed"], json!({}), "{expression}");
        // The canonical form finds the same.
        let again = find(&app, json!({"expression": page["expression"]})).await;
        assert_eq!(again, page);
    }
}

/// A table that one process has stored answers every expression in the next one, without the
/// documents that it was built from. A corrupt table is built again.
#[tokio::test]
async fn a_stored_table_answers_after_a_restart() {
    let app = TestApp::new().await;
    let id = ingest(&app, 60.0).await;
    plant_harbour(&app, &id).await;
    let mut pages = Vec::new();
    for (expression, _) in documented() {
        pages.push(find(&app, json!({"expression": expression})).await);
    }
    let restart = || {
        TestApp::with(|setup| {
            setup.records = app.records.clone();
            setup.listing = app.listing.clone();
            setup.storage = Some(app.storage.clone());
        })
    };
    let table = format!("cache/{id}/intervals.json");
    let stored = app.records.get(&table).await.unwrap().expect("a stored table");
    app.records.spoil(&table).await;
    let mut page = find(&restart().await, json!({"expression": pages[0]["expression"]})).await;
    assert_eq!(page, pages[0]);
    assert_eq!(app.records.get(&table).await.unwrap(), Some(stored));
    for analyzer in ["default_video", "diarization", "ocr", "object_detection", "people"] {
        app.records.spoil(&format!("videos/{id}/{analyzer}-planted.json")).await;
    }
    let restarted = restart().await;
    for expected in pages {
        page = find(&restarted, json!({"expression": expected["expression"]})).await;
        assert_eq!(page, expected);
    }
}

#[tokio::test]
async fn documentation_lists_every_operator() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/intervals.md");
    let page = std::fs::read_to_string(path).unwrap();
    for operator in domain::intervals::OPERATORS {
        assert!(page.contains(&format!("| `{{\"{}\":", operator.name)), "{}", operator.name);
        for option in operator.options {
            assert!(page.contains(&format!("\"{option}\"")), "{option}");
        }
    }
}

#[tokio::test]
async fn spans_have_the_moments_that_prove_each_term() {
    let app = TestApp::new().await;
    let id = ingest(&app, 60.0).await;
    plant_harbour(&app, &id).await;
    let expression = json!({"all": [
        {"speech": true}, {"speaker": "Bo"}, {"says": "ferry"}, {"reads": "delayed"},
        {"people": {"at_least": 2}}, {"not": {"sees": "boat"}},
    ]});
    let page = find(&app, json!({"expression": expression})).await;
    let video = &page["videos"][0];
    assert_eq!((&video["video_id"], &video["filename"]), (&json!(id), &json!("harbour.mp4")));
    assert!(video["video_url"].as_str().unwrap().ends_with("harbour.mp4"), "{video}");
    assert_eq!(video["duration"], 60.0);
    let span = &video["spans"][0];
    assert_eq!(span["moment_id"], format!("m_{id}_27000_28000"));
    let proofs = span["proofs"].as_array().unwrap();
    let proof = |term: &str| {
        let named = |proof: &&Value| keys(&proof["term"]) == [term];
        let found = proofs.iter().find(named).unwrap_or_else(|| panic!("{term}: {proofs:?}"));
        (found["absent"].clone(), found["moments"][0].clone())
    };
    for (term, absent, field, value) in [
        ("speech", false, "start", json!(21.0)),
        ("speaker", false, "speaker", json!("Bo")),
        ("says", false, "text", json!("ferry")),
        ("says", false, "probability", json!(0.9)),
        ("reads", false, "text", json!("FERRY DELAYED")),
        ("people", false, "count", json!(3)),
        ("sees", true, "start", json!(27.0)),
    ] {
        let (is_absent, moment) = proof(term);
        assert_eq!((is_absent, &moment[field]), (json!(absent), &value), "{term}");
        app.get(&format!("/moments/{}", moment["moment_id"].as_str().unwrap())).await.ok();
    }
    assert_eq!(page.get("next"), None);
}

#[tokio::test]
async fn what_was_not_analyzed_is_reported() {
    let app = TestApp::new().await;
    let harbour = ingest(&app, 60.0).await;
    plant_harbour(&app, &harbour).await;
    let plain = ingest(&app, 40.0).await;
    let expression = json!({"all": [{"silence": true}, {"not": {"reads": "news"}}]});
    let page = find(&app, json!({"expression": expression})).await;
    let videos = page["videos"].as_array().unwrap();
    assert_eq!(videos.len(), 1, "a video without a transcript is not silent: {page}");
    assert_eq!(videos[0]["video_id"], json!(harbour));
    for analyzer in ["transcript", "ocr"] {
        let missing = &page["not_analyzed"][analyzer];
        assert_eq!((&missing["videos"], &missing["video_ids"]), (&json!(1), &json!([plain])));
    }
    // Descriptions state objects, so it is known that nobody saw a train.
    let unseen = find(&app, json!({"expression": {"not": {"sees": "train"}}})).await;
    let mut spans = timecodes(&unseen);
    spans.sort();
    assert_eq!(spans, ["0:00.00-0:40.00", "0:00.00-1:00.00"]);
    assert_eq!(unseen["not_analyzed"], json!({}));

    // Stored results that lack the second chunk.
    let part = json!([{"text": "EXIT", "texts": [
        {"text": "EXIT", "confidence": 0.9, "first_seen": 1, "last_seen": 2},
    ]}]);
    app.plant_output(&plain, "ocr", part).await;
    let unread = json!({"expression": {"not": {"reads": "exit"}}, "video_ids": [plain]});
    let page = find(&app, unread).await;
    assert_eq!(timecodes(&page), ["0:00.00-0:01.00", "0:02.00-0:20.00"]);
    let part = json!({"video_id": plain, "start": 20.0, "end": 40.0});
    assert_eq!(page["not_analyzed"]["ocr"], json!({"videos": 0, "video_ids": [], "parts": [part]}));
}

#[tokio::test]
async fn pages_list_every_span_once_newest_video_first() {
    let app = TestApp::with(|setup| setup.settings.intervals.max_videos_read = 1).await;
    let older = ingest(&app, 60.0).await;
    plant_harbour(&app, &older).await;
    // Videos created in the same second are ordered by id.
    tokio::time::sleep(std::time::Duration::from_millis(1100)).await;
    let empty = ingest(&app, 20.0).await;
    tokio::time::sleep(std::time::Duration::from_millis(1100)).await;
    let newer = ingest(&app, 80.0).await;
    plant_speech(&app, &newer, json!([{"start": 1, "end": 2}, {"start": 5, "end": 6}]), &[]).await;
    plant_speech(&app, &empty, json!([]), &[]).await;
    let all = [(&newer, 1.0), (&newer, 5.0), (&older, 2.0), (&older, 21.0), (&older, 41.0)];
    let all = all.map(|(id, start)| format!("{id} {start}"));
    for limit in [1, 2, 3, 50] {
        let mut request = json!({"expression": {"speech": true}, "limit": limit});
        let (mut found, mut pages) = (Vec::new(), 0);
        loop {
            let page = find(&app, request.clone()).await;
            for video in page["videos"].as_array().unwrap() {
                let spans = video["spans"].as_array().unwrap();
                let start = |span: &Value| {
                    format!(
                        "{} {}",
                        video["video_id"].as_str().unwrap(),
                        span["start"].as_f64().unwrap()
                    )
                };
                assert!(spans.len() <= limit as usize);
                found.extend(spans.iter().map(start));
            }
            pages += 1;
            match page.get("next") {
                Some(next) => request["cursor"] = next.clone(),
                None => break,
            }
            assert!(pages < 20, "{found:?}");
        }
        assert_eq!(found, all, "{limit}");
        if limit == 1 {
            assert!(pages >= 5, "each video is read for another page, and cached");
        }
    }
    let first = find(&app, json!({"expression": {"speech": true}, "limit": 1})).await;
    let other = json!({"expression": {"silence": true}, "limit": 1, "cursor": first["next"]});
    mentions(&app.post_json("/intervals", other).await.error(400), &["another request"]);
    let broken = json!({"expression": {"speech": true}, "cursor": "5"});
    mentions(&app.post_json("/intervals", broken).await.error(400), &["unknown cursor"]);
}

#[tokio::test]
async fn a_search_covers_the_videos_of_its_scope() {
    let app = TestApp::new().await;
    let [one, two] = [ingest(&app, 60.0).await, ingest(&app, 40.0).await];
    for id in [&one, &two] {
        plant_speech(&app, id, json!([{"start": 1, "end": 2}]), &[]).await;
    }
    app.patch_json(&format!("/videos/{one}"), json!({"collection": "news"})).await.ok();
    let ids = |page: &Value| -> Vec<String> {
        let videos = page["videos"].as_array().unwrap().iter();
        let mut ids: Vec<String> =
            videos.map(|video| video["video_id"].as_str().unwrap().to_owned()).collect();
        ids.sort();
        ids
    };
    let mut both = [one.clone(), two.clone()];
    both.sort();
    for (scope, expected) in [
        (json!({}), &both[..]),
        (json!({"video_ids": null}), &both[..]),
        (json!({"video_ids": [two]}), std::slice::from_ref(&two)),
        (json!({"video_ids": []}), &[]),
        (json!({"filters": {"collections": ["news"]}}), std::slice::from_ref(&one)),
        (json!({"filters": {"collections": ["news"]}, "video_ids": [two]}), &[]),
        (json!({"filters": {"video_ids": [one]}}), std::slice::from_ref(&one)),
    ] {
        let mut body = scope.clone();
        body["expression"] = json!({"speech": true});
        assert_eq!(ids(&find(&app, body).await), expected, "{scope}");
    }
    let unknown =
        json!({"expression": {"speech": true}, "video_ids": ["0000000000000000", "x", one]});
    let page = find(&app, unknown).await;
    assert_eq!(page["unknown_videos"], json!(["0000000000000000", "x"]));

    app.delete(&format!("/videos/{two}")).await.ok();
    assert_eq!(ids(&find(&app, json!({"expression": {"speech": true}})).await), [one]);
}

#[tokio::test]
async fn a_token_finds_only_spans_of_its_collections() {
    let mut app = TestApp::with(|setup| {
        let access = Access::new(Some(["news".to_owned()].into()), false);
        let bound = AuthToken { token: "bound".into(), access };
        setup.http.auth.tokens = vec!["all".into(), bound];
    })
    .await;
    app.speak_as("all");
    let [one, two] = [ingest(&app, 60.0).await, ingest(&app, 40.0).await];
    for id in [&one, &two] {
        plant_speech(&app, id, json!([{"start": 1, "end": 2}]), &[]).await;
    }
    app.patch_json(&format!("/videos/{one}"), json!({"collection": "news"})).await.ok();
    let expression = json!({"speech": true});
    assert_eq!(timecodes(&find(&app, json!({"expression": expression})).await).len(), 2);
    app.speak_as("bound");
    let page = find(&app, json!({"expression": expression})).await;
    assert_eq!(page["videos"].as_array().unwrap().len(), 1);
    assert_eq!(page["videos"][0]["video_id"], json!(one));
    let page = find(&app, json!({"expression": expression, "video_ids": [two]})).await;
    assert_eq!((&page["videos"], &page["unknown_videos"]), (&json!([]), &json!([two])));
}

#[tokio::test]
async fn texts_are_searched_for() {
    let app = TestApp::with(|setup| setup.settings.intervals.max_text_hits = 2).await;
    let id = app.video_of(&clip(60.0)).await;
    let door = json!({"text": "a woman in a red coat opens a wooden door", "min_p_present": 0});
    let page = find(&app, json!({"expression": door})).await;
    let spans = timecodes(&page);
    assert_eq!(spans, ["0:00.00-0:20.00"], "the best two chunks");
    let proof = &page["videos"][0]["spans"][0]["proofs"][0]["moments"][0];
    assert!(proof["probability"].is_f64(), "{page}");
    assert_eq!(page["truncated_texts"], json!(["a woman in a red coat opens a wooden door"]));
    let elsewhere = json!({"all": [door, {"between": [20, null]}, {"not": {"text": "volcano"}}]});
    let page = find(&app, json!({"expression": elsewhere, "video_ids": [id]})).await;
    assert_eq!(timecodes(&page), [""; 0], "{page}");
}

#[tokio::test]
async fn only_texts_need_the_embedder() {
    let app = TestApp::new().await;
    app.video().await;
    app.embedder.down.store(true, std::sync::atomic::Ordering::SeqCst);
    let other = json!({"expression": {"text": "a door"}});
    assert_eq!(app.post_json("/intervals", other).await.status, 500);
    find(&app, json!({"expression": {"between": [0, 1]}})).await;
}

#[tokio::test]
async fn invalid_requests_state_what_is_accepted() {
    let app = TestApp::new().await;
    app.video().await;
    let speech = json!({"speech": true});
    let many: Vec<Value> = (0..3000).map(|n| json!({"says": format!("w{n}")})).collect();
    for (body, status, words) in [
        (json!({}), 422, &["expression is missing"][..]),
        (json!({"expression": []}), 422, &["expression is a list"]),
        (json!({"expression": {}}), 422, &["an object with one operator or term"]),
        (json!({"expression": {"says": ""}}), 422, &["says is \"\"", "not empty"]),
        (
            json!({"expression": {"then": [speech, speech], "within": -1}}),
            422,
            &["within is -1", "at least 0"],
        ),
        (
            json!({"expression": {"heard": "x"}}),
            400,
            &["unknown operator 'heard'", "available: all"],
        ),
        (json!({"expression": {"any": many}}), 400, &["more than 64 terms", "intervals.max_terms"]),
        (json!({"expression": speech, "limit": 0}), 422, &["limit is 0"]),
        (
            json!({"expression": speech, "limit": 501}),
            422,
            &["from 1 to 500", "intervals.max_spans"],
        ),
        (
            json!({"expression": speech, "filters": {"objects": ["car"]}}),
            400,
            &["the filter on 'objects' is on chunks"],
        ),
        (json!({"expression": speech, "filters": {"x": 1}}), 400, &["unknown filter 'x'"]),
        (json!({"expression": speech, "where": 1}), 422, &["unknown field 'where'"]),
        (json!({"expression": {"text": "x".repeat(20_000)}}), 422, &["search.max_text_bytes"]),
    ] {
        mentions(&app.post_json("/intervals", body).await.error(status), words);
    }
    let mut deep = speech.clone();
    for _ in 0..60 {
        deep = json!({"not": deep});
    }
    let reply = app.post_json("/intervals", json!({"expression": deep})).await;
    mentions(&reply.error(400), &["more than 16 levels", "intervals.max_depth"]);
}

#[tokio::test]
async fn impossible_expressions_have_no_spans() {
    let app = TestApp::new().await;
    let id = ingest(&app, 60.0).await;
    plant_harbour(&app, &id).await;
    for expression in [
        json!({"all": [{"speech": true}, {"silence": true}]}),
        json!({"all": [{"between": [0, 5]}, {"between": [10, 15]}]}),
        json!({"between": [70, 80]}),
        json!({"sees": "flux capacitor"}),
        json!({"speaker": "Nobody"}),
        json!({"people": {"at_least": 5, "at_most": 2}}),
        json!({"at_least": {"seconds": 4000}, "of": {"speech": true}}),
    ] {
        let page = find(&app, json!({"expression": expression})).await;
        assert_eq!(timecodes(&page), [""; 0], "{expression}");
        assert_eq!((page.get("next"), &page["not_analyzed"]), (None, &json!({})), "{expression}");
    }
}

/// The chunks that a page of `/query` or `/ask` contains, in order.
fn chunk_ids(page: &Value) -> Vec<u64> {
    let hits = page["results"].as_array().unwrap().iter();
    let mut ids: Vec<u64> = hits.map(|hit| hit["chunk_id"].as_u64().unwrap()).collect();
    ids.sort_unstable();
    ids
}

#[tokio::test]
async fn an_expression_filters_searches_answers_and_exports() {
    let app = TestApp::new().await;
    let id = ingest(&app, 60.0).await;
    // The index has the moments that are described.
    plant_findings(&app, &id).await;
    let plain = ingest(&app, 40.0).await;
    let eleven_seconds = json!({"at_least": {"seconds": 11}, "of": {"silence": true}});
    for (expression, expected) in [
        (json!({"sees": "dog"}), &[2][..]),
        (json!({"not": {"sees": "dog"}}), &[0, 1]),
        (json!({"says": "fog"}), &[1]),
        (json!({"people": {"at_least": 2}}), &[1]),
        (json!({"all": [{"speech": true}, {"not": {"reads": "ferry"}}]}), &[0, 2]),
        (json!({"not": {"speech": true}}), &[]),
        (json!({"any": [{"not": {"speech": true}}, {"says": "fog"}]}), &[0, 1, 2]),
        (eleven_seconds, &[0, 1, 2]),
        (json!({"between": [15, 25]}), &[0, 1]),
    ] {
        let filters = json!({"where": expression, "video_ids": [id]});
        for target in [json!({"text": "a"}), json!({"order": "newest"})] {
            let mut body = json!({"filters": filters, "limit": 50, "synthesize": false});
            body.as_object_mut().unwrap().extend(target.as_object().unwrap().clone());
            let page = app.post_json("/query", body).await.ok();
            assert_eq!(chunk_ids(&page), expected, "{expression} {target}");
        }
        let question = json!({
            "question": "Where is a door?", "analyzer": "default_video", "filters": filters,
        });
        let answer = app.post_json("/ask", question).await.ok();
        assert_eq!(chunk_ids(&answer), expected, "{expression}");
        let export = json!({"format": "jsonl", "filters": filters});
        let lines = app.post_json("/export", export).await.text();
        assert_eq!(lines.lines().count(), expected.len(), "{expression}");
    }
    // Nobody knows whether the other video has speech.
    for expression in [json!({"speech": true}), json!({"not": {"speech": true}})] {
        let filters = json!({"where": expression, "video_ids": [plain]});
        let body = json!({"order": "newest", "filters": filters});
        assert_eq!(chunk_ids(&app.post_json("/query", body).await.ok()), [0_u64; 0]);
    }
}

#[tokio::test]
async fn a_filter_by_an_invalid_expression_is_rejected() {
    let app = TestApp::new().await;
    app.video().await;
    let twice = json!({"all": [{"speech": true}, {"text": "a dog"}]});
    for (expression, status, words) in [
        (json!({"heard": "x"}), 400, &["unknown operator 'heard'"][..]),
        (twice, 400, &["the filter 'where' has no searches", "a dog", "POST /intervals"]),
        (json!("speech"), 422, &["an expression is \"speech\""]),
        (json!({"people": {}}), 422, &["people is {}"]),
    ] {
        let filters = json!({"where": expression});
        for (path, body) in [
            ("/query", json!({"text": "a", "filters": filters})),
            ("/query", json!({"order": "newest", "filters": filters})),
            ("/ask", json!({"question": "Where?", "filters": filters})),
            ("/export", json!({"format": "jsonl", "filters": filters})),
        ] {
            mentions(&app.post_json(path, body).await.error(status), words);
        }
    }
    let nested = json!({"expression": {"speech": true}, "filters": {"where": {"speech": true}}});
    mentions(&app.post_json("/intervals", nested).await.error(400), &["'where'", "with all"]);
}
