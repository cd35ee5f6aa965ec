#!/usr/bin/env python3
"""Writes a tiny speaker embedding network and reference outputs computed with numpy, for the tests.

The network has the inputs of published ones (WeSpeaker, 3D-Speaker, pyannote: 80 Kaldi filterbank levels per 10 ms
with the mean subtracted) and pools mean and standard deviation over time, as x-vectors do. The reference computes the
filterbank from Kaldi's definition. Needs the PyPI packages numpy and onnx. Run it in the root of the repository:
    python3 scripts/make_test_speaker.py
"""
import json
import pathlib

import numpy as np
from onnx import TensorProto, checker, helper, numpy_helper, save

FIXTURES = pathlib.Path("adapters/tests/fixtures")
BANDS, LENGTH = 80, 16
RANDOM = np.random.default_rng(4)
FIRST = (RANDOM.standard_normal((BANDS, LENGTH)) / 9).astype(np.float32)
SECOND = (RANDOM.standard_normal((2 * LENGTH, LENGTH)) / 4).astype(np.float32)


def network():
    constants = [numpy_helper.from_array(a, n) for a, n in (
        (FIRST, "first"), (SECOND, "second"), (np.array([1], np.int64), "time"))]
    node = helper.make_node
    nodes = [
        node("MatMul", ["feats", "first"], ["mixed"]),
        node("Relu", ["mixed"], ["heard"]),
        node("ReduceMean", ["heard"], ["mean"], axes=[1], keepdims=1),
        node("Sub", ["heard", "mean"], ["apart"]),
        node("Mul", ["apart", "apart"], ["square"]),
        node("ReduceMean", ["square"], ["variance"], axes=[1], keepdims=1),
        node("Sqrt", ["variance"], ["spread"]),
        node("Concat", ["mean", "spread"], ["pooled"], axis=2),
        node("MatMul", ["pooled", "second"], ["long"]),
        node("Squeeze", ["long", "time"], ["embs"]),
    ]
    graph = helper.make_graph(
        nodes, "speaker",
        [helper.make_tensor_value_info("feats", TensorProto.FLOAT, ["B", "T", BANDS])],
        [helper.make_tensor_value_info("embs", TensorProto.FLOAT, ["B", LENGTH])],
        constants,
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
    checker.check_model(model)
    save(model, str(FIXTURES / "speaker.onnx"))


def filterbank(samples):
    """[frames, bands]: Kaldi's compute-fbank-feats with a Hamming window, no dither, no energy."""
    def mel(hertz):
        return 1127 * np.log(1 + hertz / 700)

    frames = np.lib.stride_tricks.sliding_window_view(samples * 32768.0, 400)[::160]
    frames = frames - frames.mean(1, keepdims=True)
    before = np.concatenate([frames[:, :1], frames[:, :-1]], 1)
    frames = (frames - 0.97 * before) * np.hamming(400)
    power = np.abs(np.fft.rfft(frames, 512)) ** 2
    edges = np.linspace(mel(20), mel(8000), BANDS + 2)
    bins = mel(np.arange(256) * 16000 / 512)
    weights = np.zeros((BANDS, 257))
    for i, (low, middle, high) in enumerate(zip(edges, edges[1:], edges[2:])):
        rising, falling = (bins - low) / (middle - low), (high - bins) / (high - middle)
        weights[i, :256] = np.maximum(0, np.minimum(rising, falling))
    return np.log(np.maximum(power @ weights.T, np.finfo(np.float32).eps))


def embed(levels):
    hidden = np.maximum((levels - levels.mean(0)) @ FIRST, 0)
    vector = np.concatenate([hidden.mean(0), hidden.std(0)]) @ SECOND
    return vector / np.linalg.norm(vector)


def sound(seed, seconds):
    """Noise with varying loudness from integer arithmetic, identical on every machine."""
    state, samples = seed, []
    for i in range(int(seconds * 16000)):
        state = (state * 1664525 + 1013904223) % 2**32
        swell = abs(i * seed % 16000 - 8000)
        samples.append((state >> 16) * swell / (65536 * 8000) - swell / 16000)
    return np.array(samples, np.float32)


def main():
    FIXTURES.mkdir(parents=True, exist_ok=True)
    network()
    cases = []
    for seed, seconds in ((3, 2.0), (8, 0.7)):
        levels = filterbank(sound(seed, seconds).astype(np.float64))
        cases.append({
            "seed": seed, "seconds": seconds, "frames": len(levels),
            "levels": [[round(float(v), 4) for v in levels[t]] for t in (0, 17, len(levels) - 1)],
            "vector": [round(float(v), 6) for v in embed(levels)],
        })
    (FIXTURES / "speaker_reference.json").write_text(json.dumps(cases) + "\n")


if __name__ == "__main__":
    main()
