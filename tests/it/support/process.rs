//! The service as a separate process that a test can kill.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::Duration;

use reqwest::multipart::{Form, Part};
use serde_json::Value;

/// A running service; dropping it sends SIGKILL, so nothing is flushed or cleaned up.
pub struct Process {
    child: Child,
    pub url: String,
}

impl Drop for Process {
    fn drop(&mut self) {
        self.kill();
    }
}

/// Sends a signal, such as `-STOP`, to any process. Returns whether the process exists.
pub fn send_signal(signal: &str, process: u32) -> bool {
    let mut kill = Command::new("kill");
    kill.args([signal, &process.to_string()]).stderr(Stdio::null());
    kill.status().expect("the program kill").success()
}

/// The state of a process, such as `T` if it is suspended, and its parent; `None` if it has ended.
#[cfg(target_os = "linux")]
pub fn process_state(process: u32) -> Option<(char, u32)> {
    let status = std::fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    // The name, in brackets, may contain spaces.
    let (_, fields) = status.rsplit_once(')')?;
    let mut fields = fields.split_whitespace();
    Some((fields.next()?.chars().next()?, fields.next()?.parse().ok()?))
}

/// The command line with settings in the environment, and without models.
pub fn command(folder: &Path, settings: &[(&str, String)]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_shotlog"));
    command
        .current_dir(folder)
        .env("SERVICE_DATA_DIR", folder.join("data"))
        .env("SERVICE_EMBEDDER__KIND", "hashing");
    for role in ["OCR", "DETECTOR", "TRANSCRIBER", "VAD", "SPEAKER"] {
        command.env(format!("SERVICE_{role}__KIND"), "none");
    }
    command.envs(settings.iter().map(|(key, value)| (format!("SERVICE_{key}"), value)));
    command
}

impl Process {
    /// Starts the service and waits until it answers.
    pub async fn start(folder: &Path, settings: &[(&str, String)]) -> Self {
        let port = {
            let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
            free.local_addr().unwrap().port()
        };
        let child = command(folder, settings)
            .arg("serve")
            .env("SERVICE_HTTP__LISTEN", format!("127.0.0.1:{port}"))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("the service starts");
        let mut process = Self { child, url: format!("http://127.0.0.1:{port}") };
        while reqwest::get(format!("{}/health", process.url)).await.is_err() {
            let ended = process.child.try_wait().expect("the process can be asked");
            assert_eq!(ended, None, "the service ended before it answered");
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        process
    }

    /// Sends SIGKILL, so nothing is flushed or cleaned up.
    pub fn kill(&mut self) {
        // The process may have ended already.
        let _ = self.child.kill();
        self.child.wait().expect("the process ends");
    }

    /// Suspends the process (SIGSTOP) until [`Self::go_on`].
    pub fn pause(&self) {
        self.signal("-STOP");
    }

    /// Resumes the process (SIGCONT).
    pub fn go_on(&self) {
        self.signal("-CONT");
    }

    /// Sends a signal, such as `-TERM`.
    pub fn signal(&self, signal: &str) {
        assert!(send_signal(signal, self.child.id()), "{signal}");
    }

    /// Waits at most `limit` for the process to exit. Returns `None` if it does not.
    pub async fn ended(&mut self, limit: Duration) -> Option<ExitStatus> {
        let child = &mut self.child;
        let ended = async {
            loop {
                match child.try_wait().expect("the process can be asked") {
                    Some(status) => return status,
                    None => tokio::time::sleep(Duration::from_millis(50)).await,
                }
            }
        };
        tokio::time::timeout(limit, ended).await.ok()
    }

    /// The processes that it has started and that have not ended. A process that is still a copy of
    /// the service is left out: it has not started its own program yet.
    #[cfg(target_os = "linux")]
    pub fn children(&self) -> Vec<u32> {
        let folders = std::fs::read_dir("/proc").expect("processes").flatten();
        let ids = folders.filter_map(|folder| folder.file_name().to_str()?.parse().ok());
        let parent = self.child.id();
        let arguments = |id: u32| std::fs::read(format!("/proc/{id}/cmdline")).ok();
        let own = arguments(parent);
        let is_running =
            |id: u32| process_state(id).is_some_and(|(state, of)| state != 'Z' && of == parent);
        ids.filter(|&id| is_running(id) && arguments(id) != own).collect()
    }

    /// Waits until `/ready` succeeds.
    pub async fn ready(&self) {
        let url = format!("{}/ready", self.url);
        while reqwest::get(&url).await.expect("an answer").status() != 200 {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }

    /// Peak resident memory so far, bytes.
    #[cfg(target_os = "linux")]
    pub fn peak_memory(&self) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap();
        let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
        peak.trim().trim_end_matches(" kB").parse::<u64>().unwrap() * 1024
    }

    /// The JSON body of a GET request.
    pub async fn get(&self, path: &str) -> Value {
        reqwest::get(format!("{}{path}", self.url)).await.unwrap().json().await.unwrap()
    }

    /// Uploads a file for chunks of two seconds and returns the id of its job. Errors are connection
    /// errors.
    pub async fn upload(&self, file: &Path, fields: &[(&str, &str)]) -> reqwest::Result<String> {
        let part = Part::bytes(std::fs::read(file).unwrap()).file_name("c.mp4");
        let mut form = Form::new().text("mode", "interval").text("interval", "2");
        for (name, value) in fields {
            form = form.text((*name).to_owned(), (*value).to_owned());
        }
        let form = form.part("file", part);
        let request = reqwest::Client::new().post(format!("{}/videos", self.url)).multipart(form);
        let accepted: Value = request.send().await?.json().await?;
        Ok(accepted["job_id"].as_str().unwrap_or_else(|| panic!("{accepted}")).to_owned())
    }

    /// Polls a job until `enough` accepts it. Panics if the job fails and is not accepted.
    pub async fn job(&self, job_id: &str, enough: impl Fn(&Value) -> bool) -> Value {
        loop {
            let job = self.get(&format!("/jobs/{job_id}")).await;
            if enough(&job) {
                return job;
            }
            assert_ne!(job["status"], "failed", "{job}");
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }
}

/// Creates a clip of colour bars with rotating hue; each seed gives a different file.
pub fn bars(folder: &Path, seconds: u32, seed: u32) -> Option<PathBuf> {
    let file = folder.join(format!("bars{seed}.mp4"));
    let made = Command::new("ffmpeg")
        .args(["-loglevel", "error", "-nostdin", "-f", "lavfi", "-i"])
        .arg(format!("testsrc2=size=320x180:rate=10:duration={seconds},hue=H=t+{seed}"))
        .args([OsStr::new("-y"), file.as_os_str()])
        .status();
    match made {
        Ok(status) if status.success() => Some(file),
        _ => {
            println!("skipped: the program ffmpeg is not there to make a clip");
            None
        }
    }
}
