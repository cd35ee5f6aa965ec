#!/usr/bin/env bash
# Prints the times of searches with the index on a Qdrant server, compared with the same searches sent to that server
# directly, for libraries generated from the records of the sample clip (examples/library.rs). Uses temporary
# collections. QDRANT_URL is the gRPC address of the server.
#
#   scripts/bench/qdrant.sh [POINTS…]   (default: 20000 100000)
#   SHOTLOG_BENCH_FROM=DIR              a data_dir with ingested videos to use instead of the sample clip
set -euo pipefail
shopt -s inherit_errexit
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
# shellcheck source=scripts/lib.sh
. scripts/lib.sh

readonly per_video=10 # points per video: five chunks of two analyzers

if [[ -z ${QDRANT_URL-} ]]; then
    echo "bench/qdrant: skipped: QDRANT_URL is not set"
    exit 0
fi
sizes=("$@")
((${#sizes[@]})) || sizes=(20000 100000)
scratch=$(mktemp -d)
trap 'stop_service; rm -rf "$scratch"' EXIT
trap 'exit 130' INT TERM

build release
cargo build --locked --release --example library --example compare_qdrant
examples=${CARGO_TARGET_DIR:-target}/release/examples
port=$(free_port)
base=http://127.0.0.1:$port
export SERVICE_HTTP__LISTEN=127.0.0.1:$port

from=${SHOTLOG_BENCH_FROM-}
if [[ -z $from ]]; then
    from=$scratch/from
    ingest_sample "$from"
fi
export SERVICE_INDEX__KIND=qdrant SERVICE_INDEX__URL=$QDRANT_URL

for points in "${sizes[@]}"; do
    export SERVICE_DATA_DIR=$scratch/$points SERVICE_INDEX__COLLECTION=bench-$points-$$
    "$examples/library" config.toml "$from" $((points / per_video)) 2>"$scratch/library.log"
    start_service "$scratch/service.log" --config config.toml serve
    until curl -sf -o "$scratch/ready.json" "$base/ready"; do sleep 0.1; done
    printf '\n== %s points on a Qdrant server\n' "$points"
    "$examples/compare_qdrant" config.toml "$base" --delete
    stop_service
    rm -rf "${SERVICE_DATA_DIR:?}"
done
