#!/usr/bin/env python3
"""Compares the responses of two builds of the service.

    scripts/eval/compare_answers.py record BASE_URL OUT.json CLIP... [--field NAME=VALUE]... [--only REGEX]
    scripts/eval/compare_answers.py reread BASE_URL OUT.json [--only REGEX]
    scripts/eval/compare_answers.py diff OLD.json NEW.json [--ignore REGEX]... [--examples N]

`record` ingests the clips into a running service with an empty data folder, then calls every read route. `reread` only
calls the read routes, for example after another build was started with the data folder of the first. Both write
status, type and body of every response to OUT.json. `diff` compares two such files, prints the differences by route and
JSON path, and fails if there are any. It ignores values that vary between runs; see `VARYING`.

Uses only the API. Sends SHOTLOG_TOKEN if it is set.
"""
import argparse
import collections
import concurrent.futures
import hashlib
import http.client
import json
import math
import os
import pathlib
import re
import sys
import threading
import time
import urllib.parse
import uuid

import compare_requests

# Values that vary between runs of the same build: patterns of route and JSON path.
VARYING = [
    (r"", r"\.(created_at|updated_at|traceback|job_id|request_id|took)$"),
    (r"/videos/plan", r"\.seconds$"),
    # Local storage derives it from the inode and time stamp.
    (r"/storage", r"\.headers\.ETag$"),
]
# The same within texts.
VARYING_TEXT = [
    (re.compile(r"\b[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}\b"), "<uuid>"),
    (re.compile(r"\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)"), "<time>"),
]
# Smaller differences between numbers are ignored.
NOISE = 1e-6
# Response headers that are compared.
HEADERS = ["Allow", "Cache-Control", "Content-Disposition", "Content-Range", "ETag", "Location"]
# Maximum differences recorded per response.
MAX_DIFFERENCES = 500


# ---------------------------------------------------------------- recording


class Service:
    """A running service."""

    def __init__(self, base):
        self.base = base.rstrip("/")
        self.host = urllib.parse.urlsplit(self.base).netloc
        self.local = threading.local()
        # Job ids, which differ in each run, to their placeholders.
        self.jobs = {}

    def send(self, method, path, body=None, headers=None):
        """Status, headers and body of one response, without following redirects."""
        headers = dict(headers or {})
        if token := os.environ.get("SHOTLOG_TOKEN"):
            headers["X-Core-Token"] = token
        prefix = urllib.parse.urlsplit(self.base).path
        for last in (False, True):
            connection = getattr(self.local, "connection", None)
            if connection is None:
                connection = http.client.HTTPConnection(self.host, timeout=600)
                self.local.connection = connection
            try:
                connection.request(method, prefix + path, body, headers)
                response = connection.getresponse()
                return response.status, response.headers, response.read()
            except (http.client.HTTPException, ConnectionError):
                # The service may close an idle connection, or one whose body it refused.
                connection.close()
                self.local.connection = None
                if last:
                    raise
        return None

    def document(self, path):
        """The JSON of a GET that succeeds."""
        status, _, body = self.send("GET", path)
        if status != 200:
            raise SystemExit(f"{self.base}{path}: {status} {body.decode(errors='replace')}")
        return json.loads(body)

    def record(self, request):
        """Sends a request; returns the response in its stored form."""
        status, headers, body = self.send(
            request.method, request.path, request.body, request.headers
        )
        kind = headers.get("Content-Type", "").split(";")[0]
        stored = {"route": request.route, "status": status, "type": kind}
        kept = {name: headers[name] for name in HEADERS if name in headers}
        if kept:
            stored["headers"] = {name: self.portable(value) for name, value in kept.items()}
        if re.match(r"(image|video|audio|font)/|application/octet-stream|text/html", kind):
            stored["body"] = {"bytes": len(body), "sha256": hashlib.sha256(body).hexdigest()}
            return stored
        text = self.portable(body.decode(errors="replace"))
        stored["body"] = json.loads(text) if kind.endswith("json") and text else text
        return stored

    def portable(self, text):
        """The text with placeholders for the service's address and job ids."""
        text = text.replace(self.base, "{base}").replace(self.host, "{host}")
        for job_id, name in self.jobs.items():
            text = text.replace(job_id, name)
        return text

    def finished(self, accepted, name):
        """Waits for a job; returns it, and uses `name` as the placeholder of its id."""
        job_id = accepted["job_id"]
        self.jobs[job_id] = "{job " + name + "}"
        while True:
            job = self.document(f"/jobs/{job_id}")
            if job["status"] in ("done", "failed"):
                return job
            time.sleep(0.1)

    def upload(self, clip, fields):
        """The response to an upload."""
        boundary = uuid.uuid4().hex
        path = pathlib.Path(clip)
        body = compare_requests.multipart(boundary, fields, path.name, path.read_bytes())
        kind = {"Content-Type": f"multipart/form-data; boundary={boundary}"}
        status, _, answer = self.send("POST", "/videos", body, kind)
        if status != 202:
            raise SystemExit(f"{clip}: {status} {answer.decode(errors='replace')}")
        return json.loads(answer)


def ingest(service, clips, fields):
    """Ingests everything; returns the recorded jobs by request."""
    answers = {}

    def wait_for(name, route, accepted):
        started = time.monotonic()
        job = service.finished(accepted, name)
        error = f": {job['error']}" if job["error"] else ""
        print(f"{name}: {job['status']}, {time.monotonic() - started:.1f} s{error}", flush=True)
        answers[f"the job of {name}"] = {"route": route, "status": 200, "body": job}
        # Videos are listed by ingest time in whole seconds.
        time.sleep(1 - time.time() % 1)
        return job

    for clip in clips:
        wait_for(pathlib.Path(clip).name, "POST /videos", service.upload(clip, fields))
    first = pathlib.Path(clips[0])
    again = wait_for(f"{first.name} again", "POST /videos", service.upload(first, fields))
    if video := (again["result"] or {}).get("video_id"):
        for query in ("", "?force=false"):
            status, _, body = service.send("POST", f"/videos/{video}/aggregates{query}")
            if status != 202:
                raise SystemExit(f"re-run of aggregates: {status} {body.decode()}")
            wait_for(f"aggregates{query}", "POST /videos/{video}/aggregates", json.loads(body))
    broken = compare_requests.multipart("b", fields, "not-a-video.mp4", b"no video at all" * 50)
    kind = {"Content-Type": "multipart/form-data; boundary=b"}
    _, _, body = service.send("POST", "/videos", broken, kind)
    wait_for("not-a-video.mp4", "POST /videos", json.loads(body))
    # Record the jobs with their placeholders.
    for job_id, name in service.jobs.items():
        plain = compare_requests.Request("GET /jobs/{job}", "GET", f"/jobs/{job_id}")
        events = compare_requests.Request("GET /jobs/{job}/events", "GET", f"/jobs/{job_id}/events")
        answers[f"GET /jobs/{name}"] = service.record(plain)
        answers[f"GET /jobs/{name}/events"] = service.record(events)
    for path in ("/jobs", "/jobs?limit=2&offset=1"):
        request = compare_requests.Request("GET /jobs", "GET", path)
        answers[request.key] = service.record(request)
    for stored in answers.values():
        stored["body"] = json.loads(service.portable(json.dumps(stored["body"])))
    return answers


def read(service, only, workers):
    """The recorded responses of every read route, by request."""
    requests = list(compare_requests.all_requests(service.document))
    requests = [request for request in requests if re.search(only, request.key)]
    answers, started = {}, time.monotonic()
    with concurrent.futures.ThreadPoolExecutor(workers) as pool:
        for number, (request, stored) in enumerate(
            zip(requests, pool.map(service.record, requests)), 1
        ):
            answers[request.key] = stored
            if number % 500 == 0 or number == len(requests):
                took = time.monotonic() - started
                print(f"{number} of {len(requests)} requests, {took:.0f} s", flush=True)
    statuses = collections.Counter(stored["status"] for stored in answers.values())
    print(f"{len(answers)} responses by status: {dict(sorted(statuses.items()))}")
    if crashed := [key for key, stored in answers.items() if stored["status"] >= 500]:
        print(f"with status 5xx: {crashed}")
    return answers


def metric_types(service):
    """The names and types of all metrics, without their values."""
    _, _, body = service.send("GET", "/metrics")
    lines = sorted({line for line in body.decode().splitlines() if line.startswith("# TYPE ")})
    return {"route": "GET /metrics", "status": 200, "body": lines}


# ---------------------------------------------------------------- comparing


def normalize(text):
    """A text with placeholders for values that vary."""
    for pattern, placeholder in VARYING_TEXT:
        text = pattern.sub(placeholder, text)
    return text


def short(value):
    """A printable form of limited length."""
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 90 else f"{text[:70]}… ({len(text)} characters)"


def differences(old, new, path, varies):
    """Yields path, old and new value of each difference, in printable form."""
    if varies.search(path):
        if (old is None) != (new is None):
            yield path, short(old), short(new)
    elif isinstance(old, dict) and isinstance(new, dict):
        for key in old:
            if key not in new:
                yield f"{path}.{key}", short(old[key]), "absent"
            else:
                yield from differences(old[key], new[key], f"{path}.{key}", varies)
        for key in new:
            if key not in old:
                yield f"{path}.{key}", "absent", short(new[key])
        common = [key for key in old if key in new]
        order = [key for key in new if key in old]
        if common != order:
            yield f"{path} (order of keys)", short(common), short(order)
    elif isinstance(old, list) and isinstance(new, list):
        if len(old) != len(new):
            yield f"{path} (length)", len(old), len(new)
        for place, (left, right) in enumerate(zip(old, new)):
            yield from differences(left, right, f"{path}[{place}]", varies)
    elif isinstance(old, str) and isinstance(new, str):
        old, new = normalize(old), normalize(new)
        if "\n" in old and "\n" in new:
            yield from differences(old.split("\n"), new.split("\n"), f"{path} line ", varies)
        elif old != new:
            yield path, short(old), short(new)
    elif type(old) is not type(new):
        # An integer that becomes a float changes the JSON text: 1 and 1.0.
        yield path, short(old), short(new)
    elif isinstance(old, float):
        if not math.isclose(old, new, rel_tol=NOISE, abs_tol=NOISE):
            yield path, short(old), short(new)
    elif old != new:
        yield path, short(old), short(new)


def path_pattern(path):
    """The path without indices and ids."""
    path = re.sub(r"line \[\d+\]", "line", path)
    return re.sub(r"\b[0-9a-f]{16}\b", "{video}", re.sub(r"\[\d+\]", "[]", path))


def compare(title, old, new, ignored, examples):
    """Prints the differences between two sets of responses; true if there are any."""
    shared = [key for key in old if key in new]
    groups, differing = collections.defaultdict(list), set()
    for key in shared:
        route = old[key]["route"]
        paths = [varying for where, varying in VARYING if re.search(where, route)]
        found = []
        for difference in differences(old[key], new[key], "", re.compile("|".join(paths))):
            place = f"{key} {difference[0]}"
            if not any(pattern.search(place) for pattern in ignored):
                found.append(difference)
            if len(found) == MAX_DIFFERENCES:
                break
        for path, left, right in found:
            differing.add(key)
            groups[route, path_pattern(path)].append((key, path, left, right))
    equal = len(shared) - len(differing)
    print(f"{title}: {len(shared)} responses compared, {equal} equal, {len(differing)} differ")
    for (route, pattern), found in sorted(groups.items(), key=lambda group: group[0]):
        answers = len({key for key, *_ in found})
        print(f"\n  {route}: {pattern}: {len(found)} in {answers} responses")
        for key, path, left, right in found[:examples]:
            print(f"    {key}\n      {path}: {left} -> {right}")
    unmatched = False
    for side, these, those in (("OLD", old, new), ("NEW", new, old)):
        missing = [key for key in these if key not in those]
        missing = [key for key in missing if not any(p.search(key) for p in ignored)]
        if missing:
            unmatched = True
            print(f"\n  only in {side}: {len(missing)}")
            for key in missing[: max(examples, 10)]:
                print(f"    {key}")
    if groups or unmatched:
        print()
    return bool(differing) or unmatched


def diff(old, new, ignored, examples):
    """Compares two files; true if they differ."""
    ignored = [re.compile(pattern) for pattern in ignored]
    old, new = (json.loads(pathlib.Path(file).read_text()) for file in (old, new))
    differ = False
    # A file of `reread` has no ingests.
    for part in ("ingest", "answers", "document"):
        if part in old and part in new:
            differ |= compare(part, old[part], new[part], ignored, examples)
        elif part in old or part in new:
            print(f"{part}: in one file only, not compared")
    return differ


# ---------------------------------------------------------------- the command line


def save(recorded, out):
    """Writes the file atomically."""
    partial = pathlib.Path(f"{out}.part")
    partial.write_text(json.dumps(recorded, indent=1, ensure_ascii=False) + "\n")
    partial.replace(out)


def main():
    """Runs one command."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(dest="command", required=True)
    for name in ("record", "reread"):
        command = commands.add_parser(name)
        command.add_argument("base", metavar="BASE_URL")
        command.add_argument("out", metavar="OUT.json")
        command.add_argument("--workers", type=int, default=3, help="concurrent requests")
        command.add_argument(
            "--only", default="", help="requests to send, such as '^GET ' or '/ask'", metavar="REGEX"
        )
        if name == "record":
            command.add_argument("clips", metavar="CLIP", nargs="+")
            command.add_argument(
                "--field", action="append", default=[], help="field of each ingest, NAME=VALUE"
            )
    command = commands.add_parser("diff")
    command.add_argument("old", metavar="OLD.json")
    command.add_argument("new", metavar="NEW.json")
    command.add_argument(
        "--ignore", action="append", default=[], help="request and path to ignore", metavar="REGEX"
    )
    command.add_argument("--examples", type=int, default=3, help="examples printed per difference")
    arguments = parser.parse_args()

    if arguments.command == "diff":
        sys.exit(1 if diff(arguments.old, arguments.new, arguments.ignore, arguments.examples) else 0)
    service, recorded = Service(arguments.base), {}
    if arguments.command == "record":
        fields = [field.split("=", 1) for field in arguments.field]
        recorded["ingest"] = ingest(service, arguments.clips, fields)
        save(recorded, arguments.out)
    recorded["answers"] = read(service, arguments.only, arguments.workers)
    if arguments.command == "record":
        recorded["ingest"]["GET /metrics"] = metric_types(service)
    document = compare_requests.Request("GET /openapi.json", "GET", "/openapi.json")
    recorded["document"] = {document.key: service.record(document)}
    save(recorded, arguments.out)


if __name__ == "__main__":
    main()
