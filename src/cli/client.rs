//! The HTTP client of a running service, and the command `ingest`.

use std::io::{IsTerminal, Read};
use std::path::Path;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};
use reqwest::multipart::Form;
use reqwest::{Client, RequestBuilder, Response, StatusCode};
use serde_json::{Value, json};
use sha1::{Digest, Sha1};

use super::{BoxError, IngestArgs, ServiceArgs};
use crate::config::Config;

/// Interval at which a job is polled.
const POLL_INTERVAL: Duration = Duration::from_millis(500);

/// Minimum interval between progress lines within a stage if there is no terminal for a progress
/// bar.
const LOG_INTERVAL: Duration = Duration::from_secs(5);

/// A running service and its token.
pub(super) struct ServiceClient {
    pub(super) client: Client,
    /// Base URL without a trailing slash.
    pub(super) server: String,
    pub(super) token: Option<String>,
}

/// Uploads a file or submits a URL, follows the job and prints its result.
pub(super) async fn ingest(config: &Config, args: &IngestArgs) -> Result<(), BoxError> {
    let service = ServiceClient::new(config, &args.service)?;
    let is_url = args.source.starts_with("http://") || args.source.starts_with("https://");
    let drops = service.dropped_analyzers(args, is_url).await?;
    if !drops.is_empty() && !args.yes {
        confirm(&drops)?;
    }
    let accepted =
        if is_url { service.post_url(args).await? } else { service.upload(args).await? };
    let job_id = accepted["job_id"].as_str().ok_or("the service returned no job_id")?.to_owned();
    let job = service.follow(&job_id).await?;
    if job["status"] == "failed" {
        let stage = job["stage"].as_str().unwrap_or("?");
        let error = job["error"].as_str().unwrap_or("no reason given");
        return Err(format!("the ingest failed while {stage}: {error}").into());
    }
    println!("{}", serde_json::to_string_pretty(&job["result"])?);
    for line in profile_lines(&job["result"]["profile"]) {
        eprintln!("{line}");
    }
    Ok(())
}

/// Asks the user to confirm the data loss. Fails if the user declines or if there is no terminal.
fn confirm(drops: &[String]) -> Result<(), BoxError> {
    let warning = format!(
        "the video is already ingested and would be chunked differently; the output of these analyzers \
         would be deleted: {}",
        drops.join(", ")
    );
    if !std::io::stdin().is_terminal() {
        return Err(format!("{warning}; add them to --analyzers, or pass --yes to continue").into());
    }
    eprint!("{warning}\nContinue? [y/N] ");
    let mut answer = String::new();
    std::io::stdin().read_line(&mut answer)?;
    if answer.trim().eq_ignore_ascii_case("y") {
        Ok(())
    } else {
        Err("cancelled; nothing was changed".into())
    }
}

/// The video id of a file: the first 16 hexadecimal digits of its SHA-1.
async fn file_video_id(path: &Path) -> Result<String, BoxError> {
    let path = path.to_owned();
    let digest = tokio::task::spawn_blocking(move || {
        let mut file = std::fs::File::open(&path)?;
        let (mut hash, mut buffer) = (Sha1::new(), vec![0; 256 * 1024]);
        loop {
            match file.read(&mut buffer)? {
                0 => return Ok::<_, std::io::Error>(hash.finalize()),
                read => hash.update(&buffer[..read]),
            }
        }
    });
    Ok(digest.await??.iter().take(8).map(|byte| format!("{byte:02x}")).collect())
}

/// One line per step of a job's profile, slowest step first.
fn profile_lines(profile: &Value) -> Vec<String> {
    let seconds = |cost: &Value| cost["seconds"].as_f64().unwrap_or_default();
    let mut steps: Vec<(&String, &Value)> = profile.as_object().into_iter().flatten().collect();
    steps.sort_by(|a, b| seconds(b.1).total_cmp(&seconds(a.1)));
    let line = |(step, cost): (&String, &Value)| {
        let calls = cost["calls"].as_u64().unwrap_or_default();
        format!("{step:<18}{:>9.1} s in {calls:>5} calls", seconds(cost))
    };
    steps.into_iter().map(line).collect()
}

impl ServiceClient {
    /// Creates a client for the service that the arguments name or, by default, the configured one.
    pub(super) fn new(config: &Config, args: &ServiceArgs) -> Result<Self, BoxError> {
        let configured = if config.http.base_url.is_empty() {
            format!("http://{}", config.http.listen)
        } else {
            config.http.base_url.clone()
        };
        Ok(Self {
            client: Client::builder()
                .no_proxy()
                .connect_timeout(Duration::from_secs(10))
                .build()?,
            server: args.server.clone().unwrap_or(configured).trim_end_matches('/').to_owned(),
            token: args
                .token
                .clone()
                .or_else(|| config.auth.tokens.first().map(|t| t.token.clone())),
        })
    }

    /// Finds the analyzers whose output this ingest would delete if the video was ingested before.
    async fn dropped_analyzers(
        &self,
        args: &IngestArgs,
        is_url: bool,
    ) -> Result<Vec<String>, BoxError> {
        let mut plan = json!({
            "analyzers": args.analyzers,
            "preset": args.preset,
            "min_duration": args.min_duration,
            "max_duration": args.max_duration,
        });
        if is_url {
            plan["url"] = args.source.as_str().into();
        } else {
            let path = Path::new(&args.source);
            let id = file_video_id(path)
                .await
                .map_err(|e| format!("cannot read {}: {e}", path.display()))?;
            plan["video_id"] = id.into();
        }
        let request = self.client.post(format!("{}/videos/plan", self.server)).json(&plan);
        let response = self.send(request).await?;
        if response.status() == StatusCode::NOT_FOUND {
            return Ok(Vec::new());
        }
        let plan = read_json(response).await?;
        let drops = plan["drops"].as_array().into_iter().flatten();
        Ok(drops.filter_map(Value::as_str).map(str::to_owned).collect())
    }

    async fn post_url(&self, args: &IngestArgs) -> Result<Value, BoxError> {
        let body = json!({
            "url": args.source,
            "analyzers": args.analyzers,
            "preset": args.preset,
            "min_duration": args.min_duration,
            "max_duration": args.max_duration,
        });
        self.send_json(self.client.post(format!("{}/videos/url", self.server)).json(&body)).await
    }

    async fn upload(&self, args: &IngestArgs) -> Result<Value, BoxError> {
        let id = self.send_file(Path::new(&args.source), args.upload.as_deref()).await?;
        let form = Form::new()
            .text("analyzers", args.analyzers.clone())
            .text("preset", args.preset.clone())
            .text("min_duration", args.min_duration.to_string())
            .text("max_duration", args.max_duration.to_string())
            .text("upload_id", id);
        self.send_json(self.client.post(format!("{}/videos", self.server)).multipart(form)).await
    }

    /// Polls the job until it ends, showing its progress.
    pub(super) async fn follow(&self, job_id: &str) -> Result<Value, BoxError> {
        let bar = ProgressBar::new_spinner()
            .with_style(ProgressStyle::with_template("{spinner} {elapsed} {msg}")?);
        bar.enable_steady_tick(Duration::from_millis(120));
        let mut log = ProgressLog::default();
        loop {
            let job =
                self.send_json(self.client.get(format!("{}/jobs/{job_id}", self.server))).await?;
            let detail: Vec<String> = job["detail"]
                .as_object()
                .into_iter()
                .flatten()
                .filter(|(key, _)| *key != "traceback")
                .map(|(key, value)| format!("{key} {}", value.to_string().trim_matches('"')))
                .collect();
            let stage = job["stage"].as_str().unwrap_or_default();
            let message = format!("{stage} {}", detail.join(", "));
            // Without a terminal, occasional lines replace the bar.
            if bar.is_hidden() && log.is_due(stage, &message) {
                eprintln!("{}", message.trim_end());
            }
            bar.set_message(message);
            if matches!(job["status"].as_str(), Some("done" | "failed")) {
                bar.finish_and_clear();
                return Ok(job);
            }
            tokio::time::sleep(POLL_INTERVAL).await;
        }
    }

    /// Sends a request with the token. If the service does not answer, the error gives advice.
    pub(super) async fn send(&self, request: RequestBuilder) -> Result<Response, BoxError> {
        let request = match &self.token {
            Some(token) => request.header("X-Core-Token", token),
            None => request,
        };
        Ok(request.send().await.map_err(|e| {
            format!("cannot reach {}: {e}; is `shotlog serve` running?", self.server)
        })?)
    }

    /// Sends a request and returns the JSON of the response. An error response becomes an error
    /// with the service's message.
    pub(super) async fn send_json(&self, request: RequestBuilder) -> Result<Value, BoxError> {
        read_json(self.send(request).await?).await
    }
}

/// Returns the JSON of a response. An error response becomes an error with the service's message.
async fn read_json(response: Response) -> Result<Value, BoxError> {
    let status = response.status();
    let body: Value = response.json().await.unwrap_or(Value::Null);
    if !status.is_success() {
        let detail = body["detail"].as_str().unwrap_or("no reason given");
        return Err(format!("the service answered {status}: {detail}").into());
    }
    Ok(body)
}

/// The last progress line of a job.
#[derive(Default)]
struct ProgressLog {
    stage: String,
    message: String,
    at: Option<Instant>,
}

impl ProgressLog {
    /// Whether to print a line. A new stage is always printed. Within a stage, a changed message is
    /// printed once [`LOG_INTERVAL`] has passed since the last line.
    fn is_due(&mut self, stage: &str, message: &str) -> bool {
        let waited = self.at.is_none_or(|at| at.elapsed() >= LOG_INTERVAL);
        if self.stage == stage && (self.message == message || !waited) {
            return false;
        }
        *self = Self { stage: stage.into(), message: message.into(), at: Some(Instant::now()) };
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_stage_is_logged_once() {
        let mut log = ProgressLog::default();
        assert!(log.is_due("fetching", "fetching"));
        assert!(!log.is_due("fetching", "fetching"));
        assert!(log.is_due("analyzing", "analyzing done 0"));
        assert!(!log.is_due("analyzing", "analyzing done 1"), "too soon");
    }

    #[test]
    fn the_slowest_step_of_a_profile_comes_first() {
        let profile = json!({
            "scan": {"calls": 1, "seconds": 4.25},
            "read_text": {"calls": 120, "seconds": 61.0},
        });
        assert_eq!(
            profile_lines(&profile),
            [
                "read_text              61.0 s in   120 calls",
                "scan                    4.2 s in     1 calls"
            ]
        );
        assert!(profile_lines(&Value::Null).is_empty(), "of an older service");
    }
}
