//! Shotlog: an HTTP service that analyzes video.
//!
//! The architecture is hexagonal: `ports ← domain ← http, mcp ← app → adapters → ports`, each arrow from a
//! part to what it depends on. The domain defines the ports that it needs, the configuration picks the
//! adapters at startup, and HTTP handlers and agent tools only call use cases. [`domain`], `ports` and
//! `adapters` are packages; two more hold pure computation: `text`, the English that the domain and adapters
//! share, and `cuts`, the cut detector.
//!
//! # Invariants
//!
//! `tests/it/tidy.rs` checks each of them, `tests/it/vocabulary.rs` the last.
//!
//! 1. The domain depends on `ports`, `text` and `cuts`, and on no protocol or technology behind a port.
//! 2. Only `app` and `config` name adapters.
//! 3. HTTP and MCP name neither adapters nor the technologies behind ports; they call the domain.
//! 4. Every analyzer and every aggregator file is in the list of its module.
//! 5. Every path, link and setting that README.md and docs/ name exists.
//! 6. No source file has more than 700 lines.
//! 7. The tree holds no unfinished code.
//! 8. The modules of the domain and the rooms of HTTP have an order of dependency, without cycles.
//! 9. An analyzer's or aggregator's id is a literal in its own file only.
//! 10. MCP reuses the types of HTTP, every tool is in the list, and HTTP does not know MCP.
//! 11. Handlers and tools reach use-cases through [`domain::Scoped`] only, on behalf of a caller.
//! 12. Identifiers use the words of the field; `tests/it/vocabulary.rs` lists words that they must not contain.
//!     A public type name belongs to one package, module of the domain, folder of the adapters or entry point.

pub mod app;
pub mod cli;
pub mod config;
pub mod http;
pub mod mcp;
