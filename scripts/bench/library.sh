#!/usr/bin/env bash
# Prints the times of start-up, listing, search and questions for large libraries, generated from the records of the
# sample clip (examples/library.rs).
#
#   scripts/bench/library.sh [VIDEOS…]   (default: 1000 10000 20000 100000)
#   SHOTLOG_BENCH_FROM=DIR               a data_dir with ingested videos to use instead of the sample clip
set -euo pipefail
shopt -s inherit_errexit
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
# shellcheck source=scripts/lib.sh
. scripts/lib.sh

counts=("$@")
((${#counts[@]})) || counts=(1000 10000 20000 100000)
scratch=$(mktemp -d)
trap 'stop_service; rm -rf "$scratch"' EXIT
trap 'exit 130' INT TERM

build release
cargo build --locked --release --example library
library=${CARGO_TARGET_DIR:-target}/release/examples/library
port=$(free_port)
base=http://127.0.0.1:$port
export SERVICE_HTTP__LISTEN=127.0.0.1:$port

examples/make_sample.sh
from=${SHOTLOG_BENCH_FROM-}
if [[ -z $from ]]; then
    from=$scratch/from
    ingest_sample "$from"
fi

# ready: starts the service and prints the seconds until it is ready.
ready() {
    local begun=$EPOCHREALTIME
    start_service "$scratch/service.log" --config config.toml serve
    until curl -sf -o "$scratch/ready.json" "$base/ready"; do sleep 0.05; done
    awk -v a="$begun" -v b="$EPOCHREALTIME" 'BEGIN {printf "%.1f", b - a}'
}

for count in "${counts[@]}"; do
    export SERVICE_DATA_DIR=$scratch/$count
    begun=$SECONDS
    "$library" config.toml "$from" "$count" 2>"$scratch/library.log"
    made=$((SECONDS - begun))
    ready >"$scratch/first"
    stop_service
    ready >"$scratch/again"
    printf '\n== %s videos: generated in %s s, first start %s s, second start %s s\n' \
        "$count" "$made" "$(<"$scratch/first")" "$(<"$scratch/again")"
    var/venv/bin/python scripts/bench/library.py "$base" 50 var/sample/shotlog-sample.mp4
    awk '/^RssAnon/ {anon = $2} /^RssFile/ {file = $2} END {
        printf "  resident %d MiB, and %d MiB of mapped files\n", anon / 1024, file / 1024}' \
        "/proc/$service_pid/status"
    stop_service
    rm -rf "${SERVICE_DATA_DIR:?}"
done
