//! Locates media, models and the ONNX Runtime library for the model tests. A test whose files are
//! missing is skipped with a message.

use std::{path::PathBuf, process::Command};

/// Finds a file in the media folder.
pub(super) fn media(name: &str) -> Option<PathBuf> {
    under("SHOTLOG_MEDIA", name)
}

/// Finds a file in the models folder.
#[cfg(feature = "onnx")]
pub(super) fn model(name: &str) -> Option<PathBuf> {
    under("SHOTLOG_MODELS", name)
}

#[cfg(feature = "onnx")]
pub(super) fn runtime() -> Option<shotlog_adapters::OnnxRuntime> {
    let library = PathBuf::from(variable("SHOTLOG_ONNXRUNTIME")?);
    Some(shotlog_adapters::OnnxRuntime::load(&library).unwrap())
}

/// Reads the reference data for the media.
pub(super) fn truth() -> Option<serde_json::Value> {
    let file = media("ground_truth.json")?;
    Some(serde_json::from_slice(&std::fs::read(file).unwrap()).unwrap())
}

/// Reads an image from the media folder.
#[cfg(feature = "onnx")]
pub(super) fn picture(name: &str) -> Option<ports::decoder::Image> {
    let rgb = image::open(media(name)?).unwrap().into_rgb8();
    let (width, height) = rgb.dimensions();
    Some(ports::decoder::Image { width, height, rgb: rgb.into_raw() })
}

/// Decodes the audio of a clip to mono at 16 kHz, using the `ffmpeg` program.
pub(super) fn sound(name: &str) -> Option<Vec<f32>> {
    let file = media(name)?;
    let mut ffmpeg = Command::new("ffmpeg");
    ffmpeg.args(["-v", "error", "-i"]).arg(file);
    ffmpeg.args(["-vn", "-ac", "1", "-ar", "16000", "-f", "f32le", "-"]);
    let bytes = run(ffmpeg)?;
    Some(bytes.chunks_exact(4).map(|b| f32::from_le_bytes(b.try_into().unwrap())).collect())
}

pub(super) fn run(mut command: Command) -> Option<Vec<u8>> {
    match command.output() {
        Ok(output) => {
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
            Some(output.stdout)
        }
        Err(e) => {
            eprintln!("skipped: {:?} cannot be run: {e}", command.get_program());
            None
        }
    }
}

fn under(folder: &str, name: &str) -> Option<PathBuf> {
    let file = PathBuf::from(variable(folder)?).join(name);
    if !file.is_file() {
        eprintln!("skipped: no {name} in {folder}");
        return None;
    }
    Some(file)
}

fn variable(name: &str) -> Option<std::ffi::OsString> {
    let value = std::env::var_os(name);
    if value.is_none() {
        eprintln!("skipped: {name} is not set");
    }
    value
}
