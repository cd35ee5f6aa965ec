//! The suite for adapters of the `records` port.

use std::sync::Arc;

use futures::future;
use serde_json::{Value, json};

use super::storage::{BAD_KEYS, refused};
use crate::ErrorKind;
use crate::records::{Precondition, RecordStore};

/// Checks every requirement of the port on an empty store and leaves the store empty.
pub async fn check(records: Arc<dyn RecordStore>) {
    let records = &*records;
    assert!(records.list("").await.unwrap().is_empty(), "the store to check must be empty");
    bad_keys_are_invalid(records).await;
    missing_items_are_none(records).await;
    documents_round_trip(records).await;
    replaces(records).await;
    compare_and_swap_requires_the_precondition(records).await;
    remove_requires_the_expected_content(records).await;
    lists(records).await;
    version_changes_with_every_write(records).await;
    folder_version_changes_with_every_write(records).await;
    deletes(records).await;
    concurrent_reads_see_whole_documents(records).await;
    writes_succeed_during_deletes(records).await;
    records.probe().await.expect("a working store passes the probe");
    records.delete("").await.unwrap();
    assert!(records.list("").await.unwrap().is_empty(), "the empty prefix removes everything");
    assert!(records.children("").await.unwrap().is_empty());
}

/// Checks that acknowledged writes are still there after the store is reopened.
pub async fn check_reopened(open: impl Fn() -> Arc<dyn RecordStore>) {
    let document = json!({"title": "kept", "n": [1, 2, 3]});
    open().put("videos/a/video.json", &document).await.unwrap();
    open().put("videos/b/video.json", &document).await.unwrap();
    open().delete("videos/b/").await.unwrap();
    let again = open();
    assert_eq!(again.get("videos/a/video.json").await.unwrap(), Some(document));
    assert_eq!(again.list("").await.unwrap(), ["videos/a/video.json"]);
    again.delete("").await.unwrap();
}

async fn bad_keys_are_invalid(records: &dyn RecordStore) {
    for key in BAD_KEYS {
        refused(records.get(key).await, ErrorKind::Invalid, &format!("get {key:?}"));
        let put = records.put(key, &json!(1)).await;
        refused(put, ErrorKind::Invalid, &format!("put {key:?}"));
    }
    for prefix in ["a", "/", "../", "a//", "./", "a/../", ".hidden/"] {
        refused(records.list(prefix).await, ErrorKind::Invalid, &format!("list {prefix:?}"));
        let children = records.children(prefix).await;
        refused(children, ErrorKind::Invalid, &format!("children of {prefix:?}"));
    }
    for prefix in ["/", "..", "../", "a//", ".", "./", "a/../b", ".hidden", ".hidden/"] {
        refused(records.delete(prefix).await, ErrorKind::Invalid, &format!("delete {prefix:?}"));
    }
}

async fn missing_items_are_none(records: &dyn RecordStore) {
    assert_eq!(records.get("absent/video.json").await.unwrap(), None);
    assert!(records.list("absent/").await.unwrap().is_empty());
    assert!(records.children("absent/").await.unwrap().is_empty());
    records.delete("absent/").await.expect("nothing there is no error");
    records.delete("absent").await.expect("nothing there is no error");
    records.delete("absent/video.json").await.expect("nothing there is no error");
}

async fn documents_round_trip(records: &dyn RecordStore) {
    let large: Vec<Value> =
        (0..20_000).map(|n| json!({"chunk_id": n, "text": "x".repeat(80)})).collect();
    let documents = [
        json!(null),
        json!(false),
        json!(""),
        json!([]),
        json!({}),
        json!({"z": 1, "a": {"y": [1, [2, {"x": null}]]}, "m": "order is kept"}),
        json!([0, -1, i64::MIN, u64::MAX, 0.1, 1e-300, 1.7976931348623157e308, 12.34, -0.5]),
        json!("žluťoučký kůň 🎬 \u{0} \u{1f} \" \\ / \u{2028}"),
        json!({"": 1, "odd \n key": 2, "ключ": 3}),
        Value::Array(large),
    ];
    for (n, document) in documents.iter().enumerate() {
        let key = format!("kept/{n}.json");
        records.put(&key, document).await.unwrap();
        let read = records.get(&key).await.unwrap().expect("a stored document is there");
        assert_eq!(read.to_string(), document.to_string(), "{key} must read back as written");
    }
    let odd = "kept/odd !\"#$%&'()*+,;<=>?@[]^`{|}~ name.json";
    records.put(odd, &json!("odd")).await.unwrap();
    assert_eq!(records.get(odd).await.unwrap(), Some(json!("odd")));
    assert!(records.list("kept/").await.unwrap().contains(&odd.to_owned()));
    assert_eq!(records.get("kept").await.unwrap(), None, "a folder is no document");
    assert_eq!(records.get("kept/0.json/below").await.unwrap(), None);
    records.delete("kept/").await.unwrap();
}

async fn replaces(records: &dyn RecordStore) {
    for document in [json!({"long": "x".repeat(1000)}), json!(1), json!({"a": [1, 2]})] {
        records.put("replaced.json", &document).await.unwrap();
        assert_eq!(records.get("replaced.json").await.unwrap(), Some(document));
    }
    assert_eq!(records.list("").await.unwrap(), ["replaced.json"]);
    records.delete("replaced.json").await.unwrap();
}

async fn compare_and_swap_requires_the_precondition(records: &dyn RecordStore) {
    use Precondition::{Absent, Document, Unreadable};
    let key = "claims/a.json";
    let (one, two) = (json!({"n": 1}), json!({"n": 2}));
    let swap = async |expected: Precondition<'_>, new: &Value| {
        records.compare_and_swap(key, expected, new).await.unwrap()
    };
    assert!(!swap(Document(&one), &two).await, "nothing is there yet");
    assert!(!swap(Unreadable, &two).await, "nothing is there yet");
    assert!(swap(Absent, &one).await);
    assert!(!swap(Absent, &two).await, "something is there");
    assert!(!swap(Document(&two), &two).await, "something else is there");
    assert!(!swap(Unreadable, &two).await, "it can be read");
    assert_eq!(records.get(key).await.unwrap(), Some(one.clone()));
    assert!(swap(Document(&one), &two).await);
    assert_eq!(records.get(key).await.unwrap(), Some(two));
    records.delete(key).await.unwrap();
    let bad = records.compare_and_swap("../a", Absent, &one).await;
    refused(bad, ErrorKind::Invalid, "compare_and_swap ../a");

    // Each task increments the number, unless another task has changed it since this task read it.
    records.put(key, &json!(0)).await.unwrap();
    let add = async || {
        for _ in 0..3 {
            loop {
                let before = records.get(key).await.unwrap().unwrap();
                let after = json!(before.as_u64().unwrap() + 1);
                if swap(Document(&before), &after).await {
                    break;
                }
            }
        }
    };
    future::join_all((0..4).map(|_| add())).await;
    assert_eq!(records.get(key).await.unwrap(), Some(json!(12)), "no addition is lost");
    records.delete(key).await.unwrap();
}

async fn remove_requires_the_expected_content(records: &dyn RecordStore) {
    let key = "removed/a.json";
    let (one, two) = (json!({"n": 1}), json!({"n": 2}));
    assert!(!records.remove(key, &one).await.unwrap(), "nothing is there");
    records.put(key, &one).await.unwrap();
    assert!(!records.remove(key, &two).await.unwrap(), "something else is there");
    assert_eq!(records.get(key).await.unwrap(), Some(one.clone()));
    let removed = records.remove(key, &one).await.unwrap();
    let left = records.get(key).await.unwrap();
    assert_eq!(left.is_none(), removed, "what is said to be removed is gone, and else it stays");
    refused(records.remove("../a", &one).await, ErrorKind::Invalid, "remove ../a");
    records.delete(key).await.unwrap();
}

/// Checks that the version changes even if documents of equal size are written within one clock
/// tick.
async fn version_changes_with_every_write(records: &dyn RecordStore) {
    let key = "versions/video.json";
    assert_eq!(records.version(key).await.unwrap(), None, "there is no document");
    let (one, other) = (json!({"n": 1}), json!({"n": 2}));
    records.put(key, &one).await.unwrap();
    let Some(first) = records.version(key).await.unwrap() else { return };
    records.put("versions/other.json", &one).await.unwrap();
    let still = records.version(key).await.unwrap();
    assert_eq!(still.as_ref(), Some(&first), "nothing has changed it");
    let mut known = vec![Some(first)];
    for round in 0..20 {
        match round % 4 {
            0 => records.put(key, &other).await.unwrap(),
            1 => {
                let swapped = records.compare_and_swap(key, Some(&other).into(), &one).await;
                assert!(swapped.unwrap());
            }
            2 => records.put(key, &one).await.unwrap(),
            _ => {
                records.delete(if round % 8 == 3 { key } else { "versions/" }).await.unwrap();
                assert_eq!(records.version(key).await.unwrap(), None, "it is gone");
                records.put(key, &one).await.unwrap();
            }
        }
        let version = records.version(key).await.unwrap();
        assert!(!known.contains(&version), "round {round}: {version:?} was there before");
        known.push(version);
    }
    records.delete("versions/").await.unwrap();
}

async fn folder_version_changes_with_every_write(records: &dyn RecordStore) {
    let (folder, key) = ("versions/", "versions/a/one.json");
    let mut known = vec![records.folder_version(folder).await.unwrap()];
    if known[0].is_none() {
        return;
    }
    for round in 0..10 {
        match round % 5 {
            0 => records.put(key, &json!(1)).await.unwrap(),
            1 => assert!(
                records.compare_and_swap(key, Some(&json!(1)).into(), &json!(2)).await.unwrap()
            ),
            2 => records.put("versions/two.json", &json!(2)).await.unwrap(),
            3 => records.delete(key).await.unwrap(),
            _ => records.delete(folder).await.unwrap(),
        }
        let version = records.folder_version(folder).await.unwrap();
        assert!(!known.contains(&version), "round {round}: {version:?} was there before");
        known.push(version);
    }
    refused(records.folder_version("../").await, ErrorKind::Invalid, "the version of ../");
}

async fn lists(records: &dyn RecordStore) {
    // The keys are in byte order, in which the slash sorts after the dot and the hyphen.
    let keys = ["a-b/1", "a.json", "a/x/1", "a/x/2", "a/x/deep/er/3", "a/y", "ab/1", "b", "c/1"];
    for key in keys.iter().rev() {
        records.put(key, &json!(key)).await.unwrap();
    }
    assert_eq!(records.list("").await.unwrap(), keys);
    assert_eq!(records.list("a/").await.unwrap(), keys[2..6]);
    assert_eq!(records.list("a/x/").await.unwrap(), keys[2..5]);
    assert!(records.list("b/").await.unwrap().is_empty(), "a document is no folder");
    assert_eq!(records.children("a/").await.unwrap(), ["x", "y"]);
    assert_eq!(records.children("a/x/").await.unwrap(), ["1", "2", "deep"]);
    let top = ["a", "a-b", "a.json", "ab", "b", "c"];
    assert_eq!(records.children("").await.unwrap(), top);
    assert!(records.children("b/").await.unwrap().is_empty());
}

async fn deletes(records: &dyn RecordStore) {
    for key in ["v/1", "v/1.bak", "v/10/a", "v/2/a", "v/2/b/c"] {
        records.put(key, &json!(key)).await.unwrap();
    }
    records.delete("v/1").await.unwrap();
    assert_eq!(records.list("v/").await.unwrap(), ["v/1.bak", "v/10/a", "v/2/a", "v/2/b/c"]);
    assert_eq!(records.get("v/1").await.unwrap(), None);
    records.delete("v/2").await.expect("no document of that key is no error");
    records.delete("v/1.bak/").await.expect("no document below is no error");
    assert_eq!(records.list("v/").await.unwrap().len(), 4, "a folder is not removed by its name");
    records.delete("v/2/").await.unwrap();
    assert_eq!(records.list("v/").await.unwrap(), ["v/1.bak", "v/10/a"]);
    records.delete("v/10/a").await.unwrap();
    assert_eq!(records.children("v/").await.unwrap(), ["1.bak"], "what is empty is not listed");
    records.put("v/2/a", &json!("again")).await.unwrap();
    assert_eq!(records.get("v/2/a").await.unwrap(), Some(json!("again")));
    records.delete("v/").await.unwrap();
    assert!(!records.children("").await.unwrap().contains(&"v".to_owned()));
}

async fn concurrent_reads_see_whole_documents(records: &dyn RecordStore) {
    let version = |n: usize| json!(vec![n; 200 + n * 50]);
    records.put("busy.json", &version(0)).await.unwrap();
    let writers = future::join_all((0..4).map(|w| async move {
        for n in 0..10 {
            records.put("busy.json", &version(w * 10 + n)).await.unwrap();
        }
    }));
    let readers = future::join_all((0..4).map(|_| async move {
        for _ in 0..25 {
            let seen = records.get("busy.json").await.unwrap().expect("it is always there");
            let n = seen[0].as_u64().unwrap() as usize;
            assert_eq!(seen, version(n), "a reader must see one document, whole");
            assert_eq!(records.children("busy.json/").await.unwrap(), [""; 0]);
        }
    }));
    future::join(writers, readers).await;
    records.delete("busy.json").await.unwrap();
}

async fn writes_succeed_during_deletes(records: &dyn RecordStore) {
    let writers = future::join_all((0..4).map(|w| async move {
        for n in 0..10 {
            let key = format!("contested/{}/{w}-{n}.json", n % 2);
            records.put(&key, &json!(n)).await.expect("a write succeeds during deletes");
        }
    }));
    let deleters = future::join_all((0..2).map(|_| async move {
        for _ in 0..10 {
            records.delete("contested/").await.expect("a delete succeeds during writes");
            records.list("contested/").await.expect("a list succeeds during deletes");
        }
    }));
    future::join(writers, deleters).await;
    records.put("contested/last.json", &json!(1)).await.unwrap();
    assert_eq!(records.get("contested/last.json").await.unwrap(), Some(json!(1)));
    records.delete("contested/").await.unwrap();
    assert!(records.list("contested/").await.unwrap().is_empty());
}
