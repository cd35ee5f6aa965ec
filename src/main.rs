//! The `shotlog` program. What each command does is in [`shotlog::cli`].

use std::process::ExitCode;

#[tokio::main]
async fn main() -> ExitCode {
    shotlog::cli::run().await
}
