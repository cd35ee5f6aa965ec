#!/usr/bin/env bash
# Makes the sample clip, var/sample/shotlog-sample.mp4, and its ground truth next to it.
# The same machine makes the same bytes every time. Needs scripts/setup.sh to have run.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

force=${1:-}
case $force in
    '' | --force) ;;
    *)
        echo "make_sample: unknown option '$force'; accepted: --force" >&2
        exit 2
        ;;
esac

readonly folder=var/sample
readonly clip=$folder/shotlog-sample.mp4
readonly truth=$folder/shotlog-sample.json
readonly stamp=$folder/.made-by

key=$(cat examples/make_sample.sh examples/sample_clip.py | sha256sum | cut -d' ' -f1)
if [[ -z $force && -s $clip && -s $truth && -f $stamp && $(cat "$stamp") == "$key" ]]; then
    exit 0
fi

python=var/venv/bin/python
[[ -x $python ]] || {
    echo "make_sample: $python is missing; run scripts/setup.sh first" >&2
    exit 1
}
mkdir -p "$folder"
rm -f "$stamp"

# Voices first (the pictures are as long as what is said over them), then the pictures, piped as
# raw frames. One encoder thread and the bitexact flags keep the bytes the same from run to run.
"$python" examples/sample_clip.py sound "$folder/voices.wav" "$truth"
"$python" examples/sample_clip.py pictures "$truth" |
    ffmpeg -hide_banner -loglevel error -y \
        -f rawvideo -pixel_format rgb24 -video_size 1280x720 -framerate 25 -i pipe:0 \
        -i "$folder/voices.wav" \
        -c:v libx264 -preset fast -crf 21 -pix_fmt yuv420p -threads 1 -g 50 \
        -colorspace bt709 -color_primaries bt709 -color_trc bt709 -vf scale=out_color_matrix=bt709 \
        -c:a aac -b:a 96k -ac 1 \
        -metadata title="A day in Port Ellery" \
        -fflags +bitexact -flags:v +bitexact -flags:a +bitexact \
        -movflags +faststart -shortest -f mp4 "$clip.part"
mv "$clip.part" "$clip"
rm -f "$folder/voices.wav"
printf '%s\n' "$key" >"$stamp"
echo "sample clip: $clip"
