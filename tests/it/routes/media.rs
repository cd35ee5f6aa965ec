use poem::http::Method;

use crate::support::{BASE, TestApp};

#[tokio::test]
async fn media_redirects_to_storage_and_keeps_the_method() {
    let app = TestApp::new().await;
    let id = app.video().await;
    for method in [Method::GET, Method::HEAD] {
        let reply = app.raw(app.request(method, &format!("/media/{id}")).finish()).await;
        assert_eq!(reply.status, 307);
        assert_eq!(reply.header("location"), format!("{BASE}/storage/{id}/clip.mp4"));
        assert!(reply.body.is_empty());
    }
    app.get("/media/0000000000000000").await.error(404);
}
