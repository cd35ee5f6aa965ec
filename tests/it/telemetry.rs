//! Nothing that the service is built of tells anybody that it is used.

use std::path::PathBuf;

use crate::support::process::command;

/// What switches ONNX Runtime's telemetry off from outside.
const OFF: [&str; 5] =
    ["ORT_DISABLE_TELEMETRY", "CI", "GITHUB_ACTIONS", "TF_BUILD", "XDG_CACHE_HOME"];

#[test]
fn onnx_runtime_makes_no_identifier_of_the_machine() {
    let Some(library) = std::env::var_os("SHOTLOG_ONNXRUNTIME") else {
        eprintln!("skipped: SHOTLOG_ONNXRUNTIME is not set");
        return;
    };
    let (folder, home) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let models = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("adapters/tests/fixtures");
    let settings = [
        ("MODELS__DIR", models.display().to_string()),
        ("MODELS__ONNXRUNTIME", library.to_string_lossy().into_owned()),
        ("DETECTOR__KIND", "onnx".to_owned()),
        ("DETECTOR__FILE", "detect_yolox.onnx".to_owned()),
        ("DETECTOR__LABELS", "red_blue.txt".to_owned()),
    ];
    let mut check = command(folder.path(), &settings);
    for variable in OFF {
        check.env_remove(variable);
    }
    let checked = check.arg("check").env("HOME", home.path()).output().unwrap();
    let told = String::from_utf8_lossy(&checked.stdout);
    assert!(told.contains("detect_yolox@"), "the model is not there: {told}");
    let left: Vec<_> = std::fs::read_dir(home.path()).unwrap().map(|e| e.unwrap().path()).collect();
    assert!(left.is_empty(), "{left:?}");
}
