//! Shotlog: an HTTP service that analyzes video.
//!
//! The architecture is hexagonal: `ports ← domain ← http, mcp ← app → adapters → ports`, where each
//! arrow points from a part to its dependency. The domain defines the ports that it needs, the
//! configuration picks the adapters at startup, and HTTP handlers and agent tools only call use
//! cases. [`domain`], `ports` and `adapters` are packages; two more contain pure computation:
//! `text`, the English text processing that the domain and adapters share, and `cuts`, the cut
//! detector.
//!
//! # Invariants
//!
//! `tests/it/tidy.rs` checks invariants 1 to 11 and 13, and `tests/it/vocabulary.rs` checks invariant
//! 12.
//!
//! 1. The domain depends on `ports`, `text` and `cuts`, and on no protocol or technology behind a
//!    port.
//! 2. Only `app` and `config` name adapters.
//! 3. HTTP and MCP name neither adapters nor the technologies behind ports; they call the domain.
//! 4. Every analyzer file and every aggregator file is in its module's list.
//! 5. Every path, link and setting that README.md and docs/ name exists.
//! 6. No source file has more than 700 lines.
//! 7. The tree contains no unfinished code.
//! 8. The modules of the domain and the folders of HTTP have an order of dependency, without
//!    cycles.
//! 9. An analyzer's or aggregator's id occurs as a literal only in its own file.
//! 10. MCP reuses the HTTP types, every tool is in the list, and HTTP does not depend on MCP.
//! 11. Handlers and tools reach use-cases only through [`domain::Scoped`], on behalf of a caller.
//! 12. Identifiers use the terms of the field; `tests/it/vocabulary.rs` lists words that they must
//!     not contain. A public type name occurs in only one package, domain module, adapter folder or
//!     entry point.
//! 13. A port has at most ten methods and no default methods, a type at most 40 methods, a function
//!     at most 60 lines and a file of the domain at most 500. A folder has at most 15 files, or a
//!     reason in `tests/it/tidy/sizes.rs`.

pub mod app;
pub mod cli;
pub mod config;
pub mod http;
pub mod mcp;
