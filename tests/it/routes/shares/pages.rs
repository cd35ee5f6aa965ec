//! The page of a share, its clip, its poster and its captions.

use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::sync::Arc;

use poem::http::Method;
use ports::Result;
use ports::decoder::{
    CancellationToken, Clip, ClipRequest, Frame, MediaInfo, RenderFormat, RenderParts, ScanOptions,
    ScanSink, ScanSummary, Still, VideoDecoder,
};
use ports::records::RecordStore;
use serde_json::{Value, json};

use super::{UNKNOWN, app_with_tokens, page, share, text, video_in, withdraw};
use crate::support::{Reply, SceneDecoder, TestApp, clip, mentions};

/// A decoder whose clips are their requests and whose frames have the brightness of their time.
struct CutDecoder;

impl VideoDecoder for CutDecoder {
    fn probe(&self, file: &Path) -> Result<MediaInfo> {
        SceneDecoder.probe(file)
    }

    fn scan(
        &self,
        file: &Path,
        options: &ScanOptions,
        sink: &mut dyn ScanSink,
    ) -> Result<ScanSummary> {
        SceneDecoder.scan(file, options, sink)
    }

    fn sound(&self, file: &Path, audio_track: Option<u32>, sink: &mut dyn ScanSink) -> Result<()> {
        SceneDecoder.sound(file, audio_track, sink)
    }

    fn stills(&self, file: &Path, stills: &[Still]) -> Result<Vec<Option<Frame>>> {
        SceneDecoder.stills(file, stills)
    }

    fn clip(
        &self,
        file: &Path,
        cut: &ClipRequest,
        mut out: File,
        _: &CancellationToken,
    ) -> Result<Clip> {
        let video = SceneDecoder.probe(file)?.video.is_some();
        out.write_all(json!([cut.start, cut.end]).to_string().as_bytes())?;
        Ok(Clip { start: cut.start, copied: false, video })
    }

    fn render(
        &self,
        format: &RenderFormat,
        parts: &mut RenderParts<'_>,
        out: File,
        cancel: &CancellationToken,
    ) -> Result<()> {
        SceneDecoder.render(format, parts, out, cancel)
    }
}

/// Sends a request without a token.
async fn open(app: &TestApp, path: &str, headers: &[(&str, &str)]) -> Reply {
    send(app, Method::GET, path, headers).await
}

async fn send(app: &TestApp, method: Method, path: &str, headers: &[(&str, &str)]) -> Reply {
    let request =
        poem::Request::builder().method(method).uri_str(path).header("host", "shotlog.test");
    let with =
        |request: poem::RequestBuilder, (name, value): &(&str, &str)| request.header(*name, *value);
    app.raw(headers.iter().fold(request, with).finish()).await
}

/// Checks that a reply is the page for links that are not valid.
#[track_caller]
fn assert_invalid(reply: &Reply, case: &str) {
    assert_eq!(reply.status, 404, "{case}: {}", reply.text());
    assert!(reply.header("content-type").starts_with("text/html"), "{case}");
    mentions(&reply.text(), &["This link does not exist, has expired or was withdrawn."]);
}

#[tokio::test]
async fn a_page_needs_no_token_and_opens_nothing_else() {
    let app = app_with_tokens().await;
    let id = video_in(&app, "news", 30.0).await;
    let body = json!({"start": 5, "end": 70.5 - 60.0, "title": "<b>\"Ada's\" harbour & more</b>"});
    let part = share(&app, &id, body).await;
    let path = page(&part);
    let reply = open(&app, &path, &[]).await;
    assert_eq!(reply.status, 200, "{}", reply.text());
    let html = reply.text();
    let title = "&lt;b&gt;&quot;Ada&#39;s&quot; harbour &amp; more&lt;/b&gt;";
    mentions(
        &html,
        &[
            &format!("<h1>{title}</h1>"),
            "<video controls",
            "0:05.0 to 0:10.5 of the recording. Duration: 0:06.",
            "Download",
        ],
    );
    mentions(&html, &["This link expires on", "noindex", "/clip.mp4", "/poster.jpg"]);
    for secret in ["<b>", "<script", id.as_str(), "news", "<track"] {
        assert!(!html.contains(secret), "{secret}: {html}");
    }
    let policy = reply.header("content-security-policy");
    mentions(policy, &["default-src 'none'", "style-src 'sha256-", "frame-ancestors 'none'"]);
    assert!(!policy.contains("script-src") && !policy.contains("unsafe"), "{policy}");
    for (name, value) in [
        ("referrer-policy", "no-referrer"),
        ("x-robots-tag", "noindex, nofollow"),
        ("cache-control", "private, no-cache"),
        ("cross-origin-resource-policy", "same-origin"),
        ("x-content-type-options", "nosniff"),
    ] {
        assert_eq!(reply.header(name), value, "{name}");
    }
    for file in ["clip.mp4", "poster.jpg", "captions.vtt"] {
        for headers in
            [vec![], vec![("x-core-token", "wrong")], vec![("cookie", "shotlog_session=x")]]
        {
            let reply = open(&app, &format!("{path}/{file}"), &headers).await;
            assert_eq!(reply.status, 200, "{file} {headers:?}: {}", reply.text());
            assert_eq!(reply.header("x-robots-tag"), "noindex, nofollow", "{file}");
        }
    }
    // A token without access to the collection does not matter either.
    assert_eq!(open(&app, &path, &[("x-core-token", super::READER)]).await.status, 200);
    let share_id = text(&part, "share_id");
    for (method, path) in [
        (Method::GET, "/shares".to_owned()),
        (Method::DELETE, format!("/shares/{share_id}")),
        (Method::POST, format!("/videos/{id}/shares")),
        (Method::GET, format!("/videos/{id}/clip?start=5&end=6")),
        (Method::GET, format!("/videos/{id}")),
        (Method::POST, path.clone()),
        (Method::DELETE, path.clone()),
        (Method::PUT, format!("{path}/clip.mp4")),
    ] {
        assert_eq!(send(&app, method.clone(), &path, &[]).await.status, 401, "{method} {path}");
    }
    for path in [format!("{path}/../../videos"), format!("{path}/%2e%2e/%2e%2e/videos")] {
        assert_eq!(open(&app, &path, &[]).await.status, 404, "{path}");
    }
}

#[tokio::test]
async fn the_clip_is_that_of_the_share_and_no_other() {
    let app = TestApp::with(|setup| setup.decoder = Arc::new(CutDecoder)).await;
    let id = app.video_of(&clip(30.0)).await;
    let body = json!({"start": 5.25, "end": 7.5, "title": "Größe & Gewicht"});
    let part = share(&app, &id, body).await;
    let path = format!("{}/clip.mp4", page(&part));
    let uncut = send(&app, Method::HEAD, &path, &[]).await;
    assert_eq!((uncut.status, uncut.header("content-length")), (200, ""), "a HEAD cuts nothing");
    for query in ["", "?start=0&end=30", "?exact=false", "?captions=true"] {
        let reply = open(&app, &format!("{path}{query}"), &[]).await;
        assert_eq!((reply.status, reply.text()), (200, "[5.25,7.5]".into()), "{query}");
        assert_eq!(reply.header("content-type"), "video/mp4");
        mentions(reply.header("content-disposition"), &["attachment", "Gr__e-Gewicht.mp4"]);
        assert!(!reply.header("content-disposition").contains("clip"), "the name of the video");
    }
    let range = open(&app, &path, &[("range", "bytes=1-4")]).await;
    assert_eq!((range.status, range.text()), (206, "5.25".into()));
    assert_eq!(range.header("content-range"), "bytes 1-4/10");
    let beyond = open(&app, &path, &[("range", "bytes=10-")]).await;
    assert_eq!((beyond.status, beyond.header("content-range")), (416, "bytes */10"));
    let head = send(&app, Method::HEAD, &path, &[]).await;
    assert_eq!((head.header("content-length"), head.body.len()), ("10", 0));
    let same = open(&app, &path, &[("if-none-match", head.header("etag"))]).await;
    assert_eq!((same.status, same.body.len()), (304, 0));
    assert_eq!(open(&app, &format!("{}/poster.jpg", page(&part)), &[]).await.status, 200);
    assert_eq!(
        app.get(&format!("/videos/{id}/clip?start=5.25&end=7.5")).await.text(),
        "[5.25,7.5]"
    );
}

#[tokio::test]
async fn captions_count_from_the_start_of_the_clip() {
    let app = TestApp::new().await;
    let id = app.video_of(&clip(30.0)).await;
    let turn = |start: f64, end: f64, text: &str| {
        json!({"turns": [{"speaker": "S1", "start": start, "end": end, "text": text}],
            "speakers": ["S1"]})
    };
    let before = turn(1.0, 4.0, "Before it.");
    let within = turn(12.0, 14.0, "Is 2 < 3?");
    app.plant_output(&id, "diarization", json!([before, within, null])).await;
    let part = share(&app, &id, json!({"start": 10, "end": 13})).await;
    mentions(&open(&app, &page(&part), &[]).await.text(), &["<track kind=\"captions\""]);
    let captions = open(&app, &format!("{}/captions.vtt", page(&part)), &[]).await;
    assert_eq!(captions.header("content-type"), "text/vtt; charset=utf-8");
    let expected = "WEBVTT\n\n00:00:02.000 --> 00:00:03.000\n<v S1>Is 2 &lt; 3?</v>\n\n";
    assert_eq!(captions.text(), expected);
    let silent = share(&app, &id, json!({"start": 20, "end": 25})).await;
    let captions = open(&app, &format!("{}/captions.vtt", page(&silent)), &[]).await;
    assert_eq!((captions.status, captions.text().trim()), (200, "WEBVTT"));
}

#[tokio::test]
async fn sound_is_played_without_pictures() {
    let app = TestApp::with(|setup| setup.decoder = Arc::new(CutDecoder)).await;
    let id = app.video_of(&json!({"seconds": 20.0, "video": false}).to_string().into_bytes()).await;
    app.edit_record(&id, |record| record["content_type"] = "audio/mp4".into()).await;
    let part = share(&app, &id, json!({"start": 1, "end": 2})).await;
    let html = open(&app, &page(&part), &[]).await.text();
    mentions(&html, &["<audio controls"]);
    assert!(!html.contains("<video") && !html.contains("poster"), "{html}");
    let clip = open(&app, &format!("{}/clip.mp4", page(&part)), &[]).await;
    assert_eq!((clip.status, clip.header("content-type")), (200, "audio/mp4"));
    mentions(clip.header("content-disposition"), &[".m4a"]);
    let poster = open(&app, &format!("{}/poster.jpg", page(&part)), &[]).await;
    assert_invalid(&poster, "a poster of sound");
}

#[tokio::test]
async fn links_that_are_not_valid_look_alike() {
    let app = TestApp::new().await;
    let id = app.video_of(&clip(30.0)).await;
    let unknown = open(&app, &format!("/shared/{UNKNOWN}"), &[]).await;
    assert_invalid(&unknown, "unknown");
    let withdrawn = share(&app, &id, json!({"end": 1})).await;
    assert_eq!(open(&app, &page(&withdrawn), &[]).await.status, 200);
    withdraw(&app, &withdrawn).await.ok();
    let expired = share(&app, &id, json!({"end": 1, "expires_in": 1})).await;
    while open(&app, &page(&expired), &[]).await.status == 200 {
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
    let listed = app.get("/shares").await.ok();
    assert_eq!(listed["shares"], json!([expired]), "an expired share stays in the list");
    let gone = app.video_of(&clip(20.0)).await;
    let deleted = share(&app, &gone, json!({"end": 1})).await;
    app.delete(&format!("/videos/{gone}")).await.ok();
    for (case, share) in [("withdrawn", withdrawn), ("expired", expired), ("deleted", deleted)] {
        for file in ["", "/clip.mp4", "/poster.jpg", "/captions.vtt", "/other"] {
            let case = format!("{case} {file}");
            let reply = open(&app, &format!("{}{file}", page(&share)), &[]).await;
            assert_invalid(&reply, &case);
            assert_eq!(reply.body, unknown.body, "{case}");
            let without_id = |reply: &Reply| {
                let mut headers = reply.headers.clone();
                headers.remove("x-request-id");
                headers
            };
            assert_eq!(without_id(&reply), without_id(&unknown), "{case}");
        }
    }
    let valid = share(&app, &id, json!({"end": 1})).await;
    let id = text(&valid, "share_id");
    for hostile in [
        "x".to_owned(),
        id[1..].to_owned(),
        format!("{id}0"),
        format!("{id}.json"),
        id.to_uppercase(),
        "..".to_owned(),
        "..%2F..%2Fshares".to_owned(),
        "%00".to_owned(),
        "%22%3E%3Cscript%3E".to_owned(),
        "a".repeat(4000),
    ] {
        for file in ["", "/clip.mp4"] {
            if hostile != id {
                let reply = open(&app, &format!("/shared/{hostile}{file}"), &[]).await;
                assert_eq!(reply.status, 404, "{hostile}{file}");
                assert!(!reply.text().contains("<script"), "{hostile}{file}");
            }
        }
    }
    assert_invalid(&open(&app, &format!("/shared/{id}/video.json"), &[]).await, "another file");
    assert_eq!(open(&app, &format!("/shared/{id}"), &[]).await.status, 200);
}

#[tokio::test]
async fn failures_name_nothing_of_the_video() {
    let app = TestApp::new().await;
    let id = app.video_of(&clip(30.0)).await;
    let part = share(&app, &id, json!({"end": 20})).await;
    let document = format!("shares/{id}.json");
    let stored = app.records.get(&document).await.unwrap().unwrap();
    app.records.put(&document, &json!({"shares": 1})).await.unwrap();
    let reply = open(&app, &page(&part), &[]).await;
    assert_eq!((reply.status, reply.text().contains(&id)), (500, false), "{}", reply.text());
    app.records.put(&document, &stored).await.unwrap();

    let limited = TestApp::with(|setup| {
        (setup.records, setup.index) = (app.records.clone(), app.index.clone());
        (setup.listing, setup.storage) = (app.listing.clone(), Some(app.storage.clone()));
        setup.settings.frames.max_clip_duration = 10;
    })
    .await;
    let reply = open(&limited, &format!("{}/clip.mp4", page(&part)), &[]).await;
    assert_eq!(reply.status, 400, "the limit on clips applies to those of shares");
    mentions(&reply.text(), &["This clip cannot be shown."]);
    let busy = TestApp::with(|setup| {
        (setup.records, setup.index) = (app.records.clone(), app.index.clone());
        (setup.listing, setup.storage) = (app.listing.clone(), Some(app.storage.clone()));
        setup.settings.frames.queue = 0;
    })
    .await;
    let reply = open(&busy, &format!("{}/clip.mp4", page(&part)), &[]).await;
    assert_eq!(reply.status, 503, "{}", reply.text());
    assert!(!reply.header("retry-after").is_empty());
    let contents: Value = json!(reply.text());
    assert!(!contents.to_string().contains(&id), "{contents}");
}
