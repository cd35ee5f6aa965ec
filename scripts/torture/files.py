#!/usr/bin/env python3
"""Checks how the service handles hostile files. Called by scripts/torture/files.sh.

    files.py bombs BASE PID FOLDER GOOD    uploads each bomb to the service at BASE with process id PID
    files.py damaged REAL < REPORTS        reads the output of the example scan_files
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

MAX_GROWTH = 100 << 20  # bytes
MAX_SECONDS = 30  # seconds
MAX_DELAY = 120_00  # hundredths of a second, decoder.max_gap
FINISHED = ("done", "failed")


def memory(pid):
    """Resident bytes now, and their peak since it was reset."""
    text = pathlib.Path(f"/proc/{pid}/status").read_text()
    return tuple(int(re.search(rf"{key}:\s+(\d+) kB", text)[1]) << 10 for key in ("VmRSS", "VmHWM"))


def call(url, data=None, headers=None):
    request = urllib.request.Request(url, data=data, headers=headers or {})
    with urllib.request.urlopen(request, timeout=60) as response:
        return json.load(response)


def ingest(base, path):
    """Uploads a file; returns the finished job and the seconds it took."""
    boundary = uuid.uuid4().hex
    field = f'--{boundary}\r\nContent-Disposition: form-data; name="{{}}"{{}}\r\n\r\n'
    body = (field.format("preset", "") + "video\r\n").encode()
    body += field.format("file", f'; filename="{path.name}"').encode() + path.read_bytes()
    body += f"\r\n--{boundary}--\r\n".encode()
    started = time.monotonic()
    job = call(f"{base}/videos", body, {"Content-Type": f"multipart/form-data; boundary={boundary}"})
    while job.get("status") not in FINISHED:
        time.sleep(0.1)
        job = call(f"{base}/jobs/{job['job_id']}")
    return job, time.monotonic() - started


def canary():
    """A server that must receive no request, and the list of paths requested from it."""
    requested = []

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            requested.append(self.path)
            self.send_error(404)

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return f"http://127.0.0.1:{server.server_port}", requested


def bombs(base, pid, folder, good):
    import corpus

    address, requested = canary()
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    corpus.bombs(folder, address)
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
        outcome = job.get("error") or f"{job['result']['duration']:.2f} s"
        print(f"    {path.name:26} {job['status']:6} {seconds:5.1f} s {growth / 2**20:6.1f} MiB  {outcome[:120]}")
        if growth > MAX_GROWTH:
            problems.append(f"{path.name}: the service grew by {growth >> 20} MiB")
        if seconds > MAX_SECONDS:
            problems.append(f"{path.name}: took {seconds:.0f} s")
        if job["status"] == "failed":
            failed += 1
            if not re.match(r"ValueError: \w.{20,}", job["error"] or ""):
                problems.append(f"{path.name}: unclear error '{job['error']}'")
        else:
            done += 1
            if job["result"]["duration"] > corpus.SECONDS + 1:
                problems.append(f"{path.name}: duration {job['result']['duration']} s")
    good = pathlib.Path(good)
    after = folder / f"after-{good.name}"
    after.write_bytes(good.read_bytes() + b"\0" * 8)
    job, _ = ingest(base, after)
    if job["status"] != "done":
        problems.append(f"the job after the bombs failed: {job.get('error')}")
    if requested:
        problems.append(f"addresses in files were requested: {requested}")
    print(f"{failed + done} bombs: {failed} refused, {done} decoded correctly, {worst / 2**20:.0f} MiB at most, {len(problems)} problems")
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
        kinds["decoded"] += 1
        longest = max(longest, report["end"])
        if report["end"] > real_length(report, length, (folder / name).read_bytes()) + 1:
            problems.append(f"{name}: duration {report['end']:.2f} s ({report['frames']} frames, {report['heard']:.2f} s of sound)")
        if report["seconds"] > 20 + 2 * report["end"]:
            problems.append(f"{name}: took {report['seconds']:.1f} s")
    for error, count in errors.most_common():
        print(f"    {count:6} × {error}")
    total = sum(kinds.values())
    print(f"{total} damaged files: {kinds['refused']} refused, {kinds['decoded']} decoded, {slowest:.1f} s at most, the longest {longest:.2f} s, {len(problems)} problems")
    return problems if total else ["no file was read"]


def real_length(report, length, data):
    """The true length of a damaged file in seconds: the length of the original, unless it has more sound, or it is a GIF,
    whose frames have their own display times, or the unit of its clock was changed, which every player follows."""
    gif_seconds = gif_length(data) if data.startswith((b"GIF87a", b"GIF89a")) else 0
    return max(length * matroska_clock(data), report["heard"], gif_seconds)


def matroska_clock(data):
    """The clock unit of a Matroska file in milliseconds, at least 1; 1 for other files."""
    at = data.find(b"\x2a\xd7\xb1", 0, 4096)
    if not data.startswith(b"\x1a\x45\xdf\xa3") or at < 0 or not 0x81 <= data[at + 3] <= 0x88:
        return 1
    size = data[at + 3] & 0x0F
    return max(1, int.from_bytes(data[at + 4 : at + 4 + size], "big") / 1e6)


def gif_length(data):
    """The display time of a GIF in seconds. Skips bytes that start no block, as players do. Frames with a delay below
    0.02 s or above decoder.max_gap count as 0.1 s."""
    total, delay, at = 0.0, 0, 13
    if len(data) > 10 and data[10] & 0x80:
        at += 3 << (data[10] & 7) + 1
    while at < len(data):
        if data[at : at + 3] == b"\x21\xf9\x04" and len(data) >= at + 8:
            delay = int.from_bytes(data[at + 4 : at + 6], "little")
            at = skip_blocks(data, at + 2)
        elif data[at] == 0x21:
            at = skip_blocks(data, at + 2)
        elif data[at] == 0x2C and len(data) >= at + 10:
            total += delay / 100 if 2 <= delay <= MAX_DELAY else 0.1
            colours = 3 << (data[at + 9] & 7) + 1 if data[at + 9] & 0x80 else 0
            delay, at = 0, skip_blocks(data, at + 10 + colours + 1)
        else:
            at += 1
    return total


def skip_blocks(data, at):
    """The offset after a chain of length-prefixed blocks."""
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
