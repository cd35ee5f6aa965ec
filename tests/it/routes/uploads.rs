//! Resumable uploads with tus 1.0.

use std::sync::Arc;
use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use domain::kernel::access::Access;
use futures::stream;
use poem::Body;
use poem::http::Method;
use shotlog::http::AuthToken;

use crate::support::{Reply, Setup, TestApp, clip, mentions};

/// Sends a request of the tus protocol.
async fn tus(
    app: &TestApp,
    method: Method,
    path: &str,
    headers: &[(&str, &str)],
    body: impl Into<Body>,
) -> Reply {
    let mut request = app.request(method, path).header("tus-resumable", "1.0.0");
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    app.raw(request.body(body)).await
}

async fn begin(app: &TestApp, length: usize, name: &str) -> String {
    let metadata = format!("filename {}", STANDARD.encode(name));
    let headers = [("upload-length", &*length.to_string()), ("upload-metadata", &metadata)];
    let reply = tus(app, Method::POST, "/uploads", &headers, ()).await;
    assert_eq!(reply.status, 201, "{}", reply.text());
    format!("/{}", reply.header("location"))
}

async fn append(app: &TestApp, upload: &str, offset: usize, body: impl Into<Body>) -> Reply {
    let kind = ("content-type", "application/offset+octet-stream");
    tus(app, Method::PATCH, upload, &[("upload-offset", &offset.to_string()), kind], body).await
}

async fn offset(app: &TestApp, upload: &str) -> usize {
    let reply = tus(app, Method::HEAD, upload, &[], ()).await;
    assert_eq!(reply.status, 200, "{upload}");
    assert_eq!(reply.header("cache-control"), "no-store");
    reply.header("upload-offset").parse().expect("a number")
}

async fn ingest(app: &TestApp, upload: &str) -> Reply {
    let id = upload.rsplit('/').next().expect("an id");
    let form = format!(
        "--b\r\nContent-Disposition: form-data; name=\"upload_id\"\r\n\r\n{id}\r\n\
         --b\r\nContent-Disposition: form-data; name=\"mode\"\r\n\r\ninterval\r\n\
         --b\r\nContent-Disposition: form-data; name=\"interval\"\r\n\r\n10\r\n--b--\r\n"
    );
    app.post_text("/videos", "multipart/form-data; boundary=b", form).await
}

fn small_parts(setup: &mut Setup) {
    setup.settings.ingest.upload_part_bytes = 7;
}

#[tokio::test]
async fn interrupted_upload_becomes_the_same_video() {
    let file = clip(30.0);
    let whole = TestApp::new().await.video_of(&file).await;

    let app = TestApp::with(small_parts).await;
    let upload = begin(&app, file.len(), "holiday.mp4").await;
    assert_eq!(offset(&app, &upload).await, 0);
    // A body that is cut off after eleven bytes.
    let broken =
        stream::iter([Ok(file[..11].to_vec()), Err(std::io::Error::other("the network is gone"))]);
    append(&app, &upload, 0, Body::from_bytes_stream(broken)).await.error(422);
    assert_eq!(offset(&app, &upload).await, 11, "the received bytes are kept");
    let refused = ingest(&app, &upload).await;
    mentions(&refused.error(422), &["11 of", "upload_id"]);

    let reply = append(&app, &upload, 11, file[11..].to_vec()).await;
    assert_eq!((reply.status, reply.header("upload-offset")), (204, &*file.len().to_string()));
    assert!(reply.header("upload-expires").ends_with(" GMT"));
    let accepted = ingest(&app, &upload).await;
    assert_eq!(accepted.status, 202, "{}", accepted.text());
    let job = app.finished(accepted.json()["job_id"].as_str().expect("an id")).await;
    assert_eq!(job["result"]["video_id"], whole.as_str(), "{job}");
    assert_eq!(job["result"]["filename"], "holiday.mp4");
    let gone = async || tus(&app, Method::HEAD, &upload, &[], ()).await;
    for _ in 0..1000 {
        if gone().await.status == 404 && app.parts() == 0 {
            break;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    let gone = gone().await;
    assert_eq!(
        (gone.status, gone.body.len(), app.parts()),
        (404, 0, 0),
        "the upload is removed after its ingest"
    );
}

#[tokio::test]
async fn invalid_upload_requests_are_refused_with_a_reason() {
    let app = TestApp::with(small_parts).await;
    let file = clip(10.0);
    let upload = begin(&app, file.len(), "a.mp4").await;
    let conflict = append(&app, &upload, 3, file.clone()).await;
    mentions(&conflict.error(409), &["stands at 0", "Upload-Offset"]);
    assert_eq!(conflict.header("upload-offset"), "0");
    let too_long = [file.clone(), vec![0]].concat();
    append(&app, &upload, 0, too_long).await.error(413);
    assert_eq!(offset(&app, &upload).await, 0);

    let kind = ("content-type", "application/offset+octet-stream");
    let summed = async |sum: &str, bytes: &[u8], at: usize| {
        let headers = [("upload-offset", &*at.to_string()), ("upload-checksum", sum), kind];
        tus(&app, Method::PATCH, &upload, &headers, bytes.to_vec()).await
    };
    // The SHA-1 of "abc" (FIPS 180).
    let abc = format!(
        "sha1 {}",
        STANDARD.encode([
            0xa9, 0x99, 0x3e, 0x36, 0x47, 0x06, 0x81, 0x6a, 0xba, 0x3e, 0x25, 0x71, 0x78, 0x50,
            0xc2, 0x6c, 0x9c, 0xd0, 0xd8, 0x9d,
        ])
    );
    // Parts stored before the checksum is verified are removed.
    mentions(&summed(&abc, b"0123456789", 0).await.error(460), &["Upload-Checksum"]);
    assert_eq!((offset(&app, &upload).await, app.parts()), (0, 0));
    assert_eq!(summed(&abc, b"abc", 0).await.status, 204);
    let spelled = [("upload-offset", "3"), ("content-type", "Application/Offset+Octet-Stream")];
    assert_eq!(tus(&app, Method::PATCH, &upload, &spelled, ()).await.status, 204);
    assert_eq!(offset(&app, &upload).await, 3);
    mentions(&summed("md5 x", b"abc", 3).await.error(400), &["sha1"]);

    let typed = [("upload-offset", "3"), ("content-type", "text/plain")];
    tus(&app, Method::PATCH, &upload, &typed, "x").await.error(415);
    let old = app.request(Method::HEAD, &upload).header("tus-resumable", "0.2.2").finish();
    let old = app.raw(old).await;
    assert_eq!((old.status, old.header("tus-version")), (412, "1.0.0"));
    let huge = [("upload-length", "99999999")];
    let detail = tus(&app, Method::POST, "/uploads", &huge, ()).await.error(413);
    mentions(&detail, &["ingest.max_upload_bytes"]);
    tus(&app, Method::POST, "/uploads", &[("upload-length", "-1")], ()).await.error(422);
    append(&app, "/uploads/nonsense", 0, "x").await.error(404);
    let options = tus(&app, Method::OPTIONS, "/uploads", &[], ()).await;
    assert_eq!(
        options.header("tus-extension"),
        "creation,creation-with-upload,expiration,checksum,termination"
    );
    assert_eq!(options.header("tus-max-size"), (1 << 20).to_string());
}

#[tokio::test]
async fn upload_can_be_created_with_its_first_bytes() {
    let app = TestApp::with(small_parts).await;
    let create = async |sum: Option<&str>, body: &'static str| {
        let mut headers =
            vec![("upload-length", "20"), ("content-type", "application/offset+octet-stream")];
        headers.extend(sum.map(|sum| ("upload-checksum", sum)));
        tus(&app, Method::POST, "/uploads", &headers, body).await
    };
    let created = create(None, "0123456789").await;
    assert_eq!((created.status, created.header("upload-offset")), (201, "10"));
    assert!(created.header("upload-expires").ends_with(" GMT"));
    let upload = format!("/{}", created.header("location"));
    assert_eq!(offset(&app, &upload).await, 10);
    assert_eq!(append(&app, &upload, 10, "0123456789").await.header("upload-offset"), "20");
    assert_eq!(tus(&app, Method::DELETE, &upload, &[], ()).await.status, 204);

    let wrong = format!("sha1 {}", STANDARD.encode([0; 20]));
    create(None, "more than the twenty bytes").await.error(413);
    create(Some(&wrong), "0123456789").await.error(460);
    create(Some("md5 x"), "0123456789").await.error(400);
    assert_eq!(app.parts(), 0, "an upload whose creation failed leaves no parts");
}

#[tokio::test]
async fn concurrent_appends_at_one_offset_do_not_mix() {
    let app = Arc::new(TestApp::with(small_parts).await);
    let file = clip(30.0);
    let upload = begin(&app, file.len(), "a.mp4").await;
    let (one, two) = tokio::join!(
        append(&app, &upload, 0, file.clone()),
        append(&app, &upload, 0, file.clone())
    );
    let mut statuses = [one.status, two.status];
    statuses.sort_unstable();
    assert_eq!(statuses[1], 409, "{statuses:?}");
    // An upload cut off by the conflict resumes at its offset.
    let reached = offset(&app, &upload).await;
    if reached < file.len() {
        assert_eq!(append(&app, &upload, reached, file[reached..].to_vec()).await.status, 204);
    }
    let job = ingest(&app, &upload).await.json();
    let job = app.finished(job["job_id"].as_str().expect("an id")).await;
    let whole = TestApp::new().await.video_of(&file).await;
    assert_eq!(job["result"]["video_id"], whole.as_str(), "{job}");
}

#[tokio::test]
async fn unfinished_uploads_are_limited_in_size_and_age() {
    let app = TestApp::with(|setup| {
        setup.settings.ingest.max_waiting_bytes = 100;
        setup.settings.ingest.max_unfinished_uploads = 2;
    })
    .await;
    let upload = begin(&app, 60, "a.mp4").await;
    let refused = async |length: &str| {
        tus(&app, Method::POST, "/uploads", &[("upload-length", length)], ()).await.error(503)
    };
    mentions(&refused("60").await, &["ingest.max_waiting_bytes", "60 bytes"]);
    begin(&app, 1, "b.mp4").await;
    mentions(&refused("1").await, &["ingest.max_unfinished_uploads"]);
    assert_eq!(append(&app, &upload, 0, "some").await.status, 204);
    assert_eq!(app.parts(), 1);
    assert_eq!(tus(&app, Method::DELETE, &upload, &[], ()).await.status, 204);
    assert_eq!(app.parts(), 0);
    begin(&app, 60, "c.mp4").await;

    let short = TestApp::with(|setup| {
        setup.settings.ingest.upload_expiry = Duration::ZERO;
    })
    .await;
    let upload = begin(&short, 10, "a.mp4").await;
    append(&short, &upload, 0, "x").await.error(404);
    assert_eq!(short.service.sources.uploads.delete_expired().await.expect("swept"), 1);
    assert_eq!(short.service.sources.uploads.delete_expired().await.expect("swept"), 0);
}

#[tokio::test]
async fn failed_ingest_keeps_the_upload_for_a_retry() {
    let app = TestApp::new().await;
    let upload = begin(&app, 9, "a.mp4").await;
    append(&app, &upload, 0, "no video!").await;
    for _ in 0..2 {
        let accepted = ingest(&app, &upload).await.json();
        let job = app.finished(accepted["job_id"].as_str().expect("an id")).await;
        assert_eq!(job["status"], "failed", "{job}");
        app.idle().await;
    }
    assert_eq!(offset(&app, &upload).await, 9);
}

#[tokio::test]
async fn upload_is_accessible_only_to_its_creator() {
    let bound = |name: &str| Access::new(Some([name.to_owned()].into()), false);
    let mut app = TestApp::with(|setup| {
        setup.http.auth.tokens = vec![
            AuthToken { token: "mine".into(), access: bound("mine") },
            AuthToken { token: "theirs".into(), access: bound("theirs") },
            AuthToken { token: "reader".into(), access: Access::new(None, true) },
            "all".into(),
        ];
    })
    .await;
    let file = clip(10.0);
    let upload = begin(&app, file.len(), "a.mp4").await;
    assert_eq!(append(&app, &upload, 0, file).await.status, 204);
    app.speak_as("theirs");
    assert_eq!(tus(&app, Method::HEAD, &upload, &[], ()).await.status, 404);
    append(&app, &upload, 0, "x").await.error(404);
    tus(&app, Method::DELETE, &upload, &[], ()).await.error(404);
    ingest(&app, &upload).await.error(404);
    app.speak_as("reader");
    tus(&app, Method::POST, "/uploads", &[("upload-length", "1")], ()).await.error(403);
    tus(&app, Method::DELETE, &upload, &[], ()).await.error(403);
    app.speak_as("all");
    assert_eq!(tus(&app, Method::HEAD, &upload, &[], ()).await.status, 200);
    let objects = app.get(&format!("/storage{upload}/00000")).await;
    mentions(&objects.error(404), &["no stored object"]);
    app.speak_as("mine");
    assert_eq!(ingest(&app, &upload).await.status, 202);
}
