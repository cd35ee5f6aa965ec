//! Gives the program its version: the package's, and the commit where `SHOTLOG_COMMIT` names one.

fn main() {
    println!("cargo:rerun-if-env-changed=SHOTLOG_COMMIT");
    println!("cargo:rerun-if-changed=build.rs");
    let version = std::env::var("CARGO_PKG_VERSION").unwrap_or_default();
    let version = match std::env::var("SHOTLOG_COMMIT") {
        Ok(commit) if !commit.is_empty() => format!("{version} ({commit})"),
        _ => version,
    };
    println!("cargo:rustc-env=SHOTLOG_VERSION={version}");
}
