//! The suite for adapters of the `storage` port.

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use bytes::Bytes;
use futures::{StreamExt, TryStreamExt, channel::mpsc, future, stream};

use crate::storage::ObjectStorage;
use crate::{ByteStream, ErrorKind, PortError, Result};

/// Invalid keys.
pub(super) const BAD_KEYS: &[&str] = &[
    "",
    "/",
    "/a",
    "a/",
    "a//b",
    ".",
    "..",
    "./a",
    "../a",
    "a/..",
    "a/.",
    "a/../b",
    "a/./b",
    ".hidden/a",
    "a\\b",
    "a/\u{0}b",
    "a/\nb",
    "a/\u{7f}",
    "a/\u{85}b",
    " a",
    "a /b",
    "a/b ",
];

/// Checks every requirement of the port except bounded memory. The bucket may hold other objects:
/// the suite uses a unique prefix and removes its own objects at the end.
pub async fn check(storage: Arc<dyn ObjectStorage>) {
    let base = format!("conformance-{:x}", unique());
    bad_keys_are_invalid(&*storage).await;
    missing_items_are_none(&*storage, &base).await;
    stores_and_reads(&*storage, &base).await;
    reads_ranges(&*storage, &base).await;
    replaces(&*storage, &base).await;
    failed_stream_keeps_the_earlier_object(&*storage, &base).await;
    incomplete_objects_are_invisible(&*storage, &base).await;
    abandoned_put_leaves_nothing(&storage, &base).await;
    concurrent_reads_see_whole_objects(&*storage, &base).await;
    deletes_by_prefix(&*storage, &base).await;
    deletes_one_object(&*storage, &base).await;
    public_urls_round_trip(&*storage, &base);
    probes(&*storage).await;
    storage.delete_prefix(&format!("{base}/")).await.expect("the check's objects go");
    let left = storage.delete_prefix(&format!("{base}/")).await.expect("nothing is no error");
    assert!(left.is_empty(), "objects survived their removal: {left:?}");
}

/// Stores and reads `size` bytes that are generated on demand, and fails if more than `limit` of
/// them are in memory at once.
pub async fn check_bounded_memory(storage: Arc<dyn ObjectStorage>, size: u64, limit: u64) {
    const BLOCK: u64 = 64 << 10;
    let key = format!("conformance-{:x}/large.mp4", unique());
    let alive = Arc::new(Alive::default());
    let counted = alive.clone();
    let blocks = stream::iter(0..size / BLOCK)
        .map(move |at| Ok(counted.block(vec![at as u8; BLOCK as usize])));
    storage.put(&key, blocks.boxed(), "video/mp4").await.expect("a large object is stored");
    let peak = alive.peak.load(Ordering::SeqCst);
    assert!(peak <= limit, "put held {peak} bytes of {size} at once; {limit} are allowed");

    let info = storage.stat(&key).await.unwrap().expect("the large object is there");
    assert_eq!(info.size, size / BLOCK * BLOCK);
    let mut at = 0;
    let mut content = storage.get(&key, None).await.unwrap();
    while let Some(block) = content.try_next().await.expect("a large object is read") {
        assert!(block.len() as u64 <= limit, "get yields {} bytes at once", block.len());
        for byte in block {
            assert_eq!(byte, (at / BLOCK) as u8, "wrong content at byte {at}");
            at += 1;
        }
    }
    assert_eq!(at, info.size, "the large object reads back whole");
    let folder = key.rsplit_once('/').unwrap().0;
    storage.delete_prefix(&format!("{folder}/")).await.unwrap();
}

async fn bad_keys_are_invalid(storage: &dyn ObjectStorage) {
    let long_segment = "x".repeat(201);
    let long_key = vec!["x".repeat(100); 11].join("/");
    for key in BAD_KEYS.iter().copied().chain([&*long_segment, &*long_key]) {
        let put = storage.put(key, content(&[b"x"]), "video/mp4").await;
        refused(put, ErrorKind::Invalid, &format!("put {key:?}"));
        refused(storage.stat(key).await, ErrorKind::Invalid, &format!("stat {key:?}"));
        refused(storage.get(key, None).await, ErrorKind::Invalid, &format!("get {key:?}"));
    }
    for prefix in ["", "/", "a", "../", "a/../", "a//", "./", ".hidden/", "a\\/"] {
        let what = format!("delete_prefix {prefix:?}");
        refused(storage.delete_prefix(prefix).await, ErrorKind::Invalid, &what);
    }
}

async fn missing_items_are_none(storage: &dyn ObjectStorage, base: &str) {
    let key = format!("{base}/absent/clip.mp4");
    assert_eq!(storage.stat(&key).await.unwrap(), None);
    refused(storage.get(&key, None).await, ErrorKind::NotFound, "get of nothing");
    refused(storage.get(&key, Some(0..1)).await, ErrorKind::NotFound, "a range of nothing");
    let removed = storage.delete_prefix(&format!("{base}/absent/")).await.unwrap();
    assert!(removed.is_empty(), "nothing to remove: {removed:?}");
}

async fn stores_and_reads(storage: &dyn ObjectStorage, base: &str) {
    let objects: Vec<Vec<u8>> = (0..1000).map(|n| vec![n as u8; n % 7]).collect();
    let cases: &[(&str, Vec<&[u8]>)] = &[
        ("clip.mp4", vec![b"hello, ", b"world"]),
        ("empty.mp4", vec![]),
        ("empty-blocks.mp4", vec![b"", b"", b"x", b""]),
        ("many-blocks.mp4", objects.iter().map(Vec::as_slice).collect()),
        ("a/b/c/deep.mp4", vec![b"deep"]),
        ("odd !\"#$%&'()*+,;<=>?@[]^_`{|}~ name..mp4", vec![b"odd"]),
        (".hidden.mp4", vec![b"a dot below the first segment"]),
        ("100%41.mp4", vec![b"not an A"]),
        ("夏休み Größe 🎬.mp4", vec![b"any script"]),
    ];
    for (name, blocks) in cases {
        let key = format!("{base}/round/{name}");
        storage.put(&key, content(blocks), "video/mp4").await.expect(name);
        let expected = blocks.concat();
        assert_eq!(bytes(storage, &key, None).await, expected, "{name}");
        let info = storage.stat(&key).await.unwrap().expect(name);
        assert_eq!(info.size, expected.len() as u64, "{name}");
        if let Some(stored_type) = info.content_type {
            assert_eq!(stored_type, "video/mp4", "{name}");
        }
        if let Some(etag) = info.etag {
            assert!(!etag.is_empty() && !etag.contains('"'), "{name} has the etag {etag:?}");
            let again = storage.stat(&key).await.unwrap().expect(name).etag;
            assert_eq!(again.as_deref(), Some(&*etag), "{name} keeps its etag");
        }
    }
    let folder = format!("{base}/round/a/b");
    assert_eq!(storage.stat(&folder).await.unwrap(), None, "a folder is no object");
    refused(storage.get(&folder, None).await, ErrorKind::NotFound, "get of a folder");
    let below = format!("{base}/round/clip.mp4/below");
    assert_eq!(storage.stat(&below).await.unwrap(), None, "an object is no folder");
    refused(storage.get(&below, None).await, ErrorKind::NotFound, "get below an object");
}

async fn reads_ranges(storage: &dyn ObjectStorage, base: &str) {
    let key = format!("{base}/ranges.bin");
    let data: Vec<u8> = (0..100_000u32).map(|n| (n % 251) as u8).collect();
    storage.put(&key, content(&[&data]), "application/octet-stream").await.unwrap();
    let size = data.len() as u64;
    for range in [0..1, 0..size, 1..2, 99_999..size, 70_000..90_000, 5..5, 0..0, size..size] {
        let expected = &data[range.start as usize..range.end as usize];
        assert_eq!(bytes(storage, &key, Some(range.clone())).await, expected, "{range:?}");
    }
    #[expect(clippy::reversed_empty_ranges, reason = "must be refused")]
    for range in [0..size + 1, size..size + 1, size + 1..size + 1, 5..4, 0..u64::MAX] {
        let what = format!("range {range:?} of {size} bytes");
        refused(storage.get(&key, Some(range)).await, ErrorKind::Invalid, &what);
    }
}

async fn replaces(storage: &dyn ObjectStorage, base: &str) {
    let key = format!("{base}/replaced.mp4");
    let mut etags = BTreeSet::new();
    let contents: [&[u8]; 4] = [b"a long first content", b"short", b"other", b""];
    for text in contents {
        storage.put(&key, content(&[text]), "video/mp4").await.unwrap();
        assert_eq!(bytes(storage, &key, None).await, text);
        let info = storage.stat(&key).await.unwrap().unwrap();
        assert_eq!(info.size, text.len() as u64);
        if let Some(etag) = info.etag {
            assert!(etags.insert(etag), "an etag must change with the content");
        }
    }
}

async fn failed_stream_keeps_the_earlier_object(storage: &dyn ObjectStorage, base: &str) {
    let failing = |blocks: usize| -> ByteStream {
        let before = stream::iter((0..blocks).map(|_| Ok(Bytes::from(vec![b'n'; 300_000]))));
        let error = PortError::new(ErrorKind::TooLarge, "over the limit");
        before.chain(stream::iter([Err(error)])).boxed()
    };
    for blocks in [0, 1, 40] {
        let new = format!("{base}/failed-{blocks}/new.mp4");
        let error = storage.put(&new, failing(blocks), "video/mp4").await.expect_err("it failed");
        assert_eq!(error.kind(), ErrorKind::TooLarge, "the stream's own error comes back");
        assert_eq!(error.to_string(), "over the limit");
        assert_eq!(storage.stat(&new).await.unwrap(), None, "a failed stream leaves nothing");

        let old = format!("{base}/failed-{blocks}/old.mp4");
        storage.put(&old, content(&[b"old"]), "video/mp4").await.unwrap();
        storage.put(&old, failing(blocks), "video/mp4").await.expect_err("it failed");
        assert_eq!(bytes(storage, &old, None).await, b"old", "the earlier object stays");
        let removed = storage.delete_prefix(&format!("{base}/failed-{blocks}/")).await.unwrap();
        assert_eq!(removed, [old]);
    }
}

async fn incomplete_objects_are_invisible(storage: &dyn ObjectStorage, base: &str) {
    for earlier in [None, Some("old")] {
        let key = format!("{base}/partial-{}.mp4", earlier.unwrap_or("new"));
        if let Some(text) = earlier {
            storage.put(&key, content(&[text.as_bytes()]), "video/mp4").await.unwrap();
        }
        let (mut sender, receiver) = mpsc::channel::<Result<Bytes>>(0);
        let put = storage.put(&key, receiver.boxed(), "video/mp4");
        let watch = async {
            for _ in 0..20 {
                let block = Bytes::from(vec![b'n'; 100_000]);
                futures::SinkExt::send(&mut sender, Ok(block)).await.unwrap();
                let seen = storage.stat(&key).await.unwrap();
                assert_eq!(
                    seen.map(|info| info.size),
                    earlier.map(|text| text.len() as u64),
                    "a reader must not see a part"
                );
            }
            drop(sender);
        };
        let (stored, ()) = future::join(put, watch).await;
        stored.unwrap();
        assert_eq!(storage.stat(&key).await.unwrap().unwrap().size, 2_000_000);
    }
}

async fn abandoned_put_leaves_nothing(storage: &Arc<dyn ObjectStorage>, base: &str) {
    let key = format!("{base}/abandoned/old.mp4");
    storage.put(&key, content(&[b"old"]), "video/mp4").await.unwrap();
    for key in [key.clone(), format!("{base}/abandoned/new.mp4")] {
        let (mut sender, receiver) = mpsc::channel::<Result<Bytes>>(0);
        let (storage, target) = (storage.clone(), key.clone());
        let put =
            tokio::spawn(async move { storage.put(&target, receiver.boxed(), "video/mp4").await });
        for _ in 0..20 {
            let block = Bytes::from(vec![b'n'; 100_000]);
            futures::SinkExt::send(&mut sender, Ok(block)).await.unwrap();
        }
        put.abort();
        assert!(put.await.unwrap_err().is_cancelled());
    }
    let removed = storage.delete_prefix(&format!("{base}/abandoned/")).await.unwrap();
    assert_eq!(removed, std::slice::from_ref(&key), "an abandoned put leaves nothing new");
}

async fn concurrent_reads_see_whole_objects(storage: &dyn ObjectStorage, base: &str) {
    let key = &format!("{base}/busy.mp4");
    let version = |n: u8| vec![n; 50_000 + usize::from(n) * 1000];
    let write = async |n: u8| {
        let data = version(n);
        let blocks: Vec<&[u8]> = data.chunks(7000).collect();
        storage.put(key, content(&blocks), "video/mp4").await.unwrap();
    };
    write(0).await;
    let writers = future::join_all((0..4).map(|w| async move {
        for n in 0..5 {
            write(w * 5 + n).await;
        }
    }));
    let readers = future::join_all((0..4).map(|_| async move {
        for _ in 0..10 {
            let seen = bytes(storage, key, None).await;
            assert_eq!(seen, version(seen[0]), "a reader must see one object, whole");
        }
    }));
    future::join(writers, readers).await;
}

async fn deletes_by_prefix(storage: &dyn ObjectStorage, base: &str) {
    let within = ["v1/b.mp4", "v1/a.mp4", "v1/a/z.jpg", "v1/a-b.jpg", "v1/c/d/e.bin"];
    let others = ["v10/a.mp4", "v1.mp4", "v/1/a.mp4", "w/v1/a.mp4"];
    let full = |key: &&str| format!("{base}/delete/{key}");
    for key in within.iter().chain(&others) {
        storage.put(&full(key), content(&[key.as_bytes()]), "video/mp4").await.unwrap();
    }
    let mut expected: Vec<String> = within.iter().map(full).collect();
    expected.sort();
    let prefix = format!("{base}/delete/v1/");
    assert_eq!(storage.delete_prefix(&prefix).await.unwrap(), expected);
    for key in &expected {
        assert_eq!(storage.stat(key).await.unwrap(), None, "{key} must be gone");
    }
    for key in &others {
        assert_eq!(bytes(storage, &full(key), None).await, key.as_bytes(), "{key} must stay");
    }
    assert!(storage.delete_prefix(&prefix).await.unwrap().is_empty(), "nothing is left");
    storage.put(&expected[0], content(&[b"again"]), "video/mp4").await.unwrap();
    assert_eq!(storage.delete_prefix(&prefix).await.unwrap(), &expected[..1]);

    let objects: Vec<String> = (0..50).map(|n| format!("{base}/many/{n:02}.jpg")).collect();
    for key in &objects {
        storage.put(key, content(&[b"x"]), "image/jpeg").await.unwrap();
    }
    assert_eq!(storage.delete_prefix(&format!("{base}/many/")).await.unwrap(), objects);
}

fn public_urls_round_trip(storage: &dyn ObjectStorage, base: &str) {
    let mut urls = BTreeSet::new();
    for name in
        ["clip.mp4", "a b.mp4", "a+b.mp4", "a%20b.mp4", "q?x=1#f.mp4", "a/b/c.mp4", "夏休み.mp4"]
    {
        let key = format!("{base}/{name}");
        let url = storage.public_url(&key);
        assert!(url.starts_with("http://") || url.starts_with("https://"), "{url}");
        assert!(url.bytes().all(|b| b.is_ascii_graphic()), "{url} must be a valid url");
        assert!(!url.contains(['?', '#']), "{url} must not have a query or fragment");
        assert_eq!(storage.key_from_url(&url).as_deref(), Some(&*key), "{url}");
        assert_eq!(storage.key_from_url(&format!("{url}?t=1#x")).as_deref(), Some(&*key));
        let (scheme, rest) = url.split_once("://").unwrap();
        let (host, path) = rest.split_once('/').unwrap();
        assert_eq!(storage.key_from_url(&format!("{scheme}://x{host}/{path}")), None);
        assert_eq!(storage.key_from_url(&format!("{scheme}://user@{host}/{path}")), None);
        assert_eq!(storage.key_from_url(&format!("ftp://{host}/{path}")), None);
        urls.insert(url);
    }
    assert_eq!(urls.len(), 7, "different keys have different urls");
    let url = storage.public_url(&format!("{base}/clip.mp4"));
    for bad in ["/../secret", "/%2e%2e/secret", "%2f..%2fsecret", "/", "%5csecret", "%00"] {
        assert_eq!(storage.key_from_url(&format!("{url}{bad}")).filter(|k| k.contains("..")), None);
    }
    for other in ["", "clip.mp4", "not a url", "http://"] {
        assert_eq!(storage.key_from_url(other), None, "{other:?}");
    }
}

async fn deletes_one_object(storage: &dyn ObjectStorage, base: &str) {
    let key = |name: &str| format!("{base}/one/{name}");
    for name in ["a.mp4", "a.mp4.jpg", "b/c.mp4"] {
        storage.put(&key(name), content(&[b"x"]), "video/mp4").await.unwrap();
    }
    let list = async || storage.list(&key("")).await.unwrap();
    assert_eq!(list().await, [key("a.mp4"), key("a.mp4.jpg"), key("b/c.mp4")]);
    storage.delete(&key("a.mp4")).await.unwrap();
    storage.delete(&key("a.mp4")).await.expect("nothing there is no error");
    storage.delete(&key("b/c.mp4")).await.unwrap();
    assert_eq!(list().await, [key("a.mp4.jpg")]);
    storage.delete(&key("a.mp4.jpg")).await.unwrap();
    assert_eq!(list().await, [""; 0]);
    storage.put(&key("a.mp4"), content(&[b"y"]), "video/mp4").await.expect("it can come back");
    for bad in ["", "/", "../a", "a/"] {
        refused(storage.delete(bad).await, ErrorKind::Invalid, &format!("delete {bad:?}"));
    }
    refused(storage.list("a").await, ErrorKind::Invalid, "list \"a\"");
}

async fn probes(storage: &dyn ObjectStorage) {
    assert!(!storage.bucket().is_empty(), "a bucket has a name");
    storage.probe().await.expect("a working bucket passes the probe");
    for probed in future::join_all((0..8).map(|_| storage.probe())).await {
        probed.expect("probes do not disturb each other");
    }
}

/// Counts the generated bytes that are still in memory.
#[derive(Default)]
struct Alive {
    now: AtomicU64,
    peak: AtomicU64,
}

impl Alive {
    fn block(self: &Arc<Self>, data: Vec<u8>) -> Bytes {
        let now = self.now.fetch_add(data.len() as u64, Ordering::SeqCst) + data.len() as u64;
        self.peak.fetch_max(now, Ordering::SeqCst);
        Bytes::from_owner(CountedBytes { data, alive: self.clone() })
    }
}

struct CountedBytes {
    data: Vec<u8>,
    alive: Arc<Alive>,
}

impl AsRef<[u8]> for CountedBytes {
    fn as_ref(&self) -> &[u8] {
        &self.data
    }
}

impl Drop for CountedBytes {
    fn drop(&mut self) {
        self.alive.now.fetch_sub(self.data.len() as u64, Ordering::SeqCst);
    }
}

fn content(blocks: &[&[u8]]) -> ByteStream {
    let blocks: Vec<Bytes> = blocks.iter().map(|block| Bytes::copy_from_slice(block)).collect();
    stream::iter(blocks.into_iter().map(Ok)).boxed()
}

async fn bytes(storage: &dyn ObjectStorage, key: &str, range: Option<Range<u64>>) -> Vec<u8> {
    let blocks: Vec<Bytes> = storage.get(key, range).await.unwrap().try_collect().await.unwrap();
    blocks.concat()
}

pub(super) fn refused<T>(result: Result<T>, kind: ErrorKind, what: &str) {
    match result {
        Ok(_) => panic!("{what} must fail as {kind:?}"),
        Err(e) => assert_eq!(e.kind(), kind, "{what} failed with: {e}"),
    }
}

fn unique() -> u128 {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
    now.as_nanos() ^ u128::from(std::process::id()).rotate_left(64)
}
