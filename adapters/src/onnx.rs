//! ONNX Runtime, loaded once per process from a shared library, and its sessions.

mod pool;
mod scale;
mod tokenizer;

use std::path::Path;
use std::sync::OnceLock;

use ort::environment::Environment;
use ort::ep::CPU;
use ort::session::Session;
use parking_lot::Mutex;
use ports::{ErrorKind, PortError, Result};

pub use pool::Threading;
pub(crate) use pool::{Pool, failed, release_memory, unfit};
pub(crate) use scale::scaled;
pub(crate) use tokenizer::{BertTokenizer, Tokens, open_tokenizer};

/// The loaded library. Cheap to clone; it stays loaded until the process ends.
#[derive(Clone)]
pub struct Runtime {
    environment: Environment,
}

impl Runtime {
    /// Loads the shared library. Only the first call in a process loads one; a later call with
    /// another path returns the library that is already loaded.
    pub fn load(library: &Path) -> Result<Self> {
        static LOADED: OnceLock<Runtime> = OnceLock::new();
        static LOADING: Mutex<()> = Mutex::new(());
        let _one_at_a_time = LOADING.lock();
        if let Some(runtime) = LOADED.get() {
            return Ok(runtime.clone());
        }
        let unusable = |e: &dyn std::fmt::Display| {
            PortError::new(
                ErrorKind::Unavailable,
                format!("cannot load ONNX Runtime from {}: {e}", library.display()),
            )
        };
        if !library.is_file() {
            return Err(PortError::new(
                ErrorKind::NotFound,
                format!("no ONNX Runtime library at {}", library.display()),
            ));
        }
        let environment = ort::init_from(library)
            .map_err(|e| unusable(&e))?
            .with_telemetry(false)
            .build()
            .map_err(|e| unusable(&e))?;
        Ok(LOADED.get_or_init(|| Self { environment }).clone())
    }
}

/// Whether a session keeps its working memory between runs, and how its threads wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Inputs {
    /// Every run has the same input size, so keeping the memory avoids allocating it each time.
    FixedSize,
    /// Many runs with inputs of different sizes. The memory is kept and released once runs have
    /// become small ([`Pool::with_sized`]). Allocating it each time, page by page, takes six times
    /// as long as the computation of a convolutional network itself.
    Sized,
    /// Inputs of many sizes. Retained blocks would add up to several times the memory that any one
    /// run needs.
    Varied,
    /// Like [`Inputs::Sized`], but for mostly small inputs whose latency matters. Waking threads
    /// for each layer would take as long as the layer itself, so they spin during a run. Between
    /// runs, they sleep.
    Short,
}

impl Runtime {
    /// Opens a model for inference on at most `threads` threads.
    pub(crate) fn session(&self, model: &Path, threads: usize, inputs: Inputs) -> Result<Session> {
        let unusable = |e: &dyn std::fmt::Display| {
            PortError::new(
                ErrorKind::Invalid,
                format!("cannot open the model {}: {e}", model.display()),
            )
        };
        if !model.is_file() {
            return Err(PortError::new(
                ErrorKind::NotFound,
                format!("no model file at {}", model.display()),
            ));
        }
        Session::builder(&self.environment)
            .map_err(|e| unusable(&e))?
            .with_intra_threads(threads)
            .map_err(|e| unusable(&e))?
            // Several sessions share the processor, so an idle one must not spin.
            .with_intra_op_spinning(inputs == Inputs::Short)
            .map_err(|e| unusable(&e))?
            .with_config_entry("session.force_spinning_stop", "1")
            .map_err(|e| unusable(&e))?
            .with_memory_pattern(inputs == Inputs::FixedSize)
            .map_err(|e| unusable(&e))?
            .with_execution_providers([CPU::default()
                .with_arena_allocator(inputs != Inputs::Varied)
                .build()])
            .map_err(|e| unusable(&e))?
            .commit_from_file(model)
            .map_err(|e| unusable(&e))
    }
}
