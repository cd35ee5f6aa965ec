//! The command line: parses arguments, loads the configuration and runs the command.

mod client;
mod eval;
mod mcp;
mod models;
mod serve;
mod telemetry;
mod upload;

use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::LazyLock;

use clap::{Args, Parser, Subcommand};

use crate::app;
use crate::config::{Config, ConfigSources};

/// The configuration file that is read by default.
const DEFAULT_FILE: &str = "config.toml";

/// The package's version, with the commit in parentheses if the build sets `SHOTLOG_COMMIT`.
static VERSION: LazyLock<String> = LazyLock::new(|| {
    let version = env!("CARGO_PKG_VERSION");
    match option_env!("SHOTLOG_COMMIT") {
        Some(commit) if !commit.is_empty() => format!("{version} ({commit})"),
        _ => version.to_owned(),
    }
});

/// An HTTP service that analyzes video
#[derive(Parser)]
#[command(name = "shotlog", version = VERSION.as_str())]
struct Cli {
    /// Path to the configuration file [default: `config.toml` if it exists]
    #[arg(long, global = true, value_name = "FILE")]
    config: Option<PathBuf>,
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Run the service
    Serve(ServeArgs),
    /// Check the configuration and every adapter
    Check,
    /// Ingest a file or URL through a running service
    Ingest(IngestArgs),
    /// Evaluate a running service on judged questions
    Eval(EvalArgs),
    /// Serve the Model Context Protocol over standard input and output
    Mcp(ServiceArgs),
    /// Rebuild the index from the stored records while the service is stopped
    Reindex(ReindexArgs),
    /// Check that records, objects and vectors agree
    Verify,
    /// Print the OpenAPI document
    Openapi,
    /// List model files and fetch missing ones
    Models(ModelsArgs),
}

#[derive(Args)]
struct ServeArgs {
    /// Disable the web UI
    #[arg(long)]
    api_only: bool,
    /// Address and port to listen on
    #[arg(long, value_name = "ADDRESS")]
    listen: Option<String>,
    /// Remove orphaned vectors and documents, regardless of their number
    #[arg(long)]
    remove_orphans: bool,
}

#[derive(Args)]
struct ReindexArgs {
    /// Remove orphaned vectors and documents, regardless of their number
    #[arg(long)]
    remove_orphans: bool,
}

#[derive(Args)]
struct IngestArgs {
    /// File or http(s) URL to ingest
    source: String,
    /// Comma-separated analyzer ids
    #[arg(long, default_value = "default_video")]
    analyzers: String,
    /// Chunking preset: `audio`, `video` or `audio_video`
    #[arg(long, default_value = "audio_video")]
    preset: String,
    /// Minimum chunk duration in seconds
    #[arg(long, default_value_t = 5.0)]
    min_duration: f64,
    /// Maximum chunk duration in seconds
    #[arg(long, default_value_t = 20.0)]
    max_duration: f64,
    /// Resume an interrupted upload by the id that it printed
    #[arg(long, value_name = "ID")]
    upload: Option<String>,
    /// Ingest even if this deletes the output of other analyzers for the video
    #[arg(long, short)]
    yes: bool,
    #[command(flatten)]
    service: ServiceArgs,
}

#[derive(Args)]
struct EvalArgs {
    /// JSON file with `name`, `questions`, `configurations`, `max_model_calls` and `bars`
    file: PathBuf,
    /// Print the run as JSON to standard output and the table to standard error
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    service: ServiceArgs,
}

/// The running service to connect to.
#[derive(Args)]
struct ServiceArgs {
    /// Base URL of the service [default: from the configuration]
    #[arg(long, visible_alias = "url", value_name = "URL", env = "SHOTLOG_URL")]
    server: Option<String>,
    /// Token for the service [default: the first one in the configuration]
    #[arg(long, env = "SHOTLOG_TOKEN", hide_env_values = true)]
    token: Option<String>,
}

#[derive(Args)]
struct ModelsArgs {
    /// Fetch missing model files
    #[arg(long)]
    fetch: bool,
}

/// Runs the internal command `decode REQUEST`, which the service starts as a subprocess and which
/// the help does not list. Returns `None` for any other command line. Must be called before any
/// thread starts.
pub fn decode() -> Option<ExitCode> {
    let mut arguments = std::env::args_os().skip(1);
    let command = arguments.next()?;
    (command == "decode").then(|| app::decode(arguments.next()))
}

/// An error from a command, shown to the user unchanged.
type BoxError = Box<dyn std::error::Error>;

/// Runs the command line. Errors are printed to standard error.
pub async fn run() -> ExitCode {
    let cli = Cli::parse();
    match dispatch(cli).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("shotlog: {error}");
            ExitCode::FAILURE
        }
    }
}

async fn dispatch(cli: Cli) -> Result<(), BoxError> {
    let config = Config::load(&sources(&cli))?;
    match &cli.command {
        Command::Serve(args) => {
            let _telemetry = telemetry::start(&config)?;
            serve::serve(&config, args.remove_orphans).await
        }
        Command::Check => serve::check(&config).await,
        Command::Reindex(args) => {
            let _telemetry = telemetry::start(&config)?;
            serve::reindex(&config, args.remove_orphans).await
        }
        Command::Verify => serve::verify(&config).await,
        Command::Ingest(args) => client::ingest(&config, args).await,
        Command::Eval(args) => eval::eval(&config, args).await,
        Command::Mcp(args) => mcp::mcp(&config, args).await,
        Command::Models(args) => models::models(&config, args.fetch).await,
        Command::Openapi => {
            println!("{}", app::openapi(&config).await?);
            Ok(())
        }
    }
}

fn sources(cli: &Cli) -> ConfigSources {
    let file = cli.config.clone().or_else(|| {
        let default = PathBuf::from(DEFAULT_FILE);
        default.is_file().then_some(default)
    });
    let mut flags = Vec::new();
    if let Command::Serve(args) = &cli.command {
        if args.api_only {
            flags.push(("http.api_only", toml::Value::Boolean(true)));
        }
        if let Some(listen) = &args.listen {
            flags.push(("http.listen", toml::Value::String(listen.clone())));
        }
    }
    // The service's variables are always UTF-8; others are skipped.
    let variables = std::env::vars_os()
        .filter_map(|(key, value)| Some((key.into_string().ok()?, value.into_string().ok()?)))
        .collect();
    ConfigSources { file, variables, flags }
}
