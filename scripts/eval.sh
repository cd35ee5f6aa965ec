#!/usr/bin/env bash
# Prints how well the service does on footage whose content is known, a line per figure with its
# bar: cuts beside PySceneDetect, voices, words, objects, text, speed. Fails when a bar is missed.
#
#   scripts/eval.sh [cuts] [speech] [objects] [text] [speed]     (none: all of them)
#
#   SHOTLOG_MEDIA=DIR     the footage with its ground_truth.json
#   SHOTLOG_MODELS=DIR    models beside those of var/models, as detect/*.onnx
set -euo pipefail
shopt -s inherit_errexit
cd "$(dirname "${BASH_SOURCE[0]}")/.."
# shellcheck source=scripts/lib.sh
. scripts/lib.sh

: "${SHOTLOG_MEDIA:?set it to a folder of footage with a ground_truth.json}"
scratch=$(mktemp -d)
trap 'stop_service; rm -rf "$scratch"' EXIT
trap 'exit 130' INT TERM

scripts/setup.sh run
var/venv/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes -r scripts/requirements-eval.lock
build "${PROFILE:-dev}"

models=$(every_model "$scratch/models")
for layout in yolox picodet; do
    for file in "$models/detect/$layout"*.onnx; do
        [[ -e $file && -z ${SERVICE_DETECTOR__FILE-} ]] || continue
        export SERVICE_DETECTOR__FILE=detect/${file##*/} SERVICE_DETECTOR__LAYOUT=$layout
    done
done
port=$(free_port)
base=http://127.0.0.1:$port
SERVICE_HTTP__LISTEN=127.0.0.1:$port SERVICE_DATA_DIR=$scratch/data SERVICE_MODELS__DIR=$models \
    start_service "$scratch/service.log" --config config.toml serve
grep -oE 'role=.*' "$scratch/service.log" || true
if (($# == 0)) || [[ " $* " == *" speech "* ]]; then
    echo "voice activity, frame accuracy (at least 0.95 with Silero on the clips with known speech)"
    SHOTLOG_MODELS=$models SHOTLOG_ONNXRUNTIME=${SHOTLOG_ONNXRUNTIME:-$PWD/var/lib/libonnxruntime.so} \
        cargo test --quiet --locked --workspace --test conformance silero -- --nocapture |
        grep -oE 'silero.*frame accuracy.*' | sed 's/^/       /'
fi
var/venv/bin/python scripts/eval.py "$base" "$@"
