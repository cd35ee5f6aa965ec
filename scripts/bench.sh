#!/usr/bin/env bash
# Prints performance figures with their bars: boundary detection compared with ffmpeg, peak memory of an ingest,
# reads of a long video, corrections, bins, a large upload, the embedded index compared with a plain scan, libraries of
# up to 100,000 videos, searches through a Qdrant server (QDRANT_URL), and the web UI in a browser.
#
#   SHOTLOG_BENCH_CLIP=FILE   the clip; default: bench_5min_720p.mp4 of SHOTLOG_MEDIA, or five minutes of the sample
set -euo pipefail
shopt -s inherit_errexit
cd "$(dirname "${BASH_SOURCE[0]}")/.."
# shellcheck source=scripts/lib.sh
. scripts/lib.sh

readonly memory_bar=800 # MiB, peak resident memory of an ingest
readonly upload_bar=200 # MiB, peak of a 2 GiB upload, without models

scratch=$(mktemp -d)
trap 'stop_service; stop_s3; rm -rf "$scratch"' EXIT
trap 'exit 130' INT TERM

heading() { printf '\n== %s\n' "$*"; }

scripts/setup.sh test
examples/make_sample.sh

clip=${SHOTLOG_BENCH_CLIP:-${SHOTLOG_MEDIA:+$SHOTLOG_MEDIA/bench_5min_720p.mp4}}
truth=()
if [[ -z $clip || ! -f $clip ]]; then
    clip=$scratch/sample_5min_720p.mp4
    ffmpeg -loglevel error -nostdin -stream_loop 6 -i var/sample/shotlog-sample.mp4 -t 300 -c copy "$clip"
elif [[ -n ${SHOTLOG_MEDIA-} && -f $SHOTLOG_MEDIA/ground_truth.json ]]; then
    truth=(--truth "$SHOTLOG_MEDIA/ground_truth.json")
fi

heading "building"
build release
cargo build --locked --release --example boundaries --example readers
cargo bench --locked -p shotlog-adapters --no-default-features --bench index --no-run

heading "boundary detection (bar: 0.6 × ffmpeg, wall and CPU time)"
cargo run --quiet --locked --release --example boundaries -- "${truth[@]}" --repeat 3 "$clip"

heading "peak memory of an ingest (bar: $memory_bar MiB)"
port=$(free_port)
base=http://127.0.0.1:$port
SERVICE_HTTP__LISTEN=127.0.0.1:$port SERVICE_DATA_DIR=$scratch/data \
    start_service "$scratch/service.log" --config config.toml serve
started=$SECONDS
job=$(call /videos -F "file=@$clip;type=video/mp4" -F "analyzers=$(all_analyzers)")
result=$(wait_for_job "$(jq -r .job_id <<<"$job")")
peak=$(awk '/^VmHWM/ {print int($2 / 1024)}' "/proc/$service_pid/status")
stop_service
printf '%s MiB, %s chunks in %s s: %s\n' "$peak" "$(jq .chunks <<<"$result")" $((SECONDS - started)) \
    "$( ((peak < memory_bar)) && echo 'within the bar' || echo 'OVER the bar')"

heading "50 chunks of a video with 2,000 (bars: 10 ms, 0.8 × the rate of as many bytes from memory)"
long=$(python3 scripts/bench/chunks.py "$scratch/data")
SERVICE_HTTP__LISTEN=127.0.0.1:$port SERVICE_DATA_DIR=$scratch/data \
    start_service "$scratch/service.log" --config config.toml serve
cargo run --quiet --locked --release --example readers -- "$base" "$long"
stop_service

heading "corrections of a speaker and ten words (bar: 1 s)"
SERVICE_HTTP__LISTEN=127.0.0.1:$port SERVICE_DATA_DIR=$scratch/corrected \
    start_service "$scratch/service.log" --config config.toml serve
python3 scripts/bench/corrections.py "$base" var/sample/shotlog-sample.mp4
stop_service

heading "500 bins, one of them with 10,000 selects"
SERVICE_HTTP__LISTEN=127.0.0.1:$port SERVICE_DATA_DIR=$scratch/corrected \
    start_service "$scratch/service.log" --config config.toml serve
python3 scripts/bench/bins.py "$base"
stop_service

heading "peak memory of a 2 GiB upload to S3 (bar: $upload_bar MiB)"
start_s3
ffmpeg -loglevel error -nostdin -f lavfi -i testsrc2=size=1920x1080:rate=10:duration=70 \
    -c:v rawvideo -pix_fmt yuv420p "$scratch/large.avi"
SERVICE_OCR__KIND=none SERVICE_DETECTOR__KIND=none SERVICE_TRANSCRIBER__KIND=none \
    SERVICE_VAD__KIND=none SERVICE_SPEAKER__KIND=none SERVICE_RERANKER__KIND=none SERVICE_EMBEDDER__KIND=hashing \
    SERVICE_HTTP__LISTEN=127.0.0.1:$port \
    SERVICE_DATA_DIR=$scratch/s3 SERVICE_STORAGE__KIND=s3 SERVICE_STORAGE__BUCKET=shotlog SERVICE_STORAGE__ENDPOINT=$S3_ENDPOINT \
    SERVICE_STORAGE__ACCESS_KEY_ID=test SERVICE_STORAGE__SECRET_ACCESS_KEY=test \
    start_service "$scratch/service.log" --config config.toml serve
job=$(call /videos -F "file=@$scratch/large.avi;type=video/x-msvideo" -F analyzers=default_video)
result=$(wait_for_job "$(jq -r .job_id <<<"$job")")
upload=$(awk '/^VmHWM/ {print int($2 / 1024)}' "/proc/$service_pid/status")
stop_service
stop_s3
rm "$scratch/large.avi"
printf '%s MiB for %s bytes: %s\n' "$upload" "$(jq .size_bytes <<<"$result")" \
    "$( ((upload < upload_bar)) && echo 'within the bar' || echo 'OVER the bar')"

heading "the embedded index, 100,000 × 384 (bars: 1.5 × a plain scan, 0.5 × with a 10 % filter)"
cargo bench --quiet --locked -p shotlog-adapters --no-default-features --bench index

heading "libraries of 1,000 to 100,000 videos"
scripts/bench/library.sh

heading "20,000 and 100,000 points on a Qdrant server (bar: 1.3 × direct searches)"
scripts/bench/qdrant.sh

heading "the web UI in Chromium (bars: 220 KB of scripts, first paint 1000 ms, 55 frames per second; 10,000 videos: cards in 500 ms, 250 MB)"
SERVICE_DATA_DIR=$scratch/many cargo run --quiet --locked --release --example library -- config.toml "$scratch/data" 10000
SHOTLOG_BINARY=$(realpath "$binary") SHOTLOG_LIBRARY=$scratch/many npm --prefix tests/browser run bench --silent

((peak < memory_bar && upload < upload_bar))
