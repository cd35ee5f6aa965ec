#!/usr/bin/env python3
"""Compares the spans of POST /intervals with spans that are computed here from the stored outputs.

    scripts/eval/intervals.py BASE_URL FOLDER

Ingests the clips of FOLDER (SHOTLOG_MEDIA) into a service with an empty data folder, and reads what is stored about
each: words, speaker turns, lines on screen, numbers of people. Chooses words, speakers and lines of each clip, puts up
to 22 expressions over them to the service, and computes their spans a second time with lists of intervals. The spans in
which there is speech are taken from the service, since no other route returns them.
Uses only the API. Called by scripts/eval.sh, which starts the service.
"""
import collections
import json
import pathlib
import re
import sys
import time
import urllib.error
import urllib.request
import uuid

CLIPS = ["demo_public.mp4", "ForBiggerEscapes.mp4", "nasa_13013.mp4", "jfk.wav", "pyannote_sample.wav", "azure_weather.wav"]
TOLERANCE = 0.1  # seconds, of each boundary of a span
BAR = 40  # expressions
SECOND_STEP = 10  # seconds, gap of `then` between words
TURN_STEP = 3  # seconds, gap of `then` between speakers


# ---------------------------------------------------------------- the service


def call(path, body=None, kind="application/json"):
    data = json.dumps(body).encode() if isinstance(body, dict) else body
    request = urllib.request.Request(sys.argv[1] + path, data=data, headers={"Content-Type": kind} if data else {})
    try:
        with urllib.request.urlopen(request) as response:
            return json.load(response)
    except urllib.error.HTTPError as error:
        raise SystemExit(f"{path}: {error.code} {error.read().decode()}") from None


def ingest(file, analyzers):
    """Ingests a file with these analyzers and returns the id of the video."""
    edge = uuid.uuid4().hex
    head = f'--{edge}\r\nContent-Disposition: form-data; name="analyzers"\r\n\r\n{analyzers}\r\n'
    head += f'--{edge}\r\nContent-Disposition: form-data; name="file"; filename="{file.name}"\r\n\r\n'
    body = head.encode() + file.read_bytes() + f"\r\n--{edge}--\r\n".encode()
    job = call("/videos", body, f"multipart/form-data; boundary={edge}")
    while (state := call(f"/jobs/{job['job_id']}"))["status"] not in ("done", "failed"):
        time.sleep(0.5)
    if state["status"] == "failed":
        raise SystemExit(f"{file.name}: {state['error']}")
    return state["result"]["video_id"]


def spans_of(video, expression):
    """The spans that the service finds for an expression in a video."""
    found, body = [], {"expression": expression, "video_ids": [video], "limit": 500}
    while True:
        page = call("/intervals", body)
        found += [(span["start"], span["end"]) for one in page["videos"] for span in one["spans"]]
        if "next" not in page:
            return found
        body["cursor"] = page["next"]


# ---------------------------------------------------------------- lists of intervals


def union(spans):
    merged = []
    for start, end in sorted(spans):
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(merged[-1][1], end))
        else:
            merged.append((start, end))
    return merged


def intersection(one, other):
    common = ((max(a, c), min(b, d)) for a, b in one for c, d in other)
    return union((start, end) for start, end in common if start < end)


def complement(spans, end):
    edges = [0] + [time for span in union(spans) for time in span] + [end]
    return [(start, stop) for start, stop in zip(edges[::2], edges[1::2]) if start < stop]


def then(first, second, within):
    """From each span of the first list to the end of the next one of the second."""
    found = []
    for start, end in first:
        following = [span for span in second if span[0] >= end]
        if following and following[0][0] - end <= within + 1e-9:
            found.append((start, following[0][1]))
    return union(found)


def during(inner, outer):
    return [(a, b) for a, b in inner if any(c <= a and b <= d for c, d in outer)]


def overlapping(one, other):
    return [(a, b) for a, b in one if any(a < d and c < b for c, d in other)]


def lasting(spans, seconds):
    return [(start, end) for start, end in spans if end - start >= seconds - 1e-9]


# ---------------------------------------------------------------- what is stored


class Facts:
    """What is stored about a video, as lists of intervals in seconds."""

    def __init__(self, video):
        transcript = call(f"/videos/{video}/transcript?words=true")
        self.words = [word for said in transcript["utterances"] for word in said.get("words", [])]
        self.chunks, total = [], None
        while total is None or len(self.chunks) < total:
            page = call(f"/videos/{video}/chunks?limit=50&offset={len(self.chunks)}&verbose=true")
            self.chunks, total = self.chunks + page["chunks"], page["total"]
        self.end = max([transcript["duration"]] + [chunk["end"] for chunk in self.chunks])
        self.speech = spans_of(video, {"speech": True})
        turns = [turn for chunk in self.chunks for turn in (chunk.get("diarization") or {}).get("turns", [])]
        self.turns = collections.defaultdict(list)
        for turn in turns:
            self.turns[turn["speaker"]].append((turn["start"], turn["end"]))
        self.lines = [line for chunk in self.chunks for line in (chunk.get("ocr") or {}).get("texts", [])]

    def says(self, *phrase):
        """The times of consecutive words."""
        texts = [bare(word["text"]) for word in self.words]
        places = [at for at in range(len(texts)) if texts[at:at + len(phrase)] == list(phrase)]
        return union((self.words[at]["start"], self.words[at + len(phrase) - 1]["end"]) for at in places)

    def reads(self, word):
        lines = [line for line in self.lines if word in letters(line["text"])]
        return union((line["first_seen"], max(line["last_seen"], line["first_seen"] + 0.001)) for line in lines)

    def people(self, least):
        counts = [(chunk, (chunk.get("people") or {}).get("people_count", 0)) for chunk in self.chunks]
        return union((chunk["start"], chunk["end"]) for chunk, count in counts if count >= least)

    def chosen_words(self):
        """Two words whose letters occur in no other word, most frequent first."""
        counts = collections.Counter(bare(word["text"]) for word in self.words)
        alone = [word for word in counts if re.fullmatch("[a-z]{3,}", word)
                 and not any(word in other for other in counts if other != word)]
        return sorted(alone, key=lambda word: (-counts[word], word))[:2]

    def chosen_phrase(self):
        """Two consecutive words without other letters."""
        texts = [bare(word["text"]) for word in self.words]
        pairs = [pair for pair in zip(texts, texts[1:]) if all(re.fullmatch("[a-z]{3,}", word) for word in pair)]
        return max(pairs, key=lambda pair: (pairs.count(pair), pair), default=None)

    def chosen_line(self):
        """A word that is read, the most frequent one."""
        words = collections.Counter(word for line in self.lines for word in re.findall("[a-z]{5,}", line["text"].lower()))
        return max(words, key=lambda word: (words[word], word), default=None)


def bare(text):
    return text.lower().strip(".,!?;:\"“”…")


def letters(text):
    return re.sub(r"[\W_]", "", text.lower())


def expressions(facts):
    """Expressions over what is stored about a video, each with its spans."""
    end, speech = facts.end, facts.speech
    silence, middle = complement(speech, end), [(end / 4, end / 2)]
    between = {"between": [end / 4, end / 2]}
    yield {"silence": True}, silence
    yield {"not": {"speech": True}}, silence
    yield {"at_least": {"seconds": 2}, "of": {"speech": True}}, lasting(speech, 2)
    yield {"at_least": {"seconds": 1}, "of": {"silence": True}}, lasting(silence, 1)
    yield {"all": [{"speech": True}, between]}, intersection(speech, middle)
    yield {"during": [{"silence": True}, between]}, during(silence, middle)
    words = facts.chosen_words()
    if len(words) == 2:
        one, other = ({"says": f'"{word}"'} for word in words)
        first, second = (facts.says(word) for word in words)
        yield one, first
        yield {"any": [one, other]}, union(first + second)
        yield {"all": [{"speech": True}, {"not": one}]}, intersection(speech, complement(first, end))
        yield {"then": [one, other], "within": SECOND_STEP}, then(first, second, SECOND_STEP)
        yield {"overlaps": [{"speech": True}, {"any": [one, other]}]}, overlapping(speech, first + second)
    if phrase := facts.chosen_phrase():
        yield {"says": f'"{" ".join(phrase)}"'}, facts.says(*phrase)
    speakers = sorted(facts.turns, key=lambda name: (-len(facts.turns[name]), name))[:2]
    for name in speakers:
        yield {"speaker": name}, union(facts.turns[name])
        yield {"all": [{"not": {"speaker": name}}, {"speech": True}]}, intersection(
            speech, complement(facts.turns[name], end))
    if len(speakers) == 2:
        first, second = (union(facts.turns[name]) for name in speakers)
        pair = [{"speaker": name} for name in speakers]
        yield {"all": pair}, intersection(first, second)
        yield {"then": pair, "within": TURN_STEP}, then(first, second, TURN_STEP)
        yield {"not": {"any": pair}}, complement(first + second, end)
    if word := facts.chosen_line():
        read = facts.reads(word)
        yield {"reads": f'"{word}"'}, read
        yield {"all": [{"reads": f'"{word}"'}, {"speech": True}]}, intersection(read, speech)
        yield {"overlaps": [{"reads": f'"{word}"'}, {"silence": True}]}, overlapping(read, silence)
    if people := facts.people(1):
        yield {"people": True}, people
        yield {"all": [{"people": {"at_least": 1}}, {"speech": True}]}, intersection(people, speech)


def same(one, other):
    return len(one) == len(other) and all(
        abs(a - c) <= TOLERANCE and abs(b - d) <= TOLERANCE for (a, b), (c, d) in zip(one, other))


def main():
    analyzers = [one for one in call("/schema")["analyzers"] if one != "transcript"]
    count, spans, wrong, clips = 0, 0, 0, 0
    for name in CLIPS:
        file = pathlib.Path(sys.argv[2]) / name
        if not file.exists():
            continue
        video, clips = ingest(file, ",".join(analyzers)), clips + 1
        for expression, expected in expressions(Facts(video)):
            found, count, spans = spans_of(video, expression), count + 1, spans + len(expected)
            if not same(found, expected):
                wrong += 1
                print(f"  {name}: {json.dumps(expression)}\n    found    {found[:6]}\n    expected {expected[:6]}")
    holds = wrong == 0 and count >= BAR
    print(f"  {'ok  ' if holds else 'MISS'} {count} expressions on {clips} clips, {spans} spans: {count - wrong} exact to "
          f"{TOLERANCE} s (bar: all of at least {BAR})")
    sys.exit(not holds)


if __name__ == "__main__":
    main()
