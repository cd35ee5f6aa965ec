//! Shotlog: an HTTP service that watches video.
//!
//! The shape is hexagonal: `ports ← domain ← http ← app → adapters → ports`. The domain defines what
//! it needs as ports; configuration picks the adapters when the service starts; HTTP handlers call
//! use-cases and nothing else. Beside them, the `text` package holds what domain and adapters know of
//! English; it depends on none of them.
//!
//! # Invariants
//!
//! Each is held by a test in `tests/it/tidy.rs`.
//!
//! 1. The domain never names `adapters`, `poem` or `crate::http`.
//! 2. Adapters are named in `app` and `config` alone.
//! 3. HTTP never names adapters or ports' technologies; it speaks to the domain.
//! 4. Every analyzer and every aggregator file is in the list beside it.
//! 5. Every path that the README names exists.
//! 6. No file of code has more than 700 lines.
//! 7. Nothing unfinished is left in the tree.
//! 8. The rooms of the domain stand in order of dependency, without a cycle.

pub mod app;
pub mod cli;
pub mod config;
pub mod domain;
pub mod http;
