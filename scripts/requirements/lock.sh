#!/usr/bin/env bash
# Writes the *.lock next to each *.txt: all direct and indirect Python dependencies with checksums. Run it after
# changing one of the lists.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

tools=$(mktemp -d)
trap 'rm -rf "$tools"' EXIT
python3 -m venv "$tools"
"$tools/bin/pip" install --quiet --disable-pip-version-check pip-tools==7.6.0

for list in scripts/requirements/*.txt; do
    lock=${list%.txt}.lock
    CUSTOM_COMPILE_COMMAND=scripts/requirements/lock.sh "$tools/bin/pip-compile" --quiet --generate-hashes --allow-unsafe \
        --no-emit-index-url --no-emit-trusted-host --no-emit-find-links --strip-extras \
        --output-file "$lock" "$list"
    sed -i "1i # made from $list $(sha256sum "$list" | cut -d' ' -f1)" "$lock"
    echo "$lock: $(grep -c == "$lock") packages"
done
