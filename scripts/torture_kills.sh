#!/usr/bin/env bash
# Kills the service at random moments of what it does, and checks what is left: nothing that was
# acknowledged is missing, nothing is half done, and it always starts again.
#
#   TORTURE_KILLS=15       how often; the long form takes 1000
#   TORTURE_SECONDS=60     no further kill begins after so long
#   TORTURE_SEED=1         of clips, operations and moments
#   SHOTLOG_BINARY=FILE    a program that is built already
set -euo pipefail
shopt -s inherit_errexit
cd "$(dirname "${BASH_SOURCE[0]}")/.."
# shellcheck source=scripts/lib.sh
. scripts/lib.sh

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
trap 'exit 130' INT TERM

binary=${SHOTLOG_BINARY-}
[[ -n $binary ]] || build "${PROFILE:-dev}"
export TORTURE_KILLS=${TORTURE_KILLS:-15} TORTURE_SECONDS=${TORTURE_SECONDS:-60} TORTURE_SEED=${TORTURE_SEED:-1}
if ! python3 scripts/torture_kills.py "$binary" "$scratch"; then
    tail -n 30 "$scratch/service.log" >&2
    die "a kill left something behind, or nothing was killed"
fi
