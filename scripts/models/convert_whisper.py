#!/usr/bin/env python3
"""Converts a Whisper model from CTranslate2's format to 8-bit ONNX.

Builds the graphs directly for ONNX Runtime, so neither torch nor CTranslate2 is needed. The layout is that of Hugging
Face's exporter, with two differences that save memory and time: the encoder also outputs the keys and values of the
decoder's cross-attention, so that one decoder handles the prompt and later tokens; and the decoder outputs the
cross-attention of the alignment heads, which gives word times.

    encoder_model_quantized.onnx
        input_features float32 [batch, mels, 3000]
        -> last_hidden_state float32 [batch, 1500, width]
           present.{layer}.encoder.{key,value} float32 [batch, heads, size, 1500]
    decoder_with_past_model_quantized.onnx
        input_ids int64 [batch, length], scored int64 [rows]: the positions to score,
        past_key_values.{layer}.encoder.* as above,
        past_key_values.{layer}.decoder.{key,value} float32 [batch, heads, past, size], past may be 0
        -> logits float32 [batch, rows, vocabulary],
           alignment_attentions float32 [batch, alignment heads, length, 1500],
           present.{layer}.decoder.{key,value}

    convert_whisper.py SOURCE TARGET [--float32] [--check SOUND --tokens FILE]

SOURCE has model.bin (or model.bin.part1, model.bin.part2 …), config.json and tokenizer.json. Writes the two networks,
config.json, generation_config.json and tokenizer.json to TARGET. `--check` transcribes a 16 kHz WAV file with greedy
decoding and without timestamps; `--tokens` names a file with the expected tokens, such as
adapters/tests/fixtures/whisper_jfk.json from CTranslate2.
"""

import argparse
import json
import math
import shutil
import struct
import sys
import wave
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper

from convert_minilm import Writer, write_atomically

OPSET = 20
IR_VERSION = 10
EPSILON = 1e-5
FRAMES = 3000
POSITIONS = FRAMES // 2
MICROSOFT = "com.microsoft"
# Element types of CTranslate2; 5 is bfloat16, which numpy does not support.
TYPES = {0: np.float32, 1: np.int8, 2: np.int16, 3: np.int32, 4: np.float16}
FIRST_MULTILINGUAL = 51865
LAST = np.array([-1], np.int64)
# The zero point of 8-bit weights.
ZERO_POINT = np.uint8(128)
# Maximum tokens of the transcription with --check.
LONGEST_ANSWER = 224


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("source", type=Path, help="folder of the CTranslate2 model")
    parser.add_argument("target", type=Path, help="output folder")
    parser.add_argument("--float32", action="store_true", help="do not quantise the weights")
    parser.add_argument("--check", type=Path, metavar="SOUND", help="transcribe this WAV file")
    parser.add_argument("--tokens", type=Path, metavar="FILE", help="the expected token ids, by name of TARGET")
    arguments = parser.parse_args()

    variables = read_model(arguments.source)
    given = json.loads((arguments.source / "config.json").read_text())
    network = Network(variables, given, arguments.float32)

    target = arguments.target
    target.mkdir(parents=True, exist_ok=True)
    suffix = "" if arguments.float32 else "_quantized"
    files = {
        f"encoder_model{suffix}.onnx": network.encoder,
        f"decoder_with_past_model{suffix}.onnx": network.decoder,
    }
    for name, graph in files.items():
        write_atomically(target / name, lambda path, graph=graph: onnx.save(graph(), path))
        print(f"wrote {target / name}")
    settings = {"config.json": network.config(), "generation_config.json": network.generation_config()}
    for name, value in settings.items():
        text = json.dumps(value, indent=1) + "\n"
        write_atomically(target / name, lambda path, text=text: Path(path).write_text(text))
    tokenizer = arguments.source / "tokenizer.json"
    write_atomically(target / "tokenizer.json", lambda path: shutil.copyfile(tokenizer, path))

    if arguments.check:
        check(target, suffix, arguments.check, arguments.tokens)


def read_model(folder):
    """The variables of model.bin by name, with floats as float32."""
    whole = folder / "model.bin"
    parts = [whole] if whole.is_file() else sorted(folder.glob("model.bin.part*"))
    if not parts:
        sys.exit(f"expected model.bin or its parts in {folder}")
    data = memoryview(b"".join(part.read_bytes() for part in parts))
    place = 0

    def number(kind):
        nonlocal place
        value = struct.unpack_from("<" + kind, data, place)[0]
        place += struct.calcsize(kind)
        return value

    def text():
        nonlocal place
        length = number("H")
        value = bytes(data[place : place + length]).rstrip(b"\0").decode()
        place += length
        return value

    try:
        version, kind, _revision = number("I"), text(), number("I")
        if version != 6 or kind != "WhisperSpec":
            sys.exit(f"model.bin is a {kind} of version {version}; only a WhisperSpec of version 6 can be converted")
        variables = {}
        for _ in range(number("I")):
            name = text()
            shape = [number("I") for _ in range(number("B"))]
            element, size = TYPES.get(number("B")), number("I")
            if element is None:
                sys.exit(f"{name} has an unsupported element type")
            values = np.frombuffer(data[place : place + size], element).reshape(shape)
            variables[name] = values.astype(np.float32) if element is np.float16 else values
            place += size
    except (struct.error, ValueError) as error:
        sys.exit(f"model.bin is truncated or damaged: {error}")
    return variables


class Network:
    """The graphs of a model."""

    def __init__(self, variables, given, float32):
        self.variables = variables
        self.given = given
        self.float32 = float32
        self.width = variables["encoder/conv1/weight"].shape[0]
        self.mels = variables["encoder/conv1/weight"].shape[1]
        self.heads = int(variables["encoder/num_heads"])
        self.size = self.width // self.heads
        self.vocabulary, _ = variables["decoder/embeddings/weight"].shape
        self.context = variables["decoder/position_encodings/encodings"].shape[0]
        self.layers = {
            side: sum(f"{side}/layer_{i}/ffn/linear_0/bias" in variables for i in range(100))
            for side in ("encoder", "decoder")
        }

    def config(self):
        return {
            "model_type": "whisper",
            "d_model": self.width,
            "encoder_layers": self.layers["encoder"],
            "decoder_layers": self.layers["decoder"],
            "encoder_attention_heads": self.heads,
            "decoder_attention_heads": self.heads,
            "num_mel_bins": self.mels,
            "max_source_positions": POSITIONS,
            "max_target_positions": self.context,
            "vocab_size": self.vocabulary,
        }

    def generation_config(self):
        return {
            "is_multilingual": self.vocabulary >= FIRST_MULTILINGUAL,
            "suppress_tokens": self.given["suppress_ids"],
            "begin_suppress_tokens": self.given["suppress_ids_begin"],
            "alignment_heads": self.given["alignment_heads"],
        }

    # ------------------------------------------------------------ parts

    def linear(self, w, x, name, rows=slice(None)):
        """x times a matrix stored as [out, in], or its part `rows`, plus the bias."""
        matrix, bias = self.variables[f"{name}/weight"][rows], self.variables[f"{name}/bias"][rows]
        label = name if rows == slice(None) else f"{name}.{rows.start}"
        if self.float32:
            product = w.op("MatMul", [x, w.constant(f"{label}/weight", matrix.T)], f"{label}/product")
        # The encoder also computes the keys and values of the cross-attention.
        elif name.startswith("encoder") or rows != slice(None):
            product = self.product_by_rows(w, x, label, matrix)
        else:
            product = self.product(w, x, label, matrix)
        return w.op("Add", [product, w.constant(f"{label}/bias", bias)], label)

    def product(self, w, x, label, matrix):
        whole, scale = quantize(matrix)
        return w.op(
            "DynamicQuantizeMatMul",
            [x, w.constant(f"{label}/weight", whole.T), w.constant(f"{label}/scale", scale), w.shared("nothing", ZERO_POINT)],
            f"{label}/product", domain=MICROSOFT,
        )

    def product_by_rows(self, w, x, label, matrix):
        """A product with x scaled per row. The operator has one scale for all of x, in which small rows would lose
        precision next to loud ones; scaling each row to -1..1 first halves the error of the encoder."""
        size = w.op("ReduceMax", [w.op("Abs", [x], f"{label}/sizes"), w.shared("last", LAST)], f"{label}/largest")
        size = w.op("Max", [size, w.shared("tiny", np.float32(1e-9))], f"{label}/size")
        product = self.product(w, w.op("Div", [x, size], f"{label}/unit"), f"{label}/of_unit", matrix)
        return w.op("Mul", [product, size], f"{label}/product")

    def normalise(self, w, x, name):
        parts = [w.constant(f"{name}/{part}", self.variables[f"{name}/{part}"]) for part in ("gamma", "beta")]
        return w.op("LayerNormalization", [x, *parts], name, axis=-1, epsilon=EPSILON)

    def feed_forward(self, w, x, name):
        y = self.normalise(w, x, f"{name}/ffn/layer_norm")
        y = w.op("Gelu", [self.linear(w, y, f"{name}/ffn/linear_0")], f"{name}/ffn/gelu")
        return w.op("Add", [x, self.linear(w, y, f"{name}/ffn/linear_1")], f"{name}/ffn/sum")

    def split_heads(self, w, x, name, transposed=False):
        shape = w.shared("split_heads", np.array([0, 0, self.heads, self.size], np.int64))
        y = w.op("Reshape", [x, shape], f"{name}/heads")
        return w.op("Transpose", [y], f"{name}/by_head", perm=[0, 2, 3, 1] if transposed else [0, 2, 1, 3])

    def join_heads(self, w, x, name):
        y = w.op("Transpose", [x], f"{name}/by_place", perm=[0, 2, 1, 3])
        return w.op("Reshape", [y, w.shared("join_heads", np.array([0, 0, self.width], np.int64))], f"{name}/joined")

    # ------------------------------------------------------------ graphs

    def encoder(self):
        w = SharingWriter()

        def convolution(x, number, stride):
            name = f"encoder/conv{number}"
            parts = [w.constant(f"{name}/{part}", self.variables[f"{name}/{part}"]) for part in ("weight", "bias")]
            y = w.op("Conv", [x, *parts], name, kernel_shape=[3], pads=[1, 1], strides=[stride])
            return w.op("Gelu", [y], f"{name}/gelu")

        x = convolution(convolution("input_features", 1, 1), 2, 2)
        x = w.op("Transpose", [x], "encoder/frames", perm=[0, 2, 1])
        places = self.variables["encoder/position_encodings/encodings"]
        x = w.op("Add", [x, w.constant("encoder/positions", places)], "encoder/placed")
        for i in range(self.layers["encoder"]):
            name = f"encoder/layer_{i}"
            attention = f"{name}/self_attention"
            y = self.normalise(w, x, f"{attention}/layer_norm")
            fused = self.linear(w, y, f"{attention}/linear_0")
            q, k, v = w.op("Split", [fused], f"{attention}/split", outputs=3, axis=-1, num_outputs=3)
            y = w.op(
                "MultiHeadAttention", [q, k, v], f"{attention}/mixed", domain=MICROSOFT,
                num_heads=self.heads, scale=1 / math.sqrt(self.size),
            )
            x = w.op("Add", [x, self.linear(w, y, f"{attention}/linear_1")], f"{attention}/sum")
            x = self.feed_forward(w, x, name)
        x = self.normalise(w, x, "encoder/layer_norm")
        w.op("Identity", [x], "last_hidden_state")
        outputs = [tensor("last_hidden_state", ["batch", POSITIONS, self.width])]
        for i in range(self.layers["decoder"]):
            attention = f"decoder/layer_{i}/attention"
            for part, rows in (("key", slice(0, self.width)), ("value", slice(self.width, None))):
                y = self.linear(w, x, f"{attention}/linear_1", rows)
                y = self.split_heads(w, y, f"{attention}/{part}", transposed=True)
                w.op("Identity", [y], f"present.{i}.encoder.{part}")
            outputs += self.cross_attention_states(f"present.{i}")
        return self.model("encoder", w, [tensor("input_features", ["batch", self.mels, FRAMES])], outputs)

    def decoder(self):
        w = SharingWriter()
        variables, one = self.variables, w.constant("one", np.array([1], np.int64))

        # One table serves as embedding (a row per token) and as projection (a column per token).
        if self.float32:
            table = w.constant("decoder/embeddings", variables["decoder/embeddings/weight"])
            x = w.op("Gather", [table, "input_ids"], "decoder/words", axis=0)
        else:
            whole, scale = quantize(variables["decoder/embeddings/weight"])
            table, scales = w.constant("decoder/embeddings", whole.T), w.constant("decoder/embeddings/scale", scale)
            x = w.op("Gather", [table, "input_ids"], "decoder/columns", axis=1)
            x = w.op("Transpose", [x], "decoder/rows", perm=[1, 2, 0])
            x = w.op("Cast", [x], "decoder/raised", to=TensorProto.FLOAT)
            x = w.op("Sub", [x, w.constant("decoder/nothing", np.float32(ZERO_POINT))], "decoder/numbers")
            factor = w.op("Gather", [scales, "input_ids"], "decoder/factors", axis=0)
            factor = w.op("Unsqueeze", [factor, w.constant("last", LAST)], "decoder/factor")
            x = w.op("Mul", [x, factor], "decoder/words")
        length = w.op("Shape", ["input_ids"], "length", start=1, end=2)
        past = w.op("Shape", ["past_key_values.0.decoder.key"], "past", start=2, end=3)
        total = w.op("Add", [past, length], "total")
        places = w.op(
            "Slice", [w.constant("decoder/positions", variables["decoder/position_encodings/encodings"]), past, total],
            "decoder/places",
        )
        x = w.op("Add", [x, places], "decoder/placed")

        # The causal mask, [length, total]: 0 up to a token, the lowest float after it.
        scalar = {name: w.op("Squeeze", [value], f"{name}/scalar") for name, value in (("past", past), ("total", total))}
        zero, step = w.constant("zero", np.array(0, np.int64)), w.constant("step", np.array(1, np.int64))
        rows = w.op("Range", [scalar["past"], scalar["total"], step], "rows")
        columns = w.op("Range", [zero, scalar["total"], step], "columns")
        later = w.op("Greater", [columns, w.op("Unsqueeze", [rows, one], "rows/standing")], "later")
        lowest, none = w.constant("lowest", np.finfo(np.float32).min), w.constant("none", np.float32(0))
        mask = w.op("Where", [later, lowest, none], "mask")

        scale = w.constant("scale", np.float32(1 / math.sqrt(self.size)))
        followed = {}
        for layer, head in self.given["alignment_heads"]:
            followed.setdefault(layer, []).append(head)
        alignments, outputs = [], []

        def shares(q, keys, name, mask=None):
            scores = w.op("MatMul", [w.op("Mul", [q, scale], f"{name}/scaled"), keys], f"{name}/products")
            if mask:
                scores = w.op("Add", [scores, mask], f"{name}/masked")
            return w.op("Softmax", [scores], f"{name}/shares", axis=-1)

        for i in range(self.layers["decoder"]):
            name = f"decoder/layer_{i}"
            own = f"{name}/self_attention"
            y = self.normalise(w, x, f"{own}/layer_norm")
            parts = w.op("Split", [self.linear(w, y, f"{own}/linear_0")], f"{own}/split", outputs=3, axis=-1, num_outputs=3)
            q, k, v = (self.split_heads(w, part, f"{own}/{letter}") for part, letter in zip(parts, "qkv"))
            keys = w.op("Concat", [f"past_key_values.{i}.decoder.key", k], f"present.{i}.decoder.key", axis=2)
            values = w.op("Concat", [f"past_key_values.{i}.decoder.value", v], f"present.{i}.decoder.value", axis=2)
            keys = w.op("Transpose", [keys], f"{own}/keys", perm=[0, 1, 3, 2])
            y = w.op("MatMul", [shares(q, keys, own, mask), values], f"{own}/mixed")
            y = self.join_heads(w, y, own)
            x = w.op("Add", [x, self.linear(w, y, f"{own}/linear_1")], f"{own}/sum")

            cross = f"{name}/attention"
            y = self.normalise(w, x, f"{cross}/layer_norm")
            q = self.split_heads(w, self.linear(w, y, f"{cross}/linear_0"), f"{cross}/q")
            attention = shares(q, f"past_key_values.{i}.encoder.key", cross)
            y = w.op(
                "FusedMatMul", [attention, f"past_key_values.{i}.encoder.value"], f"{cross}/mixed",
                domain=MICROSOFT, transB=1,
            )
            y = self.join_heads(w, y, cross)
            if i in followed:
                heads = w.constant(f"{cross}/followed", np.array(followed[i], np.int64))
                alignments.append(w.op("Gather", [attention, heads], f"{cross}/alignment", axis=1))
            x = w.op("Add", [x, self.linear(w, y, f"{cross}/linear_2")], f"{cross}/sum")
            x = self.feed_forward(w, x, name)
            outputs += self.self_attention_states(f"present.{i}", "total")
        w.op("Concat", alignments, "alignment_attentions", axis=1)
        x = w.op("Gather", [x, "scored"], "decoder/scored", axis=1)
        x = self.normalise(w, x, "decoder/layer_norm")
        if self.float32:
            w.op("MatMul", [x, w.op("Transpose", [table], "decoder/projection", perm=[1, 0])], "logits")
        else:
            w.op("DynamicQuantizeMatMul", [x, table, scales, w.shared("nothing", ZERO_POINT)], "logits", domain=MICROSOFT)

        inputs = [
            helper.make_tensor_value_info("input_ids", TensorProto.INT64, ["batch", "length"]),
            helper.make_tensor_value_info("scored", TensorProto.INT64, ["rows"]),
        ]
        for i in range(self.layers["decoder"]):
            inputs += self.self_attention_states(f"past_key_values.{i}", "past") + self.cross_attention_states(f"past_key_values.{i}")
        count = len(self.given["alignment_heads"])
        outputs = [
            tensor("logits", ["batch", "rows", self.vocabulary]),
            tensor("alignment_attentions", ["batch", count, "length", POSITIONS]),
            *outputs,
        ]
        return self.model("decoder", w, inputs, outputs)

    def cross_attention_states(self, prefix):
        """The names of keys and values of the cross-attention."""
        shape = ["batch", self.heads, self.size, POSITIONS]
        return [tensor(f"{prefix}.encoder.{part}", shape) for part in ("key", "value")]

    def self_attention_states(self, prefix, length):
        """The names of keys and values of the self-attention."""
        return [tensor(f"{prefix}.decoder.{part}", ["batch", self.heads, length, self.size]) for part in ("key", "value")]

    def model(self, name, w, inputs, outputs):
        model = helper.make_model(
            helper.make_graph(w.nodes, f"whisper {name}", inputs, outputs, w.initializers),
            opset_imports=[helper.make_opsetid("", OPSET), helper.make_opsetid(MICROSOFT, 1)],
            ir_version=IR_VERSION,
            producer_name="shotlog convert_whisper",
        )
        onnx.checker.check_model(model)
        return model


class SharingWriter(Writer):
    """Writes shared constants only once."""

    def __init__(self):
        super().__init__()
        self.known = set()

    def shared(self, name, array):
        if name not in self.known:
            self.known.add(name)
            self.constant(name, array)
        return name


def tensor(name, shape):
    return helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)


def quantize(matrix):
    """Integers from -127 to 127 with the offset `ZERO_POINT`, and a factor per row, quantised as in CTranslate2.

    The offset makes them unsigned: without VNNI, processors add products of unsigned and signed bytes in 16 bits, which
    saturate and change the recognised words. Products of two unsigned bytes are exact everywhere."""
    scale = np.abs(matrix).max(axis=1) / 127
    scale[scale == 0] = 1
    whole = np.round(matrix / scale[:, None]).astype(np.int16) + ZERO_POINT
    return whole.astype(np.uint8), scale.astype(np.float32)


# ---------------------------------------------------------------- the check


def log_mel(samples, mels):
    """The log-mel spectrogram of at most 30 s as in the reference, [mels, 3000]."""

    def hertz(mel):
        return mel * 200 / 3 if mel < 15 else 1000 * math.exp((mel - 15) * math.log(6.4) / 27)

    edges = [hertz(m) for m in np.linspace(0, 15 + math.log(8) * 27 / math.log(6.4), mels + 2)]
    bins = np.linspace(0, 8000, 201)
    filters = [
        np.maximum(0, np.minimum((bins - a) / (b - a), (c - bins) / (c - b))) * 2 / (c - a)
        for a, b, c in zip(edges, edges[1:], edges[2:])
    ]
    sound = np.zeros(FRAMES * 160)
    sound[: len(samples)] = samples[: len(sound)]
    frames = np.lib.stride_tricks.sliding_window_view(np.pad(sound, 200, mode="reflect"), 400)[::160][:FRAMES]
    power = np.abs(np.fft.rfft(frames * np.hanning(401)[:-1])) ** 2
    level = np.log10(np.maximum(np.array(filters) @ power.T, 1e-10))
    return ((np.maximum(level, level.max() - 8) + 4) / 4).astype(np.float32)


def greedy(target, suffix, samples):
    """Greedy decoding of English speech without timestamps."""
    import onnxruntime

    encoder, decoder = (
        onnxruntime.InferenceSession(str(target / f"{part}{suffix}.onnx"), providers=["CPUExecutionProvider"])
        for part in ("encoder_model", "decoder_with_past_model")
    )
    config, generation = (json.loads((target / f"{name}.json").read_text()) for name in ("config", "generation_config"))
    tokens = {t["content"]: t["id"] for t in json.loads((target / "tokenizer.json").read_text())["added_tokens"]}
    prompt = ["<|startoftranscript|>", "<|en|>", "<|transcribe|>", "<|notimestamps|>"]
    prompt = [tokens[t] for t in prompt if generation["is_multilingual"] or t not in prompt[1:3]]
    states = encoder.run(None, {"input_features": log_mel(samples, config["num_mel_bins"])[None]})
    names = [output.name for output in encoder.get_outputs()]
    encoder_states = {name.replace("present", "past_key_values"): value for name, value in zip(names[1:], states[1:])}
    size = config["d_model"] // config["decoder_attention_heads"]
    empty = np.zeros((1, config["decoder_attention_heads"], 0, size), np.float32)
    decoder_states = {name.replace("encoder", "decoder"): empty for name in encoder_states}
    names = [output.name for output in decoder.get_outputs()]
    found, given = [], prompt
    while len(found) < LONGEST_ANSWER:
        feeds = {"input_ids": np.array([given], np.int64), "scored": np.array([len(given) - 1], np.int64)}
        results = dict(zip(names, decoder.run(None, {**feeds, **encoder_states, **decoder_states})))
        decoder_states = {name: results[name.replace("past_key_values", "present")] for name in decoder_states}
        logits = results["logits"][0, 0]
        logits[generation["suppress_tokens"]] = -np.inf
        logits[tokens["<|notimestamps|>"] :] = -np.inf
        if not found:
            logits[generation["begin_suppress_tokens"]] = -np.inf
        given = [int(logits.argmax())]
        if given[0] == tokens["<|endoftext|>"]:
            break
        found += given
    return found


def check(target, suffix, sound, expected):
    with wave.open(str(sound)) as file:
        if (file.getframerate(), file.getnchannels(), file.getsampwidth()) != (16000, 1, 2):
            sys.exit(f"{sound} is not 16-bit mono sound at 16 kHz")
        samples = np.frombuffer(file.readframes(file.getnframes()), "<i2") / 32768
    found = greedy(target, suffix, samples)
    if expected is None:
        print(json.dumps(found))
    else:
        original = json.loads(expected.read_text())[target.name]["plain"]
        if found != original:
            sys.exit(f"the converted model returns {found}, the original {original}")
        print(f"{len(found)} tokens match the original")


if __name__ == "__main__":
    main()
