//! The identity of a Whisper model. It is a name that changes if any of the model's files or the
//! options change, so that words cached from another model are not reused.

use std::path::Path;

use ports::Result;

use super::network::Network;
use crate::onnx::digest;

/// Increment if a code change makes the same files yield different words or times.
const REVISION: u8 = 3;

/// Returns the model's identity, such as `whisper-base-1f2e3d4c`, or `whisper-base-1f2e3d4c-de` if
/// a language is configured.
pub(super) fn model_identity(folder: &Path, language: Option<&str>) -> Result<String> {
    let texts = ["config.json", "generation_config.json", "tokenizer.json"];
    let texts = texts.iter().map(|name| folder.join(name)).filter(|file| file.is_file());
    let digest = digest(REVISION, Network::files(folder).into_iter().chain(texts))?;
    let name = folder.file_name().unwrap_or_default().to_string_lossy();
    let language = language.map(|code| format!("-{code}")).unwrap_or_default();
    Ok(format!("{name}-{digest}{language}"))
}
