"""The training examples of train_reranker.py: pairs of a question and a text, and whether the text answers it.

Three kinds of examples are frequent in a video library and rare in the data. They are made here:

- contrasts: a word that question and text share (a name, a number, a colour or a noun) is replaced in one of them by
  another word of its kind, so that the text no longer answers. Replaced in both, the text still does.
- on-screen text: captions with names and roles, price lists, rows of tables, headings and menus
  (reranker_screen.py).
- speech as a recogniser writes it: without capitals and punctuation, with fillers and misheard words.
"""

import json
import random
import re
from collections import Counter, defaultdict

from reranker_screen import on_screen

MAX_WORDS = 75  # of a text
PER_SENTENCE = 12  # maximum questions of QAMR per sentence
ANSWER_REMOVED = 0.4  # share of answering texts that are added without the answer too
WORDS_REMOVED = 0.25  # share of answering texts that lose other words
UNRELATED = 0.15  # share of questions that are paired with an unrelated text
NEIGHBOURING = 0.5  # share of questions that are paired with a text of another paragraph of the article
CONTRASTED = 0.9  # share of answering texts that are added with a word replaced
SPOKEN = 0.2  # share of pairs whose text is written as a recogniser writes speech
TYPED = 0.15  # share of questions without capitals and question mark
ON_SCREEN = 6000  # questions about on-screen text
HELD_OUT = {"Rhine", "Doctor_Who", "Oxygen", "Kenya"}  # articles
VAGUE = (
    (r"\bwho(m|se)?\b", ("someone", "they", "somebody", "he")),
    (r"\b(when|what (year|day|date|time))\b", ("then", "at some time", "once")),
    (r"\b(where|what (city|country|place))\b", ("there", "somewhere", "elsewhere")),
    (r"\bhow (many|much|long|old|far)\b", ("some", "many", "a lot of")),
    ("", ("something", "it", "that", "one of them")),
)
LEADING = re.compile(
    r"(?:\b(?:in|on|at|to|for|from|by|with|of|as|about|into|during|since|until|after|before|around|over|nearly|"
    r"the|a|an)\s+)*$",
    re.IGNORECASE,
)
STOP = set(
    "a an the of in on at to for from by with and or is are was were be been do does did has have had it its "
    "this that these those what which who whom whose when where why how many much i you he she they we his her "
    "their as not can could will would".split()
)
COLOURS = "red green blue yellow black white brown grey orange pink purple".split()
NUMBERS = "two three four five six seven eight nine ten eleven twelve twenty thirty fifty hundred thousand".split()
ORDINALS = "first second third fourth fifth sixth last next".split()
FILLERS = ("um", "uh", "you know", "I mean", "well", "like", "so")

chance = random.Random(7)


# ---------------------------------------------------------------- texts


def sentences(text):
    """The start and end of each sentence of a text."""
    found, start = [], 0
    for end in re.finditer(r"(?<=[.!?])[\"”')\]]*\s+(?=[A-Za-z0-9\"“(])", text):
        before = text[start : end.start()]
        if re.search(r"\b(Mr|Mrs|Ms|Dr|St|vs|No|Jr|Sr|[A-Z])\.$", before):
            continue
        if text[end.end()].islower() and text != text.lower():
            continue
        found.append((start, end.start()))
        start = end.end()
    return [(a, b) for a, b in [*found, (start, len(text))] if b > a]


def content_words(text):
    return {word for word in re.findall(r"[a-z0-9']+", text.lower()) if word not in STOP}


def window(texts, at):
    """The sentence alone, or with the next or previous one, as the service reads sentences."""
    choice = chance.random()
    if choice < 0.45:
        return at, at
    return (at, min(at + 1, len(texts) - 1)) if choice < 0.75 else (max(at - 1, 0), at)


def without_answer(question, text, answer):
    """A text with the answer removed or replaced by a vague word; `None` unless the answer occurs exactly once."""
    if not answer or text.count(answer) != 1:
        return None
    start = text.index(answer)
    end = start + len(answer)
    if chance.random() < 0.5:
        words = next(words for pattern, words in VAGUE if re.search(pattern, question, re.IGNORECASE))
        result = f"{text[:start]}{chance.choice(words)}{text[end:]}"
    else:
        result = LEADING.sub("", text[:start]) + text[end:]
    result = re.sub(r"\s+([.,!?;:])", r"\1", re.sub(r"\s+", " ", result)).strip()
    return result if len(content_words(result)) > 2 else None


def without_words(text, answer):
    """A text without some words outside the answer."""
    words = text.split()
    if len(words) < 8:
        return text
    count = chance.randint(1, 4)
    at = chance.randrange(len(words) - count)
    result = " ".join(words[:at] + words[at + count :])
    return result if not answer or answer in result else text


# ---------------------------------------------------------------- contrasts


class Contrasts:
    """Replaces words by others of the same kind. Names come from the questions, nouns from WordNet."""

    def __init__(self, folder, questions):
        counts = Counter(word for question in questions for word in re.findall(r"(?<=\s)[A-Z][a-z]{2,}", question))
        self.names = sorted(word for word, count in counts.items() if count > 1 and word.lower() not in STOP)
        common = Counter(word for question in questions for word in re.findall(r"[a-z]{3,}", question))
        known = {word for word, count in common.items() if count > 2}
        self.siblings = defaultdict(list)
        words, parents, children = {}, {}, defaultdict(list)
        for line in (folder / "data.noun").read_text().splitlines():
            if line.startswith("  "):  # the licence
                continue
            fields = line.partition("|")[0].split()
            count = int(fields[3], 16)
            pointers = fields[5 + 2 * count :]
            words[fields[0]] = [fields[4 + 2 * i] for i in range(count)]
            parents[fields[0]] = [pointers[i + 1] for i in range(0, len(pointers) - 3, 4) if pointers[i] == "@"]
            for parent in parents[fields[0]]:
                children[parent].append(fields[0])
        for line in (folder / "index.noun").read_text().splitlines():
            fields = line.split()
            if line.startswith("  ") or fields[0] not in known:
                continue
            senses = [field for field in fields if re.fullmatch(r"\d{8}", field)]
            same = {word for sense in senses for word in words[sense]}
            same |= {word for sense in senses for near in parents[sense] + children[sense] for word in words[near]}
            like = {other for parent in parents[senses[0]] for child in children[parent] for other in words[child]}
            self.siblings[fields[0]] = sorted((like & known) - same)

    def other(self, word, first):
        """Another word of the kind of `word`; `None` if its kind is not known."""
        lower = word.lower()
        for group in (COLOURS, NUMBERS, ORDINALS):
            if lower in group:
                return chance.choice([one for one in group if one != lower])
        if re.fullmatch(r"\d[\d,.]*\d|\d", word):
            digits = [chance.choice("123456789") if c.isdigit() and chance.random() < 0.7 else c for c in word]
            return "".join(digits) if "".join(digits) != word else None
        if word[0].isupper() and not first:
            return chance.choice(self.names)
        plural = lower.endswith("s") and not self.siblings.get(lower)
        like = self.siblings.get(lower[:-1] if plural else lower)
        return chance.choice(like) + ("s" if plural else "") if like else None

    def replaced(self, question, text, answer):
        """The question and the text, each with a word replaced that they share; `None` if there is none."""
        tokens = re.findall(r"[\w][\w'.,-]*[\w]|\w", question)
        lower, answered = text.lower(), content_words(answer)
        shared = [
            (at == 0, word)
            for at, word in enumerate(tokens)
            if word.lower() not in STOP and word.lower() not in answered
            and re.search(rf"(?<!\w){re.escape(word.lower())}(?!\w)", lower)
        ]  # fmt: skip
        chance.shuffle(shared)
        # Names and numbers first: those are what near misses differ in.
        shared.sort(key=lambda one: not (one[1][0].isupper() or one[1][0].isdigit()) and chance.random() < 0.7)
        for first, word in shared:
            other = self.other(word, first)
            if other and other.lower() not in lower and other.lower() != word.lower():
                place = re.compile(rf"(?<!\w){re.escape(word)}(?!\w)", re.IGNORECASE)

                def put(found, other=other):
                    return other if found.group().islower() else other[0].upper() + other[1:]

                return place.sub(put, question), place.sub(put, text)
        return None

    def pairs(self, question, text, answer):
        """Contrasts of a question and a text that answers it: one that does not answer, often one that still does."""
        found = self.replaced(question, text, answer)
        if found:
            yield (found[0], text, 0, "contrast") if chance.random() < 0.5 else (question, found[1], 0, "contrast")
            if chance.random() < 0.35:
                yield *found, 1, "contrast"


# ---------------------------------------------------------------- recognised speech


def as_spoken(text, vocabulary):
    """A text as a recogniser writes speech: often without capitals and punctuation, with fillers and misheard words."""
    if chance.random() < 0.6:
        text = re.sub(r"[^\w\s']", "", text)
    if chance.random() < 0.7:
        text = text.lower()
    words = text.split()
    for at, word in enumerate(words):
        if chance.random() < 0.04 and len(word) > 3:
            like = vocabulary.get((word[:2].lower(), len(word)))
            words[at] = chance.choice(like) if like else word
    for _ in range(chance.randint(0, 2)):
        words.insert(chance.randrange(len(words) + 1), chance.choice(FILLERS))
    return " ".join(words)


# ---------------------------------------------------------------- sources


def positive_examples(question, text, answers, source, contrasts):
    """The examples from a text that answers the question."""
    answer = next((answer for answer in answers if text.count(answer) == 1), "")
    if chance.random() < ANSWER_REMOVED:
        negative = without_answer(question, text, answer)
        if negative:
            yield question, negative, 0, source
    if chance.random() < CONTRASTED:
        yield from contrasts.pairs(question, text, answer)
    yield question, without_words(text, answer) if chance.random() < WORDS_REMOVED else text, 1, source


def examples(question, texts, answering, source, contrasts, answers=(), plausible=()):
    """A window that answers, if there is one, and two that do not: one with a plausible wrong answer or else the most
    word overlap, and a random one."""
    def joined(span):
        return " ".join(texts[span[0] : span[1] + 1])

    found = []
    if answering:
        text = joined(window(texts, chance.choice(sorted(answering))))
        found += positive_examples(question, text, answers, source, contrasts)
    others = [window(texts, at) for at in range(len(texts))]
    if plausible:
        found.append((question, joined(window(texts, chance.choice(sorted(plausible)))), 0, source))
    others = [span for span in others if not any(span[0] <= at <= span[1] for at in answering)]
    others.sort(key=lambda span: -len(content_words(question) & content_words(joined(span))))
    chosen = others[:1] + ([chance.choice(others[1:])] if len(others) > 1 else [])
    return list(dict.fromkeys(found + [(question, joined(span), 0, source) for span in chosen]))


def neighbour(question, paragraphs, at, source):
    """A text of another paragraph that shares the most words with the question."""
    others = [span for other, texts in enumerate(paragraphs) if other != at for span in texts]
    others.sort(key=lambda text: -len(content_words(question) & content_words(text)))
    return [(question, chance.choice(others[:3]), 0, source)] if others else []


def squad(file, source, contrasts, held_out=False, known=None):
    """Examples of the articles that are held out, or of all others."""
    found, known = [], set() if known is None else known
    for article in json.loads(file.read_text())["data"]:
        if (article["title"] in HELD_OUT) != held_out:
            continue
        spans = [sentences(paragraph["context"]) for paragraph in article["paragraphs"]]
        contexts = [paragraph["context"] for paragraph in article["paragraphs"]]
        paragraphs = [[context[a:b] for a, b in of] for context, of in zip(contexts, spans)]
        for number, paragraph in enumerate(article["paragraphs"]):
            texts = paragraphs[number]

            def places(answers, spans=spans[number]):
                found = set()
                for answer in answers:
                    start, end = answer["answer_start"], answer["answer_start"] + len(answer["text"])
                    found |= {at for at, (a, b) in enumerate(spans) if a < end and b > start}
                return found

            for asked in paragraph["qas"]:
                question = asked["question"].strip()
                if (question, paragraph["context"][:40]) in known:
                    continue
                known.add((question, paragraph["context"][:40]))
                if asked.get("is_impossible"):
                    plausible = places(asked.get("plausible_answers", []))
                    found += examples(question, texts, set(), source, contrasts, (), plausible)
                elif answering := places(asked["answers"]):
                    answers = [answer["text"] for answer in asked["answers"]]
                    found += examples(question, texts, answering, source, contrasts, answers)
                    if chance.random() < NEIGHBOURING:
                        found += neighbour(question, paragraphs, number, source)
    return found


def selqa(file, contrasts):
    found = []
    for asked in json.loads(file.read_text()):
        found += examples(asked["question"], asked["candidates"], set(asked["answers"]), "selqa", contrasts)
    return found


def detokenize(text):
    """A text with normal spacing, from one whose tokens are separated by spaces."""
    text = re.sub(r"\s+('\w+|n't)", r"\1", text)
    return re.sub(r"\s+([.,!?;:])", r"\1", text).replace("`` ", '"').replace(" ''", '"')


def friends(file, contrasts):
    found = []
    for scene in json.loads(file.read_text())["data"]:
        for paragraph in scene["paragraphs"]:
            utterances = paragraph["utterances:"]
            texts = [detokenize(one["utterance"]) for one in utterances]
            speakers = [one["speakers"][0].split()[0] if one["speakers"] else "One" for one in utterances]
            named = [f"{speaker}: {text}" for speaker, text in zip(speakers, texts)]
            for asked in paragraph["qas"]:
                spoken = [answer for answer in asked["answers"] if not answer.get("is_speaker")]
                if spoken:
                    answering = {answer["utterance_id"] for answer in spoken}
                    answers = [detokenize(answer["answer_text"]) for answer in spoken]
                    either = texts if chance.random() < 0.6 else named
                    question = detokenize(asked["question"])
                    found += examples(question, either, answering, "friends", contrasts, answers)
    return found


def qamr(folder, contrasts):
    """Questions about single sentences; negatives are other sentences with high word overlap."""
    tokenized = dict(line.split("\t", 1) for line in (folder / "qamr.tsv").read_text().splitlines())
    texts = {key: detokenize(text) for key, text in tokenized.items()}
    having = defaultdict(set)
    for key, text in texts.items():
        for word in content_words(text):
            having[word].add(key)
    rows = [
        line.split("\t")
        for file in ("qamr_1.tsv", "qamr_2.tsv")
        for line in (folder / file).read_text().splitlines()
    ]
    chance.shuffle(rows)
    known, of_sentence, found = set(), Counter(), []
    for row in rows:
        key, question = row[0], detokenize(row[5])
        if key not in texts or (key, question) in known or of_sentence[key] >= PER_SENTENCE:
            continue
        if not question.endswith("?") or not content_words(question):
            continue
        known.add((key, question))
        of_sentence[key] += 1
        parts = tokenized[key].split()
        at = sorted({int(place) for place in row[6].split()})
        whole = at and at[-1] - at[0] == len(at) - 1 and at[-1] < len(parts)
        answers = [detokenize(" ".join(parts[at[0] : at[-1] + 1]))] if whole else []
        found += positive_examples(question, texts[key], answers, "qamr", contrasts)
        like = Counter()
        for word in sorted(content_words(question)):
            if len(having[word]) < 300:
                for other in sorted(having[word] - {key}):
                    like[other] += 1 / (1 + len(having[word]) ** 0.5)
        if like:
            other, _ = chance.choice(like.most_common(4))
            found.append((question, texts[other], 0, "qamr"))
    return found


def questions(folder):
    """The questions of all files, for the names and nouns of contrasts."""
    for file in sorted(folder.glob("*.json")):
        yield from re.findall(r'"question": "((?:[^"\\]|\\.)*)"', file.read_text())


def varied(pairs):
    """Some texts as a recogniser writes them, and some questions as people type them."""
    vocabulary = defaultdict(list)
    for word in sorted({word for _, text, _, _ in pairs for word in re.findall(r"[a-z]{4,}", text)}):
        vocabulary[word[:2], len(word)].append(word)
    for question, text, label, source in pairs:
        if source != "screen" and chance.random() < SPOKEN:
            text = as_spoken(text, vocabulary)
        if chance.random() < TYPED:
            question = question.rstrip(" ?").lower()
        yield question, text, label, source


def load_examples(folder):
    """Training examples and held-out examples."""
    contrasts = Contrasts(folder, [*questions(folder)])
    known, training = set(), []
    for file in ("squad_1.json", "squad_3.json", "squad_2.json", "xquad.json"):
        training += squad(folder / file, "squad", contrasts, known=known)
    for file in ("spoken_1.json", "spoken_2.json"):
        training += squad(folder / file, "spoken", contrasts)
    spoken = friends(folder / "friends_1.json", contrasts) + friends(folder / "friends_2.json", contrasts)
    chosen = selqa(folder / "selqa_1.json", contrasts) + selqa(folder / "selqa_2.json", contrasts)
    held_out = squad(folder / "held_out.json", "squad", contrasts, held_out=True) + spoken[-500:] + chosen[-500:]
    held_out += squad(folder / "xquad.json", "squad", contrasts, held_out=True)
    held_out += squad(folder / "spoken_1.json", "spoken", contrasts, held_out=True)
    training += spoken[:-500] * 2 + chosen[:-500] + qamr(folder, contrasts)
    training += [
        (question, chance.choice(training)[1], 0, source)
        for question, _, label, source in training
        if label and chance.random() < UNRELATED
    ]
    training += on_screen(ON_SCREEN)
    held_out += on_screen(300)
    training = [one for one in training if one[1].strip() and len(one[1].split()) <= MAX_WORDS]
    training = list(varied(training))
    chance.shuffle(training)
    return training, held_out
