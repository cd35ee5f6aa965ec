//! `GET /values`: what filters can be set to.

use serde_json::{Value, json};

use crate::support::{TestApp, clip, mentions};

/// The values with their counts, as one can read them.
fn told(reply: &Value, count: &str) -> Vec<String> {
    let values = reply["values"].as_array().unwrap().iter();
    values.map(|one| format!("{} {}", one["value"].as_str().unwrap(), one[count])).collect()
}

#[tokio::test]
async fn each_value_keeps_as_many_moments_as_it_says() {
    let app = TestApp::new().await;
    app.video_of(&clip(120.0)).await;
    let reply = app.get("/values?field=objects&analyzer=default_video").await.ok();
    assert_eq!((&reply["field"], &reply["more"]), (&json!("objects"), &json!(false)));
    let values = reply["values"].as_array().unwrap();
    assert!(!values.is_empty());
    let mut before = u64::MAX;
    for one in values {
        let moments = one["moments"].as_u64().unwrap();
        assert!(moments <= before && moments > 0, "the most frequent come first: {reply}");
        before = moments;
        let query = json!({
            "text": "a door", "limit": 50, "synthesize": false, "filters": {"objects": [one["value"]]},
        });
        let found = app.post_json("/query", query).await.ok();
        assert_eq!(found["results"].as_array().unwrap().len() as u64, moments, "{one}");
    }
    let first = app.get("/values?field=objects&analyzer=default_video&limit=1").await.ok();
    assert_eq!(first["values"][0], values[0]);
    assert_eq!(first["more"], json!(values.len() > 1));
    let named = values[0]["value"].as_str().unwrap();
    let begins = app
        .get(&format!(
            "/values?field=objects&analyzer=default_video&prefix={}",
            named.to_uppercase()
        ))
        .await;
    assert_eq!(begins.ok()["values"][0], values[0]);
}

#[tokio::test]
async fn they_are_of_what_is_looked_in() {
    let app = TestApp::new().await;
    let id = app.video_of(&clip(120.0)).await;
    for none in [
        "/values?field=objects&video_ids=0000000000000000".to_owned(),
        "/values?field=speakers&analyzer=default_video".to_owned(),
        format!("/values?field=objects&video_ids={id}&filters=%7B%22after%22:1e6%7D"),
    ] {
        assert_eq!(app.get(&none).await.ok()["values"], json!([]), "{none}");
    }
    let all = app.get("/values?field=analyzer_ids").await.ok();
    assert!(told(&all, "moments").iter().any(|one| one.starts_with("default_video ")), "{all}");
    let of_one = app.get(&format!("/values?field=video_ids&video_ids={id}")).await.ok();
    assert_eq!(of_one["values"][0]["value"], json!(id));
}

#[tokio::test]
async fn what_is_said_of_videos_is_counted_by_video() {
    let app = TestApp::new().await;
    let id = app.video_of(&clip(120.0)).await;
    let about =
        json!({"collection": "news", "metadata": {"camera": ["north", "south"], "take": 2}});
    app.patch_json(&format!("/videos/{id}"), about).await.ok();
    for (asked, expected) in [
        ("field=collections".to_owned(), vec!["news 1"]),
        ("field=metadata.camera".to_owned(), vec!["north 1", "south 1"]),
        ("field=metadata.camera&prefix=S".to_owned(), vec!["south 1"]),
        (format!("field=metadata.camera&video_ids={id}"), vec!["north 1", "south 1"]),
        ("field=metadata.camera&filters=%7B%22collections%22:[%22x%22]%7D".to_owned(), vec![]),
        ("field=metadata.unknown".to_owned(), vec![]),
    ] {
        let reply = app.get(&format!("/values?{asked}")).await.ok();
        assert_eq!(told(&reply, "videos"), expected, "{asked}");
    }
}

#[tokio::test]
async fn what_lists_no_values_is_told_with_what_does() {
    let app = TestApp::new().await;
    let id = app.video_of(&clip(120.0)).await;
    app.patch_json(&format!("/videos/{id}"), json!({"metadata": {"take": 2}})).await.ok();
    for (asked, why) in [
        ("field=object", "did you mean 'objects'?"),
        ("field=min_people", "available: video_ids"),
        ("field=metadata.take", "number"),
        ("field=objects&analyzer=nobody", "nobody"),
        ("field=objects&filters=%7B%22colour%22:1%7D", "unknown filter 'colour'"),
        ("field=collections&analyzer=default_video", "whole videos"),
    ] {
        mentions(&app.get(&format!("/values?{asked}")).await.error(400), &[why]);
    }
    for asked in
        ["", "field=objects&limit=0", "field=objects&limit=201", "field=objects&filters=[]"]
    {
        assert_eq!(app.get(&format!("/values?{asked}")).await.status, 422, "{asked}");
    }
}
