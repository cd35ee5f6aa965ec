//! The decode worker program for the conformance tests. It implements only `shotlog decode`.

use std::process::ExitCode;

fn main() -> ExitCode {
    let mut arguments = std::env::args_os().skip(1);
    match arguments.next() {
        Some(command) if command == "decode" => shotlog_adapters::decoder::work(arguments.next()),
        _ => ExitCode::FAILURE,
    }
}
