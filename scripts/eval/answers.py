#!/usr/bin/env python3
"""Measures the answers of a running service to questions.

    scripts/eval/answers.py BASE_URL TRUTH.json FOLDER SPLIT [--library] [--verbose]

TRUTH.json is facts.json (how many, when, who, for how long) or questions.json (speech, on-screen text, what is visible,
and facts; written from the clips alone by someone who had seen neither code nor answers). FOLDER has its clips; SPLIT is
development or test, by a hash of a clip's name. Each question is put to its clip alone, or with --library to all clips
together. An answer is right if it contains the expected words, and the expected time or length within a tolerance in
seconds; a time may be a span of at most three seconds. A question about something absent is right if it is refused: a
near one names something similar to what there is. `not_facts` marks questions that only look like questions about facts:
they must not be answered from facts. Clips that the service has are not ingested again. Uses only the API. Called by
scripts/eval.sh.
"""
import json
import pathlib
import re
import sys
from collections import Counter

from footage import call, ingest

SHORT = 5  # characters of an expected text that must be whole words


def main():
    _, _, truth, folder, split, *options = sys.argv
    questions = [q for q in json.loads(pathlib.Path(truth).read_text())["questions"] if q["split"] == split]
    videos = {video["filename"]: video["video_id"] for video in call("/videos?limit=500")["videos"]}
    outcomes = Counter()
    for clip in dict.fromkeys(question["clip"] for question in questions):
        if clip not in videos:
            analyzers = "default_video,diarization,object_detection,ocr,people"
            result, _ = ingest(pathlib.Path(folder) / clip, analyzers=analyzers)
            videos[clip] = result["video_id"]
    for question in questions:
        clip = question["clip"]
        body = {"question": question["text"]}
        if "--library" not in options:
            body["video_ids"] = [videos[clip]]
        response = call("/ask", json.dumps(body).encode())
        outcome = judge(question, response, videos[clip])
        outcomes[kind(question), outcome] += 1
        if outcome != "right" or "--verbose" in options:
            print(f"       {outcome}: {clip}: {question['text']} -> {plain(response)}")
    for name in sorted({name for name, _ in outcomes}):
        counts = {outcome: outcomes[name, outcome] for outcome in ("right", "wrong", "refused")}
        print(f"  {name}: {counts['right']} of {sum(counts.values())} right, {counts['wrong']} wrong, {counts['refused']} refused")


def kind(question):
    if not question.get("absent") or question["kind"] == "lookalike":
        return question["kind"]
    return "absent, far" if question["absent"] == "far" else "absent, near"


def plain(response):
    """The answer without citations."""
    return re.sub(r"\s*\[[0-9a-f]{16} [^\]]*\]", "", response["answer"] or response.get("error") or "no answer")


def judge(question, response, video_id):
    answer, answered = plain(response), response.get("answered")
    from_facts = "facts" in response["sources"].get(video_id, {})
    if question.get("not_facts") and from_facts:
        return "wrong"
    if question.get("absent"):
        return "wrong" if answered else "right"
    if not answered:
        return "right" if question.get("not_facts") and not question.get("contains") else "refused"
    lower = answer.lower()
    choices = [[words] if isinstance(words, str) else words for words in question.get("contains", [])]
    holds = all(any(contains(lower, words) for words in choice) for choice in choices)
    holds &= not any(contains(lower, words) for words in question.get("excludes", []))
    if "time" in question:
        holds &= at(clock_times(answer), question["time"])
    if "seconds" in question:
        holds &= near(length(answer), question["seconds"])
    return "right" if holds else "wrong"


def contains(answer, expected):
    """Whether an answer contains a text; a short one as whole words."""
    pattern = re.escape(expected.lower())
    return re.search(rf"(?<!\w){pattern}(?!\w)" if len(expected) <= SHORT else pattern, answer) is not None


def near(value, truth):
    """Whether a value is at most a tolerance away."""
    target, tolerance = truth
    return value is not None and abs(value - target) <= tolerance


def at(times, truth):
    """Whether a time to the second, or a span of at most three seconds, is right. Fractions are cut off."""
    if not times:
        return False
    first, last = times
    target, tolerance = truth
    return last - first <= 3 and first - tolerance <= target < last + 1 + tolerance


def clock_times(answer):
    """The first clock time of an answer, in seconds, and the one after it if the answer is between both."""
    clock = r"(?:(\d+):)?(\d{1,2}):(\d\d)"
    found = re.search(rf"\b{clock}\b(?: and {clock})?", answer)
    if not found:
        return None
    seconds = lambda parts: sum(int(part or 0) * unit for part, unit in zip(parts, (3600, 60, 1)))
    first = seconds(found.groups()[:3])
    between = answer[: found.start()].endswith("between ") and found.group(6)
    return first, seconds(found.groups()[3:]) if between else first


def length(answer):
    """The first length of time of an answer, in seconds."""
    lengths = re.finditer(r"(?:(\d+) minutes?)?(?: ?(\d[\d.]*) seconds?)?", answer)
    found = next((match.groups() for match in lengths if match.group()), None)
    return found and int(found[0] or 0) * 60 + float(found[1] or 0)


if __name__ == "__main__":
    main()
