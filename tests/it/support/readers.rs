//! Programs that read exported files independently of the service.

use std::path::Path;
use std::process::Command;

use serde_json::Value;

/// Runs a Python program of `tests/readers` on a file and returns the JSON that it prints. Returns
/// `None` if Python or a package that the program needs is missing.
pub fn read_with(program: &str, file: &Path, arguments: &[&str]) -> Option<Value> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let python =
        std::env::var("SHOTLOG_PYTHON").map_or(root.join("var/venv/bin/python"), Into::into);
    let mut command = Command::new(python);
    command.arg(root.join("tests/readers").join(program)).arg(file).args(arguments);
    let Ok(output) = command.output() else {
        println!("skipped: there is no Python environment");
        return None;
    };
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{}: {errors}", file.display());
    for line in errors.lines().filter(|line| line.starts_with("skipped:")) {
        println!("{line}");
    }
    let text = String::from_utf8(output.stdout).unwrap();
    if text.starts_with("skipped:") {
        println!("{}", text.trim());
        return None;
    }
    Some(serde_json::from_str(&text).unwrap())
}
