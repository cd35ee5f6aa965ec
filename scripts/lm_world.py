"""What scripts/lm.py works with: a language model's server, a proxy before it, and the service."""
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
    """Status and JSON of an answer, whatever the status."""
    request = urllib.request.Request(url, data=body)
    if body is not None:
        request.add_header("Content-Type", kind)
    try:
        with urllib.request.urlopen(request) as response:
            return response.status, json.load(response)
    except urllib.error.HTTPError as error:
        return error.code, json.loads(error.read() or b"null")


class Program:
    """A program that is started, waited for and ended again."""

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
        self.end()
        raise SystemExit(f"{command[0]} does not start:\n{self.log.read_text()[-2000:]}")

    def end(self, sign=signal.SIGTERM):
        if self.process.poll() is None:
            self.process.send_signal(sign)
            try:
                self.process.wait(30)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()


class ModelServer:
    """The language model's server, always on the same port."""

    def __init__(self, model, scratch):
        self.model, self.log = model, scratch / "server.log"
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.program = None

    def start(self, context):
        self.end()
        command = [sys.executable, str(HERE / "lm_server.py"), self.model, str(self.port), str(context)]
        self.program = Program(command, self.log, f"{self.url}/health")

    def is_asked(self):
        return any(slot["is_processing"] for slot in http_json(f"{self.url}/slots")[1])

    def end(self, sign=signal.SIGTERM):
        if self.program:
            self.program.end(sign)
            self.program = None


class Proxy:
    """Stands before the server, keeps what is said, and is as unlike it as `manner` wants."""

    def __init__(self, server, log):
        self.server, self.log, self.exchanges, self.manner = server, log, [], None
        proxy = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                proxy.answer(self, body)

            def log_message(self, *_):
                pass

        self.http = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.http.daemon_threads = True
        threading.Thread(target=self.http.serve_forever, daemon=True).start()
        self.url = f"http://127.0.0.1:{self.http.server_address[1]}/v1"

    def take(self):
        """What was said since the last time."""
        said, self.exchanges = self.exchanges, []
        return said

    def answer(self, handler, asked):
        manner = self.manner
        body = dict(asked)
        refusal = manner.refusal(body) if manner else None
        if refusal:
            status, said = 400, {"error": {"message": refusal, "type": "invalid_request_error"}}
        else:
            url = f"{self.server.url}{handler.path}"
            status, said = http_json(url, json.dumps(body).encode())
        self.exchanges.append((asked, status, said))
        with self.log.open("a") as log:
            print(json.dumps({"asked": asked, "status": status, "said": said}), file=log)
        text = json.dumps(said).encode()
        cut = manner and not refusal and manner.cuts()
        with contextlib.suppress(OSError):
            handler.send_response(status)
            handler.send_header("Content-Type", "application/json")
            handler.send_header("Content-Length", str(len(text)))
            handler.end_headers()
            handler.wfile.write(text[: len(text) // 2] if cut else text)
            handler.close_connection = bool(cut)


class Manner:
    """How a server differs from the one behind the proxy.

    `refuses` are the formats of answers that it refuses by name; `ignores` is true where it reads
    past what it is asked for; the first `breaks` answers end in their middle.
    """

    def __init__(self, refuses=(), ignores=False, breaks=0):
        self.refuses, self.ignores, self.breaks = refuses, ignores, breaks

    def refusal(self, body):
        asked = body.get("response_format", {}).get("type")
        if asked in self.refuses:
            return f"response_format of type {asked} is not supported"
        if self.ignores:
            body.pop("response_format", None)
        return None

    def cuts(self):
        self.breaks -= 1
        return self.breaks >= 0


class Service:
    """The service over one folder of data, with a language model behind `url`."""

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
        self.program.end()

    def call(self, path, body=None, kind="application/json"):
        if isinstance(body, dict):
            body = json.dumps(body).encode()
        status, answer = http_json(self.base + path, body, kind)
        if status >= 400:
            raise SystemExit(f"{path} answered {status}: {answer}")
        return answer

    def job(self, started):
        """The job when it has ended."""
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
