//! Defines the configuration section for model files, which all networks share.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

#[cfg(feature = "onnx")]
use crate::{OnnxRuntime, OnnxThreading, OpenError};

/// Settings shared by all networks.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Settings {
    /// Folder that contains the model files.
    pub dir: PathBuf,
    /// Path of the ONNX Runtime shared library.
    pub onnxruntime: PathBuf,
    /// Number of threads of a text model. Interactive requests wait for text models.
    pub threads: usize,
    /// Number of threads of a vision or audio model. Several such models run in parallel, which
    /// takes less time in total than if each model had more threads.
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
    /// Returns the path of a model file or folder under `dir`.
    pub fn path(&self, file: &Path) -> PathBuf {
        self.dir.join(file)
    }
}

#[cfg(feature = "onnx")]
impl Settings {
    pub(crate) fn runtime(&self) -> Result<OnnxRuntime, OpenError> {
        OnnxRuntime::load(&self.onnxruntime).map_err(OpenError::in_section("models"))
    }

    pub(crate) fn threading(&self) -> OnnxThreading {
        OnnxThreading { threads: self.threads, ..OnnxThreading::default() }
    }

    pub(crate) fn media_threading(&self) -> OnnxThreading {
        OnnxThreading { threads: self.media_threads, ..OnnxThreading::default() }
    }
}
