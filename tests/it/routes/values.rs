//! `GET /values`: the values that a filter can take.

use serde_json::{Value, json};

use crate::support::{TestApp, clip, mentions};

/// The values with their counts, as `value count`.
fn value_counts(reply: &Value, count: &str) -> Vec<String> {
    let values = reply["values"].as_array().unwrap().iter();
    values.map(|value| format!("{} {}", value["value"].as_str().unwrap(), value[count])).collect()
}

#[tokio::test]
async fn value_counts_match_filtered_searches() {
    let app = TestApp::new().await;
    app.video_of(&clip(120.0)).await;
    let reply = app.get("/values?field=objects&analyzer=default_video").await.ok();
    assert_eq!((&reply["field"], &reply["more"]), (&json!("objects"), &json!(false)));
    let values = reply["values"].as_array().unwrap();
    assert!(!values.is_empty());
    let mut previous = u64::MAX;
    for value in values {
        let moments = value["moments"].as_u64().unwrap();
        assert!(moments <= previous && moments > 0, "sorted by descending frequency: {reply}");
        previous = moments;
        let query = json!({
            "text": "a door", "limit": 50, "synthesize": false, "filters": {"objects": [value["value"]]},
        });
        let page = app.post_json("/query", query).await.ok();
        assert_eq!(page["results"].as_array().unwrap().len() as u64, moments, "{value}");
    }
    let first = app.get("/values?field=objects&analyzer=default_video&limit=1").await.ok();
    assert_eq!(first["values"][0], values[0]);
    assert_eq!(first["more"], json!(values.len() > 1));
    let most_frequent = values[0]["value"].as_str().unwrap();
    let begins = app
        .get(&format!(
            "/values?field=objects&analyzer=default_video&prefix={}",
            most_frequent.to_uppercase()
        ))
        .await;
    assert_eq!(begins.ok()["values"][0], values[0]);
}

#[tokio::test]
async fn values_are_restricted_to_the_filtered_videos() {
    let app = TestApp::new().await;
    let id = app.video_of(&clip(120.0)).await;
    for empty in [
        "/values?field=objects&video_ids=0000000000000000".to_owned(),
        "/values?field=speakers&analyzer=default_video".to_owned(),
        format!("/values?field=objects&video_ids={id}&filters=%7B%22after%22:1e6%7D"),
    ] {
        assert_eq!(app.get(&empty).await.ok()["values"], json!([]), "{empty}");
    }
    let all = app.get("/values?field=analyzer_ids").await.ok();
    assert!(
        value_counts(&all, "moments").iter().any(|value| value.starts_with("default_video ")),
        "{all}"
    );
    let ids = app.get(&format!("/values?field=video_ids&video_ids={id}")).await.ok();
    assert_eq!(ids["values"][0]["value"], json!(id));
}

#[tokio::test]
async fn video_metadata_values_are_counted_by_video() {
    let app = TestApp::new().await;
    let id = app.video_of(&clip(120.0)).await;
    let about =
        json!({"collection": "news", "metadata": {"camera": ["north", "south"], "take": 2}});
    app.patch_json(&format!("/videos/{id}"), about).await.ok();
    for (query, expected) in [
        ("field=collections".to_owned(), vec!["news 1"]),
        ("field=metadata.camera".to_owned(), vec!["north 1", "south 1"]),
        ("field=metadata.camera&prefix=S".to_owned(), vec!["south 1"]),
        (format!("field=metadata.camera&video_ids={id}"), vec!["north 1", "south 1"]),
        ("field=metadata.camera&filters=%7B%22collections%22:[%22x%22]%7D".to_owned(), vec![]),
        ("field=metadata.unknown".to_owned(), vec![]),
    ] {
        let reply = app.get(&format!("/values?{query}")).await.ok();
        assert_eq!(value_counts(&reply, "videos"), expected, "{query}");
    }
}

#[tokio::test]
async fn fields_without_values_are_refused_with_the_available_ones() {
    let app = TestApp::new().await;
    let id = app.video_of(&clip(120.0)).await;
    app.patch_json(&format!("/videos/{id}"), json!({"metadata": {"take": 2}})).await.ok();
    for (query, why) in [
        ("field=object", "did you mean 'objects'?"),
        ("field=min_people", "available: video_ids"),
        ("field=metadata.take", "number"),
        ("field=objects&analyzer=nobody", "nobody"),
        ("field=objects&filters=%7B%22colour%22:1%7D", "unknown filter 'colour'"),
        ("field=collections&analyzer=default_video", "whole videos"),
    ] {
        mentions(&app.get(&format!("/values?{query}")).await.error(400), &[why]);
    }
    for query in
        ["", "field=objects&limit=0", "field=objects&limit=201", "field=objects&filters=[]"]
    {
        assert_eq!(app.get(&format!("/values?{query}")).await.status, 422, "{query}");
    }
}
