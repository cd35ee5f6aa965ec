//! ONNX Runtime, loaded once per process from a shared library, and its sessions.

mod pool;
mod scale;
mod tokenizer;

use std::path::Path;
use std::sync::{Mutex, MutexGuard, OnceLock};

use ort::environment::Environment;
use ort::ep::CPU;
use ort::session::Session;
use ports::{ErrorKind, PortError, Result};

pub use pool::Threading;
pub(crate) use pool::{Pool, failed, giving_back, unfit};
pub(crate) use scale::scaled;
pub(crate) use tokenizer::{BertTokenizer, Tokens, open_tokenizer};

/// The loaded library. Cheap to clone; it stays loaded as long as the process lives.
#[derive(Clone)]
pub struct Runtime {
    environment: Environment,
}

impl Runtime {
    /// Loads the shared library. The first call decides for the whole process: a later one with
    /// another path gets the library that is already loaded.
    pub fn load(library: &Path) -> Result<Self> {
        static LOADED: OnceLock<Runtime> = OnceLock::new();
        static LOADING: Mutex<()> = Mutex::new(());
        let _one_at_a_time = lock(&LOADING);
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

/// What decides whether a session keeps its working memory from run to run, and how its threads wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Inputs {
    /// Runs have inputs of one size: keeping the memory saves asking the system for it each time.
    Alike,
    /// Runs are many and their inputs differ in size: the memory is kept too, and given back once
    /// runs have become small ([`Pool::with_sized`]). Asking the system for it each time, page by
    /// page, takes six times as long as what a network of convolutions computes in it.
    Sized,
    /// Inputs come in many sizes: kept blocks would add up to several times what any one run needs.
    Varied,
    /// As [`Inputs::Sized`], and mostly small ones, whose run somebody waits for: waking a thread for
    /// each of its layers would take as long as the layers do. Between runs the threads sleep.
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
            // Several sessions share the processor: one that waits for work must not keep it busy.
            .with_intra_op_spinning(inputs == Inputs::Short)
            .map_err(|e| unusable(&e))?
            .with_config_entry("session.force_spinning_stop", "1")
            .map_err(|e| unusable(&e))?
            .with_memory_pattern(inputs == Inputs::Alike)
            .map_err(|e| unusable(&e))?
            .with_execution_providers([CPU::default()
                .with_arena_allocator(inputs != Inputs::Varied)
                .build()])
            .map_err(|e| unusable(&e))?
            .commit_from_file(model)
            .map_err(|e| unusable(&e))
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}
