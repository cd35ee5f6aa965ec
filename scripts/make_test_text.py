#!/usr/bin/env python3
"""Writes tiny sentiment and GLiNER networks and reference outputs computed with numpy, for the tests.

Both have the inputs, outputs and files of the published exports (a three-class text classifier as exported by optimum;
GLiNER's span-level model.onnx, with labels in the prompt and scores for each span) and small random weights. The
references tokenize, score and decode independently of the adapters, as defined by the code of the papers.
Needs the PyPI packages numpy and onnx. Run it in the root of the repository:
    python3 scripts/make_test_text.py
"""
import json
import pathlib
import re

import numpy as np
from onnx import TensorProto, checker, helper, numpy_helper, save

FIXTURES = pathlib.Path("adapters/tests/fixtures")
INT, FLOAT, BOOL = TensorProto.INT64, TensorProto.FLOAT, TensorProto.BOOL


def write_network(folder, nodes, inputs, outputs, constants):
    graph = helper.make_graph(
        nodes, folder.name,
        [helper.make_tensor_value_info(*i) for i in inputs],
        [helper.make_tensor_value_info(*o) for o in outputs],
        [numpy_helper.from_array(np.ascontiguousarray(a), n) for n, a in constants.items()],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
    checker.check_model(model)
    save(model, str(folder / "model.onnx"))


def write_tokenizer(folder, vocabulary, added):
    """A lower-case WordPiece tokenizer with BERT's special tokens around every text."""
    special = [{"id": vocabulary[t], "content": t, "single_word": False, "lstrip": False, "rstrip": False,
                "normalized": False, "special": True} for t in added]
    tokenizer = {
        "version": "1.0", "truncation": None, "padding": None, "added_tokens": special,
        "normalizer": {"type": "Lowercase"}, "pre_tokenizer": {"type": "BertPreTokenizer"},
        "post_processor": {
            "type": "TemplateProcessing",
            "single": [{"SpecialToken": {"id": "[CLS]", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}},
                       {"SpecialToken": {"id": "[SEP]", "type_id": 0}}],
            "pair": [{"Sequence": {"id": "A", "type_id": 0}}, {"Sequence": {"id": "B", "type_id": 1}}],
            "special_tokens": {t: {"id": t, "ids": [vocabulary[t]], "tokens": [t]} for t in ("[CLS]", "[SEP]")},
        },
        "decoder": None,
        "model": {"type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##",
                  "max_input_chars_per_word": 100, "vocab": vocabulary},
    }
    (folder / "tokenizer.json").write_text(json.dumps(tokenizer) + "\n")


def pieces(word, vocabulary):
    """The token ids of one word by WordPiece: longest known prefix first, then the rest."""
    found, rest, prefix = [], word.lower(), ""
    while rest:
        end = next((n for n in range(len(rest), 0, -1) if prefix + rest[:n] in vocabulary), 0)
        if not end:
            return [vocabulary["[UNK]"]]
        found.append(vocabulary[prefix + rest[:end]])
        rest, prefix = rest[end:], "##"
    return found


def numbered(tokens):
    return {token: i for i, token in enumerate(tokens)}


# ---------------------------------------------------------------- sentiment

GLAD = ["wonderful", "love", "great", "beautiful", "good"]
SAD = ["terrible", "disaster", "hate", "horrible", "pain", "bad"]


def sentiment():
    folder = FIXTURES / "sentiment"
    folder.mkdir(parents=True, exist_ok=True)
    frame = ["[PAD]", "[UNK]", "[CLS]", "[SEP]"]
    vocabulary = numbered([*frame, *GLAD, *SAD, "day", "place", "##ly"])
    write_tokenizer(folder, vocabulary, frame)
    (folder / "config.json").write_text(json.dumps({"id2label": {"0": "negative", "1": "neutral", "2": "positive"}}) + "\n")
    random = np.random.default_rng(7)
    table = (random.standard_normal((len(vocabulary), 3)) * 0.2).astype(np.float32)
    for words, column in ((GLAD, 2), (SAD, 0)):
        for i, word in enumerate(words):
            table[vocabulary[word], column] += 8 + i
    bias = np.array([0.0, 0.3, 0.0], np.float32)
    node = helper.make_node
    nodes = [
        node("Gather", ["table", "input_ids"], ["states"], axis=0),
        node("Cast", ["attention_mask"], ["weights"], to=FLOAT),
        node("Unsqueeze", ["weights", "last"], ["column"]),
        node("Mul", ["states", "column"], ["kept"]),
        node("ReduceSum", ["kept", "time"], ["sum"], keepdims=0),
        node("ReduceSum", ["weights", "time"], ["count"], keepdims=1),
        node("Div", ["sum", "count"], ["mean"]),
        node("Add", ["mean", "bias"], ["logits"]),
    ]
    write_network(
        folder, nodes,
        [("input_ids", INT, ["B", "S"]), ("attention_mask", INT, ["B", "S"])], [("logits", FLOAT, ["B", 3])],
        {"table": table, "bias": bias, "last": np.array([2]), "time": np.array([1])},
    )
    cases = []
    for text in ["What a wonderful day", "I hate this terrible, horrible place", "a place", "good and bad", "", "12 :"]:
        words = re.findall(r"\w+|[^\w\s]", text)
        ids = [vocabulary["[CLS]"], *(i for w in words for i in pieces(w, vocabulary)), vocabulary["[SEP]"]]
        logits = table[ids].astype(np.float64).mean(0) + bias
        shares = np.exp(logits - logits.max())
        negative, neutral, positive = shares / shares.sum()
        if not any(c.isalpha() for c in text):
            positive, neutral, negative = 0.0, 1.0, 0.0
        cases.append({"text": text, "shares": [round(float(v), 6) for v in (positive, neutral, negative)]})
    (folder / "reference.json").write_text(json.dumps(cases, indent=1) + "\n")


# ---------------------------------------------------------------- GLiNER

LABELS = ["person", "place", "organisation"]
MAX_WIDTH, DEPTH, THRESHOLD = 4, 12, 0.5


def gliner():
    folder = FIXTURES / "gliner"
    folder.mkdir(parents=True, exist_ok=True)
    frame = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "<<ENT>>", "<<SEP>>"]
    vocabulary = numbered([
        *frame, "person", "place", "organ", "##isation", "the", "of", "in", "visited", "and", "so", "on",
        ".", ",", "new", "york", "ada", "love", "##lace", "nasa", "tele", "##scope", "web", "##b",
    ])
    write_tokenizer(folder, vocabulary, frame)
    config = {"max_width": MAX_WIDTH, "max_len": 24, "ent_token": "<<ENT>>", "sep_token": "<<SEP>>"}
    (folder / "gliner_config.json").write_text(json.dumps(config) + "\n")
    random = np.random.default_rng(11)
    table = (random.standard_normal((len(vocabulary), DEPTH)) * 0.6).astype(np.float32)
    first, last, label = (random.standard_normal((DEPTH, DEPTH)).astype(np.float32) / DEPTH**0.5 for _ in range(3))
    bias = np.float32(1.5)

    # Each token also reads the next one, since a label follows its marker.
    node = helper.make_node
    nodes = [
        node("Gather", ["table", "input_ids"], ["tokens"], axis=0),
        node("Cast", ["attention_mask"], ["heard"], to=FLOAT),
        node("Unsqueeze", ["heard", "two"], ["heard_column"]),
        node("Mul", ["tokens", "heard_column"], ["masked"]),
        node("Squeeze", ["masked", "zero"], ["here"]),
        node("Slice", ["here", "one", "far", "zero"], ["later"]),
        node("Slice", ["here", "zero", "one", "zero"], ["some"]),
        node("Sub", ["some", "some"], ["none"]),
        node("Concat", ["later", "none"], ["next"], axis=0),
        node("Add", ["here", "next"], ["states"]),
        node("Squeeze", ["input_ids", "zero"], ["ids"]),
        node("Equal", ["ids", "mark"], ["is_label"]),
        node("NonZero", ["is_label"], ["labels_at"]),
        node("Squeeze", ["labels_at", "zero"], ["label_places"]),
        node("Gather", ["states", "label_places"], ["label_states"], axis=0),
        node("MatMul", ["label_states", "label"], ["classes"]),
        node("Transpose", ["classes"], ["classes_across"], perm=[1, 0]),
        node("Squeeze", ["words_mask", "zero"], ["numbers"]),
        node("Greater", ["numbers", "nought"], ["begins"]),
        node("NonZero", ["begins"], ["words_at"]),
        node("Squeeze", ["words_at", "zero"], ["word_places"]),
        node("Gather", ["states", "word_places"], ["words"], axis=0),
        node("Cast", ["span_mask"], ["valid"], to=INT),
        node("Unsqueeze", ["valid", "two"], ["valid_column"]),
        node("Mul", ["span_idx", "valid_column"], ["spans"]),
        node("Squeeze", ["spans", "zero"], ["span_rows"]),
        node("Gather", ["span_rows", "nought"], ["span_first"], axis=1),
        node("Gather", ["span_rows", "unit"], ["span_last"], axis=1),
        node("Gather", ["words", "span_first"], ["first_states"], axis=0),
        node("Gather", ["words", "span_last"], ["last_states"], axis=0),
        node("MatMul", ["first_states", "first"], ["first_part"]),
        node("MatMul", ["last_states", "last"], ["last_part"]),
        node("Add", ["first_part", "last_part"], ["span_states"]),
        node("MatMul", ["span_states", "classes_across"], ["likeness"]),
        node("Sub", ["likeness", "bias"], ["scores"]),
        node("Squeeze", ["text_lengths", "zero"], ["count"]),
        node("Concat", ["one", "count", "width", "rest"], ["shape"], axis=0),
        node("Reshape", ["scores", "shape"], ["logits"]),
    ]
    constants = {
        "table": table, "first": first, "last": last, "label": label, "bias": bias,
        "zero": np.array([0]), "one": np.array([1]), "two": np.array([2]), "far": np.array([10**9]),
        "mark": np.array(vocabulary["<<ENT>>"]), "nought": np.array(0), "unit": np.array(1),
        "width": np.array([MAX_WIDTH]), "rest": np.array([-1]),
    }
    write_network(
        folder, nodes,
        [("input_ids", INT, [1, "S"]), ("attention_mask", INT, [1, "S"]), ("words_mask", INT, [1, "S"]),
         ("text_lengths", INT, [1, 1]), ("span_idx", INT, [1, "N", 2]), ("span_mask", BOOL, [1, "N"])],
        [("logits", FLOAT, [1, "W", MAX_WIDTH, "C"])], constants,
    )

    def reference(text):
        words = [(m.start(), m.end()) for m in re.finditer(r"\w+(?:[-_]\w+)*|\S", text)]
        ids, starts = [vocabulary["[CLS]"]], []
        marks = []
        for name in LABELS:
            marks.append(len(ids))
            ids += [vocabulary["<<ENT>>"], *pieces(name, vocabulary)]
        ids.append(vocabulary["<<SEP>>"])
        for a, b in words:
            starts.append(len(ids))
            ids += pieces(text[a:b], vocabulary)
        ids.append(vocabulary["[SEP]"])
        here = table[ids].astype(np.float64)
        states = here + np.concatenate([here[1:], np.zeros((1, DEPTH))])
        classes = states[marks] @ label
        spans = []
        for i in range(len(words)):
            for j in range(i, min(i + MAX_WIDTH, len(words))):
                span = states[starts[i]] @ first + states[starts[j]] @ last
                for name, logit in zip(LABELS, classes @ span - bias):
                    probability = 1 / (1 + np.exp(-logit))
                    if probability > THRESHOLD:
                        spans.append((probability, i, j, name))
        kept = []
        for probability, i, j, name in sorted(spans, reverse=True):
            if all(j < a or b < i for _, a, b, _ in kept):
                kept.append((probability, i, j, name))
        return [[text[words[i][0]:words[j][1]], name, round(float(p), 6)]
                for p, i, j, name in sorted(kept, key=lambda span: span[1])]

    cases = []
    for text in ["Ada Lovelace visited New York", "the telescope of NASA, on New York.", "and so on",
                 "NASA and Ada in York. Webb visited the place of Ada Lovelace."]:
        cases.append({"text": text, "spans": reference(text)})
        print(text, cases[-1]["spans"])
    (folder / "reference.json").write_text(json.dumps(cases, indent=1) + "\n")


if __name__ == "__main__":
    sentiment()
    gliner()
