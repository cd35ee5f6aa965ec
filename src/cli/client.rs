//! A client of a running service, and `ingest`, with a progress bar to the end.

use std::io::{IsTerminal, Read};
use std::path::Path;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};
use reqwest::multipart::Form;
use reqwest::{Client, RequestBuilder, Response, StatusCode};
use serde_json::{Value, json};
use sha1::{Digest, Sha1};

use super::{Failure, IngestArgs, ServiceArgs};
use crate::config::Config;

/// How often the job is asked for.
const POLL: Duration = Duration::from_millis(500);

/// How often a line tells how far a stage has come where there is no terminal for a bar.
const LINES: Duration = Duration::from_secs(5);

/// A service and how to be let in.
pub(super) struct Service {
    pub(super) client: Client,
    /// Without a slash at its end.
    pub(super) server: String,
    pub(super) token: Option<String>,
}

/// Uploads a file or hands over a URL, follows the job and prints its result.
pub(super) async fn ingest(config: &Config, args: &IngestArgs) -> Result<(), Failure> {
    let service = Service::new(config, &args.service)?;
    let is_url = args.source.starts_with("http://") || args.source.starts_with("https://");
    let drops = service.drops(args, is_url).await?;
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

/// Fails unless whoever sits at the terminal agrees to what would be lost.
fn confirm(drops: &[String]) -> Result<(), Failure> {
    let lost = format!(
        "the video is there and would be split otherwise; what these analyzers have found on it would \
         be gone: {}",
        drops.join(", ")
    );
    if !std::io::stdin().is_terminal() {
        return Err(format!("{lost}; add them to --analyzers, or give --yes to go on").into());
    }
    eprint!("{lost}\nGo on? [y/N] ");
    let mut answer = String::new();
    std::io::stdin().read_line(&mut answer)?;
    if answer.trim().eq_ignore_ascii_case("y") { Ok(()) } else { Err("nothing was changed".into()) }
}

/// The id of a file's video: the first 16 hexadecimal characters of its SHA-1.
async fn video_id_of(path: &Path) -> Result<String, Failure> {
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

/// A line per step of a job's profile, the longest first.
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

impl Service {
    /// The service that the arguments name, or the configuration.
    pub(super) fn new(config: &Config, args: &ServiceArgs) -> Result<Self, Failure> {
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

    /// The analyzers whose output on a video that is there the ingest would not keep.
    async fn drops(&self, args: &IngestArgs, is_url: bool) -> Result<Vec<String>, Failure> {
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
            let id = video_id_of(path)
                .await
                .map_err(|e| format!("cannot read {}: {e}", path.display()))?;
            plan["video_id"] = id.into();
        }
        let request = self.client.post(format!("{}/videos/plan", self.server)).json(&plan);
        let response = self.send(request).await?;
        if response.status() == StatusCode::NOT_FOUND {
            return Ok(Vec::new());
        }
        let plan = read(response).await?;
        let drops = plan["drops"].as_array().into_iter().flatten();
        Ok(drops.filter_map(Value::as_str).map(str::to_owned).collect())
    }

    async fn post_url(&self, args: &IngestArgs) -> Result<Value, Failure> {
        let body = json!({
            "url": args.source,
            "analyzers": args.analyzers,
            "preset": args.preset,
            "min_duration": args.min_duration,
            "max_duration": args.max_duration,
        });
        self.answer(self.client.post(format!("{}/videos/url", self.server)).json(&body)).await
    }

    async fn upload(&self, args: &IngestArgs) -> Result<Value, Failure> {
        let id = self.send_file(Path::new(&args.source), args.upload.as_deref()).await?;
        let form = Form::new()
            .text("analyzers", args.analyzers.clone())
            .text("preset", args.preset.clone())
            .text("min_duration", args.min_duration.to_string())
            .text("max_duration", args.max_duration.to_string())
            .text("upload_id", id);
        self.answer(self.client.post(format!("{}/videos", self.server)).multipart(form)).await
    }

    /// Asks for the job until it has ended.
    pub(super) async fn follow(&self, job_id: &str) -> Result<Value, Failure> {
        let bar = ProgressBar::new_spinner()
            .with_style(ProgressStyle::with_template("{spinner} {elapsed} {msg}")?);
        bar.enable_steady_tick(Duration::from_millis(120));
        let mut told = Told::default();
        loop {
            let job =
                self.answer(self.client.get(format!("{}/jobs/{job_id}", self.server))).await?;
            let detail: Vec<String> = job["detail"]
                .as_object()
                .into_iter()
                .flatten()
                .filter(|(key, _)| *key != "traceback")
                .map(|(key, value)| format!("{key} {}", value.to_string().trim_matches('"')))
                .collect();
            let stage = job["stage"].as_str().unwrap_or_default();
            let message = format!("{stage} {}", detail.join(", "));
            // Where nobody watches, a line now and then takes the place of the bar.
            if bar.is_hidden() && told.is_due(stage, &message) {
                eprintln!("{}", message.trim_end());
            }
            bar.set_message(message);
            if matches!(job["status"].as_str(), Some("done" | "failed")) {
                bar.finish_and_clear();
                return Ok(job);
            }
            tokio::time::sleep(POLL).await;
        }
    }

    /// The answer, whatever it is; fails with what to do where there is none.
    pub(super) async fn send(&self, request: RequestBuilder) -> Result<Response, Failure> {
        let request = match &self.token {
            Some(token) => request.header("X-Core-Token", token),
            None => request,
        };
        Ok(request.send().await.map_err(|e| {
            format!("cannot reach {}: {e}; is `shotlog serve` running?", self.server)
        })?)
    }

    /// The JSON of an answer; fails with what to do where there is none, and with what the service
    /// says where it refuses.
    pub(super) async fn answer(&self, request: RequestBuilder) -> Result<Value, Failure> {
        read(self.send(request).await?).await
    }
}

/// The JSON of an answer; fails with what the service says where it refuses.
async fn read(response: Response) -> Result<Value, Failure> {
    let status = response.status();
    let body: Value = response.json().await.unwrap_or(Value::Null);
    if !status.is_success() {
        let detail = body["detail"].as_str().unwrap_or("no reason given");
        return Err(format!("the service answered {status}: {detail}").into());
    }
    Ok(body)
}

/// What was told of a job last.
#[derive(Default)]
struct Told {
    stage: String,
    message: String,
    at: Option<Instant>,
}

impl Told {
    /// Whether a line is due: for every stage, and within one where something has changed for a while.
    fn is_due(&mut self, stage: &str, message: &str) -> bool {
        let waited = self.at.is_none_or(|at| at.elapsed() >= LINES);
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
    fn every_stage_is_told_once() {
        let mut told = Told::default();
        assert!(told.is_due("fetching", "fetching"));
        assert!(!told.is_due("fetching", "fetching"));
        assert!(told.is_due("analyzing", "analyzing done 0"));
        assert!(!told.is_due("analyzing", "analyzing done 1"), "too soon");
    }

    #[test]
    fn the_longest_step_of_a_profile_comes_first() {
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
