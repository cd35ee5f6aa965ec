//! Tests of damaged files in an embedded index, and of replacing the index.

use std::path::PathBuf;

use super::*;

/// Damage to a file.
#[derive(Debug, Clone, Copy)]
enum Damage {
    Truncated,
    Flipped,
    Gone,
}

impl Damage {
    fn apply(self, file: &Path) {
        let mut bytes = std::fs::read(file).unwrap();
        match self {
            Self::Truncated => bytes.truncate(bytes.len() / 2),
            Self::Flipped => {
                let middle = bytes.len() / 2;
                bytes[middle] ^= 0x55;
            }
            Self::Gone => return std::fs::remove_file(file).unwrap(),
        }
        std::fs::write(file, bytes).unwrap();
    }
}

/// Returns the files of a commit. The commit includes deletions, so that there is a file of every
/// kind.
async fn written(folder: &Path) -> Vec<PathBuf> {
    let index = open(folder).await;
    index.replace(None, batches(0..2)).await.unwrap();
    index.replace(Some(&Filter::video(video(1))), vec![]).await.unwrap();
    drop(index);
    let entries = std::fs::read_dir(folder.join("segments")).unwrap();
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    files.retain(|path| path.extension().is_some_and(|e| e != "json" && e != "lock"));
    files.sort();
    files
}

/// An edit of a text file.
type Edit = fn(&str) -> String;

fn kind_of(file: &Path) -> &str {
    file.extension().and_then(|e| e.to_str()).unwrap_or_default()
}

#[tokio::test(flavor = "multi_thread")]
async fn damaged_files_are_detected_and_rebuilt() {
    let folder = tempfile::tempdir().unwrap();
    let files = written(folder.path()).await;
    let kinds: Vec<&str> = files.iter().map(|file| kind_of(file)).collect();
    for kind in ["del", "fast", "fieldnorm", "idx", "pos", "store", "term", "vectors"] {
        assert!(kinds.contains(&kind), "no {kind} among {kinds:?}");
    }
    for damage in [Damage::Truncated, Damage::Flipped, Damage::Gone] {
        for number in 0..files.len() {
            let folder = tempfile::tempdir().unwrap();
            let file = written(folder.path()).await.swap_remove(number);
            damage.apply(&file);
            let found = match EmbeddedIndex::open(options(folder.path())).await {
                Ok(index) => index.check().await,
                Err(error) => Err(error),
            };
            let what = format!("{damage:?} {}", kind_of(&file));
            let error = found.expect_err(&what);
            assert_eq!(error.kind(), ErrorKind::Corrupt, "{what}: {error}");
            assert!(error.to_string().contains("shotlog reindex"), "{what}: {error}");

            let EmbeddedRebuild { fresh, .. } =
                EmbeddedIndex::begin_rebuild(options(folder.path())).await.unwrap();
            fresh.replace(None, batch(7)).await.unwrap();
            fresh.publish().await.unwrap();
            drop(fresh);
            let index = open(folder.path()).await;
            assert_whole(&index, 7).await;
            index.check().await.unwrap();
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn leftovers_of_an_unfinished_commit_are_harmless() {
    let folder = tempfile::tempdir().unwrap();
    open(folder.path()).await.replace(None, batches(0..2)).await.unwrap();
    let commit = folder.path().join("segments/meta.json");
    let before = std::fs::read(&commit).unwrap();
    let removal = Filter::video(video(1));
    open(folder.path()).await.replace(Some(&removal), vec![]).await.unwrap();
    // Simulates a process that is killed after writing all files of the commit, but before the
    // commit itself.
    std::fs::write(&commit, before).unwrap();

    let index = open(folder.path()).await;
    let all = Filter::default();
    assert_eq!(index.count(&all).await.unwrap(), 2 * SIZE as u64);
    index.replace(Some(&removal), vec![]).await.unwrap();
    assert_eq!(index.count(&all).await.unwrap(), SIZE as u64);
    index.check().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn damaged_description_is_detected_and_rebuilt() {
    let cut: Edit = |text| text[..text.len() / 2].to_owned();
    let format: Edit = |text| text.replace("\"format\": 2", "\"format\": 1");
    let elsewhere: Edit = |text| text.replace(": \"segments\"", ": \"../elsewhere\"");
    let edits = [
        ("index.json", cut),
        ("index.json", format),
        ("index.json", elsewhere),
        ("segments/meta.json", cut),
    ];
    for (name, edit) in edits {
        let folder = tempfile::tempdir().unwrap();
        written(folder.path()).await;
        let file = folder.path().join(name);
        let text = std::fs::read_to_string(&file).unwrap();
        let edited = edit(&text);
        assert_ne!(edited, text, "{name}");
        std::fs::write(&file, edited).unwrap();
        let error = EmbeddedIndex::open(options(folder.path())).await.err().unwrap();
        assert!(matches!(error.kind(), ErrorKind::Corrupt | ErrorKind::Invalid), "{error}");
        assert!(error.to_string().contains("shotlog reindex"), "{name}: {error}");
        let EmbeddedRebuild { fresh, current: searched } =
            EmbeddedIndex::begin_rebuild(options(folder.path())).await.unwrap();
        assert!(searched.is_none());
        fresh.publish().await.unwrap();
        drop(fresh);
        open(folder.path()).await.probe().await.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn rebuilt_index_is_searched_once_published() {
    let folder = tempfile::tempdir().unwrap();
    let index = open(folder.path()).await;
    index.replace(None, batch(0)).await.unwrap();
    assert_eq!(index.adopt("mine").await.unwrap(), "mine");
    drop(index);

    // A rebuild that is abandoned halfway changes nothing.
    let EmbeddedRebuild { fresh, current: searched } =
        EmbeddedIndex::begin_rebuild(options(folder.path())).await.unwrap();
    fresh.replace(None, batch(1)).await.unwrap();
    assert_whole(&searched.expect("the old one can be read"), 0).await;
    drop(fresh);
    let index = open(folder.path()).await;
    assert_whole(&index, 0).await;
    assert_eq!(index.count(&Filter::default()).await.unwrap(), SIZE as u64);
    drop(index);

    for number in 1..4 {
        let EmbeddedRebuild { fresh, current: searched } =
            EmbeddedIndex::begin_rebuild(options(folder.path())).await.unwrap();
        assert_eq!(fresh.adopt("mine").await.unwrap(), "mine");
        fresh.replace(None, batch(number)).await.unwrap();
        drop(searched);
        fresh.publish().await.unwrap();
        drop(fresh);
        let index = open(folder.path()).await;
        assert_whole(&index, number).await;
        assert_eq!(index.count(&Filter::default()).await.unwrap(), SIZE as u64);
        assert_eq!(index.adopt("yours").await.unwrap(), "mine", "its owner stays");
    }
    let folders = std::fs::read_dir(folder.path()).unwrap();
    let folders = folders.filter(|entry| entry.as_ref().unwrap().path().is_dir()).count();
    assert_eq!(folders, 1, "nothing is left of the others");
}
