"""How long reads, searches and questions take over a library: python bench_library.py URL [COUNT]

Prints the median and the 95th percentile of each, over one connection, milliseconds. Every search is
for other words, so that nothing is answered from a cache of searches.
"""

import http.client
import itertools
import json
import random
import statistics
import sys
import time
import urllib.parse

WHO = "a woman|a man|two people|a crowd|a reporter|a child|a dog|a train|an engineer|a speaker".split("|")
DOES = "walks past|talks about|looks at|stands in front of|points at|explains|carries|waits for".split("|")
WHAT = "a red car|the moon|a map|the river|a whiteboard|an old house|the launch|a bridge|music|a market|the law|water".split("|")


class Service:
    """One connection that stays open."""

    def __init__(self, url):
        address = urllib.parse.urlsplit(url)
        self.connection = http.client.HTTPConnection(address.hostname, address.port, timeout=120)

    def ask(self, method, path, body=None):
        """The answer, and milliseconds from the request to its last byte."""
        sent = json.dumps(body) if body is not None else None
        headers = {"Content-Type": "application/json"} if sent else {}
        started = time.perf_counter()
        self.connection.request(method, path, sent, headers)
        answer = self.connection.getresponse()
        content = answer.read()
        took = (time.perf_counter() - started) * 1000
        if answer.status != 200:
            raise SystemExit(f"{method} {path}: {answer.status} {content[:300]!r}")
        return json.loads(content), took


def searches(seed):
    """Endless searches, none of them twice."""
    texts = [" ".join(words) for words in itertools.product(WHO, DOES, WHAT)]
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
        (f"/query of {speaking[0]}", query(analyzer=speaking[0]), count * 2),
        (f"/query of {speaking[0]} in a tenth", query(analyzer=speaking[0], filters={"video_ids": ids}), count),
        (f"/query of {speaking[0]} in a tenth by metadata", query(analyzer=speaking[0], filters={"metadata": {"camera": "c3"}}), count * 2),
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


if __name__ == "__main__":
    main()
