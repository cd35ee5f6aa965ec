"""Sends generated requests to a running service: valid ones, invalid ones and hostile ones, for every
operation of its /openapi.json and beyond. Every answer has to be one that the document allows.

    scripts/torture_requests.py BASE [--count 200000] [--seconds 3600] [--processes 8] [--seed N]
        [--pid PID] [--video ID …] [--token TOKEN]

`--pid` is the service's process, whose resident memory is watched; `--video` are stored videos, which
are asked for and never deleted. Ends with 1 when an answer is a server error, is not declared or does
not fit its schema, when the service stops answering, or when its memory grows. In the first quarter it
may: caches, the history of jobs and the allocator's arenas fill. From then on it is flat where the
median of the last quarter is at most 16 MiB above that of the second.
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
# Strings that break what is not prepared for them.
HOSTILE = [
    "", " ", "\0", "\ufeff", "é", "日本語", "🎥" * 50, "‮txt", "a" * 300, "x" * 20000, "../../etc/passwd", "..%2f..%2fx",
    "%00", "%zz", "' OR 1=1 --", "\"; DROP TABLE videos; --", "<script>alert(1)</script>", "{{7*7}}", "${jndi:ldap://a}",
    "null", "true", "NaN", "Infinity", "-1", "1e999", "0x10", "9" * 400, "\r\nX-Injected: 1", "a,b,c", ",", "*", "[]", "{}",
    "file:///etc/passwd", "http://127.0.0.1:1/x.mp4", "http://[::1]/", "http://user:pw@169.254.169.254/", "ftp://a/b",
    "javascript:1", "http://", "//a", "data:video/mp4;base64,AAAA",
]
NUMBERS = [0, 1, -1, 2, 5, 50, 51, 500, 501, 2**31, 2**32, 2**53, -(2**63), 2**64, 10**40, 0.5, -0.0, 1e-320, 1e308, 1.5]
METHODS = ["GET", "HEAD", "POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "PROPFIND"]
# Requests that are none, as bytes; what matters is that the next connection is served.
BROKEN = [
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
    """The OpenAPI document: its operations, and whether a value fits a schema."""

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
        """Where a value departs from a schema."""
        schema = self.resolve(schema)
        if value is None and schema.get("nullable"):
            return []
        found = [p for part in schema.get("allOf", []) for p in self.problems(part, value, at)]
        for word, most in (("oneOf", 1), ("anyOf", 10**9)):
            if word in schema:
                fit = sum(not self.problems(choice, value, at) for choice in schema[word])
                if not 1 <= fit <= most:
                    found.append(f"{at} fits {fit} of the alternatives")
        number = isinstance(value, (int, float)) and not isinstance(value, bool)
        right = {
            "object": isinstance(value, dict), "array": isinstance(value, list), "string": isinstance(value, str),
            "boolean": isinstance(value, bool), "integer": number and isinstance(value, int), "number": number,
        }
        if not right.get(schema.get("type"), True):
            return found + [f"{at} is not of type {schema['type']}"]
        if "enum" in schema and value not in schema["enum"]:
            found.append(f"{at} is none of {schema['enum']}")
        if number and not schema.get("minimum", value) <= value <= schema.get("maximum", value):
            found.append(f"{at} is out of range")
        if isinstance(value, list) and "items" in schema:
            for place, item in enumerate(value):
                found += self.problems(schema["items"], item, f"{at}[{place}]")
        if isinstance(value, dict):
            found += [f"{at}.{name} is missing" for name in schema.get("required", []) if name not in value]
            others = schema.get("additionalProperties", True)
            for name, item in value.items():
                if name in schema.get("properties", {}):
                    found += self.problems(schema["properties"][name], item, f"{at}.{name}")
                elif others is False:
                    found.append(f"{at}.{name} is not allowed")
                elif isinstance(others, dict):
                    found += self.problems(others, item, f"{at}.{name}")
        return found


class Generator:
    """Requests, the same for the same seed."""

    def __init__(self, document, videos, seed):
        self.document, self.videos, self.random = document, videos, random.Random(seed)

    def scalar(self):
        choose = self.random.choice
        return choose([choose(HOSTILE), choose(NUMBERS), None, True, False, [], {}, [choose(HOSTILE)], {"a": choose(NUMBERS)}])

    def value(self, schema, wild, depth=0):
        """A value for a schema: one that fits, unless `wild` strikes."""
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
                some = {
                    name: self.value(of, wild, depth + 1)
                    for name, of in names.items()
                    if name in schema.get("required", []) or random_.random() < 0.4
                }
                if random_.random() < wild:
                    some[random_.choice(HOSTILE)] = self.scalar()
                return some
            case "array":
                most = 3 if depth < 4 else 0
                return [self.value(schema.get("items", {}), wild, depth + 1) for _ in range(random_.randint(0, most))]
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
        """The text of a path's part or of a query's value."""
        if name == "video_id" and self.random.random() > wild:
            # Those that were named are read and never removed.
            if method != "DELETE" and self.videos and self.random.random() < 0.8:
                return self.random.choice(self.videos)
            return f"{self.random.getrandbits(64):016x}"
        value = self.value(schema, wild)
        text = value if isinstance(value, str) else json.dumps(value)
        return "kept" if method == "DELETE" and text in self.videos else text

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
            named = any(video in path for video in self.videos)
            method, template = random_.choice([m for m in METHODS if m != "DELETE" or not named]), None
        if random_.random() < wild / 10:
            path, template = "/" + urllib.parse.quote(random_.choice(HOSTILE)[:2000]), None
        target = path + ("?" + urllib.parse.urlencode(query, errors="replace") if query else "")
        return method, template, target[:60_000], headers, body

    def body(self, kind, schema, wild):
        value = self.value(schema, wild)
        strikes = self.random.random() < wild
        if kind.startswith("multipart/"):
            return self.multipart(value if isinstance(value, dict) else {}, strikes)
        if kind.endswith("urlencoded"):
            pairs = value.items() if isinstance(value, dict) else [("aggregators", value)]
            text = urllib.parse.urlencode([(name, of if isinstance(of, str) else json.dumps(of)) for name, of in pairs], errors="replace")
            return kind, (text if not strikes else "%&=&==%ff" + text).encode()
        text = json.dumps(value, ensure_ascii=self.random.random() < 0.5).encode("utf-8", "replace")
        if strikes:
            text = self.random.choice([text[: len(text) // 2], b"[" * 5000, b'{"a":' * 5000, b"\xff\xfe", b"", b"1e99999", text + b"x"])
        return kind, text

    def multipart(self, fields, strikes):
        boundary = "b" + "-" * (300 if strikes and self.random.random() < 0.3 else 3)
        lines = []
        for name, value in fields.items():
            content = self.random.randbytes(self.random.choice([0, 10, 4000])) if name == "file" else str(value).encode("utf-8", "replace")
            file = b'; filename="a.mp4"' if name == "file" else b""
            safe = name.encode("utf-8", "replace").replace(b'"', b"").replace(b"\r", b"").replace(b"\n", b"")
            lines += [b"--" + boundary.encode(), b'Content-Disposition: form-data; name="' + safe + b'"' + file, b"", content]
        end = b"--" + boundary.encode() + (b"" if strikes else b"--")
        return f"multipart/form-data; boundary={boundary}", b"\r\n".join([*lines, end, b""])


class Judge:
    """Sends requests over one connection and judges the answers."""

    def __init__(self, base, document, token):
        self.document, self.token = document, token
        self.host, self.port = base.hostname, base.port or 80
        self.client = None
        self.operations = {(method, path): operation for method, path, operation in document.operations}

    def send(self, method, target, headers, body):
        """Status, headers and body; of a stream only what comes at once."""
        headers = headers | ({"X-Core-Token": self.token} if self.token and "X-Core-Token" not in headers else {})
        headers = {name: text.encode("utf-8", "replace") for name, text in headers.items()}
        for again in (False, True):
            self.client = self.client or http.client.HTTPConnection(self.host, self.port, timeout=TIMEOUT)
            try:
                self.client.request(method, target, body=body, headers=headers)
                answer = self.client.getresponse()
                kind = answer.headers.get_content_type() if "content-type" in answer.headers else ""
                if kind == "text/event-stream":
                    self.close()
                    return answer.status, kind, b""
                content = answer.read()
                if answer.will_close:
                    self.close()
                return answer.status, kind, content
            except (http.client.HTTPException, ConnectionError, BrokenPipeError) as error:
                # One that was idle for too long, or one closed on a body that nobody wants.
                self.close()
                if again:
                    return 0, "", repr(error).encode()

    def close(self):
        if self.client:
            self.client.close()
        self.client = None

    def verdict(self, method, template, status, kind, body):
        """What is wrong with an answer; None where nothing is."""
        if status == 0:
            return "no answer: " + body.decode()
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

    def break_in(self, block):
        """Sends what is no request: any refusal will do."""
        try:
            with socket.create_connection((self.host, self.port), timeout=TIMEOUT) as connection:
                connection.sendall(block)
                connection.shutdown(socket.SHUT_WR)
                answer = connection.recv(4096)
        except TimeoutError:
            return "no answer"
        except OSError:
            # Closed in the middle of it: a refusal too.
            return None
        words = answer.split(b" ", 2)
        if len(words) > 1 and words[1].startswith(b"5") and words[1] != b"505":
            return f"a server error: {answer[:300]!r}"
        return None


def work(options, document, seed, count, end, results):
    """One process: sends `count` requests, and tells of them in batches; at last, that it has ended."""
    try:
        send_all(options, document, seed, count, end, results)
    finally:
        results.put(None)


def send_all(options, document, seed, count, end, results):
    generator = Generator(document, options.video, seed)
    judge = Judge(urllib.parse.urlsplit(options.base), document, options.token)
    tally, failures = collections.Counter(), []
    for sent in range(1, count + 1):
        if generator.random.random() < 0.01:
            block = generator.random.choice(BROKEN)
            wrong, status, what = judge.break_in(block), 0, repr(block[:80])
        else:
            method, template, target, headers, body = generator.request()
            try:
                status, kind, content = judge.send(method, target, headers, body)
                wrong = judge.verdict(method, template, status, kind, content)
            except (TimeoutError, OSError) as error:
                judge.close()
                status, wrong = 0, repr(error)
            what = f"{method} {target[:300]} {headers} {(body or b'')[:300]!r}"
        tally[status] += 1
        if wrong:
            failures.append(f"seed {seed}, request {sent}: {what}\n    {wrong}")
        if sent % 200 == 0 or sent == count or time.monotonic() > end:
            results.put((tally, failures))
            tally, failures = collections.Counter(), []
            if time.monotonic() > end:
                return


def resident(pid):
    """Bytes of memory that a process has resident, but for the program and files that are mapped; 0
    where it cannot be told."""
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
    memory, told = [], 0
    while running:
        batch = results.get()
        if batch is None:
            running -= 1
            continue
        tally += batch[0]
        failures += batch[1]
        memory.append(resident(options.pid))
        if tally.total() - told >= options.count / 10:
            told = tally.total()
            took = time.monotonic() - began
            print(f"{told} requests in {took:.0f} s, {memory[-1] >> 20} MiB resident, {len(failures)} failures", flush=True)
    for worker in workers:
        worker.join()
        if worker.exitcode:
            failures.append("a process of this program broke")
    took = time.monotonic() - began
    statuses = ", ".join(f"{status or 'none'}: {count}" for status, count in sorted(tally.items()))
    print(f"{tally.total()} requests generated in {took:.0f} s ({tally.total() / took:.0f}/s), by status {statuses}")
    if options.pid and len(memory) >= 4:
        quarter = len(memory) // 4
        quarters = [statistics.median(memory[at * quarter : (at + 1) * quarter]) for at in range(4)]
        told = ", ".join(f"{of / 2**20:.1f}" for of in quarters)
        print(f"resident by quarters: {told} MiB in the median, {max(memory) >> 20} at most")
        if quarters[3] - quarters[1] > GROWTH:
            failures.append(f"memory grew by {(quarters[3] - quarters[1]) / 2**20:.1f} MiB after its first quarter")
    for failure in failures[:20]:
        print(failure, file=sys.stderr)
    if failures:
        print(f"{len(failures)} failures", file=sys.stderr)
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
