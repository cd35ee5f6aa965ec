"""The test environment of scripts/lm/scenarios.py: a language model server, a proxy in front of it, and the service."""
import contextlib
import http.server
import json
import os
import pathlib
import re
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
import uuid

HERE = pathlib.Path(__file__).parent


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def http_json(url, body=None, kind="application/json"):
    """Status and JSON of a response, including error responses."""
    request = urllib.request.Request(url, data=body)
    if body is not None:
        request.add_header("Content-Type", kind)
    try:
        with urllib.request.urlopen(request) as response:
            return response.status, json.load(response)
    except urllib.error.HTTPError as error:
        return error.code, json.loads(error.read() or b"null")


class Program:
    """A child process: started, waited for until healthy, and stopped."""

    def __init__(self, command, log, health, **environment):
        self.log = pathlib.Path(log)
        with self.log.open("ab") as out:
            self.process = subprocess.Popen(
                command, stdout=out, stderr=out, env={**os.environ, **environment}
            )
        for _ in range(600):
            with contextlib.suppress(OSError, ValueError):
                if http_json(health)[0] == 200:
                    return
            if self.process.poll() is not None:
                break
            time.sleep(0.2)
        self.stop()
        raise SystemExit(f"{command[0]} did not start:\n{self.log.read_text()[-2000:]}")

    def stop(self, sign=signal.SIGTERM):
        if self.process.poll() is None:
            self.process.send_signal(sign)
            try:
                self.process.wait(30)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()


class ModelServer:
    """The language model server, always on the same port."""

    def __init__(self, model, scratch):
        self.model, self.log = model, scratch / "server.log"
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.program = None

    def start(self, context):
        self.stop()
        command = [sys.executable, str(HERE / "server.py"), self.model, str(self.port), str(context)]
        self.program = Program(command, self.log, f"{self.url}/health")

    def is_busy(self):
        return any(slot["is_processing"] for slot in http_json(f"{self.url}/slots")[1])

    def stop(self, sign=signal.SIGTERM):
        if self.program:
            self.program.stop(sign)
            self.program = None


class Proxy:
    """A proxy that records all exchanges and changes the server's behaviour as `deviation` describes."""

    def __init__(self, server, log):
        self.server, self.log, self.exchanges, self.deviation = server, log, [], None
        proxy = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                proxy.forward(self, body)

            def log_message(self, *_):
                pass

        self.http = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.http.daemon_threads = True
        threading.Thread(target=self.http.serve_forever, daemon=True).start()
        self.url = f"http://127.0.0.1:{self.http.server_address[1]}/v1"

    def take(self):
        """Returns and clears the recorded exchanges: request, status and response of each."""
        exchanges, self.exchanges = self.exchanges, []
        return exchanges

    def forward(self, handler, request):
        deviation = self.deviation
        body = dict(request)
        refusal = deviation.refusal(body) if deviation else None
        if refusal:
            status, response = 400, {"error": {"message": refusal, "type": "invalid_request_error"}}
        else:
            url = f"{self.server.url}{handler.path}"
            status, response = http_json(url, json.dumps(body).encode())
        self.exchanges.append((request, status, response))
        with self.log.open("a") as log:
            print(json.dumps({"request": request, "status": status, "response": response}), file=log)
        text = json.dumps(response).encode()
        truncated = deviation and not refusal and deviation.truncate_next()
        with contextlib.suppress(OSError):
            handler.send_response(status)
            handler.send_header("Content-Type", "application/json")
            handler.send_header("Content-Length", str(len(text)))
            handler.end_headers()
            handler.wfile.write(text[: len(text) // 2] if truncated else text)
            handler.close_connection = bool(truncated)


class Deviation:
    """How the proxy's behaviour differs from the server's.

    `refuses` lists response formats that it refuses by name; with `ignores`, it ignores the requested format; the
    first `truncates` responses are cut off.
    """

    def __init__(self, refuses=(), ignores=False, truncates=0):
        self.refuses, self.ignores, self.truncates = refuses, ignores, truncates

    def refusal(self, body):
        format = body.get("response_format", {}).get("type")
        if format in self.refuses:
            return f"response_format of type {format} is not supported"
        if self.ignores:
            body.pop("response_format", None)
        return None

    def truncate_next(self):
        self.truncates -= 1
        return self.truncates >= 0


class Service:
    """The service with a data folder and a language model at `url`."""

    def __init__(self, binary, scratch, data, url, **llm):
        port = free_port()
        self.base = f"http://127.0.0.1:{port}"
        settings = {"kind": "openai", "url": url, "vision": False, "timeout": 300, "attempts": 2, **llm}
        environment = {f"SERVICE_LLM__{key.upper()}": str(value).lower() for key, value in settings.items()}
        self.program = Program(
            [binary, "--config", "config.toml", "serve"],
            scratch / "service.log",
            f"{self.base}/health",
            SERVICE_HTTP__LISTEN=f"127.0.0.1:{port}",
            SERVICE_DATA_DIR=str(scratch / data),
            **environment,
        )

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.program.stop()

    def call(self, path, body=None, kind="application/json"):
        if isinstance(body, dict):
            body = json.dumps(body).encode()
        status, response = http_json(self.base + path, body, kind)
        if status >= 400:
            raise SystemExit(f"{path} returned {status}: {response}")
        return response

    def job(self, started):
        """Waits until the job has ended; returns it."""
        while True:
            job = self.call(f"/jobs/{started['job_id']}")
            if job["status"] in ("done", "failed"):
                return job
            time.sleep(0.2)

    def ingest(self, file, **fields):
        boundary = uuid.uuid4().hex
        head = "".join(
            f'--{boundary}\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}\r\n'
            for name, value in fields.items()
        )
        head += f'--{boundary}\r\nContent-Disposition: form-data; name="file"; filename="{pathlib.Path(file).name}"\r\n\r\n'
        body = head.encode() + pathlib.Path(file).read_bytes() + f"\r\n--{boundary}--\r\n".encode()
        return self.job(self.call("/videos", body, f"multipart/form-data; boundary={boundary}"))

    def start_rerun(self, video, *aggregators, force=True):
        form = f"aggregators={','.join(aggregators)}".encode()
        path = f"/videos/{video}/aggregates?force={str(force).lower()}"
        return self.call(path, form, "application/x-www-form-urlencoded")

    def rerun(self, video, *aggregators, force=True):
        return self.job(self.start_rerun(video, *aggregators, force=force))

    def aggregates(self, video):
        return self.call(f"/videos/{video}/aggregates")["aggregates"]


CITATION = re.compile(r"\[([0-9a-f]{16}) ([\d.]+)-([\d.]+)s?\]")
