#!/usr/bin/env python3
"""Generates a long video for examples/readers.rs: combines the stored results of all videos in the data folder DATA
into one video with CHUNKS chunks, and prints its id.

    chunks.py DATA [CHUNKS]   (default: 2000)
"""

import itertools
import json
import pathlib
import sys

VIDEO_ID = "bec0000000000bec"
PAGE = 50
SPAN = 5.0  # seconds


def load_outputs(records, record, analyzer):
    """The outputs of one analyzer for a video, stored in pages or in one document."""
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
        sys.exit(f"bench/chunks: {records} has no videos")
    analyzers = sorted({analyzer for record in stored for analyzer in record["analyzers"]})
    folder = records / "videos" / VIDEO_ID
    folder.mkdir(parents=True, exist_ok=True)

    def write(name, document):
        (folder / name).write_text(json.dumps(document))
        return f"videos/{VIDEO_ID}/{name}"

    template = max(stored, key=lambda record: len(record["analyzers"]))
    record = template | {"video_id": VIDEO_ID, "filename": "long.mp4", "storage_path": f"{VIDEO_ID}/long.mp4"}
    record |= {"poster_path": None, "chunks": chunks, "duration": chunks * SPAN, "aggregates": {}, "version": 3}
    record["chunks_document"] = write("chunks-0.json", [{"start": n * SPAN, "end": (n + 1) * SPAN} for n in range(chunks)])
    for name in ("signals_document", "speech_document"):
        record[name] = write(f"{name}-0.json", json.loads((records / template[name]).read_text()))
    record["analyzers"] = {}
    for analyzer in analyzers:
        available = [output for source in stored for output in load_outputs(records, source, analyzer)]
        outputs = list(itertools.islice(itertools.cycle(available), chunks))
        for page in range(-(-chunks // PAGE)):
            write(f"{analyzer}-0-{page}.json", outputs[page * PAGE : (page + 1) * PAGE])
        entry = next(source["analyzers"][analyzer] for source in stored if analyzer in source["analyzers"])
        # No points, so that the index need not be filled.
        record["analyzers"][analyzer] = entry | {
            "document": f"videos/{VIDEO_ID}/{analyzer}-0", "page_chunks": PAGE, "points": 0,
            "found": sum(output is not None for output in outputs),
        }
    write("video.json", record)
    print(VIDEO_ID)


def main():
    match sys.argv[1:]:
        case [data, *chunks]:
            make(data, int(chunks[0]) if chunks else 2000)
        case _:
            sys.exit(__doc__)


if __name__ == "__main__":
    main()
