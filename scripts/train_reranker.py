#!/usr/bin/env python3
"""Trains the change of all-MiniLM-L6-v2 that makes it tell whether a text answers a question.

Every matrix of the encoder gets the product of two narrow ones added to it (LoRA, Hu et al. 2021), and a
last layer reads the first state and the mean of all. That is 0.7 MB, which scripts/convert_minilm.py adds to
the published weights; these stay as they are.

    train_reranker.py MODEL DATA OUTPUT [STEPS]      learns, and writes OUTPUT
    train_reranker.py MODEL DATA OUTPUT 0            measures OUTPUT, and prints the scores of a few pairs as
                                                     adapters/tests/fixtures/reranker_golden.json has them

MODEL is the folder with model.safetensors and tokenizer.json, as convert_minilm.py takes it. DATA has
questions and paragraphs with the sentence that answers, some of them about what their paragraph does not
tell (commits: where scripts/reranker.safetensors was made from):

    squad_1.json      PhongNTDo/guide_train_MRC_transformers@631a448d: train-v2.0.json   SQuAD 2.0, CC BY-SA 4.0
    squad_2.json      appcoreopc/squad2controlled@d3ba9161: train-v2.0.json    the same
    xquad.json        deepmind/xquad@60cac411: xquad.en.json                     CC BY-SA 4.0
    selqa_1.json      emorynlp/selqa@fef3d6ac: ass/selqa-ass-test.json           Apache-2.0
    selqa_2.json      emorynlp/selqa@fef3d6ac: ass/selqa-ass-dev.json            Apache-2.0
    friends_1.json    emorynlp/FriendsQA@9ce6c98a: dat/friendsqa_dev.json        Apache-2.0
    friends_2.json    emorynlp/FriendsQA@9ce6c98a: dat/friendsqa_tst.json        Apache-2.0
    qamr_1.tsv        uwnlp/qamr@956b0eb2: data/filtered/dev.tsv                 MIT
    qamr_2.tsv        uwnlp/qamr@956b0eb2: data/filtered/test.tsv                MIT
    qamr.tsv          uwnlp/qamr@956b0eb2: data/wiki-sentences.tsv               MIT
    held_out.json     appcoreopc/squad2controlled@d3ba9161: dev-v2.0.json      SQuAD 2.0, CC BY-SA 4.0

Needs torch, safetensors and tokenizers. Of the article "Rhine" in held_out.json and of 500 examples each of
selqa and friends nothing is learnt; printed for them is the share of pairs that are in the right order, and
of those that are told right at 0.5. 2000 steps of 32 take half an hour on two cores.
"""

import json
import math
import random
import re
import sys
import time
from collections import Counter, defaultdict
from pathlib import Path

import torch
from safetensors.torch import load_file, save_file
from tokenizers import Tokenizer
from torch import nn
from torch.nn import functional

RANK = 8
SCALE = 2.0  # of the product of the narrow matrices
LAYERS, HIDDEN, HEADS = 6, 384, 12
TOKENS = 112
BATCH = 32
LONGEST = 75  # words of a text
RATE, RATE_OF_HEAD = 1e-3, 2e-3
WARM_UP = 100  # steps
PER_SENTENCE = 12  # questions of QAMR
MATRICES = (
    "attention.self.query", "attention.self.key", "attention.self.value",
    "attention.output.dense", "intermediate.dense", "output.dense",
)  # fmt: skip
NORMS = ("attention.output.LayerNorm", "output.LayerNorm")
STOP = set(
    "a an the of in on at to for from by with and or is are was were be been do does did has have had it its "
    "this that these those what which who whom whose when where why how many much i you he she they we his her "
    "their as not can could will would".split()
)
GOLDEN = (
    "How much did she pay for the boat?",
    [
        "She bought the boat for two thousand pounds.",
        "She sold the house and bought a boat. It cost her nearly all that she had, nine hundred dollars.",
        "She bought the boat because she loves the sea.",
        "The boat was built in 1954 and lay in the harbour of Bristol.",
        "It rains.",
    ],
)

chance = random.Random(7)


# ---------------------------------------------------------------- what is learnt from


def sentences(text):
    """Where the sentences of a text begin and end."""
    found, start = [], 0
    for end in re.finditer(r"(?<=[.!?])[\"”')\]]*\s+(?=[A-Z0-9\"“(])", text):
        if re.search(r"\b(Mr|Mrs|Ms|Dr|St|vs|No|Jr|Sr|[A-Z])\.$", text[start : end.start()]):
            continue
        found.append((start, end.start()))
        start = end.end()
    return [(a, b) for a, b in [*found, (start, len(text))] if b > a]


def telling(text):
    return {word for word in re.findall(r"[a-z0-9']+", text.lower()) if word not in STOP}


def window(texts, at):
    """The sentence alone, or with the one after or before it: so are sentences read in the service."""
    way = chance.random()
    if way < 0.45:
        return at, at
    return (at, min(at + 1, len(texts) - 1)) if way < 0.75 else (max(at - 1, 0), at)


def examples(question, texts, answering, source):
    """A window that answers, if there is one, and two that do not: the likest by its words, and another."""
    def joined(span):
        return " ".join(texts[span[0] : span[1] + 1])

    found = []
    if answering:
        found.append((question, joined(window(texts, chance.choice(sorted(answering)))), 1, source))
    others = [window(texts, at) for at in range(len(texts))]
    others = [span for span in others if not any(span[0] <= at <= span[1] for at in answering)]
    others.sort(key=lambda span: -len(telling(question) & telling(joined(span))))
    chosen = others[:1] + ([chance.choice(others[1:])] if len(others) > 1 else [])
    return found + [(question, joined(span), 0, source) for span in chosen]


def squad(file, source, titles=None):
    found = []
    for article in json.loads(file.read_text())["data"]:
        if titles and article["title"] not in titles:
            continue
        for paragraph in article["paragraphs"]:
            spans = sentences(paragraph["context"])
            texts = [paragraph["context"][a:b] for a, b in spans]
            for asked in paragraph["qas"]:
                answering = set()
                if not asked.get("is_impossible"):
                    for answer in asked["answers"]:
                        start, end = answer["answer_start"], answer["answer_start"] + len(answer["text"])
                        answering |= {at for at, (a, b) in enumerate(spans) if a < end and b > start}
                    if not answering:
                        continue
                found += examples(asked["question"].strip(), texts, answering, source)
    return found


def selqa(file):
    found = []
    for asked in json.loads(file.read_text()):
        found += examples(asked["question"], asked["candidates"], set(asked["answers"]), "selqa")
    return found


def written(text):
    """A text whose words were parted for a parser, as it is written."""
    text = re.sub(r"\s+('\w+|n't)", r"\1", text)
    return re.sub(r"\s+([.,!?;:])", r"\1", text).replace("`` ", '"').replace(" ''", '"')


def friends(file):
    found = []
    for scene in json.loads(file.read_text())["data"]:
        for paragraph in scene["paragraphs"]:
            said = paragraph["utterances:"]
            texts = [written(one["utterance"]) for one in said]
            speakers = [one["speakers"][0].split()[0] if one["speakers"] else "One" for one in said]
            named = [f"{speaker}: {text}" for speaker, text in zip(speakers, texts)]
            for asked in paragraph["qas"]:
                spoken = [answer for answer in asked["answers"] if not answer.get("is_speaker")]
                if spoken:
                    answering = {answer["utterance_id"] for answer in spoken}
                    either = texts if chance.random() < 0.6 else named
                    found += examples(asked["question"], either, answering, "friends")
    return found


def qamr(folder):
    """Questions about single sentences; what does not answer is one of the likest other sentences."""
    texts = {}
    for line in (folder / "qamr.tsv").read_text().splitlines():
        key, text = line.split("\t", 1)
        texts[key] = written(text)
    having = defaultdict(set)
    for key, text in texts.items():
        for word in telling(text):
            having[word].add(key)
    rows = [
        line.split("\t")
        for file in ("qamr_1.tsv", "qamr_2.tsv")
        for line in (folder / file).read_text().splitlines()
    ]
    chance.shuffle(rows)
    known, of_sentence, found = set(), Counter(), []
    for row in rows:
        key, question = row[0], written(row[5])
        if key not in texts or (key, question) in known or of_sentence[key] >= PER_SENTENCE:
            continue
        if not question.endswith("?") or not telling(question):
            continue
        known.add((key, question))
        of_sentence[key] += 1
        found.append((question, texts[key], 1, "qamr"))
        like = Counter()
        for word in sorted(telling(question)):
            if len(having[word]) < 300:
                for other in sorted(having[word] - {key}):
                    like[other] += 1 / (1 + len(having[word]) ** 0.5)
        if like:
            other, _ = chance.choice(like.most_common(4))
            found.append((question, texts[other], 0, "qamr"))
    return found


def learnt_from(folder):
    """Examples to learn from, and others to measure on."""
    learnt = squad(folder / "squad_1.json", "squad") + squad(folder / "squad_2.json", "squad")
    learnt += squad(folder / "xquad.json", "xquad")
    spoken = friends(folder / "friends_1.json") + friends(folder / "friends_2.json")
    chosen = selqa(folder / "selqa_1.json") + selqa(folder / "selqa_2.json")
    measured = squad(folder / "held_out.json", "squad", ["Rhine"]) + spoken[-500:] + chosen[-500:]
    learnt += spoken[:-500] * 2 + chosen[:-500] + qamr(folder)
    learnt = [one for one in learnt if len(one[1].split()) <= LONGEST]
    chance.shuffle(learnt)
    return learnt, measured


# ---------------------------------------------------------------- the network


class Changed(nn.Module):
    """A matrix that stays, and what is added to it."""

    def __init__(self, weight, bias):
        super().__init__()
        self.weight, self.bias = weight, bias
        self.down = nn.Parameter(torch.randn(RANK, weight.shape[1]) / math.sqrt(weight.shape[1]))
        self.up = nn.Parameter(torch.zeros(weight.shape[0], RANK))

    def forward(self, x):
        added = functional.linear(functional.linear(x, self.down), self.up)
        return functional.linear(x, self.weight, self.bias) + SCALE * added


class Reranker(nn.Module):
    def __init__(self, weights):
        super().__init__()
        self.weights = weights
        self.changed = nn.ModuleDict()
        for layer in range(LAYERS):
            for name in MATRICES:
                name = f"encoder.layer.{layer}.{name}"
                changed = Changed(weights[f"{name}.weight"], weights[f"{name}.bias"])
                self.changed[name.replace(".", "/")] = changed
        self.second = nn.Parameter(weights["embeddings.token_type_embeddings.weight"][1].clone())
        self.head = nn.Linear(2 * HIDDEN, 1)
        nn.init.normal_(self.head.weight, std=0.02)
        nn.init.zeros_(self.head.bias)

    def forward(self, ids, types, mask):
        def normalise(x, name):
            scale, shift = self.weights[f"{name}.weight"], self.weights[f"{name}.bias"]
            return functional.layer_norm(x, (HIDDEN,), scale, shift, eps=1e-12)

        table = {kind: self.weights[f"embeddings.{kind}_embeddings.weight"] for kind in ("word", "position", "token_type")}
        x = table["word"][ids] + table["position"][: ids.shape[1]]
        x = x + torch.where(types[..., None] == 1, self.second, table["token_type"][0])
        x = normalise(x, "embeddings.LayerNorm")
        hidden = torch.where(mask[:, None, None, :] == 1, 0.0, -1e4).to(x.dtype)
        rows, length, _ = x.shape
        for layer in range(LAYERS):
            query, key, value, out, inner, outer = (
                self.changed[f"encoder.layer.{layer}.{name}".replace(".", "/")] for name in MATRICES
            )
            q, k, v = (
                part(x).view(rows, length, HEADS, HIDDEN // HEADS).transpose(1, 2) for part in (query, key, value)
            )
            seen = functional.scaled_dot_product_attention(q, k, v, attn_mask=hidden)
            seen = out(seen.transpose(1, 2).reshape(rows, length, HIDDEN))
            x = normalise(x + seen, f"encoder.layer.{layer}.{NORMS[0]}")
            x = normalise(x + outer(functional.gelu(inner(x))), f"encoder.layer.{layer}.{NORMS[1]}")
        mean = (x * mask[..., None]).sum(1) / mask.sum(1, keepdim=True)
        return self.head(torch.cat([x[:, 0], mean], -1)).squeeze(-1)

    def load(self, path):
        change = load_file(path)
        with torch.no_grad():
            self.head.weight.copy_(change["head.weight"])
            self.head.bias.copy_(change["head.bias"])
            self.second.copy_(change["embeddings.token_type_embeddings.weight.1"])
            for name, matrix in self.changed.items():
                name = name.replace("/", ".")
                matrix.down.copy_(change[f"{name}.down"])
                matrix.up.copy_(change[f"{name}.up"].float() / SCALE)

    def save(self, path):
        change = {"head.weight": self.head.weight, "head.bias": self.head.bias}
        change["embeddings.token_type_embeddings.weight.1"] = self.second.half()
        for name, matrix in self.changed.items():
            name = name.replace("/", ".")
            change[f"{name}.down"], change[f"{name}.up"] = matrix.down.half(), (SCALE * matrix.up).half()
        save_file({name: tensor.detach().contiguous() for name, tensor in change.items()}, path)


# ---------------------------------------------------------------- learning


def batches(tokenizer, pairs, size, shuffled):
    encoded = [(tokenizer.encode(question, text), label, source) for question, text, label, source in pairs]

    def length(at):
        return len(encoded[at][0].ids)

    order = list(range(len(encoded)))
    if shuffled:
        random.shuffle(order)
        groups = [sorted(order[at : at + size * 50], key=length) for at in range(0, len(order), size * 50)]
        found = [group[at : at + size] for group in groups for at in range(0, len(group), size)]
        random.shuffle(found)
    else:
        order.sort(key=length)
        found = [order[at : at + size] for at in range(0, len(order), size)]
    for batch in found:
        longest = max(length(at) for at in batch)
        ids = torch.zeros(len(batch), longest, dtype=torch.long)
        types, mask = ids.clone(), torch.zeros(len(batch), longest)
        for row, at in enumerate(batch):
            encoding = encoded[at][0]
            ids[row, : len(encoding.ids)] = torch.tensor(encoding.ids)
            types[row, : len(encoding.ids)] = torch.tensor(encoding.type_ids)
            mask[row, : len(encoding.ids)] = 1
        labels = torch.tensor([float(encoded[at][1]) for at in batch])
        yield ids, types, mask, labels, [encoded[at][2] for at in batch]


def measured(model, tokenizer, pairs):
    scored = []
    with torch.no_grad():
        for ids, types, mask, labels, sources in batches(tokenizer, pairs, 64, False):
            scored += zip(model(ids, types, mask).tolist(), labels.tolist(), sources)
    for source in sorted({source for _, _, source in scored}):
        of_source = [(score, label) for score, label, of in scored if of == source]
        yes = [score for score, label in of_source if label]
        no = [score for score, label in of_source if not label]
        order = sum((a > b) + 0.5 * (a == b) for a in yes for b in no) / len(yes) / len(no)
        right = sum((score > 0) == label for score, label in of_source) / len(of_source)
        print(f"  {source:8} {len(of_source)} pairs: {order:.3f} in order, {right:.3f} right", flush=True)


def golden(model, tokenizer):
    question, texts = GOLDEN
    scores = []
    with torch.no_grad():
        for text in texts:
            encoding = tokenizer.encode(question, text)
            ids, types = torch.tensor([encoding.ids]), torch.tensor([encoding.type_ids])
            scores.append(round(model(ids, types, torch.ones(ids.shape)).sigmoid().item(), 4))
    return {"question": question, "scores": dict(zip(texts, scores))}


def main():
    if len(sys.argv) not in (4, 5):
        sys.exit(__doc__)
    model_folder, data, output = map(Path, sys.argv[1:4])
    steps = int(sys.argv[4]) if len(sys.argv) == 5 else 2000
    torch.manual_seed(1)
    random.seed(1)
    weights = {name: tensor.float() for name, tensor in load_file(model_folder / "model.safetensors").items()}
    tokenizer = Tokenizer.from_file(str(model_folder / "tokenizer.json"))
    tokenizer.enable_truncation(TOKENS, strategy="only_second")
    tokenizer.no_padding()
    learnt, others = learnt_from(data)
    model = Reranker(weights)
    if steps == 0:
        model.load(output)
        measured(model, tokenizer, others)
        print(json.dumps(golden(model, tokenizer), indent=1))
        return
    print(f"{len(learnt)} pairs, {sum(p.numel() for p in model.parameters())} numbers", flush=True)
    head = [*model.head.parameters(), model.second]
    optimizer = torch.optim.AdamW(
        [{"params": list(model.changed.parameters())}, {"params": head}], lr=RATE, weight_decay=0.01
    )
    step, started = 0, time.monotonic()
    while step < steps:
        for ids, types, mask, labels, _ in batches(tokenizer, learnt, BATCH, True):
            share = min(1, step / WARM_UP) * max(0.02, 1 - step / steps)
            for group, rate in zip(optimizer.param_groups, (RATE, RATE_OF_HEAD)):
                group["lr"] = rate * share
            with torch.autocast("cpu", torch.bfloat16):
                logits = model(ids, types, mask)
            loss = functional.binary_cross_entropy_with_logits(logits.float(), labels)
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            step += 1
            if step % 400 == 0 or step == steps:
                print(f"step {step}, {time.monotonic() - started:.0f} s", flush=True)
                measured(model, tokenizer, others)
                model.save(output)
            if step == steps:
                break


if __name__ == "__main__":
    main()
