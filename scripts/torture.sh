#!/usr/bin/env bash
# Long robustness tests: faults in every call to a store, hostile files, hostile requests and connections, kills at
# random moments, and two instances with disturbances. Each script documents its parameters.
#
#   scripts/torture.sh [faults] [files] [http] [kills] [instances]     (default: all)
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

parts=("$@")
((${#parts[@]})) || parts=(faults files http kills instances)
for part in "${parts[@]}"; do
    case $part in
        faults) SHOTLOG_TORTURE=1 cargo test --workspace --locked --test it -- --nocapture faults:: suspended_instances:: ;;
        files) scripts/torture/files.sh ;;
        http) scripts/torture/http.sh ;;
        kills) TORTURE_KILLS=${TORTURE_KILLS:-1000} TORTURE_SECONDS=${TORTURE_SECONDS:-7200} scripts/torture/kills.sh ;;
        instances) TORTURE_ROUNDS=${TORTURE_ROUNDS:-100} TORTURE_SECONDS=${TORTURE_SECONDS:-7200} scripts/torture/instances.sh ;;
        *)
            echo "torture: unknown part '$part'; accepted: faults, files, http, kills, instances" >&2
            exit 2
            ;;
    esac
done
