#!/usr/bin/env bash
# The long forms of what nothing may break: hostile files, the edge of the service, kills. Each script
# says what it takes.
#
#   scripts/torture.sh [files] [http] [kills]     (none: all of them)
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

parts=("$@")
((${#parts[@]})) || parts=(files http kills)
for part in "${parts[@]}"; do
    case $part in
        files) scripts/torture_files.sh ;;
        http) scripts/torture_http.sh ;;
        kills) TORTURE_KILLS=${TORTURE_KILLS:-1000} TORTURE_SECONDS=${TORTURE_SECONDS:-7200} scripts/torture_kills.sh ;;
        *)
            echo "torture: unknown part '$part'; accepted: files, http, kills" >&2
            exit 2
            ;;
    esac
done
