#!/usr/bin/env python3
"""Judges what becomes of hostile files. `scripts/torture_files.sh` calls it.

    torture_files.py bombs BASE PID FOLDER GOOD    uploads each bomb to the service at BASE, process PID
    torture_files.py damaged REAL < REPORTS        reads what the example scan_files printed
"""

import collections
import http.server
import json
import pathlib
import re
import sys
import threading
import time
import urllib.request
import uuid

MOST_GROWTH = 100 << 20  # bytes
LONGEST_FAILURE = 30  # seconds
MOST_DELAY = 120_00  # hundredths of a second, decoder.max_gap
SETTLED = ("done", "failed")


def memory(pid):
    """Resident bytes now, and at most since the mark was reset."""
    text = pathlib.Path(f"/proc/{pid}/status").read_text()
    return tuple(int(re.search(rf"{key}:\s+(\d+) kB", text)[1]) << 10 for key in ("VmRSS", "VmHWM"))


def call(url, data=None, headers=None):
    request = urllib.request.Request(url, data=data, headers=headers or {})
    with urllib.request.urlopen(request, timeout=60) as answer:
        return json.load(answer)


def ingest(base, path):
    """The job of an upload once it has ended, and how long that took, seconds."""
    mark = uuid.uuid4().hex
    field = f'--{mark}\r\nContent-Disposition: form-data; name="{{}}"{{}}\r\n\r\n'
    body = (field.format("preset", "") + "video\r\n").encode()
    body += field.format("file", f'; filename="{path.name}"').encode() + path.read_bytes()
    body += f"\r\n--{mark}--\r\n".encode()
    started = time.monotonic()
    job = call(f"{base}/videos", body, {"Content-Type": f"multipart/form-data; boundary={mark}"})
    while job.get("status") not in SETTLED:
        time.sleep(0.1)
        job = call(f"{base}/jobs/{job['job_id']}")
    return job, time.monotonic() - started


def canary():
    """A server that nobody may ask for anything, and what it was asked for."""
    asked = []

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            asked.append(self.path)
            self.send_error(404)

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return f"http://127.0.0.1:{server.server_port}", asked


def bombs(base, pid, folder, good):
    import make_corpus

    address, asked = canary()
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    make_corpus.bombs(folder, address)
    problems = []
    job, _ = ingest(base, pathlib.Path(good))
    if job["status"] != "done":
        problems.append(f"the good file failed: {job.get('error')}")
    failed = done = 0
    worst = 0
    for path in sorted(folder.iterdir()):
        before, _ = memory(pid)
        pathlib.Path(f"/proc/{pid}/clear_refs").write_text("5")
        job, seconds = ingest(base, path)
        growth = memory(pid)[1] - before
        worst = max(worst, growth)
        said = job.get("error") or f"{job['result']['duration']:.2f} s"
        print(f"    {path.name:26} {job['status']:6} {seconds:5.1f} s {growth / 2**20:6.1f} MiB  {said[:120]}")
        if growth > MOST_GROWTH:
            problems.append(f"{path.name}: the service grew by {growth >> 20} MiB")
        if seconds > LONGEST_FAILURE:
            problems.append(f"{path.name}: took {seconds:.0f} s")
        if job["status"] == "failed":
            failed += 1
            if not re.match(r"ValueError: \w.{20,}", job["error"] or ""):
                problems.append(f"{path.name}: is told as '{job['error']}'")
        else:
            done += 1
            if job["result"]["duration"] > make_corpus.SECONDS + 1:
                problems.append(f"{path.name}: lasts {job['result']['duration']} s")
    good = pathlib.Path(good)
    after = folder / f"after-{good.name}"
    after.write_bytes(good.read_bytes() + b"\0" * 8)
    job, _ = ingest(base, after)
    if job["status"] != "done":
        problems.append(f"the job after the bombs failed: {job.get('error')}")
    if asked:
        problems.append(f"addresses in files were asked for: {asked}")
    print(f"{failed + done} bombs: {failed} refused, {done} played as what they are, {worst / 2**20:.0f} MiB at most, {len(problems)} problems")
    return problems


def damaged(real):
    length = json.loads(pathlib.Path(real).read_text())["seconds"]
    folder = pathlib.Path(real).parent
    problems, kinds, errors = [], collections.Counter(), collections.Counter()
    slowest = longest = 0.0
    for line in sys.stdin:
        report = json.loads(line)
        name = pathlib.Path(report["file"]).name
        slowest = max(slowest, report["seconds"])
        if "error" in report:
            kinds["refused"] += 1
            errors[re.sub(r"[0-9'].*", "", report["error"])] += 1
            if report["kind"] != "ValueError":
                problems.append(f"{name}: {report['kind']}: {report['error']}")
            continue
        kinds["played"] += 1
        longest = max(longest, report["end"])
        if report["end"] > real_length(report, length, (folder / name).read_bytes()) + 1:
            problems.append(f"{name}: lasts {report['end']:.2f} s ({report['frames']} frames, {report['heard']:.2f} s heard)")
        if report["seconds"] > 20 + 2 * report["end"]:
            problems.append(f"{name}: took {report['seconds']:.1f} s")
    for error, count in errors.most_common():
        print(f"    {count:6} × {error}")
    total = sum(kinds.values())
    print(f"{total} damaged files: {kinds['refused']} refused, {kinds['played']} played, {slowest:.1f} s at most, the longest {longest:.2f} s, {len(problems)} problems")
    return problems if total else ["no file was read"]


def real_length(report, length, data):
    """What the file holds: as long as its original, unless more of it was heard, or its pictures say
    for how long each is to be shown, which nothing else tells of a GIF, or the unit of its clock is
    another, by which every player goes."""
    shown = gif_length(data) if data.startswith((b"GIF87a", b"GIF89a")) else 0
    return max(length * matroska_clock(data), report["heard"], shown)


def matroska_clock(data):
    """How many times slower than usual (a millisecond) the clock of a Matroska file ticks; 1 where it is
    faster, or no such file."""
    at = data.find(b"\x2a\xd7\xb1", 0, 4096)
    if not data.startswith(b"\x1a\x45\xdf\xa3") or at < 0 or not 0x81 <= data[at + 3] <= 0x88:
        return 1
    size = data[at + 3] & 0x0F
    return max(1, int.from_bytes(data[at + 4 : at + 4 + size], "big") / 1e6)


def gif_length(data):
    """How long the pictures of a GIF are shown, seconds; bytes that begin no block are passed over, as
    players do. A picture shown for less than 0.02 s is shown for 0.1 s, as is one that claims to stay
    for longer than decoder.max_gap, which is not believed."""
    total, delay, at = 0.0, 0, 13
    if len(data) > 10 and data[10] & 0x80:
        at += 3 << (data[10] & 7) + 1
    while at < len(data):
        if data[at : at + 3] == b"\x21\xf9\x04" and len(data) >= at + 8:
            delay = int.from_bytes(data[at + 4 : at + 6], "little")
            at = past_blocks(data, at + 2)
        elif data[at] == 0x21:
            at = past_blocks(data, at + 2)
        elif data[at] == 0x2C and len(data) >= at + 10:
            total += delay / 100 if 2 <= delay <= MOST_DELAY else 0.1
            colours = 3 << (data[at + 9] & 7) + 1 if data[at + 9] & 0x80 else 0
            delay, at = 0, past_blocks(data, at + 10 + colours + 1)
        else:
            at += 1
    return total


def past_blocks(data, at):
    """The place behind a chain of blocks that each begin with their length."""
    while at < len(data) and data[at]:
        at += 1 + data[at]
    return at + 1


def main():
    match sys.argv[1:]:
        case ["bombs", base, pid, folder, good]:
            problems = bombs(base, pid, folder, good)
        case ["damaged", real]:
            problems = damaged(real)
        case _:
            sys.exit(__doc__)
    for problem in problems[:50]:
        print(f"problem: {problem}", file=sys.stderr)
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    main()
