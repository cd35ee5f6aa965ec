//! `shotlog eval` as a continuous integration runs it.

use std::path::Path;
use std::process::Output;

use serde_json::{Value, json};

use crate::support::mentions;
use crate::support::process::{Process, bars, command};

/// Runs the command over a file with these contents.
fn eval(folder: &Path, url: &str, file: &Value) -> Output {
    let path = folder.join("questions.json");
    std::fs::write(&path, file.to_string()).unwrap();
    let mut command = command(folder, &[]);
    command.arg("eval").arg(path).args(["--json", "--server", url]).output().unwrap()
}

#[tokio::test]
async fn the_command_ends_as_its_bars_say() {
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
    let held = eval(folder.path(), &service.url, &file);
    let told = String::from_utf8_lossy(&held.stderr);
    assert_eq!(held.status.code(), Some(0), "{told}");
    mentions(&told, &["recall", "ok   default false_presence", "at most 1"]);
    let run: Value = serde_json::from_slice(&held.stdout).expect("the run as JSON");
    assert_eq!(run["questions"][0]["id"], "bars");

    let missed = json!({"metric": "recall", "at_least": 1.5});
    file["bars"].as_array_mut().unwrap().push(missed);
    let missed = eval(folder.path(), &service.url, &file);
    let told = String::from_utf8_lossy(&missed.stderr);
    assert_eq!(missed.status.code(), Some(1), "{told}");
    mentions(&told, &["MISS default recall", "1 of 2 bars are missed"]);

    file["questions"][0]["relevant"][0]["filename"] = "d.mp4".into();
    let unknown = eval(folder.path(), &service.url, &file);
    assert_eq!(unknown.status.code(), Some(1));
    mentions(&String::from_utf8_lossy(&unknown.stderr), &["no video with the filename 'd.mp4'"]);
}
