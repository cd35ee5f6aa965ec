#!/usr/bin/env python3
"""Converts NanoDet-g, an object detector, from TensorFlow.js to ONNX.

The published graph was itself made from an ONNX network: each convolution stands between two transpositions, and each
bias is an addition. This script undoes both, so that the result is the original network.

    convert_nanodet.py SOURCE TARGET

SOURCE has nanodet.json and nanodet.bin (npm package @vladmandic/human). Writes nanodet.onnx to TARGET, after comparing
its outputs with those of TensorFlow.js for the same picture.

Input: [1, 3, 416, 416], BGR, (value - mean) / deviation. Outputs, for the strides 8, 16 and 32: scores [1, cells, 80],
then distances [1, cells, 44], which are distributions over 11 bins for each side of a box.
"""

import argparse
import base64
import json
import sys
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

from convert_minilm import one_file, write_atomically

OPSET = 18
INPUT = "image"
SHAPE = [1, 3, 416, 416]
# The outputs of the published graph in the order of the converted network, with their names there.
OUTPUTS = {
    "Identity": "scores_8", "Identity_1": "scores_16", "Identity_2": "scores_32",
    "Identity_3": "distances_8", "Identity_4": "distances_16", "Identity_5": "distances_32",
}  # fmt: skip
CLASSES = 80
# What TensorFlow.js 4.22 (CPU backend) computes for `test_picture`: for each output its sum, its maximum, and the values
# at 0, 1/4, 1/2 and 3/4 of its length.
GOLDEN = {
    "scores_8": [690.07186, 0.039498076, 0.0070012752, 0.0064463983, 0.0069587291, 0.012236583],
    "scores_16": [319.33138, 0.059834503, 0.007802566, 0.0051524127, 0.0090263849, 0.017087208],
    "scores_32": [198.09112, 0.47189546, 0.011563653, 0.0096114716, 0.09062738, 0.035157669],
    "distances_8": [-0.14891475, 6.2738261, 2.2922499, 3.4481452, 3.0993984, 3.8383648],
    "distances_16": [-0.53021339, 5.1213312, -0.045082264, -0.62750065, 0.73414481, -1.1923549],
    "distances_32": [-0.2216987, 5.9072442, 0.080093421, -0.74856538, -2.8657427, -0.0026283069],
}
MAX_DIFFERENCE = 1e-4  # relative to the largest value of an output


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("source", type=Path, help="folder of the published graph")
    parser.add_argument("target", type=Path, help="output folder")
    arguments = parser.parse_args()
    arguments.target.mkdir(parents=True, exist_ok=True)
    graph = json.loads(one_file(arguments.source, "nanodet.json").read_text())
    weights = one_file(arguments.source, "nanodet.bin").read_bytes()
    model = Converter(graph, weights).model()
    difference = largest_difference(model)
    if not difference <= MAX_DIFFERENCE:
        sys.exit(f"the converted network differs from the published one by {difference}")
    file = arguments.target / "nanodet.onnx"
    write_atomically(file, lambda path: onnx.save(model, path))
    print(f"wrote {file}, which differs from the published network by {difference:.1g} at most")


def test_picture():
    """A smooth picture with different values in each channel, as the network expects it."""
    y, x = np.mgrid[0:416, 0:416].astype(np.float32)
    planes = [np.sin(x / 40 + c) + np.cos(y / (30 + 5 * c)) + ((x - 208) ** 2 + (y - 208) ** 2 < 9000) for c in range(3)]
    return np.stack(planes)[None].astype(np.float32)


def summary(values):
    flat = values.ravel()
    return [float(flat.sum(dtype=np.float64)), float(flat.max()), *(float(flat[flat.size * i // 4]) for i in range(4))]


def largest_difference(model):
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, ["CPUExecutionProvider"])
    outputs = session.run(None, {INPUT: test_picture()})
    differences = []
    for name, values in zip(OUTPUTS.values(), outputs):
        (total, *found), (golden_total, *golden) = summary(values), GOLDEN[name]
        scale = max(abs(value) for value in golden)
        differences += [abs(a - b) / scale for a, b in zip(found, golden)]
        differences.append(abs(total - golden_total) / (scale * values.size))
    return max(differences)


class Tensor:
    """A value of the published graph: a tensor of the new graph, and the order of its axes there."""

    def __init__(self, name, order=(0, 1, 2, 3)):
        self.name = name
        self.order = order

    def transposed(self, order):
        return Tensor(self.name, tuple(self.order[axis] for axis in order))


class Converter:
    def __init__(self, graph, weights):
        self.published = {node["name"]: node for node in graph["modelTopology"]["node"]}
        self.constants = constants(graph["weightsManifest"], weights)
        self.values = {}
        self.nodes = []
        self.initializers = []

    def model(self):
        outputs = []
        for published, name in OUTPUTS.items():
            value = self.value(published)
            self.add("Transpose", [value.name], [name], perm=value.order)
            columns = CLASSES if name.startswith("scores") else None
            outputs.append(helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, None, columns]))
        image = helper.make_tensor_value_info(INPUT, TensorProto.FLOAT, SHAPE)
        graph = helper.make_graph(self.nodes, "nanodet", [image], outputs, self.initializers)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=8)
        onnx.checker.check_model(model)
        return model

    def add(self, kind, inputs, outputs, **attributes):
        self.nodes.append(helper.make_node(kind, inputs, outputs, **attributes))

    def initializer(self, name, array):
        self.initializers.append(numpy_helper.from_array(np.ascontiguousarray(array), name))
        return name

    def constant(self, name):
        """The value of a constant expression."""
        name = name.removesuffix(":0")
        if name in self.constants:
            return self.constants[name]
        node = self.published[name]
        inputs = node.get("input", [])
        match node["op"]:
            case "SparseToDense":
                indices, shape, values, default = map(self.constant, inputs)
                dense = np.full(shape, default)
                for index, value in zip(indices, values):
                    dense[tuple(index)] = value
                return dense
            case "Add" | "AddV2":
                return self.constant(inputs[0]) + self.constant(inputs[1])
            case "Identity":
                return self.constant(inputs[0])
            case "Transpose":
                return self.constant(inputs[0]).transpose(self.constant(inputs[1]))
            case "SplitV":
                raise KeyError(name)
            case other:
                raise KeyError(f"{name} is no constant: {other}")

    def is_constant(self, name):
        try:
            self.constant(name)
        except KeyError:
            return False
        return True

    def value(self, name):
        name = name.removesuffix(":0")
        if name not in self.values:
            node = self.published[name.split(":")[0]]
            convert = getattr(self, f"convert_{node['op'].lower()}")
            self.values[name] = convert(name, node)
        return self.values[name]

    def convert_placeholder(self, _name, _node):
        return Tensor(INPUT)

    def convert_identity(self, _name, node):
        return self.value(node["input"][0])

    def convert_transpose(self, _name, node):
        return self.value(node["input"][0]).transposed(self.constant(node["input"][1]))

    def convert_leakyrelu(self, name, node):
        return self.same_axes("LeakyRelu", name, node, alpha=node["attr"]["alpha"]["f"])

    def convert_sigmoid(self, name, node):
        return self.same_axes("Sigmoid", name, node)

    def same_axes(self, kind, name, node, **attributes):
        value = self.value(node["input"][0])
        self.add(kind, [value.name], [name], **attributes)
        return Tensor(name, value.order)

    def convert_pad(self, name, node):
        return self.padded(name, node, 0.0)

    def convert_padv2(self, name, node):
        return self.padded(name, node, float(self.constant(node["input"][2])))

    def padded(self, name, node, fill):
        value = self.value(node["input"][0])
        before, after = np.zeros((2, 4), np.int64)
        for axis, (first, last) in zip(value.order, self.constant(node["input"][1])):
            before[axis], after[axis] = first, last
        pads = self.initializer(f"{name}.pads", np.concatenate([before, after]))
        self.add("Pad", [value.name, pads, self.initializer(f"{name}.fill", np.float32(fill))], [name])
        return Tensor(name, value.order)

    def channels_second(self, name):
        """The input of an operator over [batch, height, width, channels], as [batch, channels, height, width]."""
        value = self.value(name)
        if value.order != (0, 2, 3, 1):
            sys.exit(f"{name} has the axes {value.order}, which this script does not expect")
        return value.name

    def convert_conv2d(self, name, node):
        self.require(node, padding="VALID", data_format="NHWC")
        source, kernel = node["input"]
        weights = self.kernel(kernel).transpose(3, 2, 0, 1)
        strides = ints(node["attr"]["strides"])[1:3]
        inputs = [self.channels_second(source), self.initializer(f"{name}.weights", weights)]
        self.add("Conv", inputs, [name], strides=strides, kernel_shape=weights.shape[2:])
        return Tensor(name, (0, 2, 3, 1))

    def kernel(self, name):
        """The weights of a convolution; a convolution of one group takes all of a split."""
        node = self.published[name.split(":")[0]]
        if node["op"] == "SplitV" or node["op"] == "Split":
            source = node["input"][1] if node["op"] == "Split" else node["input"][0]
            return self.constant(source)
        return self.constant(name)

    def convert_maxpool(self, name, node):
        self.require(node, padding="VALID", data_format="NHWC")
        kernel, strides = (ints(node["attr"][key])[1:3] for key in ("ksize", "strides"))
        self.add("MaxPool", [self.channels_second(node["input"][0])], [name], kernel_shape=kernel, strides=strides)
        return Tensor(name, (0, 2, 3, 1))

    def convert_add(self, name, node):
        first, second = node["input"]
        if self.is_constant(second):
            return self.biased(name, first, self.constant(second))
        if self.is_constant(first):
            return self.biased(name, second, self.constant(first))
        a, b = self.value(first), self.value(second)
        if a.order != b.order:
            # The second input in the axes of the first.
            perm = [b.order[a.order.index(axis)] for axis in range(4)]
            self.add("Transpose", [b.name], [f"{name}.axes"], perm=perm)
            b = Tensor(f"{name}.axes", a.order)
        self.add("Add", [a.name, b.name], [name])
        return Tensor(name, a.order)

    convert_addv2 = convert_add

    def biased(self, name, source, bias):
        """A bias becomes part of the convolution before it."""
        value = self.value(source)
        node = next(node for node in self.nodes if node.output[0] == value.name)
        channels = value.order.index(1)
        axes = [axis - 4 + bias.ndim for axis in range(4)]
        per_channel = bias.reshape(-1)
        if node.op_type == "Conv" and len(node.input) == 2 and bias.size == bias.shape[axes[channels]]:
            node.input.append(self.initializer(f"{name}.bias", per_channel))
            return value
        sys.exit(f"{name} adds {bias.shape} to a {node.op_type}, which this script does not expect")

    def convert_concatv2(self, name, node):
        *sources, axis = node["input"]
        values = [self.value(source) for source in sources]
        if len({value.order for value in values}) != 1:
            sys.exit(f"{name} joins tensors of different axes, which this script does not expect")
        order = values[0].order
        self.add("Concat", [value.name for value in values], [name], axis=int(order[int(self.constant(axis))]))
        return Tensor(name, order)

    def convert_resizebilinear(self, name, node):
        value = self.value(node["input"][0])
        height, width = self.constant(node["input"][1])
        sizes = {2: int(height), 3: int(width)}
        scaled = {value.order[1]: int(height), value.order[2]: int(width)}
        if scaled != sizes or not node["attr"]["half_pixel_centers"]["b"]:
            sys.exit(f"{name} resizes in a way that this script does not expect")
        both = self.initializer(f"{name}.sizes", np.array([int(height), int(width)], np.int64))
        self.add("Resize", [value.name, "", "", both], [name], mode="linear", axes=[2, 3],
                 coordinate_transformation_mode="half_pixel")  # fmt: skip
        return Tensor(name, value.order)

    def convert_splitv(self, name, node):
        source, sizes, axis = node["input"]
        value, sizes = self.value(source), self.constant(sizes)
        base = node["name"]
        outputs = [base] + [f"{base}:{i}" for i in range(1, len(sizes))]
        lengths = self.initializer(f"{base}.sizes", sizes.astype(np.int64))
        self.add("Split", [value.name, lengths], outputs, axis=int(value.order[int(self.constant(axis))]))
        for output in outputs:
            self.values[output] = Tensor(output, value.order)
        return self.values[name]

    def convert_reshape(self, name, node):
        value = self.value(node["input"][0])
        if value.order != (0, 1, 2, 3):
            self.add("Transpose", [value.name], [f"{name}.axes"], perm=value.order)
            value = Tensor(f"{name}.axes")
        shape = self.constant(node["input"][1]).astype(np.int64)
        self.add("Reshape", [value.name, self.initializer(f"{name}.shape", shape)], [name])
        return Tensor(name, tuple(range(len(shape))))

    def require(self, node, **expected):
        for key, value in expected.items():
            given = base64.b64decode(node["attr"][key]["s"]).decode()
            if given != value:
                sys.exit(f"{node['name']} has {key} = {given}, which this script does not expect")


def ints(attribute):
    return [int(value) for value in attribute["list"]["i"]]


def constants(manifest, weights):
    """The constants by name; float32 values are stored as float16."""
    arrays, offset = {}, 0
    for entry in (entry for group in manifest for entry in group["weights"]):
        kind = np.dtype(entry.get("quantization", {}).get("dtype", entry["dtype"]))
        count = int(np.prod(entry["shape"], dtype=np.int64))
        array = np.frombuffer(weights, kind, count, offset).reshape(entry["shape"])
        arrays[entry["name"]] = array.astype(entry["dtype"])
        offset += count * kind.itemsize
    if offset != len(weights):
        sys.exit(f"the weights have {len(weights)} bytes instead of {offset}")
    return arrays


if __name__ == "__main__":
    main()
