#!/usr/bin/env bash
# Tests hostile files: bombs through the service, damaged files through its decoder.
#
#   scripts/torture/files.sh
#
#   TORTURE=short        the short run of `make test`, less than a minute
#   TORTURE_FILES=10000  number of damaged files
#   TORTURE_SEED=0       seed of the damage
#   SHOTLOG_BINARY=FILE  a binary that has been built, with the folder of examples next to it
set -euo pipefail
shopt -s inherit_errexit
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
# shellcheck source=scripts/lib.sh
. scripts/lib.sh

scratch=$(mktemp -d)
trap 'stop_service; rm -rf "$scratch"' EXIT
trap 'exit 130' INT TERM

if [[ ${TORTURE-} == short ]]; then
    files=${TORTURE_FILES:-220}
else
    files=${TORTURE_FILES:-10000}
fi

bombs() {
    local port
    ffmpeg -nostdin -v error -f lavfi -i testsrc2=s=160x90:r=25:d=2 "$scratch/good.mp4"
    port=$(free_port)
    base=http://127.0.0.1:$port
    # No models, so that changes in memory come from the decoder.
    SERVICE_HTTP__LISTEN=127.0.0.1:$port SERVICE_DATA_DIR=$scratch/data SERVICE_EMBEDDER__KIND=hashing \
        SERVICE_OCR__KIND=none SERVICE_DETECTOR__KIND=none SERVICE_TRANSCRIBER__KIND=none \
        SERVICE_VAD__KIND=none SERVICE_SPEAKER__KIND=none \
        start_service "$scratch/service.log" --config config.toml serve
    python3 scripts/torture/files.py bombs "$base" "$service_pid" "$scratch/bombs" "$scratch/good.mp4"
    kill -0 "$service_pid" || die "the service exited"
    stop_service
}

damaged() {
    python3 scripts/torture/corpus.py damaged "$scratch/damaged" "$files" "${TORTURE_SEED:-0}"
    find "$scratch/damaged" -name '[0-9]*' -print0 | sort -z |
        xargs -0 -n 1000 "$(dirname "$binary")/examples/scan_files" "$binary" >"$scratch/reports"
    python3 scripts/torture/files.py damaged "$scratch/damaged/real.json" <"$scratch/reports"
    (($(wc -l <"$scratch/reports") == files)) || die "not every damaged file was reported"
}

if [[ -z ${SHOTLOG_BINARY-} ]]; then
    # Builds the tests: building only the binary would recompile dependencies with other features.
    cargo test --quiet --workspace --locked --no-run
fi
binary=${SHOTLOG_BINARY:-${CARGO_TARGET_DIR:-target}/debug/shotlog}
bombs
damaged
