use crate::support::TestApp;

#[tokio::test]
async fn frames_are_jpegs_at_a_time_in_the_video() {
    let app = TestApp::new().await;
    let id = app.video().await;
    for _ in 0..2 {
        let reply = app.get(&format!("/videos/{id}/frames?t=1.5&width=64")).await;
        assert_eq!((reply.status, reply.header("content-type")), (200, "image/jpeg"));
        assert!(reply.header("cache-control").contains("immutable"));
        assert_eq!(reply.body[..2], [0xff, 0xd8]);
    }
    for query in ["", "?t=abc", "?t=-1", "?t=1e9", "?t=1&width=0", "?t=1&width=641", "?t=nan"] {
        app.get(&format!("/videos/{id}/frames{query}")).await.error(422);
    }
}

#[tokio::test]
async fn storyboard_locates_each_moment_in_its_sheet() {
    let app = TestApp::new().await;
    let id = app.video().await;
    let board = app.get(&format!("/videos/{id}/storyboard")).await.ok();
    let number = |key: &str| board[key].as_f64().expect("a number");
    let duration = app.get(&format!("/videos/{id}")).await.ok()["duration"].as_f64().expect("it");
    assert!((number("interval") * number("tiles") - duration).abs() < 1e-6);
    assert!(number("columns") * number("rows") >= number("tiles"));
    let sheet = app.get(board["sheet"].as_str().expect("a path")).await;
    assert_eq!((sheet.status, sheet.header("content-type")), (200, "image/jpeg"));
    let cached = app.get(&format!("/videos/{id}/storyboard")).await.ok();
    assert_eq!(board, cached);
}

#[tokio::test]
async fn peaks_cover_the_video_in_the_requested_number_of_parts() {
    let app = TestApp::new().await;
    let id = app.video().await;
    let duration = app.get(&format!("/videos/{id}")).await.ok()["duration"].as_f64().expect("it");
    for (query, parts) in [("", 1000), ("?buckets=1", 1), ("?buckets=7", 7)] {
        let answer = app.get(&format!("/videos/{id}/peaks{query}")).await.ok();
        let peaks = answer["peaks"].as_array().expect("a list");
        assert_eq!(peaks.len(), parts);
        assert!(peaks.iter().all(|peak| (0.0..=1.0).contains(&peak.as_f64().expect("a number"))));
        let interval = answer["interval"].as_f64().expect("a number");
        assert!((interval * parts as f64 - duration).abs() < 1e-6);
    }
    for query in ["?buckets=0", "?buckets=-1", "?buckets=20001", "?buckets=x", "?bucket=5"] {
        app.get(&format!("/videos/{id}/peaks{query}")).await.error(422);
    }
}

#[tokio::test]
async fn unknown_or_deleted_video_has_no_frames() {
    let app = TestApp::new().await;
    let id = app.video().await;
    let routes = ["frames?t=0", "storyboard", "storyboard.jpg", "peaks"];
    for route in routes {
        app.get(&format!("/videos/0000000000000000/{route}")).await.error(404);
        assert_eq!(app.get(&format!("/videos/{id}/{route}")).await.status, 200);
    }
    app.delete(&format!("/videos/{id}")).await.ok();
    for route in routes {
        app.get(&format!("/videos/{id}/{route}")).await.error(404);
    }
    assert_eq!(app.spooled(), 0, "the local copy is removed");
}

#[tokio::test]
async fn invalid_id_reaches_no_file() {
    let app = TestApp::new().await;
    let id = app.video().await;
    app.get(&format!("/videos/{id}/storyboard")).await.ok();
    for id in [&format!("x%2F..%2F{id}"), &format!("..%2Fframes%2F{id}"), "..", "%2e%2e%2fx", "X"] {
        for route in ["frames?t=0", "storyboard", "storyboard.jpg", "peaks"] {
            app.get(&format!("/videos/{id}/{route}")).await.error(404);
        }
    }
}
