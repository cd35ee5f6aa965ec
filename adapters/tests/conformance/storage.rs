//! Tests of the adapters of the `storage` port.

use std::path::Path;
use std::sync::Arc;

use bytes::Bytes;
use futures::{StreamExt, stream};
use ports::ErrorKind;
use ports::conformance::storage::{check, check_bounded_memory};
use ports::storage::{ObjectStorage, ObjectUrls};
use shotlog_adapters::storage::OpendalStorage;

const BASE_URL: &str = "http://localhost:8000";

fn folder(root: &Path) -> Arc<dyn ObjectStorage> {
    Arc::new(OpendalStorage::folder(root, BASE_URL).unwrap())
}

/// Lists every file and folder below `root`, relative to it.
fn tree(root: &Path) -> Vec<String> {
    let (mut found, mut folders) = (Vec::new(), vec![root.to_owned()]);
    while let Some(folder) = folders.pop() {
        for entry in folder.read_dir().unwrap() {
            let path = entry.unwrap().path();
            found.push(path.strip_prefix(root).unwrap().to_string_lossy().into_owned());
            if path.is_dir() && !path.is_symlink() {
                folders.push(path);
            }
        }
    }
    found.sort();
    found
}

#[tokio::test]
async fn memory() {
    check(Arc::new(OpendalStorage::memory(BASE_URL).unwrap())).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_folder() {
    let root = tempfile::tempdir().unwrap();
    let storage = folder(root.path());
    check(storage.clone()).await;
    check_bounded_memory(storage, 64 << 20, 8 << 20).await;
    // A background task discards unfinished streams.
    for _ in 0..1000 {
        if tree(root.path()) == [".partial"] {
            return;
        }
        tokio::time::sleep(std::time::Duration::from_millis(10)).await;
    }
    panic!("left in the folder: {:?}", tree(root.path()));
}

#[tokio::test]
async fn folder_derives_types_from_extensions() {
    let root = tempfile::tempdir().unwrap();
    let content = || stream::iter([Ok(Bytes::from("x"))]).boxed();
    for (name, content_type) in
        [("clip.mp4", Some("video/mp4")), ("poster.jpg", Some("image/jpeg")), ("none", None)]
    {
        let key = format!("0123456789abcdef/{name}");
        folder(root.path()).put(&key, content(), "video/mp4").await.unwrap();
        let info = folder(root.path()).stat(&key).await.unwrap().unwrap();
        assert_eq!(info.content_type.as_deref(), content_type, "{name}");
        assert!(info.etag.is_some());
    }
    assert_eq!(
        folder(root.path()).public_url("0123456789abcdef/a b.mp4"),
        "http://localhost:8000/storage/0123456789abcdef/a%20b.mp4"
    );
}

#[tokio::test]
async fn folder_does_not_follow_links_outside() {
    let outside = tempfile::tempdir().unwrap();
    std::fs::write(outside.path().join("secret"), "secret").unwrap();
    let root = tempfile::tempdir().unwrap();
    let storage = folder(root.path());
    std::os::unix::fs::symlink(outside.path(), root.path().join("link")).unwrap();
    std::os::unix::fs::symlink(outside.path().join("secret"), root.path().join("file")).unwrap();
    for key in ["link/secret", "file"] {
        assert_eq!(storage.stat(key).await.unwrap(), None, "{key}");
        let error = storage.get(key, None).await.err().expect("is out of the folder");
        assert_eq!(error.kind(), ErrorKind::NotFound, "{key}: {error}");
    }
}

#[tokio::test]
async fn probe_of_unwritable_folder_hides_its_path() {
    let root = tempfile::tempdir().unwrap();
    let storage = folder(root.path());
    std::fs::remove_dir_all(root.path()).unwrap();
    // Puts a file in place of the folder, so that not even root can create anything below it.
    std::fs::write(root.path(), "").unwrap();
    let error = storage.probe().await.expect_err("there is no folder");
    let message = error.to_string();
    assert!(!message.contains(&*root.path().to_string_lossy()), "{message}");
    let content = stream::iter([Ok(Bytes::from("x"))]).boxed();
    storage.put("a/b", content, "video/mp4").await.expect_err("there is no folder");
}

#[tokio::test]
async fn unmounted_folder_is_unavailable_until_remounted() {
    let root = tempfile::tempdir().unwrap();
    let mount = root.path().join("mount");
    let storage = folder(&mount);
    let put = async || {
        let content = stream::iter([Ok(Bytes::from("x"))]).boxed();
        storage.put("a/b", content, "video/mp4").await
    };
    put().await.expect("stored");
    let elsewhere = root.path().join("elsewhere");
    std::fs::rename(&mount, &elsewhere).unwrap();
    // First the folder is missing. Then it is an empty mount point.
    for _ in 0..2 {
        for (call, outcome) in [
            ("put", put().await),
            ("stat", storage.stat("a/b").await.map(drop)),
            ("get", storage.get("a/b", None).await.map(drop)),
            ("list", storage.list("a/").await.map(drop)),
            ("delete", storage.delete("a/b").await),
            ("delete_prefix", storage.delete_prefix("a/").await.map(drop)),
            ("probe", storage.probe().await),
        ] {
            let error = outcome.expect_err(call);
            assert_eq!(error.kind(), ErrorKind::Unavailable, "{call}: {error}");
        }
        let _ = std::fs::create_dir(&mount);
    }
    std::fs::remove_dir(&mount).unwrap();
    std::fs::rename(&elsewhere, &mount).unwrap();
    assert_eq!(storage.list("a/").await.unwrap(), ["a/b"]);
    put().await.expect("stored again");
}

#[tokio::test]
async fn opening_a_folder_removes_abandoned_uploads_only() {
    use std::time::{Duration, SystemTime};
    let root = tempfile::tempdir().unwrap();
    folder(root.path());
    let partial = root.path().join(".partial");
    std::fs::write(partial.join("clip.mp4.young"), "half").unwrap();
    let old = std::fs::File::create(partial.join("clip.mp4.old")).unwrap();
    old.set_modified(SystemTime::now() - Duration::from_secs(25 * 60 * 60)).unwrap();
    folder(root.path());
    assert_eq!(tree(root.path()), [".partial", ".partial/clip.mp4.young"]);
}

#[tokio::test]
async fn object_is_not_a_folder() {
    let root = tempfile::tempdir().unwrap();
    let storage = folder(root.path());
    let content = || stream::iter([Ok(Bytes::from("x"))]).boxed();
    storage.put("a/b", content(), "video/mp4").await.unwrap();
    for key in ["a/b/c", "a"] {
        let error = storage.put(key, content(), "video/mp4").await.expect_err(key);
        assert_eq!(error.kind(), ErrorKind::Invalid, "{key}: {error}");
    }
    assert_eq!(storage.delete_prefix("a/").await.unwrap(), ["a/b"]);
}

#[test]
fn bad_base_url_is_rejected() {
    let error = OpendalStorage::memory("localhost:8000").err().expect("no scheme");
    assert_eq!(error.kind(), ErrorKind::Invalid);
}

/// Returns options for a bucket on the server at `S3_ENDPOINT`, where `S3_BUCKET` must exist.
/// Returns `None` if `S3_ENDPOINT` is not set.
#[cfg(feature = "cloud")]
pub(crate) fn s3_options(prefix: &str) -> Option<shotlog_adapters::storage::S3Options> {
    use shotlog_adapters::storage::{RemoteLimits, S3Options};
    let Ok(endpoint) = std::env::var("S3_ENDPOINT") else {
        println!("skipped: S3_ENDPOINT names no server");
        return None;
    };
    let variable = |name, default: &str| std::env::var(name).unwrap_or_else(|_| default.into());
    Some(S3Options {
        bucket: variable("S3_BUCKET", "shotlog"),
        endpoint: Some(endpoint),
        region: variable("S3_REGION", "us-east-1"),
        prefix: prefix.into(),
        access_key_id: Some(variable("S3_ACCESS_KEY_ID", "test")),
        secret_access_key: Some(variable("S3_SECRET_ACCESS_KEY", "test")),
        limits: RemoteLimits { part_size: 5 << 20, concurrency: 2, ..Default::default() },
        ..Default::default()
    })
}

#[cfg(feature = "cloud")]
#[tokio::test(flavor = "multi_thread")]
async fn s3() {
    let Some(options) = s3_options("tests/storage") else { return };
    let storage: Arc<dyn ObjectStorage> =
        Arc::new(shotlog_adapters::storage::s3(&options).unwrap());
    check(storage.clone()).await;
    check_bounded_memory(storage, 64 << 20, 32 << 20).await;
}

/// Returns options for a bucket on the fake Google Cloud Storage.
#[cfg(feature = "cloud")]
pub(crate) fn gcs_options(server: &super::gcs::Gcs) -> shotlog_adapters::storage::GcsOptions {
    use shotlog_adapters::storage::{GcsOptions, RemoteLimits};
    GcsOptions {
        bucket: super::gcs::BUCKET.into(),
        endpoint: Some(server.url().into()),
        prefix: "a folder".into(),
        anonymous: true,
        limits: RemoteLimits { part_size: 5 << 20, concurrency: 2, ..Default::default() },
        ..Default::default()
    }
}

#[cfg(feature = "cloud")]
#[tokio::test(flavor = "multi_thread")]
async fn gcs_requests_follow_its_documentation() {
    let server = super::gcs::Gcs::start().await;
    let storage: Arc<dyn ObjectStorage> =
        Arc::new(shotlog_adapters::storage::gcs(&gcs_options(&server)).unwrap());
    check(storage.clone()).await;
    check_bounded_memory(storage, 64 << 20, 32 << 20).await;
    let asked = server.asked();
    for form in ["GET metadata", "GET media", "GET range", "GET list", "POST parts", "POST batch"] {
        assert!(asked.contains(form), "never asked: {form}; {asked:?}");
    }
}

#[cfg(feature = "cloud")]
#[tokio::test]
async fn public_urls_support_every_style() {
    use shotlog_adapters::storage::{GcsOptions, S3Options, gcs, s3};
    let amazon = S3Options {
        bucket: "clips".into(),
        region: "eu-central-1".into(),
        prefix: "/a b/".into(),
        access_key_id: Some("id".into()),
        secret_access_key: Some("secret".into()),
        ..Default::default()
    };
    let local = S3Options { endpoint: Some("http://localhost:9000/".into()), ..amazon.clone() };
    let google = GcsOptions { bucket: "clips".into(), anonymous: true, ..Default::default() };
    let cdn = Some("https://cdn.example/media".to_owned());
    let stores = [
        (s3(&amazon), "https://s3.eu-central-1.amazonaws.com/clips/a%20b/v/c.mp4"),
        (s3(&local), "http://localhost:9000/clips/a%20b/v/c.mp4"),
        (
            s3(&S3Options { virtual_host_style: true, ..amazon.clone() }),
            "https://clips.s3.eu-central-1.amazonaws.com/a%20b/v/c.mp4",
        ),
        (
            s3(&S3Options { virtual_host_style: true, ..local }),
            "http://clips.localhost:9000/a%20b/v/c.mp4",
        ),
        (
            s3(&S3Options { public_base_url: cdn.clone(), ..amazon }),
            "https://cdn.example/media/a%20b/v/c.mp4",
        ),
        (gcs(&google), "https://storage.googleapis.com/clips/v/c.mp4"),
        (gcs(&GcsOptions { public_base_url: cdn, ..google }), "https://cdn.example/media/v/c.mp4"),
    ];
    for (storage, url) in stores {
        let storage = storage.unwrap();
        assert_eq!(storage.bucket(), "clips");
        assert_eq!(storage.public_url("v/c.mp4"), url);
        assert_eq!(storage.key_from_url(url).as_deref(), Some("v/c.mp4"));
    }
}
