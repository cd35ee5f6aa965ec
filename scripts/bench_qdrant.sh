#!/usr/bin/env bash
# Prints how long searches take with the points on the Qdrant server whose gRPC address QDRANT_URL names,
# beside the same searches put to that server, over libraries made out of the records of the sample clip
# (examples/library.rs). They go into collections of their own, which are removed again.
#
#   scripts/bench_qdrant.sh [POINTS…]   (20000 100000)
#   SHOTLOG_BENCH_FROM=DIR              a data_dir with ingested videos, in place of the sample's
set -euo pipefail
shopt -s inherit_errexit
cd "$(dirname "${BASH_SOURCE[0]}")/.."
# shellcheck source=scripts/lib.sh
. scripts/lib.sh

readonly per_video=10 # points: five chunks of two analyzers each

if [[ -z ${QDRANT_URL-} ]]; then
    echo "bench_qdrant: skipped, since QDRANT_URL names no server"
    exit 0
fi
sizes=("$@")
((${#sizes[@]})) || sizes=(20000 100000)
scratch=$(mktemp -d)
trap 'stop_service; rm -rf "$scratch"' EXIT
trap 'exit 130' INT TERM

build release
cargo build --locked --release --example library --example beside_qdrant
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
    "$examples/beside_qdrant" config.toml "$base" --delete
    stop_service
    rm -rf "${SERVICE_DATA_DIR:?}"
done
