//! No dependency of the service reports its use to anyone.

use std::path::PathBuf;

use crate::support::process::command;

/// Environment variables that would disable ONNX Runtime's telemetry or redirect its files.
const OPT_OUT_VARIABLES: [&str; 5] =
    ["ORT_DISABLE_TELEMETRY", "CI", "GITHUB_ACTIONS", "TF_BUILD", "XDG_CACHE_HOME"];

#[test]
fn onnx_runtime_creates_no_machine_identifier() {
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
        ("DETECTOR__LAYOUT", "yolox".to_owned()),
        ("DETECTOR__LABELS", "red_blue.txt".to_owned()),
    ];
    let mut check = command(folder.path(), &settings);
    for variable in OPT_OUT_VARIABLES {
        check.env_remove(variable);
    }
    let checked = check.arg("check").env("HOME", home.path()).output().unwrap();
    let stdout = String::from_utf8_lossy(&checked.stdout);
    assert!(stdout.contains("detect_yolox@"), "the model was not loaded: {stdout}");
    let leftovers: Vec<_> =
        std::fs::read_dir(home.path()).unwrap().map(|e| e.unwrap().path()).collect();
    assert!(leftovers.is_empty(), "{leftovers:?}");
}
