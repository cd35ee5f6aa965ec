//! Comments on moments of videos, and the activity list. `concurrency.rs` has two instances,
//! `storage.rs` what maintenance verifies and removes.

mod concurrency;
mod storage;

use std::time::Duration;

use domain::kernel::access::Access;
use ports::records::RecordStore;
use serde_json::{Value, json};
use shotlog::http::AuthToken;

use crate::support::{TestApp, clip, mentions};

fn path(video_id: &str) -> String {
    format!("/videos/{video_id}/comments")
}

fn document(video_id: &str) -> String {
    format!("comments/{video_id}.json")
}

/// Adds a comment on a point in time and returns it.
async fn comment(app: &TestApp, video_id: &str, start: f64, text: &str) -> Value {
    app.post_json(&path(video_id), json!({"start": start, "text": text})).await.ok()
}

/// The path of a comment.
fn one(comment: &Value) -> String {
    let text = |key: &str| comment[key].as_str().unwrap();
    format!("{}/{}", path(text("video_id")), text("comment_id"))
}

/// The texts of a list of comments, or of the comments in an activity list.
fn texts(list: &Value) -> Vec<&str> {
    let items = list.get("comments").or(list.get("entries")).unwrap().as_array().unwrap().iter();
    items.map(|item| item.get("comment").unwrap_or(item)["text"].as_str().unwrap()).collect()
}

async fn problems(app: &TestApp) -> Vec<String> {
    app.service.maintenance.verification.run().await.unwrap().problems
}

#[tokio::test]
async fn comments_are_written_listed_changed_and_deleted() {
    let app = TestApp::new().await;
    let id = app.video().await;
    assert_eq!(app.get(&path(&id)).await.ok(), json!({"comments": [], "total": 0}));
    let body =
        json!({"start": 5, "end": 7.0004, "text": " Is this the harbour?\n", "author": "Ada"});
    let written = app.post_json(&path(&id), body).await.ok();
    assert_eq!((&written["start"], &written["end"]), (&json!(5.0), &json!(7.0)));
    assert_eq!(
        (&written["text"], &written["author"]),
        (&json!("Is this the harbour?"), &json!("Ada"))
    );
    assert_eq!((&written["video_id"], &written["editable"]), (&json!(id), &json!(true)));
    assert!(written["created_at"].as_str().unwrap().ends_with('Z'), "{written}");
    assert_eq!(written.get("edited_at"), None);
    let point = comment(&app, &id, 2.0, "first").await;
    assert_eq!((&point["start"], &point["end"]), (&json!(2.0), &json!(2.0)));
    assert_eq!(point["author"], "anonymous");
    let list = app.get(&path(&id)).await.ok();
    assert_eq!(list, json!({"comments": [point, written], "total": 2}));

    let same = app.patch_json(&one(&written), json!({"text": "Is this the harbour?"})).await.ok();
    assert_eq!(same, written, "the text is the same");
    let edited = app.patch_json(&one(&written), json!({"text": "The harbour."})).await.ok();
    assert_eq!((&edited["text"], &edited["author"]), (&json!("The harbour."), &json!("Ada")));
    assert!(edited["edited_at"].as_str().unwrap().ends_with('Z'), "{edited}");
    assert_eq!(app.get(&path(&id)).await.ok()["comments"][1], edited);

    let deleted = app.delete(&one(&written)).await.ok();
    assert_eq!(deleted, json!({"comment_id": written["comment_id"], "deleted": true}));
    for reply in [
        app.delete(&one(&written)).await,
        app.patch_json(&one(&written), json!({"text": "a"})).await,
    ] {
        mentions(&reply.error(404), &["has no comment", "/comments lists them"]);
    }
    assert_eq!(texts(&app.get(&path(&id)).await.ok()), ["first"]);
    assert_eq!(problems(&app).await, [""; 0]);
}

#[tokio::test]
async fn comments_are_settled_and_opened_again() {
    let app = TestApp::new().await;
    let id = app.video().await;
    let asked = comment(&app, &id, 2.0, "Is this the harbour?").await;
    let reply = json!({"reply_to": asked["comment_id"], "text": "Yes."});
    let reply = app.post_json(&path(&id), reply).await.ok();

    let settle = json!({"settled": true, "author": "Bo"});
    let settled = app.patch_json(&one(&asked), settle).await.ok();
    assert_eq!((&settled["settled_by"], &settled["text"]), (&json!("Bo"), &asked["text"]));
    assert!(settled["settled_at"].as_str().unwrap().ends_with('Z'), "{settled}");
    assert_eq!((asked.get("settled_by"), settled.get("edited_at")), (None, None));
    let again = app.patch_json(&one(&asked), json!({"settled": true, "author": "Cy"})).await.ok();
    assert_eq!(again, settled, "who settled it first did");
    assert_eq!(app.get(&path(&id)).await.ok()["comments"][0], settled);
    let both = json!({"settled": false, "text": "Is this the quay?"});
    let opened = app.patch_json(&one(&asked), both).await.ok();
    assert_eq!((opened.get("settled_by"), opened.get("settled_at")), (None, None));
    assert_eq!(opened["text"], "Is this the quay?");

    let refused = app.patch_json(&one(&reply), json!({"settled": true})).await.error(400);
    mentions(&refused, &["is a reply", asked["comment_id"].as_str().unwrap()]);
    let neither = app.patch_json(&one(&asked), json!({"author": "Bo"})).await.error(422);
    mentions(&neither, &["text, settled or both"]);
}

#[tokio::test]
async fn invalid_comments_are_refused_with_the_reason() {
    let app = TestApp::with(|setup| {
        setup.settings.comments.max_chars = 10;
        setup.settings.comments.max_per_video = 2;
    })
    .await;
    let id = app.video_of(&clip(30.0)).await;
    let post = async |body: Value| app.post_json(&path(&id), body).await;
    for (body, words) in [
        (json!({"start": 1, "text": ""}), &["text"][..]),
        (json!({"start": 1, "text": " \n"}), &["text is empty"]),
        (json!({"start": 1, "text": "12345678901"}), &["1 to 10 characters", "comments.max_chars"]),
        (json!({"start": -1, "text": "a"}), &["start is -1", "seconds of the video"]),
        (json!({"start": 2, "end": 1, "text": "a"}), &["end is 1", "not before start"]),
        (json!({"start": 1, "text": "a", "author": " "}), &["author", "1 to 100 characters"]),
        (json!({"start": 1, "text": "a", "author": "a".repeat(101)}), &["1 to 100 characters"]),
        (json!({"text": "a"}), &["start"]),
        (json!({"start": 1, "text": "a", "colour": "red"}), &["colour"]),
    ] {
        mentions(&post(body).await.error(422), words);
    }
    let outside = post(json!({"start": 29, "end": 31, "text": "a"})).await;
    mentions(&outside.error(400), &["ends at 31.000 s", &id, "at 30.000 s"]);
    mentions(
        &post(json!({"start": 1e300, "text": "a"})).await.error(400),
        &["the comment ends at"],
    );
    let unknown = "fedcba9876543210";
    let reply = app.post_json(&path(unknown), json!({"start": 1, "text": "a"})).await;
    mentions(&reply.error(404), &["unknown video_id", unknown]);
    mentions(&app.get(&path(unknown)).await.error(404), &["unknown video_id", unknown]);
    let absent = format!("{}/0123456789ab", path(unknown));
    app.delete(&absent).await.error(404);
    app.patch_json(&absent, json!({"text": "a"})).await.error(404);

    let last =
        post(json!({"start": 30, "text": "1234567890", "author": "ü".repeat(100)})).await.ok();
    let longer = app.patch_json(&one(&last), json!({"text": "12345678901"})).await;
    mentions(&longer.error(422), &["1 to 10 characters"]);
    comment(&app, &id, 0.0, "a").await;
    let full = post(json!({"start": 1, "text": "a"})).await.error(400);
    mentions(&full, &["has 2 comments", "comments.max_per_video"]);
    app.delete(&one(&last)).await.ok();
    comment(&app, &id, 1.0, "b").await;
    for query in ["limit=0", "limit=501", "after=x", "before="] {
        app.get(&format!("{}?{query}", path(&id))).await.error(422);
    }
    let cursor = app.get(&format!("{}?cursor=x", path(&id))).await;
    mentions(&cursor.error(400), &["cursor is 'x'", "`next`"]);
    mentions(&app.get("/activity?limit=101").await.error(422), &["1 to 100"]);
    mentions(&app.get("/activity?cursor=x").await.error(400), &["cursor is 'x'", "`next`"]);
}

#[tokio::test]
async fn comments_are_listed_by_start_in_pages_and_by_time() {
    let app = TestApp::new().await;
    let id = app.video_of(&clip(30.0)).await;
    for (start, end, text) in
        [(20.0, 25.0, "e"), (5.0, 5.0, "b"), (10.0, 12.0, "d"), (0.0, 5.0, "a")]
    {
        app.post_json(&path(&id), json!({"start": start, "end": end, "text": text})).await.ok();
        // Comments with the same start are in the order in which they were written.
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
    comment(&app, &id, 5.0, "c").await;
    let list = async |query: &str| app.get(&format!("{}?{query}", path(&id))).await.ok();
    assert_eq!(texts(&list("").await), ["a", "b", "c", "d", "e"]);
    assert_eq!(texts(&list("after=5&before=20").await), ["a", "b", "c", "d"]);
    assert_eq!(texts(&list("after=5.001").await), ["d", "e"]);
    assert_eq!(texts(&list("before=5").await), ["a"]);
    let first = list("limit=2").await;
    assert_eq!((texts(&first), &first["total"]), (vec!["a", "b"], &json!(5)));
    // The next page continues after the last comment, even if that one is deleted meanwhile.
    app.delete(&one(&first["comments"][1])).await.ok();
    comment(&app, &id, 1.0, "earlier").await;
    let next = first["next"].as_str().unwrap();
    let second = list(&format!("limit=2&cursor={next}")).await;
    assert_eq!(texts(&second), ["c", "d"]);
    let next = second["next"].as_str().unwrap();
    let last = list(&format!("limit=2&cursor={next}")).await;
    assert_eq!((texts(&last), last.get("next")), (vec!["e"], None));
}

#[tokio::test]
async fn comments_survive_ingests_and_go_with_their_video() {
    let app = TestApp::new().await;
    let ingest = async |interval: &str| {
        let fields = [("mode", "interval"), ("interval", interval)];
        let job = app.job_of(&fields, "clip.mp4", &clip(30.0)).await;
        assert_eq!(job["status"], "done", "{job}");
        job["result"]["video_id"].as_str().unwrap().to_owned()
    };
    let id = ingest("10").await;
    let other = app.video_of(&clip(20.0)).await;
    let written = comment(&app, &id, 12.0, "stays").await;
    comment(&app, &other, 1.0, "other").await;
    assert_eq!(ingest("5").await, id);
    assert_eq!(app.get(&path(&id)).await.ok()["comments"], json!([written]));

    app.delete(&format!("/videos/{id}")).await.ok();
    app.get(&path(&id)).await.error(404);
    assert_eq!(app.records.list("comments/").await.unwrap(), [document(&other)]);
    assert_eq!(texts(&app.get("/activity").await.ok()), ["other"]);
    assert_eq!(ingest("10").await, id);
    assert_eq!(app.get(&path(&id)).await.ok()["total"], 0);
    assert_eq!(texts(&app.get("/activity").await.ok()), ["other"]);
    assert_eq!(problems(&app).await, [""; 0]);
}

#[tokio::test]
async fn the_activity_list_has_the_newest_comments() {
    let app = TestApp::with(|setup| setup.settings.comments.activity = 4).await;
    let (a, b) = (app.video_of(&clip(30.0)).await, app.video_of(&clip(20.0)).await);
    assert_eq!(app.get("/activity").await.ok(), json!({"entries": []}));
    let mut written = Vec::new();
    for (video_id, text) in [(&a, "1"), (&a, "2"), (&b, "3"), (&a, "4"), (&b, "5")] {
        written.push(comment(&app, video_id, 1.0, text).await);
    }
    let list = app.get("/activity").await.ok();
    assert_eq!(texts(&list), ["5", "4", "3", "2"], "the oldest one is forgotten");
    assert_eq!(list.get("next"), None);
    let newest = &list["entries"][0];
    assert_eq!((&newest["kind"], &newest["comment"]), (&json!("comment"), &written[4]));
    let filename = app.get(&format!("/videos/{b}")).await.ok()["filename"].clone();
    assert_eq!(newest["filename"], filename);

    app.patch_json(&one(&written[3]), json!({"text": "four"})).await.ok();
    app.delete(&one(&written[2])).await.ok();
    let (mut pages, mut cursor) = (Vec::new(), String::new());
    loop {
        let page = app.get(&format!("/activity?limit=1{cursor}")).await.ok();
        pages.push(texts(&page).join(","));
        let Some(next) = page["next"].as_str() else { break };
        cursor = format!("&cursor={next}");
    }
    assert_eq!(pages, ["5", "four", "", "2"], "the page of a deleted comment is empty");
    app.delete(&format!("/videos/{a}")).await.ok();
    assert_eq!(texts(&app.get("/activity").await.ok()), ["5"]);
    comment(&app, &b, 1.0, "6").await;
    assert_eq!(texts(&app.get("/activity").await.ok()), ["6", "5"]);
}

const ALL: &str = "token-of-all";
const ADA: &str = "token-of-ada";
const BOB: &str = "token-of-bob";
const READER: &str = "token-of-reader";

/// An app with an unnamed token for everything, two named ones for a collection, and one that only
/// reads.
async fn app_with_tokens() -> TestApp {
    TestApp::with(|setup| {
        let token = |token: &str, name: Option<&str>, collection: Option<&str>, read_only| {
            let collections = collection.map(|name| [name.to_owned()].into());
            let access = Access::new(collections, read_only).with_name(name.map(str::to_owned));
            AuthToken { token: token.into(), access }
        };
        setup.http.auth.tokens = vec![
            ALL.into(),
            token(ADA, Some("Ada"), Some("news"), false),
            token(BOB, Some("Bob"), Some("news"), false),
            token(READER, Some("Ada"), Some("news"), true),
        ];
    })
    .await
}

async fn video_in(app: &TestApp, collection: &str, seconds: f64) -> String {
    let fields = [("collection", collection)];
    let job = app.job_of(&fields, "clip.mp4", &clip(seconds)).await;
    job["result"]["video_id"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn authors_are_the_names_of_tokens_and_change_only_their_comments() {
    let mut app = app_with_tokens().await;
    let id = video_in(&app, "news", 30.0).await;
    let by_all =
        app.post_json(&path(&id), json!({"start": 3, "text": "c", "author": "Desk"})).await.ok();
    assert_eq!((&by_all["author"], &by_all["editable"]), (&json!("Desk"), &json!(true)));
    app.speak_as(ADA);
    let by_ada = comment(&app, &id, 1.0, "a").await;
    assert_eq!(by_ada["author"], "Ada");
    let posing = json!({"start": 1, "text": "a", "author": "Bob"});
    mentions(&app.post_json(&path(&id), posing).await.error(422), &["'Bob'", "the name 'Ada'"]);
    let own_name = json!({"start": 2, "text": "b", "author": "Ada"});
    app.post_json(&path(&id), own_name).await.ok();
    let edited = app.patch_json(&one(&by_ada), json!({"text": "A"})).await.ok();
    assert_eq!(edited["author"], "Ada");
    app.patch_json(&one(&by_all), json!({"text": "C"})).await.error(403);

    app.speak_as(BOB);
    let list = app.get(&path(&id)).await.ok();
    assert_eq!(texts(&list), ["A", "b", "c"]);
    assert!(list["comments"].as_array().unwrap().iter().all(|c| c["editable"] == false), "{list}");
    for reply in
        [app.patch_json(&one(&by_ada), json!({"text": "x"})).await, app.delete(&one(&by_ada)).await]
    {
        mentions(&reply.error(403), &["is by 'Ada'", "only its author", "without collections"]);
    }
    let settled = app.patch_json(&one(&by_ada), json!({"settled": true})).await.ok();
    assert_eq!((&settled["settled_by"], &settled["editable"]), (&json!("Bob"), &json!(false)));
    app.patch_json(&one(&by_ada), json!({"settled": false})).await.ok();
    app.speak_as(READER);
    assert_eq!(app.get(&path(&id)).await.ok()["comments"], list["comments"]);
    for reply in [
        app.patch_json(&one(&by_ada), json!({"settled": true})).await,
        app.patch_json(&one(&by_ada), json!({"text": "x"})).await,
        app.delete(&one(&by_ada)).await,
        app.post_json(&path(&id), json!({"start": 1, "text": "a"})).await,
    ] {
        mentions(&reply.error(403), &["the token reads only"]);
    }
    app.speak_as(ALL);
    app.patch_json(&one(&by_ada), json!({"text": "by all"})).await.ok();
    app.delete(&one(&by_ada)).await.ok();
    assert_eq!(texts(&app.get(&path(&id)).await.ok()), ["b", "c"]);
}

#[tokio::test]
async fn comments_on_videos_of_other_collections_are_hidden() {
    let mut app = app_with_tokens().await;
    let news = video_in(&app, "news", 30.0).await;
    let sport = video_in(&app, "sport", 20.0).await;
    let hidden = comment(&app, &sport, 1.0, "hidden").await;
    for text in ["1", "2"] {
        comment(&app, &news, 1.0, text).await;
        comment(&app, &sport, 1.0, "hidden").await;
    }
    assert_eq!(app.get("/activity").await.ok()["entries"].as_array().unwrap().len(), 5);
    app.speak_as(ADA);
    let list = app.get("/activity").await.ok();
    assert_eq!(texts(&list), ["2", "1"]);
    assert_eq!(list.get("next"), None);
    let page = app.get("/activity?limit=1").await.ok();
    let rest = app.get(&format!("/activity?cursor={}", page["next"].as_str().unwrap())).await.ok();
    assert_eq!((texts(&page), texts(&rest)), (vec!["2"], vec!["1"]));
    assert_eq!(rest.get("next"), None);
    for reply in [
        app.get(&path(&sport)).await,
        app.post_json(&path(&sport), json!({"start": 1, "text": "a"})).await,
        app.patch_json(&one(&hidden), json!({"text": "a"})).await,
        app.delete(&one(&hidden)).await,
    ] {
        mentions(&reply.error(404), &["unknown video_id", &sport]);
    }
}

#[tokio::test]
async fn replies_have_the_moment_of_their_comment() {
    let app = TestApp::new().await;
    let id = app.video().await;
    let body = json!({"start": 5, "end": 7, "text": "Is this the harbour?"});
    let question = app.post_json(&path(&id), body).await.ok();
    assert_eq!(question.get("reply_to"), None);
    comment(&app, &id, 6.0, "Another moment").await;
    let reply_to = |to: &Value, text: &str| json!({"reply_to": to["comment_id"], "text": text});
    let answer = app.post_json(&path(&id), reply_to(&question, "It is.")).await.ok();
    assert_eq!((&answer["start"], &answer["end"]), (&json!(5.0), &json!(7.0)), "{answer}");
    assert_eq!(answer["reply_to"], question["comment_id"]);
    let thanks = app.post_json(&path(&id), reply_to(&answer, "Thanks.")).await.ok();
    assert_eq!(thanks["reply_to"], question["comment_id"], "a thread has one level");
    let listed = app.get(&path(&id)).await.ok();
    assert_eq!(texts(&listed), ["Is this the harbour?", "It is.", "Thanks.", "Another moment"]);

    app.delete(&one(&question)).await.ok();
    let listed = app.get(&path(&id)).await.ok();
    assert_eq!(texts(&listed), ["It is.", "Thanks.", "Another moment"], "replies stay");
    let last = app.post_json(&path(&id), reply_to(&thanks, "Still here.")).await.ok();
    assert_eq!(last["reply_to"], question["comment_id"]);

    let unknown = app.post_json(&path(&id), json!({"reply_to": "none", "text": "a"})).await;
    mentions(&unknown.error(404), &["has no comment 'none'"]);
    for place in [json!({}), json!({"end": 7}), json!({"start": 1, "reply_to": "a"})] {
        let mut body = place.clone();
        body["text"] = json!("a");
        let refused = app.post_json(&path(&id), body).await.error(422);
        mentions(&refused, &["reply_to"]);
    }
}
