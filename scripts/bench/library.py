"""Measures reads, searches and questions on a library: library.py URL [COUNT] [CLIP]

Prints the median and 95th percentile of each in milliseconds, over one connection. With CLIP, a short video, also
prints the slowest search in the second after it is published. Every search has new words, so that no cache helps,
unless stated otherwise. The bars apply to 100,000 points: a library of 10,000 videos has that many, one of 20,000 has
that many per analyzer.
"""

import http.client
import itertools
import json
import random
import statistics
import sys
import time
import urllib.parse
import uuid
from pathlib import Path

SUBJECTS = "a woman|a man|two people|a crowd|a reporter|a child|a dog|a train|an engineer|a speaker".split("|")
VERBS = "walks past|talks about|watches|stands in front of|points at|explains|carries|waits for".split("|")
OBJECTS = "a red car|the moon|a map|the river|a whiteboard|an old house|the launch|a bridge|music|a market|the law|water".split("|")
TIMES = "|again|outside|today|tonight".split("|")

BAR = 4  # milliseconds, median of searches of one analyzer
BAR_FILTERED = 2  # milliseconds, with a filter that matches a tenth of the videos
BAR_INTERVALS = 50  # milliseconds, median of searches of all videos for intervals
BAR_AFTER_PUBLISH = 5  # times the median
PUBLISHES = 5


class Service:
    """One persistent connection."""

    def __init__(self, url):
        address = urllib.parse.urlsplit(url)
        self.connection = http.client.HTTPConnection(address.hostname, address.port, timeout=120)

    def request(self, method, path, body=None, kind="application/json"):
        """The response, and the milliseconds until its last byte."""
        sent = json.dumps(body) if isinstance(body, dict) else body
        headers = {"Content-Type": kind} if sent else {}
        started = time.perf_counter()
        self.connection.request(method, path, sent, headers)
        response = self.connection.getresponse()
        content = response.read()
        took = (time.perf_counter() - started) * 1000
        if response.status not in (200, 202):
            raise SystemExit(f"{method} {path}: {response.status} {content[:300]!r}")
        return json.loads(content), took


def searches(seed):
    """Search texts without repetition."""
    texts = [" ".join(words).strip() for words in itertools.product(SUBJECTS, VERBS, OBJECTS, TIMES)]
    random.Random(seed).shuffle(texts)
    return iter(texts)


def main():
    service = Service(sys.argv[1])
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 50
    texts = searches(1)
    library, _ = service.request("GET", "/videos?limit=50")
    total = library["total"]
    random_ = random.Random(2)
    ids = [video["video_id"] for video in library["videos"]]
    tenth = tenth_of_library(service, total)
    analyzers = library["videos"][0]["analyzers"]

    def page():
        return "GET", "/videos?limit=50", None

    def deep_page():
        return "GET", f"/videos?limit=50&offset={random_.randrange(max(total - 50, 1))}", None

    def named_page():
        return "GET", f"/videos?limit=50&filename=take-{random_.randrange(total)}-", None

    def query(**more):
        return lambda: ("POST", "/query", {"text": next(texts), "synthesize": False, **more})

    def intervals(expression):
        return "POST", "/intervals", {"expression": expression}

    def take():
        return f"take{random_.randrange(total)}"

    cases = [
        ("GET /videos?limit=50", page, count * 4),
        ("the same at a random offset", deep_page, count),
        ("the same by part of the filename", named_page, count),
        ("GET /videos/{id}/chunks?limit=50", lambda: ("GET", f"/videos/{random_.choice(ids)}/chunks?limit=50", None), count),
        (f"/query of {analyzers[0]}, bar {BAR}", query(analyzer=analyzers[0]), count * 4),
        (f"the same, a tenth by metadata, bar {BAR_FILTERED}", query(analyzer=analyzers[0], filters={"metadata": {"camera": "c3"}}), count * 4),
        ("the same, a tenth by ids", query(analyzer=analyzers[0], video_ids=tenth), count * 2),
        ("the same, 50 videos", query(analyzer=analyzers[0], video_ids=ids), count * 2),
        ("the same, a text searched before", lambda: ("POST", "/query", {"text": "a red car", "synthesize": False, "analyzer": analyzers[0], "limit": random_.randint(3, 20)}), count * 2),
        ("/query of all analyzers, hybrid", query(analyzer="*"), count),
        ("/query of all analyzers, text", query(analyzer="*", mode="text"), count),
        (f"/intervals, a rare word, bar {BAR_INTERVALS}", lambda: intervals({"says": take()}), count * 2),
        (f"the same without a car in view, bar {BAR_INTERVALS}", lambda: intervals({"all": [{"says": take()}, {"not": {"sees": "car"}}]}), count * 2),
        ("the same, a label that nothing has", lambda: intervals({"sees": f"label {random_.randrange(total)}"}), count),
        ("the same, a frequent word", lambda: intervals({"says": "the"}), count * 2),
        ("the same, speech without a car in view", lambda: intervals({"all": [{"speech": True}, {"not": {"sees": "car"}}]}), count * 2),
        ("/query of one analyzer where somebody speaks and no car is in view", query(analyzer=analyzers[0], filters={"where": {"all": [{"speech": True}, {"not": {"sees": "car"}}]}}), count),
        ("PATCH /videos/{id}", lambda: ("PATCH", f"/videos/{random_.choice(ids)}", {"metadata": {"take": random_.randrange(total)}}), count * 4),
        ("/ask over the library", lambda: ("POST", "/ask", {"question": f"When does {next(texts)}?"}), max(count // 2, 10)),
    ]
    print(f"{total} videos")
    print(f"  {'first search for intervals, all pages':46} {first_intervals(service):12.1f}")
    for name, request, repeats in cases:
        service.request(*request())
        took = sorted(service.request(*request())[1] for _ in range(repeats))
        p95 = took[min(len(took) - 1, int(len(took) * 0.95))]
        print(f"  {name:46} p50 {statistics.median(took):8.1f}   p95 {p95:8.1f}   n {len(took)}")
    if len(sys.argv) > 3:
        search_after_publish(service, query(analyzer=analyzers[0]), Path(sys.argv[3]))


def first_intervals(service):
    """The milliseconds that a search for intervals takes that reads every video."""
    request, took = {"expression": {"says": "unheard"}, "limit": 500}, 0
    while True:
        page, more = service.request("POST", "/intervals", request)
        took += more
        if "next" not in page:
            return took
        request["cursor"] = page["next"]


def tenth_of_library(service, total):
    """The ids of a tenth of the videos."""
    ids = []
    while len(ids) < total // 10:
        page, _ = service.request("GET", f"/videos?limit=500&offset={len(ids)}")
        ids += [video["video_id"] for video in page["videos"]]
    return ids[: total // 10]


def search_after_publish(service, search, clip):
    """Prints the slowest search in the second after a video is published, also relative to the median search."""
    quiet = statistics.median(service.request(*search())[1] for _ in range(100))
    slowest = 0
    for interval in range(5, 5 + PUBLISHES):
        publish(service, clip, interval)
        until = time.perf_counter() + 1
        while time.perf_counter() < until:
            slowest = max(slowest, service.request(*search())[1])
    name = f"slowest search after a publish, bar {BAR_AFTER_PUBLISH} x p50"
    print(f"  {name:46} {slowest:12.1f} = {slowest / quiet:.1f} x p50")


def publish(service, clip, interval):
    """Ingests a clip with chunks of `interval` seconds and waits for the job."""
    boundary = uuid.uuid4().hex
    fields = {"analyzers": "default_video", "mode": "interval", "interval": interval}
    head = "".join(
        f'--{boundary}\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}\r\n' for name, value in fields.items()
    )
    head += f'--{boundary}\r\nContent-Disposition: form-data; name="file"; filename="clip.mp4"\r\n\r\n'
    body = head.encode() + clip.read_bytes() + f"\r\n--{boundary}--\r\n".encode()
    job, _ = service.request("POST", "/videos", body, f"multipart/form-data; boundary={boundary}")
    while (state := service.request("GET", f"/jobs/{job['job_id']}")[0])["status"] != "done":
        if state["status"] == "failed":
            raise SystemExit(f"the ingest failed: {state['error']}")
        time.sleep(0.02)


if __name__ == "__main__":
    main()
