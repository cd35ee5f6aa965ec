#!/usr/bin/env bash
# Checks the clients, clients/python and clients/typescript: generated code is up to date, formatting, types, tests,
# the examples of their documentation, and every step of clients/scenario.json against a service with embedded stores
# and, if there is a Qdrant server, one with all stores on servers. Also checks that client generators understand the
# OpenAPI document as it is served.
# Requires scripts/setup.sh test.
#
#   QDRANT_URL=ADDRESS     the gRPC address of a Qdrant server, such as http://127.0.0.1:6334
#   S3_ENDPOINT=ADDRESS    the S3 server for it; one is started by default
#   SHOTLOG_BINARY=FILE    a binary that has been built
set -euo pipefail
shopt -s inherit_errexit
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
# shellcheck source=scripts/lib.sh
. scripts/lib.sh

[[ -n ${SHOTLOG_BINARY-} ]] || build "${PROFILE:-dev}"
binary=${SHOTLOG_BINARY:-$binary}
binary=$(realpath "$binary")
tools=$PWD/var/venv/bin
scratch=$(mktemp -d)
server_pid=
trap 'stop_service; stop_s3; [[ -z $server_pid ]] || kill "$server_pid"; rm -rf "$scratch"' EXIT
trap 'exit 130' INT TERM

generated() {
    scripts/generate_clients.sh "$scratch/clients"
    local path
    for path in python/src/shotlog/generated python/src/shotlog/_sync.py typescript/src/generated; do
        diff -r -x __pycache__ "clients/$path" "$scratch/clients/$path" >"$scratch/difference" || {
            head -n 40 "$scratch/difference"
            die "clients/$path is out of date; run scripts/generate_clients.sh and review the difference"
        }
    done
    echo "generated code is up to date"
}

# The document as it is served, without clients/document.jq, as other people generate clients from it.
typed() {
    local document=tests/it/openapi.json
    PATH=$tools:$PATH openapi-python-client generate --path "$document" --meta none \
        --config clients/python/generator.yaml --output-path "$scratch/typed" >"$scratch/typed.log" 2>&1 || {
        cat "$scratch/typed.log"
        die "openapi-python-client fails on the OpenAPI document"
    }
    # It prints what it skips, and still succeeds.
    [[ $(wc -l <"$scratch/typed.log") == 1 ]] || {
        cat "$scratch/typed.log"
        die "openapi-python-client skips a part of the OpenAPI document"
    }
    clients/typescript/node_modules/.bin/openapi-typescript "$document" --output "$scratch/typed.ts" >"$scratch/typed.log" 2>&1 || {
        cat "$scratch/typed.log"
        die "openapi-typescript fails on the OpenAPI document"
    }
    python3 scripts/check/typed.py "$document" "$scratch/typed" "$scratch/typed.ts"
}

python_client() (
    cd clients/python
    "$tools/ruff" format --quiet --check --config pyproject.toml . ../scenario_server.py
    "$tools/ruff" check --quiet .
    "$tools/python" -m mypy
    "$tools/python" -m pytest
)

typescript_client() (
    cd clients/typescript
    npm run --silent format:check
    npm test --silent
)

# The clips of the scenario: a picture with a voice, and colour bars without sound.
clips() {
    espeak-ng -w "$scratch/voice.wav" "The ferry leaves the harbour at nine. Bring the map, and a coat."
    ffmpeg -loglevel error -nostdin \
        -f lavfi -i testsrc2=size=320x180:rate=10:duration=6 -f lavfi -i smptebars=size=320x180:rate=10:duration=6 \
        -i "$scratch/voice.wav" -filter_complex '[0:v][1:v]concat=n=2:v=1[v];[2:a]apad[a]' \
        -map '[v]' -map '[a]' -t 11.9 -c:v libx264 -preset ultrafast -c:a aac "$scratch/files/clip.mp4"
    ffmpeg -loglevel error -nostdin -f lavfi -i smptebars=size=320x180:rate=10:duration=4 \
        -c:v libx264 -preset ultrafast "$scratch/files/bars.mp4"
}

# The server of clients/scenario_server.py; sets `web`.
start_server() {
    python3 clients/scenario_server.py "$scratch/files" >"$scratch/server" &
    server_pid=$!
    until [[ -s $scratch/server ]]; do
        kill -0 "$server_pid" 2>/dev/null || die "clients/scenario_server.py ended while starting"
        sleep 0.1
    done
    web=http://127.0.0.1:$(<"$scratch/server")
}

# serve NAME: starts a service with the stores that the environment configures.
serve() {
    local port
    port=$(free_port)
    base=http://127.0.0.1:$port
    # No models: the scenario does not depend on their quality.
    SERVICE_HTTP__LISTEN=127.0.0.1:$port SERVICE_DATA_DIR=$scratch/$1 SERVICE_LOG__FILTER=warn \
        SERVICE_AUTH__TOKENS='["only-for-this-check"]' SERVICE_FETCH__ALLOW_PRIVATE=true \
        SERVICE_MODELS__DIR=$scratch/models SERVICE_EMBEDDER__KIND=hashing SERVICE_VAD__KIND=spectral \
        SERVICE_TRANSCRIBER__KIND=openai SERVICE_TRANSCRIBER__URL=$web/v1 SERVICE_HTTP__MAX_JSON_BYTES=20000 \
        start_service "$scratch/$1.log" --config config.toml serve
    export SHOTLOG_URL=$base SHOTLOG_TOKEN=only-for-this-check
}

# scenario NAME: runs every step against a service with an empty library.
scenario() {
    local values
    serve "$1"
    values=(clip="$scratch/files/clip.mp4" clip_size="$(stat -c %s "$scratch/files/clip.mp4")"
        long="$(printf '%30000s' "long")" web="$web" nowhere="http://127.0.0.1:$(free_port)")
    (cd clients/python && PYTHONPATH=src "$tools/python" tests/scenario.py ../scenario.json "${values[@]}") ||
        die "the scenario failed with the Python client; the service log ends with: $(tail -n 5 "$scratch/$1.log")"
    (cd clients/typescript && node dist/tests/scenario.js ../scenario.json "${values[@]}") ||
        die "the scenario failed with the TypeScript client; the service log ends with: $(tail -n 5 "$scratch/$1.log")"
    stop_service
}

# Runs the examples of the clients' documentation.
examples() {
    serve examples
    cp "$scratch/files/clip.mp4" "$scratch/files/talk.mp4"
    cp "$scratch/files/bars.mp4" "$scratch/files/harbour.mp4"
    (cd clients/python && PYTHONPATH=src "$tools/python" tests/examples.py "$scratch/files") ||
        die "an example of the Python client failed"
    (cd clients/typescript && node dist/tests/examples.js "$scratch/files") ||
        die "an example of the TypeScript client failed"
    stop_service
}

# Configures services that start from now on to keep all data on servers, under names unique to this run.
on_servers() {
    local unique
    unique=$(python3 -c 'import uuid; print(uuid.uuid4().hex)')
    start_s3
    export SERVICE_STORAGE__KIND=s3 SERVICE_STORAGE__ENDPOINT=$S3_ENDPOINT SERVICE_STORAGE__BUCKET=shotlog \
        SERVICE_STORAGE__PREFIX=tests/$unique/objects SERVICE_STORAGE__SIGNED_URLS=600 \
        SERVICE_STORAGE__ACCESS_KEY_ID=test SERVICE_STORAGE__SECRET_ACCESS_KEY=test \
        SERVICE_RECORDS__KIND=bucket SERVICE_RECORDS__BUCKET=shotlog SERVICE_RECORDS__PREFIX=tests/$unique/records \
        SERVICE_INDEX__KIND=qdrant SERVICE_INDEX__URL=$QDRANT_URL SERVICE_INDEX__COLLECTION=shotlog-test-$unique
}

generated
typed
python_client
typescript_client
mkdir "$scratch/files"
clips
start_server
echo "against embedded stores:"
scenario embedded
examples
if [[ -n ${QDRANT_URL-} ]]; then
    on_servers
    echo "against S3 and Qdrant:"
    scenario servers
else
    echo "skipped: QDRANT_URL is not set, the gRPC address of a Qdrant server"
fi
