//! `POST /query` without a search text, with pages, and for similar moments.

use std::sync::atomic::Ordering;

use serde_json::{Value, json};

use crate::support::{Setup, TestApp, clip, keys, mentions};

/// The moments on a page of results, as `video_id chunk_id`.
fn moment_keys(page: &Value) -> Vec<String> {
    let results = page["results"].as_array().unwrap().iter();
    results
        .map(|hit| format!("{} {}", hit["video_id"].as_str().unwrap(), hit["chunk_id"]))
        .collect()
}

/// All pages of a search.
async fn pages(app: &TestApp, query: &Value) -> Vec<Vec<String>> {
    let mut query = query.clone();
    let mut pages = Vec::new();
    loop {
        let page = app.post_json("/query", query.clone()).await.ok();
        pages.push(moment_keys(&page));
        match page["next"].as_str() {
            Some(next) => query["cursor"] = json!(next),
            None => return pages,
        }
    }
}

#[tokio::test]
async fn query_without_text_lists_filtered_moments() {
    assert_lists_filtered_moments(TestApp::new().await).await;
}

#[tokio::test]
async fn query_without_text_pages_through_many_videos() {
    let few = |setup: &mut Setup| setup.settings.search.page_window = 1;
    assert_lists_filtered_moments(TestApp::with(few).await).await;
}

async fn assert_lists_filtered_moments(app: TestApp) {
    let older = app.video_of(&clip(50.0)).await;
    // Videos created in the same second are ordered by id.
    tokio::time::sleep(std::time::Duration::from_millis(1100)).await;
    let newer = app.video_of(&clip(30.0)).await;
    let list = json!({"order": "newest", "analyzer": "*", "limit": 50});
    let page = app.post_json("/query", list.clone()).await.ok();
    let all: Vec<String> = [(&newer, 3), (&older, 5)]
        .iter()
        .flat_map(|(id, chunks)| (0..*chunks).map(move |chunk| format!("{id} {chunk}")))
        .collect();
    assert_eq!(moment_keys(&page), all);
    assert_eq!(
        keys(&page),
        ["analyzer", "answer", "detail", "field", "query", "results"],
        "no further fields, such as diagnostics or a cursor"
    );
    assert_eq!((&page["query"], &page["answer"]), (&json!(""), &Value::Null));
    for hit in page["results"].as_array().unwrap() {
        assert_eq!((&hit["score"], hit.get("p_present")), (&Value::Null, None));
        assert!(!hit["description"].as_str().unwrap().is_empty());
    }
    let mut explicit = list.clone();
    explicit["text"] = Value::Null;
    assert_eq!(
        moment_keys(&app.post_json("/query", explicit).await.ok()),
        all,
        "an explicit null, as typed clients send it"
    );
    let mut doors = list.clone();
    doors["filters"] = json!({"objects": ["door"], "video_ids": [older]});
    assert_eq!(moment_keys(&app.post_json("/query", doors).await.ok()), all[3..4]);
    let mut paged = list.clone();
    (paged["limit"], paged["pages"]) = (json!(3), json!(true));
    assert_eq!(pages(&app, &paged).await, [&all[..3], &all[3..6], &all[6..]]);
}

#[tokio::test]
async fn empty_list_includes_diagnostics() {
    let app = TestApp::new().await;
    app.video_of(&clip(50.0)).await;
    let list = json!({"order": "newest", "filters": {"objects": ["door"], "after": 40}});
    let why = app.post_json("/query", list).await.ok()["diagnostics"].clone();
    assert_eq!(why["hits_without_filter"], json!({"objects": 1, "after": 1}));
    assert_eq!(why["best_score"], Value::Null);
    let list = json!({"order": "newest", "video_ids": ["0000000000000000"]});
    let why = app.post_json("/query", list).await.ok()["diagnostics"].clone();
    assert_eq!(why["unknown_videos"], json!(["0000000000000000"]));
}

#[tokio::test]
async fn list_resumes_at_its_cursor_while_videos_change() {
    let app = TestApp::new().await;
    let first = app.video_of(&clip(50.0)).await;
    let query = json!({"order": "newest", "limit": 2, "pages": true});
    let page = app.post_json("/query", query.clone()).await.ok();
    assert_eq!(moment_keys(&page), [format!("{first} 0"), format!("{first} 1")]);
    tokio::time::sleep(std::time::Duration::from_millis(1100)).await;
    app.video_of(&clip(30.0)).await;
    let mut next_page = query;
    next_page["cursor"] = page["next"].clone();
    let page = app.post_json("/query", next_page.clone()).await.ok();
    assert_eq!(moment_keys(&page), [format!("{first} 2"), format!("{first} 3")]);
    app.delete(&format!("/videos/{first}")).await.ok();
    assert_eq!(moment_keys(&app.post_json("/query", next_page).await.ok()), Vec::<String>::new());
}

#[tokio::test]
async fn pages_of_a_search_contain_every_moment_once() {
    let app = TestApp::new().await;
    let id = app.video_of(&clip(600.0)).await;
    let every: Vec<String> = (0..60).map(|chunk| format!("{id} {chunk}")).collect();
    for more in [
        json!({"analyzer": "default_video"}),
        json!({"analyzer": "default_video", "mode": "hybrid"}),
        json!({"analyzer": "*"}),
        json!({"analyzer": "*", "max_tokens": 700}),
    ] {
        let mut query = json!({"text": "a woman opens a door", "limit": 7, "synthesize": false});
        query.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let single = app.post_json("/query", query.clone()).await.ok();
        assert_eq!(single["next"].is_string(), more["max_tokens"].is_number(), "{single}");
        query["pages"] = json!(true);
        let pages = pages(&app, &query).await;
        assert!(pages.len() > 8 && pages[0].len() <= 7, "{pages:?}");
        assert!(
            moment_keys(&single).starts_with(&pages[0]),
            "the first page equals the start of the unpaged result"
        );
        let mut moments = pages.concat();
        moments.sort_by_key(|moment| moment[17..].parse::<u32>().unwrap());
        assert_eq!(moments, every, "{more}");
    }
}

#[tokio::test]
async fn pages_end_at_the_configured_depth() {
    let app = TestApp::with(|setup| setup.settings.search.page_window = 50).await;
    app.video_of(&clip(600.0)).await;
    let query = json!({"text": "a door", "limit": 20, "pages": true, "synthesize": false});
    let pages = pages(&app, &query).await;
    assert_eq!(pages.iter().map(Vec::len).collect::<Vec<_>>(), [20, 20, 10]);
}

#[tokio::test]
async fn search_text_is_embedded_once_for_all_pages() {
    for (cache_bytes, once) in [(8 << 20, true), (0, false)] {
        let app = TestApp::with(|setup| setup.settings.search.cache_bytes = cache_bytes).await;
        app.video_of(&clip(600.0)).await;
        let query = json!({"text": "a boat", "limit": 20, "pages": true, "synthesize": false});
        // The texts for calibration are embedded with the first search.
        app.post_json("/query", json!({"text": "a door", "synthesize": false})).await.ok();
        let before = app.embedder.embedded.load(Ordering::SeqCst);
        let pages = pages(&app, &query).await.len();
        let embedded = app.embedder.embedded.load(Ordering::SeqCst) - before;
        assert!(pages > 1);
        assert_eq!(embedded, if once { 1 } else { pages });
    }
}

#[tokio::test]
async fn cursor_is_valid_only_for_its_search() {
    let app = TestApp::new().await;
    app.video_of(&clip(120.0)).await;
    let search = json!({"text": "a door", "limit": 2, "pages": true, "synthesize": false});
    let next = app.post_json("/query", search.clone()).await.ok()["next"].clone();
    for (field, value) in [
        ("text", json!("a boat")),
        ("limit", json!(3)),
        ("filters", json!({"after": 10})),
        ("pages", json!(false)),
    ] {
        let mut other = search.clone();
        (other["cursor"], other[field]) = (next.clone(), value);
        mentions(&app.post_json("/query", other).await.error(400), &["of another request"]);
    }
    let mut nonsense = search;
    nonsense["cursor"] = json!("nonsense");
    mentions(&app.post_json("/query", nonsense).await.error(400), &["unknown cursor"]);
}

#[tokio::test]
async fn similar_moments_are_searched_by_the_moments_vector() {
    let app = TestApp::new().await;
    let id = app.video_of(&clip(120.0)).await;
    let like =
        |moment: &str| json!({"like": moment, "analyzer": "*", "limit": 50, "synthesize": true});
    let first = format!("m_{id}_0_10000");
    let page = app.post_json("/query", like(&first)).await.ok();
    let results = page["results"].as_array().unwrap();
    assert_eq!(results.len(), 11, "every chunk except the moment itself");
    assert!(!moment_keys(&page).contains(&format!("{id} 0")));
    assert_eq!((&page["answer"], &page["query"]), (&Value::Null, &json!("")));
    let scores: Vec<f64> = results.iter().map(|hit| hit["score"].as_f64().unwrap()).collect();
    assert!(scores.is_sorted_by(|a, b| a >= b), "{scores:?}");
    assert!(results.iter().all(|hit| hit.get("p_present").is_none()));
    // The scores equal those of a search for the text embedded for that chunk.
    let full = json!({"text": "x", "detail": "full", "filters": {"chunk_ids": [0]}});
    let full = app.post_json("/query", full).await.ok();
    let text = json!({"text": full["results"][0]["text"], "limit": 50, "synthesize": false});
    let by_text = app.post_json("/query", text).await.ok();
    assert_eq!(moment_keys(&by_text)[0], format!("{id} 0"));
    assert_eq!(by_text["results"][1]["score"], results[0]["score"]);
    // A moment across chunks is represented by the chunk with the largest overlap.
    let across = app.post_json("/query", like(&format!("m_{id}_3000_12000"))).await.ok();
    assert_eq!(moment_keys(&across), moment_keys(&page));
    let mut alike = like(&first);
    (alike["limit"], alike["pages"]) = (json!(4), json!(true));
    assert_eq!(pages(&app, &alike).await.concat().len(), 11);
}

#[tokio::test]
async fn invalid_similarity_searches_are_refused_with_a_reason() {
    let app = TestApp::new().await;
    let id = app.video_of(&clip(30.0)).await;
    let moment = format!("m_{id}_10000_20000");
    let bad = [
        (json!({"like": "nonsense"}), "names no moment"),
        (json!({"like": format!("m_{id}_900000_910000")}), "900"),
        (json!({"like": "m_0000000000000000_0_1000"}), "is gone"),
        (json!({"like": moment, "field": "people"}), "nothing of moment"),
        (json!({"like": moment, "text": "a door"}), "exclude each other"),
        (json!({"like": moment, "mode": "hybrid"}), "omit mode"),
        (json!({"order": "oldest"}), "available: newest"),
        (json!({"order": "newest", "min_p_present": 0.5}), "no scores"),
        (json!({"order": "newest", "text": "a door"}), "exclude each other"),
    ];
    for (query, words) in bad {
        mentions(&app.post_json("/query", query).await.error(400), &[words]);
    }
}
