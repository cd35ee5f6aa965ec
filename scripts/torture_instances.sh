#!/usr/bin/env bash
# Two instances over one S3 server, with a proxy between, one of which is stopped or loses answers in the
# middle of what it does: both agree afterwards, and nothing that was acknowledged is missing.
#
#   TORTURE_ROUNDS=40      how often; TORTURE_SECONDS=900 no further round begins after so long
#   TORTURE_SEED=1         of clips, operations, disturbances and moments
#   QDRANT_URL=ADDRESS     the Qdrant server that both keep their index on; each has its own where it is unset
#   SHOTLOG_BINARY=FILE    a program that is built already
set -euo pipefail
shopt -s inherit_errexit
cd "$(dirname "${BASH_SOURCE[0]}")/.."
# shellcheck source=scripts/lib.sh
. scripts/lib.sh

scratch=$(mktemp -d)
trap 'stop_s3; rm -rf "$scratch"' EXIT
trap 'exit 130' INT TERM

binary=${SHOTLOG_BINARY-}
[[ -n $binary ]] || build "${PROFILE:-dev}"
start_s3
if ! python3 scripts/torture_instances.py "$binary" "$scratch" "$S3_ENDPOINT"; then
    tail -n 20 "$scratch"/?.log >&2
    die "instances have got into each other's way"
fi
