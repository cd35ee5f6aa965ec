#!/usr/bin/env bash
# Runs two instances on one S3 server behind proxies, and stops one of them or drops its responses during operations.
# Afterwards both instances must agree, and every acknowledged change must be there.
#
#   TORTURE_ROUNDS=40      number of rounds
#   TORTURE_SECONDS=900    no round starts after this time
#   TORTURE_SEED=1         seed of clips, operations, disturbances and times
#   QDRANT_URL=ADDRESS     a Qdrant server for the index of both; by default each has an embedded index
#   SHOTLOG_BINARY=FILE    a binary that has been built
set -euo pipefail
shopt -s inherit_errexit
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
# shellcheck source=scripts/lib.sh
. scripts/lib.sh

scratch=$(mktemp -d)
trap 'stop_s3; rm -rf "$scratch"' EXIT
trap 'exit 130' INT TERM

binary=${SHOTLOG_BINARY-}
[[ -n $binary ]] || build "${PROFILE:-dev}"
start_s3
if ! python3 scripts/torture/instances.py "$binary" "$scratch" "$S3_ENDPOINT"; then
    tail -n 20 "$scratch"/?.log >&2
    die "the instances do not agree"
fi
