#!/usr/bin/env bash
# Generates parts of the clients from the OpenAPI document, tests/it/openapi.json, and the synchronous Python client
# from the asynchronous one. Requires scripts/setup.sh test.
#
#   scripts/generate_clients.sh [FOLDER]     (default: clients)
set -euo pipefail
shopt -s inherit_errexit
cd "$(dirname "${BASH_SOURCE[0]}")/.."

out=$(realpath -m "${1:-clients}")
readonly package=$out/python/src/shotlog
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
# The generator calls the formatter by its name.
export PATH=$PWD/var/venv/bin:$PATH

document() { jq --arg target "$1" -f clients/document.jq tests/it/openapi.json >"$scratch/$1.json"; }

python_client() {
    document python
    rm -rf "$package/generated"
    mkdir -p "$package"
    openapi-python-client generate --path "$scratch/python.json" --meta none \
        --config clients/python/generator.yaml --custom-template-path clients/python/templates \
        --output-path "$package/generated" >"$scratch/log" 2>&1 || { cat "$scratch/log" >&2; exit 1; }
    # It prints what it skips, and continues.
    [[ $(wc -l <"$scratch/log") == 1 ]] || { cat "$scratch/log" >&2; exit 1; }
    # `Self` is in `typing` from Python 3.11 on.
    sed -i 's/^from typing import Any, Self$/from typing import Any\n\nfrom typing_extensions import Self/' \
        "$package/generated/client.py"
}

# Turns each await into a plain call.
synchronous_client() {
    {
        echo '"""The synchronous client, generated from _async.py by scripts/generate_clients.sh."""'
        tail -n +2 clients/python/src/shotlog/_async.py |
            sed -E -e 's/\b(async|await) //g' \
                -e 's/AsyncIterator/Iterator/g; s/\bAsync([A-Z])/\1/g; s/httpx\.Async/httpx./g' \
                -e 's/\.asyncio\(/.sync(/g; s/asyncio_detailed/sync_detailed/g; s/asyncio\.sleep/time.sleep/g' \
                -e 's/asyncio\.run\((\w+\(\))\)/\1/; />>> import asyncio$/d' \
                -e 's/_async_/_/g; s/__a(enter|exit)__/__\1__/g; s/\ba(read|close)\(/\1(/g; /^import asyncio$/d'
    } | ruff format --config clients/python/pyproject.toml - >"$package/_sync.py"
}

typescript_client() {
    document typescript
    mkdir -p "$out/typescript/src/generated"
    clients/typescript/node_modules/.bin/openapi-typescript "$scratch/typescript.json" --default-non-nullable false \
        --root-types --root-types-no-schema-prefix --output "$out/typescript/src/generated/schema.ts" >"$scratch/log" 2>&1 ||
        { cat "$scratch/log" >&2; exit 1; }
}

python_client
synchronous_client
typescript_client
