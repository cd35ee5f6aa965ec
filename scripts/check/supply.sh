#!/usr/bin/env bash
# Checks dependencies: licences, sources and known vulnerabilities of crates, and known vulnerabilities of npm
# packages. Prints a note for each check that was skipped because its data was unreachable.
#
#   SHOTLOG_ADVISORIES=DIR   a copy of RustSec's advisory database, used if `cargo deny` is not installed
set -euo pipefail
shopt -s inherit_errexit
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
# shellcheck source=scripts/lib.sh
. scripts/lib.sh

crates() {
    if ! cargo deny --version >/dev/null 2>&1; then
        python3 scripts/check/supply.py ${SHOTLOG_ADVISORIES:+"$SHOTLOG_ADVISORIES"}
        return
    fi
    cargo deny --locked check licenses bans sources
    if cargo deny fetch db >/dev/null 2>&1; then
        cargo deny --locked check advisories
    else
        echo "note: known vulnerabilities of crates were not checked: cargo deny cannot fetch its database"
    fi
}

# npm_packages FOLDER: fails if a package has a known vulnerability.
npm_packages() {
    local report
    if report=$(npm --prefix "$1" audit --package-lock-only --json 2>/dev/null); then
        echo "$1: no known vulnerabilities in npm packages"
    elif jq -e .auditReportVersion <<<"$report" >/dev/null 2>&1; then
        jq -r '.vulnerabilities[] | "  \(.name) \(.range): \(.severity)"' <<<"$report"
        die "$1: vulnerable npm packages; for details: npm --prefix $1 audit"
    else
        echo "note: vulnerabilities in npm packages of $1 were not checked: the registry does not support audits"
    fi
}

crates
npm_packages ui
npm_packages tests/browser
npm_packages tests/mcp
npm_packages clients/typescript
