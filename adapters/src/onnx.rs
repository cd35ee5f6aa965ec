//! ONNX Runtime and its sessions. The shared library is loaded once per process.

mod digest;
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

pub(crate) use digest::digest;
pub use pool::Threading;
pub(crate) use pool::{Pool, failed, release_memory, unfit};
pub(crate) use scale::{resized, scaled};
pub(crate) use tokenizer::{BertTokenizer, Tokens, fitting, open_tokenizer};

/// The loaded library. It stays loaded until the process ends. Clones are cheap.
#[derive(Clone)]
pub struct Runtime {
    environment: Environment,
}

impl Runtime {
    /// Loads the shared library. Only the first call in a process loads a library. Later calls
    /// return the library that is already loaded, even if they have another path.
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

/// The inputs of a session's runs. They determine whether the session keeps its working memory
/// between runs, and how its threads wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Inputs {
    /// All runs have the same input size. Keeping the memory avoids allocating it for each run.
    FixedSize,
    /// There are many runs with inputs of different sizes. The memory is kept, but released once
    /// runs have become small ([`Pool::with_sized`]). Allocating it for each run, page by page,
    /// takes six times as long as the computation of a convolutional network.
    Sized,
    /// Inputs have many sizes. The memory is not kept, because the blocks would add up to several
    /// times the memory that a single run needs.
    Varied,
    /// Like [`Inputs::Sized`], but for inputs that are mostly small and whose latency matters.
    /// Waking threads for each layer would take as long as computing the layer, so threads spin
    /// during a run. Between runs, they sleep.
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
            // Several sessions share the processor, so the threads of an idle session must not
            // spin.
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
