use serde_json::{Value, json};

use crate::support::{TestApp, clip, keys, mentions};

const DURATION: f64 = 30.0;

/// Moment ids in the sentences and hits of an answer.
fn cited(answer: &Value) -> Vec<String> {
    let sentences = answer["audit"].as_array().unwrap().iter();
    let cited = sentences.flat_map(|sentence| sentence["moments"].as_array().unwrap());
    let hits = answer["results"].as_array().unwrap().iter().map(|hit| &hit["moment_id"]);
    cited.chain(hits).map(|id| id.as_str().unwrap().to_owned()).collect()
}

#[tokio::test]
async fn cited_moments_can_be_read() {
    let app = TestApp::new().await;
    let id = app.video().await;
    let answer = app.post_json("/ask", json!({"question": "Who opens the door?"})).await.ok();
    let moments = cited(&answer);
    assert_eq!(moments[0], format!("m_{id}_0_10000"));
    let moment = app.get(&format!("/moments/{}", moments[0])).await.ok();
    assert_eq!(moment["timecode"], "0:00.00-0:10.00");
    assert_eq!(moment["frame_url"], format!("/videos/{id}/frames?t=5.000"));
    assert_eq!((&moment["before"], &moment["total_chunks"]), (&Value::Null, &json!(1)));
    assert_eq!(moment["after"]["moment_id"], format!("m_{id}_10000_20000"));
    let chunk = &moment["chunks"][0];
    assert_eq!((&chunk["overlap"], &chunk["chunk_id"]), (&json!(10.0), &json!(0)));
    mentions(&chunk["says"].to_string(), &["red coat"]);
    let stored = app.get(&format!("/videos/{id}/chunks/0")).await.ok();
    for (analyzer, output) in chunk["outputs"].as_object().unwrap() {
        assert_eq!(stored[analyzer], *output);
    }
    // Its frame is served.
    assert_eq!(app.get(moment["frame_url"].as_str().unwrap()).await.status, 200);
}

#[tokio::test]
async fn moment_ids_survive_rechunking() {
    let app = TestApp::new().await;
    let by_cuts = [("mode", "weights"), ("cut", "1"), ("min_duration", "1")];
    let job = app.job_of(&by_cuts, "clip.mp4", &clip(DURATION)).await;
    let id = job["result"]["video_id"].as_str().unwrap();
    let search = json!({"text": "woman", "synthesize": false, "limit": 50});
    let hits = app.post_json("/query", search).await.ok();
    let hits = hits["results"].as_array().unwrap().iter();
    let hits = hits.map(|hit| (hit["start"].as_f64().unwrap(), hit["end"].as_f64().unwrap()));
    // The hits, and pseudo-random spans including the ends of the video.
    let moments: Vec<(f64, f64)> = (0..1000_u32)
        .map(|i| {
            let start = f64::from(i.wrapping_mul(7919) % 29_000) / 1000.0;
            let longest = (DURATION - start) * 1000.0;
            (start, start + (f64::from(i.wrapping_mul(104_729)) % longest).floor() / 1000.0)
        })
        .chain([(0.0, DURATION), (DURATION, DURATION)])
        .chain(hits)
        .collect();
    app.job_of(&[("mode", "interval"), ("interval", "7")], "clip.mp4", &clip(DURATION)).await;
    for batch in moments.chunks(100) {
        let ids: Vec<String> = batch
            .iter()
            .map(|(start, end)| format!("m_{id}_{:.0}_{:.0}", start * 1000.0, end * 1000.0))
            .collect();
        let read = app.post_json("/moments/read", json!({"moment_ids": ids})).await.ok();
        assert_eq!(read["missing"], json!([]));
        let read = read["moments"].as_array().unwrap();
        assert_eq!(read.len(), batch.len());
        for (moment, (start, end)) in read.iter().zip(batch) {
            let chunks = moment["chunks"].as_array().unwrap();
            let overlap: f64 = chunks.iter().map(|c| c["overlap"].as_f64().unwrap()).sum();
            assert!((overlap - (end - start)).abs() < 0.002, "{start}-{end}: {overlap}");
            assert!(!chunks.is_empty() && moment["total_chunks"] == chunks.len());
            let bounds = (chunks[0]["start"].as_f64(), chunks[chunks.len() - 1]["end"].as_f64());
            assert!(bounds.0 <= Some(start + 0.001) && bounds.1 >= Some(end - 0.001), "{bounds:?}");
        }
    }
}

#[tokio::test]
async fn invalid_moments_are_refused_with_a_reason() {
    let app = TestApp::new().await;
    let id = app.video().await;
    let outside = format!("m_{id}_1000_30500");
    let error = app.get(&format!("/moments/{outside}")).await.error(400);
    mentions(&error, &["ends at 30.500 s", "30.000 s"]);
    mentions(&app.get("/moments/m_1_2_3").await.error(400), &["m_<video_id>_<start>_<end>"]);
    let deleted = format!("m_{id}_0_1000");
    app.delete(&format!("/videos/{id}")).await.ok();
    mentions(&app.get(&format!("/moments/{deleted}")).await.error(404), &["is gone", &id]);
    let body = json!({"moment_ids": [deleted, outside]});
    let reply = app.post_json("/moments/read", body).await.ok();
    assert_eq!(reply["moments"], json!([]));
    mentions(&reply["missing"].to_string(), &["is gone"]);
    app.post_json("/moments/read", json!({"moment_ids": []})).await.error(422);
}

#[tokio::test]
async fn last_chunk_may_end_after_the_container_duration() {
    let app = TestApp::new().await;
    let id = app.video().await;
    app.edit_record(&id, |record| record["duration"] = json!(29.994)).await;
    let last = app.get(&format!("/moments/m_{id}_20000_30000")).await.ok();
    assert_eq!(last["chunks"][0]["chunk_id"], 2);
    let evidence = app.post_json("/evidence", json!({"question": "door"})).await.ok();
    assert_eq!(evidence["moments"].as_array().unwrap().len(), 3);
    app.get(&format!("/moments/m_{id}_20000_30002")).await.error(400);
}

/// Reads all pages within `max_tokens` each and returns their item counts.
async fn pages(app: &TestApp, path: &str, items: &str, mut body: Value) -> Vec<usize> {
    let max_tokens = body["max_tokens"].as_u64().unwrap();
    let mut pages = Vec::new();
    loop {
        let page = app.post_json(path, body.clone()).await.ok();
        assert!(page["tokens"].as_u64().unwrap() <= max_tokens, "{page}");
        assert!(page["tokenizer"].is_string());
        pages.push(page[items].as_array().unwrap().len());
        match page["next"].as_str() {
            Some(next) => body["cursor"] = next.into(),
            None => return pages,
        }
    }
}

#[tokio::test]
async fn pages_of_moments_fit_the_token_budget() {
    let app = TestApp::new().await;
    let id = app.video().await;
    let search = json!({"text": "woman", "synthesize": false});
    let all = app.post_json("/query", search.clone()).await.ok();
    assert_eq!(all["results"].as_array().unwrap().len(), 3);
    assert!(all.get("tokens").is_none() && all.get("next").is_none());
    let longest = all["results"].as_array().unwrap().iter().map(|r| r.to_string().len()).max();
    let mut body = search.clone();
    body["max_tokens"] = longest.unwrap().div_ceil(3).into();
    assert_eq!(pages(&app, "/query", "results", body.clone()).await, [1, 1, 1]);

    let few = json!({"text": "woman", "synthesize": false, "max_tokens": 20});
    mentions(&app.post_json("/query", few).await.error(400), &["takes", "tokens; raise it"]);
    let next = app.post_json("/query", body).await.ok()["next"].clone();
    let other = json!({"text": "man", "synthesize": false, "cursor": next});
    mentions(&app.post_json("/query", other).await.error(400), &["is of another request"]);

    let ids: Vec<String> =
        (0..3).map(|i| format!("m_{id}_{}_{}", i * 1000, i * 1000 + 500)).collect();
    let body = json!({"moment_ids": ids, "max_tokens": 100_000});
    assert_eq!(pages(&app, "/moments/read", "moments", body).await, [3]);
}

#[tokio::test]
async fn long_moments_do_not_exceed_the_token_budget() {
    let app = TestApp::new().await;
    let job =
        app.job_of(&[("mode", "interval"), ("interval", "1")], "clip.mp4", &clip(300.0)).await;
    let id = job["result"]["video_id"].as_str().unwrap();
    let (whole, gone) = (format!("m_{id}_0_300000"), "m_0123456789abcdef_0_1");
    let mut body = json!({"moment_ids": [whole, gone, whole, whole]});
    let first = app.post_json("/moments/read", body.clone()).await.ok();
    let sizes = |page: &Value| {
        let count = |name: &str| page[name].as_array().unwrap().len();
        (count("moments"), count("missing"))
    };
    assert_eq!(sizes(&first), (1, 1), "300 chunks fit on a page, 600 do not");
    body["cursor"] = first["next"].clone();
    let second = app.post_json("/moments/read", body.clone()).await.ok();
    assert_eq!(sizes(&second), (1, 0));
    body["cursor"] = second["next"].clone();
    let third = app.post_json("/moments/read", body).await.ok();
    assert_eq!(sizes(&third), (1, 0));
    assert!(third.get("next").is_none());
}

#[tokio::test]
async fn pages_of_chunks_fit_the_token_budget() {
    let app = TestApp::new().await;
    let id = app.video().await;
    let path = format!("/videos/{id}/chunks?limit=2");
    let all = app.get(&path).await.ok();
    assert!(all.get("tokens").is_none() && all.get("next").is_none());
    let longest = all["chunks"].as_array().unwrap().iter().map(|c| c.to_string().len()).max();
    let path = format!("{path}&max_tokens={}", longest.unwrap().div_ceil(3) + 40);
    let (mut read, mut cursor) = (Vec::new(), String::new());
    loop {
        let page = app.get(&format!("{path}{cursor}")).await.ok();
        let chunks = page["chunks"].as_array().unwrap();
        assert_eq!(chunks.len(), 1);
        read.push(chunks[0]["chunk_id"].as_u64().unwrap());
        match page["next"].as_str() {
            Some(next) => cursor = format!("&cursor={next}"),
            None => break,
        }
    }
    assert_eq!(read, [0, 1, 2]);
    let other = format!("/videos/{id}/chunks?limit=3&max_tokens=999{cursor}");
    mentions(&app.get(&other).await.error(400), &["is of another request"]);
}

/// Reads all parts of a response within a token budget.
async fn parts(app: &TestApp, path: &str, max_tokens: u32) -> Vec<Value> {
    let (mut parts, mut cursor) = (Vec::new(), String::new());
    loop {
        let part = app.get(&format!("{path}max_tokens={max_tokens}{cursor}")).await.ok();
        assert!(part["tokens"].as_u64().unwrap() <= u64::from(max_tokens), "{part}");
        let next = part["next"].as_str().map(|next| format!("&cursor={next}"));
        parts.push(part);
        match next {
            Some(next) => cursor = next,
            None => return parts,
        }
    }
}

#[tokio::test]
async fn aggregates_fit_the_token_budget() {
    let app = TestApp::new().await;
    let id = app.video().await;
    let path = format!("/videos/{id}/aggregates");
    let all = app.get(&path).await.ok();
    assert!(all.get("tokens").is_none() && all.get("next").is_none());
    let read = parts(&app, &format!("{path}?"), 300).await;
    assert!(read.len() > 2, "{read:#?}");
    // Merged, the parts equal the whole response.
    let mut merged = json!({});
    for part in &read {
        merge(&mut merged, &part["aggregates"]);
    }
    assert_eq!(merged, all["aggregates"]);
    let chapters = app.get(&format!("{path}?aggregator=chapters")).await.ok();
    let mut merged = json!({});
    for part in parts(&app, &format!("{path}?aggregator=chapters&"), 200).await {
        merge(&mut merged, &part["result"]);
    }
    assert_eq!(merged, chapters["result"]);

    let next = read[0]["next"].as_str().unwrap();
    let rest = app.get(&format!("{path}?cursor={next}")).await.ok();
    assert!(
        rest["aggregates"].get("stats").is_none_or(|stats| stats != &all["aggregates"]["stats"])
    );
    let other = app.get(&format!("{path}?aggregator=chapters&cursor={next}")).await.error(400);
    mentions(&other, &["is of another request"]);
    mentions(&app.get(&format!("{path}?max_tokens=1")).await.error(400), &["takes", "raise it"]);
    mentions(&app.get(&format!("{path}?max_tokens=0")).await.error(422), &["max_tokens"]);
}

/// Merges a part into the whole; lists are concatenated.
fn merge(whole: &mut Value, part: &Value) {
    match (whole, part) {
        (Value::Object(whole), Value::Object(part)) => {
            for (name, value) in part {
                match whole.get_mut(name) {
                    Some(existing) => merge(existing, value),
                    None => {
                        whole.insert(name.clone(), value.clone());
                    }
                }
            }
        }
        (Value::Array(whole), Value::Array(part)) => whole.extend(part.iter().cloned()),
        (whole, part) => panic!("{whole} clashes with {part}"),
    }
}

#[tokio::test]
async fn evidence_contains_ranked_moments_with_context() {
    let app = TestApp::new().await;
    let id = app.video().await;
    let evidence =
        app.post_json("/evidence", json!({"question": "Who opens the door?"})).await.ok();
    assert_eq!(keys(&evidence), ["moments", "p_present", "question", "tokenizer", "tokens"]);
    let moments = evidence["moments"].as_array().unwrap();
    assert_eq!(moments.len(), 3);
    let best = &moments[0];
    assert_eq!(best["p_present"], evidence["p_present"]);
    assert_eq!(best["citation"], format!("[{id} 0-10]"));
    mentions(&best["chunks"][0]["says"].to_string(), &["red coat"]);
    assert!(best["chunks"][0].get("outputs").is_none());
    // The next moment is itself a result, so its statements are not repeated as context.
    assert_eq!(best["after"]["says"], json!([]));
    let single = app.post_json("/evidence", json!({"question": "door", "limit": 1})).await.ok();
    assert_ne!(single["moments"][0]["after"]["says"], json!([]));

    let nothing = json!({"question": "door", "filters": {"objects": ["unicorn"]}});
    let nothing = app.post_json("/evidence", nothing).await.ok();
    assert_eq!((&nothing["moments"], &nothing["p_present"]), (&json!([]), &json!(0.0)));
    assert!(nothing["diagnostics"]["hits_without_filter"].is_object());
}

#[tokio::test]
async fn events_and_people_are_moments() {
    let app = TestApp::new().await;
    let id = app.video().await;
    let chapters = app.get(&format!("/videos/{id}/aggregates?aggregator=chapters")).await.ok();
    let chapter = &chapters["result"]["chapters"][0];
    let moment = chapter["moment_id"].as_str().unwrap();
    let read = app.get(&format!("/moments/{moment}")).await.ok();
    assert_eq!((&read["start"], &read["end"]), (&chapter["start"], &chapter["end"]));
}
