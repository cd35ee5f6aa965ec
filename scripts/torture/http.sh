#!/usr/bin/env bash
# Tests the HTTP server with generated hostile requests and with silent connections. Exits with 1 if a response is
# invalid or too slow.
#
#   scripts/torture/http.sh [requests] [connections]     (default: both)
#
#   TORTURE_REQUESTS=1000000   number of requests
#   TORTURE_SECONDS=7200       time limit for requests; connections take at most a minute
#   TORTURE_SEED=14            seed of the requests
#   SHOTLOG_BINARY=FILE        a binary that has been built, such as a release build
#   TORTURE_LIMIT_MS=100       maximum response time of /health next to silent connections
set -euo pipefail
shopt -s inherit_errexit
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
# shellcheck source=scripts/lib.sh
. scripts/lib.sh

parts=("$@")
((${#parts[@]})) || parts=(requests connections)
seconds=${TORTURE_SECONDS:-7200}
scratch=$(mktemp -d)
trap 'stop_service; rm -rf "$scratch"' EXIT
trap 'exit 130' INT TERM

requests() {
    local port video job
    port=$(free_port)
    base=http://127.0.0.1:$port
    # Embedding hostile texts would take most of the time. A short job history is full after the warm-up.
    SERVICE_HTTP__LISTEN=127.0.0.1:$port SERVICE_DATA_DIR=$scratch/data SERVICE_LOG__FILTER=warn \
        SERVICE_EMBEDDER__KIND=hashing SERVICE_JOBS__HISTORY=100 \
        start_service "$scratch/log" --config config.toml serve
    job=$(call /videos -F "file=@var/sample/shotlog-sample.mp4;type=video/mp4" -F min_duration=3)
    video=$(wait_for_job "$(jq -r .job_id <<<"$job")" | jq -r .video_id)
    python3 scripts/torture/hostile_requests.py "$base" --pid "$service_pid" --video "$video" \
        --count "${TORTURE_REQUESTS:-1000000}" --seconds "$seconds" --seed "${TORTURE_SEED:-14}" ||
        die "the service violates its OpenAPI document; its log ends with: $(tail -n 20 "$scratch/log")"
    call /health >/dev/null
    stop_service
}

connections() {
    python3 scripts/torture/connections.py "$binary" --limit-ms "${TORTURE_LIMIT_MS:-100}" \
        --seconds "$((seconds < 60 ? seconds : 60))"
}

examples/make_sample.sh
[[ -n ${SHOTLOG_BINARY-} ]] || build "${PROFILE:-dev}"
binary=${SHOTLOG_BINARY:-$binary}
for part in "${parts[@]}"; do
    case $part in
        requests | connections) "$part" ;;
        *) die "torture: unknown part '$part'; accepted: requests, connections" ;;
    esac
done
