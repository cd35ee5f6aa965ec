"""How long reads, searches and questions take over a library: python bench_library.py URL [COUNT] [CLIP]

Prints the median and the 95th percentile of each, over one connection, milliseconds, and with the file of a
short video the slowest of the searches in the second after it is published. Every search is for other words,
so that nothing is answered from a cache of searches, but for those that say so. The bars hold for 100,000 points:
10,000 videos have so many, 20,000 have so many of each analyzer.
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

WHO = "a woman|a man|two people|a crowd|a reporter|a child|a dog|a train|an engineer|a speaker".split("|")
DOES = "walks past|talks about|looks at|stands in front of|points at|explains|carries|waits for".split("|")
WHAT = "a red car|the moon|a map|the river|a whiteboard|an old house|the launch|a bridge|music|a market|the law|water".split("|")
WHEN = "|again|outside|today|tonight".split("|")

BAR = 4  # milliseconds, half of the searches of one analyzer
BAR_IN_A_TENTH = 2
BAR_AFTER_A_PUBLISH = 5  # times the median
PUBLISHES = 5


class Service:
    """One connection that stays open."""

    def __init__(self, url):
        address = urllib.parse.urlsplit(url)
        self.connection = http.client.HTTPConnection(address.hostname, address.port, timeout=120)

    def ask(self, method, path, body=None, kind="application/json"):
        """The answer, and milliseconds from the request to its last byte."""
        sent = json.dumps(body) if isinstance(body, dict) else body
        headers = {"Content-Type": kind} if sent else {}
        started = time.perf_counter()
        self.connection.request(method, path, sent, headers)
        answer = self.connection.getresponse()
        content = answer.read()
        took = (time.perf_counter() - started) * 1000
        if answer.status not in (200, 202):
            raise SystemExit(f"{method} {path}: {answer.status} {content[:300]!r}")
        return json.loads(content), took


def searches(seed):
    """Endless searches, none of them twice."""
    texts = [" ".join(words).strip() for words in itertools.product(WHO, DOES, WHAT, WHEN)]
    random.Random(seed).shuffle(texts)
    return iter(texts)


def main():
    service = Service(sys.argv[1])
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 50
    texts = searches(1)
    library, _ = service.ask("GET", "/videos?limit=50")
    total = library["total"]
    somewhere = random.Random(2)
    ids = [video["video_id"] for video in library["videos"]]
    tenth = a_tenth(service, total)
    speaking = library["videos"][0]["analyzers"]

    def page():
        return "GET", "/videos?limit=50", None

    def deep_page():
        return "GET", f"/videos?limit=50&offset={somewhere.randrange(max(total - 50, 1))}", None

    def named_page():
        return "GET", f"/videos?limit=50&filename=take-{somewhere.randrange(total)}-", None

    def query(**more):
        return lambda: ("POST", "/query", {"text": next(texts), "synthesize": False, **more})

    cases = [
        ("GET /videos?limit=50", page, count * 4),
        ("the same anywhere in the library", deep_page, count),
        ("the same by a part of the name", named_page, count),
        ("GET /videos/{id}/chunks?limit=50", lambda: ("GET", f"/videos/{somewhere.choice(ids)}/chunks?limit=50", None), count),
        (f"/query of {speaking[0]}, bar {BAR}", query(analyzer=speaking[0]), count * 4),
        (f"the same in a tenth by metadata, bar {BAR_IN_A_TENTH}", query(analyzer=speaking[0], filters={"metadata": {"camera": "c3"}}), count * 4),
        ("the same in a tenth by ids", query(analyzer=speaking[0], video_ids=tenth), count * 2),
        ("the same in 50 videos", query(analyzer=speaking[0], video_ids=ids), count * 2),
        ("the same for a text that was searched for before", lambda: ("POST", "/query", {"text": "a red car", "synthesize": False, "analyzer": speaking[0], "limit": somewhere.randint(3, 20)}), count * 2),
        ("/query of everything, hybrid", query(analyzer="*"), count),
        ("/query of everything, by words", query(analyzer="*", mode="text"), count),
        ("PATCH /videos/{id}", lambda: ("PATCH", f"/videos/{somewhere.choice(ids)}", {"metadata": {"take": somewhere.randrange(total)}}), count * 4),
        ("/ask over everything", lambda: ("POST", "/ask", {"question": f"When does {next(texts)}?"}), max(count // 2, 10)),
    ]
    print(f"{total} videos")
    for name, request, repeats in cases:
        service.ask(*request())
        took = sorted(service.ask(*request())[1] for _ in range(repeats))
        p95 = took[min(len(took) - 1, int(len(took) * 0.95))]
        print(f"  {name:46} p50 {statistics.median(took):8.1f}   p95 {p95:8.1f}   n {len(took)}")
    if len(sys.argv) > 3:
        after_a_publish(service, query(analyzer=speaking[0]), Path(sys.argv[3]))


def a_tenth(service, total):
    """The ids of a tenth of the library."""
    ids = []
    while len(ids) < total // 10:
        page, _ = service.ask("GET", f"/videos?limit=500&offset={len(ids)}")
        ids += [video["video_id"] for video in page["videos"]]
    return ids[: total // 10]


def after_a_publish(service, search, clip):
    """The slowest search in the second after each publication of a clip, and how it stands to the median of others."""
    quiet = statistics.median(service.ask(*search())[1] for _ in range(100))
    slowest = 0
    for interval in range(5, 5 + PUBLISHES):
        publish(service, clip, interval)
        until = time.perf_counter() + 1
        while time.perf_counter() < until:
            slowest = max(slowest, service.ask(*search())[1])
    name = f"the slowest in the second after a publish, bar {BAR_AFTER_A_PUBLISH} x p50"
    print(f"  {name:46} {slowest:12.1f} = {slowest / quiet:.1f} x p50")


def publish(service, clip, interval):
    """Ingests a clip in chunks of so many seconds, and returns as soon as that is done."""
    boundary = uuid.uuid4().hex
    fields = {"analyzers": "default_video", "mode": "interval", "interval": interval}
    head = "".join(
        f'--{boundary}\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}\r\n' for name, value in fields.items()
    )
    head += f'--{boundary}\r\nContent-Disposition: form-data; name="file"; filename="clip.mp4"\r\n\r\n'
    body = head.encode() + clip.read_bytes() + f"\r\n--{boundary}--\r\n".encode()
    job, _ = service.ask("POST", "/videos", body, f"multipart/form-data; boundary={boundary}")
    while (now := service.ask("GET", f"/jobs/{job['job_id']}")[0])["status"] != "done":
        if now["status"] == "failed":
            raise SystemExit(f"the ingest failed: {now['error']}")
        time.sleep(0.02)


if __name__ == "__main__":
    main()
