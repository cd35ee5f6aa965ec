//! The people to whom users gave a name, across videos.

use std::collections::BTreeSet;
use std::sync::Arc;

use adapters::detector::ScriptedDetector;
use domain::kernel::access::Access;
use ports::detector::Detection;
use serde_json::{Value, json};
use shotlog::http::AuthToken;

use super::corrections::{correct, speech_models};
use crate::mcp::call_ok;
use crate::support::{Models, Setup, TestApp, clip, mentions};

/// Models for videos in which one voice speaks and two people are visible.
fn models() -> Models {
    let person = |left: f32| Detection {
        label: "person".into(),
        confidence: 0.9,
        bounds: [left, 0.2, 0.2, 0.7],
    };
    let detector = ScriptedDetector::with_objects(vec![person(0.1), person(0.6)]);
    Models { detector: Some(Arc::new(detector)), ..speech_models() }
}

async fn app(change: impl FnOnce(&mut Setup)) -> TestApp {
    TestApp::with(|setup| {
        setup.models = models();
        change(setup);
    })
    .await
}

async fn ingest(app: &TestApp, seconds: f64, collection: &str, interval: &str) -> String {
    let fields = [
        ("analyzers", "diarization,people"),
        ("mode", "interval"),
        ("interval", interval),
        ("collection", collection),
    ];
    let job = app.job_of(&fields, &format!("{collection}.mp4"), &clip(seconds)).await;
    assert_eq!(job["status"], "done", "{job}");
    job["result"]["video_id"].as_str().unwrap().to_owned()
}

/// The ids of the linked people of a video.
async fn entities(app: &TestApp, id: &str) -> Vec<String> {
    let list = app.get(&format!("/videos/{id}/entities")).await.ok();
    let entities = list["entities"].as_array().unwrap().iter();
    entities.map(|entity| entity["entity_id"].as_str().unwrap().to_owned()).collect()
}

/// Two videos in which somebody has the name Ada: as two people in the newer one, and as a person and
/// a speaker in the other.
async fn two_videos(app: &TestApp) -> [String; 2] {
    let older = ingest(app, 30.0, "mine", "10").await;
    let newer = ingest(app, 40.0, "theirs", "10").await;
    let people = entities(app, &older).await;
    assert_eq!(people.len(), 2, "{people:?}");
    let names = json!([
        {"of": "person", "from": people[0], "to": "Ada Lovelace"},
        {"of": "speaker", "from": "S1", "to": " ADA lovelace "},
    ]);
    correct(app, &older, names).await;
    let people = entities(app, &newer).await;
    let names = json!([
        {"of": "person", "from": people[0], "to": "Ada Lovelace"},
        {"of": "person", "from": people[1], "to": "Bob"},
        {"of": "speaker", "from": "S1", "to": "Cleo"},
    ]);
    correct(app, &newer, names).await;
    [older, newer]
}

fn names(list: &Value) -> Vec<&str> {
    list["people"].as_array().unwrap().iter().map(|one| one["name"].as_str().unwrap()).collect()
}

/// Video, kind, start and end of each appearance.
fn appearances(page: &Value) -> Vec<(&str, &str, f64, f64)> {
    let mut all = Vec::new();
    for one in page["appearances"].as_array().unwrap() {
        let (video, kind) = (one["video_id"].as_str().unwrap(), one["kind"].as_str().unwrap());
        all.push((video, kind, one["start"].as_f64().unwrap(), one["end"].as_f64().unwrap()));
    }
    all
}

#[tokio::test]
async fn one_name_joins_the_people_and_speakers_of_all_videos() {
    let app = app(|_| ()).await;
    assert_eq!(app.get("/people").await.ok(), json!({"people": [], "total": 0}));
    let [older, newer] = two_videos(&app).await;
    let list = app.get("/people").await.ok();
    assert_eq!((names(&list), &list["total"]), (vec!["Ada Lovelace", "Bob", "Cleo"], &json!(3)));
    let ada = &list["people"][0];
    assert_eq!((&ada["videos"], &ada["appearances"]), (&json!(2), &json!(3)), "{ada}");

    let page = app.get("/people/ada%20LOVELACE%20").await.ok();
    assert_eq!(page["person"], *ada);
    let all = appearances(&page);
    let order: Vec<(&str, &str)> = all.iter().map(|(video, kind, ..)| (*video, *kind)).collect();
    assert_eq!(order, [(&*newer, "visible"), (&*older, "visible"), (&*older, "speaking")]);
    let seconds = |kind: &str| -> f64 {
        all.iter().filter(|one| one.1 == kind).map(|(.., start, end)| end - start).sum()
    };
    assert!((ada["seconds_visible"].as_f64().unwrap() - seconds("visible")).abs() < 0.01, "{page}");
    assert!((60.0..=70.0).contains(&seconds("visible")), "{page}");
    assert!((15.0..=30.0).contains(&seconds("speaking")), "{page}");
    assert!((ada["seconds_speaking"].as_f64().unwrap() - seconds("speaking")).abs() < 0.01);
    for one in page["appearances"].as_array().unwrap() {
        let moment = app.get(&format!("/moments/{}", one["moment_id"].as_str().unwrap())).await;
        let moment = moment.ok();
        for key in ["video_id", "filename", "start", "end", "timecode"] {
            assert_eq!(moment[key], one[key], "{key}");
        }
    }
    for person in list["people"].as_array().unwrap() {
        let image = app.get(person["image_url"].as_str().unwrap()).await;
        assert_eq!((image.status, image.header("content-type")), (200, "image/jpeg"), "{person}");
    }
    mentions(ada["image_url"].as_str().unwrap(), &[&newer, "/entities/"]);
    mentions(list["people"][2]["image_url"].as_str().unwrap(), &[&newer, "/frames?t="]);
}

#[tokio::test]
async fn people_are_filtered_and_paged() {
    let app = app(|_| ()).await;
    let [older, newer] = two_videos(&app).await;
    for (query, expected) in [
        ("text=LOVE", vec!["Ada Lovelace"]),
        ("text=b", vec!["Bob"]),
        ("text=x", vec![]),
        ("collection=mine", vec!["Ada Lovelace"]),
        ("collection=nowhere", vec![]),
        ("collection=theirs&text=l", vec!["Ada Lovelace", "Cleo"]),
    ] {
        let list = app.get(&format!("/people?{query}")).await.ok();
        assert_eq!(names(&list), expected, "{query}");
        assert_eq!(list["total"], expected.len(), "{query}");
    }
    let mine = app.get("/people?collection=mine").await.ok();
    assert_eq!(
        (&mine["people"][0]["videos"], &mine["people"][0]["appearances"]),
        (&json!(1), &json!(2))
    );

    let first = app.get("/people?limit=2").await.ok();
    assert_eq!((names(&first), &first["total"]), (vec!["Ada Lovelace", "Bob"], &json!(3)));
    let next = first["next"].as_str().unwrap();
    let last = app.get(&format!("/people?limit=2&cursor={next}")).await.ok();
    assert_eq!((names(&last), last.get("next")), (vec!["Cleo"], None));

    let all = app.get("/people/Ada%20Lovelace").await.ok();
    let (mut paged, mut cursor) = (Vec::new(), String::new());
    loop {
        let page = app.get(&format!("/people/Ada%20Lovelace?limit=1{cursor}")).await.ok();
        assert_eq!(page["person"], all["person"]);
        paged.extend(page["appearances"].as_array().unwrap().clone());
        let Some(next) = page["next"].as_str() else { break };
        cursor = format!("&cursor={next}");
        let of_another = app.get(&format!("/people/Bob?cursor={next}")).await;
        mentions(&of_another.error(400), &["of another request"]);
    }
    assert_eq!(json!(paged), all["appearances"]);
    let videos: BTreeSet<&str> = appearances(&all).iter().map(|one| one.0).collect();
    assert_eq!(videos, BTreeSet::from([&*older, &*newer]));

    let unknown = app.get("/people/Ada%20Lovelac").await.error(404);
    mentions(&unknown, &["'Ada Lovelac'", "did you mean 'Ada Lovelace'?", "GET /people"]);
    mentions(&app.get("/people/Bob?cursor=x").await.error(400), &["unknown cursor 'x'"]);
    for query in ["?limit=0", "?limit=501", "/Bob?limit=0"] {
        mentions(&app.get(&format!("/people{query}")).await.error(422), &["1 to 500"]);
    }
}

#[tokio::test]
async fn names_follow_every_change_of_a_video() {
    let app = app(|_| ()).await;
    let [older, newer] = two_videos(&app).await;
    let listed = async || -> Vec<String> {
        let list = app.get("/people").await.ok();
        names(&list).into_iter().map(str::to_owned).collect()
    };
    let of = async |name: &str| {
        let page = app.get(&format!("/people/{name}")).await.ok();
        let all = appearances(&page).into_iter();
        all.map(|(video, kind, ..)| (video.to_owned(), kind.to_owned())).collect::<Vec<_>>()
    };
    // The aggregates have not been computed again.
    let people = entities(&app, &older).await;
    let path = format!("/videos/{older}/corrections?aggregate=false");
    let rename = json!([
        {"of": "speaker", "from": "ADA lovelace", "to": "Dan"},
        {"of": "person", "from": people[1], "to": "Eve"},
    ]);
    let made = app.post_json(&path, json!({"corrections": rename})).await.ok();
    assert_eq!(listed().await, ["Ada Lovelace", "Bob", "Cleo", "Dan", "Eve"]);
    let visible = |video: &str| (video.to_owned(), "visible".to_owned());
    assert_eq!(of("Ada%20Lovelace").await, [visible(&newer), visible(&older)]);
    assert_eq!(of("Dan").await, [(older.clone(), "speaking".to_owned())]);
    let eve = app.get("/people/eve").await.ok();
    let image = eve["person"]["image_url"].as_str().unwrap();
    mentions(image, &["/entities/"]);
    assert_eq!(app.get(image).await.status, 200);

    let undo = async |at: usize| {
        let id = made["corrections"][at]["id"].as_str().unwrap();
        app.delete(&format!("/videos/{older}/corrections/{id}")).await.ok();
    };
    undo(0).await;
    undo(1).await;
    assert_eq!(listed().await, ["Ada Lovelace", "Bob", "Cleo"]);
    assert_eq!(of("Ada%20Lovelace").await.len(), 3, "the earlier name applies again");
    app.idle().await;
    // Names stay when a video is split and analyzed again.
    assert_eq!(ingest(&app, 30.0, "mine", "7").await, older);
    assert_eq!(of("Ada%20Lovelace").await.len(), 3);
    app.patch_json(&format!("/videos/{older}"), json!({"metadata": {"title": "Tea"}})).await.ok();
    let page = app.get("/people/ada%20lovelace").await.ok();
    assert_eq!(page["appearances"][0].get("title"), None);
    assert_eq!(page["appearances"][1]["title"], "Tea");

    app.delete(&format!("/videos/{newer}")).await.ok();
    assert_eq!(listed().await, ["Ada Lovelace"]);
    app.delete(&format!("/videos/{older}/corrections")).await.ok();
    assert_eq!(listed().await, [""; 0]);
    app.get("/people/Ada%20Lovelace").await.error(404);
}

#[tokio::test]
async fn people_stay_in_the_collections_of_a_token() {
    let mut app = app(|setup| {
        let mine = Access::new(Some(["mine".to_owned()].into()), true);
        setup.http.auth.tokens =
            vec!["all".into(), AuthToken { token: "mine".into(), access: mine }];
    })
    .await;
    app.speak_as("all");
    let [older, _] = two_videos(&app).await;
    assert_eq!(app.get("/people").await.ok()["total"], 3);
    app.speak_as("mine");
    let list = app.get("/people").await.ok();
    assert_eq!((names(&list), &list["people"][0]["videos"]), (vec!["Ada Lovelace"], &json!(1)));
    assert_eq!(app.get("/people?collection=theirs").await.ok()["total"], 0);
    let page = app.get("/people/Ada%20Lovelace").await.ok();
    assert!(appearances(&page).iter().all(|one| one.0 == older), "{page}");
    let unknown = app.get("/people/Bobb").await.error(404);
    assert!(!unknown.contains("'Bob'"), "{unknown}");
    app.get("/people/Bob").await.error(404);
}

#[tokio::test]
async fn the_number_of_videos_read_is_bounded() {
    let app = app(|setup| setup.settings.people.max_videos = 1).await;
    let [_, newer] = two_videos(&app).await;
    let list = app.get("/people").await.ok();
    assert_eq!(names(&list), ["Ada Lovelace", "Bob", "Cleo"]);
    assert_eq!((&list["people"][0]["videos"], &list["omitted_videos"]), (&json!(1), &json!(1)));
    let page = app.get("/people/Ada%20Lovelace").await.ok();
    assert_eq!(page["omitted_videos"], 1);
    assert!(appearances(&page).iter().all(|one| one.0 == newer), "{page}");
    assert_eq!(app.get("/people?collection=mine").await.ok().get("omitted_videos"), None);
}

#[tokio::test]
async fn agents_find_where_a_person_appears() {
    let app = app(|_| ()).await;
    let [older, newer] = two_videos(&app).await;
    let found = call_ok(&app, "find_person", json!({"name": "ada lovelace", "limit": 2})).await;
    assert_eq!(found["people"][0]["name"], "Ada Lovelace");
    let videos: Vec<&str> = appearances(&found).iter().map(|one| one.0).collect();
    assert_eq!(videos, [&*newer, &*older]);
    let more = json!({"name": "Ada Lovelace", "cursor": found["next"]});
    let more = call_ok(&app, "find_person", more).await;
    assert_eq!((appearances(&more)[0].1, more.get("next")), ("speaking", None));
    let list = call_ok(&app, "find_person", json!({"limit": 2})).await;
    assert_eq!(names(&list), ["Ada Lovelace", "Bob"]);
    let last = call_ok(&app, "find_person", json!({"cursor": list["next"]})).await;
    assert_eq!(names(&last), ["Cleo"]);
}
