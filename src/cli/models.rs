//! `models`: lists the model files that this version uses and fetches missing ones, verifying them
//! by SHA-256.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};
use serde::Deserialize;
use sha2::{Digest, Sha256};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use super::BoxError;
use crate::config::{Config, NerKind, SentimentKind};

const MANIFEST: &str = include_str!("models.toml");

/// The command to run for a missing file that has no URL.
const SETUP_COMMAND: &str = "make setup";

/// Maximum time to connect to a download server.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);

/// Maximum size, in bytes, of a download whose size is not known in advance.
const MAX_UNKNOWN_BYTES: u64 = 2 << 30;

#[derive(Deserialize)]
struct Manifest {
    model: Vec<Model>,
}

/// A model file in the manifest.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct Model {
    role: String,
    file: PathBuf,
    name: String,
    licence: String,
    /// Size of the file, in bytes. Size and checksum are unknown for files that are converted
    /// during setup.
    bytes: Option<u64>,
    sha256: Option<String>,
    /// The commit that `url` refers to, which pins the content.
    revision: Option<String>,
    url: Option<String>,
    from: String,
}

/// The state of a file on disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum FileState {
    Missing,
    /// The file has the checksum given in the manifest.
    Verified,
    /// The manifest has no checksum for the file.
    Unverified,
    /// The file has a different checksum, for example because the user converted it.
    Different,
}

/// Lists the model files; with `fetch`, downloads missing ones that have a URL.
pub(super) async fn models(config: &Config, fetch: bool) -> Result<(), BoxError> {
    let manifest: Manifest = toml::from_str(MANIFEST)?;
    let library = &config.models.onnxruntime;
    let status =
        if library.is_file() { "present".into() } else { format!("MISSING ({SETUP_COMMAND})") };
    println!("{:<11} {:<34} {status}", "runtime", "ONNX Runtime");
    let mut missing = Vec::new();
    for model in manifest.model.into_iter().filter(|model| is_used(model, config)) {
        let path = config.models.dir.join(&model.file);
        let state = state(&path, &model).await?;
        let note = match state {
            FileState::Verified => "present, checksum verified".to_owned(),
            FileState::Unverified => "present, no checksum to verify".to_owned(),
            FileState::Different => "present, differs from the published file".to_owned(),
            FileState::Missing if model.url.is_some() => {
                "MISSING (shotlog models --fetch)".to_owned()
            }
            FileState::Missing => format!("MISSING ({SETUP_COMMAND}: {})", model.from),
        };
        let size = model.bytes.map_or("?".to_owned(), |bytes| format!("{:.1}", bytes as f64 / 1e6));
        println!(
            "{:<11} {:<34} {size:>8} MB  {:<11} {note}",
            model.role, model.name, model.licence
        );
        if state == FileState::Missing {
            missing.push((model, path));
        }
    }
    println!("\nmodels directory: {}", config.models.dir.display());
    if let Some(notice) = missing_features(&missing) {
        println!("{notice}");
    }
    if !fetch {
        return Ok(());
    }
    let client = reqwest::Client::builder().connect_timeout(CONNECT_TIMEOUT).build()?;
    let mut failed = Vec::new();
    for (model, path) in missing {
        match &model.url {
            // A failed download does not prevent the others.
            Some(url) => {
                failed.extend(download(&client, url, &model, &path).await.err());
            }
            None => println!("{}: {SETUP_COMMAND} gets it from {}", model.name, model.from),
        }
    }
    match failed[..] {
        [] => Ok(()),
        _ => Err(failed.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n").into()),
    }
}

/// Describes the features that are unavailable without the missing files, and how to get the files.
fn missing_features(missing: &[(Model, PathBuf)]) -> Option<String> {
    const FEATURES: &[(&str, &str)] = &[
        ("detector", "detect objects and people"),
        ("classifier", "verify detected objects"),
        ("reader", "read on-screen text"),
        ("speaker", "distinguish speakers"),
        ("transcriber", "recognise speech"),
        ("voice", "detect speech"),
    ];
    let lacks = |role: &str| missing.iter().any(|(model, _)| model.role == role);
    let features: Vec<&str> =
        FEATURES.iter().filter(|(role, _)| lacks(role)).map(|(_, feature)| *feature).collect();
    if features.is_empty() {
        return None;
    }
    let features = text::join_list(&features, "or");
    Some(format!(
        "Without the missing files the service does not {features}. Run `shotlog models --fetch` or \
         `{SETUP_COMMAND}`, or provide your own files and set their paths in config.toml."
    ))
}

/// Whether the configuration uses a model; most are used whenever they are present.
fn is_used(model: &Model, config: &Config) -> bool {
    match model.role.as_str() {
        "detector" => model.file == config.detector.file,
        "sentiment" => config.sentiment.kind == SentimentKind::Onnx,
        "entities" => config.ner.kind == NerKind::Gliner,
        _ => true,
    }
}

async fn state(path: &Path, model: &Model) -> Result<FileState, BoxError> {
    if !path.is_file() {
        return Ok(FileState::Missing);
    }
    let Some(sha256) = &model.sha256 else { return Ok(FileState::Unverified) };
    let mut file = tokio::fs::File::open(path).await?;
    let mut hash = Sha256::new();
    let mut buffer = vec![0; 256 * 1024];
    loop {
        let read = file.read(&mut buffer).await?;
        if read == 0 {
            break;
        }
        hash.update(&buffer[..read]);
    }
    Ok(if hex(&hash.finalize()) == *sha256 { FileState::Verified } else { FileState::Different })
}

/// Downloads to a temporary file next to the target and renames it once the checksum matches.
async fn download(
    client: &reqwest::Client,
    url: &str,
    model: &Model,
    path: &Path,
) -> Result<(), BoxError> {
    let fetch_error = |reason: String| format!("cannot fetch {} from {url}: {reason}", model.name);
    let folder = path.parent().ok_or("a model file needs a folder")?;
    tokio::fs::create_dir_all(folder).await?;
    let response = client.get(url).send().await.map_err(|e| fetch_error(error_chain(&e)))?;
    let mut response = response.error_for_status().map_err(|e| fetch_error(error_chain(&e)))?;
    let limit = model.bytes.unwrap_or(MAX_UNKNOWN_BYTES);
    let bar = ProgressBar::new(model.bytes.or(response.content_length()).unwrap_or(0))
        .with_style(ProgressStyle::with_template("{bar:30} {bytes}/{total_bytes} {eta} {msg}")?);
    bar.set_message(model.name.clone());
    let (file, partial) = tempfile::NamedTempFile::new_in(folder)?.into_parts();
    let mut file = tokio::fs::File::from_std(file);
    let mut hash = Sha256::new();
    let mut size = 0;
    while let Some(bytes) = response.chunk().await.map_err(|e| fetch_error(error_chain(&e)))? {
        size += bytes.len() as u64;
        if size > limit {
            return Err(
                fetch_error(format!("it is larger than the {limit} bytes it may be")).into()
            );
        }
        hash.update(&bytes);
        file.write_all(&bytes).await?;
        bar.inc(bytes.len() as u64);
    }
    file.sync_all().await?;
    bar.finish_and_clear();
    let sum = hex(&hash.finalize());
    if let Some(expected) = &model.sha256
        && sum != *expected
    {
        return Err(fetch_error(format!("its SHA-256 is {sum}, it should be {expected}")).into());
    }
    partial.persist(path)?;
    let revision = model.revision.as_deref().unwrap_or("unknown");
    println!("fetched {} ({size} bytes, revision {revision}, SHA-256 {sum})", model.name);
    Ok(())
}

/// Formats an error with its causes, since reqwest's message omits the reason.
fn error_chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        text.push_str(&format!(": {cause}"));
        source = cause.source();
    }
    text
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        // Writing to a string cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

#[cfg(test)]
mod tests {
    use tokio::net::TcpListener;

    use super::*;

    /// Serves one request with `body`.
    async fn serve_once(body: &'static [u8]) -> String {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = listener.local_addr().expect("an address");
        tokio::spawn(async move {
            let (mut stream, _) = listener.accept().await.expect("a client");
            let mut request = [0; 4096];
            let _ = stream.read(&mut request).await;
            let head = format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n", body.len());
            stream.write_all(head.as_bytes()).await.expect("head");
            stream.write_all(body).await.expect("body");
        });
        format!("http://{address}/model")
    }

    fn model(bytes: u64, content: &[u8]) -> Model {
        Model {
            role: "test".into(),
            file: "a/b.onnx".into(),
            name: "small".into(),
            licence: "CC0".into(),
            bytes: Some(bytes),
            sha256: Some(hex(&Sha256::digest(content))),
            revision: None,
            url: None,
            from: "a test".into(),
        }
    }

    #[tokio::test]
    async fn a_model_appears_only_when_its_checksum_is_right() {
        let client = reqwest::Client::builder().no_proxy().build().expect("a client");
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("a/b.onnx");
        let right = model(5, b"right");

        for (served, expected) in
            [(&b"wrong"[..], "SHA-256"), (&b"much too long"[..], "larger than")]
        {
            let url = serve_once(served).await;
            let error = download(&client, &url, &right, &path).await.expect_err("refused");
            assert!(error.to_string().contains(expected), "{error}");
            assert_eq!(state(&path, &right).await.expect("state"), FileState::Missing);
        }
        let leftovers = std::fs::read_dir(folder.path().join("a")).expect("the folder").count();
        assert_eq!(leftovers, 0);

        let url = serve_once(b"right").await;
        download(&client, &url, &right, &path).await.expect("fetched");
        assert_eq!(state(&path, &right).await.expect("state"), FileState::Verified);
        std::fs::write(&path, b"mine").expect("a file");
        assert_eq!(state(&path, &right).await.expect("state"), FileState::Different);
    }

    #[tokio::test]
    async fn an_unreachable_server_is_named() {
        let client = reqwest::Client::builder().no_proxy().build().expect("a client");
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("m.onnx");
        let error = download(&client, "http://127.0.0.1:9/m", &model(1, b"x"), &path)
            .await
            .expect_err("nobody listens");
        assert!(error.to_string().contains("http://127.0.0.1:9/m"), "{error}");
    }

    fn is_hex(text: &str, length: usize) -> bool {
        text.len() == length && text.chars().all(|c| matches!(c, '0'..='9' | 'a'..='f'))
    }

    #[test]
    fn fetched_files_have_a_revision_size_and_checksum() {
        let manifest: Manifest = toml::from_str(MANIFEST).expect("a manifest");
        let mut fetched = 0;
        for model in manifest.model {
            let file = model.file.display();
            let known = model.sha256.is_some();
            assert!(model.sha256.is_none_or(|sum| is_hex(&sum, 64)), "{file}");
            assert_eq!(model.bytes.is_some_and(|bytes| bytes > 0), known, "{file}");
            if let Some(url) = &model.url {
                fetched += 1;
                let revision = model.revision.expect("a revision");
                assert!(known && is_hex(&revision, 40), "{file}: {revision}");
                assert!(url.starts_with("https://") && url.contains(&revision), "{file}: {url}");
            }
        }
        assert!(fetched > 0);
    }

    #[test]
    fn setup_artefacts_are_pinned() {
        let list = include_str!("../../scripts/models/artefacts.tsv");
        let lines: Vec<&str> =
            list.lines().filter(|line| !line.is_empty() && !line.starts_with('#')).collect();
        assert!(!lines.is_empty());
        for line in lines {
            let columns: Vec<&str> = line.split('\t').collect();
            let [_, _, package, _, _, sum] = columns[..] else { panic!("six columns: {line}") };
            let separator = if package.starts_with("npm:") { "@" } else { "==" };
            let pinned = |(_, version): (&str, &str)| !version.is_empty() && !version.contains('*');
            assert!(package.rsplit_once(separator).is_some_and(pinned), "{line}");
            assert!(is_hex(sum, 64), "{line}");
        }
    }

    #[test]
    fn optional_models_are_listed_when_configured() {
        let manifest: Manifest = toml::from_str(MANIFEST).expect("a manifest");
        let mut config = Config::default();
        let roles = |config: &Config| -> Vec<String> {
            let used = manifest.model.iter().filter(|model| is_used(model, config));
            used.map(|model| model.role.clone()).collect()
        };
        let optional = ["sentiment", "entities"];
        assert!(optional.iter().all(|role| !roles(&config).contains(&(*role).to_owned())));
        config.sentiment.kind = SentimentKind::Onnx;
        config.ner.kind = NerKind::Gliner;
        assert!(optional.iter().all(|role| roles(&config).contains(&(*role).to_owned())));
    }
}
