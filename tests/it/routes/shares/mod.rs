//! Links to parts of videos. `bins.rs` has links to the selects of a bin, `pages.rs` has what people without a token see, `storage.rs` what
//! maintenance verifies and removes, and several instances.

mod bins;
mod pages;
mod storage;

use domain::kernel::access::Access;
use ports::records::RecordStore;
use serde_json::{Value, json};
use shotlog::http::AuthToken;

use crate::support::{BASE, Reply, TestApp, clip, mentions};

/// An id that no share has.
const UNKNOWN: &str = "0123456789abcdef0123456789abcdef0123456789abcdef0123";

fn path(video_id: &str) -> String {
    format!("/videos/{video_id}/shares")
}

/// The text of a field.
fn text<'v>(value: &'v Value, key: &str) -> &'v str {
    value[key].as_str().unwrap()
}

async fn post(app: &TestApp, video_id: &str, body: Value) -> Reply {
    app.post_json(&path(video_id), body).await
}

/// Shares a part of a video and returns the share.
async fn share(app: &TestApp, video_id: &str, body: Value) -> Value {
    let reply = post(app, video_id, body).await;
    assert_eq!(reply.status, 201, "{}", reply.text());
    reply.json()
}

async fn withdraw(app: &TestApp, share: &Value) -> Reply {
    app.delete(&format!("/shares/{}", text(share, "share_id"))).await
}

/// The path of a share's page.
fn page(share: &Value) -> String {
    text(share, "url").strip_prefix(BASE).unwrap().to_owned()
}

/// The titles of a list of shares.
fn titles(list: &Value) -> Vec<&str> {
    list["shares"].as_array().unwrap().iter().map(|share| text(share, "title")).collect()
}

async fn problems(app: &TestApp) -> Vec<String> {
    app.service.maintenance.verification.run().await.unwrap().problems
}

#[tokio::test]
async fn parts_are_shared_listed_and_withdrawn() {
    let app = TestApp::new().await;
    let id = app.video_of(&clip(30.0)).await;
    assert_eq!(app.get("/shares").await.ok(), json!({"shares": []}));
    let body = json!({"start": 5, "end": 7.0004, "title": " The\nharbour ", "expires_in": 3600});
    let part = share(&app, &id, body).await;
    assert_eq!((&part["start"], &part["end"]), (&json!(5.0), &json!(7.0)));
    assert_eq!((text(&part, "title"), text(&part, "video_id")), ("The harbour", id.as_str()));
    assert_eq!(part.get("created_by"), None, "no token has a name");
    assert_eq!(text(&part, "url"), format!("{BASE}/shared/{}", text(&part, "share_id")));
    let seconds = |share: &Value| {
        let instant = |key: &str| domain::kernel::time::instant(text(share, key)).unwrap();
        (instant("expires_at") - instant("created_at")) / 1000
    };
    assert_eq!(seconds(&part), 3600);

    let whole = share(&app, &id, json!({})).await;
    assert_eq!((&whole["start"], &whole["end"]), (&json!(0.0), &json!(30.0)));
    assert_eq!((text(&whole, "title"), seconds(&whole)), ("clip", 30 * 24 * 3600));
    let titled = json!({"metadata": {"title": "Harbour tour"}});
    app.patch_json(&format!("/videos/{id}"), titled).await.ok();
    let rest = share(&app, &id, json!({"start": 20, "title": null})).await;
    assert_eq!((&rest["start"], &rest["end"]), (&json!(20.0), &json!(30.0)));
    assert_eq!(text(&rest, "title"), "Harbour tour");

    let expected = json!({"shares": [rest, whole, part]});
    assert_eq!(app.get("/shares").await.ok(), expected);
    assert_eq!(app.get(&format!("/shares?video_id={id}")).await.ok(), expected);
    let withdrawn = withdraw(&app, &whole).await.ok();
    assert_eq!(withdrawn, json!({"share_id": whole["share_id"], "withdrawn": true}));
    mentions(&withdraw(&app, &whole).await.error(404), &["unknown share_id", "GET /shares"]);
    assert_eq!(app.get("/shares").await.ok(), json!({"shares": [rest, part]}));
    assert_eq!(problems(&app).await, [""; 0]);
    let links = app.records.list("share-links/").await.unwrap();
    assert_eq!(links.len(), 2, "the link goes with its share");
}

#[tokio::test]
async fn invalid_shares_are_refused_with_the_reason() {
    let app = TestApp::with(|setup| {
        setup.settings.shares.max_per_video = 2;
        setup.settings.frames.max_clip_duration = 20;
    })
    .await;
    let id = app.video_of(&clip(30.0)).await;
    for (body, words) in [
        (json!({"start": -1}), &["start is -1", "seconds of the video"][..]),
        (json!({"start": 2, "end": 2}), &["end is 2", "end after start"]),
        (json!({"start": 2, "end": 2.0004}), &["end after start"]),
        (json!({"start": 31}), &["end after start"]),
        (json!({"start": 1, "end": 2, "title": " \n"}), &["title", "1 to 200 characters"]),
        (json!({"start": 1, "end": 2, "title": "ü".repeat(201)}), &["1 to 200 characters"]),
        (json!({"start": 1, "end": 2, "expires_in": 0}), &["expires_in"]),
        (json!({"start": 1, "end": 2, "expires_in": -1}), &["expires_in"]),
        (json!({"start": 1, "end": 2, "expires_in": 31_536_001}), &["shares.max_expiry"]),
        (json!({"start": 1, "end": 2, "expires_in": 1e30}), &["expires_in"]),
        (json!({"start": 1, "end": 2, "password": "a"}), &["password"]),
    ] {
        mentions(&post(&app, &id, body).await.error(422), words);
    }
    for (body, words) in [
        (json!({}), &["lasts 30 seconds", "frames.max_clip_duration"][..]),
        (json!({"start": 25, "end": 31}), &["within the video", "30 seconds"]),
        (json!({"start": 1e300, "end": 2e300}), &["within the video"]),
    ] {
        mentions(&post(&app, &id, body).await.error(400), words);
    }
    let unknown = "fedcba9876543210";
    mentions(&post(&app, unknown, json!({})).await.error(404), &["unknown video_id", unknown]);
    let list = app.get(&format!("/shares?video_id={unknown}")).await;
    mentions(&list.error(404), &["unknown video_id", unknown]);
    for id in [UNKNOWN, "x", "..%2Fvideos", "%00"] {
        app.delete(&format!("/shares/{id}")).await.error(404);
    }
    for query in ["limit=0", "limit=501", "limit=x"] {
        app.get(&format!("/shares?{query}")).await.error(422);
    }
    for query in ["cursor=x".to_owned(), format!("cursor=x&video_id={id}")] {
        let cursor = app.get(&format!("/shares?{query}")).await;
        mentions(&cursor.error(400), &["cursor is 'x'", "`next`"]);
    }
    let longest = json!({"end": 20, "title": "ü".repeat(200), "expires_in": 31_536_000});
    let first = share(&app, &id, longest).await;
    share(&app, &id, json!({"end": 1})).await;
    let full = post(&app, &id, json!({"end": 1})).await.error(400);
    mentions(&full, &["has 2 shares", "shares.max_per_video"]);
    withdraw(&app, &first).await.ok();
    share(&app, &id, json!({"end": 1})).await;
}

#[tokio::test]
async fn shares_are_listed_newest_first_in_pages() {
    let app = TestApp::new().await;
    let (one, other) = (app.video_of(&clip(30.0)).await, app.video_of(&clip(20.0)).await);
    for (at, id) in [&one, &other, &one, &other, &one].into_iter().enumerate() {
        share(&app, id, json!({"end": 1, "title": at.to_string()})).await;
        // Shares of the same millisecond have no order.
        tokio::time::sleep(std::time::Duration::from_millis(2)).await;
    }
    let pages = async |query: String| {
        let (mut pages, mut cursor) = (Vec::new(), String::new());
        loop {
            let page = app.get(&format!("/shares?limit=2{query}{cursor}")).await.ok();
            pages.push(titles(&page).join(","));
            let Some(next) = page["next"].as_str() else { return pages };
            cursor = format!("&cursor={next}");
        }
    };
    assert_eq!(pages(String::new()).await, ["4,3", "2,1", "0"]);
    assert_eq!(pages(format!("&video_id={one}")).await, ["4,2", "0"]);
    assert_eq!(pages(format!("&video_id={other}")).await, ["3,1"]);
    // The next page continues after the last share, even if that one is withdrawn meanwhile.
    let first = app.get("/shares?limit=2").await.ok();
    withdraw(&app, &first["shares"][1]).await.ok();
    let second = app.get(&format!("/shares?limit=2&cursor={}", text(&first, "next"))).await.ok();
    assert_eq!(titles(&second), ["2", "1"]);
}

#[tokio::test]
async fn shares_survive_ingests_and_go_with_their_video() {
    let app = TestApp::new().await;
    let ingest = async |interval: &str| {
        let fields = [("mode", "interval"), ("interval", interval)];
        let job = app.job_of(&fields, "clip.mp4", &clip(30.0)).await;
        assert_eq!(job["status"], "done", "{job}");
        text(&job["result"], "video_id").to_owned()
    };
    let id = ingest("10").await;
    let other = app.video_of(&clip(20.0)).await;
    let part = share(&app, &id, json!({"start": 12, "end": 15})).await;
    let kept = share(&app, &other, json!({})).await;
    assert_eq!(ingest("5").await, id);
    assert_eq!(app.get(&page(&part)).await.status, 200);

    app.delete(&format!("/videos/{id}")).await.ok();
    assert_eq!(app.get(&page(&part)).await.status, 404);
    assert_eq!(app.get("/shares").await.ok(), json!({"shares": [kept]}));
    assert_eq!(app.records.list("shares/").await.unwrap(), [format!("shares/{other}.json")]);
    assert_eq!(app.records.list("share-links/").await.unwrap().len(), 1);
    assert_eq!(ingest("10").await, id);
    assert_eq!(app.get(&page(&part)).await.status, 404, "the video is another one");
    assert_eq!(app.get(&page(&kept)).await.status, 200);
    assert_eq!(problems(&app).await, [""; 0]);
}

const ALL: &str = "token-of-all";
const ADA: &str = "token-of-ada";
const READER: &str = "token-of-reader";

/// An app with an unnamed token for everything, a named one for a collection, and one that only reads
/// it.
async fn app_with_tokens() -> TestApp {
    TestApp::with(|setup| {
        let token = |token: &str, read_only| {
            let access = Access::new(Some(["news".to_owned()].into()), read_only);
            AuthToken { token: token.into(), access: access.with_name(Some("Ada".into())) }
        };
        setup.http.auth.tokens = vec![ALL.into(), token(ADA, false), token(READER, true)];
    })
    .await
}

async fn video_in(app: &TestApp, collection: &str, seconds: f64) -> String {
    let job = app.job_of(&[("collection", collection)], "clip.mp4", &clip(seconds)).await;
    text(&job["result"], "video_id").to_owned()
}

#[tokio::test]
async fn tokens_share_only_what_they_may_change() {
    let mut app = app_with_tokens().await;
    let news = video_in(&app, "news", 30.0).await;
    let sport = video_in(&app, "sport", 20.0).await;
    let hidden = share(&app, &sport, json!({"title": "hidden"})).await;
    assert_eq!(hidden.get("created_by"), None);
    app.speak_as(ADA);
    let own = share(&app, &news, json!({"title": "own"})).await;
    assert_eq!(text(&own, "created_by"), "Ada");
    for reply in
        [post(&app, &sport, json!({})).await, app.get(&format!("/shares?video_id={sport}")).await]
    {
        mentions(&reply.error(404), &["unknown video_id", &sport]);
    }
    let foreign = withdraw(&app, &hidden).await.error(404);
    let absent = app.delete(&format!("/shares/{UNKNOWN}")).await.error(404);
    assert_eq!(foreign.replace(text(&hidden, "share_id"), UNKNOWN), absent);
    assert_eq!(titles(&app.get("/shares").await.ok()), ["own"]);

    app.speak_as(READER);
    for query in ["", &format!("?video_id={news}")] {
        assert_eq!(titles(&app.get(&format!("/shares{query}")).await.ok()), ["own"]);
    }
    for reply in [post(&app, &news, json!({})).await, withdraw(&app, &own).await] {
        mentions(&reply.error(403), &["the token reads only"]);
    }

    app.speak_as(ALL);
    assert_eq!(titles(&app.get("/shares").await.ok()), ["own", "hidden"]);
    // A share follows the collection of its video.
    app.patch_json(&format!("/videos/{news}"), json!({"collection": "sport"})).await.ok();
    app.speak_as(ADA);
    assert_eq!(titles(&app.get("/shares").await.ok()), [""; 0]);
    withdraw(&app, &own).await.error(404);
    app.speak_as(ALL);
    withdraw(&app, &own).await.ok();
}
