//! Where model files are: the section that every network shares.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

#[cfg(feature = "onnx")]
use crate::{OnnxRuntime, OnnxThreading, OpenError};

/// Where model files are.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Settings {
    /// Folder of the model files.
    pub dir: PathBuf,
    /// The ONNX Runtime shared library.
    pub onnxruntime: PathBuf,
    /// Threads per model.
    pub threads: usize,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            dir: "var/models".into(),
            onnxruntime: "var/lib/libonnxruntime.so".into(),
            threads: 2,
        }
    }
}

impl Settings {
    /// The file or folder of a model that is named below `dir`.
    pub fn path(&self, file: &Path) -> PathBuf {
        self.dir.join(file)
    }
}

#[cfg(feature = "onnx")]
impl Settings {
    pub(crate) fn runtime(&self) -> Result<OnnxRuntime, OpenError> {
        OnnxRuntime::load(&self.onnxruntime).map_err(OpenError::at("models"))
    }

    pub(crate) fn threading(&self) -> OnnxThreading {
        OnnxThreading { threads: self.threads, ..OnnxThreading::default() }
    }
}
