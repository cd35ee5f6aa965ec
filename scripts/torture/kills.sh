#!/usr/bin/env bash
# Kills the service at random moments and checks the result: every acknowledged change is there, nothing is half done,
# and the service starts again.
#
#   TORTURE_KILLS=15       number of kills; the long run has 1000
#   TORTURE_SECONDS=60     no operation starts after this time
#   TORTURE_SEED=1         seed of clips, operations and times
#   SHOTLOG_BINARY=FILE    a binary that has been built
set -euo pipefail
shopt -s inherit_errexit
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
# shellcheck source=scripts/lib.sh
. scripts/lib.sh

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
trap 'exit 130' INT TERM

binary=${SHOTLOG_BINARY-}
[[ -n $binary ]] || build "${PROFILE:-dev}"
export TORTURE_KILLS=${TORTURE_KILLS:-15} TORTURE_SECONDS=${TORTURE_SECONDS:-60} TORTURE_SEED=${TORTURE_SEED:-1}
if ! python3 scripts/torture/kills.py "$binary" "$scratch"; then
    tail -n 30 "$scratch/service.log" >&2
    die "a kill left an invalid state, or nothing was killed"
fi
