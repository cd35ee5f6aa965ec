//! Tests of the picture fields in the files of an embedded index.

use super::*;

/// The picture field.
const STILL: &str = "still";

/// Returns a batch whose points have pictures, except every fifth point.
fn batch_with_pictures(number: usize) -> Vec<Point> {
    let mut points = batch(number);
    for point in &mut points {
        if let Some(picture) = picture(number, point.id.chunk_id.index()) {
            point.vectors.insert(STILL.into(), picture);
        }
    }
    points
}

/// Returns the picture of a point: a distinct unit vector for each point that has one.
fn picture(number: usize, chunk: usize) -> Option<Vec<f32>> {
    let mut picture = vec![0.0; pictures().dimension];
    picture[..DIMENSION].copy_from_slice(&vector(number + 500, chunk));
    picture.rotate_right(number % 5);
    (!chunk.is_multiple_of(5)).then_some(picture)
}

/// Asserts that the index holds exactly the pictures of these batches, and the text of all of
/// `stored`.
async fn assert_pictures(index: &EmbeddedIndex, stored: &[usize], with_pictures: &[usize]) {
    for number in stored {
        assert_whole(index, *number).await;
    }
    let expected: Vec<_> = with_pictures
        .iter()
        .flat_map(|number| batch_with_pictures(*number))
        .filter_map(|mut point| Some((point.id, point.vectors.remove(STILL)?)))
        .collect();
    let found = index.vectors(&Filter::default(), STILL).await.unwrap();
    assert_eq!(found.len(), expected.len());
    assert!(found == expected, "the pictures of {with_pictures:?}");
    for (id, vector) in expected.into_iter().step_by(17) {
        let query = VectorQuery {
            field: STILL.into(),
            vector,
            filter: Filter::default(),
            limit: 1,
            threshold: Some(0.999),
            per_video: None,
        };
        assert_eq!(index.search(query).await.unwrap()[0].id, id);
    }
    index.check().await.unwrap();
}

fn with(folder: &Path, pictures: Option<PictureSpace>) -> EmbeddedOptions {
    EmbeddedOptions { pictures, ..options(folder) }
}

/// Adds batches without pictures, from number 10 on, until all earlier segments are merged.
async fn merge(index: EmbeddedIndex, folder: &Path) {
    let before = files_with(folder, "vectors");
    for number in 10..100 {
        index.replace(None, batch(number)).await.unwrap();
        let segments = files_with(folder, "vectors");
        if !before.iter().any(|file| segments.contains(file)) {
            return;
        }
    }
    panic!("{before:?} are not merged");
}

/// Returns the number of vector files that have a section of picture fields.
fn picture_sections(folder: &Path) -> usize {
    let has_pictures = |file: &std::path::PathBuf| {
        let bytes = std::fs::read(file).unwrap();
        bytes.windows(10).any(|text| text == b"\"pictures\"")
    };
    files_with(folder, "vectors").iter().filter(|file| has_pictures(file)).count()
}

#[tokio::test(flavor = "multi_thread")]
async fn pictures_survive_reopening_and_merging() {
    let folder = tempfile::tempdir().unwrap();
    let index = open(folder.path()).await;
    for number in 0..3 {
        index.replace(None, batch_with_pictures(number)).await.unwrap();
    }
    index.replace(Some(&Filter::video(video(1))), vec![]).await.unwrap();
    assert_pictures(&index, &[0, 2], &[0, 2]).await;
    drop(index);
    let index = open(folder.path()).await;
    assert_pictures(&index, &[0, 2], &[0, 2]).await;
    merge(index, folder.path()).await;
    let index = open(folder.path()).await;
    assert_pictures(&index, &[0, 2, 10, 13], &[0, 2]).await;
    assert_eq!(picture_sections(folder.path()), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn folder_without_pictures_accepts_them() {
    let folder = tempfile::tempdir().unwrap();
    let index = EmbeddedIndex::open(with(folder.path(), None)).await.unwrap();
    index.replace(None, batch(0)).await.unwrap();
    drop(index);
    assert_eq!(picture_sections(folder.path()), 0);
    let index = open(folder.path()).await;
    assert_pictures(&index, &[0], &[]).await;
    index.replace(None, batch_with_pictures(1)).await.unwrap();
    assert_pictures(&index, &[0, 1], &[1]).await;
    merge(index, folder.path()).await;
    assert_pictures(&open(folder.path()).await, &[0, 1, 10, 13], &[1]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn folder_with_pictures_opens_without_them() {
    let folder = tempfile::tempdir().unwrap();
    let index = open(folder.path()).await;
    index.replace(None, batch_with_pictures(0)).await.unwrap();
    drop(index);
    let index = EmbeddedIndex::open(with(folder.path(), None)).await.unwrap();
    assert_pictures(&index, &[0], &[]).await;
    index.replace(None, batch(1)).await.unwrap();
    drop(index);
    // The pictures stay in their segment until it is merged.
    assert_pictures(&open(folder.path()).await, &[0, 1], &[0]).await;
    let index = EmbeddedIndex::open(with(folder.path(), None)).await.unwrap();
    merge(index, folder.path()).await;
    assert_eq!(picture_sections(folder.path()), 0);
    assert_pictures(&open(folder.path()).await, &[0, 1, 10, 13], &[]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn pictures_of_another_model_are_ignored() {
    let other_model = PictureSpace { model: "another".into(), ..pictures() };
    let other_dimension = PictureSpace { dimension: 20, ..pictures() };
    for other in [other_model, other_dimension] {
        let folder = tempfile::tempdir().unwrap();
        let index = EmbeddedIndex::open(with(folder.path(), Some(other.clone()))).await.unwrap();
        let mut points = batch_with_pictures(0);
        for point in &mut points {
            if let Some(picture) = point.vectors.get_mut(STILL) {
                picture.resize(other.dimension, 0.0);
            }
        }
        index.replace(None, points).await.unwrap();
        drop(index);
        let index = open(folder.path()).await;
        assert_pictures(&index, &[0], &[]).await;
        index.replace(None, batch_with_pictures(1)).await.unwrap();
        assert_pictures(&index, &[0, 1], &[1]).await;
        merge(index, folder.path()).await;
        assert_pictures(&open(folder.path()).await, &[0, 1, 10, 13], &[1]).await;
        let index = EmbeddedIndex::open(with(folder.path(), Some(other))).await.unwrap();
        assert_pictures(&index, &[0, 1], &[]).await;
    }
}

/// A field may move between the two spaces. Vectors that were written before it moved are ignored.
#[tokio::test(flavor = "multi_thread")]
async fn field_that_becomes_a_picture_field_starts_empty() {
    let folder = tempfile::tempdir().unwrap();
    let index = EmbeddedIndex::open(with(folder.path(), None)).await.unwrap();
    let mut points = batch(0);
    for point in &mut points {
        let text = point.vectors["combined"].clone();
        point.vectors.insert(STILL.into(), text);
    }
    index.replace(None, points).await.unwrap();
    assert_eq!(index.vectors(&Filter::default(), STILL).await.unwrap().len(), SIZE);
    drop(index);
    let index = open(folder.path()).await;
    assert_pictures(&index, &[0], &[]).await;
    index.replace(None, batch_with_pictures(1)).await.unwrap();
    merge(index, folder.path()).await;
    assert_pictures(&open(folder.path()).await, &[0, 1, 10, 13], &[1]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn damaged_pictures_are_detected() {
    let mut random = Random(7);
    for _ in 0..4 {
        let folder = tempfile::tempdir().unwrap();
        let index = open(folder.path()).await;
        index.replace(None, batch_with_pictures(0)).await.unwrap();
        drop(index);
        let [file] = &files_with(folder.path(), "vectors")[..] else { panic!("one segment") };
        let mut bytes = std::fs::read(file).unwrap();
        // The picture rows follow the rows of the other fields.
        let components: Vec<u8> =
            picture(0, 1).unwrap().iter().flat_map(|x| x.to_le_bytes()).collect();
        let first = bytes.windows(components.len()).position(|row| row == components).unwrap();
        bytes[first + random.below(20 * components.len())] ^= 1 << random.below(8);
        std::fs::write(file, bytes).unwrap();
        let found = match EmbeddedIndex::open(options(folder.path())).await {
            Ok(index) => index.check().await,
            Err(error) => Err(error),
        };
        let error = found.expect_err("a bit has flipped");
        assert_eq!(error.kind(), ErrorKind::Corrupt, "{error}");
        assert!(error.to_string().contains("shotlog reindex"), "{error}");
    }
}
