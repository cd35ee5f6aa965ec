//! `shotlog eval` as a CI job runs it.

use std::path::Path;
use std::process::Output;

use serde_json::{Value, json};

use crate::support::mentions;
use crate::support::process::{Process, bars, command};

/// Runs the command on a file with this content.
fn eval(folder: &Path, url: &str, file: &Value) -> Output {
    let path = folder.join("questions.json");
    std::fs::write(&path, file.to_string()).unwrap();
    let mut command = command(folder, &[]);
    command.arg("eval").arg(path).args(["--json", "--server", url]).output().unwrap()
}

#[tokio::test]
async fn the_exit_status_reports_missed_bars() {
    let folder = tempfile::tempdir().unwrap();
    let Some(clip) = bars(folder.path(), 4, 1) else { return };
    let service = Process::start(folder.path(), &[]).await;
    service.ready().await;
    let job_id = service.upload(&clip, &[]).await.unwrap();
    service.job(&job_id, |job| job["status"] == "done").await;

    let mut file = json!({
        "name": "bars",
        "questions": [
            {"id": "bars", "text": "coloured bars",
             "relevant": [{"filename": "c.mp4", "start": 0, "end": 2}]},
            {"id": "tiger", "text": "tiger", "absent": true},
        ],
        "bars": [{"metric": "false_presence", "at_most": 1}],
    });
    let passed = eval(folder.path(), &service.url, &file);
    let log = String::from_utf8_lossy(&passed.stderr);
    assert_eq!(passed.status.code(), Some(0), "{log}");
    mentions(&log, &["recall", "ok   default false_presence", "at most 1"]);
    let run: Value = serde_json::from_slice(&passed.stdout).expect("the run as JSON");
    assert_eq!(run["questions"][0]["id"], "bars");

    let unreachable = json!({"metric": "recall", "at_least": 1.5});
    file["bars"].as_array_mut().unwrap().push(unreachable);
    let missed = eval(folder.path(), &service.url, &file);
    let log = String::from_utf8_lossy(&missed.stderr);
    assert_eq!(missed.status.code(), Some(1), "{log}");
    mentions(&log, &["MISS default recall", "1 of 2 bars are missed"]);

    file["questions"][0]["relevant"][0]["filename"] = "d.mp4".into();
    let unknown = eval(folder.path(), &service.url, &file);
    assert_eq!(unknown.status.code(), Some(1));
    mentions(&String::from_utf8_lossy(&unknown.stderr), &["no video with the filename 'd.mp4'"]);
}
