#!/usr/bin/env bash
# Everything that has to pass before a change is merged; ends with a line of counts.
#
#   scripts/check.sh [fmt] [clippy] [shell] [ui] [rust] [browser] [api] [clients] [mcp] [deploy] [supply] [files] [kills]     (none: all of them)
#
#   SHOTLOG_MEDIA=DIR     footage for the tests that need more than the sample clip
#   SHOTLOG_MODELS=DIR    model files, var/models when unset
#   SHOTLOG_BINARY=FILE   a program that is built already, for the clients
set -euo pipefail
shopt -s inherit_errexit
cd "$(dirname "${BASH_SOURCE[0]}")/.."
# shellcheck source=scripts/lib.sh
. scripts/lib.sh

parts=("$@")
((${#parts[@]})) || parts=(fmt clippy shell ui rust browser api clients mcp deploy supply files kills)
for part in "${parts[@]}"; do
    case $part in
        fmt | clippy | shell | ui | rust | browser | api | clients | mcp | deploy | supply | files | kills) ;;
        *) die "check: unknown part '$part'; accepted: fmt, clippy, shell, ui, rust, browser, api, clients, mcp, deploy, supply, files, kills" ;;
    esac
done

counts=()
scratch=$(mktemp -d)
trap 'stop_service; stop_s3; rm -rf "$scratch"' EXIT
trap 'exit 130' INT TERM

export SHOTLOG_MODELS=${SHOTLOG_MODELS:-$PWD/var/models}
# Where Debian puts nats-server, and only root looks.
export PATH=$PATH:/usr/sbin
export CARGO_TERM_COLOR=${CARGO_TERM_COLOR:-auto}

heading() { printf '\n== %s\n' "$*"; }

# number PATTERN FILE: the sum of the first numbers of all matches.
number() { { grep -oE "$1" "$2" || true; } | grep -oE '[0-9]+' | awk '{n += $1} END {print n + 0}'; }

check_fmt() {
    heading "formatting"
    cargo fmt --all --check
    counts+=("formatting ok")
}

check_clippy() {
    heading "lints"
    cargo clippy --workspace --all-targets --locked -- -D warnings
    # Programs of one's own take the parts that they need.
    local features
    for features in "" ffmpeg onnx cloud; do
        cargo clippy --locked -p shotlog-adapters --no-default-features --features "$features" -- -D warnings
    done
    counts+=("lints ok")
}

check_shell() {
    heading "scripts"
    local scripts
    mapfile -t scripts < <(git ls-files '*.sh' '.ci/run')
    shellcheck -x "${scripts[@]}"
    counts+=("${#scripts[@]} scripts ok")
}

check_ui() {
    heading "web UI"
    npm --prefix ui run --silent format:check
    npm --prefix ui run --silent check
    npm --prefix ui run --silent lint
    npm --prefix ui test --silent
    counts+=("web UI ok")
}

check_rust() {
    heading "Rust tests"
    start_s3
    local log=var/log/rust-tests.log library=$PWD/var/lib/libonnxruntime.so passed ignored skipped failed=0
    [[ -n ${SHOTLOG_ONNXRUNTIME-} || ! -f $library ]] || export SHOTLOG_ONNXRUNTIME=$library
    # Cargo's own progress goes to the terminal, a line per binary too; the log has everything.
    SHOTLOG_MODELS=$(every_model "$scratch/models") cargo test --workspace --locked --no-fail-fast -- --show-output |
        tee "$log" | grep --line-buffered -E '^(running |test result:|test .*(FAILED|has been running))' || failed=1
    if ((failed)); then
        sed -n '/^failures:$/,/^test result:/p' "$log"
        die "Rust tests failed; the whole output is in $log"
    fi
    passed=$(number '[0-9]+ passed' "$log")
    ignored=$(number '[0-9]+ ignored' "$log")
    skipped=$(grep -c '^skipped: ' "$log" || true)
    ((passed > 0)) || die "no Rust test ran"
    if ((skipped)); then
        grep '^skipped: ' "$log" | sort | uniq -c
    fi
    stop_s3
    counts+=("$passed Rust tests passed ($skipped skipped themselves, $ignored ignored)")
}

# The binary that `cargo test` builds beside its tests: a separate `cargo build` would compile the
# dependencies again, with other features.
sample() {
    examples/make_sample.sh
    cargo test --quiet --workspace --locked --no-run
    binary=${CARGO_TARGET_DIR:-target}/debug/shotlog
}

check_browser() {
    heading "browser tests"
    sample
    SHOTLOG_MODELS=$(every_model "$scratch/models") SHOTLOG_BINARY=$(realpath "$binary") npm --prefix tests/browser test --silent 2>&1 | tee "$scratch/browser"
    local passed
    passed=$(number '[0-9]+ passed' "$scratch/browser")
    ((passed > 0)) || die "no browser test ran"
    counts+=("$passed browser tests passed")
}

# serve_fresh NAME: a service on a free port over an empty data folder; sets `base`.
serve_fresh() {
    local port
    port=$(free_port)
    base=http://127.0.0.1:$port
    SERVICE_HTTP__LISTEN=127.0.0.1:$port SERVICE_HTTP__BASE_URL=$base SERVICE_DATA_DIR=$scratch/$1 \
        start_service "$scratch/$1.log" --config config.toml serve
}

# ingest FILE: the id of the video.
ingest() {
    local job
    job=$(call /videos -F "file=@$1;type=video/mp4" -F "analyzers=$(chosen_analyzers)" -F min_duration=3)
    wait_for_job "$(jq -r .job_id <<<"$job")" | jq -r .video_id
}

# fuzz NAME ARGUMENT…: a bounded schemathesis run against $base.
fuzz() {
    local name=$1
    shift
    local checks=not_a_server_error,status_code_conformance,content_type_conformance
    checks+=,response_headers_conformance,response_schema_conformance
    if ! (cd "$scratch" && timeout 900 "$OLDPWD/var/venv/bin/schemathesis" --config-file "$scratch/schemathesis.toml" --no-color \
        run "$base/openapi.json" --checks "$checks" --request-timeout 30 --generation-deterministic \
        --suppress-health-check all "$@") >"$scratch/$name" 2>&1; then
        cat "$scratch/$name"
        tail -n 40 "$scratch/open.log" >&2
        die "the live service does not keep to its OpenAPI document"
    fi
    tail -n 25 "$scratch/$name"
}

check_api() {
    heading "OpenAPI document"
    sample
    serve_fresh open
    curl -sf "$base/openapi.json" >"$scratch/openapi.json"
    var/venv/bin/openapi-spec-validator "$scratch/openapi.json"

    heading "the live service against its document"
    local kept removed
    kept=$(ingest var/sample/shotlog-sample.mp4)
    "$binary" eval examples/evaluation/sample.json --server "$base"
    ffmpeg -loglevel error -nostdin -i var/sample/shotlog-sample.mp4 -t 8 -c copy "$scratch/short.mp4"
    removed=$(ingest "$scratch/short.mp4")
    # Real ids most of the time, so that the requests get past "unknown video".
    cat >"$scratch/schemathesis.toml" <<EOF
[dictionaries.kept]
values = ["$kept"]
[dictionaries.removed]
values = ["$removed"]
[dictionaries.chunk]
values = [0, 1, 2]
[parameters]
"path.video_id" = { dictionary = "kept", probability = 0.8 }
"path.chunk_id" = { dictionary = "chunk", probability = 0.7 }
[[operations]]
include-method = "DELETE"
parameters = { "path.video_id" = { dictionary = "removed", probability = 0.5 } }
EOF
    # The same requests every time; SHOTLOG_FUZZ_EXAMPLES=1000 looks further.
    fuzz fuzz --max-examples "${SHOTLOG_FUZZ_EXAMPLES:-40}" --phases examples,coverage,fuzzing,stateful
    curl -sf "$base/health" >/dev/null || die "the service does not answer after the run"

    heading "hostile requests, and connections that say nothing"
    # Short forms of scripts/torture_http.sh, with time for a machine that does other things too.
    python3 scripts/torture_requests.py "$base" --pid "$service_pid" --video "$kept" --processes 2 \
        --count "${SHOTLOG_HOSTILE_REQUESTS:-5000}" --seconds 30 | tee "$scratch/hostile"
    stop_service
    python3 scripts/torture_connections.py "$binary" --seconds 8 --limit-ms 10000

    heading "the same, without the token it asks for"
    SERVICE_AUTH__TOKENS='["only-for-this-check"]' serve_fresh closed
    fuzz denied --max-examples 3 --phases examples,fuzzing --warnings off
    stop_service

    local cases
    cases=$(number '[0-9]+ generated' "$scratch/fuzz")
    counts+=("OpenAPI document valid" "$cases API cases conform" "$(number '[0-9]+ requests generated' "$scratch/hostile") hostile requests")
}

check_clients() {
    heading "clients"
    [[ -n ${SHOTLOG_BINARY-} ]] || sample
    SHOTLOG_BINARY=${SHOTLOG_BINARY:-$binary} scripts/clients.sh | tee "$scratch/clients"
    counts+=("$(number '[0-9]+ (passed|steps)|pass [0-9]+' "$scratch/clients") client tests and steps passed")
}

check_mcp() {
    heading "agents"
    sample
    local video tokens=6000
    # Words and meaning are enough to talk about, a small budget is soon full, and an agent may add what
    # the service itself serves.
    export SHOTLOG_TOKEN=only-for-this-check
    SERVICE_AUTH__TOKENS="[\"$SHOTLOG_TOKEN\"]" SERVICE_FETCH__ALLOW_PRIVATE=true SERVICE_OCR__KIND=none \
        SERVICE_DETECTOR__KIND=none SERVICE_MCP__MAX_TOKENS=$tokens serve_fresh agents
    video=$(ingest var/sample/shotlog-sample.mp4)
    var/venv/bin/python scripts/check_mcp.py "$base" --video "$video" --token "$SHOTLOG_TOKEN" \
        --binary "$binary" --tokens "$tokens" | tee "$scratch/mcp"
    unset SHOTLOG_TOKEN
    stop_service
    counts+=("$(number '^[0-9]+ answers to agents' "$scratch/mcp") answers to agents")
}

check_deploy() {
    heading "deployment files"
    local files meter meters
    mapfile -t files < <(git ls-files 'deploy/*.yaml')
    var/venv/bin/yamllint --strict -d '{extends: default, rules: {document-start: disable, line-length: {max: 120}, braces: {max-spaces-inside: 1}}}' "${files[@]}"
    mapfile -t files < <(git ls-files 'deploy/kubernetes/*.yaml' ':!deploy/kubernetes/kustomization.yaml')
    var/venv/bin/kubernetes-validate --strict "${files[@]}"
    if command -v systemd-analyze >/dev/null; then
        sed 's#/usr/local/bin/shotlog#/bin/true#' deploy/systemd/shotlog.service >"$scratch/shotlog.service"
        systemd-analyze verify "$scratch/shotlog.service"
    fi

    heading "metrics"
    sample
    serve_fresh metered
    ingest var/sample/shotlog-sample.mp4 >/dev/null
    call /metrics >"$scratch/metrics"
    var/tools/promtool check metrics <"$scratch/metrics"
    stop_service
    # What the dashboard draws is what the service measures.
    mapfile -t meters < <(grep -oE 'shotlog_[a-z_]+' deploy/grafana/shotlog.json | sed 's/_bucket$//' | sort -u)
    for meter in "${meters[@]}"; do
        grep -q "^# TYPE $meter " "$scratch/metrics" || die "deploy/grafana/shotlog.json draws $meter, which /metrics does not have"
    done
    counts+=("deployment files ok" "${#meters[@]} meters ok")
}

check_files() {
    heading "hostile files"
    TORTURE=short scripts/torture_files.sh | tee "$scratch/files"
    counts+=("$(number '^[0-9]+ (bombs|damaged)' "$scratch/files") hostile files held")
}

check_supply() {
    heading "what comes from elsewhere"
    scripts/supply.sh | tee "$scratch/supply"
    if grep '^note: ' "$scratch/supply" >>"$scratch/notes"; then
        counts+=("licences and sources ok")
    else
        counts+=("licences, sources and advisories ok")
    fi
}

check_kills() {
    heading "kills"
    sample
    SHOTLOG_BINARY=$binary scripts/torture_kills.sh | tee "$scratch/kills"
    counts+=("$(number '^[0-9]+ kills' "$scratch/kills") kills survived")
}

scripts/setup.sh test
for part in "${parts[@]}"; do
    "check_$part"
done

printf '\n'
if [[ -s var/log/setup.warnings ]]; then
    while IFS= read -r line; do echo "warning: $line"; done <var/log/setup.warnings
fi
[[ ! -s $scratch/notes ]] || cat "$scratch/notes"
[[ -n ${SHOTLOG_MEDIA-} ]] || echo "note: SHOTLOG_MEDIA is not set, so the tests over real footage skipped themselves"
joined=$(printf '%s, ' "${counts[@]}")
echo "all checks passed in $((SECONDS / 60)) min $((SECONDS % 60)) s: ${joined%, }"
