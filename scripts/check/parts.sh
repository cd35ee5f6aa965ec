# The parts of scripts/check.sh: each checks one thing and writes its counts to $counts, one per line.
# Sourced, never run.
# shellcheck shell=bash disable=SC2154

count() { printf '%s\n' "$*" >>"$counts"; }

# number PATTERN FILE: the sum of the numbers in all matches.
number() { { grep -oE "$1" "$2" || true; } | grep -oE '[0-9]+' | awk '{n += $1} END {print n + 0}'; }

check_fmt() {
    cargo fmt --all --check
    count "formatting ok"
}

# Compiles everything that is tested, with Clippy lints.
check_clippy() {
    cargo test --workspace --locked --no-run
    cargo test --workspace --locked --no-run --benches
    count "lints ok"
}

# The adapters with single features: programs that embed them enable only what they need.
check_features() {
    local features
    for features in "" ffmpeg onnx cloud; do
        cargo check --locked -p shotlog-adapters --no-default-features --features "$features"
    done
    count "4 sets of features ok"
}

check_shell() {
    local scripts
    mapfile -t scripts < <(git ls-files '*.sh' '.ci/run')
    shellcheck -x "${scripts[@]}"
    count "${#scripts[@]} scripts ok"
}

check_ui() {
    npm --prefix ui run --silent format:check
    npm --prefix ui run --silent check
    npm --prefix ui run --silent lint
    npm --prefix ui test --silent
    count "web UI ok"
}

check_rust() {
    local onnxruntime=$PWD/var/lib/libonnxruntime.so report=target/nextest/check/junit.xml
    [[ -n ${SHOTLOG_ONNXRUNTIME-} || ! -f $onnxruntime ]] || export SHOTLOG_ONNXRUNTIME=$onnxruntime
    start_s3
    var/venv/bin/cargo-nextest nextest run --workspace --locked --profile check
    cargo test --workspace --locked --doc
    stop_s3
    cp "$report" "$scratch.junit.xml"
    python3 scripts/check/tests.py count "$scratch.junit.xml" | sed 's/passed/Rust tests passed/' >>"$counts"
    python3 scripts/check/tests.py skipped "$scratch.junit.xml" >"$scratch.notes"
}

check_browser() {
    SHOTLOG_BINARY=$binary PLAYWRIGHT_JUNIT_OUTPUT_FILE=$scratch.junit.xml \
        npm --prefix tests/browser test --silent
    python3 scripts/check/tests.py count "$scratch.junit.xml" | sed 's/passed/browser tests passed/' >>"$counts"
}

# A separate part, since two parts that made the clip in parallel would write the same file.
check_sample() {
    examples/make_sample.sh
    count "sample clip made"
}

# Ingests the sample clip with every analyzer; parts that need a library copy the result.
check_library() {
    serve data
    ingest var/sample/shotlog-sample.mp4
    stop_service
    count "sample clip ingested"
}

# serve NAME [library]: starts a service on a free port with its own data folder, empty or with the sample; sets `base`.
serve() {
    local port
    port=$(free_port)
    base=http://127.0.0.1:$port
    [[ ${2-} != library ]] || cp -r "$library" "$scratch/$1"
    SERVICE_HTTP__LISTEN=127.0.0.1:$port SERVICE_HTTP__BASE_URL=$base SERVICE_DATA_DIR=$scratch/$1 \
        start_service "$scratch/$1.log" --config config.toml serve
}

# ingest FILE: ingests a file with every analyzer; prints the video id.
ingest() {
    local job
    job=$(call /videos -F "file=@$1;type=video/mp4" -F "analyzers=$(all_analyzers)" -F min_duration=3)
    wait_for_job "$(jq -r .job_id <<<"$job")" | jq -r .video_id
}

# short_clip FILE: writes the first 8 seconds of the sample.
short_clip() { ffmpeg -loglevel error -nostdin -i var/sample/shotlog-sample.mp4 -t 8 -c copy "$1"; }

# fuzz NAME ARGUMENT…: a bounded, deterministic schemathesis run against $base.
fuzz() {
    local name=$1 root=$PWD
    shift
    local checks=not_a_server_error,status_code_conformance,content_type_conformance
    checks+=,response_headers_conformance,response_schema_conformance
    if ! (cd "$scratch" && timeout 900 "$root/var/venv/bin/schemathesis" --config-file "$scratch/schemathesis.toml" --no-color \
        run "$base/openapi.json" --checks "$checks" --request-timeout 30 --generation-deterministic --workers 2 \
        --suppress-health-check all "$@") >"$scratch/$name" 2>&1; then
        cat "$scratch/$name"
        tail -n 40 "$scratch/open.log" >&2
        die "the running service violates its OpenAPI document"
    fi
    tail -n 25 "$scratch/$name"
}

check_api() {
    local permanent removed
    serve open library
    curl -sf "$base/openapi.json" >"$scratch/openapi.json"
    var/venv/bin/openapi-spec-validator "$scratch/openapi.json"

    permanent=$(call /videos | jq -r '.videos[0].video_id')
    "$binary" eval examples/evaluation/sample.json --server "$base"
    short_clip "$scratch/short.mp4"
    removed=$(ingest "$scratch/short.mp4")
    # Real ids in most requests, so that they pass the check for unknown videos.
    cat >"$scratch/schemathesis.toml" <<TOML
[dictionaries.permanent]
values = ["$permanent"]
[dictionaries.removed]
values = ["$removed"]
[dictionaries.chunk]
values = [0, 1, 2]
[parameters]
"path.video_id" = { dictionary = "permanent", probability = 0.8 }
"path.chunk_id" = { dictionary = "chunk", probability = 0.7 }
[[operations]]
include-method = "DELETE"
parameters = { "path.video_id" = { dictionary = "removed", probability = 0.5 } }
# The generator of invalid forms fails on file contents; the coverage phase sends invalid forms too.
[[operations]]
include-name = "POST /videos"
[operations.phases.fuzzing.generation]
mode = "positive"
TOML
    # SHOTLOG_FUZZ_EXAMPLES=1000 sends more requests.
    fuzz fuzz --max-examples "${SHOTLOG_FUZZ_EXAMPLES:-42}" --phases examples,coverage,fuzzing,stateful
    curl -sf "$base/health" >/dev/null || die "the service does not respond after the run"

    # Short runs of scripts/torture/http.sh, with generous time limits for a busy machine.
    python3 scripts/torture/hostile_requests.py "$base" --pid "$service_pid" --video "$permanent" --processes 2 \
        --count "${SHOTLOG_HOSTILE_REQUESTS:-5000}" --seconds 120 | tee "$scratch/hostile"
    stop_service
    python3 scripts/torture/connections.py "$binary" --seconds 8 --limit-ms 10000

    # The same without the required token.
    SERVICE_AUTH__TOKENS='["only-for-this-check"]' serve closed
    fuzz denied --max-examples 3 --phases examples,fuzzing --warnings off
    stop_service

    count "OpenAPI document valid"
    count "$(number '[0-9]+ generated' "$scratch/fuzz") API cases conform"
    count "$(number '[0-9]+ requests generated' "$scratch/hostile") hostile requests"
}

check_clients() {
    SHOTLOG_BINARY=$binary scripts/check/clients.sh | tee "$scratch/clients"
    count "$(number '[0-9]+ (passed|steps|examples)|pass [0-9]+' "$scratch/clients") client tests, examples and steps passed"
}

# protocol_revisions: prints the revisions of the Model Context Protocol that the service offers, one a line.
protocol_revisions() {
    local version=2026-07-28
    call /mcp -H 'Accept: application/json, text/event-stream' -H 'Content-Type: application/json' \
        -H "MCP-Protocol-Version: $version" -H 'Mcp-Method: server/discover' \
        -d '{"jsonrpc": "2.0", "id": 1, "method": "server/discover", "params": {"_meta": {
            "io.modelcontextprotocol/protocolVersion": "'$version'", "io.modelcontextprotocol/clientCapabilities": {}}}}' |
        jq -r '.result.supportedVersions[]'
}

check_mcp() {
    local video revision revisions tokens=6000
    # A small token budget, and agents may ingest files that the service itself serves.
    export SHOTLOG_TOKEN=only-for-this-check
    SERVICE_AUTH__TOKENS="[\"$SHOTLOG_TOKEN\"]" SERVICE_FETCH__ALLOW_PRIVATE=true SERVICE_MCP__MAX_TOKENS=$tokens \
        serve agents library
    video=$(call /videos | jq -r '.videos[0].video_id')
    var/venv/bin/python scripts/check/agents.py "$base" --video "$video" --token "$SHOTLOG_TOKEN" \
        --binary "$binary" --tokens "$tokens" | tee "$scratch/mcp"
    stop_service

    # The conformance suite of the protocol, which sends no token.
    serve conformance
    revisions=$(protocol_revisions)
    for revision in $revisions; do
        # The suite does not know the first revision; scripts/check/agents.py and tests/it/mcp.rs do.
        [[ $revision != 2024-11-05 ]] || continue
        echo "revision $revision"
        node --import ./tests/mcp/old-node.mjs tests/mcp/node_modules/.bin/conformance server --url "$base/mcp" \
            --suite all --spec-version "$revision" --expected-failures tests/mcp/not-applicable.yaml \
            --output-dir "$scratch/conformance/$revision"
    done | tee "$scratch/conformance.log"
    stop_service
    count "$(number '^[0-9]+ responses to agents' "$scratch/mcp") responses to agents"
    count "$(grep -cE '^✓ .* [1-9][0-9]* passed' "$scratch/conformance.log") conformance scenarios of MCP"
}

check_deploy() {
    local files metric metrics
    mapfile -t files < <(git ls-files 'deploy/*.yaml')
    var/venv/bin/yamllint --strict -d '{extends: default, rules: {document-start: disable, line-length: {max: 120}, braces: {max-spaces-inside: 1}}}' "${files[@]}"
    mapfile -t files < <(git ls-files 'deploy/kubernetes/*.yaml' ':!deploy/kubernetes/kustomization.yaml')
    var/venv/bin/kubernetes-validate --strict "${files[@]}"
    if command -v systemd-analyze >/dev/null; then
        sed 's#/usr/local/bin/shotlog#/bin/true#' deploy/systemd/shotlog.service >"$scratch/shotlog.service"
        systemd-analyze verify "$scratch/shotlog.service"
    fi

    serve deploy
    short_clip "$scratch/short.mp4"
    ingest "$scratch/short.mp4" >/dev/null
    call /metrics >"$scratch/metrics"
    var/tools/promtool check metrics <"$scratch/metrics"
    stop_service
    # Every metric in the dashboard must exist in /metrics.
    mapfile -t metrics < <(grep -oE 'shotlog_[a-z_]+' deploy/grafana/shotlog.json | sed 's/_bucket$//' | sort -u)
    for metric in "${metrics[@]}"; do
        grep -q "^# TYPE $metric " "$scratch/metrics" || die "deploy/grafana/shotlog.json uses $metric, which /metrics does not have"
    done
    count "deployment files ok"
    count "${#metrics[@]} metrics ok"
}

check_files() {
    SHOTLOG_BINARY=$binary TORTURE=short scripts/torture/files.sh | tee "$scratch/files"
    count "$(number '^[0-9]+ (bombs|damaged)' "$scratch/files") hostile files handled"
}

check_supply() {
    scripts/check/supply.sh | tee "$scratch/supply"
    if grep '^note: ' "$scratch/supply" >"$scratch.notes"; then
        count "licences and sources ok"
    else
        count "licences, sources and advisories ok"
    fi
}

check_kills() {
    SHOTLOG_BINARY=$binary TORTURE_SECONDS=${TORTURE_SECONDS:-180} scripts/torture/kills.sh | tee "$scratch/kills"
    count "$(number '^[0-9]+ kills' "$scratch/kills") kills survived"
}

# Prints the 20 slowest tests of the Rust and browser suites.
slowest_tests() {
    local reports
    mapfile -t reports < <(find "$scratch" -maxdepth 1 -name '*.junit.xml')
    ((${#reports[@]} == 0)) || python3 scripts/check/tests.py slowest "${reports[@]}"
}
