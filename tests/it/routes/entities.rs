use serde_json::{Value, json};

use crate::support::{TestApp, keys, mentions};
use crate::vision::ingest_street;

fn person(n: u32, appearances: u32) -> Value {
    json!({
        "entity_id": format!("ab-p{n}"), "appearances": appearances, "chunk_ids": [0, 1],
        "first_seen": 0.0, "last_seen": 12.5, "description": "red coat", "narrative": "arrives",
    })
}

#[tokio::test]
async fn people_are_listed_with_their_timelines() {
    let app = TestApp::new().await;
    let id = app.video().await;
    let entities = json!({"entities": [person(1, 1), person(2, 3)]});
    app.plant_aggregate(&id, "entities", entities).await;
    let list = app.get(&format!("/videos/{id}/entities")).await.ok();
    assert_eq!(keys(&list), ["entities", "total", "video_id"]);
    assert_eq!((&list["total"], &list["entities"][1]), (&json!(2), &person(2, 3)));

    let spans = json!([[0.0, 10.0], [12.0, 12.5]]);
    let timeline =
        json!({"entities": [{"entity_id": "ab-p2", "observed_seconds": 10.5, "spans": spans}]});
    app.plant_aggregate(&id, "entity_timelines", timeline).await;
    let list = app.get(&format!("/videos/{id}/entities?min_appearances=2")).await.ok();
    assert_eq!(list["total"], 1);
    let moments = [format!("m_{id}_0_10000"), format!("m_{id}_12000_12500")];
    let timeline = json!({"observed_seconds": 10.5, "spans": spans, "moments": moments});
    assert_eq!(list["entities"][0]["timeline"], timeline);
    // The aggregate has the same timeline.
    for (path, at) in
        [("aggregates?aggregator=entities", "/result"), ("aggregates", "/aggregates/entities")]
    {
        let reply = app.get(&format!("/videos/{id}/{path}")).await.ok();
        let people = &reply.pointer(at).unwrap_or(&reply)["entities"];
        assert_eq!(people[0].get("timeline"), None, "{path}: {reply}");
        assert_eq!(people[1]["timeline"]["spans"], spans, "{path}: {reply}");
    }
}

#[tokio::test]
async fn image_shows_the_person_with_a_margin() {
    let (app, result) = ingest_street("people").await;
    let id = result["video_id"].as_str().unwrap();
    let list = app.get(&format!("/videos/{id}/entities")).await.ok();
    assert_eq!(list["total"], 2, "{list}");
    let image = async |entity: &Value, query: &str| {
        let entity = entity["entity_id"].as_str().unwrap();
        app.get(&format!("/videos/{id}/entities/{entity}/image{query}")).await
    };
    let [left, right] = [&list["entities"][0], &list["entities"][1]];
    // The pictures have 64 × 36 pixels, and the boxes a share of 0.2 × 0.8 and 0.2 × 0.7.
    for (person, query, expected) in [
        (left, "", (15, 34)),
        (left, "", (15, 34)),
        (left, "?height=17", (8, 17)),
        (right, "?height=640", (15, 30)),
    ] {
        let reply = image(person, query).await;
        assert_eq!((reply.status, reply.header("content-type")), (200, "image/jpeg"));
        assert_eq!(reply.header("cache-control"), "private, max-age=60");
        let shown = image::load_from_memory(&reply.body).unwrap();
        assert_eq!((shown.width(), shown.height()), expected, "{query}");
    }
    for query in ["?height=15", "?height=641", "?height=x", "?width=9"] {
        image(left, query).await.error(422);
    }
    let unknown = json!({"entity_id": "ab-p99"});
    mentions(&image(&unknown, "").await.error(404), &["no person 'ab-p99'", "/entities"]);
    app.delete(&format!("/videos/{id}")).await.ok();
    image(left, "").await.error(404);
}

#[tokio::test]
async fn image_needs_linked_people_and_their_locations() {
    let app = TestApp::new().await;
    let id = app.video().await;
    let path = format!("/videos/{id}/entities/ab-p1/image");
    mentions(&app.get(&path).await.error(400), &["entities"]);
    app.plant_aggregate(&id, "entities", json!({"entities": [person(1, 1)]})).await;
    mentions(&app.get(&path).await.error(404), &["'ab-p1'", "ingest the video"]);
}
