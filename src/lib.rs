//! Shotlog: an HTTP service that watches video.
//!
//! The shape is hexagonal: `ports ← domain ← http, mcp ← app → adapters → ports`. The domain defines
//! what it needs as ports; configuration picks the adapters when the service starts; HTTP handlers and
//! the tools of agents call use-cases and nothing else. Two packages compute without any of them: `text`,
//! the English that domain and adapters share, and `cuts`, the cut detector.
//!
//! # The rooms of the domain
//!
//! In order of dependency: none names one that stands below it.
//!
//! | room | what lives there |
//! |---|---|
//! | [`domain::kernel`] | ids, how messages name things, times, vectors, errors, the ports in bundles, progress, metrics, signed notices |
//! | [`domain::media`] | what one decode and its frames tell: speech and whose voice it is (`S1`, `S2`), tracks, colours and clothing, pictures |
//! | [`domain::chunking`] | boundary detectors (cut, silence, speaker, semantic) and their fusion into chunks |
//! | [`domain::llm`] | the language model counted and priced, within a budget, and asked nothing twice |
//! | [`domain::analysis`] | what is found in a chunk: evidence, one file per analyzer with its typed output, and what a user corrects of it: words, the names of speakers |
//! | [`domain::aggregation`] | what is concluded of a video: one file per aggregator with its typed result, topics and so the chapters' ends, linking of people by clothing and of things |
//! | [`domain::catalog`] | what is stored: records and their versions, the listing, cache, locks, reading, `verify` |
//! | [`domain::search`] | queries, modes, filters, points, calibrated scores, why a search was empty, `reindex` |
//! | [`domain::answering`] | answers that cite moments, and the audit of every sentence |
//! | [`domain::evaluation`] | judged questions, and runs that measure how well they are answered |
//! | [`domain::alerts`] | searches that are kept, and told of each video that has what they look for |
//! | [`domain::ingest`] | from a source to a published video: fetch, scan, analyze, aggregate, publish; the plan beforehand |
//! | [`domain::jobs`] | requests as jobs: queue, workers, attempts, progress |
//! | [`domain::export`], [`domain::frames`], [`domain::status`] | files for other programs; pictures; `/health`, `/schema` and metrics |
//! | [`domain::scoped`] | all of these, as far as one caller's token reaches |
//!
//! # Invariants
//!
//! Each is held by a test in `tests/it/tidy.rs`.
//!
//! 1. The domain never names `adapters`, `poem`, `rmcp`, `crate::http` or `crate::mcp`.
//! 2. Adapters are named in `app` and `config` alone.
//! 3. HTTP and MCP never name adapters or ports' technologies; they speak to the domain.
//! 4. Every analyzer and every aggregator file is in the list beside it.
//! 5. Every path, link and setting that README.md and docs/ name exists.
//! 6. No file of code has more than 700 lines.
//! 7. Nothing unfinished is left in the tree.
//! 8. The rooms of the domain stand in order of dependency, without a cycle.
//! 9. No id of an analyzer or aggregator is a literal outside its file.
//! 10. MCP shows the shapes of HTTP, every tool is in the list, and HTTP knows nothing of it.
//! 11. Handlers and tools reach the use-cases through [`domain::Scoped`] alone, in the name of a caller.

pub mod app;
pub mod cli;
pub mod config;
pub mod domain;
pub mod http;
pub mod mcp;
