#!/usr/bin/env python3
"""Trains a projection from the features of the picture classifier to the space of the text embedder.

    train.py PICTURES MODELS

PICTURES has ID.jpg and captions.jsonl, with {"id", "captions"} a line. MODELS has classify/efficientnet-lite0.onnx,
embed/all-MiniLM-L6-v2.onnx and embed/tokenizer.json, as the set-up makes them. Writes weights.safetensors next to this
script, which convert_efficientnet.py adds to the classifier as an output.

weights.safetensors was trained on the 1,809 pictures of pictures.tsv: pictures of COCO (train2017 and val2017) whose
authors chose CC BY 2.0 or CC BY-SA 2.0, or that Flickr Commons lists without known copyright, by the licence that COCO
states for each. Captions: those of COCO (CC BY 4.0) and, for pictures without them, those of captions.tsv, which a
language model wrote from the pictures for this project. The pictures are at the `source` of pictures.tsv and at
http://images.cocodataset.org/.

Prints for the held-out tenth of the pictures how often the picture of a caption is the first, among the first five and
among the first ten, with the labels alone and with the projection that was trained on the other pictures. The weights
that it writes are trained on all pictures in the same way.

Needs numpy, onnxruntime, pillow, safetensors and tokenizers.
"""
import argparse
import hashlib
import json
from pathlib import Path

import numpy as np
import onnxruntime
from PIL import Image, ImageOps
from safetensors.numpy import save_file
from tokenizers import Tokenizer

LABELS = Path(__file__).parents[3] / "adapters/src/classifier/imagenet.txt"
SIDE = 224
FEATURES, HIDDEN, TEXT = 1280, 512, 384
EPOCHS, BATCH, SEED = 40, 512, 0
LEARNING_RATE, DECAY = 1e-3, 0.05
FEATURE_DROPOUT, HIDDEN_DROPOUT = 0.3, 0.5
FIRST_SCALE, MAX_SCALE = 20.0, 100.0  # inverse temperature
HELD_OUT = 10  # one picture in HELD_OUT
SOFTENING = 0.4  # exponent of the probabilities, as in the label bridge


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("pictures", type=Path)
    parser.add_argument("models", type=Path)
    arguments = parser.parse_args()
    names, captions = captioned(arguments.pictures)
    features, probabilities = classified(arguments.pictures, names, arguments.models)
    embed = Embedder(arguments.models / "embed")
    vectors = [embed(texts) for texts in captions]

    held = np.array([number(name) % HELD_OUT == 0 for name in names])
    chosen, others = np.flatnonzero(held), np.flatnonzero(~held)
    texts = np.concatenate([vectors[i] for i in chosen])
    owner = np.repeat(np.arange(len(chosen)), [len(vectors[i]) for i in chosen])
    labels = embed([f"a photo of a {label}" for label in LABELS.read_text().splitlines()])
    weights = probabilities[chosen] ** SOFTENING
    by_labels = weights / weights.sum(1, keepdims=True) @ (labels - labels.mean(0))
    print(f"{len(names)} pictures, {len(chosen)} of them held out")
    print("recall at 1, 5, 10 by labels:    ", *recall(unit(by_labels), texts, owner))
    model = Projection.trained(features[others], [vectors[i] for i in others])
    print("recall at 1, 5, 10 by projection:", *recall(model.project(features[chosen, 0]), texts, owner))

    stored = Projection.trained(features, vectors).compressed(features)
    file = Path(__file__).with_name("weights.safetensors")
    save_file(stored, file)
    print(f"wrote {file}")


def captioned(folder):
    captions = {}
    for line in (folder / "captions.jsonl").read_text().splitlines():
        entry = json.loads(line)
        captions.setdefault(str(entry["id"]), []).extend(entry["captions"])
    listed = Path(__file__).with_name("pictures.tsv").read_text().splitlines()[1:]
    names = sorted(name for name in (line.split("\t")[0] for line in listed) if name in captions)
    return names, [captions[name] for name in names]


def number(name):
    return int(hashlib.sha256(name.encode()).hexdigest(), 16)


def session(path):
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    return onnxruntime.InferenceSession(str(path), options, ["CPUExecutionProvider"])


def classified(folder, names, models):
    """Features of four views of each picture, and the probabilities of the whole picture."""
    network, rng = session(models / "classify/efficientnet-lite0.onnx"), np.random.default_rng(1)
    features, probabilities = [], []
    for name in names:
        with Image.open(folder / f"{name}.jpg") as picture:
            batch = np.stack(views(picture.convert("RGB"), rng))
        outputs = network.run(["features", "probabilities"], {"image": batch})
        features.append(outputs[0])
        probabilities.append(outputs[1][0])
    return np.stack(features), np.stack(probabilities)


def views(picture, rng):
    """The whole picture, its mirror image, and two crops."""
    width, height = picture.size
    result = [picture, ImageOps.mirror(picture)]
    for mirrored in (False, True):
        share = rng.uniform(0.6, 0.95)
        w, h = int(width * share), int(height * share)
        x, y = rng.integers(0, width - w + 1), rng.integers(0, height - h + 1)
        crop = picture.crop((x, y, x + w, y + h))
        result.append(ImageOps.mirror(crop) if mirrored else crop)
    return [pixels(view) for view in result]


def pixels(picture):
    small = picture.resize((SIDE, SIDE), Image.BILINEAR)
    return (np.asarray(small, np.float32).transpose(2, 0, 1) - 127) / 128


class Embedder:
    """The text embedder: the mean of the states of all tokens, as a unit vector."""

    def __init__(self, folder):
        self.tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self.tokenizer.enable_truncation(64)
        self.tokenizer.enable_padding()
        self.network = session(folder / "all-MiniLM-L6-v2.onnx")

    def __call__(self, texts):
        vectors = []
        for start in range(0, len(texts), 64):
            encoded = self.tokenizer.encode_batch(texts[start : start + 64])
            ids = np.array([text.ids for text in encoded], np.int64)
            mask = np.array([text.attention_mask for text in encoded], np.int64)
            inputs = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
            states = self.network.run(None, inputs)[0]
            vectors.append(unit((states * mask[..., None]).sum(1) / mask.sum(1, keepdims=True)))
        return np.concatenate(vectors)


class Projection:
    """`unit(W2 · relu(W1 · x + b1) + S · x + b2)` of standardised features `x`."""

    def __init__(self, mean, deviation, rng):
        def random(outputs, inputs):
            return (rng.standard_normal((outputs, inputs)) / np.sqrt(inputs)).astype(np.float32)

        self.mean, self.deviation = mean, deviation
        self.weights = {
            "hidden.weight": random(HIDDEN, FEATURES),
            "hidden.bias": np.zeros(HIDDEN, np.float32),
            "output.weight": random(TEXT, HIDDEN),
            "skip.weight": random(TEXT, FEATURES),
            "output.bias": np.zeros(TEXT, np.float32),
            "scale": np.array(np.log(FIRST_SCALE), np.float32),
        }
        self.moments = {name: (np.zeros_like(w), np.zeros_like(w)) for name, w in self.weights.items()}
        self.steps = 0

    @classmethod
    def trained(cls, features, vectors):
        """Trained by symmetric InfoNCE with AdamW and a cosine schedule. Each epoch takes one view and one caption of
        each picture."""
        rng = np.random.default_rng(SEED)
        model = cls(features.mean((0, 1)), features.std((0, 1)) + 1e-3, rng)
        standardised = model.standardised(features)
        count = len(features)
        batch = min(BATCH, count)
        total = EPOCHS * (count // batch)
        for _ in range(EPOCHS):
            order = rng.permutation(count)
            for start in range(0, count - batch + 1, batch):
                chosen = order[start : start + batch]
                x = standardised[chosen, rng.integers(0, features.shape[1], batch)]
                texts = np.stack([vectors[i][rng.integers(len(vectors[i]))] for i in chosen])
                model.step(x, texts, LEARNING_RATE * 0.5 * (1 + np.cos(np.pi * model.steps / total)), rng)
        return model

    def standardised(self, features):
        return ((features - self.mean) / self.deviation).astype(np.float32)

    def project(self, features):
        return self.forward(self.standardised(features))[0]

    def forward(self, x, dropout=None):
        w = self.weights
        hidden = np.maximum(x @ w["hidden.weight"].T + w["hidden.bias"], 0)
        kept = hidden if dropout is None else hidden * dropout
        out = kept @ w["output.weight"].T + x @ w["skip.weight"].T + w["output.bias"]
        length = np.linalg.norm(out, axis=1, keepdims=True)
        return out / length, (hidden, kept, length)

    def step(self, x, texts, rate, rng):
        w = self.weights
        x = x * dropped(x.shape, FEATURE_DROPOUT, rng)
        dropout = dropped((len(x), HIDDEN), HIDDEN_DROPOUT, rng)
        images, (hidden, kept, length) = self.forward(x, dropout)
        scale = np.exp(w["scale"])
        cosines = images @ texts.T
        rows, columns = softmax(scale * cosines), softmax(scale * cosines.T).T
        d_logits = (rows + columns - 2 * np.eye(len(x), dtype=np.float32)) / (2 * len(x))
        d_images = scale * d_logits @ texts
        d_out = (d_images - images * (d_images * images).sum(1, keepdims=True)) / length
        d_hidden = (d_out @ w["output.weight"]) * dropout * (hidden > 0)
        gradients = {
            "scale": np.float32((d_logits * cosines).sum() * scale),
            "output.weight": d_out.T @ kept,
            "output.bias": d_out.sum(0),
            "skip.weight": d_out.T @ x,
            "hidden.weight": d_hidden.T @ x,
            "hidden.bias": d_hidden.sum(0),
        }
        self.update(gradients, rate)
        w["scale"] = np.minimum(w["scale"], np.float32(np.log(MAX_SCALE)))

    def update(self, gradients, rate):
        self.steps += 1
        for name, gradient in gradients.items():
            first, second = self.moments[name]
            first[...] = 0.9 * first + 0.1 * gradient
            second[...] = 0.999 * second + 0.001 * gradient**2
            change = (first / (1 - 0.9**self.steps)) / (np.sqrt(second / (1 - 0.999**self.steps)) + 1e-8)
            if name.endswith("weight"):
                change = change + DECAY * self.weights[name]
            self.weights[name] = self.weights[name] - np.float32(rate) * change

    def compressed(self, features):
        """The weights with one byte per number and a scale per row, and the mean vector of all pictures."""
        stored = {
            "feature.mean": self.mean,
            "feature.deviation": self.deviation,
            "center": self.project(features[:, 0]).mean(0),
        }
        for name, values in self.weights.items():
            if name.endswith("weight"):
                stored |= bytes_per_row(name, values)
            elif name.endswith("bias"):
                stored[name] = values
        return {name: v if v.dtype == np.int8 else v.astype(np.float32) for name, v in stored.items()}


def bytes_per_row(name, values):
    """A matrix with one byte per number, and a scale per row."""
    scale = (np.abs(values).max(1) / 127).astype(np.float32)
    return {name: np.round(values / scale[:, None]).astype(np.int8), f"{name}.scale": scale}


def dropped(shape, share, rng):
    """Factors of dropout: 0, or what keeps the mean."""
    return ((rng.random(shape, np.float32) >= share) / (1 - share)).astype(np.float32)


def softmax(x):
    powers = np.exp(x - x.max(1, keepdims=True))
    return powers / powers.sum(1, keepdims=True)


def unit(vectors):
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def recall(images, texts, owner):
    """Shares of texts whose image is the first, among the first five and among the first ten."""
    order = np.argsort(-(texts @ images.T), axis=1)
    rank = np.argmax(order == owner[:, None], axis=1)
    return [f"{(rank < k).mean():.2f}" for k in (1, 5, 10)]


if __name__ == "__main__":
    main()
