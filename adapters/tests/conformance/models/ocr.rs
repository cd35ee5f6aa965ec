//! Tests of OCR on images and overlays with known text.
#![cfg(feature = "onnx")]

use std::path::Path;
use std::process::Command;

use ports::{
    conformance,
    decoder::Image,
    ocr::{TextRecognizer, TextRecognizerExt},
};
use shotlog_adapters::ocr::{PpOcr, PpOcrOptions};

use super::support;

#[tokio::test]
async fn reads_text_in_images() {
    let Some(truth) = support::truth() else { return };
    for reader in readers() {
        reads_pictures(&reader, &truth).await;
    }
}

async fn reads_pictures(reader: &PpOcr, truth: &serde_json::Value) {
    for (name, key) in [
        ("ocr_en.jpg", "text"),
        ("ocr_ch_en_num.jpg", "text_contains"),
        ("ocr_issue_170.png", "text"),
        ("ocr_en_rec.jpg", "text"),
    ] {
        let Some(picture) = support::picture(name) else { return };
        let read = texts(reader, &picture).await;
        println!("{} {name}: {read:#?}", reader.model());
        for line in truth[name][key].as_array().unwrap() {
            let line = line.as_str().unwrap();
            let wrong = read.iter().map(|r| distance(&bare(line), &bare(r))).min();
            assert!(wrong.is_some_and(|w| w <= 1), "{line:?} is not among {read:?} of {name}");
        }
    }
    let Some(page) = support::picture("ocr_en.jpg") else { return };
    conformance::ocr::suite(reader, &page).await;
}

#[tokio::test]
async fn reads_overlays_with_their_spaces() {
    for reader in readers() {
        reads_overlays(&reader).await;
    }
}

async fn reads_overlays(reader: &PpOcr) {
    let (mut read_all, mut spaced) = (0, 0);
    for (time, overlay) in [
        (1.5, "DEMO REEL 2026"),
        (8.6, "CAMERA 07 NORTH GATE"),
        (21.2, "SPEED LIMIT 45"),
        (38.9, "PLEASE FASTEN SEAT BELTS"),
    ] {
        let Some(frame) = frame("demo_public.mp4", time) else { return };
        let read = texts(reader, &frame).await;
        println!("{} {time} s: {read:?}", reader.model());
        let best = read.iter().min_by_key(|r| distance(&bare(overlay), &bare(r))).unwrap();
        read_all += usize::from(distance(&bare(overlay), &bare(best)) <= 1);
        spaced += usize::from(distance(overlay, best) <= 1);
    }
    assert_eq!(read_all, 4, "overlays read");
    assert!(spaced >= 3, "{spaced} overlays have their spaces");
}

#[tokio::test]
async fn reads_accented_letters() {
    let Some(font) = DEJAVU.iter().map(Path::new).find(|font| font.is_file()) else {
        eprintln!("skipped: DejaVu Sans is not installed");
        return;
    };
    for reader in readers().iter().filter(|reader| reader.model() == "ppocrv5") {
        for line in
            ["Größere Straße gesperrt", "Défense de fumer à l'intérieur", "Mañana está aquí"]
        {
            let Some(picture) = written(line, font) else { return };
            let read = texts(reader, &picture).await;
            let read = read.join(" ");
            assert!(distance(line, &read) <= 1, "{read:?} instead of {line:?}");
        }
    }
}

#[tokio::test]
async fn reads_upside_down_and_rotated_lines() {
    let Some(picture) = support::picture("ocr_issue_170.png") else { return };
    let rgb = image::RgbImage::from_raw(picture.width, picture.height, picture.rgb).unwrap();
    let turned = image::imageops::rotate180(&rgb);
    let turned = Image { width: turned.width(), height: turned.height(), rgb: turned.into_raw() };
    for reader in readers() {
        assert_eq!(texts(&reader, &turned).await, ["TEST"], "{}", reader.model());
    }
}

/// Returns a text recognizer for every available version of the recognition network.
fn readers() -> Vec<PpOcr> {
    let Some(runtime) = support::runtime() else { return Vec::new() };
    let options = |recognition| {
        Some(PpOcrOptions {
            orientation: support::model("ocr/ch_ppocr_mobile_v2.0_cls_infer.onnx"),
            ..PpOcrOptions::new(
                support::model("ocr/ch_PP-OCRv4_det_infer.onnx")?,
                support::model(recognition)?,
            )
        })
    };
    let v5 = options("ocr/ppocrv5_rec.onnx").map(|options| PpOcrOptions {
        characters: support::model("ocr/ppocr_keys_v5.txt"),
        ..options
    });
    let v4 = options("ocr/ch_PP-OCRv4_rec_infer.onnx")
        .map(|options| PpOcrOptions { recover_spaces: true, ..options });
    let there = [v5, v4].into_iter().flatten();
    there.map(|options| PpOcr::open(&runtime, options).unwrap()).collect()
}

async fn texts(reader: &PpOcr, picture: &Image) -> Vec<String> {
    reader.read(picture).await.unwrap().into_iter().map(|line| line.text).collect()
}

const DEJAVU: [&str; 2] = [
    "/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf",
    "/usr/share/fonts/dejavu-sans-fonts/DejaVuSans.ttf",
];

/// Renders an image that shows `line`, using the `ffmpeg` program.
fn written(line: &str, font: &Path) -> Option<Image> {
    let folder = tempfile::tempdir().unwrap();
    let text = folder.path().join("line.txt");
    std::fs::write(&text, line).unwrap();
    let drawn = format!(
        "drawtext=fontfile={}:textfile={}:fontsize=36:fontcolor=white:x=40:y=60",
        font.display(),
        text.display()
    );
    let mut ffmpeg = Command::new("ffmpeg");
    ffmpeg.args(["-v", "error", "-f", "lavfi", "-i", "color=navy:s=720x160", "-vf", &drawn]);
    ffmpeg.args(["-frames:v", "1", "-f", "image2pipe", "-c:v", "png", "-"]);
    Some(picture(&support::run(ffmpeg)?))
}

fn picture(png: &[u8]) -> Image {
    let rgb = image::load_from_memory(png).unwrap().into_rgb8();
    let (width, height) = rgb.dimensions();
    Image { width, height, rgb: rgb.into_raw() }
}

/// Decodes a frame of a clip, using the `ffmpeg` program.
fn frame(name: &str, time: f64) -> Option<Image> {
    let mut ffmpeg = Command::new("ffmpeg");
    ffmpeg.args(["-v", "error", "-ss", &time.to_string(), "-i"]).arg(support::media(name)?);
    ffmpeg.args(["-frames:v", "1", "-f", "image2pipe", "-c:v", "png", "-"]);
    Some(picture(&support::run(ffmpeg)?))
}

fn bare(text: &str) -> String {
    text.split_whitespace().collect()
}

/// Returns the Levenshtein distance of two texts, in characters.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut corner = row[0];
        row[0] = i + 1;
        for (j, y) in b.iter().enumerate() {
            let change = corner + usize::from(x != *y);
            corner = row[j + 1];
            row[j + 1] = change.min(row[j] + 1).min(corner + 1);
        }
    }
    row[b.len()]
}
