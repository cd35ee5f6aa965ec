#!/usr/bin/env bash
# Makes tests/fixtures/data_v1: a data folder as written by one version of the service, for tests that later versions
# open it. It has short pieces of the sample clip, one with a transcript and one with diarization, and only records and
# storage, since the index is rebuilt from the records. Run it with the last version that writes this layout; do not
# adapt the fixture to a new layout.
#
#   scripts/make_data_fixture.sh [FOLDER]     (default: tests/fixtures/data_v1; it must not exist)
#
#   SHOTLOG_BINARY=FILE   the binary; default: target/debug/shotlog
#   SHOTLOG_MODELS=DIR    models in addition to those of var/models, such as detect/*.onnx
set -euo pipefail
shopt -s inherit_errexit
cd "$(dirname "${BASH_SOURCE[0]}")/.."
# shellcheck source=scripts/lib.sh
. scripts/lib.sh

folder=${1:-tests/fixtures/data_v1}
binary=${SHOTLOG_BINARY:-${CARGO_TARGET_DIR:-target}/debug/shotlog}
[[ ! -e $folder ]] || die "$folder exists; name another folder or remove it first"
[[ -x $binary ]] || die "$binary is missing; build it first"
scratch=$(mktemp -d)
trap 'stop_service; rm -rf "$scratch"' EXIT
trap 'exit 130' INT TERM

examples/make_sample.sh
models=$(every_model "$scratch/models")
detector=("$models"/detect/yolox*.onnx)
[[ -e ${detector[0]} ]] || die "SHOTLOG_MODELS has no detect/yolox*.onnx"

# piece CLIP START SECONDS HEIGHT NAME: cuts a small piece of a clip, reproducible to the byte.
piece() {
    ffmpeg -hide_banner -loglevel error -nostdin -y -ss "$2" -t "$3" -i "$1" \
        -map 0:v:0 -map 0:a:0 -map_metadata -1 -vf "scale=-2:$4" -c:v libx264 -preset slow -crf 34 -pix_fmt yuv420p -threads 1 -g 50 \
        -c:a aac -b:a 32k -ac 1 -fflags +bitexact -flags:v +bitexact -flags:a +bitexact \
        -movflags +faststart "$scratch/$5"
}

# ingest NAME FIELD…: ingests a piece and waits for the job.
ingest() {
    local name=$1 fields=() field job
    shift
    for field in "$@"; do fields+=(-F "$field"); done
    job=$(call /videos -F "file=@$scratch/$name;type=video/mp4" "${fields[@]}")
    wait_for_job "$(jq -r .job_id <<<"$job")" | jq -c '[.video_id, .chunks, .analyzers]'
}

sample=var/sample/shotlog-sample.mp4
piece "$sample" 16 8 360 kitchen.mp4
piece "$sample" 4 12 360 harbour.mp4
port=$(free_port)
base=http://127.0.0.1:$port
SERVICE_HTTP__LISTEN=127.0.0.1:$port SERVICE_DATA_DIR=$scratch/data SERVICE_MODELS__DIR=$models \
    SERVICE_DETECTOR__FILE=detect/${detector[0]##*/} SERVICE_DETECTOR__LAYOUT=yolox \
    start_service "$scratch/service.log" --config config.toml serve
ingest kitchen.mp4 analyzers=default_video,transcript,object_detection,ocr,people min_duration=2
ingest harbour.mp4 analyzers=default_video,diarization,object_detection,ocr,people min_duration=3
stop_service

mkdir -p "$folder"
cp -r "$scratch/data/records" "$scratch/data/storage" "$folder/"
find "$folder" -name .partial -exec rm -r {} +
find "$folder" -type f -printf '%s %P\n'
du -sb "$folder"/*
