"""Sends generated requests to a running service: valid, invalid and hostile ones, for every operation of its
/openapi.json and beyond. Every response must conform to the document.

    scripts/torture/hostile_requests.py BASE [--count 200000] [--seconds 3600] [--processes 8] [--seed N]
        [--pid PID] [--video ID …] [--token TOKEN]

`--pid` is the process of the service, whose resident memory is monitored. `--video` names stored videos, which are
requested but never deleted. Exits with 1 if a response is a server error, is not declared or does not match its schema,
if the service stops responding, or if its memory grows. Memory may grow in the first quarter, while caches, the job
history and the allocator's arenas fill. After that the median of the last quarter may exceed that of the second by at
most 16 MiB.
"""

import argparse
import collections
import http.client
import json
import multiprocessing
import random
import socket
import statistics
import sys
import time
import urllib.parse

GROWTH = 16 << 20
TIMEOUT = 60
# Strings that break unprepared code.
HOSTILE = [
    "", " ", "\0", "\ufeff", "é", "日本語", "🎥" * 50, "‮txt", "a" * 300, "x" * 20000, "../../etc/passwd", "..%2f..%2fx",
    "%00", "%zz", "' OR 1=1 --", "\"; DROP TABLE videos; --", "<script>alert(1)</script>", "{{7*7}}", "${jndi:ldap://a}",
    "null", "true", "NaN", "Infinity", "-1", "1e999", "0x10", "9" * 400, "\r\nX-Injected: 1", "a,b,c", ",", "*", "[]", "{}",
    "file:///etc/passwd", "http://127.0.0.1:1/x.mp4", "http://[::1]/", "http://user:pw@169.254.169.254/", "ftp://a/b",
    "javascript:1", "http://", "//a", "data:video/mp4;base64,AAAA",
]
NUMBERS = [0, 1, -1, 2, 5, 50, 51, 500, 501, 2**31, 2**32, 2**53, -(2**63), 2**64, 10**40, 0.5, -0.0, 1e-320, 1e308, 1.5]
METHODS = ["GET", "HEAD", "POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "PROPFIND"]
# Malformed requests as bytes; the next connection must still be served.
MALFORMED = [
    b"\r\n\r\n", b"\0" * 64, b"GET\r\n\r\n", b"GET / HTTP/9.9\r\n\r\n", b"GET / HTTP/1.1\r\nHost\r\n\r\n",
    b"POST /query HTTP/1.1\r\nHost: localhost\r\nContent-Length: -1\r\n\r\n",
    b"POST /query HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nabcdef",
    b"POST /query HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\nContent-Length: 4\r\n\r\nzz\r\n",
    b"POST /query HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffff1\r\n",
    b"GET /videos HTTP/1.1\r\nHost: localhost\r\n" + b"X: y\r\n" * 500 + b"\r\n",
    b"GET /" + b"a" * 100_000 + b" HTTP/1.1\r\nHost: localhost\r\n\r\n",
    b"GET /videos HTTP/1.1\r\nHost: localhost\r\nX: " + b"y" * 200_000 + b"\r\n\r\n",
    b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + b"\xff" * 100, b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + b"\x41" * 200,
    b"GET /videos HTTP/1.1\r\nHost: localhost\r\nAccept: \x7f\r\n\r\n",
    b"GET http://localhost/videos HTTP/1.1\r\nHost: localhost\r\n\r\n", b"GET /%ff%fe/%00 HTTP/1.1\r\nHost: localhost\r\n\r\n",
]


class Document:
    """The OpenAPI document: its operations, and validation of values."""

    def __init__(self, document):
        self.document = document
        self.operations = [
            (method.upper(), path, operation)
            for path, item in document["paths"].items()
            for method, operation in item.items()
            if method in ("get", "post", "put", "delete", "patch")
        ]

    def resolve(self, schema):
        while "$ref" in schema:
            target = self.document
            for step in schema["$ref"].lstrip("#/").split("/"):
                target = target[step]
            schema = target
        return schema

    def problems(self, schema, value, at="$"):
        """The violations of a schema by a value."""
        schema = self.resolve(schema)
        if value is None and schema.get("nullable"):
            return []
        violations = [p for part in schema.get("allOf", []) for p in self.problems(part, value, at)]
        for word, maximum in (("oneOf", 1), ("anyOf", 10**9)):
            if word in schema:
                matches = sum(not self.problems(choice, value, at) for choice in schema[word])
                if not 1 <= matches <= maximum:
                    violations.append(f"{at} matches {matches} of the alternatives")
        number = isinstance(value, (int, float)) and not isinstance(value, bool)
        has_type = {
            "object": isinstance(value, dict), "array": isinstance(value, list), "string": isinstance(value, str),
            "boolean": isinstance(value, bool), "integer": number and isinstance(value, int), "number": number,
        }
        if not has_type.get(schema.get("type"), True):
            return violations + [f"{at} is not of type {schema['type']}"]
        if "enum" in schema and value not in schema["enum"]:
            violations.append(f"{at} is none of {schema['enum']}")
        if number and not schema.get("minimum", value) <= value <= schema.get("maximum", value):
            violations.append(f"{at} is out of range")
        if isinstance(value, list) and "items" in schema:
            for place, item in enumerate(value):
                violations += self.problems(schema["items"], item, f"{at}[{place}]")
        if isinstance(value, dict):
            violations += [f"{at}.{name} is missing" for name in schema.get("required", []) if name not in value]
            others = schema.get("additionalProperties", True)
            for name, item in value.items():
                if name in schema.get("properties", {}):
                    violations += self.problems(schema["properties"][name], item, f"{at}.{name}")
                elif others is False:
                    violations.append(f"{at}.{name} is not allowed")
                elif isinstance(others, dict):
                    violations += self.problems(others, item, f"{at}.{name}")
        return violations


class Generator:
    """Generates requests, reproducibly for a seed."""

    def __init__(self, document, videos, seed):
        self.document, self.videos, self.random = document, videos, random.Random(seed)

    def scalar(self):
        choose = self.random.choice
        return choose([choose(HOSTILE), choose(NUMBERS), None, True, False, [], {}, [choose(HOSTILE)], {"a": choose(NUMBERS)}])

    def value(self, schema, wild, depth=0):
        """A valid value for a schema or, with probability `wild`, an arbitrary one."""
        schema, random_ = self.document.resolve(schema), self.random
        if random_.random() < wild:
            return self.scalar()
        for word in ("oneOf", "anyOf"):
            if word in schema:
                return self.value(random_.choice(schema[word]), wild, depth)
        if "allOf" in schema:
            merged = {}
            for part in schema["allOf"]:
                value = self.value(part, wild, depth)
                if not isinstance(value, dict):
                    return value
                merged |= value
            return merged
        if "enum" in schema:
            return random_.choice(schema["enum"])
        match schema.get("type"):
            case "object":
                names = schema.get("properties", {})
                fields = {
                    name: self.value(field_schema, wild, depth + 1)
                    for name, field_schema in names.items()
                    if name in schema.get("required", []) or random_.random() < 0.4
                }
                if random_.random() < wild:
                    fields[random_.choice(HOSTILE)] = self.scalar()
                return fields
            case "array":
                max_items = 3 if depth < 4 else 0
                return [self.value(schema.get("items", {}), wild, depth + 1) for _ in range(random_.randint(0, max_items))]
            case "integer":
                return random_.randint(int(schema.get("minimum", 0)), int(min(schema.get("maximum", 50), 2**31)))
            case "number":
                return round(random_.uniform(schema.get("minimum", 0), min(schema.get("maximum", 60), 10**6)), 3)
            case "boolean":
                return random_.random() < 0.5
            case "string":
                words = ["default_video", "people", "a red car", "minimal", "full", "combined", "who speaks?", "summary", "video"]
                return random_.choice(words + self.videos)
        return self.scalar()

    def part(self, name, schema, method, wild):
        """The text of a path segment or query value."""
        if name == "video_id" and self.random.random() > wild:
            # The videos in --video are read and never deleted.
            if method != "DELETE" and self.videos and self.random.random() < 0.8:
                return self.random.choice(self.videos)
            return f"{self.random.getrandbits(64):016x}"
        value = self.value(schema, wild)
        text = value if isinstance(value, str) else json.dumps(value)
        return "unknown" if method == "DELETE" and text in self.videos else text

    def request(self):
        """(method, path template, target, headers, body)"""
        random_ = self.random
        method, template, operation = random_.choice(self.document.operations)
        wild = random_.choice([0, 0.02, 0.1, 0.5])
        path, query = template, []
        for parameter in operation.get("parameters", []):
            schema = parameter.get("schema", {})
            if parameter["in"] == "path":
                text = self.part(parameter["name"], schema, method, wild)
                path = path.replace("{" + parameter["name"] + "}", urllib.parse.quote(text.encode("utf-8", "replace"), safe=""))
            elif parameter["in"] == "query" and (parameter.get("required") or random_.random() < 0.4):
                query.append((parameter["name"], self.part(parameter["name"], schema, method, wild)))
        if random_.random() < wild:
            query.append((random_.choice(HOSTILE), random_.choice(HOSTILE)))
        headers, body = {}, None
        content = operation.get("requestBody", {}).get("content", {})
        if content:
            kind, media = random_.choice(list(content.items()))
            headers["Content-Type"], body = self.body(kind, media.get("schema", {}), wild)
        if random_.random() < wild:
            name, text = random_.choice([
                ("Range", "bytes=0-,5-1"), ("If-None-Match", "*"), ("Accept", "*/*;q=x, é"), ("Idempotency-Key", "x" * 300),
                ("Origin", "null"), ("X-Request-Id", "a" * 500), ("Content-Type", "text/html; charset=é"), ("Cookie", "shotlog_session=1.2.3"),
                ("Accept-Encoding", "gzip;q=nan"), ("Expect", "100-continue"), ("X-Core-Token", "é"),
            ])
            headers[name] = text
        if random_.random() < wild / 5:
            names_video = any(video in path for video in self.videos)
            method, template = random_.choice([m for m in METHODS if m != "DELETE" or not names_video]), None
        if random_.random() < wild / 10:
            path, template = "/" + urllib.parse.quote(random_.choice(HOSTILE)[:2000]), None
        target = path + ("?" + urllib.parse.urlencode(query, errors="replace") if query else "")
        return method, template, target[:60_000], headers, body

    def body(self, kind, schema, wild):
        value = self.value(schema, wild)
        malformed = self.random.random() < wild
        if kind.startswith("multipart/"):
            return self.multipart(value if isinstance(value, dict) else {}, malformed)
        if kind.endswith("urlencoded"):
            pairs = value.items() if isinstance(value, dict) else [("aggregators", value)]
            text = urllib.parse.urlencode([(name, text if isinstance(text, str) else json.dumps(text)) for name, text in pairs], errors="replace")
            return kind, (text if not malformed else "%&=&==%ff" + text).encode()
        text = json.dumps(value, ensure_ascii=self.random.random() < 0.5).encode("utf-8", "replace")
        if malformed:
            text = self.random.choice([text[: len(text) // 2], b"[" * 5000, b'{"a":' * 5000, b"\xff\xfe", b"", b"1e99999", text + b"x"])
        return kind, text

    def multipart(self, fields, malformed):
        boundary = "b" + "-" * (300 if malformed and self.random.random() < 0.3 else 3)
        lines = []
        for name, value in fields.items():
            content = self.random.randbytes(self.random.choice([0, 10, 4000])) if name == "file" else str(value).encode("utf-8", "replace")
            file = b'; filename="a.mp4"' if name == "file" else b""
            safe = name.encode("utf-8", "replace").replace(b'"', b"").replace(b"\r", b"").replace(b"\n", b"")
            lines += [b"--" + boundary.encode(), b'Content-Disposition: form-data; name="' + safe + b'"' + file, b"", content]
        end = b"--" + boundary.encode() + (b"" if malformed else b"--")
        return f"multipart/form-data; boundary={boundary}", b"\r\n".join([*lines, end, b""])


class ConformanceClient:
    """Sends requests over one connection and checks the responses."""

    def __init__(self, base, document, token):
        self.document, self.token = document, token
        self.host, self.port = base.hostname, base.port or 80
        self.client = None
        self.operations = {(method, path): operation for method, path, operation in document.operations}

    def send(self, method, target, headers, body):
        """Status, content type and body; an event stream is closed at once."""
        headers = headers | ({"X-Core-Token": self.token} if self.token and "X-Core-Token" not in headers else {})
        headers = {name: text.encode("utf-8", "replace") for name, text in headers.items()}
        for again in (False, True):
            self.client = self.client or http.client.HTTPConnection(self.host, self.port, timeout=TIMEOUT)
            try:
                self.client.request(method, target, body=body, headers=headers)
                response = self.client.getresponse()
                kind = response.headers.get_content_type() if "content-type" in response.headers else ""
                if kind == "text/event-stream":
                    self.close()
                    return response.status, kind, b""
                content = response.read()
                if response.will_close:
                    self.close()
                return response.status, kind, content
            except (http.client.HTTPException, ConnectionError, BrokenPipeError) as error:
                # The connection was idle too long, or the service closed it while it refused a body.
                self.close()
                if again:
                    return 0, "", repr(error).encode()

    def close(self):
        if self.client:
            self.client.close()
        self.client = None

    def violation(self, method, template, status, kind, body):
        """What is wrong with a response, or None."""
        if status == 0:
            return "no response: " + body.decode()
        if status >= 500 and status != 503:
            return f"a server error: {body[:300]!r}"
        operation = self.operations.get((method, template))
        if operation is None:
            return None
        declared = operation["responses"].get(str(status))
        if declared is None:
            return f"{status} is not declared: {body[:300]!r}"
        content = declared.get("content")
        if not content or (method == "HEAD"):
            return None
        if kind not in content:
            return f"the content type {kind!r} is not declared for {status}"
        if kind == "application/json":
            try:
                value = json.loads(body)
            except ValueError as error:
                return f"{error} in {body[:300]!r}"
            problems = self.document.problems(content[kind]["schema"], value)
            return f"{problems[:3]} in {body[:300]!r}" if problems else None
        return None

    def send_malformed(self, block):
        """Sends a malformed request; any refusal is fine."""
        try:
            with socket.create_connection((self.host, self.port), timeout=TIMEOUT) as connection:
                connection.sendall(block)
                connection.shutdown(socket.SHUT_WR)
                response = connection.recv(4096)
        except TimeoutError:
            return "no response"
        except OSError:
            # Closed during the request, which is a refusal too.
            return None
        words = response.split(b" ", 2)
        if len(words) > 1 and words[1].startswith(b"5") and words[1] != b"505":
            return f"a server error: {response[:300]!r}"
        return None


def work(options, document, seed, count, end, results):
    """A worker process: sends `count` requests and reports results in batches; puts None at its end."""
    try:
        send_all(options, document, seed, count, end, results)
    finally:
        results.put(None)


def send_all(options, document, seed, count, end, results):
    generator = Generator(document, options.video, seed)
    client = ConformanceClient(urllib.parse.urlsplit(options.base), document, options.token)
    tally, failures = collections.Counter(), []
    for sent in range(1, count + 1):
        if generator.random.random() < 0.01:
            block = generator.random.choice(MALFORMED)
            violation, status, request = client.send_malformed(block), 0, repr(block[:80])
        else:
            method, template, target, headers, body = generator.request()
            try:
                status, kind, content = client.send(method, target, headers, body)
                violation = client.violation(method, template, status, kind, content)
            except (TimeoutError, OSError) as error:
                client.close()
                status, violation = 0, repr(error)
            request = f"{method} {target[:300]} {headers} {(body or b'')[:300]!r}"
        tally[status] += 1
        if violation:
            failures.append(f"seed {seed}, request {sent}: {request}\n    {violation}")
        if sent % 200 == 0 or sent == count or time.monotonic() > end:
            results.put((tally, failures))
            tally, failures = collections.Counter(), []
            if time.monotonic() > end:
                return


def resident(pid):
    """The anonymous resident memory of a process in bytes; 0 without a process id."""
    if not pid:
        return 0
    with open(f"/proc/{pid}/status") as lines:
        return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("RssAnon"))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("base")
    parser.add_argument("--count", type=int, default=200_000)
    parser.add_argument("--seconds", type=float, default=3600)
    parser.add_argument("--processes", type=int, default=8)
    parser.add_argument("--seed", type=int, default=14)
    parser.add_argument("--pid", type=int)
    parser.add_argument("--video", action="append", default=[])
    parser.add_argument("--token", default="")
    options = parser.parse_args()
    base = urllib.parse.urlsplit(options.base)
    first = http.client.HTTPConnection(base.hostname, base.port or 80, timeout=TIMEOUT)
    first.request("GET", "/openapi.json")
    document = Document(json.loads(first.getresponse().read()))

    began, results = time.monotonic(), multiprocessing.Queue()
    share = -(-options.count // options.processes)
    workers = [
        multiprocessing.Process(
            target=work, args=(options, document, options.seed + number, share, began + options.seconds, results)
        )
        for number in range(options.processes)
    ]
    for worker in workers:
        worker.start()
    tally, failures, running = collections.Counter(), [], len(workers)
    memory, reported = [], 0
    while running:
        batch = results.get()
        if batch is None:
            running -= 1
            continue
        tally += batch[0]
        failures += batch[1]
        memory.append(resident(options.pid))
        if tally.total() - reported >= options.count / 10:
            reported = tally.total()
            took = time.monotonic() - began
            print(f"{reported} requests in {took:.0f} s, {memory[-1] >> 20} MiB resident, {len(failures)} failures", flush=True)
    for worker in workers:
        worker.join()
        if worker.exitcode:
            failures.append("a worker process failed")
    took = time.monotonic() - began
    statuses = ", ".join(f"{status or 'none'}: {count}" for status, count in sorted(tally.items()))
    print(f"{tally.total()} requests generated in {took:.0f} s ({tally.total() / took:.0f}/s), by status {statuses}")
    if options.pid and len(memory) >= 4:
        quarter = len(memory) // 4
        quarters = [statistics.median(memory[at * quarter : (at + 1) * quarter]) for at in range(4)]
        medians = ", ".join(f"{median / 2**20:.1f}" for median in quarters)
        print(f"resident memory by quarters: median {medians} MiB, maximum {max(memory) >> 20} MiB")
        if quarters[3] - quarters[1] > GROWTH:
            failures.append(f"memory grew by {(quarters[3] - quarters[1]) / 2**20:.1f} MiB after its first quarter")
    for failure in failures[:20]:
        print(failure, file=sys.stderr)
    if failures:
        print(f"{len(failures)} failures", file=sys.stderr)
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
