#!/usr/bin/env bash
# What is built in from elsewhere: crates by licence, source and known vulnerabilities, npm packages
# by known vulnerabilities. Says what could not be looked at, since its data was out of reach.
#
#   SHOTLOG_ADVISORIES=DIR   a copy of RustSec's advisory database, for where `cargo deny` is missing
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
        echo "note: known vulnerabilities of crates were not looked for: cargo deny cannot fetch its database"
    fi
}

# npm_packages FOLDER: fails where a package is known to be vulnerable.
npm_packages() {
    local told
    if told=$(npm --prefix "$1" audit --package-lock-only --json 2>/dev/null); then
        echo "$1: no vulnerable npm package is known"
    elif jq -e .auditReportVersion <<<"$told" >/dev/null 2>&1; then
        jq -r '.vulnerabilities[] | "  \(.name) \(.range): \(.severity)"' <<<"$told"
        die "$1: vulnerable npm packages; npm --prefix $1 audit tells more"
    else
        echo "note: vulnerable npm packages of $1 were not looked for: the registry does not answer such questions"
    fi
}

crates
npm_packages ui
npm_packages tests/browser
npm_packages tests/mcp
npm_packages clients/typescript
