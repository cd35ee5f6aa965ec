//! The suite for adapters of the `ocr` port.

use super::detector::{malformed, noise};
use crate::{
    ErrorKind,
    decoder::Image,
    ocr::{ReadImage, TextLine, TextRecognizer, TextRecognizerExt},
};

/// Checks every requirement of the port. `page` is an image with at least one line that the adapter
/// reads.
pub async fn suite(reader: &dyn TextRecognizer, page: &Image) {
    assert!(!reader.model().is_empty(), "a reader names its model");
    malformed_image_is_invalid(reader).await;
    reads_lines(reader, page).await;
    blank_image_has_no_lines(reader).await;
    any_image_size_is_accepted(reader).await;
    results_are_deterministic(reader, page).await;
    earlier_image_does_not_change_the_text(reader, page).await;
}

async fn malformed_image_is_invalid(reader: &dyn TextRecognizer) {
    for image in malformed() {
        let error = reader.read(&image).await.expect_err("a malformed picture is refused");
        assert_eq!(error.kind(), ErrorKind::Invalid, "a malformed picture is the input's fault");
    }
}

async fn reads_lines(reader: &dyn TextRecognizer, page: &Image) {
    let lines = reader.read(page).await.expect("a picture is read");
    assert!(!lines.is_empty(), "the page holds text");
    check(&lines);
}

async fn blank_image_has_no_lines(reader: &dyn TextRecognizer) {
    for value in [0, 128, 255] {
        let blank = Image { width: 160, height: 120, rgb: vec![value; 160 * 120 * 3] };
        let lines = reader.read(&blank).await.expect("a blank picture is no error");
        assert_eq!(lines, [], "a blank picture holds no text");
    }
}

async fn any_image_size_is_accepted(reader: &dyn TextRecognizer) {
    for (width, height) in [(1, 1), (3, 500), (500, 3), (64, 48), (1921, 7)] {
        let lines =
            reader.read(&noise(width, height)).await.expect("a picture of any size is read");
        check(&lines);
    }
}

async fn results_are_deterministic(reader: &dyn TextRecognizer, page: &Image) {
    let first = reader.read(page).await.unwrap();
    let other = noise(97, 61);
    let (a, b, c) = futures::join!(reader.read(page), reader.read(&other), reader.read(page));
    b.expect("pictures are read in parallel");
    assert_eq!(a.unwrap(), first, "the same picture gives the same lines");
    assert_eq!(c.unwrap(), first, "the same picture gives the same lines");
}

async fn earlier_image_does_not_change_the_text(reader: &dyn TextRecognizer, page: &Image) {
    let lines = reader.read(page).await.unwrap();
    let before = ReadImage { image: page.clone(), lines: lines.clone() };
    let again = reader.read_after(page, Some(&before)).await.expect("a picture is read");
    assert_eq!(again, lines, "the same picture gives the same lines");
    let blank = Image { rgb: vec![255; page.rgb.len()], ..*page };
    let gone = reader.read_after(&blank, Some(&before)).await.expect("a picture is read");
    assert_eq!(gone, [], "lines that are gone are not read");
    for image in malformed() {
        let before = ReadImage { image, lines: lines.clone() };
        let read = reader.read_after(page, Some(&before)).await.expect("a picture is read");
        assert_eq!(read, lines, "an earlier picture of another size has no effect");
    }
}

fn check(lines: &[TextLine]) {
    for line in lines {
        assert!(!line.text.is_empty(), "a line holds text");
        assert_eq!(line.text, line.text.trim(), "no space surrounds a line");
        assert!(!line.text.contains(['\n', '\r']), "a line is one line");
        assert!(
            line.confidence > 0.0 && line.confidence <= 1.0,
            "confidence of {line:?} is in 0..1"
        );
        let [x, y, width, height] = line.bounds;
        assert!(
            x >= 0.0 && y >= 0.0 && width > 0.0 && height > 0.0,
            "{line:?} has an extent inside the picture"
        );
        assert!(x + width <= 1.0001 && y + height <= 1.0001, "{line:?} ends inside the picture");
    }
}
