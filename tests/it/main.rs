//! The service from outside: the real application over in-memory adapters, driven through its
//! routes. `routes/` mirrors the sections of the contract.
#![expect(clippy::unwrap_used, reason = "tests report by panicking")]
#![expect(unreachable_pub, reason = "a test binary has no outside")]

mod access;
mod auth;
#[cfg(feature = "ffmpeg")]
mod burned_captions;
#[cfg(feature = "ffmpeg")]
mod channels;
#[cfg(feature = "ffmpeg")]
mod clips;
mod connections;
mod container;
#[cfg(all(feature = "ffmpeg", feature = "onnx"))]
mod diarization;
mod errors;
#[cfg(feature = "ffmpeg")]
mod evaluation;
mod extension;
mod faults;
#[cfg(feature = "ffmpeg")]
mod footage;
mod install;
mod instances;
mod leases;
mod limits;
mod mcp;
#[cfg(all(feature = "ffmpeg", target_os = "linux"))]
mod memory;
mod migration;
mod model_server;
mod openapi;
#[cfg(feature = "ffmpeg")]
mod operations;
#[cfg(all(feature = "ffmpeg", feature = "cloud"))]
mod outage;
mod partial_failure;
mod probes;
mod publication;
#[cfg(feature = "ffmpeg")]
mod read_back;
#[cfg(all(feature = "ffmpeg", feature = "cloud"))]
mod replicas;
#[cfg(feature = "ffmpeg")]
mod resume;
mod routes;
mod scrub;
mod secrets;
mod sequences;
#[cfg(all(feature = "ffmpeg", target_os = "linux"))]
mod shutdown;
mod speech;
#[cfg(feature = "cloud")]
mod startup;
#[cfg(feature = "ffmpeg")]
mod string_out;
mod support;
mod suspended_instances;
mod takeover;
#[cfg(feature = "onnx")]
mod telemetry;
mod tidy;
#[cfg(feature = "ffmpeg")]
mod traces;
mod unreadable;
mod upload_command;
mod vision;
mod visual;
mod vocabulary;
