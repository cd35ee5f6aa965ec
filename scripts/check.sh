#!/usr/bin/env bash
# Runs all checks that must pass before a change is merged, in two lanes. Each part starts when the parts that it
# needs have passed. The log of a part is var/log/check/PART.log, shown if the part fails. Ends with the slowest
# tests and a line of counts and seconds.
#
#   scripts/check.sh [PART…]     (default: all; see `order` below)
#
#   SHOTLOG_MEDIA=DIR     footage for the tests that need more than the sample clip
#   SHOTLOG_MODELS=DIR    model files, var/models when unset
set -euo pipefail
shopt -s inherit_errexit
cd "$(dirname "${BASH_SOURCE[0]}")/.."
# shellcheck source=scripts/lib.sh
. scripts/lib.sh
# shellcheck source=scripts/check/lanes.sh
. scripts/check/lanes.sh
# shellcheck source=scripts/check/parts.sh disable=SC2034
. scripts/check/parts.sh

order=(clippy sample fmt shell ui supply library clients api mcp deploy kills files features browser rust)
# shellcheck disable=SC2034 # read by lanes.sh
declare -A needs=([features]=clippy [library]="clippy sample" [rust]=clippy [browser]="clippy sample" [api]=library [mcp]=library
    [deploy]="clippy sample" [clients]=clippy [kills]=clippy [files]=clippy)
# These parts keep two cores busy, and a third process would delay the responses that they wait for.
# shellcheck disable=SC2034 # read by lanes.sh
declare -A width=([browser]=2 [rust]=2)

parts=("$@")
lanes=1
if ((${#parts[@]} == 0)); then
    parts=("${order[@]}")
    lanes=2
fi
for part in "${parts[@]}"; do
    [[ " ${order[*]} " == *" $part "* ]] || die "check: unknown part '$part'; accepted: ${order[*]}"
done

scratch=$(mktemp -d)
logs=$PWD/var/log/check
# Outputs of the parts `clippy` and `library`: the binary, and a data folder with the sample clip.
binary=${CARGO_TARGET_DIR:-$PWD/target}/debug/shotlog
library=$scratch/library/data
mkdir -p "$logs"
trap 'stop_parts; rm -rf "$scratch"' EXIT
trap 'exit 130' INT TERM

export SHOTLOG_MODELS=${SHOTLOG_MODELS:-$PWD/var/models}
# Debian installs nats-server here; only the PATH of root contains it.
export PATH=$PATH:/usr/sbin
export CARGO_TERM_COLOR=${CARGO_TERM_COLOR:-auto}
# Nothing is compiled twice, so incremental compilation would only cost time.
export CARGO_INCREMENTAL=0
# Panic messages have their location without debug information.
export CARGO_PROFILE_DEV_DEBUG=0 CARGO_PROFILE_TEST_DEBUG=0
# Lints run during compilation of the workspace instead of in a second pass over all dependencies.
export RUSTC_WORKSPACE_WRAPPER=clippy-driver CLIPPY_ARGS=-Dwarnings

scripts/setup.sh test
SHOTLOG_MODELS=$(every_model "$scratch/models")
echo "setup: $SECONDS s"
run_parts "$lanes" "${parts[@]}"

printf '\n'
slowest_tests
if [[ -s var/log/setup.warnings ]]; then sed 's/^/warning: /' var/log/setup.warnings; fi
cat "$scratch"/*.notes 2>/dev/null || true
[[ -n ${SHOTLOG_MEDIA-} ]] || echo "note: SHOTLOG_MEDIA is not set, so the tests on real footage were skipped"
summary=
for part in "${passed[@]}"; do
    summary+="; $part ${took[$part]} s: $(counts_of "$part")"
done
echo "all checks passed in $((SECONDS / 60)) min $((SECONDS % 60)) s$summary"
