#!/usr/bin/env python3
"""Writes a tiny Whisper network and reference outputs computed with numpy, for the tests.

The network has every part of a real one (convolutions, sinusoids, causal and cross attention, tied embedding, the
special tokens in order) with random weights, in the layouts of the exporters: an encoder, a merged decoder with a
cache branch, and a decoder in two files. The reference uses numpy only and no cache: log-mel spectrogram, encoder,
decoder, timestamp rules as in decoding.py of openai/whisper, and greedy decoding.
Needs the PyPI packages numpy and onnx. Run it in the root of the repository:
    python3 scripts/make_test_whisper.py
"""
import json
import math
import pathlib

import numpy as np
from onnx import TensorProto, checker, helper, numpy_helper, save

FIXTURES = pathlib.Path("adapters/tests/fixtures/whisper")
MELS, WIDTH, HEADS, LAYERS, INNER, CONTEXT = 80, 8, 2, 2, 16, 64
FRAMES, POSITIONS = 3000, 1500
LANGUAGES = ["en", "zh", "de"]
MERGES = ["t h", "Ġ a", "Ġ t", "i n", "Ġt h", "r e", "o n", "Ġth e", "e r", "Ġ s"]


def byte_letters():
    """The printable character that byte-level tokenizers use for each byte."""
    kept = [*range(33, 127), *range(161, 173), *range(174, 256)]
    shifted = iter(range(256, 512))
    return [chr(b) if b in kept else chr(next(shifted)) for b in range(256)]


def vocabulary():
    letters = byte_letters()
    words = sorted(letters) + ["".join(m.split()) for m in MERGES]
    special = ["<|endoftext|>", "<|startoftranscript|>", *(f"<|{l}|>" for l in LANGUAGES),
               "<|translate|>", "<|transcribe|>", "<|startoflm|>", "<|startofprev|>", "<|nospeech|>",
               "<|notimestamps|>"]
    return words, special


WORDS, SPECIAL = vocabulary()
ID = {text: i for i, text in enumerate(WORDS + SPECIAL)}
TIMESTAMPS = len(ID)
VOCABULARY = TIMESTAMPS + POSITIONS + 1
EOT, SOT, NO_SPEECH = ID["<|endoftext|>"], ID["<|startoftranscript|>"], ID["<|nospeech|>"]
SUPPRESSED = [ID[t] for t in ("#", "(", "[", "<|startoftranscript|>", "<|translate|>",
                              "<|transcribe|>", "<|startoflm|>", "<|startofprev|>", "<|nospeech|>")]
SUPPRESSED_FIRST = [ID["Ġ"], EOT]


def weights():
    """Integers from -127 to 127 and a scale per tensor: small files, exact on every machine."""
    random = np.random.default_rng(20)
    made = {}

    def tensor(name, shape, deviation, mean=0.0):
        scale = np.float32(deviation / 42)
        whole = random.standard_normal(shape) * 42 + mean / scale
        made[name] = (np.clip(np.round(whole), -127, 127).astype(np.int8), scale)

    def norm(name):
        tensor(name + ".weight", (WIDTH,), 0.1, 0.5)
        tensor(name + ".bias", (WIDTH,), 0.1)

    def attention(name, deviation=0.6):
        for part in "qkvo":
            tensor(f"{name}.{part}.weight", (WIDTH, WIDTH), deviation)
            if part != "k":
                tensor(f"{name}.{part}.bias", (WIDTH,), 0.2)

    def layer(name, cross):
        norm(name + ".norm1")
        attention(name + ".self")
        if cross:
            norm(name + ".norm2")
            attention(name + ".cross", 2.0)
        norm(name + ".norm3")
        tensor(name + ".up.weight", (WIDTH, INNER), 0.5)
        tensor(name + ".up.bias", (INNER,), 0.2)
        tensor(name + ".down.weight", (INNER, WIDTH), 0.5)
        tensor(name + ".down.bias", (WIDTH,), 0.2)

    tensor("conv1.weight", (WIDTH, MELS, 3), 0.5)
    tensor("conv1.bias", (WIDTH,), 0.1)
    tensor("conv2.weight", (WIDTH, WIDTH, 3), 0.4)
    tensor("conv2.bias", (WIDTH,), 0.1)
    for i in range(LAYERS):
        layer(f"encoder{i}", False)
        layer(f"decoder{i}", True)
    norm("encoder")
    norm("decoder")
    # As in a trained network, words are more likely than special tokens.
    tensor("embedding", (VOCABULARY, WIDTH), 1.5)
    made["embedding"][0][TIMESTAMPS:] //= 2
    tensor("positions", (CONTEXT, WIDTH), 3.0)
    return made


WEIGHTS = weights()
NUMBERS = {name: whole.astype(np.float32) * scale for name, (whole, scale) in WEIGHTS.items()}


# ---------------------------------------------------------------- the network as ONNX


class Graph:
    """Nodes, and constants shared by all graphs of a file."""

    def __init__(self, constants=None):
        self.nodes, self.count = [], 0
        self.constants = {} if constants is None else constants

    def const(self, array):
        array = np.array(array, order="C")
        for known, (held, _) in self.constants.items():
            if held.dtype == array.dtype and held.shape == array.shape and (held == array).all():
                return known
        name = f"const_{len(self.constants)}"
        self.constants[name] = (array, None)
        return name

    def op(self, kind, inputs, output=None, **attributes):
        self.count += 1
        output = output or f"{kind}_{id(self) % 9973}_{self.count}"
        self.nodes.append(helper.make_node(kind, inputs, [output], **attributes))
        return output

    def whole(self, *numbers):
        return self.const(np.array(numbers, np.int64))

    def load(self):
        """The weights, by name."""
        for name, (whole, scale) in WEIGHTS.items():
            self.constants[name + ".whole"] = (whole, None)
            cast = self.op("Cast", [name + ".whole"], to=TensorProto.FLOAT)
            self.op("Mul", [cast, self.const(scale)], name)

    def linear(self, x, name):
        y = self.op("MatMul", [x, name + ".weight"])
        return self.op("Add", [y, name + ".bias"]) if name + ".bias" in WEIGHTS else y

    def norm(self, x, name):
        return self.op("LayerNormalization", [x, name + ".weight", name + ".bias"], epsilon=1e-5)

    def gelu(self, x):
        e = self.op("Erf", [self.op("Mul", [x, self.const(np.float32(math.sqrt(0.5)))])])
        half = self.op("Mul", [x, self.const(np.float32(0.5))])
        return self.op("Mul", [half, self.op("Add", [e, self.const(np.float32(1))])])

    def heads(self, x, output=None):
        split = self.op("Reshape", [x, self.whole(0, 0, HEADS, WIDTH // HEADS)])
        return self.op("Transpose", [split], output, perm=[0, 2, 1, 3])

    def attend(self, x, name, keys, values, mask=None):
        q = self.op("Mul", [self.linear(x, name + ".q"), self.const(np.float32((WIDTH // HEADS) ** -0.5))])
        scores = self.op("MatMul", [self.heads(q), self.op("Transpose", [keys], perm=[0, 1, 3, 2])])
        if mask:
            scores = self.op("Add", [scores, mask])
        mixed = self.op("MatMul", [self.op("Softmax", [scores], axis=-1), values])
        mixed = self.op("Transpose", [mixed], perm=[0, 2, 1, 3])
        mixed = self.op("Reshape", [mixed, self.whole(0, 0, WIDTH)])
        return self.linear(mixed, name + ".o")

    def feed(self, x, name):
        return self.linear(self.gelu(self.linear(self.norm(x, name + ".norm3"), name + ".up")), name + ".down")

    def encoder(self):
        x = "input_features"
        x = self.gelu(self.op("Conv", [x, "conv1.weight", "conv1.bias"], pads=[1, 1]))
        x = self.gelu(self.op("Conv", [x, "conv2.weight", "conv2.bias"], pads=[1, 1], strides=[2]))
        x = self.op("Transpose", [x], perm=[0, 2, 1])
        place = self.op("Range", [self.const(np.float32(0)), self.const(np.float32(POSITIONS)), self.const(np.float32(1))])
        place = self.op("Unsqueeze", [place, self.whole(1)])
        angle = self.op("Mul", [place, self.const(timescales()[None])])
        sinusoids = self.op("Concat", [self.op("Sin", [angle]), self.op("Cos", [angle])], axis=1)
        x = self.op("Add", [x, sinusoids])
        for i in range(LAYERS):
            name = f"encoder{i}"
            y = self.norm(x, name + ".norm1")
            keys, values = self.heads(self.linear(y, name + ".self.k")), self.heads(self.linear(y, name + ".self.v"))
            x = self.op("Add", [x, self.attend(y, name + ".self", keys, values)])
            x = self.op("Add", [x, self.feed(x, name)])
        self.op("LayerNormalization", [x, "encoder.weight", "encoder.bias"], "last_hidden_state", epsilon=1e-5)

    def decoder(self, cached, prefix, hollow=False):
        """With `hollow`, also outputs empty encoder keys, like the cache branch of a merged file."""
        out = lambda name: prefix + name
        length = self.op("Shape", ["input_ids"], start=1, end=2)
        past = self.op("Shape", ["past_key_values.0.decoder.key"], start=2, end=3) if cached else self.whole(0)
        total = self.op("Add", [past, length])
        scalar = lambda x: self.op("Squeeze", [x])
        one = self.const(np.array(1, np.int64))
        rows = self.op("Range", [scalar(past), scalar(total), one])
        columns = self.op("Range", [self.const(np.array(0, np.int64)), scalar(total), one])
        later = self.op("Greater", [columns, self.op("Unsqueeze", [rows, self.whole(1)])])
        mask = self.op("Where", [later, self.const(np.float32(-1e9)), self.const(np.float32(0))])
        x = self.op("Add", [self.op("Gather", ["embedding", "input_ids"]), self.op("Gather", ["positions", rows])])
        for i in range(LAYERS):
            name, kept = f"decoder{i}", f"present.{i}."
            y = self.norm(x, name + ".norm1")
            pair = []
            for part, letter in (("key", "k"), ("value", "v")):
                new = self.linear(y, f"{name}.self.{letter}")
                if cached:
                    both = [f"past_key_values.{i}.decoder.{part}", self.heads(new)]
                    pair.append(self.op("Concat", both, out(f"{kept}decoder.{part}"), axis=2))
                else:
                    pair.append(self.heads(new, out(f"{kept}decoder.{part}")))
            x = self.op("Add", [x, self.attend(y, name + ".self", *pair, mask)])
            y = self.norm(x, name + ".norm2")
            pair = []
            for part, letter in (("key", "k"), ("value", "v")):
                if cached:
                    pair.append(f"past_key_values.{i}.encoder.{part}")
                    if hollow:
                        empty = self.const(np.zeros((0, HEADS, 1, WIDTH // HEADS), np.float32))
                        self.op("Identity", [empty], out(f"{kept}encoder.{part}"))
                else:
                    new = self.linear("encoder_hidden_states", f"{name}.cross.{letter}")
                    pair.append(self.heads(new, out(f"{kept}encoder.{part}")))
            x = self.op("Add", [x, self.attend(y, name + ".cross", *pair)])
            x = self.op("Add", [x, self.feed(x, name)])
        x = self.norm(x, "decoder")
        self.op("MatMul", [x, self.op("Transpose", ["embedding"], perm=[1, 0])], out("logits"))

    def save(self, name, inputs, outputs):
        # Leave out weights that this file does not use.
        used, needed = {o.name for o in outputs}, []
        for node in reversed(self.nodes):
            if used.intersection(node.output):
                needed.insert(0, node)
                used.update(n for inner in walk([node]) for n in inner.input)
        constants = [numpy_helper.from_array(np.asarray(a), n) for n, (a, _) in self.constants.items() if n in used]
        graph = helper.make_graph(needed, "whisper", inputs, outputs, constants)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
        checker.check_model(model)
        save(model, str(FIXTURES / f"{name}.onnx"))


def walk(nodes):
    for node in nodes:
        yield node
        for attribute in node.attribute:
            if attribute.HasField("g"):
                yield from walk(attribute.g.node)
                yield from (helper.make_node("Identity", [o.name], []) for o in attribute.g.output)


def timescales():
    step = math.log(10000) / (WIDTH // 2 - 1)
    return np.exp(-step * np.arange(WIDTH // 2)).astype(np.float32)


def tensor(name, shape, kind=TensorProto.FLOAT):
    return helper.make_tensor_value_info(name, kind, shape)


def caches(prefix, sides, past="past"):
    lengths = {"decoder": past, "encoder": "encoder_length"}
    return [tensor(f"{prefix}.{i}.{side}.{part}", ["batch", HEADS, lengths[side], WIDTH // HEADS])
            for i in range(LAYERS) for side in sides for part in ("key", "value")]


def write_networks():
    ids = tensor("input_ids", ["batch", "length"], TensorProto.INT64)
    states = tensor("encoder_hidden_states", ["batch", "encoder_length", WIDTH])
    logits = tensor("logits", ["batch", "length", VOCABULARY])
    both, own = ("decoder", "encoder"), ("decoder",)
    g = Graph()
    g.load()
    g.encoder()
    g.save("encoder_model", [tensor("input_features", ["batch", MELS, FRAMES])],
           [tensor("last_hidden_state", ["batch", POSITIONS, WIDTH])])
    g = Graph()
    g.load()
    g.decoder(False, "")
    g.save("decoder_model", [ids, states], [logits, *caches("present", both)])
    g = Graph()
    g.load()
    g.decoder(True, "")
    g.save("decoder_with_past_model", [ids, *caches("past_key_values", both)],
           [logits, *caches("present", own)])
    g = Graph()
    g.load()
    outputs = [logits, *caches("present", both)]
    branches = {}
    for branch, cached in (("then_branch", True), ("else_branch", False)):
        inner = Graph(g.constants)
        inner.decoder(cached, branch[:4] + "_", hollow=True)
        named = [tensor(branch[:4] + "_" + o.name, None) for o in outputs]
        branches[branch] = helper.make_graph(inner.nodes, branch, [], named)
    flag = g.op("Squeeze", ["use_cache_branch"])
    g.nodes.append(helper.make_node("If", [flag], [o.name for o in outputs], **branches))
    g.save("decoder_model_merged",
           [ids, states, *caches("past_key_values", both), tensor("use_cache_branch", [1], TensorProto.BOOL)],
           outputs)


def write_tokenizer():
    added = [{"id": ID[t], "content": t, "single_word": False, "lstrip": False, "rstrip": False,
              "normalized": False, "special": True} for t in SPECIAL]
    level = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True}
    tokenizer = {
        "version": "1.0", "truncation": None, "padding": None, "added_tokens": added, "normalizer": None,
        "pre_tokenizer": level, "post_processor": None, "decoder": level,
        "model": {"type": "BPE", "dropout": None, "unk_token": None, "continuing_subword_prefix": None,
                  "end_of_word_suffix": None, "fuse_unk": False, "byte_fallback": False,
                  "vocab": {t: i for i, t in enumerate(WORDS)}, "merges": MERGES},
    }
    write("tokenizer.json", tokenizer)
    write("config.json", {
        "model_type": "whisper", "d_model": WIDTH, "decoder_layers": LAYERS, "encoder_layers": LAYERS,
        "decoder_attention_heads": HEADS, "encoder_attention_heads": HEADS, "num_mel_bins": MELS,
        "max_source_positions": POSITIONS, "max_target_positions": CONTEXT, "vocab_size": VOCABULARY,
    })
    write("generation_config.json", {
        "suppress_tokens": SUPPRESSED, "begin_suppress_tokens": SUPPRESSED_FIRST, "is_multilingual": True,
    })


def write(name, value):
    (FIXTURES / name).write_text(json.dumps(value, ensure_ascii=False) + "\n")


# ---------------------------------------------------------------- the reference


def mel_filters():
    """Slaney's mel filters as in librosa, [mels, 201]."""
    def to_mel(hertz):
        return hertz / (200 / 3) if hertz < 1000 else 15 + math.log(hertz / 1000) * 27 / math.log(6.4)

    def to_hertz(mel):
        return mel * 200 / 3 if mel < 15 else 1000 * math.exp((mel - 15) * math.log(6.4) / 27)

    edges = [to_hertz(m) for m in np.linspace(to_mel(0), to_mel(8000), MELS + 2)]
    bins = np.linspace(0, 8000, 201)
    filters = np.zeros((MELS, 201))
    for i, (low, middle, high) in enumerate(zip(edges, edges[1:], edges[2:])):
        rising, falling = (bins - low) / (middle - low), (high - bins) / (high - middle)
        filters[i] = np.maximum(0, np.minimum(rising, falling)) * 2 / (high - low)
    return filters


def log_mel(samples):
    """The log-mel spectrogram of at most 30 s, [mels, 3000]."""
    sound = np.zeros(480_000)
    sound[:len(samples)] = samples
    sound = np.pad(sound, 200, mode="reflect")
    frames = np.lib.stride_tricks.sliding_window_view(sound, 400)[::160][:FRAMES]
    power = np.abs(np.fft.rfft(frames * np.hanning(401)[:-1])) ** 2
    level = np.log10(np.maximum(mel_filters() @ power.T, 1e-10))
    return ((np.maximum(level, level.max() - 8) + 4) / 4).astype(np.float32)


def norm(x, name):
    x = (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + 1e-5)
    return x * NUMBERS[name + ".weight"] + NUMBERS[name + ".bias"]


def gelu(x):
    return x * 0.5 * (1 + np.vectorize(math.erf)(x * math.sqrt(0.5)))


def linear(x, name):
    return x @ NUMBERS[name + ".weight"] + NUMBERS.get(name + ".bias", 0)


def attend(x, source, name, causal=False):
    def heads(x):
        return x.reshape(len(x), HEADS, -1).transpose(1, 0, 2)

    q, k, v = (heads(linear(y, f"{name}.{part}")) for y, part in ((x, "q"), (source, "k"), (source, "v")))
    scores = q @ k.transpose(0, 2, 1) / math.sqrt(WIDTH // HEADS)
    if causal:
        scores = np.where(np.tri(len(x), dtype=bool), scores, -np.inf)
    share = np.exp(scores - scores.max(-1, keepdims=True))
    mixed = (share / share.sum(-1, keepdims=True)) @ v
    return linear(mixed.transpose(1, 0, 2).reshape(len(x), WIDTH), name + ".o")


def feed(x, name):
    return linear(gelu(linear(norm(x, name + ".norm3"), name + ".up")), name + ".down")


def convolve(x, name, stride):
    padded = np.pad(x, ((0, 0), (1, 1)))
    windows = np.lib.stride_tricks.sliding_window_view(padded, 3, axis=1)[:, ::stride]
    return np.einsum("ctk,ock->ot", windows, NUMBERS[name + ".weight"]) + NUMBERS[name + ".bias"][:, None]


def encode(mel):
    x = gelu(convolve(gelu(convolve(mel.astype(np.float64), "conv1", 1)), "conv2", 2)).T
    angle = np.arange(POSITIONS)[:, None] * timescales()
    x = x + np.concatenate([np.sin(angle), np.cos(angle)], 1)
    for i in range(LAYERS):
        name = f"encoder{i}"
        y = norm(x, name + ".norm1")
        x = x + attend(y, y, name + ".self")
        x = x + feed(x, name)
    return norm(x, "encoder")


def decode(states, tokens):
    x = NUMBERS["embedding"][tokens] + NUMBERS["positions"][:len(tokens)]
    for i in range(LAYERS):
        name = f"decoder{i}"
        y = norm(x, name + ".norm1")
        x = x + attend(y, y, name + ".self", causal=True)
        x = x + attend(norm(x, name + ".norm2"), states, name + ".cross")
        x = x + feed(x, name)
    return norm(x, "decoder") @ NUMBERS["embedding"].T


def log_softmax(x):
    x = x - x.max()
    return x - np.log(np.exp(x).sum())


def rules(logits, sampled):
    """SuppressBlank, SuppressTokens and ApplyTimestampRules of decoding.py, in that order."""
    logits = logits.copy()
    if not sampled:
        logits[SUPPRESSED_FIRST] = -np.inf
    logits[SUPPRESSED] = -np.inf
    logits[ID["<|notimestamps|>"]] = -np.inf
    last = len(sampled) >= 1 and sampled[-1] >= TIMESTAMPS
    penultimate = len(sampled) < 2 or sampled[-2] >= TIMESTAMPS
    if last:
        if penultimate:
            logits[TIMESTAMPS:] = -np.inf
        else:
            logits[:EOT] = -np.inf
    stamps = [t for t in sampled if t >= TIMESTAMPS]
    if stamps:
        logits[TIMESTAMPS:stamps[-1] + (0 if last and not penultimate else 1)] = -np.inf
    if not sampled:
        logits[:TIMESTAMPS] = -np.inf
        logits[TIMESTAMPS + 50 + 1:] = -np.inf
    logs = log_softmax(logits)
    if np.exp(logs[TIMESTAMPS:]).sum() > np.exp(logs[:TIMESTAMPS].max()):
        logits[:TIMESTAMPS] = -np.inf
    return logits


def greedy(states, language):
    """Tokens including the end token, the sum of their log probabilities, and the no-speech probability."""
    prompt = [SOT, ID[f"<|{language}|>"], ID["<|transcribe|>"]]
    sampled, total, nearest, quiet = [], 0.0, np.inf, None
    while len(sampled) < CONTEXT // 2:
        logits = decode(states, prompt + sampled)
        if quiet is None:
            quiet = float(np.exp(log_softmax(logits[0]))[NO_SPEECH])
        allowed = rules(logits[-1], sampled)
        order = np.sort(allowed[np.isfinite(allowed)])
        nearest = min(nearest, order[-1] - order[-2] if len(order) > 1 else np.inf)
        token = int(allowed.argmax())
        total += float(log_softmax(allowed)[token])
        sampled.append(token)
        if token == EOT:
            break
    return sampled, total, quiet, nearest


def sound(seed, seconds):
    """Noise with varying loudness from integer arithmetic, identical on every machine."""
    state, samples = seed, []
    for i in range(int(seconds * 16000)):
        state = (state * 1664525 + 1013904223) % 2**32
        swell = abs(i * seed % 16000 - 8000)
        samples.append((state >> 16) * swell / (65536 * 8000) - swell / 16000)
    return np.array(samples, np.float32)


def write_reference():
    cases = []
    for seed, seconds in ((1, 3.0), (5, 12.5), (9, 30.0), (7, 0.6)):
        mel = log_mel(sound(seed, seconds))
        states = encode(mel)
        first = decode(states, [SOT])[0]
        language = max(LANGUAGES, key=lambda l: first[ID[f"<|{l}|>"]])
        tokens, total, quiet, nearest = greedy(states, language)
        print(seed, language, f"margin {nearest:.4f}", tokens)
        assert nearest > 1e-3, "a rival is too near for arithmetic of another order"
        cases.append({
            "seed": seed, "seconds": seconds, "language": language, "tokens": tokens,
            "sum_log_probability": total, "no_speech": quiet,
            "mel": [[round(float(v), 5) for v in mel[:, t]] for t in (0, 1, 37, 59, 60, 299, 2999)],
            "states": [[round(float(v), 5) for v in states[t]] for t in (0, 30, 1499)],
        })
    write("reference.json", cases)


def main():
    FIXTURES.mkdir(parents=True, exist_ok=True)
    write_networks()
    write_tokenizer()
    write_reference()


if __name__ == "__main__":
    main()
