use serde_json::{Value, json};

use crate::support::{TestApp, keys};

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
