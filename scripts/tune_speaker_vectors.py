#!/usr/bin/env python3
"""Prints adapters/src/speaker/timbre_constants.rs, measured on voices whose turns
are known: the media folder in SHOTLOG_MEDIA. Computes the same
features as timbre.rs beside it.

Needs the PyPI package numpy and the program ffmpeg:
    SHOTLOG_MEDIA=… python3 scripts/tune_speaker_vectors.py > adapters/src/speaker/timbre_constants.rs
"""
import json
import os
import pathlib
import subprocess

import numpy as np

RATE, FRAME, HOP, BANDS, COEFFICIENTS = 16_000, 512, 160, 26, 20
PITCH_FRAME, PITCH_HOP = 1024, 320
DIMENSIONS = 9
MEDIA = pathlib.Path(os.environ["SHOTLOG_MEDIA"])
TRUTH = json.loads((MEDIA / "ground_truth.json").read_text())


def load(name):
    command = ["ffmpeg", "-v", "error", "-i", MEDIA / name, "-vn", "-ac", "1", "-ar", str(RATE), "-f", "f32le", "-"]
    return np.frombuffer(subprocess.run(command, capture_output=True, check=True).stdout, np.float32)


def frames(x, size, hop):
    count = (len(x) - size) // hop + 1
    return x[np.arange(size)[None] + hop * np.arange(count)[:, None]]


def filters():
    mel = lambda f: 2595 * np.log10(1 + f / 700)
    points = 700 * (10 ** (np.linspace(mel(80), mel(7600), BANDS + 2) / 2595) - 1) * FRAME / RATE
    k = np.arange(FRAME // 2 + 1)
    rows = [np.clip(np.minimum((k - l) / (c - l), (r - k) / (r - c)), 0, None) for l, c, r in zip(points, points[1:], points[2:])]
    return np.array(rows)


def hann(n):
    return 0.5 - 0.5 * np.cos(2 * np.pi * np.arange(n) / n)


FILTERS = filters()
COSINES = np.array([np.cos(np.pi * c * (2 * np.arange(BANDS) + 1) / (2 * BANDS)) for c in range(1, COEFFICIENTS)]) * np.sqrt(2 / BANDS)
WINDOW, PITCH_WINDOW = hann(FRAME), hann(PITCH_FRAME)
WINDOW_AC = np.fft.irfft(abs(np.fft.rfft(PITCH_WINDOW, 2 * PITCH_FRAME)) ** 2)
WINDOW_AC /= WINDOW_AC[0]


def pitches(x):
    low, high = RATE // 400, RATE // 65
    found = []
    for frame in frames(x, PITCH_FRAME, PITCH_HOP):
        power = abs(np.fft.rfft(frame * PITCH_WINDOW, 2 * PITCH_FRAME)) ** 2
        ac = np.fft.irfft(power)
        if ac[0] < 1e-6:
            continue
        r = ac[:high] / ac[0] / WINDOW_AC[:high]
        lag = low + int(np.argmax(r[low:]))
        best = r[lag]
        shortened = True
        while shortened:
            shortened = False
            for divisor in (3, 2):
                part = round(lag / divisor)
                if part >= low + 2:
                    near = part - 2 + int(np.argmax(r[part - 2:part + 3]))
                    if r[near] > 0.9 * best:
                        lag, shortened = near, True
                        break
        if best > 0.6:
            found.append(np.log(RATE / lag))
    return np.array(found)


def features(x):
    power = abs(np.fft.rfft(frames(x, FRAME, HOP) * WINDOW)) ** 2
    energy = np.log(power.sum(1) + 1e-10)
    loud = energy > np.sort(energy)[int(0.95 * (len(energy) - 1))] - 3 * np.log(10)
    cepstra = np.log(power[loud] @ FILTERS.T + 1e-10) @ COSINES.T
    pitch = pitches(x)
    voice = [np.median(pitch), np.std(pitch)] if len(pitch) > 5 else [np.nan, np.nan]
    return np.concatenate([cepstra.mean(0), cepstra.std(0), voice])


def voices():
    """(recording, voice, start, end)"""
    for _, start, end in TRUTH["jfk.wav"]["utterances"]:
        yield "jfk.wav", "jfk", start, end
    yield "leopard_quilter.wav", "quilter", 0.5, 5.4
    yield "azure_weather.wav", "weather", 0.1, 1.28
    for turn in TRUTH["falcon_test.wav"]["segments"]:
        yield "falcon_test.wav", f"falcon{turn['speaker']}", turn["start"], turn["end"]
    # Without the overlaps.
    for voice, start, end in [("90", 8.4, 9.9), ("91", 10.0, 10.55), ("90", 11.05, 14.45), ("91", 14.75, 17.9), ("90", 18.65, 21.4), ("91", 21.8, 27.8), ("90", 28.5, 30)]:
        yield "pyannote_sample.wav", f"pyannote{voice}", start, end
    for start, end in TRUTH["nasa_13013.mp4"]["speech_intervals_vad"]:
        yield "nasa_13013.mp4", "nasa", start, end
    for voice, start, end in [("carlo", 21.7, 24.4), ("carlo", 24.6, 28.0), ("omar", 28.5, 30.0), ("omar", 30.2, 33.8)]:
        yield "googlework_short.mp4", voice, start, end


def windows(seconds, hop):
    """(recording, voice, features) of windows that slide through each turn."""
    sounds = {}
    for recording, voice, start, end in voices():
        x = sounds.setdefault(recording, load(recording))
        at = start
        while at == start or end - at >= 0.75 * seconds:
            yield recording, voice, features(x[int(at * RATE):int(min(at + seconds, end) * RATE)])
            at += hop


def tune():
    """Linear discriminants: means apart, windows of one voice together."""
    rows = [row for seconds in (1.5, 3.0) for row in windows(seconds, seconds / 3)]
    names, x = np.array([r[1] for r in rows]), np.array([r[2] for r in rows])
    x = np.where(np.isnan(x), np.nanmean(x, 0), x)
    distinct = sorted(set(names))
    means = np.array([x[names == voice].mean(0) for voice in distinct])
    centre = means.mean(0)
    apart = np.concatenate([x[names == voice] - mean for voice, mean in zip(distinct, means)])
    freedom = len(apart) - len(distinct)
    spread = np.sqrt((apart**2).sum(0) / freedom)
    inside = (apart / spread).T @ (apart / spread) / freedom
    # Shrunk half way to a diagonal: there are few voices.
    whiten = np.linalg.cholesky(np.linalg.inv(0.5 * inside + 0.5 * np.eye(len(spread))))
    _, _, axes = np.linalg.svd((means - centre) / spread @ whiten, full_matrices=False)
    return centre, (whiten @ axes[:DIMENSIONS].T).T / spread


def main():
    centre, projection = tune()
    row = lambda values: "[" + ", ".join(f"{v:.5g}" if "." in f"{v:.5g}" or "e" in f"{v:.5g}" else f"{v:.5g}.0" for v in values) + "]"
    print("//! Measured by `scripts/tune_speaker_vectors.py`; `timbre.rs` says what for.\n")
    print("/// Mean of the voices' features.")
    print(f"pub(super) const CENTRE: [f32; {len(centre)}] = {row(centre)};\n")
    print("/// Directions that tell voices apart.")
    print(f"pub(super) const PROJECTION: [[f32; {len(centre)}]; {len(projection)}] = [")
    print("".join(f"    {row(axis)},\n" for axis in projection) + "];")


if __name__ == "__main__":
    main()
