#!/usr/bin/env bash
# Everything that must pass before a change is merged. All of it runs in two lanes, each part as soon as what it
# needs has passed; the log of a part is var/log/check/PART.log and is shown when the part fails. Ends with the
# slowest tests and a line of counts and seconds.
#
#   scripts/check.sh [PART…]     (none: all of them; see `order` below)
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
# These keep two cores busy by themselves, and wait for answers that a third process would delay.
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
# What the parts `clippy` and `library` make: the program, and a data folder with the sample clip.
binary=${CARGO_TARGET_DIR:-$PWD/target}/debug/shotlog
library=$scratch/library/data
mkdir -p "$logs"
trap 'stop_parts; rm -rf "$scratch"' EXIT
trap 'exit 130' INT TERM

export SHOTLOG_MODELS=${SHOTLOG_MODELS:-$PWD/var/models}
# Where Debian puts nats-server, and only root looks.
export PATH=$PATH:/usr/sbin
export CARGO_TERM_COLOR=${CARGO_TERM_COLOR:-auto}
# Nothing is compiled twice here: what incremental compilation keeps would only cost time.
export CARGO_INCREMENTAL=0
# Panics name their place without it.
export CARGO_PROFILE_DEV_DEBUG=0 CARGO_PROFILE_TEST_DEBUG=0
# The lints run while the workspace is compiled, instead of in a separate pass over all dependencies.
export RUSTC_WORKSPACE_WRAPPER=clippy-driver CLIPPY_ARGS=-Dwarnings

scripts/setup.sh test
SHOTLOG_MODELS=$(every_model "$scratch/models")
echo "setup: $SECONDS s"
run_parts "$lanes" "${parts[@]}"

printf '\n'
slowest_tests
if [[ -s var/log/setup.warnings ]]; then sed 's/^/warning: /' var/log/setup.warnings; fi
cat "$scratch"/*.notes 2>/dev/null || true
[[ -n ${SHOTLOG_MEDIA-} ]] || echo "note: SHOTLOG_MEDIA is not set, so the tests over real footage skipped themselves"
summary=
for part in "${passed[@]}"; do
    summary+="; $part ${took[$part]} s: $(counts_of "$part")"
done
echo "all checks passed in $((SECONDS / 60)) min $((SECONDS % 60)) s$summary"
