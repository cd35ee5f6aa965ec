#!/usr/bin/env python3
"""How fast a few chunks of a long video are read.

    bench_chunks.py make DATA [CHUNKS]      copies what is stored of the videos below the data folder DATA
                                            into one video of so many chunks (2000); prints its id
    bench_chunks.py measure BASE VIDEO_ID   prints the figures of the service at BASE, which has it

`measure` reads pages of 50 chunks, one after the other and by 16 readers at once, and for comparison
`/openapi.json`, which is sent as it lies in memory. Bytes per second of both stand side by side.
"""

import itertools
import json
import pathlib
import random
import socket
import statistics
import sys
import threading
import time
import urllib.parse
import urllib.request

VIDEO_ID = "bec0000000000bec"
PAGE = 50
SPAN = 5.0  # seconds
READERS = 16
REQUESTS = 300
SECONDS = 5


def outputs_of(records, record, analyzer):
    """One analyzer's outputs on a video, in pages or in one document."""
    entry = record["analyzers"].get(analyzer)
    if entry is None:
        return [None] * record["chunks"]
    per_page = entry.get("page_chunks", 0)
    if not per_page:
        return json.loads((records / entry["document"]).read_text())
    pages = range(-(-record["chunks"] // per_page))
    return [output for page in pages for output in json.loads((records / f"{entry['document']}-{page}.json").read_text())]


def make(data, chunks):
    records = pathlib.Path(data) / "records"
    stored = [json.loads(path.read_text()) for path in sorted(records.glob("videos/*/video.json"))]
    stored = [record for record in stored if record.get("analyzers") and record["video_id"] != VIDEO_ID]
    if not stored:
        sys.exit(f"bench_chunks: no video is stored below {records}")
    analyzers = sorted({analyzer for record in stored for analyzer in record["analyzers"]})
    folder = records / "videos" / VIDEO_ID
    folder.mkdir(parents=True, exist_ok=True)

    def write(name, document):
        (folder / name).write_text(json.dumps(document))
        return f"videos/{VIDEO_ID}/{name}"

    longest = max(stored, key=lambda record: len(record["analyzers"]))
    record = longest | {"video_id": VIDEO_ID, "filename": "long.mp4", "storage_path": f"{VIDEO_ID}/long.mp4"}
    record |= {"poster_path": None, "chunks": chunks, "duration": chunks * SPAN, "aggregates": {}, "version": 3}
    record["chunks_document"] = write("chunks-0.json", [{"start": n * SPAN, "end": (n + 1) * SPAN} for n in range(chunks)])
    for name in ("signals_document", "speech_document"):
        record[name] = write(f"{name}-0.json", json.loads((records / longest[name]).read_text()))
    record["analyzers"] = {}
    for analyzer in analyzers:
        every = itertools.cycle([output for of in stored for output in outputs_of(records, of, analyzer)])
        outputs = list(itertools.islice(every, chunks))
        for page in range(-(-chunks // PAGE)):
            write(f"{analyzer}-0-{page}.json", outputs[page * PAGE : (page + 1) * PAGE])
        entry = next(of["analyzers"][analyzer] for of in stored if analyzer in of["analyzers"])
        # Without points, so that none have to be made.
        record["analyzers"][analyzer] = entry | {
            "document": f"videos/{VIDEO_ID}/{analyzer}-0", "page_chunks": PAGE, "points": 0,
            "found": sum(output is not None for output in outputs),
        }
    write("video.json", record)
    print(VIDEO_ID)


class Reader:
    """One connection that asks again and again."""

    def __init__(self, base):
        self.base = urllib.parse.urlsplit(base)
        self.connection = socket.create_connection((self.base.hostname, self.base.port))
        self.buffer = memoryview(bytearray(8 << 20))

    def read(self, path):
        """Bytes of the answer."""
        self.connection.sendall(f"GET {path} HTTP/1.1\r\nHost: {self.base.netloc}\r\n\r\n".encode())
        have, end = 0, -1
        while end < 0:
            have += self.connection.recv_into(self.buffer[have:])
            end = bytes(self.buffer[: min(have, 4096)]).find(b"\r\n\r\n")
        head = bytes(self.buffer[:end]).decode().lower()
        if " 200 " not in head.split("\r\n")[0]:
            sys.exit(f"bench_chunks: {path} answered {head}")
        length = int(head.split("content-length:")[1].split("\r\n")[0])
        while have < end + 4 + length:
            have += self.connection.recv_into(self.buffer[have:])
        return length


def alone(base, paths):
    """Median and 95th percentile of the time of one answer, milliseconds, and its bytes."""
    reader, times, size = Reader(base), [], 0
    for path in paths:
        started = time.perf_counter()
        size = reader.read(path)
        times.append((time.perf_counter() - started) * 1000)
    return statistics.median(times), sorted(times)[len(times) * 95 // 100], size


def together(base, paths):
    """Answers and bytes per second of readers at once."""
    end, totals = time.monotonic() + SECONDS, []

    def work(number):
        reader, answers, size = Reader(base), 0, 0
        for path in itertools.islice(itertools.cycle(paths), number, None):
            if time.monotonic() > end:
                break
            size += reader.read(path)
            answers += 1
        totals.append((answers, size))

    threads = [threading.Thread(target=work, args=(number,)) for number in range(READERS)]
    started = time.monotonic()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    took = time.monotonic() - started
    return tuple(sum(of) / took for of in zip(*totals))


def measure(base, video_id):
    chunks = f"/videos/{video_id}/chunks?limit={PAGE}"
    with urllib.request.urlopen(base + chunks) as answer:
        total = json.load(answer)["total"]
    pages = [f"{chunks}&offset={offset}" for offset in range(0, total, PAGE)]
    apart = random.Random(1).sample(range(total - PAGE), 40)
    cold = alone(base, pages[1:])
    print(f"{PAGE} of {total} chunks: the first time {cold[0]:.1f} ms in the median (95 %: {cold[1]:.1f})")
    for name, paths in {
        "pages in a row": pages * 8,
        "pages at any offset": [f"{chunks}&offset={offset}" for offset in apart] * 8,
        "/openapi.json": ["/openapi.json"] * REQUESTS,
        "/health": ["/health"] * REQUESTS,
    }.items():
        median, most, size = alone(base, paths)
        answers, rate = together(base, paths)
        print(
            f"{name:20} {size / 1e3:7.1f} kB  {median:6.2f} ms (95 %: {most:.2f});  "
            f"{READERS} readers: {answers:7.0f}/s, {rate / 1e6:7.1f} MB/s"
        )


def main():
    match sys.argv[1:]:
        case ["make", data, *chunks]:
            make(data, int(chunks[0]) if chunks else 2000)
        case ["measure", base, video_id]:
            measure(base.rstrip("/"), video_id)
        case _:
            sys.exit(__doc__)


if __name__ == "__main__":
    main()
