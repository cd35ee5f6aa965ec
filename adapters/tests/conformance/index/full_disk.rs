//! An embedded index on a disk without space.

use super::*;
use crate::small_disk;

#[tokio::test(flavor = "multi_thread")]
async fn full_disk_is_reported_until_there_is_space() {
    let test = "index::full_disk::full_disk_is_reported_until_there_is_space";
    let Some(disk) = small_disk::open(test) else { return };
    let index = open(&disk.join("index")).await;
    index.replace(None, batches(0..4)).await.unwrap();
    let filler = small_disk::fill(&disk);
    for _ in 0..3 {
        small_disk::assert_full(&index.replace(None, batch(4)).await.unwrap_err());
        let scope = Filter::video(video(1));
        small_disk::assert_full(&index.replace(Some(&scope), vec![]).await.unwrap_err());
        index.probe().await.unwrap();
        assert_whole(&index, 1).await;
    }
    std::fs::remove_file(filler).unwrap();
    index.replace(Some(&Filter::video(video(1))), batch(4)).await.unwrap();
    for number in [0, 2, 3, 4] {
        assert_whole(&index, number).await;
    }
    assert_eq!(index.count(&Filter::default()).await.unwrap(), 4 * SIZE as u64);
}

/// Segments that are written while points still come in.
#[tokio::test(flavor = "multi_thread")]
async fn full_disk_is_reported_amid_a_large_batch() {
    let test = "index::full_disk::full_disk_is_reported_amid_a_large_batch";
    let Some(disk) = small_disk::open(test) else { return };
    let index = open(&disk.join("index")).await;
    index.replace(None, batch(0)).await.unwrap();
    let filler = small_disk::fill(&disk);
    let mut points = batches(1..400);
    for (number, point) in points.iter_mut().enumerate() {
        point.text = (0..40).map(|word| format!("word{word}of{number} ")).collect();
    }
    small_disk::assert_full(&index.replace(None, points).await.unwrap_err());
    std::fs::remove_file(filler).unwrap();
    index.replace(None, batch(1)).await.unwrap();
    assert_whole(&index, 0).await;
    assert_eq!(index.count(&Filter::default()).await.unwrap(), 2 * SIZE as u64);
}
