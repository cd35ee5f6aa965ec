# Shared functions of the scripts: build and start the service, call it, wait for jobs. Sourced, never run. Callers
# set `base`, the base URL of the service.
# shellcheck shell=bash disable=SC2154

export PATH="${CARGO_HOME:-$HOME/.cargo}/bin:$PATH"
# Disables ONNX Runtime telemetry, also in scripts and tests that load it.
export ORT_DISABLE_TELEMETRY=1

die() {
    printf '%s\n' "$*" >&2
    exit 1
}

# build PROFILE: builds the service; sets `binary`.
build() {
    local profile=$1 folder=$1
    [[ $profile == dev ]] && folder=debug
    # For releases only: a new value recompiles the crate.
    if [[ $profile == release ]]; then
        SHOTLOG_COMMIT=$(git rev-parse --short HEAD 2>/dev/null || true)
        export SHOTLOG_COMMIT
    fi
    cargo build --locked --profile "$profile" --bin shotlog
    binary=${CARGO_TARGET_DIR:-target}/$folder/shotlog
}

# port_in_use HOST PORT: true if something listens there.
port_in_use() { (exec 3<>"/dev/tcp/$1/$2") 2>/dev/null; }

free_port() {
    python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'
}

service_pid=

# start_service LOG ARGUMENT…: starts $binary with its output in LOG and waits until $base responds.
start_service() {
    local out=$1 deadline=$((SECONDS + 90))
    shift
    "$binary" "$@" >"$out" 2>&1 &
    service_pid=$!
    until curl -sf -o /dev/null --max-time 2 "$base/health"; do
        if ! kill -0 "$service_pid" 2>/dev/null; then
            tail -n 20 "$out" >&2
            service_pid=
            die "the service exited during start-up; its output is in $out"
        fi
        ((SECONDS < deadline)) || die "$base/health did not respond within 90 s; its output is in $out"
        sleep 0.2
    done
}

# SIGTERM lets the service finish its writes; SIGKILL follows after 15 s.
stop_service() {
    [[ -n $service_pid ]] || return 0
    local pid=$service_pid
    service_pid=
    kill -TERM "$pid" 2>/dev/null || return 0
    for _ in {1..150}; do
        kill -0 "$pid" 2>/dev/null || break
        sleep 0.1
    done
    kill -KILL "$pid" 2>/dev/null || true
    wait "$pid" 2>/dev/null || true
}

# call PATH [CURL ARGUMENT…]: prints the JSON response of $base/PATH; exits with the message of an error response.
call() {
    local path=$1 response status
    shift
    local token=()
    [[ -n ${SHOTLOG_TOKEN-} ]] && token=(-H "X-Core-Token: $SHOTLOG_TOKEN")
    response=$(curl -sS -w '\n%{http_code}' "${token[@]}" "$@" "$base$path") ||
        die "no response from $base$path"
    status=${response##*$'\n'}
    response=${response%$'\n'*}
    ((status < 400)) || die "$base$path returned $status: $(jq -r '.detail // .' <<<"$response" 2>/dev/null || printf '%s' "$response")"
    printf '%s\n' "$response"
}

# all_analyzers: every analyzer of the install, but only the first of each exclusive group.
all_analyzers() {
    call /schema | jq -r '
        .exclusive_groups as $groups
        | reduce .analyzers[] as $a ([]; . as $chosen
            | if any($groups[]; index($a) and any(.[]; . as $other | $chosen | index($other))) then . else . + [$a] end)
        | join(",")'
}

# abilities: one line on what the service recognises, and how it can recognise more.
abilities() {
    call /health | jq -r '
        def listed($last): if length > 1 then (.[:-1] | join(", ")) + $last + .[-1] else join("") end;
        {text: "on-screen text", pictures: "similar pictures"} as $names
        | (.sees | map($names[.] // .)) as $sees
        | (if $sees == [] then "It splits videos" else "It recognises " + ($sees | listed(" and ")) end)
            + ([.see_more.vision_model // empty]
                + (if .unavailable == {} then [.see_more.models // empty] else [.unavailable[]] | unique end)
                | if . == [] then "." else "; for more: " + join("; ") + "." end)'
}

# wait_for_job JOB_ID: shows each stage on stderr and prints the result.
wait_for_job() {
    local job line shown=
    while :; do
        job=$(call "/jobs/$1")
        line=$(jq -r '[.stage, (.detail | .analyzer // .aggregator // (if .chunks then "\(.chunks) chunks" else empty end))] | join(": ")' <<<"$job")
        if [[ $line != "$shown" ]]; then
            printf '    %s\n' "$line" >&2
            shown=$line
        fi
        case $(jq -r .status <<<"$job") in
            done)
                jq .result <<<"$job"
                return 0
                ;;
            failed) die "the job failed: $(jq -r .error <<<"$job")" ;;
        esac
        sleep 0.3
    done
}

# ingest_sample DATA_DIR: ingests the sample clip with $binary into DATA_DIR, with every analyzer; needs $scratch.
ingest_sample() {
    local job
    examples/make_sample.sh
    SERVICE_DATA_DIR=$1 start_service "$scratch/service.log" --config config.toml serve
    job=$(call /videos -F "file=@var/sample/shotlog-sample.mp4;type=video/mp4" -F "analyzers=$(all_analyzers)")
    wait_for_job "$(jq -r .job_id <<<"$job")" >"$scratch/job.json"
    stop_service
}

# every_model FOLDER: links the models of var/models and SHOTLOG_MODELS, which takes precedence, into FOLDER; prints
# FOLDER.
every_model() {
    local source
    mkdir -p "$1"
    for source in "$PWD/var/models" "${SHOTLOG_MODELS-}"; do
        [[ -n $source && -d $source ]] && cp -rsf "$(realpath "$source")/." "$1"
    done
    printf '%s\n' "$1"
}

s3_pid=

stop_s3() {
    [[ -z $s3_pid ]] || kill "$s3_pid" 2>/dev/null || true
    s3_pid=
}

# Starts an S3 server for tests, unless S3_ENDPOINT names one.
start_s3() {
    [[ -z ${S3_ENDPOINT-} ]] || return 0
    local port deadline=$((SECONDS + 60))
    port=$(free_port)
    var/venv/bin/python -m moto.server -H 127.0.0.1 -p "$port" >"$scratch/s3.log" 2>&1 &
    s3_pid=$!
    until curl -sf -o /dev/null -X PUT "http://127.0.0.1:$port/shotlog"; do
        if ((SECONDS >= deadline)) || ! kill -0 "$s3_pid" 2>/dev/null; then
            die "the S3 server for the tests does not respond: $(tail -n 5 "$scratch/s3.log")"
        fi
        sleep 0.2
    done
    export S3_ENDPOINT=http://127.0.0.1:$port
}
