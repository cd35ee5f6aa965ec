#!/usr/bin/env bash
# From a clean clone to an answered question: sets up, builds and starts the service, ingests the sample clip, asks a
# question about it, and runs the service until Ctrl-C.
#
#   PROFILE=release        optimised build; takes longer to build
#   SHOTLOG_RUN_ONCE=1     stop after the answer
#   SHOTLOG_TOKEN=…        the API token, if auth.tokens is set
#   SERVICE_HTTP__LISTEN=127.0.0.1:8081   another address; works for every key of config.toml
set -euo pipefail
shopt -s inherit_errexit
cd "$(dirname "${BASH_SOURCE[0]}")/.."
# shellcheck source=scripts/lib.sh
. scripts/lib.sh

question="What soup is there in Rosa's kitchen, and for how many people?"
log=var/log/service.log

heading() { printf '\n\033[1m%s\033[0m\n' "$*"; }
[[ -t 1 ]] || heading() { printf '\n%s\n' "$*"; }

scripts/setup.sh run

listen=${SERVICE_HTTP__LISTEN:-$(python3 -c '
import tomllib
print(tomllib.load(open("config.toml", "rb")).get("http", {}).get("listen", "127.0.0.1:8080"))')}
host=${listen%:*}
port=${listen##*:}
case $host in
    0.0.0.0 | '[::]' | '') host=127.0.0.1 ;;
    '[::1]') host=::1 ;;
esac
base=http://$host:$port
[[ $host == *:* ]] && base="http://[$host]:$port"
ui=${SERVICE_HTTP__BASE_URL:-$base}

if port_in_use "$host" "$port"; then
    if [[ $(curl -s --max-time 2 "$base/health" | jq -r 'has("analyzers")' 2>/dev/null) == true ]]; then
        die "A Shotlog service is already running at $base. Stop it, or choose another port:
    SERVICE_HTTP__LISTEN=127.0.0.1:$((port + 1)) make run"
    fi
    die "Another program is using port $port. Choose another port:
    SERVICE_HTTP__LISTEN=127.0.0.1:$((port + 1)) make run"
fi

examples/make_sample.sh
heading "Building (the first time takes several minutes)"
build "${PROFILE:-dev}"

trap stop_service EXIT
trap 'echo; echo "Stopping."; exit 0' INT TERM

heading "Starting"
start_service "$log" --config config.toml serve
echo "    listening on $base, logging to $log"

heading "Ingesting the sample clip"
clip=var/sample/shotlog-sample.mp4
job=$(call /videos -F "file=@$clip;type=video/mp4" -F "analyzers=$(all_analyzers)" \
    -F preset=audio_video -F min_duration=3 -F max_duration=15)
result=$(wait_for_job "$(jq -r .job_id <<<"$job")")
video_id=$(jq -r .video_id <<<"$result")
jq -r '"    \(.filename): \(.duration | floor) s in \(.chunks) chunks, video \(.video_id)"' <<<"$result"

heading "Asking: $question"
answer=$(call /ask -H 'Content-Type: application/json' \
    -d "$(jq -n --arg q "$question" --arg id "$video_id" '{question: $q, video_ids: [$id]}')")
if [[ $(jq -r '.answer // ""' <<<"$answer") == '' ]]; then
    die "the service returned no answer: $(jq -r '.error // "no reason given"' <<<"$answer")"
fi
# A non-breaking space keeps each citation on one line.
jq -r '.answer | gsub("\\[(?<id>[0-9a-f]{16}) "; "[\(.id)\u00a0")' <<<"$answer" | fold -s -w 90 | sed 's/^/    /'
echo
jq -r '.results[:3][] | "    \(.timecode)  \(.description // "" | .[:90])"' <<<"$answer"

heading "Shotlog is at $ui/  (API documentation: $ui/docs)"
echo "    $(abilities)"
if [[ -n ${SHOTLOG_RUN_ONCE-} ]]; then
    exit 0
fi
echo "    Press Ctrl-C to stop."
wait "$service_pid"
