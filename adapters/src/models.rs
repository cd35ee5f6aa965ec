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
    /// Threads of a model that reads or compares texts: somebody may wait for what it answers.
    pub threads: usize,
    /// Threads of a model that looks at pictures or listens. Several of them work at once, which takes
    /// less time in all than that each of them has more threads.
    pub media_threads: usize,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            dir: "var/models".into(),
            onnxruntime: "var/lib/libonnxruntime.so".into(),
            threads: 2,
            media_threads: 1,
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

    pub(crate) fn media_threading(&self) -> OnnxThreading {
        OnnxThreading { threads: self.media_threads, ..OnnxThreading::default() }
    }
}
