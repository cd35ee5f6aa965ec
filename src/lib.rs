//! Shotlog: an HTTP service that analyzes video.
//!
//! The architecture is hexagonal: `ports ← domain ← http, mcp ← app → adapters → ports`. The domain defines
//! the ports that it needs, the configuration picks the adapters at startup, and HTTP handlers and agent
//! tools only call use-cases. Two packages hold pure computation: `text`, the English that the domain and
//! adapters share, and `cuts`, the cut detector.
//!
//! # Modules of the domain
//!
//! In order of dependency: no module names one that is listed below it.
//!
//! | module | contents |
//! |---|---|
//! | [`domain::kernel`] | ids, excerpts for messages, times, vectors, errors, bundles of ports, progress, metrics, signed webhooks |
//! | [`domain::media`] | what one decode yields: speech and speakers (`S1`, `S2`), tracks, colours and clothing, frames |
//! | [`domain::chunking`] | boundary detectors (cut, silence, speaker, semantic) and their fusion into chunks |
//! | [`domain::llm`] | calls of the language model: counted, priced, cached and limited by a budget |
//! | [`domain::analysis`] | evidence per chunk: one file per analyzer with its typed output, and user corrections of words and speaker names |
//! | [`domain::aggregation`] | results per video: one file per aggregator with its typed result, topics and chapters, linking of people and objects |
//! | [`domain::catalog`] | stored records and their versions, listing, cache, locks, reads, `verify` |
//! | [`domain::search`] | queries, modes, filters, index points, calibrated scores, diagnostics of empty results, `reindex` |
//! | [`domain::answering`] | answers with citations, and the audit of every sentence |
//! | [`domain::evaluation`] | judged questions, and runs that measure search and answers |
//! | [`domain::alerts`] | saved searches that call a webhook for every new matching video |
//! | [`domain::ingest`] | from a source to a published video: fetch, scan, analyze, aggregate, publish; cost estimates |
//! | [`domain::jobs`] | queue, workers, attempts, progress |
//! | [`domain::export`], [`domain::frames`], [`domain::status`] | exported files; frames and clips; `/health`, `/schema` and metrics |
//! | [`domain::scoped`] | all of these, limited to what a caller's token may access |
//!
//! # Invariants
//!
//! `tests/it/tidy.rs` checks each of them, `tests/it/vocabulary.rs` the last.
//!
//! 1. The domain never names `adapters`, `poem`, `rmcp`, `crate::http` or `crate::mcp`.
//! 2. Only `app` and `config` name adapters.
//! 3. HTTP and MCP name neither adapters nor the technologies behind ports; they call the domain.
//! 4. Every analyzer and every aggregator file is in the list of its module.
//! 5. Every path, link and setting that README.md and docs/ name exists.
//! 6. No source file has more than 700 lines.
//! 7. The tree holds no unfinished code.
//! 8. The modules of the domain have an order of dependency, without cycles.
//! 9. An analyzer's or aggregator's id is a literal in its own file only.
//! 10. MCP reuses the types of HTTP, every tool is in the list, and HTTP does not know MCP.
//! 11. Handlers and tools reach use-cases through [`domain::Scoped`] only, on behalf of a caller.
//! 12. Identifiers use the words of the field; `tests/it/vocabulary.rs` lists words that they must not contain.

pub mod app;
pub mod cli;
pub mod config;
pub mod domain;
pub mod http;
pub mod mcp;
