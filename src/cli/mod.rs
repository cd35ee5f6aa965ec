//! The command line: tracing → configuration → command.

mod client;
mod eval;
mod mcp;
mod models;
mod serve;
mod startup;
mod telemetry;
mod upload;

use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::LazyLock;

use clap::{Args, Parser, Subcommand};

use crate::app;
use crate::config::{Config, Sources};

/// The file that is read when no other is named.
const DEFAULT_FILE: &str = "config.toml";

/// The package's version, with the commit in parentheses if the build sets `SHOTLOG_COMMIT`.
static VERSION: LazyLock<String> = LazyLock::new(|| {
    let version = env!("CARGO_PKG_VERSION");
    match option_env!("SHOTLOG_COMMIT") {
        Some(commit) if !commit.is_empty() => format!("{version} ({commit})"),
        _ => version.to_owned(),
    }
});

/// An HTTP service that watches video.
#[derive(Parser)]
#[command(name = "shotlog", version = VERSION.as_str())]
struct Cli {
    /// Configuration file; without it `config.toml`, where there is one.
    #[arg(long, global = true, value_name = "FILE")]
    config: Option<PathBuf>,
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Run the service.
    Serve(ServeArgs),
    /// Check the configuration and every adapter, one line each.
    Check,
    /// Ingest a file or URL through a running service and wait for it.
    Ingest(IngestArgs),
    /// Ask judged questions of a running service, and fail where bars are missed.
    Eval(EvalArgs),
    /// Serve agents over standard input and output, through a running service.
    Mcp(ServiceArgs),
    /// Rebuild the index from the stored records; the service must not be running.
    Reindex(ReindexArgs),
    /// Check that records, objects and vectors agree, one line for each thing that does not.
    Verify,
    /// Print the OpenAPI document.
    Openapi,
    /// List the models: what is configured, what is there; fetch what is missing.
    Models(ModelsArgs),
}

#[derive(Args)]
struct ServeArgs {
    /// Without the web UI.
    #[arg(long)]
    api_only: bool,
    /// Address and port.
    #[arg(long, value_name = "ADDRESS")]
    listen: Option<String>,
    /// Remove vectors and documents of videos without a record, however many they are.
    #[arg(long)]
    remove_orphans: bool,
}

#[derive(Args)]
struct ReindexArgs {
    /// Remove vectors and documents of videos without a record, however many they are.
    #[arg(long)]
    remove_orphans: bool,
}

#[derive(Args)]
struct IngestArgs {
    /// The file or http(s) URL.
    source: String,
    /// Comma-separated analyzer ids.
    #[arg(long, default_value = "default_video")]
    analyzers: String,
    /// `audio`, `video` or `audio_video`.
    #[arg(long, default_value = "audio_video")]
    preset: String,
    /// Shortest chunk, seconds.
    #[arg(long, default_value_t = 5.0)]
    min_duration: f64,
    /// Longest chunk, seconds.
    #[arg(long, default_value_t = 20.0)]
    max_duration: f64,
    /// Go on with an upload that an earlier run could not finish, by the id that it gave.
    #[arg(long, value_name = "ID")]
    upload: Option<String>,
    /// Go on where the video is there and would lose what other analyzers have found.
    #[arg(long, short)]
    yes: bool,
    #[command(flatten)]
    service: ServiceArgs,
}

#[derive(Args)]
struct EvalArgs {
    /// JSON with `name`, `questions`, `configurations`, `max_model_calls` and `bars`.
    file: PathBuf,
    /// Print the run as JSON, and the table to standard error.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    service: ServiceArgs,
}

/// A running service.
#[derive(Args)]
struct ServiceArgs {
    /// The service's address; without it the one in the configuration.
    #[arg(long, visible_alias = "url", value_name = "URL", env = "SHOTLOG_URL")]
    server: Option<String>,
    /// The service's token; without it the first one in the configuration.
    #[arg(long, env = "SHOTLOG_TOKEN", hide_env_values = true)]
    token: Option<String>,
}

#[derive(Args)]
struct ModelsArgs {
    /// Fetch what is missing.
    #[arg(long)]
    fetch: bool,
}

/// Runs `decode REQUEST`, which the service starts for itself and which no help names; `None` for any
/// other command line. Its caller must have started no thread.
pub fn decode() -> Option<ExitCode> {
    let mut arguments = std::env::args_os().skip(1);
    let command = arguments.next()?;
    (command == "decode").then(|| app::decode(arguments.next()))
}

/// What a command fails with: shown to the user as it is.
type Failure = Box<dyn std::error::Error>;

/// Runs the command line. A failure goes to standard error.
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

async fn dispatch(cli: Cli) -> Result<(), Failure> {
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

fn sources(cli: &Cli) -> Sources {
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
    // Variables that are not UTF-8 cannot be ours.
    let variables = std::env::vars_os()
        .filter_map(|(key, value)| Some((key.into_string().ok()?, value.into_string().ok()?)))
        .collect();
    Sources { file, variables, flags }
}
