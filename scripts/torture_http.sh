#!/usr/bin/env bash
# The edge of the service under load that means it no good: generated requests, and connections that say
# nothing. Prints what was seen; ends with 1 where an answer or a time is not as it has to be.
#
#   scripts/torture_http.sh [requests] [connections]     (none: both)
#
#   TORTURE_REQUESTS=1000000   requests to send
#   TORTURE_SECONDS=7200       longest time for them, and at most a minute of it for connections
#   TORTURE_SEED=14            the same requests every time
#   SHOTLOG_BINARY=FILE        a program that is built already, as for release
#   TORTURE_LIMIT_MS=100       longest time that /health may take beside silent connections
set -euo pipefail
shopt -s inherit_errexit
cd "$(dirname "${BASH_SOURCE[0]}")/.."
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
    # Embedding hostile texts would take nearly all of the time; and the history of jobs is to be full
    # after the warm-up.
    SERVICE_HTTP__LISTEN=127.0.0.1:$port SERVICE_DATA_DIR=$scratch/data SERVICE_LOG__FILTER=warn \
        SERVICE_EMBEDDER__KIND=hashing SERVICE_JOBS__HISTORY=100 \
        start_service "$scratch/log" --config config.toml serve
    job=$(call /videos -F "file=@var/sample/shotlog-sample.mp4;type=video/mp4" -F min_duration=3)
    video=$(wait_for_job "$(jq -r .job_id <<<"$job")" | jq -r .video_id)
    python3 scripts/torture_requests.py "$base" --pid "$service_pid" --video "$video" \
        --count "${TORTURE_REQUESTS:-1000000}" --seconds "$seconds" --seed "${TORTURE_SEED:-14}" ||
        die "the service does not keep to its document; its output ends with: $(tail -n 20 "$scratch/log")"
    call /health >/dev/null
    stop_service
}

connections() {
    python3 scripts/torture_connections.py "$binary" --limit-ms "${TORTURE_LIMIT_MS:-100}" \
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
